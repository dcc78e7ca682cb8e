// SPDX-License-Identifier: BSD-3-Clause
package rules

// Measurement Method bits, §8.2.40.
const (
	MethodDURAT uint8 = 1
	MethodVOLUM uint8 = 2
	MethodEVENT uint8 = 4
)

// Reporting Triggers bits, §8.2.19; the first octet is lowest.
const (
	ReportPERIO uint32 = 1 << 0
	ReportVOLTH uint32 = 1 << 1
	ReportTIMTH uint32 = 1 << 2
	ReportQUHTI uint32 = 1 << 3
	ReportSTART uint32 = 1 << 4
	ReportSTOPT uint32 = 1 << 5
	ReportDROTH uint32 = 1 << 6
	ReportLIUSA uint32 = 1 << 7
	ReportVOLQU uint32 = 1 << 8
	ReportTIMQU uint32 = 1 << 9
	ReportENVCL uint32 = 1 << 10
	ReportMACAR uint32 = 1 << 11
	ReportEVETH uint32 = 1 << 12
	ReportEVEQU uint32 = 1 << 13
	ReportIPMJL uint32 = 1 << 14
	ReportQUVTI uint32 = 1 << 15
	ReportREEMR uint32 = 1 << 16
	ReportUPINT uint32 = 1 << 17
)

// Usage Report Trigger bits, §8.2.41; the first octet is lowest.
const (
	UsagePERIO uint32 = 1 << 0
	UsageVOLTH uint32 = 1 << 1
	UsageTIMTH uint32 = 1 << 2
	UsageQUHTI uint32 = 1 << 3
	UsageSTART uint32 = 1 << 4
	UsageSTOPT uint32 = 1 << 5
	UsageDROTH uint32 = 1 << 6
	UsageIMMER uint32 = 1 << 7
	UsageVOLQU uint32 = 1 << 8
	UsageTIMQU uint32 = 1 << 9
	UsageLIUSA uint32 = 1 << 10
	UsageTERMR uint32 = 1 << 11
	UsageMONIT uint32 = 1 << 12
	UsageENVCL uint32 = 1 << 13
	UsageMACAR uint32 = 1 << 14
	UsageEVETH uint32 = 1 << 15
	UsageEVEQU uint32 = 1 << 16
	UsageTEBUR uint32 = 1 << 17
	UsageIPMJL uint32 = 1 << 18
	UsageQUVTI uint32 = 1 << 19
	UsageEMRRE uint32 = 1 << 20
	UsageUPINT uint32 = 1 << 21
)

// Measurement Information bits, §8.2.68.
const (
	InfoMBQE uint8 = 1
	InfoINAM uint8 = 2
	InfoRADI uint8 = 4
	InfoISTM uint8 = 8
	InfoMNOP uint8 = 16
)

// Volume is a Volume Threshold or Volume Quota, §8.2.13, §8.2.50, in octets; nil: not set.
type Volume struct {
	Total    *uint64
	Uplink   *uint64
	Downlink *uint64
}

// DroppedDL is a Dropped DL Traffic Threshold, §8.2.49; 0: not set.
type DroppedDL struct {
	Packets uint64
	Bytes   uint64
}

// URR is a Create URR or Update URR, §7.5.2.4, §7.5.4.4. Times without a unit in their names are
// seconds.
type URR struct {
	ID                        uint32
	Method                    *uint8
	Triggers                  *uint32
	Period                    *uint32 // Measurement Period
	VolumeThreshold           *Volume
	VolumeQuota               *Volume
	TimeThreshold             *uint32
	TimeQuota                 *uint32
	EventThreshold            *uint32
	EventQuota                *uint32
	QuotaHoldingTime          *uint32
	QuotaValidityTime         *uint32
	DroppedDL                 *DroppedDL
	MonitoringTimeUnix        *uint64
	SubsequentVolumeThreshold *Volume
	SubsequentTimeThreshold   *uint32
	SubsequentVolumeQuota     *Volume
	SubsequentTimeQuota       *uint32
	InactivityDetectionTime   *uint32
	LinkedURRIDs              []uint32
	Information               *uint8 // Measurement Information
	QuotaFARID                *uint32
	EthernetInactivity        *uint32 // Ethernet Inactivity Timer
}

// BAR is a Create BAR or Update BAR, §7.5.2.6, §7.5.4.11, §7.5.9.2.
type BAR struct {
	ID            uint8
	NotifyDelayMs *uint32 // Downlink Data Notification Delay, in multiples of 50
	Packets       *uint16 // Suggested Buffering Packets Count
}

// TrafficEndpoint is a Create or Update Traffic Endpoint, §7.5.2.7.
type TrafficEndpoint struct {
	ID               uint8
	Source           *uint8
	SourceType       *uint8
	LocalFTEID       *FTEID
	NetworkInstance  *string
	UEIPs            []UEIP
	QFIs             []uint8
	FramedRoutes     []string
	FramedIPv6Routes []string
}
