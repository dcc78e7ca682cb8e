// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"encoding/binary"
	"slices"
	"testing"

	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// tlv writes an IE of the octets given.
func tlv(t uint16, values ...[]byte) []byte {
	v := slices.Concat(values...)
	b := binary.BigEndian.AppendUint16(nil, t)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(v))), v...)
}

func octets(v ...byte) []byte { return v }
func word(v uint32) []byte    { return binary.BigEndian.AppendUint32(nil, v) }

var (
	tNode  = tlv(ie.NodeID, octets(0, 127, 0, 0, 4))
	tFSEID = tlv(ie.FSEID, octets(2, 0, 0, 0, 0, 0, 0, 0, 9, 127, 0, 0, 4))
	tPDI   = tlv(ie.PDI, tlv(ie.SourceInterface, octets(1)))
	tPDRID = tlv(ie.PDRID, octets(0, 1))
	tPrec  = tlv(ie.Precedence, word(255))
	tFARID = tlv(ie.FARID, word(1))
	tPDR   = tlv(ie.CreatePDR, tPDRID, tPrec, tPDI, tFARID)
	tDrop  = tlv(ie.ApplyAction, octets(1))
	tFAR   = tlv(ie.CreateFAR, tFARID, tDrop)
)

func pdrWith(pdiIEs ...[]byte) []byte {
	return tlv(ie.CreatePDR, tPDRID, tPrec, tFARID,
		tlv(ie.PDI, append([][]byte{tlv(ie.SourceInterface, octets(0))}, pdiIEs...)...))
}

func farWith(parameters ...[]byte) []byte {
	return tlv(ie.CreateFAR, tFARID, tlv(ie.ApplyAction, octets(2)), tlv(ie.ForwardingParameters,
		append([][]byte{tlv(ie.DestinationInterface, octets(1))}, parameters...)...))
}

