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

// give ends a request that changed nothing.
func give(t *rules.Transaction, done rules.Done, a *rules.Answer) {
	var wire []byte
	if t.Encode != nil {
		wire = t.Encode(a)
	}
	if done != nil {
		done(a, wire)
	}
}

// refused counts and answers; the mutex is free.
func (m *Manager) refused(t *rules.Transaction, done rules.Done, cpSEID uint64, r *refusal) {
	m.mu.Lock()
	m.counts.Refused++
	m.mu.Unlock()
	m.log.Debug("request refused", "cp_seid", cpSEID, "cause", r.cause, "reason", r.reason)
	give(t, done, r.answer(cpSEID))
}

// Establish makes a session.
func (m *Manager) Establish(t rules.Transaction, r *rules.EstablishRequest, done rules.Done) {
	m.mu.Lock()
	if !m.anyUnit() && !m.closed {
		until := m.now().Add(time.Duration(m.config.WaitMs) * time.Millisecond)
		m.early = append(m.early, earlyRequest{func() { m.establish(t, r, done) }, until})
		m.mu.Unlock()
		return
	}
	m.mu.Unlock()
	m.establish(t, r, done)
}

func (m *Manager) establish(t rules.Transaction, r *rules.EstablishRequest, done rules.Done) {
	m.mu.Lock()
	st := &state{seid: m.newSEID(), version: 1}
	d := newDraft(m, st, nil)
	op, refused := d.prepare(func() *refusal { return d.establish(r) }, nil)
	if refused != nil {
		m.mu.Unlock()
		m.refused(&t, done, r.CPFSEID.SEID, refused)
		return
	}
	s := &session{seid: st.seid, cpSEID: st.cp.SEID, unit: d.u, version: 1, handle: st.handle, busy: true, draft: d}
	m.sessions[s.seid] = s
	m.enter(s, st.node)
	after := d.u.apply(op, d.again(s, op), func(res *upfpb.OpResult, err error) { m.established(s, d, &t, done, res, err) })
	m.mu.Unlock()
	after()
}

// prepare makes the draft and its operation, or gives everything back.
func (d *draft) prepare(build func() *refusal, carry func(uint32) *upfpb.Usage) (dataplane.Op, *refusal) {
	refused := build()
	if refused == nil {
		var op dataplane.Op
		if op, refused = d.compile(carry); refused == nil {
			return op, nil
		}
	}
	if d.u != nil || len(d.prefixes) > 0 {
		d.undo()
	}
	return nil, refused
}

func (d *draft) compile(carry func(uint32) *upfpb.Usage) (dataplane.Op, *refusal) {
	c := compiler{u: d.u, st: d.st, carry: carry}
	out, refused := c.session()
	if refused != nil {
		return nil, refused
	}
	out.EndMarkers, out.DropBuffered = d.endMarkers, d.dropBuffered
	out.QueryUrrs, out.QueryAll = d.queryURRs, d.queryAll
	op, err := dataplane.SetOp(out)
	if err != nil {
		return nil, refuse(rules.CauseSystemFailure, 0, "session cannot be written: %v", err)
	}
	return op, nil
}

// again makes the operation anew when it had to wait for the unit: with what the session used, and
// with the unit's interfaces as they are then.
func (d *draft) again(s *session, op dataplane.Op) func() dataplane.Op {
	return func() dataplane.Op {
		if anew, refused := d.compile(d.m.carryOf(s)); refused == nil {
			return anew
		}
		return op
	}
}

// outcome says why a unit did not do an operation; nil: it did.
func outcome(res *upfpb.OpResult, err error) *refusal {
	switch {
	case errors.Is(err, dataplane.ErrTooLarge):
		return refuse(rules.CauseNoResources, 0, "%v", err)
	case err != nil:
		return refuse(rules.CauseSystemFailure, 0, "forwarding unit: %v", err)
	}
	switch res.GetStatus() {
	case upfpb.Status_OK:
		return nil
	case upfpb.Status_RULE_FAILED:
		r := refuse(rules.CauseRuleFailure, 0, "forwarding unit: %s", res.GetError())
		if k := res.GetFailedKind(); k != upfpb.RuleKind_RULE_NONE {
			r = r.of(rules.RuleKind(k-1), res.GetFailedId())
		}
		return r
	case upfpb.Status_NO_RESOURCES:
		return refuse(rules.CauseNoResources, 0, "forwarding unit: %s", res.GetError())
	}
	return refuse(rules.CauseSystemFailure, 0, "forwarding unit: %v %s", res.GetStatus(), res.GetError())
}

func (m *Manager) established(s *session, d *draft, t *rules.Transaction, done rules.Done, res *upfpb.OpResult, err error) {
	refused := outcome(res, err)
	m.mu.Lock()
	if refused != nil {
		d.undo()
		m.drop(s)
		m.mu.Unlock()
		m.refused(t, done, d.st.cp.SEID, refused)
		m.finish(s) // what waits for it finds it gone
		return
	}
	s.epoch = d.u.epoch
	a := d.answer()
	wire := m.keep(s, d, t, a)
	record := s.record
	m.counts.Established++
	m.mu.Unlock()
	m.store.Apply(func(err error) {
		if err != nil {
			m.storeFailed(err)
			if errors.Is(err, store.ErrTrouble) {
				m.finish(s)
				return
			}
			m.remove(s, nil, "store failed", nil)
			a = refuse(rules.CauseSystemFailure, 0, "store: %v", err).answer(a.CPSEID)
			if t.Encode != nil {
				wire = t.Encode(a)
			}
		}
		m.finish(s)
		if done != nil {
			done(a, wire)
		}
	}, store.PutSession(s.seid, record))
}

