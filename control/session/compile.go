// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"net/netip"
	"slices"
	"strings"

	"airpath/control/filter"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

// compiler turns a state into what the forwarding unit takes. Interfaces are looked up anew each
// time: a unit that restarted may number them otherwise.
type compiler struct {
	u     *unit
	st    *state
	carry func(urr uint32) *upfpb.Usage // nil: nothing to carry
	hasQF bool                          // a QER of the session has a QFI: it is one of a 5GS
}

func (c *compiler) session() (*upfpb.Session, *refusal) {
	st := c.st
	out := &upfpb.Session{
		Id: st.seid, Handle: st.handle, Version: st.version, InactivityS: st.inactivity, Ethernet: st.ethernet, MacAgeS: macAge(st),
		Pdrs: make([]*upfpb.Pdr, 0, len(st.pdrs)), Fars: make([]*upfpb.Far, 0, len(st.fars)),
	}
	if st.ip4.IsValid() {
		out.UeIp4 = st.ip4.AsSlice()
	}
	if st.ip6.IsValid() {
		out.UeIp6, out.UeIp6Bits = st.ip6.AsSlice(), uint32(st.ip6Bits)
	}
	if refused := c.coreInterface(out); refused != nil {
		return nil, refused
	}
	for i := range st.qers {
		c.hasQF = c.hasQF || st.qers[i].QFI != nil
		out.Qers = append(out.Qers, compileQER(&st.qers[i]))
	}
	derived := c.u.m.derive(st)
	for i := range st.pdrs {
		p, refused := c.pdr(&st.pdrs[i], out)
		if refused == nil && len(st.pdrs[i].Predefined) > 0 {
			refused = c.predefined(&st.pdrs[i], p, derived[i], out)
		} else if refused == nil {
			p.UrrIds = c.charged(p.UrrIds, &st.pdrs[i], nil)
			out.Pdrs = append(out.Pdrs, p)
		}
		if refused != nil {
			return nil, refused
		}
	}
	for i := range st.fars {
		f, refused := c.far(&st.fars[i])
		if refused != nil {
			return nil, refused
		}
		out.Fars = append(out.Fars, f)
	}
	for i := range st.urrs {
		u := compileURR(&st.urrs[i])
		if c.carry != nil {
			u.Carry = c.carry(u.Id)
		}
		out.Urrs = append(out.Urrs, u)
	}
	for i := range st.bars {
		b := &st.bars[i]
		bar := &upfpb.Bar{Id: uint32(b.ID)}
		if b.Packets != nil {
			bar.Packets = uint32(*b.Packets)
		}
		if b.NotifyDelayMs != nil {
			bar.NotifyDelayMs = *b.NotifyDelayMs
		}
		out.Bars = append(out.Bars, bar)
	}
	return out, nil
}

// coreInterface is where the UE's addresses are unique. A session between tunnels has none.
func (c *compiler) coreInterface(out *upfpb.Session) *refusal {
	for i := range c.st.pdrs {
		p := &c.st.pdrs[i]
		if !isCore(p.PDI.Source) || p.PDI.LocalFTEID != nil {
			continue
		}
		ni := p.PDI.NetworkInstance
		if ni == nil {
			ni = &c.st.ni
		}
		in, _ := c.find(p.PDI.Source, ni, p.PDI.SourceType)
		if in == nil {
			return ruleFailure(rules.KindPDR, uint32(p.ID), "PDR %d: no core interface for network instance %q", p.ID, *ni)
		}
		if out.CoreInterface == 0 {
			out.CoreInterface = in.GetIndex()
		}
	}
	if in, _ := c.find(rules.Core, &c.st.ni, nil); out.CoreInterface == 0 && in != nil {
		out.CoreInterface = in.GetIndex()
	}
	return nil
}

func (c *compiler) pdr(p *rules.PDR, out *upfpb.Session) (*upfpb.Pdr, *refusal) {
	i, id := p.PDI, uint32(p.ID)
	o := &upfpb.Pdr{
		Id: id, Precedence: *p.Precedence, Source: upfpb.InterfaceType(i.Source),
		FarId: orZero(p.FARID), QerIds: p.QERIDs, UrrIds: p.URRIDs,
	}
	if i.ApplicationID != nil {
		var err error
		if o.Application, err = c.u.m.indexOf(*i.ApplicationID); err != nil {
			return nil, refuse(rules.CauseNoResources, 0, "PDR %d: %v", id, err).of(rules.KindPDR, id)
		}
	}
	if refused := c.from(p, o, out); refused != nil {
		return nil, refused
	}
	for j := range i.UEIPs {
		u := &i.UEIPs[j]
		o.MatchIp4 = o.MatchIp4 || u.IPv4.IsValid()
		o.MatchIp6 = o.MatchIp6 || u.IPv6.IsValid()
		// What comes from the core goes to the UE, whatever S/D says: SMFs leave it 0.
		if u.Destination || isCore(i.Source) {
			o.MatchUeDestination = true
		} else {
			o.MatchUeSource = true
		}
	}
	for _, q := range i.QFIs {
		o.Qfis |= 1 << q
	}
	for _, route := range append(slices.Clone(i.FramedRoutes), i.FramedIPv6Routes...) {
		prefix, err := framedRoute(route)
		if err != nil {
			return nil, refuse(rules.CauseRuleFailure, rules.IEFramedRoute, "PDR %d: framed route %q", id, route).of(rules.KindPDR, id)
		}
		o.FramedRoutes = append(o.FramedRoutes, prefix)
		if isCore(i.Source) {
			o.MatchUeDestination = true
		} else {
			o.MatchUeSource = true
		}
	}
	for j := range i.EthernetFilters {
		f, err := c.ethernetFilter(&i.EthernetFilters[j], i.Source)
		if err != nil {
			return nil, refuse(rules.CauseRuleFailure, ieEthernetPacketFilter, "PDR %d: %v", id, err).of(rules.KindPDR, id)
		}
		o.EthernetFilters = append(o.EthernetFilters, f)
	}
	for j := range i.SDFFilters {
		f, err := c.filter(&i.SDFFilters[j], i.Source)
		if err != nil {
			return nil, refuse(rules.CauseRuleFailure, rules.IESDFFilter, "PDR %d: %v", id, err).of(rules.KindPDR, id)
		}
		o.Filters = append(o.Filters, f)
	}
	return o, nil
}