// §7.6.6 to §7.6.8: what is wrong is refused with its cause, and named.
func TestEstablishmentErrors(t *testing.T) {
	const missing, conditional = rules.CauseMandatoryIEMissing, rules.CauseConditionalIEMissing
	const length, incorrect = rules.CauseInvalidLength, rules.CauseMandatoryIEIncorrect
	for _, c := range []struct {
		name  string
		ies   [][]byte
		cause rules.Cause
		ie    uint16
	}{
		{"empty", nil, missing, ie.NodeID},
		{"no node", [][]byte{tFSEID, tPDR, tFAR}, missing, ie.NodeID},
		{"no F-SEID", [][]byte{tNode, tPDR, tFAR}, missing, ie.FSEID},
		{"no PDR", [][]byte{tNode, tFSEID, tFAR}, missing, ie.CreatePDR},
		{"no FAR", [][]byte{tNode, tFSEID, tPDR}, missing, ie.CreateFAR},
		{"PDR without id", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tPrec, tPDI, tFARID), tFAR}, missing, ie.PDRID},
		{"empty PDR", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR), tFAR}, missing, ie.PDRID},
		{"PDR without precedence", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tPDRID, tPDI, tFARID), tFAR}, missing, ie.Precedence},
		{"PDR without PDI", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tPDRID, tPrec, tFARID), tFAR}, missing, ie.PDI},
		{"empty PDI", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tPDRID, tPrec, tlv(ie.PDI), tFARID), tFAR}, missing, ie.SourceInterface},
		{"PDR without FAR id", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tPDRID, tPrec, tPDI), tFAR}, conditional, ie.FARID},
		{"FAR without action", [][]byte{tNode, tFSEID, tPDR, tlv(ie.CreateFAR, tFARID)}, missing, ie.ApplyAction},
		{"FORW without parameters", [][]byte{tNode, tFSEID, tPDR, tlv(ie.CreateFAR, tFARID, tlv(ie.ApplyAction, octets(2)))}, conditional, ie.ForwardingParameters},
		{"parameters without interface", [][]byte{tNode, tFSEID, tPDR, tlv(ie.CreateFAR, tFARID, tDrop, tlv(ie.ForwardingParameters))}, missing, ie.DestinationInterface},
		{"URR without triggers", [][]byte{tNode, tFSEID, tPDR, tFAR, tlv(ie.CreateURR, tlv(ie.URRID, word(1)), tlv(ie.MeasurementMethod, octets(2)))}, missing, ie.ReportingTriggers},
		{"QER without gate", [][]byte{tNode, tFSEID, tPDR, tFAR, tlv(ie.CreateQER, tlv(ie.QERID, word(1)))}, missing, ie.GateStatus},
		{"BAR without id", [][]byte{tNode, tFSEID, tPDR, tFAR, tlv(ie.CreateBAR)}, missing, ie.BARID},
		{"endpoint without id", [][]byte{tNode, tFSEID, tPDR, tFAR, tlv(ie.CreateTrafficEndpoint)}, missing, ie.TrafficEndpointID},
		{"node of no octets", [][]byte{tlv(ie.NodeID), tFSEID, tPDR, tFAR}, length, ie.NodeID},
		{"node cut short", [][]byte{tlv(ie.NodeID, octets(0, 127, 0, 0)), tFSEID, tPDR, tFAR}, length, ie.NodeID},
		{"node of no kind", [][]byte{tlv(ie.NodeID, octets(7, 127, 0, 0, 1)), tFSEID, tPDR, tFAR}, incorrect, ie.NodeID},
		{"node of no name", [][]byte{tlv(ie.NodeID, octets(2, '.')), tFSEID, tPDR, tFAR}, incorrect, ie.NodeID},
		{"F-SEID without its address", [][]byte{tNode, tlv(ie.FSEID, octets(2), make([]byte, 8)), tPDR, tFAR}, length, ie.FSEID},
		{"F-SEID of no family", [][]byte{tNode, tlv(ie.FSEID, octets(0), make([]byte, 8)), tPDR, tFAR}, incorrect, ie.FSEID},
		{"PDR id of one octet", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tlv(ie.PDRID, octets(1)), tPrec, tPDI, tFARID), tFAR}, length, ie.PDRID},
		{"PDR longer than message", [][]byte{tNode, tFSEID, tFAR, octets(0, 1, 0xff, 0xff, 0)}, length, ie.CreatePDR},
		{"PDI longer than PDR", [][]byte{tNode, tFSEID, tFAR, tlv(ie.CreatePDR, tPDRID, octets(0, 2, 0, 9, 0))}, length, ie.PDI},
		{"half an IE header", [][]byte{tNode, tFSEID, tPDR, tFAR, octets(0, 1, 0)}, length, 0},
		{"source interface of no octets", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tPDRID, tPrec, tlv(ie.PDI, tlv(ie.SourceInterface)), tFARID), tFAR}, length, ie.SourceInterface},
		{"source interface of no kind", [][]byte{tNode, tFSEID, tlv(ie.CreatePDR, tPDRID, tPrec, tlv(ie.PDI, tlv(ie.SourceInterface, octets(9))), tFARID), tFAR}, incorrect, ie.SourceInterface},
		{"destination interface of no kind", [][]byte{tNode, tFSEID, tPDR, tlv(ie.CreateFAR, tFARID, tDrop, tlv(ie.ForwardingParameters, tlv(ie.DestinationInterface, octets(9))))}, incorrect, ie.DestinationInterface},
		{"F-TEID of no family", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.FTEID, octets(0, 0, 0, 0, 1))), tFAR}, incorrect, ie.FTEID},
		{"F-TEID without its address", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.FTEID, octets(1, 0, 0, 0, 1, 127, 0, 0))), tFAR}, length, ie.FTEID},
		{"choose id that is not there", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.FTEID, octets(0xd))), tFAR}, length, ie.FTEID},
		{"UE address without its octets", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.UEIPAddress, octets(2, 10, 0))), tFAR}, length, ie.UEIPAddress},
		{"flow description longer than filter", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.SDFFilter, octets(1, 0, 0xff, 0xff, 'p'))), tFAR}, length, ie.SDFFilter},
		{"MAC address of five octets", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.EthernetPacketFilter, tlv(ie.MACAddress, octets(1, 2, 0, 0, 0, 0)))), tFAR}, length, ie.MACAddress},
		{"upper MAC address alone", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.EthernetPacketFilter, tlv(ie.MACAddress, octets(4, 2, 0, 0, 0, 0, 1)))), tFAR}, incorrect, ie.MACAddress},
		{"SDF filter of one octet", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.SDFFilter, octets(1))), tFAR}, length, ie.SDFFilter},
		{"QFI of no octets", [][]byte{tNode, tFSEID, pdrWith(tlv(ie.QFI)), tFAR}, length, ie.QFI},
		{"header creation cut short", [][]byte{tNode, tFSEID, tPDR, farWith(tlv(ie.OuterHeaderCreation, octets(1, 0, 0, 0, 0, 1, 10)))}, length, ie.OuterHeaderCreation},
		{"header creation of nothing", [][]byte{tNode, tFSEID, tPDR, farWith(tlv(ie.OuterHeaderCreation, octets(0, 0)))}, incorrect, ie.OuterHeaderCreation},
		{"forwarding policy longer than it is", [][]byte{tNode, tFSEID, tPDR, farWith(tlv(ie.ForwardingPolicy, octets(9, 'x')))}, length, ie.ForwardingPolicy},
		{"MBR of five octets", [][]byte{tNode, tFSEID, tPDR, tFAR, tlv(ie.CreateQER, tlv(ie.QERID, word(1)), tlv(ie.GateStatus, octets(0)), tlv(ie.MBR, make([]byte, 5)))}, length, ie.MBR},
		{"volume without its octets", [][]byte{tNode, tFSEID, tPDR, tFAR, tlv(ie.CreateURR, tlv(ie.URRID, word(1)), tlv(ie.VolumeThreshold, octets(7), make([]byte, 8)))}, length, ie.VolumeThreshold},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeEstablishment(slices.Concat(c.ies...))
			if err == nil || err.Cause != c.cause || err.IE != c.ie {
				t.Errorf("got %v, want %v, IE %d", err, c.cause, c.ie)
			}
			if err != nil && err.Error() == "" {
				t.Error("nothing to read")
			}
		})
	}
}

