// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// trouble is damage that shows while the store is in use: bbolt panics, or a page it has mapped cannot
// be read. Its locks are then as they were, so nothing touches it any more, and the agent is to end.
type trouble struct {
	mu    sync.Mutex // of err
	err   error
	found chan struct{} // closed
}

// ErrTrouble is what a write gets that was not stored as the store can be used no more, and no more will be.
var ErrTrouble = errors.New("store can be used no more")

// troubleError says why alone.
type troubleError struct{ error }

func (troubleError) Is(target error) bool { return target == ErrTrouble }

// Trouble is closed when the store can be used no more; Err says why.
func (s *Store) Trouble() <-chan struct{} { return s.trouble.found }

// Err is why the store can be used no more; nil: it can.
func (s *Store) Err() error {
	s.trouble.mu.Lock()
	defer s.trouble.mu.Unlock()
	return s.trouble.err
}

// callersPanic is not the store's: what it called back panicked.
type callersPanic struct{ error }

// callback calls what reads values, which are mapped: a page that cannot be read is the store's trouble.
func callback(read func()) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if _, fault := p.(interface{ Addr() uintptr }); !fault {
			p = callersPanic{fmt.Errorf("%v", p)}
		}
		panic(p)
	}()
	read()
}

// guard makes a panic of bbolt, on a goroutine that panics where a page cannot be read, an error of
// the store.
func (s *Store) guard(err *error) {
	p := recover()
	if p == nil {
		return
	}
	if p, is := p.(callersPanic); is {
		panic(p)
	}
	s.log.Error("store cannot be used any more", "panic", panicked(p), "stack", string(debug.Stack()))
	s.trouble.mu.Lock()
	defer s.trouble.mu.Unlock()
	if s.trouble.err == nil {
		s.trouble.err = troubleError{openError(panicked(p))}
		close(s.trouble.found)
	}
	*err = s.trouble.err
}

// panicked is the reason that bbolt panicked for.
func panicked(p any) error {
	if fault, ok := p.(interface{ Addr() uintptr }); ok {
		return fmt.Errorf("what is mapped at %#x cannot be read", fault.Addr())
	}
	return fmt.Errorf("%v", p)
}

// view reads. What it calls must not keep octets of the store.
func (s *Store) view(read func(*bolt.Tx) error) (err error) {
	if err = s.Err(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer s.guard(&err)
	return s.db.View(read)
}

// update changes the store, and its tallies with it. Not db.Update, which rolls back after a panic:
// for that bbolt would read the pages at fault again, on a goroutine of its own.
func (s *Store) update(change func(*bolt.Tx) error) (err error) {
	if err = s.Err(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer s.guard(&err)
	s.updating.Lock()
	defer s.updating.Unlock()
	s.sealed = s.sealed[:0]
	tx, err := s.db.Begin(true)
	if err != nil {
		return err
	}
	before := s.tallies.copy()
	if err = change(tx); err == nil {
		err = s.tallies.write(tx)
	}
	if err == nil {
		err = tx.Commit()
	} else {
		_ = tx.Rollback()
	}
	if err != nil {
		s.tallies = before
	}
	return err
}

// closeFile unless it cannot be: then it is closed with the process.
func (s *Store) closeFile() error {
	if err := s.Err(); err != nil {
		return err
	}
	return s.db.Close()
}
