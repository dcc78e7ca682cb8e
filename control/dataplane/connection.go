// SPDX-License-Identifier: BSD-3-Clause
package dataplane

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"airpath/control/upfpb"
)

// Backoff of connecting.
const (
	backoffMin = 20 * time.Millisecond
	backoffMax = time.Second
)

func (c *Client) run() {
	defer close(c.done)
	wait, logged := backoffMin, ""
	for {
		started, err := c.session()
		if started {
			wait, logged = backoffMin, ""
		}
		if errors.Is(err, errRefused) {
			wait = backoffMax
		}
		select {
		case <-c.end:
			return
		default:
		}
		if err.Error() != logged {
			logged = err.Error()
			c.log.Warn("forwarding unit", "socket", c.path, "error", err)
		}
		select {
		case <-c.end:
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, backoffMax)
	}
}

// session is one connection from beginning to end.
func (c *Client) session() (started bool, err error) {
	conn, err := Dial(c.path)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // Close ends a greeting, too
		select {
		case <-c.end:
			conn.Close()
		case <-stop:
		}
	}()
	if started, err = c.greet(conn); err != nil {
		if started {
			c.handler.Disconnected(err)
		}
		return started, err
	}
	c.mu.Lock()
	c.conn = conn
	c.mu.Unlock()
	c.handler.Connected()
	written := make(chan struct{})
	go c.write(conn, written)
	err = c.read(conn)
	conn.Close()
	c.drop(written)
	c.handler.Disconnected(err)
	return true, err
}

// greet does Hello and Config. Events may come between their replies.
func (c *Client) greet(conn *Conn) (welcomed bool, err error) {
	hello := &upfpb.Request{Seq: c.nextSeq(), Body: &upfpb.Request_Hello{Hello: &upfpb.Hello{Protocol: Protocol, Agent: c.agent}}}
	reply, err := c.ask(conn, hello)
	if err != nil {
		return false, err
	}
	welcome := reply.GetWelcome()
	if welcome == nil {
		return false, fmt.Errorf("%w: %s", errRefused, replyError(reply))
	}
	c.welcomed(welcome.GetInstance())
	config, err := c.handler.Welcome(welcome)
	if err != nil {
		return true, err
	}
	reply, err = c.ask(conn, &upfpb.Request{Seq: c.nextSeq(), Body: &upfpb.Request_Config{Config: config}})
	if err == nil && reply.GetError() != "" {
		err = fmt.Errorf("config: %s", reply.GetError())
	}
	for told := uint64(0); err == nil && told < welcome.GetTold(); {
		var a *upfpb.Answer
		if a, err = receive(conn); err == nil {
			told = max(told, a.GetTold().GetNumber())
			c.unasked(a)
		}
	}
	return true, err
}

func (c *Client) nextSeq() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	return c.seq
}

func (c *Client) ask(conn *Conn, r *upfpb.Request) (*upfpb.Reply, error) {
	if err := conn.SendMessage(r); err != nil {
		return nil, err
	}
	for {
		a, err := receive(conn)
		if err != nil {
			return nil, err
		}
		if reply := a.GetReply(); reply != nil {
			if reply.GetSeq() != r.GetSeq() {
				return nil, fmt.Errorf("reply to %d, not to %d", reply.GetSeq(), r.GetSeq())
			}
			return reply, nil
		}
		c.unasked(a)
	}
}

func receive(conn *Conn) (*upfpb.Answer, error) {
	b, err := conn.Receive()
	if err != nil {
		return nil, err
	}
	a := new(upfpb.Answer)
	if err := proto.Unmarshal(b, a); err != nil {
		return nil, err
	}
	return a, nil
}

func (c *Client) unasked(a *upfpb.Answer) {
	switch body := a.GetBody().(type) {
	case *upfpb.Answer_Told:
		c.handler.Told(body.Told)
	case *upfpb.Answer_Event:
		c.handler.Event(body.Event)
	case *upfpb.Answer_Checkpoints:
		c.handler.Checkpoints(body.Checkpoints.GetSessions())
	case *upfpb.Answer_Load:
		c.handler.Load(body.Load)
	case *upfpb.Answer_ApplicationsDone:
		c.handler.ApplicationsDone(body.ApplicationsDone)
	}
}

// drop ends everything that was asked for on a lost connection.
func (c *Client) drop(written <-chan struct{}) {
	c.mu.Lock()
	c.conn = nil
	c.cond.Broadcast()
	c.mu.Unlock()
	<-written
	c.mu.Lock()
	lost, ops, others := c.pending, c.ops, c.others
	c.pending, c.ops, c.others, c.applies = map[uint64]pending{}, nil, nil, 0
	c.mu.Unlock()
	for _, seq := range slices.Sorted(maps.Keys(lost)) {
		p := lost[seq]
		p.fail(ErrDisconnected)
	}
	pending{ops: ops}.fail(ErrDisconnected)
	for _, o := range others {
		o.done(nil, ErrDisconnected)
	}
}

func (p pending) fail(err error) {
	for _, w := range p.ops {
		w.done(nil, err)
	}
	if p.done != nil {
		p.done(nil, err)
	}
}
