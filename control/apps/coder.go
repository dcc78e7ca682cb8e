// SPDX-License-Identifier: BSD-3-Clause
package apps

import (
	"encoding/binary"
	"errors"
)

// A record of the store: an application's index and what PFD management said of it.

// Encode makes one.
func Encode(index uint16, list []PFD) []byte {
	b := binary.AppendUvarint(nil, uint64(index))
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		k := uint64(list[i].Kind) << 1
		if list[i].Regex {
			k |= 1
		}
		b = binary.AppendUvarint(b, k)
		b = binary.AppendUvarint(b, uint64(len(list[i].Text)))
		b = append(b, list[i].Text...)
	}
	return b
}

var errRecord = errors.New("application record is cut short")

// Decode reads one. The descriptions are held to their form again.
func Decode(b []byte) (index uint16, list []PFD, err error) {
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err = errRecord
			return 0
		}
		b = b[n:]
		return v
	}
	first, count := number(), number()
	if err != nil || first == 0 || first > MaxApps || count > uint64(len(b)) {
		return 0, nil, errRecord
	}
	for range count {
		k, n := number(), number()
		if err != nil || n > uint64(len(b)) {
			return 0, nil, errRecord
		}
		p, wrong := New(Kind(min(k>>1, 255)), k&1 != 0, string(b[:n]))
		if b = b[n:]; wrong != nil || p.Kind > URLPattern {
			return 0, nil, errRecord
		}
		list = append(list, p)
	}
	return uint16(first), list, err
}
