// SPDX-License-Identifier: BSD-3-Clause
package apps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"airpath/control/rules"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFiles(t *testing.T) {
	first := write(t, "a.rules", `# what people watch
video  host    Video.Example.
video  suffix  cdn.example
  news host-pattern News

news   host-regex ^(www\.)?paper\.example$
video  url     /watch?v=
web    url-regex ^http://[^/]*/a b
dns    flow    permit out 17 from 9.9.9.9 53 to assigned`)
	second := write(t, "b.rules", "video host b.example\n")
	l, err := LoadFiles([]string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]PFD{
		"video": {{Host, false, "video.example", 2, 0}, {Suffix, false, "cdn.example", 3, 0}, {URLPattern, false, "/watch?v=", 7, 0}, {Host, false, "b.example", 1, 1}},
		"news":  {{HostPattern, false, "news", 4, 0}, {HostPattern, true, `^(www\.)?paper\.example$`, 6, 0}},
		"web":   {{URLPattern, true, "^http://[^/]*/a b", 8, 0}},
		"dns":   {{Flow, false, "permit out 17 from 9.9.9.9 53 to assigned", 9, 0}},
	}
	if !reflect.DeepEqual(l.PFDs, want) || !reflect.DeepEqual(l.Order, []string{"video", "news", "web", "dns"}) {
		t.Errorf("%+v", l)
	}
}

// What is wrong is said with file, line and reason; all of it at once, up to a bound.
func TestWrongFiles(t *testing.T) {
	for text, want := range map[string]string{
		"video":                                  ":1: has to be APPLICATION KIND TEXT",
		"\nvideo cinema a.example":               `:2: kind "cinema" is none of host`,
		"video host":                             ":1: application video: host: has to be 1 to 2048 printable",
		"video host a..b":                        `:1: application video: host: "a..b" is not a host name`,
		"video host a b":                         `' ' is in it`,
		"video suffix *.a.example":               `'*' is in it`,
		"video flow permit in tcp":               ":1: application video: flow: ",
		"video flow deny out ip":                 "does not begin with permit out",
		"video host \xff":                        ":1: is not text",
		"vidéo host a.example":                   `application "vidéo": an id has`,
		"video url " + strings.Repeat("a", 2049): "1 to 2048",
		"a host " + strings.Repeat("a", 64):      "a label has 1 to 63",
	} {
		path := write(t, "x.rules", text)
		if _, err := LoadFiles([]string{path}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.rules:") {
			t.Errorf("%q: %v", text, err)
		}
	}
	many := write(t, "many.rules", strings.Repeat("x\n", 100))
	_, err := LoadFiles([]string{many, "/nowhere"})
	if lines := strings.Split(err.Error(), "\n"); len(lines) != lineErrorsMax+1 || lines[lineErrorsMax] != "and 81 more" {
		t.Errorf("%d lines: %v", len(lines), err)
	}
}

