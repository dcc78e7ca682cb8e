// SPDX-License-Identifier: BSD-3-Clause
package rules

// PFDRequest is a PFCP PFD Management Request, §7.4.3.1: for each application named, its packet
// flow descriptions replace all it had. No application named: those of all of them go.
type PFDRequest struct {
	Node         *NodeID
	Applications []ApplicationPFDs
}

// ApplicationPFDs are an Application ID's PFDs, table 7.4.3.1-2; no Contents: they go.
type ApplicationPFDs struct {
	ID       string
	Contents []PFDContents
}

// PFDContents of one packet flow description, §8.2.39.
type PFDContents struct {
	Flows   []string // Flow Description and Additional Flow Description
	URLs    []string
	Domains []PFDDomain
	Custom  bool // Custom PFD Content is there
}

// PFDDomain is a Domain Name with its Domain Name Protocol.
type PFDDomain struct {
	Name     string
	Protocol string // "": any
}

// PFDAnswer is a PFCP PFD Management Response, §7.4.3.2.
type PFDAnswer struct {
	Cause       Cause
	OffendingIE uint16 // 0: none
	Reason      string // for people and logs; "" when accepted
}
