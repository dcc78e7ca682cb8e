// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"time"

	"airpath/control/dataplane"
	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// Delete ends a session.
func (m *Manager) Delete(t rules.Transaction, upSEID uint64, done rules.Done) {
	m.mu.Lock()
	s := m.there(upSEID)
	m.mu.Unlock()
	if s == nil {
		m.refused(&t, done, 0, notFound())
		return
	}
	m.remove(s, &t, "", done)
}

// there gives a session for a request; nil: it is not there, or is to go, however long its unit is
// away. Called under the mutex.
func (m *Manager) there(upSEID uint64) *session {
	if s := m.sessions[upSEID]; s != nil && !s.doomed {
		return s
	}
	return nil
}

// remove deletes a session; t is nil when no request asked for it, and why says what did: nobody
// asks again, so the session is doomed.
func (m *Manager) remove(s *session, t *rules.Transaction, why string, done rules.Done) {
	m.mu.Lock()
	if t == nil {
		t = &rules.Transaction{}
		m.doom(s, why)
	}
	after := m.start(s, func() func() {
		if s.record == nil {
			return func() {
				if s.doomed {
					m.store.Apply(nil, store.PutDoomed(s.seid, nil))
				}
				m.refused(t, done, 0, notFound())
				m.finish(s)
			}
		}
		if t.Encode == nil {
			return m.removeNow(s, t, why, done)
		}
		return func() {
			m.tellBefore(s, func() {
				m.mu.Lock()
				after := m.removeNow(s, t, why, done)
				m.mu.Unlock()
				after()
			})
		}
	})
	m.mu.Unlock()
	after()
}

// removeNow is called under the mutex; what it returns is called without.
func (m *Manager) removeNow(s *session, t *rules.Transaction, why string, done rules.Done) func() {
	if t.Encode == nil {
		return m.removeUnasked(s, t, why, done)
	}
	return s.unit.apply(dataplane.DeleteOp(s.seid), nil, func(res *upfpb.OpResult, err error) {
		if errors.Is(err, dataplane.ErrDisconnected) {
			m.removeAgain(s, t, why, done)
			return
		}
		m.removed(s, t, why, done, res, err)
	})
}

// removeAgain asks a unit that was lost once more: it may have done it, and then tells first what
// the session used (Told).
func (m *Manager) removeAgain(s *session, t *rules.Transaction, why string, done rules.Done) {
	m.mu.Lock()
	after := s.unit.apply(dataplane.DeleteOp(s.seid), nil, func(res *upfpb.OpResult, err error) { m.removed(s, t, why, done, res, err) })
	m.mu.Unlock()
	after()
}

// removeUnasked waits for the unit however long it is away, unless that is given up: nobody waits for
// an answer, and the unit alone knows what the session used since its last checkpoint. Called under
// the mutex; what it returns is called without.
func (m *Manager) removeUnasked(s *session, t *rules.Transaction, why string, done rules.Done) func() {
	again := func() {
		m.mu.Lock()
		after := m.removeUnasked(s, t, why, done)
		m.mu.Unlock()
		after()
	}
	switch {
	case m.closed:
		return func() { m.notRemoved(s, t, done, errAway) }
	case !s.unit.ready && !s.unit.givenUp:
		s.unit.removals = append(s.unit.removals, again)
		return func() {}
	}
	return s.unit.apply(dataplane.DeleteOp(s.seid), nil, func(res *upfpb.OpResult, err error) {
		if errors.Is(err, dataplane.ErrDisconnected) || errors.Is(err, errAway) {
			again()
			return
		}
		m.removed(s, t, why, done, res, err)
	})
}

// notRemoved is when this agent ends: the next one knows what the session used, and is asked again
// or finds the session doomed.
func (m *Manager) notRemoved(s *session, t *rules.Transaction, done rules.Done, err error) {
	m.refused(t, done, s.cpSEID, outcome(nil, err))
	m.finish(s)
}

