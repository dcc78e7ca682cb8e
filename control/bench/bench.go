// SPDX-License-Identifier: BSD-3-Clause

// Package bench measures the agent: how many PFCP sessions a second it establishes, changes and
// deletes over UDP, one at a time and many under way, and what CPU time it takes for it.
package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"airpath/control/pfcp"
	"airpath/control/rules"

	"github.com/wmnsk/go-pfcp/ie"
	"github.com/wmnsk/go-pfcp/message"
)

// Options of Run.
type Options struct {
	Agent    netip.AddrPort
	SMF      netip.AddrPort // where we are
	Sessions int            // of the pipelined part
	Serial   int            // of the one that waits for each answer
	Window   int            // requests under way in the pipelined part
	UEs      netip.Addr     // address of the first UE
	Tries    int            // how often a request is sent at most; 0: three times
	// CPU time the agent has taken so far, in seconds; memory it has, in octets.
	CPU    func() (float64, error)
	Memory func() (uint64, error)
}

// Row is one measurement.
type Row struct {
	Procedure string  `json:"procedure"`
	Mode      string  `json:"mode"`
	Window    int     `json:"window"`
	Sessions  int     `json:"sessions"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"per_second"`
	AgentCPU  float64 `json:"agent_cpu_seconds"`
	PerCore   float64 `json:"per_agent_core_second"` // procedures per second of the agent's CPU time
	DelayP50  float64 `json:"delay_us_p50"`
	DelayP99  float64 `json:"delay_us_p99"`
	DelayMean float64 `json:"delay_us_mean"`
	// Of establishments: memory of the agent that a session takes, unused memory given back first;
	// 0: not measured.
	Memory     float64 `json:"agent_bytes_per_session,omitempty"`
	Refused    int     `json:"refused"`
	SentAgain  int     `json:"sent_again"`
	Unanswered int     `json:"lost"`
}

// patience is T1: until a request is sent again; triesDefault is N1.
const (
	patience     = 2 * time.Second
	triesDefault = 3
)

// MemoryMin sessions make what one takes stand out of the agent's resident memory; with fewer,
// Row.Memory is 0: not measured.
const MemoryMin = 10000

// client plays the SMF.
type client struct {
	o        Options
	conn     *net.UDPConn
	sequence uint32
	seids    []uint64 // UP SEIDs by session
	node     *ie.IE
	started  time.Time
}

// dial sets an association up.
func dial(o Options) (*client, error) {
	if o.Tries == 0 {
		o.Tries = triesDefault
	}
	conn, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(o.SMF), net.UDPAddrFromAddrPort(o.Agent))
	if err != nil {
		return nil, err
	}
	_ = conn.SetReadBuffer(8 << 20)
	c := &client{o: o, conn: conn, sequence: uint32(time.Now().UnixMilli()) & 0xfffff, started: time.Now()}
	c.node = ie.NewNodeIDHeuristic(o.SMF.Addr().String())
	if err := c.once(message.NewAssociationSetupRequest(c.next(), c.node, ie.NewRecoveryTimeStamp(c.started))); err != nil {
		conn.Close()
		return nil, fmt.Errorf("association set-up: %w", err)
	}
	return c, nil
}

// Establish sessions and leave them; their UP SEIDs come back.
func Establish(o Options, sessions int) ([]uint64, error) {
	c, err := dial(o)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	c.seids = make([]uint64, sessions)
	r, err := c.measure("establishment", sessions, o.Window)
	if err == nil && r.Refused+r.Unanswered != 0 {
		err = fmt.Errorf("%d refused, %d not answered", r.Refused, r.Unanswered)
	}
	return c.seids, err
}

// Run sets an association up, measures, and releases it. Rows come as they are measured.
func Run(o Options, row func(Row)) error {
	c, err := dial(o)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for _, p := range []struct {
		mode          string
		count, window int
	}{{"serial", o.Serial, 1}, {"pipelined", o.Sessions, o.Window}} {
		if p.count == 0 {
			continue
		}
		c.seids = make([]uint64, p.count)
		before, err := o.Memory()
		if err != nil {
			return err
		}
		for _, procedure := range []string{"establishment", "modification", "deletion"} {
			r, err := c.measure(procedure, p.count, p.window)
			if err != nil {
				return fmt.Errorf("%s %s: %w", p.mode, procedure, err)
			}
			if procedure == "establishment" && p.count >= MemoryMin {
				after, err := o.Memory()
				if err != nil {
					return err
				}
				r.Memory = max(0, float64(after)-float64(before)) / float64(p.count)
			}
			r.Mode = p.mode
			row(r)
		}
	}
	return c.once(message.NewAssociationReleaseRequest(c.next(), c.node))
}

func (c *client) next() uint32 {
	c.sequence = (c.sequence + 1) & 0xffffff
	return c.sequence
}

// once sends a request of a node and waits for its response.
func (c *client) once(m message.Message) error {
	b := make([]byte, m.MarshalLen())
	if err := m.MarshalTo(b); err != nil {
		return err
	}
	answer := make([]byte, 65536)
	for range c.o.Tries {
		if _, err := c.conn.Write(b); err != nil {
			return err
		}
		_ = c.conn.SetReadDeadline(time.Now().Add(patience))
		for {
			n, err := c.conn.Read(answer)
			if err != nil {
				break
			}
			h, body, err := pfcp.ParseHeader(answer[:n])
			if err == nil && h.Type == m.MessageType()+1 && h.Sequence == m.Sequence() {
				if cause, _ := outcome(body); cause != rules.CauseAccepted {
					return fmt.Errorf("refused: %s", cause)
				}
				return nil
			}
		}
	}
	return errors.New("no answer")
}

