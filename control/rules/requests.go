// SPDX-License-Identifier: BSD-3-Clause
package rules

// EstablishRequest is a PFCP Session Establishment Request, §7.5.2.
type EstablishRequest struct {
	Node             NodeID // of the CP function; its association is up
	CPFSEID          FSEID
	PDRs             []PDR
	FARs             []FAR
	URRs             []URR
	QERs             []QER
	BARs             []BAR
	TrafficEndpoints []TrafficEndpoint
	PDNType          uint8   // 0: not there
	InactivityTimer  *uint32 // User Plane Inactivity Timer, s
	// Restoration: RESTI of PFCPSEReq-Flags. F-TEIDs and UE addresses are those the UP function
	// had given before; it takes them if they are free, TS 23.527 §4.3.
	Restoration bool
	DNN         string
	UserID      string // for people: SUPI, MSISDN or whatever of User ID was there
}

// ModifyRequest is a PFCP Session Modification Request, §7.5.4. Removals are done first, then
// creations, then updates, then queries.
type ModifyRequest struct {
	Node                   *NodeID // a CP function of the same set takes over
	CPFSEID                *FSEID
	RemovePDRs             []uint16
	RemoveFARs             []uint32
	RemoveURRs             []uint32
	RemoveQERs             []uint32
	RemoveBARs             []uint8
	RemoveTrafficEndpoints []uint8
	CreatePDRs             []PDR
	CreateFARs             []FAR
	CreateURRs             []URR
	CreateQERs             []QER
	CreateBARs             []BAR
	CreateTrafficEndpoints []TrafficEndpoint
	UpdatePDRs             []PDR
	UpdateFARs             []FAR
	UpdateURRs             []URR
	UpdateQERs             []QER
	UpdateBARs             []BAR
	UpdateTrafficEndpoints []TrafficEndpoint
	Flags                  uint8 // PFCPSMReq-Flags: DROBU, SNDEM, QAURR
	QueryURRs              []uint32
	QueryReference         *uint32
	InactivityTimer        *uint32 // 0: none any more
}

// ReportAnswer is what matters of a PFCP Session Report Response, §7.5.9.
type ReportAnswer struct {
	Cause      Cause
	UpdateBARs []BAR
	DropBuffer bool   // DROBU of PFCPSRRsp-Flags
	CPFSEID    *FSEID // a CP function of the same set takes over
}
