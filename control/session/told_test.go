// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"testing"

	"airpath/control/rules"
)

// killedWhile has the unit do what is asked for, and ends the agent before it has read the answer.
func (r *rig) killedWhile(ask func(done rules.Done)) {
	r.t.Helper()
	r.unit.Silent(true)
	before := r.unit.Told()
	ask(func(*rules.Answer, []byte) {})
	r.until("the unit has done it", func() bool { return r.unit.Told() > before })
	r.unit.Silent(false)
	r.stop()
	r.reporter.take()
	r.start()
}

func (r *rig) toldBytes(list ...rules.UsageReport) (n uint64) {
	for _, u := range list {
		n += u.Volume.TotalBytes
	}
	return n
}

// TestUsageOfAnAnswerNobodyRead: the unit took the counts for an answer that the agent did not live
// to read. The next one reports them, once, and asked again the rest.
func TestUsageOfAnAnswerNobodyRead(t *testing.T) {
	for name, c := range map[string]struct {
		change  *rules.ModifyRequest // nil: deletion
		trigger uint32
		urrs    int // that the change leaves
	}{
		"query":    {&rules.ModifyRequest{QueryURRs: []uint32{1}}, rules.UsageIMMER, 1},
		"removal":  {&rules.ModifyRequest{RemoveURRs: []uint32{1}}, rules.UsageTERMR, 0},
		"deletion": {nil, rules.UsageTERMR, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			r.unit.Count(seid, 1, 10, 20)
			_ = r.unit.Checkpoint()
			r.unit.Count(seid, 1, 30, 40) // that no checkpoint tells
			r.killedWhile(func(d rules.Done) {
				if c.change == nil {
					r.m.Delete(tx(3), seid, d)
				} else {
					r.m.Modify(tx(2), seid, c.change, d)
				}
			})
			u := r.nextReport().Usage
			if len(u) != 1 || u[0].Volume.TotalBytes != 100 || u[0].SEQN != 0 || u[0].Triggers != c.trigger {
				t.Fatalf("%+v", u)
			}
			r.until("it is acknowledged", func() bool { return r.unit.Told() == 0 })
			r.unit.Count(seid, 1, 5, 0)
			if c.change == nil {
				oneUsage(t, r.accepted(r.delete(seid)).Usage, 1, 5, rules.UsageTERMR)
				return
			}
			oneUsage(t, r.accepted(r.modify(seid, c.change)).Usage, 1, 5, c.trigger)
			if a := r.accepted(r.delete(seid)); len(a.Usage) != c.urrs || r.toldBytes(a.Usage...) != 0 {
				t.Errorf("%+v", a.Usage)
			}
			r.noReport()
			r.until("all is acknowledged", func() bool { return r.unit.Told() == 0 })
		})
	}
}

// TestUsageOfAnAnswerIsToldOnce: what was committed and not acknowledged is not told twice.
func TestUsageOfAnAnswerIsToldOnce(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(seid, 1, 30, 40)
	r.unit.Deaf(true)
	oneUsage(t, r.accepted(r.modify(seid, &rules.ModifyRequest{QueryURRs: []uint32{1}})).Usage, 0, 70, rules.UsageIMMER)
	r.until("it is kept", func() bool { return r.unit.Told() == 1 })
	r.stop()
	// What this agent still sent is read, and not heard.
	r.until("the unit has seen it end", func() bool { return r.unit.Ended() > 0 })
	r.unit.Deaf(false)
	r.start()
	r.until("it is acknowledged", func() bool { return r.unit.Told() == 0 })
	r.noReport()
	oneUsage(t, r.accepted(r.delete(seid)).Usage, 1, 0, rules.UsageTERMR)
	if c := r.m.Statistics(); c.EventsTwice != 1 {
		t.Errorf("%+v", c)
	}
}

// TestDeletionOnALostConnection: the unit did it, and its answer was lost with the connection.
func TestDeletionOnALostConnection(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.unit.Count(seid, 1, 30, 40)
	r.unit.Silent(true)
	r.reporter.holding(true)
	a := r.wait(func(d rules.Done) {
		r.m.Delete(tx(3), seid, d)
		r.until("the unit has done it", func() bool { return r.unit.Told() == 1 })
		r.unit.Silent(false)
		r.unit.Disconnect()
	})
	if a.Cause != rules.CauseAccepted || r.toldBytes(a.Usage...) != 70 || len(a.Usage) != 2 {
		t.Errorf("%+v", a)
	}
}
