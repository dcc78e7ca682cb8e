// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"bytes"
	"encoding/hex"
	"net"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

func (r *rig) sent(q *rules.EstablishRequest) *upfpb.Session {
	r.t.Helper()
	return r.unit.Session(r.accepted(r.establish(q)).UPSEID)
}

// TestSidesOfFilters: a description is written in the downlink's direction, §5.2.1A.2A; one that
// is bidirectional is described once, §8.2.5.
func TestSidesOfFilters(t *testing.T) {
	r := newRig(t)
	q := plain(7, "10.45.0.3")
	q.PDRs[0].PDI.SDFFilters = []rules.SDFFilter{
		{Flow: ptr("permit out 17 from 8.8.8.0/24 53,100-200 to assigned 4000"), ID: ptr(uint32(9))},
		{ToS: &rules.Marking{Value: 0xB8, Mask: 0xFC}, SPI: ptr(uint32(77)), FlowLabel: ptr(uint32(0x12345))},
	}
	q.PDRs[1].PDI.SDFFilters = []rules.SDFFilter{{ID: ptr(uint32(9))}, {Flow: ptr("permit out ip from any to assigned")}}
	s := r.sent(q)
	down := &upfpb.Filter{Protocol: 17, Source: &upfpb.Prefix{Address: []byte{8, 8, 8, 0}, Bits: 24},
		SourcePorts:      []*upfpb.PortRange{{First: 53, Last: 53}, {First: 100, Last: 200}},
		DestinationPorts: []*upfpb.PortRange{{First: 4000, Last: 4000}}}
	up := &upfpb.Filter{Protocol: 17, Destination: down.Source, DestinationPorts: down.SourcePorts, SourcePorts: down.DestinationPorts}
	marked := &upfpb.Filter{Protocol: 256, Tos: 0xB8, TosMask: 0xFC, MatchSpi: true, Spi: 77, MatchFlowLabel: true, FlowLabel: 0x12345}
	for i, want := range []*upfpb.Filter{down, marked} {
		if got := s.GetPdrs()[0].GetFilters()[i]; !proto.Equal(got, want) {
			t.Errorf("downlink %d: %v, not %v", i, got, want)
		}
	}
	for i, want := range []*upfpb.Filter{up, {Protocol: 256}} {
		if got := s.GetPdrs()[1].GetFilters()[i]; !proto.Equal(got, want) {
			t.Errorf("uplink %d: %v, not %v", i, got, want)
		}
	}
}

func TestWhereInterfacesAre(t *testing.T) {
	u := &unit{interfaces: []*upfpb.Interface{
		{Index: 1, Name: "n3", Types: []upfpb.InterfaceType{upfpb.InterfaceType_ACCESS}},
		{Index: 2, Name: "n9", Types: []upfpb.InterfaceType{upfpb.InterfaceType_ACCESS, upfpb.InterfaceType_CORE}},
		{Index: 3, Name: "n6", Types: []upfpb.InterfaceType{upfpb.InterfaceType_CORE}, NetworkInstances: []string{"internet", "web"}},
		{Index: 4, Name: "n6b", Types: []upfpb.InterfaceType{upfpb.InterfaceType_CORE}, NetworkInstances: []string{"ims"}},
		{Index: 5, Name: "smf", Types: []upfpb.InterfaceType{upfpb.InterfaceType_CP_FUNCTION}, NetworkInstances: []string{"control"}},
	}}
	for _, c := range []struct {
		kind  uint8
		ni    string
		as    *uint8
		index uint32
		exact bool
	}{
		{rules.Access, "internet", ptr(uint8(11)), 1, false}, {rules.Access, "internet", ptr(uint8(15)), 2, false},
		{rules.Access, "", nil, 1, false}, {rules.Core, "web", ptr(uint8(17)), 3, true}, {rules.Core, "ims", nil, 4, true},
		{rules.Core, "none", ptr(uint8(15)), 2, false}, {rules.CPFunction, "internet", nil, 5, false},
		{rules.SGiN6LAN, "internet", nil, 0, false},
	} {
		in, exact := u.find(c.kind, &c.ni, c.as)
		if in.GetIndex() != c.index || exact != c.exact {
			t.Errorf("%+v: %d %v", c, in.GetIndex(), exact)
		}
	}
	u.interfaces = u.interfaces[2:4]
	if in, _ := u.find(rules.Core, nil, nil); in != nil {
		t.Error("two interfaces would do, neither is meant", in)
	}
}

