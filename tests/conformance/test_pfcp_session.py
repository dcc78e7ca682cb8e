# SPDX-License-Identifier: BSD-3-Clause
"""PFCP sessions, TS 29.244 §5.2, §5.5, §5.21, §6.3, §7.5: what is made, kept and freed."""

import ipaddress

import pytest
from harness import pfcp, usage
from harness import pfcp_ies as ies
from harness.pfcp import ACCEPTED
from harness.upf import GNB, N3, N3_6, POOL, POOL_6, pdu_session
from scapy.contrib import pfcp as p

NOT_FOUND, BAD_FTEID, NO_ASSOCIATION, RULE_FAILURE = 65, 71, 72, 73
METRICS = "127.0.0.7:9100"
PDR, FAR, QER, URR, BAR = range(5)  # Rule ID Type, §8.2.80


def uplink(number, *more, far=1, fteid=None, **options):
    """A PDR of N3 that leads to N6."""
    return ies.pdr(
        number,
        ies.pdi(ies.ACCESS, fteid or ies.choose(), *more),
        far=far,
        precedence=options.pop("precedence", number),
        removal=6,
        **options,
    )


CORE_FAR = ies.far(1, "FORW", to=ies.CORE, instance="internet")


def failed_rule(response) -> tuple[int, int]:
    rule = ies.one_of(response, p.IE_FailedRuleId)
    assert rule is not None, response.show(dump=True)
    names = ("pdr_id", "far_id", "qer_id", "urr_id", "bar_id")
    return rule.type, getattr(rule, names[rule.type])


def rule(session, kind: str, number: int) -> dict:
    """A rule of `airpath-n4 sessions show`."""
    (found,) = [r for r in session.smf.show(session.seid)[kind] if r["ID"] == number]
    return found


@pytest.fixture(autouse=True)
def _showing(upf, smf):
    smf.show = upf.agent.show


def test_establishment(upf, smf):
    """§6.3.2, §7.5.3: Node ID, UP F-SEID, and an F-TEID for each PDR that asked for one."""
    session = pdu_session(smf)
    response = session.response
    assert response.seid == session.cp_seid
    assert ies.one_of(response, p.IE_NodeId).ipv4 == "127.0.0.7"
    f_seid = ies.one_of(response, p.IE_FSEID)
    assert (f_seid.v4, f_seid.ipv4) == (1, "127.0.0.7")
    assert session.seid != 0
    assert set(session.tunnels) == {1}
    teid, address = session.tunnels[1]
    assert address == N3
    assert teid & 0xFF, "a generation is never 0"
    (listed,) = [s for s in upf.agent.sessions() if s["up_seid"] == session.seid]
    assert (listed["cp_seid"], listed["teids"], listed["pdrs"]) == (session.cp_seid, [teid], 2)
    session.delete()
    assert session.seid not in {s["up_seid"] for s in upf.agent.sessions()}


def test_deletion_of_an_unknown_session(smf):
    """§7.2.2.4.2: cause 65 under SEID 0."""
    response = smf.request(pfcp.DELETION, seid=0xDEAD)
    assert (pfcp.cause(response), response.seid) == (NOT_FOUND, 0)
    response = smf.request(pfcp.MODIFICATION, ies.far(1, "DROP", update=True), seid=0xDEAD)
    assert (pfcp.cause(response), response.seid) == (NOT_FOUND, 0)


# --- F-TEIDs, §5.5 ---


def test_chosen_f_teids_are_shared_by_choose_id(smf):
    """§5.5.3, §8.2.3: the same CHOOSE ID, the same F-TEID; without one, one each."""
    session = smf.establish(
        uplink(1, fteid=ies.choose(5)),
        uplink(2, fteid=ies.choose(5)),
        uplink(3, fteid=ies.choose(6)),
        uplink(4),
        uplink(5),
        CORE_FAR,
    )
    tunnels = session.tunnels
    assert set(tunnels) == {1, 2, 3, 4, 5}
    assert tunnels[1] == tunnels[2]
    assert len(set(tunnels.values())) == 4
    session.delete()


def test_f_teids_of_both_families(smf):
    """§8.2.3: V4 and V6 under CH ask for either or both; one TEID."""
    session = smf.establish(
        uplink(1, fteid=ies.choose(v4=True, v6=True)),
        uplink(2, fteid=ies.choose(v4=False, v6=True)),
        CORE_FAR,
    )
    assert session.tunnels[1][1] == N3
    assert session.tunnels6[1] == (session.tunnels[1][0], N3_6)
    assert 2 not in session.tunnels
    assert session.tunnels6[2][1] == N3_6
    session.delete()


