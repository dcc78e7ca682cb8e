// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"net/netip"
	"testing"

	"airpath/control/owner"
	"airpath/control/rules"
)

func accessPDR(id uint16, far uint32, f *rules.FTEID) rules.PDR {
	return rules.PDR{ID: id, Precedence: ptr(uint32(id)), FARID: &far,
		OuterHeaderRemoval: &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP},
		PDI:                &rules.PDI{Source: rules.Access, LocalFTEID: f}}
}

func choose(id ...uint8) *rules.FTEID {
	f := &rules.FTEID{Choose: true, ChooseIPv4: true}
	if len(id) > 0 {
		f.ChooseID = &id[0]
	}
	return f
}

func TestTEIDsAreSharedAndFreed(t *testing.T) {
	r := newRig(t)
	q := plain(7, "10.45.0.3")
	q.PDRs = append(q.PDRs, accessPDR(3, 2, choose(5)), accessPDR(4, 2, choose(6)), accessPDR(5, 2, choose()))
	a := r.accepted(r.establish(q))
	seid := a.UPSEID
	teid := map[uint16]uint32{}
	for _, c := range a.CreatedPDRs {
		teid[c.ID] = c.FTEID.TEID
		if owner.Bucket(c.FTEID.TEID) != owner.BucketIPv4([4]byte{10, 45, 0, 3}) {
			t.Errorf("TEID %08x is not of the UE's bucket", c.FTEID.TEID)
		}
	}
	if len(teid) != 4 || teid[2] != teid[3] || teid[2] == teid[4] || teid[4] == teid[5] || teid[2] == teid[5] {
		t.Fatal(teid)
	}
	if a.CreatedPDRs[1].FTEID.IPv6.IsValid() || !a.CreatedPDRs[0].FTEID.IPv6.IsValid() {
		t.Error("addresses are not those asked for")
	}
	count := func() uint64 { return r.m.Statistics().TEIDs }
	if count() != 3 {
		t.Error(count())
	}
	r.accepted(r.modify(seid, &rules.ModifyRequest{RemovePDRs: []uint16{3}}))
	if count() != 3 {
		t.Error("a TEID another PDR uses was freed")
	}
	r.accepted(r.modify(seid, &rules.ModifyRequest{RemovePDRs: []uint16{4, 5}}))
	if count() != 1 || len(r.unit.Session(seid).GetTunnels()) != 1 {
		t.Error("not freed", count())
	}
	// Named again by the CP function, it is the session's own; a CHOOSE ID is of one message.
	b := r.accepted(r.modify(seid, &rules.ModifyRequest{CreatePDRs: []rules.PDR{
		accessPDR(6, 2, &rules.FTEID{TEID: teid[2], IPv4: ip("10.3.0.1")}), accessPDR(7, 2, choose(5))}}))
	if len(b.CreatedPDRs) != 1 || b.CreatedPDRs[0].ID != 7 || b.CreatedPDRs[0].FTEID.TEID == teid[2] {
		t.Errorf("%+v", b.CreatedPDRs)
	}
	// All tunnels go and one comes: the first TEID rests, though the session keeps its place.
	c := r.accepted(r.modify(seid, &rules.ModifyRequest{RemovePDRs: []uint16{2, 6, 7}, CreatePDRs: []rules.PDR{accessPDR(8, 2, choose())}}))
	if n := c.CreatedPDRs[0].FTEID.TEID; n == teid[2] || r.unit.Session(seid).GetHandle() != teid[2] {
		t.Errorf("%08x", n)
	}
	u := r.accepted(r.modify(seid, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 8, PDI: &rules.PDI{Source: rules.Access, LocalFTEID: choose()}}}}))
	if len(u.UpdatedPDRs) != 1 || u.UpdatedPDRs[0].FTEID.TEID == c.CreatedPDRs[0].FTEID.TEID {
		t.Errorf("%+v", u)
	}
	if n := r.m.Statistics().Addresses; n != 1 {
		t.Error(n, "addresses in use")
	}
	r.accepted(r.delete(seid))
	if n := r.m.Statistics().Addresses; count() != 0 || n != 0 {
		t.Error(count(), "TEIDs left", n, "addresses")
	}
}

