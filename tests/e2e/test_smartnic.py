# SPDX-License-Identifier: BSD-3-Clause
"""A gNB behind a SmartNIC: the share of bearers that the host has changes while they carry packets,
and every bearer numbers on."""

import socket
import struct
import subprocess

import pytest
from harness import deployment as d
from harness import gtpu, netns, program, telemetry
from harness.gnb_control import GnbControl
from harness.netns import Net
from harness.program import AIRPATH, Airpath

NAME = "gnb-smartnic-test"
UPF, DU, N3, F1 = "10.3.0.1", "10.7.0.9", "10.3.0.2", "10.7.0.1"
UES, QFI, ROUNDS = 32, 9, 12
SHARES = [50, 0, 100, 30, 0, 70, 100, 50]


def downlink(teid: int, packet: bytes) -> bytes:
    """A G-PDU as a UPF sends it: DL PDU SESSION INFORMATION (TS 38.415 §5.5.2.1)."""
    head = struct.pack(">BBHIHBB", 0x34, gtpu.G_PDU, 8 + len(packet), teid, 0, 0, 0x85)
    return head + bytes((1, 0, QFI, 0)) + packet


class Peer:
    """A UPF, or a DU: both are one kernel host on the SmartNIC's wire."""

    def __init__(self, ns: str, address: str):
        with netns.inside(ns):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, gtpu.PORT))
        self.socket.settimeout(10)

    def greet(self, to: str) -> None:
        """Afterwards both know each other's link address."""
        self.socket.sendto(gtpu.make(gtpu.ECHO_REQUEST, 0, seq=1), (to, gtpu.PORT))
        assert gtpu.parse(self.socket.recv(2048)).kind == gtpu.ECHO_RESPONSE


class Place:
    def __init__(self, net: Net, folder):
        gnb, far = net.add("gnb"), net.add("far")
        net.veth(far, "far", "02:00:00:00:09:09", gnb, "wire", "02:00:00:00:09:01")
        net.mute(gnb, "wire")
        net.mute(far, "far")
        net.address(far, "far", f"{UPF}/24", f"{DU}/24")
        self.path = str(folder / "gnb.sock")
        ports = [d.raw_port("wire", "wire"), *d.ring_pair("nic0", "vf0")]
        interface = {"name": "n3", "mac": "02:00:00:00:03:01", "type": "n3"}
        file = d.write(
            folder / f"{NAME}.yaml",
            NAME,
            ports=[*ports, *d.ring_pair("nic1", "vf1")],
            gnb_header=[
                {
                    "name": "gnb",
                    "socket": self.path,
                    "workers": 2,
                    "sessions": 256,
                    "vfs": ["vf0", "vf1"],
                    "interfaces": [
                        {**interface, "addresses": [f"{N3}/24"]},
                        {
                            "name": "f1",
                            "mac": "02:00:00:00:07:01",
                            "type": "f1",
                            "addresses": [f"{F1}/24"],
                        },
                    ],
                }
            ],
            smartnic=[
                {
                    "name": "nic",
                    "gnb": "gnb",
                    "wire": "wire",
                    "vfs": ["nic0", "nic1"],
                    "offload_percent": 40,
                }
            ],
            lcores=d.lcores("NIC", "HOST"),
            place=[{"node": "nic.*", "lcore": "NIC"}, {"node": "gnb.*", "lcore": "HOST"}],
        )
        self.airpath = Airpath(net, gnb, file)
        self.upf, self.du = Peer(far, UPF), Peer(far, DU)
        self.upf.greet(N3)
        self.du.greet(F1)
        self.control = c = GnbControl(self.path)
        results = c.setup(
            *(c.ue(n, c.session(5, UPF, 0x1000 + n, c.drb(4, DU, 0x2000 + n))) for n in range(UES))
        )
        assert {r.cause for r in results} == {c.pb.OK}
        self.teids = [r.pdu_sessions[0].dl_teid for r in results]
        self.sent = [0] * UES

    def offload(self, percent: int) -> None:
        command = [str(AIRPATH), "ctl", "--name", NAME, "gnb", "offload", str(percent)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert self.control.status().offload_percent == percent

    def round(self) -> None:
        """A packet of every bearer. Its number must be the bearer's next, whoever gives it."""
        for ue in range(UES):
            packet = ue.to_bytes(4) + self.sent[ue].to_bytes(4) + bytes(52)
            self.upf.socket.sendto(downlink(self.teids[ue], packet), (N3, gtpu.PORT))
        for _ in range(UES):
            message = gtpu.parse(self.du.socket.recv(2048))
            ue = message.teid - 0x2000
            head, packet = message.payload[:5], message.payload[5:]
            assert head[0] == 0  # RLC UM: a whole SDU
            assert head[4] == QFI
            assert int.from_bytes(head[1:4]) & 0x3FFFF == self.sent[ue]
            assert packet == ue.to_bytes(4) + self.sent[ue].to_bytes(4) + bytes(52)
            self.sent[ue] += 1

    def drbs(self) -> list:
        return [c.pdu_sessions[0].drbs[0] for c in self.control.contexts()]

    def hosts(self) -> int:
        """Downlink packets that the host's nodes have numbered."""
        nodes = (f"gnb.hdr_tx_w{k}" for k in (0, 1))
        return sum(telemetry.ask(NAME, "/airpath/node", node)["in"] for node in nodes)


@pytest.fixture
def place(net, tmp_path):
    return Place(net, tmp_path)


def test_the_share_changes_while_packets_run(place):
    place.round()  # the DU's link address is known, the program's tables are filled
    for share in SHARES:
        place.offload(share)
        for _ in range(ROUNDS):
            place.round()
        # Every bearer has been handed over, where it had to be: from now on it stays.
        before, nic = place.hosts(), [drb.on_nic for drb in place.drbs()]
        for _ in range(ROUNDS):
            place.round()
        host = UES - sum(nic)
        assert place.hosts() - before == host * ROUNDS
        assert [drb.on_nic for drb in place.drbs()] == nic
        assert {0: host == 0, 100: host == UES}.get(share, 0 < host < UES), (share, host)
    place.control.close()
    report = place.airpath.stop()
    assert program.drops(report) == {}
    assert sum(place.sent) == UES * (1 + 2 * ROUNDS * len(SHARES))


def test_a_share_that_cannot_be_is_refused(place):
    assert "0..100" in place.control.offload(101).error
    assert place.control.status().offload_percent == 40  # as configured
    place.control.close()
    place.airpath.stop()
