# SPDX-License-Identifier: BSD-3-Clause
"""Contexts of a gNB come, change and go while others carry packets: these lose none and number
on; and what peers tell of tunnels and paths reaches the control plane."""

import ipaddress
import json
import socket
import struct
import subprocess
import time

import pytest
from harness import deployment as d
from harness import gtpu, netns, program
from harness.gnb_control import GnbControl
from harness.netns import Net
from harness.program import AIRPATH, Airpath

UPF, OURS, F1, DU = "10.3.0.1", "10.3.0.2", "10.7.0.1", "10.7.0.9"
MACS = {name: f"02:00:00:00:00:{i:02x}" for i, name in enumerate(("n3", "n3p", "f1", "f1p"))}
UES, QFI, BURST = 16, 9, 32
HEADERS = bytes((0, 0x80, 0, 0, 0x80 | QFI))  # uplink: RLC UM, PDCP of 18 bits, SDAP
SEEN_MIN = 200  # packets that the churn must have met


def downlink(teid: int, packet: bytes) -> bytes:
    """A G-PDU as a UPF sends it: DL PDU SESSION INFORMATION (TS 38.415 §5.5.2.1)."""
    head = struct.pack(">BBHIHBB", 0x34, gtpu.G_PDU, 8 + len(packet), teid, 0, 0, 0x85)
    return head + bytes((1, 0, QFI, 0)) + packet


class Side:
    """A UPF, or a DU: a kernel host with a GTP-U socket."""

    def __init__(self, net: Net, name: str, interface: str, address: str, gnb: str):
        self.ns = net.add(name)
        far = f"{interface}p"
        net.veth(self.ns, interface, MACS[interface], gnb, far, MACS[far])
        net.mute(gnb, far)
        net.mute(self.ns, interface)
        net.address(self.ns, interface, f"{address}/24")
        with netns.inside(self.ns):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, gtpu.PORT))
        self.socket.settimeout(10)

    def send(self, octets: bytes, to: str) -> None:
        self.socket.sendto(octets, (to, gtpu.PORT))

    def greet(self, to: str) -> None:
        """Afterwards both know each other's link address: nothing waits for it, or too long."""
        self.send(gtpu.make(gtpu.ECHO_REQUEST, 0, seq=1), to)
        assert gtpu.parse(self.socket.recv(2048)).kind == gtpu.ECHO_RESPONSE

    def receive(self) -> gtpu.Message:
        while True:
            message = gtpu.parse(self.socket.recv(2048))
            if message.kind == gtpu.G_PDU:
                return message


@pytest.fixture
def place(tmp_path):
    if not netns.available():
        pytest.skip("no right to make network namespaces here; run as root")
    one = Place(tmp_path)
    yield one
    one.close()


class Place:
    """UPF, gNB and DU in namespaces, the gNB's ports on veth."""

    def __init__(self, folder):
        self.net = Net()
        gnb = self.net.add("gnb")
        self.upf = Side(self.net, "upf", "n3", UPF, gnb)
        self.du = Side(self.net, "du", "f1", DU, gnb)
        self.path = str(folder / "gnb.sock")
        file = d.write(
            folder / "gnb.yaml",
            "gnb-churn",
            ports=[d.raw_port("n3", "n3p"), d.raw_port("f1", "f1p")],
            gnb_header=[
                {
                    "name": "gnb",
                    "socket": self.path,
                    "interfaces": [
                        {"name": "n3", "port": "n3", "type": "n3", "addresses": [f"{OURS}/24"]},
                        {"name": "f1", "port": "f1", "type": "f1", "addresses": [f"{F1}/24"]},
                    ],
                }
            ],
            lcores=d.lcores("GNB"),
            place=[{"node": "gnb.*", "lcore": "GNB"}],
        )
        self.airpath = Airpath(self.net, gnb, file)
        self.upf.greet(OURS)
        self.du.greet(F1)
        self.control = GnbControl(self.path, events=True)

    def close(self) -> None:
        self.control.close()
        self.net.close()

    def sessions(self) -> list:
        """What is set up for UEs 1 …: its results."""
        c = self.control
        ues = [
            c.ue(ue, c.session(5, UPF, 0x1000 + ue, c.drb(4, DU, 0x2000 + ue)))
            for ue in range(1, UES + 1)
        ]
        results = c.setup(*ues)
        assert {r.cause for r in results} == {c.pb.OK}
        return [r.pdu_sessions[0] for r in results]


