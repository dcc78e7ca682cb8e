// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

// call is a request being worked on.
type call struct {
	*socket
	from     netip.AddrPort
	header   pfcp.Header
	exchange *exchange
	arrived  time.Time
	node     rules.NodeID  // of the CP function; zero: not known
	control  *pfcp.Control // what the answer says beside what was asked for
}

// answer sends a response and keeps it for when the request comes again. Any goroutine.
func (c *call) answer(cause rules.Cause, wire []byte) {
	if c.server.muted.Load() {
		return
	}
	c.cache.finish(c.exchange, c.node, wire)
	c.write(wire, c.from)
	c.server.metrics.request(c.header.Type, cause, time.Since(c.arrived))
}

// request begins what a request asks for, unless it was seen before.
func (k *socket) request(from netip.AddrPort, h pfcp.Header, body []byte, wrong error) {
	s := k.server
	if pfcp.Name(h.Type) == "unknown" || h.Type == pfcp.SessionReportRequest || h.Type == pfcp.NodeReportRequest {
		s.metrics.discard("type") // §7.6.4, §7.6.5
		return
	}
	if pfcp.IsSession(h.Type) && !h.HasSEID {
		s.metrics.discard("no_seid")
		return
	}
	if h.Type == pfcp.HeartbeatRequest {
		k.heartbeat(from, h, body, wrong)
		return
	}
	key, now := exchangeKey{from, h.Sequence, h.Type}, time.Now()
	x, wire, fresh := k.cache.begin(key, digest(body, h.SEID), now)
	if !fresh {
		s.metrics.retransmissions.WithLabelValues("received").Inc()
		if wire != nil {
			k.write(wire, from)
		}
		return
	}
	c := &call{socket: k, from: from, header: h, exchange: x, arrived: now}
	if wrong != nil {
		k.cache.forget(key)
		c.refuse(rules.NodeID{}, &pfcp.Error{Cause: rules.CauseInvalidLength, Where: "header"})
		return
	}
	switch h.Type {
	case pfcp.SessionEstablishmentRequest:
		c.establish(body)
	case pfcp.SessionModificationRequest:
		c.modify(body)
	case pfcp.SessionDeletionRequest:
		c.delete(body)
	case pfcp.AssociationSetupRequest:
		c.setup(body)
	case pfcp.AssociationUpdateRequest, pfcp.AssociationReleaseRequest:
		c.updateOrRelease(body)
	case pfcp.PFDManagementRequest:
		c.managePFDs(body)
	default: // Session Set Deletion: a feature that is not offered
		c.refuse(rules.NodeID{}, &pfcp.Error{Cause: rules.CauseServiceNotSupported, Where: pfcp.Name(h.Type)})
	}
}

// refuse answers a request that goes no further.
func (c *call) refuse(node rules.NodeID, e *pfcp.Error) {
	s, h := c.server, c.header
	s.log.Debug("refused", "request", pfcp.Name(h.Type), "peer", c.from, "node", node, "why", e)
	var wire []byte
	switch {
	case pfcp.IsSession(h.Type):
		cp, _ := c.own()
		c.refuseSession(cp, e)
		return
	case h.Type == pfcp.AssociationSetupRequest:
		wire = s.self.EncodeSetupAnswer(h.Sequence, e.Cause, e.IE, false)
	case h.Type == pfcp.PFDManagementRequest:
		wire = s.self.EncodePFDAnswer(h.Sequence, e.Cause, e.IE)
	default:
		wire = s.self.EncodeNodeAnswer(h.Type+1, h.Sequence, e.Cause, e.IE)
	}
	c.answer(e.Cause, wire)
}

// refuseSession answers a session request; cp is the SEID of its header, 0 where it is not known.
func (c *call) refuseSession(cp uint64, e *pfcp.Error) {
	c.answer(e.Cause, c.encode(&rules.Answer{Cause: e.Cause, OffendingIE: e.IE, CPSEID: cp}))
}

func (c *call) encode(a *rules.Answer) []byte {
	if c.control == nil {
		control := c.server.control(c.node)
		c.control = &control
	}
	return c.server.self.EncodeSessionAnswer(c.header.Type, c.header.Sequence, c.local, a, *c.control)
}

// transaction of a request that goes to the session manager; done ends it.
func (c *call) transaction() rules.Transaction {
	c.server.underway.Add(1)
	return rules.Transaction{Peer: c.from, Sequence: c.header.Sequence, Digest: c.exchange.digest, Encode: c.encode}
}

