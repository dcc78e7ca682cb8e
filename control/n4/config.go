// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"
	"slices"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
)

// Config of the N4 interface. New fills in defaults where a value is zero.
type Config struct {
	Addresses []netip.Addr // local ones, none of them unspecified
	Port      uint16       // local; 8805
	Node      rules.NodeID
	// Peers are the only CP functions that get an association; empty: any does.
	Peers []Peer

	HeartbeatInterval time.Duration // 10 s
	T1                time.Duration // until a request is sent again; 3 s
	N1                int           // how often a request is sent again before the peer is given up; 3
	ResponseTTL       time.Duration // how long answers are kept for retransmitted requests; 15 s

	// LoadStep is by how many points the load has to change to be told, §6.2.3; 0: it never is.
	LoadStep int
	// OverloadThreshold is the load, percent, from which CP functions are asked to send fewer
	// requests, §6.2.4; 0: never. OverloadReduction is by how many percent at a load of 100; below
	// it is in proportion. OverloadValidity is for how long, unless told otherwise before.
	OverloadThreshold int
	OverloadReduction int
	OverloadValidity  time.Duration
}

// Peer is a CP function, or with a shorter prefix a network of them.
type Peer struct {
	Prefix netip.Prefix
	Node   rules.NodeID // zero: whatever it says
	Port   uint16       // where requests to it go; 8805
	// Associate: we set the association up, again and again until it is there. Needs an address
	// and not a network.
	Associate bool
	// IgnoreRecovery: its Recovery Time Stamp says nothing. Some simulators send the time of day.
	IgnoreRecovery bool
}

func (c *Config) defaults() {
	if c.Port == 0 {
		c.Port = pfcp.Port
	}
	if c.HeartbeatInterval == 0 {
		c.HeartbeatInterval = 10 * time.Second
	}
	if c.T1 == 0 {
		c.T1 = 3 * time.Second
	}
	if c.N1 == 0 {
		c.N1 = 3
	}
	if c.ResponseTTL == 0 {
		c.ResponseTTL = 15 * time.Second
	}
	for i := range c.Peers {
		if c.Peers[i].Port == 0 {
			c.Peers[i].Port = pfcp.Port
		}
	}
}

// allowed says whether a CP function at an address may have what it asks for. node: zero where
// the message did not name one.
func (c *Config) allowed(a netip.Addr, node rules.NodeID) bool {
	if len(c.Peers) == 0 {
		return true
	}
	for _, p := range c.Peers {
		if p.Prefix.Contains(a) && (node == rules.NodeID{} || p.Node == rules.NodeID{} || p.Node == node) {
			return true
		}
	}
	return false
}

// named says whether an address is configured as one of a node.
func (c *Config) named(a netip.Addr, node rules.NodeID) bool {
	return slices.ContainsFunc(c.Peers, func(p Peer) bool {
		return p.Node != rules.NodeID{} && p.Node == node && p.Prefix.Contains(a)
	})
}

// peer is what is configured for a node at an address: the first that fits, before all one that
// names the node.
func (c *Config) peer(a netip.Addr, node rules.NodeID) Peer {
	for _, named := range []rules.NodeID{node, {}} {
		for _, p := range c.Peers {
			if p.Prefix.Contains(a) && p.Node == named {
				return p
			}
		}
	}
	return Peer{Port: pfcp.Port}
}

// features of the UP function, §8.2.25, first octet first: what sessions may use and is there.
// Octet 5: BUCP, DDND, FTUP, PFDM, TREU. 6: EMPU, UDBC, QUOAC, FRRT, PFDE. 7: ADPDP, UEIP, MNOP,
// BUNDL. 8: VTIME.
var features = []byte{0x01 | 0x02 | 0x10 | 0x20 | 0x80, 0x01 | 0x04 | 0x08 | 0x20 | 0x40, 0x02 | 0x04 | 0x10 | 0x40, 0x04}
