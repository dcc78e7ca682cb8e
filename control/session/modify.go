// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"slices"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

// modify changes the session as a request says: removals, creations, updates, queries.
func (d *draft) modify(r *rules.ModifyRequest) *refusal {
	if len(r.CreateTrafficEndpoints)+len(r.UpdateTrafficEndpoints)+len(r.RemoveTrafficEndpoints) > 0 {
		return refuse(rules.CauseServiceNotSupported, rules.IETrafficEndpointID, "traffic endpoints are not supported")
	}
	if r.CPFSEID != nil {
		d.st.cp = *r.CPFSEID
	}
	if r.Node != nil {
		d.st.node = *r.Node
	}
	if r.InactivityTimer != nil {
		d.st.inactivity = *r.InactivityTimer
	}
	if refused := d.remove(r); refused != nil {
		return refused
	}
	if refused := d.create(r.CreatePDRs, r.CreateFARs, r.CreateURRs, r.CreateQERs, r.CreateBARs); refused != nil {
		return refused
	}
	if refused := d.update(r); refused != nil {
		return refused
	}
	d.prune(r)
	d.dropBuffered = r.Flags&rules.FlagDROBU != 0
	d.queryAll = r.Flags&rules.FlagQAURR != 0
	d.reference = r.QueryReference
	for _, id := range r.QueryURRs {
		if id&rules.LocalRule != 0 || findURR(d.st, id) == nil {
			return ruleFailure(rules.KindURR, id, "URR %d to be queried is not there", id)
		}
		d.queryURRs = append(d.queryURRs, id)
	}
	return d.complete()
}

func (d *draft) remove(r *rules.ModifyRequest) *refusal {
	st := d.st
	for _, id := range r.RemovePDRs {
		n := len(st.pdrs)
		if st.pdrs = slices.DeleteFunc(st.pdrs, func(p rules.PDR) bool { return p.ID == id }); len(st.pdrs) == n {
			return ruleFailure(rules.KindPDR, uint32(id), "PDR %d to be removed is not there", id)
		}
	}
	for _, id := range r.RemoveFARs {
		n := len(st.fars)
		if st.fars = slices.DeleteFunc(st.fars, func(f rules.FAR) bool { return f.ID == id }); len(st.fars) == n {
			return ruleFailure(rules.KindFAR, id, "FAR %d to be removed is not there", id)
		}
	}
	for _, id := range r.RemoveQERs {
		n := len(st.qers)
		if st.qers = slices.DeleteFunc(st.qers, func(q rules.QER) bool { return q.ID == id }); len(st.qers) == n {
			return ruleFailure(rules.KindQER, id, "QER %d to be removed is not there", id)
		}
	}
	for _, id := range r.RemoveURRs {
		n := len(st.urrs)
		st.urrs = slices.DeleteFunc(st.urrs, func(u urr) bool { return u.ID == id && id&rules.LocalRule == 0 })
		if len(st.urrs) == n {
			return ruleFailure(rules.KindURR, id, "URR %d to be removed is not there", id)
		}
	}
	for _, id := range r.RemoveBARs {
		n := len(st.bars)
		if st.bars = slices.DeleteFunc(st.bars, func(b rules.BAR) bool { return b.ID == id }); len(st.bars) == n {
			return ruleFailure(rules.KindBAR, uint32(id), "BAR %d to be removed is not there", id)
		}
	}
	return nil
}

// prune takes QERs, URRs and BARs that were removed out of the rules that named them, as removal
// ends their application. A PDR without its FAR, though, is not a rule any more.
func (d *draft) prune(r *rules.ModifyRequest) {
	st := d.st
	for i := range st.pdrs {
		p := &st.pdrs[i]
		p.QERIDs = slices.DeleteFunc(p.QERIDs, func(id uint32) bool {
			return slices.Contains(r.RemoveQERs, id) && findQER(st, id) == nil
		})
		p.URRIDs = slices.DeleteFunc(p.URRIDs, func(id uint32) bool {
			return slices.Contains(r.RemoveURRs, id) && findURR(st, id) == nil
		})
	}
	for i := range st.fars {
		f := &st.fars[i]
		if f.BARID != nil && slices.Contains(r.RemoveBARs, *f.BARID) && findBAR(st, *f.BARID) == nil {
			f.BARID = nil
		}
	}
	for i := range st.urrs {
		u := &st.urrs[i]
		u.LinkedURRIDs = slices.DeleteFunc(u.LinkedURRIDs, func(id uint32) bool {
			return slices.Contains(r.RemoveURRs, id) && findURR(st, id) == nil
		})
	}
}

