// SPDX-License-Identifier: BSD-3-Clause

// Package rules is the model of PFCP sessions that the PFCP side (packages pfcp and n4) and the
// session manager (package session) share: requests, answers, reports, and the interfaces they
// call each other by. It knows no wire format. Identifiers, enumerations and flag bits are those
// of TS 29.244 (release 17); a flag field of several octets has its first octet lowest.
//
// A rule type serves Create and Update alike: a nil pointer or nil slice is an IE that was not
// there, which an Update keeps as it was. Whoever fills a type in has checked that lengths are
// right and that the IEs the clause calls mandatory are there; whether values and references make
// sense together is the session manager's to check.
package rules
