// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"airpath/control/rules"
	"airpath/control/store"
)

// pendingReport is a report no CP function has acknowledged yet.
type pendingReport struct {
	reports []rules.UsageReport // of usage
	tidings *tidings            // or else
	once    bool                // not kept when nobody answers
	stored  bool                // by an agent before this one
	tries   int
	away    bool     // on its way; the N4 side sends it again as often as the clause allows
	of      *subject // nil: the session is still there
}

// A report without an answer, though the N4 side has sent it as often as the clause allows, is
// tried again later: it is money, or a UE that waits for its paging. UR-SEQN tells the CP function
// what usage it has already. Where heartbeats are not answered either, the path to the CP function
// has failed (TS 23.527 §4.3): then reports wait until it is back, however long.
const (
	reportAgain = 15 * time.Second
	reportTries = 8
	startDelay  = time.Second // until the N4 side is up
)

// sendReport gives a pending report to the N4 side.
func (m *Manager) sendReport(seid, no uint64) {
	m.mu.Lock()
	s, p := m.sessions[seid], m.pending[seid][no]
	if s == nil || s.record == nil || p == nil || p.away || m.closed || m.reporter == nil {
		m.mu.Unlock()
		return
	}
	st := mustDecode(s.record)
	if p.tidings != nil && p.tidings.downlink != nil && s.unit.epoch == 0 { // resendDownlink comes by
		m.mu.Unlock()
		return
	}
	if p.tidings != nil && (p.tries > 0 || p.stored) && !p.tidings.holds(s, st) { // settled meanwhile
		m.forgetReport(seid, no)
		m.mu.Unlock()
		m.store.Apply(nil, store.PutReport(seid, no, nil))
		return
	}
	if p.tries > 0 && !m.reporter.Reachable(s.peer.node) { // PeerBack comes by
		m.mu.Unlock()
		return
	}
	p.tries++
	p.away = true
	r := &rules.SessionReport{UPSEID: s.seid, CPFSEID: st.cp, Node: st.node, Usage: p.reports}
	if p.tidings != nil {
		p.tidings.fill(r)
	} else {
		m.counts.Reports++
	}
	m.mu.Unlock()
	m.reporter.Report(r, func(a *rules.ReportAnswer) {
		if a == nil {
			m.reportUnanswered(seid, no)
			return
		}
		m.reportTaken(seid, no, a)
		m.reportAnswered(seid, a)
	})
}

// reportTaken forgets a report that was answered. What was not taken nobody takes.
func (m *Manager) reportTaken(seid, no uint64, a *rules.ReportAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pending[seid][no]
	if p == nil {
		return
	}
	writes := []store.Write{store.PutReport(seid, no, nil)}
	if refusedReport(a) && p.tidings == nil {
		why := whyRefused
		if a.Cause == rules.CauseSessionContextNotFound {
			why = whyForgotten
		}
		m.log.Warn("usage report refused", "seid", seid, "cause", a.Cause, "reports", fmt.Sprint(p.reports))
		writes = append(writes, m.untoldReport(seid, p, why)...)
	}
	m.forgetReport(seid, no)
	m.store.Apply(nil, writes...)
}

func (m *Manager) forgetReport(seid, no uint64) {
	delete(m.pending[seid], no)
	if len(m.pending[seid]) == 0 {
		delete(m.pending, seid)
	}
}

func (m *Manager) reportUnanswered(seid, no uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, p := m.sessions[seid], m.pending[seid][no]
	if p == nil || m.closed {
		return
	}
	p.away = false
	m.counts.ReportsUnanswered++
	if s == nil {
		m.reportLost(seid, no, p, whyUnanswered)
		return
	}
	reachable := m.reporter.Reachable(s.peer.node)
	m.log.Warn("session report not answered", "seid", seid, "node", s.peer.node, "report", p, "tries", p.tries, "reachable", reachable)
	switch {
	case p.once, p.tries >= reportTries && reachable:
		m.reportLost(seid, no, p, whyUnanswered)
	case reachable:
		time.AfterFunc(reportAgain, func() { m.sendReport(seid, no) })
	}
}

// reportLost gives a report up. Called under the mutex.
func (m *Manager) reportLost(seid, no uint64, p *pendingReport, why string) {
	writes := append(m.untoldReport(seid, p, why), store.PutReport(seid, no, nil))
	m.forgetReport(seid, no)
	if p.tidings != nil {
		m.counts.TidingsLost++
		m.log.Error("session report was never answered", "seid", seid, "report", p)
	} else {
		m.counts.ReportsLost++
		m.log.Error("usage report was never answered", "seid", seid, "reports", fmt.Sprint(p.reports))
	}
	m.store.Apply(nil, writes...)
}

// PeerBack sends what a CP function did not answer while it was away.
func (m *Manager) PeerBack(node rules.NodeID) {
	type report struct{ seid, no uint64 }
	var list []report
	m.mu.Lock()
	for seid, reports := range m.pending {
		if s := m.sessions[seid]; s == nil || s.peer.node != node {
			continue
		}
		for no, p := range reports {
			if !p.away && p.tries > 0 {
				list = append(list, report{seid, no})
			}
		}
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b report) int { return cmp.Compare(a.no, b.no) })
	for _, r := range list {
		m.sendReport(r.seid, r.no)
	}
}

func (p *pendingReport) String() string {
	if p.tidings != nil {
		return p.tidings.String()
	}
	return "usage"
}

// reportAnswered does what a Session Report Response asks for, §7.5.9.
func (m *Manager) reportAnswered(seid uint64, a *rules.ReportAnswer) {
	if a == nil {
		return
	}
	m.mu.Lock()
	s := m.sessions[seid]
	m.mu.Unlock()
	if s == nil {
		return
	}
	if a.Cause == rules.CauseSessionContextNotFound {
		// Nobody else will ever delete it.
		m.mu.Lock()
		m.counts.ForgotCP++
		m.mu.Unlock()
		m.remove(s, nil, whyForgotten, nil)
		return
	}
	if len(a.UpdateBARs) == 0 && !a.DropBuffer && a.CPFSEID == nil {
		return
	}
	r := &rules.ModifyRequest{UpdateBARs: a.UpdateBARs, CPFSEID: a.CPFSEID}
	if a.DropBuffer {
		r.Flags = rules.FlagDROBU
	}
	m.Modify(rules.Transaction{}, seid, r, nil)
}
