// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Meta is what PutMeta stored; nil: nothing.
func (s *Store) Meta(name string) []byte {
	var v []byte
	_ = s.view(func(tx *bolt.Tx) error {
		key := []byte("x-" + name)
		stored, _ := unseal(bucketMeta, key, tx.Bucket(bucketMeta).Get(key))
		v = append(v, stored...)
		return nil
	})
	return v
}

// Sessions yields every record by rising SEID. Octets, here and below, are valid only during the
// call.
func (s *Store) Sessions(yield func(seid uint64, record []byte) error) error {
	return s.each(bucketSessions, func(k, v []byte) error { return yield(binary.BigEndian.Uint64(k), v) })
}

// Reports yields what PutReport kept, by rising SEID and number.
func (s *Store) Reports(yield func(seid, number uint64, report []byte) error) error {
	return s.each(bucketReports, func(k, v []byte) error {
		return yield(binary.BigEndian.Uint64(k), binary.BigEndian.Uint64(k[8:]), v)
	})
}

// Usages yields what PutUsage stored.
func (s *Store) Usages(yield func(seid uint64, usage []byte) error) error {
	return s.each(bucketUsage, func(k, v []byte) error { return yield(binary.BigEndian.Uint64(k), v) })
}

// Gone yields what PutGone kept.
func (s *Store) Gone(yield func(seid uint64, last []byte) error) error {
	return s.each(bucketGone, func(k, v []byte) error { return yield(binary.BigEndian.Uint64(k), v) })
}

// Doomed yields what PutDoomed stored.
func (s *Store) Doomed(yield func(seid uint64, why []byte) error) error {
	return s.each(bucketDoomed, func(k, v []byte) error { return yield(binary.BigEndian.Uint64(k), v) })
}

// Peers yields what PutPeer stored.
func (s *Store) Peers(yield func(name string, state []byte) error) error {
	return s.each(bucketPeers, func(k, v []byte) error { return yield(string(k), v) })
}

// Applications yields what PutApplication stored.
func (s *Store) Applications(yield func(id string, record []byte) error) error {
	return s.each(bucketApps, func(k, v []byte) error { return yield(string(k), v) })
}

func (s *Store) each(bucket []byte, yield func(k, v []byte) error) error {
	return s.view(func(tx *bolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			v, ok := unseal(bucket, k, v)
			if !ok {
				return fmt.Errorf("%s %x: damaged since the store was opened", bucket, k)
			}
			var err error
			callback(func() { err = yield(k, v) })
			return err
		})
	})
}
