// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"testing"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

func (r *rig) nextReport() *rules.SessionReport {
	r.t.Helper()
	var got []*rules.SessionReport
	r.until("a report comes", func() bool {
		got = append(got, r.reporter.take()...)
		return len(got) > 0
	})
	if len(got) != 1 {
		r.t.Fatalf("%d reports: %+v", len(got), got)
	}
	return got[0]
}

func oneUsage(t *testing.T, list []rules.UsageReport, seqn uint32, total uint64, trigger uint32) rules.UsageReport {
	t.Helper()
	if len(list) != 1 || list[0].SEQN != seqn || list[0].Volume.TotalBytes != total || list[0].Triggers != trigger {
		t.Fatalf("%+v, not UR-SEQN %d, %d octets, %#x", list, seqn, total, trigger)
	}
	return list[0]
}

func TestUsageReportsAreNumbered(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(seid, 1, 10, 20)
	if err := r.unit.Report(seid, 1, upfpb.Trigger_VOLTH); err != nil {
		t.Fatal(err)
	}
	s := r.nextReport()
	oneUsage(t, s.Usage, 0, 30, rules.UsageVOLTH)
	if s.UPSEID != seid || s.CPFSEID.SEID != 7 || s.CPFSEID.IPv4 != ip("192.0.2.1") || s.Node != smf {
		t.Errorf("%+v", s)
	}
	r.until("the event is acknowledged", func() bool { return r.unit.Acked() == 1 })

	r.unit.Count(seid, 1, 1, 2)
	a := r.accepted(r.modify(seid, &rules.ModifyRequest{QueryURRs: []uint32{1}, QueryReference: ptr(uint32(99))}))
	if u := oneUsage(t, a.Usage, 1, 3, rules.UsageIMMER); *u.QueryReference != 99 || u.Volume.UplinkBytes != 1 {
		t.Errorf("%+v", u)
	}
	r.unit.Count(seid, 1, 4, 0)
	a = r.accepted(r.modify(seid, &rules.ModifyRequest{Flags: rules.FlagQAURR}))
	oneUsage(t, a.Usage, 2, 4, rules.UsageIMMER)

	// A URR that goes tells what it has, and leaves the PDRs that named it.
	r.unit.Count(seid, 1, 5, 0)
	a = r.accepted(r.modify(seid, &rules.ModifyRequest{RemoveURRs: []uint32{1}, RemoveQERs: []uint32{1},
		CreateURRs: []rules.URR{{ID: 2, Method: ptr(rules.MethodVOLUM | rules.MethodDURAT), Triggers: ptr(rules.ReportPERIO | rules.ReportSTART), Period: ptr(uint32(9))}},
		UpdatePDRs: []rules.PDR{{ID: 1, URRIDs: []uint32{2}}}}))
	oneUsage(t, a.Usage, 3, 5, rules.UsageTERMR)
	sent := r.unit.Session(seid)
	if p := sent.GetPdrs(); len(p[0].GetUrrIds()) != 1 || len(p[1].GetUrrIds()) != 0 || len(p[0].GetQerIds()) != 0 {
		t.Error(p)
	}
	if u := sent.GetUrrs()[0]; u.GetTriggers() != uint32(upfpb.Trigger_PERIO|upfpb.Trigger_START) || u.GetPeriodS() != 9 || !u.GetDuration() {
		t.Error(u)
	}
	a = r.accepted(r.delete(seid))
	if u := oneUsage(t, a.Usage, 0, 0, rules.UsageTERMR); !u.HasDuration {
		t.Errorf("%+v", u)
	}
}

