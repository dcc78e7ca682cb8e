# SPDX-License-Identifier: BSD-3-Clause
"""The PHY side of the fronthaul in Python: nFAPI P7 segments in Ethernet frames (SCF 225),
FAPI P7 bodies (SCF 222.10.02, lengths of TX_Data and RX_Data 32 bits wide as in 222.10.04)."""

import socket
import struct
import time
from dataclasses import dataclass

from harness import netns

ETHERTYPE = 0x88B5
UL_TTI_REQUEST = 0x81
SLOT_INDICATION = 0x82
TX_DATA_REQUEST = 0x84
RX_DATA_INDICATION = 0x85

_P7 = struct.Struct(">HHIBBII")  # PHY, message, length, M | segment, sequence, checksum, time
_PUSCH_BYTES = 100  # with puschData and no beam
_BROADCAST = b"\xff" * 6
_SELF = b"\x02\0\0\0\0\xfe"


class Broken(ValueError):
    """What arrived is not what SCF 225 or SCF 222 say."""


@dataclass(frozen=True)
class Message:
    phy: int
    kind: int
    body: bytes
    segments: int


@dataclass(frozen=True)
class Tb:
    """One transport block of a TX_Data.request."""

    carrier: int
    sfn: int
    slot: int
    pdu: bytes


def _crc32c_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC32C = _crc32c_table()


