// SPDX-License-Identifier: BSD-3-Clause
package rules

import (
	"net/netip"
	"time"
)

// Transaction is the PFCP transaction a request came by.
type Transaction struct {
	Peer     netip.AddrPort // where the request came from and the answer goes to
	Sequence uint32
	Digest   uint64 // of the request's octets; kept with the answer, the same in each run of the agent
	// Encode writes the response. It is called once (again where the store fails and the answer
	// with it), with locks of the manager held: it only encodes. The store keeps the octets with the session, so that a request
	// retransmitted after a restart of the agent gets the same ones.
	Encode func(*Answer) []byte
}

// Done takes the answer, once, on a goroutine of the manager or, when a request is refused at
// once, the caller's: after the workers acknowledged and the store committed. wire is what
// Transaction.Encode made. It must not block.
type Done func(answer *Answer, wire []byte)

// Sessions is what the N4 side calls. Every method may be called from any goroutine; requests of
// one session are done in the order of the calls. Requests may be kept: the caller does not
// change them any more.
type Sessions interface {
	Establish(t Transaction, r *EstablishRequest, done Done)
	Modify(t Transaction, upSEID uint64, r *ModifyRequest, done Done)
	Delete(t Transaction, upSEID uint64, done Done)

	// Holder says whose a session is.
	Holder(upSEID uint64) (h Holder, ok bool)

	// DeleteOfPeer deletes every session of a CP function, without reports: its association was
	// released or set up without session retention, or it lost its sessions. done (may be nil)
	// gets how many have gone, at once where there are none; those go whose unit is away when it is
	// back, and for requests they are not there meanwhile. An agent that ends before that calls
	// it, too: the next one deletes what is left, whatever KeepAssociation was given since.
	DeleteOfPeer(node NodeID, why string, done func(sessions int))
	// CountOfPeer counts those that are not to be deleted so.
	CountOfPeer(node NodeID) int

	// PeerBack: a CP function answers again; it gets the reports it did not answer.
	PeerBack(node NodeID)

	// Answers yields the last answers of sessions, and of those just deleted, to put into the
	// retransmission cache at start. Digest is 0 where a former version stored the answer.
	Answers(yield func(t Transaction, wire []byte) bool)

	// ManagePFDs replaces packet flow descriptions. done is called once, on any goroutine, when the
	// forwarding units that are there have them and they are stored, or nothing was changed.
	ManagePFDs(r *PFDRequest, done func(PFDAnswer))

	// RecoveryTimeStamp changes only when sessions were lost.
	RecoveryTimeStamp() time.Time

	// KeepAssociation stores what the N4 side needs to go on with an association after a restart
	// of the agent; nil forgets it. done (may be nil) is called when it is safe.
	KeepAssociation(node NodeID, state []byte, done func())
	Associations(yield func(node NodeID, state []byte) bool)

	// List yields sessions by rising UP SEID, those above `after`; Show one of them with its
	// rules.
	List(after uint64, yield func(SessionInfo) bool)
	Show(upSEID uint64) (SessionDetail, bool)
}

// Holder is who a session belongs to.
type Holder struct {
	Node NodeID // of the CP function
	CP   FSEID  // its SEID is that of responses
}

// Reporter is what the N4 side offers to the session manager.
type Reporter interface {
	// Report sends a Session Report Request to the CP F-SEID's address and calls done once, on
	// any goroutine, with its response; nil when none came after all retransmissions.
	Report(r *SessionReport, done func(*ReportAnswer))
	// Reachable says whether a CP function answers heartbeats, as far as that is known.
	Reachable(node NodeID) bool
	// Path tells every associated CP function of a path's failure or recovery.
	Path(e PathEvent)
	// Load is how much of the forwarding units is in use, percent. Told about once a second.
	Load(percent uint8)
}

// SessionInfo is a line of `sessions list`.
type SessionInfo struct {
	UPSEID   uint64     `json:"up_seid"`
	CPSEID   uint64     `json:"cp_seid"`
	Node     string     `json:"node"`
	IPv4     netip.Addr `json:"ipv4"`
	IPv6     netip.Addr `json:"ipv6"`
	IPv6Bits uint8      `json:"ipv6_bits,omitempty"`
	TEIDs    []uint32   `json:"teids"`
	PDRs     int        `json:"pdrs"`
	Unit     string     `json:"unit"`                // forwarding unit
	UnitGone bool       `json:"unit_gone,omitempty"` // it is not configured any more
	Worker   int        `json:"worker"`              // that owns it; -1: not known
	Version  uint32     `json:"version"`
}

// SessionDetail is `sessions show`.
type SessionDetail struct {
	SessionInfo
	DNN             string            `json:"dnn,omitempty"`
	UserID          string            `json:"user_id,omitempty"`
	PDRRules        []PDR             `json:"pdr_rules"`
	FARRules        []FAR             `json:"far_rules"`
	QERRules        []QER             `json:"qer_rules"`
	URRRules        []URR             `json:"urr_rules"`
	BARRules        []BAR             `json:"bar_rules"`
	NextSEQN        map[uint32]uint32 `json:"next_ur_seqn"`
	InactivityTimer uint32            `json:"inactivity_s"`
}
