// SPDX-License-Identifier: BSD-3-Clause
package owner

import (
	"bufio"
	"encoding/hex"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

var names = map[string]error{"ok": nil, "EINVAL": ErrInvalid, "ENOSPC": ErrFull,
	"EAGAIN": ErrResting, "EEXIST": ErrInUse, "ENOENT": ErrUnknown}

func number(t *testing.T, s string, base int) uint32 {
	t.Helper()
	n, err := strconv.ParseUint(s, base, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

func octets(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestVectorsOfTheForwardingUnit asks the questions the C implementation was asked.
func TestVectorsOfTheForwardingUnit(t *testing.T) {
	file, err := os.Open("../../tests/vectors/upf_owner.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var teids *TEIDs
	asked := map[string]int{}
	scan := bufio.NewScanner(file)
	for line := 1; scan.Scan(); line++ {
		f := strings.Fields(scan.Text())
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		asked[f[0]]++
		switch f[0] {
		case "ip4":
			if got := BucketIPv4([4]byte(octets(t, f[1]))); got != number(t, f[2], 10) {
				t.Errorf("line %d: %v: bucket %d", line, f, got)
			}
		case "prefix6":
			var a [16]byte
			copy(a[:], octets(t, f[1]))
			a[8], a[15] = 0xff, 1
			if got := BucketPrefix6(a); got != number(t, f[2], 10) {
				t.Errorf("line %d: %v: bucket %d", line, f, got)
			}
		case "teids":
			teids, err = NewTEIDs(int(number(t, f[1], 10)), uint8(number(t, f[2], 10)))
			if err != nil {
				t.Fatal(err)
			}
		default:
			ask(t, teids, line, f)
		}
	}
	for _, kind := range []string{"ip4", "prefix6", "alloc", "free", "claim", "state", "any", "count"} {
		if asked[kind] == 0 {
			t.Errorf("no line of kind %s", kind)
		}
	}
}

func ask(t *testing.T, teids *TEIDs, line int, f []string) {
	t.Helper()
	now := func() int64 { return int64(number(t, f[1], 10)) }
	switch f[0] {
	case "alloc":
		got, err := teids.Alloc(number(t, f[2], 10), now())
		if !errors.Is(err, names[f[3]]) || got != number(t, f[4], 16) {
			t.Errorf("line %d: %v: %08x %v", line, f, got, err)
		}
	case "free":
		if err := teids.Free(number(t, f[2], 16), now()); !errors.Is(err, names[f[3]]) {
			t.Errorf("line %d: %v: %v", line, f, err)
		}
	case "claim":
		if err := teids.Claim(number(t, f[2], 16), now()); !errors.Is(err, names[f[3]]) {
			t.Errorf("line %d: %v: %v", line, f, err)
		}
	case "state":
		want := map[string]State{"live": Live, "stale": Stale, "unknown": Unknown}[f[2]]
		if got := teids.State(number(t, f[1], 16)); got != want {
			t.Errorf("line %d: %v: %v", line, f, got)
		}
	case "any":
		if got, err := teids.AnyBucket(now()); err != nil || got != number(t, f[2], 10) {
			t.Errorf("line %d: %v: %v %v", line, f, got, err)
		}
	case "count":
		if got := teids.Live(); got != int(number(t, f[1], 10)) {
			t.Errorf("line %d: %v: %v", line, f, got)
		}
	default:
		t.Fatalf("line %d: %v", line, f)
	}
}

func TestArguments(t *testing.T) {
	if _, err := NewTEIDs(0, 1); err == nil {
		t.Error("no slots")
	}
	if _, err := NewTEIDs(Slots+1, 1); err == nil {
		t.Error("too many slots")
	}
	if _, err := NewTEIDs(1, 0); err == nil {
		t.Error("generation 0")
	}
	full, _ := NewTEIDs(1, 1)
	for i := 0; i < Buckets; i++ {
		b, err := full.AnyBucket(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := full.Alloc(b, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := full.AnyBucket(0); !errors.Is(err, ErrFull) {
		t.Error("a full allocator gave a bucket", err)
	}
}
