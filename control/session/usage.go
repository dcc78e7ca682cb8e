// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// triggers of the contract, as Reporting Triggers ask for them and Usage Report Triggers name
// them; 0: not there.
var triggers = []struct {
	unit       upfpb.Trigger
	asked, has uint32
}{
	{upfpb.Trigger_PERIO, rules.ReportPERIO, rules.UsagePERIO},
	{upfpb.Trigger_VOLTH, rules.ReportVOLTH, rules.UsageVOLTH},
	{upfpb.Trigger_TIMTH, rules.ReportTIMTH, rules.UsageTIMTH},
	{upfpb.Trigger_QUHTI, rules.ReportQUHTI, rules.UsageQUHTI},
	{upfpb.Trigger_START, rules.ReportSTART, rules.UsageSTART},
	{upfpb.Trigger_STOPT, rules.ReportSTOPT, rules.UsageSTOPT},
	{upfpb.Trigger_DROTH, rules.ReportDROTH, rules.UsageDROTH},
	{upfpb.Trigger_LIUSA, rules.ReportLIUSA, rules.UsageLIUSA},
	{upfpb.Trigger_VOLQU, rules.ReportVOLQU, rules.UsageVOLQU},
	{upfpb.Trigger_TIMQU, rules.ReportTIMQU, rules.UsageTIMQU},
	{upfpb.Trigger_ENVCL, rules.ReportENVCL, rules.UsageENVCL},
	{upfpb.Trigger_EVETH, rules.ReportEVETH, rules.UsageEVETH},
	{upfpb.Trigger_EVEQU, rules.ReportEVEQU, rules.UsageEVEQU},
	{upfpb.Trigger_QUVTI, rules.ReportQUVTI, rules.UsageQUVTI},
	{upfpb.Trigger_UPINT, rules.ReportUPINT, rules.UsageUPINT},
	{upfpb.Trigger_MONIT, 0, rules.UsageMONIT},
	{upfpb.Trigger_IMMER, 0, rules.UsageIMMER},
	{upfpb.Trigger_TERMR, 0, rules.UsageTERMR},
}

func askedTriggers(reporting uint32) uint32 {
	var out uint32
	for _, t := range triggers {
		if t.asked != 0 && reporting&t.asked != 0 {
			out |= uint32(t.unit)
		}
	}
	return out
}

func usageTriggers(unit uint32) uint32 {
	var out uint32
	for _, t := range triggers {
		if unit&uint32(t.unit) != 0 {
			out |= t.has
		}
	}
	return out
}

// number turns reports of the unit into those of PFCP and gives them their UR-SEQN, which rises
// by one per URR, §5.2.2.3. Reports of URRs the state does not have are left out.
func (m *Manager) number(st *state, reports []*upfpb.UsageReport) []rules.UsageReport {
	var out []rules.UsageReport
	for _, r := range reports {
		if r.GetUrrId()&rules.LocalRule != 0 {
			continue // charge makes a record of it
		}
		u := findURR(st, r.GetUrrId())
		if u == nil {
			m.counts.EventsUnknown++
			continue
		}
		out = append(out, m.usageReport(st, u, r))
		u.seqn++
	}
	return out
}

func (m *Manager) usageReport(st *state, u *urr, r *upfpb.UsageReport) rules.UsageReport {
	use := r.GetUsage()
	return rules.UsageReport{
		Detected: m.detected(st, u.ID, r.GetDetected()),
		URRID:    u.ID, SEQN: u.seqn, Triggers: usageTriggers(r.GetTriggers()),
		HasVolume: *u.Method&rules.MethodVOLUM != 0,
		Volume: rules.VolumeMeasurement{
			TotalBytes: use.GetTotalBytes(), UplinkBytes: use.GetUlBytes(), DownlinkBytes: use.GetDlBytes(),
			TotalPackets: use.GetTotalPackets(), UplinkPackets: use.GetUlPackets(), DownlinkPackets: use.GetDlPackets(),
			HasPackets: true,
		},
		HasDuration: *u.Method&rules.MethodDURAT != 0, DurationSeconds: uint32(use.GetDurationMs() / 1000),
		StartUnix: use.GetStartUnixMs() / 1000, EndUnix: use.GetEndUnixMs() / 1000,
		FirstPacketUnix: use.GetFirstUnixMs() / 1000, LastPacketUnix: use.GetLastUnixMs() / 1000,
	}
}

// points are the usages of a session since their last reports, as checkpoints tell them.
func (s *session) points() *upfpb.Checkpoint {
	c := &upfpb.Checkpoint{}
	if s.usage != nil && proto.Unmarshal(s.usage, c) != nil {
		c.Reset()
	}
	return c
}

func (s *session) setPoints(c *upfpb.Checkpoint) {
	c.Id = 0
	if len(c.Urrs) == 0 {
		s.usage = nil
		return
	}
	b, err := proto.Marshal(c)
	if err != nil {
		return // keeps what is known
	}
	s.usage = b
}

