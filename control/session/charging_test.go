// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"airpath/control/charging"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

const (
	defaultGroup = 10 | rules.LocalRule
	videoGroup   = 20 | rules.LocalRule
)

func withCharging(c *Config) {
	c.Charging = &Charging{Node: "upf", RatingGroup: 10, Applications: map[string]uint32{"video": 20}, PeriodS: 600, Volume: 1 << 20}
}

// records that are in the store, by number.
func (r *rig) records() (list []charging.Record) {
	r.t.Helper()
	if err := r.store.Flush(); err != nil {
		r.t.Fatal(err)
	}
	_ = r.store.Records(func(_ uint64, b []byte) bool {
		var one charging.Record
		if err := json.Unmarshal(b, &one); err != nil {
			r.t.Error(err)
		}
		list = append(list, one)
		return true
	})
	return list
}

func (r *rig) sum(group uint32) (up, down uint64) {
	for _, one := range r.records() {
		if one.RatingGroup == group {
			up, down = up+one.UplinkOctets, down+one.DownlinkOctets
		}
	}
	return up, down
}

// twoGroups has a PDR pair of an application beside the plain ones.
func twoGroups() *rules.EstablishRequest {
	q := activating("")
	for i := range 2 {
		q.PDRs[2+i].Predefined, q.PDRs[2+i].PDI.ApplicationID = nil, ptr("video")
	}
	return q
}

// A URR of ours for each rating group, which the CP function neither sees nor can change.
func TestChargingRules(t *testing.T) {
	r := newRig(t, withCharging, withPolicies)
	r.tookPFDs(domains("video", "v.example"))
	q := twoGroups()
	q.PDRs = append(q.PDRs, rules.PDR{ID: 30, Precedence: ptr(uint32(1)), FARID: ptr(uint32(3)), PDI: &rules.PDI{Source: rules.Access, NetworkInstance: ptr("internet"),
		LocalFTEID: choose(5), SDFFilters: []rules.SDFFilter{{Flow: ptr("permit out 1 from any to any")}}}})
	q.FARs = append(q.FARs, rules.FAR{ID: 3, Action: ptr(rules.ActionDROP)})
	seid := r.accepted(r.establish(q)).UPSEID
	s := r.unit.Session(seid)
	want := map[uint32][]uint32{1: {1, defaultGroup}, 2: {1, defaultGroup}, 11: {1, videoGroup}, 12: {1, videoGroup}, 30: nil}
	for _, p := range s.GetPdrs() {
		if !slices.Equal(p.GetUrrIds(), want[p.GetId()]) {
			t.Errorf("PDR %d: URRs %x", p.GetId(), p.GetUrrIds())
		}
	}
	if u := s.GetUrrs(); len(u) != 3 || !u[1].GetVolume() || !u[1].GetDuration() || u[1].GetPeriodS() != 600 || u[1].GetVolumeThreshold().GetTotal() != 1<<20 ||
		u[1].GetTriggers() != uint32(upfpb.Trigger_PERIO|upfpb.Trigger_VOLTH) {
		t.Error(u)
	}
	for what, m := range map[string]*rules.ModifyRequest{
		"query":  {QueryURRs: []uint32{defaultGroup}},
		"update": {UpdateURRs: []rules.URR{{ID: defaultGroup}}},
		"remove": {RemoveURRs: []uint32{defaultGroup}},
		"create": {CreateURRs: []rules.URR{{ID: 5 | rules.LocalRule, Method: ptr(rules.MethodVOLUM), Triggers: ptr(uint32(0))}}},
		"link":   {UpdateURRs: []rules.URR{{ID: 1, LinkedURRIDs: []uint32{defaultGroup}}}},
		"use":    {UpdatePDRs: []rules.PDR{{ID: 1, URRIDs: []uint32{defaultGroup}}}},
	} {
		if a := r.modify(seid, m); a.Cause != rules.CauseRuleFailure {
			t.Errorf("%s: %+v", what, a)
		}
	}
	// What is redirected or dropped by a predefined rule is not charged, but where the rule says so.
	seid = r.accepted(r.establish(func() *rules.EstablishRequest {
		q := activating("kids")
		q.PDRs[0].PDI.UEIPs[0].IPv4 = ip("10.45.0.4")
		q.PDRs[2].PDI.UEIPs = q.PDRs[0].PDI.UEIPs
		return q
	}())).UPSEID
	up := pdrsOf(r.unit.Session(seid), upfpb.InterfaceType_ACCESS)
	for i, charged := range []bool{true, false, true, false, true} {
		if slices.Contains(up[i].GetUrrIds(), defaultGroup) != charged {
			t.Errorf("uplink PDR %d: %x", i, up[i].GetUrrIds())
		}
	}
}

