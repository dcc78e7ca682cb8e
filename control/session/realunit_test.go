// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"airpath/control/rules"
	"airpath/control/store"
)

const realDeployment = `
name: session-test-%d
memory: {mb: 256}
ports:
  - {name: n3, preset: ring, peer: gnb, framing: raw}
  - {name: gnb, preset: ring, peer: n3, framing: raw}
  - {name: n6, preset: ring, peer: net, framing: raw}
  - {name: net, preset: ring, peer: n6, framing: raw}
  - {name: ims, preset: ring, peer: imsnet, framing: raw}
  - {name: imsnet, preset: ring, peer: ims, framing: raw}
upf:
  - name: upf
    socket: %s
    interfaces:
      - {name: n3, port: n3, types: [access, cp_function], addresses: [10.3.0.1/24, "fd00:3::1/64"], gateways: [10.3.0.254]}
      - {name: n6, port: n6, types: [core], network_instances: [internet], addresses: [10.6.0.1/24, "fd00:6::1/64"], gateways: [10.6.0.254]}
      - {name: n6ims, port: ims, types: [core], network_instances: [ims], addresses: [10.7.0.1/24], gateways: [10.7.0.254]}
lcores:
  - {name: UPF, cpu: %d, governor: yield}
place:
  - {node: "upf.*", lcore: UPF}
`

// realUnit is `airpath run`: its ports lead nowhere.
type realUnit struct {
	t       *testing.T
	program string
	file    string
	socket  string
	cmd     *exec.Cmd
	out     bytes.Buffer
}

func newRealUnit(t *testing.T) *realUnit {
	t.Helper()
	program, err := filepath.Abs("../../build/airpath")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("build/airpath is not built")
	}
	dir := t.TempDir()
	u := &realUnit{t: t, program: program, file: filepath.Join(dir, "upf.yaml"), socket: filepath.Join(dir, "u")}
	text := fmt.Sprintf(realDeployment, os.Getpid(), u.socket, runtime.NumCPU()-1)
	if err := os.WriteFile(u.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	u.start()
	t.Cleanup(func() { u.end(syscall.SIGTERM) })
	return u
}

// launch does not wait until it listens: who asks takes the agent's place.
func (u *realUnit) launch() {
	u.t.Helper()
	u.cmd = exec.Command(u.program, "run", u.file)
	u.cmd.Stdout, u.cmd.Stderr = &u.out, &u.out
	if err := u.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
}

func (u *realUnit) start() {
	u.t.Helper()
	u.launch()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unixpacket", u.socket); err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			u.end(syscall.SIGKILL)
			u.t.Fatalf("%s does not listen:\n%s", u.program, &u.out)
		}
	}
}

func (u *realUnit) end(s os.Signal) {
	_ = u.cmd.Process.Signal(s)
	_ = u.cmd.Wait()
}

