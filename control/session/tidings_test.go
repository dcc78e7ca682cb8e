// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"testing"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

func downlinkEvent(seid uint64) *upfpb.Event {
	return &upfpb.Event{Body: &upfpb.Event_DownlinkData{DownlinkData: &upfpb.DownlinkData{Id: seid, PdrId: 1, HasQfi: true, Qfi: 9}}}
}

func errorEvent(seid uint64, teid uint32) *upfpb.Event {
	return &upfpb.Event{Body: &upfpb.Event_ErrorIndication{ErrorIndication: &upfpb.ErrorIndication{Id: seid, Teid: teid, Peer: []byte{10, 3, 0, 2}}}}
}

// smfAway has the N4 side give reports up, and heartbeats, or answer all of it again.
func (r *rig) smfAway(away bool) {
	r.reporter.mu.Lock()
	defer r.reporter.mu.Unlock()
	r.reporter.away = away
	r.reporter.answer = nil
	if away {
		r.reporter.answer = func(*rules.SessionReport) *rules.ReportAnswer { return nil }
	}
}

// givenUp waits until the N4 side has no report under way. @return how many are kept.
func (r *rig) givenUp(rounds uint64) int {
	r.t.Helper()
	kept := 0
	r.until("the N4 side gave up", func() bool {
		r.m.mu.Lock()
		defer r.m.mu.Unlock()
		kept = 0
		for _, list := range r.m.pending {
			kept += len(list)
			for _, p := range list {
				if p.away {
					return false
				}
			}
		}
		return r.m.counts.ReportsUnanswered == rounds
	})
	return kept
}

func (r *rig) stored() int {
	n := 0
	_ = r.store.Flush()
	_ = r.store.Reports(func(uint64, uint64, []byte) error { n++; return nil })
	return n
}

func (r *rig) noReport() {
	r.t.Helper()
	if got := r.reporter.take(); len(got) != 0 {
		r.t.Errorf("told again: %+v", got[0])
	}
}

// What an SMF that is away was not told it is told when it is back, if it still is so; also by an
// agent that began anew.
func TestTidingsUntilAnswered(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	other := r.accepted(r.establish(plain(8, "10.45.0.4"))).UPSEID
	r.accepted(r.modify(other, toGNB(3, "10.3.0.2")))
	r.smfAway(true)
	_ = r.unit.Emit(downlinkEvent(seid))
	r.nextReport()
	_ = r.unit.Emit(errorEvent(other, 3))
	r.nextReport()
	if n := r.givenUp(2); n != 2 {
		t.Fatalf("%d reports kept", n)
	}
	r.m.PeerBack(smf) // it is not
	r.noReport()
	r.stop()
	r.start()
	r.until("both are sent by the next agent", func() bool {
		r.reporter.mu.Lock()
		defer r.reporter.mu.Unlock()
		return len(r.reporter.reports) == 2
	})
	r.reporter.take()
	r.givenUp(2)
	r.smfAway(false)
	r.m.PeerBack(rules.NodeID{FQDN: "another"})
	r.noReport()
	r.m.PeerBack(smf)
	r.until("both are answered", func() bool { return r.stored() == 0 })
	for _, s := range r.reporter.take() {
		switch {
		case s.UPSEID == seid && s.DownlinkData != nil && s.DownlinkData.PDRID == 1 && *s.DownlinkData.QFI == 9 && s.ErrorIndication == nil:
		case s.UPSEID == other && s.ErrorIndication != nil && s.ErrorIndication.TEID == 3 && s.ErrorIndication.Peer == ip("10.3.0.2"):
		default:
			t.Errorf("%+v", s)
		}
	}
	r.m.PeerBack(smf)
	r.noReport()
}

