// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/json"
	"net/netip"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

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
