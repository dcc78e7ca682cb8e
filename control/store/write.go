// SPDX-License-Identifier: BSD-3-Clause
package store

import (
	"encoding/binary"
)

// Write is one change; those of one Apply are committed together.
type Write struct {
	bucket, key, value []byte // value nil: delete
}

type write struct {
	Write
	last bool // of its Apply
	done func(error)
}

func seidKey(seid uint64) []byte { return binary.BigEndian.AppendUint64(nil, seid) }

// PutSession stores a session's record, nil removes it. What is given to a Write must not change
// any more.
func PutSession(seid uint64, record []byte) Write {
	return Write{bucketSessions, seidKey(seid), record}
}

// PutGone keeps something of a session that was deleted; nil forgets it.
func PutGone(seid uint64, last []byte) Write { return Write{bucketGone, seidKey(seid), last} }

// PutDoomed says why a session is to go, whatever happens to this agent; nil: it has gone.
func PutDoomed(seid uint64, why []byte) Write { return Write{bucketDoomed, seidKey(seid), why} }

// PutReport keeps a report under a number until it is delivered; nil forgets it.
func PutReport(seid, number uint64, report []byte) Write {
	return Write{bucketReports, binary.BigEndian.AppendUint64(seidKey(seid), number), report}
}

// PutUsage stores what a session has used so far; nil forgets it.
func PutUsage(seid uint64, usage []byte) Write { return Write{bucketUsage, seidKey(seid), usage} }

// PutPeer stores what is to be known of a peer; nil forgets it.
func PutPeer(name string, state []byte) Write { return Write{bucketPeers, []byte(name), state} }

// PutApplication stores what is to be known of an application; nil forgets it.
func PutApplication(id string, record []byte) Write {
	return Write{bucketApps, []byte(id), record}
}

// PutMeta stores a value under a name of the caller's.
func PutMeta(name string, value []byte) Write { return Write{bucketMeta, []byte("x-" + name), value} }
