// SPDX-License-Identifier: BSD-3-Clause

package bench

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"

	"airpath/control/pfcp"
)

// What a widely used SMF sends for a PDU session, and when the gNB's F-TEID is known
// (control/pfcp/testdata/smf-session.hex).
const (
	capturedEstablishment = "21320250000000000000000000000b00003c0005007f0000040039000d02000000000000020f7f0000040001004a00380002" +
		"0001001d00040000ffff0002002000140001010016000908696e7465726e6574005d0005060a2d000300a0000111006c0004" +
		"000000010051000400000001006d00040000000100010049003800020002001d00040000ffff000200220014000100001500" +
		"020f050016000908696e7465726e6574007c00010100a000010b005f000106006c000400000002006d000400000001000100" +
		"29003800020003001d0004000000ff0002000a00140001030015000107005f000106006c0004000000010001006e00380002" +
		"0004001d0004000000ff0002004f0014000100001500020f050016000908696e7465726e65740017002e0100002a7065726d" +
		"6974206f75742035382066726f6d20666630323a3a322f31323820746f2061737369676e656400a000010b005f000106006c" +
		"00040000000300030013006c000400000001002c00020c00005800010100030029006c000400000002002c00020200000400" +
		"17002a0001010016000908696e7465726e657400a000011100030025006c000400000003002c0002020000040013002a0001" +
		"030054000a0100000000027f000004000600210051000400000001003e00010200250003020000001f000901000000000640" +
		"000000070020006d0004000000010019000100001a000a00000f424000000f4240007c000101005500050058000101007100" +
		"0101008d0013030899790000000000f1083407181652181615009f000908696e7465726e65740101000401ffffff"
	capturedModification = "213400470000000000000cdf00000c00000a0037006c000400000001002c00020200000b0025002a0001000016000908696e" +
		"7465726e65740054000a0100000000020a03000200a000010b"
)

// template is a captured request with the places of what differs from session to session.
type template struct {
	octets []byte
	ue     int // of the UE's IPv4 address
	teid   int // of the gNB's TEID
}

func must(h string) []byte {
	b, err := hex.DecodeString(h)
	if err != nil {
		panic(err)
	}
	return b
}

// establishmentOf an SMF at an address.
func establishmentOf(smf netip.Addr) template {
	was, is := []byte{127, 0, 0, 4}, smf.As4()
	b := bytes.ReplaceAll(must(capturedEstablishment), was, is[:])
	return template{octets: b, ue: bytes.Index(b, []byte{10, 45, 0, 3})}
}

func modification() template {
	b := must(capturedModification)
	return template{octets: b, teid: bytes.Index(b, []byte{0, 0, 0, 2, 10, 3, 0, 2})}
}

func deletion() template {
	b := make([]byte, 16)
	b[0], b[1], b[3] = 0x21, pfcp.SessionDeletionRequest, 12
	return template{octets: b}
}

// fill in sequence number and SEID of the header.
func (t *template) fill(sequence uint32, seid uint64) []byte {
	binary.BigEndian.PutUint64(t.octets[4:], seid)
	binary.BigEndian.PutUint32(t.octets[12:], sequence<<8)
	return t.octets
}

// session number i: UE address and CP SEID.
func (t *template) session(i int, ue netip.Addr) {
	a := ue.As4()
	copy(t.octets[t.ue:], a[:])
	binary.BigEndian.PutUint64(t.octets[30:], uint64(i)+1) // CP F-SEID, after Node ID
}
