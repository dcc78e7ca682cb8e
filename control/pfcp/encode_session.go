// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"net/netip"
	"time"

	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// EncodeSessionAnswer writes the response to a session request of the type given. address is
// ours, that of the UP F-SEID.
func (s *Self) EncodeSessionAnswer(request uint8, sequence uint32, address netip.Addr, a *rules.Answer, c Control) []byte {
	ies := make([]*ie.IE, 0, 8+len(a.CreatedPDRs)+len(a.Usage))
	if request == SessionEstablishmentRequest {
		ies = append(ies, nodeIE(s.Node))
	}
	ies = append(ies, causeIE(a.Cause))
	ies = append(ies, offendingIE(a.OffendingIE)...)
	if request == SessionEstablishmentRequest && a.UPSEID != 0 {
		ies = append(ies, fseidIE(a.UPSEID, address))
	}
	for i := range a.CreatedPDRs {
		ies = append(ies, grouped(ie.CreatedPDR, created(ie.NewPDRID(a.CreatedPDRs[i].ID),
			a.CreatedPDRs[i].FTEID, a.CreatedPDRs[i].UEIPs)))
	}
	for i := range a.UpdatedPDRs {
		ies = append(ies, grouped(ie.UpdatedPDR, created(ie.NewPDRID(a.UpdatedPDRs[i].ID),
			a.UpdatedPDRs[i].FTEID, a.UpdatedPDRs[i].UEIPs)))
	}
	for i := range a.CreatedTrafficEndpoints {
		e := &a.CreatedTrafficEndpoints[i]
		ies = append(ies, grouped(ie.CreatedTrafficEndpoint, created(ie.NewTrafficEndpointID(e.ID),
			e.FTEID, e.UEIPs)))
	}
	if a.Failed != nil {
		ies = append(ies, ie.NewFailedRuleID(uint8(a.Failed.Kind), a.Failed.ID))
	}
	if a.QueryReference != nil && request == SessionModificationRequest {
		ies = append(ies, ie.NewAdditionalUsageReportsInformation(0))
	}
	usage := ie.UsageReportWithinSessionModificationResponse
	if request == SessionDeletionRequest {
		usage = ie.UsageReportWithinSessionDeletionResponse
	}
	for i := range a.Usage {
		ies = append(ies, usageIE(usage, &a.Usage[i]))
	}
	return to{request + 1, a.CPSEID, sequence}.write(append(ies, c.ies()...)...)
}

// EncodeSessionReport writes a PFCP Session Report Request, §7.5.8.
func (s *Self) EncodeSessionReport(sequence uint32, r *rules.SessionReport, c Control) []byte {
	var kind [4]int // UPIR, ERIR, USAR, DLDR
	var ies []*ie.IE
	if r.DownlinkData != nil {
		kind[3] = 1
		ies = append(ies, downlinkDataIE(r.DownlinkData))
	}
	for i := range r.Usage {
		kind[2] = 1
		ies = append(ies, usageIE(ie.UsageReportWithinSessionReportRequest, &r.Usage[i]))
	}
	if r.ErrorIndication != nil {
		kind[1] = 1
		e := r.ErrorIndication
		ies = append(ies, ie.NewErrorIndicationReport(fteidIE(&rules.FTEID{TEID: e.TEID,
			IPv4: only4(e.Peer), IPv6: only6(e.Peer)})))
	}
	if r.Inactivity {
		kind[0] = 1
	}
	ies = append([]*ie.IE{ie.NewReportType(kind[0], kind[1], kind[2], kind[3])}, ies...)
	return to{SessionReportRequest, r.CPFSEID.SEID, sequence}.write(append(ies, c.ies()...)...)
}

func only4(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	return netip.Addr{}
}

func only6(a netip.Addr) netip.Addr {
	if a.Is6() {
		return a
	}
	return netip.Addr{}
}

func fseidIE(seid uint64, a netip.Addr) *ie.IE {
	return ie.NewFSEID(seid, netIP(only4(a)), netIP(only6(a)))
}

func fteidIE(f *rules.FTEID) *ie.IE {
	var bits uint8
	if f.IPv4.IsValid() {
		bits |= 1
	}
	if f.IPv6.IsValid() {
		bits |= 2
	}
	return ie.NewFTEID(bits, f.TEID, netIP(f.IPv4), netIP(f.IPv6), 0)
}

// ueIPIE writes an address the UP function chose, §8.2.62.
func ueIPIE(a *rules.UEIP) *ie.IE {
	b := []byte{0}
	if a.IPv4.IsValid() {
		b[0] |= 2
		b = append(b, a.IPv4.AsSlice()...)
	}
	if a.IPv6.IsValid() {
		b[0] |= 1
		b = append(b, a.IPv6.AsSlice()...)
	}
	if a.Destination {
		b[0] |= 4
	}
	if a.DelegationBits != 0 {
		b[0] |= 8
		b = append(b, a.DelegationBits)
	}
	if a.PrefixLength != 0 {
		b[0] |= 0x40
		b = append(b, a.PrefixLength)
	}
	return ie.New(ie.UEIPAddress, b)
}

