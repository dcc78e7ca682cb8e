// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"slices"
	"time"

	"airpath/control/rules"
)

func (p *pendingReport) encode() []byte {
	c := coder{}
	walkReports(&c, &p.reports)
	if p.tidings != nil {
		walkTidings(&c, p.tidings)
	} else if slices.ContainsFunc(p.reports, func(u rules.UsageReport) bool { return u.Detected != nil }) {
		c.number(detectedMark)
		walkDetected(&c, p.reports)
	} else if slices.ContainsFunc(p.reports, func(u rules.UsageReport) bool { return u.Ethernet != nil }) {
		c.number(ethernetMark)
		walkEthernetTraffic(&c, p.reports)
	}
	if p.of != nil {
		c.number(subjectMark)
		walkSubject(&c, p.of)
	}
	return c.b
}

// These begin what was detected, addresses, and whose it is; tidings begin with 0 or 1.
const (
	detectedMark = 2
	ethernetMark = 3
	subjectMark  = 4
)

func walkEthernetTraffic(c *coder, reports []rules.UsageReport) {
	for i := range reports {
		opt(c, &reports[i].Ethernet, func(c *coder, e *rules.EthernetTraffic) {
			list(c, &e.Detected, walkMAC)
			list(c, &e.Removed, walkMAC)
			num(c, &e.VID)
		})
	}
}

func walkMAC(c *coder, m *rules.MAC) {
	for i := range m {
		num(c, &m[i])
	}
}

func walkDetected(c *coder, reports []rules.UsageReport) {
	for i := range reports {
		opt(c, &reports[i].Detected, func(c *coder, d *rules.ApplicationDetected) {
			text(c, &d.Application)
			text(c, &d.Instance)
			text(c, &d.Flow)
			num(c, &d.PDRID)
		})
	}
}

func walkReports(c *coder, reports *[]rules.UsageReport) {
	list(c, reports, func(c *coder, r *rules.UsageReport) {
		num(c, &r.URRID)
		num(c, &r.SEQN)
		num(c, &r.Triggers)
		flag(c, &r.HasVolume)
		num(c, &r.Volume.TotalBytes)
		num(c, &r.Volume.UplinkBytes)
		num(c, &r.Volume.DownlinkBytes)
		num(c, &r.Volume.TotalPackets)
		num(c, &r.Volume.UplinkPackets)
		num(c, &r.Volume.DownlinkPackets)
		flag(c, &r.Volume.HasPackets)
		flag(c, &r.HasDuration)
		num(c, &r.DurationSeconds)
		num(c, &r.StartUnix)
		num(c, &r.EndUnix)
		num(c, &r.FirstPacketUnix)
		num(c, &r.LastPacketUnix)
	})
}

func decodeReport(b []byte) (*pendingReport, error) {
	c := coder{b: b, reading: true}
	p := &pendingReport{stored: true}
	walkReports(&c, &p.reports)
	for c.err == nil && len(c.b) > 0 {
		switch c.b[0] {
		case detectedMark:
			c.number(0)
			walkDetected(&c, p.reports)
		case ethernetMark:
			c.number(0)
			walkEthernetTraffic(&c, p.reports)
		case subjectMark:
			c.number(0)
			p.of = &subject{}
			walkSubject(&c, p.of)
		default:
			p.tidings = &tidings{}
			walkTidings(&c, p.tidings)
			p.once = p.tidings.inactive
		}
	}
	return p, c.err
}

func (m *Manager) loadReports() error {
	return m.store.Reports(func(seid, no uint64, b []byte) error {
		p, err := decodeReport(b)
		if err != nil {
			return fmt.Errorf("report of session %x: %w", seid, err)
		}
		m.reportNo = max(m.reportNo, no)
		if m.sessions[seid] == nil { // it was under way when the session went
			m.reportLost(seid, no, p, whyUnanswered)
			return nil
		}
		if m.pending[seid] == nil {
			m.pending[seid] = map[uint64]*pendingReport{}
		}
		m.pending[seid][no] = p
		return nil
	})
}

// resendDownlink sends what waited until it is known whether the unit still has the packets.
func (m *Manager) resendDownlink(u *unit) {
	type report struct{ seid, no uint64 }
	var list []report
	m.mu.Lock()
	for seid, reports := range m.pending {
		if s := m.sessions[seid]; s == nil || s.unit != u {
			continue
		}
		for no, p := range reports {
			if p.stored && p.tries == 0 && p.tidings != nil && p.tidings.downlink != nil {
				list = append(list, report{seid, no})
			}
		}
	}
	m.mu.Unlock()
	for _, r := range list {
		m.sendReport(r.seid, r.no)
	}
}

// resendReports sends what was not acknowledged before a restart, once the N4 side is up.
func (m *Manager) resendReports() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for seid, list := range m.pending {
		for no := range list {
			time.AfterFunc(startDelay, func() { m.sendReport(seid, no) })
		}
	}
}
