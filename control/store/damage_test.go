// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// worn is the file of a store that was in use: with branch pages, a page that others continue, pages
// of former commits, and what is in it.
func worn(t *testing.T) (file []byte, contents string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, "a", 1000)
	for i := range uint64(600) {
		s.Apply(nil, PutSession(i, sessionValue(i)), PutUsage(i, sessionValue(i)[:50]), AddRecord(sessionValue(i)[:60]))
		if i%100 == 99 {
			_ = s.Flush()
		}
	}
	for i := range uint64(600) {
		if i%3 == 0 {
			s.Apply(nil, PutSession(i, sessionValue(i+1000)), DropRecord(i), PutUsage(i, nil))
		}
	}
	s.Apply(nil, PutSession(601, bytes.Repeat([]byte("long "), 2000)), PutMeta("seid", []byte("12345678")), PutPeer("smf", []byte("up")))
	_ = s.Flush()
	contents = contentsOf(t, s)
	s.Close()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file, contents
}

// contentsOf a store, a line a value.
func contentsOf(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	note := func(kind string) func(uint64, []byte) error {
		return func(seid uint64, v []byte) error {
			fmt.Fprintf(&b, "%s %d %s\n", kind, seid, v)
			return nil
		}
	}
	if err := s.Sessions(note("session")); err != nil {
		t.Error(err)
	}
	if err := s.Usages(note("usage")); err != nil {
		t.Error(err)
	}
	if err := s.Records(func(n uint64, v []byte) bool { return note("record")(n, v) == nil }); err != nil {
		t.Error(err)
	}
	if seid := s.Meta("seid"); seid != nil {
		fmt.Fprintf(&b, "meta %s\n", seid)
	}
	fmt.Fprintf(&b, "stamp %d\n", s.RecoveryTimeStamp().Unix())
	return b.String()
}

// without says whether what is left is what was there less so many values.
func without(was, left string, lost uint64) bool {
	all := strings.Split(was, "\n")
	next := 0
	for _, line := range strings.Split(left, "\n") {
		for next < len(all) && all[next] != line {
			next++
			if lost == 0 {
				return false
			}
			lost--
		}
		if next == len(all) {
			return false
		}
		next++
	}
	return true
}

// TestFlippedOctets: whatever octets of the file are changed, the store is as it was, less values that
// are named in the log, or it says that it is damaged. What it makes of it is sound.
func TestFlippedOctets(t *testing.T) {
	file, contents := worn(t)
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 1))
	whole, less, refused := 0, 0, 0
	var last []byte
	defer func() { // bbolt puts pages where a map says: another run has another file
		if t.Failed() {
			name := filepath.Join(os.TempDir(), "airpath-spoilt.db")
			t.Log("the file is", name, os.WriteFile(name, last, 0o600))
		}
	}()
	for i := range 300 {
		if t.Failed() {
			break
		}
		spoilt := bytes.Clone(file)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(file))
			if r.IntN(3) > 0 { // where pages begin: of what is there, and how much
				at = at&^4095 + r.IntN(200)
			}
			if r.IntN(2) == 0 {
				spoilt[at] ^= 1 << r.IntN(8)
			} else {
				spoilt[at] = byte(r.Uint32())
			}
		}
		last = spoilt
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path+".boot", []byte("a 1000\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, log, err := openDamaged(t, path, spoilt)
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "move it away") || !strings.Contains(err.Error(), path) {
				t.Error(i, err)
			}
			continue
		}
		got, damaged := contentsOf(t, s), s.Damaged()
		switch {
		case damaged == 0 && got == contents:
			whole++
		case damaged > 0 && without(contents, got, damaged) && strings.Count(log, "damaged and left out") == int(damaged):
			less++
		default:
			t.Errorf("%d: %d damaged, %d octets of %d are left\n%s", i, damaged, len(got), len(contents), log)
		}
		s.Apply(nil, PutSession(7000, []byte("new")), PutSession(5, nil))
		if err := s.Close(); err != nil {
			t.Error(i, err)
		}
		s = open(t, path, "a", 2000)
		if s.Damaged() != 0 || len(contentsOf(t, s)) == 0 {
			t.Error(i, "damaged again")
		}
		s.Close()
		_ = os.Remove(path)
	}
	t.Logf("%d as they were, %d less values that are named, %d refused", whole, less, refused)
	if whole == 0 || less == 0 || refused == 0 {
		t.Error("one of these never was")
	}
}

