// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"cmp"
	"fmt"
	"maps"
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

// lastReportsMax bounds the reports in a message, lastAnswerMax those in an answer to a deletion, the
// final ones of each URR included, which are two where a Monitoring Time has passed: some 110 octets
// each, and it is to fit into a UDP datagram.
const (
	lastReportsMax = 400
	lastAnswerMax  = 520
)

// room for reports nobody has acknowledged in the answer to the session's deletion.
func (st *state) room() int { return max(0, min(lastReportsMax, lastAnswerMax-2*len(st.urrs))) }

// lastReports are the usage reports of a session that goes which nobody has acknowledged: its last
// answer has them. Those under way, too: nobody sends them again once the session is gone, and
// UR-SEQN tells the CP function which it has. Where nobody asked for the deletion there is no
// answer to have them; those under way are then kept until they are answered or given up. Called
// under the mutex. @return what the store is to forget with the session, too.
func (m *Manager) lastReports(st *state, asked bool, why string) (out []rules.UsageReport, writes []store.Write) {
	seid, room := st.seid, st.room()
	if asked {
		why = whyUnanswered
	}
	for _, no := range slices.Sorted(maps.Keys(m.pending[seid])) {
		p := m.pending[seid][no]
		switch {
		case p.tidings != nil, asked && len(out)+len(p.reports) <= room:
			out = append(out, p.reports...)
			m.forgetReport(seid, no)
			writes = append(writes, store.PutReport(seid, no, nil))
		case !asked && p.away:
			p.of = st.subject(why)
			writes = append(writes, store.PutReport(seid, no, p.encode()))
		default:
			m.reportLost(seid, no, p, why)
		}
	}
	return out, writes
}

// tellBefore tells what the answer to a deletion will not hold in Session Reports before it, the
// oldest first, one after the other and each with as much as fits. What is not answered is left.
func (m *Manager) tellBefore(s *session, then func()) {
	m.mu.Lock()
	st := mustDecode(s.record)
	numbers, usage := m.beyondAnAnswer(s.seid, st.room())
	if len(numbers) == 0 || m.closed || m.reporter == nil {
		m.mu.Unlock()
		then()
		return
	}
	m.counts.Reports++
	m.mu.Unlock()
	m.reporter.Report(&rules.SessionReport{UPSEID: s.seid, CPFSEID: st.cp, Node: st.node, Usage: usage}, func(a *rules.ReportAnswer) {
		if a == nil || refusedReport(a) {
			then()
			return
		}
		var writes []store.Write
		m.mu.Lock()
		for _, no := range numbers {
			m.forgetReport(s.seid, no)
			writes = append(writes, store.PutReport(s.seid, no, nil))
		}
		m.mu.Unlock()
		m.store.Apply(nil, writes...)
		m.tellBefore(s, then)
	})
}

// beyondAnAnswer are the oldest reports of usage, by their numbers, where there are more than an
// answer holds: as many as are to go before it, but no more than one message holds. Called under
// the mutex.
func (m *Manager) beyondAnAnswer(seid uint64, room int) (numbers []uint64, usage []rules.UsageReport) {
	total := 0
	for _, p := range m.pending[seid] {
		total += len(p.reports)
	}
	for _, no := range slices.Sorted(maps.Keys(m.pending[seid])) {
		p := m.pending[seid][no]
		if total-len(usage) <= room || len(usage) > 0 && len(usage)+len(p.reports) > lastReportsMax {
			break
		}
		if len(p.reports) > 0 {
			numbers, usage = append(numbers, no), append(usage, p.reports...)
		}
	}
	return numbers, usage
}

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

func (p *pendingReport) encode() []byte {
	c := coder{}
	walkReports(&c, &p.reports)
	if p.tidings != nil {
		walkTidings(&c, p.tidings)
	} else if slices.ContainsFunc(p.reports, func(u rules.UsageReport) bool { return u.Detected != nil }) {
		c.number(detectedMark)
		walkDetected(&c, p.reports)
	} else if slices.ContainsFunc(p.reports, func(u rules.UsageReport) bool { return u.Ethernet != nil }) {
		c.number(ethernetMark)
		walkEthernetTraffic(&c, p.reports)
	}
	if p.of != nil {
		c.number(subjectMark)
		walkSubject(&c, p.of)
	}
	return c.b
}

// These begin what was detected, addresses, and whose it is; tidings begin with 0 or 1.
const (
	detectedMark = 2
	ethernetMark = 3
	subjectMark  = 4
)

func walkEthernetTraffic(c *coder, reports []rules.UsageReport) {
	for i := range reports {
		opt(c, &reports[i].Ethernet, func(c *coder, e *rules.EthernetTraffic) {
			list(c, &e.Detected, walkMAC)
			list(c, &e.Removed, walkMAC)
			num(c, &e.VID)
		})
	}
}

func walkMAC(c *coder, m *rules.MAC) {
	for i := range m {
		num(c, &m[i])
	}
}

func walkDetected(c *coder, reports []rules.UsageReport) {
	for i := range reports {
		opt(c, &reports[i].Detected, func(c *coder, d *rules.ApplicationDetected) {
			text(c, &d.Application)
			text(c, &d.Instance)
			text(c, &d.Flow)
			num(c, &d.PDRID)
		})
	}
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

func decodeReport(b []byte) (*pendingReport, error) {
	c := coder{b: b, reading: true}
	p := &pendingReport{stored: true}
	walkReports(&c, &p.reports)
	for c.err == nil && len(c.b) > 0 {
		switch c.b[0] {
		case detectedMark:
			c.number(0)
			walkDetected(&c, p.reports)
		case ethernetMark:
			c.number(0)
			walkEthernetTraffic(&c, p.reports)
		case subjectMark:
			c.number(0)
			p.of = &subject{}
			walkSubject(&c, p.of)
		default:
			p.tidings = &tidings{}
			walkTidings(&c, p.tidings)
			p.once = p.tidings.inactive
		}
	}
	return p, c.err
}

func (m *Manager) loadReports() error {
	return m.store.Reports(func(seid, no uint64, b []byte) error {
		p, err := decodeReport(b)
		if err != nil {
			return fmt.Errorf("report of session %x: %w", seid, err)
		}
		m.reportNo = max(m.reportNo, no)
		if m.sessions[seid] == nil { // it was under way when the session went
			m.reportLost(seid, no, p, whyUnanswered)
			return nil
		}
		if m.pending[seid] == nil {
			m.pending[seid] = map[uint64]*pendingReport{}
		}
		m.pending[seid][no] = p
		return nil
	})
}

// resendDownlink sends what waited until it is known whether the unit still has the packets.
func (m *Manager) resendDownlink(u *unit) {
	type report struct{ seid, no uint64 }
	var list []report
	m.mu.Lock()
	for seid, reports := range m.pending {
		if s := m.sessions[seid]; s == nil || s.unit != u {
			continue
		}
		for no, p := range reports {
			if p.stored && p.tries == 0 && p.tidings != nil && p.tidings.downlink != nil {
				list = append(list, report{seid, no})
			}
		}
	}
	m.mu.Unlock()
	for _, r := range list {
		m.sendReport(r.seid, r.no)
	}
}

// resendReports sends what was not acknowledged before a restart, once the N4 side is up.
func (m *Manager) resendReports() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for seid, list := range m.pending {
		for no := range list {
			time.AfterFunc(startDelay, func() { m.sendReport(seid, no) })
		}
	}
}
