// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"bytes"
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

// Reports go to the CP F-SEID's address, again until answered, and to each peer about paths.
func TestReports(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) { c.T1 = 300 * time.Millisecond })
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	up := c.establish(0x99)
	other := newSMF(t, s, "127.0.0.14:18806") // another entity of the SMF
	report := &rules.SessionReport{UPSEID: up, Node: c.node(), Inactivity: true,
		CPFSEID: rules.FSEID{SEID: 0x99, IPv4: netip.MustParseAddr("127.0.0.14")}}
	answers := make(chan *rules.ReportAnswer, 1)
	s.Report(report, func(a *rules.ReportAnswer) { answers <- a })
	_, _, first := other.want(pfcp.SessionReportRequest)
	h, m, again := other.want(pfcp.SessionReportRequest)
	if !bytes.Equal(first, again) || h.SEID != 0x99 || !m.(*message.SessionReportRequest).ReportType.HasUPIR() {
		t.Errorf("%x, %x", first, again)
	}
	other.send(marshal(message.NewSessionReportResponse(0, 0, up, h.Sequence, 0, ie.NewCause(65), ie.NewPFCPSRRspFlags(1))))
	if a := <-answers; a == nil || a.Cause != rules.CauseSessionContextNotFound || !a.DropBuffer {
		t.Errorf("%+v", a)
	}
	s.Report(report, func(a *rules.ReportAnswer) { answers <- a })
	for range 4 {
		other.want(pfcp.SessionReportRequest)
	}
	if a := <-answers; a != nil {
		t.Errorf("nobody answered, yet %+v", a)
	}
	at := newSMF(t, s, "127.0.0.4:18806")
	h, _, _ = at.want(pfcp.HeartbeatRequest) // is it the path?
	at.send(marshal(message.NewHeartbeatResponse(h.Sequence, ie.NewRecoveryTimeStamp(time.Unix(1000, 0)))))
	s.Path(rules.PathEvent{Peer: netip.MustParseAddr("10.0.0.1"), NetworkInstance: "n3"})
	h, m, _ = at.want(pfcp.NodeReportRequest)
	if r := m.(*message.NodeReportRequest); !r.NodeReportType.HasUPFR() || r.UserPlanePathFailureReport == nil {
		t.Errorf("%+v", r)
	}
	at.send(marshal(message.NewNodeReportResponse(h.Sequence, ie.NewNodeID("127.0.0.4", "", ""), ie.NewCause(1), nil)))
	at.silent()
}