func TestTEIDsOfTheCPFunction(t *testing.T) {
	r := newRig(t, func(c *Config) { c.CPFTEID = true })
	q := plain(7, "10.45.0.3")
	q.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: 0x1234, IPv4: ip("10.3.0.1")}
	q.PDRs = append(q.PDRs, accessPDR(3, 2, &rules.FTEID{TEID: 0x1234, IPv4: ip("10.3.0.1")}))
	a := r.accepted(r.establish(q))
	if s := r.unit.Session(a.UPSEID); len(s.GetTunnels()) != 1 || !s.GetTunnels()[0].GetForeign() || len(a.CreatedPDRs) != 0 {
		t.Error(s, a.CreatedPDRs)
	}
	q = plain(7, "10.45.0.4")
	q.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: 0x1234, IPv4: ip("10.3.0.1")}
	holds(t, "TEID twice", r.establish(q), want{cause: 73, kind: rules.KindPDR, id: 2})
	// Ours and theirs do not meet.
	own := r.accepted(r.establish(plain(8, "10.45.0.5"))).CreatedPDRs[0].FTEID.TEID
	q.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: own, IPv4: ip("10.3.0.1")}
	holds(t, "a TEID of ours", r.establish(q), want{cause: 73, kind: rules.KindPDR, id: 2})
	r.accepted(r.delete(a.UPSEID))
	q.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: 0x1234, IPv4: ip("10.3.0.1")}
	r.accepted(r.establish(q))
	if n := r.m.Statistics().TEIDs; n != 3 {
		t.Error(n)
	}
}

func TestRestoration(t *testing.T) {
	r := newRig(t)
	teid := owner.TEID(owner.BucketIPv4([4]byte{10, 45, 0, 3}), 17, 33)
	q := plain(7, "10.45.0.3")
	q.Restoration = true
	q.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: teid, IPv4: ip("10.3.0.1")}
	q.PDRs = append(q.PDRs, accessPDR(3, 2, &rules.FTEID{TEID: teid ^ 0x100, IPv4: ip("10.3.0.1")}))
	a := r.accepted(r.establish(q))
	s := r.unit.Session(a.UPSEID)
	if s.GetHandle() != teid || len(s.GetTunnels()) != 2 || s.GetTunnels()[0].GetForeign() || s.GetTunnels()[1].GetForeign() {
		t.Error(s)
	}
	q2 := plain(7, "10.45.0.4")
	q2.Restoration = true
	q2.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: teid, IPv4: ip("10.3.0.1")}
	holds(t, "restored twice", r.establish(q2), want{cause: 73, kind: rules.KindPDR, id: 2})
	r.accepted(r.delete(a.UPSEID))
	if n := r.m.Statistics().TEIDs; n != 0 {
		t.Error(n)
	}
}

func chooseUE(q *rules.EstablishRequest, u rules.UEIP) *rules.EstablishRequest {
	u.Destination = true
	q.PDRs[0].PDI.UEIPs = []rules.UEIP{u}
	return q
}