// §7.6.9, §7.6.10, §8.1.1: what is not known, is there twice, or longer than it has to be does
// no harm.
func TestOddButSound(t *testing.T) {
	vendor := octets(0x80, 1, 0, 3, 0, 9, 1)
	later := tlv(300, octets(1, 2, 3))
	twice := tlv(ie.FSEID, octets(0)) // would be wrong, but only the first counts
	r, err := DecodeEstablishment(slices.Concat(vendor, later, tlv(9999), tNode, tFSEID, twice,
		tlv(ie.CreatePDR, vendor, tlv(ie.PDRID, octets(0, 7, 99)), tlv(ie.PDRID, octets(0, 8)),
			tPrec, tPDI, tFARID, tlv(ie.CreateFAR, tFARID)), // a group where it does not belong
		tFAR, tlv(ie.SNSSAI), tlv(ie.UserID, octets(1, 200, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.PDRs) != 1 || r.PDRs[0].ID != 7 || r.CPFSEID.SEID != 9 || len(r.FARs) != 1 || r.UserID != "" {
		t.Errorf("got %+v", r)
	}
}

// A flood of groups is read in one pass and keeps to the sizes of the message.
func TestGiantGroups(t *testing.T) {
	b := slices.Concat(tNode, tFSEID, tFAR)
	for len(b)+len(tPDR) < 65000 {
		b = append(b, tPDR...)
	}
	r, err := DecodeEstablishment(b)
	if err != nil || len(r.PDRs) < 1000 {
		t.Fatalf("%d PDRs, %v", len(r.PDRs), err)
	}
	nested := []byte{}
	for len(nested) < 60000 {
		nested = tlv(ie.PDI, nested)
	}
	if _, err := DecodeEstablishment(slices.Concat(tNode, tFSEID, tFAR, tlv(ie.CreatePDR, nested))); err == nil ||
		err.Cause != rules.CauseMandatoryIEMissing {
		t.Errorf("PDIs in PDIs: %v", err)
	}
}

func TestModificationErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		b     []byte
		cause rules.Cause
		ie    uint16
	}{
		{"remove nothing", tlv(ie.RemovePDR), rules.CauseMandatoryIEMissing, ie.PDRID},
		{"remove no FAR", tlv(ie.RemoveFAR), rules.CauseMandatoryIEMissing, ie.FARID},
		{"remove half a URR", tlv(ie.RemoveURR, tlv(ie.URRID, octets(1, 2))), rules.CauseInvalidLength, ie.URRID},
		{"update nothing", tlv(ie.UpdateFAR, tDrop), rules.CauseMandatoryIEMissing, ie.FARID},
		{"update half a PDI", tlv(ie.UpdatePDR, tPDRID, tlv(ie.PDI)), rules.CauseMandatoryIEMissing, ie.SourceInterface},
		{"update no QER", tlv(ie.UpdateQER), rules.CauseMandatoryIEMissing, ie.QERID},
		{"update no URR", tlv(ie.UpdateURR), rules.CauseMandatoryIEMissing, ie.URRID},
		{"query nothing", tlv(ie.QueryURR), rules.CauseMandatoryIEMissing, ie.URRID},
		{"create half a PDR", tlv(ie.CreatePDR, tPDRID), rules.CauseMandatoryIEMissing, ie.Precedence},
		{"flags of no octets", tlv(ie.PFCPSMReqFlags), rules.CauseInvalidLength, ie.PFCPSMReqFlags},
		{"F-SEID of three octets", tlv(ie.FSEID, octets(1, 2, 3)), rules.CauseInvalidLength, ie.FSEID},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := DecodeModification(c.b); err == nil || err.Cause != c.cause || err.IE != c.ie {
				t.Errorf("got %v, want %v, IE %d", err, c.cause, c.ie)
			}
		})
	}
}

