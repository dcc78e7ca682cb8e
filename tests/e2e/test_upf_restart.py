# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of each process under traffic: no answered session is lost, no octet counted twice."""

import json
import time

import pytest
from harness import pfcp_ies as ies
from harness import traffic, usage
from harness.upf import DN, pdu_session

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
    unit.agent.kill()
    sent, answered = traffic.ping(ue.ns, DN, size=500, count=10)
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
def test_the_data_plane_is_killed(served):
    """The agent fills it again: TEIDs stay, at most a second of usage is missing."""
    unit, smf, session, ue = served
    sent, answered = traffic.ping(ue.ns, DN, size=500, count=10)
    assert answered == sent
    time.sleep(1.2)  # a checkpoint is made every half second
    unit.airpath.kill()
    unit.start_data_plane()
    until = time.monotonic() + 20
    while not json.loads(unit.agent.say("status", "--json"))["units"][0]["connected"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    time.sleep(0.5)  # it is filled
    sent, answered = traffic.ping(ue.ns, DN, size=500, count=5)
    assert answered == sent
    assert smf.heartbeat()
    (report,) = usage.reports(session.delete())
    assert report.uplink <= ue.ul_bytes
    assert report.downlink == ue.dl_bytes


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
