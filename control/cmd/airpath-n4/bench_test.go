// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"airpath/control/bench"
)

// Few sessions say nothing of what one takes: that is no 0 B.
func TestBenchSaysWhatItDidNotMeasure(t *testing.T) {
	out := new(strings.Builder)
	cmd := command()
	cmd.SetOut(out)
	cmd.SetArgs([]string{"bench", "--unit", "fake", "--sessions", "200", "--serial", "0", "--address", "127.0.9.30", "--smf", "127.0.9.31"})
	t.Setenv(asAgent, "1") // the agent is this program, too
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "memory of a session: not measured, fewer than 10000") || !strings.Contains(text, "pipelined") {
		t.Error(text)
	}
	few := benchRow{Row: bench.Row{Procedure: "establishment", Sessions: 200}}
	many := benchRow{Row: bench.Row{Procedure: "establishment", Sessions: 20000, Memory: 1234.4}}
	if a, b := strings.Split(few.line(), "\t")[7], strings.Split(many.line(), "\t")[7]; a != "-" || b != "1234" {
		t.Errorf("%q, %q", a, b)
	}
}
