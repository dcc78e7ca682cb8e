# SPDX-License-Identifier: BSD-3-Clause
"""Header processing of a gNB over real interfaces: every octet of what leaves is what scapy makes
of it, tshark finds nothing to object to in any header, and what cannot pass is named."""

import itertools
import socket

import pytest
from harness import deployment as d
from harness import framing, netns, program
from harness.edge import Wire, arp, objections, solicitation
from harness.edge_agent import fields, message
from harness.netns import Net
from harness.program import Airpath
from harness.tshark import Bearer, judge_mac
from scapy.contrib.gtp import (
    GTP_U_Header,
    GTPEchoRequest,
    GTPEchoResponse,
    GTPPDUSessionContainer,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6ND_NA, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapWriter

N3_MAC, F1_MAC = "02:00:00:00:03:01", "02:00:00:00:06:01"  # ours
UPF_MAC, DU_MAC = "02:00:00:00:03:02", "02:00:00:00:06:02"
OWN = {"n3": ("10.3.0.2", "fd03::2"), "f1": ("10.7.0.1", "fd07::1")}
FAR = {"n3": ("10.3.0.1", "fd03::1"), "f1": ("10.7.0.9", "fd07::9")}
UPF_TEID, DU_TEID, QFI = 0xA1B2C3D4, 0x0D0E0F10, 9
UM, TM, AM = 0, 1, 2


def packed(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


class Control:
    """A client of api/gnb.proto, as far as these tests need it."""

    def __init__(self, path: str):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(10)
        self._socket.connect(path)
        self._seq = 0
        self.ask(2, message((1, 1), (2, b"tests")))

    def ask(self, kind: int, body: bytes) -> dict:
        self._seq += 1
        self._socket.send(message((1, self._seq), (kind, body)))
        while True:
            answer = fields(self._socket.recv(1 << 18))
            if 1 in answer:
                return fields(answer[1])

    def setup(self, ue: int, v6: bool = False, **drb) -> dict:
        """@return the result of a UE with one session"""
        upf = message((1, packed(FAR["n3"][v6])), (2, UPF_TEID))
        du = message((1, packed(FAR["f1"][v6])), (2, DU_TEID))
        sdap = drb.get("sdap", True)
        one = message(
            *((1, 1), (3, 1 if sdap else 0), (4, sdap), (5, sdap)),
            *(() if sdap else ((2, bytes([QFI])),)),
            *((6, drb.get("pdcp", 18)), (7, drb.get("rlc", UM)), (8, drb.get("rlc_sn", 0))),
            *((9, du), (10, drb.get("count", 0))),
        )
        session = message((1, 1), (2, upf), (3, one))
        request = message((1, message((1, ue), (3, session))))
        return fields(fields(self.ask(3, request)[4])[1])

    def tunnels(self, ue: int, **options) -> tuple[int, int]:
        """@return TEIDs of ours: N3, F1-U"""
        result = self.setup(ue, **options)
        assert 2 not in result, result
        session = fields(result[4])
        return session[2], fields(session[4])[2]

    def complete(self) -> None:
        self.ask(9, message((1, 1)))

    def close(self) -> None:
        self._socket.close()


class Gnb:
    def __init__(self, folder, **options):
        workers = options.get("workers", 1)
        self.net = Net()
        ns = self.net.add("gnb")
        self.pcap = folder / "sent.pcap"
        writer = PcapWriter(str(self.pcap), sync=True)
        wires = []
        for link, theirs, ours in (("n3", UPF_MAC, N3_MAC), ("f1", DU_MAC, F1_MAC)):
            far = self.net.add(link)
            self.net.veth(far, link, theirs, ns, f"{link}p", ours)
            self.net.mute(far, link)
            self.net.mute(ns, f"{link}p")
            wires.append(Wire(far, link, writer))
        self.n3, self.f1 = wires
        interfaces = [
            {
                "name": n,
                "port": n,
                "type": n,
                "addresses": [f"{OWN[n][0]}/24", f"{OWN[n][1]}/64"],
            }
            for n in ("n3", "f1")
        ]
        sock = str(folder / "gnb.sock")
        file = d.write(
            folder / "gnb.yaml",
            f"gnb-{id(self)}",
            ports=[d.raw_port("n3", "n3p"), d.raw_port("f1", "f1p")],
            gnb_header=[{"name": "gnb", "socket": sock, "interfaces": interfaces, **options}],
            lcores=d.lcores(*(f"GNB{k}" for k in range(workers))),
            place=[{"node": f"gnb.*_w{k}", "lcore": f"GNB{k}"} for k in range(workers)],
        )
        self.airpath = Airpath(self.net, ns, file)
        self.control = Control(sock)
        for name, wire, mac in (("n3", self.n3, UPF_MAC), ("f1", self.f1, DU_MAC)):
            wire.send(arp(mac, FAR[name][0], OWN[name][0]))
            wire.receive(lambda f: ARP in f)
            wire.send(solicitation(mac, FAR[name][1], OWN[name][1]))
            wire.receive(lambda f: ICMPv6ND_NA in f)

    def stop(self) -> dict[str, int]:
        """@return the drops, after books and bytes were looked at"""
        report = self.airpath.stop()
        assert objections(self.pcap) == []
        return {k.split(".", 1)[1]: v for k, v in program.drops(report).items()}

    def close(self) -> None:
        for thing in (self.control, self.n3, self.f1, self.net):
            thing.close()


@pytest.fixture
def gnb(tmp_path):
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made: list[Gnb] = []

    def make(**options) -> Gnb:
        made.append(Gnb(tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def tunnel(link: str, v6: bool, ours: bool, content: Packet, number: int = 0) -> Packet:
    """A frame as scapy makes it; `ours`: the gNB's."""
    own, far = OWN[link][v6], FAR[link][v6]
    mac, their = (N3_MAC, UPF_MAC) if link == "n3" else (F1_MAC, DU_MAC)
    ends = {"src": own, "dst": far} if ours else {"src": far, "dst": own}
    ip = IPv6(hlim=64, **ends) if v6 else IP(ttl=64, id=number, **ends)
    ether = Ether(src=mac, dst=their) if ours else Ether(src=their, dst=mac)
    return ether / ip / UDP(sport=2152, dport=2152, chksum=0) / content


def n3_gpdu(teid: int, qfi: int, down: bool, tpdu: bytes, rqi: int = 0) -> Packet:
    container = GTPPDUSessionContainer(type=0 if down else 1, QFI=qfi)
    if down:
        container.RQI = rqi
    header = GTP_U_Header(gtp_type=255, teid=teid, E=1, next_ex=0x85, length=8 + len(tpdu))
    return header / container / Raw(tpdu)


def f1_gpdu(teid: int, tpdu: bytes) -> Packet:
    return GTP_U_Header(gtp_type=255, teid=teid, length=len(tpdu)) / Raw(tpdu)


def is_gpdu(frame: Packet) -> bool:
    return GTP_U_Header in frame and frame[GTP_U_Header].gtp_type == 255


def lower(count: int, rlc_sn: int, octet: int | None, drb: dict) -> bytes:
    """RLC, PDCP and SDAP headers by TS 38.322 §6.2.2, TS 38.323 §6.2.2, TS 37.324 §6.2.2."""
    rlc = b""
    if drb["rlc"] == UM:
        rlc = b"\0"
    elif drb["rlc"] == AM:
        bits = drb["rlc_sn"]
        size = 2 if bits == 12 else 3
        rlc = (1 << 8 * size - 1 | rlc_sn % (1 << bits)).to_bytes(size, "big")
    size = 2 if drb["pdcp"] == 12 else 3
    pdcp = (1 << 8 * size - 1 | count % (1 << drb["pdcp"])).to_bytes(size, "big")
    return rlc + pdcp + (b"" if octet is None else bytes([octet]))


FORMATS = [
    {"rlc": rlc, "rlc_sn": rlc_sn, "pdcp": pdcp, "sdap": sdap}
    for (rlc, rlc_sn), pdcp, sdap in itertools.product(
        [(UM, 6), (UM, 12), (TM, 0), (AM, 12), (AM, 18)], (12, 18), (True, False)
    )
]


@pytest.mark.parametrize("v6", [False, True], ids=["ipv4", "ipv6"])
def test_every_header_is_what_scapy_makes(gnb, v6):
    one = gnb()
    seen: dict[int, list[bytes]] = {}
    for number, drb in enumerate(FORMATS):
        down, up = one.control.tunnels(number, v6=v6, count=4094, **drb)
        for k in range(3):  # the SN of 12 bits wraps
            tpdu = bytes([number, k]) * 30
            one.n3.send(tunnel("n3", v6, False, n3_gpdu(down, QFI, True, tpdu, rqi=k & 1), 77))
            head = lower(4094 + k, k, (k & 1) << 6 | QFI if drb["sdap"] else None, drb)
            want = tunnel("f1", v6, True, f1_gpdu(DU_TEID, head + tpdu), 4094 + k)
            assert bytes(one.f1.receive(is_gpdu)) == bytes(want), (drb, k)
            seen.setdefault(number, []).append(head + tpdu)
            head = lower(4094 + k, k, 0x80 | QFI if drb["sdap"] else None, drb)
            one.f1.send(tunnel("f1", v6, False, f1_gpdu(up, head + tpdu), 0x8123))
            want = tunnel("n3", v6, True, n3_gpdu(UPF_TEID, QFI, False, tpdu), 0x0123)
            assert bytes(one.n3.receive(is_gpdu)) == bytes(want), (drb, k)
    assert one.stop() == {}
    for pdcp in (12, 18) if not v6 else ():
        judged({FORMATS.index(f): f for f in FORMATS if f["pdcp"] == pdcp}, seen, pdcp)


def judged(formats: dict[int, dict], seen: dict[int, list[bytes]], pdcp: int) -> None:
    """tshark takes RLC, PDCP and SDAP headers for what they are meant to be. It knows no DRB of
    RLC TM."""
    formats = {number: f for number, f in formats.items() if f["rlc"] != TM}
    bearers, macs = [], []
    for lcid, (number, drb) in enumerate(formats.items(), start=4):
        name = f"{'AM' if drb['rlc'] == AM else 'UM'}, SN Len={drb['rlc_sn']}"
        bearers.append(Bearer(lcid, lcid, name, drb["sdap"]))
        macs += [bytes([lcid, len(p)]) + p for p in seen[number]]
    found = judge_mac(macs, bearers, direction=framing.DOWNLINK, pdcp_sn_bits=pdcp)
    for at, mac in enumerate(found):
        drb, k = list(formats.values())[at // 3], at % 3
        assert mac.problems == []
        rlc = mac.subpdus[0].rlc
        assert rlc.si == 0
        assert rlc.sn == (k if drb["rlc"] == AM else None)
        assert rlc.pdcp.sn == (4094 + k) % (1 << pdcp)
        assert rlc.pdcp.qfi == (QFI if drb["sdap"] else None)


def test_what_cannot_pass_is_named(gnb):
    one = gnb(sessions=2)
    down, up = one.control.tunnels(1, sdap=False)
    one.control.tunnels(2)
    # The table is full.
    assert one.control.setup(3)[2] == 7
    one.control.complete()
    # A TEID of nobody: an Error Indication that names it (TS 29.281 §7.3.1).
    one.n3.send(tunnel("n3", False, False, n3_gpdu(down + 0x01000000, QFI, True, b"x" * 40)))
    told = one.n3.receive(lambda f: GTP_U_Header in f and f[GTP_U_Header].gtp_type == 26)
    told = bytes(told[GTP_U_Header])
    assert (down + 0x01000000).to_bytes(4, "big") in told
    assert packed(OWN["n3"][0]) in told
    # A QFI no DRB takes; no container; a container the packet ends in.
    one.n3.send(tunnel("n3", False, False, n3_gpdu(down, QFI + 1, True, b"x" * 40)))
    one.n3.send(tunnel("n3", False, False, f1_gpdu(down, b"x" * 40)))
    cut = bytearray(bytes(tunnel("n3", False, False, n3_gpdu(down, QFI, True, b"x" * 40))))
    cut[14 + 20 + 8 + 12] = 60
    one.n3.send(Ether(bytes(cut)))
    # Uplink: a segment, a STATUS PDU is none in UM, a PDCP control PDU.
    for tpdu in (b"\x40\x01\x80\x00\x01x", b"\x00\x10\x00\x00\x01x"):
        one.f1.send(tunnel("f1", False, False, f1_gpdu(up, tpdu * 10)))
    # An End Marker nobody waits for, an Echo Request.
    marker = GTP_U_Header(gtp_type=254, teid=down, length=0)
    one.n3.send(tunnel("n3", False, False, marker))
    echo = GTP_U_Header(gtp_type=1, teid=0, S=1, seq=7) / GTPEchoRequest()
    one.n3.send(tunnel("n3", False, False, echo))
    assert one.n3.receive(lambda f: GTPEchoResponse in f)[GTP_U_Header].seq == 7
    # What is sound passes still.
    one.n3.send(tunnel("n3", False, False, n3_gpdu(down, QFI, True, b"x" * 40)))
    assert bytes(one.f1.receive(is_gpdu)).endswith(b"\x00\x80\x00\x00" + b"x" * 40)
    assert one.stop() == {
        "local_w0.upf_local_unknown_teid": 1,
        "drb_w0.gnb_drb_no_drb": 1,
        "drb_w0.gnb_drb_no_qfi": 1,
        "in_n3_w0.gnb_in_gtpu": 1,
        "hdr_rx_w0.gnb_hdr_rx_rlc_segment": 1,
        "hdr_rx_w0.gnb_hdr_rx_pdcp_control": 1,
        "drb_w0.gnb_drb_end_marker": 1,
    }


def test_two_workers(gnb):
    """Each has the sessions that TEIDs say; what comes to the other is handed over."""
    one = gnb(workers=2)
    for ue in range(8):
        down, up = one.control.tunnels(ue)
        for k in range(2):
            one.n3.send(tunnel("n3", False, False, n3_gpdu(down, QFI, True, bytes([ue]) * 40)))
            head = lower(k, 0, QFI, {"rlc": UM, "pdcp": 18})
            want = tunnel("f1", False, True, f1_gpdu(DU_TEID, head + bytes([ue]) * 40), k)
            assert bytes(one.f1.receive(is_gpdu)) == bytes(want)
            head = lower(k, 0, 0x80 | QFI, {"rlc": UM, "pdcp": 18})
            one.f1.send(tunnel("f1", False, False, f1_gpdu(up, head + bytes([ue]) * 40)))
            want = tunnel("n3", False, True, n3_gpdu(UPF_TEID, QFI, False, bytes([ue]) * 40))
            assert bytes(one.n3.receive(is_gpdu)) == bytes(want)
    assert one.stop() == {}
