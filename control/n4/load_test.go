// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"
	"testing"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

func loadConfig(c *Config) {
	c.LoadStep, c.OverloadThreshold, c.OverloadReduction, c.OverloadValidity = 5, 80, 60, time.Minute
}

// §6.2.3.3: a new Sequence Number whenever what it says changed, and no other time.
func TestLoadChanges(t *testing.T) {
	c := &Config{}
	loadConfig(c)
	l, now := &loadControl{}, time.Unix(5000, 0)
	var sequence uint32
	for _, step := range []struct {
		percent, told int
	}{{0, 0}, {4, 0}, {5, 5}, {9, 5}, {1, 5}, {0, 0}, {7, 7}, {98, 98}, {100, 100}, {96, 100}, {95, 95}} {
		before := sequence
		l.update(c, step.percent, now)
		sequence = l.load.Sequence
		if int(l.load.Metric) != step.told {
			t.Errorf("load %d: %d is told, not %d", step.percent, l.load.Metric, step.told)
		}
		if changed := step.percent == step.told; changed != (sequence > before) {
			t.Errorf("load %d: sequence number %d after %d", step.percent, sequence, before)
		}
	}
	if sequence < 5000 || sequence > 5010 {
		t.Errorf("the first is not the time's: %d", sequence)
	}
	off := &loadControl{}
	off.update(&Config{}, 99, now)
	if off.load.Sequence != 0 || off.overload.Sequence != 0 {
		t.Errorf("switched off, but %+v", off)
	}
}

// §6.2.4.3: overload begins at the threshold and ends some way below it; what is asked for grows
// with the load, and is asked for again before its validity ends.
func TestOverloadChanges(t *testing.T) {
	c := &Config{}
	loadConfig(c)
	l, now := &loadControl{}, time.Unix(5000, 0)
	for i, step := range []struct {
		percent   int
		after     time.Duration
		reduction uint8
		anew      bool
	}{
		{79, 0, 0, false}, {80, 0, 1, true}, {81, 0, 1, false}, {90, 0, 30, true}, {100, 0, 60, true}, {99, 0, 60, false},
		{99, 29 * time.Second, 60, false}, {99, time.Second, 57, true}, {76, 0, 1, true}, {75, 0, 1, false}, {74, 0, 0, true},
		{74, time.Hour, 0, false}, {79, 0, 0, false}, {85, 0, 15, true},
	} {
		now = now.Add(step.after)
		before := l.overload.Sequence
		l.update(c, step.percent, now)
		o := l.overload
		if o.Reduction != step.reduction || step.anew != (o.Sequence > before) || (o.Validity == 0) != (o.Reduction == 0) {
			t.Errorf("step %d, load %d: %+v, number %d before", i, step.percent, o, before)
		}
	}
}

// Overload from whatever threshold ends, at no load at the latest.
func TestOverloadEnds(t *testing.T) {
	for threshold := 1; threshold < 100; threshold++ {
		c := &Config{}
		loadConfig(c)
		c.OverloadThreshold = threshold
		l, now := &loadControl{}, time.Unix(5000, 0)
		l.update(c, threshold, now)
		if l.overload.Reduction == 0 {
			t.Errorf("threshold %d: it does not begin", threshold)
		}
		l.update(c, max(0, threshold-overloadMargin-1), now)
		if l.overload.Reduction != 0 {
			t.Errorf("threshold %d: it does not end", threshold)
		}
	}
}

// told is what an answer says: load (-1: nothing), and overload.
type told struct {
	load              int
	sequence          uint32
	overload          int
	validity          time.Duration
	associateWithNode bool
}

func (c *smf) ask(up uint64) told {
	c.Helper()
	c.send(c.modification(up))
	_, m, _ := c.want(pfcp.SessionModificationRequest + 1)
	r := m.(*message.SessionModificationResponse)
	return c.told(r.LoadControlInformation, r.OverloadControlInformation)
}

func (c *smf) told(load, overload *ie.IE) told {
	c.Helper()
	o := told{load: -1, overload: -1}
	if load != nil {
		metric, err := load.Metric()
		if err != nil {
			c.Fatal(err)
		}
		o.load = int(metric)
		o.sequence, _ = load.SequenceNumber()
	}
	if overload != nil {
		metric, err := overload.Metric()
		if err != nil {
			c.Fatal(err)
		}
		o.overload = int(metric)
		o.validity, _ = overload.Timer()
		f, _ := overload.OCIFlags()
		o.associateWithNode = f&1 != 0
	}
	return o
}

