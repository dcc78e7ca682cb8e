// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 200 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal(what)
}

func TestAssociationSetup(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	m := c.associate(1000)
	node, _ := m.NodeID.NodeID()
	ts, _ := m.RecoveryTimeStamp.RecoveryTimeStamp()
	if cause(t, m.Cause) != rules.CauseAccepted || node != "127.0.7.1" || !ts.Equal(f.recovery) {
		t.Errorf("%v %v %v", m.Cause, node, ts)
	}
	for name, has := range map[string]bool{"FTUP": m.UPFunctionFeatures.HasFTUP(), "UEIP": m.UPFunctionFeatures.HasUEIP(),
		"EMPU": m.UPFunctionFeatures.HasEMPU(), "BUCP": m.UPFunctionFeatures.HasBUCP(), "FRRT": m.UPFunctionFeatures.HasFRRT(),
		"MNOP": m.UPFunctionFeatures.HasMNOP(), "BUNDL": m.UPFunctionFeatures.HasBUNDL(), "PDIU not": !m.UPFunctionFeatures.HasPDIU(),
		"PFDM": m.UPFunctionFeatures.HasPFDM(), "TREU": m.UPFunctionFeatures.HasTREU(), "PFDE": m.UPFunctionFeatures.HasPFDE(),
		"ADPDP": m.UPFunctionFeatures.HasADPDP(), "HEEU not": !m.UPFunctionFeatures.HasHEEU()} {
		if !has {
			t.Errorf("feature %s", name)
		}
	}
	if !f.keeps(c.node()) { // before the answer
		t.Error("not in the store")
	}
	c.send(marshal(message.NewAssociationSetupRequest(77, ie.NewNodeID("127.0.0.4", "", ""))))
	_, r, _ := c.want(pfcp.AssociationSetupResponse)
	wrong := r.(*message.AssociationSetupResponse)
	if cause(t, wrong.Cause) != rules.CauseMandatoryIEMissing {
		t.Errorf("no time stamp: %v", wrong.Cause)
	}
	if p := s.Peers(); len(p) != 1 || p[0].Node != "127.0.0.4" || !p[0].Up || p[0].Address.Port() != smfPort {
		t.Errorf("peers: %+v", p)
	}
}

// Several CP functions, with Node IDs of each kind, each with its sessions.
func TestSeveralPeers(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	a, b := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0")
	a.associate(1000)
	b.associate(1000)
	a.establish(1)
	b.establish(1)
	c := newSMF(t, s, "127.0.0.6:0")
	for i, id := range []*ie.IE{ie.NewNodeID("", "2001:db8::1", ""), ie.NewNodeID("", "", "smf.example")} {
		c.send(marshal(message.NewAssociationSetupRequest(uint32(i)+9, id, ie.NewRecoveryTimeStamp(time.Unix(1, 0)))))
		c.want(pfcp.AssociationSetupResponse)
	}
	if n := len(s.Peers()); n != 4 {
		t.Errorf("%d associations", n)
	}
	a.associate(2000)
	if f.CountOfPeer(a.node()) != 0 || f.CountOfPeer(b.node()) != 1 {
		t.Error("a set-up took another peer's sessions")
	}
}

// A flood of made-up nodes does not take all memory, nor a peer its association.
func TestTooManyPeers(t *testing.T) {
	s := start(t, newFake(), nil)
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	for i := range associationsMax - 1 {
		s.install(&pfcp.Association{Node: rules.NodeID{FQDN: fmt.Sprint(i)}}, s.sockets[0], netip.AddrPort{}, netip.AddrPort{}, nil)
	}
	d := newSMF(t, s, "127.0.0.5:0")
	if m := d.associate(1000); cause(t, m.Cause) != rules.CauseNoResources {
		t.Errorf("one too many: %v", m.Cause)
	}
	if m := c.associate(1000); cause(t, m.Cause) != rules.CauseAccepted {
		t.Errorf("again: %v", m.Cause)
	}
}

// §6.2.6.2.2: set up anew, sessions go, unless they are to be retained.
func TestSetupAgain(t *testing.T) {
	f := newFake()
	c := newSMF(t, start(t, f, nil), "127.0.0.4:0")
	c.associate(1000)
	c.establish(1)
	m := c.associate(1000, ie.NewPFCPSessionRetentionInformation(nil))
	if f.CountOfPeer(c.node()) != 1 {
		t.Error("session is not retained")
	}
	if m.PFCPASRspFlags == nil || !m.PFCPASRspFlags.HasPSREI() {
		t.Error("retention is not told")
	}
	m = c.associate(1000)
	if f.CountOfPeer(c.node()) != 0 || m.PFCPASRspFlags != nil {
		t.Error("sessions outlive the set-up")
	}
}

