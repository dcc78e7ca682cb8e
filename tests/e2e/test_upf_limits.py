# SPDX-License-Identifier: BSD-3-Clause
"""Gates, GBR, thresholds and quotas: TS 29.244 §5.2.2, §5.4. Rates are test_upf_rates.py's."""

import re
import socket
import time

import pytest
from harness import netns, usage
from harness import pfcp_ies as ies
from harness.gnb import SO_RCVBUFFORCE
from harness.upf import DN, pdu_session
from harness.wait import until
from scapy.contrib import pfcp as p
from scapy.layers.inet import IP, UDP

SIZE = 1000  # octets of an IP packet


@pytest.fixture(scope="module")
def gnb(upf):
    return upf.gnb()


@pytest.fixture
def internet(upf):
    with netns.inside(upf.dn):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    sock.bind((DN, 0))
    sock.settimeout(1)
    with sock:
        yield sock


def packet(session, sock, size: int = SIZE) -> bytes:
    head = IP(src=session.ue[1][0], dst=DN) / UDP(sport=9, dport=sock.getsockname()[1])
    return bytes(head / bytes(size - 28))


def above_gbr(upf, session) -> list[int]:
    """Octets, up and down, of the one QER with a GBR."""
    (text,) = upf.tell("/airpath/upf/session", session.seid)["gbrs"]
    return [int(n) for n in re.findall(r"(\d+) octets", text)]


def test_gbr_colours(upf, gnb, smf, internet):
    """§5.4.2, §8.2.9: all within the MBR passes; what is above the GBR is counted, not dropped."""
    rate, burst = 800, 16384  # kbps; octets at once
    session = pdu_session(smf, ies.qer(2, gbr=(rate, rate)), qers=(1, 2), teid=0x26)
    down, start, before = gnb.sink(0x26), time.monotonic(), upf.drops()
    for _ in range(100):
        internet.sendto(bytes(SIZE - 28), (session.ue[1][0], 9))
    upf.settle()
    assert len(down.sizes) == 100, "without MBR all of it"
    up, above = above_gbr(upf, session)
    green = burst + (time.monotonic() - start) * rate * 125
    assert 100 * SIZE - green <= above <= 100 * SIZE - burst + SIZE
    assert up == 0
    session.modify(ies.qer(2, gbr=(rate, rate), mbr=(2 * rate, 2 * rate), update=True))
    octets = packet(session, internet)
    for _ in range(100):
        gnb.send(session.tunnels[1], octets)
    upf.settle()
    dropped = (upf.drops() - before)["upf_police_rate"]
    assert dropped > 0
    up, _ = above_gbr(upf, session)
    assert up <= (100 - dropped) * SIZE
    session.delete()


def test_gates_and_mbr_zero(upf, gnb, smf, internet):
    """§5.4.2, §8.2.8: a closed gate and a rate of 0 block their direction alone."""
    session = pdu_session(smf, ies.qer(2, gate=(1, 0)), qers=(1, 2), teid=0x23)
    octets = packet(session, internet)
    for change, up, down in (
        (None, False, True),
        (ies.qer(2, gate=(0, 1), update=True), True, False),
        (ies.qer(2, gate=(0, 0), mbr=(0, 1000), update=True), False, True),
        (ies.qer(2, gate=(0, 0), mbr=(1000, 0), update=True), True, False),
    ):
        if change is not None:
            session.modify(change)
        gnb.send(session.tunnels[1], octets)
        internet.settimeout(10 if up else 0.3)
        try:
            internet.recv(2000)
            assert up
        except TimeoutError:
            assert not up
        internet.sendto(b"x", (session.ue[1][0], 9))
        assert gnb.silence(0.3 if not down else 10) is not down
    session.delete()


def test_a_quota_stops_traffic(upf, gnb, smf, internet):
    """§5.2.2.2: VOLQU is reported and what comes then is dropped, until there is a new quota."""
    rule = ies.urr(1, report=["VOLQU"], quota={"downlink": 10 * SIZE})
    session = pdu_session(smf, rule, urrs=(1,), teid=0x24)
    down = gnb.sink(0x24)

    def send(count: int) -> None:
        for _ in range(count):
            internet.sendto(bytes(SIZE - 28), (session.ue[1][0], 9))

    send(30)
    (report,) = usage.reports(smf.wait_report(p.IE_UsageReport_SRR))
    assert (report.urr, report.seqn) == (1, 0)
    assert "VOLQU" in report.triggers
    upf.settle()
    passed = len(down.sizes)
    assert passed in (10, 11), "the packet that exceeds it may pass"
    assert report.downlink == passed * SIZE
    session.modify(ies.urr(1, methods=(), quota={"downlink": 5 * SIZE}, update=True))
    send(30)
    (report,) = usage.reports(smf.wait_report(p.IE_UsageReport_SRR))
    assert report.seqn == 1
    upf.settle()
    assert len(down.sizes) - passed in (5, 6)
    (last,) = usage.reports(session.delete())
    assert last.downlink == len(down.sizes) * SIZE - report.downlink - passed * SIZE


