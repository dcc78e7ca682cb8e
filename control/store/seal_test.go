// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

const sealedSessions = 200

func sessionValue(i uint64) []byte { return fmt.Appendf(nil, "session %08d %0200d", i, i*i) }

// filled is a closed store's file.
func filled(t *testing.T) (path string, file []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.db")
	s := open(t, path, "a", 1000)
	for i := range uint64(sealedSessions) {
		s.Apply(nil, PutSession(i, sessionValue(i)))
	}
	s.Apply(nil, PutReport(7, 5, []byte("report 5")), PutReport(7, 6, []byte("report 6")), PutPeer("smf", []byte("up")))
	s.Apply(nil, PutMeta("seid", []byte("12345678")), AddRecord([]byte("first record")), AddRecord([]byte("second record")))
	s.Close()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, file
}

// flip a bit wherever a text is in the file, which may have pages that are not used any more.
func flip(t *testing.T, file []byte, text string) []byte {
	t.Helper()
	out := bytes.Clone(file)
	found := 0
	for at := 0; ; found++ {
		i := bytes.Index(out[at:], []byte(text))
		if i < 0 {
			break
		}
		out[at+i] ^= 0x10
		at += i + 1
	}
	if found == 0 {
		t.Fatal(text, "is not in the file")
	}
	return out
}

func openDamaged(t *testing.T, path string, file []byte) (*Store, string, error) {
	t.Helper()
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err := Open(Options{Path: path, BootID: "a", Log: slog.New(slog.NewTextHandler(&log, nil))})
	return s, log.String(), err
}

// TestDamagedRecords: one that was changed on the disk is named and counted, and all others are there.
func TestDamagedRecords(t *testing.T) {
	path, file := filled(t)
	for text, c := range map[string]struct{ kind, key string }{
		"session 00000007":     {"sessions", "0000000000000007"},
		"12345678":             {"meta", fmt.Sprintf("%x", "x-seid")},
		"second record":        {"charging", "0000000000000002"},
		"recovery\x00\x00\x00": {"meta", fmt.Sprintf("%x", keyRecovery)},
	} {
		t.Run(c.kind, func(t *testing.T) {
			spoilt := flip(t, file, text)
			if strings.HasPrefix(text, "recovery") { // its value, not its key
				spoilt = bytes.ReplaceAll(file, []byte("recovery\x00\x00\x00"), []byte("recovery\x00\x00\x01"))
			}
			s, log, err := openDamaged(t, path, spoilt)
			if err != nil {
				t.Fatal(err)
			}
			if s.Damaged() != 1 || !strings.Contains(log, "kind="+c.kind+" key="+c.key) {
				t.Errorf("%d damaged: %s", s.Damaged(), log)
			}
			sessions, records := 0, 0
			_ = s.Sessions(func(seid uint64, b []byte) error {
				sessions++
				if !bytes.Equal(b, sessionValue(seid)) {
					t.Errorf("session %d: %s", seid, b)
				}
				return nil
			})
			_ = s.Records(func(uint64, []byte) bool { records++; return true })
			lost := sealedSessions + 2 - sessions - records
			if c.kind == "meta" && lost != 0 || c.kind != "meta" && lost != 1 || s.RecoveryTimeStamp().Unix() != 1000 {
				t.Errorf("%d sessions, %d records, stamp %v", sessions, records, s.RecoveryTimeStamp())
			}
			s.Close()
			if s = open(t, path, "a", 2000); s.Damaged() != 0 || s.RecoveryTimeStamp().Unix() != 1000 {
				t.Error("damaged again", s.Damaged(), s.RecoveryTimeStamp())
			}
			s.Close()
		})
	}
}

// TestFlippedBits: wherever in a session's value or seal a bit is flipped, that session is left out.
func TestFlippedBits(t *testing.T) {
	path, file := filled(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		spoilt, seid := bytes.Clone(file), r.Uint64N(sealedSessions)
		value := sessionValue(seid)
		octet, bit := r.IntN(len(value)+sealOctets), r.IntN(8)
		for at := 0; ; at++ { // pages that are not used any more may have it, too
			i := bytes.Index(file[at:], value)
			if i < 0 {
				break
			}
			at += i
			spoilt[at+octet] ^= 1 << bit
		}
		s, _, err := openDamaged(t, path, spoilt)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		_ = s.Sessions(func(got uint64, b []byte) error {
			if n++; got == seid || !bytes.Equal(b, sessionValue(got)) {
				t.Errorf("session %d: %s", got, b)
			}
			return nil
		})
		if n != sealedSessions-1 || s.Damaged() != 1 {
			t.Errorf("octet %d bit %d: %d sessions, %d damaged", octet, bit, n, s.Damaged())
		}
		s.Close()
	}
}

