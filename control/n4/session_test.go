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

func TestNoAssociation(t *testing.T) {
	c := newSMF(t, start(t, newFake(), nil), "127.0.0.4:0")
	c.send(c.establishment(9))
	h, m, _ := c.want(pfcp.SessionEstablishmentRequest + 1)
	if got := cause(t, m.(*message.SessionEstablishmentResponse).Cause); got != rules.CauseNoAssociation || h.SEID != 9 {
		t.Errorf("%v, SEID %d", got, h.SEID)
	}
	c.send(marshal(message.NewSessionModificationRequest(0, 0, 77, 8, 0)))
	h, m, _ = c.want(pfcp.SessionModificationRequest + 1)
	if got := cause(t, m.(*message.SessionModificationResponse).Cause); got != rules.CauseNoAssociation || h.SEID != 0 {
		t.Errorf("%v, SEID %d", got, h.SEID)
	}
}

func TestSession(t *testing.T) {
	f := newFake()
	c := newSMF(t, start(t, f, nil), "127.0.0.4:0")
	c.associate(1000)
	up := c.establish(0x1234)
	c.send(marshal(message.NewSessionModificationRequest(0, 0, up, 50, 0,
		ie.NewUpdateFAR(ie.NewFARID(1), ie.NewApplyAction(2)))))
	h, m, _ := c.want(pfcp.SessionModificationRequest + 1)
	if got := cause(t, m.(*message.SessionModificationResponse).Cause); got != rules.CauseAccepted || h.SEID != 0x1234 || h.Sequence != 50 {
		t.Errorf("%v, %+v", got, h)
	}
	c.send(marshal(message.NewSessionDeletionRequest(0, 0, up, 51, 0)))
	h, m, _ = c.want(pfcp.SessionDeletionRequest + 1)
	d := m.(*message.SessionDeletionResponse)
	if cause(t, d.Cause) != rules.CauseAccepted || h.SEID != 0x1234 || len(d.UsageReport) != 1 {
		t.Errorf("%+v %+v", h, d)
	}
	// It is gone: Session context not found, with SEID 0.
	c.send(marshal(message.NewSessionDeletionRequest(0, 0, up, 52, 0)))
	h, m, _ = c.want(pfcp.SessionDeletionRequest + 1)
	if cause(t, m.(*message.SessionDeletionResponse).Cause) != rules.CauseSessionContextNotFound || h.SEID != 0 {
		t.Errorf("%+v", h)
	}
}

// §6.4: a request that comes again gets the same octets, and nothing while it is worked on.
func TestRetransmittedRequest(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	f.mu.Lock()
	f.hold = true
	f.mu.Unlock()
	b := c.establishment(5)
	for range 3 {
		c.send(b)
	}
	c.silent()
	f.release()
	_, _, first := c.want(pfcp.SessionEstablishmentRequest + 1)
	c.silent()
	c.send(b)
	if _, _, again := c.want(pfcp.SessionEstablishmentRequest + 1); !bytes.Equal(first, again) {
		t.Errorf("got %x, then %x", first, again)
	}
	// Not the same octets: a peer that began anew, at the same sequence numbers.
	changed := establishment(t, c.seq, c.address(), 6)
	c.send(changed)
	if h, _, _ := c.want(pfcp.SessionEstablishmentRequest + 1); h.SEID != 6 {
		t.Errorf("a new request got the answer to an old one: %+v", h)
	}
	c.send(changed)
	c.want(pfcp.SessionEstablishmentRequest + 1)
	// The same sequence number from another port is another request.
	d := newSMF(t, s, "127.0.0.4:0")
	d.send(b)
	if _, _, other := d.want(pfcp.SessionEstablishmentRequest + 1); bytes.Equal(first, other) {
		t.Error("another peer got the same session")
	}
	if n := f.CountOfPeer(c.node()); n != 3 {
		t.Errorf("%d sessions", n)
	}
}