func (d *draft) update(r *rules.ModifyRequest) *refusal {
	for i := range r.UpdatePDRs {
		if refused := d.updatePDR(&r.UpdatePDRs[i]); refused != nil {
			return refused
		}
	}
	for i := range r.UpdateFARs {
		if refused := d.updateFAR(&r.UpdateFARs[i], r.Flags&rules.FlagSNDEM != 0); refused != nil {
			return refused
		}
	}
	for i := range r.UpdateQERs {
		if refused := d.updateQER(&r.UpdateQERs[i]); refused != nil {
			return refused
		}
	}
	for i := range r.UpdateURRs {
		if refused := d.updateURR(&r.UpdateURRs[i]); refused != nil {
			return refused
		}
	}
	for i := range r.UpdateBARs {
		if refused := d.updateBAR(&r.UpdateBARs[i]); refused != nil {
			return refused
		}
	}
	return nil
}

// set changes what an update names.
func set[T any](p **T, to *T) {
	if to != nil {
		*p = to
	}
}

func (d *draft) updatePDR(r *rules.PDR) *refusal {
	p := findPDR(d.st, r.ID)
	if p == nil {
		return ruleFailure(rules.KindPDR, uint32(r.ID), "PDR %d to be updated is not there", r.ID)
	}
	set(&p.Precedence, r.Precedence)
	set(&p.PDI, copyPDI(r.PDI))
	set(&p.OuterHeaderRemoval, r.OuterHeaderRemoval)
	set(&p.FARID, r.FARID)
	if r.URRIDs != nil {
		p.URRIDs = slices.Clone(r.URRIDs)
	}
	if r.QERIDs != nil {
		p.QERIDs = slices.Clone(r.QERIDs)
	}
	if refused := activate(p, r); refused != nil {
		return refused
	}
	d.updated = append(d.updated, r.ID)
	return nil
}

// updateFAR changes what is named of the forwarding parameters, too. Where the tunnel changes and
// SNDEM asks for it, the old one gets an End Marker, §5.2.2.2.2.
func (d *draft) updateFAR(r *rules.FAR, sndem bool) *refusal {
	f := findFAR(d.st, r.ID)
	if f == nil {
		return ruleFailure(rules.KindFAR, r.ID, "FAR %d to be updated is not there", r.ID)
	}
	set(&f.Action, r.Action)
	f.Duplicating = mergeDuplicating(f.Duplicating, r.Duplicating)
	if r.BARID != nil {
		if f.BARID = r.BARID; *r.BARID == 0 {
			f.BARID = nil
		}
	}
	w := r.Forwarding
	if w == nil {
		return nil
	}
	old := rules.Forwarding{}
	if f.Forwarding != nil {
		old = *f.Forwarding
	}
	merged := mergeForwarding(old, w)
	f.Forwarding = &merged
	if sndem || w.SMReqFlags&rules.FlagSNDEM != 0 {
		return d.endMarker(f, &old, &merged)
	}
	return nil
}

func mergeForwarding(f rules.Forwarding, w *rules.Forwarding) rules.Forwarding {
	set(&f.Destination, w.Destination)
	set(&f.DestinationType, w.DestinationType)
	set(&f.NetworkInstance, w.NetworkInstance)
	set(&f.OuterHeaderCreation, w.OuterHeaderCreation)
	set(&f.TransportLevelMarking, w.TransportLevelMarking)
	set(&f.ForwardingPolicy, w.ForwardingPolicy)
	set(&f.LinkedTrafficEndpoint, w.LinkedTrafficEndpoint)
	if set(&f.Redirect, w.Redirect); f.Redirect != nil && *f.Redirect == (rules.Redirect{}) {
		f.Redirect = nil
	}
	f.HeaderEnrichment = f.HeaderEnrichment || w.HeaderEnrichment
	return f
}

