// SPDX-License-Identifier: BSD-3-Clause

package n4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/prometheus/client_golang/prometheus"
)

// receiveBuffer of a socket, octets: what a burst of requests may take.
const receiveBuffer = 8 << 20

// Server is the N4 interface. It is a rules.Reporter.
type Server struct {
	cfg      Config
	log      *slog.Logger
	metrics  *metrics
	self     pfcp.Self
	sessions rules.Sessions
	sockets  []*socket
	running  sync.WaitGroup
	stopping atomic.Bool
	muted    atomic.Bool
	underway atomic.Int64 // requests at the session manager
	load     loadControl

	mu           sync.RWMutex
	associations map[rules.NodeID]*association
	releases     map[rules.NodeID]*keptAnswer // the last one of who is not associated, while it is kept
	closed       bool
	timers       map[*time.Timer]struct{} // of set-ups to come
}

// socket is one local address.
type socket struct {
	server   *Server
	conn     *net.UDPConn
	local    netip.Addr
	cache    *cache
	requests *requests
}

// New opens the sockets; nothing is received before Start.
func New(cfg Config, log *slog.Logger, registry prometheus.Registerer) (*Server, error) {
	cfg.defaults()
	s := &Server{cfg: cfg, log: log, metrics: newMetrics(registry), associations: map[rules.NodeID]*association{},
		releases: map[rules.NodeID]*keptAnswer{}, timers: map[*time.Timer]struct{}{}}
	s.self = pfcp.Self{Node: cfg.Node, Features: features}
	for _, a := range cfg.Addresses {
		if err := s.listen(a); err != nil {
			s.closeSockets()
			return nil, fmt.Errorf("N4 address %s port %d: %w", a, cfg.Port, err)
		}
	}
	s.metrics.gauges(registry, s)
	return s, nil
}

func (s *Server) listen(a netip.Addr) error {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, s.cfg.Port)))
	if err != nil {
		return err
	}
	enlarge(conn)
	now := time.Now()
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	s.sockets = append(s.sockets, &socket{server: s, conn: conn, local: local.Addr().Unmap(),
		cache: newCache(s.cfg.ResponseTTL, now), requests: newRequests(now)})
	return nil
}

// enlarge the receive buffer, beyond the system's limit where we may.
func enlarge(conn *net.UDPConn) {
	const soRcvbufForce = 33
	_ = conn.SetReadBuffer(receiveBuffer)
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soRcvbufForce, receiveBuffer)
		})
	}
}

// Start takes associations and answers of the run before from the manager and begins to receive.
func (s *Server) Start(sessions rules.Sessions) {
	s.sessions = sessions
	s.self.Recovery = sessions.RecoveryTimeStamp()
	sessions.Answers(func(t rules.Transaction, wire []byte) bool {
		if len(wire) < 8 || t.Digest == 0 {
			return true
		}
		for _, k := range s.sockets {
			x, _, _ := k.cache.begin(exchangeKey{t.Peer, t.Sequence, wire[1] - 1}, t.Digest, time.Now())
			k.cache.finish(x, rules.NodeID{}, wire)
		}
		return true
	})
	s.restore()
	for _, k := range s.sockets {
		s.running.Go(k.receive)
	}
	for _, p := range s.cfg.Peers {
		if p.Associate {
			s.associate(p)
		}
	}
}

// Stop receiving, and wait for the answers under way for a while. Later ones are not sent: they
// would say that the session manager is closed, where the agent that starts next can do what is
// asked for when it comes again.
func (s *Server) Stop(patience time.Duration) {
	s.stopping.Store(true)
	for _, k := range s.sockets {
		_ = k.conn.SetReadDeadline(time.Now())
	}
	s.running.Wait()
	for end := time.Now().Add(patience); s.underway.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	s.muted.Store(true)
}

// Close ends the interface; associations and sessions stay as they are.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	for _, a := range s.associations {
		a.timer.Stop()
	}
	for t := range s.timers {
		t.Stop()
	}
	s.mu.Unlock()
	s.closeSockets()
	s.running.Wait()
	for _, k := range s.sockets {
		k.requests.close()
	}
}

func (s *Server) closeSockets() {
	for _, k := range s.sockets {
		_ = k.conn.Close()
	}
}

// Local are the addresses and ports received on.
func (s *Server) Local() []netip.AddrPort {
	list := make([]netip.AddrPort, len(s.sockets))
	for i, k := range s.sockets {
		list[i] = netip.AddrPortFrom(k.local, k.conn.LocalAddr().(*net.UDPAddr).AddrPort().Port())
	}
	return list
}

func (k *socket) receive() {
	s := k.server
	b := make([]byte, 65536)
	for {
		n, from, err := k.conn.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) || s.stopping.Load() {
			return
		}
		if err != nil { // an ICMP error of what was sent before
			continue
		}
		k.datagram(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), b[:n])
	}
}

// datagram takes the messages of a datagram apart, §7.2.2: several with FO.
func (k *socket) datagram(from netip.AddrPort, b []byte) {
	defer func() {
		if p := recover(); p != nil {
			k.server.metrics.discard("panic")
			k.server.log.Error("message not understood", "peer", from, "panic", p, "octets", fmt.Sprintf("%x", b),
				"stack", string(debug.Stack()))
		}
	}()
	for len(b) > 0 {
		h, body, err := pfcp.ParseHeader(b)
		k.message(from, h, body, err)
		if err != nil || !h.FollowOn {
			return
		}
		b = b[4+int(binary.BigEndian.Uint16(b[2:])):]
	}
}

func (k *socket) message(from netip.AddrPort, h pfcp.Header, body []byte, err error) {
	s := k.server
	switch {
	case errors.Is(err, pfcp.ErrTooShort):
		s.metrics.discard("too_short")
	case errors.Is(err, pfcp.ErrVersion):
		s.metrics.discard("version")
		if !pfcp.IsResponse(h.Type) {
			k.write(pfcp.EncodeVersionNotSupported(h.Sequence), from)
		}
	case h.Type == pfcp.VersionNotSupportedResponse:
		s.metrics.discard("version_refused")
		s.log.Warn("peer does not support PFCP version 1", "peer", from)
	case pfcp.IsResponse(h.Type):
		if err != nil {
			s.metrics.discard("length")
		} else if !k.response(from, h, body) {
			s.metrics.discard("unexpected_response")
		}
	default:
		k.request(from, h, body, err)
	}
}

// write sends octets. What cannot be sent is like what is lost on the way.
func (k *socket) write(wire []byte, to netip.AddrPort) {
	if _, err := k.conn.WriteToUDPAddrPort(wire, to); err != nil && !errors.Is(err, net.ErrClosed) {
		k.server.metrics.discard("send")
		k.server.log.Debug("cannot send", "peer", to, "error", err)
	}
}
