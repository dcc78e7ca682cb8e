// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"airpath/control/bench"
	"airpath/control/config"
	"airpath/control/dataplane/dptest"
	"airpath/control/local"
	"airpath/control/testns"
)

// asAgent makes the test's program the agent itself, so that it can be killed.
const asAgent = "AIRPATH_TEST_AS_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		main()
		return
	}
	testns.Main(m)
}

const agentConfig = `
n4: {addresses: [%s]}
units: [{name: pfu0, socket: %s/unit.sock}]
pools: [{network_instance: internet, prefix: 10.45.0.0/16}]
store: %s/n4.db
control: %s/n4.sock
metrics: %s:19105
log: {level: error}
`

// agent runs the whole of airpath-n4 beside a forwarding unit that forwards nothing.
type agent struct {
	*testing.T
	dir    string
	config *config.Config
	unit   *dptest.Unit
	end    func()
}

// startAgent with more lines of configuration.
func startAgent(t *testing.T, address string, more ...string) *agent {
	t.Helper()
	dir := t.TempDir()
	unit, err := dptest.New(filepath.Join(dir, "unit.sock"), dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unit.Close() })
	file := filepath.Join(dir, "n4.yaml")
	text := fmt.Sprintf(agentConfig, address, dir, dir, dir, address) + strings.Join(more, "")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{T: t, dir: dir, config: c, unit: unit}
	a.start()
	return a
}

func (a *agent) start() {
	a.Helper()
	ctx, cancel := context.WithCancel(a.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, a.config) }()
	stopped := false
	a.end = func() {
		cancel()
		if !stopped {
			if err := <-ended; err != nil {
				a.Error(err)
			}
		}
		stopped = true
	}
	a.Cleanup(func() { a.end() })
	client := local.NewClient(a.config.Control)
	for range 500 {
		if s, err := client.Status(); err == nil && s.Units[0].Connected {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	a.Fatal("the agent found no forwarding unit")
}

// ask runs a command line and gives what it prints.
func (a *agent) ask(args ...string) string {
	a.Helper()
	out := &bytes.Buffer{}
	cmd := command()
	cmd.SetOut(out)
	cmd.SetArgs(append(args, "--socket", a.config.Control))
	if err := cmd.Execute(); err != nil {
		a.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

func (a *agent) options(smf string) bench.Options {
	client := local.NewClient(a.config.Control)
	return bench.Options{Agent: netip.AddrPortFrom(a.config.N4.Addresses[0], 8805), SMF: netip.MustParseAddrPort(smf + ":8805"),
		Sessions: 300, Serial: 20, Window: 32, UEs: netip.MustParseAddr("10.45.0.1"),
		CPU: func() (float64, error) {
			s, err := client.Status()
			return s.CPUSeconds, err
		}, Memory: func() (uint64, error) {
			s, err := client.Collected()
			return s.RSS, err
		}}
}

// What the bench does is done, nothing is refused and nothing is left over.
func TestBench(t *testing.T) {
	a := startAgent(t, "127.0.9.8")
	rows := map[string]bench.Row{}
	if err := bench.Run(a.options("127.0.9.4"), func(r bench.Row) { rows[r.Mode+" "+r.Procedure] = r }); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 6 {
		t.Errorf("%d rows", len(rows))
	}
	for what, r := range rows {
		if r.Refused != 0 || r.Unanswered != 0 || r.PerSecond <= 0 || r.DelayP50 <= 0 || r.DelayP99 < r.DelayP50 {
			t.Errorf("%s: %+v", what, r)
		}
	}
	if out := a.ask("status"); !strings.Contains(out, ", 0 sessions") {
		t.Errorf("sessions are left:\n%s", out)
	}
	metrics, err := http.Get("http://" + a.config.Metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer metrics.Body.Close()
	text, _ := io.ReadAll(metrics.Body)
	for _, want := range []string{
		`airpath_n4_requests_total{cause="1",type="session_establishment"} 320`,
		`airpath_n4_requests_total{cause="1",type="session_deletion"} 320`,
		`airpath_unit_connected{unit="pfu0"} 1`, "airpath_sessions 0", "airpath_n4_associations 0",
		"airpath_sessions_established_total 320", `airpath_n4_request_seconds_count{type="session_establishment"} 320`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
}

// A session is seen by every command, and outlives the agent.
func TestCommands(t *testing.T) {
	a := startAgent(t, "127.0.9.9")
	seid, err := bench.Establish(a.options("127.0.9.5"), 3)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ue := "10.45.0.2" // the second of three
		if out := a.ask("sessions", "list"); strings.Count(out, "127.0.9.5") != 3 || !strings.Contains(out, ue) || !strings.Contains(out, "pfu0") {
			t.Errorf("list:\n%s", out)
		}
		var list []map[string]any
		if err := json.Unmarshal([]byte(a.ask("sessions", "list", "--json")), &list); err != nil || len(list) != 3 {
			t.Errorf("list: %v, %v", list, err)
		}
		if out := a.ask("sessions", "show", fmt.Sprintf("%#x", seid[1])); !strings.Contains(out, `"ff02::2`) && !strings.Contains(out, "ff02::2/128") {
			t.Errorf("show:\n%s", out)
		}
		if out := a.ask("peers"); !strings.Contains(out, "127.0.9.5") || !strings.Contains(out, "up") {
			t.Errorf("peers:\n%s", out)
		}
		if out := a.ask("owner", ue); !strings.Contains(out, "unit pfu0") || !strings.Contains(out, fmt.Sprintf("session %#x", seid[1])) {
			t.Errorf("owner: %s", out)
		}
		if out := a.ask("owner", "10.45.7.7"); !strings.Contains(out, "unit pfu0, worker ") || strings.Contains(out, "session") {
			t.Errorf("owner of nobody: %s", out)
		}
		a.end()
		a.start() // everything again after a restart
	}
}

func TestCheckCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "n4.yaml")
	for text, want := range map[string]string{
		"n4: {addresses: [127.0.0.8]}\nunits: [{name: a, socket: /a}]\n": "",
		"n4: {addresses: [x]}\n": "n4.addresses[0]",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := &bytes.Buffer{}
		cmd := command()
		cmd.SetOut(out)
		cmd.SetArgs([]string{"check", file})
		err := cmd.Execute()
		switch {
		case want == "" && (err != nil || !strings.Contains(out.String(), "sound")):
			t.Errorf("%q: %v, %s", text, err, out)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An agent whose address or socket another one has says so, and leaves the other alone.
func TestTwoAgents(t *testing.T) {
	a := startAgent(t, "127.0.9.10")
	other := *a.config
	other.Store = filepath.Join(a.dir, "other.db")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := run(ctx, &other); err == nil || !strings.Contains(err.Error(), "127.0.9.10") {
		t.Errorf("second agent at the address: %v", err)
	}
	other.N4.Addresses = []netip.Addr{netip.MustParseAddr("127.0.9.11")}
	if err := run(ctx, &other); err == nil || !strings.Contains(err.Error(), "another agent") {
		t.Errorf("second agent at the socket: %v", err)
	}
	if out := a.ask("status"); !strings.Contains(out, "pfu0") {
		t.Errorf("the first one: %s", out)
	}
}
