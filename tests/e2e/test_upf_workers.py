# SPDX-License-Identifier: BSD-3-Clause
"""Several workers with kernel hosts: every packet finds the worker that owns its session, by one
hand-off at most, and a session stays where its TEID says when the number of workers changes."""

import json
import re
import socket
import time

import pytest
from harness import netns, traffic, usage
from harness import pfcp_ies as ies
from harness.upf import DN, N3, pdu_session
from harness.wait import until

UES, PINGS, DATAGRAMS = 8, 5, 20
PORT = 7007
WAYS = {
    "ports": {"workers": 2},
    "software": {"workers": 2, "dispatchers": 1, "steering": "software"},
}
pytestmark = pytest.mark.slow


class Crowd:
    """UEs of one gNB, each with a session and a kernel of its own."""

    def __init__(self, unit):
        self.unit, self.smf, gnb = unit, unit.smf(), unit.gnb()
        self.smf.associate()
        self.sessions = [
            pdu_session(self.smf, ies.urr(1), urrs=(1,), teid=100 + n) for n in range(UES)
        ]
        self.ues = [
            unit.ue(gnb, session, name=f"ue{n}", downlink=100 + n)
            for n, session in enumerate(self.sessions)
        ]

    def workers(self) -> list[int]:
        """Who serves whom, as the agent has it."""
        listed = {one["up_seid"]: one["worker"] for one in self.unit.agent.sessions()}
        return [listed[session.seid] for session in self.sessions]

    def carried(self) -> list[int]:
        """Packets of each worker's sessions, both ways, as the hosts counted them."""
        sums = [0] * (max(self.workers()) + 1)
        for ue, worker in zip(self.ues, self.workers(), strict=True):
            sums[worker] += ue.ul_packets + ue.dl_packets
        return sums

    def talk(self) -> None:
        """Each UE pings the internet and is pinged, and datagrams come back in their order."""
        for ue in self.ues:
            for ns, address in ((ue.ns, DN), (self.unit.dn, ue.v4)):
                sent, answered = traffic.ping(ns, address, size=300, count=PINGS)
                assert answered == sent, ue.v4
        with netns.inside(self.unit.dn):
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((DN, PORT))
        server.settimeout(10)
        with server:
            self._datagrams(server)

    def _datagrams(self, server: socket.socket) -> None:
        clients = []
        for ue in self.ues:
            with netns.inside(ue.ns):
                clients.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            clients[-1].settimeout(10)
        for number in range(DATAGRAMS):
            for client in clients:
                client.sendto(bytes([number]) * 500, (DN, PORT))
            for _ in clients:
                data, source = server.recvfrom(1000)
                server.sendto(data, source)
        for client in clients:
            got = [client.recv(1000) for _ in range(DATAGRAMS)]
            assert got == [bytes([number]) * 500 for number in range(DATAGRAMS)]
            client.close()

    def accounted(self) -> None:
        """What each session's report says is what its host counted."""
        for session, ue in zip(self.sessions, self.ues, strict=True):
            (report,) = usage.reports(session.delete())
            assert (report.uplink, report.uplink_packets) == (ue.ul_bytes, ue.ul_packets)
            assert (report.downlink, report.downlink_packets) == (ue.dl_bytes, ue.dl_packets)


def nodes(unit, node: str) -> dict[str, dict]:
    """Counters of a node of every worker or dispatcher: `w0`, `d0`, ..."""
    found = (re.fullmatch(rf"upf\.{node}_([wd]\d+)", name) for name in unit.tell("/airpath/nodes"))
    return {one[1]: unit.tell("/airpath/node", one[0]) for one in found if one}


def judge_steering(unit, crowd: Crowd) -> None:
    """Steering saw each packet once, hand-offs are what its telemetry says, and upf_match of each
    worker got the packets of its own sessions and no others."""
    steers, matches = nodes(unit, "steer"), nodes(unit, "match")
    carried = crowd.carried()
    assert sum(one["in"] for one in steers.values()) == sum(carried)
    assert [matches[f"w{k}"]["in"] for k in range(len(carried))] == carried
    handed = {name: one["handed_off"] for name, one in unit.tell("/airpath/upf/workers").items()}
    info = unit.tell("/airpath/upf/info")
    assert info["handed_off"] == sum(handed.values())
    if "dispatchers" in unit.options:
        assert handed == {"worker0": 0, "worker1": 0, "dispatcher0": sum(carried)}
    else:
        for k, worker in enumerate(("worker0", "worker1")):
            assert handed[worker] <= steers[f"w{k}"]["in"]
        assert steers["w0"]["in"] - handed["worker0"] + handed["worker1"] == carried[0]


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS.keys())
def test_every_packet_finds_its_worker(make_upf, how):
    unit = make_upf(**how)
    crowd = Crowd(unit)
    assert set(crowd.workers()) == {0, 1}, "both workers have sessions"
    assert len({session.tunnels[1][0] >> 20 for session in crowd.sessions}) > 2, "several buckets"
    crowd.talk()
    judge_steering(unit, crowd)
    crowd.accounted()
    report = unit.stop()
    lost = {reason for node in report["nodes"] for reason, n in node["drops"].items() if n}
    assert not {reason for reason in lost if "full" in reason}, "no queue ran over"


def wait_filled(unit, sessions: int) -> None:
    until(lambda: unit.tell("/airpath/upf/info")["sessions"] == sessions)
    until(lambda: json.loads(unit.agent.say("status", "--json"))["units"][0]["connected"])


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS.keys())
def test_teids_outlive_another_number_of_workers(make_upf, how):
    """1 worker becomes 2: the agent fills the data plane again, nothing is said over N4."""
    unit = make_upf(workers=1)
    crowd = Crowd(unit)
    crowd.talk()
    assert crowd.workers() == [0] * UES
    stamp, tunnels = crowd.smf.heartbeat(), [one.tunnels[1] for one in crowd.sessions]
    time.sleep(1.2)  # a checkpoint is made every half second
    unit.airpath.stop()
    unit.options.update(how)
    unit.start_data_plane()
    wait_filled(unit, UES)
    assert set(crowd.workers()) == {0, 1}
    before = [(ue.ul_packets, ue.dl_packets) for ue in crowd.ues]
    crowd.talk()
    matches = nodes(unit, "match")
    moved = [0, 0]
    for ue, worker, (ul, dl) in zip(crowd.ues, crowd.workers(), before, strict=True):
        moved[worker] += ue.ul_packets - ul + ue.dl_packets - dl
    assert [matches[f"w{k}"]["in"] for k in (0, 1)] == moved
    assert crowd.smf.heartbeat() == stamp, "no session was lost"
    assert [one.tunnels[1] for one in crowd.sessions] == tunnels
    assert {address for _, address in tunnels} == {N3}
    crowd.accounted()