func pointOf(c *upfpb.Checkpoint, urr uint32) *upfpb.UrrUsage {
	for _, u := range c.GetUrrs() {
		if u.GetUrrId() == urr {
			return u
		}
	}
	return nil
}

// Checkpoints of a unit: it tells only what changed.
func (u *unit) Checkpoints(list []*upfpb.Checkpoint) {
	m := u.m
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range list {
		s := m.sessions[c.GetId()]
		if s == nil || s.unit != u {
			continue
		}
		if s.usage != nil {
			for _, had := range s.points().GetUrrs() {
				if pointOf(c, had.GetUrrId()) == nil {
					c.Urrs = append(c.Urrs, had)
				}
			}
		}
		s.setPoints(c)
		m.usageChanged(s)
	}
}

// usageChanged has the session's usage stored soon. Not at once: there is a checkpoint of every
// active session twice a second. It is for the case that the agent starts anew and the unit is
// killed before it has told again what did not change.
func (m *Manager) usageChanged(s *session) {
	if !s.dirty {
		s.dirty = true
		m.dirty = append(m.dirty, s)
	}
}

func (m *Manager) storeUsage() {
	m.mu.Lock()
	writes := make([]store.Write, 0, len(m.dirty))
	for _, s := range m.dirty {
		s.dirty = false
		if s.record != nil {
			writes = append(writes, store.PutUsage(s.seid, s.usage))
		}
	}
	m.dirty = m.dirty[:0]
	m.mu.Unlock()
	for len(writes) > 0 {
		n := min(len(writes), 1024) // so that requests are not held up
		m.store.Apply(nil, writes[:n]...)
		writes = writes[n:]
	}
}

// reported takes what a report told out of the last checkpoint, or a unit that is filled again
// would count it twice. What counts against thresholds and quotas goes on.
func (m *Manager) reported(s *session, reports []*upfpb.UsageReport) {
	if s.usage == nil || len(reports) == 0 {
		return
	}
	c := s.points()
	for _, r := range reports {
		p := pointOf(c, r.GetUrrId())
		if p == nil {
			continue
		}
		was, told := p.GetUsage(), r.GetUsage()
		p.Usage = &upfpb.Usage{
			QuotaTotalBytes: was.GetQuotaTotalBytes() + beyond(told.GetTotalBytes(), was.GetTotalBytes()),
			QuotaUlBytes:    was.GetQuotaUlBytes() + beyond(told.GetUlBytes(), was.GetUlBytes()),
			QuotaDlBytes:    was.GetQuotaDlBytes() + beyond(told.GetDlBytes(), was.GetDlBytes()),
			QuotaDurationMs: was.GetQuotaDurationMs() + beyond(told.GetDurationMs(), was.GetDurationMs()),
			QuotaEvents:     was.GetQuotaEvents() + beyond(told.GetEvents(), was.GetEvents()),
			StartUnixMs:     told.GetEndUnixMs(),
		}
	}
	s.setPoints(c)
	m.usageChanged(s)
}

// provided forgets what counted against thresholds and quotas that were provided anew, and URRs
// that are no more.
func (m *Manager) provided(s *session, old, st *state) {
	if s.usage == nil {
		return
	}
	c := s.points()
	kept := c.Urrs[:0]
	for _, p := range c.GetUrrs() {
		u, was := findURR(st, p.GetUrrId()), findURR(old, p.GetUrrId())
		if u == nil {
			continue
		}
		if use := p.GetUsage(); use != nil && was != nil && u.generation != was.generation {
			use.QuotaTotalBytes, use.QuotaUlBytes, use.QuotaDlBytes = 0, 0, 0
			use.QuotaDurationMs, use.QuotaEvents = 0, 0
		}
		kept = append(kept, p)
	}
	c.Urrs = kept
	s.setPoints(c)
	m.usageChanged(s)
}

func beyond(a, b uint64) uint64 {
	if a > b {
		return a - b
	}
	return 0
}

// carryOf gives what a unit that does not know the session goes on from; nil if it knows it.
func (m *Manager) carryOf(s *session) func(uint32) *upfpb.Usage {
	if s.usage == nil || s.epoch == s.unit.epoch {
		return nil
	}
	c := s.points()
	return func(urr uint32) *upfpb.Usage { return pointOf(c, urr).GetUsage() }
}

// lastKnown are the final reports of a session whose unit is away.
func (m *Manager) lastKnown(s *session, st *state) []*upfpb.UsageReport {
	c := s.points()
	out := make([]*upfpb.UsageReport, 0, len(st.urrs))
	for i := range st.urrs {
		r := &upfpb.UsageReport{UrrId: st.urrs[i].ID, Triggers: uint32(upfpb.Trigger_TERMR), Usage: pointOf(c, st.urrs[i].ID).GetUsage()}
		if r.Usage == nil {
			r.Usage = &upfpb.Usage{}
		}
		if r.Usage.EndUnixMs == 0 {
			r.Usage.EndUnixMs = uint64(m.now().UnixMilli())
		}
		out = append(out, r)
	}
	return out
}

func uint64Bytes(v ...uint64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return b
}

func readUint64(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}
