// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"airpath/control/dataplane/dptest"
	"airpath/control/rules"
	"airpath/control/store"
)

// rig is a manager with a real store and, over a real socket, a unit that holds it to the
// contract.
type rig struct {
	t        testing.TB
	dir      string
	unit     *dptest.Unit
	store    *store.Store
	m        *Manager
	reporter *reporter
	config   Config
	log      logged
}

// logged is what a manager logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// take gives what was logged since.
func (l *logged) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

type reporter struct {
	mu      sync.Mutex
	reports []*rules.SessionReport
	paths   []rules.PathEvent
	loads   []uint8
	away    bool
	hold    bool // reports stay under way
	held    []func(*rules.ReportAnswer)
	answer  func(*rules.SessionReport) *rules.ReportAnswer
}

func (r *reporter) Report(s *rules.SessionReport, done func(*rules.ReportAnswer)) {
	r.mu.Lock()
	r.reports = append(r.reports, s)
	answer := r.answer
	if r.hold {
		r.held = append(r.held, done)
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	a := &rules.ReportAnswer{Cause: rules.CauseAccepted}
	if answer != nil {
		a = answer(s)
	}
	go done(a)
}

func (r *reporter) answering(f func(*rules.SessionReport) *rules.ReportAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// holding keeps reports from now on under way, or not.
func (r *reporter) holding(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = on
}

// end answers what is held; nil: it is given up.
func (r *reporter) end(a *rules.ReportAnswer) {
	r.mu.Lock()
	held := r.held
	r.held = nil
	r.mu.Unlock()
	for _, done := range held {
		done(a)
	}
}

func (r *reporter) Path(e rules.PathEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paths = append(r.paths, e)
}

func (r *reporter) Reachable(rules.NodeID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.away
}

func (r *reporter) Load(percent uint8) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loads = append(r.loads, percent)
}

func (r *reporter) take() []*rules.SessionReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.reports
	r.reports = nil
	return got
}

func pfx(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), reporter: &reporter{}}
	r.config = Config{
		Units: []UnitConfig{{Name: "pfu0", Socket: filepath.Join(r.dir, "u0")}},
		Pools: []Pool{
			{NetworkInstance: "internet", Prefix: pfx("10.45.0.0/24")},
			{NetworkInstance: "internet", Prefix: pfx("2001:db8:45::/56")},
			{NetworkInstance: "ims", Prefix: pfx("10.45.0.0/30")},
		},
		WaitMs: 60000, // this machine may have other things to do
	}
	for _, c := range change {
		c(&r.config)
	}
	var err error
	if r.unit, err = dptest.New(r.config.Units[0].Socket, dptest.Interfaces()); err != nil {
		t.Fatal(err)
	}
	r.start()
	t.Cleanup(func() {
		r.stop()
		r.unit.Close()
		for _, b := range r.unit.Broken() {
			t.Error("contract:", b)
		}
	})
	return r
}

func (r *rig) start() {
	r.t.Helper()
	before := r.configs()
	if err := r.open(); err != nil {
		r.t.Fatal(err)
	}
	r.synced(before)
}

func (r *rig) open() (err error) {
	if r.store, err = store.Open(store.Options{Path: filepath.Join(r.dir, "s.db"), BootID: "a"}); err != nil {
		return err
	}
	r.m, err = New(Options{Config: r.config, Store: r.store, Reporter: r.reporter,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Agent: "test"})
	return err
}

// synced waits until the agent has connected anew and brought the unit up to date.
func (r *rig) synced(before int) {
	r.t.Helper()
	r.until("the unit is up to date", func() bool {
		c, n := r.unit.Config()
		return n >= before+2 && c.GetRefilled() && r.m.Units()[0].Connected
	})
}

func (r *rig) configs() int {
	_, n := r.unit.Config()
	return n
}

func (r *rig) stop() {
	r.m.Close()
	if err := r.store.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("in vain waited until", what)
		}
	}
}

// tx is a transaction whose answer's octets tell the answer.
func tx(sequence uint32) rules.Transaction {
	return rules.Transaction{Peer: netip.MustParseAddrPort("192.0.2.1:8805"), Sequence: sequence, Digest: uint64(sequence) << 40,
		Encode: func(a *rules.Answer) []byte { return fmt.Appendf(nil, "%d %v", sequence, a.Cause) }}
}