// Every octet is in one record: of partial ones, of queries, of groups that ended, of the end.
func TestRecordsAddUp(t *testing.T) {
	r := newRig(t, withCharging)
	r.tookPFDs(domains("video", "v.example"))
	seid := r.accepted(r.establish(twoGroups())).UPSEID
	r.unit.Count(seid, defaultGroup, 1000, 2000)
	r.unit.Count(seid, videoGroup, 10, 20)
	r.unit.Count(seid, 1, 7, 7)
	for _, trigger := range []upfpb.Trigger{upfpb.Trigger_VOLTH, upfpb.Trigger_PERIO} {
		if err := r.unit.Report(seid, defaultGroup, trigger); err != nil {
			t.Fatal(err)
		}
		r.unit.Count(seid, defaultGroup, 100, 0)
	}
	r.until("the events are safe", func() bool { return r.unit.Acked() == 2 })
	a := r.accepted(r.modify(seid, &rules.ModifyRequest{Flags: rules.FlagQAURR}))
	oneUsage(t, a.Usage, 0, 14, rules.UsageIMMER)
	r.unit.Count(seid, videoGroup, 1, 2)
	a = r.accepted(r.modify(seid, &rules.ModifyRequest{RemovePDRs: []uint16{11, 12}}))
	if len(a.Usage) != 0 {
		t.Errorf("%+v", a.Usage)
	}
	r.unit.Count(seid, defaultGroup, 5, 6)
	a = r.accepted(r.delete(seid))
	oneUsage(t, a.Usage, 1, 0, rules.UsageTERMR)
	var causes []string
	sequence := map[uint32]uint32{}
	for _, one := range r.records() {
		causes = append(causes, one.Cause)
		if one.Sequence != sequence[one.RatingGroup] || one.Session == "" || one.IPv4 != "10.45.0.3" || one.Node != "upf" || one.CPSession != "0x7" || one.DNN != "internet" {
			t.Errorf("%+v", one)
		}
		sequence[one.RatingGroup]++
	}
	if !slices.Equal(causes, []string{"volume_limit", "time_limit", "query", "query", "rules_changed", "final"}) {
		t.Error(causes)
	}
	if up, down := r.sum(10); up != 1205 || down != 2006 {
		t.Error("default group", up, down)
	}
	if up, down := r.sum(20); up != 11 || down != 22 {
		t.Error("video", up, down)
	}
	if c := r.m.Statistics(); c.ChargingRecords != 6 || c.ChargedUplink != 1216 || c.ChargedDownlink != 2028 || c.EventsUnknown != 0 || c.Reports != 0 {
		t.Errorf("%+v", c)
	}
}

