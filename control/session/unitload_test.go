// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"path/filepath"
	"testing"

	"airpath/control/dataplane/dptest"
	"airpath/control/upfpb"
)

func (r *reporter) lastLoad() (loads int, last uint8) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.loads); n > 0 {
		return n, r.loads[n-1]
	}
	return 0, 0
}

func (r *rig) load(u *dptest.Unit, l *upfpb.Load) uint8 {
	r.t.Helper()
	before, _ := r.reporter.lastLoad()
	if err := u.Load(l); err != nil {
		r.t.Fatal(err)
	}
	var last uint8
	r.until("load is told", func() bool {
		n, now := r.reporter.lastLoad()
		last = now
		return n > before
	})
	return last
}

// What is more in use counts: room for sessions as it is, a worker's time over some seconds; of
// several units the fullest.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	second, err := dptest.New(filepath.Join(dir, "u1"), dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	r := newRig(t, func(c *Config) {
		c.LoadMs = 1000
		c.Units = append(c.Units, UnitConfig{Name: "pfu1", Socket: filepath.Join(dir, "u1")})
	})
	r.until("both are there", func() bool {
		u := r.m.Units()
		return u[0].Connected && u[1].Connected
	})
	if c, _ := r.unit.Config(); c.GetLoadMs() != 1000 {
		t.Errorf("asked for load each %d ms", c.GetLoadMs())
	}
	if got := r.load(r.unit, &upfpb.Load{Sessions: 25, SessionsMax: 100}); got != 25 {
		t.Errorf("fill: %d", got)
	}
	if got := r.load(r.unit, &upfpb.Load{Sessions: 25, SessionsMax: 100, BusyPermille: 1000}); got != 25 {
		t.Errorf("a second's burst: %d", got)
	}
	for _, want := range []uint8{44, 58, 68} {
		if got := r.load(r.unit, &upfpb.Load{Sessions: 25, SessionsMax: 100, BusyPermille: 1000}); got != want {
			t.Errorf("busy: %d, not %d", got, want)
		}
	}
	if got := r.load(second, &upfpb.Load{Sessions: 999, SessionsMax: 1000}); got != 100 {
		t.Errorf("the fullest unit: %d", got)
	}
	if got := r.load(second, &upfpb.Load{Sessions: 100, SessionsMax: 1000}); got != 68 {
		t.Errorf("the other one: %d", got)
	}
	second.Close()
	r.until("one is away", func() bool { return !r.m.Units()[1].Connected })
	if got := r.load(r.unit, &upfpb.Load{}); got != 51 {
		t.Errorf("without room: %d", got)
	}
}
