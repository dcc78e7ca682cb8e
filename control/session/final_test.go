// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"slices"
	"testing"

	"airpath/control/rules"
)

// TestOneFinalRecord: a deletion that the unit has done and whose answer is lost, with the connection
// or the agent, is done again. Its records add up, and one of them is the final one.
func TestOneFinalRecord(t *testing.T) {
	for name, remove := range map[string]func(r *rig, seid uint64){
		"connection lost": func(r *rig, seid uint64) {
			r.unit.Silent(true)
			r.accepted(r.wait(func(d rules.Done) {
				r.m.Delete(tx(3), seid, d)
				r.until("the unit has done it", func() bool { return r.unit.Told() == 1 })
				r.unit.Silent(false)
				r.unit.Disconnect()
			}))
		},
		"agent killed": func(r *rig, seid uint64) {
			r.killedWhile(func(d rules.Done) { r.m.Delete(tx(3), seid, d) })
			r.until("it is acknowledged", func() bool { return r.unit.Told() == 0 })
			r.accepted(r.delete(seid))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, withCharging)
			seid := r.accepted(r.establish(plain(7, "10.45.0.3"))).UPSEID
			r.unit.Count(seid, defaultGroup, 30, 40)
			remove(r, seid)
			var causes []string
			for _, one := range r.records() {
				causes = append(causes, one.Cause)
			}
			if !slices.Equal(causes, []string{"interrupted", "final"}) {
				t.Error(causes)
			}
			if up, down := r.sum(10); up != 30 || down != 40 {
				t.Error(up, down)
			}
		})
	}
}