def test_f_teids_are_freed(upf, smf):
    """§5.5.3: with the last PDR that has them, and by deletion; none comes back at once."""
    session = smf.establish(
        uplink(1, fteid=ies.choose(1)), uplink(2, fteid=ies.choose(1)), uplink(3), CORE_FAR
    )
    shared, other = session.tunnels[1][0], session.tunnels[3][0]

    def teids() -> list[int]:
        return sorted(smf.show(session.seid)["teids"])

    assert teids() == sorted([shared, other])
    session.modify(ies.remove(p.IE_RemovePDR, 1))
    assert teids() == sorted([shared, other]), "PDR 2 still has it"
    session.modify(ies.remove(p.IE_RemovePDR, 2))
    assert teids() == [other]
    session.modify(uplink(4))
    assert session.tunnels[4][0] not in (shared, other)
    used = set(teids())
    session.delete()
    again = [pdu_session(smf) for _ in range(5)]
    assert used.isdisjoint(teid for one in again for teid in (one.tunnels[1][0],))
    for one in again:
        one.delete()


def test_f_teids_of_the_cp_function_are_refused(smf):
    """§5.5.1: the UP function allocates (FTUP)."""
    _, response = smf.establish_raw(uplink(1, fteid=ies.fteid(0x1234, N3)), CORE_FAR)
    assert pfcp.cause(response) == BAD_FTEID
    session = pdu_session(smf)
    session.modify(uplink(9, fteid=ies.fteid(0x1234, N3)), expect=BAD_FTEID)
    assert [r["ID"] for r in smf.show(session.seid)["pdr_rules"]] == [1, 2]
    session.delete()


# --- UE IP addresses, §5.21 ---


def test_ue_addresses_are_allocated(smf):
    """§5.21.1, §8.2.62: CHV4 and CHV6; the addresses are the session's."""
    session = pdu_session(smf, v6=True)
    v4, v6 = session.ue[1]
    assert ipaddress.ip_address(v4) in ipaddress.ip_network(POOL)
    assert ipaddress.ip_address(v6) in ipaddress.ip_network(POOL_6)
    assert session.ue.get(2, session.ue[1]) == session.ue[1]
    others = [pdu_session(smf, v6=True) for _ in range(20)]
    for at in (0, 1):
        assert len({one.ue[1][at] for one in [session, *others]}) == 21
    for one in [session, *others]:
        one.delete()


def test_ue_addresses_of_the_cp_function(smf):
    """§5.21.1: the CP function may choose them itself."""
    session = pdu_session(smf, ue=ies.ue_ip("10.45.200.7", "2001:db8:45:1::"))
    shown = smf.show(session.seid)
    assert (shown["ipv4"], shown["ipv6"]) == ("10.45.200.7", "2001:db8:45:1::")
    session.delete()


# --- modification, §6.3.3 ---


def test_an_update_keeps_what_it_does_not_name(smf):
    """§5.2.1, §7.5.4: of every kind of rule."""
    session = pdu_session(
        smf,
        ies.qer(2, mbr=(1000, 2000), gbr=(64, 128), qfi=9),
        ies.urr(1, report=["VOLTH"], threshold={"total": 1000}, methods=["VOLUM", "DURAT"]),
        ies.bar(1, packets=10, delay=2),
        qers=(1, 2),
        urrs=(1,),
    )

    def state() -> dict:
        shown = smf.show(session.seid)
        kinds = ("pdr_rules", "far_rules", "qer_rules", "urr_rules", "bar_rules")
        return {(kind, r["ID"]): r for kind in kinds for r in shown[kind]}

    before = state()
    session.modify(
        ies.pdr(1, precedence=50, update=True),
        ies.far(2, out=(8, GNB), update=True),
        ies.qer(2, gate=None, mbr=(5000, 5000), update=True),
        ies.urr(1, methods=(), threshold={"total": 77}, update=True),
        p.IE_Update_BAR_SMR(
            IE_list=[p.IE_BAR_Id(id=1), p.IE_SuggestedBufferingPacketsCount(count=20)]
        ),
    )
    after = state()
    assert set(after) == set(before)
    named = {
        ("pdr_rules", 1): {"Precedence"},
        ("far_rules", 2): {"Forwarding"},
        ("qer_rules", 2): {"MBR"},
        ("urr_rules", 1): {"VolumeThreshold"},
        ("bar_rules", 1): None,
    }
    for key, old in before.items():
        changed = {field for field, value in old.items() if after[key][field] != value}
        if named.get(key, ()) is None:
            assert len(changed) == 1
        else:
            assert changed == named.get(key, set()), key
    forwarding = after["far_rules", 2]["Forwarding"]
    assert forwarding["Destination"] == ies.ACCESS, "only Outer Header Creation was named"
    assert forwarding["OuterHeaderCreation"]["TEID"] == 8
    session.delete()