def crc32c(data: bytes) -> int:
    """Castagnoli, RFC 3720 B.4; a table, for the judge need not be fast."""
    crc = 0xFFFFFFFF
    for octet in data:
        crc = _CRC32C[(crc ^ octet) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class Reassembler:
    """Whole messages out of segments. Strict: a judge forgives nothing."""

    def __init__(self):
        self._partial: dict[tuple[int, int, int], list[bytes]] = {}

    def push(self, frame: bytes) -> Message | None:
        """Takes one Ethernet frame; @return the message it completes."""
        if len(frame) < 14 + _P7.size or frame[12:14] != struct.pack(">H", ETHERTYPE):
            return None
        phy, kind, length, number, sequence, checksum, _ = _P7.unpack_from(frame, 14)
        segment = frame[14 : 14 + length]
        if len(segment) != length:
            raise Broken(f"length {length} in a frame with {len(frame) - 14} B")
        if checksum:
            zeroed = segment[:10] + bytes(4) + segment[14:]
            if crc32c(zeroed) not in (checksum, 0):
                raise Broken(f"checksum of segment {number & 0x7F}")
        key = (phy, kind, sequence)
        parts = self._partial.setdefault(key, [])
        if number & 0x7F != len(parts):
            raise Broken(f"segment {number & 0x7F} where {len(parts)} was due")
        parts.append(segment[_P7.size :])
        if number & 0x80:
            return None
        del self._partial[key]
        return Message(phy, kind, b"".join(parts), len(parts))

    def pending(self) -> int:
        return len(self._partial)


def tx_data(message: Message) -> list[Tb]:
    """The TBs of a TX_Data.request, Table 3-58."""
    sfn, slot, count = struct.unpack_from(">HHH", message.body)
    at = 6
    tbs = []
    for _ in range(count):
        length, index, tlvs, tag, size = struct.unpack_from(">IHIHI", message.body, at)
        if tlvs != 1 or tag != 0 or length != 16 + size:
            raise Broken(f"PDU {index}: length {length}, {tlvs} TLVs, tag {tag}, value {size}")
        pdu = message.body[at + 16 : at + 16 + size]
        if len(pdu) != size:
            raise Broken(f"TB of {size} B in a message that ends after {len(pdu)}")
        tbs.append(Tb(message.phy, sfn, slot, pdu))
        at += 16 + size + -size % 4
    if not at - 3 <= len(message.body) <= at:
        raise Broken(f"{len(message.body)} B of body, {at} told for")
    return tbs


def ul_tti(sfn: int, slot: int, rnti: int, tb_bytes: int, handle: int) -> bytes:
    """UL_TTI.request with one PUSCH PDU, Tables 3-44, 3-46 and 3-47; what we leave out is 0."""
    pusch = bytearray(_PUSCH_BYTES)
    struct.pack_into(">HH", pusch, 0, 1, _PUSCH_BYTES)  # PDU type, size
    struct.pack_into(">HHI", pusch, 4, 1, rnti, handle)  # bitmap: puschData
    struct.pack_into(">BBBI", pusch, 4 + 82, 0, 0, 1, tb_bytes)  # RV, HARQ, NDI, TB size
    return struct.pack(">HHBBBBB", sfn, slot, 1, 0, 1, 0, 0) + bytes(pusch)


def rx_data(sfn: int, slot: int, rnti: int, tb: bytes, handle: int = 0) -> bytes:
    """RX_Data.indication with one PDU, Table 3-61."""
    head = struct.pack(">HHH", sfn, slot, 1)
    return head + struct.pack(">IHBIBHH", handle, rnti, 0, len(tb), 255, 0xFFFF, 0xFFFF) + tb


def segments(
    kind: int, body: bytes, *, phy: int = 0, sequence: int = 0, room: int = 1400
) -> list[bytes]:
    """Ethernet frames that carry `body`, at most `room` octets of it each."""
    parts = [body[i : i + room] for i in range(0, len(body), room)] or [b""]
    frames = []
    for number, part in enumerate(parts):
        more = 0x80 if number + 1 < len(parts) else 0
        head = _P7.pack(phy, kind, _P7.size + len(part), more | number, sequence & 0xFF, 0, 0)
        frames.append(_BROADCAST + _SELF + struct.pack(">H", ETHERTYPE) + head + part)
    return frames


class Modem:
    """A PHY in the test's hand: it says when a slot is, what is granted and what is received."""

    def __init__(self, ns: str, interface: str, *, rnti: int = 0x4601):
        with netns.inside(ns):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._socket.bind((interface, ETHERTYPE))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._reassembler = Reassembler()
        self._sequence: dict[int, int] = {}
        self._rnti = rnti

    def close(self) -> None:
        self._socket.close()

    def raw(self, frame: bytes) -> None:
        self._socket.send(frame)

    def frames(self, kind: int, body: bytes, *, phy: int = 0, room: int = 1400) -> list[bytes]:
        """The frames of one message, under the sequence number that is due."""
        sequence = self._sequence.get(phy, 0)
        self._sequence[phy] = sequence + 1
        return segments(kind, body, phy=phy, sequence=sequence, room=room)

    def send(self, kind: int, body: bytes, *, phy: int = 0, room: int = 1400) -> None:
        for frame in self.frames(kind, body, phy=phy, room=room):
            self.raw(frame)

    def slot(self, sfn: int, slot: int, tb_bytes: list[int]) -> None:
        """One slot: a grant on each carrier, then the indication that starts it."""
        for carrier, size in enumerate(tb_bytes):
            self.send(UL_TTI_REQUEST, ul_tti(sfn, slot, self._rnti, size, carrier), phy=carrier)
        self.send(SLOT_INDICATION, struct.pack(">HH", sfn, slot))

    def downlink(
        self, sfn: int, slot: int, tb: bytes, *, carrier: int = 0, room: int = 1400
    ) -> None:
        body = rx_data(sfn, slot, self._rnti, tb)
        self.send(RX_DATA_INDICATION, body, phy=carrier, room=room)

    def collect(self, count: int, timeout: float = 20) -> list[Tb]:
        """Waits for `count` transport blocks."""
        found: list[Tb] = []
        until = time.monotonic() + timeout
        while len(found) < count:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{len(found)} of {count} transport blocks came")
            self._socket.settimeout(left)
            try:
                frame = self._socket.recv(65536)
            except TimeoutError:
                continue
            message = self._reassembler.push(frame)
            if message and message.kind == TX_DATA_REQUEST:
                found += tx_data(message)
        return found
