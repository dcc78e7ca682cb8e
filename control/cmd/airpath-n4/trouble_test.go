// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"airpath/control/bench"
	"airpath/control/local"
)

// copyStore has the agent go on with a copy of its store.
func (a *agent) copyStore() {
	a.Helper()
	before := a.config.Store
	a.config.Store += ".copy"
	for _, end := range []string{"", ".boot"} {
		b, err := os.ReadFile(before + end)
		if err == nil {
			err = os.WriteFile(a.config.Store+end, b, 0o600)
		}
		if err != nil {
			a.Fatal(err)
		}
	}
}

// An agent whose store is damaged while it runs ends with an error that says so, and so does the next one.
func TestStoreDamagedInUse(t *testing.T) {
	a := startAgent(t, "127.0.9.42")
	if _, err := bench.Establish(a.options("127.0.9.43"), 100); err != nil {
		t.Fatal(err)
	}
	a.end()
	ended := make(chan error, 1)
	go func() { ended <- run(t.Context(), a.config) }()
	client := local.NewClient(a.config.Control)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if s, err := client.Status(); err == nil && s.Sessions == 100 && s.Units[0].Connected {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the agent does not come up")
		}
	}
	if err := os.Truncate(a.config.Store, 2*4096); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = bench.Establish(a.options("127.0.9.44"), 1) }()
	for again := range 2 {
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), a.config.Store) || !strings.Contains(err.Error(), "move it away") {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("the agent goes on")
		}
		if again == 0 {
			a.copyStore() // what has ended in this process has it still open
			go func() { ended <- run(t.Context(), a.config) }()
		}
	}
}
