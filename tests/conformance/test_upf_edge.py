# SPDX-License-Identifier: BSD-3-Clause
"""The UPF's ports: what it answers by itself, and how it carries packets, over real interfaces.
Frames are made and read by scapy; tshark finds nothing to object to in what the UPF sent."""

import contextlib
import os
import socket
import struct
import subprocess
import time

import pytest
from harness import deployment as d
from harness import netns, program, telemetry
from harness.netns import Net
from harness.program import Airpath
from harness.wait import until
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import ICMP, IP, UDP, fragment
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6PacketTooBig,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapWriter

N3_MAC, N6_MAC = "02:00:00:00:03:01", "02:00:00:00:06:01"
GNB_MAC, GW_MAC = "02:00:00:00:03:02", "02:00:00:00:06:02"
N3, N6, N9 = "10.3.0.1", "10.6.0.1", "10.9.0.1"
N3_6, N6_6 = "fd03::1", "fd06::1"
GNB, GNB_6, GW, GW_6, HOST = "10.3.0.2", "fd03::2", "10.6.0.2", "fd06::2", "192.0.2.9"
UE, UE_6 = "10.45.0.2", "2001:db8:45::"
TEID_DOWN = 0x01020304
_VLAN_VALID = 0x10  # TP_STATUS_VLAN_VALID
_SOL_PACKET, _AUXDATA = 263, 8


class Wire:
    """The far end of a port: whole frames, VLAN tags where they were."""

    def __init__(self, ns: str, interface: str, pcap: PcapWriter):
        with netns.inside(ns):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._socket.setsockopt(_SOL_PACKET, _AUXDATA, 1)
        self._socket.bind((interface, 0))
        self._pcap = pcap

    def send(self, frame: Packet) -> None:
        self._socket.send(bytes(frame))

    def receive(self, what=lambda _: True, timeout: float = 15) -> Packet:
        """The next frame from the UPF of a kind. @throws TimeoutError"""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            self._socket.settimeout(left)
            octets, control, _, address = self._socket.recvmsg(65536, 64)
            if address[2] == socket.PACKET_OUTGOING:
                continue
            for _, _, data in control:
                status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
                if status & _VLAN_VALID:
                    octets = octets[:12] + struct.pack("!HH", tpid, tci) + octets[12:]
            frame = Ether(octets)
            if frame.src not in (N3_MAC, N6_MAC):
                continue
            self._pcap.write(frame)
            if what(frame):
                return frame
        raise TimeoutError("nothing of that kind came")

    def quiet(self, what=lambda _: True, timeout: float = 0.3) -> None:
        with contextlib.suppress(TimeoutError):
            pytest.fail(f"came: {self.receive(what, timeout)!r}")

    def close(self) -> None:
        self._socket.close()


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


