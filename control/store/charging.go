// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"encoding/binary"

	bolt "go.etcd.io/bbolt"
)

// Charging records wait here between the commit of what they are about and their file. They are
// numbered as they are committed: what is written to a file in the order of the numbers has no gaps
// that a later commit could fill.

// AddRecord appends a charging record.
func AddRecord(record []byte) Write { return Write{bucketCharging, nil, record} }

// DropRecord forgets one.
func DropRecord(number uint64) Write { return Write{bucketCharging, seidKey(number), nil} }

func (s *Store) putRecord(tx *bolt.Tx, record []byte) error {
	b := tx.Bucket(bucketCharging)
	number, err := b.NextSequence()
	if err != nil {
		return err
	}
	b.FillPercent = 0.9 // keys rise
	return s.put(b, bucketCharging, seidKey(number), record)
}

// Recorded gives a signal after a commit that had records.
func (s *Store) Recorded() <-chan struct{} { return s.records }

// RecordsFrom makes the numbers of records to come rise above one.
func (s *Store) RecordsFrom(above uint64) error {
	return s.update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketCharging)
		if b.Sequence() >= above {
			return nil
		}
		return b.SetSequence(above)
	})
}

// Records yields the records that are kept, by number, until yield says no. Octets are valid only
// during the call.
func (s *Store) Records(yield func(number uint64, record []byte) bool) error {
	return s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketCharging).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			v, ok := unseal(bucketCharging, k, v)
			if !ok {
				continue
			}
			more := false
			if callback(func() { more = yield(binary.BigEndian.Uint64(k), v) }); !more {
				break
			}
		}
		return nil
	})
}