func TestReleaseAndUpdate(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	release := func(seq uint32) rules.Cause {
		c.send(marshal(message.NewAssociationReleaseRequest(seq, ie.NewNodeID("127.0.0.4", "", ""))))
		_, m, _ := c.want(pfcp.AssociationReleaseResponse)
		return cause(t, m.(*message.AssociationReleaseResponse).Cause)
	}
	update := func(seq uint32) rules.Cause {
		c.send(marshal(message.NewAssociationUpdateRequest(seq, ie.NewNodeID("127.0.0.4", "", ""))))
		_, m, _ := c.want(pfcp.AssociationUpdateResponse)
		return cause(t, m.(*message.AssociationUpdateResponse).Cause)
	}
	if got := update(100); got != rules.CauseNoAssociation {
		t.Errorf("update without association: %v", got)
	}
	c.associate(1000)
	c.establish(1)
	if got := update(101); got != rules.CauseAccepted {
		t.Errorf("update: %v", got)
	}
	if got := release(102); got != rules.CauseAccepted || f.CountOfPeer(c.node()) != 0 || len(s.Peers()) != 0 {
		t.Errorf("release: %v, %d sessions", got, f.CountOfPeer(c.node()))
	}
	if got := release(103); got != rules.CauseNoAssociation {
		t.Errorf("release again: %v", got)
	}
	c.associate(1000)
	c.send(marshal(message.NewAssociationReleaseRequest(104, ie.NewNodeID("0.0.0.0", "", ""))))
	_, m, _ := c.want(pfcp.AssociationReleaseResponse)
	if got := cause(t, m.(*message.AssociationReleaseResponse).Cause); got != rules.CauseAccepted || len(s.Peers()) != 0 {
		t.Errorf("release without a Node ID: %v", got)
	}
}

func TestConfiguredPeersOnly(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) {
		c.Peers = []Peer{{Prefix: netip.MustParsePrefix("127.0.0.4/32"), Node: rules.NodeID{Addr: netip.MustParseAddr("127.0.0.4")}}}
	})
	c, d := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0")
	c.associate(1000)
	up := c.establish(1)
	if m := d.associate(1000); cause(t, m.Cause) != rules.CauseRejected {
		t.Errorf("stranger: %v", m.Cause)
	}
	d.send(marshal(message.NewSessionDeletionRequest(0, 0, up, 8, 0)))
	if _, m, _ := d.want(pfcp.SessionDeletionRequest + 1); cause(t, m.(*message.SessionDeletionResponse).Cause) != rules.CauseNoAssociation {
		t.Error("a stranger deletes sessions")
	}
	c.send(marshal(message.NewAssociationSetupRequest(9, ie.NewNodeID("127.0.0.9", "", ""), ie.NewRecoveryTimeStamp(time.Unix(1, 0)))))
	if _, m, _ := c.want(pfcp.AssociationSetupResponse); cause(t, m.(*message.AssociationSetupResponse).Cause) != rules.CauseRejected {
		t.Error("another Node ID than configured")
	}
}

// §6.2.6.3: we set it up, again and again until it is there.
func TestWeAssociate(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) {
		c.Peers = []Peer{{Prefix: netip.MustParsePrefix("127.0.0.4/32"), Port: 18807, Associate: true}}
		c.HeartbeatInterval = 100 * time.Millisecond
	})
	time.Sleep(400 * time.Millisecond) // nobody is there yet
	c := newSMF(t, s, "127.0.0.4:18807")
	h, m, _ := c.want(pfcp.AssociationSetupRequest)
	if m.(*message.AssociationSetupRequest).UPFunctionFeatures == nil {
		t.Error("no features")
	}
	c.send(marshal(message.NewAssociationSetupResponse(h.Sequence, ie.NewNodeID("127.0.0.4", "", ""),
		ie.NewCause(1), ie.NewRecoveryTimeStamp(time.Unix(1000, 0)))))
	eventually(t, "no association", func() bool { return len(s.Peers()) == 1 && f.keeps(c.node()) })
	// We ask to be released; the CP function answers, and releases.
	got := make(chan rules.Cause, 1)
	if err := s.AskRelease("127.0.0.4", func(c rules.Cause) { got <- c }); err != nil {
		t.Fatal(err)
	}
	for {
		b := c.receive(time.Second)
		if h, _, _ := pfcp.ParseHeader(b); h.Type == pfcp.AssociationUpdateRequest {
			c.send(marshal(message.NewAssociationUpdateResponse(h.Sequence, ie.NewNodeID("127.0.0.4", "", ""), ie.NewCause(1))))
			break
		}
	}
	if cause := <-got; cause != rules.CauseAccepted {
		t.Errorf("asked to release: %v", cause)
	}
	if err := s.AskRelease("nobody", nil); err == nil {
		t.Error("asked nobody")
	}
	// It began anew: we set the association up again.
	c.send(marshal(message.NewHeartbeatRequest(c.seq, ie.NewRecoveryTimeStamp(time.Unix(2000, 0)), nil)))
	eventually(t, "not set up again", func() bool {
		h, _, _ := pfcp.ParseHeader(c.receive(time.Second))
		return h.Type == pfcp.AssociationSetupRequest
	})
}
