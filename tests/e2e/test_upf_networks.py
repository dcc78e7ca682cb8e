# SPDX-License-Identifier: BSD-3-Clause
"""Networks around a UPF: VLANs, overlapping addresses, N9, marking."""

import socket
import struct
import time

import pytest
from harness import netns, pfcp, traffic, usage
from harness import pfcp_ies as ies
from harness.gnb import Ue
from harness.pfcp import Smf
from harness.upf import DN, GNB, N3, N6, POOL, pdu_session
from scapy.contrib import pfcp as p
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether

# Of Linux; not in Python's socket module.
SOL_PACKET, PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 263, 8, 0x10
IMS, IMS_HOST = "10.7.0.1", "10.7.0.2"
SAME = "10.45.200.1"  # a UE's address in two networks


@pytest.fixture(scope="module")
def gnb(upf):
    return upf.gnb()


@pytest.fixture(scope="module")
def beyond(upf):
    """A GTP-U peer at the other end of N6."""
    return upf.gnb(DN, ns=upf.dn)


def associated(unit) -> Smf:
    smf = unit.smf()
    smf.associate()
    return smf


def two_networks(make_upf):
    """A second data network behind a port of its own, whose host has the same address."""
    unit = make_upf(
        instances=("internet", "ims"),
        links=["ims"],
        interfaces=[
            {
                "name": "ims",
                "types": ["core"],
                "network_instances": ["ims"],
                "addresses": [f"{IMS}/24"],
                "gateways": [IMS_HOST],
            },
        ],
    )
    ns = unit.more["ims"]
    unit.net.address(ns, "ims", f"{IMS_HOST}/24")
    unit.net.run(ns, ["ip", "addr", "add", f"{DN}/32", "dev", "lo"])
    unit.net.run(ns, ["ip", "route", "add", POOL, "via", IMS])
    return unit, ns


def session_in(smf, instance: str, teid: int):
    core = ies.pdi(ies.CORE, ies.network_instance(instance), ies.ue_ip(SAME, destination=True))
    return smf.establish(
        ies.pdr(
            1, ies.pdi(ies.ACCESS, ies.choose(), ies.ue_ip(SAME)), far=1, precedence=1, removal=6
        ),
        ies.pdr(2, core, far=2, precedence=1),
        ies.far(1, "FORW", to=ies.CORE, instance=instance),
        ies.far(2, "FORW", to=ies.ACCESS, out=(teid, GNB)),
    )


def test_overlapping_addresses_of_two_network_instances(make_upf):
    """One UE address in `internet` and in `ims`: neither session sees the other's packets."""
    unit, ims = two_networks(make_upf)
    smf, gnb = associated(unit), unit.gnb()
    first, second = session_in(smf, "internet", 1), session_in(smf, "ims", 2)
    assert first.tunnels[1][0] >> 20 == second.tunnels[1][0] >> 20, "the bucket is the address's"
    ues = [
        Ue(unit.net, gnb, name, SAME, downlink=teid, uplink=session.tunnels[1])
        for name, teid, session in (("ue1", 1, first), ("ue2", 2, second))
    ]
    for ue in ues:  # the same destination, too
        sent, answered = traffic.ping(ue.ns, DN, size=100, count=3)
        assert answered == sent
    assert [ue.dl_packets for ue in ues] == [3, 3]
    for ns, mine in ((unit.dn, ues[0]), (ims, ues[1])):
        before = mine.dl_packets
        sent, answered = traffic.ping(ns, SAME, size=100, count=2)
        assert answered == sent
        assert mine.dl_packets == before + 2


