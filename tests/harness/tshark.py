# SPDX-License-Identifier: BSD-3-Clause
"""tshark as independent judge: dissects MAC and PDCP PDUs and reports what it objects to."""

import os
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

from harness import framing

_SI_FULL, _SI_FIRST, _SI_LAST = 0, 1, 2  # TS 38.322 table 6.2.3.4-1
# What tshark warns of although it is what a STATUS PDU is for.
_NEWS = ("Status PDU reports NACK",)
_WARNING = 0x00600000  # expert severities: chat, note, then these two
_ERROR = 0x00800000


@dataclass(frozen=True)
class Bearer:
    """What tshark has to know of a DRB; it cannot learn it without RRC."""

    lcid: int
    drb: int
    rlc: str = "UM, SN Len=12"
    sdap: bool = False  # an SDAP header stands before the user packet


@dataclass(frozen=True)
class Security:
    """Of the UE's user plane. tshark knows the AES algorithms only, and misplaces the SDAP header
    of a ciphered PDU."""

    key_enc: bytes
    key_int: bytes
    nea: int = 0
    nia: int = 0

    def options(self) -> list[str]:
        # UE, then ciphering and integrity keys: RRC's and the user plane's of each
        keys = f'"1","","{self.key_enc.hex()}","","{self.key_int.hex()}"'
        return [
            f"uat:pdcp_nr_ue_keys:{keys}",
            f"pdcp-nr.default_ciphering_algorithm:nea{self.nea}",
            f"pdcp-nr.default_integrity_algorithm:nia{self.nia}",
            "pdcp-nr.decipher_userplane:TRUE",
        ]


@dataclass
class Pdcp:
    sn: int
    sdu: bytes  # after the PDCP and, where configured, SDAP header
    qfi: int | None = None
    control: bool = False  # SDAP control PDU
    count: int | None = None  # what it was deciphered with
    mac_i: bytes | None = None
    problems: list[str] = field(default_factory=list)


@dataclass
class StatusReport:
    fmc: int | None  # None: tshark saw something else
    received: list[int]  # SNs behind it
    problems: list[str] = field(default_factory=list)


@dataclass
class Status:
    ack_sn: int
    nacks: list[int]


@dataclass
class Rlc:
    si: int
    sn: int | None  # a complete UM SDU carries none
    so: int | None
    data: bytes  # behind the RLC header
    poll: bool = False
    status: Status | None = None  # then the PDU is no data PDU
    sdu: bytes | None = None  # the SDU that this PDU completes
    pdcp: Pdcp | None = None


@dataclass
class Subpdu:
    lcid: int
    length: int | None  # value of L, None where the subheader has none
    padding: int | None = None  # padding octets behind the subheader
    rlc: Rlc | None = None
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class MacPdu:
    direction: int
    sfn: int
    slot: int
    subpdus: list[Subpdu] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def lcids(self) -> list[int]:
        return [s.lcid for s in self.subpdus]


def judge_mac(
    pdus: list[bytes],
    bearers: list[Bearer],
    *,
    direction: int = framing.UPLINK,
    pdcp_sn_bits: int | None = None,
    times: list[tuple[int, int]] | None = None,
) -> list[MacPdu]:
    """Dissects MAC PDUs in order. `pdcp_sn_bits`: go on into PDCP; `times`: (sfn, slot) of each."""
    times = times or [(0, 0)] * len(pdus)
    payloads = [
        framing.mac_nr(p, direction, sfn=t[0], slot=t[1]) for p, t in zip(pdus, times, strict=True)
    ]
    options = []
    for b in bearers:
        options.append(f'uat:drb_bearerconfig:"LCID {b.lcid}","{b.drb}","{b.rlc}","{b.rlc}"')
    found = [_mac_pdu(p) for p in _dissect(payloads, "mac-nr", options)]
    for b in bearers:
        whole = _reassemble(found, b.lcid)
        if pdcp_sn_bits and whole:
            sdus = [rlc.sdu or b"" for _, rlc in whole]
            for (pdu, rlc), pdcp in zip(
                whole,
                judge_pdcp(sdus, sn_bits=pdcp_sn_bits, drb=b.drb, sdap=b.sdap, direction=direction),
                strict=True,
            ):
                rlc.pdcp = pdcp
                pdu.problems += pdcp.problems
    return found


