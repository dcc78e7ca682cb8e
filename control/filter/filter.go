// SPDX-License-Identifier: BSD-3-Clause

// Package filter reads flow descriptions of SDF filters: the IPFilterRule of RFC 6733 §4.3.1 as
// TS 29.212 §5.4.2 restricts it. What it does not understand it refuses: a filter that matches
// more than was asked for is worse than none.
package filter

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// AnyProtocol stands for "ip".
const AnyProtocol = 256

// Limits of a description. An IE's length allows for a thousand ports, no user needs that.
const (
	MaxPortRanges = 64   // of a side
	MaxText       = 4096 // octets of a description
)

// PortRange is inclusive.
type PortRange struct{ First, Last uint16 }

// Side is what a description says of source or destination.
type Side struct {
	Prefix   netip.Prefix // not valid: any
	Assigned bool         // the addresses of the UE
	Ports    []PortRange  // none: any
}

// Flow is a description in the direction "out", the downlink's.
type Flow struct {
	Protocol    uint16
	Source      Side
	Destination Side
}

// Turned swaps the sides.
func (f Flow) Turned() Flow {
	f.Source, f.Destination = f.Destination, f.Source
	return f
}

// Parse reads a description and returns it in the direction "out", the downlink's.
func Parse(text string) (Flow, error) {
	var f Flow
	if len(text) > MaxText {
		return f, fmt.Errorf("flow description of %d octets", len(text))
	}
	w := strings.Fields(text)
	if len(w) < 2 || w[0] != "permit" || (w[1] != "out" && w[1] != "in") {
		return f, fmt.Errorf("flow description %q does not begin with permit out or permit in", clip(text))
	}
	turned := w[1] == "in"
	if len(w) < 3 {
		return f, fmt.Errorf("flow description %q names no protocol", clip(text))
	}
	var err error
	if f.Protocol, err = protocol(w[2]); err != nil {
		return f, err
	}
	rest := w[3:]
	if f.Source, rest, err = side("from", "to", rest); err != nil {
		return f, err
	}
	if f.Destination, rest, err = side("to", "", rest); err != nil {
		return f, err
	}
	if len(rest) != 0 {
		return f, fmt.Errorf("option %q of a flow description is not understood", clip(rest[0]))
	}
	if s, d := f.Source.Prefix, f.Destination.Prefix; s.IsValid() && d.IsValid() && s.Addr().Is4() != d.Addr().Is4() {
		return f, fmt.Errorf("flow description %q mixes IPv4 and IPv6", clip(text))
	}
	if turned {
		f = f.Turned()
	}
	return f, nil
}

var protocolNames = map[string]uint16{"ip": AnyProtocol, "icmp": 1, "tcp": 6, "udp": 17, "sctp": 132}

func protocol(s string) (uint16, error) {
	if n, ok := protocolNames[s]; ok {
		return n, nil
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("protocol %q of a flow description is neither ip nor 0..255", clip(s))
	}
	return uint16(n), nil
}

// side reads keyword, address and, up to the word `next`, ports.
func side(keyword, next string, w []string) (Side, []string, error) {
	var s Side
	if len(w) < 2 || w[0] != keyword {
		return s, nil, fmt.Errorf("flow description lacks %q and an address", keyword)
	}
	switch w[1] {
	case "any":
	case "assigned":
		s.Assigned = true
	default:
		p, err := prefix(w[1])
		if err != nil {
			return s, nil, err
		}
		s.Prefix = p
	}
	w = w[2:]
	for len(w) > 0 && w[0] != next && startsWithDigit(w[0]) {
		ports, err := ports(w[0])
		if err != nil {
			return s, nil, err
		}
		s.Ports = append(s.Ports, ports...)
		if len(s.Ports) > MaxPortRanges {
			return s, nil, fmt.Errorf("more than %d port ranges in a flow description", MaxPortRanges)
		}
		w = w[1:]
	}
	return s, w, nil
}

func startsWithDigit(s string) bool { return s[0] >= '0' && s[0] <= '9' }

// prefix reads an address with or without mask width; bits below the mask do not count. A width
// of 0 is any address of its family.
func prefix(s string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("address %q of a flow description is not understood", clip(s))
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

// ports reads a list as "80,443,1000-2000".
func ports(s string) ([]PortRange, error) {
	var list []PortRange
	for _, item := range strings.Split(s, ",") {
		first, last, isRange := strings.Cut(item, "-")
		lo, err := strconv.ParseUint(first, 10, 16)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.ParseUint(last, 10, 16)
		}
		if err != nil || hi < lo {
			return nil, fmt.Errorf("ports %q of a flow description are not understood", clip(s))
		}
		list = append(list, PortRange{uint16(lo), uint16(hi)})
		if len(list) > MaxPortRanges {
			return nil, fmt.Errorf("more than %d port ranges in a flow description", MaxPortRanges)
		}
	}
	return list, nil
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
