// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Each value ends with a CRC32C of its bucket, key and octets: bbolt sums its meta pages alone. One
// that does not hold is left out, named in the log and counted; whoever it was of is unknown then,
// and never taken for somebody else.

const sealOctets = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// keyFormat says that values are sealed: former versions' are not.
var keyFormat = []byte("format")

var formatSealed = []byte{1}

func sum(bucket, key, value []byte) uint32 {
	c := crc32.Update(0, castagnoli, bucket)
	c = crc32.Update(c, castagnoli, []byte{byte(len(key))})
	c = crc32.Update(c, castagnoli, key)
	return crc32.Update(c, castagnoli, value)
}

// appendSealed appends a value as the file has it.
func appendSealed(b, bucket, key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(append(b, value...), sum(bucket, key, value))
}

// unseal gives a value without its seal; ok is false where that does not hold.
func unseal(bucket, key, sealed []byte) (value []byte, ok bool) {
	n := len(sealed) - sealOctets
	if n < 0 || binary.BigEndian.Uint32(sealed[n:]) != sum(bucket, key, sealed[:n]) {
		return nil, false
	}
	return sealed[:n:n], true
}

// put a value with its seal, which the transaction keeps in memory of the committer's.
func (s *Store) put(b *bolt.Bucket, bucket, key, value []byte) error {
	from := len(s.sealed)
	s.sealed = appendSealed(s.sealed, bucket, key, value)
	return b.Put(key, s.sealed[from:len(s.sealed):len(s.sealed)])
}

// complete says which bucket is not there or should not be, as its name was changed: what is in it
// would be lost without a word, and under the same Recovery Time Stamp.
func complete(tx *bolt.Tx) error {
	found := 0
	err := tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		found++
		if !slices.ContainsFunc(buckets, func(b []byte) bool { return bytes.Equal(b, name) }) {
			return fmt.Errorf("bucket %q is unknown", name)
		}
		return nil
	})
	if err != nil || found == 0 { // is made
		return err
	}
	meta := tx.Bucket(bucketMeta)
	// Former versions had fewer buckets, but always that one. With another list of buckets the
	// format is another one, too.
	if meta == nil || meta.Get(keyFormat) != nil && found < len(buckets) {
		return fmt.Errorf("%d buckets of %d are missing", len(buckets)-found, len(buckets))
	}
	return nil
}

// mostSealed tells a store whose keyFormat is damaged from one of a former version, where a value
// may end like a seal by chance.
func mostSealed(tx *bolt.Tx) bool {
	values, sealed := 0, 0
	for _, name := range buckets {
		_ = tx.Bucket(name).ForEach(func(k, v []byte) error {
			values++
			if _, ok := unseal(name, k, v); ok {
				sealed++
			}
			return nil
		})
	}
	return 2*sealed >= values
}

// inspect every value of a store of this version; seal those of a former one. What is damaged goes.
func (s *Store) inspect(tx *bolt.Tx) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil { // of bbolt, of a page that cannot be
			err = openError(fmt.Errorf("%v", p))
		}
	}()
	meta := tx.Bucket(bucketMeta)
	old := meta.Get(keyFormat) == nil && !mostSealed(tx)
	for _, name := range buckets {
		if err = s.inspectBucket(tx.Bucket(name), name, old); err != nil {
			return openError(err)
		}
	}
	if meta.Get(keyFormat) != nil { // not damaged
		return nil
	}
	return meta.Put(keyFormat, appendSealed(nil, bucketMeta, keyFormat, formatSealed))
}

func (s *Store) inspectBucket(b *bolt.Bucket, name []byte, old bool) error {
	type change struct{ key, value []byte }
	var changes []change
	err := b.ForEach(func(k, v []byte) error {
		if old {
			changes = append(changes, change{append([]byte(nil), k...), appendSealed(nil, name, k, v)})
		} else if _, ok := unseal(name, k, v); !ok {
			s.damaged++
			s.log.Error("record of the store is damaged and left out", "kind", string(name), "key", fmt.Sprintf("%x", k))
			changes = append(changes, change{append([]byte(nil), k...), nil})
		}
		return nil
	})
	for i := range changes {
		if c := &changes[i]; err == nil && c.value == nil {
			err = b.Delete(c.key)
		} else if err == nil {
			err = b.Put(c.key, c.value)
		}
	}
	return err
}