// Each CP function that supports it is told what changed, once.
func TestWhoIsTold(t *testing.T) {
	s := start(t, newFake(), loadConfig)
	both, load, none := newSMF(t, s, "127.0.0.4:0"), newSMF(t, s, "127.0.0.5:0"), newSMF(t, s, "127.0.0.6:0")
	both.associate(1000, ie.NewCPFunctionFeatures(3, 0))
	load.associate(1000, ie.NewCPFunctionFeatures(1))
	none.associate(1000)
	sessions := []uint64{both.establish(1), load.establish(1), none.establish(1)}
	nothing := told{load: -1, overload: -1}
	expect := func(what string, wants ...told) {
		t.Helper()
		for i, c := range []*smf{both, load, none} {
			got := c.ask(sessions[i])
			got.sequence = 0
			if got != wants[i] {
				t.Errorf("%s: SMF %d is told %+v, not %+v", what, i, got, wants[i])
			}
		}
	}
	expect("nothing is known", nothing, nothing, nothing)
	s.Load(50)
	expect("load", told{load: 50, overload: -1}, told{load: 50, overload: -1}, nothing)
	expect("told", nothing, nothing, nothing)
	s.Load(90)
	expect("overload", told{90, 0, 30, time.Minute, true}, told{load: 90, overload: -1}, nothing)
	expect("told", nothing, nothing, nothing)
	// Set up anew, it knows of nothing: its first session's answer tells.
	load.associate(1001, ie.NewCPFunctionFeatures(2))
	sessions[1] = load.establish(2)
	s.Load(60)
	expect("over", told{load: 60, overload: 0, associateWithNode: true}, told{load: -1, overload: 0, associateWithNode: true}, nothing)
	// What it supports may change.
	none.seq++
	none.accepted("updated", marshal(message.NewAssociationUpdateRequest(none.seq, ie.NewNodeID(none.address(), "", ""),
		ie.NewCPFunctionFeatures(1))), 0)
	expect("told late", nothing, nothing, told{load: 60, overload: -1})
}

// Reports of sessions tell it, too, and refusals.
func TestReportsTellLoad(t *testing.T) {
	s := start(t, newFake(), loadConfig)
	c := newSMF(t, s, "127.0.0.4:18806")
	c.associate(1000, ie.NewCPFunctionFeatures(3))
	up := c.establish(5)
	s.Load(90)
	s.Report(&rules.SessionReport{UPSEID: up, Node: c.node(), Inactivity: true,
		CPFSEID: rules.FSEID{SEID: 5, IPv4: netip.MustParseAddr(c.address())}}, func(*rules.ReportAnswer) {})
	h, m, _ := c.want(pfcp.SessionReportRequest)
	r := m.(*message.SessionReportRequest)
	if got := c.told(r.LoadControlInformation, r.OverloadControlInformation); got.load != 90 || got.overload != 30 {
		t.Errorf("%+v", got)
	}
	c.send(marshal(message.NewSessionReportResponse(0, 0, up, h.Sequence, 0, ie.NewCause(1))))
	s.Load(20)
	c.send(c.modification(up, ie.NewUpdateFAR(ie.NewApplyAction(1))))
	_, m, _ = c.want(pfcp.SessionModificationRequest + 1)
	refused := m.(*message.SessionModificationResponse)
	got := c.told(refused.LoadControlInformation, refused.OverloadControlInformation)
	if cause(t, refused.Cause) != rules.CauseMandatoryIEMissing || got.load != 20 || got.overload != 0 {
		t.Errorf("%+v", got)
	}
}

// A restart forgets neither what a CP function supports nor how far Sequence Numbers were.
func TestLoadAfterARestart(t *testing.T) {
	f := newFake()
	s := start(t, f, loadConfig)
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000, ie.NewCPFunctionFeatures(1))
	up := c.establish(5)
	s.Load(50)
	first := c.ask(up)
	s.Close()
	port := s.Local()[0].Port()
	time.Sleep(1100 * time.Millisecond) // as long as a restart takes at least: numbers are seconds
	s = start(t, f, func(cfg *Config) { loadConfig(cfg); cfg.Port = port })
	s.Load(51)
	if again := c.ask(up); again.load != 51 || again.sequence <= first.sequence {
		t.Errorf("%+v, then %+v", first, again)
	}
}
