// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"encoding/json"
	"fmt"
	"testing"

	"airpath/control/charging"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

// untoldUsage is what the store has of it.
func (r *rig) untoldUsage() (list []charging.Untold) {
	r.t.Helper()
	if err := r.store.Flush(); err != nil {
		r.t.Fatal(err)
	}
	_ = r.store.Records(func(_ uint64, b []byte) bool {
		var one charging.Untold
		if err := json.Unmarshal(b, &one); err != nil {
			r.t.Error(err)
		}
		if one.Kind != "" {
			list = append(list, one)
		}
		return true
	})
	return list
}

// TestUntoldReports: a report that a CP function refuses, or that was under way to one when its
// session went and is not answered, is in the records, once; one that was answered is not.
func TestUntoldReports(t *testing.T) {
	const released = "association_released"
	release := func(r *rig) {
		gone := make(chan int, 1)
		r.m.DeleteOfPeer(smf, "association released", func(n int) { gone <- n })
		<-gone
	}
	answer := func(c rules.Cause) func(*rig) { return func(r *rig) { r.reporter.end(&rules.ReportAnswer{Cause: c}) } }
	for name, c := range map[string]struct {
		do   []func(*rig)
		want string
	}{
		"answered": {[]func(*rig){answer(rules.CauseAccepted)}, ""},
		"refused":  {[]func(*rig){answer(rules.CauseRejected)}, "0:10 report_refused,"},
		"forgotten": {[]func(*rig){answer(rules.CauseSessionContextNotFound), func(r *rig) {
			r.until("the session has gone", func() bool { return r.m.Statistics().Deleted == 1 })
		}}, "0:10 session_unknown_to_its_CP_function,"},
		"released and answered": {[]func(*rig){release, answer(rules.CauseAccepted)}, ""},
		"released and refused":  {[]func(*rig){release, answer(rules.CauseSessionContextNotFound)}, "0:10 " + released + ","},
		"released and given up": {[]func(*rig){release, func(r *rig) { r.reporter.end(nil) }}, "0:10 " + released + ","},
		"released and the agent ends": {[]func(*rig){release, func(r *rig) { r.stop(); r.start() },
			func(r *rig) { r.reporter.end(nil) }, func(r *rig) { r.stop(); r.start() }}, "0:10 " + released + ","},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, withCharging)
			q := plain(7, "10.45.0.3")
			q.UserID = "imsi-1"
			seid := r.accepted(r.establish(q)).UPSEID
			r.reporter.holding(true)
			r.unit.Count(seid, 1, 0, 10)
			if err := r.unit.Report(seid, 1, upfpb.Trigger_VOLTH); err != nil {
				t.Fatal(err)
			}
			r.until("it is under way", func() bool {
				r.reporter.mu.Lock()
				defer r.reporter.mu.Unlock()
				return len(r.reporter.held) == 1
			})
			for _, f := range c.do {
				f(r)
			}
			got := ""
			for _, u := range r.untoldUsage() {
				got += fmt.Sprintf("%d:%d %s,", u.Sequence, u.DownlinkOctets, u.Cause)
				if u.Session != fmt.Sprintf("%#x", seid) || u.CP != smf.String() || u.CPSession != "0x7" || u.User != "imsi-1" || u.Unit != "pfu0" || u.URR != 1 {
					t.Errorf("%+v", u)
				}
			}
			if got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
			if n := r.stored(); n != 0 {
				t.Errorf("%d reports are kept", n)
			}
		})
	}
}

// TestRefusedBeforeADeletion: what is told before a deletion and refused is in its answer as far as that
// holds it, else in the records.
func TestRefusedBeforeADeletion(t *testing.T) {
	r := newRig(t, withCharging)
	const beyond = 3
	seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
	r.underWay(seid, lastReportsMax+beyond)
	r.reporter.holding(false)
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer { return &rules.ReportAnswer{Cause: rules.CauseRejected} })
	if a := r.accepted(r.delete(seid)); len(a.Usage) != lastReportsMax+1 {
		t.Errorf("%d told", len(a.Usage))
	}
	list := r.untoldUsage()
	if len(list) != beyond || list[0].Cause != "report_unanswered" {
		t.Errorf("%+v", list)
	}
}
