// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"path/filepath"
	"strings"
	"testing"

	"airpath/control/dataplane/dptest"
	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// twoUnits is a rig with a second unit, and a session in each of the same UE address, and so of the
// same TEID, in two network instances; and three more in the second one.
type twoUnits struct {
	*rig
	second *dptest.Unit
	both   []UnitConfig
	stays  uint64
	goes   []uint64
	teid   uint32
}

func inIMS(q *rules.EstablishRequest) *rules.EstablishRequest {
	for i := range q.PDRs {
		q.PDRs[i].PDI.NetworkInstance = ptr("ims")
	}
	q.FARs[1].Forwarding.NetworkInstance = ptr("ims")
	return q
}

func newTwoUnits(t *testing.T, change ...func(*Config)) *twoUnits {
	t.Helper()
	dir := t.TempDir()
	second, err := dptest.New(filepath.Join(dir, "u1"), dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	r := &twoUnits{second: second}
	r.rig = newRig(t, append(change, func(c *Config) {
		c.Units = append(c.Units, UnitConfig{Name: "pfu1", Socket: filepath.Join(dir, "u1")})
		c.Pools[0].Unit = "pfu0"
		c.Pools[2] = Pool{NetworkInstance: "ims", Prefix: pfx("10.45.0.0/24"), Unit: "pfu1"}
	})...)
	t.Cleanup(func() { // before the agent ends
		for _, bad := range second.Broken() {
			t.Error("contract:", bad)
		}
		second.Close()
	})
	r.both = r.config.Units
	r.connected(1)
	a := r.accepted(r.establish(plain(7, "10.45.0.3")))
	r.stays, r.teid = a.UPSEID, a.CreatedPDRs[0].FTEID.TEID
	for _, ue := range []string{"10.45.0.3", "10.45.0.4", "10.45.0.5", "10.45.0.6"} {
		a := r.accepted(r.establish(inIMS(plain(7, ue))))
		r.goes = append(r.goes, a.UPSEID)
		if ue == "10.45.0.3" && a.CreatedPDRs[0].FTEID.TEID != r.teid {
			t.Fatalf("TEIDs %x and %x", r.teid, a.CreatedPDRs[0].FTEID.TEID)
		}
		r.second.Count(a.UPSEID, 1, 100, 200)
	}
	if err := r.second.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	r.until("usage is stored", func() bool {
		n := 0
		_ = r.store.Usages(func(uint64, []byte) error { n++; return nil })
		return n == len(r.goes)
	})
	return r
}

// connected waits for the unit of an index.
func (r *twoUnits) connected(index int) {
	r.t.Helper()
	r.until("the unit is up to date", func() bool {
		c, _ := r.second.Config()
		return r.m.Units()[index].Connected && c.GetRefilled()
	})
}

// with starts the agent anew with other units, the first of which is there.
func (r *twoUnits) with(units ...UnitConfig) (log string) {
	r.t.Helper()
	r.stop()
	r.config.Units = units
	r.config.Pools[2].Unit = ""
	r.log.take()
	r.start()
	return r.log.take()
}

// TestUnitTakenOut: the sessions of a unit that is not configured any more stay in the store, listed
// as such; nothing of them touches the other unit; they can be deleted, with the usage that is known,
// and are there again with their unit.
func TestUnitTakenOut(t *testing.T) {
	r := newTwoUnits(t)
	log := r.with(r.both[0])
	if n := strings.Count(log, "not configured any more"); n != 1 || !strings.Contains(log, "unit=pfu1 sessions=4") {
		t.Error(n, log)
	}
	units := r.m.Units()
	if len(units) != 2 || units[0].Gone || units[0].Sessions != 1 || !units[1].Gone || units[1].Name != "pfu1" || units[1].Sessions != 4 {
		t.Errorf("%+v", units)
	}
	for _, seid := range r.goes {
		if d, ok := r.m.Show(seid); !ok || d.Unit != "pfu1" || !d.UnitGone || d.Worker != -1 {
			t.Errorf("%+v", d.SessionInfo)
		}
	}
	if d, _ := r.m.Show(r.stays); d.UnitGone || len(r.unit.IDs()) != 1 || r.m.Statistics().TEIDs != 5 {
		t.Errorf("%+v, %v, %+v", d.SessionInfo, r.unit.IDs(), r.m.Statistics())
	}
	holds(t, "modification", r.modify(r.goes[0], toGNB(2, "10.3.0.2")), want{cause: 77, none: true})
	holds(t, "an address that is taken", r.establish(inIMS(plain(7, "10.45.0.4"))), want{cause: 73, kind: rules.KindPDR, id: 1})
	oneUsage(t, r.accepted(r.delete(r.goes[0])).Usage, 0, 300, rules.UsageTERMR)
	// The same TEID of the other unit is still in use.
	r.m.mu.Lock()
	err := r.m.units[0].teids.Claim(r.teid, r.m.nowMs())
	r.m.mu.Unlock()
	if err == nil {
		t.Errorf("TEID %x is free", r.teid)
	}
	// The deleted one's address is free; the unit that is there serves it.
	again := r.accepted(r.establish(inIMS(plain(7, "10.45.0.3"))))
	if f := again.CreatedPDRs[0].FTEID.TEID; f == r.teid || r.unit.Session(again.UPSEID) == nil {
		t.Errorf("TEID %x is given out twice, or not at the unit", f)
	}
	r.accepted(r.modify(r.stays, toGNB(2, "10.3.0.2")))

	// A unit that had ended meanwhile is filled with what it had.
	r.second.Stop()
	if err := r.second.Start(); err != nil {
		t.Fatal(err)
	}
	if log := r.with(r.both...); strings.Contains(log, "not configured") {
		t.Error(log)
	}
	r.until("its sessions are there again", func() bool { return len(r.second.IDs()) == 3 })
	r.accepted(r.modify(r.goes[1], toGNB(3, "10.3.0.2")))
	if u := r.second.Usage(r.goes[1], 1); u.GetTotalBytes() != 300 {
		t.Error(u)
	}
	r.second.Count(r.goes[1], 1, 7, 0)
	oneUsage(t, r.accepted(r.delete(r.goes[1])).Usage, 0, 307, rules.UsageTERMR)
	if units := r.m.Units(); len(units) != 2 || units[1].Gone || units[1].Sessions != 2 {
		t.Errorf("%+v", units)
	}
}

// TestGiveUp: the operator ends the sessions of a unit that does not come back, also those that wait
// for it as nobody has their association any more. What they used is in the records.
func TestGiveUp(t *testing.T) {
	r := newTwoUnits(t, withCharging)
	if _, err := r.m.GiveUp("pfu1"); err == nil || !strings.Contains(err.Error(), "is configured") {
		t.Error("a unit that is there was given up:", err)
	}
	r.with(r.both[0])
	if _, err := r.m.GiveUp("pfu2"); err == nil || !strings.Contains(err.Error(), "no session is of") {
		t.Error(err)
	}
	other := rules.NodeID{FQDN: "smf2.example"}
	r.m.DeleteOfPeer(smf, "association released", nil)
	r.until("the unit's session has gone, the others wait", func() bool { return r.m.Statistics().Sessions == 4 && r.m.CountOfPeer(smf) == 0 })
	q := plain(7, "10.45.0.9")
	q.Node = other
	kept := r.accepted(r.establish(q)).UPSEID
	if n, err := r.m.GiveUp("pfu1"); n != 4 || err != nil {
		t.Error(n, err)
	}
	c := r.m.Statistics()
	if c.Sessions != 1 || c.TEIDs != 1 || c.Addresses != 1 || len(r.m.Units()) != 1 || r.m.CountOfPeer(other) != 1 || r.unit.Session(kept) == nil {
		t.Errorf("%+v %+v", c, r.m.Units())
	}
	var octets uint64
	untold := r.untoldUsage()
	for _, u := range untold {
		octets += u.DownlinkOctets + u.UplinkOctets
	}
	if len(untold) != 4 || octets != 4*300 || untold[0].Unit != "pfu1" {
		t.Errorf("%d octets: %+v", octets, untold)
	}
	if log := r.with(r.both[0]); strings.Contains(log, "not configured") || r.m.Statistics().Sessions != 1 {
		t.Error(log, r.m.Statistics().Sessions)
	}
	// The unit comes back after all, and has what nobody knows.
	r.with(r.both...)
	r.until("its sessions are gone", func() bool { return len(r.second.IDs()) == 0 })
}

// TestUnitRenamed: a unit at the same socket with another name keeps its sessions, in the store, too;
// one at another socket is another one.
func TestUnitRenamed(t *testing.T) {
	r := newTwoUnits(t)
	renamed := UnitConfig{Name: "edge", Socket: r.both[1].Socket}
	for i := range 2 {
		r.second.Record()
		log := r.with(r.both[0], renamed)
		r.connected(1)
		if n := len(r.second.Sets()); n != 0 || len(r.second.IDs()) != 4 {
			t.Error(n, "sessions sent again of", len(r.second.IDs()))
		}
		units := r.m.Units()
		if len(units) != 2 || units[1].Gone || units[1].Sessions != 4 || strings.Contains(log, "another name") != (i == 0) {
			t.Errorf("%+v, %s", units, log)
		}
		if d, _ := r.m.Show(r.goes[0]); d.Unit != "edge" {
			t.Errorf("%+v", d.SessionInfo)
		}
		r.accepted(r.modify(r.goes[0], toGNB(uint32(i+1), "10.3.0.2")))
	}
	r.second.Count(r.goes[0], 1, 1, 0)
	if err := r.second.Report(r.goes[0], 1, upfpb.Trigger_VOLTH); err != nil {
		t.Fatal(err)
	}
	oneUsage(t, r.nextReport().Usage, 0, 301, rules.UsageVOLTH)
}

// TestUnitTakenOutAndRenamed: a unit that comes back under another name is known by its instance. What
// it says again of what was stored is not counted again.
func TestUnitTakenOutAndRenamed(t *testing.T) {
	r := newTwoUnits(t)
	r.second.Deaf(true)
	oneUsage(t, r.accepted(r.modify(r.goes[0], &rules.ModifyRequest{QueryURRs: []uint32{1}})).Usage, 0, 300, rules.UsageIMMER)
	r.until("it is kept", func() bool { return r.second.Told() == 1 })
	ended := r.second.Ended()
	r.with(r.both[0])
	r.until("the unit has seen the agent end", func() bool { return r.second.Ended() > ended })
	r.second.Deaf(false)
	r.second.Count(r.goes[0], 1, 5, 0)
	r.second.Record()
	for i := range 2 {
		log := r.with(r.both[0], UnitConfig{Name: "edge", Socket: r.both[1].Socket})
		r.connected(1)
		if n := len(r.second.Sets()); n != 0 || len(r.second.IDs()) != 4 {
			t.Error(n, "sessions sent again of", len(r.second.IDs()))
		}
		if units := r.m.Units(); len(units) != 2 || units[1].Gone || units[1].Sessions != 4 || strings.Contains(log, "not configured") != (i == 0) {
			t.Errorf("%+v %s", units, log)
		}
	}
	r.until("it is acknowledged", func() bool { return r.second.Told() == 0 })
	r.noReport()
	if d, _ := r.m.Show(r.goes[0]); d.Unit != "edge" || r.m.Statistics().TEIDs != 5 {
		t.Errorf("%+v, %+v", d.SessionInfo, r.m.Statistics())
	}
	oneUsage(t, r.accepted(r.delete(r.goes[0])).Usage, 1, 5, rules.UsageTERMR)
	r.accepted(r.modify(r.goes[1], toGNB(2, "10.3.0.2")))
}

// TestUnitRenamedToAFormerName: what is known of a unit that had the name before is not of this one. Usage
// that this one told nobody is read.
func TestUnitRenamedToAFormerName(t *testing.T) {
	r := newTwoUnits(t)
	r.store.Apply(nil, store.PutMeta("unit-edge", uint64Bytes(1<<60, 50)), store.PutMeta("told-edge", uint64Bytes(1<<60, 50)))
	r.second.Silent(true)
	r.m.Modify(tx(2), r.goes[0], &rules.ModifyRequest{QueryURRs: []uint32{1}}, func(*rules.Answer, []byte) {})
	r.until("the unit has done it", func() bool { return r.second.Told() == 1 })
	r.second.Silent(false)
	r.with(r.both[0], UnitConfig{Name: "edge", Socket: r.both[1].Socket})
	oneUsage(t, r.nextReport().Usage, 0, 300, rules.UsageIMMER)
	r.with(r.both[0])
	for _, seid := range r.goes {
		r.accepted(r.delete(seid))
	}
	r.with(r.both[0])
	if r.store.Meta("unit-edge") != nil || r.store.Meta("told-edge") != nil || r.store.Meta("unit-pfu1") != nil {
		t.Error("marks of names that are no more")
	}
}

// TestUnitsAtOthersSockets: names that change their places are refused. A session whose TEID another one
// of the unit has stays with the unit that is not configured.
func TestUnitsAtOthersSockets(t *testing.T) {
	r := newTwoUnits(t)
	a, b := r.both[0], r.both[1]
	a.Socket, b.Socket = b.Socket, a.Socket
	r.stop()
	for _, units := range [][]UnitConfig{{a, b}, {r.both[0], {Name: "pfu1", Socket: "elsewhere"}, {Name: "edge", Socket: r.both[1].Socket}}} {
		r.config.Units = units
		if err := r.open(); err == nil || !strings.Contains(err.Error(), "where it was") {
			t.Error(err)
		}
		_ = r.store.Close()
	}
	r.config.Units = []UnitConfig{a}
	r.config.Pools[2].Unit = ""
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	r.until("the unit is up to date", func() bool {
		return len(r.second.IDs()) == 4 && r.second.Session(r.stays) != nil && r.second.Session(r.goes[0]) == nil
	})
	if units := r.m.Units(); len(units) != 2 || units[0].Sessions != 4 || units[1].Sessions != 1 {
		t.Error(len(units), units[0].Sessions)
	}
	if d, _ := r.m.Show(r.goes[0]); !d.UnitGone || d.Unit != "pfu1" {
		t.Errorf("%+v", d.SessionInfo)
	}
	oneUsage(t, r.nextReport().Usage, 0, 300, rules.UsageTERMR)
	r.accepted(r.delete(r.goes[0]))
	r.accepted(r.modify(r.goes[1], toGNB(2, "10.3.0.2")))
}

// TestFormerVersion stored no sockets, and left records as they were when a unit's sessions went on at
// the first one. What is in force stays so.
func TestFormerVersion(t *testing.T) {
	for name, c := range map[string]struct{ record, config string }{
		"renamed before": {"old", "pfu0"},
		"renamed now":    {"pfu0", "edge"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			r.stop()
			s, err := store.Open(store.Options{Path: filepath.Join(r.dir, "s.db"), BootID: "a"})
			if err != nil {
				t.Fatal(err)
			}
			st := mustDecode(r.m.sessions[seid].record)
			st.unit = c.record
			s.Apply(nil, store.PutSession(seid, st.encode()), store.PutMeta(metaSockets, nil))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			r.config.Units[0].Name = c.config
			r.unit.Record()
			for range 2 {
				r.start()
				d, ok := r.m.Show(seid)
				if !ok || d.Unit != c.config || d.UnitGone || len(r.m.Units()) != 1 || len(r.unit.Sets()) != 0 || r.unit.Session(seid) == nil {
					t.Errorf("%+v, %+v", d.SessionInfo, r.m.Units())
				}
				r.stop()
			}
			r.start()
			r.accepted(r.modify(seid, toGNB(2, "10.3.0.2")))
		})
	}
}

