// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"net/netip"

	"airpath/control/owner"
	"airpath/control/rules"
	"airpath/control/store"
)

// load brings back what the store has: sessions, their TEIDs and addresses.
func (m *Manager) load() error {
	m.nextSEID = readUint64(m.store.Meta("seid"))
	if m.nextSEID == 0 {
		// SEIDs of before a loss of all sessions do not come again.
		m.nextSEID = uint64(uint32(m.store.RecoveryTimeStamp().Unix()))<<32 | 1
	}
	err := m.loadSessions()
	m.lastSEID = m.nextSEID
	if err == nil {
		err = m.store.Usages(func(seid uint64, usage []byte) error {
			if s := m.sessions[seid]; s != nil {
				s.usage = append([]byte(nil), usage...)
			}
			return nil
		})
	}
	if err == nil {
		err = m.loadReports()
	}
	if err == nil {
		err = m.loadGone()
	}
	return err
}

// loadSessions of every unit. Those of one that has another name now get it in the store, too.
func (m *Manager) loadSessions() error {
	sockets, err := m.readSockets()
	if err != nil {
		return err
	}
	renames, err := m.renames(sockets)
	if err != nil {
		return err
	}
	var writes []store.Write
	moved, sessions, now := m.movedBefore(sockets), map[*unit]int{}, m.nowMs()
	for former, u := range renames {
		writes = append(writes, u.rename(former)...)
	}
	err = m.store.Sessions(func(seid uint64, record []byte) error {
		st, err := decode(record)
		if err != nil {
			return fmt.Errorf("session %x: %w", seid, err)
		}
		record = append([]byte(nil), record...)
		u := renames[st.unit]
		if u == nil && m.unitNamed(st.unit) == nil {
			u = moved
		}
		if u != nil {
			st.unit = u.name
			record = st.encode()
			writes = append(writes, store.PutSession(seid, record))
		}
		if u, err = m.unitOfStored(st.unit); err != nil {
			return err
		}
		sessions[u]++
		m.adopt(st, u, record, now)
		if seid >= m.nextSEID { // how far they had come was damaged
			m.nextSEID = max(m.nextSEID, seid+seidBlock)
		}
		return nil
	})
	if err == nil {
		writes = append(writes, m.forgetMarks(sockets)...)
		m.store.Apply(nil, append(writes, m.noteUnits(sessions))...)
	}
	return err
}

func (m *Manager) adopt(st *state, u *unit, record []byte, now int64) {
	s := &session{seid: st.seid, cpSEID: st.cp.SEID, record: record, unit: u, version: st.version, handle: st.handle}
	if err := u.claim(st, now); err != nil {
		m.log.Error("stored session has a TEID that cannot be", "seid", st.seid, "error", err)
	}
	for _, p := range []netip.Prefix{st.prefix4(), st.prefix6()} {
		if p.IsValid() {
			if err := m.pools.claim(st.ni, p); err != nil {
				m.log.Error("stored session has an address that cannot be", "seid", st.seid, "address", p, "error", err)
			}
		}
	}
	m.sessions[st.seid] = s
	m.enter(s, st.node)
}

// claim the TEIDs of a stored session.
func (u *unit) claim(st *state, now int64) (err error) {
	for _, t := range append([]uint32{st.handle}, st.teids()...) {
		switch {
		case containsTEID(st.foreign, t):
			u.foreign[t] = true
		case u.teids.State(t) != owner.Live:
			if e := u.teids.Claim(t, now); e != nil {
				err = fmt.Errorf("%08x: %w", t, e)
			}
		}
	}
	return err
}

// claimFree claims all, or none where another session has one of them.
func (u *unit) claimFree(st *state, now int64) bool {
	for _, t := range append([]uint32{st.handle}, st.teids()...) {
		if u.foreign[t] || u.teids.State(t) == owner.Live {
			return false
		}
	}
	if u.claim(st, now) != nil {
		u.m.freeTEIDs(u, st)
		return false
	}
	return true
}

func containsTEID(list []uint32, t uint32) bool {
	for _, x := range list {
		if x == t {
			return true
		}
	}
	return false
}

// enter counts a session to its CP function.
func (m *Manager) enter(s *session, node rules.NodeID) {
	p := m.peers[node]
	if p == nil {
		p = &peer{node: node}
		m.peers[node] = p
	}
	p.sessions++
	if s.doomed {
		p.doomed++
	}
	s.peer = p
}

func (m *Manager) leave(s *session) {
	if s.doomed {
		s.peer.doomed--
	}
	if s.peer.sessions--; s.peer.sessions == 0 {
		delete(m.peers, s.peer.node)
	}
}
