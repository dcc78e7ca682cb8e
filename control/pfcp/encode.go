// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"net"
	"net/netip"
	"time"

	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// Self is what our messages say of this UP function.
type Self struct {
	Node     rules.NodeID
	Recovery time.Time
	Features []byte // UP Function Features, §8.2.25, first octet first
}

// to is the header of a message about to be written.
type to struct {
	messageType uint8
	seid        uint64
	sequence    uint32
}

func (h to) write(ies ...*ie.IE) []byte {
	var m *message.Generic
	if IsSession(h.messageType) {
		m = message.NewGeneric(h.messageType, h.seid, h.sequence, ies...)
	} else {
		m = message.NewGenericWithoutSEID(h.messageType, h.sequence, ies...)
	}
	b, err := m.Marshal()
	if err != nil { // only a buffer of the wrong size, which Marshal chooses itself
		panic("pfcp: " + err.Error())
	}
	return b
}

func netIP(a netip.Addr) net.IP {
	if !a.IsValid() {
		return nil
	}
	return a.AsSlice()
}

func nodeIE(n rules.NodeID) *ie.IE {
	switch {
	case n.FQDN != "":
		return ie.NewNodeID("", "", n.FQDN)
	case n.Addr.Is4():
		return ie.NewNodeID(n.Addr.String(), "", "")
	default:
		return ie.NewNodeID("", n.Addr.String(), "")
	}
}

func causeIE(c rules.Cause) *ie.IE { return ie.NewCause(uint8(c)) }

func offendingIE(t uint16) []*ie.IE {
	if t == 0 {
		return nil
	}
	return []*ie.IE{ie.NewOffendingIE(t)}
}

// EncodeVersionNotSupported answers a request of a version that is not 1, §7.4.4.7.
func EncodeVersionNotSupported(sequence uint32) []byte {
	return to{VersionNotSupportedResponse, 0, sequence}.write()
}

// EncodeHeartbeat writes a request or a response.
func (s *Self) EncodeHeartbeat(messageType uint8, sequence uint32) []byte {
	return to{messageType, 0, sequence}.write(ie.NewRecoveryTimeStamp(s.Recovery))
}

// EncodeSetup writes an Association Setup Request, §7.4.4.1.
func (s *Self) EncodeSetup(sequence uint32) []byte {
	return to{AssociationSetupRequest, 0, sequence}.write(nodeIE(s.Node),
		ie.NewRecoveryTimeStamp(s.Recovery), ie.New(ie.UPFunctionFeatures, s.Features))
}

// EncodeSetupAnswer writes an Association Setup Response, §7.4.4.2. retained: sessions of a former
// association go on.
func (s *Self) EncodeSetupAnswer(sequence uint32, cause rules.Cause, offending uint16, retained bool) []byte {
	ies := []*ie.IE{nodeIE(s.Node), causeIE(cause), ie.NewRecoveryTimeStamp(s.Recovery)}
	if cause == rules.CauseAccepted {
		ies = append(ies, ie.New(ie.UPFunctionFeatures, s.Features))
	}
	if retained {
		ies = append(ies, ie.NewPFCPASRspFlags(1)) // PSREI
	}
	return to{AssociationSetupResponse, 0, sequence}.write(append(ies, offendingIE(offending)...)...)
}

// EncodeNodeAnswer writes a response that is of a Node ID and a cause: Association Update and
// Release, Session Set Deletion.
func (s *Self) EncodeNodeAnswer(messageType uint8, sequence uint32, cause rules.Cause, offending uint16) []byte {
	ies := []*ie.IE{nodeIE(s.Node), causeIE(cause)}
	if messageType == AssociationUpdateResponse && cause == rules.CauseAccepted {
		ies = append(ies, ie.New(ie.UPFunctionFeatures, s.Features))
	}
	return to{messageType, 0, sequence}.write(append(ies, offendingIE(offending)...)...)
}

// EncodePFDAnswer writes a PFD Management Response, §7.4.3.2.
func (s *Self) EncodePFDAnswer(sequence uint32, cause rules.Cause, offending uint16) []byte {
	ies := append([]*ie.IE{causeIE(cause)}, offendingIE(offending)...)
	return to{PFDManagementRequest + 1, 0, sequence}.write(append(ies, nodeIE(s.Node))...)
}

// EncodeReleaseWish writes the Association Update Request by which a UP function asks to be
// released, §6.2.7.3.
func (s *Self) EncodeReleaseWish(sequence uint32) []byte {
	return to{AssociationUpdateRequest, 0, sequence}.write(nodeIE(s.Node),
		ie.NewPFCPAssociationReleaseRequest(1, 0))
}

// EncodeNodeReport writes a Node Report Request about the path to a GTP-U peer, §7.4.5.1.
func (s *Self) EncodeNodeReport(sequence uint32, e rules.PathEvent) []byte {
	peer := remotePeer(e)
	kind, report := uint8(1), ie.NewUserPlanePathFailureReport(peer) // UPFR
	if e.Up {
		kind, report = 2, ie.NewUserPlanePathRecoveryReport(peer) // UPRR
	}
	return to{NodeReportRequest, 0, sequence}.write(nodeIE(s.Node), ie.NewNodeReportType(kind), report)
}

// remotePeer is a Remote GTP-U Peer, §8.2.70, with destination interface and, where known,
// network instance.
func remotePeer(e rules.PathEvent) *ie.IE {
	f, v4, v6 := uint8(4), "", ""
	if e.Peer.Is4() {
		f, v4 = f|2, e.Peer.String()
	} else {
		f, v6 = f|1, e.Peer.String()
	}
	if e.NetworkInstance != "" {
		f |= 8
	}
	return ie.NewRemoteGTPUPeer(f, v4, v6, e.Interface, e.NetworkInstance)
}
