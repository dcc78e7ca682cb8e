// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// decodeFAR reads Create FAR, §7.5.2.3, and Update FAR, §7.5.4.3.
func decodeFAR(g *group, b []byte) (rules.FAR, *Error) {
	var f rules.FAR
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.FARID:
			f.ID = u32(v)
		case ie.ApplyAction:
			f.Action = pointer(rules.ApplyAction(flags(v)))
		case ie.ForwardingParameters:
			p, err := decodeForwarding(createForwarding, v)
			return put(&f.Forwarding, &p, err)
		case ie.UpdateForwardingParameters:
			p, err := decodeForwarding(updateForwarding, v)
			return put(&f.Forwarding, &p, err)
		case ie.DuplicatingParameters:
			p, err := decodeForwarding(createForwarding, v)
			return add(&f.Duplicating, p, err)
		case ie.UpdateDuplicatingParameters:
			p, err := decodeForwarding(updateForwarding, v)
			return add(&f.Duplicating, p, err)
		case ie.BARID:
			f.BARID = pointer(v[0])
		}
		return nil
	})
	if err == nil && g == createFAR && *f.Action&rules.ActionFORW != 0 && f.Forwarding == nil {
		err = g.fail(rules.CauseConditionalIEMissing, ie.ForwardingParameters)
	}
	return f, err
}

// decodeForwarding reads Forwarding and Duplicating Parameters and their updates.
func decodeForwarding(g *group, b []byte) (rules.Forwarding, *Error) {
	var f rules.Forwarding
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.DestinationInterface:
			f.Destination = pointer(v[0] & 15)
			if *f.Destination > rules.VNInternal {
				return g.fail(rules.CauseMandatoryIEIncorrect, t)
			}
		case ie.TGPPInterfaceType:
			f.DestinationType = pointer(v[0] & 63)
		case ie.NetworkInstance:
			f.NetworkInstance = pointer(name(v))
		case ie.OuterHeaderCreation:
			o, err := outerHeaderCreation(g, v)
			return put(&f.OuterHeaderCreation, o, err)
		case ie.TransportLevelMarking:
			f.TransportLevelMarking = &rules.Marking{Value: v[0], Mask: v[1]}
		case ie.ForwardingPolicy:
			if int(v[0]) > len(v)-1 {
				return g.fail(rules.CauseInvalidLength, t)
			}
			f.ForwardingPolicy = pointer(string(v[1 : 1+int(v[0])]))
		case ie.RedirectInformation:
			o, err := redirect(g, v)
			return put(&f.Redirect, o, err)
		case ie.HeaderEnrichment:
			f.HeaderEnrichment = true
		case ie.TrafficEndpointID:
			f.LinkedTrafficEndpoint = pointer(v[0])
		case ie.PFCPSMReqFlags:
			f.SMReqFlags = v[0]
		}
		return nil
	})
	return f, err
}

// decodeQER reads Create QER, §7.5.2.5, and Update QER, §7.5.4.5.
func decodeQER(g *group, b []byte) (rules.QER, *Error) {
	var q rules.QER
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.QERID:
			q.ID = u32(v)
		case ie.QERCorrelationID:
			q.CorrelationID = pointer(u32(v))
		case ie.GateStatus:
			q.Gate = gate(v[0])
		case ie.MBR:
			q.MBR = bitrate(v)
		case ie.GBR:
			q.GBR = bitrate(v)
		case ie.QFI:
			q.QFI = pointer(v[0] & 63)
		case ie.RQI:
			q.RQI = pointer(v[0]&1 != 0)
		case ie.PagingPolicyIndicator:
			q.PPI = pointer(v[0] & 7)
		case ie.AveragingWindow:
			q.WindowMs = pointer(u32(v))
		}
		return nil
	})
	return q, err
}

// decodeURR reads Create URR, §7.5.2.4, and Update URR, §7.5.4.4.
func decodeURR(g *group, b []byte) (rules.URR, *Error) {
	var u rules.URR
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.URRID:
			u.ID = u32(v)
		case ie.MeasurementMethod:
			u.Method = pointer(v[0])
		case ie.ReportingTriggers:
			u.Triggers = pointer(flags(v))
		case ie.VolumeThreshold:
			o, err := volume(g, t, v)
			return put(&u.VolumeThreshold, o, err)
		case ie.VolumeQuota:
			o, err := volume(g, t, v)
			return put(&u.VolumeQuota, o, err)
		case ie.SubsequentVolumeThreshold:
			o, err := volume(g, t, v)
			return put(&u.SubsequentVolumeThreshold, o, err)
		case ie.SubsequentVolumeQuota:
			o, err := volume(g, t, v)
			return put(&u.SubsequentVolumeQuota, o, err)
		case ie.DroppedDLTrafficThreshold:
			d, err := droppedDL(g, v)
			return put(&u.DroppedDL, d, err)
		case ie.MonitoringTime:
			u.MonitoringTimeUnix = pointer(unixTime(v))
		case ie.MeasurementInformation:
			u.Information = pointer(v[0])
		case ie.LinkedURRID:
			u.LinkedURRIDs = append(u.LinkedURRIDs, u32(v))
		default:
			*urrNumber(&u, t) = pointer(u32(v))
		}
		return nil
	})
	return u, err
}

// urrNumber is where a URR keeps an IE that is a number of 32 bits.
func urrNumber(u *rules.URR, t uint16) **uint32 {
	switch t {
	case ie.MeasurementPeriod:
		return &u.Period
	case ie.TimeThreshold:
		return &u.TimeThreshold
	case ie.TimeQuota:
		return &u.TimeQuota
	case ie.EventThreshold:
		return &u.EventThreshold
	case ie.EventQuota:
		return &u.EventQuota
	case ie.QuotaHoldingTime:
		return &u.QuotaHoldingTime
	case ie.QuotaValidityTime:
		return &u.QuotaValidityTime
	case ie.SubsequentTimeThreshold:
		return &u.SubsequentTimeThreshold
	case ie.SubsequentTimeQuota:
		return &u.SubsequentTimeQuota
	case ie.InactivityDetectionTime:
		return &u.InactivityDetectionTime
	case ie.EthernetInactivityTimer:
		return &u.EthernetInactivity
	}
	return &u.QuotaFARID
}

// decodeBAR reads Create BAR, §7.5.2.6, and Update BAR, §7.5.4.11 and §7.5.9.2. Both packet
// counts are of one octet or, the one of §8.2.35, of two.
func decodeBAR(b []byte) (rules.BAR, *Error) {
	var o rules.BAR
	err := bar.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.BARID:
			o.ID = v[0]
		case ie.DownlinkDataNotificationDelay:
			o.NotifyDelayMs = pointer(uint32(v[0]) * 50)
		case ie.SuggestedBufferingPacketsCount:
			o.Packets = pointer(uint16(v[0]))
		case ie.DLBufferingSuggestedPacketCount:
			o.Packets = pointer(uint16(v[0]))
			if len(v) > 1 {
				o.Packets = pointer(u16(v))
			}
		}
		return nil
	})
	return o, err
}
