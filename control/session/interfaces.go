// SPDX-License-Identifier: BSD-3-Clause
package session

import (
	"slices"
	"strings"

	"airpath/control/rules"
	"airpath/control/upfpb"
)

// nameOf3GPPType is how interfaces of a kind are commonly named, §8.2.118. It only decides where
// several are left: N3 and N9 are both Access to a UP function.
func nameOf3GPPType(t *uint8) string {
	if t == nil {
		return ""
	}
	switch *t {
	case 11, 12, 13, 14:
		return "n3"
	case 15:
		return "n9"
	case 16, 17:
		return "n6"
	case 18:
		return "n19"
	}
	return ""
}

// find gives the interface of a type for a network instance: the one that lists it; else one of
// the type without a list; else the only one of the type, as SMFs name the data network on the
// access side, too. exact says that it was listed.
func (u *unit) find(kind uint8, ni *string, type3GPP *uint8) (in *upfpb.Interface, exact bool) {
	return u.findFor(false, kind, ni, type3GPP)
}

// findFor finds a LAN, for frames, or an interface for packets.
func (u *unit) findFor(lan bool, kind uint8, ni *string, type3GPP *uint8) (in *upfpb.Interface, exact bool) {
	var listed, open, all []*upfpb.Interface
	for _, i := range u.interfaces {
		if !slices.Contains(i.GetTypes(), upfpb.InterfaceType(kind)) || i.GetLan() != lan {
			continue
		}
		all = append(all, i)
		switch {
		case ni != nil && *ni != "" && slices.Contains(i.GetNetworkInstances(), *ni):
			listed = append(listed, i)
		case len(i.GetNetworkInstances()) == 0:
			open = append(open, i)
		}
	}
	name := nameOf3GPPType(type3GPP)
	if len(listed) > 0 {
		return preferred(listed, name), true
	}
	if len(open) > 0 {
		return preferred(open, name), false
	}
	if len(all) == 1 {
		return all[0], false
	}
	return nil, false
}

func preferred(list []*upfpb.Interface, name string) *upfpb.Interface {
	if name != "" {
		for _, i := range list {
			if strings.HasPrefix(strings.ToLower(i.GetName()), name) {
				return i
			}
		}
	}
	return list[0]
}

func niText(ni *string) string {
	if ni == nil {
		return ""
	}
	return *ni
}

// tunnelInterface is the one whose address a local F-TEID has.
func (u *unit) tunnelInterface(p *rules.PDI, pdr uint32) (*upfpb.Interface, *refusal) {
	in, _ := u.find(p.Source, p.NetworkInstance, p.SourceType)
	if in == nil {
		return nil, ruleFailure(rules.KindPDR, pdr, "PDR %d: no interface of type %d for network instance %q", pdr, p.Source, niText(p.NetworkInstance))
	}
	return in, nil
}
