// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"net/netip"

	"airpath/control/rules"
	"airpath/control/store"
)

// doom a session: it goes, if not by this agent then by the next. Its unit may be away, and whoever
// asked may have its answer before it is gone. Called under the mutex.
func (m *Manager) doom(s *session, why string) {
	if !s.doomed && m.sessions[s.seid] == s {
		s.peer.doomed++
	}
	s.doomed = true
	m.store.Apply(nil, store.PutDoomed(s.seid, []byte(why)))
}

// removeDoomed ends what the agent before did not live to end.
func (m *Manager) removeDoomed() {
	why := map[uint64]string{}
	_ = m.store.Doomed(func(seid uint64, b []byte) error {
		why[seid] = string(b)
		return nil
	})
	for seid, text := range why {
		m.mu.Lock()
		s := m.sessions[seid]
		m.mu.Unlock()
		if s == nil { // never established
			m.store.Apply(nil, store.PutDoomed(seid, nil))
			continue
		}
		m.log.Info("session was to be deleted when the agent ended", "seid", seid, "why", text)
		m.remove(s, nil, text, nil)
	}
}

// DeleteOfPeer deletes every session of a CP function; those that await their unit do so already.
func (m *Manager) DeleteOfPeer(node rules.NodeID, why string, done func(sessions int)) {
	m.mu.Lock()
	var list []*session
	if p := m.peers[node]; p != nil {
		for _, s := range m.sessions {
			if s.peer == p && (!s.doomed || s.unit.ready) {
				list = append(list, s)
			}
		}
	}
	m.mu.Unlock()
	left := make(chan bool, len(list))
	for _, s := range list {
		m.remove(s, nil, why, func(a *rules.Answer, _ []byte) { left <- a.Cause == rules.CauseAccepted })
	}
	if done == nil {
		return
	}
	if len(list) == 0 {
		done(0)
		return
	}
	go func() {
		n := 0
		for range list {
			if <-left {
				n++
			}
		}
		done(n)
	}()
}

// KeepAssociation stores what is to be known of an association; nil forgets it.
func (m *Manager) KeepAssociation(node rules.NodeID, state []byte, done func()) {
	if state != nil {
		state = append(make([]byte, 0, len(state)), state...)
	}
	m.store.Apply(func(err error) {
		if err != nil {
			m.storeFailed(err)
		}
		if done != nil && !errors.Is(err, store.ErrTrouble) {
			done()
		}
	}, store.PutPeer(nodeKey(node), state))
}

// Associations yields what KeepAssociation stored.
func (m *Manager) Associations(yield func(node rules.NodeID, state []byte) bool) {
	going := true
	_ = m.store.Peers(func(name string, state []byte) error {
		if node, ok := nodeOf(name); ok && going {
			going = yield(node, append([]byte(nil), state...))
		}
		return nil
	})
}

func nodeKey(n rules.NodeID) string {
	if n.Addr.IsValid() {
		return "a" + n.Addr.String()
	}
	return "f" + n.FQDN
}

func nodeOf(key string) (rules.NodeID, bool) {
	if key == "" {
		return rules.NodeID{}, false
	}
	if key[0] == 'f' {
		return rules.NodeID{FQDN: key[1:]}, true
	}
	a, err := netip.ParseAddr(key[1:])
	return rules.NodeID{Addr: a}, err == nil
}
