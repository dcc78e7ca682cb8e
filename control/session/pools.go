// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
)

// Pool is a range of UE addresses of a network instance. IPv4 addresses are given out singly,
// IPv6 as prefixes of 64 bits.
type Pool struct {
	NetworkInstance string       `yaml:"network_instance"`
	Prefix          netip.Prefix `yaml:"prefix"`
	Unit            string       `yaml:"unit"` // forwarding unit that serves it; "": any
}

const poolBitsMax = 24 // 16 million addresses

func (p Pool) freeBits() int {
	if p.Prefix.Addr().Is4() {
		return 32 - p.Prefix.Bits()
	}
	return 64 - p.Prefix.Bits()
}

// Validate says what is wrong with a pool.
func (p Pool) Validate() error {
	switch {
	case !p.Prefix.IsValid() || p.Prefix != p.Prefix.Masked() || p.Prefix.Addr().Is4In6():
		return fmt.Errorf("pool %v: not a prefix", p.Prefix)
	case p.freeBits() < 0 || p.freeBits() > poolBitsMax:
		return fmt.Errorf("pool %v: holds none, or more than 2^%d addresses", p.Prefix, poolBitsMax)
	}
	return nil
}

var (
	errOccupied = errors.New("UE address is in use")
	errNoPool   = errors.New("no pool of UE addresses for this network instance")
	errPoolFull = errors.New("every address of the pool is in use")
)

// pool knows which of its addresses are in use: one bit each. The cursor goes round, so that an
// address that was freed rests as long as there are others.
type pool struct {
	Pool
	words  []uint64
	size   uint32
	used   uint32
	kept   uint32 // of those used: that no UE ever has
	cursor uint32
}

// pools gives out and takes note of UE addresses. Addresses outside every pool, which the CP
// function chose, are unique in their network instance all the same.
type pools struct {
	list   []*pool
	others map[claimed]struct{}
}

type claimed struct {
	ni     string
	prefix netip.Prefix
}

func newPools(config []Pool) (*pools, error) {
	p := &pools{others: map[claimed]struct{}{}}
	for _, c := range config {
		if err := c.Validate(); err != nil {
			return nil, err
		}
		for _, other := range p.list {
			if other.NetworkInstance == c.NetworkInstance && other.Prefix.Overlaps(c.Prefix) {
				return nil, fmt.Errorf("pools %v and %v of network instance %q overlap", other.Prefix, c.Prefix, c.NetworkInstance)
			}
		}
		one := &pool{Pool: c, size: 1 << c.freeBits()}
		one.words = make([]uint64, (one.size+63)/64)
		if c.Prefix.Addr().Is4() && one.size > 2 { // the network's own address and its broadcast
			one.set(0, 1, true)
			one.set(one.size-1, 1, true)
			one.cursor = 1
		}
		one.kept = one.used
		p.list = append(p.list, one)
	}
	return p, nil
}

// inUse counts addresses that sessions have.
func (p *pools) inUse() uint64 {
	n := uint64(len(p.others))
	for _, one := range p.list {
		n += uint64(one.used - one.kept)
	}
	return n
}

func (p *pool) isSet(i uint32) bool { return p.words[i/64]>>(i%64)&1 != 0 }

func (p *pool) anySet(first, n uint32) bool {
	for i := first; i < first+n; i++ {
		if p.isSet(i) {
			return true
		}
	}
	return false
}

func (p *pool) set(first, n uint32, on bool) {
	for i := first; i < first+n; i++ {
		if on {
			p.words[i/64] |= 1 << (i % 64)
			p.used++
		} else {
			p.words[i/64] &^= 1 << (i % 64)
			p.used--
		}
	}
}

// index of an address that is in the pool.
func (p *pool) index(a netip.Addr) uint32 {
	if a.Is4() {
		at, base := a.As4(), p.Prefix.Addr().As4()
		return binary.BigEndian.Uint32(at[:]) - binary.BigEndian.Uint32(base[:])
	}
	at, base := a.As16(), p.Prefix.Addr().As16()
	return uint32(binary.BigEndian.Uint64(at[:]) - binary.BigEndian.Uint64(base[:]))
}

