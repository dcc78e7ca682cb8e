// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

const ieEthernetPacketFilter uint16 = 132

var errEthernetFilterID = errors.New("no PDR describes the Ethernet filter it names")

// ethernetFilter is one of a PDR, as its frames look. One that is only an ID is the bidirectional
// one that another PDR describes under it: there its frames go the other way, table 7.5.2.2-3.
func (c *compiler) ethernetFilter(f *rules.EthernetFilter, source uint8) (*upfpb.EthernetFilter, error) {
	turned := false
	if f.ID != nil && len(f.MACs) == 0 && f.Type == nil && f.CTag == nil && f.STag == nil && len(f.SDFFilters) == 0 {
		described, by := c.describedEthernet(*f.ID)
		if described == nil {
			return nil, errEthernetFilterID
		}
		f, turned = described, isCore(by) != isCore(source)
	}
	o := &upfpb.EthernetFilter{CTag: vlanTag(f.CTag), STag: vlanTag(f.STag)}
	if f.Type != nil {
		o.MatchType, o.Type = true, uint32(*f.Type)
	}
	for i := range f.MACs {
		m := &f.MACs[i]
		one := &upfpb.MacFilter{
			Source: octetsOf(m.Source), SourceUpper: octetsOf(m.SourceUpper),
			Destination: octetsOf(m.Destination), DestinationUpper: octetsOf(m.DestinationUpper),
		}
		if turned {
			one.Source, one.Destination = one.Destination, one.Source
			one.SourceUpper, one.DestinationUpper = one.DestinationUpper, one.SourceUpper
		}
		o.Macs = append(o.Macs, one)
	}
	for i := range f.SDFFilters {
		s, err := c.filter(&f.SDFFilters[i], source)
		if err != nil {
			return nil, err
		}
		o.Filters = append(o.Filters, s)
	}
	return o, nil
}

// find gives the interface for packets, or frames, of the session.
func (c *compiler) find(kind uint8, ni *string, type3GPP *uint8) (in *upfpb.Interface, exact bool) {
	return c.u.findFor(c.st.ethernet && isCore(kind), kind, ni, type3GPP)
}

// describedEthernet gives the filter of an ID and the source interface of the PDR that has it.
func (c *compiler) describedEthernet(id uint32) (*rules.EthernetFilter, uint8) {
	for i := range c.st.pdrs {
		p := c.st.pdrs[i].PDI
		for j := range p.EthernetFilters {
			f := &p.EthernetFilters[j]
			if f.ID != nil && *f.ID == id && f.Bidirectional {
				return f, p.Source
			}
		}
	}
	return nil, 0
}

func octetsOf(m *rules.MAC) []byte {
	if m == nil {
		return nil
	}
	return m[:]
}

func vlanTag(t *rules.VLANTag) *upfpb.VlanTag {
	if t == nil {
		return nil
	}
	return &upfpb.VlanTag{Value: uint32(t.Value), Mask: uint32(t.Mask)}
}

// checkEthernet holds a PDR to the kind of its session.
func checkEthernet(st *state, p *rules.PDI, id uint32) *refusal {
	switch {
	case !st.ethernet && (p.Ethernet || len(p.EthernetFilters) > 0):
		return ruleFailure(rules.KindPDR, id, "PDR %d: frames, but the PDN type is not Ethernet", id)
	case st.ethernet && (len(p.UEIPs) > 0 || len(p.SDFFilters) > 0 || len(p.FramedRoutes) > 0 || len(p.FramedIPv6Routes) > 0 || p.ApplicationID != nil):
		return ruleFailure(rules.KindPDR, id, "PDR %d: packets, but the PDN type is Ethernet", id)
	}
	return nil
}
