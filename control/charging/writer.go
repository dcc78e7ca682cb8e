// SPDX-License-Identifier: BSD-3-Clause
package charging

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"airpath/control/store"
)

// Options of Open.
type Options struct {
	Directory   string
	RotateBytes int64         // a file that has so many octets is finished
	RotateEvery time.Duration // or is so old
	// SyncEvery is the longest time that written records are not on the disk; 0: each batch is
	// before the next. A process that is killed loses nothing either way.
	SyncEvery time.Duration
	Store     *store.Store
	Log       *slog.Logger
	Now       func() time.Time // nil: time.Now
}

// Writer moves records from the store to files, on a goroutine of its own.
type Writer struct {
	o     Options
	stop  chan struct{}
	done  chan struct{}
	file  *os.File // nil: none is begun
	path  string
	size  int64
	begun time.Time
	last  uint64 // number of the last record written
	dirty time.Time
	// Why it cannot write now, and why it cannot sync or finish the file.
	writes, upkeep string

	mu sync.Mutex
	st Statistics
}

// Statistics of a writer.
type Statistics struct {
	Records  uint64 // written
	Octets   uint64
	Files    uint64 // finished
	Failures uint64 // of writing; what was to be written stays in the store
}

// Open looks where the writer before ended and begins to write.
func Open(o Options) (*Writer, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Writer{o: o, stop: make(chan struct{}), done: make(chan struct{})}
	if err := os.MkdirAll(o.Directory, 0o750); err != nil {
		return nil, fmt.Errorf("charging: %w", err)
	}
	if err := w.resume(); err != nil {
		return nil, fmt.Errorf("charging: %w", err)
	}
	go w.run()
	return w, nil
}

// resume finds the last record written: in the newest file, or, where that was taken away, as the
// store knows of the file finished last.
func (w *Writer) resume() error {
	names, err := present(w.o.Directory)
	if err != nil {
		return err
	}
	if b := w.o.Store.Meta(metaLast); len(b) == 8 {
		w.last = decodeNumber(b)
	}
	for i, name := range names {
		isOpen := strings.HasSuffix(name, openSuffix)
		if !isOpen && i < len(names)-1 {
			continue
		}
		last, size, err := lastOf(name)
		if err != nil {
			return err
		}
		w.last = max(w.last, last)
		if isOpen {
			if err := w.reopen(name, size, i == len(names)-1); err != nil {
				return err
			}
		}
	}
	return w.o.Store.RecordsFrom(w.last)
}

// reopen cuts what was half written. An open file that is not the newest is finished.
func (w *Writer) reopen(name string, size int64, newest bool) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := f.Truncate(size); err != nil {
		f.Close()
		return err
	}
	if !newest {
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
		return os.Rename(name, strings.TrimSuffix(name, openSuffix))
	}
	w.file, w.path, w.size, w.begun = f, name, size, w.o.Now()
	return nil
}

// Close writes what is in the store and ends. The file stays open to the next writer.
func (w *Writer) Close() {
	close(w.stop)
	<-w.done
}

// Statistics so far.
func (w *Writer) Statistics() Statistics {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.st
}

func (w *Writer) run() {
	defer close(w.done)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	w.drain()
	for {
		select {
		case <-w.stop:
			w.drain()
			if w.file != nil {
				w.check(&w.upkeep, errors.Join(w.file.Sync(), w.file.Close()))
			}
			return
		case <-w.o.Store.Recorded():
			w.drain()
		case <-tick.C:
			if w.writes != "" {
				w.drain()
			}
		}
		w.check(&w.upkeep, w.maintain())
	}
}

// check notes a failure, and its end, once in the log.
func (w *Writer) check(failed *string, err error) bool {
	if err == nil {
		if *failed != "" {
			w.o.Log.Info("charging records", "over", *failed)
			*failed = ""
		}
		return true
	}
	w.mu.Lock()
	w.st.Failures++
	w.mu.Unlock()
	if *failed != err.Error() {
		*failed = err.Error()
		w.o.Log.Error("charging records", "error", err)
	}
	return false
}

// batchOctets is how much is written at once.
const batchOctets = 1 << 18

// drain writes what is in the store.
func (w *Writer) drain() {
	for {
		var lines []byte
		var drop []store.Write
		first, last, records := uint64(0), w.last, uint64(0)
		err := w.o.Store.Records(func(number uint64, record []byte) bool {
			drop = append(drop, store.DropRecord(number))
			if number <= w.last {
				return true // written by a writer that was killed, or dropping it is under way
			}
			if first == 0 {
				first = number
			}
			lines = appendLine(lines, number, record)
			last = number
			records++
			return len(lines) < batchOctets
		})
		if err == nil && len(lines) > 0 {
			err = w.write(first, lines)
		}
		if !w.check(&w.writes, err) {
			return
		}
		w.last = last
		w.mu.Lock()
		w.st.Records += records
		w.st.Octets += uint64(len(lines))
		w.mu.Unlock()
		if len(drop) > 0 {
			w.o.Store.Apply(nil, drop...)
		}
		w.check(&w.upkeep, w.maintain())
		if len(lines) < batchOctets {
			return
		}
	}
}

// write appends whole lines, or leaves the file as it was.
func (w *Writer) write(first uint64, lines []byte) error {
	if w.file == nil {
		path := fileName(w.o.Directory, first)
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
		if err != nil {
			return err
		}
		w.file, w.path, w.size, w.begun = f, path, 0, w.o.Now()
	}
	if _, err := w.file.WriteAt(lines, w.size); err != nil {
		return errors.Join(err, w.file.Truncate(w.size))
	}
	w.size += int64(len(lines))
	if w.dirty.IsZero() {
		w.dirty = w.o.Now()
	}
	return nil
}

// maintain syncs and finishes the file when it is time.
func (w *Writer) maintain() error {
	if w.file == nil {
		return nil
	}
	now := w.o.Now()
	if !w.dirty.IsZero() && now.Sub(w.dirty) >= w.o.SyncEvery {
		if err := w.file.Sync(); err != nil {
			return err
		}
		w.dirty = time.Time{}
	}
	if w.size == 0 || w.size < w.o.RotateBytes && now.Sub(w.begun) < w.o.RotateEvery {
		return nil
	}
	return w.finish()
}

// metaLast names the last record of the file finished last: whoever collects finished files may
// have taken it away.
const metaLast = "charging-last"

// finish closes the file and gives it its name for good.
func (w *Writer) finish() error {
	last, _, err := lastOf(w.path)
	if err != nil {
		return err
	}
	w.o.Store.Apply(nil, store.PutMeta(metaLast, encodeNumber(last)))
	if err := w.o.Store.Flush(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(w.path, strings.TrimSuffix(w.path, openSuffix)); err != nil {
		return err
	}
	err = errors.Join(w.file.Close(), syncDirectory(w.o.Directory))
	w.file, w.dirty = nil, time.Time{}
	w.mu.Lock()
	w.st.Files++
	w.mu.Unlock()
	return err
}

func encodeNumber(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func decodeNumber(b []byte) uint64 { return binary.BigEndian.Uint64(b) }
