// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"slices"
	"testing"

	"airpath/control/pfcp"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

// underWay has the unit report n times, an octet more each time; nobody answers yet.
func (r *rig) underWay(seid uint64, n int) {
	r.t.Helper()
	r.reporter.holding(true)
	for i := range n {
		r.unit.Count(seid, 1, 0, uint64(i+1))
		if err := r.unit.Report(seid, 1, upfpb.Trigger_VOLTH); err != nil {
			r.t.Fatal(err)
		}
	}
	r.until("all are under way", func() bool {
		r.reporter.mu.Lock()
		defer r.reporter.mu.Unlock()
		return len(r.reporter.held) == n
	})
}

func told(list []rules.UsageReport) (s string) {
	for _, u := range list {
		s += fmt.Sprintf("%d:%d ", u.SEQN, u.Volume.TotalBytes)
	}
	return s
}

// TestReportsUnderWayGoWithTheSession: reports that were sent and not acknowledged are in the
// answer to the deletion, which the next agent has, too.
func TestReportsUnderWayGoWithTheSession(t *testing.T) {
	for name, late := range map[string]*rules.ReportAnswer{
		"never answered": nil, "answered late": {Cause: rules.CauseSessionContextNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			r.underWay(seid, 2)
			r.unit.Count(seid, 1, 0, 9)
			ask := tx(3)
			ask.Encode = func(a *rules.Answer) []byte { return []byte(told(a.Usage)) }
			const want = "0:1 1:2 2:9 "
			a := r.accepted(r.wait(func(d rules.Done) { r.m.Delete(ask, seid, d) }))
			if got := told(a.Usage); got != want {
				t.Fatalf("told %q, not %q", got, want)
			}
			if n := r.stored(); n != 0 {
				t.Errorf("%d reports left", n)
			}
			r.reporter.end(late)
			if c := r.m.Statistics(); c.ReportsLost != 0 || c.Deleted != 1 {
				t.Errorf("%+v", c)
			}
			r.stop()
			r.start()
			kept := ""
			r.m.Answers(func(ask rules.Transaction, wire []byte) bool {
				if ask.Sequence == 3 {
					kept = string(wire)
				}
				return true
			})
			if kept != want {
				t.Errorf("the next agent says %q, not %q", kept, want)
			}
		})
	}
}

// TestReportsOfSessionsNobodyAskedToDelete: there is no answer to have them. They are counted as
// lost when they are given up, by the next agent, too.
func TestReportsOfSessionsNobodyAskedToDelete(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*rig)
		lost uint64
	}{
		"given up":    {func(r *rig) { r.reporter.end(nil) }, 2},
		"answered":    {func(r *rig) { r.reporter.end(&rules.ReportAnswer{Cause: rules.CauseAccepted}) }, 0},
		"agent's end": {func(r *rig) { r.stop(); r.start() }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.underWay(r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID, 2)
			gone := make(chan int, 1)
			r.m.DeleteOfPeer(smf, "association released", func(n int) { gone <- n })
			if n := <-gone; n != 1 || r.stored() != 2 {
				t.Fatalf("%d sessions went, %d reports kept", n, r.stored())
			}
			c.end(r)
			if lost := r.m.Statistics().ReportsLost; lost != c.lost || r.stored() != 0 {
				t.Errorf("%d lost, %d kept", lost, r.stored())
			}
		})
	}
}

// TestALastAnswerFits: what an answer cannot hold is told before it, so that all of it is told once;
// what nobody answers is counted as lost.
func TestALastAnswerFits(t *testing.T) {
	const beyond = lastReportsMax + 5
	for name, answer := range map[string]*rules.ReportAnswer{"answered": {Cause: rules.CauseAccepted}, "not answered": nil} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			r.underWay(seid, lastReportsMax+beyond)
			r.reporter.take()
			r.reporter.holding(false)
			r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer { return answer })
			a := r.accepted(r.delete(seid))
			var sizes []int
			var before []rules.UsageReport
			for _, s := range r.reporter.take() {
				sizes = append(sizes, len(s.Usage))
				before = append(before, s.Usage...)
			}
			lost := r.m.Statistics().ReportsLost
			if answer == nil {
				if len(a.Usage) != lastReportsMax+1 || !slices.Equal(sizes, []int{lastReportsMax}) || lost != beyond {
					t.Errorf("%d told, before that %v, %d lost", len(a.Usage), sizes, lost)
				}
				return
			}
			if !slices.Equal(sizes, []int{lastReportsMax, 5}) || lost != 0 || r.stored() != 0 {
				t.Errorf("told before: %v, %d lost, %d kept", sizes, lost, r.stored())
			}
			sum := uint64(0)
			for i, u := range append(before, a.Usage...) {
				if u.SEQN != uint32(i) {
					t.Fatalf("%d is told at place %d", u.SEQN, i)
				}
				sum += u.Volume.TotalBytes
			}
			if n := uint64(lastReportsMax + beyond); sum != n*(n+1)/2 {
				t.Errorf("%d octets", sum)
			}
			largestFits(t, a)
		})
	}
}

// largestFits holds an answer to what a datagram takes.
func largestFits(t *testing.T, a *rules.Answer) {
	t.Helper()
	for i := range a.Usage {
		u := &a.Usage[i]
		u.HasDuration, u.StartUnix, u.EndUnix, u.FirstPacketUnix, u.LastPacketUnix = true, 1, 2, 1, 2
	}
	self := pfcp.Self{Node: rules.NodeID{Addr: ip("192.0.2.2")}}
	wire := self.EncodeSessionAnswer(pfcp.SessionDeletionRequest, 3, ip("192.0.2.2"), a, pfcp.Control{})
	if len(wire) > 60000 {
		t.Errorf("%d octets", len(wire))
	}
}
