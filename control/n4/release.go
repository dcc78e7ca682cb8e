// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/json"
	"errors"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

// release the association; accept is called when it is safe.
func (c *call) release(node rules.NodeID, wire []byte, accept func()) {
	s := c.server
	release := &keptAnswer{c.header.Sequence, c.exchange.digest, c.arrived.Unix(), wire}
	s.remove(node, release)
	s.log.Info("association released", "node", node, "peer", c.from)
	state, wrong := json.Marshal(kept{Local: c.local, From: c.from, Release: release})
	if wrong != nil {
		panic(wrong)
	}
	c.node = node
	s.deleteSessions(node, "association released", func() {
		s.mu.Lock()
		last := s.releases[node] == release
		if last {
			s.sessions.KeepAssociation(node, state, accept)
		}
		s.mu.Unlock()
		if !last { // set up meanwhile, and kept
			accept()
			return
		}
		s.forgetRelease(node, release, s.cfg.ResponseTTL)
	})
}

// remove an association; release is what ended it, nil: no request did.
func (s *Server) remove(node rules.NodeID, release *keptAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.associations[node]; a != nil {
		a.timer.Stop()
		delete(s.associations, node)
	}
	if release != nil {
		s.releases[node] = release
	}
}

// forgetUnassociated takes a node out of the store, unless it is associated again or its release is
// kept.
func (s *Server) forgetUnassociated(node rules.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.associations[node] == nil && s.releases[node] == nil {
		s.sessions.KeepAssociation(node, nil, nil)
	}
}

// forgetRelease takes a release out of the store after a while.
func (s *Server) forgetRelease(node rules.NodeID, release *keptAnswer, after time.Duration) {
	s.later(after, func() { s.dropRelease(node, release) })
}

// dropRelease unless the node is associated again, or has been and released that, too.
func (s *Server) dropRelease(node rules.NodeID, release *keptAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.releases[node] == release { // an association that is added now is stored after this
		delete(s.releases, node)
		s.sessions.KeepAssociation(node, nil, nil)
	}
}

// ErrNoAssociation: the node has none.
var ErrNoAssociation = errors.New("no association with this node")

// AskRelease asks a CP function to release its association, §6.2.7.3; done gets its cause, 0
// when it did not answer.
func (s *Server) AskRelease(node string, done func(rules.Cause)) error {
	s.mu.RLock()
	var found *association
	for id, a := range s.associations {
		if id.String() == node {
			found = a
		}
	}
	s.mu.RUnlock()
	if found == nil {
		return ErrNoAssociation
	}
	found.socket.send(found.to, s.self.EncodeReleaseWish, func(body []byte, ok bool) {
		if !ok {
			done(0)
			return
		}
		m, _ := pfcp.DecodeAssociation(pfcp.AssociationUpdateResponse, body)
		done(m.Cause)
	})
	return nil
}
