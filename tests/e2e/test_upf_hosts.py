# SPDX-License-Identifier: BSD-3-Clause
"""Kernel hosts on both sides of a UPF: what they say to each other, and that it is counted."""

import contextlib
import random
import socket
import time

import pytest
from harness import gtpu, netns, traffic, usage
from harness import pfcp_ies as ies
from harness.pfcp import Session
from harness.upf import DN, DN_6, GNB_6, N3, N3_6, N6, N6_6, pdu_session
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6

WINDOW = 100_000  # the port has 512 packets
URRS = [ies.urr(1, methods=["VOLUM", "DURAT"])]


@pytest.fixture(scope="module")
def gnb(upf):
    return upf.gnb()


@pytest.fixture
def attached(upf, gnb, smf):
    """Makes a session with a UE behind the gNB; both are gone when the test ends."""
    made = []

    def make(*rules, downlink: int = 7, **options) -> tuple[Session, "object"]:
        session = pdu_session(smf, *URRS, *rules, teid=downlink, urrs=(1,), **options)
        ue = upf.ue(gnb, session, name=f"ue{downlink}", downlink=downlink)
        made.append(ue)
        return session, ue

    yield make
    for ue in made:
        ue.close()
        upf.net.remove(ue.ns)


def accounted(upf, session, ue) -> None:
    """Σ of the usage report equals what the gNB's end counted, octet by octet."""
    upf.settle()
    (report,) = usage.reports(session.delete())
    assert (report.uplink, report.uplink_packets) == (ue.ul_bytes, ue.ul_packets)
    assert (report.downlink, report.downlink_packets) == (ue.dl_bytes, ue.dl_packets)
    assert report.total == report.uplink + report.downlink > 0


def test_ping_and_tcp(upf, attached):
    session, ue = attached()
    sent, answered = traffic.ping(ue.ns, DN, size=1000, count=10)
    assert answered == sent
    for server, client, address in ((upf.dn, ue.ns, DN), (ue.ns, upf.dn, ue.v4)):
        sent, received = traffic.tcp_transfer(server, client, address, 1 << 20, window=WINDOW)
        assert received == sent
    assert ue.qfis == {1}, "the QER's QFI goes with every packet"
    accounted(upf, session, ue)


def test_ipv6(upf, attached):
    """IPv4v6 session: both families of one UE, one bucket, one usage."""
    session, ue = attached(v6=True, downlink=8)
    for address in (DN, DN_6):
        sent, answered = traffic.ping(ue.ns, address, size=500, count=5)
        assert answered == sent
    sent, received = traffic.tcp_transfer(upf.dn, ue.ns, DN_6, 1 << 20, window=WINDOW)
    assert received == sent
    accounted(upf, session, ue)


def test_outer_ipv6(upf, attached):
    """N3 over IPv6: outer header creation and removal of either family."""
    session, ue = attached(gnb=GNB_6, downlink=9)
    ue.uplink = session.tunnels6[1]
    assert ue.uplink[1] == N3_6
    sent, answered = traffic.ping(ue.ns, DN, size=200, count=5)
    assert answered == sent
    accounted(upf, session, ue)


def test_own_addresses_answer(upf):
    """ICMP to what is ours, from either side."""
    for ns, own in ((upf.gnb_ns, N3), (upf.gnb_ns, N3_6), (upf.dn, N6), (upf.dn, N6_6)):
        sent, answered = traffic.ping(ns, own, size=56, count=3)
        assert answered == sent, own


def test_echo(gnb):
    """TS 29.281 §7.2.1: answered over both families, with the number of the request."""
    for own in (N3, N3_6):
        gnb.send_raw(own, gtpu.make(gtpu.ECHO_REQUEST, 0, seq=4711))
        answer = gnb.receive(gtpu.ECHO_RESPONSE)
        assert (answer.seq, answer.teid, answer.ies()[14]) == (4711, 0, b"\0")


def test_a_spoofed_source_is_dropped(upf, gnb, smf):
    """An inner source that is not the UE's goes nowhere and is not counted."""
    session = pdu_session(smf, *URRS, urrs=(1,))
    before = upf.drops()["upf_match_spoofed"]
    own = session.ue[1][0]
    with netns.inside(upf.dn):
        heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    heard.bind((DN, 5000))
    heard.settimeout(10)
    with heard:
        for source in ("10.45.99.99", "192.0.2.1", own):
            packet = IP(src=source, dst=DN) / UDP(sport=1, dport=5000) / source.encode()
            gnb.send(session.tunnels[1], bytes(packet))
        assert heard.recv(100) == own.encode()
    (report,) = usage.reports(session.delete())
    assert report.uplink_packets == 1
    assert upf.drops()["upf_match_spoofed"] == before + 2


