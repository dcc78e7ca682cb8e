// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// A cache keeps what was answered to which request, so that a request that comes again gets the
// same octets again, §6.4. It has to be the same request: a peer that began anew may be at the
// same sequence numbers again. Entries age in generations: one is dropped as a whole, none by itself.
type cache struct {
	mu          sync.Mutex
	generations [cacheGenerations]map[exchangeKey]*exchange // the youngest first
	born        time.Time                                   // of the youngest
	age         time.Duration                               // of a generation
}

const (
	cacheGenerations = 4
	// cacheEntries of a generation: beyond that it is a flood and forgotten sooner.
	cacheEntries = 1 << 18
)

// exchangeKey tells requests apart, §6.4: sequence numbers are unique between an address and port
// of a peer and one of ours.
type exchangeKey struct {
	peer        netip.AddrPort
	sequence    uint32
	messageType uint8
}

// exchange is a request that came and the response to it; nil: still being worked on.
type exchange struct {
	digest uint64 // of the request's octets; 0: not known
	wire   []byte
}

// newCache keeps answers for ttl at least.
func newCache(ttl time.Duration, now time.Time) *cache {
	c := &cache{born: now, age: ttl / (cacheGenerations - 1)}
	for i := range c.generations {
		c.generations[i] = map[exchangeKey]*exchange{}
	}
	return c
}

// digestSeed is that of digests of requests.
var digestSeed = maphash.MakeSeed()

func digest(request []byte) uint64 { return maphash.Bytes(digestSeed, request) | 1 }

// begin returns the exchange of a request. Not fresh, the request was seen before, and wire is
// what was answered, nil while it is being worked on.
func (c *cache) begin(k exchangeKey, digest uint64, now time.Time) (x *exchange, wire []byte, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(now)
	for _, g := range c.generations {
		if x := g[k]; x != nil {
			if x.digest == digest || x.digest == 0 {
				return x, x.wire, false
			}
			break
		}
	}
	x = &exchange{digest: digest}
	c.generations[0][k] = x
	return x, nil, true
}

// turn drops what is too old.
func (c *cache) turn(now time.Time) {
	generations := min(int(now.Sub(c.born)/c.age), cacheGenerations)
	c.born = c.born.Add(time.Duration(generations) * c.age)
	switch {
	case generations == cacheGenerations:
		c.born = now
	case generations == 0 && len(c.generations[0]) >= cacheEntries:
		generations = 1
	}
	for range generations {
		copy(c.generations[1:], c.generations[:])
		c.generations[0] = make(map[exchangeKey]*exchange, len(c.generations[1]))
	}
}

func (c *cache) finish(x *exchange, wire []byte) {
	c.mu.Lock()
	x.wire = wire
	c.mu.Unlock()
}

// forget a request that is not to be answered: sent again, it is a new one.
func (c *cache) forget(k exchangeKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.generations {
		delete(g, k)
	}
}
