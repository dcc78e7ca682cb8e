// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"path/filepath"
	"strings"
	"testing"

	"airpath/control/dataplane/dptest"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

// TestSeveralUnits: a pool's unit serves its UEs, others go by turns; each unit has its own TEIDs
// and is brought up to date with its own sessions.
func TestSeveralUnits(t *testing.T) {
	dir := t.TempDir()
	second, err := dptest.New(filepath.Join(dir, "u1"), dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	r := newRig(t, func(c *Config) {
		c.Units = append(c.Units, UnitConfig{Name: "pfu1", Socket: filepath.Join(dir, "u1")})
		c.Pools = append(c.Pools, Pool{NetworkInstance: "internet", Prefix: pfx("10.46.0.0/24"), Unit: "pfu1"},
			Pool{NetworkInstance: "nowhere", Prefix: pfx("10.47.0.0/24"), Unit: "pfu1"})
	})
	r.until("both are connected", func() bool {
		c, _ := second.Config()
		return r.m.Units()[1].Connected && c.GetRefilled()
	})
	config, _ := r.unit.Config()
	other, _ := second.Config()
	if len(config.GetPools()) != 3 || len(other.GetPools()) != 4 || config.GetCheckpointMs() != 500 {
		t.Error(config, other)
	}
	for _, ue := range []string{"10.46.0.7", "10.46.0.8", "10.46.0.9"} {
		if a := r.accepted(r.establish(plain(7, ue))); second.Session(a.UPSEID) == nil {
			t.Error(ue, "is not where its pool is")
		}
	}
	for i := range 10 {
		r.accepted(r.establish(plain(7, "172.16.0."+string(rune('0'+i)))))
	}
	if a, b := len(r.unit.IDs()), len(second.IDs()); a != 5 || b != 8 {
		t.Error(a, b, "are not spread")
	}
	second.Stop()
	r.until("it is away", func() bool { return !r.m.Units()[1].Connected })
	for i := range 3 {
		if a := r.accepted(r.establish(plain(7, "172.17.0."+string(rune('0'+i))))); r.unit.Session(a.UPSEID) == nil {
			t.Error("not where a unit is")
		}
	}
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	r.until("its sessions are there again", func() bool { return len(second.IDs()) == 8 })
	if n := len(r.unit.IDs()); n != 8 {
		t.Error(n)
	}
	units := r.m.Units()
	if units[0].Sessions != 8 || units[1].Sessions != 8 || units[1].Name != "pfu1" || len(units[1].Buckets) != 4096 {
		t.Errorf("%+v", units)
	}
	for _, bad := range second.Broken() {
		t.Error("contract:", bad)
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	r := newRig(t)
	for what, c := range map[string]Config{
		"no forwarding unit": {},
		"configured twice":   {Units: []UnitConfig{{Name: "a"}, {Name: "a"}}},
		"not configured":     {Units: []UnitConfig{{Name: "a"}}, Pools: []Pool{{Prefix: pfx("10.0.0.0/24"), Unit: "b"}}},
		"not a prefix":       {Units: []UnitConfig{{Name: "a"}}, Pools: []Pool{{}}},
	} {
		if m, err := New(Options{Config: c, Store: r.store}); err == nil {
			m.Close()
			t.Error(what, "was taken")
		} else if !strings.Contains(err.Error(), what) {
			t.Error(what, err)
		}
	}
}

// largest has as many rules as there may be, each with filters.
func largest() *rules.EstablishRequest {
	q := plain(7, "10.45.0.3")
	for i := uint32(3); i <= maxRules; i++ {
		p := accessPDR(uint16(i), i, choose(5))
		p.PDI.SDFFilters = []rules.SDFFilter{{Flow: ptr("permit out 17 from 192.0.2.0/24 1-2,3-4,5-6,7-8,9-10 to assigned 11,12,13")}}
		p.QERIDs, p.URRIDs = []uint32{i}, []uint32{i}
		q.PDRs = append(q.PDRs, p)
		q.FARs = append(q.FARs, rules.FAR{ID: i, Action: ptr(rules.ActionDROP)})
		q.QERs = append(q.QERs, rules.QER{ID: i, MBR: &rules.Bitrate{UL: 1000, DL: 1000}})
		q.URRs = append(q.URRs, rules.URR{ID: i, Method: ptr(rules.MethodVOLUM), Triggers: ptr(rules.ReportVOLTH)})
	}
	return q
}

func TestLargestSession(t *testing.T) {
	r := newRig(t)
	q := largest()
	a := r.accepted(r.establish(q))
	if s := r.unit.Session(a.UPSEID); len(s.GetPdrs()) != maxRules || len(s.GetTunnels()) != 1 {
		t.Error(len(s.GetPdrs()), len(s.GetTunnels()))
	}
	holds(t, "one more", r.modify(a.UPSEID, &rules.ModifyRequest{CreateFARs: []rules.FAR{{ID: 999, Action: ptr(rules.ActionDROP)}},
		CreatePDRs: []rules.PDR{accessPDR(999, 999, choose())}}), want{cause: 75, none: true})
	// More than a message holds is refused, not truncated.
	var wide rules.ModifyRequest
	for i := range q.PDRs[2:] {
		p := rules.PDR{ID: q.PDRs[i+2].ID, PDI: copyPDI(q.PDRs[i+2].PDI)}
		p.PDI.LocalFTEID = &rules.FTEID{TEID: a.CreatedPDRs[0].FTEID.TEID}
		for range 40 {
			p.PDI.SDFFilters = append(p.PDI.SDFFilters, q.PDRs[2].PDI.SDFFilters[0])
		}
		wide.UpdatePDRs = append(wide.UpdatePDRs, p)
	}
	holds(t, "too large", r.modify(a.UPSEID, &wide), want{cause: 75, none: true})
	if s := r.unit.Session(a.UPSEID); s.GetVersion() != 1 || s.GetPdrs()[2].GetSource() != upfpb.InterfaceType_ACCESS {
		t.Error(s.GetVersion())
	}
	if u := r.accepted(r.delete(a.UPSEID)).Usage; len(u) != maxRules-1 {
		t.Error(len(u), "reports")
	}
}
