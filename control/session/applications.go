// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"fmt"
	"time"

	"airpath/control/apps"
	"airpath/control/dataplane"
	"airpath/control/rules"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// applications is what the manager has of them. A change is proposed to every forwarding unit that
// is there; when all have it in force it is stored and counts, and when one refuses it nothing
// changed. One goroutine does one change after the other; what comes meanwhile is the next one.
// Guarded by the manager's mutex.
type applications struct {
	book       *apps.Book
	generation uint32 // of the set in force; 0: there has never been one
	issued     uint32 // the last number given to a set, in force or refused
	digest     uint64
	changes    []appChange
	syncs      []*unit
	wake       chan struct{}
}

// appChange makes other layers of those there are, without touching these.
type appChange struct {
	change func(files, managed *apps.Layer) (*apps.Layer, *apps.Layer)
	done   func(error)
}

// unitApps is what a forwarding unit said of its set.
type unitApps struct {
	generation uint32                       // in force; 0: none
	done       *upfpb.ApplicationsDone      // of that; nil: another agent's
	failed     string                       // why the set sent last is not in force; "": it is
	wait       chan *upfpb.ApplicationsDone // of the set under way
	waitFor    uint32
}

// applicationsPatience is how long a set may take to be built.
const applicationsPatience = 2 * time.Minute

const (
	metaApplications = "applications"
	metaIssued       = "applications-issued"
)

