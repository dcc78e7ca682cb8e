// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

var errFilterID = errors.New("SDF filter ID that no PDR of the session describes")

const gtpuPort = 2152

func (c *compiler) far(f *rules.FAR) (*upfpb.Far, *refusal) {
	a := *f.Action
	o := &upfpb.Far{
		Id: f.ID, Drop: a&rules.ActionDROP != 0, Forward: a&rules.ActionFORW != 0,
		Buffer: a&rules.ActionBUFF != 0, NotifyCp: a&rules.ActionNOCP != 0,
	}
	if f.BARID != nil {
		o.BarId = uint32(*f.BARID)
	}
	var refused *refusal
	if o.Forward {
		if o.Forwarding, refused = c.forwarding(f.ID, f.Forwarding); refused != nil {
			return nil, refused
		}
	}
	if a&rules.ActionDUPL != 0 {
		for i := range f.Duplicating {
			w, refused := c.forwarding(f.ID, &f.Duplicating[i])
			if refused != nil {
				return nil, refused
			}
			o.Duplicates = append(o.Duplicates, w)
		}
	}
	return o, nil
}

func (c *compiler) forwarding(far uint32, w *rules.Forwarding) (*upfpb.Forwarding, *refusal) {
	switch {
	case w.Destination == nil:
		return nil, refuse(rules.CauseMandatoryIEMissing, rules.IEDestinationInterface, "FAR %d without destination", far).of(rules.KindFAR, far)
	case *w.Destination > rules.CPFunction:
		return nil, refuse(rules.CauseServiceNotSupported, rules.IEDestinationInterface, "FAR %d: destination interface %d", far, *w.Destination).of(rules.KindFAR, far)
	case w.ForwardingPolicy != nil:
		return nil, refuse(rules.CauseInvalidForwardingPolicy, rules.IEForwardingPolicy, "FAR %d: forwarding policy %q", far, *w.ForwardingPolicy).of(rules.KindFAR, far)
	case w.HeaderEnrichment:
		return nil, refuse(rules.CauseServiceNotSupported, 0, "FAR %d: header enrichment", far).of(rules.KindFAR, far)
	case w.Redirect != nil && w.Redirect.Type != rules.RedirectURL:
		return nil, refuse(rules.CauseServiceNotSupported, rules.IERedirectInformation, "FAR %d: redirection to an address of type %d", far, w.Redirect.Type).of(rules.KindFAR, far)
	case w.Redirect != nil && !RedirectURL(w.Redirect.Address):
		return nil, refuse(rules.CauseMandatoryIEIncorrect, rules.IERedirectInformation, "FAR %d: redirection to %q, which is not http:// or https:// and up to %d printable characters", far, w.Redirect.Address, redirectMax).of(rules.KindFAR, far)
	}
	ni := w.NetworkInstance
	if ni == nil && isCore(*w.Destination) {
		ni = &c.st.ni
	}
	in, _ := c.find(*w.Destination, ni, w.DestinationType)
	if in == nil {
		return nil, ruleFailure(rules.KindFAR, far, "FAR %d: no interface of type %d for network instance %q", far, *w.Destination, niText(ni))
	}
	o := &upfpb.Forwarding{Destination: upfpb.InterfaceType(*w.Destination), Interface: in.GetIndex()}
	if w.Redirect != nil {
		o.RedirectUrl = w.Redirect.Address
	}
	if m := w.TransportLevelMarking; m != nil {
		o.Tos, o.TosMask = uint32(m.Value&m.Mask), uint32(m.Mask)
	}
	if w.OuterHeaderCreation != nil {
		if refused := c.outerHeader(far, w, in, o); refused != nil {
			return nil, refused
		}
	}
	return o, nil
}

// outerHeader: of two families offered the one our interface speaks is taken, IPv4 first.
func (c *compiler) outerHeader(far uint32, w *rules.Forwarding, in *upfpb.Interface, o *upfpb.Forwarding) *refusal {
	h := w.OuterHeaderCreation
	gtpu := h.Description&(rules.CreateGTPUIPv4|rules.CreateGTPUIPv6) != 0
	udp := h.Description&(rules.CreateUDPIPv4|rules.CreateUDPIPv6) != 0
	if gtpu == udp || h.Description&^(rules.CreateGTPUIPv4|rules.CreateGTPUIPv6|rules.CreateUDPIPv4|rules.CreateUDPIPv6|
		rules.CreateN19|rules.CreateN6) != 0 {
		return refuse(rules.CauseServiceNotSupported, rules.IEOuterHeaderCreation, "FAR %d: outer header creation %#x", far, h.Description).of(rules.KindFAR, far)
	}
	v4 := h.IPv4.IsValid() && h.Description&(rules.CreateGTPUIPv4|rules.CreateUDPIPv4) != 0
	v6 := h.IPv6.IsValid() && h.Description&(rules.CreateGTPUIPv6|rules.CreateUDPIPv6) != 0
	switch {
	case v4 && (len(in.GetIp4()) != 0 || !v6):
		o.Peer = h.IPv4.AsSlice()
	case v6:
		o.Peer = h.IPv6.AsSlice()
	default:
		return refuse(rules.CauseMandatoryIEIncorrect, rules.IEOuterHeaderCreation, "FAR %d: outer header without address", far).of(rules.KindFAR, far)
	}
	o.Gtpu, o.Teid, o.Port = gtpu, h.TEID, gtpuPort
	if udp {
		o.Port, o.Teid = uint32(h.Port), 0
	}
	o.PduSessionContainer = gtpu && c.container(*w.Destination, w.DestinationType)
	return nil
}

