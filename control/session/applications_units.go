// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"airpath/control/apps"
	"airpath/control/filter"
	"airpath/control/store"
	"airpath/control/upfpb"
)

// propose makes changes and has every unit that is there build the set; then they are stored.
func (m *Manager) propose(changes []appChange) error {
	m.mu.Lock()
	files, managed := m.apps.book.Files, m.apps.book.Managed
	for i := range changes {
		files, managed = changes[i].change(files, managed)
	}
	next := m.apps.book.With(files, managed)
	err := m.giveIndices(next)
	list, before := next.Applications(), m.apps.book.Applications()
	old := m.apps.book.Managed
	units := m.readyUnits()
	m.mu.Unlock()
	if err != nil {
		return err
	}
	digest := apps.Digest(list)
	if digest == apps.Digest(before) { // lines of files may have moved
		m.mu.Lock()
		m.apps.book.Files, m.apps.book.Managed = files, managed
		m.mu.Unlock()
		return m.storeApplications(old, managed)
	}
	m.mu.Lock()
	generation := m.nextGeneration()
	m.mu.Unlock()
	if err := m.storeIssued(generation); err != nil {
		return err
	}
	if err := m.sendAll(units, generation, list); err != nil {
		m.takeBack(units, generation, before)
		m.log.Warn("applications stay as they are", "error", err)
		return err
	}
	m.mu.Lock()
	m.apps.book.Files, m.apps.book.Managed = files, managed
	m.apps.generation, m.apps.digest = generation, digest
	m.counts.ApplicationsChanged++
	m.mu.Unlock()
	m.log.Info("applications", "generation", generation, "applications", len(list), "units", len(units))
	return m.storeApplications(old, managed)
}

// storeIssued before a unit hears of a number: one that has the set in force when this agent is killed
// must not be taken to have another that the next agent gives the same number.
func (m *Manager) storeIssued(generation uint32) error {
	done := make(chan error, 1)
	m.store.Apply(func(err error) { done <- err }, store.PutMeta(metaIssued, uint64Bytes(uint64(generation))))
	err := <-done
	if err != nil {
		m.storeFailed(err)
		return fmt.Errorf("%w: %w", errNotStored, err)
	}
	return nil
}

// takeBack gives units that have a refused set in force the one that was there before.
func (m *Manager) takeBack(units []*unit, refused uint32, before []apps.Application) {
	m.mu.Lock()
	m.counts.ApplicationsRefused++
	fresh := m.apps.generation == 0
	if fresh {
		m.apps.generation, m.apps.digest = m.nextGeneration(), apps.Digest(before)
	}
	generation := m.apps.generation
	m.mu.Unlock()
	if fresh {
		_ = m.storeIssued(generation) // a refused set would be worse than a number given twice
	}
	if err := m.sendAll(m.having(units, refused), generation, before); err != nil {
		m.log.Error("applications as they were", "error", err)
	}
}

// storeApplications writes what differs between two layers of PFD management.
func (m *Manager) storeApplications(old, managed *apps.Layer) error {
	m.mu.Lock()
	writes := []store.Write{m.applicationsMark()}
	note := func(id string) {
		writes = append(writes, store.PutApplication(id, apps.Encode(m.apps.book.Index(id), managed.PFDs[id])))
	}
	for id, list := range managed.PFDs {
		if !slices.Equal(list, old.PFDs[id]) {
			note(id)
		}
	}
	for id := range old.PFDs {
		if len(managed.PFDs[id]) == 0 {
			note(id)
		}
	}
	m.mu.Unlock()
	done := make(chan error, 1)
	m.store.Apply(func(err error) { done <- err }, writes...)
	err := <-done
	if err != nil { // in force, but lost if this process ends
		m.storeFailed(err)
	}
	return nil
}

func (m *Manager) readyUnits() (list []*unit) {
	for _, u := range m.units {
		if u.ready {
			list = append(list, u)
		}
	}
	return list
}

// having are the units that have a set in force.
func (m *Manager) having(units []*unit, generation uint32) (list []*unit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range units {
		if u.apps.generation == generation {
			list = append(list, u)
		}
	}
	return list
}

// sendAll has units build a set, all at the same time; the error is of one that would not.
func (m *Manager) sendAll(units []*unit, generation uint32, list []apps.Application) error {
	errs := make(chan error, len(units))
	for _, u := range units {
		go func() { errs <- m.sendSet(u, generation, list) }()
	}
	var failed error
	for range units {
		if err := <-errs; err != nil && !errors.Is(err, errUnitAway) && failed == nil {
			failed = err
		}
	}
	return failed
}

