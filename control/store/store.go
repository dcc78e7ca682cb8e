// SPDX-License-Identifier: BSD-3-Clause

// Package store keeps sessions over a restart of the agent, in one bbolt file.
//
// Writes are gathered and committed together (group commit); what was asked for is called back
// after the commit. The file is not synced: what a commit wrote outlives the process, killed or
// not, because it is in the page cache. It need not outlive the machine, because the forwarding
// units' sessions do not: a boot id that changed discards the store, and only that (or the loss
// of the file) gives a new Recovery Time Stamp.
package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

var (
	bucketMeta     = []byte("meta")
	bucketSessions = []byte("sessions")
	bucketGone     = []byte("gone")
	bucketPeers    = []byte("associations")
	bucketReports  = []byte("reports")
	bucketUsage    = []byte("usage")
	bucketApps     = []byte("applications")
	bucketCharging = []byte("charging")
	bucketDoomed   = []byte("doomed")
	keyRecovery    = []byte("recovery")

	buckets = [][]byte{bucketMeta, bucketSessions, bucketGone, bucketPeers, bucketReports, bucketUsage, bucketApps, bucketCharging, bucketDoomed}
)

// batchMax bounds a commit, and so how long the last of a burst waits.
const batchMax = 4096

// Options of Open.
type Options struct {
	Path string
	// BootID of this run of the machine; "": /proc/sys/kernel/random/boot_id.
	BootID string
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: slog.Default
}

// Store is safe for use by several goroutines.
type Store struct {
	db        *bolt.DB
	log       *slog.Logger
	damaged   uint64 // values that Open left out
	updating  sync.Mutex
	sealed    []byte // of the commit under way
	tallies   tallies
	recovery  time.Time
	discarded bool

	mu      sync.Mutex
	waiting []write
	closed  bool
	kick    chan struct{}
	done    chan struct{}
	records chan struct{} // a commit had charging records
	trouble trouble

	commits, writes uint64 // by the committer alone, read under mu
}

// ErrClosed is what a write gets after Close.
var ErrClosed = errors.New("store is closed")

// Open opens or makes the store and starts its committer.
func Open(o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	boot, err := bootID(o.BootID)
	if err != nil {
		return nil, err
	}
	mark, err := readMark(o.Path)
	if err != nil {
		return nil, err
	}
	s := &Store{log: o.Log, kick: make(chan struct{}, 1), done: make(chan struct{}), records: make(chan struct{}, 1)}
	s.trouble.found = make(chan struct{})
	if s.db, err = openLocked(o.Path, mark.boot == boot); err != nil {
		return nil, err
	}
	if err = s.prepare(o, boot, mark); err != nil {
		s.closeFile()
		return nil, fmt.Errorf("store %s: %w", o.Path, err)
	}
	go s.run()
	return s, nil
}

// openLocked takes the lock of the file before it judges it, so that two agents cannot share it,
// and empties one of an earlier boot without reading it: it was never synced.
func openLocked(path string, keep bool) (*bolt.DB, error) {
	if !keep {
		lock, err := lockFile(path)
		if err != nil {
			return nil, err
		}
		err = lock.Truncate(0)
		if cerr := lock.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", path, err)
		}
	}
	if err := whole(path); err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	db, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, openError(err))
	}
	return db, nil
}

// openFile has bbolt look at every page, as the list of free ones is not in the file. What it would end
// the process for has been looked for before.
func openFile(path string) (db *bolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return bolt.Open(path, 0o600, &bolt.Options{
		Timeout: time.Second, NoSync: true, NoGrowSync: true, NoFreelistSync: true,
		FreelistType: bolt.FreelistMapType, InitialMmapSize: 64 << 20,
	})
}

var errInUse = errors.New("in use by another agent")

func openError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, bolterrors.ErrTimeout) || errors.Is(err, errInUse) {
		return errInUse
	}
	return fmt.Errorf("damaged (%w); move it away to begin without the sessions in it", err)
}