// Every message cut at every octet is refused or read, never more than that.
func TestTruncated(t *testing.T) {
	for _, m := range capture(t) {
		for n := range m {
			if _, _, err := ParseHeader(m[:n]); err == nil {
				t.Fatalf("%x of %x is taken for whole", m[:n], m)
			}
		}
		_, b, _ := ParseHeader(m)
		for n := range b {
			decodeAll(b[:n])
		}
	}
}

// decodeAll reads octets as whatever they could be.
func decodeAll(b []byte) {
	_, _ = DecodeEstablishment(b)
	_, _ = DecodeModification(b)
	_, _ = DecodeReportAnswer(b)
	_, _ = DecodeHeartbeat(b)
	_, _ = DecodePFDs(b)
	for _, t := range []uint8{AssociationSetupRequest, AssociationSetupResponse,
		AssociationUpdateRequest, AssociationReleaseRequest, NodeReportResponse} {
		_, _ = DecodeAssociation(t, b)
	}
}

// FuzzDecode: no datagram makes the decoders panic, and what is wrong has a cause.
func FuzzDecode(f *testing.F) {
	for _, m := range capture(f) {
		f.Add(m)
	}
	f.Add(slices.Concat(octets(0x21, 52, 0, 0), make([]byte, 12), everyRule()))
	f.Add(octets(0x21, 50, 0xff, 0xff))
	f.Add(slices.Concat(octets(0x20, 3, 0, 0), make([]byte, 4), everyPFD()))
	f.Fuzz(func(t *testing.T, m []byte) {
		h, b, err := ParseHeader(m)
		if err != nil {
			if b != nil {
				t.Error("IEs beside an error")
			}
			b = m
		}
		decodeAll(b)
		if r, err := DecodeEstablishment(b); err == nil {
			if len(r.PDRs) == 0 || len(r.FARs) == 0 || !r.CPFSEID.IPv4.IsValid() && !r.CPFSEID.IPv6.IsValid() {
				t.Errorf("mandatory parts are missing: %+v", r)
			}
		} else if err.Cause < rules.CauseMandatoryIEMissing || err.Cause > rules.CauseMandatoryIEIncorrect {
			t.Errorf("cause %v of %v", err.Cause, h)
		}
	})
}
