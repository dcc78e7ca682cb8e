// SPDX-License-Identifier: BSD-3-Clause
package dataplane_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"airpath/control/dataplane"
	"airpath/control/dataplane/dptest"
	"airpath/control/upfpb"
)

type handler struct {
	mu        sync.Mutex
	welcomes  []*upfpb.Welcome
	connected chan struct{}
	lost      chan error
	told      chan *upfpb.Told
	events    chan *upfpb.Event
	points    chan []*upfpb.Checkpoint
	loads     chan *upfpb.Load
	built     chan *upfpb.ApplicationsDone
	refuse    error
	late      func() // when a Welcome is there
}

func newHandler() *handler {
	return &handler{connected: make(chan struct{}, 64), lost: make(chan error, 64),
		told: make(chan *upfpb.Told, 64), events: make(chan *upfpb.Event, 64), points: make(chan []*upfpb.Checkpoint, 64), loads: make(chan *upfpb.Load, 64),
		built: make(chan *upfpb.ApplicationsDone, 64)}
}

func (h *handler) Welcome(w *upfpb.Welcome) (*upfpb.Config, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.late != nil {
		h.late()
	}
	h.welcomes = append(h.welcomes, w)
	return &upfpb.Config{CheckpointMs: 500}, h.refuse
}
func (h *handler) Connected()                        { h.connected <- struct{}{} }
func (h *handler) Disconnected(err error)            { h.lost <- err }
func (h *handler) Told(t *upfpb.Told)                { h.told <- t }
func (h *handler) Event(e *upfpb.Event)              { h.events <- e }
func (h *handler) Checkpoints(c []*upfpb.Checkpoint) { h.points <- c }
func (h *handler) Load(l *upfpb.Load)                { h.loads <- l }
func (h *handler) ApplicationsDone(d *upfpb.ApplicationsDone) {
	h.built <- d
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func start(t *testing.T) (*dptest.Unit, *dataplane.Client, *handler) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "u")
	unit, err := dptest.New(path, dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler()
	c := dataplane.New(path, "test", h, quiet())
	t.Cleanup(func() { c.Close(); unit.Close() })
	wait(t, h.connected)
	return unit, c, h
}

func session(id uint64) *upfpb.Session {
	return &upfpb.Session{Id: id, Handle: 1<<20 | 1, Version: 1,
		Fars: []*upfpb.Far{{Id: 1, Drop: true}}, Pdrs: []*upfpb.Pdr{{Id: 1, FarId: 1}}}
}

