// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"airpath/control/bench"
	"airpath/control/config"
	"airpath/control/dataplane/dptest"
	"airpath/control/local"
)

// metrics is what Prometheus sees.
func (a *agent) metrics() string {
	a.Helper()
	answer, err := http.Get("http://" + a.config.Metrics + "/metrics")
	if err != nil {
		a.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		a.Fatal(err)
	}
	return string(text)
}

// The sessions of a unit that was taken out of the configuration are shown as such, until they are given up.
func TestUnitTakenOut(t *testing.T) {
	a := startAgent(t, "127.0.9.40")
	second, err := dptest.New(filepath.Join(a.dir, "second.sock"), dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	one := a.config.Units
	a.end()
	a.config.Units = append(one[:1:1], config.Unit{Name: "pfu1", Socket: filepath.Join(a.dir, "second.sock")})
	a.start()
	for end := time.Now().Add(time.Minute); !strings.Contains(a.metrics(), `airpath_unit_connected{unit="pfu1"} 1`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the second unit is not connected")
		}
	}
	if _, err := bench.Establish(a.options("127.0.9.41"), 6); err != nil {
		t.Fatal(err)
	}
	a.end()
	a.config.Units = one
	a.start()
	const gone = "pfu1 (not configured)"
	if out := a.ask("sessions", "list"); strings.Count(out, gone) != 3 || strings.Count(out, "127.0.9.41") != 6 {
		t.Errorf("list:\n%s", out)
	}
	if out := a.ask("status"); !strings.Contains(out, ", 6 sessions") || !strings.Contains(out, gone) {
		t.Errorf("status:\n%s", out)
	}
	text := a.metrics()
	for _, want := range []string{`airpath_unit_gone{unit="pfu0"} 0`, `airpath_unit_gone{unit="pfu1"} 1`, `airpath_unit_sessions{unit="pfu1"} 3`, "airpath_sessions 6"} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
	client := local.NewClient(a.config.Control)
	if _, err := client.GiveUp("pfu0"); err == nil || !strings.Contains(err.Error(), "is configured") {
		t.Error("a unit that is there was given up:", err)
	}
	if out := a.ask("sessions", "give-up", "pfu1"); !strings.Contains(out, "3 sessions of pfu1 given up") {
		t.Error(out)
	}
	if _, err := client.GiveUp("pfu1"); err == nil || !strings.Contains(err.Error(), "no session") {
		t.Error(err)
	}
	if out := a.ask("sessions", "list"); strings.Contains(out, "pfu1") || strings.Count(out, "pfu0") != 3 {
		t.Errorf("list:\n%s", out)
	}
	if strings.Contains(a.metrics(), "pfu1") {
		t.Error("the unit is still in the metrics")
	}
}
