// SPDX-License-Identifier: BSD-3-Clause
package filter

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

func pfx(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func TestFlowDescriptions(t *testing.T) {
	for text, want := range map[string]Flow{
		"permit out ip from any to assigned": {Protocol: AnyProtocol, Destination: Side{Assigned: true}},
		"permit out 17 from 10.1.0.0/16 80,443,1000-2000 to assigned": {Protocol: 17,
			Source:      Side{Prefix: pfx("10.1.0.0/16"), Ports: []PortRange{{80, 80}, {443, 443}, {1000, 2000}}},
			Destination: Side{Assigned: true}},
		"permit in 17 from assigned 53 to 8.8.8.8": {Protocol: 17, Source: Side{Prefix: pfx("8.8.8.8/32")},
			Destination: Side{Assigned: true, Ports: []PortRange{{53, 53}}}},
		"permit out 58 from ff02::2/128 to assigned": {Protocol: 58, Source: Side{Prefix: pfx("ff02::2/128")},
			Destination: Side{Assigned: true}},
		"permit out tcp from 10.1.2.3/8 to any 0-65535": {Protocol: 6, Source: Side{Prefix: pfx("10.0.0.0/8")},
			Destination: Side{Ports: []PortRange{{0, 65535}}}},
		"  permit  out 0 from 0.0.0.0/0 to 2001:db8::1 ": {}, // two families
		"permit out 255 from any to any":                 {Protocol: 255},
	} {
		got, err := Parse(text)
		if strings.Contains(text, "0.0.0.0/0 to 2001") {
			if err == nil {
				t.Errorf("%q was taken", text)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestNotUnderstood(t *testing.T) {
	for _, text := range []string{
		"", "permit", "permit out", "permit out ip", "permit out ip from", "permit out ip from any",
		"permit out ip from any to", "deny out ip from any to any", "permit up ip from any to any",
		"permit out 256 from any to any", "permit out -1 from any to any", "permit out gre from any to any",
		"permit out ip from !10.0.0.1 to any", "permit out ip from any to any frag",
		"permit out 6 from any to any established", "permit out 6 from any to any tcpflags syn",
		"permit out ip from 10.0.0.1/33 to any", "permit out ip from 10.0.0/8 to any",
		"permit out ip from fe80::1%eth0 to any", "permit out 6 from any 80- to any",
		"permit out 6 from any 90-80 to any", "permit out 6 from any 65536 to any",
		"permit out 6 from any 1, to any", "permit out 6 from any ,1 to any", "permit out ip to any from any",
		"permit out 6 from any " + strings.Repeat("1,", MaxPortRanges) + "1 to any",
		"permit out 6 from any " + strings.Repeat("1 ", MaxPortRanges+1) + "to any",
		strings.Repeat(" ", MaxText+1),
	} {
		if f, err := Parse(text); err == nil {
			t.Errorf("%q was taken as %+v", clip(text), f)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("permit out 17 from 10.1.0.0/16 80,443,1000-2000 to assigned")
	f.Add("permit in ip from any to 2001:db8::/32 1-2")
	f.Fuzz(func(t *testing.T, text string) {
		flow, err := Parse(text)
		if err != nil {
			return
		}
		if flow.Turned().Turned().Protocol != flow.Protocol || flow.Protocol > AnyProtocol {
			t.Fatal(flow)
		}
		for _, s := range []Side{flow.Source, flow.Destination} {
			if s.Prefix.IsValid() && s.Prefix != s.Prefix.Masked() {
				t.Fatal(s)
			}
		}
	})
}
