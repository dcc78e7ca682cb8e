// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

const benchSessions = 100000

// BenchmarkOpen of a store with 100,000 sessions: all of it is looked at.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.db")
	s, err := Open(Options{Path: path, BootID: "a"})
	if err != nil {
		b.Fatal(err)
	}
	record := bytes.Repeat([]byte{1}, 500)
	for i := range uint64(benchSessions) {
		s.Apply(nil, PutSession(i, record), PutUsage(i, record[:60]))
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("all", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			s, err := Open(Options{Path: path, BootID: "a"})
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			s.Close()
			b.StartTimer()
		}
	})
	b.Run("pages", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			if err := whole(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkApply stores a session and its usage again, as many in a commit as come.
func BenchmarkApply(b *testing.B) {
	s, err := Open(Options{Path: filepath.Join(b.TempDir(), "s.db"), BootID: "a"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	record := bytes.Repeat([]byte{1}, 500)
	i := uint64(0)
	for b.Loop() {
		s.Apply(nil, PutSession(i%benchSessions, record), PutUsage(i%benchSessions, record[:60]))
		i++
		if i%64 == 0 {
			if err := s.Flush(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
