// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

// TestAgentRestarts: sessions, their TEIDs, addresses and last answers are there again, the unit
// is left alone, and the stamp stays.
func TestAgentRestarts(t *testing.T) {
	r := newRig(t)
	a := r.accepted(r.establish(chooseUE(plain(7, "10.45.0.3"), rules.UEIP{ChooseIPv4: true, ChooseIPv6: true})))
	r.accepted(r.modify(a.UPSEID, toGNB(2, "10.3.0.2")))
	gone := r.accepted(r.establish(plain(8, "10.45.0.99"))).UPSEID
	r.accepted(r.delete(gone))
	before, _ := r.m.Show(a.UPSEID)
	stamp := r.m.RecoveryTimeStamp()
	saved := make(chan struct{})
	r.m.KeepAssociation(smf, []byte("up"), func() { close(saved) })
	<-saved
	r.stop()
	sent := r.unit.Session(a.UPSEID)
	r.unit.Record()
	r.start()
	if n := len(r.unit.Sets()); n != 0 {
		t.Error(n, "sessions were sent again though the unit had them")
	}
	after, ok := r.m.Show(a.UPSEID)
	if !ok || !reflect.DeepEqual(before, after) || !r.m.RecoveryTimeStamp().Equal(stamp) {
		t.Errorf("%+v\n%+v", before, after)
	}
	if !proto.Equal(sent, r.unit.Session(a.UPSEID)) || r.m.CountOfPeer(smf) != 1 || r.m.Statistics().TEIDs != 1 {
		t.Error("changed")
	}
	answers := map[uint32]string{}
	r.m.Answers(func(a rules.Transaction, wire []byte) bool {
		if was := tx(a.Sequence); a.Peer != was.Peer || a.Digest != was.Digest {
			t.Error(a)
		}
		answers[a.Sequence] = string(wire)
		return true
	})
	if len(answers) != 2 || answers[2] != "2 Request accepted" || answers[3] != "3 Request accepted" {
		t.Error(answers)
	}
	r.m.Associations(func(n rules.NodeID, state []byte) bool {
		if n != smf || string(state) != "up" {
			t.Error(n, state)
		}
		return true
	})
	holds(t, "address taken", r.establish(plain(7, "10.45.0.1")), want{cause: 73, kind: rules.KindPDR, id: 1})
	b := r.accepted(r.establish(plain(9, "10.45.0.3")))
	if b.UPSEID == gone || b.UPSEID == a.UPSEID {
		t.Error("SEID given out again")
	}
	r.accepted(r.modify(a.UPSEID, toGNB(4, "10.3.0.4")))
	if w := r.unit.Session(a.UPSEID).GetFars()[0].GetForwarding(); w.GetTeid() != 4 {
		t.Error(w)
	}
	r.m.KeepAssociation(smf, nil, nil)
	_ = r.store.Flush()
	r.m.Associations(func(rules.NodeID, []byte) bool { t.Error("not forgotten"); return true })
}