func newRealRig(t *testing.T, u *realUnit, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), reporter: &reporter{}}
	config := Config{Units: []UnitConfig{{Name: "upf", Socket: u.socket}}, WaitMs: 60000, Pools: []Pool{
		{NetworkInstance: "internet", Prefix: pfx("10.45.0.0/16")}, {NetworkInstance: "internet", Prefix: pfx("2001:db8:45::/48")},
		{NetworkInstance: "ims", Prefix: pfx("10.45.0.0/24")}}}
	for _, f := range change {
		f(&config)
	}
	var err error
	if r.store, err = store.Open(store.Options{Path: filepath.Join(r.dir, "s.db"), BootID: "a"}); err != nil {
		t.Fatal(err)
	}
	r.m, err = New(Options{Store: r.store, Reporter: r.reporter, Agent: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Config: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	return r
}

// everything uses each kind of rule the agent compiles.
func everything() *rules.EstablishRequest {
	q := chooseUE(plain(9, "10.45.0.9"), rules.UEIP{ChooseIPv4: true, ChooseIPv6: true})
	q.PDRs[0].PDI.FramedRoutes = []string{"192.168.7.0/24 0.0.0.0 1"}
	q.PDRs[0].PDI.SDFFilters = []rules.SDFFilter{
		{Flow: ptr("permit out 17 from 8.8.8.0/24 53,100-200 to assigned 4000"), ID: ptr(uint32(9))},
		{Flow: ptr("permit out ip from 2001:db8::/32 to assigned"), FlowLabel: ptr(uint32(0x12345))},
		{Flow: ptr("permit out 50 from any to assigned"), SPI: ptr(uint32(77)), ToS: &rules.Marking{Value: 0xB8, Mask: 0xFC}},
	}
	q.PDRs[1].PDI.SDFFilters = []rules.SDFFilter{{ID: ptr(uint32(9))}}
	q.PDRs = append(q.PDRs,
		rules.PDR{ID: 3, Precedence: ptr(uint32(255)), FARID: ptr(uint32(1)), OuterHeaderRemoval: &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP},
			PDI: &rules.PDI{Source: rules.CPFunction, LocalFTEID: &rules.FTEID{Choose: true, ChooseIPv4: true, ChooseIPv6: true}}},
		rules.PDR{ID: 4, Precedence: ptr(uint32(255)), FARID: ptr(uint32(3)), OuterHeaderRemoval: &rules.OuterHeaderRemoval{Description: rules.RemoveGTPUIP},
			PDI: &rules.PDI{Source: rules.Access, LocalFTEID: choose(5), SDFFilters: []rules.SDFFilter{{Flow: ptr("permit out 58 from ff02::2/128 to assigned")}}}})
	q.FARs = append(q.FARs,
		rules.FAR{ID: 3, Action: ptr(rules.ActionFORW | rules.ActionDUPL), Forwarding: &rules.Forwarding{Destination: ptr(rules.CPFunction),
			OuterHeaderCreation:   &rules.OuterHeaderCreation{Description: rules.CreateGTPUIPv4, TEID: 2, IPv4: ip("10.3.0.4")},
			TransportLevelMarking: &rules.Marking{Value: 0xB8, Mask: 0xFC}},
			Duplicating: []rules.Forwarding{{Destination: ptr(rules.Access),
				OuterHeaderCreation: &rules.OuterHeaderCreation{Description: rules.CreateUDPIPv6, IPv6: ip("fd00:3::3"), Port: 99}}}},
		rules.FAR{ID: 4, Action: ptr(rules.ActionDROP)})
	q.QERs = append(q.QERs, rules.QER{ID: 2, Gate: &rules.Gate{DLClosed: true}, MBR: &rules.Bitrate{UL: 0, DL: 1 << 39}, GBR: &rules.Bitrate{},
		RQI: ptr(true), PPI: ptr(uint8(3))})
	q.URRs = append(q.URRs, rules.URR{ID: 2, Method: ptr(rules.MethodVOLUM | rules.MethodDURAT | rules.MethodEVENT),
		Triggers: ptr(rules.ReportPERIO | rules.ReportVOLTH | rules.ReportVOLQU | rules.ReportTIMTH | rules.ReportTIMQU | rules.ReportSTART |
			rules.ReportSTOPT | rules.ReportLIUSA | rules.ReportQUHTI | rules.ReportDROTH | rules.ReportEVETH | rules.ReportEVEQU | rules.ReportQUVTI),
		Period: ptr(uint32(3600)), VolumeThreshold: &rules.Volume{Total: ptr(uint64(1e6)), Uplink: ptr(uint64(1e6)), Downlink: ptr(uint64(1e6))},
		VolumeQuota: &rules.Volume{Total: ptr(uint64(2e6))}, TimeThreshold: ptr(uint32(3000)), TimeQuota: ptr(uint32(4000)),
		EventThreshold: ptr(uint32(5)), EventQuota: ptr(uint32(9)), QuotaHoldingTime: ptr(uint32(3000)), QuotaValidityTime: ptr(uint32(3000)),
		DroppedDL: &rules.DroppedDL{Packets: 10, Bytes: 1000}, MonitoringTimeUnix: ptr(uint64(4e9)),
		SubsequentVolumeThreshold: &rules.Volume{Total: ptr(uint64(1e6))}, SubsequentTimeThreshold: ptr(uint32(3000)),
		InactivityDetectionTime: ptr(uint32(30)), LinkedURRIDs: []uint32{1}, Information: ptr(rules.InfoMBQE), QuotaFARID: ptr(uint32(4))})
	q.PDRs[0].URRIDs, q.PDRs[0].QERIDs = []uint32{1, 2}, []uint32{1, 2}
	q.BARs[0].Packets, q.BARs[0].NotifyDelayMs = ptr(uint16(300)), ptr(uint32(100))
	q.InactivityTimer = ptr(uint32(3600))
	return q
}

