# SPDX-License-Identifier: BSD-3-Clause
"""A second, deliberately plain encoder of the user-plane PDUs, to hold the judge to account."""

import struct

PADDING = 63  # LCID, TS 38.321 table 6.2.1-1 and -2
SHORT_BSR = 61

SI_FULL, SI_FIRST, SI_LAST, SI_MIDDLE = 0, 1, 2, 3  # TS 38.322 table 6.2.3.4-1


def mac_subpdu(lcid: int, sdu: bytes) -> bytes:
    """R/F/LCID/L subheader (TS 38.321 figure 6.1.2-1, -2) and the SDU."""
    if len(sdu) < 256:
        return bytes([lcid, len(sdu)]) + sdu
    return bytes([0x40 | lcid]) + struct.pack(">H", len(sdu)) + sdu


def mac_ce(lcid: int, body: bytes) -> bytes:
    """A fixed-size control element: R/LCID subheader (figure 6.1.2-3)."""
    return bytes([lcid]) + body


def mac_short_bsr(lcg: int, index: int) -> bytes:
    return mac_ce(SHORT_BSR, bytes([lcg << 5 | index]))


def mac_padding(total: int) -> bytes:
    """`total` octets of padding subPDU, its subheader included."""
    return bytes([PADDING]) + bytes(total - 1) if total else b""


def rlc_um(data: bytes, sn_bits: int, si: int = SI_FULL, sn: int = 0, so: int = 0) -> bytes:
    """UMD PDU (TS 38.322 figures 6.2.2.3-1 to -5)."""
    if si == SI_FULL:
        return b"\x00" + data
    header = bytes([si << 6 | sn]) if sn_bits == 6 else struct.pack(">H", si << 14 | sn)
    if si in (SI_LAST, SI_MIDDLE):
        header += struct.pack(">H", so)
    return header + data


def rlc_am(
    data: bytes, sn_bits: int, sn: int, si: int = SI_FULL, so: int = 0, poll: bool = False
) -> bytes:
    """AMD PDU (TS 38.322 figures 6.2.2.4-1 to -4)."""
    first = 0x80 | poll << 6 | si << 4
    if sn_bits == 12:
        header = struct.pack(">H", first << 8 | sn)
    else:
        header = bytes([first | sn >> 16]) + struct.pack(">H", sn & 0xFFFF)
    if si in (SI_LAST, SI_MIDDLE):
        header += struct.pack(">H", so)
    return header + data


def rlc_status(sn_bits: int, ack_sn: int, nacks: list[int] | None = None) -> bytes:
    """STATUS PDU that names whole SDUs only (TS 38.322 figures 6.2.2.5-1, -2)."""
    nacks = nacks or []
    size = 2 if sn_bits == 12 else 3
    pad = 16 - sn_bits if sn_bits == 12 else 24 - sn_bits  # E bits and R bits behind a NACK_SN
    if sn_bits == 12:
        out = bytes([ack_sn >> 8, ack_sn & 0xFF, 0x80 if nacks else 0])
    else:
        out = (ack_sn << 2 | (2 if nacks else 0)).to_bytes(3, "big")
    for n, sn in enumerate(nacks):
        e1 = 1 if n + 1 < len(nacks) else 0
        out += (sn << pad | e1 << (pad - 1)).to_bytes(size, "big")
    return out


def pdcp_data(sn: int, sdu: bytes, sn_bits: int) -> bytes:
    """DRB data PDU without MAC-I (TS 38.323 figures 6.2.2.2-1, 6.2.2.3-1)."""
    if sn_bits == 12:
        return struct.pack(">H", 0x8000 | sn) + sdu
    return bytes([0x80 | sn >> 16]) + struct.pack(">H", sn & 0xFFFF) + sdu


def sdap_ul(qfi: int, sdu: bytes) -> bytes:
    """UL data PDU, D/C = 1 (TS 37.324 figure 6.2.2.3-1)."""
    return bytes([0x80 | qfi]) + sdu


def sdap_dl(qfi: int, sdu: bytes, rdi: int = 0, rqi: int = 0) -> bytes:
    """DL data PDU (TS 37.324 figure 6.2.2.2-1)."""
    return bytes([rdi << 7 | rqi << 6 | qfi]) + sdu
