// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"log/slog"
	"maps"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"airpath/control/rules"
	"airpath/control/testns"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

func TestMain(m *testing.M) { testns.Main(m) }

// fakeSessions is a session manager without a data plane: it remembers what it was told.
type fakeSessions struct {
	mu           sync.Mutex
	recovery     time.Time
	sessions     map[uint64]*rules.EstablishRequest // by UP SEID
	next         uint64
	modified     int
	back         []rules.NodeID
	held         []func() // answers that wait for release
	hold         bool
	slow         bool     // deletions of all of a peer's sessions
	slowed       []func() // their ends
	associations map[rules.NodeID][]byte
	answers      map[netip.AddrPort]fakeAnswer
	pfds         []*rules.PFDRequest
	pfdAnswer    rules.PFDAnswer
	log          serverLog
}

// serverLog has a mutex of its own: the server also logs while it is called back.
type serverLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *serverLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *serverLog) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

type fakeAnswer struct {
	transaction rules.Transaction
	wire        []byte
}

func newFake() *fakeSessions {
	return &fakeSessions{recovery: time.Unix(1795289523, 0), sessions: map[uint64]*rules.EstablishRequest{}, next: 100,
		associations: map[rules.NodeID][]byte{}, answers: map[netip.AddrPort]fakeAnswer{}}
}

func (f *fakeSessions) reply(t rules.Transaction, a *rules.Answer, done rules.Done) {
	wire := t.Encode(a)
	f.answers[t.Peer] = fakeAnswer{t, wire}
	if f.hold {
		f.held = append(f.held, func() { done(a, wire) })
		return
	}
	go done(a, wire)
}

func (f *fakeSessions) release() {
	f.mu.Lock()
	held := f.held
	f.held, f.hold = nil, false
	f.mu.Unlock()
	for _, h := range held {
		h()
	}
}

func (f *fakeSessions) Establish(t rules.Transaction, r *rules.EstablishRequest, done rules.Done) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	f.sessions[f.next] = r
	a := &rules.Answer{Cause: rules.CauseAccepted, CPSEID: r.CPFSEID.SEID, UPSEID: f.next}
	for _, p := range r.PDRs {
		if p.PDI.LocalFTEID != nil {
			a.CreatedPDRs = append(a.CreatedPDRs, rules.CreatedPDR{ID: p.ID,
				FTEID: &rules.FTEID{TEID: uint32(f.next), IPv4: netip.MustParseAddr("10.3.0.1")}})
		}
	}
	f.reply(t, a, done)
}

func (f *fakeSessions) Modify(t rules.Transaction, up uint64, r *rules.ModifyRequest, done rules.Done) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.modified++
	if r.CPFSEID != nil {
		f.sessions[up].CPFSEID = *r.CPFSEID
	}
	f.reply(t, &rules.Answer{Cause: rules.CauseAccepted, CPSEID: f.sessions[up].CPFSEID.SEID}, done)
}

func (f *fakeSessions) Delete(t rules.Transaction, up uint64, done rules.Done) {
	f.mu.Lock()
	defer f.mu.Unlock()
	cp := f.sessions[up].CPFSEID.SEID
	delete(f.sessions, up)
	f.reply(t, &rules.Answer{Cause: rules.CauseAccepted, CPSEID: cp,
		Usage: []rules.UsageReport{{URRID: 1, Triggers: rules.UsageTERMR}}}, done)
}

func (f *fakeSessions) Holder(up uint64) (rules.Holder, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.sessions[up]; r != nil {
		return rules.Holder{Node: r.Node, CP: r.CPFSEID}, true
	}
	return rules.Holder{}, false
}

func (f *fakeSessions) DeleteOfPeer(node rules.NodeID, _ string, done func(int)) {
	f.mu.Lock()
	n := len(f.sessions)
	maps.DeleteFunc(f.sessions, func(_ uint64, r *rules.EstablishRequest) bool { return r.Node == node })
	n -= len(f.sessions)
	slow := f.slow && n > 0
	if slow {
		f.slowed = append(f.slowed, func() { done(n) })
	}
	f.mu.Unlock()
	switch {
	case slow:
	case n == 0:
		done(0)
	default:
		go done(n)
	}
}

// slowly delete sessions from now on.
func (f *fakeSessions) slowly() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow = true
}

// quick ends the deletions that were slow.
func (f *fakeSessions) quick() {
	f.mu.Lock()
	slowed := f.slowed
	f.slowed, f.slow = nil, false
	f.mu.Unlock()
	for _, end := range slowed {
		end()
	}
}

func (f *fakeSessions) CountOfPeer(node rules.NodeID) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.sessions {
		if r.Node == node {
			n++
		}
	}
	return n
}

func (f *fakeSessions) PeerBack(node rules.NodeID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.back = append(f.back, node)
}

func (f *fakeSessions) Answers(yield func(rules.Transaction, []byte) bool) {
	for _, a := range f.answers {
		yield(a.transaction, a.wire)
	}
}

func (f *fakeSessions) RecoveryTimeStamp() time.Time { return f.recovery }

func (f *fakeSessions) KeepAssociation(node rules.NodeID, state []byte, done func()) {
	f.mu.Lock()
	f.associations[node] = state
	if state == nil {
		delete(f.associations, node)
	}
	f.mu.Unlock()
	if done != nil {
		go done()
	}
}

func (f *fakeSessions) Associations(yield func(rules.NodeID, []byte) bool) {
	f.mu.Lock()
	associations := maps.Clone(f.associations)
	f.mu.Unlock()
	for node, state := range associations {
		yield(node, state)
	}
}

func (f *fakeSessions) List(uint64, func(rules.SessionInfo) bool) {}

func (f *fakeSessions) Show(uint64) (rules.SessionDetail, bool) { return rules.SessionDetail{}, false }

func (f *fakeSessions) keeps(node rules.NodeID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.associations[node] != nil
}

var ports = make(chan uint16, 1)

func init() { ports <- 20000 }

// start runs a server on 127.0.7.1 and what else is asked for; peers are those of 127.0.0.0/8.
func start(t *testing.T, f *fakeSessions, change func(*Config)) *Server {
	t.Helper()
	port := <-ports
	ports <- port + 1
	cfg := Config{Addresses: []netip.Addr{netip.MustParseAddr("127.0.7.1")}, Port: port,
		Node:              rules.NodeID{Addr: netip.MustParseAddr("127.0.7.1")},
		Peers:             []Peer{{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Port: smfPort}},
		HeartbeatInterval: time.Hour, T1: 50 * time.Millisecond, N1: 3}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg, slog.New(slog.NewTextHandler(&f.log, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	s.Start(f)
	t.Cleanup(s.Close)
	return s
}

// value of a counter.
func value(t testing.TB, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

func (f *fakeSessions) ManagePFDs(r *rules.PFDRequest, done func(rules.PFDAnswer)) {
	f.mu.Lock()
	f.pfds = append(f.pfds, r)
	answer := f.pfdAnswer
	f.mu.Unlock()
	go done(answer)
}