func (c *call) done(a *rules.Answer, wire []byte) {
	if a.Cause != rules.CauseAccepted {
		c.server.log.Debug("refused", "request", pfcp.Name(c.header.Type), "peer", c.from, "why", a.Cause, "reason", a.Reason)
	}
	c.answer(a.Cause, wire)
	c.server.underway.Add(-1)
}

var noAssociation = &pfcp.Error{Cause: rules.CauseNoAssociation, Where: "association"}

func (c *call) establish(body []byte) {
	r, err := pfcp.DecodeEstablishment(body)
	c.node = r.Node
	switch {
	case err != nil:
		c.refuseSession(r.CPFSEID.SEID, err)
	case !c.server.associated(r.Node) || !c.server.cfg.allowed(c.from.Addr(), r.Node):
		c.refuseSession(r.CPFSEID.SEID, noAssociation)
	case !c.server.speaksFor(c.from.Addr(), rules.Holder{Node: r.Node}): // the F-SEID in it proves nothing
		c.server.metrics.foreign.WithLabelValues(pfcp.Name(c.header.Type)).Inc()
		c.server.log.Warn("session asked for in the name of another CP function", "peer", c.from, "node", r.Node)
		c.refuseSession(r.CPFSEID.SEID, noAssociation)
	default:
		c.server.sessions.Establish(c.transaction(), r, c.done)
	}
}

// own finds the session a request is about. One of another CP function is not there for this one.
func (c *call) own() (cp uint64, ok bool) {
	h, there := c.server.sessions.Holder(c.header.SEID)
	if !there || c.server.speaksFor(c.from.Addr(), h) {
		c.node = h.Node
		return h.CP.SEID, there
	}
	c.server.metrics.foreign.WithLabelValues(pfcp.Name(c.header.Type)).Inc()
	c.server.log.Warn("request for a session of another CP function", "request", pfcp.Name(c.header.Type),
		"peer", c.from, "up_seid", c.header.SEID, "node", h.Node)
	return 0, false
}

// known finds the session a modification or deletion is about, or refuses, §7.6.5 and §6.3.
func (c *call) known() (cp uint64, ok bool) {
	if !c.server.cfg.allowed(c.from.Addr(), rules.NodeID{}) {
		c.refuseSession(0, noAssociation)
		return 0, false
	}
	cp, ok = c.own()
	switch {
	case !ok && !c.server.associatedAt(c.from.Addr()):
		c.refuseSession(0, noAssociation)
	case !ok:
		c.refuseSession(0, &pfcp.Error{Cause: rules.CauseSessionContextNotFound, Where: "session"})
	}
	return cp, ok
}

func (c *call) modify(body []byte) {
	cp, ok := c.known()
	if !ok {
		return
	}
	r, err := pfcp.DecodeModification(body)
	if err != nil {
		c.refuseSession(cp, err)
		return
	}
	c.server.sessions.Modify(c.transaction(), c.header.SEID, r, c.done)
}

func (c *call) delete(body []byte) {
	cp, ok := c.known()
	if !ok {
		return
	}
	if err := pfcp.DecodeDeletion(body); err != nil {
		c.refuseSession(cp, err)
		return
	}
	c.server.sessions.Delete(c.transaction(), c.header.SEID, c.done)
}

// managePFDs of an associated CP function, §6.2.5. Descriptions are of no one's: what another CP
// function of the same UP function says of an application replaces them.
func (c *call) managePFDs(body []byte) {
	r, err := pfcp.DecodePFDs(body)
	if r.Node != nil {
		c.node = *r.Node
	}
	switch {
	case err != nil:
		c.refuse(c.node, err)
		return
	case !c.server.cfg.allowed(c.from.Addr(), c.node),
		r.Node == nil && !c.server.associatedAt(c.from.Addr()),
		r.Node != nil && (!c.server.associated(c.node) || !c.server.speaksFor(c.from.Addr(), rules.Holder{Node: c.node})):
		c.refuse(c.node, noAssociation)
		return
	}
	c.server.underway.Add(1)
	c.server.sessions.ManagePFDs(r, func(a rules.PFDAnswer) {
		if a.Cause != rules.CauseAccepted {
			c.server.log.Warn("PFDs refused", "peer", c.from, "why", a.Cause, "reason", a.Reason)
		}
		c.answer(a.Cause, c.server.self.EncodePFDAnswer(c.header.Sequence, a.Cause, a.OffendingIE))
		c.server.underway.Add(-1)
	})
}
