// SPDX-License-Identifier: BSD-3-Clause

// Package n4 is the N4 interface of the UPF: PFCP over UDP (TS 29.244 §6), with retransmission
// both ways, heartbeats, associations with several CP functions, and node and session reports.
// What a session request asks for is the session manager's (rules.Sessions) to do.
//
// One goroutine a local address receives, decodes and calls the manager, so that requests of a
// session keep their order; answers are sent by whoever has them.
package n4