func TestUEAddresses(t *testing.T) {
	r := newRig(t)
	a := r.accepted(r.establish(chooseUE(plain(7, "10.45.0.3"), rules.UEIP{ChooseIPv4: true, ChooseIPv6: true})))
	u := a.CreatedPDRs[0].UEIPs[0]
	if a.CreatedPDRs[0].ID != 1 || u.IPv4 != ip("10.45.0.1") || u.IPv6 != ip("2001:db8:45::") || u.ChooseIPv4 {
		t.Fatalf("%+v", a.CreatedPDRs)
	}
	if n := r.m.Statistics().Addresses; n != 2 {
		t.Error(n, "addresses in use")
	}
	if s := r.unit.Session(a.UPSEID); netip.AddrFrom4([4]byte(s.GetUeIp4())) != u.IPv4 || s.GetUeIp6Bits() != 64 || !s.GetPdrs()[0].GetMatchIp6() {
		t.Error(s)
	}
	// A change elsewhere keeps them; the CP function may name what it was given.
	r.accepted(r.modify(a.UPSEID, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 1, PDI: &rules.PDI{Source: rules.Core,
		NetworkInstance: ptr("internet"), UEIPs: []rules.UEIP{{IPv4: u.IPv4, IPv6: u.IPv6, Destination: true}}}}}}))
	holds(t, "in use", r.establish(plain(7, "10.45.0.1")), want{cause: 73, kind: rules.KindPDR, id: 1})
	holds(t, "prefix in use", r.establish(chooseUE(plain(7, "10.45.0.9"), rules.UEIP{IPv6: ip("2001:db8:45::7")})),
		want{cause: 73, kind: rules.KindPDR, id: 1})
	// Another network instance may have the same address; its pool has room for two.
	ims := func() *rules.EstablishRequest {
		q := chooseUE(plain(7, "10.45.0.9"), rules.UEIP{ChooseIPv4: true})
		q.PDRs[0].PDI.NetworkInstance = ptr("ims")
		q.FARs[1].Forwarding.NetworkInstance = ptr("ims")
		return q
	}
	one := r.accepted(r.establish(ims()))
	if s := r.unit.Session(one.UPSEID); one.CreatedPDRs[0].UEIPs[0].IPv4 != u.IPv4 || s.GetCoreInterface() != 3 {
		t.Error(one, s)
	}
	r.accepted(r.establish(ims()))
	holds(t, "pool is full", r.establish(ims()), want{cause: 79, kind: rules.KindPDR, id: 1})
	r.accepted(r.delete(one.UPSEID))
	if again := r.accepted(r.establish(ims())); again.CreatedPDRs[0].UEIPs[0].IPv4 != u.IPv4 {
		t.Error(again)
	}
	// Addresses outside every pool are unique, too, as is a delegated prefix.
	r.accepted(r.establish(plain(7, "172.16.0.1")))
	holds(t, "outside, twice", r.establish(plain(7, "172.16.0.1")), want{cause: 73, kind: rules.KindPDR, id: 1})
	wide := r.accepted(r.establish(chooseUE(plain(7, "10.45.0.9"), rules.UEIP{IPv6: ip("2001:db8:45:10::"), DelegationBits: 4})))
	if s := r.unit.Session(wide.UPSEID); s.GetUeIp6Bits() != 60 {
		t.Error(s)
	}
	holds(t, "inside a delegated prefix", r.establish(chooseUE(plain(7, "10.45.0.9"), rules.UEIP{IPv6: ip("2001:db8:45:1f::")})),
		want{cause: 73, kind: rules.KindPDR, id: 1})
	// Moving to another address frees the first.
	r.accepted(r.modify(a.UPSEID, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 1, PDI: &rules.PDI{Source: rules.Core,
		NetworkInstance: ptr("internet"), UEIPs: []rules.UEIP{{IPv4: ip("10.45.0.77"), Destination: true}}}}}}))
	r.accepted(r.establish(plain(7, "10.45.0.1")))
	holds(t, "moved here", r.establish(plain(7, "10.45.0.77")), want{cause: 73, kind: rules.KindPDR, id: 1})
}

func TestPools(t *testing.T) {
	for _, bad := range [][]Pool{
		{{Prefix: netip.MustParsePrefix("10.0.0.1/24")}}, {{Prefix: pfx("0.0.0.0/0")}}, {{Prefix: pfx("2001:db8::/96")}},
		{{}}, {{Prefix: pfx("10.0.0.0/16")}, {Prefix: pfx("10.0.1.0/24")}},
	} {
		if _, err := newPools(bad); err == nil {
			t.Error(bad, "was taken")
		}
	}
	p, err := newPools([]Pool{{NetworkInstance: "a", Prefix: pfx("10.0.0.0/22")}, {NetworkInstance: "a", Prefix: pfx("10.1.0.0/30"), Unit: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[netip.Prefix]bool{}
	for range 1022 {
		a, err := p.alloc("a", false, "y")
		if err != nil || seen[a] || !pfx("10.0.0.0/22").Contains(a.Addr()) || a.Addr() == ip("10.0.0.0") || a.Addr() == ip("10.0.3.255") {
			t.Fatal(a, err)
		}
		seen[a] = true
	}
	if a, err := p.alloc("a", false, "y"); err != errPoolFull {
		t.Error(a, err, "of a pool that another unit serves")
	}
	if a, err := p.alloc("a", false, "x"); err != nil || a.Addr() != ip("10.1.0.1") {
		t.Error(a, err)
	}
	p.free("a", pfx("10.0.1.7/32"))
	p.free("a", pfx("10.0.1.7/32")) // once is enough
	if a, err := p.alloc("a", false, ""); err != nil || a != pfx("10.0.1.7/32") {
		t.Error(a, err)
	}
	if _, err := p.alloc("b", false, ""); err != errNoPool {
		t.Error(err)
	}
}
