// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"sort"

	"airpath/control/dataplane"
	"airpath/control/upfpb"
)

// refillWindow bounds the sessions under way while a unit is filled again, and so the memory.
const refillWindow = 1024

// reconcile makes a unit that connected have what it should: sessions it lacks are sent with
// their last known usage, those of another version are sent again, those nobody knows go. Then
// it may answer strangers with Error Indications.
func (u *unit) reconcile(epoch, held uint32) {
	defer u.m.wait.Done()
	var have map[uint64]uint32
	if held > 0 {
		var ok bool
		if have, ok = u.listAll(epoch); !ok {
			return
		}
	}
	u.deleteStrangers(have)
	room := make(chan struct{}, refillWindow)
	for _, id := range u.m.idsOf(u) {
		if !u.current(epoch) {
			return
		}
		version, there := have[id]
		if u.upToDate(id, version, there) {
			continue
		}
		room <- struct{}{}
		u.m.refillID(id, u, version, func() { <-room })
	}
	for range refillWindow {
		room <- struct{}{} // all are through
	}
	if !u.current(epoch) {
		return
	}
	u.m.mu.Lock()
	config := u.config(true)
	u.m.mu.Unlock()
	u.client.Configure(config, func(err error) {
		if err != nil {
			u.m.log.Warn("forwarding unit", "name", u.name, "config", err)
		}
	})
}

// listAll asks for everything the unit has.
func (u *unit) listAll(epoch uint32) (map[uint64]uint32, bool) {
	have := map[uint64]uint32{}
	type page struct {
		s   *upfpb.Sessions
		err error
	}
	got := make(chan page, 1)
	for after, more := uint64(0), true; more; {
		u.client.List(after, 0, func(s *upfpb.Sessions, err error) { got <- page{s, err} })
		p := <-got
		if p.err != nil || !u.current(epoch) {
			return nil, false
		}
		for _, s := range p.s.GetSessions() {
			have[s.GetId()] = s.GetVersion()
			after = s.GetId()
		}
		more = p.s.GetMore() && len(p.s.GetSessions()) > 0
	}
	return have, true
}

func (u *unit) deleteStrangers(have map[uint64]uint32) {
	var strangers []uint64
	u.m.mu.Lock()
	for id := range have {
		if s := u.m.sessions[id]; s == nil || s.unit != u {
			strangers = append(strangers, id)
		}
	}
	u.m.mu.Unlock()
	if len(strangers) == 0 {
		return
	}
	u.m.log.Info("forwarding unit has sessions that are no more, or of another unit", "name", u.name, "sessions", len(strangers))
	room := make(chan struct{}, refillWindow)
	for _, id := range strangers {
		room <- struct{}{}
		err := u.client.Apply(dataplane.DeleteOp(id), func(res *upfpb.OpResult, _ error) {
			u.strange(id, res)
			<-room
		})
		if err != nil { // it is lost, and has them when it is back
			return
		}
	}
	for range refillWindow {
		room <- struct{}{} // all are answered
	}
}

// strange takes the answer to the deletion of a session that the unit should not have. Where it is
// another's that is not configured any more, as after a change of name and socket at a time, what
// the session used counts.
func (u *unit) strange(id uint64, res *upfpb.OpResult) {
	u.m.mu.Lock()
	s := u.m.sessions[id]
	counts := s != nil && s.unit.former && res.GetTold() != 0
	u.m.mu.Unlock()
	if !counts {
		u.toldNobody(res)
		return
	}
	u.Told(&upfpb.Told{Number: res.GetTold(), Id: id, Reports: res.GetReports(), Removed: res.GetRemoved()})
}

// idsOf lists the sessions of a unit.
func (m *Manager) idsOf(u *unit) []uint64 {
	m.mu.Lock()
	ids := make([]uint64, 0, len(m.sessions))
	for id, s := range m.sessions {
		if s.unit == u {
			ids = append(ids, id)
		}
	}
	m.mu.Unlock()
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}

// upToDate notes a session the unit has in its right version.
func (u *unit) upToDate(id uint64, version uint32, there bool) bool {
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	s := u.m.sessions[id]
	if s == nil || s.epoch == u.epoch || s.doomed {
		return true
	}
	if there && !s.busy && s.record != nil && version == s.version {
		s.epoch = u.epoch
		return true
	}
	return false
}

// refillID sends a session again, above the version the unit has.
func (m *Manager) refillID(id uint64, u *unit, version uint32, done func()) {
	m.mu.Lock()
	s := m.sessions[id]
	if s == nil {
		m.mu.Unlock()
		done()
		return
	}
	m.refillLocked(s, u, version, done)
}

func (m *Manager) refill(s *session, u *unit, done func()) {
	m.mu.Lock()
	m.refillLocked(s, u, 0, done)
}

// refillLocked releases the mutex. It waits its turn; a request that was under way may have made
// it needless by then.
func (m *Manager) refillLocked(s *session, u *unit, version uint32, done func()) {
	end := func() {
		m.finish(s)
		done()
	}
	after := m.start(s, func() func() {
		if s.record == nil || s.epoch == u.epoch || s.unit != u || !u.ready {
			return end
		}
		if version >= s.version {
			s.version = version + 1
		}
		st := mustDecode(s.record)
		st.version = s.version
		c := compiler{u: u, st: st, carry: m.carryOf(s)}
		out, refused := c.session()
		var op dataplane.Op
		if refused == nil {
			var err error
			if op, err = dataplane.SetOp(out); err != nil {
				refused = outcome(nil, err)
			}
		}
		if refused != nil {
			m.counts.RefillFailures++
			m.log.Error("session cannot be sent again", "seid", s.seid, "reason", refused.reason)
			return end
		}
		return u.apply(op, nil, func(res *upfpb.OpResult, err error) {
			u.toldNobody(res) // of URRs that no answer has confirmed
			m.refilled(s, u, outcome(res, err))
			end()
		})
	})
	m.mu.Unlock()
	after()
}

func (m *Manager) refilled(s *session, u *unit, refused *refusal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if refused != nil {
		m.counts.RefillFailures++
		m.log.Error("session was not taken again", "seid", s.seid, "reason", refused.reason)
		return
	}
	s.epoch = u.epoch
	m.counts.RefilledSessions++
}