// prepare makes the buckets and settles the Recovery Time Stamp.
func (s *Store) prepare(o Options, boot string, mark mark) error {
	return s.update(func(tx *bolt.Tx) error {
		found, err := complete(tx)
		if err != nil {
			return openError(err)
		}
		for _, name := range buckets {
			b, err := tx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			b.FillPercent = 0.9
		}
		if err := s.inspect(tx, found == 0); err != nil {
			return err
		}
		meta := tx.Bucket(bucketMeta)
		if v, ok := unseal(bucketMeta, keyRecovery, meta.Get(keyRecovery)); ok && len(v) == 8 {
			s.recovery = time.Unix(int64(binary.BigEndian.Uint64(v)), 0)
			return nil
		}
		if s.damaged > 0 && mark.recovery > 0 { // of this boot, or the file were empty
			s.recovery = time.Unix(mark.recovery, 0)
			return s.put(meta, bucketMeta, keyRecovery, binary.BigEndian.AppendUint64(nil, uint64(mark.recovery)))
		}
		// A clock that was set back must not give a peer the same stamp again.
		at := max(o.Now().Unix(), mark.recovery+1)
		s.recovery, s.discarded = time.Unix(at, 0), mark.boot != ""
		if err := s.put(meta, bucketMeta, keyRecovery, binary.BigEndian.AppendUint64(nil, uint64(at))); err != nil {
			return err
		}
		return writeMark(o.Path, boot, at)
	})
}

// RecoveryTimeStamp changes only when what was stored is lost.
func (s *Store) RecoveryTimeStamp() time.Time { return s.recovery }

// Discarded says that Open found sessions of an earlier boot and dropped them.
func (s *Store) Discarded() bool { return s.discarded }

// Close commits what waits and closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.wake()
	<-s.done
	return s.closeFile()
}

// Damaged counts the values that Open left out because they were not as they had been written.
func (s *Store) Damaged() uint64 { return s.damaged }

// Statistics counts commits and the writes in them.
func (s *Store) Statistics() (commits, writes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commits, s.writes
}

// Apply asks for changes to be committed together. done (may be nil) is called on the committer's
// goroutine, in the order of the calls.
func (s *Store) Apply(done func(error), changes ...Write) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		if done != nil {
			done(ErrClosed)
		}
		return
	}
	for i := range changes {
		w := write{Write: changes[i]}
		if i == len(changes)-1 {
			w.last, w.done = true, done
		}
		s.waiting = append(s.waiting, w)
	}
	s.mu.Unlock()
	s.wake()
}

// Flush returns after everything asked for before is committed.
func (s *Store) Flush() error {
	c := make(chan error, 1)
	s.Apply(func(err error) { c <- err }, Write{})
	return <-c
}

func (s *Store) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (w *write) call(err error) {
	if w.done != nil {
		w.done(err)
	}
}

// run is the committer: whatever gathered while it committed is the next commit.
func (s *Store) run() {
	defer close(s.done)
	for range s.kick {
		for {
			s.mu.Lock()
			batch := s.waiting
			n := min(len(batch), batchMax)
			for n > 0 && n < len(batch) && !batch[n-1].last {
				n++
			}
			batch, s.waiting = batch[:n:n], batch[n:]
			closed := s.closed
			s.mu.Unlock()
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
			err := s.commit(batch)
			for i := range batch {
				batch[i].call(err)
			}
		}
	}
}

func (s *Store) commit(batch []write) error {
	recorded := false
	err := s.update(func(tx *bolt.Tx) error {
		for i := range batch {
			w := &batch[i]
			var err error
			switch {
			case w.bucket == nil:
			case w.key == nil:
				recorded = true
				err = s.putRecord(tx, w.value)
			case w.value == nil:
				err = s.delete(tx.Bucket(w.bucket), w.bucket, w.key)
			default:
				b := tx.Bucket(w.bucket)
				b.FillPercent = 0.9 // keys rise
				err = s.put(b, w.bucket, w.key, w.value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if recorded && err == nil {
		select {
		case s.records <- struct{}{}:
		default:
		}
	}
	s.mu.Lock()
	s.commits++
	s.writes += uint64(len(batch))
	s.mu.Unlock()
	return err
}

// lockFile opens the file as bbolt locks it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return f, nil
}
