// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"net/netip"
	"slices"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

// Limits of a session. A BAR ID is one octet.
const maxRules = 256 // of each kind

// refusal says why a request cannot be done.
type refusal struct {
	cause  rules.Cause
	ie     uint16
	failed *rules.FailedRule
	reason string
}

func refuse(cause rules.Cause, ie uint16, format string, args ...any) *refusal {
	return &refusal{cause: cause, ie: ie, reason: fmt.Sprintf(format, args...)}
}

// of names the rule at fault.
func (r *refusal) of(kind rules.RuleKind, id uint32) *refusal {
	r.failed = &rules.FailedRule{Kind: kind, ID: id}
	return r
}

func ruleFailure(kind rules.RuleKind, id uint32, format string, args ...any) *refusal {
	return refuse(rules.CauseRuleFailure, 0, format, args...).of(kind, id)
}

// draft is a session as a request wants it. What it takes of TEIDs and addresses it gives back
// unless the request succeeds.
type draft struct {
	m   *Manager
	u   *unit
	st  *state
	old *state // before a modification; nil: establishment

	restoration bool
	created     []uint16 // PDRs to answer for
	updated     []uint16
	asked       map[uint16]asked
	chosen      map[chosen]uint32 // TEIDs by CHOOSE ID, of this request

	teids    []uint32 // taken for the draft
	foreign  []uint32
	prefixes []netip.Prefix

	endMarkers   []*upfpb.EndMarker
	dropBuffered bool
	queryURRs    []uint32
	queryAll     bool
	reference    *uint32 // Query URR Reference
}

// asked is what a PDR left to the UP function.
type asked struct {
	fteid, ueip bool
}

type chosen struct {
	id uint8
	in uint32 // interface index
}

func newDraft(m *Manager, st, old *state) *draft {
	return &draft{m: m, st: st, old: old, asked: map[uint16]asked{}}
}

// undo gives back what the draft took.
func (d *draft) undo() {
	for _, p := range d.prefixes {
		d.m.pools.free(d.st.ni, p)
	}
	now := d.m.nowMs()
	for _, t := range d.teids {
		_ = d.u.teids.Free(t, now)
	}
	for _, t := range d.foreign {
		delete(d.u.foreign, t)
	}
}

// settle gives back what the old state had and the new one has not.
func (d *draft) settle() {
	if d.old == nil {
		return
	}
	d.m.freeAddresses(d.old, d.st)
	now := d.m.nowMs()
	kept := d.st.teids()
	for _, t := range d.old.teids() {
		if slices.Contains(kept, t) || t == d.st.handle {
			continue
		}
		if slices.Contains(d.old.foreign, t) {
			delete(d.u.foreign, t)
		} else {
			_ = d.u.teids.Free(t, now)
		}
	}
}

// teids of the session's tunnels, each once.
func (st *state) teids() []uint32 {
	var list []uint32
	for i := range st.pdrs {
		if f := st.pdrs[i].PDI.LocalFTEID; f != nil && !slices.Contains(list, f.TEID) {
			list = append(list, f.TEID)
		}
	}
	return list
}

// establish makes a session of a request.
func (d *draft) establish(r *rules.EstablishRequest) *refusal {
	st := d.st
	st.node, st.cp, st.dnn, st.user = r.Node, r.CPFSEID, r.DNN, r.UserID
	if r.InactivityTimer != nil {
		st.inactivity = *r.InactivityTimer
	}
	d.restoration = r.Restoration
	if len(r.TrafficEndpoints) > 0 {
		return refuse(rules.CauseServiceNotSupported, rules.IETrafficEndpointID, "traffic endpoints are not supported")
	}
	st.ethernet = r.PDNType == rules.PDNEthernet
	if r.PDNType == rules.PDNNonIP {
		return refuse(rules.CauseServiceNotSupported, rules.IEPDNType, "PDN type %d is not supported", r.PDNType)
	}
	if len(r.PDRs) == 0 {
		return refuse(rules.CauseMandatoryIEMissing, rules.IECreatePDR, "no PDR")
	}
	if len(r.FARs) == 0 {
		return refuse(rules.CauseMandatoryIEMissing, rules.IECreateFAR, "no FAR")
	}
	if refused := d.create(r.PDRs, r.FARs, r.URRs, r.QERs, r.BARs); refused != nil {
		return refused
	}
	return d.complete()
}

// complete checks the whole and takes what it needs.
func (d *draft) complete() *refusal {
	d.chargeRules()
	if refused := d.check(); refused != nil {
		return refused
	}
	if refused := d.addresses(); refused != nil {
		return refused
	}
	if refused := d.home(); refused != nil {
		return refused
	}
	return d.tunnels()
}

