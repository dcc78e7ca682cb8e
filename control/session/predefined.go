// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"fmt"
	"slices"
	"strings"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

// A PDR that activates predefined rules is one PDR for each of them at the forwarding unit: what
// the PDR says of the session, and what the rule says of packets, actions and charging, §5.19.

// derived is one of these.
type derived struct {
	rule   *rules.PredefinedRule
	number uint32 // of the rule, over all names, from 1
	id     uint16 // of the PDR at the unit
}

// MaxPredefined bounds the rules of all names: their numbers are in rule IDs.
const MaxPredefined = 1 << 14

// activate does Activate and Deactivate Predefined Rules of an Update PDR.
func activate(p *rules.PDR, r *rules.PDR) *refusal {
	for _, name := range r.Deactivated {
		if !slices.Contains(p.Predefined, name) {
			return refuse(rules.CauseUnknownPredefinedRule, rules.IEDeactivatePredefined,
				"PDR %d deactivates predefined rule %q, which is not active", p.ID, name).of(rules.KindPDR, uint32(p.ID))
		}
	}
	p.Predefined = slices.DeleteFunc(slices.Clone(p.Predefined), func(s string) bool { return slices.Contains(r.Deactivated, s) })
	for _, name := range r.Predefined {
		if !slices.Contains(p.Predefined, name) {
			p.Predefined = append(p.Predefined, name)
		}
	}
	return nil
}

// checkDetection holds what this request named of applications and predefined rules to what there
// is. What was named before stays, though its descriptions went meanwhile.
func (d *draft) checkDetection() *refusal {
	extra := 0
	for i := range d.st.pdrs {
		p := &d.st.pdrs[i]
		id := uint32(p.ID)
		if slices.Contains(d.created, p.ID) || slices.Contains(d.updated, p.ID) {
			if a := p.PDI.ApplicationID; a != nil && !d.m.apps.book.Known(*a) && !d.had(p.ID, *a) {
				return refuse(rules.CauseUnknownApplicationID, rules.IEApplicationID, "PDR %d: application %q", id, *a).of(rules.KindPDR, id)
			}
			for _, name := range p.Predefined {
				if !slices.ContainsFunc(d.m.config.Predefined, func(r rules.Predefined) bool { return r.Name == name }) {
					return refuse(rules.CauseUnknownPredefinedRule, rules.IEActivatePredefined, "PDR %d activates predefined rule %q", id, name).of(rules.KindPDR, id)
				}
			}
		}
		if len(p.Predefined) == 0 {
			continue
		}
		list := d.m.rulesOf(p)
		extra += len(list)
		for _, x := range list {
			switch {
			case len(x.rule.Filters) > 0 && len(p.PDI.SDFFilters) > 0:
				return ruleFailure(rules.KindPDR, id, "PDR %d: SDF filters beside those of a predefined rule", id)
			case x.rule.Application != "" && p.PDI.ApplicationID != nil:
				return ruleFailure(rules.KindPDR, id, "PDR %d: Application ID beside that of a predefined rule", id)
			}
		}
	}
	if extra+len(d.st.pdrs) > maxRules {
		return refuse(rules.CauseNoResources, 0, "%d PDRs with those of predefined rules, at most %d", extra+len(d.st.pdrs), maxRules)
	}
	return nil
}

// had says that a PDR named the application before the request.
func (d *draft) had(pdr uint16, id string) bool {
	if d.old == nil {
		return false
	}
	p := findPDR(d.old, pdr)
	return p != nil && p.PDI.ApplicationID != nil && *p.PDI.ApplicationID == id
}

// rulesOf a PDR, in the order of the configuration. IDs are not given yet.
func (m *Manager) rulesOf(p *rules.PDR) (out []derived) {
	if len(p.Predefined) == 0 || p.PDI == nil {
		return nil
	}
	number := uint32(0)
	for i := range m.config.Predefined {
		named := &m.config.Predefined[i]
		if !slices.Contains(p.Predefined, named.Name) {
			number += uint32(len(named.Rules))
			continue
		}
		for j := range named.Rules {
			number++
			r := &named.Rules[j]
			if r.Directions == rules.UplinkOnly && isCore(p.PDI.Source) || r.Directions == rules.DownlinkOnly && !isCore(p.PDI.Source) {
				continue
			}
			out = append(out, derived{rule: r, number: number})
		}
	}
	return out
}

// derive gives the PDRs that predefined rules make of a session's, by its PDRs' places. Their ids
// are the highest that the session's PDRs leave, rising in order: among equal precedences the unit
// takes the lower id.
func (m *Manager) derive(st *state) map[int][]derived {
	var out map[int][]derived
	total := 0
	for i := range st.pdrs {
		if len(st.pdrs[i].Predefined) == 0 {
			continue
		}
		if out == nil {
			out = map[int][]derived{}
		}
		out[i] = m.rulesOf(&st.pdrs[i])
		total += len(out[i])
	}
	if total == 0 {
		return out
	}
	ids := make([]uint16, 0, total)
	for id := uint16(65535); len(ids) < total; id-- {
		if findPDR(st, id) == nil {
			ids = append(ids, id)
		}
	}
	for i := range st.pdrs {
		for j := range out[i] {
			total--
			out[i][j].id = ids[total]
		}
	}
	return out
}