func (r *rig) wait(ask func(done rules.Done)) *rules.Answer {
	r.t.Helper()
	c := make(chan *rules.Answer, 1)
	ask(func(a *rules.Answer, wire []byte) {
		if len(wire) == 0 {
			r.t.Error("answer without octets")
		}
		c <- a
	})
	select {
	case a := <-c:
		return a
	case <-time.After(2 * time.Minute):
		r.t.Fatal("no answer")
		return nil
	}
}

func (r *rig) establish(q *rules.EstablishRequest) *rules.Answer {
	r.t.Helper()
	return r.wait(func(d rules.Done) { r.m.Establish(tx(1), q, d) })
}

func (r *rig) modify(seid uint64, q *rules.ModifyRequest) *rules.Answer {
	r.t.Helper()
	return r.wait(func(d rules.Done) { r.m.Modify(tx(2), seid, q, d) })
}

func (r *rig) delete(seid uint64) *rules.Answer {
	r.t.Helper()
	return r.wait(func(d rules.Done) { r.m.Delete(tx(3), seid, d) })
}

func (r *rig) accepted(a *rules.Answer) *rules.Answer {
	r.t.Helper()
	if a.Cause != rules.CauseAccepted {
		r.t.Fatalf("%v: %s, failed %+v, IE %d", a.Cause, a.Reason, a.Failed, a.OffendingIE)
	}
	return a
}

func ptr[T any](v T) *T { return &v }

var smf = rules.NodeID{Addr: netip.MustParseAddr("192.0.2.1")}

// plain is a session as SMFs make them: uplink through a tunnel to be chosen, downlink to an
// address, buffering at first, a QER, a URR and a BAR.
func plain(cp uint64, ue string) *rules.EstablishRequest {
	return &rules.EstablishRequest{
		Node: smf, CPFSEID: rules.FSEID{SEID: cp, IPv4: ip("192.0.2.1")}, DNN: "internet", PDNType: rules.PDNIPv4,
		PDRs: []rules.PDR{
			{ID: 1, Precedence: ptr(uint32(255)), FARID: ptr(uint32(1)), QERIDs: []uint32{1}, URRIDs: []uint32{1},
				PDI: &rules.PDI{Source: rules.Core, NetworkInstance: ptr("internet"),
					UEIPs: []rules.UEIP{{IPv4: ip(ue), Destination: true}}}},
			{ID: 2, Precedence: ptr(uint32(255)), FARID: ptr(uint32(2)), QERIDs: []uint32{1}, URRIDs: []uint32{1},
				OuterHeaderRemoval: &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP},
				PDI: &rules.PDI{Source: rules.Access, NetworkInstance: ptr("internet"), SourceType: ptr(uint8(11)),
					QFIs:       []uint8{1},
					LocalFTEID: &rules.FTEID{Choose: true, ChooseIPv4: true, ChooseIPv6: true, ChooseID: ptr(uint8(5))}}},
		},
		FARs: []rules.FAR{
			{ID: 1, Action: ptr(rules.ActionBUFF | rules.ActionNOCP), BARID: ptr(uint8(1))},
			{ID: 2, Action: ptr(rules.ActionFORW), Forwarding: &rules.Forwarding{Destination: ptr(rules.Core), NetworkInstance: ptr("internet")}},
		},
		QERs: []rules.QER{{ID: 1, Gate: &rules.Gate{}, MBR: &rules.Bitrate{UL: 1000000, DL: 1000000}, QFI: ptr(uint8(1))}},
		URRs: []rules.URR{{ID: 1, Method: ptr(rules.MethodVOLUM), Triggers: ptr(rules.ReportVOLTH),
			VolumeThreshold: &rules.Volume{Total: ptr(uint64(104857600))}}},
		BARs: []rules.BAR{{ID: 1}},
	}
}

// toGNB is the modification that opens the downlink.
func toGNB(teid uint32, peer string) *rules.ModifyRequest {
	return &rules.ModifyRequest{UpdateFARs: []rules.FAR{{ID: 1, Action: ptr(rules.ActionFORW),
		Forwarding: &rules.Forwarding{Destination: ptr(rules.Access), NetworkInstance: ptr("internet"), DestinationType: ptr(uint8(11)),
			OuterHeaderCreation: &rules.OuterHeaderCreation{Description: rules.CreateGTPUIPv4, TEID: teid, IPv4: ip(peer)}}}}}
}