// storeFailed: where nothing will be stored any more, nothing is answered: this agent ends, and the CP
// function asks the next one again.
func (m *Manager) storeFailed(err error) {
	m.mu.Lock()
	m.counts.StoreFailures++
	m.mu.Unlock()
	m.log.Error("store", "error", err)
}

// keep makes the draft the session's state, with the answer in it.
func (m *Manager) keep(s *session, d *draft, t *rules.Transaction, a *rules.Answer) []byte {
	var wire []byte
	if t.Encode != nil {
		wire = t.Encode(a)
		d.st.last = lastAnswer{peer: t.Peer, sequence: t.Sequence, digest: t.Digest, wire: wire}
	}
	s.version = d.st.version
	s.cpSEID = d.st.cp.SEID
	s.record = d.st.encode()
	s.draft = nil
	return wire
}

func notFound() *refusal {
	return refuse(rules.CauseSessionContextNotFound, 0, "no such session")
}

// Modify changes a session.
func (m *Manager) Modify(t rules.Transaction, upSEID uint64, r *rules.ModifyRequest, done rules.Done) {
	m.mu.Lock()
	s := m.there(upSEID)
	if s == nil {
		m.mu.Unlock()
		m.refused(&t, done, 0, notFound())
		return
	}
	after := m.start(s, func() func() { return m.modify(s, &t, r, done) })
	m.mu.Unlock()
	after()
}

// modify is called under the mutex; what it returns is called without.
func (m *Manager) modify(s *session, t *rules.Transaction, r *rules.ModifyRequest, done rules.Done) func() {
	end := func(refused *refusal) func() {
		cp := s.cpSEID
		if refused.cause == rules.CauseSessionContextNotFound {
			cp = 0
		}
		return func() {
			m.refused(t, done, cp, refused)
			m.finish(s)
		}
	}
	if s.record == nil { // deleted while this waited
		return end(notFound())
	}
	if refused := s.notConfigured(); refused != nil {
		return end(refused)
	}
	d := newDraft(m, mustDecode(s.record), mustDecode(s.record))
	d.u = s.unit
	d.st.version = s.version + 1
	op, refused := d.prepare(func() *refusal { return d.modify(r) }, m.carryOf(s))
	if refused != nil {
		return end(refused)
	}
	s.draft = d
	return s.unit.apply(op, d.again(s, op), func(res *upfpb.OpResult, err error) { m.modified(s, d, t, done, res, err) })
}

func (m *Manager) modified(s *session, d *draft, t *rules.Transaction, done rules.Done, res *upfpb.OpResult, err error) {
	refused := outcome(res, err)
	m.mu.Lock()
	if refused != nil {
		d.undo()
		s.draft = nil
		if res.GetStatus() == upfpb.Status_STALE {
			s.version += staleJump // the unit has a later one than we know of
		}
		resend, cp := s.epoch != s.unit.epoch && s.unit.ready, s.cpSEID
		m.mu.Unlock()
		m.refused(t, done, cp, refused)
		m.finish(s)
		if resend {
			m.refill(s, s.unit, func() {})
		}
		return
	}
	s.epoch = s.unit.epoch
	a := d.answer()
	// Reports of the old version first: removed URRs have their number there.
	a.Usage = m.number(d.old, res.GetRemoved())
	records := m.charge(s, d.old, res.GetRemoved(), rulesChanged)
	for i := range d.st.urrs {
		if o := findURR(d.old, d.st.urrs[i].ID); o != nil {
			d.st.urrs[i].seqn = o.seqn
		}
	}
	a.Usage = append(a.Usage, m.number(d.st, res.GetReports())...)
	records = append(records, m.charge(s, d.st, res.GetReports(), "")...)
	for i := range a.Usage {
		if a.Usage[i].Triggers&rules.UsageIMMER != 0 {
			a.Usage[i].QueryReference = d.reference
		}
	}
	m.reported(s, res.GetRemoved())
	m.reported(s, res.GetReports())
	m.provided(s, d.old, d.st)
	d.settle()
	if d.st.node != s.peer.node {
		m.leave(s)
		m.enter(s, d.st.node)
	}
	wire := m.keep(s, d, t, a)
	m.counts.Modified++
	writes := append(m.forgetTidings(s, d.st, d.dropBuffered), store.PutSession(s.seid, s.record))
	if len(a.Usage)+len(records) > 0 { // told, so not to be counted again: all are stored, or nothing
		writes = append(append(writes, records...), store.PutUsage(s.seid, s.usage))
	}
	mark, safe := s.unit.told(res.GetTold())
	m.mu.Unlock()
	m.store.Apply(func(err error) {
		if err != nil { // in force, but lost if this process ends
			m.storeFailed(err)
		}
		safe(err)
		m.finish(s)
		if done != nil && !errors.Is(err, store.ErrTrouble) {
			done(a, wire)
		}
	}, append(writes, mark...)...)
}

// staleJump brings our version above one that another agent, or this one before it was killed,
// may have sent.
const staleJump = 1 << 10
