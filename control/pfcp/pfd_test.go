// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"encoding/hex"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// texts writes each with its length before it.
func texts(list ...string) []byte {
	var b []byte
	for _, s := range list {
		b = append(append(b, byte(len(s)>>8), byte(len(s))), s...)
	}
	return b
}

func pfd(flags byte, parts ...[]byte) []byte {
	return tlv(ie.PFDContext, tlv(ie.PFDContents, octets(flags, 0), slices.Concat(parts...)))
}

// everyPFD is a request with every field of PFD Contents.
func everyPFD() []byte {
	all := pfd(0xff, texts("permit out 6 from 192.0.2.1 443 to assigned"), texts("http://a.example/b"), texts("a.example"),
		texts("custom"), texts("DNS_QNAME"), texts(string(texts("permit out ip from 192.0.2.2 to any", "x"))),
		texts(string(texts("http://c.example/"))), texts(string(texts("d.example", "TLS_SNI", "e.example", ""))))
	return slices.Concat(tNode,
		tlv(ie.ApplicationIDsPFDs, tlv(ie.ApplicationID, []byte("all")), all, pfd(4, texts("*.example"))),
		tlv(ie.ApplicationIDsPFDs, tlv(ie.ApplicationID, []byte("none"))))
}

// §7.4.3.1, §8.2.39.
func TestPFDs(t *testing.T) {
	r, err := DecodePFDs(everyPFD())
	if err != nil {
		t.Fatal(err)
	}
	node := rules.NodeID{Addr: netip.MustParseAddr("127.0.0.4")}
	want := &rules.PFDRequest{Node: &node, Applications: []rules.ApplicationPFDs{{ID: "all", Contents: []rules.PFDContents{
		{Flows: []string{"permit out 6 from 192.0.2.1 443 to assigned", "permit out ip from 192.0.2.2 to any", "x"},
			URLs: []string{"http://a.example/b", "http://c.example/"}, Custom: true,
			Domains: []rules.PFDDomain{{Name: "a.example", Protocol: "DNS_QNAME"}, {Name: "d.example", Protocol: "TLS_SNI"}, {Name: "e.example"}}},
		{Domains: []rules.PFDDomain{{Name: "*.example"}}}}}, {ID: "none"}}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if r, err := DecodePFDs(nil); err != nil || r.Node != nil || len(r.Applications) != 0 {
		t.Error("no IE at all deletes everything:", r, err)
	}
}

// §7.6.6 to §7.6.8 of PFD management: what is wrong is named.
func TestPFDErrors(t *testing.T) {
	app := func(members ...[]byte) []byte {
		return tlv(ie.ApplicationIDsPFDs, append([][]byte{tlv(ie.ApplicationID, []byte("a"))}, members...)...)
	}
	for name, c := range map[string]struct {
		b     []byte
		cause rules.Cause
		ie    uint16
	}{
		"no id":                    {tlv(ie.ApplicationIDsPFDs), rules.CauseMandatoryIEMissing, ie.ApplicationID},
		"id of no octets":          {tlv(ie.ApplicationIDsPFDs, tlv(ie.ApplicationID)), rules.CauseInvalidLength, ie.ApplicationID},
		"context without contents": {app(tlv(ie.PFDContext)), rules.CauseMandatoryIEMissing, ie.PFDContents},
		"contents of one octet":    {app(tlv(ie.PFDContext, tlv(ie.PFDContents, octets(1)))), rules.CauseInvalidLength, ie.PFDContents},
		"no flags":                 {app(pfd(0)), rules.CauseMandatoryIEIncorrect, ie.PFDContents},
		"a protocol of no name":    {app(pfd(0x10, texts("TLS_SNI"))), rules.CauseMandatoryIEIncorrect, ie.PFDContents},
		"a length and no text":     {app(pfd(1, octets(0, 9))), rules.CauseInvalidLength, ie.PFDContents},
		"half a length":            {app(pfd(2, octets(0))), rules.CauseInvalidLength, ie.PFDContents},
		"the second one is short":  {app(pfd(3, texts("permit out ip from any to any"), octets(0, 1))), rules.CauseInvalidLength, ie.PFDContents},
		"a list cut short":         {app(pfd(0x20, texts(string(octets(0, 5, 'a'))))), rules.CauseInvalidLength, ie.PFDContents},
		"a list with half a pair":  {app(pfd(0x80, texts(string(texts("a", "TLS_SNI", "b"))))), rules.CauseInvalidLength, ie.PFDContents},
		"node cut short":           {tlv(ie.NodeID, octets(0, 1)), rules.CauseInvalidLength, ie.NodeID},
	} {
		if _, err := DecodePFDs(c.b); err == nil || err.Cause != c.cause || err.IE != c.ie {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := everyPFD()
	for n := range whole {
		_, _ = DecodePFDs(whole[:n])
	}
}

// §7.4.3.2, and Application Detection Information of table 7.5.8.3-2.
func TestApplicationsWritten(t *testing.T) {
	self := &Self{Node: rules.NodeID{Addr: address4}}
	node := "003c000500" + hex.EncodeToString(address4.AsSlice())
	for _, c := range []struct{ name, got, want string }{
		{"accepted", hex.EncodeToString(self.EncodePFDAnswer(5, rules.CauseAccepted, 0)), "2004001200000500" + "0013000101" + node},
		{"refused", hex.EncodeToString(self.EncodePFDAnswer(5, rules.CauseRejected, ie.PFDContents)),
			"2004001800000500" + "0013000140" + "00280002003d" + node},
	} {
		if c.got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, c.got, c.want)
		}
	}
	u := rules.UsageReport{URRID: 1, Triggers: rules.UsageSTART, Detected: &rules.ApplicationDetected{Application: "app", Instance: "1",
		Flow: "permit out 6 from 192.0.2.1 443 to 10.45.0.3 5000", PDRID: 7}}
	report := self.EncodeSessionReport(5, &rules.SessionReport{Usage: []rules.UsageReport{u}}, Control{})
	_, b, err := ParseHeader(report)
	if err != nil {
		t.Fatal(err)
	}
	list, perr := ie.ParseMultiIEs(b)
	if perr != nil {
		t.Fatal(perr)
	}
	for _, i := range list {
		if i.Type != ie.UsageReportWithinSessionReportRequest {
			continue
		}
		members, err := i.ApplicationDetectionInformation()
		if err != nil || len(members) != 4 {
			t.Fatal(members, err)
		}
		id, _ := members[0].ApplicationID()
		instance, _ := members[1].ApplicationInstanceID()
		flow, _ := members[2].FlowInformation()
		pdr, _ := members[3].PDRID()
		if id != "app" || instance != "1" || flow[0] != 3 || string(flow[3:]) != u.Detected.Flow || pdr != 7 {
			t.Error(id, instance, flow, pdr)
		}
		return
	}
	t.Error("no usage report in", list)
}
