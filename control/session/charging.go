// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"slices"

	"airpath/control/charging"
	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// Offline charging counts each rating group of a session by a URR of our own, whose ID says so. Its
// reports become records in the commit of what made them, and go to no CP function.

// Charging says what is charged.
type Charging struct {
	Node         string            // in records: who we are
	RatingGroup  uint32            // where nothing else says
	Applications map[string]uint32 // by Application ID
	PeriodS      uint32            // of partial records; 0: none by time
	Volume       uint64            // octets of partial records; 0: none by volume
}

// RatingGroupMax: the ID of a URR of ours is one and LocalRule.
const RatingGroupMax = rules.LocalRule - 1

// ratingGroup of a PDR, or of what a predefined rule makes of it; ok: it is charged. What is
// dropped, answered by a redirection, or the CP function's own traffic is not.
func (m *Manager) ratingGroup(st *state, p *rules.PDR, r *rules.PredefinedRule) (group uint32, ok bool) {
	c := m.config.Charging
	if c == nil || p.PDI == nil || p.PDI.Source == rules.CPFunction {
		return 0, false
	}
	if p.FARID != nil {
		f := findFAR(st, *p.FARID)
		if f == nil || f.Action == nil || *f.Action&rules.ActionDROP != 0 ||
			f.Forwarding != nil && orZero(f.Forwarding.Destination) == rules.CPFunction {
			return 0, false
		}
	}
	id := p.PDI.ApplicationID
	if r != nil {
		switch {
		case r.Drop:
			return 0, false
		case r.RatingGroup != nil:
			return *r.RatingGroup, true
		case r.RedirectURL != "" && !isCore(p.PDI.Source):
			return 0, false
		case r.Application != "":
			id = &r.Application
		}
	}
	if id != nil {
		if group, ok := c.Applications[*id]; ok {
			return group, true
		}
	}
	return c.RatingGroup, true
}

// chargeRules makes the session's URRs of our own those its PDRs need.
func (d *draft) chargeRules() {
	c := d.m.config.Charging
	own := func(u urr) bool { return u.ID&rules.LocalRule != 0 }
	if c == nil && !slices.ContainsFunc(d.st.urrs, own) {
		return
	}
	var wanted []uint32
	want := func(p *rules.PDR, r *rules.PredefinedRule) {
		if group, ok := d.m.ratingGroup(d.st, p, r); ok && !slices.Contains(wanted, group|rules.LocalRule) {
			wanted = append(wanted, group|rules.LocalRule)
		}
	}
	for i := range d.st.pdrs {
		p := &d.st.pdrs[i]
		if len(p.Predefined) == 0 {
			want(p, nil)
		}
		for _, x := range d.m.rulesOf(p) {
			want(p, x.rule)
		}
	}
	d.st.urrs = slices.DeleteFunc(d.st.urrs, func(u urr) bool { return own(u) && !slices.Contains(wanted, u.ID) })
	for _, id := range wanted {
		made := c.urr(id)
		if have := findURR(d.st, id); have != nil {
			have.URR = made
			continue
		}
		d.st.urrs = append(d.st.urrs, urr{URR: made, generation: 1, thresholdGeneration: 1})
	}
}

func (c *Charging) urr(id uint32) rules.URR {
	method, triggers := rules.MethodVOLUM|rules.MethodDURAT, uint32(0)
	u := rules.URR{ID: id, Method: &method, Triggers: &triggers}
	if c.PeriodS > 0 {
		triggers |= rules.ReportPERIO
		u.Period = &c.PeriodS
	}
	if c.Volume > 0 {
		triggers |= rules.ReportVOLTH
		u.VolumeThreshold = &rules.Volume{Total: &c.Volume}
	}
	return u
}

// charged adds the URR that a PDR is charged by. A session made before charging was switched on has
// none yet.
func (c *compiler) charged(urrs []uint32, p *rules.PDR, r *rules.PredefinedRule) []uint32 {
	group, ok := c.u.m.ratingGroup(c.st, p, r)
	if !ok || findURR(c.st, group|rules.LocalRule) == nil {
		return urrs
	}
	return append(slices.Clip(urrs), group|rules.LocalRule)
}

// Causes of records that their reports do not tell.
const (
	rulesChanged = "rules_changed" // the URRs are no more, the session is
	// The unit deleted the session, and the answer did not come: the deletion is still to be done,
	// and makes the final record.
	interrupted = "interrupted"
)

// charge makes records of reports of URRs of ours; why is their cause, "": the reports tell it. Called under the mutex; what comes back is for the commit that makes the reports told.
func (m *Manager) charge(s *session, st *state, reports []*upfpb.UsageReport, why string) (writes []store.Write) {
	for _, r := range reports {
		if r.GetUrrId()&rules.LocalRule == 0 {
			continue
		}
		u := findURR(st, r.GetUrrId())
		if u == nil || m.config.Charging == nil {
			m.counts.EventsUnknown++
			continue
		}
		use := r.GetUsage()
		cause := why
		if why == "" {
			cause = chargingCause(r.GetTriggers())
		}
		if use.GetTotalPackets() == 0 && use.GetTotalBytes() == 0 && (u.seqn == 0 || cause != "final") {
			continue // nothing to be paid for, and nothing to be closed
		}
		record := m.chargingRecord(s, st, u, use, cause)
		writes = append(writes, store.AddRecord(record.Encode()))
		u.seqn++
		m.counts.ChargingRecords++
		m.counts.ChargedUplink += use.GetUlBytes()
		m.counts.ChargedDownlink += use.GetDlBytes()
	}
	return writes
}

func chargingCause(triggers uint32) string {
	switch {
	case triggers&uint32(upfpb.Trigger_TERMR) != 0:
		return "final"
	case triggers&uint32(upfpb.Trigger_VOLTH) != 0:
		return "volume_limit"
	case triggers&uint32(upfpb.Trigger_PERIO) != 0:
		return "time_limit"
	}
	return "query"
}

func (m *Manager) chargingRecord(s *session, st *state, u *urr, use *upfpb.Usage, cause string) *charging.Record {
	r := &charging.Record{
		Time: charging.Stamp(uint64(m.now().UnixMilli())), Node: m.config.Charging.Node, Unit: st.unit,
		Session: fmt.Sprintf("%#x", s.seid), CP: st.node.String(), CPSession: fmt.Sprintf("%#x", st.cp.SEID),
		User: st.user, DNN: st.dnn, NetworkInstance: st.ni,
		RatingGroup: u.ID &^ rules.LocalRule, Sequence: u.seqn, Cause: cause,
		Start: charging.Stamp(use.GetStartUnixMs()), End: charging.Stamp(use.GetEndUnixMs()),
		FirstPacket: charging.Stamp(use.GetFirstUnixMs()), LastPacket: charging.Stamp(use.GetLastUnixMs()),
		DurationMs: use.GetDurationMs(), UplinkOctets: use.GetUlBytes(), DownlinkOctets: use.GetDlBytes(),
		UplinkPackets: use.GetUlPackets(), DownlinkPackets: use.GetDlPackets(),
	}
	if st.ip4.IsValid() {
		r.IPv4 = st.ip4.String()
	}
	if st.ip6.IsValid() {
		r.IPv6 = fmt.Sprintf("%s/%d", st.ip6, st.ip6Bits)
	}
	return r
}
