// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

// deletionPatience is how long the answer to an association set-up or release waits for sessions
// to go: less than a peer waits before it asks again (T1, 3 s).
const deletionPatience = 2 * time.Second

// associationsMax bounds what strangers can have us remember.
const associationsMax = 4096

// association with a CP function, §6.2.6. Fields below socket are guarded by Server.mu.
type association struct {
	node   rules.NodeID
	socket *socket        // by which it came, and our requests go
	from   netip.AddrPort // where it was set up from
	to     netip.AddrPort // where our requests go

	setup    *keptAnswer // nil: we set it up, or its answer is forgotten
	recovery time.Time
	features uint8 // first octet of CP Function Features
	up       bool  // heartbeats are answered
	beating  bool  // one is under way
	since    time.Time
	timer    *time.Timer // of the next heartbeat

	toldLoad, toldOverload uint32 // Sequence Numbers it was told last, guarded by loadControl.mu
}

// kept is what the store has of an association.
type kept struct {
	Local    netip.Addr     `json:"local"`
	From     netip.AddrPort `json:"from"`
	To       netip.AddrPort `json:"to"`
	Recovery int64          `json:"recovery"` // Unix s
	Features uint8          `json:"features"`
	Setup    *keptAnswer    `json:"setup,omitempty"`
	// Release ended the association: nothing else of it counts.
	Release *keptAnswer `json:"release,omitempty"`
}

// keptAnswer is an Association Setup or Release Request with its answer, for the agent's next run,
// §6.4. A set-up that comes late must not be done again, for it would delete sessions made since;
// a release would be told that there is no association.
type keptAnswer struct {
	Sequence uint32 `json:"sequence"`
	Digest   uint64 `json:"digest"`
	At       int64  `json:"at"` // Unix s
	Answer   []byte `json:"answer"`
}

// Peer of PeerList, for people.
type PeerInfo struct {
	Node     string         `json:"node"`
	Address  netip.AddrPort `json:"address"`
	Local    netip.Addr     `json:"local"`
	Recovery time.Time      `json:"recovery"`
	Up       bool           `json:"up"`
	Since    time.Time      `json:"since"`
	Sessions int            `json:"sessions"`
}

// Peers lists the associations by Node ID.
func (s *Server) Peers() []PeerInfo {
	s.mu.RLock()
	list := make([]PeerInfo, 0, len(s.associations))
	nodes := make([]rules.NodeID, 0, len(s.associations))
	for _, a := range s.associations {
		list = append(list, PeerInfo{a.node.String(), a.to, a.socket.local, a.recovery, a.up, a.since, 0})
		nodes = append(nodes, a.node)
	}
	s.mu.RUnlock()
	for i := range list {
		list[i].Sessions = s.sessions.CountOfPeer(nodes[i])
	}
	slices.SortFunc(list, func(a, b PeerInfo) int { return strings.Compare(a.Node, b.Node) })
	return list
}

func (s *Server) association(node rules.NodeID) *association {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.associations[node]
}

func (s *Server) associated(node rules.NodeID) bool { return s.association(node) != nil }

// full says that a node cannot have an association because too many others do.
func (s *Server) full(node rules.NodeID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.associations) >= associationsMax && s.associations[node] == nil
}

// associatedAt says whether some CP function has its association from an address.
func (s *Server) associatedAt(at netip.Addr) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, a := range s.associations {
		if a.from.Addr() == at || a.to.Addr() == at {
			return true
		}
	}
	return false
}

// speaksFor says whether an address is of the CP function that holds a session: that of the CP
// F-SEID, of its association, its Node ID or one configured for that. Ports say nothing, §4.2.2.
func (s *Server) speaksFor(from netip.Addr, h rules.Holder) bool {
	plain := from.WithZone("")
	if plain == h.Node.Addr || plain == h.CP.IPv4 || plain == h.CP.IPv6 || s.cfg.named(plain, h.Node) {
		return true
	}
	a := s.association(h.Node)
	return a != nil && (a.from.Addr() == from || a.to.Addr() == from)
}

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

// keep an association in the store; then, which may be nil, is called when it is safe.
func (s *Server) keep(a *association, then func()) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	state, err := json.Marshal(kept{a.socket.local, a.from, a.to, a.recovery.Unix(), a.features, a.setup, nil})
	if err != nil {
		panic(err)
	}
	if s.associations[a.node] == a {
		s.sessions.KeepAssociation(a.node, state, then)
	} else if then != nil { // released or set up anew meanwhile, and that is kept
		then()
	}
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