// container says whether a tunnel carries PDU session information (TS 38.415): those of N3 and
// N9, which the 3GPP interface type tells; without one a QFI tells a 5GS. The SMF's does not.
func (c *compiler) container(destination uint8, type3GPP *uint8) bool {
	if destination == rules.CPFunction {
		return false
	}
	if type3GPP != nil {
		switch *type3GPP {
		case 11, 12, 13, 15:
			return true
		}
		return false
	}
	if c.hasQF {
		return true
	}
	for i := range c.st.qers {
		if c.st.qers[i].QFI != nil {
			return true
		}
	}
	return false
}

// rate brings a limit into what a meter can do; 0 blocks.
func rate(kbps uint64) uint64 { return min(kbps, rateMax) }

func compileQER(q *rules.QER) *upfpb.Qer {
	o := &upfpb.Qer{Id: q.ID}
	if q.Gate != nil {
		o.GateUlClosed, o.GateDlClosed = q.Gate.ULClosed, q.Gate.DLClosed
	}
	if q.MBR != nil {
		o.Mbr = &upfpb.Rate{UlKbps: rate(q.MBR.UL), DlKbps: rate(q.MBR.DL)}
	}
	if q.GBR != nil {
		o.Gbr = &upfpb.Rate{UlKbps: rate(q.GBR.UL), DlKbps: rate(q.GBR.DL)}
	}
	if q.QFI != nil {
		o.HasQfi, o.Qfi = true, uint32(*q.QFI)
	}
	o.Rqi = q.RQI != nil && *q.RQI
	if q.PPI != nil {
		o.HasPpi, o.Ppi = true, uint32(*q.PPI)
	}
	return o
}

func volume(v *rules.Volume) *upfpb.Volume {
	if v == nil {
		return nil
	}
	o := &upfpb.Volume{}
	if v.Total != nil {
		o.HasTotal, o.Total = true, *v.Total
	}
	if v.Uplink != nil {
		o.HasUplink, o.Uplink = true, *v.Uplink
	}
	if v.Downlink != nil {
		o.HasDownlink, o.Downlink = true, *v.Downlink
	}
	return o
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func compileURR(u *urr) *upfpb.Urr {
	info := orZero(u.Information)
	o := &upfpb.Urr{
		Id: u.ID, Volume: *u.Method&rules.MethodVOLUM != 0, Duration: *u.Method&rules.MethodDURAT != 0,
		Event: *u.Method&rules.MethodEVENT != 0, Triggers: askedTriggers(*u.Triggers),
		VolumeThreshold: volume(u.VolumeThreshold), VolumeQuota: volume(u.VolumeQuota),
		TimeThresholdS: orZero(u.TimeThreshold), EventThreshold: orZero(u.EventThreshold),
		HasTimeQuota: u.TimeQuota != nil, TimeQuotaS: orZero(u.TimeQuota),
		HasEventQuota: u.EventQuota != nil, EventQuota: orZero(u.EventQuota),
		PeriodS: orZero(u.Period), QuotaHoldingS: orZero(u.QuotaHoldingTime),
		InactivityS: orZero(u.InactivityDetectionTime), QuotaValidityS: orZero(u.QuotaValidityTime),
		MonitoringUnixS: orZero(u.MonitoringTimeUnix), SubsequentVolumeThreshold: volume(u.SubsequentVolumeThreshold),
		SubsequentTimeThresholdS: orZero(u.SubsequentTimeThreshold), LinkedUrrIds: u.LinkedURRIDs,
		BeforeQos: info&rules.InfoMBQE != 0, Inactive: info&rules.InfoINAM != 0, ImmediateStart: info&rules.InfoISTM != 0,
		HasQuotaFar: u.QuotaFARID != nil, QuotaFarId: orZero(u.QuotaFARID), QuotaGeneration: u.generation, ThresholdGeneration: u.thresholdGeneration,
	}
	if d := u.DroppedDL; d != nil {
		o.DroppedDlPackets = uint32(min(d.Packets, 1<<32-1))
		o.DroppedDlBytes = d.Bytes
	}
	return o
}
