// SPDX-License-Identifier: BSD-3-Clause
package session

import "airpath/control/upfpb"

// busyWeight smooths the share of time that workers are busy over some seconds: a burst is no load.
const busyWeight = 4

// Load of a unit: what is more in use of its room for sessions and of its busiest worker's time.
func (u *unit) Load(l *upfpb.Load) {
	m := u.m
	m.mu.Lock()
	u.busy += (float64(l.GetBusyPermille())/10 - u.busy) / busyWeight
	fill := 0.0
	if room := l.GetSessionsMax(); room > 0 {
		fill = 100 * float64(l.GetSessions()) / float64(room)
	}
	u.load, u.loadKnown = uint8(min(max(fill, u.busy), 100)+0.5), true
	percent := uint8(0)
	for _, other := range m.units {
		if other.ready && other.loadKnown { // requests go to each in turn: the fullest refuses first
			percent = max(percent, other.load)
		}
	}
	m.mu.Unlock()
	if m.reporter != nil {
		m.reporter.Load(percent)
	}
}
