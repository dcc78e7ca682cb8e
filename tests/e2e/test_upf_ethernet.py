# SPDX-License-Identifier: BSD-3-Clause
"""Ethernet PDU sessions (TS 29.244 §5.13): frames between hosts behind UEs and those of a LAN."""

import ipaddress
import socket
import struct

import pytest
from harness import deployment as d
from harness import netns, program, traffic, usage
from harness import pfcp_ies as ies
from harness import upf as upf_harness
from harness.netns import Net
from harness.program import Airpath
from harness.server import Server
from harness.upf_control import Control, handle_of
from scapy.contrib import pfcp as p

N3, GNB = "10.3.0.1", "10.3.0.2"
UES = {1: ("02:00:00:00:ee:01", "192.168.77.1"), 2: ("02:00:00:00:ee:02", "192.168.77.2")}
DN_MAC, DN = "02:00:00:00:dd:01", "192.168.77.9"
GTPU_PORT = 2152
SOL_PACKET, PACKET_AUXDATA, ETH_P_ALL = 263, 8, 3


class Tunnel:
    """A gNB's end: frames of a packet socket in a UE's namespace in G-PDUs, and back."""

    def __init__(self, ue_ns: str, interface: str, up: int, n3: socket.socket):
        self.tap = frames_of(ue_ns, interface)
        self.up, self.n3 = up, n3

    def uplink(self) -> None:
        frame, address = self.tap.recvfrom(65536, socket.MSG_DONTWAIT)
        if address[2] != socket.PACKET_OUTGOING:
            self.n3.sendto(g_pdu(self.up, frame), (N3, GTPU_PORT))


def frames_of(ns: str, interface: str) -> socket.socket:
    with netns.inside(ns):
        one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    one.bind((interface, ETH_P_ALL))
    return one


def g_pdu(teid: int, frame: bytes) -> bytes:
    """With a PDU session container of QFI 9, uplink (TS 38.415)."""
    body = b"\0\0\0\x85" + b"\x01\x10\x09\0" + frame
    return b"\x34\xff" + len(body).to_bytes(2, "big") + teid.to_bytes(4, "big") + body


def inner(packet: bytes) -> tuple[int, bytes]:
    """TEID and T-PDU of a G-PDU with at most containers before it."""
    at = 8
    if packet[0] & 7:
        at, more = 12, packet[11]
        while more:
            size = packet[at] * 4
            more = packet[at + size - 1]
            at += size
    return int.from_bytes(packet[4:8], "big"), packet[at:]


class Switch:
    """Two ports: `plain` frames are those of a VLAN at `tagged`."""

    def __init__(self, ns: str, vlan: int, server: Server):
        self.vlan = vlan
        self.plain, self.tagged = (frames_of(ns, port) for port in ("plain", "tagged"))
        self.tagged.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        server.add(self.plain.fileno(), self._tag)
        server.add(self.tagged.fileno(), self._untag)

    def _tag(self) -> None:
        frame, address = self.plain.recvfrom(65536, socket.MSG_DONTWAIT)
        if address[2] != socket.PACKET_OUTGOING:
            tag = b"\x81\0" + self.vlan.to_bytes(2, "big")
            self.tagged.send(frame[:12] + tag + frame[12:])

    def _untag(self) -> None:
        """The kernel takes the tag off, and tells what it was."""
        frame, control, _, address = self.tagged.recvmsg(65536, 64, socket.MSG_DONTWAIT)
        vids = [struct.unpack("IIIHHH", data[:18])[5] & 0xFFF for _, _, data in control]
        if address[2] != socket.PACKET_OUTGOING and vids == [self.vlan]:
            self.plain.send(frame)


