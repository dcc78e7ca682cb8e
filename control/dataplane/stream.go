// SPDX-License-Identifier: BSD-3-Clause
package dataplane

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"airpath/control/upfpb"
)

// write is the writer's goroutine of a connection.
func (c *Client) write(conn *Conn, done chan<- struct{}) {
	defer close(done)
	var buf []byte
	for {
		message, ok := c.next(conn, buf[:0])
		if !ok {
			return
		}
		buf = message
		if err := conn.Send(message); err != nil {
			conn.Close() // the reader ends the connection
			return
		}
	}
}

// next waits for something to send: acknowledgements and single requests first, they are small.
func (c *Client) next(conn *Conn, b []byte) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.conn != conn || c.closed:
			return nil, false
		case c.ackDue:
			c.ackDue = false
			c.seq++
			return c.marshal(b, &upfpb.Request{Seq: c.seq,
				Body: &upfpb.Request_Ack{Ack: &upfpb.EventAck{Event: c.acked.event, Told: c.acked.told}}})
		case len(c.others) > 0:
			o := c.others[0]
			c.others = c.others[1:]
			c.seq++
			o.request.Seq = c.seq
			c.pending[c.seq] = pending{done: o.done}
			return c.marshal(b, o.request)
		case len(c.ops) > 0 && c.applies < windowMax:
			return c.nextApply(b), true
		}
		c.cond.Wait()
	}
}

func (c *Client) marshal(b []byte, r *upfpb.Request) ([]byte, bool) {
	b, err := proto.MarshalOptions{}.MarshalAppend(b, r)
	if err != nil {
		c.log.Error("request cannot be written", "error", err)
		return nil, false
	}
	return b, true
}

func (c *Client) nextApply(b []byte) []byte {
	size, n := 0, 0
	for n < len(c.ops) && (n == 0 || size+len(c.ops[n].op) <= batchBytes) {
		size += len(c.ops[n].op) + 6
		n++
	}
	batch := c.ops[:n:n]
	if c.ops = c.ops[n:]; len(c.ops) == 0 {
		c.ops = nil
	}
	c.seq++
	c.applies++
	c.pending[c.seq] = pending{ops: batch}
	ops := make([]Op, n)
	for i := range batch {
		ops[i] = batch[i].op
		batch[i].op = nil
	}
	return appendApply(b, c.seq, ops)
}

// read is the reader's loop of a connection.
func (c *Client) read(conn *Conn) error {
	for {
		a, err := receive(conn)
		if err != nil {
			return err
		}
		reply := a.GetReply()
		if reply == nil {
			c.unasked(a)
			continue
		}
		c.mu.Lock()
		p, ok := c.pending[reply.GetSeq()]
		if ok && reply.GetResult().GetMore() {
			p.results = append(p.results, reply.GetResult().GetResults()...)
			c.pending[reply.GetSeq()] = p
			c.mu.Unlock()
			continue
		}
		delete(c.pending, reply.GetSeq())
		if p.ops != nil {
			c.applies--
			c.cond.Signal()
		}
		c.mu.Unlock()
		if !ok {
			return fmt.Errorf("reply to %d, which was not asked", reply.GetSeq())
		}
		if err := p.answer(reply); err != nil {
			return err
		}
	}
}

// answer hands results on. A unit whose results do not fit the question is not to be believed.
func (p pending) answer(reply *upfpb.Reply) error {
	if p.done != nil {
		p.done(reply, nil)
		return nil
	}
	results := append(p.results, reply.GetResult().GetResults()...)
	if text := reply.GetError(); text != "" {
		p.fail(fmt.Errorf("forwarding unit: %s", text))
		return nil
	}
	if len(results) != len(p.ops) {
		p.fail(ErrDisconnected)
		return fmt.Errorf("%d results of %d operations", len(results), len(p.ops))
	}
	for i := range p.ops {
		p.ops[i].done(results[i], nil)
	}
	return nil
}
