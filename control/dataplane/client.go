// SPDX-License-Identifier: BSD-3-Clause
package dataplane

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"airpath/control/upfpb"
)

// Errors an operation ends with.
var (
	ErrDisconnected = errors.New("forwarding unit is not connected") // done or not: nobody knows
	ErrTooLarge     = errors.New("session is larger than a message")
	ErrClosed       = errors.New("client is closed")

	errRefused = errors.New("hello")
)

// windowMax is how many Apply messages are under way: what comes while they are gathers.
const windowMax = 8

// Handler takes what a unit says. Its methods are called one at a time, on one goroutine, and
// must not wait for this client.
type Handler interface {
	// Welcome begins a connection; what it returns is sent as Config. An error closes it.
	Welcome(w *upfpb.Welcome) (*upfpb.Config, error)
	// Connected follows when Config is accepted: operations pass from now on.
	Connected()
	// Disconnected follows Welcome when the connection is lost, after every operation under way
	// has ended with ErrDisconnected.
	Disconnected(err error)
	// Told is usage that an agent before this one was answered and did not acknowledge. All of it
	// comes before Connected.
	Told(t *upfpb.Told)
	Event(e *upfpb.Event)
	Checkpoints(c []*upfpb.Checkpoint)
	Load(l *upfpb.Load)
	ApplicationsDone(d *upfpb.ApplicationsDone)
}

// Client serves one forwarding unit.
type Client struct {
	path    string
	agent   string
	handler Handler
	log     *slog.Logger

	mu      sync.Mutex
	cond    *sync.Cond // writer: something to send, room in the window, or the end
	conn    *Conn      // nil: not connected, or not yet through Config
	seq     uint64
	ops     []waitingOp
	others  []other
	unit    uint64 // instance that acknowledgements are for
	acked   ack
	ackDue  bool
	pending map[uint64]pending
	applies int // Apply messages under way
	closed  bool
	end     chan struct{}
	done    chan struct{}
}

type waitingOp struct {
	op   Op
	done func(*upfpb.OpResult, error)
}

type other struct {
	request *upfpb.Request
	done    func(*upfpb.Reply, error)
}

// ack is how far events, and usage of answers, are safe.
type ack struct{ event, told uint64 }

// pending is a message under way: either operations or another request.
type pending struct {
	ops     []waitingOp
	results []*upfpb.OpResult // of earlier Replies to the same message
	done    func(*upfpb.Reply, error)
}

// New starts a client. agent is its name and version, for people.
func New(path, agent string, handler Handler, log *slog.Logger) *Client {
	c := &Client{
		path: path, agent: agent, handler: handler, log: log,
		pending: map[uint64]pending{}, end: make(chan struct{}), done: make(chan struct{}),
	}
	c.cond = sync.NewCond(&c.mu)
	go c.run()
	return c
}

// Close ends the client; operations end with ErrDisconnected or ErrClosed.
func (c *Client) Close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	close(c.end)
	if c.conn != nil {
		c.conn.Close()
	}
	c.cond.Broadcast()
	c.mu.Unlock()
	<-c.done
}

// Apply asks for an operation. If it returns nil, done is called once, in the order of the calls,
// on the client's goroutine.
func (c *Client) Apply(op Op, done func(*upfpb.OpResult, error)) error {
	if len(op) > MessageMax-64 {
		return ErrTooLarge
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return ErrDisconnected
	}
	c.ops = append(c.ops, waitingOp{op, done})
	c.cond.Signal()
	return nil
}

// List asks for sessions the unit has; done is called once, at once without a connection.
func (c *Client) List(after uint64, limit uint32, done func(*upfpb.Sessions, error)) {
	r := &upfpb.Request{Body: &upfpb.Request_List{List: &upfpb.List{After: after, Max: limit}}}
	c.request(r, func(reply *upfpb.Reply, err error) {
		if err == nil && reply.GetSessions() == nil {
			err = fmt.Errorf("list: %s", replyError(reply))
		}
		if err != nil {
			done(nil, err)
			return
		}
		done(reply.GetSessions(), nil)
	})
}

// Applications sends the messages of one set, in order. done is called once with the first error, or
// nil when the unit has taken all of them: how building the set ended comes by ApplicationsDone.
func (c *Client) Applications(messages []*upfpb.Applications, done func(error)) {
	var mu sync.Mutex // a connection's end answers some here and some on the client's goroutine
	left, failed := len(messages), error(nil)
	for _, m := range messages {
		c.request(&upfpb.Request{Body: &upfpb.Request_Applications{Applications: m}}, func(reply *upfpb.Reply, err error) {
			if err == nil && reply.GetError() != "" {
				err = errors.New(reply.GetError())
			}
			mu.Lock()
			if left--; failed == nil {
				failed = err
			}
			last, why := left == 0, failed
			mu.Unlock()
			if last {
				done(why)
			}
		})
	}
}

// Configure sends another Config.
func (c *Client) Configure(config *upfpb.Config, done func(error)) {
	r := &upfpb.Request{Body: &upfpb.Request_Config{Config: config}}
	c.request(r, func(reply *upfpb.Reply, err error) {
		if err == nil && reply.GetError() != "" {
			err = errors.New(reply.GetError())
		}
		done(err)
	})
}

func (c *Client) request(r *upfpb.Request, done func(*upfpb.Reply, error)) {
	c.mu.Lock()
	if c.conn == nil {
		c.mu.Unlock()
		done(nil, ErrDisconnected)
		return
	}
	c.others = append(c.others, other{r, done})
	c.cond.Signal()
	c.mu.Unlock()
}

// Ack says that everything up to this event of an instance of the unit is safe. Another instance
// counts anew: what is late for it is left.
func (c *Client) Ack(instance, event uint64) { c.ack(instance, ack{event: event}) }

// AckTold says that the usage of an instance's answers up to this number is safe.
func (c *Client) AckTold(instance, number uint64) { c.ack(instance, ack{told: number}) }

func (c *Client) ack(instance uint64, safe ack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if instance != c.unit {
		return
	}
	c.acked = ack{max(c.acked.event, safe.event), max(c.acked.told, safe.told)}
	c.ackDue = true // what comes twice was not heard to be safe
	c.cond.Signal()
}

// welcomed begins to take acknowledgements for an instance.
func (c *Client) welcomed(instance uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unit != instance {
		c.unit, c.acked = instance, ack{}
	}
	c.ackDue = false // the unit tells again what it did not hear of
}

func replyError(r *upfpb.Reply) string {
	if e := r.GetError(); e != "" {
		return e
	}
	return "reply of another kind"
}
