// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net"
	"net/netip"
	"testing"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// answered sends a request and gives the SEID and the cause of its answer.
func (c *smf) answered(b []byte) (uint64, rules.Cause) {
	c.Helper()
	c.send(b)
	h, _, wire := c.want(b[1] + 1)
	m, err := message.ParseHeader(wire)
	if err != nil {
		c.Fatal(err)
	}
	ies, err := ie.ParseMultiIEs(m.Payload)
	if err != nil {
		c.Fatal(err)
	}
	for _, i := range ies {
		if i.Type == ie.Cause {
			return h.SEID, cause(c.T, i)
		}
	}
	c.Fatalf("no cause: %x", wire)
	return 0, 0
}

func (c *smf) modification(up uint64, ies ...*ie.IE) []byte {
	c.seq++
	return marshal(message.NewSessionModificationRequest(0, 0, up, c.seq, 0, ies...))
}

func (c *smf) deletion(up uint64) []byte {
	c.seq++
	return marshal(message.NewSessionDeletionRequest(0, 0, up, c.seq, 0))
}

func (c *smf) refused(what string, b []byte, want rules.Cause) {
	c.Helper()
	if seid, got := c.answered(b); got != want || seid != 0 {
		c.Errorf("%s: %v, SEID %#x", what, got, seid)
	}
}

func (c *smf) accepted(what string, b []byte, want uint64) {
	c.Helper()
	if seid, got := c.answered(b); got != rules.CauseAccepted || seid != want {
		c.Errorf("%s: %v, SEID %#x", what, got, seid)
	}
}

// §6.3.3, §6.3.4: for another CP function than its own a session is not there, however it knows
// the SEID.
func TestSessionsOfOthers(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	a, b := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0")
	a.associate(1000)
	b.associate(1000)
	up := a.establish(0x77)
	b.refused("modified", b.modification(up, ie.NewUpdateFAR(ie.NewFARID(1), ie.NewApplyAction(1))), rules.CauseSessionContextNotFound)
	b.refused("deleted", b.deletion(up), rules.CauseSessionContextNotFound)
	b.refused("deleted, with octets behind", append(b.deletion(up), 1, 2), rules.CauseInvalidLength)
	stranger := newSMF(t, s, "127.0.0.6:0")
	stranger.refused("deleted by a stranger", stranger.deletion(up), rules.CauseNoAssociation)
	if f.modified != 0 || f.CountOfPeer(a.node()) != 1 {
		t.Error("another CP function had its way")
	}
	for kind, n := range map[string]float64{"session_modification": 1, "session_deletion": 3} {
		if got := value(t, s.metrics.foreign.WithLabelValues(kind)); got != n {
			t.Errorf("%s: %v counted", kind, got)
		}
	}
	other := newSMF(t, s, "127.0.0.4:0") // any source port
	other.seq = 500
	other.accepted("modified from another port", other.modification(up), 0x77)
	a.accepted("deleted", a.deletion(up), 0x77)
}

// §7.5.4.1: a CP function that changes its F-SEID may ask from there.
func TestRequestsFromTheCPFSEID(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	a, b := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.14:0")
	a.associate(1000)
	up := a.establish(0x77)
	b.refused("before", b.modification(up), rules.CauseNoAssociation)
	a.accepted("changed", a.modification(up, ie.NewFSEID(0x88, net.IPv4(127, 0, 0, 14), nil)), 0x88)
	b.accepted("after", b.modification(up), 0x88)
	a.accepted("from the association's address", a.modification(up), 0x88)
	b.accepted("deleted", b.deletion(up), 0x88)
}

// §6.3.2: nobody establishes sessions in the name of another CP function.
func TestEstablishmentInAnothersName(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) {
		c.Peers = append(c.Peers, Peer{Prefix: netip.MustParsePrefix("127.0.0.5/32"), Node: rules.NodeID{Addr: netip.MustParseAddr("127.0.0.4")}})
	})
	a, configured, stranger := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0"), newSMF(t, s, "127.0.0.6:0")
	named := newSMF(t, s, "127.0.0.7:0")
	a.associate(1000)
	inItsName := func(c *smf) []byte { // with its own address as the CP F-SEID's
		c.seq++
		b := establishment(t, c.seq, c.address(), 0x77)
		copy(b[21:], []byte{127, 0, 0, 4})
		return b
	}
	if seid, got := stranger.answered(inItsName(stranger)); got != rules.CauseNoAssociation || seid != 0x77 || f.CountOfPeer(a.node()) != 0 {
		t.Errorf("a stranger: %v, SEID %#x", got, seid)
	}
	stranger.associate(1000)
	if _, got := stranger.answered(inItsName(stranger)); got != rules.CauseNoAssociation || f.CountOfPeer(a.node()) != 0 {
		t.Errorf("another SMF: %v", got)
	}
	if got := value(t, s.metrics.foreign.WithLabelValues(pfcp.Name(pfcp.SessionEstablishmentRequest))); got != 2 {
		t.Errorf("%v counted", got)
	}
	configured.accepted("from a configured address", inItsName(configured), 0x77)
	s.install(&pfcp.Association{Node: named.node()}, s.sockets[0], netip.MustParseAddrPort("127.0.0.77:1"), netip.MustParseAddrPort("127.0.0.77:1"), nil)
	named.accepted("from the address that is its Node ID", named.establishment(0x78), 0x78)
}

// An address that is configured for a Node ID is that node's.
func TestConfiguredAddresses(t *testing.T) {
	node := rules.NodeID{Addr: netip.MustParseAddr("127.0.0.4")}
	s := start(t, newFake(), func(c *Config) {
		c.Peers = []Peer{{Prefix: netip.MustParsePrefix("127.0.0.4/31"), Node: node}, {Prefix: netip.MustParsePrefix("127.0.0.6/32")}}
	})
	a, b, c := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0"), newSMF(t, s, "127.0.0.6:0")
	a.associate(1000)
	c.associate(1000)
	up := a.establish(0x77)
	c.refused("another's", c.modification(up), rules.CauseSessionContextNotFound)
	b.accepted("configured", b.modification(up), 0x77)
}

// §6.2.8: nobody but its CP function updates or releases an association.
func TestAssociationsOfOthers(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	a, b := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0")
	a.associate(1000)
	b.associate(1000)
	a.establish(1)
	id := ie.NewNodeID("127.0.0.4", "", "")
	b.refused("released", marshal(message.NewAssociationReleaseRequest(70, id)), rules.CauseNoAssociation)
	b.refused("updated", marshal(message.NewAssociationUpdateRequest(71, id)), rules.CauseNoAssociation)
	if f.CountOfPeer(a.node()) != 1 || s.association(a.node()) == nil {
		t.Error("another CP function had its way")
	}
	if got := value(t, s.metrics.foreign.WithLabelValues(pfcp.Name(pfcp.AssociationReleaseRequest))); got != 1 {
		t.Errorf("%v counted", got)
	}
	a.accepted("released", marshal(message.NewAssociationReleaseRequest(72, id)), 0)
}