// TestRouterSolicitations is what an SMF asks for to configure an IPv6 UE: the UE's solicitations
// to its own GTP-U endpoint, its advertisements to the UE.
func TestRouterSolicitations(t *testing.T) {
	r := newRig(t)
	q := plain(7, "10.45.0.3")
	q.PDRs = append(q.PDRs,
		rules.PDR{ID: 3, Precedence: ptr(uint32(255)), FARID: ptr(uint32(1)), OuterHeaderRemoval: &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP},
			PDI: &rules.PDI{Source: rules.CPFunction, LocalFTEID: &rules.FTEID{Choose: true, ChooseIPv4: true, ChooseIPv6: true}}},
		rules.PDR{ID: 4, Precedence: ptr(uint32(255)), FARID: ptr(uint32(3)), OuterHeaderRemoval: &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP},
			PDI: &rules.PDI{Source: rules.Access, LocalFTEID: choose(5),
				SDFFilters: []rules.SDFFilter{{Flow: ptr("permit out 58 from ff02::2/128 to assigned")}}}})
	q.FARs = append(q.FARs, rules.FAR{ID: 3, Action: ptr(rules.ActionFORW), Forwarding: &rules.Forwarding{Destination: ptr(rules.CPFunction),
		OuterHeaderCreation: &rules.OuterHeaderCreation{Description: rules.CreateGTPUIPv4, TEID: 2, IPv4: ip("127.0.0.4")}}})
	a := r.accepted(r.establish(q))
	if len(a.CreatedPDRs) != 3 || a.CreatedPDRs[0].FTEID.TEID != a.CreatedPDRs[2].FTEID.TEID {
		t.Errorf("%+v", a.CreatedPDRs)
	}
	s := r.unit.Session(a.UPSEID)
	f := s.GetPdrs()[3].GetFilters()[0]
	if f.GetSource() != nil || !bytes.Equal(f.GetDestination().GetAddress(), net.ParseIP("ff02::2")) || f.GetDestination().GetBits() != 128 || f.GetProtocol() != 58 {
		t.Error(f)
	}
	w := s.GetFars()[2].GetForwarding()
	if w.GetDestination() != upfpb.InterfaceType_CP_FUNCTION || w.GetPduSessionContainer() || w.GetTeid() != 2 {
		t.Error(w)
	}
}

func TestForwarding(t *testing.T) {
	r := newRig(t)
	q := plain(7, "10.45.0.3")
	q.PDRs[0].PDI.FramedRoutes = []string{"192.168.7.1/24 0.0.0.0 1", "192.168.9.9"}
	q.PDRs[0].PDI.FramedIPv6Routes = []string{"2001:db8:7::/48 :: 1"}
	q.PDRs[1].OuterHeaderRemoval.Extension = 1
	q.FARs = append(q.FARs, rules.FAR{ID: 3, Action: ptr(rules.ActionFORW | rules.ActionDUPL),
		Forwarding: &rules.Forwarding{Destination: ptr(rules.Access), TransportLevelMarking: &rules.Marking{Value: 0xFF, Mask: 0xFC},
			OuterHeaderCreation: &rules.OuterHeaderCreation{Description: rules.CreateGTPUIPv4 | rules.CreateGTPUIPv6, TEID: 9,
				IPv4: ip("10.3.0.2"), IPv6: ip("fd00::2")}},
		Duplicating: []rules.Forwarding{{Destination: ptr(rules.Core), NetworkInstance: ptr("ims"),
			OuterHeaderCreation: &rules.OuterHeaderCreation{Description: rules.CreateUDPIPv6, IPv6: ip("fd00::3"), Port: 99}}}})
	q.QERs[0].MBR = &rules.Bitrate{UL: 1, DL: 1 << 39}
	q.QERs[0].GBR = &rules.Bitrate{UL: 0, DL: 5000}
	q.QERs[0].Gate = &rules.Gate{DLClosed: true}
	q.QERs[0].RQI, q.QERs[0].PPI = ptr(true), ptr(uint8(3))
	q.BARs[0].Packets, q.BARs[0].NotifyDelayMs = ptr(uint16(300)), ptr(uint32(100))
	q.InactivityTimer = ptr(uint32(60))
	s := r.sent(q)
	p := s.GetPdrs()[0]
	if len(p.GetFramedRoutes()) != 3 || p.GetFramedRoutes()[0].GetBits() != 24 || p.GetFramedRoutes()[0].GetAddress()[3] != 0 ||
		p.GetFramedRoutes()[1].GetBits() != 32 || p.GetFramedRoutes()[2].GetBits() != 48 || !s.GetPdrs()[1].GetRemoveExtension() {
		t.Error(s.GetPdrs())
	}
	f := s.GetFars()[2]
	if w := f.GetForwarding(); w.GetTos() != 0xFC || w.GetTosMask() != 0xFC || !bytes.Equal(w.GetPeer(), []byte{10, 3, 0, 2}) || !w.GetPduSessionContainer() {
		t.Error(w)
	}
	if w := f.GetDuplicates()[0]; w.GetInterface() != 3 || w.GetGtpu() || w.GetPort() != 99 || len(w.GetPeer()) != 16 || w.GetPduSessionContainer() {
		t.Error(w)
	}
	want := &upfpb.Qer{Id: 1, GateDlClosed: true, Mbr: &upfpb.Rate{UlKbps: 1, DlKbps: rateMax}, Gbr: &upfpb.Rate{DlKbps: 5000},
		HasQfi: true, Qfi: 1, Rqi: true, HasPpi: true, Ppi: 3}
	if !proto.Equal(s.GetQers()[0], want) {
		t.Error(s.GetQers()[0])
	}
	if b := s.GetBars()[0]; b.GetPackets() != 300 || b.GetNotifyDelayMs() != 100 || s.GetInactivityS() != 60 {
		t.Error(b, s.GetInactivityS())
	}
}

