// SPDX-License-Identifier: BSD-3-Clause
package rules

import "net/netip"

// NodeID names a PFCP entity, §8.2.38. Either Addr is valid or FQDN is not empty. It is
// comparable and serves as a key.
type NodeID struct {
	Addr netip.Addr
	FQDN string // dotted, without the trailing dot
}

func (n NodeID) String() string {
	if n.Addr.IsValid() {
		return n.Addr.String()
	}
	return n.FQDN
}

// FSEID is an F-SEID, §8.2.37. An address that is not there is not valid.
type FSEID struct {
	SEID uint64
	IPv4 netip.Addr
	IPv6 netip.Addr
}

// FTEID is an F-TEID, §8.2.3, of a request or of an answer. With Choose, IPv4 and IPv6 are not
// valid and ChooseIPv4, ChooseIPv6 say which addresses are asked for.
type FTEID struct {
	Choose     bool // CH
	ChooseIPv4 bool // V4 under CH
	ChooseIPv6 bool // V6 under CH
	ChooseID   *uint8
	TEID       uint32
	IPv4       netip.Addr
	IPv6       netip.Addr
}

// UEIP is a UE IP Address, §8.2.62.
type UEIP struct {
	IPv4           netip.Addr // V4
	IPv6           netip.Addr // V6
	ChooseIPv4     bool       // CHV4
	ChooseIPv6     bool       // CHV6
	Destination    bool       // S/D: 1
	DelegationBits uint8      // IPv6D: bits below the /64 that are delegated; 0: not there
	PrefixLength   uint8      // IP6PL; 0: not there, 64
}

// Interface types of Source and Destination Interface, §8.2.2, §8.2.24.
const (
	Access     uint8 = 0
	Core       uint8 = 1
	SGiN6LAN   uint8 = 2
	CPFunction uint8 = 3
	LIFunction uint8 = 4 // as destination; as source 4 is 5G VN Internal
	VNInternal uint8 = 5
)

// PDN types, §8.2.79.
const (
	PDNIPv4     uint8 = 1
	PDNIPv6     uint8 = 2
	PDNIPv4v6   uint8 = 3
	PDNNonIP    uint8 = 4
	PDNEthernet uint8 = 5
)