// outcome of a response: cause, and SEID of its UP F-SEID.
func outcome(body []byte) (cause rules.Cause, seid uint64) {
	for len(body) >= 4 {
		n := int(binary.BigEndian.Uint16(body[2:]))
		if n > len(body)-4 {
			break
		}
		switch t := binary.BigEndian.Uint16(body); {
		case t == ie.Cause && n >= 1:
			cause = rules.Cause(body[4])
		case t == ie.FSEID && n >= 9:
			seid = binary.BigEndian.Uint64(body[5:])
		}
		body = body[4+n:]
	}
	return cause, seid
}

// flight is a request under way.
type flight struct {
	session int
	first   time.Time
	tries   int
	octets  []byte
}

// run is one measurement under way.
type run struct {
	*client
	row      Row
	request  uint8
	write    func(i int, sequence uint32) []byte
	underway map[uint32]*flight
	delays   []time.Duration
	done     int
}

func (c *client) measure(procedure string, count, window int) (Row, error) {
	r := &run{client: c, underway: map[uint32]*flight{}, row: Row{Procedure: procedure, Window: window, Sessions: count},
		delays: make([]time.Duration, 0, count)}
	r.prepare(procedure)
	before, err := c.o.CPU()
	if err != nil {
		return r.row, err
	}
	start := time.Now()
	for sent := 0; r.done < count; {
		for ; sent < count && len(r.underway) < window; sent++ {
			if err := r.send(sent); err != nil {
				return r.row, err
			}
		}
		if err := r.receive(); err != nil {
			return r.row, err
		}
	}
	r.row.Seconds = time.Since(start).Seconds()
	after, err := c.o.CPU()
	r.row.AgentCPU = after - before
	r.finish()
	return r.row, err
}

func (r *run) prepare(procedure string) {
	switch procedure {
	case "establishment":
		t := establishmentOf(r.o.SMF.Addr())
		ue := binary.BigEndian.Uint32(r.o.UEs.AsSlice())
		r.request = pfcp.SessionEstablishmentRequest
		r.write = func(i int, sequence uint32) []byte {
			t.session(i, netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, ue+uint32(i)))))
			return t.fill(sequence, 0)
		}
	case "modification":
		t := modification()
		r.request = pfcp.SessionModificationRequest
		r.write = func(i int, sequence uint32) []byte {
			binary.BigEndian.PutUint32(t.octets[t.teid:], uint32(i)+1)
			return t.fill(sequence, r.seids[i])
		}
	default:
		t := deletion()
		r.request = pfcp.SessionDeletionRequest
		r.write = func(i int, sequence uint32) []byte { return t.fill(sequence, r.seids[i]) }
	}
}

func (r *run) send(i int) error {
	sequence := r.next()
	b := slices.Clone(r.write(i, sequence))
	now := time.Now()
	r.underway[sequence] = &flight{session: i, first: now, tries: 1, octets: b}
	return r.put(b)
}

// put sends octets. Where nobody listens, as when the agent starts anew, they are lost.
func (c *client) put(b []byte) error {
	if _, err := c.conn.Write(b); err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return nil
}

// receive takes one response, answers heartbeats, or sends again what is late.
func (r *run) receive() error {
	b := make([]byte, 4096)
	_ = r.conn.SetReadDeadline(time.Now().Add(patience))
	n, err := r.conn.Read(b)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return r.again()
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	if err != nil {
		return err
	}
	h, body, err := pfcp.ParseHeader(b[:n])
	if err == nil && h.Type == pfcp.HeartbeatRequest {
		self := pfcp.Self{Recovery: r.started}
		return r.put(self.EncodeHeartbeat(pfcp.HeartbeatResponse, h.Sequence))
	}
	f := r.underway[h.Sequence]
	if err != nil || f == nil || h.Type != r.request+1 {
		return nil // an answer that came twice
	}
	delete(r.underway, h.Sequence)
	r.done++
	r.delays = append(r.delays, time.Since(f.first))
	cause, seid := outcome(body)
	if cause != rules.CauseAccepted {
		r.row.Refused++
	}
	if r.request == pfcp.SessionEstablishmentRequest {
		r.seids[f.session] = seid
	}
	return nil
}

func (r *run) again() error {
	for sequence, f := range r.underway {
		if f.tries == r.o.Tries {
			delete(r.underway, sequence)
			r.done++
			r.row.Unanswered++
			continue
		}
		f.tries++
		r.row.SentAgain++
		if err := r.put(f.octets); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) finish() {
	o := &r.row
	o.PerSecond = float64(len(r.delays)) / o.Seconds
	if o.AgentCPU > 0 {
		o.PerCore = float64(len(r.delays)) / o.AgentCPU
	}
	if len(r.delays) == 0 {
		return
	}
	slices.Sort(r.delays)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	var sum time.Duration
	for _, d := range r.delays {
		sum += d
	}
	o.DelayP50 = us(r.delays[len(r.delays)/2])
	o.DelayP99 = us(r.delays[len(r.delays)*99/100])
	o.DelayMean = us(sum) / float64(len(r.delays))
}