// create adds rules, whose identifiers must be new, without touching the request's memory.
func (d *draft) create(pdrs []rules.PDR, fars []rules.FAR, urrs []rules.URR, qers []rules.QER, bars []rules.BAR) *refusal {
	st := d.st
	for i := range pdrs {
		p := pdrs[i]
		if p.ID == 0 || findPDR(st, p.ID) != nil {
			return ruleFailure(rules.KindPDR, uint32(p.ID), "PDR %d is there already, or 0", p.ID)
		}
		p.PDI = copyPDI(p.PDI)
		st.pdrs = append(st.pdrs, p)
		d.created = append(d.created, p.ID)
	}
	for i := range fars {
		if findFAR(st, fars[i].ID) != nil || fars[i].ID&rules.LocalRule != 0 {
			return ruleFailure(rules.KindFAR, fars[i].ID, "FAR %d is there already, or one of the UP function's", fars[i].ID)
		}
		st.fars = append(st.fars, fars[i])
	}
	for i := range qers {
		if findQER(st, qers[i].ID) != nil || qers[i].ID&rules.LocalRule != 0 {
			return ruleFailure(rules.KindQER, qers[i].ID, "QER %d is there already, or one of the UP function's", qers[i].ID)
		}
		st.qers = append(st.qers, qers[i])
	}
	for i := range urrs {
		if findURR(st, urrs[i].ID) != nil || urrs[i].ID&rules.LocalRule != 0 {
			return ruleFailure(rules.KindURR, urrs[i].ID, "URR %d is there already, or one of the UP function's", urrs[i].ID)
		}
		st.urrs = append(st.urrs, urr{URR: urrs[i], generation: 1, thresholdGeneration: 1})
	}
	for i := range bars {
		if bars[i].ID == 0 || findBAR(st, bars[i].ID) != nil {
			return ruleFailure(rules.KindBAR, uint32(bars[i].ID), "BAR %d is there already, or 0", bars[i].ID)
		}
		st.bars = append(st.bars, bars[i])
	}
	return nil
}

// copyPDI so that what is chosen is not written into the request.
func copyPDI(p *rules.PDI) *rules.PDI {
	if p == nil {
		return nil
	}
	q := *p
	q.UEIPs = slices.Clone(p.UEIPs)
	if p.LocalFTEID != nil {
		f := *p.LocalFTEID
		q.LocalFTEID = &f
	}
	return &q
}

func findPDR(st *state, id uint16) *rules.PDR {
	for i := range st.pdrs {
		if st.pdrs[i].ID == id {
			return &st.pdrs[i]
		}
	}
	return nil
}

func findFAR(st *state, id uint32) *rules.FAR {
	for i := range st.fars {
		if st.fars[i].ID == id {
			return &st.fars[i]
		}
	}
	return nil
}

func findQER(st *state, id uint32) *rules.QER {
	for i := range st.qers {
		if st.qers[i].ID == id {
			return &st.qers[i]
		}
	}
	return nil
}

func findURR(st *state, id uint32) *urr {
	for i := range st.urrs {
		if st.urrs[i].ID == id {
			return &st.urrs[i]
		}
	}
	return nil
}

func findBAR(st *state, id uint8) *rules.BAR {
	for i := range st.bars {
		if st.bars[i].ID == id {
			return &st.bars[i]
		}
	}
	return nil
}

// answer says what was chosen.
func (d *draft) answer() *rules.Answer {
	a := &rules.Answer{Cause: rules.CauseAccepted, CPSEID: d.st.cp.SEID, QueryReference: d.reference}
	if d.old == nil {
		a.UPSEID = d.st.seid
	}
	a.CreatedPDRs = d.chosenOf(d.created)
	a.UpdatedPDRs = d.chosenOf(d.updated)
	return a
}

func (d *draft) chosenOf(ids []uint16) []rules.CreatedPDR {
	var out []rules.CreatedPDR
	for _, id := range ids {
		ask, any := d.asked[id]
		p := findPDR(d.st, id)
		if !any || p == nil {
			continue
		}
		c := rules.CreatedPDR{ID: id}
		if ask.fteid {
			f := *p.PDI.LocalFTEID
			c.FTEID = &f
		}
		if ask.ueip {
			c.UEIPs = p.PDI.UEIPs
		}
		out = append(out, c)
	}
	return out
}

func (r *refusal) answer(cpSEID uint64) *rules.Answer {
	return &rules.Answer{Cause: r.cause, OffendingIE: r.ie, Failed: r.failed, Reason: r.reason, CPSEID: cpSEID}
}
