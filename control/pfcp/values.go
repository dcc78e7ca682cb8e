// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"time"

	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// cursor reads an IE's value; once it asked for more than there is, short is set and all that
// follows is zero.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) take(n int) []byte {
	if len(c.b) < n {
		c.short = true
		c.b = nil
		return make([]byte, n)
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) u8() uint8   { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return binary.BigEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return binary.BigEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return binary.BigEndian.Uint64(c.take(8)) }

func (c *cursor) ip4() netip.Addr { return netip.AddrFrom4([4]byte(c.take(4))) }
func (c *cursor) ip6() netip.Addr { return netip.AddrFrom16([16]byte(c.take(16))) }

func (c *cursor) err(g *group, t uint16) *Error {
	if c.short {
		return g.fail(rules.CauseInvalidLength, t)
	}
	return nil
}

// The callers of these have the length checked by group.walk.
func u16(v []byte) uint16 { return binary.BigEndian.Uint16(v) }
func u32(v []byte) uint32 { return binary.BigEndian.Uint32(v) }

func pointer[T any](v T) *T { return &v }

// flags of one to four octets, the first one lowest.
func flags(v []byte) uint32 {
	var f uint32
	for i := 0; i < len(v) && i < 4; i++ {
		f |= uint32(v[i]) << (8 * i)
	}
	return f
}

// name of a network instance, APN or DNN: text, or labels as in RFC 1035 §3.1 (§8.2.4 leaves
// both). Text that happens to be a run of labels would have to begin with a character below '@'
// that is exactly the length of what follows.
func name(v []byte) string {
	if s, ok := labels(v); ok {
		return s
	}
	return string(v)
}

func labels(v []byte) (string, bool) {
	var parts []string
	for len(v) > 0 {
		n := int(v[0])
		if n == 0 && len(v) == 1 && len(parts) > 0 {
			break
		}
		if n == 0 || n > 63 || n > len(v)-1 {
			return "", false
		}
		for _, c := range v[1 : 1+n] {
			if c < '!' || c > '~' {
				return "", false
			}
		}
		parts = append(parts, string(v[1:1+n]))
		v = v[1+n:]
	}
	return strings.Join(parts, "."), len(parts) > 0
}

func nodeID(g *group, v []byte) (rules.NodeID, *Error) {
	c := cursor{b: v}
	var id rules.NodeID
	switch c.u8() & 0xf {
	case ie.NodeIDIPv4Address:
		id.Addr = c.ip4()
	case ie.NodeIDIPv6Address:
		id.Addr = c.ip6()
	case ie.NodeIDFQDN:
		id.FQDN = strings.ToLower(strings.TrimSuffix(name(c.b), "."))
		if id.FQDN == "" {
			return id, g.fail(rules.CauseMandatoryIEIncorrect, ie.NodeID)
		}
	default:
		return id, g.fail(rules.CauseMandatoryIEIncorrect, ie.NodeID)
	}
	return id, c.err(g, ie.NodeID)
}

func fseid(g *group, v []byte) (rules.FSEID, *Error) {
	c := cursor{b: v}
	f := c.u8()
	id := rules.FSEID{SEID: c.u64()}
	if f&2 != 0 {
		id.IPv4 = c.ip4()
	}
	if f&1 != 0 {
		id.IPv6 = c.ip6()
	}
	if f&3 == 0 {
		return id, g.fail(rules.CauseMandatoryIEIncorrect, ie.FSEID)
	}
	return id, c.err(g, ie.FSEID)
}

func fteid(g *group, v []byte) (*rules.FTEID, *Error) {
	c := cursor{b: v}
	f := c.u8()
	if f&3 == 0 {
		return nil, g.fail(rules.CauseMandatoryIEIncorrect, ie.FTEID)
	}
	id := &rules.FTEID{}
	if f&4 != 0 {
		id.Choose, id.ChooseIPv4, id.ChooseIPv6 = true, f&1 != 0, f&2 != 0
		if f&8 != 0 {
			id.ChooseID = pointer(c.u8())
		}
		return id, c.err(g, ie.FTEID)
	}
	id.TEID = c.u32()
	if f&1 != 0 {
		id.IPv4 = c.ip4()
	}
	if f&2 != 0 {
		id.IPv6 = c.ip6()
	}
	return id, c.err(g, ie.FTEID)
}

func ueIP(g *group, v []byte) (rules.UEIP, *Error) {
	c := cursor{b: v}
	f := c.u8()
	a := rules.UEIP{Destination: f&4 != 0, ChooseIPv4: f&0x10 != 0, ChooseIPv6: f&0x20 != 0}
	if f&2 != 0 && !a.ChooseIPv4 {
		a.IPv4 = c.ip4()
	}
	if f&1 != 0 && !a.ChooseIPv6 {
		a.IPv6 = c.ip6()
	}
	if f&8 != 0 {
		a.DelegationBits = c.u8()
	}
	if f&0x40 != 0 {
		a.PrefixLength = c.u8()
	}
	return a, c.err(g, ie.UEIPAddress)
}

