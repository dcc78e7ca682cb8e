// SPDX-License-Identifier: BSD-3-Clause

// Package dataplane is the client of a forwarding unit: api/upf.proto over a UNIX SOCK_SEQPACKET
// socket. It connects again when the connection is lost, puts operations that wait into one
// message, keeps several messages under way, and hands on what the unit sends by itself.
package dataplane

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"airpath/control/upfpb"
)

// MessageMax is the most octets of a message.
const MessageMax = 196608

// Protocol is the version of the contract.
const Protocol = 1

// batchBytes is how much one message gathers: well below the most, for the sake of latency and
// of operations that are large themselves.
const batchBytes = 160 << 10

var errTruncated = errors.New("message larger than the contract allows")

// Field numbers of api/upf.proto; a test holds them to the generated code.
const (
	fieldRequestSeq   = 1
	fieldRequestApply = 4
	fieldApplyOps     = 1
	fieldOpSet        = 1
)

// Op is an operation as it crosses: a marshalled upfpb.Op.
type Op []byte

// SetOp makes the operation that installs a session.
func SetOp(s *upfpb.Session) (Op, error) {
	size := proto.Size(s)
	b := make([]byte, 0, size+protowire.SizeVarint(uint64(size))+1)
	b = protowire.AppendTag(b, fieldOpSet, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, s)
}

// DeleteOp makes the operation that removes a session.
func DeleteOp(id uint64) Op {
	b, err := proto.Marshal(&upfpb.Op{Op: &upfpb.Op_Delete{Delete: &upfpb.Delete{Id: id}}})
	if err != nil {
		panic(err) // a number cannot fail
	}
	return b
}

// appendApply writes a Request with an Apply of ops. Marshalling again what was marshalled would
// cost more than all the rest.
func appendApply(b []byte, seq uint64, ops []Op) []byte {
	size := 0
	for _, op := range ops {
		size += 1 + protowire.SizeBytes(len(op))
	}
	b = protowire.AppendTag(b, fieldRequestSeq, protowire.VarintType)
	b = protowire.AppendVarint(b, seq)
	b = protowire.AppendTag(b, fieldRequestApply, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	for _, op := range ops {
		b = protowire.AppendTag(b, fieldApplyOps, protowire.BytesType)
		b = protowire.AppendBytes(b, op)
	}
	return b
}

// Conn is a packet socket whose messages are whole or an error.
type Conn struct {
	c   *net.UnixConn
	buf []byte
}

// NewConn takes over a connection and sets its buffers.
func NewConn(c *net.UnixConn) (*Conn, error) {
	// The kernel counts its own overhead into the buffer: without this a large message can never
	// be sent.
	if err := c.SetWriteBuffer(4 * MessageMax); err != nil {
		return nil, err
	}
	return &Conn{c: c, buf: make([]byte, MessageMax)}, nil
}

// Dial connects to a unit.
func Dial(path string) (*Conn, error) {
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	conn, err := NewConn(c)
	if err != nil {
		c.Close()
	}
	return conn, err
}

// Receive gives the next message, valid until the next call.
func (c *Conn) Receive() ([]byte, error) {
	n, _, flags, _, err := c.c.ReadMsgUnix(c.buf, nil)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, net.ErrClosed
	case flags&syscall.MSG_TRUNC != 0:
		return nil, errTruncated
	}
	return c.buf[:n], nil
}

// Send sends a message.
func (c *Conn) Send(b []byte) error {
	if len(b) > MessageMax {
		return errTruncated
	}
	n, err := c.c.Write(b)
	if err == nil && n != len(b) {
		err = fmt.Errorf("%d of %d octets were sent", n, len(b))
	}
	return err
}

// SendMessage marshals and sends.
func (c *Conn) SendMessage(m proto.Message) error {
	b, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return c.Send(b)
}

// Close closes the connection; Receive and Send return errors.
func (c *Conn) Close() error { return c.c.Close() }
