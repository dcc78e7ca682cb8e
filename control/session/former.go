// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"airpath/control/rules"
	"airpath/control/store"
)

// A session stays with its forwarding unit: its TEIDs are that unit's, and another one may have
// given out the same. Where the unit is not configured any more the session stays in the store, is
// listed, keeps its UE address, and is the unit's again when that is configured again. Meanwhile it
// can be deleted by its CP function, which is told what is known of its usage, but not be changed;
// GiveUp deletes what nobody asks for any more.

// errNotConfigured ends at once what is asked of such a unit.
var errNotConfigured = errors.New("it is not configured any more")

const whyGivenUp = "forwarding unit given up"

// The store knows at which socket each unit was configured last: one at the same socket, of a name that
// was not known before, is the same with a new name. Of those not configured any more it knows the name,
// and that of the mark by which a unit is known again when it says its instance.
const metaSockets = "sockets"

// readSockets gives nil where a former version stored none.
func (m *Manager) readSockets() (sockets map[string]string, err error) {
	if b := m.store.Meta(metaSockets); b != nil {
		if err := json.Unmarshal(b, &sockets); err != nil {
			return nil, fmt.Errorf("sockets of forwarding units: %w", err)
		}
	}
	return sockets, nil
}

// renames says which configured units had which name before. What one has used counts by its name: it
// must not be met under that of another.
func (m *Manager) renames(sockets map[string]string) (map[string]*unit, error) {
	out := map[string]*unit{}
	for _, u := range m.units {
		if was, known := sockets[u.name]; known {
			for _, other := range m.units {
				if was != "" && was != u.socket && was == other.socket {
					return nil, fmt.Errorf("forwarding unit %q is now at %s, and %q at %s, where it was: give each unit the name it had, or start the agent once without %[1]q",
						u.name, u.socket, other.name, was)
				}
			}
			continue
		}
		for name, socket := range sockets {
			if socket != "" && socket == u.socket && m.unitNamed(name) == nil {
				out[name] = u
			}
		}
	}
	return out, nil
}

// movedBefore says whose a session is without a unit that is configured, where a former version wrote
// the store: it gave such sessions to the first unit, and left their records. A unit that it did not
// know may be theirs under a new name; what it says when it connects decides.
func (m *Manager) movedBefore(sockets map[string]string) *unit {
	if sockets != nil || slices.ContainsFunc(m.units, func(u *unit) bool { return u.instance == 0 }) {
		return nil
	}
	return m.units[0]
}

// rename has a unit go on where it was under its former name. What comes back is to be stored.
func (u *unit) rename(former string) []store.Write {
	u.readMark(former)
	u.m.log.Info("forwarding unit has another name", "name", u.name, "before", former, "socket", u.socket)
	return u.marksFrom(former)
}

// unitOfStored gives the unit of a stored session, or makes one that is not configured.
func (m *Manager) unitOfStored(name string) (*unit, error) {
	if u := m.unitNamed(name); u != nil {
		return u, nil
	}
	for _, u := range m.former {
		if u.name == name {
			return u, nil
		}
	}
	u, err := m.newUnit(UnitConfig{Name: name})
	if err != nil {
		return nil, err
	}
	u.former = true
	u.readMark(name)
	m.former = append(m.former, u)
	return u, nil
}