func set(t *testing.T, s *upfpb.Session) dataplane.Op {
	t.Helper()
	op, err := dataplane.SetOp(s)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestOpIsWhatTheSchemaSays(t *testing.T) {
	s := session(7)
	op := new(upfpb.Op)
	if err := proto.Unmarshal(set(t, s), op); err != nil || !proto.Equal(op.GetSet(), s) {
		t.Error(op, err)
	}
	if err := proto.Unmarshal(dataplane.DeleteOp(7), op); err != nil || op.GetDelete().GetId() != 7 {
		t.Error(op, err)
	}
}

func TestOperationsShareMessages(t *testing.T) {
	unit, c, _ := start(t)
	unit.Delay(5 * time.Millisecond)
	const n = 5000
	got := make(chan uint64, n)
	for id := range uint64(n) {
		err := c.Apply(set(t, session(id+1)), func(r *upfpb.OpResult, err error) {
			if err != nil || r.GetStatus() != upfpb.Status_OK {
				t.Error(r, err)
			}
			got <- id
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for id := range uint64(n) {
		if wait(t, got) != id {
			t.Fatal("answered out of order")
		}
	}
	if applies, ops := unit.Messages(); ops != n || applies > n/20 {
		t.Error(applies, "messages of", ops)
	}
	if len(unit.IDs()) != n || len(unit.Broken()) != 0 {
		t.Error(len(unit.IDs()), unit.Broken())
	}
	var list []*upfpb.SessionVersion
	for after := uint64(0); ; {
		page := make(chan *upfpb.Sessions, 1)
		c.List(after, 999, func(s *upfpb.Sessions, err error) {
			if err != nil {
				t.Error(err)
			}
			page <- s
		})
		p := wait(t, page)
		list = append(list, p.GetSessions()...)
		if !p.GetMore() {
			break
		}
		after = list[len(list)-1].GetId()
	}
	if len(list) != n || list[n-1].GetId() != n {
		t.Error(len(list))
	}
}

func TestLargeSessions(t *testing.T) {
	unit, c, _ := start(t)
	big := session(1)
	for i := uint32(2); i < 6500; i++ {
		big.Fars = append(big.Fars, &upfpb.Far{Id: i, Forwarding: &upfpb.Forwarding{Interface: 1, Peer: make([]byte, 16)}, Forward: true})
	}
	if size := proto.Size(big); size < 180000 || size > 196000 {
		t.Fatal(size, "octets are not what this is about")
	}
	done := make(chan error, 1)
	for i := 0; i < 3; i++ {
		big.Version++
		if err := c.Apply(set(t, big), func(_ *upfpb.OpResult, err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < 3; i++ {
		if err := wait(t, done); err != nil {
			t.Fatal(err)
		}
	}
	if unit.Session(1) == nil {
		t.Error("not there")
	}
	for proto.Size(big) < dataplane.MessageMax {
		big.Fars = append(big.Fars, big.Fars...)
	}
	if err := c.Apply(set(t, big), nil); !errors.Is(err, dataplane.ErrTooLarge) {
		t.Error(err)
	}
}

func TestConnectionsComeAndGo(t *testing.T) {
	unit, c, h := start(t)
	unit.Hang(true)
	ended := make(chan error, 100)
	for id := uint64(1); id <= 100; id++ {
		if err := c.Apply(set(t, session(id)), func(_ *upfpb.OpResult, err error) { ended <- err }); err != nil {
			t.Fatal(err)
		}
	}
	unit.Stop()
	for range 100 {
		if err := wait(t, ended); !errors.Is(err, dataplane.ErrDisconnected) {
			t.Fatal(err)
		}
	}
	wait(t, h.lost)
	if err := c.Apply(dataplane.DeleteOp(1), nil); !errors.Is(err, dataplane.ErrDisconnected) {
		t.Error(err)
	}
	c.List(0, 0, func(_ *upfpb.Sessions, err error) { ended <- err })
	if err := wait(t, ended); !errors.Is(err, dataplane.ErrDisconnected) {
		t.Error(err)
	}
	if err := unit.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, h.connected)
	h.mu.Lock()
	if n := len(h.welcomes); n != 2 || h.welcomes[0].GetInstance() == h.welcomes[1].GetInstance() {
		t.Error(h.welcomes)
	}
	h.mu.Unlock()
	unit.Disconnect()
	wait(t, h.lost)
	wait(t, h.connected)
	h.mu.Lock()
	if n := len(h.welcomes); n != 3 || h.welcomes[2].GetInstance() != h.welcomes[1].GetInstance() {
		t.Error(h.welcomes)
	}
	h.mu.Unlock()
}

func TestEventsUntilAcknowledged(t *testing.T) {
	unit, c, h := start(t)
	for range 3 {
		if err := unit.Emit(&upfpb.Event{Body: &upfpb.Event_Inactivity{Inactivity: &upfpb.Inactivity{Id: 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := uint64(1); i <= 3; i++ {
		if e := wait(t, h.events); e.GetNumber() != i {
			t.Fatal(e)
		}
	}
	c.Ack(h.instance(), 2)
	for unit.Acked() != 2 {
		time.Sleep(time.Millisecond)
	}
	unit.Disconnect()
	wait(t, h.connected)
	if e := wait(t, h.events); e.GetNumber() != 3 {
		t.Fatal(e)
	}
	unit.Plant(session(5))
	unit.Count(5, 1, 10, 20)
	if err := unit.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if p := wait(t, h.points); len(p) != 1 || p[0].GetUrrs()[0].GetUsage().GetTotalBytes() != 30 {
		t.Error(p)
	}
}

// instance of the unit that welcomed last.
func (h *handler) instance() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.welcomes[len(h.welcomes)-1].GetInstance()
}

// What became safe of an instance that has ended says nothing to the next one, whenever it comes; and
// events that come again are acknowledged again.
func TestAcknowledgementsOfAnInstance(t *testing.T) {
	unit, c, h := start(t)
	emit := func() {
		t.Helper()
		if err := unit.Emit(&upfpb.Event{Body: &upfpb.Event_Inactivity{Inactivity: &upfpb.Inactivity{Id: 1}}}); err != nil {
			t.Fatal(err)
		}
		wait(t, h.events)
	}
	emit()
	former := h.instance()
	unit.Stop()
	wait(t, h.lost)
	h.mu.Lock()
	h.late = func() { c.Ack(former, 2) } // is committed between the connection and the Welcome
	h.mu.Unlock()
	if err := unit.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, h.connected)
	emit()
	emit()
	c.Ack(former, 2)
	if err := ask(c); err != nil { // what was to be sent before is
		t.Fatal(err)
	}
	if n := unit.Acked(); n != 0 {
		t.Errorf("event %d of another instance is acknowledged", n)
	}
	unit.Deaf(true)
	c.Ack(h.instance(), 2)
	if err := ask(c); err != nil {
		t.Fatal(err)
	}
	unit.Deaf(false)
	c.Ack(h.instance(), 2)
	for unit.Acked() != 2 {
		time.Sleep(time.Millisecond)
	}
}

// ask the unit something and wait for the answer.
func ask(c *dataplane.Client) error {
	done := make(chan error, 1)
	c.Configure(&upfpb.Config{CheckpointMs: 500}, func(err error) { done <- err })
	return <-done
}

func TestRefusedConfigIsTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "u")
	unit, err := dptest.New(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unit.Close()
	h := newHandler()
	h.refuse = errors.New("not these interfaces")
	c := dataplane.New(path, "test", h, quiet())
	defer c.Close()
	for range 2 {
		if err := wait(t, h.lost); !errors.Is(err, h.refuse) {
			t.Error(err)
		}
	}
}

// TestTruncationEndsTheConnection sends more than the contract allows.
func TestTruncationEndsTheConnection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "u")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		peer, err := l.AcceptUnix()
		if err != nil {
			return
		}
		_ = peer.SetWriteBuffer(4 << 20)
		_, _ = peer.Write(make([]byte, dataplane.MessageMax+1))
	}()
	conn, err := dataplane.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if b, err := conn.Receive(); err == nil {
		t.Error("took", len(b), "octets of a larger message")
	}
	if err := conn.Send(make([]byte, dataplane.MessageMax+1)); err == nil {
		t.Error("sent too much")
	}
}