class Lan:
    """A UPF between a gNB with two UEs of Ethernet and a LAN with one host."""

    def __init__(self, folder, *, vlan: int = 0, workers: int = 1):
        self.net = Net()
        self.server = Server()
        self.sockets: list[socket.socket] = []
        ns, self.gnb = self.net.add("upf"), self.net.add("gnb")
        self.net.veth(self.gnb, "n3", "02:00:00:00:03:02", ns, "n3p", "02:00:00:00:03:01")
        self.dn = self._dn(ns, vlan)
        self.net.mute(ns, "n3p")
        self.net.mute(self.gnb, "n3")
        self.net.address(self.gnb, "n3", f"{GNB}/24")
        self.socket = folder / "upf.sock"
        interfaces = [
            {"name": "n3", "port": "n3", "types": ["access"], "addresses": [f"{N3}/24"]},
            {"name": "lan", "port": "n6", "lan": True, "vlan": vlan},
        ]
        file = d.write(
            folder / "lan.yaml",
            f"lan-{id(self)}",
            ports=[d.raw_port("n3", "n3p"), d.raw_port("n6", "n6p")],
            upf=[
                {
                    "name": "upf",
                    "socket": str(self.socket),
                    "interfaces": interfaces,
                    "workers": workers,
                    **({"steering": "software", "dispatchers": 1} if workers > 1 else {}),
                }
            ],
            lcores=d.lcores("UPF"),
            place=[{"node": "upf.*", "lcore": "UPF"}],
        )
        self.airpath = Airpath(self.net, ns, file)
        self.control = Control(self.socket, refilled=True)
        with netns.inside(self.gnb):
            self.n3 = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.n3.bind((GNB, GTPU_PORT))
        self.sockets.append(self.n3)
        self.tunnels: dict[int, Tunnel] = {}
        self.server.add(self.n3.fileno(), self._downlink)

    def _dn(self, ns: str, vlan: int) -> str:
        """The LAN's host: at the UPF's port, or behind a switch that tags its frames."""
        dn = self.net.add("dn")
        mac = "02:00:00:00:06:01"
        if not vlan:
            self.net.veth(dn, "lan", DN_MAC, ns, "n6p", mac)
        else:
            switch = self.net.add("switch")
            self.net.veth(dn, "lan", DN_MAC, switch, "plain", "02:00:00:00:dd:02")
            self.net.veth(switch, "tagged", "02:00:00:00:dd:03", ns, "n6p", mac)
            self.net.mute(switch, "plain")
            self.net.mute(switch, "tagged")
            between = Switch(switch, vlan, self.server)
            self.sockets += [between.plain, between.tagged]
        self.net.mute(ns, "n6p")
        self.net.mute(dn, "lan")
        self.net.address(dn, "lan", f"{DN}/24")
        return dn

    def _downlink(self) -> None:
        teid, frame = inner(self.n3.recv(65536, socket.MSG_DONTWAIT))
        if teid in self.tunnels:  # of a UE that is not there yet others make noise
            self.tunnels[teid].tap.send(frame)

    def session(self, number: int, **pdr):
        """A session of Ethernet; `pdr` goes to the uplink PDR."""
        pb, c = self.control.pb, self.control
        plain = c.session(number, peer=GNB, peer_teid=number)
        plain.ClearField("ue_ip4")
        plain.ethernet = True
        for rule in plain.pdrs:
            rule.match_ue_source = rule.match_ue_destination = rule.match_ip4 = False
        plain.pdrs[0].MergeFrom(pb.Pdr(**pdr))
        return plain

    def ue(self, number: int, **pdr) -> str:
        """A host behind a UE. @return its namespace"""
        mac, address = UES[number]
        assert self.control.set(self.session(number, **pdr)).error == ""
        ns, ran = self.net.add(f"ue{number}"), self.net.add(f"ran{number}")
        self.net.veth(ns, "eth0", mac, ran, "far", f"02:00:00:00:ef:0{number}")
        self.net.mute(ran, "far")
        self.net.address(ns, "eth0", f"{address}/24")
        self.net.settle(ns, "eth0")
        self.net.settle(ran, "far")
        tunnel = Tunnel(ran, "far", handle_of(number), self.n3)
        self.sockets.append(tunnel.tap)
        self.tunnels[number] = tunnel
        self.server.add(tunnel.tap.fileno(), tunnel.uplink)
        return ns

    def mac_event(self):
        return self.control.wait_event().mac

    def close(self) -> None:
        self.server.close()
        for one in (self.control, *self.sockets):
            one.close()
        self.net.close()


