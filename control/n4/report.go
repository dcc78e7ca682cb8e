// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

var _ rules.Reporter = (*Server)(nil)

// Report sends a PFCP Session Report Request to the address of the CP F-SEID, §7.5.8.
func (s *Server) Report(r *rules.SessionReport, done func(*rules.ReportAnswer)) {
	address := r.CPFSEID.IPv4
	if !address.IsValid() || !s.sockets[0].local.Is4() && r.CPFSEID.IPv6.IsValid() {
		address = r.CPFSEID.IPv6
	}
	var local netip.Addr
	if a := s.association(r.Node); a != nil {
		local = a.socket.local
	}
	to := netip.AddrPortFrom(address, s.cfg.peer(address, r.Node).Port)
	control := s.control(r.Node)
	encode := func(sequence uint32) []byte { return s.self.EncodeSessionReport(sequence, r, control) }
	s.socketFor(address, local).send(to, encode, func(body []byte, ok bool) {
		if !ok {
			s.log.Debug("session report not answered", "peer", to, "up_seid", r.UPSEID)
			if a := s.association(r.Node); a != nil { // is it the path? TS 23.527 §4.3
				go s.beat(a)
			}
			done(nil)
			return
		}
		answer, err := pfcp.DecodeReportAnswer(body)
		if err != nil {
			s.metrics.discard("report_answer")
			s.log.Debug("session report answered wrongly", "peer", to, "up_seid", r.UPSEID, "why", err)
			done(nil)
			return
		}
		done(answer)
	})
}

// Reachable says whether the path to a CP function is up.
func (s *Server) Reachable(node rules.NodeID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := s.associations[node]
	return a == nil || a.up
}

// Path sends a Node Report to every associated CP function, §6.2.9.
func (s *Server) Path(e rules.PathEvent) {
	s.mu.RLock()
	list := make([]*association, 0, len(s.associations))
	for _, a := range s.associations {
		list = append(list, a)
	}
	s.mu.RUnlock()
	s.log.Warn("user plane path", "peer", e.Peer, "up", e.Up)
	encode := func(sequence uint32) []byte { return s.self.EncodeNodeReport(sequence, e) }
	for _, a := range list {
		a.socket.send(a.to, encode, func(_ []byte, ok bool) {
			if !ok {
				s.log.Warn("node report not answered", "node", a.node, "peer", a.to)
			}
		})
	}
}