// loadApplications brings back what PFD management said, the indices given, and reads the files.
func (m *Manager) loadApplications() error {
	m.apps.book, m.apps.wake = apps.NewBook(), make(chan struct{}, 1)
	err := m.store.Applications(func(id string, record []byte) error {
		index, list, err := apps.Decode(record)
		if err != nil {
			return fmt.Errorf("application %s: %w", id, err)
		}
		m.apps.book.Adopt(id, index)
		if len(list) > 0 {
			m.apps.book.Managed.Put(id, list)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if m.apps.book.Files, err = apps.LoadFiles(m.config.ApplicationFiles); err != nil {
		return err
	}
	if err = m.giveIndices(m.apps.book); err != nil {
		return err
	}
	if b := m.store.Meta(metaApplications); len(b) == 16 {
		m.apps.generation, m.apps.digest = uint32(readUint64(b)), readUint64(b[8:])
	}
	m.apps.issued = uint32(readUint64(m.store.Meta(metaIssued)))
	list := m.apps.book.Applications()
	// A number that was issued is in force somewhere, if the agent before was killed then.
	if digest := apps.Digest(list); m.apps.generation == 0 && (len(list) > 0 || m.apps.issued > 0) || m.apps.generation != 0 && digest != m.apps.digest {
		m.apps.generation, m.apps.digest = m.nextGeneration(), digest
		m.store.Apply(nil, m.applicationsMark())
	}
	return nil
}

// nextGeneration: the first one is not likely to be one that a unit has of another store's agent.
func (m *Manager) nextGeneration() uint32 {
	m.apps.issued = max(m.apps.issued, m.apps.generation)
	if m.apps.issued == 0 {
		m.apps.issued = uint32(m.now().Unix())
	}
	m.apps.issued++
	return m.apps.issued
}

func (m *Manager) applicationsMark() store.Write {
	return store.PutMeta(metaApplications, uint64Bytes(uint64(m.apps.generation), m.apps.digest))
}

// giveIndices to all of a book that have none. Called under the mutex, or before there are others.
func (m *Manager) giveIndices(book *apps.Book) error {
	for _, id := range book.Ids() {
		if book.Index(id) != 0 {
			continue
		}
		if err := m.giveIndex(book, id); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manager) giveIndex(book *apps.Book, id string) error {
	index, fresh, err := book.Give(id, m.applicationsInUse)
	if err != nil {
		return fmt.Errorf("application %s: %w", id, err)
	}
	if fresh {
		m.store.Apply(nil, store.PutApplication(id, apps.Encode(index, m.apps.book.Managed.PFDs[id])))
	}
	return nil
}

// applicationsInUse by sessions. Only where no index is left.
func (m *Manager) applicationsInUse() map[string]bool {
	used := map[string]bool{}
	note := func(st *state) {
		for i := range st.pdrs {
			if a := st.pdrs[i].PDI.ApplicationID; a != nil {
				used[*a] = true
			}
		}
	}
	for _, s := range m.sessions {
		if s.record != nil {
			note(mustDecode(s.record))
		}
		if s.draft != nil {
			note(s.draft.st)
		}
	}
	for i := range m.config.Predefined {
		for j := range m.config.Predefined[i].Rules {
			used[m.config.Predefined[i].Rules[j].Application] = true
		}
	}
	return used
}

// indexOf an application a PDR names. One without descriptions has an index that nothing matches:
// index 0 would match everything. Called under the mutex.
func (m *Manager) indexOf(id string) (uint32, error) {
	if index := m.apps.book.Index(id); index != 0 {
		return uint32(index), nil
	}
	if err := m.giveIndex(m.apps.book, id); err != nil {
		return 0, err
	}
	return uint32(m.apps.book.Index(id)), nil
}

// ManagePFDs does a PFD Management Request, §6.2.5.
func (m *Manager) ManagePFDs(r *rules.PFDRequest, done func(rules.PFDAnswer)) {
	type put struct {
		id   string
		list []apps.PFD
	}
	var puts []put
	for i := range r.Applications {
		list, err := apps.FromRequest(&r.Applications[i])
		var wrong *apps.Refusal
		if errors.As(err, &wrong) {
			done(rules.PFDAnswer{Cause: wrong.Cause, OffendingIE: wrong.IE, Reason: wrong.Reason})
			return
		}
		puts = append(puts, put{r.Applications[i].ID, list})
	}
	change := func(files, managed *apps.Layer) (*apps.Layer, *apps.Layer) {
		if len(puts) == 0 {
			return files, apps.NewLayer()
		}
		next := managed.Clone()
		for _, p := range puts {
			next.Put(p.id, p.list)
		}
		return files, next
	}
	m.changeApplications(change, func(err error) {
		switch {
		case err == nil:
			done(rules.PFDAnswer{Cause: rules.CauseAccepted})
		case errors.Is(err, apps.ErrFull):
			done(rules.PFDAnswer{Cause: rules.CauseNoResources, Reason: err.Error()})
		case errors.Is(err, errManagerEnds), errors.Is(err, errNotStored):
			done(rules.PFDAnswer{Cause: rules.CauseSystemFailure, Reason: err.Error()})
		default:
			done(rules.PFDAnswer{Cause: rules.CauseRejected, OffendingIE: rules.IEPFDContents, Reason: err.Error()})
		}
	})
}

// LoadApplications reads the application files again. Whatever is wrong leaves what is in force.
func (m *Manager) LoadApplications() error {
	files, err := apps.LoadFiles(m.config.ApplicationFiles)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	m.changeApplications(func(_, managed *apps.Layer) (*apps.Layer, *apps.Layer) { return files, managed },
		func(err error) { done <- err })
	return <-done
}

func (m *Manager) changeApplications(change func(files, managed *apps.Layer) (*apps.Layer, *apps.Layer), done func(error)) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		done(errManagerEnds)
		return
	}
	m.apps.changes = append(m.apps.changes, appChange{change, done})
	m.mu.Unlock()
	m.apps.kick()
}

func (a *applications) kick() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

var (
	errManagerEnds = errors.New("the agent ends")
	errNotStored   = errors.New("store failed")
)

// applicationsLoop does changes and brings units up to date that connected.
func (m *Manager) applicationsLoop() {
	defer m.wait.Done()
	for {
		select {
		case <-m.stop:
			m.mu.Lock()
			left := m.apps.changes
			m.apps.changes = nil
			m.mu.Unlock()
			for _, c := range left {
				c.done(errManagerEnds)
			}
			return
		case <-m.apps.wake:
		}
		m.mu.Lock()
		changes, syncs := m.apps.changes, m.apps.syncs
		m.apps.changes, m.apps.syncs = nil, nil
		m.mu.Unlock()
		for _, u := range syncs {
			m.syncApplications(u)
		}
		if len(changes) > 0 {
			m.doChanges(changes)
		}
	}
}

// doChanges all at once; where that fails, one by one, so that each has its own fate.
func (m *Manager) doChanges(changes []appChange) {
	err := m.propose(changes)
	if err != nil && len(changes) > 1 && !errors.Is(err, errManagerEnds) {
		for i := range changes {
			changes[i].done(m.propose(changes[i : i+1]))
		}
		return
	}
	for i := range changes {
		changes[i].done(err)
	}
}

// errUnitAway: the unit's connection ended; it is brought up to date when it is back.
var errUnitAway = dataplane.ErrDisconnected
