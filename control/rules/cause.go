// SPDX-License-Identifier: BSD-3-Clause
package rules

import "strconv"

// Cause is the value of a Cause IE, TS 29.244 table 8.2.1-1.
type Cause uint8

// Causes an answer can have.
const (
	CauseAccepted                Cause = 1
	CausePartiallyAccepted       Cause = 3
	CauseRejected                Cause = 64
	CauseSessionContextNotFound  Cause = 65
	CauseMandatoryIEMissing      Cause = 66
	CauseConditionalIEMissing    Cause = 67
	CauseInvalidLength           Cause = 68
	CauseMandatoryIEIncorrect    Cause = 69
	CauseInvalidForwardingPolicy Cause = 70
	CauseInvalidFTEIDAllocation  Cause = 71
	CauseNoAssociation           Cause = 72
	CauseRuleFailure             Cause = 73
	CauseCongestion              Cause = 74
	CauseNoResources             Cause = 75
	CauseServiceNotSupported     Cause = 76
	CauseSystemFailure           Cause = 77
	CauseAddressesOccupied       Cause = 79
	CauseUnknownPredefinedRule   Cause = 80
	CauseUnknownApplicationID    Cause = 81
)

var causeNames = map[Cause]string{
	CauseAccepted:                "Request accepted",
	CausePartiallyAccepted:       "Request partially accepted",
	CauseRejected:                "Request rejected",
	CauseSessionContextNotFound:  "Session context not found",
	CauseMandatoryIEMissing:      "Mandatory IE missing",
	CauseConditionalIEMissing:    "Conditional IE missing",
	CauseInvalidLength:           "Invalid length",
	CauseMandatoryIEIncorrect:    "Mandatory IE incorrect",
	CauseInvalidForwardingPolicy: "Invalid Forwarding Policy",
	CauseInvalidFTEIDAllocation:  "Invalid F-TEID allocation option",
	CauseNoAssociation:           "No established PFCP Association",
	CauseRuleFailure:             "Rule creation/modification Failure",
	CauseCongestion:              "PFCP entity in congestion",
	CauseNoResources:             "No resources available",
	CauseServiceNotSupported:     "Service not supported",
	CauseSystemFailure:           "System failure",
	CauseAddressesOccupied:       "All dynamic addresses are occupied",
	CauseUnknownPredefinedRule:   "Unknown Pre-defined Rule",
	CauseUnknownApplicationID:    "Unknown Application ID",
}

func (c Cause) String() string {
	if s, ok := causeNames[c]; ok {
		return s
	}
	return "cause " + strconv.Itoa(int(c))
}

// IE types that answers name as offending, TS 29.244 table 8.1.2-1.
const (
	IECreatePDR            uint16 = 1
	IEPDI                  uint16 = 2
	IECreateFAR            uint16 = 3
	IEForwardingParameters uint16 = 4
	IECreateURR            uint16 = 6
	IECreateQER            uint16 = 7
	IEUpdatePDR            uint16 = 9
	IESourceInterface      uint16 = 20
	IEFTEID                uint16 = 21
	IENetworkInstance      uint16 = 22
	IESDFFilter            uint16 = 23
	IEApplicationID        uint16 = 24
	IEGateStatus           uint16 = 25
	IEMBR                  uint16 = 26
	IEGBR                  uint16 = 27
	IEPrecedence           uint16 = 29
	IEReportingTriggers    uint16 = 37
	IERedirectInformation  uint16 = 38
	IEForwardingPolicy     uint16 = 41
	IEDestinationInterface uint16 = 42
	IEApplyAction          uint16 = 44
	IEPDRID                uint16 = 56
	IEFSEID                uint16 = 57
	IEApplicationIDsPFDs   uint16 = 58
	IENodeID               uint16 = 60
	IEPFDContents          uint16 = 61
	IEMeasurementMethod    uint16 = 62
	IEURRID                uint16 = 81
	IEOuterHeaderCreation  uint16 = 84
	IEBARID                uint16 = 88
	IEUEIPAddress          uint16 = 93
	IEOuterHeaderRemoval   uint16 = 95
	IEActivatePredefined   uint16 = 106
	IEDeactivatePredefined uint16 = 107
	IEFARID                uint16 = 108
	IEQERID                uint16 = 109
	IEPDNType              uint16 = 113
	IETrafficEndpointID    uint16 = 131
	IEQFI                  uint16 = 124
	IEFramedRoute          uint16 = 153
	IEFramedIPv6Route      uint16 = 155
)