def test_modification_is_all_or_nothing(smf):
    """§5.2.1, §6.3.3.2: the failed rule is named and nothing of the request is done."""
    session = pdu_session(smf)
    before = smf.show(session.seid)
    response = session.modify(
        ies.far(2, "DROP", update=True),
        ies.pdr(3, ies.pdi(ies.CORE), far=77, precedence=5),
        ies.qer(1, gate=(1, 1), update=True),
        expect=RULE_FAILURE,
    )
    assert failed_rule(response) == (PDR, 3)
    assert smf.show(session.seid) == before
    session.modify(ies.far(2, "DROP", update=True))
    assert smf.show(session.seid) != before
    session.delete()


UNKNOWN = [
    (ies.pdr(99, precedence=1, update=True), (PDR, 99)),
    (ies.far(99, "DROP", update=True), (FAR, 99)),
    (ies.qer(99, update=True), (QER, 99)),
    (ies.urr(99, methods=(), threshold={"total": 1}, update=True), (URR, 99)),
    (ies.remove(p.IE_RemovePDR, 99), (PDR, 99)),
    (ies.remove(p.IE_RemoveFAR, 99), (FAR, 99)),
    (ies.remove(p.IE_RemoveQER, 99), (QER, 99)),
    (ies.remove(p.IE_RemoveURR, 99), (URR, 99)),
    (ies.remove(p.IE_Remove_BAR, 99), (BAR, 99)),
]


@pytest.mark.parametrize(("change", "failed"), UNKNOWN, ids=lambda v: getattr(v, "name", str(v)))
def test_unknown_rules_are_named(smf, change, failed):
    """§7.5.5, cause 73 with the Failed Rule ID."""
    session = pdu_session(smf)
    response = session.modify(change, expect=RULE_FAILURE)
    assert failed_rule(response) == failed
    session.delete()


