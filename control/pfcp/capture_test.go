// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"encoding/hex"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"

	"airpath/control/rules"
)

// capture is what a widely used SMF and its UPF said, a message an element.
func capture(t testing.TB) [][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/smf-session.hex")
	if err != nil {
		t.Fatal(err)
	}
	var messages [][]byte
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		b, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, b)
	}
	return messages
}

func body(t testing.TB, message []byte) []byte {
	t.Helper()
	_, b, err := ParseHeader(message)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCapturedEstablishment(t *testing.T) {
	r, err := DecodeEstablishment(body(t, capture(t)[2]))
	if err != nil {
		t.Fatal(err)
	}
	smf := netip.MustParseAddr("127.0.0.4")
	internet, filter := "internet", "permit out 58 from ff02::2/128 to assigned"
	ohr := &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP}
	shared := &rules.FTEID{Choose: true, ChooseIPv4: true, ChooseIPv6: true, ChooseID: pointer(uint8(5))}
	want := &rules.EstablishRequest{
		Node:    rules.NodeID{Addr: smf},
		CPFSEID: rules.FSEID{SEID: 0x20f, IPv4: smf},
		PDRs: []rules.PDR{
			{ID: 1, Precedence: pointer(uint32(65535)), PDI: &rules.PDI{Source: rules.Core,
				SourceType: pointer(uint8(17)), NetworkInstance: &internet,
				UEIPs: []rules.UEIP{{IPv4: netip.MustParseAddr("10.45.0.3"), Destination: true}}},
				FARID: pointer(uint32(1)), URRIDs: []uint32{1}, QERIDs: []uint32{1}},
			{ID: 2, Precedence: pointer(uint32(65535)), PDI: &rules.PDI{Source: rules.Access,
				SourceType: pointer(uint8(11)), NetworkInstance: &internet, LocalFTEID: shared,
				QFIs: []uint8{1}}, OuterHeaderRemoval: ohr, FARID: pointer(uint32(2)), QERIDs: []uint32{1}},
			{ID: 3, Precedence: pointer(uint32(255)), PDI: &rules.PDI{Source: rules.CPFunction,
				LocalFTEID: &rules.FTEID{Choose: true, ChooseIPv4: true, ChooseIPv6: true}},
				OuterHeaderRemoval: ohr, FARID: pointer(uint32(1))},
			{ID: 4, Precedence: pointer(uint32(255)), PDI: &rules.PDI{Source: rules.Access,
				SourceType: pointer(uint8(11)), NetworkInstance: &internet, LocalFTEID: shared,
				SDFFilters: []rules.SDFFilter{{Flow: &filter}}}, OuterHeaderRemoval: ohr,
				FARID: pointer(uint32(3))},
		},
		FARs: []rules.FAR{
			{ID: 1, Action: pointer(rules.ActionBUFF | rules.ActionNOCP), BARID: pointer(uint8(1))},
			{ID: 2, Action: pointer(rules.ActionFORW), Forwarding: &rules.Forwarding{
				Destination: pointer(rules.Core), DestinationType: pointer(uint8(17)),
				NetworkInstance: &internet}},
			{ID: 3, Action: pointer(rules.ActionFORW), Forwarding: &rules.Forwarding{
				Destination: pointer(rules.CPFunction), OuterHeaderCreation: &rules.OuterHeaderCreation{
					Description: rules.CreateGTPUIPv4, TEID: 2, IPv4: smf}}},
		},
		URRs: []rules.URR{{ID: 1, Method: pointer(rules.MethodVOLUM), Triggers: pointer(rules.ReportVOLTH),
			VolumeThreshold: &rules.Volume{Total: pointer(uint64(104857600))}}},
		QERs: []rules.QER{{ID: 1, Gate: &rules.Gate{}, MBR: &rules.Bitrate{UL: 1000000, DL: 1000000},
			QFI: pointer(uint8(1))}},
		BARs:    []rules.BAR{{ID: 1}},
		PDNType: rules.PDNIPv4, DNN: "internet", UserID: "imsi-999700000000001",
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

func TestCapturedModification(t *testing.T) {
	r, err := DecodeModification(body(t, capture(t)[4]))
	if err != nil {
		t.Fatal(err)
	}
	internet := "internet"
	want := &rules.ModifyRequest{UpdateFARs: []rules.FAR{{ID: 1, Action: pointer(rules.ActionFORW),
		Forwarding: &rules.Forwarding{Destination: pointer(rules.Access), DestinationType: pointer(uint8(11)),
			NetworkInstance: &internet, OuterHeaderCreation: &rules.OuterHeaderCreation{
				Description: rules.CreateGTPUIPv4, TEID: 2, IPv4: netip.MustParseAddr("10.3.0.2")}}}}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

// What another UPF answered is what we would, octet for octet, but for the order of IEs.
func TestCapturedAnswers(t *testing.T) {
	messages := capture(t)
	upf := netip.MustParseAddr("127.0.0.7")
	self := &Self{Node: rules.NodeID{Addr: upf}}
	n3 := netip.MustParseAddr("10.3.0.1")
	got := self.EncodeSessionAnswer(SessionEstablishmentRequest, 11, upf, &rules.Answer{
		Cause: rules.CauseAccepted, CPSEID: 0x20f, UPSEID: 0xcdf,
		CreatedPDRs: []rules.CreatedPDR{
			{ID: 2, FTEID: &rules.FTEID{TEID: 0x9a29, IPv4: n3}},
			{ID: 3, FTEID: &rules.FTEID{TEID: 0x76e1, IPv4: n3}},
			{ID: 4, FTEID: &rules.FTEID{TEID: 0x9a29, IPv4: n3}},
		},
	}, Control{})
	if !reflect.DeepEqual(got, messages[3]) {
		t.Errorf("establishment\ngot  %x\nwant %x", got, messages[3])
	}
	got = self.EncodeSessionAnswer(SessionModificationRequest, 12, upf, &rules.Answer{
		Cause: rules.CauseAccepted, CPSEID: 0x20f}, Control{})
	if !reflect.DeepEqual(got, messages[5]) {
		t.Errorf("modification\ngot  %x\nwant %x", got, messages[5])
	}
	start, _ := DecodeHeartbeat(body(t, messages[6]))
	self.Recovery = start
	if got = self.EncodeHeartbeat(HeartbeatRequest, 7); !reflect.DeepEqual(got, messages[6]) {
		t.Errorf("heartbeat\ngot  %x\nwant %x", got, messages[6])
	}
}
