# SPDX-License-Identifier: BSD-3-Clause
"""GTP-U messages of TS 29.281 in plain Python, for endpoints that tests drive."""

import ipaddress
import struct
from dataclasses import dataclass, field

PORT = 2152
ECHO_REQUEST, ECHO_RESPONSE, ERROR_INDICATION, NOTIFICATION = 1, 2, 26, 31
END_MARKER, G_PDU = 254, 255
_PDU_SESSION = 0x85


class Broken(ValueError):
    """What arrived is no GTP-U message."""


@dataclass
class Message:
    kind: int
    teid: int
    payload: bytes  # behind all headers
    seq: int | None = None
    extensions: dict[int, bytes] = field(default_factory=dict)  # type → content

    @property
    def qfi(self) -> int | None:
        content = self.extensions.get(_PDU_SESSION)
        return None if content is None else content[1] & 0x3F

    @property
    def rqi(self) -> bool:
        content = self.extensions.get(_PDU_SESSION)
        return content is not None and content[0] >> 4 == 0 and bool(content[1] & 0x40)

    def ies(self) -> dict[int, bytes]:
        """Information elements of a path or tunnel message (§8.1)."""
        found, at = {}, 0
        fixed = {14: 1, 16: 4}
        while at < len(self.payload):
            kind = self.payload[at]
            at += 1
            if kind in fixed:
                size = fixed[kind]
            elif kind == 141:  # Extension Header Type List, figure 8.5-1
                size = self.payload[at]
                at += 1
            else:
                size = int.from_bytes(self.payload[at : at + 2])
                at += 2
            found[kind] = self.payload[at : at + size]
            at += size
        return found


def parse(octets: bytes) -> Message:
    if len(octets) < 8 or octets[0] >> 4 != 3:
        raise Broken(octets[:16].hex())
    flags, kind, length, teid = struct.unpack(">BBHI", octets[:8])
    if len(octets) < 8 + length:
        raise Broken(f"length {length} in {len(octets)} octets")
    octets, at, seq, extensions = octets[: 8 + length], 8, None, {}
    if flags & 7:
        seq_value, _, following = struct.unpack(">HBB", octets[8:12])
        seq = seq_value if flags & 2 else None
        at = 12
        while flags & 4 and following:
            size = octets[at] * 4
            if not size or at + size > len(octets):
                raise Broken("extension header")
            extensions[following] = octets[at + 1 : at + size - 1]
            following = octets[at + size - 1]
            at += size
    return Message(kind, teid, octets[at:], seq, extensions)


def make(kind: int, teid: int, payload: bytes = b"", *, seq: int | None = None) -> bytes:
    """A message without extension headers."""
    if seq is None:
        return struct.pack(">BBHI", 0x30, kind, len(payload), teid) + payload
    return struct.pack(">BBHIHBB", 0x32, kind, 4 + len(payload), teid, seq, 0, 0) + payload


def uplink(teid: int, packet: bytes, qfi: int | None = 1) -> bytes:
    """A G-PDU as a gNB sends it: UL PDU SESSION INFORMATION with a QFI (TS 38.415 §5.5.2.2)."""
    if qfi is None:
        return make(G_PDU, teid, packet)
    head = struct.pack(">BBHIHBB", 0x34, G_PDU, 8 + len(packet), teid, 0, 0, _PDU_SESSION)
    return head + bytes((1, 0x10, qfi, 0)) + packet


def error_indication(teid: int, peer: str, seq: int = 1) -> bytes:
    """For a G-PDU to `teid` that we, at `peer`, do not know (§7.3.1)."""
    packed = ipaddress.ip_address(peer).packed
    ies = b"\x10" + struct.pack(">I", teid) + b"\x85" + struct.pack(">H", len(packed)) + packed
    return make(ERROR_INDICATION, 0, ies, seq=seq)
