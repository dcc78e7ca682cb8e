// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import "github.com/wmnsk/go-pfcp/ie"

// minLength is the least an IE of fixed parts has; what its flags promise is checked where they
// are read. Strings and groups may be empty.
var minLength = map[uint16]uint8{
	ie.APNDNN:                          1,
	ie.ActivatePredefinedRules:         1,
	ie.ApplicationID:                   1,
	ie.ApplyAction:                     1,
	ie.AveragingWindow:                 4,
	ie.BARID:                           1,
	ie.Cause:                           1,
	ie.CPPFCPEntityIPAddress:           1,
	ie.DeactivatePredefinedRules:       1,
	ie.DestinationInterface:            1,
	ie.DLBufferingSuggestedPacketCount: 1,
	ie.DownlinkDataNotificationDelay:   1,
	ie.DroppedDLTrafficThreshold:       1,
	ie.CTAG:                            3,
	ie.EthernetFilterID:                4,
	ie.EthernetFilterProperties:        1,
	ie.EthernetInactivityTimer:         4,
	ie.EthernetPDUSessionInformation:   1,
	ie.Ethertype:                       2,
	ie.MACAddress:                      1,
	ie.STAG:                            3,
	ie.EventQuota:                      4,
	ie.EventThreshold:                  4,
	ie.FARID:                           4,
	ie.ForwardingPolicy:                1,
	ie.FSEID:                           9,
	ie.FTEID:                           1,
	ie.GateStatus:                      1,
	ie.GBR:                             10,
	ie.InactivityDetectionTime:         4,
	ie.LinkedURRID:                     4,
	ie.MBR:                             10,
	ie.MeasurementInformation:          1,
	ie.MeasurementMethod:               1,
	ie.MeasurementPeriod:               4,
	ie.MonitoringTime:                  4,
	ie.NodeID:                          2,
	ie.OuterHeaderCreation:             2,
	ie.OuterHeaderRemoval:              1,
	ie.PagingPolicyIndicator:           1,
	ie.PDNType:                         1,
	ie.PDRID:                           2,
	ie.PFDContents:                     2,
	ie.PFCPASRspFlags:                  1,
	ie.PFCPAssociationReleaseRequest:   1,
	ie.PFCPAUReqFlags:                  1,
	ie.PFCPSEReqFlags:                  1,
	ie.PFCPSMReqFlags:                  1,
	ie.PFCPSRRspFlags:                  1,
	ie.Precedence:                      4,
	ie.QERCorrelationID:                4,
	ie.QERID:                           4,
	ie.QFI:                             1,
	ie.QueryURRReference:               4,
	ie.QuotaHoldingTime:                4,
	ie.QuotaValidityTime:               4,
	ie.RecoveryTimeStamp:               4,
	ie.ReportingTriggers:               1,
	ie.RQI:                             1,
	ie.SDFFilter:                       2,
	ie.SourceInterface:                 1,
	ie.SubsequentTimeQuota:             4,
	ie.SubsequentTimeThreshold:         4,
	ie.SubsequentVolumeQuota:           1,
	ie.SubsequentVolumeThreshold:       1,
	ie.SuggestedBufferingPacketsCount:  1,
	ie.TGPPInterfaceType:               1,
	ie.TimeQuota:                       4,
	ie.TimeThreshold:                   4,
	ie.TrafficEndpointID:               1,
	ie.TransportLevelMarking:           2,
	ie.UEIPAddress:                     1,
	ie.URRID:                           4,
	ie.UserID:                          1,
	ie.UserPlaneInactivityTimer:        4,
	ie.VolumeQuota:                     1,
	ie.VolumeThreshold:                 1,
}

// Node related messages, §7.4.
var (
	heartbeat        = newGroup("heartbeat", must(ie.RecoveryTimeStamp))
	associationSetup = newGroup("association setup", must(ie.NodeID, ie.RecoveryTimeStamp),
		may(ie.CPFunctionFeatures, ie.PFCPSessionRetentionInformation))
	associationSetupAnswer = newGroup("association setup response",
		must(ie.NodeID, ie.Cause, ie.RecoveryTimeStamp), may(ie.CPFunctionFeatures))
	associationUpdate = newGroup("association update", must(ie.NodeID),
		may(ie.CPFunctionFeatures, ie.PFCPAUReqFlags))
	associationRelease = newGroup("association release", must(ie.NodeID))
	nodeAnswer         = newGroup("response of a node", must(ie.NodeID, ie.Cause))
	pfdManagement      = newGroup("PFD management", many(ie.ApplicationIDsPFDs), may(ie.NodeID))
	applicationPFDs    = newGroup("Application ID's PFDs", must(ie.ApplicationID), many(ie.PFDContext))
	pfdContext         = newGroup("PFD Context", mustMany(ie.PFDContents))
	retention          = newGroup("PFCP Session Retention Information", many(ie.CPPFCPEntityIPAddress))
)