// mergeDuplicating takes the parameters by their place, as they have no ids; as many as there are
// in the update are there in the end.
func mergeDuplicating(have, update []rules.Forwarding) []rules.Forwarding {
	if update == nil {
		return have
	}
	merged := slices.Clone(update)
	for i := range merged {
		if i < len(have) {
			merged[i] = mergeForwarding(have[i], &update[i])
		}
	}
	return merged
}

func (d *draft) endMarker(f *rules.FAR, old, merged *rules.Forwarding) *refusal {
	o, n := old.OuterHeaderCreation, merged.OuterHeaderCreation
	if o == nil || n == nil || *o == *n || o.Description&(rules.CreateGTPUIPv4|rules.CreateGTPUIPv6) == 0 {
		return nil
	}
	w, refused := (&compiler{u: d.u, st: d.st}).forwarding(f.ID, old)
	if refused != nil {
		return refused
	}
	d.endMarkers = append(d.endMarkers, &upfpb.EndMarker{
		Interface: w.Interface, Peer: w.Peer, Port: w.Port, Teid: w.Teid, Tos: w.Tos & w.TosMask,
	})
	return nil
}

func (d *draft) updateQER(r *rules.QER) *refusal {
	q := findQER(d.st, r.ID)
	if q == nil {
		return ruleFailure(rules.KindQER, r.ID, "QER %d to be updated is not there", r.ID)
	}
	set(&q.CorrelationID, r.CorrelationID)
	set(&q.Gate, r.Gate)
	set(&q.MBR, r.MBR)
	set(&q.GBR, r.GBR)
	set(&q.QFI, r.QFI)
	set(&q.RQI, r.RQI)
	set(&q.PPI, r.PPI)
	set(&q.WindowMs, r.WindowMs)
	return nil
}

// updateURR raises a generation when thresholds or quotas are provided: they count from 0 on.
func (d *draft) updateURR(r *rules.URR) *refusal {
	u := findURR(d.st, r.ID)
	if u == nil || r.ID&rules.LocalRule != 0 {
		return ruleFailure(rules.KindURR, r.ID, "URR %d to be updated is not there", r.ID)
	}
	if r.VolumeThreshold != nil || r.TimeThreshold != nil || r.EventThreshold != nil {
		u.thresholdGeneration++
	}
	if r.VolumeQuota != nil || r.TimeQuota != nil || r.EventQuota != nil {
		u.generation++
	}
	set(&u.Method, r.Method)
	set(&u.Triggers, r.Triggers)
	set(&u.Period, r.Period)
	set(&u.VolumeThreshold, r.VolumeThreshold)
	set(&u.VolumeQuota, r.VolumeQuota)
	set(&u.TimeThreshold, r.TimeThreshold)
	set(&u.TimeQuota, r.TimeQuota)
	set(&u.EventThreshold, r.EventThreshold)
	set(&u.EventQuota, r.EventQuota)
	set(&u.QuotaHoldingTime, r.QuotaHoldingTime)
	set(&u.QuotaValidityTime, r.QuotaValidityTime)
	set(&u.DroppedDL, r.DroppedDL)
	set(&u.MonitoringTimeUnix, r.MonitoringTimeUnix)
	set(&u.SubsequentVolumeThreshold, r.SubsequentVolumeThreshold)
	set(&u.SubsequentTimeThreshold, r.SubsequentTimeThreshold)
	set(&u.SubsequentVolumeQuota, r.SubsequentVolumeQuota)
	set(&u.SubsequentTimeQuota, r.SubsequentTimeQuota)
	set(&u.InactivityDetectionTime, r.InactivityDetectionTime)
	set(&u.Information, r.Information)
	set(&u.QuotaFARID, r.QuotaFARID)
	set(&u.EthernetInactivity, r.EthernetInactivity)
	if r.LinkedURRIDs != nil {
		u.LinkedURRIDs = slices.Clone(r.LinkedURRIDs)
	}
	return nil
}

func (d *draft) updateBAR(r *rules.BAR) *refusal {
	b := findBAR(d.st, r.ID)
	if b == nil {
		return ruleFailure(rules.KindBAR, uint32(r.ID), "BAR %d to be updated is not there", r.ID)
	}
	set(&b.NotifyDelayMs, r.NotifyDelayMs)
	set(&b.Packets, r.Packets)
	return nil
}