// activator of a PDR that a predefined rule made; others are their own.
func (m *Manager) activator(st *state, pdr uint16) uint16 {
	if findPDR(st, pdr) != nil {
		return pdr
	}
	for i, list := range m.derive(st) {
		if slices.ContainsFunc(list, func(x derived) bool { return x.id == pdr }) {
			return st.pdrs[i].ID
		}
	}
	return pdr
}

// predefined adds what the rules make of a PDR to the session.
func (c *compiler) predefined(p *rules.PDR, base *upfpb.Pdr, list []derived, out *upfpb.Session) *refusal {
	for _, x := range list {
		o := &upfpb.Pdr{
			Id: uint32(x.id), Precedence: base.Precedence, Source: base.Source, Interface: base.Interface, Tunnel: base.Tunnel,
			MatchUeSource: base.MatchUeSource, MatchUeDestination: base.MatchUeDestination, MatchIp4: base.MatchIp4,
			MatchIp6: base.MatchIp6, FramedRoutes: base.FramedRoutes, Qfis: base.Qfis, Filters: base.Filters, EthernetFilters: base.EthernetFilters,
			OuterHeaderRemoval: base.OuterHeaderRemoval, RemoveExtension: base.RemoveExtension, Application: base.Application,
			QerIds: slices.Clone(base.QerIds), UrrIds: slices.Clone(p.URRIDs),
		}
		if refused := c.match(x.rule, p, o); refused != nil {
			return refused
		}
		if q := x.rule.QER; q != nil {
			id := rules.LocalRule | x.number
			o.QerIds = append(o.QerIds, id)
			if !slices.ContainsFunc(out.Qers, func(have *upfpb.Qer) bool { return have.Id == id }) {
				compiled := compileQER(q)
				compiled.Id = id
				out.Qers = append(out.Qers, compiled)
			}
		}
		if refused := c.action(&x, p, o, out); refused != nil {
			return refused
		}
		o.UrrIds = c.charged(o.UrrIds, p, x.rule)
		out.Pdrs = append(out.Pdrs, o)
	}
	return nil
}

// match says which packets a rule is about.
func (c *compiler) match(r *rules.PredefinedRule, p *rules.PDR, o *upfpb.Pdr) *refusal {
	id := uint32(p.ID)
	if r.Application != "" {
		index, err := c.u.m.indexOf(r.Application)
		if err != nil {
			return refuse(rules.CauseNoResources, 0, "PDR %d: %v", id, err).of(rules.KindPDR, id)
		}
		o.Application = index
	}
	for i := range r.Filters {
		f, err := c.filter(&rules.SDFFilter{Flow: &r.Filters[i]}, p.PDI.Source)
		if err != nil {
			return ruleFailure(rules.KindPDR, id, "PDR %d: predefined rule: %v", id, err)
		}
		o.Filters = append(o.Filters, f)
	}
	return nil
}

// action of a rule: what the PDR's FAR does, or the rule's own. Requests come from the access side:
// the way back is not redirected.
func (c *compiler) action(x *derived, p *rules.PDR, o *upfpb.Pdr, out *upfpb.Session) *refusal {
	var far *rules.FAR
	if p.FARID != nil {
		far = findFAR(c.st, *p.FARID)
	}
	uplink := !isCore(p.PDI.Source)
	forwards := far != nil && far.Action != nil && *far.Action&rules.ActionFORW != 0
	redirects := x.rule.RedirectURL != "" && uplink && (far == nil || forwards)
	if !x.rule.Drop && !redirects && far != nil {
		o.FarId = far.ID
		return nil
	}
	own := rules.FAR{ID: rules.LocalRule | uint32(p.ID)<<14 | x.number}
	action := rules.ActionDROP
	if !x.rule.Drop {
		action = rules.ActionFORW
		own.Forwarding = &rules.Forwarding{Destination: new(uint8)}
		*own.Forwarding.Destination = rules.Core
		if forwards {
			copied := *far.Forwarding
			own.Forwarding = &copied
		}
		if redirects {
			own.Forwarding.Redirect = &rules.Redirect{Type: rules.RedirectURL, Address: x.rule.RedirectURL}
		}
	}
	own.Action = &action
	compiled, refused := c.far(&own)
	if refused != nil {
		return refused.of(rules.KindPDR, uint32(p.ID))
	}
	o.FarId = own.ID
	out.Fars = append(out.Fars, compiled)
	return nil
}

// redirectMax is the most octets of a URL that requests are redirected to.
const redirectMax = 1024

// RedirectURL says whether requests can be redirected there: it goes into a header field as it is.
func RedirectURL(s string) bool {
	if len(s) > redirectMax || !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '<' || r == '>' })
}

// CheckPredefined says what is wrong with a rule of the configuration.
func CheckPredefined(r *rules.PredefinedRule) error {
	c := compiler{}
	for i := range r.Filters {
		if _, err := c.filter(&rules.SDFFilter{Flow: &r.Filters[i]}, rules.Core); err != nil {
			return err
		}
	}
	switch {
	case r.RedirectURL != "" && !RedirectURL(r.RedirectURL):
		return fmt.Errorf("%q is not http:// or https:// and up to %d printable characters", r.RedirectURL, redirectMax)
	case r.RedirectURL != "" && r.Drop:
		return fmt.Errorf("a rule that drops does not redirect")
	}
	if r.QER != nil {
		if refused := checkQER(r.QER); refused != nil {
			return fmt.Errorf("%s", refused.reason)
		}
	}
	return nil
}