def _reassemble(pdus: list[MacPdu], lcid: int) -> list[tuple[MacPdu, Rlc]]:
    """Complete SDUs of a logical channel with the PDU that completed each; segments must come in
    order. tshark does not do it: 4.0 aborts over the second UM SDU it reassembles."""
    whole, parts, at = [], [], 0
    for pdu in pdus:
        for rlc in [s.rlc for s in pdu.subpdus if s.lcid == lcid and s.rlc and not s.rlc.status]:
            if rlc.si in (_SI_FULL, _SI_FIRST):
                parts, at = [], 0
            if (rlc.so or 0) != at:
                pdu.problems.append(f"segment at {rlc.so} where {at} was due")
            parts.append(rlc.data)
            at += len(rlc.data)
            if rlc.si in (_SI_FULL, _SI_LAST):
                rlc.sdu = b"".join(parts)
                whole.append((pdu, rlc))
                parts, at = [], 0
    return whole


def judge_pdcp(
    pdus: list[bytes],
    *,
    sn_bits: int,
    drb: int,
    sdap: bool,
    direction: int = framing.UPLINK,
    security: Security | None = None,
) -> list[Pdcp]:
    """Dissects PDCP data PDUs of one bearer in order, SNs included. tshark knows of an SDAP header
    only from RRC or from this framing."""
    mac_i = security is not None and security.nia != 0
    payloads = [
        framing.pdcp_nr(p, direction, sn_bits=sn_bits, drb=drb, sdap=sdap, mac_i=mac_i)
        for p in pdus
    ]
    found = []
    for packet in _dissect(payloads, "pdcp-nr", security.options() if security else []):
        pdcp = _pdcp(_proto(packet, "pdcp-nr"))
        pdcp.problems = problems(packet)
        found.append(pdcp)
    return found


def judge_pdcp_control(
    pdus: list[bytes], *, sn_bits: int, drb: int, direction: int = framing.UPLINK
) -> list[StatusReport]:
    """Dissects PDCP status reports."""
    payloads = [framing.pdcp_nr(p, direction, sn_bits=sn_bits, drb=drb, sdap=False) for p in pdus]
    found = []
    for packet in _dissect(payloads, "pdcp-nr", []):
        proto = _proto(packet, "pdcp-nr")
        found.append(
            StatusReport(
                fmc=_number(proto, "pdcp-nr.fmc"),
                received=[
                    int(sn)
                    for octet in proto.iter("field")
                    if octet.get("name") == "pdcp-nr.bitmap.byte"
                    for sn in (octet.get("showname") or "").split(",")
                    if sn.strip()
                ],
                problems=problems(packet),
            )
        )
    return found


