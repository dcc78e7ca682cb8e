// SPDX-License-Identifier: BSD-3-Clause
package apps

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
)

// Book is all there is to know of applications: what the files say, what PFD management said (which
// goes before the files, TS 29.251 §5.3), and the index that forwarding units know an id by. An id
// keeps its index as long as there is room, so that sessions and flows that have it stay right. It
// is not safe for several goroutines.
type Book struct {
	Files   *Layer
	Managed *Layer

	*indices
}

// indices given.
type indices struct {
	index map[string]uint16
	names []string // by index; "": free
	last  uint16
}

// NewBook is empty.
func NewBook() *Book {
	return &Book{NewLayer(), NewLayer(), &indices{index: map[string]uint16{}, names: make([]string, 1)}}
}

// Adopt notes an index given before.
func (b *Book) Adopt(id string, index uint16) {
	for int(index) >= len(b.names) {
		b.names = append(b.names, "")
	}
	b.index[id], b.names[index] = index, id
	b.last = max(b.last, index)
}

// Known says whether an id has descriptions.
func (b *Book) Known(id string) bool {
	return len(b.PFDs(id)) > 0
}

// PFDs of an id that are in force.
func (b *Book) PFDs(id string) []PFD {
	if list := b.Managed.PFDs[id]; len(list) > 0 {
		return list
	}
	return b.Files.PFDs[id]
}

// Name of an index; "": of none.
func (b *Book) Name(index uint32) string {
	if index < uint32(len(b.names)) {
		return b.names[index]
	}
	return ""
}

// Index of an id; 0: it has none yet.
func (b *Book) Index(id string) uint16 { return b.index[id] }

// ErrFull says that every index is some application's.
var ErrFull = errors.New("more than 65535 applications")

// Give an id an index. Where all are given, ids without descriptions that inUse does not name lose
// theirs first; fresh is false if it had one.
func (b *Book) Give(id string, inUse func() map[string]bool) (index uint16, fresh bool, err error) {
	if index, ok := b.index[id]; ok {
		return index, false, nil
	}
	if b.last < MaxApps {
		b.Adopt(id, b.last+1)
		return b.last, true, nil
	}
	used := inUse()
	for old, index := range b.index {
		if !used[old] && !b.Known(old) {
			delete(b.index, old)
			b.Adopt(id, index)
			return index, true, nil
		}
	}
	return 0, false, ErrFull
}

// Ids in the order their descriptions count in: those of PFD management by name, then those of the
// files as they are there.
func (b *Book) Ids() []string {
	list := slices.Sorted(slices.Values(b.Managed.Order))
	for _, id := range b.Files.Order {
		if len(b.Managed.PFDs[id]) == 0 {
			list = append(list, id)
		}
	}
	return list
}

// Application is one with what is in force of it.
type Application struct {
	ID      string
	Index   uint16
	Managed bool // by PFD management
	PFDs    []PFD
}

// Applications there are, in the order their descriptions count in. It does not change any more.
func (b *Book) Applications() []Application {
	ids := b.Ids()
	list := make([]Application, 0, len(ids))
	for _, id := range ids {
		list = append(list, Application{id, b.index[id], len(b.Managed.PFDs[id]) > 0, b.PFDs(id)})
	}
	return list
}

// Digest of everything a forwarding unit is told.
func Digest(list []Application) uint64 {
	h := fnv.New64a()
	text := func(s string) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(s))))
		_, _ = h.Write([]byte(s))
	}
	for i := range list {
		a := &list[i]
		text(a.ID)
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(a.Index)<<32|uint64(len(a.PFDs))))
		for _, p := range a.PFDs {
			r := byte(0)
			if p.Regex {
				r = 1
			}
			_, _ = h.Write([]byte{byte(p.Kind), r})
			text(p.Text)
		}
	}
	return h.Sum64()
}

// With is the book with other layers, of the same indices.
func (b *Book) With(files, managed *Layer) *Book {
	next := *b
	next.Files, next.Managed = files, managed
	return &next
}

// Clone of a layer that can be changed without changing it. The descriptions are shared.
func (l *Layer) Clone() *Layer {
	return &Layer{slices.Clone(l.Order), maps.Clone(l.PFDs)}
}

// Len counts the applications with descriptions.
func (b *Book) Len() int {
	n := len(b.Files.Order)
	for _, id := range b.Managed.Order {
		if len(b.Files.PFDs[id]) == 0 {
			n++
		}
	}
	return n
}