// The agent or the unit ends, in each order, and nothing is counted twice; what the last checkpoint
// had is not lost.
func TestRecordsOverRestarts(t *testing.T) {
	r := newRig(t, withCharging)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(seid, defaultGroup, 100, 0)
	_ = r.unit.Report(seid, defaultGroup, upfpb.Trigger_PERIO)
	r.until("the event is safe", func() bool { return r.unit.Acked() == 1 })
	r.unit.Count(seid, defaultGroup, 10, 0)
	_ = r.unit.Checkpoint()
	r.until("the checkpoint is stored", func() bool {
		n := 0
		_ = r.store.Usages(func(uint64, []byte) error { n++; return nil })
		return n == 1
	})
	r.stop()
	r.start()
	r.unit.Stop()
	before := r.configs()
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	r.synced(before)
	if u := r.unit.Usage(seid, defaultGroup); u.GetTotalBytes() != 10 {
		t.Error(u)
	}
	r.unit.Count(seid, defaultGroup, 1, 0)
	_ = r.unit.Report(seid, defaultGroup, upfpb.Trigger_PERIO)
	r.until("the event is safe", func() bool { return r.unit.Acked() == 1 })
	r.unit.Disconnect() // an event the agent had stored comes again
	r.unit.Count(seid, defaultGroup, 1000, 0)
	r.until("the checkpoint is there", func() bool {
		_ = r.unit.Checkpoint() // as long as it takes to be connected again
		r.m.mu.Lock()
		defer r.m.mu.Unlock()
		p := pointOf(r.m.sessions[seid].points(), defaultGroup)
		return p.GetUsage().GetTotalBytes() == 1000
	})
	r.unit.Stop()
	r.until("it is away", func() bool { return !r.m.Units()[0].Connected })
	gone := make(chan int, 1)
	r.m.DeleteOfPeer(smf, "association released", func(n int) { gone <- n }) // by the last checkpoint, with nobody to answer
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	<-gone
	if up, _ := r.sum(10); up != 1111 {
		t.Errorf("%d octets of 1111: %+v", up, r.records())
	}
}

// Nothing used, nothing written; and where charging is off sessions have no rules of ours.
func TestNoRecords(t *testing.T) {
	r := newRig(t, withCharging)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.accepted(r.modify(seid, &rules.ModifyRequest{Flags: rules.FlagQAURR}))
	r.accepted(r.delete(seid))
	if n := len(r.records()); n != 0 {
		t.Error(n, "records of no octets")
	}
	seid = r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.stop()
	r.config.Charging = nil
	r.start()
	r.unit.Count(seid, defaultGroup, 5, 5)
	r.accepted(r.modify(seid, toGNB(2, "10.3.0.2")))
	if s := r.unit.Session(seid); len(s.GetUrrs()) != 1 || len(s.GetPdrs()[0].GetUrrIds()) != 1 {
		t.Error(s.GetUrrs())
	}
	r.accepted(r.delete(seid))
	if n := len(r.records()); n != 0 {
		t.Error(n, "records though charging is off")
	}
}

// TestUntoldUsage: what a CP function's URRs counted is in the records, with the reason, where nobody
// is left to be told; an answer to a deletion leaves none.
func TestUntoldUsage(t *testing.T) {
	r := newRig(t, withCharging)
	told := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(told, 1, 1, 2)
	r.accepted(r.delete(told))
	seid := r.accepted(r.establish(plain(8, "10.45.0.4"))).UPSEID
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer { return nil })
	r.unit.Count(seid, 1, 10, 20)
	_ = r.unit.Report(seid, 1, upfpb.Trigger_VOLTH)
	r.until("the report is given up for now", func() bool { return r.m.Statistics().ReportsUnanswered == 1 })
	r.unit.Count(seid, 1, 30, 40)
	gone := make(chan int, 1)
	r.m.DeleteOfPeer(smf, "peer restarted", func(n int) { gone <- n })
	<-gone
	list := r.untoldUsage()
	if len(list) != 2 || r.m.Statistics().UntoldRecords != 2 {
		t.Fatalf("%+v", list)
	}
	for i, octets := range []uint64{10, 30} {
		if u := list[i]; u.Kind != "untold_usage" || u.URR != 1 || u.Sequence != uint32(i) || u.Cause != "peer_restarted" ||
			u.UplinkOctets != octets || u.DownlinkOctets != octets+10 || u.Session != fmt.Sprintf("%#x", seid) {
			t.Errorf("%+v", u)
		}
	}
}
