// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// Reports go to the CP F-SEID's address, again until answered, and to each peer about paths.
func TestReports(t *testing.T) {
	f := newFake()
	s := start(t, f, func(c *Config) { c.T1 = 300 * time.Millisecond })
	c := newSMF(t, s, "127.0.0.4:0")
	c.associate(1000)
	up := c.establish(0x99)
	other := newSMF(t, s, "127.0.0.14:18806") // another entity of the SMF
	report := &rules.SessionReport{UPSEID: up, Node: c.node(), Inactivity: true,
		CPFSEID: rules.FSEID{SEID: 0x99, IPv4: netip.MustParseAddr("127.0.0.14")}}
	answers := make(chan *rules.ReportAnswer, 1)
	s.Report(report, func(a *rules.ReportAnswer) { answers <- a })
	_, _, first := other.want(pfcp.SessionReportRequest)
	h, m, again := other.want(pfcp.SessionReportRequest)
	if !bytes.Equal(first, again) || h.SEID != 0x99 || !m.(*message.SessionReportRequest).ReportType.HasUPIR() {
		t.Errorf("%x, %x", first, again)
	}
	other.send(marshal(message.NewSessionReportResponse(0, 0, up, h.Sequence, 0, ie.NewCause(65), ie.NewPFCPSRRspFlags(1))))
	if a := <-answers; a == nil || a.Cause != rules.CauseSessionContextNotFound || !a.DropBuffer {
		t.Errorf("%+v", a)
	}
	s.Report(report, func(a *rules.ReportAnswer) { answers <- a })
	for range 4 {
		other.want(pfcp.SessionReportRequest)
	}
	if a := <-answers; a != nil {
		t.Errorf("nobody answered, yet %+v", a)
	}
	at := newSMF(t, s, "127.0.0.4:18806")
	h, _, _ = at.want(pfcp.HeartbeatRequest) // is it the path?
	at.send(marshal(message.NewHeartbeatResponse(h.Sequence, ie.NewRecoveryTimeStamp(time.Unix(1000, 0)))))
	s.Path(rules.PathEvent{Peer: netip.MustParseAddr("10.0.0.1"), NetworkInstance: "n3"})
	h, m, _ = at.want(pfcp.NodeReportRequest)
	if r := m.(*message.NodeReportRequest); !r.NodeReportType.HasUPFR() || r.UserPlanePathFailureReport == nil {
		t.Errorf("%+v", r)
	}
	at.send(marshal(message.NewNodeReportResponse(h.Sequence, ie.NewNodeID("127.0.0.4", "", ""), ie.NewCause(1), nil)))
	at.silent()
}
