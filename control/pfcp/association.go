// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"net/netip"
	"time"

	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// Association is what Association Setup, Update and Release Requests and their responses say,
// §7.4.4; what a message does not have is zero.
type Association struct {
	Node       rules.NodeID
	Cause      rules.Cause // responses
	Recovery   time.Time   // setup
	CPFeatures []byte
	// Retain: Session Retention Information is there, §6.2.6.2.2; RetainOf: of these CP entities
	// only, none: of all.
	Retain   bool
	RetainOf []netip.Addr
	// Preparing: PARPS, the CP function is about to release the association.
	Preparing bool
}

// DecodeHeartbeat reads a Heartbeat Request or Response, §7.4.2.
func DecodeHeartbeat(b []byte) (time.Time, *Error) {
	var recovery time.Time
	err := heartbeat.walk(b, func(_ uint16, v []byte) *Error {
		recovery = goTime(v)
		return nil
	})
	return recovery, err
}

// DecodeAssociation reads the IEs of the message of type t, one of Association Setup, Update and
// Release Request and of their and Node Report's Response.
func DecodeAssociation(t uint8, b []byte) (*Association, *Error) {
	g := nodeAnswer
	switch t {
	case AssociationSetupRequest:
		g = associationSetup
	case AssociationSetupResponse:
		g = associationSetupAnswer
	case AssociationUpdateRequest:
		g = associationUpdate
	case AssociationReleaseRequest:
		g = associationRelease
	}
	a := &Association{}
	err := g.walk(b, func(t uint16, v []byte) *Error {
		switch t {
		case ie.NodeID:
			id, err := nodeID(g, v)
			return put(&a.Node, id, err)
		case ie.Cause:
			a.Cause = rules.Cause(v[0])
		case ie.RecoveryTimeStamp:
			a.Recovery = goTime(v)
		case ie.CPFunctionFeatures:
			a.CPFeatures = append([]byte(nil), v...)
		case ie.PFCPAUReqFlags:
			a.Preparing = v[0]&1 != 0
		case ie.PFCPSessionRetentionInformation:
			a.Retain = true
			return a.decodeRetention(v)
		}
		return nil
	})
	return a, err
}

func (a *Association) decodeRetention(b []byte) *Error {
	return retention.walk(b, func(t uint16, v []byte) *Error {
		c := cursor{b: v}
		f := c.u8()
		if f&2 != 0 {
			a.RetainOf = append(a.RetainOf, c.ip4())
		}
		if f&1 != 0 {
			a.RetainOf = append(a.RetainOf, c.ip6())
		}
		return c.err(retention, t)
	})
}
