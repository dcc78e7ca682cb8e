// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"net/netip"
	"sync"
	"time"

	"airpath/control/pfcp"
)

// requests are ours that wait for a response, §6.4: sent again each T1 while "the total number of
// retry attempts is less than N1", so N1 times beside the first.
type requests struct {
	mu       sync.Mutex
	waiting  map[requestKey]*request
	sequence uint32
	closed   bool
}

type requestKey struct {
	peer     netip.AddrPort
	sequence uint32
}

type request struct {
	wire     []byte
	response uint8
	repeats  int
	timer    *time.Timer
	sent     time.Time
	// done gets the response's IEs, once; ok is false when none came.
	done func(body []byte, ok bool)
}

// newRequests begins at a sequence number that the run before is not likely to have used lately:
// peers have caches, too.
func newRequests(now time.Time) *requests {
	return &requests{waiting: map[requestKey]*request{}, sequence: uint32(now.UnixMilli()) & 0xffffff}
}

// send writes a request with encode and sends it until it is answered.
func (s *socket) send(to netip.AddrPort, encode func(sequence uint32) []byte, done func(body []byte, ok bool)) {
	r := s.requests
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		done(nil, false)
		return
	}
	r.sequence = (r.sequence + 1) & 0xffffff
	k := requestKey{to, r.sequence}
	q := &request{wire: encode(k.sequence), done: done, sent: time.Now()}
	q.response = q.wire[1] + 1
	r.waiting[k] = q
	q.timer = time.AfterFunc(s.server.cfg.T1, func() { s.again(k, q) })
	r.mu.Unlock()
	s.write(q.wire, to)
}

// again sends a request once more or gives it up.
func (s *socket) again(k requestKey, q *request) {
	r := s.requests
	r.mu.Lock()
	if r.waiting[k] != q {
		r.mu.Unlock()
		return
	}
	if q.repeats >= s.server.cfg.N1 {
		delete(r.waiting, k)
		r.mu.Unlock()
		s.server.metrics.unanswered.WithLabelValues(pfcp.Name(q.response - 1)).Inc()
		q.done(nil, false)
		return
	}
	q.repeats++
	q.timer.Reset(s.server.cfg.T1)
	r.mu.Unlock()
	s.server.metrics.retransmissions.WithLabelValues("sent").Inc()
	s.write(q.wire, k.peer)
}

// response hands a response to the request it answers; false: there is none.
func (s *socket) response(from netip.AddrPort, h pfcp.Header, body []byte) bool {
	r := s.requests
	k := requestKey{from, h.Sequence}
	r.mu.Lock()
	q := r.waiting[k]
	if q == nil || q.response != h.Type {
		r.mu.Unlock()
		return false
	}
	delete(r.waiting, k)
	q.timer.Stop()
	r.mu.Unlock()
	s.server.metrics.answered(q.response-1, time.Since(q.sent))
	q.done(body, true)
	return true
}

// close gives all requests up.
func (r *requests) close() {
	r.mu.Lock()
	waiting := r.waiting
	r.waiting, r.closed = map[requestKey]*request{}, true
	r.mu.Unlock()
	for _, q := range waiting {
		q.timer.Stop()
		q.done(nil, false)
	}
}
