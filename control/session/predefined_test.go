// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"slices"
	"testing"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

// policies are 45 static ones under one name, and one under another.
func policies() []rules.Predefined {
	static := rules.Predefined{Name: "static"}
	for i := range 45 {
		static.Rules = append(static.Rules, rules.PredefinedRule{Filters: []string{fmt.Sprintf("permit out 6 from 198.51.100.%d 443 to assigned", i)}})
	}
	return []rules.Predefined{static, {Name: "kids", Rules: []rules.PredefinedRule{
		{Application: "adult", Drop: true},
		{Application: "games", QER: &rules.QER{Gate: &rules.Gate{}, MBR: &rules.Bitrate{UL: 64, DL: 128}}},
		{Application: "shop", RedirectURL: "http://portal.example/ask"},
		{Directions: rules.UplinkOnly, Filters: []string{"permit out 17 from any 53 to assigned"}},
	}}}
}

func withPolicies(c *Config) { c.Predefined = policies() }

func pdrsOf(s *upfpb.Session, source upfpb.InterfaceType) (list []*upfpb.Pdr) {
	for _, p := range s.GetPdrs() {
		if p.GetSource() == source {
			list = append(list, p)
		}
	}
	return list
}

func farOf(s *upfpb.Session, id uint32) *upfpb.Far {
	i := slices.IndexFunc(s.GetFars(), func(f *upfpb.Far) bool { return f.GetId() == id })
	if i < 0 {
		return nil
	}
	return s.GetFars()[i]
}

// activating makes the session's two PDRs stand for predefined rules, beside two that do not.
func activating(name string) *rules.EstablishRequest {
	q := plain(7, "10.45.0.3")
	for i := range 2 {
		p := q.PDRs[i]
		pdi := *p.PDI
		p.ID, p.PDI, p.Precedence, p.Predefined = uint16(11+i), &pdi, ptr(uint32(100)), []string{name}
		q.PDRs = append(q.PDRs, p)
	}
	return q
}