func TestWrongRequests(t *testing.T) {
	f := newFake()
	c := newSMF(t, start(t, f, nil), "127.0.0.4:0")
	c.associate(1000)
	up := c.establish(0x77)
	wrong := func(b []byte, causeWanted rules.Cause, offending uint16, seid uint64) {
		t.Helper()
		c.send(b)
		h, _, body := c.want(b[1] + 1)
		if h.SEID != seid {
			t.Errorf("SEID %#x", h.SEID)
		}
		m, _ := message.ParseHeader(body)
		ies, _ := ie.ParseMultiIEs(m.Payload)
		var got rules.Cause
		var named uint16
		for _, i := range ies {
			switch i.Type {
			case ie.Cause:
				got = cause(t, i)
			case ie.OffendingIE:
				named, _ = i.OffendingIE()
			}
		}
		if got != causeWanted || named != offending {
			t.Errorf("%v, offending %d", got, named)
		}
	}
	seq := uint32(100)
	modify := func(ies ...*ie.IE) []byte {
		seq++
		return marshal(message.NewSessionModificationRequest(0, 0, up, seq, 0, ies...))
	}
	wrong(modify(ie.NewUpdateFAR(ie.NewApplyAction(1))), rules.CauseMandatoryIEMissing, ie.FARID, 0x77)
	wrong(modify(ie.NewCreatePDR(ie.NewPDRID(9), ie.New(ie.Precedence, []byte{1}))), rules.CauseInvalidLength, ie.Precedence, 0x77)
	cut := c.establishment(6)
	wrong(cut[:200], rules.CauseInvalidLength, 0, 0)
	wrong(append(marshal(message.NewSessionDeletionRequest(0, 0, up, 900, 0)), 1, 2), rules.CauseInvalidLength, 0, 0x77)
	wrong(marshal(message.NewSessionSetDeletionRequest(902, ie.NewNodeID("127.0.0.4", "", ""), nil)), rules.CauseServiceNotSupported, 0, 0)
	if f.CountOfPeer(c.node()) != 1 || f.modified != 0 {
		t.Error("a wrong request was done")
	}
	// What is not even a request is discarded, and harms nothing.
	for _, b := range [][]byte{{}, {0x20}, {0x21, 50, 0, 4, 0, 0, 0, 0}, {0x20, 99, 0, 4, 0, 0, 1, 0}, {0x20, 50, 0, 4, 0, 0, 1, 0},
		{0x20, 2, 0, 4, 0, 0, 1, 0}, {0x21, 56, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, {0x20, 1, 0, 4, 0, 0, 1, 0}, {0x20, 11, 0, 4, 0, 0, 1, 0}} {
		c.send(b)
	}
	c.silent()
	c.send([]byte{0x40, 1, 0, 4, 0, 1, 2, 0})
	if h, _, b := c.want(pfcp.VersionNotSupportedResponse); h.Sequence != 0x102 || len(b) != 8 {
		t.Errorf("version: %x", b)
	}
	c.establish(0x78)
}

// §7.2.2: two messages in a datagram.
func TestBundledMessages(t *testing.T) {
	c := newSMF(t, start(t, newFake(), nil), "127.0.0.4:0")
	c.associate(1000)
	b := append(c.establishment(1), c.establishment(2)...)
	b[0] |= 4
	c.send(b)
	seen := map[uint64]bool{}
	for range 2 {
		h, _, _ := c.want(pfcp.SessionEstablishmentRequest + 1)
		seen[h.SEID] = true
	}
	if !seen[1] || !seen[2] {
		t.Errorf("answered: %v", seen)
	}
}

// A request is answered from the address it came to, whichever of ours that is.
func TestSeveralAddresses(t *testing.T) {
	s := start(t, newFake(), func(c *Config) {
		c.Addresses = append(c.Addresses, netip.MustParseAddr("127.0.7.2"), netip.MustParseAddr("::1"))
	})
	for i, at := range []string{"127.0.0.4:0", "127.0.0.5:0", "[::1]:0"} {
		c := newSMF(t, s, at)
		c.upf = s.Local()[i]
		c.send(marshal(message.NewHeartbeatRequest(3, ie.NewRecoveryTimeStamp(time.Unix(1000, 0)), nil)))
		c.want(pfcp.HeartbeatResponse)
	}
}

// The agent that starts anew goes on with associations and answers.
func TestRestart(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	b := c.establishment(5)
	c.send(b)
	_, _, first := c.want(pfcp.SessionEstablishmentRequest + 1)
	s.Close()
	port := s.Local()[0].Port()
	start(t, f, func(cfg *Config) { cfg.Port = port })
	c.send(b)
	if _, _, again := c.want(pfcp.SessionEstablishmentRequest + 1); !bytes.Equal(first, again) {
		t.Errorf("got %x, then %x", first, again)
	}
	changed := establishment(t, c.seq, c.address(), 7) // the same number: another request
	c.send(changed)
	if h, _, _ := c.want(pfcp.SessionEstablishmentRequest + 1); h.SEID != 7 {
		t.Errorf("a new request got the answer to an old one: %+v", h)
	}
	c.establish(6)
}

// A CP function that begins anew, as the agent did or not, is at the sequence numbers it was at
// before, and what it asks for may be the same octet by octet: it is done again, its sessions are
// gone. What others asked for stays answered.
func TestRequestsOfAPeerThatBeganAnew(t *testing.T) {
	for _, again := range []bool{false, true} {
		f := newFake()
		s := start(t, f, nil)
		c, other := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0")
		c.associate(1000)
		other.associate(1000)
		b, o := c.establishment(5), other.establishment(5)
		c.send(b)
		_, _, first := c.want(pfcp.SessionEstablishmentRequest + 1)
		other.send(o)
		_, _, others := other.want(pfcp.SessionEstablishmentRequest + 1)
		if again {
			s.Close()
			s = start(t, f, func(cfg *Config) { cfg.Port = s.Local()[0].Port() })
		}
		for i, anew := range []func(){
			func() { c.associate(2000) },
			func() { s.stamp(s.association(c.node()), time.Unix(3000, 0)) },
			func() { c.associate(4000, ie.NewPFCPSessionRetentionInformation(nil)) },
		} {
			anew()
			c.send(b)
			_, m, wire := c.want(pfcp.SessionEstablishmentRequest + 1)
			up, err := m.(*message.SessionEstablishmentResponse).UPFSEID.FSEID()
			if err != nil || bytes.Equal(first, wire) {
				t.Fatalf("%v, case %d: a session that is gone: %x, %v", again, i, wire, err)
			}
			if _, there := f.Holder(up.SEID); !there {
				t.Errorf("%v, case %d: no session", again, i)
			}
			first = wire
		}
		c.associate(4000, ie.NewPFCPSessionRetentionInformation(nil)) // the same run, its sessions retained
		c.send(b)
		if _, _, wire := c.want(pfcp.SessionEstablishmentRequest + 1); !bytes.Equal(first, wire) {
			t.Errorf("%v: done twice", again)
		}
		other.send(o)
		if _, _, wire := other.want(pfcp.SessionEstablishmentRequest + 1); !bytes.Equal(others, wire) {
			t.Errorf("%v: another's request is done twice", again)
		}
		s.Close()
	}
}

// A Setup Request that comes late to an agent that started anew is answered, not done again.
func TestLateSetup(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	setup := func(recovery int64) []byte {
		return marshal(message.NewAssociationSetupRequest(1, ie.NewNodeID("127.0.0.4", "", ""), ie.NewRecoveryTimeStamp(time.Unix(recovery, 0))))
	}
	c.send(setup(1000))
	_, _, first := c.want(pfcp.AssociationSetupResponse)
	c.establish(5)
	s.Close()
	start(t, f, func(cfg *Config) { cfg.Port = s.Local()[0].Port() })
	c.send(setup(1000))
	if _, _, again := c.want(pfcp.AssociationSetupResponse); !bytes.Equal(first, again) || f.CountOfPeer(c.node()) != 1 {
		t.Errorf("got %x, then %x; %d sessions", first, again, f.CountOfPeer(c.node()))
	}
	c.send(setup(2000)) // the same number in another run
	c.want(pfcp.AssociationSetupResponse)
	if n := f.CountOfPeer(c.node()); n != 0 {
		t.Errorf("%d sessions outlive their SMF", n)
	}
}

// Stopped, it sends what is under way, takes no more, and does not say that it is closing.
func TestStop(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	hold := func() {
		f.mu.Lock()
		f.hold = true
		f.mu.Unlock()
	}
	hold()
	c.send(c.establishment(1))
	eventually(t, "not under way", func() bool { return s.underway.Load() == 1 })
	time.AfterFunc(100*time.Millisecond, f.release)
	s.Stop(2 * time.Second)
	c.want(pfcp.SessionEstablishmentRequest + 1)
	c.send(c.establishment(2))
	c.silent()

	f = newFake()
	s = start(t, f, nil)
	c = newSMF(t, s, "127.0.0.5:0")
	c.associate(1000)
	hold()
	c.send(c.establishment(1))
	eventually(t, "not under way", func() bool { return s.underway.Load() == 1 })
	s.Stop(10 * time.Millisecond)
	f.release()
	c.silent()
}

func TestCache(t *testing.T) {
	now := time.Unix(1000, 0)
	c := newCache(3*time.Second, now)
	k := exchangeKey{netip.MustParseAddrPort("10.0.0.1:8805"), 1, 50}
	x, _, fresh := c.begin(k, 9, now)
	if !fresh {
		t.Fatal("seen before")
	}
	c.finish(x, rules.NodeID{}, []byte{1})
	for _, after := range []time.Duration{0, 1500, 2999} {
		if _, wire, fresh := c.begin(k, 9, now.Add(after*time.Millisecond)); fresh || len(wire) != 1 {
			t.Errorf("after %d ms: forgotten", after)
		}
	}
	if _, _, fresh := c.begin(k, 9, now.Add(4*time.Second)); !fresh {
		t.Error("kept too long")
	}
	c.forget(k)
	if _, _, fresh := c.begin(k, 9, now.Add(4*time.Second)); !fresh {
		t.Error("not forgotten")
	}
	for i := range 2 * cacheEntries { // a flood
		c.begin(exchangeKey{k.peer, uint32(i), 52}, 9, now.Add(4*time.Second))
	}
	kept := 0
	for _, g := range c.generations {
		kept += len(g)
	}
	if kept > cacheGenerations*cacheEntries {
		t.Errorf("%d entries", kept)
	}
	if _, _, fresh := c.begin(k, 9, now.Add(time.Hour)); !fresh {
		t.Error("kept for an hour")
	}
}