class Edge:
    def __init__(self, folder, *, tap: bool = False, proxy_neigh: bool = False, **options):
        """`tap`: in place of packet sockets, of which the kernel reassembles fragments.
        `proxy_neigh`: of N6."""
        self.net = Net()
        self.name = f"edge-{id(self)}"
        ns = self.net.add("upf")
        self.pcap = folder / "sent.pcap"
        writer = PcapWriter(str(self.pcap), sync=True)
        self.socket = str(folder / "upf.sock")
        wires = []
        if tap:
            ports = [
                {"name": n, "preset": "tap", "iface": f"{n}t", "framing": "raw", "mac": mac}
                for n, mac in (("n3", N3_MAC), ("n6", N6_MAC))
            ]
        else:
            ports = [d.raw_port("n3", "n3p"), d.raw_port("n6", "n6p")]
            for link, theirs, ours in (("n3", GNB_MAC, N3_MAC), ("n6", GW_MAC, N6_MAC)):
                far = self.net.add(link)
                self.net.veth(far, link, theirs, ns, f"{link}p", ours)
                self.net.mute(far, link)
                self.net.mute(ns, f"{link}p")
                wires.append(Wire(far, link, writer))
        interfaces = [
            {"name": "n3", "port": "n3", "types": ["access"]},
            {"name": "n6", "port": "n6", "types": ["core"]},
            {"name": "n9", "port": "n3", "vlan": 9, "types": ["access"]},
        ]
        interfaces[0]["addresses"] = [f"{N3}/24", f"{N3_6}/64"]
        interfaces[1] |= {"addresses": [f"{N6}/24", f"{N6_6}/64"], "gateways": [GW, GW_6]}
        interfaces[1]["proxy_neigh"] = proxy_neigh
        interfaces[2]["addresses"] = [f"{N9}/24"]
        file = d.write(
            folder / "edge.yaml",
            self.name,
            ports=ports,
            upf=[{"name": "upf", "socket": self.socket, "interfaces": interfaces, **options}],
            lcores=d.lcores("UPF"),
            place=[{"node": "upf.*", "lcore": "UPF"}],
        )
        self.airpath = Airpath(self.net, ns, file)
        if tap:
            wires = [Wire(ns, "n3t", writer), Wire(ns, "n6t", writer)]
        self.n3, self.n6 = wires
        self.agents: list[Agent] = []

    def agent(self, **config) -> Agent:
        self.agents.append(Agent(self.socket))
        self.agents[-1].config(**config)
        return self.agents[-1]

    def introduce(self) -> None:
        """Both neighbours tell their link addresses by asking for ours."""
        self.n3.send(arp(GNB_MAC, GNB, N3))
        self.n6.send(arp(GW_MAC, GW, N6))
        self.n3.receive(lambda f: ARP in f)
        self.n6.receive(lambda f: ARP in f)
        for wire, mac, src, dst in ((self.n3, GNB_MAC, GNB_6, N3_6), (self.n6, GW_MAC, GW_6, N6_6)):
            wire.send(solicitation(mac, src, dst))
            wire.receive(lambda f: ICMPv6ND_NA in f)

    def stop(self) -> dict[str, int]:
        """@return the drops, after books and bytes were looked at."""
        report = self.airpath.stop()
        assert objections(self.pcap) == []
        drops = {k.rsplit(".", 1)[1]: v for k, v in program.drops(report).items()}
        drops.pop("upf_in_multicast", None)  # the kernel announces itself on a tap
        return drops

    def close(self) -> None:
        for thing in (*self.agents, self.n3, self.n6, self.net):
            thing.close()


