# SPDX-License-Identifier: BSD-3-Clause
"""PFD management and applications in rules, TS 29.244 §5.11, §5.19, §6.2.5, §7.4.3: what an SMF
says of applications, and what becomes of packets."""

import json

import pytest
from harness import pfcp, usage
from harness import pfcp_ies as ies
from harness.pfcp import ACCEPTED, PFD_MANAGEMENT
from harness.upf import DN, pdu_session
from scapy.contrib import pfcp as p
from scapy.layers.dns import DNS, DNSQR
from scapy.layers.inet import IP, UDP

REJECTED, INCORRECT, NO_ASSOCIATION, NOT_SUPPORTED = 64, 69, 72, 76
UNKNOWN_RULE, UNKNOWN_APPLICATION = 80, 81
OFFENDING_PFD = 61
QUERY_ALL = p.IE_PFCPSMReqFlags(QUARR=1)
PREDEFINED = [
    {
        "name": "kids",
        "rules": [
            {"filters": [f"permit out 17 from {DN} 4000 to assigned"], "action": "drop"},
            {"filters": [f"permit out 17 from {DN} 4001 to assigned"]},
        ],
    }
]
CHARGING = {"rating_group": 10, "applications": {"video": 20}, "period_s": 0, "sync_ms": 0}


@pytest.fixture(scope="module")
def upf(tmp_path_factory):
    from harness.fixtures import making

    records = tmp_path_factory.mktemp("records")
    with making(tmp_path_factory) as make:
        made = make(
            agent={
                "predefined": PREDEFINED,
                "charging": CHARGING | {"directory": str(records)},
            }
        )
        made.records = records
        yield made


@pytest.fixture(scope="module")
def gnb(upf):
    return upf.gnb()


def manage(smf, *pfds, expect: int = ACCEPTED):
    response = smf.request(PFD_MANAGEMENT, *pfds, ies.node_id(smf.node))
    assert pfcp.cause(response) == expect, response.show(dump=True)
    return response


def in_force(upf) -> dict[str, int]:
    """Applications with how many PFDs they have; the unit has all of them in force."""
    found = upf.agent.applications()
    unit = found["units"][0]
    assert unit["generation"] == found["generation"], unit
    assert not unit.get("error"), unit
    assert unit["rules"] == sum(one["pfds"] for one in found["applications"])
    return {one["id"]: one["pfds"] for one in found["applications"]}


def test_pfds_of_applications(upf, smf):
    """§6.2.5.3: those of the application named are replaced, one without PFDs loses them, a request
    that names none deletes all. The answer comes when the forwarding unit has them."""
    manage(
        smf,
        ies.pfds("video", ies.pfd(domain="video.example"), ies.pfd(domain="*.cdn.example")),
        ies.pfds("dns", ies.pfd(flow="permit out 17 from 9.9.9.9 53 to assigned")),
    )
    assert in_force(upf) == {"video": 2, "dns": 1}
    manage(smf, ies.pfds("video", ies.pfd(url="http://video.example/watch", domain="v.example")))
    assert in_force(upf) == {"video": 2, "dns": 1}
    manage(smf, ies.pfds("dns"))
    assert in_force(upf) == {"video": 2}
    manage(smf)
    assert in_force(upf) == {}


def test_wrong_pfds_change_nothing(upf, smf):
    """§7.4.3.2, §7.6: cause and offending IE; all of a request or nothing of it."""
    manage(smf, ies.pfds("video", ies.pfd(domain="video.example")))
    for cause, wrong in (
        (NOT_SUPPORTED, ies.pfd(custom="x")),
        (INCORRECT, ies.pfd(domain="a/b")),
        (INCORRECT, ies.pfd(flow="permit in")),
        (REJECTED, ies.pfd(url="^(a+)+(b*)*[")),
    ):
        response = manage(smf, ies.pfds("more", ies.pfd(domain="m.example"), wrong), expect=cause)
        assert ies.one_of(response, p.IE_OffendingIE).type == OFFENDING_PFD
        assert in_force(upf) == {"video": 1}
    manage(smf)


def test_pfds_of_strangers(stranger):
    """§6.2.6.1: no association, no PFDs."""
    manage(stranger, ies.pfds("video", ies.pfd(domain="a")), expect=NO_ASSOCIATION)
    response = stranger.request(PFD_MANAGEMENT)
    assert pfcp.cause(response) == NO_ASSOCIATION


def test_a_repeated_request_is_done_once(upf, smf):
    """§6.4."""
    message = smf.message(PFD_MANAGEMENT, ies.pfds("video", ies.pfd(domain="a.example")), seq=0x31)
    first = smf.exchange(message)
    generation = upf.agent.applications()["generation"]
    assert smf.exchange(message) == first
    assert upf.agent.applications()["generation"] == generation
    manage(smf)


def test_unknown_applications_and_rules(smf):
    """Causes 81 and 80, with the rule that failed."""
    for cause, more, inner in (
        (UNKNOWN_APPLICATION, [], [p.IE_ApplicationId(id="nowhere")]),
        (UNKNOWN_RULE, [p.IE_ActivatePredefinedRules(name="nothing")], []),
    ):
        _, response = smf.establish_raw(
            ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose(), *inner), *more, far=1, precedence=1),
            ies.far(1, "FORW", to=ies.CORE, instance="internet"),
        )
        assert pfcp.cause(response) == cause
        failed = ies.one_of(response, p.IE_FailedRuleId)
        assert (failed.type, failed.pdr_id) == (0, 1)


