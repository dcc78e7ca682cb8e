# SPDX-License-Identifier: BSD-3-Clause
"""An SMF: PFCP over a socket of its own, requests made by scapy, answers read by scapy.

Every message that is meant to be right goes into a pcap, which tshark judges. What is sent by
send_raw() is wrong on purpose and stays out; answers to it are judged.
"""

import itertools
import logging
import queue
import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from scapy.config import conf
from scapy.contrib import pfcp as p
from scapy.packet import Packet

from harness import netns
from harness import pfcp_ies as ies
from harness.capture import Capture, Endpoint
from harness.server import Server

PORT = 8805
HEARTBEAT, PFD_MANAGEMENT, SETUP, UPDATE, RELEASE, NODE_REPORT = 1, 3, 5, 7, 9, 12
ESTABLISHMENT, MODIFICATION, DELETION, REPORT = 50, 52, 54, 56
ACCEPTED = 1
conf.max_list_count = 4096  # a session may have 256 Created PDRs
# scapy takes every Network Instance for labels and warns of those that are not.
logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
_EPOCH = 2208988800  # of NTP before that of UNIX


class Unanswered(TimeoutError):
    """No response came."""


@dataclass
class Session:
    """What the SMF knows of a session."""

    smf: "Smf"
    cp_seid: int
    seid: int  # the UPF's
    response: Packet
    tunnels: dict[int, tuple[int, str]] = field(default_factory=dict)  # PDR → TEID, address
    tunnels6: dict[int, tuple[int, str]] = field(default_factory=dict)
    ue: dict[int, tuple[str | None, str | None]] = field(default_factory=dict)

    def modify(self, *rules: Packet, expect: int = ACCEPTED) -> Packet:
        response = self.smf.request(MODIFICATION, *rules, seid=self.seid)
        assert cause(response) == expect, response.show(dump=True)
        self.learn(response)
        return response

    def delete(self, *, expect: int = ACCEPTED) -> Packet:
        response = self.smf.request(DELETION, seid=self.seid)
        assert cause(response) == expect, response.show(dump=True)
        return response

    def learn(self, response: Packet) -> None:
        """Takes F-TEIDs and UE addresses out of Created PDRs."""
        for created in ies.all_of(response, p.IE_CreatedPDR):
            number = ies.one_of(created, p.IE_PDR_Id).id
            for local in ies.all_of(created, p.IE_FTEID):
                if local.V4:
                    self.tunnels[number] = local.TEID, local.ipv4
                if local.V6:
                    self.tunnels6[number] = local.TEID, local.ipv6
            for one in ies.all_of(created, p.IE_UE_IP_Address):
                self.ue[number] = (one.ipv4 if one.V4 else None, one.ipv6 if one.V6 else None)


def cause(response: Packet) -> int | None:
    found = ies.one_of(response, p.IE_Cause)
    return None if found is None else found.cause


