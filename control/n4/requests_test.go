// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// §6.4: N1 counts retry attempts, so a request nobody answers is sent N1 + 1 times, each with the
// same octets, and an answer to any of them counts.
func TestRepetitions(t *testing.T) {
	for _, n1 := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(n1), func(t *testing.T) {
			s := start(t, newFake(), func(c *Config) { c.T1 = 30 * time.Millisecond; c.N1 = n1 })
			c := newSMF(t, s, "127.0.0.4:18806")
			report := &rules.SessionReport{UPSEID: 5, Inactivity: true, Node: c.node(),
				CPFSEID: rules.FSEID{SEID: 0x99, IPv4: netip.MustParseAddr("127.0.0.4")}}
			answers := make(chan *rules.ReportAnswer, 1)
			s.Report(report, func(a *rules.ReportAnswer) { answers <- a })
			var sent [][]byte
			for {
				b := c.receive(500 * time.Millisecond)
				if b == nil {
					break
				}
				sent = append(sent, bytes.Clone(b))
			}
			if a := <-answers; a != nil {
				t.Errorf("nobody answered, yet %+v", a)
			}
			if len(sent) != n1+1 {
				t.Fatalf("sent %d times", len(sent))
			}
			for _, b := range sent {
				if !bytes.Equal(b, sent[0]) {
					t.Errorf("%x, not %x", b, sent[0])
				}
			}
			if again := value(t, s.metrics.retransmissions.WithLabelValues("sent")); again != float64(n1) {
				t.Errorf("%v counted", again)
			}
			if lost := value(t, s.metrics.unanswered.WithLabelValues(pfcp.Name(pfcp.SessionReportRequest))); lost != 1 {
				t.Errorf("%v given up", lost)
			}
		})
	}
}

// TS 23.527 §4.3: whether the path to a CP function that does not answer a report has failed its
// heartbeats say, which need not be due yet; when they are answered again it gets its reports.
func TestAPathThatFails(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) { c.T1, c.N1 = 30*time.Millisecond, 1 })
	c := newSMF(t, s, "127.0.0.4:18806")
	c.associate(1000)
	up := c.establish(5)
	told := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.back)
	}
	if n := told(); n != 1 {
		t.Errorf("set up: told %d times", n)
	}
	report := &rules.SessionReport{UPSEID: up, Inactivity: true, Node: c.node(),
		CPFSEID: rules.FSEID{SEID: 5, IPv4: netip.MustParseAddr("127.0.0.4")}}
	answers := make(chan *rules.ReportAnswer, 1)
	send := func() {
		t.Helper()
		s.Report(report, func(a *rules.ReportAnswer) { answers <- a })
		for range 2 {
			c.want(pfcp.SessionReportRequest)
		}
		if a := <-answers; a != nil {
			t.Errorf("%+v", a)
		}
	}
	beat := func(answer bool) {
		t.Helper()
		h, _, _ := c.want(pfcp.HeartbeatRequest)
		if answer {
			c.send(marshal(message.NewHeartbeatResponse(h.Sequence, ie.NewRecoveryTimeStamp(time.Unix(1000, 0)))))
		}
	}
	send()
	beat(true) // the next one would be due in an hour
	c.silent()
	if !s.Reachable(c.node()) || told() != 1 {
		t.Error("it answers heartbeats")
	}
	send()
	beat(false)
	beat(false)
	eventually(t, "the path has not failed", func() bool { return !s.Reachable(c.node()) })
	send()
	beat(true)
	eventually(t, "nobody was told that it is back", func() bool { return told() == 2 })
	if !s.Reachable(c.node()) || f.back[1] != c.node() {
		t.Errorf("%v", f.back)
	}
}
