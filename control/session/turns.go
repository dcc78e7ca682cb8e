// SPDX-License-Identifier: BSD-3-Clause
package session

// start does fn, under the mutex, when nothing else is under way for the session. fn ends by
// finish; what it returns is called without the mutex.
func (m *Manager) start(s *session, fn func() func()) func() {
	if s.busy {
		if s.queue == nil {
			s.queue = new([]func())
		}
		*s.queue = append(*s.queue, func() {
			m.mu.Lock()
			after := fn()
			m.mu.Unlock()
			after()
		})
		return func() {}
	}
	s.busy = true
	return fn()
}

// finish lets the next one begin; the mutex is free.
func (m *Manager) finish(s *session) {
	m.mu.Lock()
	s.draft = nil
	var next func()
	if s.queue == nil {
		s.busy = false
	} else {
		next = (*s.queue)[0]
		if *s.queue = (*s.queue)[1:]; len(*s.queue) == 0 {
			s.queue = nil
		}
	}
	m.mu.Unlock()
	if next != nil {
		next()
	}
}

// drop takes a session out of memory.
func (m *Manager) drop(s *session) {
	if m.sessions[s.seid] == s {
		delete(m.sessions, s.seid)
		m.leave(s)
	}
	s.record = nil
}
