// SPDX-License-Identifier: BSD-3-Clause

package rules

// MAC is a link address.
type MAC [6]byte

// EthernetTraffic is Ethernet Traffic Information, table 7.5.8.3-3: addresses whose frames came from
// the UE for the first time, or no more, all behind the same tag.
type EthernetTraffic struct {
	Detected []MAC
	Removed  []MAC
	VID      uint16 // of the C-TAG, §8.2.103, §8.2.104; 0: none
}

// EthernetFilter is an Ethernet Packet Filter, §5.13.3, table 7.5.2.2-3: all that is there holds,
// of lists one of their members.
type EthernetFilter struct {
	ID            *uint32 // Ethernet Filter ID
	Bidirectional bool    // described here for another PDR of the session too, sides exchanged
	MACs          []MACFilter
	Type          *uint16 // Ethertype
	CTag, STag    *VLANTag
	SDFFilters    []SDFFilter // of the packet in the frame
}

// MACFilter is a MAC Address IE, §8.2.93: with an upper value a range.
type MACFilter struct {
	Source, Destination           *MAC
	SourceUpper, DestinationUpper *MAC
}

// VLANTag is PCP, DEI and VID of a tag under a mask, as in the tag: §8.2.94, §8.2.95.
type VLANTag struct {
	Value uint16
	Mask  uint16
}