// What is not so any more when the SMF is back nobody needs to hear.
func TestTidingsThatCameTrueElsewhere(t *testing.T) {
	drop := &rules.ModifyRequest{Flags: rules.FlagDROBU}
	for name, c := range map[string]struct {
		begin *rules.ModifyRequest
		event func(uint64) *upfpb.Event
		then  func(*rig, uint64)
	}{
		"forwarded": {nil, downlinkEvent, func(r *rig, seid uint64) { r.accepted(r.modify(seid, toGNB(3, "10.3.0.2"))) }},
		"dropped":   {nil, downlinkEvent, func(r *rig, seid uint64) { r.accepted(r.modify(seid, drop)) }},
		"deleted":   {nil, downlinkEvent, func(r *rig, seid uint64) { r.accepted(r.delete(seid)) }},
		"unit killed": {nil, downlinkEvent, func(r *rig, _ uint64) {
			before := r.configs()
			r.unit.Stop()
			if err := r.unit.Start(); err != nil {
				r.t.Fatal(err)
			}
			r.synced(before)
		}},
		"another tunnel": {toGNB(3, "10.3.0.2"), func(seid uint64) *upfpb.Event { return errorEvent(seid, 3) },
			func(r *rig, seid uint64) { r.accepted(r.modify(seid, toGNB(4, "10.3.0.2"))) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			if c.begin != nil {
				r.accepted(r.modify(seid, c.begin))
			}
			r.smfAway(true)
			_ = r.unit.Emit(c.event(seid))
			r.nextReport()
			if n := r.givenUp(1); n != 1 {
				t.Fatalf("%d reports kept", n)
			}
			c.then(r, seid)
			r.smfAway(false)
			r.m.PeerBack(smf)
			r.noReport()
			if n := r.stored(); n != 0 {
				t.Errorf("%d reports left", n)
			}
			if lost := r.m.Statistics().TidingsLost; lost != 0 {
				t.Errorf("%d lost", lost)
			}
		})
	}
}

// What is given up is counted: inactivity at once, others after some rounds with an SMF that is
// there and does not answer.
func TestTidingsLost(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.smfAway(true)
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_Inactivity{Inactivity: &upfpb.Inactivity{Id: seid}}})
	r.nextReport()
	if n := r.givenUp(1); n != 0 || r.m.Statistics().TidingsLost != 1 {
		t.Errorf("inactivity: %d kept", n)
	}
	r.reporter.mu.Lock()
	r.reporter.away = false // heartbeats alone
	r.reporter.mu.Unlock()
	_ = r.unit.Emit(downlinkEvent(seid))
	r.nextReport()
	r.givenUp(2)
	for round := uint64(2); round <= reportTries; round++ {
		r.m.PeerBack(smf)
		r.nextReport()
		r.givenUp(1 + round)
	}
	if c := r.m.Statistics(); c.TidingsLost != 2 || c.ReportsUnanswered != 1+reportTries || r.stored() != 0 {
		t.Errorf("%+v", c)
	}
}

// A session does not fill memory with what its SMF does not answer; the same is told once.
func TestTidingsAreBounded(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.smfAway(true)
	for i := range uint32(3) {
		_ = r.unit.Emit(downlinkEvent(seid))
		r.nextReport()
		if n := r.givenUp(uint64(i) + 1); n != 1 {
			t.Errorf("%d kept of the same", n)
		}
	}
	for i := range uint32(2 * tidingsMax) {
		_ = r.unit.Emit(errorEvent(seid, i))
		r.nextReport()
		if n := r.givenUp(uint64(i) + 4); n > tidingsMax+1 {
			t.Fatalf("%d kept", n)
		}
	}
}

// Of packets that went with their unit nobody hears, also if the agent ended with it and begins
// before it; of packets that are still there the SMF hears once it is known.
func TestStoredTidingsAwaitTheUnit(t *testing.T) {
	for name, kept := range map[string]bool{"unit lived": true, "unit killed": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			other := r.accepted(r.establish(plain(8, "10.45.0.4"))).UPSEID
			r.accepted(r.modify(other, toGNB(3, "10.3.0.2")))
			r.smfAway(true)
			_ = r.unit.Emit(downlinkEvent(seid))
			r.nextReport()
			_ = r.unit.Emit(errorEvent(other, 3))
			r.nextReport()
			r.givenUp(2)
			r.stop()
			r.smfAway(false)
			before := r.configs()
			if kept {
				r.unit.Close()
			} else {
				r.unit.Stop()
			}
			if err := r.open(); err != nil {
				t.Fatal(err)
			}
			if s := r.nextReport(); s.UPSEID != other || s.ErrorIndication == nil {
				t.Errorf("%+v", s)
			}
			r.until("its answer is noted", func() bool { return r.stored() == 1 })
			if err := r.unit.Start(); err != nil {
				t.Fatal(err)
			}
			r.synced(before)
			r.until("nothing waits", func() bool { return r.stored() == 0 })
			got := r.reporter.take()
			if kept && (len(got) != 1 || got[0].UPSEID != seid || got[0].DownlinkData == nil) || !kept && len(got) != 0 {
				t.Errorf("%d reports: %+v", len(got), got)
			}
			if lost := r.m.Statistics().TidingsLost; lost != 0 {
				t.Errorf("%d lost", lost)
			}
		})
	}
}