def pdcp_sn(message: gtpu.Message) -> int:
    """Behind the UM header of a complete SDU: SN of 18 bits, then SDAP."""
    assert message.payload[0] == 0
    assert message.payload[4] == QFI
    return int.from_bytes(message.payload[1:4]) & 0x3FFFF


def test_churn_under_load(place):
    teids = [s.dl_teid for s in place.sessions()]
    churn = subprocess.Popen(
        [str(AIRPATH), "ctl", place.path, "churn", "--upf", UPF, "--du", DU, "--seconds", "3"],
        stdout=subprocess.PIPE,
        text=True,
    )
    sent = [0] * UES
    while churn.poll() is None:
        for i in range(BURST):
            ue = (sum(sent) + i) % UES
            place.upf.send(downlink(teids[ue], ue.to_bytes(4) + bytes(60)), OURS)
        for _ in range(BURST):
            message = place.du.receive()
            ue = message.teid - 0x2001
            assert int.from_bytes(message.payload[5:9]) == ue
            assert pdcp_sn(message) == sent[ue]
            sent[ue] += 1
    done = json.loads(churn.stdout.read())
    assert (churn.returncode, done["failed"]) == (0, 0)
    assert done["changes"] > 0
    assert sum(sent) >= SEEN_MIN
    views = place.control.contexts()
    assert [c.ue_id for c in views] == list(range(1, UES + 1))
    assert [c.pdu_sessions[0].drbs[0].dl_count for c in views] == sent
    assert program.drops(place.airpath.stop()) == {}


def pcap(path, frames: list[bytes]) -> None:
    """A capture file of Ethernet frames."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    records = (struct.pack("<IIII", 0, 0, len(f), len(f)) + f for f in frames)
    path.write_bytes(head + b"".join(records))


def frame(teid: int) -> bytes:
    """A downlink G-PDU in UDP, IPv4 and an Ethernet header that nobody minds."""
    gtp = downlink(teid, bytes(64))
    udp = struct.pack(">HHHH", gtpu.PORT, gtpu.PORT, 8 + len(gtp), 0)
    addresses = ipaddress.ip_address(UPF).packed + ipaddress.ip_address(OURS).packed
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(gtp), 0, 0, 64, 17, 0) + addresses
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", 0xFFFF - (total & 0xFFFF) - (total >> 16)) + ip[12:]
    return bytes(12) + b"\x08\x00" + ip + udp + gtp


def test_a_generator_reaches_a_gnb(net, tmp_path):
    """What a generator replays goes to the port's peer_mac, whatever the capture says."""
    mac = "02:00:00:00:03:01"
    pcap(tmp_path / "load.pcap", [frame(0x0100000F | i << 4) for i in range(UES)])
    to_du, to_upf = ({"address": a, "mac": MACS[n]} for a, n in ((DU, "f1p"), (UPF, "n3p")))
    n3, g = d.ring_pair("n3", "g")
    file = d.write(
        tmp_path / "gnb-gen.yaml",
        "gnb-gen",
        ports=[
            {**n3, "mac": mac},
            {**g, "peer_mac": mac},
            {"name": "f1", "preset": "null", "devargs": "no-rx=1", "framing": "raw"},
        ],
        gen=[{"name": "gen", "port": "g", "replay": str(tmp_path / "load.pcap"), "pps": 5000}],
        gnb_header=[
            {
                "name": "gnb",
                "socket": str(tmp_path / "gnb.sock"),
                "interfaces": [
                    {"name": "n3", "port": "n3", "type": "n3", "addresses": [f"{OURS}/24"]},
                    {"name": "f1", "port": "f1", "type": "f1", "addresses": [f"{F1}/24"]},
                ],
                "neighbours": [{"interface": "n3", **to_upf}, {"interface": "f1", **to_du}],
            }
        ],
        lcores=d.lcores("GNB", "GEN"),
        place=[{"node": "gnb.*", "lcore": "GNB"}, {"node": "gen.*", "lcore": "GEN"}],
    )
    airpath = Airpath(net, net.add("m"), file)
    control = GnbControl(tmp_path / "gnb.sock")
    results = control.setup(
        *(control.ue(n, control.session(5, UPF, n + 1, control.drb(4, DU))) for n in range(UES))
    )
    assert [r.pdu_sessions[0].dl_teid for r in results] == [0x0100000F | i << 4 for i in range(UES)]
    until = time.monotonic() + 20
    while time.monotonic() < until:
        counts = [c.pdu_sessions[0].drbs[0].dl_packets for c in control.contexts()]
        if min(counts) >= BURST:
            break
        time.sleep(0.1)
    assert min(counts) >= BURST
    control.close()
    # Before there were contexts their TEIDs were unknown; nothing else is the matter.
    assert [k for k in program.drops(airpath.stop()) if "link_address" in k] == []


