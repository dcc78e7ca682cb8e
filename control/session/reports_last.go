// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"maps"
	"slices"

	"airpath/control/rules"
	"airpath/control/store"
)

// lastReportsMax bounds the reports in a message, lastAnswerMax those in an answer to a deletion, the
// final ones of each URR included, which are two where a Monitoring Time has passed: some 110 octets
// each, and it is to fit into a UDP datagram.
const (
	lastReportsMax = 400
	lastAnswerMax  = 520
)

// room for reports nobody has acknowledged in the answer to the session's deletion.
func (st *state) room() int { return max(0, min(lastReportsMax, lastAnswerMax-2*len(st.urrs))) }

// lastReports are the usage reports of a session that goes which nobody has acknowledged: its last
// answer has them. Those under way, too: nobody sends them again once the session is gone, and
// UR-SEQN tells the CP function which it has. Where nobody asked for the deletion there is no
// answer to have them; those under way are then kept until they are answered or given up. Called
// under the mutex. @return what the store is to forget with the session, too.
func (m *Manager) lastReports(st *state, asked bool, why string) (out []rules.UsageReport, writes []store.Write) {
	seid, room := st.seid, st.room()
	if asked {
		why = whyUnanswered
	}
	for _, no := range slices.Sorted(maps.Keys(m.pending[seid])) {
		p := m.pending[seid][no]
		switch {
		case p.tidings != nil, asked && len(out)+len(p.reports) <= room:
			out = append(out, p.reports...)
			m.forgetReport(seid, no)
			writes = append(writes, store.PutReport(seid, no, nil))
		case !asked && p.away:
			p.of = st.subject(why)
			writes = append(writes, store.PutReport(seid, no, p.encode()))
		default:
			m.reportLost(seid, no, p, why)
		}
	}
	return out, writes
}

// tellBefore tells what the answer to a deletion will not hold in Session Reports before it, the
// oldest first, one after the other and each with as much as fits. What is not answered is left.
func (m *Manager) tellBefore(s *session, then func()) {
	m.mu.Lock()
	st := mustDecode(s.record)
	numbers, usage := m.beyondAnAnswer(s.seid, st.room())
	if len(numbers) == 0 || m.closed || m.reporter == nil {
		m.mu.Unlock()
		then()
		return
	}
	m.counts.Reports++
	m.mu.Unlock()
	m.reporter.Report(&rules.SessionReport{UPSEID: s.seid, CPFSEID: st.cp, Node: st.node, Usage: usage}, func(a *rules.ReportAnswer) {
		if a == nil || refusedReport(a) {
			then()
			return
		}
		var writes []store.Write
		m.mu.Lock()
		for _, no := range numbers {
			m.forgetReport(s.seid, no)
			writes = append(writes, store.PutReport(s.seid, no, nil))
		}
		m.mu.Unlock()
		m.store.Apply(nil, writes...)
		m.tellBefore(s, then)
	})
}

// beyondAnAnswer are the oldest reports of usage, by their numbers, where there are more than an
// answer holds: as many as are to go before it, but no more than one message holds. Called under
// the mutex.
func (m *Manager) beyondAnAnswer(seid uint64, room int) (numbers []uint64, usage []rules.UsageReport) {
	total := 0
	for _, p := range m.pending[seid] {
		total += len(p.reports)
	}
	for _, no := range slices.Sorted(maps.Keys(m.pending[seid])) {
		p := m.pending[seid][no]
		if total-len(usage) <= room || len(usage) > 0 && len(usage)+len(p.reports) > lastReportsMax {
			break
		}
		if len(p.reports) > 0 {
			numbers, usage = append(numbers, no), append(usage, p.reports...)
		}
	}
	return numbers, usage
}