def objections(pcap) -> list[str]:
    """What tshark finds malformed, or worth a warning, checksums included."""
    command = ["tshark", "-n", "-r", str(pcap), "-T", "fields", "-e", "frame.number"]
    command += [
        "-e",
        "_ws.expert.message",
        "-Y",
        # A reset is what it is.
        "(_ws.malformed || _ws.expert.severity >= 0x600000) && !tcp.connection.rst",
    ]
    for protocol in ("ip", "udp"):
        command += ["-o", f"{protocol}.check_checksum:TRUE"]
    # Tunnels over IPv6 may do without (RFC 6935).
    command += ["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]
    # What a UE says is not the UPF's, nor what an ICMP error quotes of somebody.
    command += ["-o", "gtp.dissect_tpdu_as:None"]
    done = subprocess.run(
        command, capture_output=True, env={**os.environ, "HOME": str(pcap.parent)}, check=True
    )
    return done.stdout.decode().splitlines()


@pytest.fixture
def edge(tmp_path):
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    made: list[Edge] = []

    def make(**options) -> Edge:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Edge(folder, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def arp(mac: str, address: str, whom: str, vlan: int = 0) -> Packet:
    tag = Dot1Q(vlan=vlan) if vlan else None
    ether = Ether(src=mac, dst="ff:ff:ff:ff:ff:ff")
    request = ARP(op="who-has", hwsrc=mac, psrc=address, pdst=whom)
    return ether / tag / request if tag else ether / request


def solicitation(mac: str, src: str, target: str) -> Packet:
    return (
        Ether(src=mac, dst="33:33:ff:00:00:01")
        / IPv6(src=src, dst="ff02::1:ff00:1", hlim=255)
        / ICMPv6ND_NS(tgt=target)
        / ICMPv6NDOptSrcLLAddr(lladdr=mac)
    )


def from_gnb(payload: Packet, *, port: int = 2152, v6: bool = False) -> Packet:
    ip = IPv6(src=GNB_6, dst=N3_6) if v6 else IP(src=GNB, dst=N3)
    return Ether(src=GNB_MAC, dst=N3_MAC) / ip / UDP(sport=port, dport=2152) / payload


def g_pdu(teid: int, packet: Packet, qfi: int = 1) -> Packet:
    return (
        GTP_U_Header(teid=teid, gtp_type=255, E=1, next_ex=0x85)
        / GTPPDUSessionContainer(type=1, QFI=qfi)
        / packet
    )


def sums_hold(frame: Packet) -> bool:
    """Checksums as scapy would have made them."""
    again = frame.copy()
    for layer in (IP, UDP, ICMP, ICMPv6EchoReply, ICMPv6PacketTooBig, ICMPv6ND_NA):
        if layer in again:
            for field in ("chksum", "cksum"):
                if field in again[layer].fields:
                    delattr(again[layer], field)
    return bytes(again) == bytes(frame)


def test_arp_nd_and_echo_to_own_addresses(edge):
    e = edge()
    e.n3.send(arp(GNB_MAC, GNB, N3))
    reply = e.n3.receive(lambda f: ARP in f)
    assert (reply.dst, reply[ARP].op, reply[ARP].hwsrc, reply[ARP].psrc) == (GNB_MAC, 2, N3_MAC, N3)
    e.n3.send(arp(GNB_MAC, GNB, "10.3.0.77"))
    e.n3.quiet()
    e.n3.send(solicitation(GNB_MAC, GNB_6, N3_6))
    na = e.n3.receive(lambda f: ICMPv6ND_NA in f)
    assert (na[IPv6].dst, na[ICMPv6ND_NA].S, na[ICMPv6ND_NA].O) == (GNB_6, 1, 1)
    assert na[ICMPv6NDOptDstLLAddr].lladdr == N3_MAC
    dad = solicitation(GNB_MAC, "::", N3_6)
    dad[ICMPv6ND_NS].remove_payload()
    e.n3.send(dad)
    na = e.n3.receive(lambda f: ICMPv6ND_NA in f)
    assert (na.dst, na[IPv6].dst, na[ICMPv6ND_NA].S) == ("33:33:00:00:00:01", "ff02::1", 0)
    for size in (0, 56, 1400):
        e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / IP(src=GNB, dst=N3) / ICMP(id=5) / bytes(size))
        reply = e.n3.receive(lambda f: ICMP in f)
        assert (reply[ICMP].type, reply[ICMP].id) == (0, 5)
        assert sums_hold(reply)
        e.n3.send(
            Ether(src=GNB_MAC, dst=N3_MAC)
            / IPv6(src=GNB_6, dst=N3_6)
            / ICMPv6EchoRequest(id=6, data=bytes(size))
        )
        reply = e.n3.receive(lambda f: ICMPv6EchoReply in f)
        assert len(reply[ICMPv6EchoReply].data) == size
        assert sums_hold(reply)
    drops = e.stop()
    assert drops == {"upf_local_not_ours": 1}


def test_neighbours_ask_for_ues(edge):
    """A network that has the UEs' addresses on its link reaches them: RFC 1027, RFC 4861 §7.2.8."""
    e = edge(proxy_neigh=True)
    e.introduce()
    e.n6.send(arp(GW_MAC, GW, UE))
    e.n6.quiet()
    e.agent().session()
    e.n6.send(arp(GW_MAC, GW, UE))
    reply = e.n6.receive(lambda f: ARP in f)
    assert (reply.dst, reply[ARP].op, reply[ARP].hwsrc) == (GW_MAC, 2, N6_MAC)
    assert (reply[ARP].psrc, reply[ARP].pdst) == (UE, GW)
    e.n6.send(solicitation(GW_MAC, GW_6, f"{UE_6}5"))
    na = e.n6.receive(lambda f: ICMPv6ND_NA in f)
    assert (na[ICMPv6ND_NA].tgt, na[ICMPv6ND_NA].S, na[ICMPv6ND_NA].O) == (f"{UE_6}5", 1, 0)
    assert na[ICMPv6NDOptDstLLAddr].lladdr == N6_MAC
    e.n6.send(Ether(src=GW_MAC, dst=reply[ARP].hwsrc) / IP(src=GW, dst=UE) / UDP(dport=7))
    got = e.n3.receive(lambda f: UDP in f)
    assert got[GTP_U_Header].teid == TEID_DOWN
    e.n3.send(arp(GNB_MAC, GNB, UE))  # N3 answers for itself alone
    e.n3.quiet()
    assert e.stop() == {"upf_local_not_ours": 2}


def whole(wire: Wire, count: int) -> bytes:
    """Payload of an IPv4 packet that comes in fragments."""
    parts = [wire.receive(lambda f: IP in f)[IP] for _ in range(count)]
    assert [p.flags.MF for p in parts] == [True] * (count - 1) + [False]
    out = b""
    for part in parts:
        assert part.frag * 8 == len(out)
        assert part.len <= 1500
        out += bytes(part.payload)[: part.len - 20]
    return out


def test_fragmented_echo(edge):
    e = edge(tap=True, reassembly_ms=300)
    e.introduce()
    ping = IP(src=GNB, dst=N3, id=77) / ICMP(id=9) / Raw(bytes(i & 0xFF for i in range(4000)))
    parts = fragment(ping, 1400)
    assert len(parts) == 3
    for part in (parts[2], parts[0], parts[1]):
        e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / part)
    reply = ICMP(whole(e.n3, 3))
    assert (reply.type, reply.id) == (0, 9)
    assert bytes(reply.payload) == bytes(ping[ICMP].payload)
    # one that stays incomplete
    e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / fragment(ping, 1400)[0])
    until(lambda: telemetry.drops(e.name)["upf_local_fragment_timeout"])
    assert e.stop() == {"upf_local_fragment_timeout": 1}


