// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// mark is the file beside the store that says which boot it is of. It is judged before the store
// is read, which may be broken when it is of an earlier one.
type mark struct {
	boot     string
	recovery int64
}

func bootID(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

func readMark(path string) (mark, error) {
	var m mark
	b, err := os.ReadFile(path + ".boot")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if n, _ := fmt.Sscanf(string(b), "%s %d", &m.boot, &m.recovery); n != 2 {
		return mark{}, nil
	}
	return m, nil
}

// writeMark replaces the file whole.
func writeMark(path, boot string, recovery int64) error {
	tmp := path + ".boot.new"
	if err := os.WriteFile(tmp, fmt.Appendf(nil, "%s %d\n", boot, recovery), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path+".boot")
}

func flock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// walk through all there is. bbolt has looked at the order of keys, but not of small buckets' (inline
// ones'): what is out of order would be seen here and found by nobody.
func walk(tx *bolt.Tx) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		var last []byte
		return b.ForEach(func(k, v []byte) error {
			if v == nil {
				return fmt.Errorf("%s %x is no value", name, k)
			}
			if last != nil && bytes.Compare(last, k) >= 0 {
				return fmt.Errorf("%s %x is out of order", name, k)
			}
			last = k
			return nil
		})
	})
}

// whole says what is wrong with a file that ends before its last page. bbolt maps the file and
// would end the process by a signal there, and by a panic on a goroutine of its own where pages do
// not fit together: so they are all looked at first.
func whole(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // is made
	}
	if err != nil {
		return err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		return openError(err)
	}
	defer db.Close()
	return db.View(func(tx *bolt.Tx) error {
		info, err := os.Stat(path) // under the lock
		if err != nil {
			return err
		}
		if tx.Size() <= info.Size() {
			return openError(walk(tx))
		}
		return openError(fmt.Errorf("cut short: %d octets of %d", info.Size(), tx.Size()))
	})
}
