# SPDX-License-Identifier: BSD-3-Clause
"""Odd PFCP: what ended other UPFs, and mutations of what a widely used SMF sends. The agent goes
on, and so does a session that was there before."""

import itertools
import random
import struct

import pytest
from harness import pfcp
from harness import pfcp_ies as ies
from harness.pfcp import ACCEPTED
from harness.program import ROOT
from harness.upf import pdu_session
from scapy.contrib import pfcp as p
from scapy.layers.inet import UDP
from scapy.utils import rdpcap

VECTOR = ROOT / "tests" / "vectors" / "pfcp" / "smf-session.pcap"
CAPTURED = [bytes(packet[UDP].payload) for packet in rdpcap(str(VECTOR))]
GROUPED = (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 14, 15, 16, 17, 18, 77, 85, 86, 87, 127, 129)


def tlv(kind: int, value: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack(">HH", kind, len(value) if length is None else length) + value


def message(kind: int, body: bytes, *, seid: int | None = 0, seq: int = 1) -> bytes:
    """A header around any octets."""
    rest = (b"" if seid is None else struct.pack(">Q", seid)) + seq.to_bytes(3) + b"\0" + body
    return struct.pack(">BBH", 0x20 | (seid is not None), kind, len(rest) & 0xFFFF) + rest


HEAD = tlv(60, b"\0\x7f\0\0\x04") + tlv(57, b"\x02" + bytes(7) + b"\x01\x7f\0\0\x04")
FAR = tlv(3, tlv(108, b"\0\0\0\x01") + tlv(44, b"\x01"))


def create_pdr(*pdi: bytes, number: bytes = b"\0\x01") -> bytes:
    body = tlv(56, number) + tlv(29, b"\0\0\0\x01") + tlv(2, tlv(20, b"\0") + b"".join(pdi))
    return tlv(1, body + tlv(108, b"\0\0\0\x01"))


def establishment(*parts: bytes) -> bytes:
    return message(50, HEAD + b"".join(parts))


def flow(text: bytes, length: int | None = None, flags: int = 1) -> bytes:
    size = len(text) if length is None else length
    return tlv(23, bytes((flags, 0)) + struct.pack(">H", size) + text)


def nested(kind: int, depth: int) -> bytes:
    value = b""
    for _ in range(depth):
        value = tlv(kind, value)
    return value


ODD = {
    "empty datagram": b"",
    "one octet": b"\x20",
    "all zero": bytes(64),
    "all ones": b"\xff" * 64,
    "version 0": b"\0" + message(1, b"", seid=None)[1:],
    "header alone, S set": b"\x21\x32\0\0",
    "length 65535": b"\x21\x32\xff\xff" + bytes(12),
    "heartbeat without IEs": message(1, b"", seid=None),
    "heartbeat with a SEID": message(1, tlv(96, b"\0\0\0\1"), seid=5),
    "establishment without SEID flag": message(50, HEAD, seid=None),
    "setup of no octets": message(5, b"", seid=None),
    "setup, empty node id": message(5, tlv(60) + tlv(96, b"\0\0\0\1"), seid=None),
    "setup, node id of a bare label": message(5, tlv(60, b"\x02\x3f") + tlv(96, b"\0\0\0\1")),
    "setup, endless name": message(5, tlv(60, b"\x02" + b"\x01a" * 2000) + tlv(96, bytes(4))),
    "PFD management": message(
        3, tlv(58, tlv(24, b"app") + tlv(59, tlv(61, b"\x01\0\0\0"))), seid=None
    ),
    "session set deletion": message(14, tlv(60, b"\0\x7f\0\0\x04"), seid=None),
    "establishment without IEs": establishment(),
    "F-SEID of seid 0": message(
        50, tlv(60, b"\0\x7f\0\0\x04") + tlv(57, b"\x02" + bytes(8) + b"\x7f\0\0\x04")
    ),
    "F-SEID of both families, one there": message(50, HEAD[:9] + tlv(57, b"\x03" + bytes(12))),
    "PDR of no octets": establishment(tlv(1), FAR),
    "PDI of no octets": establishment(tlv(1, tlv(56, b"\0\1") + tlv(29, bytes(4)) + tlv(2)), FAR),
    "PDR id 0": establishment(create_pdr(number=b"\0\0"), FAR),
    "two PDRs of one id": establishment(create_pdr(), create_pdr(), FAR),
    "two FARs of one id": establishment(create_pdr(), FAR, FAR),
    "two PDIs": establishment(
        tlv(1, tlv(56, b"\0\1") + tlv(29, bytes(4)) + tlv(2, tlv(20, b"\0")) * 2), FAR
    ),
    "F-TEID of no octets": establishment(create_pdr(tlv(21)), FAR),
    "F-TEID CHOOSE of no family": establishment(create_pdr(tlv(21, b"\x04")), FAR),
    "F-TEID CHOOSE ID not there": establishment(create_pdr(tlv(21, b"\x0d")), FAR),
    "F-TEID v6 cut": establishment(create_pdr(tlv(21, b"\x02" + bytes(12))), FAR),
    "F-TEID of no address": establishment(create_pdr(tlv(21, b"\x00\0\0\0\x05")), FAR),
    "network instance of no octets": establishment(create_pdr(tlv(22)), FAR),
    "network instance, wrong labels": establishment(create_pdr(tlv(22, b"\x3finternet")), FAR),
    "UE IP of no octets": establishment(create_pdr(tlv(93)), FAR),
    "UE IP of no address": establishment(create_pdr(tlv(93, b"\x00")), FAR),
    "UE IP v6 cut": establishment(create_pdr(tlv(93, b"\x01" + bytes(8))), FAR),
    "UE IP with a prefix length of 255": establishment(
        create_pdr(tlv(93, b"\x41" + bytes(16) + b"\xff")), FAR
    ),
    "SDF filter of no octets": establishment(create_pdr(tlv(23)), FAR),
    "SDF filter, flags alone": establishment(create_pdr(tlv(23, b"\x1f\0")), FAR),
    "flow description longer than its IE": establishment(create_pdr(flow(b"permit", 65535)), FAR),
    "flow description of no octets": establishment(create_pdr(flow(b"")), FAR),
    "flow description: permit": establishment(create_pdr(flow(b"permit")), FAR),
    "flow description: from": establishment(create_pdr(flow(b"permit out ip from")), FAR),
    "flow description: to": establishment(create_pdr(flow(b"permit out ip from any to")), FAR),
    "flow description: mask": establishment(
        create_pdr(flow(b"permit out ip from 1.2.3.4/99 to assigned")), FAR
    ),
    "flow description: ports": establishment(
        create_pdr(flow(b"permit out 17 from any 9-1 to assigned")), FAR
    ),
    "flow description: zeros": establishment(create_pdr(flow(bytes(40))), FAR),
    "flow description: spaces": establishment(create_pdr(flow(b" " * 4000)), FAR),
    "flow description: many ports": establishment(
        create_pdr(flow(b"permit out 17 from any " + b"1," * 9000 + b"1 to assigned")), FAR
    ),
    "QFI of no octets": establishment(create_pdr(tlv(124)), FAR),
    "traffic endpoint that is not there": establishment(create_pdr(tlv(131, b"\x07")), FAR),
    "application id": establishment(create_pdr(tlv(24, b"facebook")), FAR),
    "framed route: nonsense": establishment(create_pdr(tlv(153, b"not a route")), FAR),
    "framed route: zeros": establishment(create_pdr(tlv(153, bytes(30))), FAR),
    "ethernet filter of no octets": establishment(create_pdr(tlv(132)), FAR),
    "apply action of no octets": establishment(
        create_pdr(), tlv(3, tlv(108, b"\0\0\0\x01") + tlv(44))
    ),
    "apply action of all bits": establishment(
        create_pdr(), tlv(3, tlv(108, b"\0\0\0\x01") + tlv(44, b"\xff" * 3))
    ),
    "FAR that forwards without parameters": establishment(
        create_pdr(), tlv(3, tlv(108, b"\0\0\0\x01") + tlv(44, b"\x02"))
    ),
    "forwarding parameters of no octets": establishment(
        create_pdr(), tlv(3, tlv(108, b"\0\0\0\x01") + tlv(44, b"\x02") + tlv(4))
    ),
    "outer header creation of no octets": establishment(
        create_pdr(),
        tlv(3, tlv(108, b"\0\0\0\x01") + tlv(44, b"\x02") + tlv(4, tlv(42, b"\0") + tlv(84))),
    ),
    "outer header creation of all bits": establishment(
        create_pdr(),
        tlv(
            3,
            tlv(108, b"\0\0\0\x01")
            + tlv(44, b"\x02")
            + tlv(4, tlv(42, b"\0") + tlv(84, b"\xff\xff" + bytes(8))),
        ),
    ),
    "redirect information cut": establishment(
        create_pdr(),
        tlv(
            3,
            tlv(108, b"\0\0\0\x01")
            + tlv(44, b"\x02")
            + tlv(4, tlv(42, b"\0") + tlv(38, b"\x02\xff\xff")),
        ),
    ),
    "URR without method": establishment(
        create_pdr(), FAR, tlv(6, tlv(81, b"\0\0\0\1") + tlv(37, b"\1"))
    ),
    "URR with a threshold of no octets": establishment(
        create_pdr(), FAR, tlv(6, tlv(81, b"\0\0\0\1") + tlv(62, b"\2") + tlv(37, b"\2") + tlv(31))
    ),
    "URR period 0": establishment(
        create_pdr(),
        FAR,
        tlv(6, tlv(81, b"\0\0\0\1") + tlv(62, b"\1") + tlv(37, b"\1") + tlv(64, bytes(4))),
    ),
    "URR linked to itself": establishment(
        create_pdr(),
        FAR,
        tlv(6, tlv(81, b"\0\0\0\1") + tlv(62, b"\2") + tlv(37, b"\x80") + tlv(82, b"\0\0\0\1")),
    ),
    "MBR of 10 octets of ones": establishment(
        create_pdr(), FAR, tlv(7, tlv(109, b"\0\0\0\1") + tlv(25, b"\0") + tlv(26, b"\xff" * 10))
    ),
    "MBR cut": establishment(
        create_pdr(), FAR, tlv(7, tlv(109, b"\0\0\0\1") + tlv(25, b"\0") + tlv(26, b"\xff"))
    ),
    "BAR of no octets": establishment(create_pdr(), FAR, tlv(85)),
    "grouped IEs in each other": establishment(nested(1, 12000)),
    "PDI in PDI in PDI": establishment(tlv(1, nested(2, 8000)), FAR),
    "five hundred PDRs": establishment(
        *(create_pdr(number=n.to_bytes(2)) for n in range(500)), FAR
    ),
    "three thousand empty IEs": establishment(*(tlv(n) for n in range(3000))),
    "a group of 60 kB": establishment(tlv(1, bytes(60000))),
    "group longer than the message": establishment(tlv(1, b"\0" * 8, 60000)),
    "modification of SEID 0": message(52, b"", seid=0),
    "modification of SEID ~0": message(52, tlv(10, tlv(108, b"\0\0\0\1")), seid=2**64 - 1),
    "deletion with IEs": message(54, HEAD, seid=1),
    "report request to the UP function": message(56, tlv(39, b"\x01"), seid=1),
    "report response nobody asked for": message(57, tlv(19, b"\x01"), seid=1),
    "establishment response to the UP function": message(51, HEAD + tlv(19, b"\x01"), seid=1),
}
ODD |= {f"IE {kind} of no octets": establishment(tlv(kind)) for kind in GROUPED}


numbers = itertools.count(0x100000)


def fresh(octets: bytes) -> bytes:
    """With a sequence number of its own: else it would be taken for a retransmission."""
    out = bytearray(octets)
    at = 12 if out and out[0] & 1 else 4
    if len(out) >= at + 3:
        out[at : at + 3] = next(numbers).to_bytes(3)
    return bytes(out)


@pytest.fixture
def bystander(smf):
    """A session nobody touches, which has to survive."""
    session = pdu_session(smf)
    yield session
    session.modify(ies.far(2, "DROP", update=True))
    session.delete()


@pytest.fixture
def odd(upf):
    """Another SMF, that says odd things."""
    other = upf.smf()
    other.associate()
    yield other
    other.close()


@pytest.fixture
def victim(odd):
    """A session that odd messages name."""
    return pdu_session(odd)


def test_odd_messages(upf, smf, odd, bystander):
    for name, octets in ODD.items():
        odd.send_raw(fresh(octets))
        smf.heartbeat(timeout=5)
        assert upf.agent.lives(), name


def test_odd_messages_to_a_session(upf, smf, odd, bystander, victim):
    """The same rules as a modification: they meet those that are there."""
    for name, octets in ODD.items():
        if len(octets) < 17 or octets[1] != 50:
            continue
        odd.send_raw(fresh(message(52, octets[16:], seid=victim.seid)))
        smf.heartbeat(timeout=5)
        assert upf.agent.lives(), name


def mutate(octets: bytes, rnd: random.Random) -> bytes:
    out = bytearray(octets)
    for _ in range(rnd.choice((1, 1, 2, 5, 20))):
        at = rnd.randrange(len(out)) if out else 0
        how = rnd.randrange(6)
        if how == 0 and out:
            out[at] ^= 1 << rnd.randrange(8)
        elif how == 1 and out:
            out[at] = rnd.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif how == 2:
            del out[at : at + rnd.randrange(1, 9)]
        elif how == 3:
            out[at:at] = rnd.randbytes(rnd.randrange(1, 9))
        elif how == 4 and len(out) > 20:
            start = rnd.randrange(16, len(out))
            out += out[start : start + rnd.randrange(4, 60)]
        elif how == 5 and len(out) > 2:
            out[at : at + 2] = struct.pack(">H", rnd.choice((0, 1, 4, 0xFFFF)))[: len(out) - at]
    if len(out) >= 4 and rnd.randrange(4):
        out[2:4] = ((len(out) - 4) & 0xFFFF).to_bytes(2)
    return bytes(out)


@pytest.mark.parametrize("seed", range(4))
def test_mutations_of_captured_messages(upf, smf, odd, bystander, victim, seed):
    """Requests and responses of both sides; half of those with a SEID name a session."""
    rnd = random.Random(seed)
    for turn in range(500):
        octets = bytearray(mutate(rnd.choice(CAPTURED), rnd))
        if len(octets) > 12 and octets[0] & 1 and rnd.randrange(2):
            octets[4:12] = struct.pack(">Q", victim.seid)
        odd.send_raw(fresh(bytes(octets)))
        if turn % 25 == 0:
            smf.heartbeat(timeout=5)
    smf.heartbeat(timeout=5)
    assert upf.agent.lives()


def test_requests_after_all_that(smf):
    """A session is made and deleted as ever."""
    session = pdu_session(smf)
    assert pfcp.cause(session.response) == ACCEPTED
    session.modify(ies.remove(p.IE_RemovePDR, 2))
    session.delete()
