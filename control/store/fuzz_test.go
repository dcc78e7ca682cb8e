// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzPages: whatever a file has, it is read to its end or refused.
func FuzzPages(f *testing.F) {
	path := filepath.Join(f.TempDir(), "s.db")
	s, err := Open(Options{Path: path, BootID: "a"})
	if err != nil {
		f.Fatal(err)
	}
	for i := range uint64(20) {
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
	f.Fuzz(func(_ *testing.T, file []byte) {
		_ = checkPages(bytes.NewReader(file), int64(len(file)))
	})
}
