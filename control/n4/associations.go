// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

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