func sdfFilter(g *group, v []byte) (rules.SDFFilter, *Error) {
	c := cursor{b: v}
	f := c.u16() >> 8
	var s rules.SDFFilter
	if f&1 != 0 {
		s.Flow = pointer(string(c.take(int(c.u16()))))
	}
	if f&2 != 0 {
		s.ToS = &rules.Marking{Value: c.u8(), Mask: c.u8()}
	}
	if f&4 != 0 {
		s.SPI = pointer(c.u32())
	}
	if f&8 != 0 {
		b := c.take(3)
		s.FlowLabel = pointer(uint32(b[0]&0xf)<<16 | uint32(b[1])<<8 | uint32(b[2]))
	}
	if f&16 != 0 {
		s.ID = pointer(c.u32())
	}
	return s, c.err(g, ie.SDFFilter)
}

func outerHeaderCreation(g *group, v []byte) (*rules.OuterHeaderCreation, *Error) {
	c := cursor{b: v}
	o := &rules.OuterHeaderCreation{Description: uint16(flags(c.take(2)))}
	is := func(bits uint16) bool { return o.Description&bits != 0 }
	if o.Description == 0 {
		return nil, g.fail(rules.CauseMandatoryIEIncorrect, ie.OuterHeaderCreation)
	}
	if is(rules.CreateGTPUIPv4 | rules.CreateGTPUIPv6) {
		o.TEID = c.u32()
	}
	if is(rules.CreateGTPUIPv4 | rules.CreateUDPIPv4 | rules.CreateIPv4) {
		o.IPv4 = c.ip4()
	}
	if is(rules.CreateGTPUIPv6 | rules.CreateUDPIPv6 | rules.CreateIPv6) {
		o.IPv6 = c.ip6()
	}
	if is(rules.CreateUDPIPv4 | rules.CreateUDPIPv6) {
		o.Port = c.u16()
	}
	if is(rules.CreateCTag) {
		c.take(3)
		o.CTag = true
	}
	if is(rules.CreateSTag) {
		c.take(3)
		o.STag = true
	}
	return o, c.err(g, ie.OuterHeaderCreation)
}

// redirect information: for two addresses the second one is left out. Of no length it takes the
// redirection away, §5.6.3: zero.
func redirect(g *group, v []byte) (*rules.Redirect, *Error) {
	if len(v) == 0 && g == updateForwarding {
		return &rules.Redirect{}, nil
	}
	c := cursor{b: v}
	r := &rules.Redirect{Type: c.u8() & 15}
	r.Address = string(c.take(int(c.u16())))
	return r, c.err(g, ie.RedirectInformation)
}

func volume(g *group, t uint16, v []byte) (*rules.Volume, *Error) {
	c := cursor{b: v}
	f := c.u8()
	o := &rules.Volume{}
	for i, p := range []**uint64{&o.Total, &o.Uplink, &o.Downlink} {
		if f&(1<<i) != 0 {
			*p = pointer(c.u64())
		}
	}
	return o, c.err(g, t)
}

func droppedDL(g *group, v []byte) (*rules.DroppedDL, *Error) {
	c := cursor{b: v}
	f := c.u8()
	d := &rules.DroppedDL{}
	if f&1 != 0 {
		d.Packets = c.u64()
	}
	if f&2 != 0 {
		d.Bytes = c.u64()
	}
	return d, c.err(g, ie.DroppedDLTrafficThreshold)
}

// bitrate of MBR and GBR: five octets each, kbit/s.
func bitrate(v []byte) *rules.Bitrate {
	rate := func(b []byte) uint64 { return uint64(b[0])<<32 | uint64(u32(b[1:])) }
	return &rules.Bitrate{UL: rate(v), DL: rate(v[5:])}
}

// gate: values 2 and 3 are to be taken for closed, §8.2.7.
func gate(v byte) *rules.Gate {
	return &rules.Gate{ULClosed: v>>2&3 != 0, DLClosed: v&3 != 0}
}

// ntpEpoch is 1900-01-01 in Unix seconds.
const ntpEpoch = -2208988800

// unixTime of a 3GPP time stamp, RFC 5905 §6: the era that begins in 2036 has the first bit
// clear.
func unixTime(v []byte) uint64 {
	t := int64(u32(v)) + ntpEpoch
	if v[0]&0x80 == 0 {
		t += 1 << 32
	}
	return uint64(t)
}

func goTime(v []byte) time.Time { return time.Unix(int64(unixTime(v)), 0) }

// userID for people: the first of IMSI, IMEI, MSISDN, NAI that is there, §8.2.101.
func userID(v []byte) string {
	c := cursor{b: v}
	f := c.u8()
	for i, prefix := range []string{"imsi-", "imei-", "msisdn-", "nai-"} {
		if f&(1<<i) == 0 {
			continue
		}
		b := c.take(int(c.u8()))
		switch {
		case c.short:
			return ""
		case i == 3:
			return prefix + strings.ToValidUTF8(string(b), "?")
		}
		return prefix + digits(b)
	}
	return ""
}

// digits of TBCD, TS 29.002 §17.7.8, where 1111 fills up.
func digits(b []byte) string {
	var s strings.Builder
	for _, o := range b {
		for _, d := range []byte{o & 15, o >> 4} {
			if d < 10 {
				s.WriteByte('0' + d)
			}
		}
	}
	return s.String()
}