// TestUnitRenamedAndMoved: where its mark is lost, too, a unit cannot be known again: its sessions leave
// it, with what they used, and stay in the store.
func TestUnitRenamedAndMoved(t *testing.T) {
	r := newTwoUnits(t)
	r.second.Count(r.goes[0], 1, 5, 0) // since its checkpoint
	r.with(r.both[0])
	r.store.Apply(nil, store.PutMeta("unit-pfu1", nil))
	r.with(r.both[0], UnitConfig{Name: "edge", Socket: r.both[1].Socket})
	r.connected(1)
	r.until("the unit has none of them", func() bool { return len(r.second.IDs()) == 0 })
	var total uint64
	reports := 0
	r.until("what they used is told", func() bool {
		for _, report := range r.reporter.take() {
			reports, total = reports+1, total+report.Usage[0].Volume.TotalBytes
		}
		return reports == len(r.goes)
	})
	r.until("the reports are answered", func() bool { return r.stored() == 0 })
	if units := r.m.Units(); total != 4*300+5 || len(units) != 3 || units[2].Name != "pfu1" || units[2].Sessions != 4 {
		t.Errorf("%d octets, %+v", total, units)
	}
	oneUsage(t, r.accepted(r.delete(r.goes[0])).Usage, 1, 0, rules.UsageTERMR)
	if n, err := r.m.GiveUp("pfu1"); n != 3 || err != nil || len(r.m.Units()) != 2 {
		t.Error(n, err, r.m.Units())
	}
	if a := r.delete(r.goes[1]); a.Cause != rules.CauseSessionContextNotFound {
		t.Error(a.Cause)
	}
}
