// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"encoding/json"
	"errors"
	"fmt"

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
// was not known before, is the same with a new name. Of those not configured any more it knows the name.
const metaSockets = "sockets"

func (m *Manager) readSockets() (map[string]string, error) {
	sockets := map[string]string{}
	if b := m.store.Meta(metaSockets); b != nil {
		if err := json.Unmarshal(b, &sockets); err != nil {
			return nil, fmt.Errorf("sockets of forwarding units: %w", err)
		}
	}
	return sockets, nil
}

// renames says which configured units had which name before.
func (m *Manager) renames(sockets map[string]string) map[string]*unit {
	out := map[string]*unit{}
	for _, u := range m.units {
		if _, known := sockets[u.name]; known {
			continue
		}
		for name, socket := range sockets {
			if socket != "" && socket == u.socket && m.unitNamed(name) == nil {
				out[name] = u
			}
		}
	}
	return out
}

// rename has a unit go on where it was under its former name. What comes back is to be stored.
func (u *unit) rename(former string) []store.Write {
	u.readMark(former)
	u.m.log.Info("forwarding unit has another name", "name", u.name, "before", former, "socket", u.socket)
	writes := []store.Write{store.PutMeta("unit-"+former, nil), store.PutMeta("told-"+former, nil)}
	return append(writes, u.mark(u.lastEvent), store.PutMeta("told-"+u.name, uint64Bytes(u.instance, u.lastTold)))
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
	m.former = append(m.former, u)
	return u, nil
}

// noteUnits tells of units that are not configured any more, and stores where units are.
func (m *Manager) noteUnits(sessions map[*unit]int) store.Write {
	sockets := map[string]string{}
	for _, u := range m.units {
		sockets[u.name] = u.socket
	}
	for _, u := range m.former {
		sockets[u.name] = ""
		m.log.Warn("forwarding unit is not configured any more; its sessions wait in the store until it is again, or airpath-n4 sessions give-up",
			"unit", u.name, "sessions", sessions[u])
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
