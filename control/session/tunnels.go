// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"net/netip"
	"slices"

	"airpath/control/owner"
	"airpath/control/rules"
)

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