def test_an_unknown_tunnel_gets_an_error_indication(gnb, smf):
    """TS 29.281 §7.3.1: TEID and our address; rate-limited."""
    session = pdu_session(smf)
    session.delete()
    packet = bytes(IP(src="10.45.0.9", dst=DN) / UDP())
    gnb.send(session.tunnels[1], packet)
    answer = gnb.receive(gtpu.ERROR_INDICATION)
    found = answer.ies()
    assert int.from_bytes(found[16]) == session.tunnels[1][0]
    assert found[133] == socket.inet_aton(N3)


def test_an_unknown_extension_header(gnb, smf):
    """TS 29.281 §5.2.1, §7.2.3: one that must be understood gets the list of ours."""
    session = pdu_session(smf)
    head = bytes.fromhex("34ff001c") + session.tunnels[1][0].to_bytes(4) + b"\0\0\0\xc7"
    gnb.send_raw(N3, head + b"\1\0\0\0" + bytes(20))
    assert 0x85 in gnb.receive(gtpu.NOTIFICATION).ies()[141]
    session.delete()


def test_fragments(upf, gnb, attached):
    """Outer fragments are put together; what is larger than the MTU of a link is fragmented."""
    session, ue = attached(downlink=13)
    sent, answered = traffic.ping(ue.ns, DN, size=1372, count=3)
    assert answered == sent, "1400 B of the UE are 1444 B on N3"
    with netns.inside(upf.dn):
        heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        raw = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    heard.bind((DN, 5001))
    heard.settimeout(10)
    ue.keep = []
    with heard, raw:
        # Up: 1500 B in the tunnel; the gNB's kernel fragments the outer packet.
        data = random.randbytes(1472)
        packet = IP(src=session.ue[1][0], dst=DN) / UDP(sport=1, dport=5001) / data
        gnb.send(session.tunnels[1], bytes(packet))
        assert heard.recv(2000) == data
        # Down: 1500 B that have no room in 1500 B with a tunnel around.
        raw.sendto(data, (session.ue[1][0], 5002))
        until = time.monotonic() + 10
        while not ue.keep and time.monotonic() < until:
            time.sleep(0.02)
    assert b"".join(ue.keep)[28:] == data, "outer fragments reached the gNB's kernel"
    session.delete()


def test_senders_learn_the_mtu(make_upf):
    """`oversize: too_big`: hosts of the internet take the ICMP errors for what they are (RFC 1191,
    RFC 8201) and send less; who allows fragments is not told."""
    upf = make_upf(oversize="too_big")
    gnb, smf = upf.gnb(), upf.smf()
    smf.associate()
    session = pdu_session(smf, v6=True)
    ue = upf.ue(gnb, session, downlink=7, mtu=1500)
    upf.settle()
    room = 1500 - 20 - 8 - 16  # IPv4, UDP and GTP-U with a container are around
    for family, level, discover, known, to, heads in (
        (socket.AF_INET, socket.IPPROTO_IP, 10, 14, ue.v4, 28),
        (socket.AF_INET6, socket.IPPROTO_IPV6, 23, 24, ue.v6, 48),
    ):
        with netns.inside(upf.dn):
            sock = socket.socket(family, socket.SOCK_DGRAM)
        with sock:
            sock.setsockopt(level, discover, 2)  # IP_PMTUDISC_DO
            sock.connect((to, 9))
            assert sock.getsockopt(level, known) == 1500
            before = ue.dl_packets
            sock.send(bytes(1500 - heads))
            until = time.monotonic() + 10
            while sock.getsockopt(level, known) == 1500 and time.monotonic() < until:
                time.sleep(0.01)
            assert sock.getsockopt(level, known) == room
            with contextlib.suppress(OSError):  # the error that waits
                sock.send(b"")
            sock.send(bytes(room - heads))
            wait(lambda before=before: ue.dl_packets > before)
    with netns.inside(upf.dn):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        sock.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_PMTUDISC_DONT: fragments are fine
        ue.keep = []
        sock.sendto(bytes(range(256)) * 5, (ue.v4, 9))
        sock.sendto(bytes(1472), (ue.v4, 9))
        wait(lambda: sum(map(len, ue.keep)) >= 1280 + 1472)
    assert upf.drops()["upf_out_too_big"] == 2
    sent, received = traffic.tcp_transfer(ue.ns, upf.dn, ue.v4, 1 << 20, window=WINDOW)
    assert received == sent
    session.delete()


