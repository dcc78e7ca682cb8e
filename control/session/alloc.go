// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"net/netip"
	"slices"

	"airpath/control/owner"
	"airpath/control/rules"
)

func isCore(source uint8) bool { return source == rules.Core || source == rules.SGiN6LAN }

// instanceOf says in which network instance the UE's addresses are unique: that of the core side
// PDR that has them, else of the core side the UE's packets are forwarded to.
func instanceOf(st *state) string {
	var first, forwarded, plain string
	for i := range st.pdrs {
		p := st.pdrs[i].PDI
		ni := ""
		if p.NetworkInstance != nil {
			ni = *p.NetworkInstance
		}
		switch {
		case isCore(p.Source) && ni != "" && len(p.UEIPs) > 0:
			return ni
		case isCore(p.Source) && plain == "":
			plain = ni
		case len(p.UEIPs) > 0 && first == "":
			first = ni
		}
		f := findFAR(st, *st.pdrs[i].FARID)
		if w := f.Forwarding; w != nil && w.Destination != nil && isCore(*w.Destination) && w.NetworkInstance != nil && forwarded == "" {
			forwarded = *w.NetworkInstance
		}
	}
	switch {
	case plain != "":
		return plain
	case forwarded != "":
		return forwarded
	}
	return first
}

// prefixBits of an IPv6 address of a PDI: 64, less the delegated ones, unless said, §8.2.62.
func prefixBits(u *rules.UEIP) int {
	switch {
	case u.PrefixLength != 0:
		return int(u.PrefixLength)
	case u.DelegationBits != 0:
		return 64 - int(u.DelegationBits)
	}
	return 64
}

func (st *state) prefix4() netip.Prefix { return netip.PrefixFrom(st.ip4, 32) }
func (st *state) prefix6() netip.Prefix { return netip.PrefixFrom(st.ip6, int(st.ip6Bits)).Masked() }

// wanted are the UE addresses the PDIs name or ask for.
type wanted struct {
	ip4, ip6             netip.Prefix
	choose4, choose6     bool
	pdr, chooses, differ uint16 // PDRs to blame
}

func wantedOf(st *state) wanted {
	var w wanted
	for i := range st.pdrs {
		id := st.pdrs[i].ID
		for j := range st.pdrs[i].PDI.UEIPs {
			u := &st.pdrs[i].PDI.UEIPs[j]
			if u.ChooseIPv4 || u.ChooseIPv6 {
				w.chooses = id
			}
			w.choose4 = w.choose4 || u.ChooseIPv4
			w.choose6 = w.choose6 || u.ChooseIPv6
			if u.IPv4.IsValid() && !u.ChooseIPv4 {
				w.add(&w.ip4, netip.PrefixFrom(u.IPv4, 32), id)
			}
			if u.IPv6.IsValid() && !u.ChooseIPv6 {
				w.add(&w.ip6, netip.PrefixFrom(u.IPv6, prefixBits(u)), id)
			}
		}
	}
	return w
}

func (w *wanted) add(p *netip.Prefix, is netip.Prefix, pdr uint16) {
	w.pdr = pdr
	switch {
	case !p.IsValid():
		*p = is
	case p.Masked() != is.Masked():
		w.differ = pdr
	}
}

// addresses settles the UE's addresses: takes those the CP function names, chooses those it asks
// for, and keeps what the session had.
func (d *draft) addresses() *refusal {
	st := d.st
	w := wantedOf(st)
	if w.differ != 0 {
		return ruleFailure(rules.KindPDR, uint32(w.differ), "PDR %d: another UE address than the session has", w.differ)
	}
	var had4, had6 netip.Prefix // of the same network instance: stay taken
	st.ni = instanceOf(st)
	if d.old != nil && d.old.ni == st.ni {
		if d.old.ip4.IsValid() {
			had4 = d.old.prefix4()
		}
		if d.old.ip6.IsValid() {
			had6 = netip.PrefixFrom(d.old.ip6, int(d.old.ip6Bits))
		}
	}
	serving := d.m.pools.unitOf(st.ni, w.ip4)
	if d.u != nil {
		serving = d.u.name
	} else if serving == "" && w.choose4 && !w.ip4.IsValid() {
		serving = d.m.pools.unitToChoose(st.ni, false)
	}
	got4, refused := d.address(&w, w.ip4, had4, w.choose4, false, serving)
	if refused != nil {
		return refused
	}
	got6, refused := d.address(&w, w.ip6, had6, w.choose6, true, serving)
	if refused != nil {
		return refused
	}
	st.ip4, st.ip6, st.ip6Bits = netip.Addr{}, netip.Addr{}, 0
	if got4.IsValid() {
		st.ip4 = got4.Addr()
	}
	if got6.IsValid() {
		st.ip6, st.ip6Bits = got6.Addr(), uint8(got6.Bits())
	}
	d.fillAddresses()
	return nil
}

