// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

// deletionPatience is how long the answer to an association set-up or release waits for sessions
// to go: less than a peer waits before it asks again (T1, 3 s).
const deletionPatience = 2 * time.Second

// setup is a CP function's, §6.2.6.2: it replaces a former association, whose sessions go unless
// they are to be retained.
func (c *call) setup(body []byte) {
	s := c.server
	m, err := pfcp.DecodeAssociation(pfcp.AssociationSetupRequest, body)
	if err != nil {
		c.refuse(m.Node, err)
		return
	}
	if !s.cfg.allowed(c.from.Addr(), m.Node) {
		s.log.Warn("association refused: not among the configured peers", "node", m.Node, "peer", c.from)
		c.refuse(m.Node, &pfcp.Error{Cause: rules.CauseRejected, Where: "peers"})
		return
	}
	if s.full(m.Node) {
		c.refuse(m.Node, &pfcp.Error{Cause: rules.CauseNoResources, Where: "associations"})
		return
	}
	retained := m.Retain && s.sessions.CountOfPeer(m.Node) > 0
	if old := s.recoveryOf(m.Node); !retained || !old.Equal(m.Recovery) {
		s.forgetPeer(m.Node, c.from.Addr())
	}
	accept := func() {
		wire := s.self.EncodeSetupAnswer(c.header.Sequence, rules.CauseAccepted, 0, retained)
		a := newAssociation(m, c.socket, c.from, netip.AddrPortFrom(c.from.Addr(), s.cfg.peer(c.from.Addr(), m.Node).Port))
		a.setup = &keptAnswer{c.header.Sequence, c.exchange.digest, c.arrived.Unix(), wire}
		s.begin(a, func() { c.answer(rules.CauseAccepted, wire) })
	}
	if retained {
		accept()
	} else {
		s.deleteSessions(m.Node, "association set up anew", accept)
	}
}

// recoveryOf an associated CP function is its Recovery Time Stamp; zero: it has no association.
func (s *Server) recoveryOf(node rules.NodeID) time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.associations[node]; a != nil {
		return a.recovery
	}
	return time.Time{}
}

// forgetPeer forgets the answers to a CP function that began anew.
func (s *Server) forgetPeer(node rules.NodeID, at ...netip.Addr) {
	for _, k := range s.sockets {
		k.cache.forgetPeer(node, at...)
	}
}

// deleteSessions of a CP function; then is called once they are gone, or after deletionPatience.
func (s *Server) deleteSessions(node rules.NodeID, why string, then func()) {
	gone := make(chan int, 1)
	s.sessions.DeleteOfPeer(node, why, func(n int) { gone <- n })
	if len(gone) > 0 { // there were none
		then()
		return
	}
	go func() { // says so when all is done: tests wait for that
		select {
		case n := <-gone:
			then()
			s.log.Info("sessions deleted", "node", node, "sessions", n, "why", why)
		case <-time.After(deletionPatience):
			then()
			s.log.Info("sessions are being deleted", "node", node, "why", why)
		}
	}()
}

// install an association and keep it; then is called when it is safe.
func (s *Server) install(m *pfcp.Association, k *socket, from, to netip.AddrPort, then func()) {
	s.begin(newAssociation(m, k, from, to), then)
}

func newAssociation(m *pfcp.Association, k *socket, from, to netip.AddrPort) *association {
	a := &association{node: m.Node, socket: k, from: from, to: to, recovery: m.Recovery}
	if len(m.CPFeatures) > 0 {
		a.features = m.CPFeatures[0]
	}
	return a
}

func (s *Server) begin(a *association, then func()) {
	s.add(a)
	s.log.Info("association set up", "node", a.node, "peer", a.from)
	s.keep(a, then)
	s.sessions.PeerBack(a.node)
}

// add an association in place of a former one of the node and begin its heartbeats.
func (s *Server) add(a *association) {
	a.up, a.since = true, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.associations[a.node]; old != nil {
		old.timer.Stop()
	}
	s.associations[a.node] = a
	delete(s.releases, a.node)
	a.timer = time.AfterFunc(s.cfg.HeartbeatInterval, func() { s.beat(a) })
	if s.closed {
		a.timer.Stop()
	}
}

// associate sets an association up from our side, §6.2.6.3, and sees to it that it stays.
func (s *Server) associate(p Peer) {
	again := func(after time.Duration) {
		s.later(after, func() { s.associate(p) })
	}
	if s.associatedAt(p.Prefix.Addr()) {
		again(s.cfg.HeartbeatInterval)
		return
	}
	to := netip.AddrPortFrom(p.Prefix.Addr(), p.Port)
	k := s.socketFor(to.Addr(), netip.Addr{})
	k.send(to, s.self.EncodeSetup, func(body []byte, ok bool) {
		defer again(s.cfg.HeartbeatInterval)
		if !ok {
			s.log.Warn("association not answered", "peer", to)
			return
		}
		m, err := pfcp.DecodeAssociation(pfcp.AssociationSetupResponse, body)
		switch {
		case err != nil:
			s.log.Warn("association answered wrongly", "peer", to, "why", err)
		case m.Cause != rules.CauseAccepted:
			s.log.Warn("association refused by the peer", "peer", to, "cause", m.Cause)
		case !s.cfg.allowed(to.Addr(), m.Node):
			s.log.Warn("peer has another Node ID than configured", "peer", to, "node", m.Node)
		default:
			s.install(m, k, to, to, nil)
		}
	})
}

// later calls f unless the interface is closed by then.
func (s *Server) later(after time.Duration, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	var t *time.Timer
	t = time.AfterFunc(after, func() {
		s.mu.Lock()
		delete(s.timers, t)
		closed := s.closed
		s.mu.Unlock()
		if !closed {
			f()
		}
	})
	s.timers[t] = struct{}{}
}