REFERENCES = {
    "no such FAR": ([uplink(1, far=9), CORE_FAR], (PDR, 1)),
    "no such QER": ([uplink(1, qers=[9]), CORE_FAR], (PDR, 1)),
    "no such URR": ([uplink(1, urrs=[9]), CORE_FAR], (PDR, 1)),
    "not a flow description": (
        [uplink(1, ies.sdf("permit out ip from nonsense")), CORE_FAR],
        (PDR, 1),
    ),
    "lawful interception": ([uplink(1), ies.far(1, "FORW", to=4)], (FAR, 1)),
    "no such BAR": ([uplink(1), ies.far(1, "BUFF", bar=9)], (FAR, 1)),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_an_establishment_with_a_broken_rule_makes_nothing(upf, smf, name):
    """§6.3.2.2: neither a session nor an F-SEID, and the rule is named."""
    rules, failed = REFERENCES[name]
    before = upf.agent.sessions()
    _, response = smf.establish_raw(*rules)
    assert pfcp.cause(response) != ACCEPTED
    assert failed_rule(response) == failed
    assert ies.one_of(response, p.IE_FSEID) is None
    assert upf.agent.sessions() == before


def test_a_new_cp_f_seid(smf):
    """§7.5.4.1: responses and reports take the new SEID."""
    session = pdu_session(smf)
    response = session.modify(smf.f_seid(0x9999))
    assert response.seid in (session.cp_seid, 0x9999)
    response = session.modify(ies.far(2, "DROP", update=True))
    assert response.seid == 0x9999
    session.delete()


def foreign_requests(upf) -> int:
    """Requests that another CP function made, as the agent counts them."""
    text = upf.net.run(upf.ns, ["curl", "-s", f"http://{METRICS}/metrics"]).stdout
    lines = [
        one for one in text.splitlines() if one.startswith("airpath_n4_foreign_requests_total{")
    ]
    return sum(int(one.split()[-1]) for one in lines)


def test_a_session_is_its_smfs_alone(make_upf):
    """§6.3.3, §6.3.4, §7.2.2.4.2: for another SMF, associated too, it is not there; whatever the
    source port, and from the address of its CP F-SEID, its own may."""
    upf = make_upf(metrics=METRICS)
    owner, thief = upf.smf(), upf.smf()
    owner.associate()
    thief.associate()
    session = pdu_session(owner)
    before = upf.agent.show(session.seid)
    for kind, rules in (
        (pfcp.MODIFICATION, [ies.far(2, "DROP", update=True)]),
        (pfcp.MODIFICATION, [ies.address(thief.address, p.IE_FSEID, seid=1)]),
        (pfcp.DELETION, []),
    ):
        response = thief.request(kind, *rules, seid=session.seid)
        assert (pfcp.cause(response), response.seid) == (NOT_FOUND, 0)
    assert thief.release()
    assert upf.agent.show(session.seid) == before
    assert foreign_requests(upf) == 3
    assert "of another CP function" in upf.agent.log()
    entity = upf.smf()  # another address of the SMF, to which it moves the session
    response = entity.request(pfcp.DELETION, seid=session.seid)
    assert pfcp.cause(response) == NO_ASSOCIATION
    session.modify(ies.address(entity.address, p.IE_FSEID, seid=0x77))
    response = entity.request(pfcp.MODIFICATION, ies.far(2, "DROP", update=True), seid=session.seid)
    assert (pfcp.cause(response), response.seid) == (ACCEPTED, 0x77)
    port = upf.smf(address=owner.address, port=9000)
    assert pfcp.cause(port.request(pfcp.DELETION, seid=session.seid)) == ACCEPTED


# --- usage reports in responses, §7.5.5.2, §7.5.7.2 ---


def test_reports_on_request_and_at_the_end(smf):
    """Query URR reports at once (IMMER), removal and deletion at last (TERMR); UR-SEQN from 0."""
    session = pdu_session(smf, ies.urr(1), ies.urr(2), urrs=(1, 2))

    def query(number: int):
        return p.IE_QueryURR(IE_list=[p.IE_URR_Id(id=number)])

    (first,) = usage.reports(session.modify(query(1)))
    (second,) = usage.reports(session.modify(query(1)))
    assert [(r.urr, r.seqn) for r in (first, second)] == [(1, 0), (1, 1)]
    assert "IMMER" in first.triggers
    assert (first.total, first.uplink, first.downlink) == (0, 0, 0)
    removal = session.modify(
        ies.remove(p.IE_RemoveURR, 2),
        ies.pdr(1, p.IE_URR_Id(id=1), update=True),
        ies.pdr(2, p.IE_URR_Id(id=1), update=True),
    )
    (removed,) = usage.reports(removal)
    assert (removed.urr, removed.seqn) == (2, 0)
    assert "TERMR" in removed.triggers
    (last,) = usage.reports(session.delete())
    assert (last.urr, last.seqn) == (1, 2)
    assert "TERMR" in last.triggers


# --- more of the rules ---


@pytest.mark.parametrize("octets", [1, 2, 3])
def test_apply_action_of_any_length(smf, octets):
    """§8.2.26: one octet until release 15, then more."""
    action = p.IE_CreateFAR(IE_list=[p.IE_FAR_Id(id=1), ies.apply_action("DROP", octets=octets)])
    session = smf.establish(uplink(1), action)
    session.delete()


@pytest.mark.parametrize("labels", [False, True])
def test_network_instance_written_either_way(smf, labels):
    """§8.2.4: octets as they are, or labels as an APN has them."""
    instance = ies.network_instance("internet", labels=labels)
    session = smf.establish(
        ies.pdr(
            1,
            ies.pdi(ies.CORE, instance, ies.ue_ip("10.45.201.1", destination=True)),
            far=1,
            precedence=1,
        ),
        ies.far(1, "DROP"),
    )
    assert rule(session, "pdr_rules", 1)["PDI"]["NetworkInstance"] == "internet"
    session.delete()


def test_two_hundred_and_fifty_six_rules(smf):
    """As many as a session may have here."""
    filters = [
        uplink(
            n, ies.sdf(f"permit out udp from 192.0.2.{n} 1-{n} to assigned"), fteid=ies.choose(1)
        )
        for n in range(1, 254)
    ]
    session = smf.establish(*filters, CORE_FAR, ies.qer(1))
    assert len(session.tunnels) == 253
    session.delete()
