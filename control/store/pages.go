// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// bbolt maps its file and trusts what it finds there: a page that cannot be ends the process, by a
// signal or by a panic on a goroutine of its own. So the file is read here first, by no more than its
// octets, and has to be what bbolt would have written: both meta pages whole, each page of the trees
// referred to once, its elements within it and one behind the other, its keys in order and between those
// of the branches above.
// Of values, see seal.go.
//
// The file is as bbolt's internal/common has it, in the machine's own byte order. A page begins with
// its id (8 octets), flags (2), count of elements (2) and number of pages that continue it (4). Meta
// pages go on with magic, version, page size, flags (4 each), the root bucket's page and sequence,
// the freelist's page, the number of pages, the transaction and FNV-1a of all that (8 each).
// Elements of a branch are position, key size (4 each), page (8); of a leaf flags, position, key size,
// value size (4 each): positions count from the element, and the value follows its key.

const (
	pageHead    = 16
	metaSize    = 64
	elementSize = 16
	bucketHead  = 16 // of a bucket's value: root page, 0: the page follows; sequence

	branchPage   = 1
	leafPage     = 2
	freelistPage = 16
	bucketValue  = 1 // flag of a leaf element

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)

	pageSizeMax = 1 << 20
)

var native = binary.NativeEndian

type boltMeta struct{ pageSize, root, freelist, pages, transaction uint64 }

func readMeta(b []byte) (m boltMeta, err error) {
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	switch {
	case native.Uint32(b) != boltMagic || native.Uint32(b[4:]) != boltVersion:
		return m, errors.New("not a meta page")
	case native.Uint64(b[metaSize-8:]) != sum.Sum64():
		return m, errors.New("sum of a meta page does not hold")
	}
	return boltMeta{uint64(native.Uint32(b[8:])), native.Uint64(b[16:]), native.Uint64(b[32:]), native.Uint64(b[40:]), native.Uint64(b[48:])}, nil
}

// pages is the walk through a file.
type pages struct {
	file    io.ReaderAt
	meta    boltMeta
	seen    []bool
	buffers [][]byte // by depth
}

// checkPages says what is wrong with a file of so many octets.
func checkPages(file io.ReaderAt, size int64) error {
	c := pages{file: file}
	for i := range uint64(2) {
		head := make([]byte, pageHead+metaSize)
		if _, err := file.ReadAt(head, int64(i*c.meta.pageSize)); err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
		m, err := readMeta(head[pageHead:])
		switch {
		case err != nil:
			return fmt.Errorf("page %d: %w", i, err)
		case m.pageSize < 512 || m.pageSize > pageSizeMax || i == 1 && m.pageSize != c.meta.pageSize:
			return fmt.Errorf("page %d: pages of %d octets", i, m.pageSize)
		case i == 0 || m.transaction > c.meta.transaction:
			c.meta = m
		}
	}
	if c.meta.pages > uint64(size)/c.meta.pageSize {
		return fmt.Errorf("cut short: %d octets of %d pages of %d", size, c.meta.pages, c.meta.pageSize)
	}
	c.seen = make([]bool, c.meta.pages)
	if err := c.tree(c.meta.root, 0, true, nil, nil); err != nil {
		return err
	}
	return c.freelist()
}

// page reads one, with those that continue it, and notes that it is in use.
func (c *pages) page(id uint64, depth int) ([]byte, error) {
	if id < 2 || id >= c.meta.pages {
		return nil, fmt.Errorf("page %d is not one of %d", id, c.meta.pages)
	}
	for len(c.buffers) <= depth {
		c.buffers = append(c.buffers, make([]byte, c.meta.pageSize))
	}
	b := c.buffers[depth]
	at := int64(id * c.meta.pageSize)
	if _, err := c.file.ReadAt(b[:c.meta.pageSize], at); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	more := uint64(native.Uint32(b[12:]))
	if native.Uint64(b) != id || more >= c.meta.pages-id {
		return nil, fmt.Errorf("page %d says it is page %d and %d more", id, native.Uint64(b), more)
	}
	for i := id; i <= id+more; i++ {
		if c.seen[i] {
			return nil, fmt.Errorf("page %d is there twice", i)
		}
		c.seen[i] = true
	}
	n := (more + 1) * c.meta.pageSize
	if n > uint64(len(b)) {
		b = make([]byte, n)
		c.buffers[depth] = b
	}
	if more > 0 {
		if _, err := c.file.ReadAt(b[:n], at); err != nil {
			return nil, fmt.Errorf("page %d: %w", id, err)
		}
	}
	return b[:n], nil
}

