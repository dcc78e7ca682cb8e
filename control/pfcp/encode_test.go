// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"airpath/control/rules"
)

var (
	address4 = netip.MustParseAddr("10.0.0.1")
	address6 = netip.MustParseAddr("2001:db8::1")
	self     = &Self{Node: rules.NodeID{FQDN: "upf.example"}, Recovery: time.Unix(1795289523, 0), Features: []byte{0x11, 1}}
)

// TestGolden: octets as TS 29.244 §8.2 draws them.
func TestGolden(t *testing.T) {
	answer := func(request uint8, a rules.Answer) []byte {
		return self.EncodeSessionAnswer(request, 5, address6, &a, Control{})
	}
	usage := rules.UsageReport{URRID: 3, SEQN: 4, Triggers: rules.UsageVOLTH | rules.UsageTERMR | rules.UsageEVEQU,
		HasVolume: true, Volume: rules.VolumeMeasurement{TotalBytes: 6, UplinkBytes: 2, DownlinkBytes: 4},
		HasDuration: true, DurationSeconds: 9, StartUnix: 1795289523, EndUnix: 1795289524, FirstPacketUnix: 1795289525,
		LastPacketUnix: 1795289526, QueryReference: pointer(uint32(7)), EventsUnix: []uint64{1795289527}}
	report := "0051000400000003" + "0068000400000004" + "003f0003020801" + "004b0004eeac7033" + "004c0004eeac7034" +
		"0042001907000000000000000600000000000000020000000000000004" + "0043000400000009" +
		"00450004eeac7035" + "00460004eeac7036" + "007d000400000007" + "009c0004eeac7037"
	node := "003c000d02037570660765" + hex.EncodeToString([]byte("xample"))
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"version", EncodeVersionNotSupported(9), "200b000400000900"},
		{"heartbeat", self.EncodeHeartbeat(HeartbeatResponse, 0x010203), "2002000c010203000060" + "0004eeac7033"},
		{"setup", self.EncodeSetup(1), "20050023000001" + "00" + node + "00600004eeac7033" + "002b00021101"},
		{"setup answer", self.EncodeSetupAnswer(1, rules.CauseAccepted, 0, true),
			"2006002d000001" + "00" + node + "0013000101" + "00600004eeac7033" + "002b00021101" + "00b8000101"},
		{"setup refused", self.EncodeSetupAnswer(1, rules.CauseMandatoryIEMissing, 60, false),
			"20060028000001" + "00" + node + "0013000142" + "00600004eeac7033" + "00280002003c"},
		{"release answer", self.EncodeNodeAnswer(AssociationReleaseResponse, 1, rules.CauseNoAssociation, 0),
			"200a001a000001" + "00" + node + "0013000148"},
		{"release wish", self.EncodeReleaseWish(1), "2007001a000001" + "00" + node + "006f000101"},
		{"path failure", self.EncodeNodeReport(1, rules.PathEvent{Peer: address4, Interface: rules.Access, NetworkInstance: "n3"}),
			"200c002e000001" + "00" + node + "0065000101" + "00660010" + "0067000c" + "0e0a000001" + "000100" + "00026e33"},
		{"path recovery", self.EncodeNodeReport(1, rules.PathEvent{Peer: address6, Up: true, Interface: rules.Core}),
			"200c0036000001" + "00" + node + "0065000102" + "00bb0018" + "00670014" + "0520010db8000000000000000000000001" + "000101"},
		{"refused", answer(SessionEstablishmentRequest, rules.Answer{Cause: rules.CauseRuleFailure, OffendingIE: 108, CPSEID: 8,
			Failed: &rules.FailedRule{Kind: rules.KindPDR, ID: 2}}),
			"2133002f000000000000000800000500" + node + "0013000149" + "00280002006c" + "00720003000002"},
		{"refused FAR", answer(SessionModificationRequest, rules.Answer{Cause: rules.CauseRuleFailure,
			Failed: &rules.FailedRule{Kind: rules.KindFAR, ID: 2}}), "2135001a000000000000000000000500" + "0013000149" + "007200050100000002"},
		{"addresses", answer(SessionEstablishmentRequest, rules.Answer{Cause: rules.CauseAccepted, UPSEID: 6,
			CreatedPDRs:             []rules.CreatedPDR{{ID: 1, UEIPs: []rules.UEIP{{IPv4: address4, Destination: true}, {IPv6: address6, PrefixLength: 56}}}},
			CreatedTrafficEndpoints: []rules.CreatedTrafficEndpoint{{ID: 2, FTEID: &rules.FTEID{TEID: 5, IPv4: address4, IPv6: address6}}}}),
			"2133008e000000000000000000000500" + node + "0013000101" + "00390019" + "010000000000000006" + "20010db8000000000000000000000001" +
				"00080025" + "003800020001" + "005d0005060a000001" + "005d00124120010db800000000000000000000000138" +
				"00800022" + "0083000102" + "00150019" + "03000000050a00000120010db8000000000000000000000001"},
		{"addresses behind a UE", answer(SessionModificationRequest, rules.Answer{Cause: rules.CauseAccepted, Usage: []rules.UsageReport{
			{URRID: 3, SEQN: 4, Triggers: rules.UsageMACAR, Ethernet: &rules.EthernetTraffic{VID: 0x123,
				Detected: []rules.MAC{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}, Removed: []rules.MAC{{2, 0, 0, 0, 0, 3}}}}}}),
			"21350056000000000000000000000500" + "0013000101" + "004e0041" + "0051000400000003" + "0068000400000004" + "003f0003004000" +
				"008f0026" + "00900012" + "02020000000001020000000002" + "03041023" + "00" + "0091000c" + "01020000000003" + "03041023" + "00"},
		{"updated", answer(SessionModificationRequest, rules.Answer{Cause: rules.CauseAccepted, QueryReference: pointer(uint32(7)),
			UpdatedPDRs: []rules.CreatedPDR{{ID: 1, FTEID: &rules.FTEID{TEID: 5, IPv4: address4}}}, Usage: []rules.UsageReport{usage}}),
			"2135009e000000000000000000000500" + "0013000101" + "01000013" + "003800020001" + "00150009" + "01000000050a000001" +
				"007e00020000" + "004e006c" + report},
		{"deleted", answer(SessionDeletionRequest, rules.Answer{Cause: rules.CauseAccepted, Usage: []rules.UsageReport{usage}}),
			"21370081000000000000000000000500" + "0013000101" + "004f006c" + report},
		{"usage", self.EncodeSessionReport(5, &rules.SessionReport{CPFSEID: rules.FSEID{SEID: 8}, Usage: []rules.UsageReport{usage}}, Control{}),
			"21380081000000000000000800000500" + "0027000102" + "0050006c" + report},
		{"downlink data", self.EncodeSessionReport(5, &rules.SessionReport{
			DownlinkData: &rules.DownlinkData{PDRID: 3, QFI: pointer(uint8(9)), PPI: pointer(uint8(2))}}, Control{}),
			"21380022000000000000000000000500" + "0027000101" + "0053000d" + "003800020003" + "002d0003030209"},
		{"error indication", self.EncodeSessionReport(5, &rules.SessionReport{
			ErrorIndication: &rules.ErrorIndication{TEID: 7, Peer: address4}}, Control{}),
			"21380022000000000000000000000500" + "0027000104" + "0063000d" + "00150009" + "01000000070a000001"},
		{"load", self.EncodeSessionAnswer(SessionDeletionRequest, 5, address6, &rules.Answer{Cause: rules.CauseAccepted},
			Control{Load: &LoadControl{Sequence: 6, Metric: 77}}),
			"21370022000000000000000000000500" + "0013000101" + "0033000d" + "0034000400000006" + "003500014d"},
		{"overload", self.EncodeSessionReport(5, &rules.SessionReport{Inactivity: true},
			Control{Overload: &OverloadControl{Sequence: 6, Reduction: 50, Validity: time.Minute}}),
			"2138002c000000000000000000000500" + "0027000108" + "00360017" + "0034000400000006" + "0035000132" + "003700011e" + "006e000101"},
		{"inactivity", self.EncodeSessionReport(5, &rules.SessionReport{Inactivity: true}, Control{}),
			"21380011000000000000000000000500" + "0027000108"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// §8.2.35: the unit in the upper three bits; rounded up, as what is valid longer does no harm.
func TestTimers(t *testing.T) {
	for d, want := range map[time.Duration]byte{0: 0, time.Second: 1, time.Minute: 30, 62 * time.Second: 31, 63 * time.Second: 0x22,
		31 * time.Minute: 0x3f, 32 * time.Minute: 0x44, time.Hour: 0x46, 6 * time.Hour: 0x66, 32 * time.Hour: 0x84, 999 * time.Hour: 0x9f} {
		if got := timer(d); got != want {
			t.Errorf("%v: %#x, not %#x", d, got, want)
		}
	}
}

// §7.6.2, §7.6.3: what is wrong with a datagram before its IEs.
func TestHeaders(t *testing.T) {
	whole := capture(t)[2]
	longer := append(slices.Clone(whole), 0)
	follow := append(slices.Clone(whole), whole...)
	follow[0] |= 4
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"whole", whole, nil}, {"nothing", nil, ErrTooShort}, {"half", []byte{0x20, 1, 0, 4}, ErrTooShort},
		{"half a SEID", whole[:12], ErrTooShort}, {"cut", whole[:40], ErrLength}, {"longer", longer, ErrLength},
		{"two of them", follow, nil}, {"length below the header", []byte{0x20, 1, 0, 0, 0, 0, 1, 0}, ErrLength},
		{"version 2", []byte{0x40, 1, 0, 4, 0, 1, 2, 0}, ErrVersion},
	} {
		h, b, err := ParseHeader(c.b)
		if !errors.Is(err, c.want) || err != nil && b != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want == ErrVersion && h.Sequence != 0x102 {
			t.Errorf("%s: %+v", c.name, h)
		}
		if err == nil && (h.Type != SessionEstablishmentRequest || !h.HasSEID || h.Sequence != 11 || len(b) != len(whole)-16) {
			t.Errorf("%s: %+v", c.name, h)
		}
	}
}

func TestMessageTypes(t *testing.T) {
	for request := range messageNames {
		if IsResponse(request) || !IsResponse(request+1) || Name(request) == "unknown" {
			t.Errorf("type %d", request)
		}
	}
	if !IsResponse(VersionNotSupportedResponse) || Name(99) != "unknown" || IsSession(HeartbeatRequest) {
		t.Error("types between")
	}
}

func BenchmarkDecodeEstablishment(b *testing.B) {
	ies := body(b, capture(b)[2])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeEstablishment(ies); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeEstablishmentAnswer(b *testing.B) {
	f := &rules.FTEID{TEID: 1, IPv4: address4}
	a := &rules.Answer{Cause: rules.CauseAccepted, CPSEID: 1, UPSEID: 2,
		CreatedPDRs: []rules.CreatedPDR{{ID: 2, FTEID: f}, {ID: 3, FTEID: f}, {ID: 4, FTEID: f}}}
	b.ReportAllocs()
	for b.Loop() {
		self.EncodeSessionAnswer(SessionEstablishmentRequest, 1, address4, a, Control{})
	}
}
