// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"strings"

	"airpath/control/charging"
	"airpath/control/rules"
	"airpath/control/store"
)

// subject is whose usage a CP function was not told of.
type subject struct {
	seid uint64
	unit string
	node rules.NodeID
	cp   uint64
	user string
	why  string // it was not, as far as that is known
}

func (st *state) subject(why string) *subject {
	return &subject{st.seid, st.unit, st.node, st.cp.SEID, st.user, why}
}

func walkSubject(c *coder, o *subject) {
	num(c, &o.seid)
	text(c, &o.unit)
	addr(c, &o.node.Addr)
	text(c, &o.node.FQDN)
	num(c, &o.cp)
	text(c, &o.user)
	text(c, &o.why)
}

// Why a CP function that is there was not told.
const (
	whyUnanswered = "report unanswered"
	whyRefused    = "report refused"
	whyForgotten  = "session unknown to its CP function"
)

// untold makes records of usage of the CP function's URRs that it was not told of: its association
// is gone, it has lost the session, or it did not take the report. Called under the mutex.
func (m *Manager) untold(o *subject, usage []rules.UsageReport) (writes []store.Write) {
	if m.config.Charging == nil {
		return nil
	}
	for i := range usage {
		u := &usage[i]
		if u.Volume.TotalPackets == 0 && u.Volume.TotalBytes == 0 && u.DurationSeconds == 0 {
			continue
		}
		r := charging.Untold{
			Kind: "untold_usage", Time: charging.Stamp(uint64(m.now().UnixMilli())), Node: m.config.Charging.Node, Unit: o.unit,
			Session: fmt.Sprintf("%#x", o.seid), CP: o.node.String(), CPSession: fmt.Sprintf("%#x", o.cp), User: o.user,
			URR: u.URRID, Sequence: u.SEQN, Cause: strings.ReplaceAll(o.why, " ", "_"),
			Start: charging.Stamp(u.StartUnix * 1000), End: charging.Stamp(u.EndUnix * 1000), DurationMs: uint64(u.DurationSeconds) * 1000,
			UplinkOctets: u.Volume.UplinkBytes, DownlinkOctets: u.Volume.DownlinkBytes,
			UplinkPackets: u.Volume.UplinkPackets, DownlinkPackets: u.Volume.DownlinkPackets,
		}
		writes = append(writes, store.AddRecord(r.Encode()))
		m.counts.UntoldRecords++
	}
	return writes
}

// refusedReport says whether a CP function did not take a report: causes below 64 are of acceptance,
// §8.2.1.
func refusedReport(a *rules.ReportAnswer) bool { return a.Cause >= rules.CauseRejected }

// untoldReport is of a report of usage that is given up; why, unless its session had gone before.
// Called under the mutex.
func (m *Manager) untoldReport(seid uint64, p *pendingReport, why string) []store.Write {
	o := p.of
	if s := m.sessions[seid]; o == nil && s != nil && s.record != nil {
		o = mustDecode(s.record).subject(why)
	}
	if o == nil || len(p.reports) == 0 {
		return nil
	}
	return m.untold(o, p.reports)
}