func (p *pool) address(i uint32) netip.Addr {
	if p.Prefix.Addr().Is4() {
		a := p.Prefix.Addr().As4()
		binary.BigEndian.PutUint32(a[:], binary.BigEndian.Uint32(a[:])+i)
		return netip.AddrFrom4(a)
	}
	a := p.Prefix.Addr().As16()
	binary.BigEndian.PutUint64(a[:], binary.BigEndian.Uint64(a[:])+uint64(i))
	return netip.AddrFrom16(a)
}

// find looks for a free address from the cursor on.
func (p *pool) find() (uint32, bool) {
	if p.used >= p.size {
		return 0, false
	}
	n := uint32(len(p.words))
	for k := uint32(0); k <= n; k++ {
		w := (p.cursor/64 + k) % n
		free := ^p.words[w]
		if k == 0 {
			free &= ^uint64(0) << (p.cursor % 64)
		}
		for free != 0 {
			i := w*64 + uint32(bits.TrailingZeros64(free))
			if i < p.size {
				return i, true
			}
			free &= free - 1
		}
	}
	return 0, false
}

// of finds the pool of a prefix, and how many of its units the prefix covers.
func (p *pools) of(ni string, prefix netip.Prefix) (*pool, uint32, uint32) {
	for _, one := range p.list {
		if one.NetworkInstance != ni || one.Prefix.Addr().Is4() != prefix.Addr().Is4() ||
			!one.Prefix.Contains(prefix.Addr()) || prefix.Bits() < one.Prefix.Bits() {
			continue
		}
		n := uint32(1)
		if unit := 64; !prefix.Addr().Is4() && prefix.Bits() < unit {
			n = 1 << (unit - prefix.Bits())
		}
		return one, one.index(prefix.Addr()), n
	}
	return nil, 0, 0
}

// claim takes an address, or all of a prefix, that the CP function chose.
func (p *pools) claim(ni string, prefix netip.Prefix) error {
	prefix = prefix.Masked()
	one, first, n := p.of(ni, prefix)
	if one == nil {
		key := claimed{ni, prefix}
		if _, taken := p.others[key]; taken {
			return errOccupied
		}
		p.others[key] = struct{}{}
		return nil
	}
	if one.anySet(first, n) {
		return errOccupied
	}
	one.set(first, n, true)
	return nil
}

func (p *pools) free(ni string, prefix netip.Prefix) {
	prefix = prefix.Masked()
	one, first, n := p.of(ni, prefix)
	if one == nil {
		delete(p.others, claimed{ni, prefix})
		return
	}
	if one.anySet(first, n) {
		one.set(first, n, false)
	}
}

// alloc gives out an address of a pool of the network instance that `unit` may serve ("": any).
func (p *pools) alloc(ni string, v6 bool, unit string) (netip.Prefix, error) {
	err := errNoPool
	for _, one := range p.list {
		if one.NetworkInstance != ni || one.Prefix.Addr().Is4() == v6 ||
			(one.Unit != "" && unit != "" && one.Unit != unit) {
			continue
		}
		i, ok := one.find()
		if !ok {
			err = errPoolFull
			continue
		}
		one.set(i, 1, true)
		one.cursor = (i + 1) % one.size
		a := one.address(i)
		if v6 {
			return netip.PrefixFrom(a, 64), nil
		}
		return netip.PrefixFrom(a, 32), nil
	}
	return netip.Prefix{}, err
}

// unitOf names the unit that has to serve an address; "": any.
func (p *pools) unitOf(ni string, prefix netip.Prefix) string {
	if one, _, _ := p.of(ni, prefix.Masked()); one != nil {
		return one.Unit
	}
	return ""
}

// unitToChoose names the unit of the first pool that could give an address; "": any.
func (p *pools) unitToChoose(ni string, v6 bool) string {
	for _, one := range p.list {
		if one.NetworkInstance == ni && one.Prefix.Addr().Is4() != v6 && one.used < one.size {
			return one.Unit
		}
	}
	return ""
}
