// SPDX-License-Identifier: BSD-3-Clause

// Package dptest has a forwarding unit for tests of the agent. It speaks api/upf.proto on a real
// socket and holds what it is sent to the contract, but forwards nothing: usage and events are
// what the test says.
package dptest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"airpath/control/dataplane"
	"airpath/control/upfpb"
)

// Unit is a forwarding unit without forwarding.
type Unit struct {
	path     string
	listener *net.UnixListener
	wait     sync.WaitGroup

	mu         sync.Mutex
	conn       *dataplane.Conn
	instance   uint64
	interfaces []*upfpb.Interface
	sessions   map[uint64]*upfpb.Session
	usage      map[usageKey]*upfpb.Usage
	config     *upfpb.Config
	configs    int
	configured *dataplane.Conn // sent its Config
	events     []*upfpb.Event
	lastEvent  uint64
	acked      uint64
	told       []*upfpb.Told // not acknowledged
	lastTold   uint64
	broken     []string
	fail       []*upfpb.OpResult
	delay      time.Duration
	hang       bool
	silent     bool
	deaf       bool
	ended      int // connections
	closed     bool
	applies    int
	ops        int
	sets       []*upfpb.Session // every one, in order, when recording
	record     bool
	discard    bool
	hung       int

	coming       []*upfpb.Application // of a set whose last message has not come
	comingOf     uint32               // its generation; 0: none
	applications []*upfpb.Application // in force
	generation   uint32
	sentSets     int
	refuseText   string // PFD text that no set with it is made of
}

type usageKey struct {
	id  uint64
	urr uint32
}

// Interfaces most tests use: N3, N6 and the SMF's, with IPv4 and IPv6.
func Interfaces() []*upfpb.Interface {
	return []*upfpb.Interface{
		{Index: 1, Name: "n3", Types: []upfpb.InterfaceType{upfpb.InterfaceType_ACCESS, upfpb.InterfaceType_CP_FUNCTION},
			Ip4: []byte{10, 3, 0, 1}, Ip6: net.ParseIP("fd00:3::1")},
		{Index: 2, Name: "n6", Types: []upfpb.InterfaceType{upfpb.InterfaceType_CORE, upfpb.InterfaceType_SGI_N6_LAN},
			NetworkInstances: []string{"internet"}},
		{Index: 3, Name: "n6ims", Types: []upfpb.InterfaceType{upfpb.InterfaceType_CORE}, NetworkInstances: []string{"ims"}},
		{Index: 4, Name: "lan", Types: []upfpb.InterfaceType{upfpb.InterfaceType_CORE}, NetworkInstances: []string{"lan"}, Lan: true},
	}
}

// instances of units are never the same twice.
var instances atomic.Uint64

// New starts a unit that listens at path.
func New(path string, interfaces []*upfpb.Interface) (*Unit, error) {
	u := &Unit{path: path, instance: instances.Add(1), interfaces: interfaces}
	u.clear()
	return u, u.listen()
}

func (u *Unit) clear() {
	u.sessions = map[uint64]*upfpb.Session{}
	u.usage = map[usageKey]*upfpb.Usage{}
	u.events, u.lastEvent, u.acked = nil, 0, 0
	u.told, u.lastTold = nil, 0
	u.config = nil
	u.applications, u.generation, u.comingOf = nil, 0, 0
}

func (u *Unit) listen() error {
	_ = os.Remove(u.path)
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: u.path, Net: "unixpacket"})
	if err != nil {
		return err
	}
	u.listener = l
	u.wait.Add(1)
	go u.accept(l)
	return nil
}

func (u *Unit) accept(l *net.UnixListener) {
	defer u.wait.Done()
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return
		}
		conn, err := dataplane.NewConn(c)
		if err != nil {
			c.Close()
			continue
		}
		u.mu.Lock()
		if u.closed {
			u.mu.Unlock()
			conn.Close()
			return
		}
		if u.conn != nil {
			u.conn.Close() // a second agent takes over
		}
		u.conn = conn
		u.mu.Unlock()
		u.wait.Add(1)
		go u.serve(conn)
	}
}

