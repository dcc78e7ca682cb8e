// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"net/netip"
	"time"

	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// pendingReport is a usage report no CP function has acknowledged yet.
type pendingReport struct {
	reports []rules.UsageReport
	tries   int
}

// A report without an answer, though the N4 side has sent it as often as the clause allows, is
// tried again later: it is money. UR-SEQN tells the CP function what it has already.
const (
	reportAgain = 15 * time.Second
	reportTries = 8
)

// Event of a unit. It is acknowledged when what it says is safe.
func (u *unit) Event(e *upfpb.Event) {
	m := u.m
	m.mu.Lock()
	if e.GetNumber() <= u.lastEvent {
		m.counts.EventsTwice++
		acked := u.safeEvent
		m.mu.Unlock()
		u.client.Ack(acked)
		return
	}
	u.lastEvent = e.GetNumber()
	if usage := e.GetUsage(); usage != nil {
		u.usageEvent(e.GetNumber(), usage)
		return
	}
	report := u.otherEvent(e)
	m.mu.Unlock()
	u.commitEvent(e.GetNumber(), nil)
	if report != nil && m.reporter != nil {
		seid := report.UPSEID
		m.reporter.Report(report, func(a *rules.ReportAnswer) { m.reportAnswered(seid, a) })
	}
}

// commitEvent stores the event's number with what it changed, then acknowledges and calls after.
func (u *unit) commitEvent(number uint64, after func(), writes ...store.Write) {
	u.m.store.Apply(func(err error) {
		if err != nil {
			u.m.storeFailed(err)
		} else {
			u.m.mu.Lock()
			u.safeEvent = max(u.safeEvent, number)
			u.m.mu.Unlock()
			u.client.Ack(number)
		}
		if after != nil {
			after()
		}
	}, append(writes, u.mark(number))...)
}

// usageEvent numbers the reports in the session's record and in what is to follow it. Called
// under the mutex, which it releases.
func (u *unit) usageEvent(number uint64, e *upfpb.UsageEvent) {
	m := u.m
	s := m.sessions[e.GetId()]
	if s == nil || s.record == nil {
		m.counts.EventsUnknown++
		m.mu.Unlock()
		u.commitEvent(number, nil)
		return
	}
	st := mustDecode(s.record)
	var numbered []rules.UsageReport
	for _, r := range e.GetReports() {
		in := st
		if findURR(st, r.GetUrrId()) == nil && s.draft != nil {
			in = s.draft.st // made by the request that is under way
		}
		one := m.number(in, []*upfpb.UsageReport{r})
		numbered = append(numbered, one...)
		if in == st && s.draft != nil && len(one) > 0 {
			if o := findURR(s.draft.old, r.GetUrrId()); o != nil {
				o.seqn++
			}
		}
	}
	m.reported(s, e.GetReports())
	s.record = st.encode()
	m.reportNo++
	no := m.reportNo
	p := &pendingReport{reports: numbered}
	if m.pending[s.seid] == nil {
		m.pending[s.seid] = map[uint64]*pendingReport{}
	}
	m.pending[s.seid][no] = p
	seid := s.seid
	writes := []store.Write{store.PutSession(seid, s.record), store.PutUsage(seid, s.usage),
		store.PutReport(seid, no, encodeReports(numbered))}
	m.mu.Unlock()
	u.commitEvent(number, func() { m.sendReport(seid, no) }, writes...)
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

// otherEvent makes a report of an event that is told once; nil: there is nothing to tell.
func (u *unit) otherEvent(e *upfpb.Event) *rules.SessionReport {
	to := func(id uint64) *rules.SessionReport {
		s := u.m.sessions[id]
		if s == nil || s.record == nil {
			u.m.counts.EventsUnknown++
			return nil
		}
		return u.m.reportTo(s)
	}
	switch body := e.GetBody().(type) {
	case *upfpb.Event_DownlinkData:
		r := to(body.DownlinkData.GetId())
		if r != nil {
			r.DownlinkData = downlinkData(body.DownlinkData)
		}
		return r
	case *upfpb.Event_ErrorIndication:
		r := to(body.ErrorIndication.GetId())
		if r != nil {
			a, _ := netip.AddrFromSlice(body.ErrorIndication.GetPeer())
			r.ErrorIndication = &rules.ErrorIndication{TEID: body.ErrorIndication.GetTeid(), Peer: a}
		}
		return r
	case *upfpb.Event_Inactivity:
		r := to(body.Inactivity.GetId())
		if r != nil {
			r.Inactivity = true
		}
		return r
	case *upfpb.Event_Path:
		u.pathEvent(body.Path)
	}
	return nil
}

func downlinkData(e *upfpb.DownlinkData) *rules.DownlinkData {
	d := &rules.DownlinkData{PDRID: uint16(e.GetPdrId())}
	if e.GetHasQfi() {
		q := uint8(e.GetQfi())
		d.QFI = &q
	}
	if e.GetHasPpi() {
		p := uint8(e.GetPpi())
		d.PPI = &p
	}
	return d
}

func (u *unit) pathEvent(p *upfpb.PathEvent) {
	a, ok := netip.AddrFromSlice(p.GetPeer())
	if !ok || u.m.reporter == nil {
		return
	}
	e := rules.PathEvent{Peer: a, Up: p.GetUp()}
	for _, i := range u.interfaces {
		if i.GetIndex() != p.GetInterface() {
			continue
		}
		if n := i.GetNetworkInstances(); len(n) == 1 {
			e.NetworkInstance = n[0]
		}
		if t := i.GetTypes(); len(t) > 0 {
			e.Interface = uint8(t[0])
		}
	}
	go u.m.reporter.Path(e)
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
