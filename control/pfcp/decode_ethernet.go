// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// decodeEthernetFilter, table 7.5.2.2-3.
func decodeEthernetFilter(b []byte) (rules.EthernetFilter, *Error) {
	var f rules.EthernetFilter
	g := ethernetFilter
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.EthernetFilterID:
			f.ID = pointer(u32(v))
		case ie.EthernetFilterProperties:
			f.Bidirectional = v[0]&1 != 0
		case ie.MACAddress:
			m, err := macFilter(g, v)
			return add(&f.MACs, m, err)
		case ie.Ethertype:
			f.Type = pointer(u16(v))
		case ie.CTAG:
			f.CTag = vlanTag(v)
		case ie.STAG:
			f.STag = vlanTag(v)
		case ie.SDFFilter:
			s, err := sdfFilter(g, v)
			return add(&f.SDFFilters, s, err)
		}
		return nil
	})
	return f, err
}

// macFilter, §8.2.93.
func macFilter(g *group, v []byte) (rules.MACFilter, *Error) {
	c := cursor{b: v}
	f := c.u8()
	var m rules.MACFilter
	for i, to := range []**rules.MAC{&m.Source, &m.Destination, &m.SourceUpper, &m.DestinationUpper} {
		if f>>i&1 != 0 {
			*to = pointer(rules.MAC(c.take(6)))
		}
	}
	if m.Source == nil && m.SourceUpper != nil || m.Destination == nil && m.DestinationUpper != nil {
		return m, g.fail(rules.CauseMandatoryIEIncorrect, ie.MACAddress)
	}
	return m, c.err(g, ie.MACAddress)
}

// vlanTag puts what a C-TAG or S-TAG IE has together as a frame has it: PCP, DEI, VID.
func vlanTag(v []byte) *rules.VLANTag {
	var t rules.VLANTag
	for _, part := range []struct {
		flag        byte
		mask, value uint16
	}{
		{1, 7 << 13, uint16(v[1]&7) << 13},
		{2, 1 << 12, uint16(v[1]>>3&1) << 12},
		{4, 0xfff, uint16(v[1]>>4)<<8 | uint16(v[2])},
	} {
		if v[0]&part.flag != 0 {
			t.Mask |= part.mask
			t.Value |= part.value
		}
	}
	return &t
}
