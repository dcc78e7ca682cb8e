// SPDX-License-Identifier: BSD-3-Clause

// Package local is how the commands of airpath-n4 ask the agent that runs: JSON over HTTP on a
// UNIX socket.
package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"airpath/control/n4"
	"airpath/control/rules"
	"airpath/control/session"
)

// Source is where answers come from.
type Source struct {
	Sessions   rules.Sessions
	Peers      func() []n4.PeerInfo
	AskRelease func(node string, done func(rules.Cause)) error
	Owner      func(ue netip.Addr, networkInstance string) (Owner, error)
	Status     func() Status
	// Applications there are; LoadApplications reads their files again.
	Applications     func() session.ApplicationSet
	LoadApplications func() error
	// GiveUp deletes the sessions of a forwarding unit that is not configured any more.
	GiveUp func(unit string) (sessions int, err error)
}

// Owner says who serves a UE address.
type Owner struct {
	Address         netip.Addr `json:"address"`
	NetworkInstance string     `json:"network_instance"`
	Bucket          uint32     `json:"bucket"`
	Unit            string     `json:"unit"`    // "": none is connected
	Worker          int        `json:"worker"`  // -1: not known
	UPSEID          uint64     `json:"up_seid"` // 0: no session has the address
}

// Status of the agent.
type Status struct {
	Version    string    `json:"version"`
	Pid        int       `json:"pid"`
	Recovery   time.Time `json:"recovery"`
	Sessions   int       `json:"sessions"`
	Units      []Unit    `json:"units"`
	CPUSeconds float64   `json:"cpu_seconds"` // user and system, of the process so far
	RSS        uint64    `json:"rss_bytes"`   // of the process
}

// Unit is a forwarding unit.
type Unit struct {
	Name      string `json:"name"`
	Gone      bool   `json:"gone,omitempty"` // not configured any more, and has sessions
	Connected bool   `json:"connected"`
	About     string `json:"about"` // what it says of itself
	Workers   int    `json:"workers"`
	Steering  string `json:"steering"`
	Sessions  int    `json:"sessions"`
}

// GivenUp is how many sessions were.
type GivenUp struct {
	Sessions int `json:"sessions"`
}

// Cause is the answer to a request for release.
type Cause struct {
	Cause string `json:"cause"`
}

// pageMax bounds an answer of sessions.
const pageMax = 1000

// CPUSeconds of this process.
func CPUSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// RSS of this process, octets.
func RSS() uint64 {
	var size, resident uint64
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &resident)
	}
	if err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}

// Serve answers on the socket at path until it is closed. A socket left by a process that is gone
// is replaced; one that answers is not.
func Serve(path string, s Source) (io.Closer, error) {
	l, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }()
	return server, nil
}

func listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, errors.New("another agent answers there")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o660)
}

func (s Source) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("collect") {
			debug.FreeOSMemory()
		}
		reply(w, s.Status())
	})
	mux.HandleFunc("GET /v1/peers", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Peers()) })
	mux.HandleFunc("POST /v1/peers/release", s.release)
	mux.HandleFunc("GET /v1/sessions", s.list)
	mux.HandleFunc("GET /v1/sessions/{seid}", s.show)
	mux.HandleFunc("POST /v1/sessions/give-up", func(w http.ResponseWriter, r *http.Request) {
		n, err := s.GiveUp(r.URL.Query().Get("unit"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		reply(w, GivenUp{n})
	})
	mux.HandleFunc("GET /v1/owner", s.owner)
	mux.HandleFunc("GET /v1/applications", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Applications()) })
	mux.HandleFunc("POST /v1/applications/load", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.LoadApplications(); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		reply(w, s.Applications())
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	return mux
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s Source) release(w http.ResponseWriter, r *http.Request) {
	answer := make(chan rules.Cause, 1)
	if err := s.AskRelease(r.URL.Query().Get("node"), func(c rules.Cause) { answer <- c }); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	c := <-answer
	if c == 0 {
		http.Error(w, "the peer did not answer", http.StatusGatewayTimeout)
		return
	}
	reply(w, Cause{c.String()})
}

func (s Source) list(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.ParseUint(r.URL.Query().Get("after"), 0, 64)
	if err != nil {
		http.Error(w, "after: not a SEID", http.StatusBadRequest)
		return
	}
	page := make([]rules.SessionInfo, 0, 64)
	s.Sessions.List(after, func(i rules.SessionInfo) bool {
		page = append(page, i)
		return len(page) < pageMax
	})
	reply(w, page)
}

func (s Source) show(w http.ResponseWriter, r *http.Request) {
	seid, err := strconv.ParseUint(r.PathValue("seid"), 0, 64)
	if err != nil {
		http.Error(w, fmt.Sprintf("%q is not a SEID", r.PathValue("seid")), http.StatusBadRequest)
		return
	}
	d, ok := s.Sessions.Show(seid)
	if !ok {
		http.Error(w, fmt.Sprintf("no session has the UP SEID %#x", seid), http.StatusNotFound)
		return
	}
	reply(w, d)
}

func (s Source) owner(w http.ResponseWriter, r *http.Request) {
	a, err := netip.ParseAddr(r.URL.Query().Get("ip"))
	if err != nil {
		http.Error(w, fmt.Sprintf("%q is not an address", r.URL.Query().Get("ip")), http.StatusBadRequest)
		return
	}
	o, err := s.Owner(a.Unmap(), r.URL.Query().Get("network_instance"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	reply(w, o)
}
