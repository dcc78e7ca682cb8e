// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

func u64(v uint64) []byte { return append(word(uint32(v>>32)), word(uint32(v))...) }

// everyRule is a modification with every IE the decoder knows.
func everyRule() []byte {
	v6 := netip.MustParseAddr("2001:db8::1").AsSlice()
	endpoint := [][]byte{tlv(ie.TrafficEndpointID, octets(4)), tlv(ie.SourceInterface, octets(0xf0)),
		tlv(ie.TGPPInterfaceType, octets(11)), tlv(ie.FTEID, octets(7)), tlv(ie.NetworkInstance, []byte("n3")),
		tlv(ie.UEIPAddress, octets(0x30)), tlv(ie.QFI, octets(0xc9)), tlv(ie.FramedRoute, []byte("10.9.0.0/24")),
		tlv(ie.FramedIPv6Route, []byte("2001:db8:9::/48"))}
	forwarding := [][]byte{tlv(ie.DestinationInterface, octets(0)), tlv(ie.TGPPInterfaceType, octets(11)),
		tlv(ie.NetworkInstance, octets(2, 'n', '3', 3, 'n', 'e', 't', 0)),
		tlv(ie.OuterHeaderCreation, octets(0x3, 0x1), word(77), octets(10, 0, 0, 9), v6),
		tlv(ie.TransportLevelMarking, octets(0xb8, 0xfc)), tlv(ie.ForwardingPolicy, octets(2, 'p', 'q')),
		tlv(ie.RedirectInformation, octets(0xf2, 0, 10), []byte("http://a/b")), tlv(ie.HeaderEnrichment), tlv(ie.TrafficEndpointID, octets(3))}
	sdf := tlv(ie.SDFFilter, octets(0x1f, 0, 0, 3), []byte("xyz"), octets(0xb8, 0xfc), word(0x1234),
		octets(0xfa, 0xbc, 0xde), word(5))
	volumes := slices.Concat(octets(7), u64(1), u64(2), u64(3))
	return slices.Concat(tNode, tFSEID, tlv(ie.PFCPSMReqFlags, octets(7)),
		tlv(ie.UserPlaneInactivityTimer, word(0)), tlv(ie.QueryURR, tlv(ie.URRID, word(1))),
		tlv(ie.QueryURRReference, word(8)),
		tlv(ie.RemovePDR, tPDRID), tlv(ie.RemoveFAR, tFARID), tlv(ie.RemoveURR, tlv(ie.URRID, word(3))),
		tlv(ie.RemoveQER, tlv(ie.QERID, word(4))), tlv(ie.RemoveBAR, tlv(ie.BARID, octets(5))),
		tlv(ie.RemoveTrafficEndpoint, tlv(ie.TrafficEndpointID, octets(6))),
		tlv(ie.CreateTrafficEndpoint, endpoint...), tlv(ie.UpdateTrafficEndpoint, endpoint[0]),
		tlv(ie.CreatePDR, tPDRID, tPrec, tlv(ie.ActivatePredefinedRules, []byte("gold")),
			tlv(ie.PDI, tlv(ie.SourceInterface, octets(0)), tlv(ie.TrafficEndpointID, octets(4)), sdf,
				tlv(ie.SDFFilter, octets(0, 0)), tlv(ie.ApplicationID, []byte("app")),
				tlv(ie.EthernetPDUSessionInformation, octets(1)),
				tlv(ie.EthernetPacketFilter, tlv(ie.EthernetFilterID, word(6)), tlv(ie.EthernetFilterProperties, octets(1)),
					tlv(ie.MACAddress, octets(15, 2, 0, 0, 0, 0, 1), octets(2, 0, 0, 0, 0, 2), octets(2, 0, 0, 0, 0, 3),
						octets(2, 0, 0, 0, 0, 4)),
					tlv(ie.Ethertype, octets(8, 6)), tlv(ie.CTAG, octets(7, 0x1d, 0x23)), tlv(ie.STAG, octets(4, 0xf0, 1)),
					tlv(ie.SDFFilter, octets(0, 0))),
				tlv(ie.EthernetPacketFilter), tlv(ie.UEIPAddress, octets(0x4f), octets(10, 0, 0, 1), v6, octets(8, 56)),
				tlv(ie.FTEID, octets(3), word(9), octets(10, 0, 0, 2), v6))),
		tlv(ie.UpdatePDR, tPDRID, tlv(ie.OuterHeaderRemoval, octets(6, 1)), tPrec, tFARID,
			tlv(ie.ActivatePredefinedRules, []byte("gold")), tlv(ie.DeactivatePredefinedRules, []byte("iron"))),
		tlv(ie.CreateFAR, tFARID, tlv(ie.ApplyAction, octets(0x16, 1, 9, 9, 9)),
			tlv(ie.ForwardingParameters, forwarding...), tlv(ie.DuplicatingParameters, forwarding[0])),
		tlv(ie.UpdateFAR, tFARID, tlv(ie.UpdateForwardingParameters, tlv(ie.PFCPSMReqFlags, octets(2)), tlv(ie.RedirectInformation)),
			tlv(ie.UpdateDuplicatingParameters, forwarding[3]), tlv(ie.BARID, octets(0))),
		tlv(ie.CreateQER, tlv(ie.QERID, word(1)), tlv(ie.QERCorrelationID, word(2)), tlv(ie.GateStatus, octets(0xf4)),
			tlv(ie.MBR, octets(1, 0, 0, 0, 0, 0, 0, 0, 0, 64)), tlv(ie.GBR, make([]byte, 10)), tlv(ie.QFI, octets(0xff)),
			tlv(ie.RQI, octets(0xff)), tlv(ie.PagingPolicyIndicator, octets(0xff)), tlv(ie.AveragingWindow, word(2000))),
		tlv(ie.UpdateQER, tlv(ie.QERID, word(1)), tlv(ie.GateStatus, octets(0x0a))),
		tlv(ie.CreateURR, tlv(ie.URRID, word(1)), tlv(ie.MeasurementMethod, octets(7)), tlv(ie.ReportingTriggers, octets(1, 2, 3)),
			tlv(ie.MeasurementPeriod, word(60)), tlv(ie.VolumeThreshold, volumes), tlv(ie.VolumeQuota, volumes),
			tlv(ie.EventThreshold, word(11)), tlv(ie.EventQuota, word(12)), tlv(ie.TimeThreshold, word(13)),
			tlv(ie.TimeQuota, word(14)), tlv(ie.QuotaHoldingTime, word(15)), tlv(ie.QuotaValidityTime, word(16)),
			tlv(ie.DroppedDLTrafficThreshold, octets(3), u64(4), u64(5)), tlv(ie.MonitoringTime, word(0xeeac7033)),
			tlv(ie.SubsequentVolumeThreshold, volumes), tlv(ie.SubsequentVolumeQuota, volumes),
			tlv(ie.SubsequentTimeThreshold, word(17)), tlv(ie.SubsequentTimeQuota, word(18)),
			tlv(ie.InactivityDetectionTime, word(19)), tlv(ie.MeasurementInformation, octets(0xb)),
			tlv(ie.LinkedURRID, word(20)), tlv(ie.LinkedURRID, word(21)), tlv(ie.FARID, word(22)), tlv(ie.EthernetInactivityTimer, word(23))),
		tlv(ie.UpdateURR, tlv(ie.URRID, word(1)), tlv(ie.MonitoringTime, word(5))),
		tlv(ie.CreateBAR, tlv(ie.BARID, octets(1)), tlv(ie.SuggestedBufferingPacketsCount, octets(9)),
			tlv(ie.DownlinkDataNotificationDelay, octets(3))),
		tlv(ie.UpdateBARWithinSessionModificationRequest, tlv(ie.BARID, octets(1)),
			tlv(ie.DLBufferingSuggestedPacketCount, octets(1, 0))))
}

