// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"time"

	"airpath/control/dataplane"
	"airpath/control/owner"
	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// unit is a forwarding unit. Everything is guarded by the manager's mutex.
type unit struct {
	m         *Manager
	name      string
	socket    string
	client    *dataplane.Client
	hasClient chan struct{}
	former    bool // not configured any more: there is no client
	givenUp   bool // and what it knows of its sessions is not waited for

	teids   *owner.TEIDs
	foreign map[uint32]bool // TEIDs the CP function chose

	ready      bool   // operations pass
	epoch      uint32 // counts connections
	instance   uint64
	lastEvent  uint64 // seen
	safeEvent  uint64 // stored
	lastTold   uint64 // likewise, of the usage in answers
	safeTold   uint64
	interfaces []*upfpb.Interface
	workers    []uint32 // of buckets
	held       uint32   // sessions it had when it welcomed us
	welcome    *upfpb.Welcome
	waiting    []waitingOp
	removals   []func() // nobody asked for, of sessions that go when the unit is back

	apps unitApps

	busy      float64 // percent of the busiest worker's time, smoothed
	load      uint8   // percent
	loadKnown bool    // of this connection
}

// errAway ends what waited in vain: it was not done.
var errAway = errors.New("forwarding unit is away")

type waitingOp struct {
	op    dataplane.Op
	again func() dataplane.Op // makes it anew for a unit that may have lost the session; nil: as is
	done  func(*upfpb.OpResult, error)
	until time.Time
}

// apply asks the unit for an operation, or lets it wait while the unit is away. Called under the
// mutex; what it returns is called without.
func (u *unit) apply(op dataplane.Op, again func() dataplane.Op, done func(*upfpb.OpResult, error)) func() {
	if u.former {
		return func() { done(nil, errNotConfigured) }
	}
	if u.ready {
		err := u.client.Apply(op, done)
		if !errors.Is(err, dataplane.ErrDisconnected) {
			if err != nil {
				return func() { done(nil, err) }
			}
			return func() {}
		}
	}
	until := u.m.now().Add(time.Duration(u.m.config.WaitMs) * time.Millisecond)
	u.waiting = append(u.waiting, waitingOp{op, again, done, until})
	return func() {}
}

// expire ends what waited too long, and everything when the agent ends.
func (u *unit) expire() {
	u.m.mu.Lock()
	now := u.m.now()
	var late []waitingOp
	var removals []func()
	if u.m.closed {
		removals, u.removals = u.removals, nil
	}
	for len(u.waiting) > 0 && (u.m.closed || now.After(u.waiting[0].until)) {
		late = append(late, u.waiting[0])
		u.waiting = u.waiting[1:]
	}
	u.m.mu.Unlock()
	for _, w := range late {
		w.done(nil, errAway)
	}
	for _, f := range removals {
		f()
	}
}

// earlyRequest is an establishment that came before any unit had connected, as after a restart.
type earlyRequest struct {
	again func()
	until time.Time
}

func (m *Manager) anyUnit() bool {
	for _, u := range m.units {
		if u.interfaces != nil {
			return true
		}
	}
	return false
}

// expireEarly does again what waited for a unit, where one is there or the time is over.
func (m *Manager) expireEarly() {
	m.mu.Lock()
	now := m.now()
	var due []earlyRequest
	there := m.anyUnit() || m.closed
	for len(m.early) > 0 && (there || now.After(m.early[0].until)) {
		due = append(due, m.early[0])
		m.early = m.early[1:]
	}
	m.mu.Unlock()
	for _, e := range due {
		e.again()
	}
}

// pickUnit takes the named unit, or the next one that is connected. A unit that was connected
// before will do, too: requests wait for it a while.
func (m *Manager) pickUnit(name string) *unit {
	if name != "" {
		if u := m.unitNamed(name); u != nil && u.interfaces != nil {
			return u
		}
		return nil
	}
	var known *unit
	for range m.units {
		u := m.units[m.turn%len(m.units)]
		m.turn++
		if u.ready {
			return u
		}
		if known == nil && u.interfaces != nil {
			known = u
		}
	}
	return known
}

// The mark is what the store knows of a unit: its instance, and the last event that is safe.
func (u *unit) mark(event uint64) store.Write {
	return store.PutMeta("unit-"+u.name, uint64Bytes(u.instance, event))
}