// §5.19: what is of the session comes from the PDR, the rest from the rules.
func TestPredefinedRules(t *testing.T) {
	r := newRig(t, withPolicies)
	r.tookPFDs(domains("adult", "a.example"), domains("games", "g.example"), domains("shop", "s.example"))
	q := activating("kids")
	q.PDRs[3].FARID = nil // the rules say where to, §7.5.2.2
	a := r.accepted(r.establish(q))
	r.accepted(r.modify(a.UPSEID, toGNB(2, "10.3.0.2")))
	s := r.unit.Session(a.UPSEID)
	up, down := pdrsOf(s, upfpb.InterfaceType_ACCESS), pdrsOf(s, upfpb.InterfaceType_CORE)
	if len(up) != 5 || len(down) != 4 {
		t.Fatal(len(up), len(down), "PDRs")
	}
	byID, _, _ := r.unit.Applications()
	for i, id := range []string{"adult", "games", "shop"} {
		u, d := up[1+i], down[1+i]
		if u.GetApplication() != byID[id].GetIndex() || d.GetApplication() != u.GetApplication() || u.GetPrecedence() != 100 ||
			u.GetTunnel() != 1 || !u.GetOuterHeaderRemoval() || !d.GetMatchUeDestination() || len(u.GetUrrIds()) != 1 {
			t.Error(id, u, d)
		}
		if i > 0 && (u.GetId() <= up[i].GetId() || d.GetId() <= down[i].GetId()) {
			t.Error("equal precedences are in the order of the configuration", u, d)
		}
	}
	if !farOf(s, up[1].GetFarId()).GetDrop() || !farOf(s, down[1].GetFarId()).GetDrop() || up[1].GetFarId()&rules.LocalRule == 0 {
		t.Error("what is dropped both ways")
	}
	if len(up[2].GetQerIds()) != 2 || !slices.Equal(up[2].GetQerIds(), down[2].GetQerIds()) || down[2].GetFarId() != 1 {
		t.Error(up[2], down[2])
	}
	if q := s.GetQers(); len(q) != 2 || q[1].GetMbr().GetDlKbps() != 128 || q[1].GetId()&rules.LocalRule == 0 {
		t.Error(q)
	}
	f := farOf(s, up[3].GetFarId())
	if f.GetForwarding().GetRedirectUrl() != "http://portal.example/ask" || f.GetForwarding().GetInterface() != 2 || down[3].GetFarId() != 1 {
		t.Error(f, down[3])
	}
	if p := up[4]; p.GetFilters()[0].GetDestinationPorts()[0].GetFirst() != 53 || !farOf(s, p.GetFarId()).GetForward() {
		t.Error(p)
	}

	// A report names the PDR that the CP function knows.
	_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_DownlinkData{DownlinkData: &upfpb.DownlinkData{Id: a.UPSEID, PdrId: down[2].GetId()}}})
	if d := r.nextReport().DownlinkData; d == nil || d.PDRID != 11 {
		t.Errorf("%+v", d)
	}

	r.accepted(r.modify(a.UPSEID, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 11, Predefined: []string{"static"}, Deactivated: []string{"kids"}}, {ID: 12, Predefined: []string{"static"}}}}))
	s = r.unit.Session(a.UPSEID)
	if up, down = pdrsOf(s, upfpb.InterfaceType_ACCESS), pdrsOf(s, upfpb.InterfaceType_CORE); len(up) != 1+45+4 || len(down) != 1+45 {
		t.Error(len(up), len(down), "PDRs of 45 static rules")
	}
	r.stop()
	r.start()
	r.unit.Forget(a.UPSEID, 0)
	r.unit.Disconnect()
	r.until("it is sent again", func() bool { return r.unit.Session(a.UPSEID) != nil })
	if again := r.unit.Session(a.UPSEID); len(again.GetPdrs()) != len(s.GetPdrs()) {
		t.Error(len(again.GetPdrs()), "after a restart")
	}
}

func TestWrongPredefinedRules(t *testing.T) {
	r := newRig(t, withPolicies)
	r.tookPFDs(domains("video", "v.example"))
	for what, c := range map[string]struct {
		spoil func(*rules.EstablishRequest)
		want  want
	}{
		"unknown": {func(q *rules.EstablishRequest) { q.PDRs[2].Predefined = []string{"kids", "x"} },
			want{cause: 80, ie: rules.IEActivatePredefined, kind: rules.KindPDR, id: 11}},
		"filters twice": {func(q *rules.EstablishRequest) {
			q.PDRs[3].PDI.SDFFilters = []rules.SDFFilter{{Flow: ptr("permit out ip from any to any")}}
		}, want{cause: 73, kind: rules.KindPDR, id: 12}},
		"application twice": {func(q *rules.EstablishRequest) { q.PDRs[2].PDI.ApplicationID = ptr("video") },
			want{cause: 73, kind: rules.KindPDR, id: 11}},
		"downlink nowhere": {func(q *rules.EstablishRequest) { q.PDRs[2].FARID = nil },
			want{cause: 67, ie: rules.IEFARID, kind: rules.KindPDR, id: 11}},
		"too many": {func(q *rules.EstablishRequest) {
			for i := range 6 {
				p := q.PDRs[3]
				p.ID, p.Predefined = uint16(20+i), []string{"static"}
				q.PDRs = append(q.PDRs, p)
			}
		}, want{cause: 75, none: true}},
	} {
		q := activating("kids")
		c.spoil(q)
		holds(t, what, r.establish(q), c.want)
	}
	seid := r.accepted(r.establish(activating("kids"))).UPSEID
	holds(t, "not active", r.modify(seid, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 11, Deactivated: []string{"static"}}}}),
		want{cause: 80, ie: rules.IEDeactivatePredefined, kind: rules.KindPDR, id: 11})
}

