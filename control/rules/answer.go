// SPDX-License-Identifier: BSD-3-Clause
package rules

import "net/netip"

// RuleKind is a Rule ID Type, §8.2.80.
type RuleKind uint8

// Kinds of rules.
const (
	KindPDR RuleKind = 0
	KindFAR RuleKind = 1
	KindQER RuleKind = 2
	KindURR RuleKind = 3
	KindBAR RuleKind = 4
)

// FailedRule names the rule that could not be made or changed.
type FailedRule struct {
	Kind RuleKind
	ID   uint32
}

// Answer is a PFCP Session Establishment, Modification or Deletion Response. Whoever writes it
// adds its own Node ID and the address of the UP F-SEID.
type Answer struct {
	Cause       Cause
	OffendingIE uint16 // 0: none
	Failed      *FailedRule
	Reason      string // for people and logs; "" when accepted
	CPSEID      uint64 // SEID of the header; 0 where the session is not known
	UPSEID      uint64 // establishment: SEID of the UP F-SEID, 0 when refused

	CreatedPDRs             []CreatedPDR
	UpdatedPDRs             []CreatedPDR // modification: Updated PDR
	CreatedTrafficEndpoints []CreatedTrafficEndpoint
	Usage                   []UsageReport
	QueryReference          *uint32 // for Additional Usage Reports Information and the reports
}

// CreatedPDR says what the UP function chose for a PDR, §7.5.3.2, §7.5.5.5.
type CreatedPDR struct {
	ID    uint16
	FTEID *FTEID // nil: nothing was to be chosen
	UEIPs []UEIP
}

// CreatedTrafficEndpoint is the same of a traffic endpoint, §7.5.3.5.
type CreatedTrafficEndpoint struct {
	ID    uint8
	FTEID *FTEID
	UEIPs []UEIP
}

// UsageReport of a response or a Session Report Request, §7.5.5.2, §7.5.7.2, §7.5.8.3.
type UsageReport struct {
	URRID           uint32
	SEQN            uint32 // UR-SEQN
	Triggers        uint32 // Usage Report Trigger
	HasVolume       bool
	Volume          VolumeMeasurement
	HasDuration     bool
	DurationSeconds uint32
	StartUnix       uint64 // s; 0: not there
	EndUnix         uint64
	FirstPacketUnix uint64 // 0: none was seen
	LastPacketUnix  uint64
	EventsUnix      []uint64 // Event Time Stamps
	QueryReference  *uint32
	Detected        *ApplicationDetected // with START and STOPT
	Ethernet        *EthernetTraffic     // with MACAR
}

// ApplicationDetected is Application Detection Information, table 7.5.8.3-2.
type ApplicationDetected struct {
	Application string
	Instance    string // Application Instance ID; "": not there
	Flow        string // Flow Description of both directions, as downlink; "": not one flow's
	PDRID       uint16 // 0: not known
}

// VolumeMeasurement, §8.2.44. Packets are there when HasPackets.
type VolumeMeasurement struct {
	TotalBytes, UplinkBytes, DownlinkBytes       uint64
	TotalPackets, UplinkPackets, DownlinkPackets uint64
	HasPackets                                   bool
}

// SessionReport is a PFCP Session Report Request, §7.5.8: one of its parts at a time.
type SessionReport struct {
	UPSEID  uint64
	CPFSEID FSEID  // where it goes to; its SEID is the header's
	Node    NodeID // of the CP function

	Usage           []UsageReport    // USAR
	DownlinkData    *DownlinkData    // DLDR
	ErrorIndication *ErrorIndication // ERIR
	Inactivity      bool             // UPIR
}

// DownlinkData is a Downlink Data Report, §7.5.8.2.
type DownlinkData struct {
	PDRID uint16
	QFI   *uint8
	PPI   *uint8
}

// ErrorIndication names the remote F-TEID a GTP-U Error Indication was about, §7.5.8.4.
type ErrorIndication struct {
	TEID uint32
	Peer netip.Addr
}

// PathEvent says that the user plane path to a peer failed or is back, §7.4.5.1.
type PathEvent struct {
	Peer            netip.Addr
	Up              bool
	NetworkInstance string // "": not named
	Interface       uint8  // Access, Core …
}
