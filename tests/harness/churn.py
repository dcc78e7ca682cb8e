# SPDX-License-Identifier: BSD-3-Clause
"""An SMF with many requests under way, whose sessions come, change and go at random.

It works on octets made once: what it costs is little beside the agent. Requests that must be
refused and requests sent again are among them; answers are held to what is right.
"""

import collections
import random
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scapy.contrib import pfcp as p
from scapy.packet import Packet

from harness import netns, pfcp
from harness import pfcp_ies as ies
from harness.upf import GNB, N3, Upf, pdu_session

_SEID, _TEID = 0x5EED5EED5EED5EED, 0x7EED7EED  # where those of a session go
_T1, _N1 = 2.0, 20  # patient: a CPU may be busy elsewhere for seconds
_NO_SESSION = 65


class _Recorder:
    """Takes rules where pdu_session() wants an SMF."""

    def establish(self, *rules: Packet) -> bytes:
        return b"".join(bytes(rule) for rule in rules)


def _rules(*rules: Packet) -> bytes:
    return _Recorder().establish(*rules)


def _filtered(port: int) -> list[Packet]:
    """PDR 3 with FAR 3, QER 3 and SDF filters: what a dedicated QoS flow brings."""
    flow = ies.sdf(f"permit out 17 from 10.6.0.0/24 to assigned {port}")
    more = ies.sdf(f"permit out 6 from any {port}-{port + 40} to assigned")
    return [
        ies.pdr(
            3,
            ies.pdi(ies.CORE, ies.network_instance("internet"), flow, more),
            far=3,
            precedence=100,
            qers=(3,),
        ),
        ies.far(3, "FORW", to=ies.ACCESS, out=(_TEID, GNB)),
        ies.qer(3, qfi=2, mbr=(8000, 8000)),
    ]


_FLOWS = [_rules(*_filtered(5000 + 100 * n)) for n in range(24)]
_NO_FLOW = _rules(
    *(ies.remove(kind, 3) for kind in (p.IE_RemovePDR, p.IE_RemoveFAR, p.IE_RemoveQER))
)
_SECOND = ies.raw(32, struct.pack(">I", 1))  # Time Threshold


def _sessions() -> list[bytes]:
    made, one = _Recorder(), {"teid": _TEID}
    volume = ies.urr(1, methods=["VOLUM"], report=["VOLTH"], threshold={"total": 400})
    timed = ies.urr(2, _SECOND, methods=["VOLUM", "DURAT"], report=["TIMTH"])
    flows = [pdu_session(made, *_filtered(6000 + n), **one) for n in range(8)]
    return [
        pdu_session(made, **one),
        pdu_session(made, volume, timed, urrs=(1, 2), **one),
        pdu_session(made, ies.qer(1, qfi=1, mbr=(9000, 9000)), qers=(), v6=True, **one),
        pdu_session(made, ies.bar(1, packets=9), down=("BUFF", "NOCP"), bar=1, gnb=None),
        *flows,
    ]


_SESSIONS = _sessions()
_BAD_SESSIONS = [
    _rules(ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=9, precedence=1)),
    _SESSIONS[0] + _rules(ies.pdr(4, ies.pdi(ies.ACCESS, ies.choose()), far=2)),
    _SESSIONS[0] + _rules(ies.far(2, "FORW", to=ies.ACCESS), ies.pdr(5)),
    pdu_session(_Recorder(), ies.pdr(4, ies.pdi(ies.CORE, ies.sdf("permit nonsense")), far=2)),
    _SESSIONS[0].replace(b"internet", b"nowhere!"),
]
_CHANGES = [
    _rules(
        ies.far(2, "FORW", to=ies.ACCESS, out=(_TEID, GNB), end_markers=True, update=True)
    ),  # a handover
    _rules(ies.far(2, "BUFF", "NOCP", update=True)),
    _rules(ies.far(2, "DROP", update=True)),
    _rules(ies.pdr(2, precedence=150, far=2, update=True)),
]
_BAD_CHANGES = [
    _rules(ies.far(99, "DROP", update=True)),
    _rules(ies.urr(7), ies.remove(p.IE_RemovePDR, 77)),
    _rules(ies.qer(8, qfi=3), ies.far(8, "FORW", to=ies.CORE), ies.pdr(8, far=88, precedence=3)),
    _rules(ies.pdr(9, ies.pdi(ies.ACCESS, ies.choose()), far=1)),  # no precedence
]


@dataclass
class Alive:
    """A session as its SMF knows it."""

    seid: int
    cp_seid: int
    tunnels: list[tuple[int, str]] = field(default_factory=list)
    ue: str | None = None
    flow: bool = False
    busy: bool = False


@dataclass
class _Flight:
    octets: bytes
    then: Callable[[int, bytes], None]
    sent: float
    tries: int = 1


