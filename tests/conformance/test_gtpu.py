# SPDX-License-Identifier: BSD-3-Clause
"""GTP-U of TS 29.281 and the PDU session container of TS 38.415: scapy and tshark judge our
bytes, and we read scapy's."""

import os
import random
import struct
import subprocess
import xml.etree.ElementTree as ET

import pytest
from harness import framing
from harness.program import AIRPATH
from scapy.contrib import gtp
from scapy.layers.inet import IP, UDP
from scapy.packet import Raw

LINES = AIRPATH.with_name("gtpu_lines")
PDU = bytes(IP(src="10.60.0.1", dst="8.8.8.8") / UDP(sport=5000, dport=5001) / b"hello")

# Of scapy's fields of a container, by ours.
DL = {"rqi": "RQI", "ppi": "PPI", "ts": "dlSendTime", "sn": "dlQFISeqNum"}
UL = {
    "ts": "dlSendTimeRpt",
    "rx": "dlRecvTime",
    "tx": "ulSendTime",
    "dld": "dlDelayRslt",
    "uld": "ulDelayRslt",
    "sn": "UlQFISeqNum",
    "n3": "N3N9DelayRslt",
}
FLAGS = {"ppi": "PPP", "ts": "QMP", "sn": "SNP"}
FLAGS_UL = {
    "ts": "QMP",
    "sn": "SNP",
    "dld": "dlDelayInd",
    "uld": "ulDelayInd",
    "n3": "N3N9DelayInd",
}