// readMark of a name; nothing is left of what was read before.
func (u *unit) readMark(name string) {
	u.instance, u.lastEvent, u.safeEvent, u.lastTold, u.safeTold = 0, 0, 0, 0, 0
	b := u.m.store.Meta("unit-" + name)
	if len(b) == 16 {
		u.instance = readUint64(b)
		u.lastEvent = readUint64(b[8:])
		u.safeEvent = u.lastEvent
	}
	if b := u.m.store.Meta("told-" + name); len(b) == 16 && readUint64(b) == u.instance {
		u.lastTold = readUint64(b[8:])
		u.safeTold = u.lastTold
	}
}

// anew begins with another instance, of which nothing is known.
func (u *unit) anew(instance uint64) []store.Write {
	u.instance, u.lastEvent, u.safeEvent, u.lastTold, u.safeTold = instance, 0, 0, 0, 0
	return []store.Write{u.mark(0)}
}

// Welcome of the unit: what it is. Sessions were lost if it is another instance.
func (u *unit) Welcome(w *upfpb.Welcome) (*upfpb.Config, error) {
	<-u.hasClient
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	if len(w.GetInterfaces()) == 0 {
		return nil, errors.New("forwarding unit has no interfaces")
	}
	u.epoch++
	u.apps.generation = w.GetApplicationsGeneration()
	u.welcome, u.interfaces, u.workers, u.held = w, w.GetInterfaces(), w.GetBucketWorkers(), w.GetSessions()
	if u.instance != w.GetInstance() {
		writes := u.known(w.GetInstance())
		if writes == nil {
			writes = u.anew(w.GetInstance())
		}
		u.m.store.Apply(nil, writes...)
	}
	u.m.log.Info("forwarding unit", "name", u.name, "unit", w.GetUnit(), "instance", w.GetInstance(),
		"workers", w.GetWorkers(), "steering", w.GetSteering(), "sessions", w.GetSessions())
	return u.config(false), nil
}

// config of the unit. A pool whose network instance no core interface serves is left out.
func (u *unit) config(refilled bool) *upfpb.Config {
	c := u.m.config
	out := &upfpb.Config{
		CheckpointMs: c.CheckpointMs, EchoIntervalS: c.EchoIntervalS, EchoTimeoutMs: c.EchoTimeoutMs,
		EchoTries: c.EchoTries, LoadMs: c.LoadMs, Refilled: refilled,
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		if p.Unit != "" && p.Unit != u.name {
			continue
		}
		in, _ := u.find(rules.Core, &p.NetworkInstance, nil)
		if in == nil {
			u.m.log.Warn("pool has no core interface", "pool", p.Prefix, "network_instance", p.NetworkInstance, "unit", u.name)
			continue
		}
		out.Pools = append(out.Pools, &upfpb.Pool{
			Address: p.Prefix.Addr().AsSlice(), PrefixBits: uint32(p.Prefix.Bits()), Interface: in.GetIndex(),
		})
	}
	return out
}

// Connected lets what waited pass and begins to bring the unit up to date.
func (u *unit) Connected() {
	u.m.mu.Lock()
	u.ready = true
	u.m.apps.syncs = append(u.m.apps.syncs, u)
	waiting, removals := u.waiting, u.removals
	u.waiting, u.removals = nil, nil
	var after []func()
	for _, w := range waiting {
		if w.again != nil {
			w.op = w.again()
		}
		after = append(after, u.apply(w.op, w.again, w.done))
	}
	epoch, held := u.epoch, u.held
	u.m.wait.Add(1)
	time.AfterFunc(startDelay, func() { u.m.resendDownlink(u) })
	u.m.mu.Unlock()
	u.m.apps.kick()
	for _, f := range append(after, removals...) {
		f()
	}
	u.m.expireEarly()
	go u.reconcile(epoch, held)
}

// Disconnected: operations under way have ended with an error.
func (u *unit) Disconnected(err error) {
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	u.ready, u.loadKnown, u.busy = false, false, 0
	if u.apps.wait != nil {
		u.apps.wait <- nil
		u.apps.wait = nil
	}
	u.m.counts.Disconnects++
}

// current says that the connection is still that of an epoch.
func (u *unit) current(epoch uint32) bool {
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	return u.ready && u.epoch == epoch && !u.m.closed
}