def wait(what) -> None:
    until = time.monotonic() + 10
    while not what() and time.monotonic() < until:
        time.sleep(0.01)
    assert what()


def test_filters_by_spi_and_flow_label(upf, gnb, smf):
    """§5.2.1A, §8.2.5: Security Parameter Index of ESP and AH, flow label of IPv6."""
    filters = [
        ies.pdr(
            number,
            ies.pdi(
                ies.CORE,
                ies.network_instance("internet"),
                ies.choose_ue_ip(v4=True, v6=True, destination=True),
                ies.sdf("permit out ip from any to assigned", **what),
            ),
            far=2,
            precedence=number,
            qers=[number],
        )
        for number, what in ((5, {"spi": 0xDEADBEEF}), (6, {"label": 0xABCDE}))
    ]
    session = pdu_session(smf, *filters, ies.qer(5, qfi=5), ies.qer(6, qfi=6), v6=True, teid=16)
    v4, v6 = session.ue[1]
    v6 += "1"
    esp = (0xDEADBEEF).to_bytes(4) + bytes(12)
    ah = bytes([17, 4, 0, 0]) + (0xDEADBEEF).to_bytes(4) + bytes(16) + bytes(UDP())
    for packet, qfi in (
        (IP(src=DN, dst=v4, proto=50) / esp, 5),
        (IP(src=DN, dst=v4, proto=51) / ah, 5),
        (IP(src=DN, dst=v4, proto=50) / (esp[1:] + b"x"), 1),
        (IP(src=DN, dst=v4) / UDP() / esp, 1),
        (IPv6(src=DN_6, dst=v6, nh=50) / esp, 5),
        (IPv6(src=DN_6, dst=v6, fl=0xABCDE) / UDP(), 6),
        (IPv6(src=DN_6, dst=v6, fl=0xABCDF) / UDP(), 1),
        (IPv6(src=DN_6, dst=v6, fl=0xABCDE, nh=50) / esp, 5),
    ):
        octets = bytes(packet)
        with netns.inside(upf.dn):
            wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        with wire:
            kind = 0x0800 if octets[0] >> 4 == 4 else 0x86DD
            wire.sendto(octets, ("n6", kind, 0, 0, bytes.fromhex("020000000601")))
        got = gnb.receive(which=lambda m: m.teid == 16)
        assert (got.payload[40:] or None, got.qfi) == (octets[40:] or None, qfi), packet
    session.delete()


def test_flow_filters_by_precedence(upf, attached):
    """§5.2.1A: of PDRs that match the lowest precedence counts, not the order they came in."""
    session, ue = attached(
        ies.pdr(
            5,
            ies.pdi(
                ies.CORE,
                ies.network_instance("internet"),
                ies.choose_ue_ip(v4=True, destination=True),
                ies.sdf("permit out 17 from any 6000-6010 to assigned"),
            ),
            far=2,
            precedence=10,
            qers=[5],
        ),
        ies.pdr(
            6,
            ies.pdi(
                ies.CORE,
                ies.network_instance("internet"),
                ies.choose_ue_ip(v4=True, destination=True),
                ies.sdf("permit out 17 from any 6005 to assigned"),
            ),
            far=2,
            precedence=5,
            qers=[6],
        ),
        ies.qer(5, qfi=5),
        ies.qer(6, qfi=6),
        downlink=14,
    )
    for port, qfi in ((6000, 5), (6005, 6), (7000, 1)):
        ue.qfis.clear()
        with netns.inside(upf.dn):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.bind((DN, port))
        sender.sendto(b"x", (session.ue[1][0], 9))
        sender.close()
        until = time.monotonic() + 10
        while not ue.qfis and time.monotonic() < until:
            time.sleep(0.01)
        assert ue.qfis == {qfi}, port
    session.delete()


def test_what_comes_down(gnb, smf):
    """One packet up by hand, its echo down: the tunnel is the session's, the QFI ours."""
    session = pdu_session(smf, teid=15, v6=True)
    v4, v6 = session.ue[1]
    packet = bytes(IP(src=v4, dst=DN) / ICMP(id=1) / b"hello")
    gnb.send(session.tunnels[1], packet)
    answer = gnb.receive(which=lambda m: m.teid == 15)
    assert (answer.qfi, answer.payload[-5:]) == (1, b"hello")
    packet = bytes(IPv6(src=v6 + "1", dst=DN_6) / ICMPv6EchoRequest(id=1, data=b"hello"))
    gnb.send(session.tunnels[1], packet)
    answer = gnb.receive(which=lambda m: m.teid == 15)
    assert (answer.qfi, answer.payload[-5:]) == (1, b"hello")
    session.delete()
