# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of each process under traffic: no answered session is lost, no octet counted twice."""

import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import netns, traffic, usage
from harness import pfcp_ies as ies
from harness.upf import DN, pdu_session
from harness.wait import until

URR = ies.urr(1, methods=["VOLUM", "DURAT"])


@pytest.fixture
def served(make_upf):
    unit = make_upf()
    smf, gnb = unit.smf(), unit.gnb()
    smf.associate()
    session = pdu_session(smf, URR, urrs=(1,))
    return unit, smf, session, unit.ue(gnb, session, downlink=7)


@pytest.mark.slow
def test_the_agent_is_killed(served):
    """Traffic goes on while it is away; back, it knows its sessions and answers as before."""
    unit, smf, session, ue = served
    stamp = smf.heartbeat()
    others = [pdu_session(smf) for _ in range(50)]
    with ThreadPoolExecutor() as pool:
        flow = pool.submit(traffic.ping, ue.ns, DN, size=500, count=60)
        time.sleep(0.4)
        unit.agent.kill()
        sent, answered = flow.result()
    assert answered == sent
    unit.start_agent()
    assert smf.heartbeat() == stamp, "no session was lost"
    assert len(unit.agent.sessions()) == 51
    session.modify(ies.qer(1, qfi=2, update=True))
    sent, answered = traffic.ping(ue.ns, DN, size=500, count=5)
    assert answered == sent
    assert ue.qfis == {1, 2}
    (report,) = usage.reports(session.delete())
    assert (report.seqn, report.uplink, report.downlink) == (0, ue.ul_bytes, ue.dl_bytes)
    for one in others:
        one.delete()


@pytest.mark.slow
def test_the_data_plane_is_killed(make_upf):
    """The agent fills it again: the tunnel is as it was, and of what reached the gNB at most a
    second is not reported, nothing twice."""
    unit = make_upf()
    smf, gnb = unit.smf(), unit.gnb()
    smf.associate()
    session = pdu_session(smf, URR, urrs=(1,), teid=9)
    sink = gnb.sink(9)
    with netns.inside(unit.dn):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((DN, 0))
    stop = threading.Event()

    def pour() -> None:
        while not stop.wait(0.01):
            sock.sendto(bytes(972), (session.ue[1][0], 9))

    thread = threading.Thread(target=pour)
    thread.start()
    try:
        until(lambda: len(sink.times) > 150)
        unit.airpath.kill()
        killed = time.monotonic()
        unit.start_data_plane()
        until(lambda: sink.times[-1] > killed + 1)
    finally:
        stop.set()
        thread.join()
        sock.close()
    time.sleep(0.3)
    (report,) = usage.reports(session.delete())
    before = [t for t in sink.times if t <= killed]
    last_second = sum(t > before[-1] - 1 for t in before)
    assert len(sink.times) - last_second <= report.downlink_packets <= len(sink.times)
    assert report.downlink == report.downlink_packets * 1000


@pytest.mark.slow
def test_a_session_answered_just_before_is_kept(served):
    """kill -9 of the agent right behind its answer; the retransmission gets the same bytes."""
    unit, smf, session, _ = served
    for turn in range(5):
        message = smf.message(
            52, ies.far(1, "FORW", update=True), seid=session.seid, seq=500 + turn
        )
        answer = smf.exchange(message)
        unit.agent.kill()
        unit.start_agent()
        assert smf.exchange(message) == answer
    assert unit.agent.show(session.seid)["version"] == 6


@pytest.mark.slow
def test_the_data_plane_stands_still(served):
    """An answer waits for the workers (§6.4: the request comes again meanwhile) and makes one
    session, not one for each time it was asked for."""
    unit, smf, _, _ = served
    os.kill(unit.airpath.pid, signal.SIGSTOP)
    wake = threading.Timer(5, os.kill, (unit.airpath.pid, signal.SIGCONT))
    wake.start()
    start = time.monotonic()
    try:
        session = pdu_session(smf)  # sent again after 4 s
        assert time.monotonic() - start > 4.5, "nothing is answered before the workers did it"
        assert len(unit.agent.sessions()) == 2
        session.delete()
        assert len(unit.agent.sessions()) == 1
    finally:
        wake.join()