def test_errors_reach_the_control_plane(place):
    c = place.control
    first, second = place.sessions()[:2]
    f1_teid = first.drbs[0].ul_teid
    uplink = gtpu.make(gtpu.G_PDU, f1_teid, HEADERS + bytes(40))
    place.du.send(uplink, F1)
    message = place.upf.receive()
    assert (message.teid, message.qfi, message.payload) == (0x1001, QFI, bytes(40))

    place.upf.send(gtpu.error_indication(0x1001, UPF), OURS)
    event = c.wait_event().error_indication
    assert (event.ue_id, event.pdu_session, event.drb, event.teid) == (1, 5, 0, 0x1001)
    assert ipaddress.ip_address(event.peer) == ipaddress.ip_address(UPF)
    place.du.send(gtpu.error_indication(0x2002, DU), F1)
    event = c.wait_event().error_indication
    assert (event.ue_id, event.drb, event.teid) == (2, 4, 0x2002)

    # The uplink of UE 1 is stopped, that of UE 2 is not.
    assert c.context(1).pdu_sessions[0].ul_stopped
    place.du.send(uplink, F1)
    place.du.send(gtpu.make(gtpu.G_PDU, second.drbs[0].ul_teid, HEADERS + b"2" * 40), F1)
    assert place.upf.receive().payload == b"2" * 40
    change = c.pb.BearerContextChange(ue_id=1)
    change.modify.add(id=5, ul_up=c.tunnel(UPF, 0x3001))
    assert c.modify(change)[0].cause == c.pb.OK
    assert not c.context(1).pdu_sessions[0].ul_stopped
    place.du.send(uplink, F1)
    assert place.upf.receive().teid == 0x3001


def test_unknown_tunnels_are_told_once_contexts_are_complete(place):
    place.sessions()
    place.upf.socket.settimeout(5)
    place.upf.send(downlink(0x7F00000F, b"lost"), OURS)
    place.control.complete()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        place.upf.send(downlink(0x7F00000F, b"lost"), OURS)
        message = gtpu.parse(place.upf.socket.recv(2048))
        if message.kind == gtpu.ERROR_INDICATION:
            break
    assert message.ies()[16] == struct.pack(">I", 0x7F00000F)


def test_paths_are_watched(place):
    place.sessions()
    place.control.paths(echo_interval_s=1, echo_timeout_ms=200, echo_tries=2)
    event = place.control.wait_event().path
    assert (str(ipaddress.ip_address(event.peer)) in (UPF, DU), event.up) == (True, False)