def tlvs(body: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and value of IEs."""
    at = 0
    while at < len(body):
        kind, size = struct.unpack_from(">HH", body, at)
        yield kind, body[at + 4 : at + 4 + size]
        at += 4 + size


class Churn:
    """Plays the SMF at `address`; step() and pump() are of one thread."""

    def __init__(self, upf: Upf, *, seed: int, window: int = 24, address: str = "127.0.2.1"):
        self._rng = random.Random(seed)
        self._upf, self._window = (upf.n4, pfcp.PORT), window
        with netns.inside(upf.ns):
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._socket.bind((address, pfcp.PORT))
        self._seq = self._rng.randrange(1 << 20)
        self._cp_seid = 0
        self._flights: dict[int, _Flight] = {}
        self._answers: collections.OrderedDict[int, bytes] = collections.OrderedDict()
        self._asked: dict[int, bytes] = {}  # requests of those answers
        self.alive: list[Alive] = []
        self._by_cp: dict[int, Alive] = {}
        self.counts: collections.Counter = collections.Counter()
        self.most = 0  # sessions at a time, with those asked for
        self.freed: list[float] = []  # when TEIDs were, in order
        self._node = bytes(ies.node_id(address))
        self._stamp = bytes(p.IE_RecoveryTimeStamp(timestamp=int(time.time()) + 2208988800))
        self._f_seid = bytes(ies.address(address, p.IE_FSEID, seid=_SEID))

    def close(self) -> None:
        self._socket.close()

    # --- requests ---

    def _send(self, kind: int, body: bytes, then, *, seid: int | None = None) -> None:
        self._seq = (self._seq + 1) & 0xFFFFFF
        octets = _message(kind, body, self._seq, seid)
        self._flights[self._seq] = _Flight(octets, then, time.monotonic())
        self._socket.sendto(octets, self._upf)
        if self._rng.random() < 0.03:  # the network doubles it
            self._socket.sendto(octets, self._upf)
            self.counts["doubled"] += 1

    def associate(self) -> None:
        self._send(pfcp.SETUP, self._node + self._stamp, self._accepted)
        self.settle()

    def release(self) -> None:
        self._send(pfcp.RELEASE, self._node, self._accepted)
        self.settle()

    def _accepted(self, cause: int, _: bytes) -> None:
        assert cause == pfcp.ACCEPTED, cause

    def _refused(self, cause: int, _: bytes) -> None:
        assert cause not in (0, pfcp.ACCEPTED, _NO_SESSION), cause
        self.counts["refused"] += 1

    def establish(self) -> None:
        self._cp_seid += 1
        cp_seid, bad = self._cp_seid, self._rng.random() < 0.1
        rules = self._rng.choice(_BAD_SESSIONS if bad else _SESSIONS)
        body = self._node + self._f_seid.replace(_octets8(_SEID), _octets8(cp_seid)) + rules
        body = body.replace(_octets4(_TEID), _octets4(cp_seid & 0xFFFFFF | 1 << 24))
        flow = _NEEDLE in rules

        def then(cause: int, answer: bytes) -> None:
            if bad:
                self.freed += [time.monotonic()] * 2  # as many as the bad ones ask for, at most
                return self._refused(cause, answer)
            self._accepted(cause, answer)
            one = _read(answer, cp_seid, flow)
            self.alive.append(one)
            self._by_cp[cp_seid] = one
            self.most = max(self.most, len(self.alive) + len(self._flights))
            self.counts["established"] += 1

        self._send(pfcp.ESTABLISHMENT, body, then, seid=0)

    def modify(self, one: Alive) -> None:
        bad, makes = self._rng.random() < 0.15, self._rng.random() < 0.4
        if bad:
            rules = self._rng.choice(_BAD_CHANGES)
        elif makes:
            rules = _NO_FLOW if one.flow else self._rng.choice(_FLOWS)
        else:
            rules = self._rng.choice(_CHANGES)
        rules = rules.replace(_octets4(_TEID), _octets4(self._rng.randrange(1, 1 << 31)))
        one.busy = True

        def then(cause: int, answer: bytes) -> None:
            one.busy = False
            if bad:
                return self._refused(cause, answer)
            self._accepted(cause, answer)
            one.flow ^= makes
            self.counts["modified"] += 1

        self._send(pfcp.MODIFICATION, rules, then, seid=one.seid)

    def delete(self, one: Alive) -> None:
        self.alive.remove(one)

        def then(cause: int, answer: bytes) -> None:
            self._accepted(cause, answer)
            del self._by_cp[one.cp_seid]
            self.freed.append(time.monotonic())
            self.counts["deleted"] += 1

        self._send(pfcp.DELETION, b"", then, seid=one.seid)

    def _ask_of_none(self) -> None:
        """A session that was deleted, or never was."""

        def then(cause: int, _: bytes) -> None:
            assert cause == _NO_SESSION, cause
            self.counts["no_session"] += 1

        kind = self._rng.choice((pfcp.MODIFICATION, pfcp.DELETION))
        self._send(kind, _CHANGES[2] * (kind == pfcp.MODIFICATION), then, seid=1 << 60)

    def _again(self) -> None:
        """A request that was answered: the answer must be the same octets."""
        seq = self._rng.choice(list(self._answers)[-64:])
        self._socket.sendto(self._asked[seq], self._upf)
        self.counts["again"] += 1

    def most_resting(self, seconds: float) -> int:
        """TEIDs at most that were freed within any so many seconds."""
        most = first = 0
        for last, when in enumerate(self.freed):
            while self.freed[first] < when - seconds:
                first += 1
            most = max(most, last + 1 - first)
        return most

    # --- life ---

    def step(self, wanted: int) -> Alive | None:
        """One random act that leads toward `wanted` sessions. @return one that lives."""
        while len(self._flights) >= self._window:
            self.pump(0.5)
        dice, idle = self._rng.random(), None
        if self.alive:
            idle = self._rng.choice(self.alive)
        if dice < 0.03:
            self._ask_of_none()
        elif dice < 0.06 and self._answers:
            self._again()
        elif idle is None or dice < 0.06 + 0.6 * (1 - len(self.alive) / (2 * wanted)):
            self.establish()
        elif idle.busy:
            pass
        elif dice < 0.8:
            self.modify(idle)
        else:
            self.delete(idle)
        self.pump(0)
        return self._rng.choice(self.alive) if self.alive else None

    def clear(self) -> None:
        """Deletes every session."""
        self.settle()
        while self.alive:
            while len(self._flights) >= self._window:
                self.pump(0.5)
            self.delete(self.alive[-1])
        self.settle()

    def idle(self, seconds: float) -> None:
        """Until answers are forgotten, by the agent and here."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.pump(0.5)
        self._answers.clear()
        self._asked.clear()
        self._ask_of_none()  # the agent looks at what is old when something new comes
        self.settle()

    def settle(self) -> None:
        """Until every request is answered."""
        while self._flights:
            self.pump(0.5)

    def pump(self, timeout: float) -> None:
        """Takes what came; waits for it if nothing has."""
        ready, _, _ = select.select([self._socket], [], [], timeout)
        while ready:
            try:
                self._take(self._socket.recv(65536, socket.MSG_DONTWAIT))
            except BlockingIOError:
                break
        now = time.monotonic()
        if timeout:
            for flight in self._flights.values():
                if now > flight.sent + _T1:
                    assert flight.tries < _N1, f"no answer to {flight.octets[:16].hex()}"
                    flight.sent, flight.tries = now, flight.tries + 1
                    self._socket.sendto(flight.octets, self._upf)
                    self.counts["sent_again"] += 1

    def _take(self, octets: bytes) -> None:
        kind, at = octets[1], 16 if octets[0] & 1 else 8
        seq = pfcp.sequence(octets)
        if kind in (pfcp.HEARTBEAT, pfcp.REPORT):
            return self._serve(kind, seq, octets, at)
        flight = self._flights.pop(seq, None)
        if flight is None:
            before = self._answers.get(seq)
            assert before in (None, octets), "another answer to the same request"
            self.counts["same_answer"] += before is not None
            return None
        self._answers[seq], self._asked[seq] = octets, flight.octets
        if len(self._answers) > 256:
            old, _ = self._answers.popitem(last=False)
            del self._asked[old]
        body = octets[at:]
        cause = next((value[0] for ie, value in tlvs(body) if ie == 19), 0)
        flight.then(cause, body)
        return None

    def _serve(self, kind: int, seq: int, octets: bytes, at: int) -> None:
        if kind == pfcp.HEARTBEAT:
            self._socket.sendto(_message(2, self._stamp, seq, None), self._upf)
            return
        one = self._by_cp.get(int.from_bytes(octets[4:12]))
        cause = bytes((0, 19, 0, 1, _NO_SESSION if one is None else pfcp.ACCEPTED))
        seid = 0 if one is None else one.seid
        self._socket.sendto(_message(pfcp.REPORT + 1, cause, seq, seid), self._upf)
        self.counts["reports"] += 1


_NEEDLE = b"permit out 17"


def _octets8(n: int) -> bytes:
    return n.to_bytes(8)


def _octets4(n: int) -> bytes:
    return n.to_bytes(4)


def _message(kind: int, body: bytes, seq: int, seid: int | None) -> bytes:
    tail = struct.pack(">I", seq << 8) + body
    if seid is not None:
        tail = _octets8(seid) + tail
    return struct.pack(">BBH", 0x20 | (seid is not None), kind, len(tail)) + tail


def _read(answer: bytes, cp_seid: int, flow: bool) -> Alive:
    """SEID, uplink tunnels and IPv4 address out of an establishment's answer."""
    one = Alive(0, cp_seid, flow=flow)
    for kind, value in tlvs(answer):
        if kind == 57:
            one.seid = int.from_bytes(value[1:9])
        elif kind == 8:
            for inner, of in tlvs(value):
                if inner == 21 and of[0] & 1:
                    one.tunnels.append((int.from_bytes(of[1:5]), N3))
                elif inner == 93 and of[0] & 2:
                    one.ue = socket.inet_ntoa(of[1:5])
    return one