@pytest.fixture
def lan(tmp_path):
    made: list[Lan] = []

    def make(**options) -> Lan:
        made.append(Lan(tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(("vlan", "workers"), [(0, 1), (77, 1), (0, 2)])
def test_hosts_of_a_lan_and_behind_ues(lan, vlan, workers):
    """Both ways begin: ARP from the LAN reaches all UEs; frames to a host reach its UE alone."""
    one = lan(vlan=vlan, workers=workers)
    ues = {number: one.ue(number) for number in UES}
    for number, ns in ues.items():
        sent, answered = traffic.ping(ns, DN, size=500, count=3)
        assert answered == sent, f"UE {number}"
    told = {(e.id, bytes(e.mac).hex(":"), e.removed) for e in (one.mac_event(), one.mac_event())}
    assert told == {(n, mac, False) for n, (mac, _) in UES.items()}
    one.net.run(one.dn, ["ip", "neigh", "flush", "all"])
    for _, address in UES.values():
        sent, answered = traffic.ping(one.dn, address, size=1400, count=3)
        assert answered == sent
    sent, received = traffic.tcp_transfer(one.dn, ues[1], DN, 1 << 20, window=100_000)
    assert received == sent
    usage = one.control.query(1, 1).reports[0].usage
    assert usage.ul_bytes > 1 << 20 > usage.dl_bytes > 0
    drops = {k.rsplit(".", 1)[1]: v for k, v in program.drops(one.airpath.stop()).items()}
    # Until all workers know an address, a frame to it is for those that do not, too.
    assert drops.keys() <= ({"upf_match_unknown_mac"} if workers > 1 else set())


def test_filters_of_frames(lan):
    """MAC address and EtherType of an Ethernet Packet Filter: who else sends is dropped by name."""
    one = lan()
    pb, (mac, _) = one.control.pb, UES[1]
    octets = bytes.fromhex(mac.replace(":", ""))
    ns = one.ue(
        1,
        ethernet_filters=[
            pb.EthernetFilter(macs=[pb.MacFilter(source=octets)], match_type=True, type=t)
            for t in (0x0800, 0x0806)
        ],
    )
    sent, answered = traffic.ping(ns, DN, size=100, count=2)
    assert answered == sent
    one.net.run(ns, ["ip", "link", "set", "eth0", "address", "02:00:00:00:ee:99"])
    _, answered = traffic.ping(ns, DN, size=100, count=1)
    assert answered == 0
    drops = {k.rsplit(".", 1)[1]: v for k, v in program.drops(one.airpath.stop()).items()}
    assert drops.pop("upf_match_no_pdr") > 0
    assert drops.keys() <= {"upf_match_unknown_mac"}


def test_an_address_moves_with_its_host(lan):
    """The newer UE has it; the agent is told of both."""
    one = lan()
    first, second = one.ue(1), one.ue(2)
    traffic.ping(first, DN, size=100, count=1)
    traffic.ping(second, DN, size=100, count=1)
    assert {one.mac_event().id, one.mac_event().id} == {1, 2}
    one.net.run(first, ["ip", "link", "set", "eth0", "down"])
    one.net.run(second, ["ip", "link", "set", "eth0", "address", UES[1][0]])
    one.net.run(one.dn, ["ip", "neigh", "flush", "all"])
    sent, answered = traffic.ping(second, DN, size=100, count=3)
    assert answered == sent
    events = [one.mac_event() for _ in range(2)]
    assert [(e.id, bytes(e.mac).hex(":"), e.removed) for e in events] == [
        (1, UES[1][0], True),
        (2, UES[1][0], False),
    ]


def test_what_is_no_ethernet_session_is_refused(lan):
    """IP on a LAN, frames without one, and addresses of UEs that have none."""
    one = lan()
    pb, c = one.control.pb, one.control
    plain = c.session(3, peer=GNB, peer_teid=3)
    assert "LAN" in c.set(plain).error
    frames = one.session(3)
    frames.pdrs[0].match_ue_source = True
    result = c.set(frames)
    assert (result.failed_kind, result.failed_id) == (pb.RULE_PDR, 1)
    frames = one.session(3)
    frames.ue_ip4 = ipaddress.ip_address("10.45.0.3").packed
    assert "no IP address" in c.set(frames).error
    frames = one.session(3)
    frames.pdrs[0].ethernet_filters.add(macs=[pb.MacFilter(source=b"short")])
    assert "6 octets" in c.set(frames).error


def test_addresses_behind_a_ue_are_reported(make_upf):
    """§5.13.5: a URR with MACAR: an address when its first frame comes, and when none comes for the
    Ethernet Inactivity Timer, also one that is set later; also with the tag it has. tshark has
    read it all."""
    upf = make_upf(
        links=["lan"],
        interfaces=[{"name": "lan", "lan": True, "network_instances": ["lan"]}],
    )
    gnb, smf = upf.gnb(), upf.smf()
    smf.associate()

    def timer(seconds: int):
        return ies.raw(146, struct.pack("!I", seconds))

    ethi = p.IE_EthernetPDUSessionInformation(ETHI=1)
    session = smf.establish(
        p.IE_PDNType(pdn_type=5),
        ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=9, removal=6, urrs=[1]),
        ies.pdr(
            2, ies.pdi(ies.CORE, ies.network_instance("lan"), ethi), far=2, precedence=9, urrs=[2]
        ),
        ies.far(1, "FORW", to=ies.CORE, instance="lan"),
        ies.far(2, "FORW", to=ies.ACCESS, out=(7, upf_harness.GNB)),
        ies.urr(1, timer(600), methods=["EVENT"], report=["MACAR"]),
        ies.urr(2, methods=["VOLUM"], report=["VOLTH"], threshold={"total": 1 << 30}),
    )
    first, second = (mac for mac, _ in UES.values())

    def frame(mac: str, tag: bytes = b"") -> bytes:
        return bytes.fromhex(("ff" * 6 + mac).replace(":", "")) + tag + b"\x88\xb5" + bytes(50)

    def told() -> usage.Usage:
        report = smf.wait_report(p.IE_UsageReport_SRR)
        (one,) = (usage.read(u) for u in ies.all_of(report, p.IE_UsageReport_SRR))
        assert (one.urr, one.triggers, one.start, one.total) == (1, {"MACAR"}, None, None)
        return one

    gnb.send(session.tunnels[1], frame(first))
    assert told().detected == [(first, 0)]
    gnb.send(session.tunnels[1], frame(second, b"\x81\0\0\x4d"))
    assert told().detected == [(second, 77)]
    session.modify(ies.urr(1, timer(1), methods=[], update=True))
    ends = [told(), told()]
    assert sorted(one.removed for one in ends) == [[(first, 0)], [(second, 77)]]
    assert [one.seqn for one in ends] == [2, 3]
    gnb.send(session.tunnels[1], frame(first))
    assert told().detected == [(first, 0)]
    assert told().removed == [(first, 0)]
    session.delete()