func TestEveryRule(t *testing.T) {
	r, err := DecodeModification(everyRule())
	if err != nil {
		t.Fatal(err)
	}
	v4, v6 := netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("2001:db8::1")
	smf := netip.MustParseAddr("127.0.0.4")
	n := func(v uint32) *uint32 { return &v }
	o := func(v uint8) *uint8 { return &v }
	volumes := &rules.Volume{Total: pointer(uint64(1)), Uplink: pointer(uint64(2)), Downlink: pointer(uint64(3))}
	creation := &rules.OuterHeaderCreation{Description: rules.CreateGTPUIPv4 | rules.CreateGTPUIPv6 | rules.CreateN19,
		TEID: 77, IPv4: v4, IPv6: v6}
	want := &rules.ModifyRequest{
		Node: &rules.NodeID{Addr: smf}, CPFSEID: &rules.FSEID{SEID: 9, IPv4: smf},
		RemovePDRs: []uint16{1}, RemoveFARs: []uint32{1}, RemoveURRs: []uint32{3}, RemoveQERs: []uint32{4},
		RemoveBARs: []uint8{5}, RemoveTrafficEndpoints: []uint8{6},
		CreateTrafficEndpoints: []rules.TrafficEndpoint{{ID: 4, Source: o(0), SourceType: o(11),
			LocalFTEID: &rules.FTEID{Choose: true, ChooseIPv4: true, ChooseIPv6: true}, NetworkInstance: pointer("n3"),
			UEIPs: []rules.UEIP{{ChooseIPv4: true, ChooseIPv6: true}}, QFIs: []uint8{9},
			FramedRoutes: []string{"10.9.0.0/24"}, FramedIPv6Routes: []string{"2001:db8:9::/48"}}},
		UpdateTrafficEndpoints: []rules.TrafficEndpoint{{ID: 4}},
		CreatePDRs: []rules.PDR{{ID: 1, Precedence: n(255), Predefined: []string{"gold"}, PDI: &rules.PDI{
			TrafficEndpoints: []uint8{4}, SDFFilters: []rules.SDFFilter{{Flow: pointer("xyz"),
				ToS: &rules.Marking{Value: 0xb8, Mask: 0xfc}, SPI: n(0x1234), FlowLabel: n(0xabcde), ID: n(5)}, {}},
			ApplicationID: pointer("app"), Ethernet: true,
			EthernetFilters: []rules.EthernetFilter{{ID: n(6), Bidirectional: true, MACs: []rules.MACFilter{{
				Source: &rules.MAC{2, 0, 0, 0, 0, 1}, Destination: &rules.MAC{2, 0, 0, 0, 0, 2},
				SourceUpper: &rules.MAC{2, 0, 0, 0, 0, 3}, DestinationUpper: &rules.MAC{2, 0, 0, 0, 0, 4}}},
				Type: pointer(uint16(0x806)), CTag: &rules.VLANTag{Value: 0xb123, Mask: 0xffff},
				STag: &rules.VLANTag{Value: 0xf01, Mask: 0xfff}, SDFFilters: []rules.SDFFilter{{}}}, {}},
			UEIPs: []rules.UEIP{{IPv4: netip.MustParseAddr("10.0.0.1"), IPv6: v6, Destination: true, DelegationBits: 8,
				PrefixLength: 56}},
			LocalFTEID: &rules.FTEID{TEID: 9, IPv4: netip.MustParseAddr("10.0.0.2"), IPv6: v6}}}},
		UpdatePDRs: []rules.PDR{{ID: 1, Precedence: n(255), FARID: n(1), Predefined: []string{"gold"}, Deactivated: []string{"iron"},
			OuterHeaderRemoval: &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP, Extension: 1}}},
		CreateFARs: []rules.FAR{{ID: 1, Action: pointer(rules.ActionFORW | rules.ActionBUFF | rules.ActionDUPL | rules.ActionEDRT),
			Forwarding: &rules.Forwarding{Destination: o(0), DestinationType: o(11), NetworkInstance: pointer("n3.net"),
				OuterHeaderCreation: creation, TransportLevelMarking: &rules.Marking{Value: 0xb8, Mask: 0xfc},
				ForwardingPolicy: pointer("pq"), Redirect: &rules.Redirect{Type: 2, Address: "http://a/b"}, HeaderEnrichment: true, LinkedTrafficEndpoint: o(3)},
			Duplicating: []rules.Forwarding{{Destination: o(0)}}}},
		UpdateFARs: []rules.FAR{{ID: 1, Forwarding: &rules.Forwarding{SMReqFlags: rules.FlagSNDEM, Redirect: &rules.Redirect{}},
			Duplicating: []rules.Forwarding{{OuterHeaderCreation: creation}}, BARID: o(0)}},
		CreateQERs: []rules.QER{{ID: 1, CorrelationID: n(2), Gate: &rules.Gate{ULClosed: true},
			MBR: &rules.Bitrate{UL: 1 << 32, DL: 64}, GBR: &rules.Bitrate{}, QFI: o(63), RQI: pointer(true), PPI: o(7),
			WindowMs: n(2000)}},
		UpdateQERs: []rules.QER{{ID: 1, Gate: &rules.Gate{ULClosed: true, DLClosed: true}}},
		CreateURRs: []rules.URR{{ID: 1, Method: o(7), Triggers: n(0x30201), Period: n(60), VolumeThreshold: volumes,
			VolumeQuota: volumes, EventThreshold: n(11), EventQuota: n(12), TimeThreshold: n(13), TimeQuota: n(14),
			QuotaHoldingTime: n(15), QuotaValidityTime: n(16), DroppedDL: &rules.DroppedDL{Packets: 4, Bytes: 5},
			MonitoringTimeUnix: pointer(uint64(1795289523)), SubsequentVolumeThreshold: volumes,
			SubsequentVolumeQuota: volumes, SubsequentTimeThreshold: n(17), SubsequentTimeQuota: n(18),
			InactivityDetectionTime: n(19), Information: o(0xb), LinkedURRIDs: []uint32{20, 21}, QuotaFARID: n(22), EthernetInactivity: n(23)}},
		UpdateURRs: []rules.URR{{ID: 1, MonitoringTimeUnix: pointer(uint64(2085978501))}},
		CreateBARs: []rules.BAR{{ID: 1, Packets: pointer(uint16(9)), NotifyDelayMs: n(150)}},
		UpdateBARs: []rules.BAR{{ID: 1, Packets: pointer(uint16(256))}},
		Flags:      7, QueryURRs: []uint32{1}, QueryReference: n(8), InactivityTimer: n(0),
	}
	got, expected := reflect.ValueOf(*r), reflect.ValueOf(*want)
	for i := range got.NumField() {
		if !reflect.DeepEqual(got.Field(i).Interface(), expected.Field(i).Interface()) {
			t.Errorf("%s\ngot  %+v\nwant %+v", got.Type().Field(i).Name, got.Field(i), expected.Field(i))
		}
	}
}

