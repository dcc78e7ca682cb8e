// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"net/netip"
	"slices"

	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// tidings are what a unit told of a session that is no usage. What can still be true after a
// while is kept until the CP function answers, as usage is: downlink data that waits (§5.2.4: the
// unit tells of it once a buffering period) and error indications (§5.10). Inactivity is told
// once: by the time somebody answers, packets may have come.
type tidings struct {
	downlink *rules.DownlinkData
	failed   *rules.ErrorIndication
	inactive bool
	instance uint64 // of the unit: another one holds no packets
}

// tidingsMax bounds what is kept of a session: error indications of as many tunnels.
const tidingsMax = 16

func (t *tidings) fill(r *rules.SessionReport) {
	r.DownlinkData, r.ErrorIndication, r.Inactivity = t.downlink, t.failed, t.inactive
}

func (t *tidings) String() string {
	switch {
	case t.downlink != nil:
		return "downlink data"
	case t.failed != nil:
		return "error indication"
	}
	return "inactivity"
}

// same says that another one tells the same anew.
func (t *tidings) same(o *tidings) bool {
	switch {
	case t.downlink != nil:
		return o.downlink != nil && t.downlink.PDRID == o.downlink.PDRID
	case t.failed != nil:
		return o.failed != nil && *t.failed == *o.failed
	}
	return o.inactive
}

// holds says whether it is still so.
func (t *tidings) holds(s *session, st *state) bool {
	switch {
	case t.downlink != nil:
		p := findPDR(st, t.downlink.PDRID)
		if p == nil || p.FARID == nil || t.instance != s.unit.instance {
			return false
		}
		f := findFAR(st, *p.FARID)
		return f != nil && f.Action != nil && *f.Action&rules.ActionNOCP != 0
	case t.failed != nil:
		return slices.ContainsFunc(st.fars, func(f rules.FAR) bool {
			return f.Forwarding != nil && leadsTo(f.Forwarding, t.failed) ||
				slices.ContainsFunc(f.Duplicating, func(d rules.Forwarding) bool { return leadsTo(&d, t.failed) })
		})
	}
	return true
}

func leadsTo(f *rules.Forwarding, e *rules.ErrorIndication) bool {
	o := f.OuterHeaderCreation
	return o != nil && o.TEID == e.TEID && (o.IPv4 == e.Peer || o.IPv6 == e.Peer)
}

func walkTidings(c *coder, t *tidings) {
	opt(c, &t.downlink, func(c *coder, d *rules.DownlinkData) {
		num(c, &d.PDRID)
		opt(c, &d.QFI, num)
		opt(c, &d.PPI, num)
	})
	opt(c, &t.failed, func(c *coder, e *rules.ErrorIndication) {
		num(c, &e.TEID)
		addr(c, &e.Peer)
	})
	flag(c, &t.inactive)
	num(c, &t.instance)
}

// tidingsOf an event; nil: it is not one of those.
func (u *unit) tidingsOf(e *upfpb.Event) (id uint64, t *tidings) {
	t = &tidings{instance: u.instance}
	switch body := e.GetBody().(type) {
	case *upfpb.Event_DownlinkData:
		t.downlink = downlinkData(body.DownlinkData)
		return body.DownlinkData.GetId(), t
	case *upfpb.Event_ErrorIndication:
		a, _ := netip.AddrFromSlice(body.ErrorIndication.GetPeer())
		t.failed = &rules.ErrorIndication{TEID: body.ErrorIndication.GetTeid(), Peer: a}
		return body.ErrorIndication.GetId(), t
	case *upfpb.Event_Inactivity:
		t.inactive = true
		return body.Inactivity.GetId(), t
	}
	return 0, nil
}

// keepTidings makes a report of them that is to be sent, in place of an older one of the same that
// nobody has answered. Called under the mutex.
func (m *Manager) keepTidings(s *session, t *tidings) (no uint64, writes []store.Write) {
	kept := 0
	for old, p := range m.pending[s.seid] {
		if p.tidings == nil || p.away {
			continue
		}
		if kept++; p.tidings.same(t) {
			m.forgetReport(s.seid, old)
			writes = append(writes, store.PutReport(s.seid, old, nil))
			kept--
		}
	}
	m.reportNo++
	p := &pendingReport{tidings: t, once: t.inactive || kept >= tidingsMax}
	if m.pending[s.seid] == nil {
		m.pending[s.seid] = map[uint64]*pendingReport{}
	}
	m.pending[s.seid][m.reportNo] = p
	return m.reportNo, append(writes, store.PutReport(s.seid, m.reportNo, p.encode()))
}

// forgetTidings drops what a change of the session's rules made untrue. Called under the mutex.
func (m *Manager) forgetTidings(s *session, st *state, dropBuffered bool) (writes []store.Write) {
	for no, p := range m.pending[s.seid] {
		if t := p.tidings; t != nil && (!t.holds(s, st) || dropBuffered && t.downlink != nil) {
			m.forgetReport(s.seid, no)
			writes = append(writes, store.PutReport(s.seid, no, nil))
		}
	}
	return writes
}