// from says where packets of a PDR come in.
func (c *compiler) from(p *rules.PDR, o *upfpb.Pdr, out *upfpb.Session) *refusal {
	i := p.PDI
	if i.LocalFTEID == nil {
		ni := i.NetworkInstance
		if ni == nil && isCore(i.Source) {
			ni = &c.st.ni
		}
		in, exact := c.find(i.Source, ni, i.SourceType)
		if in != nil && (exact || isCore(i.Source)) {
			o.Interface = in.GetIndex()
		}
		return nil
	}
	o.OuterHeaderRemoval = p.OuterHeaderRemoval != nil
	o.RemoveExtension = p.OuterHeaderRemoval != nil && p.OuterHeaderRemoval.Extension&1 != 0
	teid := i.LocalFTEID.TEID
	for j, t := range out.Tunnels {
		if t.GetTeid() == teid {
			o.Tunnel = uint32(j + 1)
			return nil
		}
	}
	in, refused := c.u.tunnelInterface(i, uint32(p.ID))
	if refused != nil {
		return refused
	}
	out.Tunnels = append(out.Tunnels, &upfpb.Tunnel{
		Teid: teid, Interface: in.GetIndex(), Foreign: slices.Contains(c.st.foreign, teid),
	})
	o.Tunnel = uint32(len(out.Tunnels))
	return nil
}

// framedRoute reads "prefix[/bits] gateway metric" of RFC 2865 §5.22 and RFC 3162 §2.5.
func framedRoute(s string) (*upfpb.Prefix, error) {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	p, err := netip.ParsePrefix(word)
	if err != nil {
		a, aerr := netip.ParseAddr(word)
		if aerr != nil {
			return nil, err
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	return prefixOf(p.Masked()), nil
}

func prefixOf(p netip.Prefix) *upfpb.Prefix {
	return &upfpb.Prefix{Address: p.Addr().AsSlice(), Bits: uint32(p.Bits())}
}

// filter turns a flow description, which is written in the downlink's direction, for packets that
// come from the access side, §5.2.1A.2A. A filter that is only an ID is the one another PDR of
// the session describes under it.
func (c *compiler) filter(f *rules.SDFFilter, source uint8) (*upfpb.Filter, error) {
	if f.ID != nil && f.Flow == nil && f.ToS == nil && f.SPI == nil && f.FlowLabel == nil {
		described := c.described(*f.ID)
		if described == nil {
			return nil, errFilterID
		}
		f = described
	}
	o := &upfpb.Filter{Protocol: filter.AnyProtocol}
	if f.Flow != nil {
		flow, err := filter.Parse(*f.Flow)
		if err != nil {
			return nil, err
		}
		if source == rules.Access {
			flow = flow.Turned()
		}
		o.Protocol = uint32(flow.Protocol)
		o.Source, o.SourcePorts = side(&flow.Source)
		o.Destination, o.DestinationPorts = side(&flow.Destination)
	}
	if f.ToS != nil {
		o.Tos, o.TosMask = uint32(f.ToS.Value&f.ToS.Mask), uint32(f.ToS.Mask)
	}
	if f.SPI != nil {
		o.MatchSpi, o.Spi = true, *f.SPI
	}
	if f.FlowLabel != nil {
		o.MatchFlowLabel, o.FlowLabel = true, *f.FlowLabel&0xFFFFF
	}
	return o, nil
}

func (c *compiler) described(id uint32) *rules.SDFFilter {
	for i := range c.st.pdrs {
		list := c.st.pdrs[i].PDI.SDFFilters
		for j := range list {
			if f := &list[j]; f.ID != nil && *f.ID == id && (f.Flow != nil || f.ToS != nil || f.SPI != nil || f.FlowLabel != nil) {
				return f
			}
		}
	}
	return nil
}

// side leaves "assigned" to the PDR's match of the UE's address: so UEs share one compiled set of
// filters, and a UE's link-local packets, which have no assigned address, still match.
func side(s *filter.Side) (prefix *upfpb.Prefix, ports []*upfpb.PortRange) {
	if s.Prefix.IsValid() {
		prefix = prefixOf(s.Prefix)
	}
	for _, p := range s.Ports {
		ports = append(ports, &upfpb.PortRange{First: uint32(p.First), Last: uint32(p.Last)})
	}
	return
}
