# SPDX-License-Identifier: BSD-3-Clause
"""Usage reports: what their IEs say, read octet by octet, for scapy knows no packet counts."""

from dataclasses import dataclass, field

from scapy.contrib import pfcp as p
from scapy.packet import Packet

from harness import pfcp_ies as ies

_TRIGGERS = (
    ("PERIO", "VOLTH", "TIMTH", "QUHTI", "START", "STOPT", "DROTH", "IMMER"),
    ("VOLQU", "TIMQU", "LIUSA", "TERMR", "MONIT", "ENVCL", "MACAR", "EVETH"),
    ("EVEQU", "TEMUR", "IPMJL", "QUVTI", "EMRRE", "UPINT"),
)
_VOLUMES = ("total", "uplink", "downlink", "total_packets", "uplink_packets", "downlink_packets")
_NUMBERS = {104: "seqn", 67: "duration", 75: "start", 76: "end", 69: "first", 70: "last"}
_KINDS = (p.IE_UsageReport_SMR, p.IE_UsageReport_SDR, p.IE_UsageReport_SRR)


@dataclass
class Usage:
    """Octets and packets of a report; None where the IE does not say."""

    urr: int = -1
    seqn: int | None = None
    triggers: set[str] = field(default_factory=set)
    total: int | None = None
    uplink: int | None = None
    downlink: int | None = None
    total_packets: int | None = None
    uplink_packets: int | None = None
    downlink_packets: int | None = None
    duration: int | None = None  # s
    start: int | None = None  # s since 1900
    end: int | None = None
    first: int | None = None
    last: int | None = None
    detected: list[tuple[str, int]] = field(default_factory=list)  # MAC address, VID
    removed: list[tuple[str, int]] = field(default_factory=list)


def _value(ie: Packet) -> bytes:
    return bytes(ie)[4:]


def _addresses(value: bytes) -> list[tuple[str, int]]:
    """MAC Addresses Detected and Removed, §8.2.103, §8.2.104."""
    macs = [value[1 + 6 * i : 7 + 6 * i].hex(":") for i in range(value[0])]
    tag = value[1 + 6 * value[0] :]
    vid = (tag[2] >> 4) << 8 | tag[3] if tag[0] and tag[1] & 4 else 0
    assert tag[1 + tag[0] :] == b"\0", "no S-TAG"
    return [(mac, vid) for mac in macs]


def read(report: Packet) -> Usage:
    usage = Usage()
    for ie in report.IE_list:
        value = _value(ie)
        if ie.ietype == 81:
            usage.urr = int.from_bytes(value[:4])
        elif ie.ietype == 63:
            for octet, names in zip(value, _TRIGGERS, strict=False):
                usage.triggers |= {name for bit, name in enumerate(names) if octet >> bit & 1}
        elif ie.ietype == 66:
            at = 1
            for bit, name in enumerate(_VOLUMES):
                if value[0] >> bit & 1:
                    setattr(usage, name, int.from_bytes(value[at : at + 8]))
                    at += 8
        elif ie.ietype == 143:
            for inner in ie.IE_list:
                where = usage.detected if inner.ietype == 144 else usage.removed
                where += _addresses(_value(inner))
        elif ie.ietype in _NUMBERS:
            setattr(usage, _NUMBERS[ie.ietype], int.from_bytes(value[:4]))
    return usage


def reports(message: Packet) -> list[Usage]:
    """Of a modification or deletion response, or of a session report request."""
    return [read(ie) for kind in _KINDS for ie in ies.all_of(message, kind)]
