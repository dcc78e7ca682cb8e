// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// FuzzPages: what checkPages finds no fault with bbolt opens, and reads to the end.
func FuzzPages(f *testing.F) {
	path := filepath.Join(f.TempDir(), "s.db")
	s, err := Open(Options{Path: path, BootID: "a"})
	if err != nil {
		f.Fatal(err)
	}
	for i := range uint64(100) {
		s.Apply(nil, PutSession(i, sessionValue(i)), PutPeer("smf", []byte("up")))
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Fuzz(func(t *testing.T, file []byte) {
		if checkPages(bytes.NewReader(file), int64(len(file))) != nil {
			return
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		octets := 0
		if err := db.View(func(tx *bolt.Tx) error {
			return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
				return b.ForEach(func(k, v []byte) error {
					octets += len(bytes.Clone(k)) + len(bytes.Clone(v))
					return nil
				})
			})
		}); err != nil {
			t.Fatal(err)
		}
		t.Log(octets, "octets")
	})
}
