// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"net/netip"
	"slices"

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
		instance, acked := u.instance, u.safeEvent
		m.mu.Unlock()
		u.client.Ack(instance, acked)
		return
	}
	u.lastEvent = e.GetNumber()
	if usage := e.GetUsage(); usage != nil {
		u.usageEvent(e.GetNumber(), usage)
		return
	}
	if mac := e.GetMac(); mac != nil {
		writes, after := m.takeMAC(mac)
		m.mu.Unlock()
		u.commitEvent(e.GetNumber(), after, writes...)
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
	instance := u.instance // written by this goroutine alone
	u.m.store.Apply(func(err error) {
		if err != nil {
			u.m.storeFailed(err)
		} else {
			u.m.mu.Lock()
			same := u.instance == instance
			if same {
				u.safeEvent = max(u.safeEvent, number)
			}
			u.m.mu.Unlock()
			if same {
				u.client.Ack(instance, number)
			}
		}
		if after != nil {
			after()
		}
	}, append(writes, u.mark(number))...)
}

// usageEvent is called under the mutex, which it releases.
func (u *unit) usageEvent(number uint64, e *upfpb.UsageEvent) {
	writes, after := u.m.takeUsage(e.GetId(), e.GetReports(), nil)
	u.m.mu.Unlock()
	u.commitEvent(number, after, writes...)
}

// takeUsage numbers the reports in the session's record and in what is to follow it; removed are of
// URRs that are no more. Called under the mutex. What comes back is to be committed, and to be
// called then.
func (m *Manager) takeUsage(seid uint64, reports, removed []*upfpb.UsageReport) (writes []store.Write, after func()) {
	s := m.sessions[seid]
	if s == nil || s.record == nil {
		m.counts.EventsUnknown++
		return nil, nil
	}
	st := mustDecode(s.record)
	var numbered []rules.UsageReport
	all := slices.Concat(removed, reports)
	for i, r := range all {
		in := st
		if findURR(st, r.GetUrrId()) == nil && s.draft != nil {
			in = s.draft.st // made by the request that is under way
		}
		one := m.number(in, []*upfpb.UsageReport{r})
		why := ""
		switch {
		case i < len(removed):
			why = rulesChanged
		case r.GetTriggers()&uint32(upfpb.Trigger_TERMR) != 0:
			why = interrupted
		}
		records := m.charge(s, in, []*upfpb.UsageReport{r}, why)
		numbered, writes = append(numbered, one...), append(writes, records...)
		if in == st && s.draft != nil && len(one)+len(records) > 0 {
			if o := findURR(s.draft.old, r.GetUrrId()); o != nil {
				o.seqn++
			}
		}
	}
	m.reported(s, all)
	s.record = st.encode()
	writes = append(writes, store.PutSession(seid, s.record), store.PutUsage(seid, s.usage))
	if len(numbered) == 0 { // of URRs of ours alone
		return writes, nil
	}
	kept, after := m.keepReports(seid, numbered)
	return append(writes, kept), after
}

// keepReports makes a report of usage that is to be sent when it is committed. Called under the
// mutex.
func (m *Manager) keepReports(seid uint64, reports []rules.UsageReport) (store.Write, func()) {
	m.reportNo++
	no := m.reportNo
	p := &pendingReport{reports: reports}
	if m.pending[seid] == nil {
		m.pending[seid] = map[uint64]*pendingReport{}
	}
	m.pending[seid][no] = p
	return store.PutReport(seid, no, p.encode()), func() { m.sendReport(seid, no) }
}

// Told is usage that an agent took and did not store: this one before its end, or before its
// connection was lost. The CP function was not told of it.
func (u *unit) Told(t *upfpb.Told) {
	m := u.m
	m.mu.Lock()
	if t.GetNumber() <= u.lastTold {
		m.counts.EventsTwice++
		instance, safe := u.instance, u.safeTold
		m.mu.Unlock()
		u.client.AckTold(instance, safe)
		return
	}
	writes, after := m.takeUsage(t.GetId(), t.GetReports(), t.GetRemoved())
	mark, safe := u.told(t.GetNumber())
	m.mu.Unlock()
	m.store.Apply(func(err error) {
		safe(err)
		if after != nil {
			after()
		}
	}, append(writes, mark...)...)
}

// told takes the usage of an answer, by its number, 0: it has none. What comes back belongs to the
// commit that makes the usage safe, and after it. Answers, and so their commits, are in the order of
// the numbers. Called under the mutex.
func (u *unit) told(number uint64) (mark []store.Write, safe func(error)) {
	if number == 0 {
		return nil, func(error) {}
	}
	instance := u.instance
	u.lastTold = max(u.lastTold, number)
	return []store.Write{store.PutMeta("told-"+u.name, uint64Bytes(instance, number))}, func(err error) {
		u.m.mu.Lock()
		same := err == nil && u.instance == instance
		if same {
			u.safeTold = max(u.safeTold, number)
		}
		u.m.mu.Unlock()
		if same {
			u.client.AckTold(instance, number)
		}
	}
}

// toldNobody makes the usage of an answer safe that is of no session.
func (u *unit) toldNobody(res *upfpb.OpResult) {
	if res.GetTold() == 0 {
		return
	}
	u.m.mu.Lock()
	mark, safe := u.told(res.GetTold())
	u.m.mu.Unlock()
	u.m.store.Apply(safe, mark...)
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