def _dissect(payloads: list[bytes], protocol: str, options: list[str]) -> list[ET.Element]:
    options = [*options, "pdcp-nr.show_user_plane_as_ip:FALSE"]
    options.append("pdcp-nr.check_sequence_numbers:Only-PDCP-frames")
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "pdus.pcap"
        framing.write_pcap(capture, payloads)
        command = ["tshark", "-n", "-r", str(capture), "-T", "pdml"]
        command += ["--enable-heuristic", protocol.replace("-", "_") + "_udp"]
        for option in options:
            command += ["-o", option]
        # A home of its own: no preference of whoever runs the tests may change the verdict.
        done = subprocess.run(
            command, capture_output=True, env={**os.environ, "HOME": folder}, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(f"tshark: {done.stderr.decode()}")
    packets = ET.fromstring(done.stdout).findall("packet")
    if len(packets) != len(payloads):
        raise RuntimeError(f"tshark saw {len(packets)} of {len(payloads)} PDUs")
    for packet in packets:
        if packet.find(f"proto[@name='{protocol}']") is None:
            raise RuntimeError(f"tshark did not recognise a PDU as {protocol}")
    return packets


def _proto(packet: ET.Element, name: str) -> ET.Element:
    proto = packet.find(f"proto[@name='{name}']")
    assert proto is not None
    return proto


def _show(element: ET.Element, name: str) -> str | None:
    found = element.find(f".//field[@name='{name}']")
    return None if found is None else found.get("show")


def _number(element: ET.Element, name: str) -> int | None:
    show = _show(element, name)
    return None if show is None else int(show, 0)


def _octets(element: ET.Element, name: str) -> bytes | None:
    found = element.find(f".//field[@name='{name}']")
    return None if found is None else bytes.fromhex(found.get("value", ""))


def problems(packet: ET.Element) -> list[str]:
    """Malformed protos, and expert items of severity warning or error."""
    problems = [
        p.get("showname") or "malformed"
        for p in packet.iter("proto")
        if p.get("name") in ("_ws.malformed", "_ws.short")
    ]
    for expert in packet.iter("field"):
        if expert.get("name") != "_ws.expert":
            continue
        severity = _number(expert, "_ws.expert.severity") or 0
        message = _show(expert, "_ws.expert.message") or "expert item"
        if severity in (_WARNING, _ERROR) and not message.startswith(_NEWS):
            problems.append(message)
    return problems


def _mac_pdu(packet: ET.Element) -> MacPdu:
    mac = _proto(packet, "mac-nr")
    pdu = MacPdu(
        direction=_number(mac, "mac-nr.direction") or 0,
        sfn=_number(mac, "mac-nr.sfn") or 0,
        slot=_number(mac, "mac-nr.slot") or 0,
        problems=problems(packet),
    )
    for child in mac:
        if child.get("name") == "mac-nr.subheader":
            pdu.subpdus.append(_subpdu(child))
        elif child.get("name") == "rlc-nr" and pdu.subpdus:
            pdu.subpdus[-1].rlc = _rlc(child)
    return pdu


def _subpdu(subheader: ET.Element) -> Subpdu:
    padding = _octets(subheader, "mac-nr.padding")
    lcid = _number(subheader, "mac-nr.lcid")
    if lcid is None:
        raise RuntimeError(f"subheader without LCID: {subheader.get('showname')}")
    if padding is None and lcid == 63:
        padding = b""
    return Subpdu(
        lcid=lcid,
        length=_number(subheader, "mac-nr.subheader.sdu-length"),
        padding=None if padding is None else len(padding),
        fields={f.get("name", ""): f.get("show", "") for f in subheader.iter("field")},
    )


def _rlc(proto: ET.Element) -> Rlc:
    ack_sn = _number(proto, "rlc-nr.am.ack-sn")
    if ack_sn is not None:
        nacks = [
            int(f.get("show", ""), 0)
            for f in proto.iter("field")
            if f.get("name") == "rlc-nr.am.nack-sn"
        ]
        return Rlc(si=-1, sn=None, so=None, data=b"", status=Status(ack_sn, nacks))
    mode = "am" if _number(proto, "rlc-nr.am.sn") is not None else "um"
    si = _number(proto, f"rlc-nr.{mode}.si")
    return Rlc(
        si=-1 if si is None else si,
        sn=_number(proto, f"rlc-nr.{mode}.sn"),
        so=_number(proto, f"rlc-nr.{mode}.so"),
        data=_octets(proto, f"rlc-nr.{mode}.data") or b"",
        poll=_number(proto, "rlc-nr.am.p") == 1,
    )


def _pdcp(proto: ET.Element) -> Pdcp:
    return Pdcp(
        sn=_number(proto, "pdcp-nr.seq-num") or 0,
        sdu=_octets(proto, "pdcp-nr.user-data") or b"",
        qfi=_number(proto, "sdap.qfi"),
        control=_show(proto, "sdap.pdu-type") == "0",
        count=_number(proto, "pdcp-nr.security-config.count"),
        mac_i=_octets(proto, "pdcp-nr.mac"),
    )
