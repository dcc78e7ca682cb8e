// SPDX-License-Identifier: BSD-3-Clause

package local

import (
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"airpath/control/n4"
	"airpath/control/rules"
)

// many is a session manager with so many sessions, SEIDs 1 to n.
type many struct {
	rules.Sessions
	n uint64
}

func (m many) List(after uint64, yield func(rules.SessionInfo) bool) {
	for i := after + 1; i <= m.n && yield(rules.SessionInfo{UPSEID: i, Node: "smf"}); i++ {
	}
}

func (m many) Show(seid uint64) (rules.SessionDetail, bool) {
	return rules.SessionDetail{SessionInfo: rules.SessionInfo{UPSEID: seid}, DNN: "internet"}, seid <= m.n
}

func TestAskTheAgent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "n4.sock")
	c := NewClient(path)
	if _, err := c.Status(); err == nil || !strings.Contains(err.Error(), "no agent answers at "+path) {
		t.Errorf("without an agent: %v", err)
	}
	s := Source{
		Sessions: many{n: 2*pageMax + 5},
		Peers:    func() []n4.PeerInfo { return []n4.PeerInfo{{Node: "smf", Up: true}} },
		AskRelease: func(node string, done func(rules.Cause)) error {
			switch node {
			case "smf":
				go done(rules.CauseAccepted)
			case "silent":
				go done(0)
			default:
				return errors.New("nobody")
			}
			return nil
		},
		Owner: func(a netip.Addr, ni string) (Owner, error) {
			return Owner{Address: a, NetworkInstance: ni, Bucket: 7}, nil
		},
		Status: func() Status { return Status{Version: "1", CPUSeconds: CPUSeconds(), RSS: RSS()} },
	}
	server, err := Serve(path, s)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if _, err := Serve(path, s); err == nil {
		t.Error("two agents at a socket")
	}
	if st, err := c.Collected(); err != nil || st.RSS < 1<<20 {
		t.Errorf("%+v, %v", st, err)
	}
	if st, err := c.Status(); err != nil || st.Version != "1" || st.CPUSeconds <= 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if p, err := c.Peers(); err != nil || len(p) != 1 || !p[0].Up {
		t.Errorf("%+v, %v", p, err)
	}
	next := uint64(1)
	if err := c.Sessions(func(s rules.SessionInfo) {
		if s.UPSEID != next {
			t.Fatalf("%d after %d", s.UPSEID, next-1)
		}
		next++
	}); err != nil || next != 2*pageMax+6 {
		t.Errorf("%d, %v", next, err)
	}
	if d, err := c.Session("0x10"); err != nil || d.UPSEID != 16 || d.DNN != "internet" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, wrong := range []string{"99999", "x", ""} {
		if _, err := c.Session(wrong); err == nil {
			t.Errorf("session %q", wrong)
		}
	}
	if o, err := c.Owner("10.0.0.1", "a b&c"); err != nil || o.Bucket != 7 || o.NetworkInstance != "a b&c" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := c.Owner("x", ""); err == nil {
		t.Error("owner of x")
	}
	if got, err := c.Release("smf"); err != nil || got != "Request accepted" {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []string{"silent", "other"} {
		if _, err := c.Release(wrong); err == nil {
			t.Errorf("released %s", wrong)
		}
	}
}

// A socket that nobody answers at is left from before.
func TestStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n4.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	server, err := Serve(path, Source{Status: func() Status { return Status{} }})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
}