func TestQuotasProvidedAnew(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	generation := func() uint32 { return r.unit.Session(seid).GetUrrs()[0].GetQuotaGeneration() }
	if generation() != 1 {
		t.Error(generation())
	}
	r.accepted(r.modify(seid, &rules.ModifyRequest{UpdateURRs: []rules.URR{{ID: 1, Triggers: ptr(rules.ReportVOLTH | rules.ReportVOLQU)}}}))
	if generation() != 1 {
		t.Error("nothing was provided, but", generation())
	}
	r.accepted(r.modify(seid, &rules.ModifyRequest{UpdateURRs: []rules.URR{{ID: 1, VolumeQuota: &rules.Volume{Total: ptr(uint64(5))}}}}))
	r.accepted(r.modify(seid, &rules.ModifyRequest{UpdateURRs: []rules.URR{{ID: 1, VolumeThreshold: &rules.Volume{Total: ptr(uint64(104857600))}}}}))
	u := r.unit.Session(seid).GetUrrs()[0]
	if generation() != 2 || u.GetThresholdGeneration() != 2 || u.GetVolumeQuota().GetTotal() != 5 || u.GetVolumeThreshold().GetTotal() != 104857600 ||
		u.GetTriggers() != uint32(upfpb.Trigger_VOLTH|upfpb.Trigger_VOLQU) {
		t.Error(u)
	}
}

// TestUnansweredReportsGoWithTheSession: what the SMF did not answer is in the answer to its
// deletion, though it was sent.
func TestUnansweredReportsGoWithTheSession(t *testing.T) {
	r := newRig(t)
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer { return nil })
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(seid, 1, 10, 20)
	_ = r.unit.Report(seid, 1, upfpb.Trigger_VOLTH)
	r.nextReport()
	r.until("the N4 side gave up", func() bool {
		r.m.mu.Lock()
		defer r.m.mu.Unlock()
		for _, p := range r.m.pending[seid] {
			return !p.away
		}
		return false
	})
	u := r.accepted(r.delete(seid)).Usage
	if len(u) != 2 {
		t.Fatalf("%+v", u)
	}
	oneUsage(t, u[:1], 0, 30, rules.UsageVOLTH)
	oneUsage(t, u[1:], 1, 0, rules.UsageTERMR)
}

// TestReportsUntilAnswered: an SMF that does not answer gets a report again after the agent's
// restart, under its number; what it answered it does not.
func TestReportsUntilAnswered(t *testing.T) {
	r := newRig(t)
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer { return nil })
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(seid, 1, 10, 20)
	_ = r.unit.Report(seid, 1, upfpb.Trigger_VOLTH)
	oneUsage(t, r.nextReport().Usage, 0, 30, rules.UsageVOLTH)
	r.until("the event is acknowledged", func() bool { return r.unit.Acked() == 1 })
	r.stop()
	r.reporter.answering(nil)
	r.start()
	oneUsage(t, r.nextReport().Usage, 0, 30, rules.UsageVOLTH)
	r.until("the answer is noted", func() bool {
		n := 0
		_ = r.store.Reports(func(uint64, uint64, []byte) error { n++; return nil })
		return n == 0
	})
	_ = r.unit.Report(seid, 1, upfpb.Trigger_PERIO)
	oneUsage(t, r.nextReport().Usage, 1, 0, rules.UsagePERIO)
	r.stop()
	r.start()
	_ = r.unit.Report(seid, 1, upfpb.Trigger_PERIO)
	oneUsage(t, r.nextReport().Usage, 2, 0, rules.UsagePERIO)
	if err := r.unit.Report(12345, 1, upfpb.Trigger_PERIO); err == nil {
		t.Error("no such session")
	}
}

// TestEventsCountOnce: what a connection's end repeats is told apart by its number.
func TestEventsCountOnce(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	for i := range 50 {
		r.unit.Count(seid, 1, 1, 0)
		_ = r.unit.Report(seid, 1, upfpb.Trigger_PERIO)
		if i%10 == 9 {
			r.unit.Disconnect()
		}
	}
	seen := map[uint32]uint64{}
	var octets uint64
	r.until("all are told", func() bool {
		for _, s := range r.reporter.take() {
			for _, u := range s.Usage {
				if _, twice := seen[u.SEQN]; twice {
					t.Fatal("twice", u)
				}
				seen[u.SEQN] = u.Volume.TotalBytes
				octets += u.Volume.TotalBytes
			}
		}
		return len(seen) == 50
	})
	for i := range uint32(50) {
		if _, ok := seen[i]; !ok {
			t.Error("no UR-SEQN", i)
		}
	}
	if octets != 50 {
		t.Error(octets, "octets of 50")
	}
}

