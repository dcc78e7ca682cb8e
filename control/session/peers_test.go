// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"testing"
	"time"

	"airpath/control/rules"
)

func (r *rig) doomed() (n int) {
	r.t.Helper()
	if err := r.store.Flush(); err != nil {
		r.t.Fatal(err)
	}
	_ = r.store.Doomed(func(uint64, []byte) error { n++; return nil })
	return n
}

// TestDoomedSessionsGo: the sessions of a CP function are to go while their unit is away, or does not
// answer, and the agent ends before they have. The next one deletes them, and no others.
func TestDoomedSessionsGo(t *testing.T) {
	for name, away := range map[string]func(r *rig){
		"unit away": func(r *rig) {
			r.unit.Stop()
			r.until("it is away", func() bool { return !r.m.Units()[0].Connected })
		},
		"unit hangs": func(r *rig) { r.unit.Hang(true) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, withCharging)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			q := plain(8, "10.45.0.4")
			q.Node = rules.NodeID{FQDN: "other.example"}
			stays := r.accepted(r.establish(q)).UPSEID
			r.unit.Count(seid, 1, 3, 4)
			_ = r.unit.Checkpoint()
			r.until("the checkpoint is there", func() bool {
				r.m.mu.Lock()
				defer r.m.mu.Unlock()
				return r.m.sessions[seid].usage != nil
			})
			away(r)
			gone := make(chan int, 1)
			r.m.DeleteOfPeer(smf, "association released", func(n int) { gone <- n })
			if n := r.m.CountOfPeer(smf); n != 0 {
				t.Errorf("%d sessions of theirs, that are to go", n)
			}
			r.stop()
			if n := <-gone; n != 0 {
				t.Errorf("%d sessions have gone", n)
			}
			r.unit.Stop()
			if err := r.unit.Start(); err != nil {
				t.Fatal(err)
			}
			r.start()
			r.until("it has gone", func() bool { return r.m.Statistics().Deleted == 1 })
			if _, there := r.m.Holder(seid); there || r.m.CountOfPeer(q.Node) != 1 {
				t.Error("the wrong one")
			}
			r.until("only the other one is there", func() bool {
				ids := r.unit.IDs()
				return len(ids) == 1 && ids[0] == stays
			})
			if n := r.doomed(); n != 0 {
				t.Errorf("%d are still to go", n)
			}
			if c := r.m.Statistics(); c.Sessions != 1 || c.UntoldRecords != 1 {
				t.Errorf("%+v", c)
			}
			r.stop()
			r.start()
			if _, there := r.m.Holder(stays); !there || r.m.Statistics().Sessions != 1 {
				t.Error("not the next time")
			}
		})
	}
}

// TestRemovalsAwaitTheUnit: sessions go that no request asked for while their unit, which counts on, is
// out of reach, longer than a request would wait. All they used is in the records.
func TestRemovalsAwaitTheUnit(t *testing.T) {
	for name, anew := range map[string]bool{"same agent": false, "next agent": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, withCharging, func(c *Config) { c.WaitMs = 50 })
			r.until("it is there", func() bool { return r.m.Units()[0].Connected })
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			q := plain(8, "10.45.0.4")
			q.Node = rules.NodeID{FQDN: "other.example"}
			stays := r.accepted(r.establish(q)).UPSEID
			r.unit.Count(seid, defaultGroup, 30, 40)
			r.unit.Count(seid, 1, 30, 40)
			_ = r.unit.Checkpoint()
			r.until("the checkpoint is there", func() bool {
				r.m.mu.Lock()
				defer r.m.mu.Unlock()
				return r.m.sessions[seid].usage != nil
			})
			r.unit.Count(seid, defaultGroup, 5, 6)
			r.unit.Count(seid, 1, 5, 6)
			r.unit.Close()
			r.until("it is away", func() bool { return !r.m.Units()[0].Connected })
			gone := make(chan int, 1)
			r.m.DeleteOfPeer(smf, "association released", func(n int) { gone <- n })
			again := make(chan int, 1)
			r.m.DeleteOfPeer(smf, "association set up anew", func(n int) { again <- n })
			select {
			case n := <-again:
				if n != 0 {
					t.Error(n)
				}
			case <-time.After(10 * time.Second):
				t.Error("what waits already is waited for once more")
			}
			if anew {
				r.stop()
				<-gone
				if err := r.open(); err != nil {
					t.Fatal(err)
				}
			}
			if a := r.delete(seid); a.Cause != rules.CauseSessionContextNotFound {
				t.Errorf("%+v", a)
			}
			if a := r.establish(plain(9, "10.45.0.5")); a.Cause == rules.CauseAccepted { // has waited behind it
				t.Errorf("%+v", a)
			}
			if c := r.m.Statistics(); c.Deleted != 0 || len(r.records()) != 0 {
				t.Errorf("%+v", c)
			}
			if err := r.unit.Start(); err != nil {
				t.Fatal(err)
			}
			r.until("it has gone", func() bool { return r.m.Statistics().Deleted == 1 && r.doomed() == 0 })
			if up, down := r.sum(10); up != 35 || down != 46 {
				t.Error(up, down)
			}
			if u := r.untoldUsage(); len(u) != 1 || u[0].UplinkOctets != 35 || u[0].DownlinkOctets != 46 {
				t.Errorf("%+v", u)
			}
			r.until("only the other one is there", func() bool { return len(r.unit.IDs()) == 1 && r.unit.Session(stays) != nil })
			r.until("a session can have its address", func() bool {
				return r.establish(plain(9, "10.45.0.3")).Cause == rules.CauseAccepted
			})
		})
	}
}

// TestDoomOfWhatNeverWas: a session that was being established and was not.
func TestDoomOfWhatNeverWas(t *testing.T) {
	r := newRig(t)
	r.unit.Hang(true)
	answer := make(chan *rules.Answer, 1)
	r.m.Establish(tx(1), plain(7, "10.45.0.3"), func(a *rules.Answer, _ []byte) { answer <- a })
	r.until("it is under way", func() bool { return r.unit.Hung() == 1 })
	gone := make(chan int, 1)
	r.m.DeleteOfPeer(smf, "association released", func(n int) { gone <- n })
	if n := r.doomed(); n != 1 {
		t.Errorf("%d are to go", n)
	}
	r.unit.Hang(false)
	r.unit.Disconnect()
	if a, n := <-answer, <-gone; a.Cause == rules.CauseAccepted || n != 0 {
		t.Errorf("%+v, %d", a, n)
	}
	if n := r.doomed(); n != 0 {
		t.Errorf("%d are still to go", n)
	}
	none := false
	r.m.DeleteOfPeer(smf, "association released", func(int) { none = true })
	if !none {
		t.Error("it is not said at once that there are none")
	}
}
