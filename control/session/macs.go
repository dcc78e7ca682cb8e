// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"slices"

	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// MAC Addresses Reporting, §5.13.5: a unit tells which addresses are behind a UE, and a URR with the
// trigger MACAR has the CP function told of them. It measures nothing: what it counts goes on.

// reportsMACs says whether a URR reports the sources of uplink frames: a PDR of them has it.
func reportsMACs(st *state, u *urr) bool {
	return st.ethernet && u.Triggers != nil && *u.Triggers&rules.ReportMACAR != 0 &&
		slices.ContainsFunc(st.pdrs, func(p rules.PDR) bool {
			return p.PDI != nil && p.PDI.Source == rules.Access && slices.Contains(p.URRIDs, u.ID)
		})
}

// macAge is the shortest Ethernet Inactivity Timer of the session, s; 0: none.
func macAge(st *state) (age uint32) {
	for i := range st.urrs {
		u := &st.urrs[i]
		if t := u.EthernetInactivity; t != nil && *t != 0 && (age == 0 || *t < age) && reportsMACs(st, u) {
			age = *t
		}
	}
	return age
}

// takeMAC counts what became of an address and makes the reports that are asked for. Called under
// the mutex. What comes back is to be committed, and to be called then.
func (m *Manager) takeMAC(e *upfpb.MacEvent) (writes []store.Write, after func()) {
	if e.GetRemoved() {
		m.counts.MACsRemoved++
	} else {
		m.counts.MACsDetected++
	}
	s := m.sessions[e.GetId()]
	if s == nil || s.record == nil || len(e.GetMac()) != 6 {
		m.counts.EventsUnknown++
		return nil, nil
	}
	st := mustDecode(s.record)
	var reports []rules.UsageReport
	for i := range st.urrs {
		u := &st.urrs[i]
		if !reportsMACs(st, u) {
			continue
		}
		traffic := &rules.EthernetTraffic{VID: uint16(e.GetVid() & 0xfff)}
		if a := []rules.MAC{rules.MAC(e.GetMac())}; e.GetRemoved() {
			traffic.Removed = a
		} else {
			traffic.Detected = a
		}
		reports = append(reports, rules.UsageReport{URRID: u.ID, SEQN: u.seqn, Triggers: rules.UsageMACAR, Ethernet: traffic})
		u.seqn++
		if s.draft != nil { // of the request under way
			if o := findURR(s.draft.old, u.ID); o != nil {
				o.seqn++
			}
		}
	}
	if len(reports) == 0 {
		return nil, nil
	}
	s.record = st.encode()
	kept, after := m.keepReports(s.seid, reports)
	return []store.Write{store.PutSession(s.seid, s.record), kept}, after
}