// Session related messages, §7.5.2 to §7.5.9.
var (
	establishment = newGroup("session establishment",
		must(ie.NodeID, ie.FSEID), mustMany(ie.CreatePDR, ie.CreateFAR),
		many(ie.CreateURR, ie.CreateQER, ie.CreateBAR, ie.CreateTrafficEndpoint),
		may(ie.PDNType, ie.UserPlaneInactivityTimer, ie.UserID, ie.APNDNN, ie.PFCPSEReqFlags))
	modification = newGroup("session modification",
		many(ie.RemovePDR, ie.RemoveFAR, ie.RemoveURR, ie.RemoveQER, ie.RemoveBAR,
			ie.RemoveTrafficEndpoint, ie.CreatePDR, ie.CreateFAR, ie.CreateURR, ie.CreateQER,
			ie.CreateBAR, ie.CreateTrafficEndpoint, ie.UpdatePDR, ie.UpdateFAR, ie.UpdateURR,
			ie.UpdateQER, ie.UpdateBARWithinSessionModificationRequest,
			ie.UpdateTrafficEndpoint, ie.QueryURR),
		may(ie.NodeID, ie.FSEID, ie.PFCPSMReqFlags, ie.UserPlaneInactivityTimer,
			ie.QueryURRReference))
	deletion            = newGroup("session deletion")
	sessionReportAnswer = newGroup("session report response", must(ie.Cause),
		many(ie.UpdateBARWithinSessionReportResponse), may(ie.PFCPSRRspFlags, ie.FSEID))
)

// Grouped IEs: those of Create, and of Update, where less is mandatory.
var (
	createPDR = newGroup("Create PDR", must(ie.PDRID, ie.Precedence, ie.PDI),
		may(ie.OuterHeaderRemoval, ie.FARID, ie.MARID),
		many(ie.URRID, ie.QERID, ie.ActivatePredefinedRules))
	updatePDR = newGroup("Update PDR", must(ie.PDRID),
		may(ie.Precedence, ie.PDI, ie.OuterHeaderRemoval, ie.FARID),
		many(ie.URRID, ie.QERID, ie.ActivatePredefinedRules, ie.DeactivatePredefinedRules))
	pdi = newGroup("PDI", must(ie.SourceInterface),
		may(ie.FTEID, ie.NetworkInstance, ie.ApplicationID, ie.TGPPInterfaceType,
			ie.EthernetPDUSessionInformation),
		many(ie.UEIPAddress, ie.TrafficEndpointID, ie.SDFFilter, ie.EthernetPacketFilter, ie.QFI,
			ie.FramedRoute, ie.FramedIPv6Route))
	ethernetFilter = newGroup("Ethernet Packet Filter", may(ie.EthernetFilterID, ie.EthernetFilterProperties,
		ie.Ethertype, ie.CTAG, ie.STAG), many(ie.MACAddress, ie.SDFFilter))
	trafficEndpoint = newGroup("Traffic Endpoint", must(ie.TrafficEndpointID),
		may(ie.SourceInterface, ie.TGPPInterfaceType, ie.FTEID, ie.NetworkInstance),
		many(ie.UEIPAddress, ie.QFI, ie.FramedRoute, ie.FramedIPv6Route))

	createFAR = newGroup("Create FAR", must(ie.FARID, ie.ApplyAction),
		may(ie.ForwardingParameters, ie.BARID), many(ie.DuplicatingParameters))
	updateFAR = newGroup("Update FAR", must(ie.FARID),
		may(ie.ApplyAction, ie.UpdateForwardingParameters, ie.BARID),
		many(ie.UpdateDuplicatingParameters))
	forwardingMembers = []uint16{ie.NetworkInstance, ie.RedirectInformation, ie.OuterHeaderCreation,
		ie.TransportLevelMarking, ie.ForwardingPolicy, ie.HeaderEnrichment, ie.TrafficEndpointID,
		ie.TGPPInterfaceType}
	createForwarding = newGroup("Forwarding Parameters", must(ie.DestinationInterface),
		may(forwardingMembers...))
	updateForwarding = newGroup("Update Forwarding Parameters", may(ie.DestinationInterface,
		ie.PFCPSMReqFlags), may(forwardingMembers...))

	urrMembers = may(ie.MeasurementPeriod, ie.VolumeThreshold, ie.VolumeQuota, ie.EventThreshold,
		ie.EventQuota, ie.TimeThreshold, ie.TimeQuota, ie.QuotaHoldingTime, ie.QuotaValidityTime,
		ie.DroppedDLTrafficThreshold, ie.MonitoringTime, ie.SubsequentVolumeThreshold,
		ie.SubsequentTimeThreshold, ie.SubsequentVolumeQuota, ie.SubsequentTimeQuota,
		ie.InactivityDetectionTime, ie.MeasurementInformation, ie.FARID, ie.EthernetInactivityTimer)
	createURR = newGroup("Create URR", must(ie.URRID, ie.MeasurementMethod, ie.ReportingTriggers),
		urrMembers, many(ie.LinkedURRID))
	updateURR = newGroup("Update URR", must(ie.URRID), may(ie.MeasurementMethod,
		ie.ReportingTriggers), urrMembers, many(ie.LinkedURRID))

	qerMembers = may(ie.QERCorrelationID, ie.MBR, ie.GBR, ie.QFI, ie.RQI, ie.PagingPolicyIndicator,
		ie.AveragingWindow)
	createQER = newGroup("Create QER", must(ie.QERID, ie.GateStatus), qerMembers)
	updateQER = newGroup("Update QER", must(ie.QERID), may(ie.GateStatus), qerMembers)

	bar = newGroup("BAR", must(ie.BARID), may(ie.DownlinkDataNotificationDelay,
		ie.SuggestedBufferingPacketsCount, ie.DLBufferingSuggestedPacketCount))

	removePDR             = newGroup("Remove PDR", must(ie.PDRID))
	removeFAR             = newGroup("Remove FAR", must(ie.FARID))
	removeURR             = newGroup("Remove URR", must(ie.URRID))
	removeQER             = newGroup("Remove QER", must(ie.QERID))
	removeBAR             = newGroup("Remove BAR", must(ie.BARID))
	removeTrafficEndpoint = newGroup("Remove Traffic Endpoint", must(ie.TrafficEndpointID))
	queryURR              = newGroup("Query URR", must(ie.URRID))
)
