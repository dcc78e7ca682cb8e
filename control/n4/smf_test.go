// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// smf is a CP function at a loopback address.
type smf struct {
	*testing.T
	conn *net.UDPConn
	upf  netip.AddrPort
	seq  uint32
}

const smfPort = 18806

func newSMF(t *testing.T, s *Server, address string) *smf {
	t.Helper()
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &smf{T: t, conn: conn, upf: s.Local()[0], seq: 1}
}

func (c *smf) send(b []byte) {
	c.Helper()
	if _, err := c.conn.WriteToUDPAddrPort(b, c.upf); err != nil {
		c.Fatal(err)
	}
}

// receive is the next datagram, nil when none comes in time.
func (c *smf) receive(patience time.Duration) []byte {
	c.Helper()
	b := make([]byte, 65536)
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	n, from, err := c.conn.ReadFromUDPAddrPort(b)
	if err != nil {
		return nil
	}
	if from != c.upf {
		c.Fatalf("%v answers for %v", from, c.upf)
	}
	return b[:n]
}

// want receives a message of a type and gives its header and what go-pfcp makes of it.
func (c *smf) want(t uint8) (pfcp.Header, message.Message, []byte) {
	c.Helper()
	b := c.receive(2 * time.Second)
	if b == nil {
		c.Fatalf("no message of type %d", t)
	}
	h, _, err := pfcp.ParseHeader(b)
	if err != nil || h.Type != t {
		c.Fatalf("want type %d: %x, %v", t, b, err)
	}
	m, err := message.Parse(b)
	if err != nil {
		c.Fatalf("%x: %v", b, err)
	}
	return h, m, b
}

func (c *smf) silent() {
	c.Helper()
	if b := c.receive(150 * time.Millisecond); b != nil {
		c.Fatalf("unexpected: %x", b)
	}
}

func cause(t *testing.T, i *ie.IE) rules.Cause {
	t.Helper()
	if i == nil {
		t.Fatal("no cause")
	}
	v, err := i.Cause()
	if err != nil {
		t.Fatal(err)
	}
	return rules.Cause(v)
}

func marshal(m message.Message) []byte {
	b := make([]byte, m.MarshalLen())
	if err := m.MarshalTo(b); err != nil {
		panic(err)
	}
	return b
}

func (c *smf) address() string { return c.conn.LocalAddr().(*net.UDPAddr).IP.String() }

func (c *smf) node() rules.NodeID { return rules.NodeID{Addr: netip.MustParseAddr(c.address())} }

// associate sets an association up with a Recovery Time Stamp of Unix seconds.
func (c *smf) associate(recovery int64, more ...*ie.IE) *message.AssociationSetupResponse {
	c.Helper()
	c.seq++
	c.send(marshal(message.NewAssociationSetupRequest(c.seq, append([]*ie.IE{ie.NewNodeID(c.address(), "", ""),
		ie.NewRecoveryTimeStamp(time.Unix(recovery, 0))}, more...)...)))
	_, m, _ := c.want(pfcp.AssociationSetupResponse)
	return m.(*message.AssociationSetupResponse)
}

// establishment is that of the capture with our address and SEID in it.
func (c *smf) establishment(seid uint64) []byte {
	c.Helper()
	c.seq++
	return establishment(c.T, c.seq, c.address(), seid)
}

func establishment(t testing.TB, seq uint32, address string, seid uint64) []byte {
	t.Helper()
	text, err := os.ReadFile("../pfcp/testdata/smf-session.hex")
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Split(string(text), "\n")[3])
	if err != nil {
		t.Fatal(err)
	}
	a := netip.MustParseAddr(address).As4()
	b[12], b[13], b[14] = byte(seq>>16), byte(seq>>8), byte(seq)
	copy(b[21:], a[:]) // Node ID
	for i := range 8 {
		b[30+i] = byte(seid >> (56 - 8*i))
	}
	copy(b[38:], a[:]) // CP F-SEID
	return b
}

// establish a session and return its UP SEID.
func (c *smf) establish(seid uint64) uint64 {
	c.Helper()
	c.send(c.establishment(seid))
	h, m, _ := c.want(pfcp.SessionEstablishmentRequest + 1)
	r := m.(*message.SessionEstablishmentResponse)
	if cause(c.T, r.Cause) != rules.CauseAccepted || h.SEID != seid {
		c.Fatalf("not accepted: %+v", h)
	}
	up, err := r.UPFSEID.FSEID()
	if err != nil || netip.AddrFrom4([4]byte(up.IPv4Address.To4())) != c.upf.Addr() {
		c.Fatalf("UP F-SEID %+v, %v", up, err)
	}
	return up.SEID
}
