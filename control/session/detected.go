// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"

	"airpath/control/filter"
	"airpath/control/rules"
	"airpath/control/upfpb"
)

// detected makes Application Detection Information of what a unit saw start or stop. The PDR is the
// one of those with the URR that is about the application.
func (m *Manager) detected(st *state, urr uint32, d *upfpb.ApplicationDetected) *rules.ApplicationDetected {
	id := m.apps.book.Name(d.GetApplication())
	if d == nil || id == "" {
		return nil
	}
	out := &rules.ApplicationDetected{Application: id}
	if f := d.GetFlow(); f != nil {
		out.Flow = describe(f)
		out.Instance = instance(st.seid, id, out.Flow)
	}
	for i := range st.pdrs {
		p := &st.pdrs[i]
		if slices.Contains(p.URRIDs, urr) && (p.PDI.ApplicationID != nil && *p.PDI.ApplicationID == id ||
			slices.ContainsFunc(m.rulesOf(p), func(x derived) bool { return x.rule.Application == id })) {
			out.PDRID = p.ID
			break
		}
	}
	return out
}

// instance is the same for the start and the stop of a flow, also in another run of the agent.
func instance(seid uint64, id, flow string) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%x %s %s", seid, id, flow)
	return fmt.Sprintf("%016x", h.Sum64())
}

// describe writes a filter as a flow description, which is of the direction that it is of.
func describe(f *upfpb.Filter) string {
	protocol := "ip"
	if f.GetProtocol() < filter.AnyProtocol {
		protocol = fmt.Sprint(f.GetProtocol())
	}
	return fmt.Sprintf("permit out %s from %s to %s", protocol, describeSide(f.GetSource(), f.GetSourcePorts()),
		describeSide(f.GetDestination(), f.GetDestinationPorts()))
}

func describeSide(p *upfpb.Prefix, ports []*upfpb.PortRange) string {
	text := "any"
	if a, ok := netip.AddrFromSlice(p.GetAddress()); ok {
		text = a.String()
		if int(p.GetBits()) < a.BitLen() {
			text = fmt.Sprintf("%s/%d", a, p.GetBits())
		}
	}
	var list []string
	for _, r := range ports {
		if r.GetFirst() == r.GetLast() {
			list = append(list, fmt.Sprint(r.GetFirst()))
		} else {
			list = append(list, fmt.Sprintf("%d-%d", r.GetFirst(), r.GetLast()))
		}
	}
	if len(list) > 0 {
		text += " " + strings.Join(list, ",")
	}
	return text
}