def test_n9(smf, gnb, beyond):
    """An intermediate UPF: from one tunnel into another, both ways, QFI and container kept."""
    session = smf.establish(
        ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=1, removal=6, qers=[1]),
        ies.pdr(2, ies.pdi(ies.CORE, ies.choose()), far=2, precedence=1, removal=6, qers=[1]),
        ies.far(1, "FORW", to=ies.CORE, out=(0x91, DN)),
        ies.far(2, "FORW", to=ies.ACCESS, out=(0x31, GNB)),
        ies.qer(1, qfi=9),
    )
    assert session.tunnels[1][1] == N3
    assert session.tunnels[2][1] == N6
    packet = bytes(IP(src="10.99.0.1", dst="192.0.2.1") / UDP() / b"up")
    gnb.send(session.tunnels[1], packet, qfi=9)
    got = beyond.receive()
    assert (got.teid, got.payload, got.qfi) == (0x91, packet, 9)
    packet = bytes(IP(src="192.0.2.1", dst="10.99.0.1") / UDP() / b"down")
    beyond.send(session.tunnels[2], packet, qfi=None)
    got = gnb.receive()
    assert (got.teid, got.payload, got.qfi) == (0x31, packet, 9)


def test_transport_level_marking(upf, smf, gnb):
    """§8.2.12: the outer header's DSCP."""
    session = pdu_session(smf)
    session.modify(ies.far(2, to=ies.ACCESS, out=(7, GNB), tos=(0xB8, 0xFC), update=True))
    with netns.inside(upf.gnb_ns):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    wire.bind(("n3", 0x0800))
    wire.settimeout(10)
    with wire:
        packet = bytes(IP(src=session.ue[1][0], dst=DN) / UDP(sport=9, dport=33434) / b"x")
        gnb.send(session.tunnels[1], packet)  # the internet answers: port unreachable
        until = time.monotonic() + 10
        while time.monotonic() < until:
            frame = Ether(wire.recv(2000))
            if frame[IP].src == N3:
                break
    assert frame[IP].tos == 0xB8
    assert gnb.receive().qfi == 1


