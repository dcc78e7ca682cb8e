// SPDX-License-Identifier: BSD-3-Clause

// Package pfcp turns the octets of PFCP messages (TS 29.244, release 17) into types of package
// rules and back. Decoding walks each message once, over tables that say which information
// elements a message or group may, must and may repeatedly have and how long they at least are,
// so that whatever is wrong is named by its IE type (§7.6). Nothing of the input is trusted,
// nothing of it is kept: what is returned may outlive the buffer. Encoding is go-pfcp's.
//
// All functions are pure and safe for use by several goroutines.
package pfcp
