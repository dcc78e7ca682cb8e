# SPDX-License-Identifier: BSD-3-Clause
"""A upf between two packet sockets or taps, and frames as scapy makes and reads them."""

import contextlib
import os
import socket
import struct
import subprocess
import time

import pytest
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6PacketTooBig,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet
from scapy.utils import PcapWriter

from harness import deployment as d
from harness import netns, program
from harness.edge_agent import GNB, Agent
from harness.netns import Net
from harness.program import Airpath

N3_MAC, N6_MAC = "02:00:00:00:03:01", "02:00:00:00:06:01"
GNB_MAC, GW_MAC = "02:00:00:00:03:02", "02:00:00:00:06:02"
N3, N6, N9 = "10.3.0.1", "10.6.0.1", "10.9.0.1"
N3_6, N6_6 = "fd03::1", "fd06::1"
GNB_6, GW, GW_6, HOST = "fd03::2", "10.6.0.2", "fd06::2", "192.0.2.9"
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
