// SPDX-License-Identifier: BSD-3-Clause
package rules

import "net/netip"

// PDR is a Create PDR or Update PDR, §7.5.2.2, §7.5.4.2.
type PDR struct {
	ID                 uint16
	Precedence         *uint32
	PDI                *PDI // an Update replaces the whole of it
	OuterHeaderRemoval *OuterHeaderRemoval
	FARID              *uint32
	URRIDs             []uint32
	QERIDs             []uint32
	Predefined         []string // Activate Predefined Rules
	Deactivated        []string // Deactivate Predefined Rules, of an Update
}

// PDI is Packet Detection Information, §7.5.2.2 table 7.5.2.2-2.
type PDI struct {
	Source           uint8   // Source Interface
	SourceType       *uint8  // Source Interface Type: 3GPP interface type, §8.2.118
	NetworkInstance  *string // decoded: "internet", whichever way it was written
	LocalFTEID       *FTEID
	UEIPs            []UEIP
	TrafficEndpoints []uint8
	SDFFilters       []SDFFilter
	ApplicationID    *string
	Ethernet         bool // Ethernet PDU Session Information: all frames of the session
	EthernetFilters  []EthernetFilter
	QFIs             []uint8
	FramedRoutes     []string // §8.2.109, text of RFC 2865 §5.22
	FramedIPv6Routes []string // §8.2.111, text of RFC 3162 §2.5
}

// SDFFilter is an SDF Filter, §8.2.5.
type SDFFilter struct {
	Flow      *string  // Flow Description
	ToS       *Marking // ToS Traffic Class and its mask
	SPI       *uint32
	FlowLabel *uint32 // 20 bits
	ID        *uint32 // SDF Filter ID: bidirectional
}

// Marking is a ToS or Traffic Class octet under a mask: SDF filters, §8.2.5, and Transport Level
// Marking, §8.2.12.
type Marking struct {
	Value uint8
	Mask  uint8
}

// OuterHeaderRemoval, §8.2.64.
type OuterHeaderRemoval struct {
	Description uint8
	Extension   uint8 // GTP-U Extension Header Deletion; 0: not there
}

// Outer Header Removal Descriptions.
const (
	RemoveGTPUIPv4 uint8 = 0
	RemoveGTPUIPv6 uint8 = 1
	RemoveUDPIPv4  uint8 = 2
	RemoveUDPIPv6  uint8 = 3
	RemoveIPv4     uint8 = 4
	RemoveIPv6     uint8 = 5
	RemoveGTPUIP   uint8 = 6
	RemoveVLANS    uint8 = 7
	RemoveSTag     uint8 = 8
)

// ApplyAction bits, §8.2.26; the first octet is lowest.
type ApplyAction uint16

// Flags of Apply Action.
const (
	ActionDROP ApplyAction = 1
	ActionFORW ApplyAction = 2
	ActionBUFF ApplyAction = 4
	ActionNOCP ApplyAction = 8
	ActionDUPL ApplyAction = 16
	ActionIPMA ApplyAction = 32
	ActionIPMD ApplyAction = 64
	ActionDFRT ApplyAction = 128
	ActionEDRT ApplyAction = 256
	ActionBDPN ApplyAction = 512
	ActionDDPN ApplyAction = 1024
	ActionFSSM ApplyAction = 2048
	ActionMBSU ApplyAction = 4096
)

// FAR is a Create FAR or Update FAR, §7.5.2.3, §7.5.4.3.
type FAR struct {
	ID          uint32
	Action      *ApplyAction
	Forwarding  *Forwarding  // an Update changes what it names
	Duplicating []Forwarding // an Update replaces the list
	BARID       *uint8       // 0 in an Update: none any more
}

// Forwarding is Forwarding, Duplicating, Update Forwarding or Update Duplicating Parameters.
type Forwarding struct {
	Destination           *uint8
	DestinationType       *uint8 // 3GPP interface type
	NetworkInstance       *string
	OuterHeaderCreation   *OuterHeaderCreation
	TransportLevelMarking *Marking
	ForwardingPolicy      *string
	Redirect              *Redirect
	HeaderEnrichment      bool // Header Enrichment is there
	LinkedTrafficEndpoint *uint8
	SMReqFlags            uint8 // PFCPSMReq-Flags of Update Forwarding Parameters: SNDEM
}

// Redirect is Redirect Information, §8.2.20; zero in an Update: none any more.
type Redirect struct {
	Type    uint8
	Address string
}

// Redirect Address Types; the others are addresses.
const RedirectURL uint8 = 2

// OuterHeaderCreation, §8.2.56.
type OuterHeaderCreation struct {
	Description uint16 // bits below; first octet lowest
	TEID        uint32
	IPv4        netip.Addr
	IPv6        netip.Addr
	Port        uint16
	CTag        bool
	STag        bool
}

// Outer Header Creation Description bits.
const (
	CreateGTPUIPv4 uint16 = 1
	CreateGTPUIPv6 uint16 = 2
	CreateUDPIPv4  uint16 = 4
	CreateUDPIPv6  uint16 = 8
	CreateIPv4     uint16 = 16
	CreateIPv6     uint16 = 32
	CreateCTag     uint16 = 64
	CreateSTag     uint16 = 128
	CreateN19      uint16 = 256
	CreateN6       uint16 = 512
)

// PFCPSMReq-Flags bits, §8.2.28 (session modification and Update Forwarding Parameters).
const (
	FlagDROBU uint8 = 1
	FlagSNDEM uint8 = 2
	FlagQAURR uint8 = 4
)

// QER is a Create QER or Update QER, §7.5.2.5, §7.5.4.5.
type QER struct {
	ID            uint32
	CorrelationID *uint32
	Gate          *Gate
	MBR           *Bitrate
	GBR           *Bitrate
	QFI           *uint8
	RQI           *bool
	PPI           *uint8  // Paging Policy Indicator
	WindowMs      *uint32 // Averaging Window
}

// Gate is a Gate Status, §8.2.7.
type Gate struct {
	ULClosed bool
	DLClosed bool
}

// Bitrate is an MBR or GBR, §8.2.8, §8.2.9, in kbit/s.
type Bitrate struct {
	UL uint64
	DL uint64
}
