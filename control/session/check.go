// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"math/bits"

	"airpath/control/rules"
)

// check holds every rule of the draft to what the clauses and this UP function allow, and every
// reference to what is there.
func (d *draft) check() *refusal {
	st := d.st
	for _, n := range []struct {
		kind  rules.RuleKind
		count int
	}{{rules.KindPDR, len(st.pdrs)}, {rules.KindFAR, len(st.fars)}, {rules.KindQER, len(st.qers)}, {rules.KindURR, len(st.urrs)}} {
		if n.count > maxRules {
			return refuse(rules.CauseNoResources, 0, "%d rules of a kind, at most %d", n.count, maxRules)
		}
	}
	for i := range st.pdrs {
		if refused := checkPDR(st, &st.pdrs[i]); refused != nil {
			return refused
		}
	}
	if refused := d.checkDetection(); refused != nil {
		return refused
	}
	for i := range st.fars {
		if refused := checkFAR(st, &st.fars[i]); refused != nil {
			return refused
		}
	}
	for i := range st.qers {
		if refused := checkQER(&st.qers[i]); refused != nil {
			return refused
		}
	}
	for i := range st.urrs {
		if refused := checkURR(st, &st.urrs[i]); refused != nil {
			return refused
		}
	}
	return nil
}

func checkPDR(st *state, p *rules.PDR) *refusal {
	id := uint32(p.ID)
	switch {
	case p.Precedence == nil:
		return refuse(rules.CauseMandatoryIEMissing, rules.IEPrecedence, "PDR %d without precedence", id).of(rules.KindPDR, id)
	case p.PDI == nil:
		return refuse(rules.CauseMandatoryIEMissing, rules.IEPDI, "PDR %d without PDI", id).of(rules.KindPDR, id)
	case p.FARID == nil && (len(p.Predefined) == 0 || isCore(p.PDI.Source)):
		return refuse(rules.CauseConditionalIEMissing, rules.IEFARID, "PDR %d without FAR", id).of(rules.KindPDR, id)
	case p.FARID != nil && findFAR(st, *p.FARID) == nil:
		return ruleFailure(rules.KindPDR, id, "PDR %d: FAR %d is not there", id, *p.FARID)
	}
	for _, q := range p.QERIDs {
		if findQER(st, q) == nil {
			return ruleFailure(rules.KindPDR, id, "PDR %d: QER %d is not there", id, q)
		}
	}
	for _, u := range p.URRIDs {
		if findURR(st, u) == nil || u&rules.LocalRule != 0 {
			return ruleFailure(rules.KindPDR, id, "PDR %d: URR %d is not there", id, u)
		}
	}
	if refused := checkEthernet(st, p.PDI, id); refused != nil {
		return refused
	}
	return checkPDI(p.PDI, id, p.OuterHeaderRemoval)
}

func checkPDI(p *rules.PDI, id uint32, removal *rules.OuterHeaderRemoval) *refusal {
	switch {
	case p.Source > rules.CPFunction:
		return refuse(rules.CauseServiceNotSupported, rules.IESourceInterface, "PDR %d: source interface %d", id, p.Source).of(rules.KindPDR, id)
	case len(p.TrafficEndpoints) > 0:
		return refuse(rules.CauseServiceNotSupported, rules.IETrafficEndpointID, "PDR %d: traffic endpoints", id).of(rules.KindPDR, id)
	}
	for _, q := range p.QFIs {
		if q > 63 {
			return refuse(rules.CauseMandatoryIEIncorrect, rules.IEQFI, "PDR %d: QFI %d", id, q).of(rules.KindPDR, id)
		}
	}
	for _, u := range p.UEIPs {
		if u.DelegationBits > 63 || u.PrefixLength > 128 || (u.IPv4.IsValid() && !u.IPv4.Is4()) || (u.IPv6.IsValid() && !u.IPv6.Is6()) ||
			(u.IPv4.IsValid() && (u.IPv4.IsUnspecified() || u.IPv4.IsMulticast())) {
			return refuse(rules.CauseMandatoryIEIncorrect, rules.IEUEIPAddress, "PDR %d: UE IP address", id).of(rules.KindPDR, id)
		}
	}
	if removal != nil && removal.Description != rules.RemoveGTPUIPv4 && removal.Description != rules.RemoveGTPUIPv6 &&
		removal.Description != rules.RemoveGTPUIP {
		return refuse(rules.CauseServiceNotSupported, rules.IEOuterHeaderRemoval, "PDR %d: outer header removal %d", id, removal.Description).of(rules.KindPDR, id)
	}
	return nil
}