class Smf:
    """A CP function. Requests are made by the test's thread; a thread of its own receives, and
    answers heartbeats and reports."""

    def __init__(
        self,
        ns: str,
        capture: Capture | None,
        *,
        address: str = "127.0.0.4",
        upf: Endpoint = ("127.0.0.7", PORT),
        port: int = PORT,
        node: str | None = None,
        recovery: int | None = None,
    ):
        """`recovery`: seconds since 1900; a number never used before when left out."""
        self.address, self.upf, self.node = address, upf, node or address
        self.recovery = recovery if recovery is not None else int(time.time()) + _EPOCH
        # not those of an SMF that had the address before: its answers are still kept
        self.seqs = itertools.count(random.randrange(1 << 20, 1 << 23))
        self.seids = itertools.count(0x1000)
        self.requests: queue.Queue[Packet] = queue.Queue()  # of the UPF, heartbeats left out
        self.heartbeats: queue.Queue[Packet] = queue.Queue()
        self.unread: list[str] = []  # what scapy could not read
        self.answer: Callable[[Packet], list[Packet] | None] = self._accept
        self.peer_seids: dict[int, int] = {}  # by ours
        self._capture = capture
        self._waiting: dict[int, queue.Queue[bytes]] = {}
        with netns.inside(ns):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.bind((address, port))
        self.local: Endpoint = self._socket.getsockname()[:2]
        self._server = Server()
        self._server.add(self._socket.fileno(), self._receive)

    def close(self) -> None:
        self._server.close()
        self._socket.close()

    # --- sending ---

    def message(self, kind: int, *rules: Packet, seid: int | None = None, seq: int) -> bytes:
        """The octets of a message. Session messages have a SEID."""
        if seid is None and kind >= ESTABLISHMENT:
            seid = 0
        head = p.PFCP(S=0 if seid is None else 1, message_type=kind, seq=seq)
        if seid is not None:
            head.seid = seid
        body = b"".join(bytes(rule) for rule in rules)
        packet = bytearray(bytes(head) + body)
        packet[2:4] = (len(packet) - 4).to_bytes(2)
        return bytes(packet)

    def request(self, kind: int, *rules: Packet, seid: int | None = None, **how) -> Packet:
        """Sends a request and waits for its response. @throws Unanswered"""
        seq = next(self.seqs) & 0xFFFFFF
        return self.read(self.exchange(self.message(kind, *rules, seid=seid, seq=seq), **how))

    def exchange(
        self, message: bytes, *, tries: int = 4, timeout: float = 4, odd: bool = False
    ) -> bytes:
        """Sends octets up to `tries` times (N1 of §6.4). @return the response of their number.

        Patient: where the CPUs are shared, a worker may get none for seconds.
        """
        seq = sequence(message)
        box = self._waiting.setdefault(seq, queue.Queue())
        try:
            for _ in range(tries):
                self.send_raw(message, odd=odd)
                try:
                    return box.get(timeout=timeout)
                except queue.Empty:
                    continue
        finally:
            self._waiting.pop(seq, None)
        raise Unanswered(f"no response to {message[:16].hex()}")

    def send_raw(self, octets: bytes, *, odd: bool = True) -> None:
        """Any octets at all; `odd` ones are not shown to the judge."""
        if not odd:
            self._record(self.local, self.upf, octets)
        self._socket.sendto(octets, self.upf)

    def _record(self, source: Endpoint, destination: Endpoint, octets: bytes) -> None:
        if self._capture is not None:
            self._capture.add(source, destination, octets)

    def read(self, octets: bytes) -> Packet:
        packet = p.PFCP(octets)
        self.unread += ies.unknown_ies(packet)
        return packet

    # --- receiving ---

    def _receive(self) -> None:
        octets, source = self._socket.recvfrom(65536, socket.MSG_DONTWAIT)
        if len(octets) < 8:
            return
        self._record(source[:2], self.local, octets)
        if octets[1] in _REQUESTS:
            self._serve(self.read(octets), source[:2])
        elif (box := self._waiting.get(sequence(octets))) is not None:
            box.put(octets)

    def _serve(self, packet: Packet, source: Endpoint) -> None:
        if packet.message_type == HEARTBEAT:
            self.heartbeats.put(packet)
            answer = [p.IE_RecoveryTimeStamp(timestamp=self.recovery)]
        else:
            answer = self.answer(packet)
            self.requests.put(packet)
        if answer is None:
            return
        seid = None
        if packet.message_type >= ESTABLISHMENT:
            seid = self.peer_seids.get(packet.seid, 0)
        octets = self.message(packet.message_type + 1, *answer, seid=seid, seq=packet.seq)
        self._record(self.local, source, octets)
        self._socket.sendto(octets, source)

    def _accept(self, packet: Packet) -> list[Packet]:
        answer = [p.IE_Cause(cause=ACCEPTED)]
        if packet.message_type < ESTABLISHMENT:
            answer.insert(0, ies.node_id(self.node))
        if packet.message_type == SETUP:
            answer.append(p.IE_RecoveryTimeStamp(timestamp=self.recovery))
        return answer

    def wait_request(
        self, kind: int, timeout: float = 15, *, which: Callable[[Packet], bool] = lambda _: True
    ) -> Packet:
        """The next request of the UPF of a kind that is as wanted; others that came before it are
        left out. @throws Unanswered"""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            try:
                packet = self.requests.get(timeout=left)
            except queue.Empty:
                break
            if packet.message_type == kind and which(packet):
                return packet
        raise Unanswered(f"no request of type {kind} came")

    def wait_report(self, kind: type[Packet], timeout: float = 15) -> Packet:
        """A session report that holds a Downlink Data Report, Usage Report, ..."""
        return self.wait_request(
            REPORT, timeout, which=lambda packet: ies.one_of(packet, kind) is not None
        )

    # --- procedures ---

    def associate(self, *extra: Packet, expect: int = ACCEPTED) -> Packet:
        response = self.request(
            SETUP,
            ies.node_id(self.node),
            p.IE_RecoveryTimeStamp(timestamp=self.recovery),
            *extra,
        )
        assert cause(response) == expect, response.show(dump=True)
        return response

    def release(self, *, expect: int = ACCEPTED) -> Packet:
        response = self.request(RELEASE, ies.node_id(self.node))
        assert cause(response) == expect, response.show(dump=True)
        return response

    def heartbeat(self, **how) -> int:
        """@return the UPF's Recovery Time Stamp."""
        response = self.request(HEARTBEAT, p.IE_RecoveryTimeStamp(timestamp=self.recovery), **how)
        stamp = ies.one_of(response, p.IE_RecoveryTimeStamp)
        assert stamp is not None, response.show(dump=True)
        return stamp.timestamp

    def f_seid(self, seid: int) -> Packet:
        return ies.address(self.address, p.IE_FSEID, seid=seid)

    def establish_raw(self, *rules: Packet) -> tuple[int, Packet]:
        """@return the SEID of ours, the response whatever it says."""
        seid = next(self.seids)
        response = self.request(ESTABLISHMENT, ies.node_id(self.node), self.f_seid(seid), *rules)
        return seid, response

    def establish(self, *rules: Packet) -> Session:
        seid, response = self.establish_raw(*rules)
        assert cause(response) == ACCEPTED, response.show(dump=True)
        assert response.seid == seid
        peer = ies.one_of(response, p.IE_FSEID)
        assert peer is not None, response.show(dump=True)
        self.peer_seids[seid] = peer.seid
        session = Session(self, seid, peer.seid, response)
        session.learn(response)
        return session


_REQUESTS = {HEARTBEAT, 3, SETUP, UPDATE, RELEASE, NODE_REPORT, 14}
_REQUESTS |= {ESTABLISHMENT, MODIFICATION, DELETION, REPORT}


def sequence(message: bytes) -> int:
    at = 12 if message[0] & 1 else 4
    return int.from_bytes(message[at : at + 3])
