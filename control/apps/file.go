// SPDX-License-Identifier: BSD-3-Clause
package apps

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Layer is what one source says: applications in its order.
type Layer struct {
	Order []string
	PFDs  map[string][]PFD
}

// NewLayer is empty.
func NewLayer() *Layer { return &Layer{PFDs: map[string][]PFD{}} }

// Put replaces what an application has; nil takes it away.
func (l *Layer) Put(id string, list []PFD) {
	_, there := l.PFDs[id]
	if list == nil {
		if there {
			delete(l.PFDs, id)
			l.Order = without(l.Order, id)
		}
		return
	}
	if !there {
		l.Order = append(l.Order, id)
	}
	l.PFDs[id] = list
}

func without(list []string, id string) []string {
	out := make([]string, 0, len(list))
	for _, x := range list {
		if x != id {
			out = append(out, x)
		}
	}
	return out
}

// kinds of the lines of a file.
var kinds = map[string]struct {
	kind  Kind
	regex bool
}{
	"host": {Host, false}, "suffix": {Suffix, false}, "host-pattern": {HostPattern, false},
	"host-regex": {HostPattern, true}, "url": {URLPattern, false}, "url-regex": {URLPattern, true},
	"flow": {Flow, false},
}

const lineErrorsMax = 20

// LoadFiles reads the application files. The error has all that is wrong, a line each (20 at most),
// with file, line and reason.
func LoadFiles(paths []string) (*Layer, error) {
	l := NewLayer()
	var errs []error
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, l.read(uint16(i), path, text)...)
	}
	if len(errs) > lineErrorsMax {
		more := len(errs) - lineErrorsMax
		errs = append(errs[:lineErrorsMax], fmt.Errorf("and %d more", more))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return l, nil
}

// read takes one file's lines: `APPLICATION KIND TEXT`.
func (l *Layer) read(file uint16, path string, text []byte) (errs []error) {
	lines := bufio.NewReader(bytes.NewReader(text))
	for n := uint32(1); ; n++ {
		line, err := lines.ReadString('\n')
		if err := l.line(file, n, line); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", path, n, err))
		}
		if errors.Is(err, io.EOF) {
			return errs
		}
	}
}

func (l *Layer) line(file uint16, n uint32, line string) error {
	if !utf8.ValidString(line) {
		return errors.New("is not text")
	}
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	id, rest := word(line)
	kind, text := word(rest)
	k, ok := kinds[kind]
	switch {
	case kind == "":
		return errors.New("has to be APPLICATION KIND TEXT")
	case !ok:
		return fmt.Errorf("kind %q is none of host, suffix, host-pattern, host-regex, url, url-regex, flow", clip(kind))
	case !printable(id, MaxID):
		return fmt.Errorf("application %q: an id has 1 to %d printable ASCII characters", clip(id), MaxID)
	}
	p, err := New(k.kind, k.regex, text)
	if err != nil {
		return fmt.Errorf("application %s: %s: %w", id, kind, err)
	}
	p.File, p.Line = file, n
	l.Put(id, append(l.PFDs[id], p))
	return nil
}

// word splits the first one off.
func word(s string) (first, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}
