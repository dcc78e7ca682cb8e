// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/hex"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// FuzzDatagram: whatever arrives, associated or not, nothing panics and the next request is
// answered.
func FuzzDatagram(f *testing.F) {
	text, err := os.ReadFile("../pfcp/testdata/smf-session.hex")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		if b, err := hex.DecodeString(line); err == nil && len(b) > 0 {
			f.Add(b)
		}
	}
	f.Add(marshal(message.NewAssociationReleaseRequest(3, ie.NewNodeID("127.0.0.4", "", ""))))
	f.Add(marshal(message.NewAssociationUpdateRequest(4, ie.NewNodeID("127.0.0.4", "", ""))))
	f.Add(marshal(message.NewPFDManagementRequest(5)))
	f.Add(pfds(6, "video", ie.NewNodeID("127.0.0.4", "", "")))
	registry := prometheus.NewRegistry()
	s, err := New(Config{Addresses: []netip.Addr{netip.MustParseAddr("127.0.7.9")}, Port: uint16(20000 + os.Getpid()%20000), HeartbeatInterval: time.Hour},
		slog.New(slog.NewTextHandler(io.Discard, nil)), registry)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	s.Start(newFake())
	sequence := uint32(0)
	panics := s.metrics.discarded.WithLabelValues("panic")
	f.Fuzz(func(t *testing.T, b []byte) {
		k := s.sockets[0]
		from := netip.MustParseAddrPort("127.0.0.4:9")
		sequence += 2
		k.datagram(from, marshal(message.NewAssociationSetupRequest(sequence&0xffffff, ie.NewNodeID("127.0.0.4", "", ""),
			ie.NewRecoveryTimeStamp(time.Unix(1000, 0)))))
		k.datagram(from, establishment(t, sequence+1, "127.0.0.4", 7))
		if len(b) > 12 && b[1] > 50 { // of the session just made
			f := s.sessions.(*fakeSessions)
			f.mu.Lock()
			b[11] = byte(f.next)
			f.mu.Unlock()
		}
		k.datagram(from, b)
		if n := value(t, panics); n != 0 {
			t.Fatalf("%v panics", n)
		}
	})
}