def test_gtpu_echo(edge):
    e = edge()
    e.introduce()
    for v6 in (False, True):
        request = GTP_U_Header(gtp_type=1, S=1, seq=0xABCD, teid=0)
        e.n3.send(from_gnb(request, port=40001, v6=v6))
        reply = e.n3.receive(lambda f: UDP in f)
        assert reply[IPv6 if v6 else IP].dst == (GNB_6 if v6 else GNB)
        assert (reply[UDP].sport, reply[UDP].dport) == (2152, 40001)
        assert bytes(reply[UDP].payload) == bytes.fromhex("32 02 0006 00000000 ABCD 0000 0E00")
        assert sums_hold(reply)
    assert e.stop() == {}


def test_supported_extension_headers_notification(edge):
    e = edge()
    e.introduce()
    # PDCP PDU number: an endpoint must understand it (TS 29.281 figure 5.2.1-2)
    e.n3.send(from_gnb(Raw(bytes.fromhex("34 FF 0008 00000007 0000 00 C0 01 0000 00")), port=40001))
    reply = e.n3.receive(lambda f: UDP in f)
    assert reply[UDP].dport == 2152
    assert bytes(reply[UDP].payload) == bytes.fromhex("32 1F 0008 00000000 0000 0000 8D 02 8540")
    assert e.stop() == {"upf_local_extension_header": 1}


def test_error_indication_once_all_sessions_are_back(edge):
    e = edge()
    e.introduce()
    stray = from_gnb(g_pdu(0x12345678, IP(src=UE, dst=HOST) / UDP()), port=40001)
    e.n3.send(stray)
    e.n3.quiet()
    agent = e.agent(refilled=False)
    e.n3.send(stray)
    e.n3.quiet()
    agent.config(refilled=True)
    e.n3.send(stray)
    reply = e.n3.receive(lambda f: UDP in f)
    assert (reply[IP].src, reply[IP].dst, reply[UDP].dport) == (N3, GNB, 2152)
    # UDP Port 40001, TEID Data I, GTP-U Peer Address
    golden = "36 1A 0014 00000000 0000 00 40 01 9C41 00 10 12345678 85 0004 0A030001"
    assert bytes(reply[UDP].payload) == bytes.fromhex(golden)
    assert e.stop() == {"upf_local_unknown_teid_filling": 2, "upf_local_unknown_teid": 1}


def test_an_interface_by_vlan(edge):
    e = edge()
    e.n3.send(arp(GNB_MAC, "10.9.0.2", N9, vlan=9))
    reply = e.n3.receive(lambda f: ARP in f)
    assert (reply[Dot1Q].vlan, reply[ARP].psrc) == (9, N9)
    tagged = Ether(src=GNB_MAC, dst=N3_MAC) / Dot1Q(vlan=9)
    e.n3.send(tagged / IP(src="10.9.0.2", dst=N9) / ICMP() / (b"x" * 40))
    reply = e.n3.receive(lambda f: ICMP in f)
    assert (reply[Dot1Q].vlan, reply[ICMP].type, reply.dst) == (9, 0, GNB_MAC)
    # Interfaces are apart: N9's address is not asked for without a tag; VLAN 10 is nobody's.
    e.n3.send(arp(GNB_MAC, GNB, N9))
    e.n3.send(arp(GNB_MAC, "10.9.0.2", N9, vlan=10))
    e.n3.quiet()
    assert e.stop() == {"upf_local_not_ours": 1, "upf_in_vlan": 1}


