// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"slices"
	"sync"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"
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
	digest uint64       // of the request's octets
	node   rules.NodeID // of the CP function; zero: not known
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

// digest of a request, never 0. Kept with answers, it is the same in each run of the agent.
func digest(body []byte, seid uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, seid))
	_, _ = h.Write(body)
	return max(1, h.Sum64())
}

// begin returns the exchange of a request. Not fresh, the request was seen before, and wire is
// what was answered, nil while it is being worked on.
func (c *cache) begin(k exchangeKey, digest uint64, now time.Time) (x *exchange, wire []byte, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(now)
	for _, g := range c.generations {
		if x := g[k]; x != nil {
			if x.digest == digest {
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

func (c *cache) finish(x *exchange, node rules.NodeID, wire []byte) {
	c.mu.Lock()
	x.node, x.wire = node, wire
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

// forgetPeer forgets what a CP function, or who is not known at its addresses, asked for: begun
// anew, it is at the first sequence numbers again, and the answers are of sessions that are gone.
// Set-ups stay: that of another run has another Recovery Time Stamp, and a late one of this run
// must not be done again.
func (c *cache) forgetPeer(node rules.NodeID, at ...netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.generations {
		for k, x := range g {
			if k.messageType == pfcp.AssociationSetupRequest {
				continue
			}
			if x.node == node || x.node == (rules.NodeID{}) && slices.Contains(at, k.peer.Addr()) {
				delete(g, k)
			}
		}
	}
}
