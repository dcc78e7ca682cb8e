// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"airpath/control/rules"
	"airpath/control/store"
)

// pendingReport is a usage report no CP function has acknowledged yet.
type pendingReport struct {
	reports []rules.UsageReport
	tries   int
	away    bool // on its way; the N4 side sends it again as often as the clause allows
}

// A report without an answer, though the N4 side has sent it as often as the clause allows, is
// tried again later: it is money. UR-SEQN tells the CP function what it has already.
const (
	reportAgain = 15 * time.Second
	reportTries = 8
)

// unsent are the reports of a session that goes before they were sent, or sent again when nobody
// had answered: its last answer has them. Those on their way arrive by themselves.
func (m *Manager) unsent(seid uint64) []rules.UsageReport {
	var out []rules.UsageReport
	for _, no := range slices.Sorted(maps.Keys(m.pending[seid])) {
		if p := m.pending[seid][no]; !p.away {
			out = append(out, p.reports...)
		}
	}
	return out
}

// sendReport gives a pending report to the N4 side.
func (m *Manager) sendReport(seid, no uint64) {
	m.mu.Lock()
	s, p := m.sessions[seid], m.pending[seid][no]
	if s == nil || s.record == nil || p == nil || m.closed || m.reporter == nil {
		m.mu.Unlock()
		return
	}
	p.tries++
	p.away = true
	r := m.reportTo(s)
	r.Usage = p.reports
	m.counts.Reports++
	m.mu.Unlock()
	m.reporter.Report(r, func(a *rules.ReportAnswer) {
		if a == nil {
			m.reportUnanswered(seid, no)
			return
		}
		m.mu.Lock()
		m.forgetReport(seid, no)
		m.mu.Unlock()
		m.store.Apply(nil, store.PutReport(seid, no, nil))
		m.reportAnswered(seid, a)
	})
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
	p := m.pending[seid][no]
	if p != nil {
		p.away = false
	}
	switch {
	case p == nil || m.closed:
	case p.tries < reportTries:
		time.AfterFunc(reportAgain, func() { m.sendReport(seid, no) })
	default:
		m.forgetReport(seid, no)
		m.counts.ReportsLost++
		m.log.Error("usage report was never answered", "seid", seid, "reports", fmt.Sprint(p.reports))
		m.store.Apply(nil, store.PutReport(seid, no, nil))
	}
}

func (m *Manager) reportTo(s *session) *rules.SessionReport {
	st := mustDecode(s.record)
	return &rules.SessionReport{UPSEID: s.seid, CPFSEID: st.cp, Node: st.node}
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
		m.remove(s, nil, nil)
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

func encodeReports(list []rules.UsageReport) []byte {
	c := coder{}
	walkReports(&c, &list)
	return c.b
}

func walkReports(c *coder, reports *[]rules.UsageReport) {
	list(c, reports, func(c *coder, r *rules.UsageReport) {
		num(c, &r.URRID)
		num(c, &r.SEQN)
		num(c, &r.Triggers)
		flag(c, &r.HasVolume)
		num(c, &r.Volume.TotalBytes)
		num(c, &r.Volume.UplinkBytes)
		num(c, &r.Volume.DownlinkBytes)
		num(c, &r.Volume.TotalPackets)
		num(c, &r.Volume.UplinkPackets)
		num(c, &r.Volume.DownlinkPackets)
		flag(c, &r.Volume.HasPackets)
		flag(c, &r.HasDuration)
		num(c, &r.DurationSeconds)
		num(c, &r.StartUnix)
		num(c, &r.EndUnix)
		num(c, &r.FirstPacketUnix)
		num(c, &r.LastPacketUnix)
	})
}

func (m *Manager) loadReports() error {
	return m.store.Reports(func(seid, no uint64, b []byte) error {
		c := coder{b: b, reading: true}
		p := &pendingReport{}
		walkReports(&c, &p.reports)
		if c.err != nil {
			return fmt.Errorf("report of session %x: %w", seid, c.err)
		}
		if m.pending[seid] == nil {
			m.pending[seid] = map[uint64]*pendingReport{}
		}
		m.pending[seid][no] = p
		m.reportNo = max(m.reportNo, no)
		return nil
	})
}

// resendReports sends what was not acknowledged before a restart, once the N4 side is up.
func (m *Manager) resendReports() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for seid, list := range m.pending {
		for no := range list {
			time.AfterFunc(time.Second, func() { m.sendReport(seid, no) })
		}
	}
}
