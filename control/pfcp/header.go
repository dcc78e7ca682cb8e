// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"encoding/binary"
	"errors"
)

// Port is where PFCP requests go, §4.2.2.
const Port = 8805

// Message types, table 7.3-1. A response's is its request's and one more.
const (
	HeartbeatRequest            uint8 = 1
	HeartbeatResponse           uint8 = 2
	PFDManagementRequest        uint8 = 3
	AssociationSetupRequest     uint8 = 5
	AssociationSetupResponse    uint8 = 6
	AssociationUpdateRequest    uint8 = 7
	AssociationUpdateResponse   uint8 = 8
	AssociationReleaseRequest   uint8 = 9
	AssociationReleaseResponse  uint8 = 10
	VersionNotSupportedResponse uint8 = 11
	NodeReportRequest           uint8 = 12
	NodeReportResponse          uint8 = 13
	SessionSetDeletionRequest   uint8 = 14
	SessionEstablishmentRequest uint8 = 50
	SessionModificationRequest  uint8 = 52
	SessionDeletionRequest      uint8 = 54
	SessionReportRequest        uint8 = 56
	SessionReportResponse       uint8 = 57
)

var messageNames = map[uint8]string{
	HeartbeatRequest:            "heartbeat",
	PFDManagementRequest:        "pfd_management",
	AssociationSetupRequest:     "association_setup",
	AssociationUpdateRequest:    "association_update",
	AssociationReleaseRequest:   "association_release",
	NodeReportRequest:           "node_report",
	SessionSetDeletionRequest:   "session_set_deletion",
	SessionEstablishmentRequest: "session_establishment",
	SessionModificationRequest:  "session_modification",
	SessionDeletionRequest:      "session_deletion",
	SessionReportRequest:        "session_report",
}

// Name of the procedure a request begins, for logs and metrics.
func Name(request uint8) string {
	if s, ok := messageNames[request]; ok {
		return s
	}
	return "unknown"
}

// IsSession tells messages with a SEID from those between nodes, §7.3.
func IsSession(messageType uint8) bool { return messageType >= 50 && messageType < 100 }

// IsResponse tells responses, and Version Not Supported, from requests.
func IsResponse(messageType uint8) bool {
	if IsSession(messageType) || messageType > VersionNotSupportedResponse {
		return messageType%2 == 1
	}
	return messageType%2 == 0 || messageType == VersionNotSupportedResponse
}

// Header is that of §7.2.2.
type Header struct {
	Version  uint8
	FollowOn bool // FO: another message is in the same datagram
	HasSEID  bool
	Type     uint8
	SEID     uint64
	Sequence uint32 // 24 bits
}

// What can be wrong with a datagram before its IEs are looked at, §7.6.2 and §7.6.3.
var (
	// ErrTooShort: not even a header. Such a message is discarded.
	ErrTooShort = errors.New("shorter than its header")
	// ErrVersion: Header.Sequence holds what a Version Not Supported Response needs.
	ErrVersion = errors.New("version not supported")
	// ErrLength: Length is not that of the datagram.
	ErrLength = errors.New("length field and datagram differ")
)

// ParseHeader splits a datagram into header and IEs. The header is filled in as far as the
// datagram reaches, also beside an error.
func ParseHeader(b []byte) (Header, []byte, error) {
	if len(b) < 8 {
		return Header{}, nil, ErrTooShort
	}
	h := Header{
		Version:  b[0] >> 5,
		FollowOn: b[0]&4 != 0,
		HasSEID:  b[0]&1 != 0,
		Type:     b[1],
	}
	length := int(binary.BigEndian.Uint16(b[2:])) + 4
	offset := 4
	if h.HasSEID {
		if len(b) < 16 {
			return h, nil, ErrTooShort
		}
		h.SEID = binary.BigEndian.Uint64(b[4:])
		offset = 12
	}
	h.Sequence = binary.BigEndian.Uint32(b[offset:]) >> 8
	offset += 4
	switch {
	case h.Version != 1:
		return h, nil, ErrVersion
	case length < offset || length > len(b), length < len(b) && !h.FollowOn:
		return h, nil, ErrLength
	}
	return h, b[offset:length], nil
}
