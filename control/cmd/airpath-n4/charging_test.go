// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"airpath/control/bench"
	"airpath/control/config"
	"airpath/control/dataplane/dptest"
	"airpath/control/local"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

type chargingLine struct {
	Record  uint64 `json:"record"`
	Session string `json:"session"`
	Group   uint32 `json:"rating_group"`
	Up      uint64 `json:"uplink_octets"`
}

// readRecords of a directory, in order.
func readRecords(t *testing.T, directory string) (lines []chargingLine) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(directory, "airpath-*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			var one chargingLine
			if err := json.Unmarshal(s.Bytes(), &one); err != nil {
				t.Fatalf("%s: %q: %v", name, s.Bytes(), err)
			}
			lines = append(lines, one)
		}
		f.Close()
	}
	return lines
}

// An agent that is killed again and again while units report: each octet is in one record, and the
// records' numbers have neither gaps nor repeats.
func TestKilledWhileCharging(t *testing.T) {
	dir := t.TempDir()
	unit, err := dptest.New(filepath.Join(dir, "unit.sock"), dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	defer unit.Close()
	file, records := filepath.Join(dir, "n4.yaml"), filepath.Join(dir, "records")
	text := fmt.Sprintf(agentConfig, "127.0.9.30", dir, dir, dir, "127.0.9.30") +
		fmt.Sprintf("charging: {directory: %s, rating_group: 10, rotate_mb: 1, sync_ms: 0}\n", records)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	client := local.NewClient(c.Control)
	p := startKillable(t, client, file)
	seids, err := bench.Establish((&agent{T: t, config: c}).options("127.0.9.31"), 40)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 100
	var counted uint64
	kills := 0
	for round := range rounds {
		for i, seid := range seids {
			octets := uint64(1 + (round*len(seids)+i)%1000)
			unit.Count(seid, 10|rules.LocalRule, octets, 0)
			counted += octets
			_ = unit.Report(seid, 10|rules.LocalRule, upfpb.Trigger_PERIO) // kept until it is safe
		}
		if round%30 == 29 {
			_ = p.cmd.Process.Signal(syscall.SIGKILL)
			<-p.gone
			kills++
			p = startKillable(t, client, file)
		}
	}
	for end := time.Now().Add(time.Minute); unit.Acked() < rounds*uint64(len(seids)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d events are safe", unit.Acked(), rounds*len(seids))
		}
	}
	p.end() // writes what is left
	var sum uint64
	lines := readRecords(t, records)
	for i, one := range lines {
		if one.Record != uint64(i+1) || one.Group != 10 {
			t.Fatalf("record %d: %+v", i, one)
		}
		sum += one.Up
	}
	if sum != counted || len(lines) != rounds*len(seids) {
		t.Errorf("%d octets in %d records, not %d in %d, after %d kills", sum, len(lines), counted, rounds*len(seids), kills)
	}
}

// applications list and load, SIGHUP, and what is wrong with a file.
func TestApplicationsCommand(t *testing.T) {
	dir := t.TempDir()
	apps := filepath.Join(dir, "apps.rules")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(apps, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("video host a.example\nvideo suffix b.example\nnews url /n\n")
	a := startAgent(t, "127.0.9.32", fmt.Sprintf("applications: {files: [%s]}\n", apps))
	inForce := func(n int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			byID, _, _ := a.unit.Applications()
			if len(byID) == n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%v, not %d applications", byID, n)
			}
		}
	}
	inForce(2)
	if out := a.ask("applications", "list"); !strings.Contains(out, "video") || !strings.Contains(out, "2 applications") || !strings.Contains(out, "pfu0") {
		t.Errorf("%s", out)
	}
	write("video host a.example\n")
	if out := a.ask("applications", "load"); !strings.Contains(out, "1 applications") {
		t.Errorf("%s", out)
	}
	inForce(1)
	write("video host\n")
	if _, err := local.NewClient(a.config.Control).LoadApplications(); err == nil || !strings.Contains(err.Error(), apps+":1: ") {
		t.Error(err)
	}
	inForce(1)
	write("video host a.example\nweb host b.example\n")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	inForce(2)
	write("video hots a.example\n")
	cmd := command()
	cmd.SetArgs([]string{"check", filepath.Join(a.dir, "n4.yaml")})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), apps+`:1: kind "hots"`) {
		t.Error(err)
	}
}