// restore associations of the run before.
func (s *Server) restore() {
	s.sessions.Associations(func(node rules.NodeID, state []byte) bool {
		var w kept
		if err := json.Unmarshal(state, &w); err != nil {
			s.log.Error("association in the store not understood", "node", node, "error", err)
			return true
		}
		if w.Release != nil {
			s.recall(s.socketFor(w.From.Addr(), w.Local), node, w.From, pfcp.AssociationReleaseRequest, w.Release)
			s.mu.Lock()
			s.releases[node] = w.Release
			s.mu.Unlock()
			s.forgetRelease(node, w.Release, time.Until(time.Unix(w.Release.At, 0).Add(s.cfg.ResponseTTL)))
			return true
		}
		a := &association{node: node, socket: s.socketFor(w.To.Addr(), w.Local), from: w.From, to: w.To,
			setup: w.Setup, recovery: time.Unix(w.Recovery, 0), features: w.Features}
		s.add(a)
		if w.Setup != nil {
			s.recall(a.socket, node, w.From, pfcp.AssociationSetupRequest, w.Setup)
		}
		s.log.Info("association goes on", "node", node, "peer", w.From)
		return true
	})
}

// recall answers a request of the run before as it did, if that is not too long ago.
func (s *Server) recall(k *socket, node rules.NodeID, from netip.AddrPort, request uint8, w *keptAnswer) {
	now := time.Now()
	if now.Sub(time.Unix(w.At, 0)) > s.cfg.ResponseTTL {
		return
	}
	x, _, _ := k.cache.begin(exchangeKey{from, w.Sequence, request}, w.Digest, now)
	k.cache.finish(x, node, w.Answer)
}

// socketFor finds the socket of a local address, else one of the peer's family.
func (s *Server) socketFor(peer, local netip.Addr) *socket {
	best := s.sockets[0]
	for _, k := range s.sockets {
		if k.local == local && local.Is4() == peer.Is4() {
			return k
		}
		if k.local.Is4() == peer.Is4() && best.local.Is4() != peer.Is4() {
			best = k
		}
	}
	return best
}

// updateOrRelease is a CP function's Association Update, §6.2.7.2, or Release, §6.2.8.2.
func (c *call) updateOrRelease(body []byte) {
	s, t := c.server, c.header.Type
	m, err := pfcp.DecodeAssociation(t, body)
	if err != nil {
		c.refuse(m.Node, err)
		return
	}
	if m.Node.Addr.IsValid() && m.Node.Addr.IsUnspecified() {
		m.Node = s.nodeOf(c.from)
	}
	if !s.associated(m.Node) || !s.cfg.allowed(c.from.Addr(), m.Node) {
		c.refuse(m.Node, noAssociation)
		return
	}
	if !s.speaksFor(c.from.Addr(), rules.Holder{Node: m.Node}) {
		s.metrics.foreign.WithLabelValues(pfcp.Name(t)).Inc()
		s.log.Warn("request for the association of another CP function", "request", pfcp.Name(t), "peer", c.from, "node", m.Node)
		c.refuse(m.Node, noAssociation)
		return
	}
	wire := s.self.EncodeNodeAnswer(t+1, c.header.Sequence, rules.CauseAccepted, 0)
	accept := func() { c.answer(rules.CauseAccepted, wire) }
	if t == pfcp.AssociationUpdateRequest {
		s.log.Info("association updated", "node", m.Node, "peer", c.from, "release_prepared", m.Preparing)
		s.changeFeatures(m, accept)
		return
	}
	c.release(m.Node, wire, accept)
}

// changeFeatures takes the CP Function Features of an Association Update, if it has them; then is
// called when they are safe.
func (s *Server) changeFeatures(m *pfcp.Association, then func()) {
	s.mu.Lock()
	a := s.associations[m.Node]
	if a != nil && len(m.CPFeatures) > 0 {
		a.features = m.CPFeatures[0]
	}
	s.mu.Unlock()
	if a == nil || len(m.CPFeatures) == 0 {
		then()
		return
	}
	s.keep(a, then)
}

// nodeOf says who has its association from an address and port: some peers leave their Node ID
// unspecified once they are associated.
func (s *Server) nodeOf(from netip.AddrPort) rules.NodeID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, a := range s.associations {
		if a.from == from {
			return a.node
		}
	}
	return rules.NodeID{}
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