// address gives the address of one family, not valid for none.
func (d *draft) address(w *wanted, named, had netip.Prefix, choose, v6 bool, serving string) (netip.Prefix, *refusal) {
	ni := d.st.ni
	if !named.IsValid() {
		if !choose {
			return named, nil
		}
		if had.IsValid() {
			return had, nil
		}
		p, err := d.m.pools.alloc(ni, v6, serving)
		switch {
		case errors.Is(err, errPoolFull):
			return p, refuse(rules.CauseAddressesOccupied, 0, "network instance %q: %v", ni, err).of(rules.KindPDR, uint32(w.chooses))
		case err != nil:
			return p, ruleFailure(rules.KindPDR, uint32(w.chooses), "network instance %q: %v", ni, err)
		}
		d.prefixes = append(d.prefixes, p)
		return p, nil
	}
	if had.IsValid() && had.Masked() == named.Masked() {
		return named, nil
	}
	if err := d.m.pools.claim(ni, named); err != nil {
		return named, ruleFailure(rules.KindPDR, uint32(w.pdr), "%v in network instance %q: %v", named, ni, err)
	}
	d.prefixes = append(d.prefixes, named)
	return named, nil
}

// fillAddresses writes what was chosen where it was asked for.
func (d *draft) fillAddresses() {
	for i := range d.st.pdrs {
		p := &d.st.pdrs[i]
		for j := range p.PDI.UEIPs {
			u := &p.PDI.UEIPs[j]
			if !u.ChooseIPv4 && !u.ChooseIPv6 {
				continue
			}
			a := d.asked[p.ID]
			a.ueip = true
			d.asked[p.ID] = a
			if u.ChooseIPv4 {
				u.IPv4, u.ChooseIPv4 = d.st.ip4, false
			}
			if u.ChooseIPv6 {
				u.IPv6, u.ChooseIPv6 = d.st.ip6, false
				u.PrefixLength, u.DelegationBits = 0, 0
				if d.st.ip6Bits != 64 {
					u.PrefixLength = d.st.ip6Bits
				}
			}
		}
	}
}

// freeAddresses gives back the addresses of a state, but those the next one has, too.
func (m *Manager) freeAddresses(old, next *state) {
	if old.ip4.IsValid() && (next == nil || next.ni != old.ni || next.ip4 != old.ip4) {
		m.pools.free(old.ni, old.prefix4())
	}
	if old.ip6.IsValid() && (next == nil || next.ni != old.ni || !next.ip6.IsValid() || next.prefix6() != old.prefix6()) {
		m.pools.free(old.ni, old.prefix6())
	}
}

// home gives a new session its forwarding unit and its place in a bucket.
func (d *draft) home() *refusal {
	st := d.st
	if d.u != nil {
		return nil
	}
	name := ""
	if st.ip4.IsValid() {
		name = d.m.pools.unitOf(st.ni, st.prefix4())
	}
	if name == "" && st.ip6.IsValid() {
		name = d.m.pools.unitOf(st.ni, st.prefix6())
	}
	if d.u = d.m.pickUnit(name); d.u == nil {
		return refuse(rules.CauseSystemFailure, 0, "no forwarding unit is connected")
	}
	st.unit = d.u.name
	if d.restoration && d.restoredHandle() {
		return nil
	}
	now := d.m.nowMs()
	bucket, err := uint32(0), error(nil)
	switch {
	case st.ip4.IsValid():
		bucket = owner.BucketIPv4(st.ip4.As4())
	case st.ip6.IsValid():
		bucket = owner.BucketPrefix6(st.ip6.As16())
	default:
		bucket, err = d.u.teids.AnyBucket(now)
	}
	if err == nil {
		st.handle, err = d.allocTEID(bucket, now)
	}
	if err != nil {
		// A bucket whose slots all rest, as one UE that comes and goes makes it: any other will
		// do, at the price of a hand-off.
		if bucket, err = d.u.teids.AnyBucket(now); err == nil {
			st.handle, err = d.allocTEID(bucket, now)
		}
	}
	if err != nil {
		return refuse(rules.CauseNoResources, 0, "TEIDs of bucket %d: %v", bucket, err)
	}
	return nil
}

