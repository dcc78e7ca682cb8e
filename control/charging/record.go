// SPDX-License-Identifier: BSD-3-Clause

// Package charging writes offline charging records: newline-delimited JSON, each record once.
//
// A record is born in the commit that makes what it counts told (an event acknowledged, a session
// deleted), numbered in that order, and waits in the store until it is in a file. Numbers in the
// files rise by one: what a writer that was killed had written is known from the file's end, and
// not written again.
package charging

import (
	"encoding/json"
	"fmt"
	"time"
)

// Record is of a session and rating group since the record before. Octets are of inner packets.
type Record struct {
	Time            string `json:"time"` // when it was closed, RFC 3339, UTC
	Node            string `json:"node"` // of this UP function
	Unit            string `json:"unit"`
	Session         string `json:"session"` // UP SEID
	CP              string `json:"cp"`
	CPSession       string `json:"cp_session"`
	User            string `json:"user,omitempty"`
	DNN             string `json:"dnn,omitempty"`
	NetworkInstance string `json:"network_instance,omitempty"`
	IPv4            string `json:"ipv4,omitempty"`
	IPv6            string `json:"ipv6,omitempty"`
	RatingGroup     uint32 `json:"rating_group"`
	Sequence        uint32 `json:"sequence"` // of the session's records of this rating group, from 0
	Cause           string `json:"cause"`    // final, time_limit, volume_limit, rules_changed, interrupted, query
	Start           string `json:"start,omitempty"`
	End             string `json:"end,omitempty"`
	FirstPacket     string `json:"first_packet,omitempty"`
	LastPacket      string `json:"last_packet,omitempty"`
	DurationMs      uint64 `json:"duration_ms"`
	UplinkOctets    uint64 `json:"uplink_octets"`
	DownlinkOctets  uint64 `json:"downlink_octets"`
	UplinkPackets   uint64 `json:"uplink_packets"`
	DownlinkPackets uint64 `json:"downlink_packets"`
}

// Untold is the usage of a URR of the CP function that it was not told of: the session ended with its
// association, or was not known to it any more. Its octets are in Records, too.
type Untold struct {
	Kind            string `json:"kind"` // untold_usage
	Time            string `json:"time"`
	Node            string `json:"node"`
	Unit            string `json:"unit"`
	Session         string `json:"session"`
	CP              string `json:"cp"`
	CPSession       string `json:"cp_session"`
	User            string `json:"user,omitempty"`
	URR             uint32 `json:"urr"`
	Sequence        uint32 `json:"ur_seqn"`
	Cause           string `json:"cause"` // association_released, association_set_up_anew, peer_restarted, ...
	Start           string `json:"start,omitempty"`
	End             string `json:"end,omitempty"`
	DurationMs      uint64 `json:"duration_ms"`
	UplinkOctets    uint64 `json:"uplink_octets"`
	DownlinkOctets  uint64 `json:"downlink_octets"`
	UplinkPackets   uint64 `json:"uplink_packets"`
	DownlinkPackets uint64 `json:"downlink_packets"`
}

// Encode for the store.
func (r *Untold) Encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return b
}

// Stamp writes a time; 0: "".
func Stamp(unixMs uint64) string {
	if unixMs == 0 {
		return ""
	}
	return time.UnixMilli(int64(unixMs)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Encode for the store. The number comes with the line.
func (r *Record) Encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return b
}

// appendLine writes the line of a record as stored.
func appendLine(b []byte, number uint64, record []byte) []byte {
	b = fmt.Appendf(b, `{"record":%d,`, number)
	b = append(b, record[1:]...)
	return append(b, '\n')
}