// known has a unit whose instance says that it is one not configured any more go on as that one, with
// its sessions. What comes back is to be stored. Called under the mutex.
func (u *unit) known(instance uint64) []store.Write {
	m := u.m
	i := slices.IndexFunc(m.former, func(f *unit) bool { return f.instance == instance && instance != 0 })
	if i < 0 {
		return nil
	}
	f := m.former[i]
	u.instance, u.lastEvent, u.safeEvent, u.lastTold, u.safeTold = instance, f.lastEvent, f.safeEvent, f.lastTold, f.safeTold
	f.instance = 0
	u.removals, f.removals = append(u.removals, f.removals...), nil
	var writes []store.Write
	left, now := 0, m.nowMs()
	for _, s := range m.sessions {
		if s.unit != f {
			continue
		}
		st := mustDecode(s.record)
		if s.busy && !s.doomed || !u.claimFree(st, now) {
			left++
			continue
		}
		m.freeTEIDs(f, st)
		s.unit, st.unit = u, u.name
		s.record = st.encode()
		writes = append(writes, store.PutSession(s.seid, s.record))
	}
	m.log.Info("forwarding unit is known by another name", "name", u.name, "before", f.name, "sessions", len(writes), "left", left)
	if left == 0 {
		m.former = slices.Delete(m.former, i, i+1)
	}
	return append(append(writes, u.marksFrom(f.name)...), m.sockets())
}

// marksFrom stores what is known of a unit under its name, and no more under its former one.
func (u *unit) marksFrom(former string) []store.Write {
	return []store.Write{store.PutMeta("unit-"+former, nil), store.PutMeta("told-"+former, nil),
		u.mark(u.lastEvent), store.PutMeta("told-"+u.name, uint64Bytes(u.instance, u.lastTold))}
}

// forgetMarks of names that no unit has any more: another one may get the name.
func (m *Manager) forgetMarks(sockets map[string]string) (writes []store.Write) {
	for name := range sockets {
		if !slices.ContainsFunc(slices.Concat(m.units, m.former), func(u *unit) bool { return u.name == name }) {
			writes = append(writes, store.PutMeta("unit-"+name, nil), store.PutMeta("told-"+name, nil))
		}
	}
	return writes
}

// noteUnits tells of units that are not configured any more, and stores where units are.
func (m *Manager) noteUnits(sessions map[*unit]int) store.Write {
	for _, u := range m.former {
		m.log.Warn("forwarding unit is not configured any more; its sessions wait in the store until it is again, or airpath-n4 sessions give-up",
			"unit", u.name, "sessions", sessions[u])
	}
	return m.sockets()
}

// sockets of units, as they are stored.
func (m *Manager) sockets() store.Write {
	sockets := map[string]string{}
	for _, u := range m.units {
		sockets[u.name] = u.socket
	}
	for _, u := range m.former {
		sockets[u.name] = ""
	}
	b, _ := json.Marshal(sockets) // texts alone
	return store.PutMeta(metaSockets, b)
}

// GiveUp deletes the sessions of a forwarding unit that is not configured any more. Nobody asked for
// it, so what is known of their usage becomes charging records.
// @return how many it had.
func (m *Manager) GiveUp(name string) (int, error) {
	m.mu.Lock()
	if m.unitNamed(name) != nil {
		m.mu.Unlock()
		return 0, fmt.Errorf("forwarding unit %q is configured: take it out of `units` and start the agent anew first", name)
	}
	var list []*session
	sessions := 0
	for _, s := range m.sessions {
		if s.unit.former && s.unit.name == name {
			if sessions++; !s.doomed {
				list = append(list, s)
			}
		}
	}
	var removals []func()
	for _, u := range m.former {
		if u.name == name {
			u.givenUp = true
			removals, u.removals = u.removals, nil
		}
	}
	m.mu.Unlock()
	if sessions == 0 {
		return 0, fmt.Errorf("no session is of a forwarding unit %q", name)
	}
	for _, again := range removals {
		again()
	}
	for _, s := range list {
		m.remove(s, nil, whyGivenUp, nil)
	}
	m.log.Warn("forwarding unit is given up", "unit", name, "sessions", sessions)
	return sessions, m.store.Flush()
}

// notConfigured refuses a change of a session whose unit is not there.
func (s *session) notConfigured() *refusal {
	if !s.unit.former {
		return nil
	}
	return refuse(rules.CauseSystemFailure, 0, "forwarding unit %q is not configured any more", s.unit.name)
}
