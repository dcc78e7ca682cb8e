// SPDX-License-Identifier: BSD-3-Clause
package charging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"airpath/control/store"
)

type rig struct {
	*testing.T
	dir   string
	store *store.Store
	o     Options
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir()}
	r.o = Options{Directory: filepath.Join(r.dir, "records"), RotateBytes: 1 << 30, RotateEvery: time.Hour, SyncEvery: time.Second,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	r.openStore()
	t.Cleanup(func() { r.store.Close() })
	return r
}

func (r *rig) openStore() {
	r.Helper()
	var err error
	if r.store, err = store.Open(store.Options{Path: filepath.Join(r.dir, "s.db"), BootID: "a"}); err != nil {
		r.Fatal(err)
	}
	r.o.Store = r.store
}

func (r *rig) writer() *Writer {
	r.Helper()
	w, err := Open(r.o)
	if err != nil {
		r.Fatal(err)
	}
	return w
}

func (r *rig) add(octets ...uint64) {
	r.Helper()
	for _, n := range octets {
		r.store.Apply(nil, store.AddRecord((&Record{UplinkOctets: n, RatingGroup: 7}).Encode()))
	}
	if err := r.store.Flush(); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) until(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.Fatal("in vain waited until", what)
		}
	}
}

// lines of all files in order, with their numbers.
func (r *rig) lines() (numbers, octets []uint64, files []string) {
	r.Helper()
	files, err := present(r.o.Directory)
	if err != nil {
		r.Fatal(err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			r.Fatal(err)
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			var one struct {
				Record uint64 `json:"record"`
				Uplink uint64 `json:"uplink_octets"`
			}
			if err := json.Unmarshal(s.Bytes(), &one); err != nil {
				r.Fatalf("%s: %q: %v", name, s.Bytes(), err)
			}
			numbers, octets = append(numbers, one.Record), append(octets, one.Uplink)
		}
		f.Close()
	}
	return numbers, octets, files
}

func (r *rig) expect(octets ...uint64) {
	r.Helper()
	numbers, got, files := r.lines()
	for i, n := range numbers {
		if n != numbers[0]+uint64(i) {
			r.Errorf("numbers %v", numbers)
			break
		}
	}
	if !slices.Equal(got, octets) {
		r.Errorf("%v in %v, not %v", got, files, octets)
	}
}

func (r *rig) stored() (n int) {
	_ = r.store.Records(func(uint64, []byte) bool { n++; return true })
	return n
}

func TestRecordsGoToTheFileOnce(t *testing.T) {
	r := newRig(t)
	w := r.writer()
	r.add(1, 2, 3)
	r.until("they are written", func() bool { return w.Statistics().Records == 3 })
	r.until("and forgotten", func() bool { return r.stored() == 0 })
	w.Close()
	r.expect(1, 2, 3)
	r.add(4) // nobody writes
	w = r.writer()
	w.Close()
	r.expect(1, 2, 3, 4)
	if _, _, files := r.lines(); len(files) != 1 || !strings.HasSuffix(files[0], "airpath-0000000000000001.ndjson.open") {
		t.Error(files)
	}
}

// A writer that was killed after it had written, and before the store knew: what is in the file is
// not written again; half a line is cut.
func TestKilledBetweenFileAndStore(t *testing.T) {
	r := newRig(t)
	r.add(1, 2, 3)
	kept := map[uint64][]byte{}
	_ = r.store.Records(func(n uint64, b []byte) bool { kept[n] = bytes.Clone(b); return true })
	if err := os.MkdirAll(r.o.Directory, 0o700); err != nil {
		t.Fatal(err)
	}
	text := appendLine(appendLine(nil, 1, kept[1]), 2, kept[2])
	text = append(text, appendLine(nil, 3, kept[3])[:20]...)
	if err := os.WriteFile(fileName(r.o.Directory, 1), text, 0o600); err != nil {
		t.Fatal(err)
	}
	w := r.writer()
	r.until("the store is empty", func() bool { return r.stored() == 0 })
	w.Close()
	r.expect(1, 2, 3)
	if n := w.Statistics().Records; n != 1 {
		t.Error(n, "written, not the one that was missing")
	}
}

func TestRotation(t *testing.T) {
	r := newRig(t)
	r.o.RotateBytes = 1
	w := r.writer()
	r.add(1, 2)
	r.until("a file is finished", func() bool { return w.Statistics().Files == 1 })
	r.add(3)
	r.until("the second is finished", func() bool { return w.Statistics().Files == 2 })
	w.Close()
	r.expect(1, 2, 3)
	_, _, files := r.lines()
	if len(files) != 2 || slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, openSuffix) }) {
		t.Error(files)
	}
	for _, f := range files { // collected
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	w = r.writer()
	r.add(4)
	r.until("numbers go on", func() bool { n, _, _ := r.lines(); return len(n) == 1 && n[0] == 4 })
	w.Close()

	r.o.RotateBytes, r.o.RotateEvery = 1<<30, time.Nanosecond
	w = r.writer()
	r.add(5)
	r.until("its time is over", func() bool { return w.Statistics().Files >= 1 })
	w.Close()
	r.expect(4, 5)
}

// The store is of an earlier boot: numbers go on where the files end.
func TestAnotherStore(t *testing.T) {
	r := newRig(t)
	w := r.writer()
	r.add(1, 2)
	r.until("they are written", func() bool { return w.Statistics().Records == 2 })
	w.Close()
	r.store.Close()
	if err := os.Remove(filepath.Join(r.dir, "s.db")); err != nil {
		t.Fatal(err)
	}
	r.openStore()
	w = r.writer()
	r.add(3)
	r.until("it is written", func() bool { return w.Statistics().Records == 1 })
	w.Close()
	r.expect(1, 2, 3)
}

// A directory that cannot be written to: records wait in the store.
func TestFailuresWait(t *testing.T) {
	r := newRig(t)
	w := r.writer()
	moved := r.o.Directory + ".away"
	if err := os.Rename(r.o.Directory, moved); err != nil {
		t.Fatal(err)
	}
	r.add(1)
	r.until("it failed", func() bool { return w.Statistics().Failures > 0 })
	if r.stored() != 1 {
		t.Error("the record is not kept")
	}
	if err := os.Rename(moved, r.o.Directory); err != nil {
		t.Fatal(err)
	}
	r.until("it is written", func() bool { return w.Statistics().Records == 1 })
	w.Close()
	r.expect(1)
}

func TestWhatIsNoRecordFile(t *testing.T) {
	r := newRig(t)
	if err := os.MkdirAll(r.o.Directory, 0o700); err != nil {
		t.Fatal(err)
	}
	path := fileName(r.o.Directory, 1)
	if err := os.WriteFile(path, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.o); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}