def test_vlan(make_upf):
    """An interface behind a tag: frames with another tag, or none, are not its own."""
    unit = make_upf(
        instances=("internet", "ims"),
        interfaces=[
            {
                "name": "ims",
                "port": "n6",
                "vlan": 100,
                "types": ["core"],
                "network_instances": ["ims"],
                "addresses": [f"{IMS}/24"],
            },
        ],
    )
    smf, gnb = associated(unit), unit.gnb()
    session = session_in(smf, "ims", 2)
    with netns.inside(unit.dn):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.bind(("n6", 3))
    wire.settimeout(10)
    ours, theirs = "02:00:00:00:06:01", "02:00:00:00:06:02"

    def frame(vlan: int, packet) -> bytes:
        return bytes(Ether(src=theirs, dst=ours) / Dot1Q(vlan=vlan) / packet)

    def await_tagged(wanted) -> Ether:
        """The kernel has taken the tag off and tells it beside the frame."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            octets, aside, _, _ = wire.recvmsg(2000, 64)
            got = Ether(octets)
            if got.src == ours and wanted(got):
                status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", aside[0][2])
                assert (status & TP_STATUS_VLAN_VALID, tci & 0xFFF) == (TP_STATUS_VLAN_VALID, 100)
                return got
        raise TimeoutError

    with wire:
        wire.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        packet = IP(src=SAME, dst=IMS_HOST) / UDP(sport=9, dport=9) / b"up"
        gnb.send(session.tunnels[1], bytes(packet))
        who = await_tagged(lambda got: ARP in got and got[ARP].pdst == IMS_HOST)
        answer = ARP(op=2, hwsrc=theirs, psrc=IMS_HOST, hwdst=ours, pdst=IMS)
        wire.send(frame(100, answer))
        got = await_tagged(lambda got: IP in got and got[IP].dst == IMS_HOST)
        assert bytes(got[IP].payload.payload) == b"up"
        assert who[ARP].psrc == IMS
        down = IP(src=IMS_HOST, dst=SAME) / UDP(sport=9, dport=9)
        before = unit.drops()
        wire.send(frame(101, down / b"other tag"))
        wire.send(frame(100, down / b"down"))
        assert gnb.receive().payload.endswith(b"down")
    assert (unit.drops() - before)["upf_in_vlan"] == 1


def test_reflective_qos(upf, smf, gnb):
    """§8.2.89: RQI of the QER goes down in the PDU session container."""
    session = pdu_session(smf, ies.qer(2, qfi=5, rqi=True), qers=(2,))
    packet = bytes(IP(src=session.ue[1][0], dst=DN) / UDP(sport=9, dport=33434) / b"x")
    gnb.send(session.tunnels[1], packet, qfi=5)
    got = gnb.receive()
    assert (got.qfi, got.rqi) == (5, True)


def test_duplicates(smf, gnb, beyond):
    """§5.2.3, §8.2.26 DUPL: a copy of each direction's packets in tunnels of their own, counted
    once; none once the FAR says so no more."""
    session = pdu_session(smf, ies.urr(1), urrs=(1,))
    session.modify(
        ies.far(1, "FORW", "DUPL", copies=[(ies.CORE, 0xC1, DN)], update=True),
        ies.far(2, "FORW", "DUPL", copies=[(ies.CORE, 0xC2, DN)], update=True),
    )
    packet = bytes(IP(src=session.ue[1][0], dst=DN) / ICMP(id=1) / b"hello")
    gnb.send(session.tunnels[1], packet)
    answer = gnb.receive()
    assert answer.teid == 7
    copies = [beyond.receive() for _ in range(2)]
    assert [c.teid for c in copies] == [0xC1, 0xC2]
    assert [c.payload for c in copies] == [packet, answer.payload]
    session.modify(ies.far(1, "FORW", update=True), ies.far(2, "FORW", update=True))
    gnb.send(session.tunnels[1], packet)
    assert gnb.receive().teid == 7
    assert beyond.silence(0.3)
    (report,) = usage.reports(session.delete())
    assert (report.uplink, report.downlink) == (2 * len(packet),) * 2


def test_n4_over_ipv6(make_upf):
    """§4.2.2, §8.2.37, §8.2.38: messages, Node IDs and F-SEIDs; reports go to the CP F-SEID."""
    unit = make_upf(n4="fd04::7")
    smf = unit.smf("fd04::4")
    node = ies.one_of(smf.associate(), p.IE_NodeId)
    assert (node.id_type, node.ipv6) == (1, "fd04::7")
    gnb = unit.gnb()
    session = pdu_session(smf, down=("BUFF", "NOCP"))
    peer = ies.one_of(session.response, p.IE_FSEID)
    assert (peer.v6, peer.v4, peer.ipv6) == (1, 0, "fd04::7")
    with netns.inside(unit.dn):
        internet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with internet:
        internet.sendto(b"wake up", (session.ue[1][0], 9))
    report = smf.wait_report(p.IE_DownlinkDataReport)
    assert report.seid == session.cp_seid
    session.modify(ies.far(2, "FORW", update=True))
    assert gnb.receive().payload.endswith(b"wake up")
    session.delete()
    smf.release()


def test_framed_route(upf, smf, gnb):
    """§5.16: a network behind the UE."""
    upf.net.run(upf.dn, ["ip", "route", "add", "198.51.100.0/24", "via", N6])
    route = ies.raw(153, b"198.51.100.0/24")
    session = smf.establish(
        ies.pdr(
            1,
            ies.pdi(ies.ACCESS, ies.choose(), ies.ue_ip("10.45.7.7"), route),
            far=1,
            precedence=1,
            removal=6,
        ),
        ies.pdr(
            2,
            ies.pdi(
                ies.CORE,
                ies.network_instance("internet"),
                ies.ue_ip("10.45.7.7", destination=True),
                route,
            ),
            far=2,
            precedence=1,
        ),
        ies.far(1, "FORW", to=ies.CORE, instance="internet"),
        ies.far(2, "FORW", to=ies.ACCESS, out=(7, GNB)),
    )
    for source in ("10.45.7.7", "198.51.100.9"):
        packet = bytes(IP(src=source, dst=DN) / UDP(sport=9, dport=33434) / b"x")
        gnb.send(session.tunnels[1], packet)
        assert IP(gnb.receive().payload).dst == source


def test_inactivity_is_reported(smf):
    """§5.11.3: User Plane Inactivity Timer."""
    timer = p.IE_UserPlaneInactivityTimer(timer=1)
    pdu_session(smf, timer)
    report = smf.wait_request(pfcp.REPORT)
    assert ies.one_of(report, p.IE_ReportType).UPIR