func (u *Unit) serve(conn *dataplane.Conn) {
	defer u.wait.Done()
	defer u.end(conn)
	for {
		b, err := conn.Receive()
		if err != nil {
			return
		}
		r := new(upfpb.Request)
		if err := proto.Unmarshal(b, r); err != nil {
			u.complain("request cannot be read: %v", err)
			return
		}
		u.mu.Lock()
		delay, hang := u.delay, u.hang
		u.mu.Unlock()
		if hang && r.GetApply() != nil {
			u.mu.Lock()
			u.hung += len(r.GetApply().GetOps())
			u.mu.Unlock()
			continue
		}
		if delay > 0 {
			time.Sleep(delay)
		}
		if err := u.do(conn, r); err != nil {
			return
		}
	}
}

func (u *Unit) end(conn *dataplane.Conn) {
	conn.Close()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended++
}

// Ended counts connections that are over, with all that came by them read.
func (u *Unit) Ended() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

// Close stops the unit.
func (u *Unit) Close() {
	u.mu.Lock()
	u.closed = true
	u.listener.Close()
	if u.conn != nil {
		u.conn.Close()
	}
	u.mu.Unlock()
	u.wait.Wait()
}

// Stop kills the unit: sessions are gone. Start brings up another instance.
func (u *Unit) Stop() {
	u.Close()
	u.mu.Lock()
	u.clear()
	u.instance = instances.Add(1)
	u.conn = nil
	u.mu.Unlock()
}

// Start listens again after Stop.
func (u *Unit) Start() error {
	u.mu.Lock()
	u.closed, u.hang = false, false
	u.mu.Unlock()
	return u.listen()
}

// Disconnect drops the agent, which may connect again.
func (u *Unit) Disconnect() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn != nil {
		u.conn.Close()
	}
}

func (u *Unit) complain(format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.broken = append(u.broken, fmt.Sprintf(format, args...))
}

// Broken lists what the agent sent against the contract.
func (u *Unit) Broken() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.broken...)
}

// Session gives a copy of a session held; nil: none.
func (u *Unit) Session(id uint64) *upfpb.Session {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s := u.sessions[id]; s != nil {
		return proto.Clone(s).(*upfpb.Session)
	}
	return nil
}

// IDs of all sessions held, rising.
func (u *Unit) IDs() []uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ids()
}

func (u *Unit) ids() []uint64 {
	ids := make([]uint64, 0, len(u.sessions))
	for id := range u.sessions {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}

// Config the agent sent last, and how many it sent.
func (u *Unit) Config() (*upfpb.Config, int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.config, u.configs
}

// Messages counts Apply messages and the operations in them.
func (u *Unit) Messages() (applies, ops int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.applies, u.ops
}

// Record keeps every session sent from now on for Sets.
func (u *Unit) Record() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.record, u.sets = true, nil
}

// Sets are the sessions sent since Record.
func (u *Unit) Sets() []*upfpb.Session {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]*upfpb.Session(nil), u.sets...)
}

// FailNext makes the next Sets end so, one each, and change nothing.
func (u *Unit) FailNext(results ...*upfpb.OpResult) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fail = append(u.fail, results...)
}

// Delay answers that much later; Hang does not answer Apply at all.
func (u *Unit) Delay(d time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.delay = d
}

// Hang does not answer Apply any more (nor do what it says).
func (u *Unit) Hang(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hang = on
}

// Silent does what Apply and Applications say and does not answer: as if the agent were killed before it reads.
func (u *Unit) Silent(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.silent = on
}

// Deaf takes no acknowledgements.
func (u *Unit) Deaf(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.deaf = on
}

// Told counts the answers with usage that no agent has acknowledged.
func (u *Unit) Told() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.told)
}

// Discard takes sessions without keeping or checking them, so that an agent can be measured.
func (u *Unit) Discard(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.discard = on
}

// Hung counts the operations that were not done for Hang.
func (u *Unit) Hung() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hung
}

// Forget drops a session or, with version above 0, makes it look like that version.
func (u *Unit) Forget(id uint64, version uint32) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if version == 0 {
		delete(u.sessions, id)
	} else if s := u.sessions[id]; s != nil {
		s.Version = version
	}
}

// Plant puts a session there that no agent sent.
func (u *Unit) Plant(s *upfpb.Session) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sessions[s.GetId()] = s
}

// Acked is the last event the agent acknowledged.
func (u *Unit) Acked() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.acked
}

// ErrNoAgent says that nothing is connected.
var ErrNoAgent = errors.New("no agent is connected")
