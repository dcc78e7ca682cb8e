// SPDX-License-Identifier: BSD-3-Clause
package apps

import (
	"fmt"
	"strings"

	"airpath/control/rules"
)

// Refusal says why PFDs of a request are not taken.
type Refusal struct {
	Cause  rules.Cause
	IE     uint16
	Reason string
}

func (r *Refusal) Error() string { return r.Reason }

// FromRequest reads the PFDs of one application of a PFD Management Request. Of a PFD with several
// properties any counts.
func FromRequest(a *rules.ApplicationPFDs) ([]PFD, error) {
	if !printable(a.ID, MaxID) {
		return nil, &Refusal{rules.CauseMandatoryIEIncorrect, rules.IEApplicationID,
			fmt.Sprintf("application %q: an id has 1 to %d printable ASCII characters", clip(a.ID), MaxID)}
	}
	var out []PFD
	for i := range a.Contents {
		list, cause, err := fromContents(&a.Contents[i])
		if err != nil {
			return nil, &Refusal{cause, rules.IEPFDContents, fmt.Sprintf("application %s, PFD %d: %v", a.ID, i+1, err)}
		}
		out = append(out, list...)
	}
	return out, nil
}

func fromContents(c *rules.PFDContents) (out []PFD, cause rules.Cause, err error) {
	if c.Custom {
		return nil, rules.CauseServiceNotSupported, fmt.Errorf("custom PFD content")
	}
	for _, text := range c.Flows {
		if err = add(&out, Flow, false, text); err != nil {
			return nil, rules.CauseMandatoryIEIncorrect, err
		}
	}
	for _, text := range c.URLs {
		if err = add(&out, URLPattern, isRegex(text), text); err != nil {
			return nil, rules.CauseMandatoryIEIncorrect, fmt.Errorf("URL %q: %w", clip(text), err)
		}
	}
	for _, d := range c.Domains {
		switch d.Protocol {
		case "", "DNS_QNAME", "TLS_SNI":
		case "TLS_SAN", "TLS_SCN": // of the server's certificate, which is not seen
			return nil, rules.CauseServiceNotSupported, fmt.Errorf("domain name %q of protocol %s", clip(d.Name), d.Protocol)
		default:
			return nil, rules.CauseMandatoryIEIncorrect, fmt.Errorf("domain name protocol %q", clip(d.Protocol))
		}
		if err = domain(&out, d.Name); err != nil {
			return nil, rules.CauseMandatoryIEIncorrect, fmt.Errorf("domain name %q: %w", clip(d.Name), err)
		}
	}
	return out, 0, nil
}

func add(out *[]PFD, kind Kind, regex bool, text string) error {
	p, err := New(kind, regex, text)
	if err == nil {
		*out = append(*out, p)
	}
	return err
}

// isRegex tells an expression from a text: both may be in a URL, TS 29.122 §5.11. A dot, a plus or
// a question mark are in many a URL and do not make it an expression.
func isRegex(text string) bool { return strings.ContainsAny(text, `^$*()[]{}|\`) }

// domain is a name, "*.name" or ".name" for all below a name as well as itself, or an expression.
func domain(out *[]PFD, text string) error {
	name, below := strings.CutPrefix(text, "*.")
	if !below {
		name, below = strings.CutPrefix(text, ".")
	}
	switch {
	case below && !isRegex(name):
		return add(out, Suffix, false, name)
	case isRegex(text) || strings.ContainsAny(text, "+?"):
		return add(out, HostPattern, true, text)
	}
	return add(out, Host, false, text)
}