// §8.2.39; TS 29.122 §5.11: names, URLs and expressions.
func TestContents(t *testing.T) {
	for _, c := range []struct {
		in   rules.PFDContents
		want []PFD
	}{
		{rules.PFDContents{Domains: []rules.PFDDomain{{Name: "A.example.", Protocol: "TLS_SNI"}, {Name: "*.b.example"}, {Name: ".c.example"},
			{Name: `^.*\.d\.example$`, Protocol: "DNS_QNAME"}, {Name: "e+.example"}}},
			[]PFD{{Kind: Host, Text: "a.example"}, {Kind: Suffix, Text: "b.example"}, {Kind: Suffix, Text: "c.example"},
				{Kind: HostPattern, Regex: true, Text: `^.*\.d\.example$`}, {Kind: HostPattern, Regex: true, Text: "e+.example"}}},
		{rules.PFDContents{URLs: []string{"http://a.example/x.html?a=b+c", `^https?://b\.example/(\S*)$`}},
			[]PFD{{Kind: URLPattern, Text: "http://a.example/x.html?a=b+c"}, {Kind: URLPattern, Regex: true, Text: `^https?://b\.example/(\S*)$`}}},
		{rules.PFDContents{Flows: []string{"permit out ip from 192.0.2.0/24 443 to assigned"}},
			[]PFD{{Kind: Flow, Text: "permit out ip from 192.0.2.0/24 443 to assigned"}}},
	} {
		got, err := FromRequest(&rules.ApplicationPFDs{ID: "a", Contents: []rules.PFDContents{c.in}})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v %v", c.in, got, err)
		}
	}
	for cause, list := range map[rules.Cause][]rules.PFDContents{
		rules.CauseServiceNotSupported: {{Custom: true}, {Domains: []rules.PFDDomain{{Name: "a", Protocol: "TLS_SAN"}}}},
		rules.CauseMandatoryIEIncorrect: {{Flows: []string{"permit out"}}, {URLs: []string{""}}, {URLs: []string{"a\nb"}},
			{Domains: []rules.PFDDomain{{Name: "a/b"}}}, {Domains: []rules.PFDDomain{{Name: "a", Protocol: "SMTP"}}}},
	} {
		for _, c := range list {
			_, err := FromRequest(&rules.ApplicationPFDs{ID: "a", Contents: []rules.PFDContents{c}})
			var refused *Refusal
			if !errors.As(err, &refused) || refused.Cause != cause || refused.IE != rules.IEPFDContents {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
	if _, err := FromRequest(&rules.ApplicationPFDs{ID: "a\x00"}); err == nil {
		t.Error("an id of any octets")
	}
}

// PFD management goes before the files; an id keeps its index.
func TestBook(t *testing.T) {
	b := NewBook()
	none := func() map[string]bool { return nil }
	of := func(text string) []PFD { return []PFD{{Kind: Host, Text: text}} }
	b.Files.Put("x", of("file"))
	b.Files.Put("y", of("file"))
	b.Managed.Put("z", of("pfcp"))
	b.Managed.Put("x", of("pfcp"))
	for i, id := range []string{"y", "x", "z", "y"} {
		if n, fresh, err := b.Give(id, none); err != nil || int(n) != i%3+1 || fresh != (i < 3) {
			t.Error(id, n, fresh, err)
		}
	}
	if ids := b.Ids(); !reflect.DeepEqual(ids, []string{"x", "z", "y"}) || b.PFDs("x")[0].Text != "pfcp" || b.Len() != 3 || b.Name(2) != "x" || b.Name(9) != "" {
		t.Error(ids)
	}
	before := Digest(b.Applications())
	managed := b.Managed.Clone()
	managed.Put("x", nil)
	next := b.With(b.Files, managed)
	if next.PFDs("x")[0].Text != "file" || b.PFDs("x")[0].Text != "pfcp" || next.Index("x") != 2 || Digest(next.Applications()) == before {
		t.Error("the files' are back, and the book as it was is as it was")
	}
	next.Managed.Put("x", of("pfcp"))
	if Digest(next.Applications()) != before {
		t.Error("the same is the same, in whichever order it came")
	}
}

// The last index is given: ids that nothing has and no session names make room.
func TestIndicesComeAgain(t *testing.T) {
	b := NewBook()
	used := map[string]bool{}
	for i := range MaxApps {
		id := fmt.Sprint(i)
		if i != 7 && i != 9 {
			used[id] = true
		}
		if _, _, err := b.Give(id, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.Files.Put("9", []PFD{{Kind: Host, Text: "a"}})
	inUse := func() map[string]bool { return used }
	if n, fresh, err := b.Give("new", inUse); n != 8 || !fresh || err != nil || b.Index("7") != 0 || b.Name(8) != "new" {
		t.Error(n, fresh, err)
	}
	used["new"] = true
	if _, _, err := b.Give("one more", inUse); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(Encode(7, []PFD{{Kind: Host, Text: "a.example"}, {Kind: URLPattern, Regex: true, Text: "x.*"}, {Kind: Flow, Text: "permit out ip from any to any"}}))
	f.Fuzz(func(t *testing.T, record []byte) {
		index, list, err := Decode(record)
		if err != nil {
			return
		}
		again, same, err := Decode(Encode(index, list))
		if err != nil || again != index || !reflect.DeepEqual(list, same) {
			t.Fatal(index, list, again, same, err)
		}
	})
}

func FuzzFile(f *testing.F) {
	f.Add("video host a.example\n# x\nweb url-regex ^a$\ndns flow permit out 17 from any 53 to assigned")
	f.Fuzz(func(t *testing.T, text string) {
		l := NewLayer()
		if errs := l.read(0, "f", []byte(text)); len(errs) > 0 {
			return
		}
		for _, id := range l.Order {
			for _, p := range l.PFDs[id] {
				if q, err := New(p.Kind, p.Regex, p.Text); err != nil || q.Text != p.Text {
					t.Fatalf("%q became %q %v", p.Text, q.Text, err)
				}
			}
		}
	})
}
