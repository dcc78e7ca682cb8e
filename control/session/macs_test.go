// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"reflect"
	"testing"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

// frames is a session of Ethernet whose uplink PDR has a URR with the triggers.
func frames(triggers uint32) *rules.EstablishRequest {
	q := plain(7, "10.45.0.3")
	q.PDNType = rules.PDNEthernet
	q.PDRs[0].PDI = &rules.PDI{Source: rules.Core, NetworkInstance: ptr("lan"), Ethernet: true}
	q.PDRs[0].URRIDs = nil
	q.FARs[1].Forwarding.NetworkInstance = ptr("lan")
	q.URRs[0] = rules.URR{ID: 1, Method: ptr(rules.MethodEVENT), Triggers: ptr(triggers), EthernetInactivity: ptr(uint32(9))}
	return q
}

func (r *rig) macEvent(seid uint64, last byte, removed bool, vid uint32) {
	r.t.Helper()
	e := &upfpb.MacEvent{Id: seid, Mac: []byte{2, 0, 0, 0, 0, last}, Removed: removed, Vid: vid}
	if err := r.unit.Emit(&upfpb.Event{Body: &upfpb.Event_Mac{Mac: e}}); err != nil {
		r.t.Fatal(err)
	}
}

// TestMACReporting: §5.13.5, each address once, over the agent's end, too.
func TestMACReporting(t *testing.T) {
	r := newRig(t)
	seid := r.accepted(r.establish(frames(rules.ReportMACAR))).UPSEID
	if s := r.unit.Session(seid); s.GetMacAgeS() != 9 {
		t.Error(s)
	}
	is := func(seqn uint32, want *rules.EthernetTraffic) {
		t.Helper()
		u := r.nextReport().Usage
		if len(u) != 1 || u[0].URRID != 1 || u[0].SEQN != seqn || u[0].Triggers != rules.UsageMACAR || u[0].HasVolume ||
			u[0].StartUnix != 0 || !reflect.DeepEqual(u[0].Ethernet, want) {
			t.Fatalf("%+v %+v", u, u[0].Ethernet)
		}
	}
	r.macEvent(seid, 1, false, 0)
	is(0, &rules.EthernetTraffic{Detected: []rules.MAC{{2, 0, 0, 0, 0, 1}}})
	r.macEvent(seid, 2, false, 0x7007)
	is(1, &rules.EthernetTraffic{Detected: []rules.MAC{{2, 0, 0, 0, 0, 2}}, VID: 7})
	r.until("they are answered", func() bool { return r.stored() == 0 })
	r.reporter.holding(true)
	r.macEvent(seid, 1, true, 0)
	removed := &rules.EthernetTraffic{Removed: []rules.MAC{{2, 0, 0, 0, 0, 1}}}
	is(2, removed)
	r.reporter.holding(false)
	r.stop()
	r.start()
	is(2, removed) // nobody had answered
	if c := r.m.Statistics(); c.EventsUnknown != 0 {
		t.Errorf("%+v", c)
	}
	if u := r.accepted(r.delete(seid)).Usage; len(u) != 1 || u[0].SEQN != 3 {
		t.Errorf("%+v", u)
	}
}

// TestMACsNobodyAsksFor are counted: no URR has the trigger, or none of an uplink PDR.
func TestMACsNobodyAsksFor(t *testing.T) {
	r := newRig(t)
	without := r.accepted(r.establish(frames(rules.ReportSTART))).UPSEID
	down := frames(rules.ReportMACAR)
	down.CPFSEID.SEID = 8
	down.PDRs[0].URRIDs, down.PDRs[1].URRIDs = []uint32{1}, nil
	other := r.accepted(r.establish(down)).UPSEID
	if s := r.unit.Session(other); s.GetMacAgeS() != 0 {
		t.Error(s)
	}
	r.macEvent(without, 1, false, 0)
	r.macEvent(other, 1, false, 0)
	r.macEvent(without, 1, true, 0)
	r.until("they are acknowledged", func() bool { return r.unit.Acked() == 3 })
	r.noReport()
	if c := r.m.Statistics(); c.MACsDetected != 2 || c.MACsRemoved != 1 {
		t.Errorf("%+v", c)
	}
}