// actionOne are the actions of which there is exactly one, §8.2.26.
const actionOne = rules.ActionDROP | rules.ActionFORW | rules.ActionBUFF | rules.ActionIPMA | rules.ActionIPMD

func checkFAR(st *state, f *rules.FAR) *refusal {
	if f.Action == nil {
		return refuse(rules.CauseMandatoryIEMissing, rules.IEApplyAction, "FAR %d without action", f.ID).of(rules.KindFAR, f.ID)
	}
	a := *f.Action
	switch {
	case bits.OnesCount16(uint16(a&actionOne)) != 1,
		a&(rules.ActionNOCP|rules.ActionBDPN) != 0 && a&rules.ActionBUFF == 0,
		a&rules.ActionDFRT != 0 && a&rules.ActionFORW == 0:
		return refuse(rules.CauseMandatoryIEIncorrect, rules.IEApplyAction, "FAR %d: action %#x", f.ID, a).of(rules.KindFAR, f.ID)
	case a&(rules.ActionIPMA|rules.ActionIPMD|rules.ActionDFRT|rules.ActionEDRT|rules.ActionFSSM|rules.ActionMBSU) != 0:
		return refuse(rules.CauseServiceNotSupported, rules.IEApplyAction, "FAR %d: action %#x", f.ID, a).of(rules.KindFAR, f.ID)
	case a&rules.ActionFORW != 0 && f.Forwarding == nil:
		return refuse(rules.CauseConditionalIEMissing, rules.IEForwardingParameters, "FAR %d forwards nowhere", f.ID).of(rules.KindFAR, f.ID)
	case a&rules.ActionDUPL != 0 && len(f.Duplicating) == 0:
		return refuse(rules.CauseConditionalIEMissing, ieDuplicatingParameters, "FAR %d duplicates nowhere", f.ID).of(rules.KindFAR, f.ID)
	case f.BARID != nil && findBAR(st, *f.BARID) == nil:
		return ruleFailure(rules.KindFAR, f.ID, "FAR %d: BAR %d is not there", f.ID, *f.BARID)
	}
	return nil
}

const ieDuplicatingParameters uint16 = 5

// The highest rate of a QER, kbit/s: what the meters of the forwarding unit can do.
const rateMax = 1_000_000_000

func checkQER(q *rules.QER) *refusal {
	switch {
	case q.QFI != nil && *q.QFI > 63:
		return refuse(rules.CauseMandatoryIEIncorrect, rules.IEQFI, "QER %d: QFI %d", q.ID, *q.QFI).of(rules.KindQER, q.ID)
	case q.MBR != nil && q.GBR != nil && (q.GBR.UL > q.MBR.UL || q.GBR.DL > q.MBR.DL):
		return refuse(rules.CauseMandatoryIEIncorrect, rules.IEGBR, "QER %d: GBR above MBR", q.ID).of(rules.KindQER, q.ID)
	}
	return nil
}

func checkURR(st *state, u *urr) *refusal {
	switch {
	case u.Method == nil:
		return refuse(rules.CauseMandatoryIEMissing, rules.IEMeasurementMethod, "URR %d without measurement method", u.ID).of(rules.KindURR, u.ID)
	case u.Triggers == nil:
		return refuse(rules.CauseMandatoryIEMissing, rules.IEReportingTriggers, "URR %d without reporting triggers", u.ID).of(rules.KindURR, u.ID)
	case *u.Method&(rules.MethodDURAT|rules.MethodVOLUM|rules.MethodEVENT) == 0:
		return refuse(rules.CauseMandatoryIEIncorrect, rules.IEMeasurementMethod, "URR %d: method %#x", u.ID, *u.Method).of(rules.KindURR, u.ID)
	case *u.Triggers&(rules.ReportIPMJL|rules.ReportREEMR) != 0:
		return refuse(rules.CauseServiceNotSupported, rules.IEReportingTriggers, "URR %d: triggers %#x", u.ID, *u.Triggers).of(rules.KindURR, u.ID)
	case u.SubsequentVolumeQuota != nil || u.SubsequentTimeQuota != nil:
		return refuse(rules.CauseServiceNotSupported, 0, "URR %d: subsequent quotas", u.ID).of(rules.KindURR, u.ID)
	case u.QuotaFARID != nil && findFAR(st, *u.QuotaFARID) == nil:
		return ruleFailure(rules.KindURR, u.ID, "URR %d: FAR %d for quota action is not there", u.ID, *u.QuotaFARID)
	}
	for _, id := range u.LinkedURRIDs {
		if findURR(st, id) == nil || id&rules.LocalRule != 0 {
			return ruleFailure(rules.KindURR, u.ID, "URR %d: linked URR %d is not there", u.ID, id)
		}
	}
	return nil
}
