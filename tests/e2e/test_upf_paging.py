# SPDX-License-Identifier: BSD-3-Clause
"""Buffering, paging, handover and peers that lost a tunnel: TS 29.244 §5.2.3, §5.2.4, §5.10,
TS 29.281 §7.3."""

import os
import socket
import time

import pytest
from harness import gtpu, netns, pfcp
from harness import pfcp_ies as ies
from harness.upf import DN, GNB, N3, pdu_session
from scapy.contrib import pfcp as p


@pytest.fixture(scope="module")
def gnb(upf):
    upf.settle()  # now they are neighbours
    return upf.gnb()


@pytest.fixture
def internet(upf):
    """A UDP socket of the internet's host."""
    with netns.inside(upf.dn):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((DN, 0))
    with sock:
        yield sock


def send(sock, session, numbers) -> None:
    """From one CPU: the kernel keeps an order per CPU only."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    for n in numbers:
        sock.sendto(b"%d" % n, (session.ue[1][0], 9))
    os.sched_setaffinity(0, cpus)


def numbers(gnb, count: int, teid: int) -> list[int]:
    """What comes down a tunnel, in order; end markers are None."""
    got = []
    for _ in range(count):
        message, _ = gnb.inbox.get(timeout=10)
        assert message.teid == teid
        got.append(int(message.payload[28:]) if message.kind == gtpu.G_PDU else None)
    return got


def test_paging(gnb, smf, internet):
    """§5.2.3.1: BUFF and NOCP: buffered, reported once, drained in order."""
    session = pdu_session(smf, ies.bar(1, packets=30), down=("BUFF", "NOCP"), bar=1, gnb=None)
    send(internet, session, range(20))
    report = smf.wait_report(p.IE_DownlinkDataReport)
    assert report.seid == session.cp_seid
    flags = ies.one_of(report, p.IE_ReportType)
    assert (flags.DLDR, flags.USAR) == (1, 0)
    data = ies.one_of(report, p.IE_DownlinkDataReport)
    assert [ie.id for ie in data.IE_list if isinstance(ie, p.IE_PDR_Id)] == [2]
    assert gnb.silence(0.3)
    assert smf.requests.empty(), "one report a buffering period"
    session.modify(ies.far(2, "FORW", to=ies.ACCESS, out=(7, GNB), update=True))
    send(internet, session, range(20, 25))
    assert numbers(gnb, 25, 7) == list(range(25))
    session.modify(ies.far(2, "BUFF", "NOCP", update=True))
    send(internet, session, [25])
    smf.wait_report(p.IE_DownlinkDataReport)
    session.delete()


def test_paging_toward_a_gnb_nobody_has_sent_to(make_upf):
    """§5.2.4: what waited goes first, in order, all of it, and then what comes meanwhile: also
    where the gNB's link address is not known yet, and ARP is answered late."""
    upf = make_upf()
    gnb, smf = upf.gnb(), upf.smf()
    smf.associate()
    with netns.inside(upf.dn):
        internet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    session = pdu_session(smf, ies.bar(1, packets=60), down=("BUFF", "NOCP"), bar=1, gnb=None)
    send(internet, session, range(60))
    smf.wait_report(p.IE_DownlinkDataReport)
    upf.net.run(upf.gnb_ns, ["ip", "link", "set", "n3", "arp", "off"])
    passed = counter(upf, "upf.out_w0", "in")
    session.modify(ies.far(2, "FORW", to=ies.ACCESS, out=(7, GNB), update=True))
    send(internet, session, range(60, 80))
    until = time.monotonic() + 10
    while counter(upf, "upf.out_w0", "in") < passed + 80 and time.monotonic() < until:
        time.sleep(0.01)
    assert gnb.inbox.empty()
    upf.net.run(upf.gnb_ns, ["ip", "link", "set", "n3", "arp", "on"])
    send(internet, session, range(80, 100))
    assert numbers(gnb, 100, 7) == list(range(100))
    session.delete()
    internet.close()
    assert {name: n for name, n in upf.drops().items() if n and "_in_" not in name} == {}


def counter(upf, node: str, what: str) -> int:
    return upf.tell("/airpath/node", node)[what]


