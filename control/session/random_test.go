// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"math/rand"
	"reflect"
	"testing"

	"airpath/control/rules"
)

// spoil changes something at random, anywhere below v: absent, another number, one more, one less.
func spoil(random *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else if random.Intn(4) == 0 {
			v.SetZero()
			return
		}
		spoil(random, v.Elem())
	case reflect.Struct:
		if v.NumField() > 0 && v.Field(0).CanSet() {
			spoil(random, v.Field(random.Intn(v.NumField())))
		}
	case reflect.Slice:
		switch n := v.Len(); {
		case n == 0 || random.Intn(8) == 0:
			one := reflect.New(v.Type().Elem()).Elem()
			if n > 0 {
				one.Set(v.Index(random.Intn(n)))
			}
			v.Set(reflect.Append(v, one))
		case random.Intn(8) == 0:
			v.Set(v.Slice(0, n-1))
		default:
			spoil(random, v.Index(random.Intn(n)))
		}
	case reflect.Bool:
		v.SetBool(random.Intn(2) == 0)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, 2, 3, 4, 5, 63, 64, 128, 255, 1 << 31, 1<<64 - 1}[random.Intn(12)] & (1<<(v.Type().Bits()-1)*2 - 1))
	case reflect.String:
		v.SetString([]string{"", "internet", "ims", "permit out ip from any to assigned", "10.0.0.0/8 x"}[random.Intn(5)])
	}
}

// TestRandomRequests: whatever a request says, the manager answers it with a cause, what it sends
// to the unit keeps the contract, and in the end nothing is left.
func TestRandomRequests(t *testing.T) {
	r := newRig(t, func(c *Config) { c.CPFTEID = true })
	r.random(4000)
	if ids := r.unit.IDs(); len(ids) != 0 {
		t.Error(len(ids), "sessions left in the unit")
	}
}

// TestRandomRequestsToTheRealUnit has the data plane take or refuse what the agent made of them.
func TestRandomRequestsToTheRealUnit(t *testing.T) {
	r := newRealRig(t, newRealUnit(t), func(c *Config) { c.CPFTEID = true })
	r.random(4000)
	if c := r.m.Statistics(); c.Disconnects != 0 {
		t.Error("the unit went away")
	}
}

func (r *rig) random(rounds int) {
	t, random := r.t, rand.New(rand.NewSource(29244))
	causes := map[rules.Cause]int{}
	var live []uint64
	if testing.Short() {
		rounds /= 8
	}
	for range rounds {
		if len(live) > 0 && random.Intn(2) == 0 {
			n := random.Intn(len(live))
			e := everything()
			m := toGNB(2, "10.3.0.2")
			switch random.Intn(3) {
			case 0:
				m.UpdatePDRs, m.UpdateQERs, m.UpdateURRs, m.UpdateBARs = e.PDRs, e.QERs, e.URRs, e.BARs
			case 1:
				m.RemovePDRs, m.RemoveQERs = []uint16{uint16(1 + random.Intn(4))}, []uint32{1}
				m.QueryURRs = []uint32{1}
			}
			for range 1 + random.Intn(4) {
				spoil(random, reflect.ValueOf(m).Elem())
			}
			m.Node = nil
			a := r.modify(live[n], m)
			causes[a.Cause]++
			if random.Intn(4) == 0 {
				r.accepted(r.delete(live[n]))
				live = append(live[:n], live[n+1:]...)
			}
			continue
		}
		q := everything()
		for range random.Intn(4) {
			spoil(random, reflect.ValueOf(q).Elem())
		}
		a := r.establish(q)
		causes[a.Cause]++
		if a.Cause == rules.CauseSystemFailure {
			t.Fatal(a.Reason)
		}
		if a.Cause == rules.CauseAccepted {
			live = append(live, a.UPSEID)
		}
	}
	if causes[rules.CauseAccepted] < rounds/10 || len(causes) < 6 {
		t.Error("too few ends were met", causes)
	}
	for _, seid := range live {
		r.accepted(r.delete(seid))
	}
	if c := r.m.Statistics(); c.Sessions != 0 || c.TEIDs != 0 || len(r.m.pools.others) != 0 {
		t.Errorf("left: %+v, %v", c, r.m.pools.others)
	}
	for _, p := range r.m.pools.list {
		reserved := uint32(0)
		if p.Prefix.Addr().Is4() {
			reserved = 2
		}
		if p.used != reserved {
			t.Error(p.Prefix, p.used, "in use")
		}
	}
}
