// SPDX-License-Identifier: BSD-3-Clause
package owner

import "errors"

// Why a TEID cannot be had.
var (
	ErrInvalid = errors.New("no such bucket, slot or generation")
	ErrFull    = errors.New("every slot lives")
	ErrResting = errors.New("free slots still rest")
	ErrInUse   = errors.New("slot lives")
	ErrUnknown = errors.New("TEID does not live")
)

const none = Slots // no slot

type slot struct {
	freedMs    int64  // rounded up by the caller
	next       uint16 // freed after this one, or none
	live       bool
	generation uint8 // of the last TEID; 0: never used
}

// Free slots that were used are a list in the order they were freed. slot grows as slots are used
// for the first time.
type bucket struct {
	slot      []slot
	live      uint16
	firstFree uint16 // rests longest, or none
	lastFree  uint16
}

// TEIDs gives out the TEIDs of a forwarding unit. It is not safe for use by several goroutines.
// Times are milliseconds of any clock that does not go back.
type TEIDs struct {
	slots           int
	turn            int // bucket to be looked at next by AnyBucket
	live            int
	firstGeneration uint8
	buckets         [Buckets]bucket
}

// NewTEIDs makes an allocator with `slots` (1..Slots) of every bucket. firstGeneration
// (1..GenerationMax) is that of slots never used; one that differs from restart to restart keeps
// TEIDs apart that were freed before it and rest no more.
func NewTEIDs(slots int, firstGeneration uint8) (*TEIDs, error) {
	if slots < 1 || slots > Slots || firstGeneration == 0 {
		return nil, ErrInvalid
	}
	t := &TEIDs{slots: slots, firstGeneration: firstGeneration}
	for i := range t.buckets {
		t.buckets[i].firstFree, t.buckets[i].lastFree = none, none
	}
	return t, nil
}

// Live counts TEIDs given out.
func (t *TEIDs) Live() int { return t.live }

func (t *TEIDs) canGive(b *bucket, nowMs int64) bool {
	return len(b.slot) < t.slots || (b.firstFree != none && b.slot[b.firstFree].rested(nowMs))
}

func (s *slot) rested(nowMs int64) bool { return nowMs >= s.freedMs+RestMs }

// AnyBucket gives a bucket with a slot to give, by turns over all buckets.
func (t *TEIDs) AnyBucket(nowMs int64) (uint32, error) {
	for range t.buckets {
		i := t.turn
		t.turn = (t.turn + 1) % Buckets
		if t.canGive(&t.buckets[i], nowMs) {
			return uint32(i), nil
		}
	}
	return 0, ErrFull
}

// Alloc gives out a TEID of a bucket: the slot that rests longest if it has rested RestMs, else
// one never used.
func (t *TEIDs) Alloc(bucketID uint32, nowMs int64) (uint32, error) {
	if bucketID >= Buckets {
		return 0, ErrInvalid
	}
	b := &t.buckets[bucketID]
	if int(b.live) == t.slots {
		return 0, ErrFull
	}
	if !t.canGive(b, nowMs) {
		return 0, ErrResting
	}
	var i uint16
	if b.firstFree != none && b.slot[b.firstFree].rested(nowMs) {
		i = b.firstFree
		b.wake(i, none)
	} else {
		i = uint16(len(b.slot))
		b.slot = append(b.slot, slot{})
	}
	generation := t.firstGeneration
	if g := b.slot[i].generation; g != 0 {
		generation = g%GenerationMax + 1
	}
	t.give(b, i, generation)
	return TEID(bucketID, uint32(i), uint32(generation)), nil
}

func (t *TEIDs) give(b *bucket, i uint16, generation uint8) {
	b.slot[i].live = true
	b.slot[i].generation = generation
	b.live++
	t.live++
}

// rest puts a slot behind all that rest.
func (b *bucket) rest(i uint16, nowMs int64) {
	s := &b.slot[i]
	s.live, s.freedMs, s.next = false, nowMs, none
	if b.lastFree == none {
		b.firstFree = i
	} else {
		b.slot[b.lastFree].next = i
	}
	b.lastFree = i
}

// wake takes a slot out of those that rest; before is the one freed before it, or none.
func (b *bucket) wake(i, before uint16) {
	next := b.slot[i].next
	if before == none {
		b.firstFree = next
	} else {
		b.slot[before].next = next
	}
	if b.lastFree == i {
		b.lastFree = before
	}
}

// Claim takes a TEID given out before a restart, or chosen by the control plane in restoration.
// Slots below it that were never used rest from now on.
func (t *TEIDs) Claim(teid uint32, nowMs int64) error {
	i := uint16(slotOf(teid))
	if int(i) >= t.slots || generationOf(teid) == 0 {
		return ErrInvalid
	}
	b := &t.buckets[Bucket(teid)]
	if int(i) < len(b.slot) {
		if b.slot[i].live {
			return ErrInUse
		}
		before := uint16(none)
		for at := b.firstFree; at != i; at = b.slot[at].next {
			before = at
		}
		b.wake(i, before)
	} else {
		for len(b.slot) < int(i) {
			b.slot = append(b.slot, slot{})
			b.rest(uint16(len(b.slot)-1), nowMs)
		}
		b.slot = append(b.slot, slot{})
	}
	t.give(b, i, uint8(generationOf(teid)))
	return nil
}

// Free gives a TEID back, which rests from now on.
func (t *TEIDs) Free(teid uint32, nowMs int64) error {
	if t.State(teid) != Live {
		return ErrUnknown
	}
	b := &t.buckets[Bucket(teid)]
	b.rest(uint16(slotOf(teid)), nowMs)
	b.live--
	t.live--
	return nil
}

// State is what a TEID is to the allocator.
type State uint8

// States of a TEID.
const (
	Unknown State = iota // of a slot never used here
	Live
	Stale // of a used slot, but not what it now has
)

// State of a TEID.
func (t *TEIDs) State(teid uint32) State {
	b := &t.buckets[Bucket(teid)]
	i, generation := int(slotOf(teid)), uint8(generationOf(teid))
	if i >= len(b.slot) || generation == 0 || b.slot[i].generation == 0 {
		return Unknown
	}
	if b.slot[i].live && b.slot[i].generation == generation {
		return Live
	}
	return Stale
}