func TestOuterHeaderCreations(t *testing.T) {
	for _, c := range []struct {
		v    []byte
		want rules.OuterHeaderCreation
	}{
		{octets(4, 0, 10, 0, 0, 9, 8, 1), rules.OuterHeaderCreation{Description: rules.CreateUDPIPv4,
			IPv4: netip.MustParseAddr("10.0.0.9"), Port: 2049}},
		{octets(0xd0, 0, 10, 0, 0, 9, 1, 2, 3, 4, 5, 6), rules.OuterHeaderCreation{
			Description: rules.CreateIPv4 | rules.CreateCTag | rules.CreateSTag, IPv4: netip.MustParseAddr("10.0.0.9"),
			CTag: true, STag: true}},
	} {
		o, err := outerHeaderCreation(createForwarding, c.v)
		if err != nil || *o != c.want {
			t.Errorf("%x: %+v, %v", c.v, o, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ v, want string }{
		{"internet", "internet"}, {"\x08internet", "internet"}, {"\x08internet\x00", "internet"},
		{"\x03ims\x06mnc001\x04gprs", "ims.mnc001.gprs"}, {"ims.apn", "ims.apn"}, {"", ""},
		{"\x09internet", "\x09internet"}, {"\x08intern\x01t", "\x08intern\x01t"}, {"\x00", "\x00"},
		{"\x00\x01a", "\x00\x01a"},
	} {
		if got := name([]byte(c.v)); got != c.want {
			t.Errorf("%q: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestUserIDs(t *testing.T) {
	for _, c := range []struct {
		v    []byte
		want string
	}{
		{octets(1, 3, 0x21, 0x43, 0xf5), "imsi-12345"}, {octets(2, 1, 0x21), "imei-12"},
		{octets(4, 2, 0x21, 0x43), "msisdn-1234"}, {octets(8, 3, 'a', '@', 0xff), "nai-a@?"},
		{octets(0), ""}, {octets(1, 9, 1), ""},
	} {
		if got := userID(c.v); got != c.want {
			t.Errorf("%x: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestReportAnswer(t *testing.T) {
	r, err := DecodeReportAnswer(slices.Concat(tlv(ie.Cause, octets(1)), tFSEID, tlv(ie.PFCPSRRspFlags, octets(1)),
		tlv(ie.UpdateBARWithinSessionReportResponse, tlv(ie.BARID, octets(1)), tlv(ie.DLBufferingSuggestedPacketCount, octets(7)))))
	if err != nil {
		t.Fatal(err)
	}
	want := &rules.ReportAnswer{Cause: rules.CauseAccepted, DropBuffer: true,
		UpdateBARs: []rules.BAR{{ID: 1, Packets: pointer(uint16(7))}},
		CPFSEID:    &rules.FSEID{SEID: 9, IPv4: netip.MustParseAddr("127.0.0.4")}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v", r)
	}
	if _, err := DecodeReportAnswer(nil); err == nil || err.IE != ie.Cause {
		t.Errorf("no cause: %v", err)
	}
}

func TestAssociations(t *testing.T) {
	stamp := tlv(ie.RecoveryTimeStamp, word(0xeeac7033))
	at := time.Unix(1795289523, 0)
	v6 := netip.MustParseAddr("2001:db8::1")
	for _, c := range []struct {
		name string
		t    uint8
		b    []byte
		want Association
	}{
		{"setup", AssociationSetupRequest, slices.Concat(tNode, stamp, tlv(ie.CPFunctionFeatures, octets(1, 2))),
			Association{Node: rules.NodeID{Addr: netip.MustParseAddr("127.0.0.4")}, Recovery: at, CPFeatures: []byte{1, 2}}},
		{"retention", AssociationSetupRequest, slices.Concat(tlv(ie.NodeID, octets(1), v6.AsSlice()), stamp,
			tlv(ie.PFCPSessionRetentionInformation, tlv(ie.CPPFCPEntityIPAddress, octets(2, 10, 0, 0, 1)),
				tlv(ie.CPPFCPEntityIPAddress, octets(1), v6.AsSlice()))),
			Association{Node: rules.NodeID{Addr: v6}, Recovery: at, Retain: true,
				RetainOf: []netip.Addr{netip.MustParseAddr("10.0.0.1"), v6}}},
		{"answer", AssociationSetupResponse, slices.Concat(tlv(ie.NodeID, octets(2, 3, 's', 'M', 'f', 1, 'x')), stamp, tlv(ie.Cause, octets(1))),
			Association{Node: rules.NodeID{FQDN: "smf.x"}, Recovery: at, Cause: rules.CauseAccepted}},
		{"update", AssociationUpdateRequest, slices.Concat(tNode, tlv(ie.PFCPAUReqFlags, octets(1))),
			Association{Node: rules.NodeID{Addr: netip.MustParseAddr("127.0.0.4")}, Preparing: true}},
		{"node report answer", NodeReportResponse, slices.Concat(tNode, tlv(ie.Cause, octets(72))),
			Association{Node: rules.NodeID{Addr: netip.MustParseAddr("127.0.0.4")}, Cause: rules.CauseNoAssociation}},
	} {
		a, err := DecodeAssociation(c.t, c.b)
		if err != nil || !reflect.DeepEqual(*a, c.want) {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
	if _, err := DecodeAssociation(AssociationSetupRequest, tNode); err == nil || err.IE != ie.RecoveryTimeStamp {
		t.Errorf("no stamp: %v", err)
	}
	if _, err := DecodeAssociation(AssociationReleaseRequest, stamp); err == nil || err.IE != ie.NodeID {
		t.Errorf("no node: %v", err)
	}
}