def test_paging_waits_for_an_smf_that_is_away(make_upf):
    """TS 23.527 §4.3: the SMF answers neither the report nor heartbeats; back, it is told of what
    still waits, and of nothing that does not."""
    upf = make_upf(heartbeat_s=1)
    upf.settle()
    gnb, smf = upf.gnb(), upf.smf()
    smf.associate()
    waits = pdu_session(smf, ies.bar(1, packets=30), down=("BUFF", "NOCP"), bar=1, gnb=None)
    broken = pdu_session(smf, teid=0xBEEF)
    smf.close()
    with netns.inside(upf.dn):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        send(sock, waits, range(5))
    gnb.send_raw(N3, gtpu.error_indication(0xBEEF, GNB))
    until = time.monotonic() + 60
    while "peer does not answer heartbeats" not in upf.agent.log():
        assert time.monotonic() < until
        time.sleep(0.2)
    back = upf.smf(address=smf.address, recovery=smf.recovery)
    back.peer_seids = smf.peer_seids
    told = {}
    while len(told) < 2:
        report = back.wait_request(pfcp.REPORT, timeout=30)
        flags = ies.one_of(report, p.IE_ReportType)
        told[report.seid] = (flags.DLDR, flags.ERIR)
    assert told == {waits.cp_seid: (1, 0), broken.cp_seid: (0, 1)}
    waits.smf = back
    waits.modify(ies.far(2, "FORW", to=ies.ACCESS, out=(7, GNB), update=True))
    assert numbers(gnb, 5, 7) == list(range(5))
    assert back.requests.empty(), "answered, they are not told again"
    upf.stop()


def test_buffering_is_bounded_and_can_be_dropped(upf, gnb, smf, internet):
    """§5.2.4, §8.2.99: so many packets, the rest dropped by name; DROBU drops what waits."""
    before = upf.drops()
    session = pdu_session(smf, ies.bar(1, packets=5), down=("BUFF",), bar=1)
    send(internet, session, range(8))
    upf.settle()
    assert smf.requests.empty(), "BUFF alone tells nobody"
    session.modify(ies.far(2, "FORW", update=True))
    assert numbers(gnb, 5, 7) == list(range(5))
    session.modify(ies.far(2, "BUFF", update=True))
    send(internet, session, range(3))
    upf.settle()
    session.modify(p.IE_PFCPSMReqFlags(DROBU=1), ies.far(2, "FORW", update=True))
    assert gnb.silence(0.3)
    dropped = upf.drops() - before
    assert dropped["upf_forward_buffer_full"] == 3
    assert dropped["upf_forward_buffer_discarded"] == 3
    session.delete()


def test_end_markers_follow_the_last_packet(upf, gnb, smf, internet):
    """§5.2.2.2.1 SNDEM, TS 29.281 §7.3.2: on the old path, behind all of the old path."""
    session = pdu_session(smf)
    send(internet, session, range(5))
    assert numbers(gnb, 5, 7) == list(range(5))
    send(internet, session, range(5, 10))
    upf.settle()
    session.modify(ies.far(2, to=ies.ACCESS, out=(8, GNB), end_markers=True, update=True))
    send(internet, session, range(10, 15))
    assert numbers(gnb, 6, 7) == [5, 6, 7, 8, 9, None]
    assert numbers(gnb, 5, 8) == list(range(10, 15))
    session.delete()


def test_end_markers_received_are_forwarded(upf, gnb, smf):
    """§5.2.2.2.1: of a session that leads from one tunnel to another, as an I-UPF's."""
    session = smf.establish(
        ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=1, removal=6),
        ies.far(1, "FORW", to=ies.ACCESS, out=(0x77, GNB)),
    )
    gnb.send_raw(N3, gtpu.make(gtpu.END_MARKER, session.tunnels[1][0]))
    assert gnb.receive(gtpu.END_MARKER).teid == 0x77
    session.delete()


def test_an_error_indication_is_reported(gnb, smf, internet):
    """§5.10, §7.5.8.4: the gNB does not know the tunnel; the SMF learns which."""
    session = pdu_session(smf, teid=0xBEEF)
    send(internet, session, [1])
    assert numbers(gnb, 1, 0xBEEF) == [1]
    gnb.send_raw(N3, gtpu.error_indication(0xBEEF, GNB))
    report = smf.wait_report(p.IE_ErrorIndicationReport)
    assert report.seid == session.cp_seid
    assert ies.one_of(report, p.IE_ReportType).ERIR
    (peer,) = ies.all_of(ies.one_of(report, p.IE_ErrorIndicationReport), p.IE_FTEID)
    assert (peer.TEID, peer.ipv4) == (0xBEEF, GNB)
    session.delete()


def test_a_path_that_fails_is_reported(make_upf):
    """TS 29.281 §7.2.1, TS 29.244 §7.4.5.1.2: Echo Requests are answered no more."""
    upf = make_upf(echo={"echo_interval_s": 1, "echo_timeout_ms": 200, "echo_tries": 2})
    gnb, smf = upf.gnb(), upf.smf()
    smf.associate()
    session = pdu_session(smf)
    gnb.receive(gtpu.ECHO_REQUEST)
    gnb.echo = False
    report = smf.wait_request(pfcp.NODE_REPORT)
    failure = ies.one_of(report, p.IE_UserPlanePathFailureReport)
    (peer,) = ies.all_of(failure, p.IE_RemoteGTP_U_Peer)
    assert peer.ipv4 == GNB
    gnb.echo = True
    recovery = smf.wait_request(pfcp.NODE_REPORT)
    assert ies.one_of(recovery, p.IE_UserPlanePathFailureReport) is None
    session.delete()
