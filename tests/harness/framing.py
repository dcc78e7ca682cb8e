# SPDX-License-Identifier: BSD-3-Clause
"""Wireshark's UDP framings of 5G PDUs: packet-mac-nr.h and packet-pdcp-nr.h of Wireshark 4.0."""

import struct
from collections.abc import Iterable
from pathlib import Path

UPLINK, DOWNLINK = 0, 1

_FDD = 1
_C_RNTI = 3
_USER_PLANE = 2
_BEARER_DCCH = 1  # the dissector knows no DTCH; what counts is the plane
_UDP_MAX = 65535 - 20 - 8


class TooLarge(ValueError):
    """The PDU and its framing do not fit one IPv4 datagram."""


def mac_nr(
    pdu: bytes,
    direction: int,
    *,
    rnti: int = 0x4601,
    ueid: int = 1,
    sfn: int = 0,
    slot: int = 0,
) -> bytes:
    """A MAC PDU as the heuristic dissector `mac_nr_udp` expects it."""
    tags = struct.pack(">BHBHBHH", 0x02, rnti, 0x03, ueid, 0x07, sfn, slot)
    return b"mac-nr" + bytes([_FDD, direction, _C_RNTI]) + tags + b"\x01" + pdu


def pdcp_nr(
    pdu: bytes, direction: int, *, sn_bits: int, drb: int, sdap: bool, mac_i: bool = False
) -> bytes:
    """A PDCP PDU as the heuristic dissector `pdcp_nr_udp` expects it."""
    tags = bytes([0x02, sn_bits, 0x03, direction, 0x04, _BEARER_DCCH, 0x05, drb])
    tags += struct.pack(">BH", 0x06, 1)
    if sdap:
        tags += bytes([0x10, 0x01 if direction == UPLINK else 0x02])
    if mac_i:
        tags += b"\x0f"
    return b"pdcp-nr" + bytes([_USER_PLANE]) + tags + b"\x01" + pdu


def _datagram(payload: bytes) -> bytes:
    if len(payload) > _UDP_MAX:
        raise TooLarge(f"{len(payload)} B do not fit one UDP datagram")
    ip = struct.pack(
        ">BBHHHBBH4s4s",
        *(0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0),
        *(b"\x7f\0\0\1", b"\x7f\0\0\1"),
    )
    return ip + struct.pack(">HHHH", 9999, 9999, 8 + len(payload), 0) + payload


def write_pcap(path: Path, payloads: Iterable[bytes]) -> None:
    """One UDP datagram a payload, link type raw IP (101), a microsecond apart."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101))
        for number, payload in enumerate(payloads):
            packet = _datagram(payload)
            out.write(struct.pack("<IIII", 0, number, len(packet), len(packet)) + packet)
