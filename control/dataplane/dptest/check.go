// SPDX-License-Identifier: BSD-3-Clause
package dptest

import (
	"fmt"

	"airpath/control/upfpb"
)

type checker struct {
	s   *upfpb.Session
	bad []string
}

func (c *checker) expect(ok bool, format string, args ...any) {
	if !ok {
		c.bad = append(c.bad, fmt.Sprintf("session %x: ", c.s.GetId())+fmt.Sprintf(format, args...))
	}
}

// Check holds a session to what api/upf.proto says: references are there, numbers in range.
func Check(s *upfpb.Session, interfaces []*upfpb.Interface) []string {
	c := &checker{s: s}
	has := map[uint32]bool{0: true}
	for _, i := range interfaces {
		has[i.GetIndex()] = true
	}
	c.expect(s.GetId() != 0 && s.GetVersion() != 0, "no id or version")
	c.expect(s.GetHandle()&255 != 0, "handle %08x of generation 0", s.GetHandle())
	c.expect(len(s.GetUeIp4()) == 0 || len(s.GetUeIp4()) == 4, "UE address %x", s.GetUeIp4())
	c.expect(len(s.GetUeIp6()) == 0 || len(s.GetUeIp6()) == 16 && s.GetUeIp6Bits() <= 128, "UE address %x", s.GetUeIp6())
	teids := map[uint32]bool{}
	for _, t := range s.GetTunnels() {
		c.expect(t.GetForeign() || t.GetTeid()>>20 == s.GetHandle()>>20, "TEID %08x of another bucket", t.GetTeid())
		c.expect(!teids[t.GetTeid()], "TEID %08x twice", t.GetTeid())
		c.expect(t.GetInterface() != 0 && has[t.GetInterface()], "tunnel interface %d", t.GetInterface())
		teids[t.GetTeid()] = true
	}
	fars, qers, urrs, bars := c.ids()
	pdrs := map[uint32]bool{}
	for _, p := range s.GetPdrs() {
		c.expect(p.GetId() != 0 && !pdrs[p.GetId()], "PDR %d twice", p.GetId())
		pdrs[p.GetId()] = true
		c.expect(has[p.GetInterface()], "PDR %d: interface %d", p.GetId(), p.GetInterface())
		c.expect(int(p.GetTunnel()) <= len(s.GetTunnels()), "PDR %d: tunnel %d", p.GetId(), p.GetTunnel())
		c.expect(fars[p.GetFarId()], "PDR %d: FAR %d", p.GetId(), p.GetFarId())
		for _, id := range p.GetQerIds() {
			c.expect(qers[id], "PDR %d: QER %d", p.GetId(), id)
		}
		for _, id := range p.GetUrrIds() {
			c.expect(urrs[id], "PDR %d: URR %d", p.GetId(), id)
		}
		for _, f := range p.GetFilters() {
			c.expect(f.GetProtocol() <= 256, "PDR %d: protocol %d", p.GetId(), f.GetProtocol())
		}
	}
	c.expect(len(pdrs) <= 256 && len(fars) <= 256 && len(qers) <= 256 && len(urrs) <= 256, "more than 256 rules")
	for _, f := range s.GetFars() {
		c.expect(f.GetBarId() == 0 || bars[f.GetBarId()], "FAR %d: BAR %d", f.GetId(), f.GetBarId())
		c.expect(!f.GetForward() || f.GetForwarding() != nil, "FAR %d forwards nowhere", f.GetId())
		n := 0
		for _, on := range []bool{f.GetDrop(), f.GetForward(), f.GetBuffer()} {
			if on {
				n++
			}
		}
		c.expect(n == 1, "FAR %d: %d actions", f.GetId(), n)
		if w := f.GetForwarding(); w != nil {
			c.expect(w.GetInterface() != 0 && has[w.GetInterface()], "FAR %d: interface %d", f.GetId(), w.GetInterface())
			c.expect(len(w.GetPeer()) == 0 || len(w.GetPeer()) == 4 || len(w.GetPeer()) == 16, "FAR %d: peer", f.GetId())
		}
	}
	return c.bad
}

func (c *checker) ids() (fars, qers, urrs, bars map[uint32]bool) {
	fars, qers = map[uint32]bool{}, map[uint32]bool{}
	urrs, bars = map[uint32]bool{}, map[uint32]bool{}
	once := func(kind string, m map[uint32]bool, id uint32) {
		c.expect(!m[id], "%s %d twice", kind, id)
		m[id] = true
	}
	for _, r := range c.s.GetFars() {
		once("FAR", fars, r.GetId())
	}
	for _, r := range c.s.GetQers() {
		once("QER", qers, r.GetId())
	}
	for _, r := range c.s.GetUrrs() {
		once("URR", urrs, r.GetId())
	}
	for _, r := range c.s.GetBars() {
		once("BAR", bars, r.GetId())
	}
	return
}
