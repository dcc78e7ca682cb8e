// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"math/rand"
	"reflect"
	"sync"
	"testing"
	"time"

	"airpath/control/owner"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

// TestManyAtOnce: several SMFs work on their own sessions while the unit loses its connection and
// its life. In the end unit and agent have the same sessions, every octet counted was told once,
// and nothing is left when all are deleted.
func TestManyAtOnce(t *testing.T) {
	r := newRig(t)
	const workers, rounds = 8, 60
	told := map[string]rules.UsageReport{}
	var mu sync.Mutex
	once := func(seid uint64, list []rules.UsageReport) {
		mu.Lock()
		defer mu.Unlock()
		for _, u := range list {
			key := fmt.Sprint(seid, u.URRID, u.SEQN)
			// What was under way is told again by the answer to a deletion.
			if had, twice := told[key]; twice && !reflect.DeepEqual(had, u) {
				t.Errorf("UR-SEQN %s given twice: %+v, %+v", key, had, u)
			}
			told[key] = u
		}
	}
	r.reporter.answering(func(s *rules.SessionReport) *rules.ReportAnswer {
		once(s.UPSEID, s.Usage)
		return &rules.ReportAnswer{Cause: rules.CauseAccepted}
	})
	var wait sync.WaitGroup
	for w := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			r.work(w, rounds, once)
		}()
	}
	stop := make(chan struct{})
	trouble := make(chan struct{})
	go func() {
		defer close(trouble)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(30 * time.Millisecond):
			}
			if i%3 != 2 {
				r.unit.Disconnect()
				continue
			}
			r.unit.Stop()
			if err := r.unit.Start(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	wait.Wait()
	close(stop)
	<-trouble
	r.until("unit and agent agree", func() bool {
		ids := r.unit.IDs()
		ours := r.m.idsOf(r.m.units[0])
		if len(ids) != len(ours) {
			return false
		}
		for i, id := range ours {
			info, _ := r.m.Show(id)
			if ids[i] != id || r.unit.Session(id).GetVersion() != info.Version {
				return false
			}
		}
		return true
	})
	for w := range workers {
		c := make(chan int, 1)
		r.m.DeleteOfPeer(node(w), "association released", func(n int) { c <- n })
		<-c
	}
	if c := r.m.Statistics(); c.Sessions != 0 || c.TEIDs != 0 || len(r.m.peers) != 0 || len(r.m.pools.others) != 0 {
		t.Errorf("left: %+v", c)
	}
	for _, p := range r.m.pools.list {
		if p.NetworkInstance == "internet" && p.Prefix.Addr().Is4() && p.used != 2 {
			t.Error(p.used-2, "addresses left")
		}
	}
	r.until("no session is left in the unit", func() bool { return len(r.unit.IDs()) == 0 })
}

func node(w int) rules.NodeID { return rules.NodeID{FQDN: fmt.Sprintf("smf%d.example", w)} }

// work is one SMF's: whatever is refused is refused for the unit's absence.
func (r *rig) work(w, rounds int, once func(uint64, []rules.UsageReport)) {
	random := rand.New(rand.NewSource(int64(w)))
	var mine []uint64
	for i := range rounds {
		switch k := random.Intn(6); {
		case len(mine) == 0 || k < 2:
			q := plain(uint64(w), fmt.Sprintf("172.20.%d.%d", w, i))
			if k == 1 {
				q = chooseUE(q, rules.UEIP{ChooseIPv4: true})
			}
			q.Node = node(w)
			a := r.establish(q)
			if a.Cause == rules.CauseAccepted {
				mine = append(mine, a.UPSEID)
			} else if a.Cause != rules.CauseSystemFailure {
				r.t.Error(a.Cause, a.Reason)
			}
		case k == 2:
			n := random.Intn(len(mine))
			a := r.delete(mine[n])
			if a.Cause != rules.CauseAccepted {
				r.t.Error(a.Cause, a.Reason)
			}
			once(mine[n], a.Usage)
			mine = append(mine[:n], mine[n+1:]...)
		case k == 3:
			seid := mine[random.Intn(len(mine))]
			r.unit.Count(seid, 1, 1, 1)
			_ = r.unit.Report(seid, 1, upfpb.Trigger_PERIO)
		default:
			seid := mine[random.Intn(len(mine))]
			m := toGNB(uint32(i+1), "10.3.0.2")
			m.QueryURRs = []uint32{1}
			if k == 5 {
				m.CreatePDRs = []rules.PDR{accessPDR(uint16(100+i), 2, choose())}
			}
			a := r.modify(seid, m)
			if a.Cause == rules.CauseAccepted {
				once(seid, a.Usage)
			} else if a.Cause != rules.CauseSystemFailure {
				r.t.Error(a.Cause, a.Reason)
			}
			for _, c := range a.CreatedPDRs {
				if info, ok := r.m.Show(seid); ok && owner.Bucket(c.FTEID.TEID) != owner.Bucket(info.TEIDs[0]) {
					r.t.Errorf("%08x is of another bucket", c.FTEID.TEID)
				}
			}
		}
	}
}
