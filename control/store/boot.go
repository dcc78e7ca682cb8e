// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

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
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errInUse
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

// whole says what is wrong with the pages of a file; see checkPages.
func whole(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // or NFS does not lock it
	if errors.Is(err, fs.ErrNotExist) {
		return nil // is made
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for end := time.Now().Add(time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err = flock(f); err == nil {
			break
		}
		if err != errInUse || time.Now().After(end) { // an agent that ends has closed it by then
			return err
		}
	}
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	return openError(checkPages(f, info.Size()))
}
