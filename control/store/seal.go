// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Each value ends with a CRC32C of its bucket, key and octets: bbolt sums its meta pages alone. One
// that does not hold is left out, named in the log and counted; whoever it was of is unknown then,
// and never taken for somebody else. That there are all values, and none of a former commit, the tallies
// say.

const sealOctets = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// keyFormat says that values are sealed: former versions' are not.
var keyFormat = []byte("format")

var (
	formatSealed  = []byte{1}
	formatTallied = []byte{2} // and there are tallies
)

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
	sealed := s.sealed[from:len(s.sealed):len(s.sealed)]
	t := s.tallies.of(bucket)
	t.take(b.Get(key))
	t.add(sealed)
	return b.Put(key, sealed)
}

func (s *Store) delete(b *bolt.Bucket, bucket, key []byte) error {
	s.tallies.of(bucket).take(b.Get(key))
	return b.Delete(key)
}

// complete says which bucket is not there or should not be, as its name was changed: what is in it
// would be lost without a word, and under the same Recovery Time Stamp. No bucket is found in a file
// that is made.
func complete(tx *bolt.Tx) (found int, err error) {
	err = tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		found++
		if !slices.ContainsFunc(buckets, func(b []byte) bool { return bytes.Equal(b, name) }) {
			return fmt.Errorf("bucket %q is unknown", name)
		}
		return nil
	})
	if err != nil || found == 0 {
		return found, err
	}
	meta := tx.Bucket(bucketMeta)
	// Former versions had fewer buckets, but always that one. With another list of buckets the
	// format is another one, too.
	if meta == nil || meta.Get(keyFormat) != nil && found < len(buckets) {
		return found, fmt.Errorf("%d buckets of %d are missing", len(buckets)-found, len(buckets))
	}
	return found, nil
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
func (s *Store) inspect(tx *bolt.Tx, made bool) error {
	meta := tx.Bucket(bucketMeta)
	format, _ := unseal(bucketMeta, keyFormat, meta.Get(keyFormat))
	old := meta.Get(keyFormat) == nil && !mostSealed(tx)
	known, damaged, err := readTallies(tx, made || old || bytes.Equal(format, formatSealed))
	if err != nil {
		return openError(err)
	}
	s.tallies = newTallies()
	for _, name := range buckets {
		was := s.damaged
		t, err := s.inspectBucket(tx.Bucket(name), name, old)
		if err == nil && known != nil {
			err = known.of(name).check(name, t, s.damaged > was)
		}
		if err != nil {
			return openError(err)
		}
	}
	if damaged {
		s.leftOut(bucketMeta, keyTallies)
	}
	return s.put(meta, bucketMeta, keyFormat, formatTallied)
}

func (s *Store) leftOut(bucket, key []byte) {
	s.damaged++
	s.log.Error("record of the store is damaged and left out", "kind", string(bucket), "key", fmt.Sprintf("%x", key))
}

// inspectBucket gives what was found, and leaves what is there now in the store's tallies.
func (s *Store) inspectBucket(b *bolt.Bucket, name []byte, old bool) (found tally, err error) {
	type change struct{ key, value []byte }
	var changes []change
	err = b.ForEach(func(k, v []byte) error {
		switch _, ok := unseal(name, k, v); {
		case isTallies(name, k):
		case old:
			changes = append(changes, change{bytes.Clone(k), bytes.Clone(v)})
		case !ok:
			found.values++
			s.leftOut(name, k)
			changes = append(changes, change{bytes.Clone(k), nil})
		default:
			found.add(v)
		}
		return nil
	})
	t := s.tallies.of(name)
	*t = found
	t.values -= uint64(len(changes))
	if old {
		*t = tally{}
	}
	for _, c := range changes {
		if err == nil {
			err = b.Delete(c.key)
		}
		if err == nil && c.value != nil {
			err = s.put(b, name, c.key, c.value)
		}
	}
	return found, err
}
