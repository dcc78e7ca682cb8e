// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"net/netip"

	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
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
	report, path := u.otherEvent(e)
	m.mu.Unlock()
	u.commitEvent(e.GetNumber(), nil)
	switch {
	case m.reporter == nil:
	case report != nil:
		seid := report.UPSEID
		m.reporter.Report(report, func(a *rules.ReportAnswer) { m.reportAnswered(seid, a) })
	case path != nil:
		m.reporter.Path(*path)
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

// otherEvent makes what is to be told of an event that is told once; nil: nothing.
func (u *unit) otherEvent(e *upfpb.Event) (*rules.SessionReport, *rules.PathEvent) {
	if p := e.GetPath(); p != nil {
		return nil, u.pathEvent(p)
	}
	var id uint64
	r := rules.SessionReport{}
	switch body := e.GetBody().(type) {
	case *upfpb.Event_DownlinkData:
		id = body.DownlinkData.GetId()
		r.DownlinkData = downlinkData(body.DownlinkData)
	case *upfpb.Event_ErrorIndication:
		id = body.ErrorIndication.GetId()
		a, _ := netip.AddrFromSlice(body.ErrorIndication.GetPeer())
		r.ErrorIndication = &rules.ErrorIndication{TEID: body.ErrorIndication.GetTeid(), Peer: a}
	case *upfpb.Event_Inactivity:
		id = body.Inactivity.GetId()
		r.Inactivity = true
	}
	s := u.m.sessions[id]
	if s == nil || s.record == nil {
		u.m.counts.EventsUnknown++
		return nil, nil
	}
	to := u.m.reportTo(s)
	r.UPSEID, r.CPFSEID, r.Node = to.UPSEID, to.CPFSEID, to.Node
	return &r, nil
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

func (u *unit) pathEvent(p *upfpb.PathEvent) *rules.PathEvent {
	a, ok := netip.AddrFromSlice(p.GetPeer())
	if !ok {
		return nil
	}
	e := &rules.PathEvent{Peer: a, Up: p.GetUp()}
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
	return e
}
