// SPDX-License-Identifier: BSD-3-Clause

package pfcp

import (
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
)

// PFD Contents flags, §8.2.39.
const (
	pfdFlow = 1 << iota
	pfdURL
	pfdDomain
	pfdCustom
	pfdProtocol
	pfdMoreFlows
	pfdMoreURLs
	pfdMoreDomains
)

// DecodePFDs reads the IEs of a PFD Management Request, §7.4.3.1.
func DecodePFDs(b []byte) (*rules.PFDRequest, *Error) {
	r := &rules.PFDRequest{}
	err := pfdManagement.walk(b, func(t uint16, v []byte) *Error {
		if t == ie.NodeID {
			id, err := nodeID(pfdManagement, v)
			return put(&r.Node, &id, err)
		}
		a, err := decodeApplicationPFDs(v)
		return add(&r.Applications, a, err)
	})
	return r, err
}

func decodeApplicationPFDs(b []byte) (rules.ApplicationPFDs, *Error) {
	var a rules.ApplicationPFDs
	err := applicationPFDs.walk(b, func(t uint16, v []byte) *Error {
		if t == ie.ApplicationID {
			a.ID = string(v)
			return nil
		}
		return pfdContext.walk(v, func(_ uint16, v []byte) *Error {
			c, err := pfdContents(v)
			return add(&a.Contents, c, err)
		})
	})
	return a, err
}

// pfdContents, §8.2.39: what the flags say is there, in their order.
func pfdContents(v []byte) (rules.PFDContents, *Error) {
	var o rules.PFDContents
	c := cursor{b: v}
	f := c.u8()
	c.u8()
	if f == 0 || f&pfdProtocol != 0 && f&pfdDomain == 0 {
		return o, pfdContext.fail(rules.CauseMandatoryIEIncorrect, ie.PFDContents)
	}
	part := func(flag uint8) (string, bool) {
		if f&flag == 0 {
			return "", false
		}
		return string(c.take(int(c.u16()))), true
	}
	if s, ok := part(pfdFlow); ok {
		o.Flows = append(o.Flows, s)
	}
	if s, ok := part(pfdURL); ok {
		o.URLs = append(o.URLs, s)
	}
	if s, ok := part(pfdDomain); ok {
		o.Domains = append(o.Domains, rules.PFDDomain{Name: s})
	}
	_, o.Custom = part(pfdCustom)
	if s, ok := part(pfdProtocol); ok {
		o.Domains[0].Protocol = s
	}
	more, _ := part(pfdMoreFlows)
	o.Flows = append(o.Flows, c.texts(more)...)
	more, _ = part(pfdMoreURLs)
	o.URLs = append(o.URLs, c.texts(more)...)
	more, _ = part(pfdMoreDomains)
	for pair := c.texts(more); len(pair) > 0; pair = pair[2:] {
		if len(pair) < 2 { // a name without the length of its protocol
			c.short = true
			break
		}
		o.Domains = append(o.Domains, rules.PFDDomain{Name: pair[0], Protocol: pair[1]})
	}
	return o, c.err(pfdContext, ie.PFDContents)
}

// texts takes a list apart whose members have their length before them. One that is cut short
// makes all of it short.
func (c *cursor) texts(list string) []string {
	var out []string
	part := cursor{b: []byte(list)}
	for len(part.b) > 0 && !part.short {
		out = append(out, string(part.take(int(part.u16()))))
	}
	c.short = c.short || part.short
	return out
}
