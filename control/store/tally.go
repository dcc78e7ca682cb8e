// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Each commit says how many values each bucket has, and the sum of their seals: values that a damaged
// page does not name any more, and a page of a former commit in place of the last, would be missed by
// nobody otherwise.

var keyTallies = []byte("tallies")

func isTallies(bucket, key []byte) bool {
	return bytes.Equal(bucket, bucketMeta) && bytes.Equal(key, keyTallies)
}

type tally struct {
	values uint64
	sum    uint64 // of seals
}

func sealOf(sealed []byte) uint64 {
	return uint64(binary.BigEndian.Uint32(sealed[len(sealed)-sealOctets:]))
}

func (t *tally) add(sealed []byte) {
	t.values++
	t.sum += sealOf(sealed)
}

// take out what was there, nil: nothing.
func (t *tally) take(sealed []byte) {
	if sealed != nil {
		t.values--
		t.sum -= sealOf(sealed)
	}
}

// check what was found of a bucket against what was written. Where values are damaged their number
// has to be right.
func (t *tally) check(bucket []byte, found tally, damaged bool) error {
	switch {
	case found.values != t.values:
		return fmt.Errorf("%d %s of %d are there", found.values, bucket, t.values)
	case found.sum != t.sum && !damaged:
		return fmt.Errorf("%s are not those written last", bucket)
	}
	return nil
}

// tallies by the buckets' names.
type tallies map[string]*tally

func newTallies() tallies {
	t := tallies{}
	for _, name := range buckets {
		t[string(name)] = &tally{}
	}
	return t
}

func (t tallies) of(bucket []byte) *tally { return t[string(bucket)] }

func (t tallies) copy() tallies {
	c := newTallies()
	for name, one := range t {
		*c[name] = *one
	}
	return c
}

// encode them with the transaction they are of and the number of the last charging record, which
// bbolt keeps and does not sum.
func (t tallies) encode(b []byte, transaction, record uint64) []byte {
	b = binary.BigEndian.AppendUint64(b, transaction)
	b = binary.BigEndian.AppendUint64(b, record)
	for _, name := range buckets {
		one := t.of(name)
		b = binary.BigEndian.AppendUint64(b, one.values)
		b = binary.BigEndian.AppendUint64(b, one.sum)
	}
	return b
}

// write them at the end of a transaction, unsealed values included: they are sealed, too, and not
// counted themselves.
func (t tallies) write(tx *bolt.Tx) error {
	value := t.encode(nil, uint64(tx.ID()), tx.Bucket(bucketCharging).Sequence())
	return tx.Bucket(bucketMeta).Put(keyTallies, appendSealed(nil, bucketMeta, keyTallies, value))
}

// readTallies of the last commit; nil: a former version's store has none, or they are damaged.
func readTallies(tx *bolt.Tx, former bool) (t tallies, damaged bool, err error) {
	stored := tx.Bucket(bucketMeta).Get(keyTallies)
	switch {
	case former:
		return nil, false, nil
	case stored == nil:
		return nil, false, fmt.Errorf("%s are missing", keyTallies)
	}
	b, ok := unseal(bucketMeta, keyTallies, stored)
	if !ok {
		return nil, true, nil
	}
	if len(b) != 16*(1+len(buckets)) {
		return nil, false, fmt.Errorf("%s of %d octets", keyTallies, len(b))
	}
	word := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	last := uint64(tx.ID()) - 1
	switch {
	case word(0) < last:
		return nil, false, fmt.Errorf("%s are of commit %d, not %d: an older version of the agent wrote it since, or a page is of a former commit", keyTallies, word(0), last)
	case word(0) != last:
		return nil, false, fmt.Errorf("%s are of commit %d, not %d", keyTallies, word(0), last)
	}
	if record := tx.Bucket(bucketCharging).Sequence(); word(1) != record {
		return nil, false, fmt.Errorf("%d charging records were made, not %d", word(1), record)
	}
	t = newTallies()
	for i, name := range buckets {
		*t.of(name) = tally{word(2 + 2*i), word(3 + 2*i)}
	}
	return t, false, nil
}
