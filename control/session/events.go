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
	if p := e.GetPath(); p != nil {
		path := u.pathEvent(p)
		m.mu.Unlock()
		u.commitEvent(e.GetNumber(), nil)
		if path != nil && m.reporter != nil {
			m.reporter.Path(*path)
		}
		return
	}
	id, t := u.tidingsOf(e)
	s := m.sessions[id]
	if t == nil || s == nil || s.record == nil {
		m.counts.EventsUnknown++
		m.mu.Unlock()
		u.commitEvent(e.GetNumber(), nil)
		return
	}
	if t.downlink != nil && len(m.config.Predefined) > 0 {
		t.downlink.PDRID = m.activator(mustDecode(s.record), t.downlink.PDRID)
	}
	no, writes := m.keepTidings(s, t)
	m.mu.Unlock()
	u.commitEvent(e.GetNumber(), nil, writes...)
	m.sendReport(id, no) // a UE waits
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
	var writes []store.Write
	for _, r := range e.GetReports() {
		in := st
		if findURR(st, r.GetUrrId()) == nil && s.draft != nil {
			in = s.draft.st // made by the request that is under way
		}
		one := m.number(in, []*upfpb.UsageReport{r})
		records := m.charge(s, in, []*upfpb.UsageReport{r}, false)
		numbered, writes = append(numbered, one...), append(writes, records...)
		if in == st && s.draft != nil && len(one)+len(records) > 0 {
			if o := findURR(s.draft.old, r.GetUrrId()); o != nil {
				o.seqn++
			}
		}
	}
	m.reported(s, e.GetReports())
	s.record = st.encode()
	seid := s.seid
	writes = append(writes, store.PutSession(seid, s.record), store.PutUsage(seid, s.usage))
	if len(numbered) == 0 { // of URRs of ours alone
		m.mu.Unlock()
		u.commitEvent(number, nil, writes...)
		return
	}
	m.reportNo++
	no := m.reportNo
	p := &pendingReport{reports: numbered}
	if m.pending[s.seid] == nil {
		m.pending[s.seid] = map[uint64]*pendingReport{}
	}
	m.pending[s.seid][no] = p
	writes = append(writes, store.PutReport(seid, no, p.encode()))
	m.mu.Unlock()
	u.commitEvent(number, func() { m.sendReport(seid, no) }, writes...)
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
