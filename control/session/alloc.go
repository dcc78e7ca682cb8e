// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"net/netip"

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
