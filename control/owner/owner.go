// SPDX-License-Identifier: BSD-3-Clause

// Package owner says which bucket, and so which worker, owns a session, and gives out the TEIDs
// that say so: the agent's side of modules/upf/upf_owner.h, which explains the scheme. Both are
// held to tests/vectors/upf_owner.txt.
package owner

import "encoding/binary"

// Limits of the scheme.
const (
	Buckets       = 4096
	Slots         = 4096 // most of a bucket
	GenerationMax = 255
	RestMs        = 30000 // a freed TEID's slot is not used again for so long
)

// keyWord is what the RSS key repeats.
const keyWord = 0x6D5A

// TEID puts a TEID together.
func TEID(bucket, slot, generation uint32) uint32 {
	return bucket<<20 | slot<<8 | generation
}

// Bucket of a TEID.
func Bucket(teid uint32) uint32 { return teid >> 20 }

func slotOf(teid uint32) uint32       { return teid >> 8 & (Slots - 1) }
func generationOf(teid uint32) uint32 { return teid & GenerationMax }

// hash16 is the low half of the Toeplitz hash of input folded to 16 bits, as upf_hash16().
func hash16(x uint16) uint16 {
	r := uint32(x)
	r = (r&0x5555)<<1 | (r >> 1 & 0x5555)
	r = (r&0x3333)<<2 | (r >> 2 & 0x3333)
	r = (r&0x0F0F)<<4 | (r >> 4 & 0x0F0F)
	r = (r&0x00FF)<<8 | r>>8
	r |= r << 16
	var h uint32
	for i := uint(0); i < 16; i++ {
		if keyWord>>i&1 != 0 {
			h ^= r >> (16 - i)
		}
	}
	return uint16(h)
}

// BucketIPv4 of a UE's IPv4 address.
func BucketIPv4(a [4]byte) uint32 {
	x := binary.BigEndian.Uint16(a[0:]) ^ binary.BigEndian.Uint16(a[2:])
	return uint32(hash16(x)) & (Buckets - 1)
}

// BucketPrefix6 of a UE's IPv6 /64; what follows the first 8 octets does not count.
func BucketPrefix6(a [16]byte) uint32 {
	x := binary.BigEndian.Uint16(a[0:]) ^ binary.BigEndian.Uint16(a[2:]) ^
		binary.BigEndian.Uint16(a[4:]) ^ binary.BigEndian.Uint16(a[6:])
	return uint32(hash16(x)) & (Buckets - 1)
}
