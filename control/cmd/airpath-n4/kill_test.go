// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"airpath/control/bench"
	"airpath/control/config"
	"airpath/control/dataplane/dptest"
	"airpath/control/local"
	"airpath/control/rules"
)

// startKillable starts the agent as a process and waits until it drives its forwarding unit.
func startKillable(t *testing.T, client *local.Client, file string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "run", "-c", file)
	cmd.Env = append(os.Environ(), asAgent+"=1")
	p, err := startProcess(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.until("it found no forwarding unit", func() bool {
		s, err := client.Status()
		return err == nil && s.Units[0].Connected
	}); err != nil {
		t.Fatal(err)
	}
	return p
}

// An agent that is killed again and again while sessions are being established loses none that it
// answered and makes none twice: requests come again, and every one ends in one session.
func TestKilledWhileEstablishing(t *testing.T) {
	dir := t.TempDir()
	unit, err := dptest.New(filepath.Join(dir, "unit.sock"), dptest.Interfaces())
	if err != nil {
		t.Fatal(err)
	}
	defer unit.Close()
	file := filepath.Join(dir, "n4.yaml")
	text := fmt.Sprintf(agentConfig, "127.0.9.20", dir, dir, dir, "127.0.9.20")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	client := local.NewClient(c.Control)
	start := func() *process { return startKillable(t, client, file) }
	p := start()
	o := (&agent{T: t, config: c}).options("127.0.9.21")
	o.Tries = 30 // where a start takes as long as T1, three kills take more than N1 tries
	const sessions = 4000
	type result struct {
		seids []uint64
		err   error
	}
	established := make(chan result, 1)
	go func() {
		seids, err := bench.Establish(o, sessions)
		established <- result{seids, err}
	}()
	var r result
	kills := 0
	for done := false; !done; {
		select {
		case r = <-established:
			done = true
		case <-time.After(150 * time.Millisecond):
			if kills < 3 {
				_ = p.cmd.Process.Signal(syscall.SIGKILL)
				<-p.gone
				kills++
				p = start()
			}
		}
	}
	defer p.end()
	if r.err != nil {
		t.Fatalf("after %d kills: %v", kills, r.err)
	}
	var listed []uint64
	if err := client.Sessions(func(s rules.SessionInfo) { listed = append(listed, s.UPSEID) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.seids)
	if !slices.Equal(listed, r.seids) {
		t.Errorf("%d sessions answered, %d there after %d kills", len(slices.Compact(r.seids)), len(listed), kills)
	}
	t.Logf("%d kills", kills)
	if kills == 0 {
		t.Error("nothing was killed")
	}
}