// TestUnitRestarts: another instance gets every session, and goes on from the last checkpoint
// less what was reported since.
func TestUnitRestarts(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	second := r.accepted(r.establish(plain(8, "10.45.0.4"))).UPSEID
	r.unit.Count(seid, 1, 100, 200)
	if err := r.unit.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	r.until("the checkpoint is there", func() bool {
		r.m.mu.Lock()
		defer r.m.mu.Unlock()
		return r.m.sessions[seid].usage != nil
	})
	r.unit.Count(seid, 1, 1000, 0) // since the checkpoint, reported below: 1300 in all
	if err := r.unit.Report(seid, 1, upfpb.Trigger_VOLTH); err != nil {
		t.Fatal(err)
	}
	oneUsage(t, r.nextReport().Usage, 0, 1300, rules.UsageVOLTH)
	r.unit.Count(seid, 1, 7, 0)
	if err := r.unit.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	r.unit.Count(second, 1, 5, 5)
	if err := r.unit.Report(second, 1, upfpb.Trigger_PERIO); err != nil {
		t.Fatal(err)
	}
	oneUsage(t, r.nextReport().Usage, 0, 10, rules.UsagePERIO)
	r.unit.Count(seid, 1, 1, 0) // lost with the unit
	r.unit.Stop()
	r.until("the connection is lost", func() bool { return r.m.Statistics().Disconnects == 1 })
	// Asked while the unit is away: waits, and carries what the session used.
	done := make(chan *rules.Answer, 1)
	r.m.Modify(tx(5), seid, toGNB(2, "10.3.0.2"), func(a *rules.Answer, _ []byte) { done <- a })
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	r.accepted(<-done)
	r.until("both are there", func() bool { return len(r.unit.IDs()) == 2 })
	if u := r.unit.Usage(seid, 1); u.GetTotalBytes() != 7 || u.GetQuotaTotalBytes() != 1307 {
		t.Error(u)
	}
	if u := r.unit.Usage(second, 1); u.GetTotalBytes() != 0 {
		t.Error("reported before, counted again:", u)
	}
	if w := r.unit.Session(seid).GetFars()[0].GetForwarding(); w.GetTeid() != 2 {
		t.Error(w)
	}
	r.until("Error Indications are let out", func() bool { c, _ := r.unit.Config(); return c.GetRefilled() })
	a := r.accepted(r.delete(seid))
	oneUsage(t, a.Usage, 1, 7, rules.UsageTERMR)
}

func TestUnitIsAway(t *testing.T) {
	r := newRig(t, func(c *Config) { c.WaitMs = 300 })
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	gone := r.accepted(r.establish(plain(7, "10.45.0.4"))).UPSEID
	r.unit.Count(gone, 1, 3, 0)
	_ = r.unit.Checkpoint()
	r.until("the checkpoint is there", func() bool {
		r.m.mu.Lock()
		defer r.m.mu.Unlock()
		return r.m.sessions[gone].usage != nil
	})
	r.unit.Stop()
	r.until("the connection is lost", func() bool { return r.m.Statistics().Disconnects == 1 })
	holds(t, "modification", r.modify(seid, toGNB(2, "10.3.0.2")), want{cause: 77, none: true})
	holds(t, "establishment", r.establish(plain(7, "10.45.0.5")), want{cause: 77, none: true})
	oneUsage(t, r.accepted(r.delete(gone)).Usage, 0, 3, rules.UsageTERMR)
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	r.until("the session is there again, as it was", func() bool {
		s := r.unit.Session(seid)
		return s != nil && s.GetFars()[0].GetBuffer()
	})
	if ids := r.unit.IDs(); len(ids) != 1 || r.m.Statistics().TEIDs != 1 {
		t.Error(ids, r.m.Statistics())
	}
}

// TestOutcomeUnknown: the connection ends with a change under way. The request fails, the old
// state is in force: in the unit, too, whatever it did.
func TestOutcomeUnknown(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	for _, did := range []bool{false, true} {
		hung := r.unit.Hung()
		r.unit.Hang(true)
		done := make(chan *rules.Answer, 2)
		r.m.Modify(tx(5), seid, toGNB(2, "10.3.0.2"), func(a *rules.Answer, _ []byte) { done <- a })
		r.m.Establish(tx(6), plain(7, "10.45.0.4"), func(a *rules.Answer, _ []byte) { done <- a })
		r.until("both are under way", func() bool { return r.unit.Hung() == hung+2 })
		if did {
			s := r.unit.Session(seid)
			s.Version++
			s.Fars[0].Buffer, s.Fars[0].Forward = false, true
			r.unit.Plant(s)
			r.unit.Plant(&upfpb.Session{Id: seid + 1000, Version: 1})
		}
		before := r.configs()
		r.unit.Hang(false)
		r.unit.Disconnect()
		for range 2 {
			holds(t, "under way", <-done, want{cause: 77, none: true})
		}
		r.synced(before)
		r.until("the unit has the old state and no stranger", func() bool {
			s := r.unit.Session(seid)
			return len(r.unit.IDs()) == 1 && s.GetFars()[0].GetBuffer() && !s.GetFars()[0].GetForward()
		})
	}
	r.accepted(r.modify(seid, toGNB(2, "10.3.0.2")))
	r.accepted(r.establish(plain(7, "10.45.0.4")))
}