def ask(gnb, session, name: str, port: int) -> int:
    """A DNS query of the UE, its flow told by the port. @return octets"""
    head = IP(src=session.ue[1][0], dst=DN) / UDP(sport=port, dport=53)
    packet = bytes(head / DNS(id=1, rd=1, qd=DNSQR(qname=name)))
    gnb.send(session.tunnels[1], packet, 1)
    return len(packet)


def uplink(upf, session) -> dict[int, int]:
    """Octets since asked last, by URR."""
    upf.settle()
    response = session.modify(QUERY_ALL)
    return {one.urr: one.uplink for one in usage.reports(response)}


def with_application(smf, name: str = "video"):
    """A session with a URR for an application and one for the rest, both ways up."""
    session = pdu_session(smf, ies.urr(1, report=["VOLTH"]), ies.urr(2, report=["VOLTH"]), urrs=[1])
    inner = ies.pdi(
        ies.ACCESS,
        ies.fteid(*session.tunnels[1]),
        ies.ue_ip(session.ue[1][0]),
        p.IE_ApplicationId(id=name),
    )
    session.modify(ies.pdr(3, inner, far=1, precedence=10, removal=6, urrs=[2], qers=[1]))
    return session


def test_new_flows_are_classified(upf, smf, gnb):
    """§5.11: a change of PFDs is for new flows; what a flow was found to be, it stays."""
    manage(smf, ies.pfds("video", ies.pfd(domain="old.example")))
    session = with_application(smf)
    old = ask(gnb, session, "old.example", 1001)
    new = ask(gnb, session, "new.example", 1002)
    assert uplink(upf, session) == {1: new, 2: old}
    manage(smf, ies.pfds("video", ies.pfd(domain="new.example")))
    ask(gnb, session, "old.example", 1001)
    ask(gnb, session, "new.example", 1002)
    assert uplink(upf, session) == {1: new, 2: old}, "flows that are there"
    ask(gnb, session, "old.example", 1003)
    ask(gnb, session, "new.example", 1004)
    assert uplink(upf, session) == {1: old, 2: new}, "new ones"
    session.delete()
    manage(smf)


def plain(gnb, session, port: int, size: int = 300) -> int:
    head = IP(src=session.ue[1][0], dst=DN) / UDP(sport=9, dport=port)
    gnb.send(session.tunnels[1], bytes(head / bytes(size - 28)), 1)
    return size


def test_predefined_rules(upf, smf, gnb):
    """§5.19: activated and deactivated by name, beside dynamic rules; IDs of ours have the bit that
    says so and are not the SMF's to use."""
    session = pdu_session(smf, ies.urr(1, report=["VOLTH"]), ies.urr(2, report=["VOLTH"]), urrs=[1])
    inner = ies.pdi(ies.ACCESS, ies.fteid(*session.tunnels[1]), ies.ue_ip(session.ue[1][0]))
    session.modify(
        ies.pdr(
            3,
            inner,
            p.IE_ActivatePredefinedRules(name="kids"),
            precedence=10,
            removal=6,
            urrs=[2],
            qers=[1],
            far=1,
        )
    )
    before = upf.drops()
    octets = [plain(gnb, session, port, port - 3700) for port in (4000, 4001, 4002)]
    got = uplink(upf, session)
    assert got[1] == octets[2]
    assert got[2] >= octets[1]
    assert (upf.drops() - before)["upf_forward_far"] == 1, upf.drops() - before
    session.modify(ies.pdr(3, p.IE_DeactivatePredefinedRules(name="kids"), update=True))
    octets = [plain(gnb, session, port, port - 3700) for port in (4000, 4001, 4002)]
    assert uplink(upf, session)[2] == sum(octets), "the PDR is one without rules now"
    session.modify(
        ies.pdr(3, p.IE_DeactivatePredefinedRules(name="kids"), update=True), expect=UNKNOWN_RULE
    )
    session.delete()


def records(upf, session) -> dict[int, tuple[int, int]]:
    """Octets up and down by rating group, over all records of a session; numbers rise by one."""
    upf.agent.say("status")
    lines = []
    for file in sorted(upf.records.iterdir()):
        lines += [json.loads(line) for line in file.read_text().splitlines()]
    numbers = [one["record"] for one in lines]
    assert numbers == list(range(1, len(numbers) + 1))
    sums: dict[int, tuple[int, int]] = {}
    for one in lines:
        if one["session"] == hex(session.seid):
            up, down = sums.get(one["rating_group"], (0, 0))
            sums[one["rating_group"]] = up + one["uplink_octets"], down + one["downlink_octets"]
    return sums


def test_charging_records(upf, smf, gnb):
    """Octets by rating group are what the UE sent, over queries and the end of the agent by
    kill -9."""
    manage(smf, ies.pfds("video", ies.pfd(domain="video.example")))
    session = with_application(smf)
    video = other = 0
    for turn in range(3):
        for n in range(10):
            video += ask(gnb, session, "video.example", 2000 + 10 * turn + n)
            other += plain(gnb, session, 5000 + n)
        upf.settle()
        if turn == 0:
            session.modify(QUERY_ALL)
        elif turn == 1:
            upf.agent.kill()
            upf.start_agent()
    session.delete()
    upf.agent.stop()
    upf.start_agent()
    got = records(upf, session)
    assert {group: up for group, (up, _) in got.items()} == {10: other, 20: video}
