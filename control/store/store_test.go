// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t *testing.T, path, boot string, unix int64) *Store {
	t.Helper()
	s, err := Open(Options{Path: path, BootID: boot, Now: func() time.Time { return time.Unix(unix, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func count(t *testing.T, s *Store) int {
	t.Helper()
	n := 0
	if err := s.Sessions(func(uint64, []byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRecordsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, "a", 1000)
	if s.Discarded() || s.RecoveryTimeStamp().Unix() != 1000 {
		t.Fatal(s.Discarded(), s.RecoveryTimeStamp())
	}
	for i := range uint64(10) {
		s.Apply(nil, PutSession(i, []byte{byte(i)}))
	}
	s.Apply(nil, PutSession(3, nil), PutGone(3, []byte("last")))
	s.Apply(nil, PutSession(4, nil))
	s.Apply(nil, PutPeer("smf", []byte("up")), PutPeer("old", []byte("up")))
	s.Apply(nil, PutPeer("old", nil), PutReport(5, 9, []byte("r")), PutReport(5, 8, []byte("s")))
	s.Apply(nil, PutReport(5, 8, nil))
	s.Apply(nil, PutMeta("unit", []byte("7")))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, path, "a", 2000)
	if s.RecoveryTimeStamp().Unix() != 1000 {
		t.Error("new stamp though nothing was lost", s.RecoveryTimeStamp())
	}
	if n := count(t, s); n != 8 {
		t.Error(n, "records")
	}
	gone := 0
	_ = s.Gone(func(seid uint64, last []byte) error {
		gone++
		if seid != 3 || string(last) != "last" {
			t.Error(seid, last)
		}
		return nil
	})
	peers := 0
	_ = s.Peers(func(name string, state []byte) error {
		peers++
		if name != "smf" || string(state) != "up" {
			t.Error(name, state)
		}
		return nil
	})
	if gone != 1 || peers != 1 || string(s.Meta("unit")) != "7" || s.Meta("none") != nil {
		t.Error(gone, peers, s.Meta("unit"))
	}
	reports := 0
	_ = s.Reports(func(seid, number uint64, report []byte) error {
		reports++
		if seid != 5 || number != 9 || string(report) != "r" {
			t.Error(seid, number, report)
		}
		return nil
	})
	if reports != 1 {
		t.Error(reports, "reports")
	}
	s.Apply(nil, PutGone(3, nil))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	_ = s.Gone(func(uint64, []byte) error { t.Error("not forgotten"); return nil })
}

func TestAnotherBootDiscards(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, "a", 1000)
	s.Apply(nil, PutSession(1, []byte("x")))
	s.Close()
	// What a crash of the machine leaves is not even read.
	if err := os.WriteFile(path, make([]byte, 100000), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, "b", 500) // the clock went back
	if !s.Discarded() || count(t, s) != 0 {
		t.Error("kept", count(t, s))
	}
	if s.RecoveryTimeStamp().Unix() != 1001 {
		t.Error("stamp", s.RecoveryTimeStamp().Unix())
	}
	s.Close()
	if s = open(t, path, "b", 5000); s.RecoveryTimeStamp().Unix() != 1001 || s.Discarded() {
		t.Error("stamp moved", s.RecoveryTimeStamp())
	}
	s.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if s = open(t, path, "b", 6000); s.RecoveryTimeStamp().Unix() != 6000 {
		t.Error("the file was lost, the stamp stayed", s.RecoveryTimeStamp())
	}
}

// TestDamagedStore: a file that is cut short, or no store at all, is refused with what to do.
func TestDamagedStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, "a", 1)
	for i := range uint64(2000) {
		s.Apply(nil, PutSession(i, make([]byte, 300)))
	}
	s.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	spoilt := map[string][]byte{
		"half": good[:len(good)/2], "last page": good[:len(good)-page], "one octet": good[:len(good)-1],
		"meta pages": good[:2*page], "one meta page": good[:page+904], "part of a page": good[:100],
		"zeros": make([]byte, len(good)), "no metas": append(make([]byte, 2*page), good[2*page:]...),
	}
	for name, b := range spoilt {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Path: path, BootID: "a"})
		if err == nil {
			s.Close()
			t.Error(name, "is taken")
			continue
		}
		for _, part := range []string{path, "damaged", "move it away"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, "a", 1)
	if n := count(t, s); n != 2000 {
		t.Error(n, "records")
	}
	s.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if s = open(t, path, "a", 5); count(t, s) != 0 || s.RecoveryTimeStamp().Unix() != 5 {
		t.Error("an empty file", s.RecoveryTimeStamp())
	}
}

func TestOneAgentAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, "a", 1)
	s.Apply(nil, PutSession(1, []byte("x")))
	_ = s.Flush()
	for _, boot := range []string{"a", "b"} {
		if second, err := Open(Options{Path: path, BootID: boot}); err == nil {
			second.Close()
			t.Error("two agents share a store, boot", boot)
		}
	}
	if count(t, s) != 1 {
		t.Error("the second one spoiled the first one's")
	}
}

func TestWritesShareCommits(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), "a", 1)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var order []uint64
	for i := range uint64(20000) {
		wait.Add(1)
		s.Apply(func(err error) {
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			wait.Done()
		}, PutSession(i, make([]byte, 300)), PutMeta("n", []byte("x")))
	}
	wait.Wait()
	for i, seid := range order {
		if seid != uint64(i) {
			t.Fatal("called back out of order at", i)
		}
	}
	commits, writes := s.Statistics()
	if writes != 40000 || commits > 5000 {
		t.Error(commits, "commits of", writes)
	}
	s.Close()
	s.Apply(func(err error) {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}, PutSession(1, nil))
}

// TestKilledWhileWriting kills a process that prints what it was called back for.
func TestKilledWhileWriting(t *testing.T) {
	if path := os.Getenv("STORE_TEST_CHILD"); path != "" {
		child(path)
		return
	}
	path := filepath.Join(t.TempDir(), "s.db")
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWhileWriting$")
	cmd.Env = append(os.Environ(), "STORE_TEST_CHILD="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := -1
	for i := 0; i < 3000; i++ {
		var n int
		if _, err := fmt.Fscanf(out, "%d\n", &n); err != nil {
			t.Fatal(err)
		}
		last = n
	}
	_ = cmd.Process.Kill()
	for {
		var n int
		if _, err := fmt.Fscanf(out, "%d\n", &n); err != nil {
			break
		}
		last = n
	}
	_ = cmd.Wait()
	s, err := Open(Options{Path: path, BootID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	have := map[uint64]string{}
	_ = s.Sessions(func(seid uint64, r []byte) error { have[seid] = string(r); return nil })
	for i := 0; i <= last; i++ {
		if have[uint64(i)] != strconv.Itoa(i) {
			t.Fatalf("session %d of %d answered was lost", i, last)
		}
	}
}

func child(path string) {
	s, err := Open(Options{Path: path, BootID: "a"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := range uint64(10000000) {
		s.Apply(func(error) { fmt.Printf("%d\n", i) }, PutSession(i, []byte(strconv.Itoa(int(i)))))
		if i%16 == 0 {
			_ = s.Flush()
		}
	}
}
