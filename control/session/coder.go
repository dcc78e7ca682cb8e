// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// coder writes or reads a record, by one description of it for both: what is written in one
// order is read in the same. Numbers are varints; something optional has an octet before it.
type coder struct {
	b       []byte
	reading bool
	version uint64 // of a session's record
	err     error
}

var errRecord = errors.New("record is cut short or not of this version")

func (c *coder) fail() {
	c.err = errRecord
	c.b = nil
}

func (c *coder) number(v uint64) uint64 {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, v)
		return v
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return v
}

type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

func num[T unsigned](c *coder, p *T) { *p = T(c.number(uint64(*p))) }

func flag(c *coder, p *bool) {
	var v uint64
	if *p {
		v = 1
	}
	*p = c.number(v) != 0
}

func octets(c *coder, p *[]byte) {
	n := c.number(uint64(len(*p)))
	if !c.reading {
		c.b = append(c.b, *p...)
		return
	}
	if n > uint64(len(c.b)) {
		c.fail()
		return
	}
	*p = nil
	if n > 0 {
		*p = append([]byte(nil), c.b[:n]...)
	}
	c.b = c.b[n:]
}

func text(c *coder, p *string) {
	n := c.number(uint64(len(*p)))
	if !c.reading {
		c.b = append(c.b, *p...)
		return
	}
	if n > uint64(len(c.b)) {
		c.fail()
		return
	}
	*p = string(c.b[:n])
	c.b = c.b[n:]
}

func addr(c *coder, p *netip.Addr) {
	var n uint64
	if p.IsValid() {
		n = uint64(p.BitLen() / 8)
	}
	if n = c.number(n); !c.reading {
		c.b = append(c.b, p.AsSlice()...)
		return
	}
	*p = netip.Addr{}
	if n == 0 || c.err != nil {
		return
	}
	if n > uint64(len(c.b)) {
		c.fail()
		return
	}
	a, ok := netip.AddrFromSlice(c.b[:n])
	if !ok {
		c.fail()
		return
	}
	*p, c.b = a, c.b[n:]
}

// opt is a pointer that may be nil.
func opt[T any](c *coder, p **T, value func(*coder, *T)) {
	there := *p != nil
	flag(c, &there)
	if !there {
		return
	}
	if c.reading {
		*p = new(T)
	}
	value(c, *p)
}

// list is a slice; nil and empty are the same.
func list[T any](c *coder, p *[]T, value func(*coder, *T)) {
	n := c.number(uint64(len(*p)))
	if c.reading {
		if n > uint64(len(c.b)) { // an element has an octet at least
			c.fail()
			return
		}
		*p = nil
		if n > 0 {
			*p = make([]T, n)
		}
	}
	for i := range *p {
		value(c, &(*p)[i])
	}
}