def test_packets_wait_while_the_gateway_is_asked_for(edge):
    e = edge()
    teid = e.agent().session()
    for n in range(3):
        e.n3.send(from_gnb(g_pdu(teid, IP(src=UE, dst=HOST, ttl=9) / UDP(sport=n + 1))))
    asked = e.n6.receive(lambda f: ARP in f)
    assert (asked.dst, asked[ARP].psrc, asked[ARP].pdst) == ("ff:ff:ff:ff:ff:ff", N6, GW)
    e.n6.quiet(lambda f: IP in f)
    e.n6.send(
        Ether(src=GW_MAC, dst=N6_MAC)
        / ARP(op="is-at", hwsrc=GW_MAC, psrc=GW, hwdst=N6_MAC, pdst=N6)
    )
    for n in range(3):
        got = e.n6.receive(lambda f: UDP in f)
        assert (got.dst, got[IP].src, got[IP].ttl, got[UDP].sport) == (GW_MAC, UE, 8, n + 1)
        assert sums_hold(got)
    ip6 = IPv6(src=f"{UE_6}5", dst="2001:db8::9") / UDP(sport=7)
    e.n3.send(from_gnb(g_pdu(teid, ip6)))
    asked = e.n6.receive(lambda f: ICMPv6ND_NS in f)
    assert (asked.dst, asked[IPv6].src) == ("33:33:ff:00:00:02", N6_6)
    assert asked[IPv6].dst == "ff02::1:ff00:2"
    e.n6.send(
        Ether(src=GW_MAC, dst=N6_MAC)
        / IPv6(src=GW_6, dst=N6_6, hlim=255)
        / ICMPv6ND_NA(tgt=GW_6, R=1, S=1, O=1)
        / ICMPv6NDOptDstLLAddr(lladdr=GW_MAC)
    )
    got = e.n6.receive(lambda f: IPv6 in f and UDP in f)
    assert (got.dst, got[IPv6].hlim) == (GW_MAC, 63)
    assert e.stop() == {}


def test_fragmented_tunnels_both_ways(edge):
    e = edge(tap=True, oversize="fragment")
    teid = e.agent().session()
    e.introduce()
    inner = IP(src=UE, dst=HOST, flags="DF") / UDP(sport=1, dport=2) / Raw(bytes(1472))
    outer = from_gnb(g_pdu(teid, inner))[IP]
    outer.id = 5
    parts = fragment(outer, 1000)
    for part in reversed(parts):
        e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC) / part)
    got = e.n6.receive(lambda f: UDP in f)
    assert (got[IP].len, got[IP].src, got[IP].ttl) == (1500, UE, 63)
    assert sums_hold(got)
    # Down: too long for N3, so the outer packet goes in two.
    down = IP(src=HOST, dst=UE, flags="DF", ttl=40) / UDP(sport=2, dport=1) / Raw(bytes(1472))
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down)
    datagram = UDP(whole(e.n3, 2))
    assert datagram.dport == 2152
    pdu = GTP_U_Header(bytes(datagram.payload))
    assert pdu.teid == TEID_DOWN
    assert (pdu[IP].dst, pdu[IP].len, pdu[IP].ttl) == (UE, 1500, 39)
    assert e.stop() == {}


def test_senders_of_long_packets_are_told(edge):
    e = edge(oversize="too_big")
    teid = e.agent().session()
    e.introduce()
    down = IP(src=HOST, dst=UE, flags="DF") / UDP(sport=2, dport=1) / Raw(bytes(1472))
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down)
    told = e.n6.receive(lambda f: ICMP in f)
    assert (told[IP].src, told[IP].dst, told.dst) == (N6, HOST, GW_MAC)
    assert (told[ICMP].type, told[ICMP].code, told[ICMP].nexthopmtu) == (3, 4, 1500 - 36)
    assert sums_hold(told)
    down6 = IPv6(src="2001:db8::9", dst=f"{UE_6}5") / UDP(sport=2, dport=1) / Raw(bytes(1450))
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down6)
    told = e.n6.receive(lambda f: ICMPv6PacketTooBig in f)
    assert told[ICMPv6PacketTooBig].mtu == 1500 - 36
    assert told[IPv6].dst == "2001:db8::9"
    # What may be fragmented is.
    down[IP].flags = 0
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / down)
    assert GTP_U_Header(bytes(UDP(whole(e.n3, 2)).payload))[IP].dst == UE
    # A UE with a TTL of 1 hears by its own session.
    e.n3.send(from_gnb(g_pdu(teid, IP(src=UE, dst=HOST, ttl=1) / UDP(sport=1, dport=33434))))
    told = e.n3.receive(lambda f: UDP in f)
    pdu = GTP_U_Header(bytes(told[UDP].payload))
    assert (pdu.teid, pdu[IP].src, pdu[IP].dst, pdu[ICMP].type) == (TEID_DOWN, N6, UE, 11)
    # And a host.
    e.n6.send(Ether(src=GW_MAC, dst=N6_MAC) / IP(src=HOST, dst=UE, ttl=1) / UDP(dport=33434))
    told = e.n6.receive(lambda f: ICMP in f)
    assert (told[IP].src, told[IP].dst, told[ICMP].type) == (N6, HOST, 11)
    drops = e.stop()
    assert drops == {"upf_out_too_big": 2, "upf_out_expired": 1, "upf_local_expired": 1}


