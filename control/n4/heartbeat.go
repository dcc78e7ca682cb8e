// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"
	"slices"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

// heartbeat answers one, whoever sent it (§6.2.2.2), and notices that an associated peer began
// anew.
func (k *socket) heartbeat(from netip.AddrPort, h pfcp.Header, body []byte, wrong error) {
	s := k.server
	recovery, err := pfcp.DecodeHeartbeat(body)
	if wrong != nil || err != nil { // the response has no cause
		s.metrics.discard("heartbeat")
		return
	}
	k.write(s.self.EncodeHeartbeat(pfcp.HeartbeatResponse, h.Sequence), from)
	s.metrics.request(h.Type, rules.CauseAccepted, 0)
	for _, a := range s.speakingAt(from) {
		s.stamp(a, recovery)
	}
}

// speakingAt are the associations whose Recovery Time Stamp a heartbeat from a port tells: those
// set up from there, else the one whose requests go there. Several CP functions of an address may
// be reached at the same port only: then nobody knows whose it is, and their next set-ups tell.
func (s *Server) speakingAt(at netip.AddrPort) []*association {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var from, to []*association
	for _, a := range s.associations {
		if a.from == at {
			from = append(from, a)
		}
		if a.to == at {
			to = append(to, a)
		}
	}
	if len(from) == 0 && len(to) == 1 {
		return to
	}
	return from
}

// beat sends a heartbeat to an associated peer, unless one is under way, and plans the next,
// §6.2.2.
func (s *Server) beat(a *association) {
	s.mu.Lock()
	if a.beating || s.closed {
		s.mu.Unlock()
		return
	}
	a.beating = true
	s.mu.Unlock()
	encode := func(sequence uint32) []byte { return s.self.EncodeHeartbeat(pfcp.HeartbeatRequest, sequence) }
	a.socket.send(a.to, encode, func(body []byte, ok bool) {
		var recovery time.Time
		if ok {
			var err *pfcp.Error
			recovery, err = pfcp.DecodeHeartbeat(body)
			ok = err == nil
		}
		s.mu.Lock()
		a.beating = false
		mine := s.associations[a.node] == a && !s.closed
		turned := mine && a.up != ok
		if turned {
			a.up, a.since = ok, time.Now()
		}
		if mine {
			a.timer.Reset(s.cfg.HeartbeatInterval)
		}
		s.mu.Unlock()
		switch {
		case turned && ok:
			s.log.Info("peer answers heartbeats again", "node", a.node, "peer", a.to)
			s.sessions.PeerBack(a.node)
		case turned: // its sessions stay: TS 23.527 §4.3
			s.log.Warn("peer does not answer heartbeats", "node", a.node, "peer", a.to)
		}
		if mine && ok && slices.Contains(s.speakingAt(a.to), a) {
			s.stamp(a, recovery)
		}
	})
}

// stamp compares a Recovery Time Stamp with the one known. A later one: the peer began anew and
// lost its sessions, TS 23.527 §4.2; an earlier one came late.
func (s *Server) stamp(a *association, recovery time.Time) {
	peer := s.cfg.peer(a.to.Addr(), a.node)
	if peer.IgnoreRecovery {
		return
	}
	s.mu.Lock()
	if s.associations[a.node] != a || !recovery.After(a.recovery) {
		s.mu.Unlock()
		return
	}
	a.recovery = recovery
	s.mu.Unlock()
	s.forgetPeer(a.node, a.from.Addr(), a.to.Addr())
	s.metrics.peerRestarts.Inc()
	s.log.Warn("peer restarted", "node", a.node, "peer", a.to, "recovery", recovery.UTC())
	if peer.Associate { // the peer lost the association, too: it is set up anew
		s.remove(a.node, nil)
		s.deleteSessions(a.node, "peer restarted", func() { s.forgetUnassociated(a.node) })
		return
	}
	s.deleteSessions(a.node, "peer restarted", func() { s.keep(a, nil) })
}