func TestASessionsLife(t *testing.T) {
	r := newRig(t)
	a := r.accepted(r.establish(plain(7, "10.45.0.3")))
	if a.CPSEID != 7 || a.UPSEID == 0 || len(a.CreatedPDRs) != 1 || a.CreatedPDRs[0].ID != 2 {
		t.Fatalf("%+v", a)
	}
	f := a.CreatedPDRs[0].FTEID
	if f.Choose || f.TEID == 0 || f.IPv4 != ip("10.3.0.1") || f.IPv6 != ip("fd00:3::1") {
		t.Errorf("%+v", f)
	}
	s := r.unit.Session(a.UPSEID)
	if s.GetHandle() != f.TEID || s.GetTunnels()[0].GetTeid() != f.TEID || s.GetCoreInterface() != 2 || s.GetVersion() != 1 {
		t.Error(s)
	}
	if p := s.GetPdrs()[0]; p.GetInterface() != 2 || !p.GetMatchUeDestination() || !p.GetMatchIp4() || p.GetTunnel() != 0 {
		t.Error(p)
	}
	if p := s.GetPdrs()[1]; p.GetTunnel() != 1 || !p.GetOuterHeaderRemoval() || p.GetQfis() != 2 || p.GetMatchUeSource() {
		t.Error(p)
	}
	if f := s.GetFars()[0]; !f.GetBuffer() || !f.GetNotifyCp() || f.GetBarId() != 1 || f.GetForwarding() != nil {
		t.Error(f)
	}

	r.accepted(r.modify(a.UPSEID, toGNB(2, "10.3.0.2")))
	w := r.unit.Session(a.UPSEID).GetFars()[0].GetForwarding()
	if w.GetTeid() != 2 || w.GetInterface() != 1 || !w.GetGtpu() || w.GetPort() != 2152 || !w.GetPduSessionContainer() {
		t.Error(w)
	}
	// Only the address of the tunnel changes; the rest stays as it was. The old one gets its mark.
	r.unit.Record()
	r.accepted(r.modify(a.UPSEID, &rules.ModifyRequest{UpdateFARs: []rules.FAR{{ID: 1, Forwarding: &rules.Forwarding{
		SMReqFlags:          rules.FlagSNDEM,
		OuterHeaderCreation: &rules.OuterHeaderCreation{Description: rules.CreateGTPUIPv6, TEID: 3, IPv6: ip("fd00:3::2")}}}}}))
	sent := r.unit.Sets()[0]
	w = sent.GetFars()[0].GetForwarding()
	if w.GetTeid() != 3 || len(w.GetPeer()) != 16 || !w.GetPduSessionContainer() || !sent.GetFars()[0].GetForward() || sent.GetVersion() != 3 {
		t.Error(sent)
	}
	if m := sent.GetEndMarkers(); len(m) != 1 || m[0].GetTeid() != 2 || netip.AddrFrom4([4]byte(m[0].GetPeer())) != ip("10.3.0.2") {
		t.Error(m)
	}

	r.unit.Count(a.UPSEID, 1, 100, 200)
	d := r.accepted(r.delete(a.UPSEID))
	if len(d.Usage) != 1 || d.Usage[0].Volume.TotalBytes != 300 || d.Usage[0].SEQN != 0 || d.Usage[0].Triggers != rules.UsageTERMR || !d.Usage[0].HasVolume || d.CPSEID != 7 {
		t.Errorf("%+v", d.Usage)
	}
	if a := r.modify(a.UPSEID, &rules.ModifyRequest{}); a.Cause != rules.CauseSessionContextNotFound || a.CPSEID != 0 {
		t.Error(a)
	}
	if a := r.delete(a.UPSEID); a.Cause != rules.CauseSessionContextNotFound {
		t.Error(a)
	}
	if c := r.m.Statistics(); c.Sessions != 0 || c.TEIDs != 0 || len(r.unit.IDs()) != 0 || r.m.CountOfPeer(smf) != 0 {
		t.Errorf("%+v", c)
	}
	// The address is free, the TEID rests.
	again := r.accepted(r.establish(plain(8, "10.45.0.3")))
	if again.CreatedPDRs[0].FTEID.TEID == f.TEID || again.UPSEID == a.UPSEID {
		t.Error("given out again at once")
	}
}