def test_a_path_is_watched(edge):
    e = edge()
    agent = e.agent(echo_s=1)
    e.introduce()
    e.n3.quiet(lambda f: UDP in f)
    agent.session()
    asked = e.n3.receive(lambda f: UDP in f)
    assert (asked[IP].dst, asked[UDP].dport) == (GNB, 2152)
    octets = bytes(asked[UDP].payload)
    assert octets[:4] == bytes.fromhex("32 01 0004")
    # Silence: down after two requests 300 ms apart; an answer brings it back.
    down = agent.event(6)
    assert (down[1], down.get(3, 0)) == (socket.inet_aton(GNB), 0)
    octets = bytes(e.n3.receive(lambda f: UDP in f, timeout=4)[UDP].payload)
    while True:
        with contextlib.suppress(TimeoutError):
            octets = bytes(e.n3.receive(lambda f: UDP in f, timeout=0.4)[UDP].payload)
            continue
        break
    e.n3.send(from_gnb(Raw(b"\x32\x02\x00\x06" + bytes(4) + octets[8:10] + b"\0\0\x0e\0")))
    up = agent.event(6)
    assert (up[1], up[3]) == (socket.inet_aton(GNB), 1)
    assert e.stop() == {}


def test_a_received_error_indication_is_told(edge):
    e = edge()
    agent = e.agent()
    agent.session()
    e.introduce()
    octets = bytes.fromhex("32 1A 0010 00000000 0000 0000 10") + TEID_DOWN.to_bytes(4, "big")
    octets += b"\x85\x00\x04" + socket.inet_aton(GNB)
    e.n3.send(from_gnb(Raw(octets)))
    event = agent.event(4)
    assert (event[1], event[2]) == (7, TEID_DOWN)
    assert event[3] == socket.inet_aton(GNB)
    assert e.stop() == {}


def test_broken_frames_are_named(edge):
    e = edge()
    e.introduce()
    good = from_gnb(g_pdu(1, IP(src=UE, dst=HOST) / UDP()))
    ether = Ether(src=GNB_MAC, dst=N3_MAC)
    e.n3.send(ether / IP(src=GNB, dst=N3, chksum=1) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src=GNB, dst=N3, len=1000) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src="127.0.0.1", dst=N3) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src=N3, dst=N3) / ICMP() / bytes(30))
    e.n3.send(ether / IP(src=GNB, dst=HOST) / ICMP() / bytes(30))
    e.n3.send(Ether(src=GNB_MAC, dst="02:00:00:00:00:77") / good[IP])
    e.n3.send(Ether(src=GNB_MAC, dst=N3_MAC, type=0x88CC) / bytes(50))
    e.n3.send(from_gnb(g_pdu(1, Raw(b"\x50" + bytes(40)))))
    e.n3.send(from_gnb(Raw(b"\x30\xff\x01\x00" + bytes(40))))
    e.n3.send(arp(GNB_MAC, GNB, N3))  # in order: all before were looked at
    e.n3.receive(lambda f: ARP in f)
    drops = e.stop()
    assert drops == {
        "upf_in_checksum": 1,
        "upf_in_truncated": 1,
        "upf_in_source": 2,
        "upf_in_not_ours": 1,
        "upf_in_link_address": 1,
        "upf_in_ethertype": 1,
        "upf_in_inner": 1,
        "upf_in_gtpu": 1,
    }
