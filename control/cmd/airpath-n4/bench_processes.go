// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// deployment of the forwarding unit `bench` starts: a worker whose ports nobody sends to.
const deployment = `
name: n4-bench-%d
memory: {mb: 512}
ports:
  - {name: n3, preset: ring, peer: gnb, framing: raw}
  - {name: gnb, preset: ring, peer: n3, framing: raw}
  - {name: n6, preset: ring, peer: net, framing: raw}
  - {name: net, preset: ring, peer: n6, framing: raw}
upf:
  - name: upf
    socket: %s
    interfaces:
      - {name: n3, port: n3, types: [access, cp_function], addresses: [10.3.0.1/24], gateways: [10.3.0.254]}
      - {name: n6, port: n6, types: [core], addresses: [10.6.0.1/24], gateways: [10.6.0.254]}
lcores:
  - {name: UPF, cpu: %d, governor: yield}
place:
  - {node: "upf.*", lcore: UPF}
`

// patience with a process that starts or ends.
const patience = 20 * time.Second

// process is one that `bench` started.
type process struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	gone chan error
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, gone: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &p.out, &p.out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.gone <- cmd.Wait() }()
	return p, nil
}

// end by SIGTERM, or SIGKILL where that does not help.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.gone:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

// until is waits for what a process was started for.
func (p *process) until(what string, is func() bool) error {
	end := time.Now().Add(patience)
	for !is() {
		select {
		case err := <-p.gone:
			p.gone <- err
			return fmt.Errorf("%s ended: %w\n%s", filepath.Base(p.cmd.Path), errors.Join(err, errors.New(what)), &p.out)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: %s", filepath.Base(p.cmd.Path), what)
		}
	}
	return nil
}

// startAirpath starts a forwarding unit, of the program beside this one.
func startAirpath(dir, socket string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self), "airpath")
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("%w; --unit names a running forwarding unit, or fake", err)
	}
	file := filepath.Join(dir, "upf.yaml")
	text := fmt.Sprintf(deployment, os.Getpid(), socket, runtime.NumCPU()-1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p, err := startProcess(exec.Command(program, "run", file))
	if err != nil {
		return nil, err
	}
	err = p.until("it does not listen", func() bool {
		c, err := net.Dial("unixpacket", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// startAgent starts the agent as a process of its own, so that its CPU time is its own.
func (b *benched) startAgent(dir, socket string) (*process, error) {
	text := fmt.Sprintf("n4: {addresses: [%s]}\nunits: [{name: unit, socket: %q}]\n"+
		"pools: [{network_instance: internet, prefix: %s}]\nstore: %q\ncontrol: %q\nlog: {level: warn}\n",
		b.address, socket, b.ues, filepath.Join(dir, "n4.db"), filepath.Join(dir, "n4.sock"))
	file := filepath.Join(dir, "n4.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "run", "-c", file)
	cmd.Env = os.Environ()
	if b.cores > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", b.cores))
	}
	return startProcess(cmd)
}
