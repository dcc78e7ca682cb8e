// SPDX-License-Identifier: BSD-3-Clause

// Package session holds the PFCP sessions of the UP function. A request becomes a new state of
// its session, checked whole; the state is compiled and sent to the session's forwarding unit;
// when the unit's workers have acknowledged, the state is stored, and when that is committed the
// request is answered. Until then the old state is in force, and a failure leaves it there.
//
// One mutex guards everything: a request holds it for some ten microseconds and never waits under
// it. What happens to one session happens in turn: while a request is under way, the next wait.
package session

import (
	"log/slog"
	"sync"
	"time"

	"airpath/control/dataplane"
	"airpath/control/rules"
	"airpath/control/store"
)

// Options of New.
type Options struct {
	Config   Config
	Store    *store.Store
	Reporter rules.Reporter
	Log      *slog.Logger
	Agent    string           // name and version
	Now      func() time.Time // nil: time.Now
}

// Manager implements rules.Sessions.
type Manager struct {
	config   Config
	store    *store.Store
	reporter rules.Reporter
	log      *slog.Logger
	now      func() time.Time
	started  time.Time

	mu       sync.Mutex
	sessions map[uint64]*session
	units    []*unit
	former   []*unit // not configured any more, of stored sessions
	turn     int
	pools    *pools
	peers    map[rules.NodeID]*peer
	nextSEID uint64
	lastSEID uint64 // of the block the store knows of
	pending  map[uint64]map[uint64]*pendingReport
	reportNo uint64
	gone     []goneSession
	dirty    []*session     // whose usage is not stored yet
	early    []earlyRequest // came before any forwarding unit did
	apps     applications
	closed   bool
	stop     chan struct{}
	wait     sync.WaitGroup
	counts   Counters
}

// session is what memory holds of one. Its rules are folded in record.
type session struct {
	seid    uint64
	cpSEID  uint64
	record  []byte // nil while it is being established
	usage   []byte // upfpb.Checkpoint: usage since the last report; nil: none
	peer    *peer
	unit    *unit
	draft   *draft    // of the request under way
	queue   *[]func() // what waits for it
	version uint32
	handle  uint32
	epoch   uint32 // connection of the unit on which it was sent or seen
	busy    bool
	dirty   bool // usage is not stored yet
	doomed  bool // it goes as soon as its unit and its turn allow, and the store knows
}

type peer struct {
	node     rules.NodeID
	sessions int
	doomed   int // of them
}

const seidBlock = 1 << 16

// New reads the store and starts the clients of the forwarding units.
func New(o Options) (*Manager, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Config.CheckpointMs == 0 {
		o.Config.CheckpointMs = 500
	}
	if o.Config.WaitMs == 0 {
		o.Config.WaitMs = 2000
	}
	m := &Manager{
		config: o.Config, store: o.Store, reporter: o.Reporter, log: o.Log, now: o.Now, started: o.Now(),
		sessions: map[uint64]*session{}, peers: map[rules.NodeID]*peer{},
		pending: map[uint64]map[uint64]*pendingReport{}, stop: make(chan struct{}),
	}
	var err error
	if m.pools, err = newPools(o.Config.Pools); err != nil {
		return nil, err
	}
	if err = m.makeUnits(); err != nil {
		return nil, err
	}
	if err = m.load(); err != nil {
		return nil, err
	}
	if err = m.loadApplications(); err != nil {
		return nil, err
	}
	for _, u := range m.units {
		u.client = dataplane.New(u.socket, o.Agent, u, m.log)
		close(u.hasClient)
	}
	m.wait.Add(2)
	go m.housekeeping()
	go m.applicationsLoop()
	m.resendReports()
	m.removeDoomed()
	return m, nil
}

// nowMs never goes back.
func (m *Manager) nowMs() int64 { return m.now().Sub(m.started).Milliseconds() + 1 }

// Close stops the clients; what is stored stays.
func (m *Manager) Close() {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return
	}
	m.closed = true
	close(m.stop)
	m.mu.Unlock()
	for _, u := range m.units {
		u.client.Close()
		u.expire()
	}
	for _, u := range m.former {
		u.expire()
	}
	m.expireEarly()
	m.wait.Wait()
	m.storeUsage()
}

func (m *Manager) housekeeping() {
	defer m.wait.Done()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			for _, u := range m.units {
				u.expire()
			}
			m.expireEarly()
			m.forgetGone()
			if n%2 == 0 {
				m.storeUsage()
			}
		}
	}
}

// newSEID gives SEIDs in order. The store hears of a block before any of it is stored.
func (m *Manager) newSEID() uint64 {
	if m.nextSEID >= m.lastSEID {
		m.lastSEID = m.nextSEID + seidBlock
		m.store.Apply(nil, store.PutMeta("seid", uint64Bytes(m.lastSEID)))
	}
	m.nextSEID++
	return m.nextSEID - 1
}

// RecoveryTimeStamp changes only when sessions were lost.
func (m *Manager) RecoveryTimeStamp() time.Time { return m.store.RecoveryTimeStamp() }

// Holder of a session.
func (m *Manager) Holder(upSEID uint64) (rules.Holder, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[upSEID]
	if s == nil || s.record == nil {
		return rules.Holder{}, false
	}
	return holder(s.record), true
}

// CountOfPeer counts the sessions of a CP function, without those that are to go.
func (m *Manager) CountOfPeer(node rules.NodeID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.peers[node]; p != nil {
		return p.sessions - p.doomed
	}
	return 0
}