func TestOtherEvents(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_DownlinkData{DownlinkData: &upfpb.DownlinkData{Id: seid, PdrId: 1, HasQfi: true, Qfi: 9}}})
	if d := r.nextReport().DownlinkData; d == nil || d.PDRID != 1 || *d.QFI != 9 || d.PPI != nil {
		t.Errorf("%+v", d)
	}
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_ErrorIndication{ErrorIndication: &upfpb.ErrorIndication{Id: seid, Teid: 3, Peer: []byte{10, 3, 0, 2}}}})
	if e := r.nextReport().ErrorIndication; e == nil || e.TEID != 3 || e.Peer != ip("10.3.0.2") {
		t.Errorf("%+v", e)
	}
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_Inactivity{Inactivity: &upfpb.Inactivity{Id: seid}}})
	if !r.nextReport().Inactivity {
		t.Error("inactivity")
	}
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_Inactivity{Inactivity: &upfpb.Inactivity{Id: 99}}})
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_Path{Path: &upfpb.PathEvent{Peer: []byte{10, 3, 0, 2}, Interface: 1}}})
	r.until("the path's failure is told", func() bool {
		r.reporter.mu.Lock()
		defer r.reporter.mu.Unlock()
		return len(r.reporter.paths) == 1 && r.reporter.paths[0].Peer == ip("10.3.0.2") && !r.reporter.paths[0].Up
	})
	r.until("all are acknowledged", func() bool { return r.unit.Acked() == 5 })
	if n := r.m.Statistics().EventsUnknown; n != 1 {
		t.Error(n)
	}
}

func TestAnswersToReports(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	other := r.accepted(r.establish(plain(8, "10.45.0.4"))).UPSEID
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer {
		return &rules.ReportAnswer{Cause: rules.CauseAccepted, UpdateBARs: []rules.BAR{{ID: 1, Packets: ptr(uint16(77))}}, DropBuffer: true,
			CPFSEID: &rules.FSEID{SEID: 70, IPv4: ip("192.0.2.9")}}
	})
	r.unit.Record()
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_DownlinkData{DownlinkData: &upfpb.DownlinkData{Id: seid, PdrId: 1}}})
	r.until("the BAR is updated", func() bool { return r.unit.Session(seid).GetBars()[0].GetPackets() == 77 })
	if s := r.unit.Sets()[0]; !s.GetDropBuffered() {
		t.Error(s)
	}
	r.until("the CP F-SEID is the new one", func() bool { h, ok := r.m.Holder(seid); return ok && h.CP.SEID == 70 })
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer {
		return &rules.ReportAnswer{Cause: rules.CauseSessionContextNotFound}
	})
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_Inactivity{Inactivity: &upfpb.Inactivity{Id: seid}}})
	r.until("a session the SMF does not know is gone", func() bool { _, ok := r.m.Holder(seid); return !ok })
	r.until("in the unit, too", func() bool { ids := r.unit.IDs(); return len(ids) == 1 && ids[0] == other })
}

// TestUnsentReportsGoWithTheSession: a report that was stored but not sent is in the answer to
// the deletion.
func TestUnsentReportsGoWithTheSession(t *testing.T) {
	r := newRig(t)
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer { return nil })
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(seid, 1, 10, 20)
	_ = r.unit.Report(seid, 1, upfpb.Trigger_VOLTH)
	r.nextReport()
	r.stop()
	r.start() // it is sent again in a second
	r.unit.Count(seid, 1, 1, 0)
	u := r.accepted(r.delete(seid)).Usage
	if len(u) != 2 {
		t.Fatalf("%+v", u)
	}
	oneUsage(t, u[:1], 0, 30, rules.UsageVOLTH)
	oneUsage(t, u[1:], 1, 1, rules.UsageTERMR)
	_ = r.store.Flush()
	_ = r.store.Reports(func(uint64, uint64, []byte) error { t.Error("report left"); return nil })
}