// versionOne is a record as the agent wrote it before it knew applications.
const versionOne = "010102810200017504c000020100000000000000000000000105020101ff010101000108696e7465726e65740001040a2d0003000100000000000000" +
	"0101010101010201ff010100010b0108696e7465726e6574010900000000010100000106000102010101010201010c00000101020102010101000108" +
	"696e7465726e65740000000001010001000001c0843dc0843d0001010000000101030400010201020001018080803200000000000000000000000000" +
	"000000000101000004c0000201e5440901784d"

// TestOldRecords: an agent that is newer goes on with the sessions it finds.
func TestOldRecords(t *testing.T) {
	b, err := hex.DecodeString(versionOne)
	if err != nil {
		t.Fatal(err)
	}
	st, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	q := plain(7, "10.45.0.3")
	q.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: 9}
	if !reflect.DeepEqual(st.pdrs, q.PDRs) || !reflect.DeepEqual(st.fars, q.FARs) || st.urrs[0].seqn != 3 || string(st.last.wire) != "x" {
		t.Errorf("%+v", st)
	}
	again, err := decode(st.encode())
	if err != nil || !reflect.DeepEqual(again, st) {
		t.Errorf("%+v %v", again, err)
	}
}

// FuzzRecord: a record that is broken is told, never a crash; one that is read is written alike.
func FuzzRecord(f *testing.F) {
	st := &state{seid: 1, version: 2, handle: 0x101, unit: "u", node: smf, foreign: []uint32{5}}
	q := plain(7, "10.45.0.3")
	q.PDRs[1].PDI.LocalFTEID = &rules.FTEID{TEID: 9}
	st.pdrs, st.fars, st.qers, st.bars = q.PDRs, q.FARs, q.QERs, q.BARs
	st.urrs = []urr{{URR: q.URRs[0], seqn: 3, generation: 4}}
	st.last = lastAnswer{peer: tx(1).Peer, sequence: 9, digest: 77, wire: []byte("x")}
	f.Add(st.encode())
	f.Fuzz(func(t *testing.T, record []byte) {
		st, err := decode(record)
		if err != nil {
			return
		}
		again, err := decode(st.encode())
		if err != nil || !bytes.Equal(again.encode(), st.encode()) {
			t.Fatal("written otherwise", err)
		}
	})
}

// TestEthernetSessions: by a LAN of the network instance; a bidirectional filter is described once,
// as the frames of its PDR look, table 7.5.2.2-3.
func TestEthernetSessions(t *testing.T) {
	r := newRig(t)
	mac, upper := &rules.MAC{2, 0, 0, 0, 0, 1}, &rules.MAC{2, 0, 0, 0, 0, 9}
	q := plain(7, "10.45.0.3")
	q.PDNType = rules.PDNEthernet
	q.PDRs[0].PDI = &rules.PDI{Source: rules.Core, NetworkInstance: ptr("lan"), Ethernet: true,
		EthernetFilters: []rules.EthernetFilter{{ID: ptr(uint32(4))}}}
	q.PDRs[1].PDI.EthernetFilters = []rules.EthernetFilter{{ID: ptr(uint32(4)), Bidirectional: true, Type: ptr(uint16(0x800)),
		MACs: []rules.MACFilter{{Source: mac, SourceUpper: upper}}, CTag: &rules.VLANTag{Value: 5, Mask: 0xfff},
		SDFFilters: []rules.SDFFilter{{Flow: ptr("permit out 17 from 8.8.8.8 53 to assigned")}}}}
	q.FARs[1].Forwarding.NetworkInstance = ptr("lan")
	s := r.sent(q)
	if !s.GetEthernet() || s.GetCoreInterface() != 4 || s.GetFars()[1].GetForwarding().GetInterface() != 4 || s.GetPdrs()[0].GetInterface() != 4 {
		t.Error(s)
	}
	host := &upfpb.Prefix{Address: []byte{8, 8, 8, 8}, Bits: 32}
	dns := []*upfpb.PortRange{{First: 53, Last: 53}}
	for i, want := range []*upfpb.EthernetFilter{
		{MatchType: true, Type: 0x800, CTag: &upfpb.VlanTag{Value: 5, Mask: 0xfff},
			Macs:    []*upfpb.MacFilter{{Destination: mac[:], DestinationUpper: upper[:]}},
			Filters: []*upfpb.Filter{{Protocol: 17, Source: host, SourcePorts: dns}}},
		{MatchType: true, Type: 0x800, CTag: &upfpb.VlanTag{Value: 5, Mask: 0xfff},
			Macs:    []*upfpb.MacFilter{{Source: mac[:], SourceUpper: upper[:]}},
			Filters: []*upfpb.Filter{{Protocol: 17, Destination: host, DestinationPorts: dns}}},
	} {
		if got := s.GetPdrs()[i].GetEthernetFilters()[0]; !proto.Equal(got, want) {
			t.Errorf("PDR %d: %v, not %v", i+1, got, want)
		}
	}
}