// grouped is what go-pfcp's constructors of grouped IEs make, but for a payload that is written
// and never read.
func grouped(t uint16, members []*ie.IE) *ie.IE {
	g := &ie.IE{Type: t, ChildIEs: members}
	for _, m := range members {
		g.Length += uint16(m.MarshalLen())
	}
	return g
}

func created(id *ie.IE, f *rules.FTEID, ueIPs []rules.UEIP) []*ie.IE {
	ies := append(make([]*ie.IE, 0, 2+len(ueIPs)), id)
	if f != nil {
		ies = append(ies, fteidIE(f))
	}
	for i := range ueIPs {
		ies = append(ies, ueIPIE(&ueIPs[i]))
	}
	return ies
}

func downlinkDataIE(d *rules.DownlinkData) *ie.IE {
	ies := []*ie.IE{ie.NewPDRID(d.PDRID)}
	if d.QFI != nil || d.PPI != nil {
		var ppi, qfi uint8
		if d.PPI != nil {
			ppi = *d.PPI
		}
		if d.QFI != nil {
			qfi = *d.QFI
		}
		ies = append(ies, ie.NewDownlinkDataServiceInformation(d.PPI != nil, d.QFI != nil, ppi, qfi))
	}
	return ie.NewDownlinkDataReport(ies...)
}

// usageIE writes a Usage Report of the IE type given, §7.5.5.2, §7.5.7.2, §7.5.8.3.
func usageIE(t uint16, u *rules.UsageReport) *ie.IE {
	ies := append(make([]*ie.IE, 0, 12), ie.NewURRID(u.URRID), ie.NewURSEQN(u.SEQN),
		ie.NewUsageReportTrigger(uint8(u.Triggers), uint8(u.Triggers>>8), uint8(u.Triggers>>16)))
	stamp := func(seconds uint64, make func(time.Time) *ie.IE) {
		if seconds != 0 {
			ies = append(ies, make(time.Unix(int64(seconds), 0)))
		}
	}
	stamp(u.StartUnix, ie.NewStartTime)
	stamp(u.EndUnix, ie.NewEndTime)
	if u.HasVolume {
		v, f := &u.Volume, uint8(7)
		if v.HasPackets {
			f = 0x3f
		}
		ies = append(ies, ie.NewVolumeMeasurement(f, v.TotalBytes, v.UplinkBytes, v.DownlinkBytes,
			v.TotalPackets, v.UplinkPackets, v.DownlinkPackets))
	}
	if u.HasDuration {
		ies = append(ies, ie.NewDurationMeasurement(time.Duration(u.DurationSeconds)*time.Second))
	}
	if u.Detected != nil {
		ies = append(ies, detectionIE(u.Detected))
	}
	if u.Ethernet != nil {
		ies = append(ies, ethernetIE(u.Ethernet))
	}
	stamp(u.FirstPacketUnix, ie.NewTimeOfFirstPacket)
	stamp(u.LastPacketUnix, ie.NewTimeOfLastPacket)
	if u.QueryReference != nil {
		ies = append(ies, ie.NewQueryURRReference(*u.QueryReference))
	}
	for _, e := range u.EventsUnix {
		stamp(e, ie.NewEventTimeStamp)
	}
	return grouped(t, ies)
}

// ethernetIE writes Ethernet Traffic Information, table 7.5.8.3-3.
func ethernetIE(e *rules.EthernetTraffic) *ie.IE {
	var ies []*ie.IE
	addresses := func(t uint16, list []rules.MAC) {
		if len(list) == 0 {
			return
		}
		b := []byte{byte(len(list))}
		for _, m := range list {
			b = append(b, m[:]...)
		}
		if e.VID != 0 { // C-TAG as octets 5 to 7 of §8.2.94: VID alone
			b = append(b, 3, 4, byte(e.VID>>8)<<4, byte(e.VID))
		} else {
			b = append(b, 0)
		}
		ies = append(ies, ie.New(t, append(b, 0))) // no S-TAG
	}
	addresses(ie.MACAddressesDetected, e.Detected)
	addresses(ie.MACAddressesRemoved, e.Removed)
	return grouped(ie.EthernetTrafficInformation, ies)
}

// detectionIE writes Application Detection Information, table 7.5.8.3-2.
func detectionIE(d *rules.ApplicationDetected) *ie.IE {
	ies := []*ie.IE{ie.NewApplicationID(d.Application)}
	if d.Instance != "" {
		ies = append(ies, ie.NewApplicationInstanceID(d.Instance))
	}
	if d.Flow != "" {
		ies = append(ies, ie.NewFlowInformation(ie.FlowDirectionBidirectional, d.Flow))
	}
	if d.PDRID != 0 {
		ies = append(ies, ie.NewPDRID(d.PDRID))
	}
	return grouped(ie.ApplicationDetectionInformation, ies)
}