def run(lines: list[str]) -> list[str]:
    done = subprocess.run(
        [LINES], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def made(lines: list[str]) -> list[bytes]:
    return [bytes.fromhex(line) for line in run(lines)]


def read(message: bytes) -> dict[str, str]:
    (line,) = run([f"read {message.hex()}"])
    return dict(pair.split("=", 1) for pair in line.split(" "))


def text(fields: dict[str, int]) -> str:
    return " ".join(f"{k}={v}" for k, v in fields.items())


def containers(seed: int, how_many: int) -> list[dict[str, int]]:
    """Fields of containers with any choice of optional ones."""
    rnd = random.Random(seed)
    sizes = {"ts": 64, "rx": 64, "tx": 64, "sn": 24}
    found = []
    for _ in range(how_many):
        ul = rnd.randrange(2)
        one = {"ul": ul, "qfi": rnd.randrange(64)}
        if not ul:
            one["rqi"] = rnd.randrange(2)
        for key in ("dld", "uld", "n3", "sn") if ul else ("ppi", "sn", "ts"):
            if rnd.randrange(2):
                one[key] = rnd.randrange(8) if key == "ppi" else rnd.getrandbits(sizes.get(key, 32))
        if ul and rnd.randrange(2):
            one |= {key: rnd.getrandbits(64) for key in ("ts", "rx", "tx")}
        found.append(one)
    return found


def scapy_container(fields: dict[str, int]) -> gtp.GTPPDUSessionContainer:
    names, flags = (UL, FLAGS_UL) if fields["ul"] else (DL, FLAGS)
    values = {names[k]: v for k, v in fields.items() if k in names}
    values |= {flags[k]: 1 for k in fields if k in flags}
    return gtp.GTPPDUSessionContainer(type=fields["ul"], QFI=fields["qfi"], **values)


def scapy_gpdu(teid: int, fields: dict[str, int]) -> bytes:
    return bytes(
        gtp.GTP_U_Header(teid=teid, gtp_type=255, E=1, next_ex=0x85)
        / scapy_container(fields)
        / Raw(PDU)
    )


def test_scapy_makes_the_same_g_pdus():
    fields = containers(1, 200)
    ours = made([f"psc teid={i} {text(f)} pdu={PDU.hex()}" for i, f in enumerate(fields)])
    assert ours == [scapy_gpdu(i, f) for i, f in enumerate(fields)]


def test_scapy_makes_the_same_plain_g_pdus():
    """Those of the fast path."""
    choices = [
        {"ul": ul, "qfi": qfi} | ({} if ul else {"rqi": qfi % 2})
        for ul in (0, 1)
        for qfi in range(64)
    ]
    ours = made([f"gpdu teid=4294967295 {text(f)} pdu={PDU.hex()}" for f in choices])
    assert ours == [scapy_gpdu(2**32 - 1, f) for f in choices]
    (bare,) = made([f"gpdu teid=7 pdu={PDU.hex()}"])
    assert bare == bytes(gtp.GTP_U_Header(teid=7, gtp_type=255) / Raw(PDU))


def test_we_read_scapys_g_pdus():
    for i, fields in enumerate(containers(2, 100)):
        got = read(scapy_gpdu(i, fields))
        assert got == {"type": "255", "teid": str(i), "pdu": PDU.hex()} | {
            k: str(v) for k, v in fields.items()
        }


def test_we_read_scapys_messages():
    head = {"S": 1, "seq": 5}
    response = gtp.GTPHeader(gtp_type=2, **head) / gtp.GTPEchoResponse(
        IE_list=[gtp.IE_Recovery(restart_counter=0)]
    )
    assert read(bytes(response)) == {"type": "2", "teid": "0", "seq": "5", "recovery": "0"}
    address = gtp.IE_GSNAddress(length=4, ipv4_address="10.0.0.1")
    error = gtp.GTP_U_Header(gtp_type=26, **head) / gtp.GTPErrorIndication(
        IE_list=[gtp.IE_TEIDI(TEIDI=0xCAFE), address]
    )
    assert read(bytes(error)) | {"tdi": str(0xCAFE), "peer": "0a000001"} == read(bytes(error))
    # scapy writes a length of two octets where figure 8.5-1 has one
    notice = gtp.GTPHeader(gtp_type=31, **head) / gtp.GTPSupportedExtensionHeadersNotification(
        IE_list=[gtp.IE_ExtensionHeaderList(length=2, extension_headers=[0x85, 0x40])]
    )
    assert read(bytes(notice))["types"] == "8540"


def test_a_type_that_must_be_understood_is_told():
    head = struct.pack(">BBHIHBB", 0x34, 255, 12 + len(PDU), 7, 0, 0, 0xC7)
    message = head + bytes((1, 0, 0, 0x2F, 1, 0, 0, 0)) + PDU
    assert read(message) == {"type": "255", "teid": "7", "unknown": str(0xC7), "pdu": PDU.hex()}


def dissect(folder, messages: list[bytes]) -> list[ET.Element]:
    """What tshark makes of messages on the GTP-U port."""
    capture = folder / "gtpu.pcap"
    framing.write_pcap(capture, messages)
    done = subprocess.run(
        ["tshark", "-n", "-r", capture, "-d", "udp.port==9999,gtp", "-T", "pdml"],
        capture_output=True,
        env={**os.environ, "HOME": str(folder)},
        check=True,
    )
    packets = ET.fromstring(done.stdout).findall("packet")
    assert len(packets) == len(messages)
    return packets


def shown(packet: ET.Element, name: str) -> str | None:
    found = packet.find(f".//field[@name='{name}']")
    return None if found is None else found.get("show")


def malformed(packet: ET.Element) -> list[str]:
    return [p.get("name") for p in packet.iter("proto") if (p.get("name") or "").startswith("_ws")]


MESSAGES = [
    ("msg type=1 seq=258", {"gtp.message": "0x01", "gtp.seq_number": "0x0102"}),
    ("msg type=2 seq=1 recovery=0", {"gtp.message": "0x02", "gtp.recovery": "0"}),
    (
        "msg type=26 seq=1 tdi=0xcafe peer=0a000001 udp=2152",
        {
            "gtp.message": "0x1a",
            "gtp.teid": "0x00000000",
            "gtp.teid_data": "0x0000cafe",
            "gtp.gsn_ipv4": "10.0.0.1",
            "gtp.ext_hdr.udp_port": "2152",
        },
    ),
    (
        "msg type=26 seq=1 tdi=1 peer=20010db8000000000000000000000001",
        {"gtp.gsn_ipv6": "2001:db8::1"},
    ),
    ("msg type=31 seq=1 types=8540", {"gtp.message": "0x1f", "gtp.ext_hdr_type": "133"}),
    ("msg type=254 teid=7", {"gtp.message": "0xfe", "gtp.teid": "0x00000007"}),
    (
        "msg type=1 seq=1 private=616263 id=4660",
        {"gtp.ext_id": "4660", "gtp.ext_val": "61:62:63"},
    ),
]


@pytest.mark.parametrize(("line", "fields"), MESSAGES, ids=[m[0] for m in MESSAGES])
def test_tshark_reads_our_messages(tmp_path, line, fields):
    (packet,) = dissect(tmp_path, made([line]))
    assert malformed(packet) == []
    assert {name: shown(packet, name) for name in fields} == fields


def test_tshark_reads_our_g_pdus(tmp_path):
    # tshark 4.0 knows what a container begins with, not the IEs after the PPI
    lines, wanted = [], []
    for fields in containers(3, 60):
        lines.append(f"psc teid=7 {text(fields)} pdu={PDU.hex()}")
        wanted.append((str(fields["ul"]), str(fields["qfi"])))
    packets = dissect(tmp_path, made(lines))
    con = "gtp.ext_hdr.pdu_ses_con"
    got = [(shown(p, f"{con}.pdu_type"), shown(p, f"{con}.qos_flow_id")) for p in packets]
    assert got == wanted
    for packet in packets:
        assert malformed(packet) == []
        assert [f.get("show") for f in packet.iter("field") if f.get("name") == "ip.dst"] == [
            "127.0.0.1",
            "8.8.8.8",
        ]
