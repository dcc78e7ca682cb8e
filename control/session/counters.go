// SPDX-License-Identifier: BSD-3-Clause

package session

import (
	"slices"
)

// Counters of what happened, for metrics. See Statistics.
type Counters struct {
	Sessions, TEIDs                      uint64
	Addresses                            uint64 // of UEs: IPv4 addresses and /64s of pools, others as they are
	Established, Modified, Deleted       uint64
	Refused                              uint64
	Reports, ReportsLost                 uint64 // usage reports sent to CP functions; given up
	ReportsUnanswered, TidingsLost       uint64 // of all kinds, by N4's count; given up, but usage
	EventsTwice, EventsUnknown           uint64 // numbers seen before; of sessions or URRs not there
	RefilledSessions, RefillFailures     uint64
	MACsDetected, MACsRemoved            uint64 // addresses behind UEs of Ethernet
	ChargingRecords                      uint64
	UntoldRecords                        uint64 // of usage that no CP function was told of
	ChargedUplink, ChargedDownlink       uint64 // octets in them
	ApplicationsChanged                  uint64 // sets that came into force
	ApplicationsRefused                  uint64 // changes that a unit refused
	StoreFailures, Disconnects, ForgotCP uint64
	StoreDamaged                         uint64 // values of the store left out when it was opened
}

// Statistics are the counters so far.
func (m *Manager) Statistics() Counters {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	c.Sessions = uint64(len(m.sessions))
	for _, u := range slices.Concat(m.units, m.former) {
		c.TEIDs += uint64(u.teids.Live() + len(u.foreign))
	}
	c.Addresses = m.pools.inUse()
	c.StoreDamaged = m.store.Damaged()
	return c
}