// syncApplications brings a unit that connected up to date.
func (m *Manager) syncApplications(u *unit) {
	m.mu.Lock()
	generation, has := m.apps.generation, u.apps.generation
	list := m.apps.book.Applications()
	ready := u.ready
	m.mu.Unlock()
	if !ready || generation == has {
		return
	}
	if err := m.sendSet(u, generation, list); err != nil {
		m.log.Error("applications", "unit", u.name, "error", err)
	}
}

// sendSet sends a set and waits until it is in force; errUnitAway: the connection ended.
func (m *Manager) sendSet(u *unit, generation uint32, list []apps.Application) error {
	wait := make(chan *upfpb.ApplicationsDone, 1)
	m.mu.Lock()
	u.apps.wait, u.apps.waitFor = wait, generation
	m.mu.Unlock()
	refused := make(chan error, 1)
	u.client.Applications(applicationMessages(generation, list), func(err error) {
		if err != nil {
			refused <- err
		}
	})
	patience := time.NewTimer(applicationsPatience)
	defer patience.Stop()
	select {
	case err := <-refused:
		if !errors.Is(err, errUnitAway) {
			err = fmt.Errorf("forwarding unit %s: %w", u.name, err)
		}
		return err
	case d := <-wait:
		switch {
		case d == nil:
			return errUnitAway
		case d.GetError() != "":
			return m.blame(u, d, list)
		}
		return nil
	case <-patience.C:
		return fmt.Errorf("forwarding unit %s: applications are not in force after %v", u.name, applicationsPatience)
	case <-m.stop:
		return errManagerEnds
	}
}

// blame says which description a unit could not take: by file and line, if it is of one.
func (m *Manager) blame(u *unit, d *upfpb.ApplicationsDone, list []apps.Application) error {
	for i := range list {
		a := &list[i]
		if uint32(a.Index) != d.GetFailedApplication() || int(d.GetFailedPfd()) >= len(a.PFDs) {
			continue
		}
		p := a.PFDs[d.GetFailedPfd()]
		if p.Line > 0 {
			return fmt.Errorf("%s:%d: application %s: %s", m.config.ApplicationFiles[p.File], p.Line, a.ID, d.GetError())
		}
		return fmt.Errorf("application %s, PFD %q: %s", a.ID, p.Text, d.GetError())
	}
	return fmt.Errorf("forwarding unit %s: %s", u.name, d.GetError())
}

// ApplicationsDone of a unit.
func (u *unit) ApplicationsDone(d *upfpb.ApplicationsDone) {
	m := u.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if u.apps.failed = d.GetError(); u.apps.failed == "" {
		u.apps.generation, u.apps.done = d.GetGeneration(), d
	}
	if u.apps.wait != nil && u.apps.waitFor == d.GetGeneration() {
		u.apps.wait <- d
		u.apps.wait = nil
	}
}

// partMax is how much of a message one part of an application takes at most; messageFill is how
// much a message gathers.
const (
	partMax     = 48 << 10
	messageFill = 96 << 10
)

// applicationMessages of a set: at least one, as an empty set is one, too. An application whose
// descriptions are many comes in parts.
func applicationMessages(generation uint32, list []apps.Application) []*upfpb.Applications {
	m := &upfpb.Applications{Generation: generation, First: true}
	out := []*upfpb.Applications{m}
	size := 0
	put := func(part *upfpb.Application, octets int) {
		if size+octets > messageFill && size > 0 {
			m = &upfpb.Applications{Generation: generation}
			out, size = append(out, m), 0
		}
		m.Applications = append(m.Applications, part)
		size += octets
	}
	for i := range list {
		a := &list[i]
		part, octets := &upfpb.Application{Index: uint32(a.Index), Id: a.ID}, len(a.ID)+16
		for j := range a.PFDs {
			p := pfdOf(&a.PFDs[j])
			n := proto.Size(p) + 4
			if octets+n > partMax && len(part.Pfds) > 0 {
				put(part, octets)
				part, octets = &upfpb.Application{Index: uint32(a.Index), Id: a.ID}, len(a.ID)+16
			}
			part.Pfds = append(part.Pfds, p)
			octets += n
		}
		put(part, octets)
	}
	m.Last = true
	return out
}

func pfdOf(p *apps.PFD) *upfpb.Pfd {
	o := &upfpb.Pfd{Kind: upfpb.Pfd_Kind(p.Kind), Regex: p.Regex}
	if p.Kind != apps.Flow {
		o.Text = p.Text
		return o
	}
	flow, err := filter.Parse(p.Text)
	if err != nil {
		panic(err) // it was read before
	}
	o.Flow = &upfpb.Filter{Protocol: uint32(flow.Protocol)}
	o.Flow.Source, o.Flow.SourcePorts = side(&flow.Source)
	o.Flow.Destination, o.Flow.DestinationPorts = side(&flow.Destination)
	return o
}
