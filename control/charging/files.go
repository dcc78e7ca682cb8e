// SPDX-License-Identifier: BSD-3-Clause
package charging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file is called after its first record; while it is written to, openSuffix follows.
const (
	prefix     = "airpath-"
	suffix     = ".ndjson"
	openSuffix = ".open"
)

func fileName(directory string, first uint64) string {
	return filepath.Join(directory, fmt.Sprintf("%s%016d%s%s", prefix, first, suffix, openSuffix))
}

// present are the files of a directory, by their first record.
func present(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		n := e.Name()
		if strings.HasPrefix(n, prefix) && (strings.HasSuffix(n, suffix) || strings.HasSuffix(n, suffix+openSuffix)) {
			names = append(names, filepath.Join(directory, n))
		}
	}
	slices.Sort(names)
	return names, nil
}

// lineMax bounds a record's line.
const lineMax = 1 << 16

// lastOf reads the end of a file: the number of the last whole record (0: there is none), and how
// many octets whole lines take.
func lastOf(path string) (number uint64, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	from := max(0, info.Size()-2*lineMax)
	tail := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	if end == 0 {
		return 0, from, nil
	}
	line := tail[bytes.LastIndexByte(tail[:end-1], '\n')+1 : end]
	var r struct {
		Record uint64 `json:"record"`
	}
	if err := json.Unmarshal(line, &r); err != nil || r.Record == 0 {
		return 0, 0, fmt.Errorf("%s: the last line is not a charging record; move the file away", path)
	}
	return r.Record, from + int64(end), nil
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