// TestPagesOfBefore: values that a page does not name any more, and a page of a former commit, are missed.
func TestPagesOfBefore(t *testing.T) {
	path, file := filled(t)
	fewer := bytes.Clone(file)
	for at := 0; at < len(file); at += 4096 { // also of pages that are not used any more
		if native.Uint16(file[at+8:]) == leafPage && bytes.Contains(file[at:at+4096], []byte("session 0000")) {
			native.PutUint16(fewer[at+10:], native.Uint16(file[at+10:])-1)
		}
	}
	if _, _, err := openDamaged(t, path, fewer); err == nil || !strings.Contains(err.Error(), "sessions of 200 are there") {
		t.Error(err)
	}

	// Of two files, one commit apart, the later one with a leaf of the former one.
	path = filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, "a", 1000)
	for i := range uint64(100) {
		s.Apply(nil, PutSession(i, sessionValue(i)))
	}
	_ = s.Flush()
	s.Apply(nil, PutSession(99, sessionValue(5000)))
	s.Close()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, now := bytes.Index(file, sessionValue(99)), bytes.Index(file, sessionValue(5000))
	if old < 0 || now < 0 {
		t.Fatal(old, now)
	}
	old, now = old&^4095, now&^4095
	copy(file[now:now+4096], file[old:old+4096])
	native.PutUint64(file[now:], uint64(now/4096))
	if s, log, err := openDamaged(t, path, file); err == nil {
		t.Error("a page of before is taken", s.Damaged(), log)
	} else if !strings.Contains(err.Error(), "not those written last") {
		t.Error(err)
	}
}

// TestCallersPanic: a fault of who reads is not taken for damage.
func TestCallersPanic(t *testing.T) {
	path, _ := filled(t)
	s := open(t, path, "a", 1000)
	for what, read := range map[string]func(){
		"sessions": func() { _ = s.Sessions(func(uint64, []byte) error { panic("of the caller") }) },
		"records":  func() { _ = s.Records(func(uint64, []byte) bool { panic("of the caller") }) },
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "of the caller") {
					t.Error(what, p)
				}
			}()
			read()
		}()
		if s.Err() != nil || count(t, s) != sealedSessions {
			t.Error(what, s.Err())
		}
	}
	s.Apply(nil, PutSession(1, nil))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestTroubleInUse: pages that cannot be read any more while the store is in use end it with an error.
func TestTroubleInUse(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"cut short": func(t *testing.T, path string) {
			if err := os.Truncate(path, 2*4096); err != nil {
				t.Fatal(err)
			}
		},
		"other pages": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, _ := f.Stat()
			if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())-2*4096), 2*4096); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s := open(t, path, "a", 1000)
			for i := range uint64(2000) {
				s.Apply(nil, PutSession(i, sessionValue(i)))
			}
			if err := s.Flush(); err != nil || s.Err() != nil {
				t.Fatal(err)
			}
			spoil(t, path)
			answers := make(chan error, 1)
			for i := uint64(0); s.Err() == nil && i < 100; i++ {
				s.Apply(func(err error) { answers <- err }, PutSession(20*i, sessionValue(1)))
				<-answers
			}
			select {
			case <-s.Trouble():
			case <-time.After(time.Minute):
				t.Fatal("nothing was noticed")
			}
			s.Apply(func(err error) { answers <- err }, PutSession(1, sessionValue(1)))
			if err := <-answers; !errors.Is(err, ErrTrouble) || !strings.Contains(err.Error(), "move it away") {
				t.Error(err)
			}
			if err := s.Sessions(func(uint64, []byte) error { return nil }); err == nil {
				t.Error("sessions are read")
			}
			if err := s.Close(); err == nil {
				t.Error("closed as if nothing were wrong")
			}
			// The file is locked until the process ends.
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			again := filepath.Join(t.TempDir(), "s.db")
			if err := os.WriteFile(again+".boot", []byte("a 1000\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := openDamaged(t, again, file); err == nil || !strings.Contains(err.Error(), "move it away") {
				t.Error("opened again:", err)
			}
		})
	}
}