func TestReconciliation(t *testing.T) {
	r := newRig(t)
	var ids []uint64
	for i := range 300 {
		ids = append(ids, r.accepted(r.establish(plain(7, fmt.Sprintf("172.16.%d.%d", i/100, i%100)))).UPSEID)
	}
	r.unit.Forget(ids[10], 0)
	r.unit.Forget(ids[20], 77)
	for id := range uint64(refillWindow + 100) {
		r.unit.Plant(&upfpb.Session{Id: 5 + id, Version: 3})
	}
	r.unit.Record()
	r.log.take()
	r.unit.Disconnect()
	r.until("all is as it should be", func() bool {
		return r.unit.Session(ids[10]) != nil && r.unit.Session(ids[20]).GetVersion() == 78 && len(r.unit.IDs()) == len(ids)
	})
	if log := r.log.take(); strings.Count(log, "sessions that are no more") != 1 || !strings.Contains(log, fmt.Sprint("sessions=", refillWindow+100)) {
		t.Error(log)
	}
	if n := len(r.unit.Sets()); n != 2 {
		t.Error(n, "sessions were sent, not the two that differed")
	}
	r.accepted(r.modify(ids[20], toGNB(2, "10.3.0.2")))
	gone := make(chan int, 1)
	r.m.DeleteOfPeer(rules.NodeID{FQDN: "other"}, "association released", func(n int) { gone <- n })
	if n := <-gone; n != 0 {
		t.Error(n)
	}
	r.m.DeleteOfPeer(smf, "association released", func(n int) { gone <- n })
	if n := <-gone; n != 300 || len(r.unit.IDs()) != 0 || r.m.CountOfPeer(smf) != 0 || r.m.Statistics().TEIDs != 0 {
		t.Error(n, len(r.unit.IDs()))
	}
}

// TestRequestsBeforeTheUnit: the agent may be up first.
func TestRequestsBeforeTheUnit(t *testing.T) {
	r := newRig(t)
	r.stop()
	r.unit.Stop()
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	done := make(chan *rules.Answer, 1)
	r.m.Establish(tx(1), plain(7, "10.45.0.3"), func(a *rules.Answer, _ []byte) { done <- a })
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	r.accepted(<-done)
}

// TestUsageOutlivesTheAgent: the agent starts anew, the unit tells nothing again, and is killed.
func TestUsageOutlivesTheAgent(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	told := r.accepted(r.establish(plain(8, "10.45.0.4"))).UPSEID
	r.unit.Count(seid, 1, 100, 200)
	r.unit.Count(told, 1, 10, 0)
	_ = r.unit.Checkpoint()
	r.until("it is stored", func() bool {
		n := 0
		_ = r.store.Usages(func(uint64, []byte) error { n++; return nil })
		return n == 2
	})
	oneUsage(t, r.accepted(r.modify(told, &rules.ModifyRequest{QueryURRs: []uint32{1}})).Usage, 0, 10, rules.UsageIMMER)
	r.stop()
	r.start()
	before := r.configs()
	r.unit.Stop()
	if err := r.unit.Start(); err != nil {
		t.Fatal(err)
	}
	r.synced(before)
	if u := r.unit.Usage(seid, 1); u.GetTotalBytes() != 300 || u.GetDlBytes() != 200 {
		t.Error(u)
	}
	if u := r.unit.Usage(told, 1); u.GetTotalBytes() != 0 || u.GetQuotaTotalBytes() != 10 {
		t.Error("told before, counted again:", u)
	}
	r.accepted(r.delete(seid))
	_ = r.store.Usages(func(id uint64, _ []byte) error {
		if id == seid {
			t.Error("of a session that is no more")
		}
		return nil
	})
}