// TestFlippedKeys: wherever in a key of a small bucket, or in a bucket's name, a bit is flipped, the
// store says so and what to do, or leaves that one value out, and is sound from then on.
func TestFlippedKeys(t *testing.T) {
	path, file := filled(t)
	texts := []string{"format", "recovery\x00", "x-seid", "smfup", string(seidKey(7)) + string(seidKey(5)), string(seidKey(7)) + string(seidKey(6))}
	names := len(texts)
	for _, name := range buckets {
		texts = append(texts, string(name))
	}
	for i, text := range texts {
		for octet := range len(strings.TrimSuffix(strings.TrimSuffix(text, "\x00"), "up")) {
			for _, bit := range []byte{0x01, 0x10, 0x20} {
				spoilt := bytes.Clone(file)
				for at, n := 0, 0; n >= 0; at += n + 1 {
					if n = bytes.Index(file[at:], []byte(text)); n >= 0 {
						spoilt[at+n+octet] ^= bit
					}
				}
				what := fmt.Sprintf("%q octet %d bit %x", text, octet, bit)
				if bytes.Equal(spoilt, file) {
					t.Fatal(what, "is not in the file")
				}
				s, log, err := openDamaged(t, path, spoilt)
				if err != nil {
					if !strings.Contains(err.Error(), "move it away") {
						t.Error(what, err)
					}
					continue
				}
				if i >= names || s.Damaged() != 1 || count(t, s) != sealedSessions || s.RecoveryTimeStamp().Unix() != 1000 {
					t.Error(what, s.Damaged(), count(t, s), s.RecoveryTimeStamp(), log)
				}
				if err := s.Reports(func(uint64, uint64, []byte) error { return nil }); err != nil {
					t.Error(what, err)
				}
				s.Close()
				if s = open(t, path, "a", 2000); s.Damaged() != 0 || s.RecoveryTimeStamp().Unix() != 1000 {
					t.Error(what, "damaged again", s.Damaged(), s.RecoveryTimeStamp())
				}
				s.Close()
			}
		}
	}
}

// TestFormatWithoutTallies: a store of the version before tallies is taken over. Once it has them, what
// that version committed after is not: the error says which versions met.
func TestFormatWithoutTallies(t *testing.T) {
	path, _ := filled(t)
	change := func(fn func(meta *bolt.Bucket) error) {
		t.Helper()
		db, err := bolt.Open(path, 0o600, nil)
		if err == nil {
			err = db.Update(func(tx *bolt.Tx) error { return fn(tx.Bucket(bucketMeta)) })
		}
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
	change(func(meta *bolt.Bucket) error {
		if err := meta.Delete(keyTallies); err != nil {
			return err
		}
		return meta.Put(keyFormat, appendSealed(nil, bucketMeta, keyFormat, formatSealed))
	})
	for range 2 {
		s := open(t, path, "a", 2000)
		if count(t, s) != sealedSessions || s.Damaged() != 0 || string(s.Meta("seid")) != "12345678" || s.RecoveryTimeStamp().Unix() != 1000 {
			t.Error(count(t, s), s.Damaged(), s.Meta("seid"), s.RecoveryTimeStamp())
		}
		s.Close()
	}
	change(func(meta *bolt.Bucket) error {
		key := []byte("x-seid")
		return meta.Put(key, appendSealed(nil, bucketMeta, key, []byte("23456789")))
	})
	if _, err := Open(Options{Path: path, BootID: "a"}); err == nil || !strings.Contains(err.Error(), "an older version of the agent wrote it since") ||
		!strings.Contains(err.Error(), "move it away") {
		t.Error(err)
	}
}

// TestFormerFormat: a store whose values have no seals is taken over, and has them then.
func TestFormerFormat(t *testing.T) {
	path, _ := filled(t)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range buckets {
			b := tx.Bucket(name)
			plain := map[string][]byte{}
			_ = b.ForEach(func(k, v []byte) error {
				plain[string(k)] = bytes.Clone(v[:len(v)-sealOctets])
				return nil
			})
			for k, v := range plain {
				if err := b.Put([]byte(k), v); err != nil {
					return err
				}
			}
		}
		if err := tx.Bucket(bucketMeta).Delete(keyTallies); err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Delete(keyFormat)
	})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	for range 2 {
		s := open(t, path, "a", 2000)
		n := 0
		_ = s.Sessions(func(seid uint64, b []byte) error {
			if n++; !bytes.Equal(b, sessionValue(seid)) {
				t.Errorf("session %d: %s", seid, b)
			}
			return nil
		})
		if n != sealedSessions || s.Damaged() != 0 || string(s.Meta("seid")) != "12345678" || s.RecoveryTimeStamp().Unix() != 1000 {
			t.Error(n, s.Damaged(), s.Meta("seid"), s.RecoveryTimeStamp())
		}
		s.Close()
	}
}