// removed takes the session away. Where that was asked for, even if the unit is not there: a unit
// that comes back is told which sessions are no more, and what the session used is known to the last
// checkpoint.
func (m *Manager) removed(s *session, t *rules.Transaction, why string, done rules.Done, res *upfpb.OpResult, err error) {
	m.mu.Lock()
	if err != nil && m.closed {
		m.mu.Unlock()
		m.notRemoved(s, t, done, err)
		return
	}
	st := mustDecode(s.record)
	reports := res.GetReports()
	if err != nil || res.GetStatus() != upfpb.Status_OK {
		reports = m.lastKnown(s, st)
	}
	pending, writes := m.lastReports(st, t.Encode != nil, why)
	writes = append(writes, m.charge(s, st, reports, "")...)
	a := &rules.Answer{Cause: rules.CauseAccepted, CPSEID: s.cpSEID, Usage: append(pending, m.number(st, reports)...)}
	if t.Encode == nil {
		writes = append(writes, m.untold(st.subject(why), a.Usage)...)
	}
	var last []byte
	if t.Encode != nil {
		l := lastAnswer{peer: t.Peer, sequence: t.Sequence, digest: t.Digest, wire: t.Encode(a)}
		last = encodeGone(&l, m.now())
		m.gone = append(m.gone, goneSession{s.seid, m.now()})
		st.last = l
	}
	m.freeAddresses(st, nil)
	m.freeTEIDs(s.unit, st)
	m.drop(s)
	m.counts.Deleted++
	writes = append(writes, store.PutSession(s.seid, nil), store.PutUsage(s.seid, nil))
	if s.doomed {
		writes = append(writes, store.PutDoomed(s.seid, nil))
	}
	if last != nil {
		writes = append(writes, store.PutGone(s.seid, last))
	}
	mark, safe := s.unit.told(res.GetTold())
	writes = append(writes, mark...)
	m.mu.Unlock()
	m.store.Apply(func(err error) {
		if err != nil {
			m.storeFailed(err)
		}
		safe(err)
		m.finish(s)
		if done != nil && !errors.Is(err, store.ErrTrouble) {
			done(a, st.last.wire)
		}
	}, writes...)
}

func (m *Manager) freeTEIDs(u *unit, st *state) {
	now := m.nowMs()
	for _, t := range append([]uint32{st.handle}, st.teids()...) {
		if containsTEID(st.foreign, t) {
			delete(u.foreign, t)
		} else {
			_ = u.teids.Free(t, now) // the handle may be a tunnel's, too
		}
	}
}

// goneSession is a deleted session whose answer is still kept.
type goneSession struct {
	seid uint64
	at   time.Time
}

// goneFor is longer than a CP function commonly sends a request again, N1 times T1. goneMax bounds
// what a storm of deletions leaves behind.
const (
	goneFor = 30 * time.Second
	goneMax = 1 << 16
)

func encodeGone(l *lastAnswer, at time.Time) []byte {
	c := coder{}
	c.number(uint64(at.Unix()))
	walkLast(&c, l)
	return c.b
}

func decodeGone(b []byte) (l lastAnswer, at time.Time, err error) {
	c := coder{b: b, reading: true}
	at = time.Unix(int64(c.number(0)), 0)
	walkLast(&c, &l)
	return l, at, c.err
}

func (m *Manager) loadGone() error {
	return m.store.Gone(func(seid uint64, b []byte) error {
		_, at, err := decodeGone(b)
		if err == nil {
			m.gone = append(m.gone, goneSession{seid, at})
		}
		return err
	})
}

func (m *Manager) forgetGone() {
	m.mu.Lock()
	limit := m.now().Add(-goneFor)
	var writes []store.Write
	n := 0
	for n < len(m.gone) && (len(m.gone)-n > goneMax || m.gone[n].at.Before(limit)) {
		writes = append(writes, store.PutGone(m.gone[n].seid, nil))
		n++
	}
	m.gone = m.gone[n:]
	m.mu.Unlock()
	if n > 0 {
		m.store.Apply(nil, writes...)
	}
}

// Answers yields the answers kept: of deleted sessions, then of those that are there.
func (m *Manager) Answers(yield func(t rules.Transaction, wire []byte) bool) {
	going := true
	_ = m.store.Gone(func(_ uint64, b []byte) error {
		if l, _, err := decodeGone(b); err == nil && going {
			going = yield(l.transaction(), l.wire)
		}
		return nil
	})
	m.mu.Lock()
	records := make([][]byte, 0, len(m.sessions))
	for _, s := range m.sessions {
		if s.record != nil {
			records = append(records, s.record)
		}
	}
	m.mu.Unlock()
	for _, r := range records {
		if !going {
			return
		}
		if l := mustDecode(r).last; len(l.wire) > 0 {
			going = yield(l.transaction(), l.wire)
		}
	}
}

func (l *lastAnswer) transaction() rules.Transaction {
	return rules.Transaction{Peer: l.peer, Sequence: l.sequence, Digest: l.digest}
}
