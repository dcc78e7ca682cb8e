// SPDX-License-Identifier: BSD-3-Clause

// Package apps knows applications by their packet flow descriptions (PFDs, TS 29.244 §5.11,
// §8.2.39): those of PFD management and those of the operator's files. What a description means
// is the forwarding unit's to build; here it is read, held to its form, and kept.
package apps

import (
	"errors"
	"fmt"
	"strings"

	"airpath/control/filter"
)

// Kind of a description, as Pfd.Kind of api/upf.proto.
type Kind uint8

// Kinds.
const (
	Flow        Kind = iota // a header: the text is a flow description
	Host                    // a host name, whole
	Suffix                  // a name and all below it
	HostPattern             // in a host name
	URLPattern              // in host and path of an HTTP request
)

// Limits of what is taken.
const (
	MaxText = 2048  // octets of a description
	MaxID   = 255   // octets of an Application ID
	MaxApps = 65535 // ids that have an index
)

// PFD is a packet flow description. It is comparable.
type PFD struct {
	Kind  Kind
	Regex bool // of the patterns: an expression, else the text as it is
	Text  string
	Line  uint32 // of the file it is from; 0: from none
	File  uint16 // which of the files
}

var errText = fmt.Errorf("has to be 1 to %d printable ASCII characters", MaxText)

func printable(s string, limit int) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) > 0 && len(s) <= limit
}

// New makes a description of a text, which is held to its kind.
func New(kind Kind, regex bool, text string) (PFD, error) {
	p := PFD{Kind: kind, Regex: regex, Text: text}
	if !printable(text, MaxText) {
		return p, errText
	}
	switch kind {
	case Flow:
		_, err := filter.Parse(text)
		return p, err
	case Host, Suffix:
		p.Text = strings.ToLower(strings.TrimSuffix(text, "."))
		return p, hostName(p.Text)
	case HostPattern:
		if !regex {
			p.Text = strings.ToLower(text)
		}
	}
	return p, nil
}

// hostName holds a name to RFC 1123 §2.1, with underscores.
func hostName(s string) error {
	if len(s) > 253 {
		return errors.New("a host name has at most 253 characters")
	}
	for label := range strings.SplitSeq(s, ".") {
		if len(label) == 0 || len(label) > 63 {
			return fmt.Errorf("%q is not a host name: a label has 1 to 63 characters", clip(s))
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
				return fmt.Errorf("%q is not a host name: %q is in it", clip(s), c)
			}
		}
	}
	return nil
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
