// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// §6.2.2.2: heartbeats are answered, strangers' too.
func TestHeartbeatOfAStranger(t *testing.T) {
	f := newFake()
	c := newSMF(t, start(t, f, func(c *Config) { c.Peers = []Peer{{Prefix: netip.MustParsePrefix("10.0.0.0/8")}} }), "127.0.0.4:0")
	c.send(marshal(message.NewHeartbeatRequest(3, ie.NewRecoveryTimeStamp(time.Unix(1000, 0)), nil)))
	h, m, _ := c.want(pfcp.HeartbeatResponse)
	if ts, err := m.(*message.HeartbeatResponse).RecoveryTimeStamp.RecoveryTimeStamp(); err != nil || !ts.Equal(f.recovery) || h.Sequence != 3 {
		t.Errorf("%v, %v, %+v", ts, err, h)
	}
}

// Where nobody knows whose a stamp is, it deletes nothing; a port configured for a node tells.
func TestWhoseHeartbeat(t *testing.T) {
	at := func(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.4"), port) }
	c := Config{Peers: []Peer{{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Port: 1},
		{Prefix: netip.MustParsePrefix("127.0.0.4/32"), Port: 2, Node: rules.NodeID{FQDN: "b"}}}}
	if a, b := c.peer(at(0).Addr(), rules.NodeID{FQDN: "a"}), c.peer(at(0).Addr(), rules.NodeID{FQDN: "b"}); a.Port != 1 || b.Port != 2 {
		t.Errorf("ports %d, %d", a.Port, b.Port)
	}
	a, b := &association{from: at(10), to: at(1)}, &association{from: at(11), to: at(1)}
	s := &Server{associations: map[rules.NodeID]*association{{FQDN: "a"}: a, {FQDN: "b"}: b}}
	if l := s.speakingAt(at(1)); len(l) != 0 {
		t.Errorf("at the port of both: %d", len(l))
	}
	if l := s.speakingAt(at(11)); len(l) != 1 || l[0] != b {
		t.Errorf("at the port it was set up from: %d", len(l))
	}
	b.to = at(2)
	if l := s.speakingAt(at(1)); len(l) != 1 || l[0] != a {
		t.Errorf("at a port of its own: %d", len(l))
	}
}

// Our heartbeats: unanswered ones mark the peer, sessions stay; a new stamp in an answer counts.
func TestOurHeartbeats(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) { c.HeartbeatInterval = 100 * time.Millisecond; c.T1 = 20 * time.Millisecond })
	c := newSMF(t, s, "127.0.0.4:18806")
	c.associate(1000)
	c.establish(1)
	_, _, first := c.want(pfcp.HeartbeatRequest)
	_, _, again := c.want(pfcp.HeartbeatRequest)
	if !bytes.Equal(first, again) {
		t.Errorf("retransmission differs: %x, %x", first, again)
	}
	eventually(t, "a silent peer is up", func() bool { return !s.Peers()[0].Up })
	if f.CountOfPeer(c.node()) != 1 {
		t.Error("sessions went")
	}
	answer := func(recovery int64) {
		for {
			h, _, _ := c.want(pfcp.HeartbeatRequest)
			c.send(marshal(message.NewHeartbeatResponse(h.Sequence, ie.NewRecoveryTimeStamp(time.Unix(recovery, 0)))))
			if s.Peers()[0].Up {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	answer(1000)
	answer(1000)
	if f.CountOfPeer(c.node()) != 1 {
		t.Error("sessions went")
	}
	answer(1001)
	eventually(t, "sessions outlive their SMF", func() bool { return f.CountOfPeer(c.node()) == 0 })
}