def test_a_time_quota_stops_traffic(upf, gnb, smf, internet):
    """§5.2.2.2, §8.2.51: TIMQU is reported when the time is used up, without any packet, and what
    comes then is dropped, until there is a new quota."""
    methods = ["VOLUM", "DURAT"]
    rule = ies.urr(1, p.IE_TimeQuota(quota=1), methods=methods, report=["TIMQU"])
    session = pdu_session(smf, rule, urrs=(1,), teid=0x26)
    down = gnb.sink(0x26)

    def send(count: int) -> None:
        for _ in range(count):
            internet.sendto(bytes(SIZE - 28), (session.ue[1][0], 9))
        upf.settle()

    passed = 0
    for seqn in (0, 1):
        send(3)  # the first of them starts the clock
        (report,) = usage.reports(smf.wait_report(p.IE_UsageReport_SRR))
        assert (report.urr, report.seqn, report.triggers) == (1, seqn, {"TIMQU"})
        assert report.duration >= 1
        assert 0 < len(down.sizes) - passed <= 3
        passed, dropped = len(down.sizes), upf.drops()["upf_police_quota"]
        send(5)
        assert len(down.sizes) == passed
        assert upf.drops()["upf_police_quota"] - dropped == 5
        session.modify(ies.urr(1, p.IE_TimeQuota(quota=1), methods=(), update=True))
    session.delete()


def test_a_quota_ends_with_its_validity(upf, gnb, smf, internet):
    """§5.2.2.2, §8.2.132: QUVTI once the Quota Validity Time is over, with what was used of it;
    traffic goes on until the CP function acts."""
    validity = ies.raw(181, (1).to_bytes(4))
    rule = ies.urr(1, validity, report=["VOLQU", "QUVTI"], quota={"total": 1000 * SIZE})
    session = pdu_session(smf, rule, urrs=(1,), teid=0x27)
    down = gnb.sink(0x27)

    def send(count: int) -> None:
        for _ in range(count):
            internet.sendto(bytes(SIZE - 28), (session.ue[1][0], 9))
        upf.settle()

    send(3)
    (report,) = usage.reports(smf.wait_report(p.IE_UsageReport_SRR))
    assert (report.urr, report.seqn, report.triggers) == (1, 0, {"QUVTI"})
    send(2)
    (last,) = usage.reports(session.delete())
    assert len(down.sizes) == 5
    assert report.downlink + last.downlink == 5 * SIZE
    assert smf.requests.empty(), "told once"


def test_thresholds_report_and_go_on(upf, gnb, smf, internet):
    """§5.2.2.2: volume threshold, start of traffic, periodic; nothing is counted twice or lost."""
    rules = [
        ies.urr(1, report=["VOLTH"], threshold={"total": 10 * SIZE}),
        ies.urr(2, p.IE_MeasurementPeriod(period=1), report=["PERIO"], methods=["VOLUM", "DURAT"]),
        ies.urr(3, methods=["EVENT"], report=["START"]),
    ]
    session = pdu_session(smf, *rules, urrs=(1, 2, 3), teid=0x25)
    down = gnb.sink(0x25)
    for _ in range(35):
        internet.sendto(bytes(SIZE - 28), (session.ue[1][0], 9))
        time.sleep(0.03)
    reports = []

    def told() -> bool:
        while not smf.requests.empty():
            reports.extend(usage.reports(smf.requests.get()))
        return sum("PERIO" in r.triggers for r in reports) >= 2

    until(told, seen=lambda: reports)
    last = usage.reports(session.delete())
    told()  # of what came before the answer
    reports += last
    assert len(down.sizes) == 35
    for number in (1, 2):
        mine = [r for r in reports if r.urr == number]
        assert [r.seqn for r in mine] == list(range(len(mine)))
        assert sum(r.downlink for r in mine) == 35 * SIZE
    assert sum("VOLTH" in r.triggers for r in reports) == 3
    assert sum("PERIO" in r.triggers for r in reports) >= 2
    assert [r.urr for r in reports if "START" in r.triggers] == [3]
