// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"

	"airpath/control/rules"
)

func ueAddress(i int) string {
	return netip.AddrFrom4([4]byte{10, byte(128 + i>>16), byte(i >> 8), byte(i)}).String()
}

// install makes n sessions, as many under way as there is room for.
func (r *rig) install(n, from int) {
	r.t.Helper()
	room := make(chan struct{}, 256)
	for i := range n {
		room <- struct{}{}
		r.m.Establish(tx(uint32(i)), plain(uint64(i), ueAddress(from+i)), func(a *rules.Answer, _ []byte) {
			if a.Cause != rules.CauseAccepted {
				r.t.Error(a.Cause, a.Reason)
			}
			<-room
		})
	}
	for range cap(room) {
		room <- struct{}{}
	}
}

func heap() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// TestMemoryOfASession: at most 2 KiB of a plain session, with its downlink open.
func TestMemoryOfASession(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	r := newRig(t)
	r.install(100, 0)
	const n = 5000
	r.unit.Discard(true)
	record := len(r.m.sessions[r.m.idsOf(r.m.units[0])[50]].record)
	perSession := 0.0
	for try := 0; perSession < float64(record) && try < 5; try++ { // what a test before left goes meanwhile
		before := heap()
		r.install(n, 1000+n*try)
		perSession = (float64(heap()) - float64(before)) / n
	}
	t.Logf("%.0f octets a session, of these %d are its record", perSession, record)
	if perSession > 2048 || perSession < float64(record) {
		t.Errorf("%.0f octets a session", perSession)
	}
}

// BenchmarkEstablish establishes through the store and a unit that answers at once; the unit's
// own work, in the same process, counts too.
func BenchmarkEstablish(b *testing.B) {
	for _, window := range []int{1, 256} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			r := newRig(b)
			r.unit.Discard(true)
			room := make(chan struct{}, window)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				room <- struct{}{}
				q := plain(uint64(i), ueAddress(i%(1<<22)))
				r.m.Establish(tx(uint32(i)), q, func(a *rules.Answer, _ []byte) {
					if a.Cause != rules.CauseAccepted {
						b.Error(a.Cause, a.Reason)
					}
					<-room
				})
			}
			for range window {
				room <- struct{}{}
			}
		})
	}
}