// §8.2.20: redirection of a FAR, taken away by an IE of no length.
func TestRedirection(t *testing.T) {
	r := newRig(t)
	q := plain(7, "10.45.0.3")
	q.FARs[1].Forwarding.Redirect = &rules.Redirect{Type: rules.RedirectURL, Address: "https://portal.example/?a=b"}
	seid := r.accepted(r.establish(q)).UPSEID
	url := func() string { return farOf(r.unit.Session(seid), 2).GetForwarding().GetRedirectUrl() }
	if url() != "https://portal.example/?a=b" {
		t.Error(url())
	}
	r.accepted(r.modify(seid, toGNB(2, "10.3.0.2")))
	r.stop()
	r.start()
	r.accepted(r.modify(seid, toGNB(3, "10.3.0.2")))
	if url() == "" {
		t.Error("it went with something else")
	}
	r.accepted(r.modify(seid, &rules.ModifyRequest{UpdateFARs: []rules.FAR{{ID: 2, Forwarding: &rules.Forwarding{Redirect: &rules.Redirect{}}}}}))
	if url() != "" {
		t.Error(url())
	}
}

// Table 7.5.8.3-2: start and stop of an application's flow, which have the same instance, over a
// restart of the agent.
func TestApplicationDetection(t *testing.T) {
	r := newRig(t)
	r.tookPFDs(domains("video", "a.example"))
	q := plain(7, "10.45.0.3")
	q.PDRs[0].PDI.ApplicationID = ptr("video")
	seid := r.accepted(r.establish(q)).UPSEID
	byID, _, _ := r.unit.Applications()
	flow := &upfpb.Filter{Protocol: 6, Source: &upfpb.Prefix{Address: []byte{192, 0, 2, 1}, Bits: 32}, SourcePorts: []*upfpb.PortRange{{First: 443, Last: 443}},
		Destination: &upfpb.Prefix{Address: []byte{10, 45, 0, 3}, Bits: 32}, DestinationPorts: []*upfpb.PortRange{{First: 5000, Last: 5000}}}
	seen := func(trigger upfpb.Trigger, index uint32, f *upfpb.Filter) {
		_ = r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_Usage{Usage: &upfpb.UsageEvent{Id: seid, Reports: []*upfpb.UsageReport{{UrrId: 1,
			Triggers: uint32(trigger), Usage: &upfpb.Usage{}, Detected: &upfpb.ApplicationDetected{Application: index, Flow: f}}}}}})
	}
	index := byID["video"].GetIndex()
	seen(upfpb.Trigger_START, index, flow)
	started := r.nextReport().Usage[0]
	want := rules.ApplicationDetected{Application: "video", Flow: "permit out 6 from 192.0.2.1 443 to 10.45.0.3 5000", PDRID: 1}
	if d := started.Detected; d == nil || len(d.Instance) != 16 || started.Triggers != rules.UsageSTART {
		t.Fatalf("%+v", started)
	} else if want.Instance = d.Instance; *d != want {
		t.Errorf("%+v", d)
	}
	r.reporter.answering(func(*rules.SessionReport) *rules.ReportAnswer { return nil })
	seen(upfpb.Trigger_STOPT, index, flow)
	r.nextReport()
	r.stop()
	r.reporter.answering(nil)
	r.start()
	if d := r.nextReport().Usage[0].Detected; d == nil || *d != want {
		t.Errorf("sent again after a restart: %+v", d)
	}
	seen(upfpb.Trigger_START, index, nil)
	if d := r.nextReport().Usage[0].Detected; d == nil || d.Flow != "" || d.Instance != "" || d.Application != "video" {
		t.Errorf("not one flow's: %+v", d)
	}
	seen(upfpb.Trigger_START, 999, flow)
	if d := r.nextReport().Usage[0].Detected; d != nil {
		t.Errorf("of no application: %+v", d)
	}
}