// restoredHandle takes the first TEID the CP function wants back for the session's place.
func (d *draft) restoredHandle() bool {
	for i := range d.st.pdrs {
		f := d.st.pdrs[i].PDI.LocalFTEID
		if f == nil || f.Choose || d.u.foreign[f.TEID] || d.u.teids.Claim(f.TEID, d.m.nowMs()) != nil {
			continue
		}
		d.teids = append(d.teids, f.TEID)
		d.st.handle, d.st.handleUsed = f.TEID, true
		return true
	}
	return false
}

// allocTEID gives out a TEID that is not one the CP function chose.
func (d *draft) allocTEID(bucket uint32, now int64) (uint32, error) {
	for {
		t, err := d.u.teids.Alloc(bucket, now)
		if err != nil {
			return 0, err
		}
		if d.u.foreign[t] {
			_ = d.u.teids.Free(t, now)
			continue
		}
		d.teids = append(d.teids, t)
		return t, nil
	}
}

// tunnels gives every local F-TEID its TEID.
func (d *draft) tunnels() *refusal {
	st := d.st
	for i := range st.pdrs {
		p := &st.pdrs[i]
		f := p.PDI.LocalFTEID
		if f == nil {
			continue
		}
		var refused *refusal
		if f.Choose {
			refused = d.chooseTunnel(p, f)
		} else {
			refused = d.namedTunnel(p, f)
		}
		if refused != nil {
			return refused
		}
	}
	kept := st.teids()
	st.foreign = slices.DeleteFunc(st.foreign, func(t uint32) bool { return !slices.Contains(kept, t) })
	return nil
}

// chooseTunnel chooses. PDRs of one request that have the same CHOOSE ID share a tunnel, §5.5.3.
func (d *draft) chooseTunnel(p *rules.PDR, f *rules.FTEID) *refusal {
	id := uint32(p.ID)
	in, refused := d.u.tunnelInterface(p.PDI, id)
	if refused != nil {
		return refused
	}
	f.IPv4, f.IPv6 = netip.Addr{}, netip.Addr{}
	if f.ChooseIPv4 {
		f.IPv4, _ = netip.AddrFromSlice(in.GetIp4())
	}
	if f.ChooseIPv6 {
		f.IPv6, _ = netip.AddrFromSlice(in.GetIp6())
	}
	if !f.IPv4.IsValid() && !f.IPv6.IsValid() {
		return ruleFailure(rules.KindPDR, id, "PDR %d: interface %s has no address of the kind asked for", id, in.GetName())
	}
	a := d.asked[p.ID]
	a.fteid = true
	d.asked[p.ID] = a
	var key chosen
	if f.ChooseID != nil {
		key = chosen{*f.ChooseID, in.GetIndex()}
		if t, ok := d.chosen[key]; ok {
			f.Choose, f.TEID = false, t
			return nil
		}
	}
	t := d.st.handle
	if d.st.handleUsed {
		var err error
		if t, err = d.allocTEID(owner.Bucket(d.st.handle), d.m.nowMs()); err != nil {
			return refuse(rules.CauseNoResources, 0, "PDR %d: TEIDs: %v", id, err).of(rules.KindPDR, id)
		}
	}
	d.st.handleUsed = true
	f.Choose, f.TEID = false, t
	if f.ChooseID != nil {
		if d.chosen == nil {
			d.chosen = map[chosen]uint32{}
		}
		d.chosen[key] = t
	}
	return nil
}

// namedTunnel takes a TEID the request names: one the session has, one of before a restoration,
// or, where the operator lets the CP function choose, any.
func (d *draft) namedTunnel(p *rules.PDR, f *rules.FTEID) *refusal {
	t, st := f.TEID, d.st
	if slices.Contains(d.teids, t) && (t != st.handle || st.handleUsed) || slices.Contains(st.foreign, t) ||
		d.old != nil && slices.Contains(d.old.teids(), t) {
		return nil
	}
	if d.restoration && owner.Bucket(t) == owner.Bucket(st.handle) && !d.u.foreign[t] &&
		d.u.teids.Claim(t, d.m.nowMs()) == nil {
		d.teids = append(d.teids, t)
		return nil
	}
	id := uint32(p.ID)
	if !d.m.config.CPFTEID && !d.restoration {
		return refuse(rules.CauseInvalidFTEIDAllocation, rules.IEFTEID, "PDR %d: the UP function allocates F-TEIDs", id).of(rules.KindPDR, id)
	}
	if t == 0 || d.u.foreign[t] || d.u.teids.State(t) == owner.Live {
		return ruleFailure(rules.KindPDR, id, "PDR %d: TEID %08x is in use, or 0", id, t)
	}
	if _, refused := d.u.tunnelInterface(p.PDI, id); refused != nil {
		return refused
	}
	d.u.foreign[t] = true
	d.foreign = append(d.foreign, t)
	st.foreign = append(st.foreign, t)
	return nil
}
