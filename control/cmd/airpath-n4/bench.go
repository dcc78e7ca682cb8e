// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"airpath/control/bench"
	"airpath/control/dataplane/dptest"
	"airpath/control/local"

	"github.com/spf13/cobra"
)

// benched is what `bench` was asked for.
type benched struct {
	unit     string
	address  string
	smf      string
	ues      string
	json     string
	cores    int
	sessions int
	serial   int
	window   int
}

// report is the document of --json.
type report struct {
	Bench string         `json:"bench"`
	Host  map[string]any `json:"host"`
	Rows  []benchRow     `json:"rows"`
}

type benchRow struct {
	bench.Row
	Unit    string `json:"unit"` // what forwards: "fake" forwards nothing
	Workers int    `json:"workers"`
	Cores   int    `json:"agent_cores"` // GOMAXPROCS
	NoNIC   bool   `json:"no_nic"`
}

func benchCommand() *cobra.Command {
	var b benched
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "measure how fast sessions are established, changed and deleted",
		Long: `Starts an agent of its own and plays the SMF over UDP with the messages a widely used one sends. The agent
drives a forwarding unit: --unit airpath starts one (the program beside this one, a worker without traffic),
--unit SOCKET is one that runs, --unit fake acknowledges and forwards nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&b.unit, "unit", "airpath", "airpath, fake, or the socket of a forwarding unit that runs")
	f.StringVar(&b.address, "address", "127.0.0.8", "N4 address of the agent")
	f.StringVar(&b.smf, "smf", "127.0.0.4", "our address")
	f.StringVar(&b.ues, "pool", "10.64.0.0/10", "UE addresses, of network instance internet")
	f.StringVar(&b.json, "json", "", "write one JSON document to a file, or - for standard output")
	f.IntVar(&b.cores, "cores", 0, "CPUs the agent may use at a time (GOMAXPROCS); 0: all")
	f.IntVar(&b.sessions, "sessions", 20000, "sessions with many requests under way")
	f.IntVar(&b.serial, "serial", 2000, "sessions one request at a time; 0: none")
	f.IntVar(&b.window, "window", 64, "requests under way")
	return cmd
}

func (b *benched) run(cmd *cobra.Command) error {
	smf, err := netip.ParseAddr(b.smf)
	if err != nil || !smf.Is4() {
		return fmt.Errorf("--smf %q is not an IPv4 address", b.smf)
	}
	address, err := netip.ParseAddr(b.address)
	if err != nil || !address.Is4() {
		return fmt.Errorf("--address %q is not an IPv4 address", b.address)
	}
	pool, err := netip.ParsePrefix(b.ues)
	if err != nil || !pool.Addr().Is4() || 1<<(32-pool.Bits()) < max(b.sessions, b.serial)+2 {
		return fmt.Errorf("--pool %q is not a prefix of enough IPv4 addresses", b.ues)
	}
	dir, err := os.MkdirTemp("", "airpath-n4-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	socket, about := filepath.Join(dir, "unit.sock"), ""
	switch b.unit {
	case "fake":
		unit, err := dptest.New(socket, dptest.Interfaces())
		if err != nil {
			return err
		}
		defer unit.Close()
		about = "fake"
	case "airpath":
		unit, err := startAirpath(dir, socket)
		if err != nil {
			return err
		}
		defer unit.end()
	default:
		socket = b.unit
	}
	agent, err := b.startAgent(dir, socket)
	if err != nil {
		return err
	}
	defer agent.end()
	control := local.NewClient(filepath.Join(dir, "n4.sock"))
	var st local.Status
	if err := agent.until("it found no forwarding unit", func() bool {
		st, err = control.Status()
		return err == nil && len(st.Units) > 0 && st.Units[0].Connected
	}); err != nil {
		return err
	}
	if about == "" {
		about = st.Units[0].About
	}
	return b.measure(cmd, control, bench.Options{Agent: netip.AddrPortFrom(address, 8805), SMF: netip.AddrPortFrom(smf, 8805),
		Sessions: b.sessions, Serial: b.serial, Window: b.window, UEs: pool.Addr().Next()}, about, st.Units[0].Workers)
}

func (b *benched) measure(cmd *cobra.Command, control *local.Client, o bench.Options, about string, workers int) error {
	o.CPU = func() (float64, error) {
		s, err := control.Status()
		return s.CPUSeconds, err
	}
	o.Memory = func() (uint64, error) {
		s, err := control.Collected()
		return s.RSS, err
	}
	cores := b.cores
	if cores == 0 {
		cores = runtime.NumCPU()
	}
	doc := report{Bench: "n4", Host: host()}
	lines := []string{"PROCEDURE\tMODE\tSESSIONS\tPER SECOND\tPER AGENT CORE\tP50 us\tP99 us\tAGENT B/SESSION\tREFUSED\tLOST"}
	valid := true
	err := bench.Run(o, func(r bench.Row) {
		row := benchRow{r, about, workers, cores, true}
		doc.Rows = append(doc.Rows, row)
		lines = append(lines, row.line())
		valid = valid && r.Refused == 0 && r.Unanswered == 0
	})
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if b.json != "-" {
		fmt.Fprintf(out, "data plane: %s, %d workers; agent on %d CPUs; %d requests under way when pipelined\n", about, workers, cores, o.Window)
		if err := table(out, lines); err != nil {
			return err
		}
		if max(o.Sessions, o.Serial) < bench.MemoryMin {
			fmt.Fprintf(out, "memory of a session: not measured, fewer than %d are too few\n", bench.MemoryMin)
		}
	}
	if err := b.writeJSON(cmd, doc); err != nil {
		return err
	}
	if !valid {
		return errors.New("not a valid run: requests were refused or lost")
	}
	return nil
}

// line of the table. What was not measured is no 0.
func (r *benchRow) line() string {
	memory := "-"
	if r.Memory > 0 {
		memory = fmt.Sprintf("%.0f", r.Memory)
	}
	return fmt.Sprintf("%s\t%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t%d\t%d", r.Procedure, r.Mode, r.Sessions, r.PerSecond,
		r.PerCore, r.DelayP50, r.DelayP99, memory, r.Refused, r.Unanswered)
}

func (b *benched) writeJSON(cmd *cobra.Command, doc report) error {
	switch b.json {
	case "":
		return nil
	case "-":
		return printJSON(cmd.OutOrStdout(), doc)
	}
	f, err := os.Create(b.json)
	if err != nil {
		return err
	}
	return errors.Join(printJSON(f, doc), f.Close())
}

func host() map[string]any {
	h := map[string]any{"cores": runtime.NumCPU(), "go": runtime.Version()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for _, line := range strings.Split(string(text), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				h["cpu"] = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h["kernel"] = strings.TrimSpace(string(text))
	}
	return h
}
