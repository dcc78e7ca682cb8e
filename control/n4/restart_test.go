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

// A later Recovery Time Stamp of an associated peer: it began anew, its sessions go.
func TestPeerRestart(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) {
		c.Peers = append([]Peer{{Prefix: netip.MustParsePrefix("127.0.0.66/32"), IgnoreRecovery: true}}, c.Peers...)
	})
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	c.establish(1)
	beat := func(c *smf, recovery int64) {
		c.seq++
		c.send(marshal(message.NewHeartbeatRequest(c.seq, ie.NewRecoveryTimeStamp(time.Unix(recovery, 0)), nil)))
		c.want(pfcp.HeartbeatResponse)
	}
	beat(c, 1000)
	beat(c, 900)
	stranger := newSMF(t, s, "127.0.0.5:0")
	beat(stranger, 5000)
	time.Sleep(50 * time.Millisecond)
	if f.CountOfPeer(c.node()) != 1 {
		t.Fatal("sessions went too soon")
	}
	simulator := newSMF(t, s, "127.0.0.66:0") // whose stamps are to be ignored
	simulator.associate(1000)
	simulator.establish(7)
	beat(simulator, 2000)
	beat(c, 1001)
	eventually(t, "sessions outlive their SMF", func() bool { return f.CountOfPeer(c.node()) == 0 })
	c.establish(2)
	if f.CountOfPeer(simulator.node()) != 1 {
		t.Error("a stamp to be ignored was not")
	}
}

// Two CP functions of an address, at different ports: one that begins anew loses its own sessions,
// not the other's, whether it asks or answers.
func TestRestartOfOneOfTwoAtAnAddress(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) { c.HeartbeatInterval = 100 * time.Millisecond })
	a, b := newSMF(t, s, "127.0.0.4:18806"), newSMF(t, s, "127.0.0.4:0")
	id := rules.NodeID{FQDN: "b.example"}
	a.associate(1000)
	b.send(marshal(message.NewAssociationSetupRequest(9, ie.NewNodeID("", "", id.FQDN), ie.NewRecoveryTimeStamp(time.Unix(500, 0)))))
	b.want(pfcp.AssociationSetupResponse)
	f.mu.Lock()
	f.sessions[1], f.sessions[2] = &rules.EstablishRequest{Node: a.node()}, &rules.EstablishRequest{Node: id}
	f.mu.Unlock()
	for range 6 { // ours of both go to a
		h, _, _ := a.want(pfcp.HeartbeatRequest)
		a.send(marshal(message.NewHeartbeatResponse(h.Sequence, ie.NewRecoveryTimeStamp(time.Unix(1000, 0)))))
	}
	if f.CountOfPeer(a.node()) != 1 || f.CountOfPeer(id) != 1 {
		t.Fatalf("%d and %d sessions", f.CountOfPeer(a.node()), f.CountOfPeer(id))
	}
	beat := func(c *smf, recovery int64) {
		c.send(marshal(message.NewHeartbeatRequest(77, ie.NewRecoveryTimeStamp(time.Unix(recovery, 0)), nil)))
	}
	beat(a, 2000)
	eventually(t, "sessions outlive their SMF", func() bool { return f.CountOfPeer(a.node()) == 0 })
	if f.CountOfPeer(id) != 1 {
		t.Fatal("another's sessions went")
	}
	f.mu.Lock()
	f.sessions[1] = &rules.EstablishRequest{Node: a.node()}
	f.mu.Unlock()
	beat(b, 3000)
	eventually(t, "sessions outlive their SMF", func() bool { return f.CountOfPeer(id) == 0 })
	if f.CountOfPeer(a.node()) != 1 {
		t.Fatal("another's sessions went")
	}
}

// §6.4: a Release that comes again after the agent's restart gets the octets it got, and a new one
// finds no association. The store forgets it after a while.
func TestReleaseAfterARestart(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	release := func(seq uint32) []byte {
		c.send(marshal(message.NewAssociationReleaseRequest(seq, ie.NewNodeID("127.0.0.4", "", ""))))
		_, _, wire := c.want(pfcp.AssociationReleaseResponse)
		return wire
	}
	c.associate(1000)
	c.establish(1)
	first := release(77)
	s.Close()
	s = start(t, f, func(cfg *Config) { cfg.Port = s.Local()[0].Port() })
	if again := release(77); !bytes.Equal(first, again) || len(s.Peers()) != 0 {
		t.Errorf("got %x, then %x; %d peers", first, again, len(s.Peers()))
	}
	if other := release(78); bytes.Equal(first[8:], other[8:]) {
		t.Errorf("no association was released: %x", other)
	}
	// Set up again, the peer may be at the same number: that is another release.
	c.associate(2000)
	c.establish(2)
	if release(77); len(s.Peers()) != 0 || f.CountOfPeer(c.node()) != 0 {
		t.Errorf("%d peers, %d sessions", len(s.Peers()), f.CountOfPeer(c.node()))
	}
	s.Close()
	start(t, f, func(cfg *Config) { cfg.Port, cfg.ResponseTTL = s.Local()[0].Port(), time.Millisecond })
	eventually(t, "still in the store", func() bool { return !f.keeps(c.node()) })
}