// tree looks at a page and those below. Keys are at least `from` and below `to`, where these are not nil.
func (c *pages) tree(id uint64, depth int, root bool, from, to []byte) error {
	p, err := c.page(id, depth)
	if err != nil {
		return err
	}
	switch native.Uint16(p[8:]) {
	case leafPage:
		err = c.leaf(p, depth, root, from, to)
	case branchPage:
		err = c.branch(p, depth, root, from, to)
	default:
		err = fmt.Errorf("has type %#x", native.Uint16(p[8:]))
	}
	if err != nil && !errors.As(err, new(*pageError)) {
		err = &pageError{id, err}
	}
	return err
}

// pageError names the page at fault.
type pageError struct {
	id  uint64
	err error
}

func (e *pageError) Error() string { return fmt.Sprintf("page %d: %v", e.id, e.err) }
func (e *pageError) Unwrap() error { return e.err }

// element gives key and value of element i, and where its key begins.
func element(p []byte, i int, leaf bool) (key, value []byte, first uint64, err error) {
	base := pageHead + i*elementSize
	at, valueSize := base, uint64(0)
	if leaf {
		at += 4
		valueSize = uint64(native.Uint32(p[at+8:]))
	}
	first = uint64(base) + uint64(native.Uint32(p[at:]))
	middle := first + uint64(native.Uint32(p[at+4:]))
	last := middle + valueSize
	if last > uint64(len(p)) || first < uint64(base+elementSize) {
		return nil, nil, 0, fmt.Errorf("element %d is not within", i)
	}
	return p[first:middle], p[middle:last], first, nil
}

// keys yields the elements of a page, in the order that their keys have to have.
func keys(p []byte, leaf bool, from, to []byte, yield func(i int, key, value []byte) error) error {
	count := int(native.Uint16(p[10:]))
	if pageHead+count*elementSize > len(p) {
		return fmt.Errorf("%d elements in %d octets", count, len(p))
	}
	last := from
	var next uint64
	for i := range count {
		key, value, first, err := element(p, i, leaf)
		if err != nil {
			return err
		}
		if i > 0 && first != next {
			return fmt.Errorf("element %d begins at octet %d, not %d", i, first, next)
		}
		next = first + uint64(len(key)+len(value))
		order := bytes.Compare(last, key)
		if last != nil && (order > 0 || order == 0 && i > 0) || to != nil && bytes.Compare(key, to) >= 0 {
			return fmt.Errorf("key %d is out of order", i)
		}
		last = key
		if err := yield(i, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (c *pages) branch(p []byte, depth int, root bool, from, to []byte) error {
	count := int(native.Uint16(p[10:]))
	if count == 0 {
		return errors.New("branch without a page")
	}
	return keys(p, false, from, to, func(i int, key, _ []byte) error {
		next := to
		if i+1 < count {
			var err error
			if next, _, _, err = element(p, i+1, false); err != nil {
				return err
			}
		}
		return c.tree(native.Uint64(p[pageHead+i*elementSize+8:]), depth+1, root, key, next)
	})
}

// leaf has buckets alone where it is the root's, and none elsewhere.
func (c *pages) leaf(p []byte, depth int, root bool, from, to []byte) error {
	return keys(p, true, from, to, func(i int, key, value []byte) error {
		flags := native.Uint32(p[pageHead+i*elementSize:])
		switch {
		case !root && flags != 0, root && flags != bucketValue:
			return fmt.Errorf("element %d has flags %#x", i, flags)
		case !root:
			return nil
		case len(value) < bucketHead:
			return fmt.Errorf("bucket %q has %d octets", key, len(value))
		}
		if id := native.Uint64(value); id != 0 {
			return c.tree(id, depth+1, false, nil, nil)
		}
		inline := value[bucketHead:]
		if len(inline) < pageHead || native.Uint16(inline[8:]) != leafPage || native.Uint32(inline[12:]) != 0 {
			return fmt.Errorf("bucket %q has no page", key)
		}
		return c.leaf(inline, depth, false, nil, nil)
	})
}

// freelist is what other programs leave: the store keeps none.
func (c *pages) freelist() error {
	if c.meta.freelist == noFreelist {
		return nil
	}
	p, err := c.page(c.meta.freelist, 0)
	if err != nil {
		return err
	}
	count, at := uint64(native.Uint16(p[10:])), uint64(pageHead)
	if count == 0xffff {
		count, at = native.Uint64(p[at:]), at+8
	}
	if native.Uint16(p[8:]) != freelistPage || count > (uint64(len(p))-at)/8 {
		return &pageError{c.meta.freelist, errors.New("is no list of free pages")}
	}
	for i := range count {
		id := native.Uint64(p[at+8*i:])
		if id < 2 || id >= c.meta.pages || c.seen[id] {
			return &pageError{c.meta.freelist, fmt.Errorf("page %d is not free", id)}
		}
		c.seen[id] = true
	}
	return nil
}