// TestTheRealUnit drives the data plane: what the agent compiles it takes, what it refuses it
// says, and a unit that was killed gets all of it again.
func TestTheRealUnit(t *testing.T) {
	u := newRealUnit(t)
	r := newRealRig(t, u)
	all := r.accepted(r.establish(everything()))
	seids := []uint64{all.UPSEID}
	for i := range 300 {
		seids = append(seids, r.accepted(r.establish(plain(uint64(i), fmt.Sprintf("10.45.%d.%d", 1+i/100, i%100)))).UPSEID)
	}
	big := r.accepted(r.establish(largest()))
	r.accepted(r.modify(big.UPSEID, &rules.ModifyRequest{UpdatePDRs: []rules.PDR{{ID: 100, Precedence: ptr(uint32(1))}}}))
	if n := len(r.accepted(r.delete(big.UPSEID)).Usage); n != maxRules-1 {
		t.Error(n, "reports of the largest session")
	}
	ims := chooseUE(plain(7, "10.45.0.1"), rules.UEIP{IPv4: ip("10.45.0.1")})
	ims.PDRs[0].PDI.NetworkInstance, ims.FARs[1].Forwarding.NetworkInstance = ptr("ims"), ptr("ims")
	seids = append(seids, r.accepted(r.establish(ims)).UPSEID)
	for i, seid := range seids {
		m := toGNB(uint32(i+1), "10.3.0.2")
		m.UpdateFARs[0].Forwarding.SMReqFlags = rules.FlagSNDEM
		m.Flags = rules.FlagDROBU
		m.QueryURRs = []uint32{1}
		oneUsage(t, r.accepted(r.modify(seid, m)).Usage, 0, 0, rules.UsageIMMER)
	}
	a := r.accepted(r.modify(seids[1], &rules.ModifyRequest{RemoveURRs: []uint32{1}, CreatePDRs: []rules.PDR{accessPDR(9, 2, choose())}}))
	oneUsage(t, a.Usage, 1, 0, rules.UsageTERMR)

	u.end(syscall.SIGKILL)
	u.launch()
	r.until("every session is there again", func() bool { return r.m.Statistics().RefilledSessions == uint64(len(seids)) })
	if c := r.m.Statistics(); c.RefillFailures != 0 {
		t.Errorf("%+v", c)
	}
	for i, seid := range seids {
		usage := r.accepted(r.delete(seid)).Usage
		if n := len(usage); i == 0 && n != 2 || i == 1 && n != 0 || i > 1 && (n != 1 || usage[0].SEQN != 1) {
			t.Errorf("session %d: %+v", i, usage)
		}
	}
	if c := r.m.Statistics(); c.Sessions != 0 || c.TEIDs != 0 {
		t.Errorf("%+v", c)
	}
	if t.Failed() {
		t.Logf("%s", &u.out)
	}
}

// TestTheRealUnitsApplications: descriptions of each kind are built and come into force, an expression
// that cannot be is refused with the reason, and a unit that was killed has all of it again.
func TestTheRealUnitsApplications(t *testing.T) {
	u := newRealUnit(t)
	r := newRealRig(t, u, withPolicies, withCharging)
	inForce := func() bool {
		set := r.m.Applications()
		return set.Units[0].Generation == set.Generation && set.Units[0].Error == ""
	}
	everyKind := []rules.ApplicationPFDs{
		domains("video", "video.example", "*.cdn.example", `^img[0-9]+\.example$`),
		{ID: "web", Contents: []rules.PFDContents{{URLs: []string{"http://web.example/a", `^http://[a-z]+\.example/(b|c)$`}}}},
		{ID: "dns", Contents: []rules.PFDContents{{Flows: []string{"permit out 17 from 9.9.9.9 53,853-860 to assigned", "permit out ip from 2001:db8::/32 to assigned"}}}},
	}
	r.until("the unit is there", func() bool { return r.m.Units()[0].Connected })
	r.tookPFDs(everyKind...)
	if set := r.m.Applications(); !inForce() || set.Units[0].Rules != 7 || set.Units[0].MemoryBytes == 0 {
		t.Errorf("%+v", set)
	}
	a := r.pfds(domains("video", `^(a{1,30}){1,30}[`))
	if a.Cause != rules.CauseRejected || !strings.Contains(a.Reason, "application video, PFD") {
		t.Errorf("%+v", a)
	}
	q := twoGroups()
	q.PDRs[2].PDI.ApplicationID, q.PDRs[3].PDI.ApplicationID = nil, ptr("web")
	q.PDRs[2].Predefined = []string{"kids"}
	q.FARs[1].Forwarding.Redirect = &rules.Redirect{Type: rules.RedirectURL, Address: "http://portal.example/"}
	q.URRs[0].Triggers = ptr(rules.ReportSTART | rules.ReportSTOPT)
	seid := r.accepted(r.establish(q)).UPSEID
	r.accepted(r.modify(seid, toGNB(2, "10.3.0.2")))
	u.end(syscall.SIGKILL)
	u.launch()
	r.until("the session is there again", func() bool { return r.m.Statistics().RefilledSessions == 1 })
	r.until("and the applications", inForce)
	r.accepted(r.delete(seid))
	if n := len(r.records()); n != 0 {
		t.Error(n, "records of no octets")
	}
	r.tookPFDs()
	if set := r.m.Applications(); !inForce() || set.Units[0].Rules != 0 {
		t.Errorf("%+v", set)
	}
}
