# SPDX-License-Identifier: BSD-3-Clause
"""The agent's side of api/upf.proto octet by octet, without the schema: one session."""

import contextlib
import socket
import time

GNB = "10.3.0.2"
UE, UE_6 = "10.45.0.2", "2001:db8:45::"
TEID_DOWN = 0x01020304


def message(*fields: tuple) -> bytes:
    """A protobuf message: (number, int | bytes) pairs."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def fields(octets: bytes) -> dict[int, object]:
    """Fields of a protobuf message by number; the last of repeated ones."""
    found: dict[int, object] = {}
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            octet = octets[at]
            at += 1
            value |= (octet & 0x7F) << shift
            shift += 7
            if octet < 0x80:
                return value

    while at < len(octets):
        key = number()
        if key & 7 == 2:
            size = number()
            found[key >> 3] = octets[at : at + size]
            at += size
        else:
            found[key >> 3] = number()
    return found


class Agent:
    """The management unit's side of api/upf.proto, as far as these tests need it."""

    def __init__(self, path: str):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(15)
        self._socket.connect(path)
        self._seq = 0
        self.events: list[dict] = []
        self.ask(2, message((1, 1), (2, b"tests")))

    def ask(self, kind: int, body: bytes) -> dict:
        self._seq += 1
        self._socket.send(message((1, self._seq), (kind, body)))
        while True:
            answer = self._answer()
            if 1 in answer:
                reply = fields(answer[1])
                assert 2 not in reply, reply[2]
                return reply

    def _answer(self) -> dict:
        answer = fields(self._socket.recv(1 << 18))
        if 2 in answer:
            self.events.append(fields(answer[2]))
        return answer

    def event(self, kind: int, timeout: float = 15) -> dict:
        """The next event of a kind."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            for event in self.events:
                if kind in event:
                    self.events.remove(event)
                    return fields(event[kind])
            self._socket.settimeout(max(until - time.monotonic(), 0.01))
            with contextlib.suppress(TimeoutError):
                self._answer()
        raise TimeoutError(f"no event {kind}")

    def config(self, *, refilled: bool = True, echo_s: int = 0) -> None:
        self.ask(3, message((3, echo_s), (4, 300), (5, 2), (6, int(refilled))))

    def session(self) -> int:
        """A UE with IPv4 and IPv6, up by N3 and out by N6. @return its uplink TEID"""
        handle = bucket(socket.inet_aton(UE)) << 20 | 1 << 8 | 1
        gnb, tunnel = socket.inet_aton(GNB), message((1, handle), (2, 1))
        up = message((1, 1), (2, 100), (3, 0), (5, 1), (13, 1), (15, 1))
        down = message((1, 2), (2, 100), (3, 1), (7, 1), (8, 1), (9, 1), (15, 2))
        toward_core = message((1, 1), (2, 2))
        toward_gnb = message((1, 0), (2, 1), (3, TEID_DOWN), (4, gnb), (5, 2152), (6, 1))
        session = message(
            *((1, 7), (2, handle), (3, 1), (4, tunnel), (5, up), (5, down)),
            (6, message((1, 1), (3, 1), (6, toward_core))),
            (6, message((1, 2), (3, 1), (6, toward_gnb))),
            (10, socket.inet_aton(UE)),
            *((11, socket.inet_pton(socket.AF_INET6, UE_6)), (12, 64), (13, 2)),
        )
        result = fields(self.ask(4, message((1, message((1, session)))))[4])
        assert result.get(1, b"") == b"", result
        return handle

    def close(self) -> None:
        self._socket.close()


def bucket(ip4: bytes) -> int:
    """upf_owner.h: the low bits of a Toeplitz hash whose key repeats every 16 bits."""
    x = (ip4[0] ^ ip4[2]) << 8 | (ip4[1] ^ ip4[3])
    reversed_bits = int(f"{x:016b}"[::-1], 2)
    r, h = reversed_bits << 16 | reversed_bits, 0
    for bit in range(16):
        if 0x6D5A >> bit & 1:
            h ^= r >> (16 - bit)
    return h & 0xFFF
