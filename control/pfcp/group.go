// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"encoding/binary"
	"fmt"

	"airpath/control/rules"
)

// Error says why a request is refused and which IE is to blame.
type Error struct {
	Cause rules.Cause
	IE    uint16 // offending IE; 0: none is named
	Where string // the message or group it was in
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s, IE %d", e.Where, e.Cause, e.IE)
}

// maxType is above every IE type of table 8.1.2-1 that a group names.
const maxType = 320

// spec is how one IE stands in one group.
type spec struct {
	known bool
	many  bool
	min   uint8 // octets of its value
}

// group is what may be in a message or a grouped IE.
type group struct {
	name  string
	specs [maxType]spec
	musts []uint16
}

type member struct {
	ie         uint16
	must, many bool
}

func must(ies ...uint16) []member     { return members(true, false, ies) }
func mustMany(ies ...uint16) []member { return members(true, true, ies) }
func may(ies ...uint16) []member      { return members(false, false, ies) }
func many(ies ...uint16) []member     { return members(false, true, ies) }

func members(must, many bool, ies []uint16) []member {
	list := make([]member, len(ies))
	for i, t := range ies {
		list[i] = member{t, must, many}
	}
	return list
}

func newGroup(name string, lists ...[]member) *group {
	g := &group{name: name}
	for _, list := range lists {
		for _, m := range list {
			g.specs[m.ie] = spec{known: true, many: m.many, min: minLength[m.ie]}
			if m.must {
				g.musts = append(g.musts, m.ie)
			}
		}
	}
	return g
}

func (g *group) fail(cause rules.Cause, ie uint16) *Error {
	return &Error{Cause: cause, IE: ie, Where: g.name}
}

// walk calls visit for each IE that g names, in the order of the octets: §7.6.6 mandatory IEs are
// there, §7.6.7 lengths fit, §7.6.9 others are passed over (a vendor's too), §7.6.10 of those
// that must not be repeated the first counts. Octets beyond what a length asks for are left to
// later releases (§8.1.1: extendable).
func (g *group) walk(b []byte, visit func(t uint16, v []byte) *Error) *Error {
	var seen [maxType/64 + 1]uint64
	for len(b) > 0 {
		if len(b) < 4 {
			return g.fail(rules.CauseInvalidLength, 0)
		}
		t, n := binary.BigEndian.Uint16(b), int(binary.BigEndian.Uint16(b[2:]))
		if n > len(b)-4 {
			return g.fail(rules.CauseInvalidLength, t)
		}
		v := b[4 : 4+n]
		b = b[4+n:]
		if t >= maxType || !g.specs[t].known {
			continue
		}
		s := &g.specs[t]
		if seen[t/64]&(1<<(t%64)) != 0 && !s.many {
			continue
		}
		seen[t/64] |= 1 << (t % 64)
		if n < int(s.min) {
			return g.fail(rules.CauseInvalidLength, t)
		}
		if err := visit(t, v); err != nil {
			return err
		}
	}
	for _, t := range g.musts {
		if seen[t/64]&(1<<(t%64)) == 0 {
			return g.fail(rules.CauseMandatoryIEMissing, t)
		}
	}
	return nil
}
