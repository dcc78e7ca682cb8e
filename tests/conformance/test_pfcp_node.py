# SPDX-License-Identifier: BSD-3-Clause
"""PFCP between nodes, TS 29.244 §6.2 and §6.4: associations, heartbeats, reliable delivery."""

import time

import pytest
from harness import pfcp
from harness import pfcp_ies as ies
from harness.pfcp import ACCEPTED, Unanswered
from harness.upf import pdu_session
from harness.wait import until
from scapy.contrib import pfcp as p

NOT_FOUND, NO_ASSOCIATION = 65, 72


def ids(agent) -> set[int]:
    return {one["up_seid"] for one in agent.sessions()}


def test_association_setup(upf, stranger):
    """§6.2.6.2, §7.4.4.2: who we are, since when, and what we can do."""
    response = stranger.associate()
    assert response.seid is None
    node = ies.one_of(response, p.IE_NodeId)
    assert (node.id_type, node.ipv4) == (0, "127.0.0.7")
    stamp = ies.one_of(response, p.IE_RecoveryTimeStamp).timestamp
    assert abs(time.time() + 2208988800 - stamp) < 3600
    assert stranger.heartbeat() == stamp
    features = ies.one_of(response, p.IE_UPFunctionFeatures)
    assert features.FTUP, "F-TEIDs are allocated here"
    assert features.EMPU, "end markers are sent"


def test_heartbeats_of_strangers_are_answered(stranger):
    """§6.2.2.2: an entity shall be prepared to receive a Heartbeat Request at any time."""
    assert stranger.heartbeat()
    assert stranger.requests.empty()


def test_we_ask_too(make_upf):
    """§6.2.2: our Heartbeat Requests go to a peer with an association."""
    smf = make_upf(heartbeat_s=1).smf()
    smf.associate()
    request = smf.heartbeats.get(timeout=5)
    assert ies.one_of(request, p.IE_RecoveryTimeStamp).timestamp == smf.heartbeat()


def test_no_association_no_session(upf, stranger):
    """§6.2.6.1, §7.2.2.4.2 note; cause 72."""
    _, response = stranger.establish_raw(*rules())
    assert pfcp.cause(response) == NO_ASSOCIATION
    assert ies.one_of(response, p.IE_FSEID) is None
    assert pfcp.cause(stranger.request(pfcp.RELEASE, ies.node_id(stranger.node))) == NO_ASSOCIATION
    update = stranger.request(pfcp.UPDATE, ies.node_id(stranger.node))
    assert pfcp.cause(update) == NO_ASSOCIATION


def rules():
    return (
        ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=1, removal=6),
        ies.far(1, "FORW", to=ies.CORE, instance="internet"),
    )


def test_association_update(smf):
    """§6.2.7.2.1: of the CP function; sessions stay."""
    session = pdu_session(smf)
    response = smf.request(
        pfcp.UPDATE, ies.node_id(smf.node), p.IE_CPFunctionFeatures(LOAD=1, OVRL=1)
    )
    assert pfcp.cause(response) == ACCEPTED
    assert ies.one_of(response, p.IE_NodeId).ipv4 == "127.0.0.7"
    session.delete()


def test_release_deletes_sessions(upf, smf):
    """§6.2.8.2.2, and sessions of others stay."""
    other = upf.smf()
    other.associate()
    session, spared = pdu_session(smf), pdu_session(other)
    smf.release()
    left = ids(upf.agent)
    assert session.seid not in left
    assert spared.seid in left
    smf.associate()
    session.delete(expect=NOT_FOUND)
    spared.delete()
    other.release()


def test_setup_again_deletes_sessions(upf, smf):
    """§6.2.6.2.2: an association that exists is set up anew, without session retention."""
    session = pdu_session(smf)
    smf.associate()
    assert session.seid not in ids(upf.agent)
    session.delete(expect=NOT_FOUND)


def test_setup_again_with_session_retention(upf, smf):
    """§5.22.3, §6.2.6.2.2: Session Retention Information keeps them; PSREI says that it did."""
    session = pdu_session(smf)
    response = smf.associate(ies.raw(183))
    flags = [ie for ie in response.payload.IE_list if ie.ietype == 184]
    assert len(flags) == 1
    assert bytes(flags[0])[4] & 1
    session.delete()


@pytest.mark.parametrize("how", ["heartbeat", "setup"])
def test_a_new_recovery_time_stamp_deletes_sessions(upf, smf, how):
    """§6.2.2.2, TS 23.527 §4.2: the SMF restarted and knows them no more."""
    session = pdu_session(smf)
    smf.heartbeat()
    assert session.seid in ids(upf.agent), "the same stamp changes nothing"
    smf.recovery += 10
    smf.heartbeat() if how == "heartbeat" else smf.associate()
    until(lambda: session.seid not in ids(upf.agent))


def test_several_smfs(upf):
    """SEIDs are the peer's own: two SMFs may use the same."""
    first, second = upf.smf(), upf.smf()
    for smf in (first, second):
        smf.associate()
    a, b = pdu_session(first), pdu_session(second)
    assert a.cp_seid == b.cp_seid
    assert a.seid != b.seid
    assert a.ue[1] != b.ue[1]
    a.delete()
    b.modify(ies.far(2, "DROP", update=True))
    b.delete()
    for smf in (first, second):
        smf.release()


def test_any_source_port(upf):
    """§4.2.2: a request may come from any port, its response goes there."""
    smf = upf.smf(port=0)
    assert smf.local[1] != pfcp.PORT
    smf.associate()
    pdu_session(smf).delete()
    smf.release()


def test_a_retransmitted_request_gets_the_same_bytes(upf, smf):
    """§6.4: and is done once."""
    before = ids(upf.agent)
    head = [ies.node_id(smf.node), smf.f_seid(0x77)]
    establishment = smf.message(pfcp.ESTABLISHMENT, *head, *rules(), seq=0x8001)
    first = smf.exchange(establishment)
    assert smf.exchange(establishment) == first
    made = ids(upf.agent) - before
    assert len(made) == 1
    (seid,) = made
    smf.peer_seids[0x77] = seid
    query = smf.message(pfcp.MODIFICATION, ies.far(1, "DROP", update=True), seid=seid, seq=0x8002)
    assert smf.exchange(query) == smf.exchange(query)
    assert upf.agent.show(seid)["version"] == 2, "the modification was done once"
    deletion = smf.message(pfcp.DELETION, seid=seid, seq=0x8003)
    first = smf.exchange(deletion)
    assert pfcp.cause(smf.read(first)) == ACCEPTED
    assert smf.exchange(deletion) == first, "and not cause 65"


def test_the_same_number_of_another_peer_is_another_request(upf, smf):
    """§6.4: sequence numbers belong to an address and a port."""
    other = upf.smf(address=smf.address, port=0)
    message = smf.message(pfcp.DELETION, seid=0xDEAD, seq=0x9001)
    heartbeat = smf.message(pfcp.HEARTBEAT, p.IE_RecoveryTimeStamp(timestamp=smf.recovery), seq=9)
    assert smf.exchange(message)[1] == pfcp.DELETION + 1
    assert other.exchange(heartbeat[:4] + b"\0\x90\x01" + heartbeat[7:])[1] == pfcp.HEARTBEAT + 1


def test_a_response_to_nothing_is_discarded(smf):
    """§7.6.5: neither answered nor harmful."""
    with pytest.raises(Unanswered):
        smf.exchange(
            smf.message(pfcp.HEARTBEAT + 1, p.IE_RecoveryTimeStamp(timestamp=1), seq=0xA001),
            tries=1,
            timeout=0.3,
        )
    with pytest.raises(Unanswered):
        smf.exchange(
            smf.message(pfcp.REPORT + 1, p.IE_Cause(cause=1), seid=1, seq=0xA002),
            tries=1,
            timeout=0.3,
        )


def test_another_version_is_told(smf):
    """§7.6.2: Version Not Supported Response with the sequence number of the request."""
    message = bytearray(smf.message(pfcp.HEARTBEAT, seq=0xB001))
    message[0] = message[0] & 0x1F | 2 << 5
    response = smf.read(smf.exchange(bytes(message), odd=True))
    assert (response.version, response.message_type, response.seq) == (1, 11, 0xB001)


def test_node_reports_of_a_peer_that_sends_none(smf):
    """§6.2.9: node reports go from UP to CP; one that arrives here is no reason to fall."""
    with pytest.raises(Unanswered):
        smf.request(pfcp.NODE_REPORT, ies.node_id(smf.node), tries=1, timeout=0.3)


def test_we_set_associations_up(make_upf):
    """§6.2.6.2.1: initiated by the UP function, toward configured CP functions, until it works."""
    unit = make_upf(associate=["127.0.0.9"])
    smf = unit.smf(address="127.0.0.9")
    request = smf.wait_request(pfcp.SETUP, 10)
    assert ies.one_of(request, p.IE_NodeId).ipv4 == "127.0.0.7"
    assert ies.one_of(request, p.IE_UPFunctionFeatures).FTUP
    time.sleep(0.2)
    pdu_session(smf).delete()


def test_only_configured_peers(make_upf):
    """With a list of peers others get no association, but their heartbeats are answered."""
    unit = make_upf(peers=["127.0.0.10"])
    known, unknown = unit.smf(address="127.0.0.10"), unit.smf()
    known.associate()
    pdu_session(known).delete()
    assert unknown.heartbeat()
    try:
        response = unknown.request(
            pfcp.SETUP,
            ies.node_id(unknown.node),
            p.IE_RecoveryTimeStamp(timestamp=unknown.recovery),
            tries=1,
            timeout=1,
        )
    except Unanswered:
        return
    assert pfcp.cause(response) != ACCEPTED


def test_reports_go_to_the_address_of_the_cp_f_seid(upf, smf):
    """§7.5.8.1, §5.2.1: not to where the request came from."""
    listener = upf.smf()
    seid = 0x4242
    response = smf.request(
        pfcp.ESTABLISHMENT,
        ies.node_id(smf.node),
        ies.address(listener.address, p.IE_FSEID, seid=seid),
        ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=1, urrs=[1]),
        ies.far(1, "DROP"),
        ies.urr(1, p.IE_MeasurementPeriod(period=1), report=["PERIO"]),
    )
    assert pfcp.cause(response) == ACCEPTED
    peer = ies.one_of(response, p.IE_FSEID).seid
    listener.peer_seids[seid] = peer
    report = listener.wait_report(p.IE_UsageReport_SRR)
    assert report.seid == seid
    assert smf.requests.empty()
    assert pfcp.cause(smf.request(pfcp.DELETION, seid=peer)) == ACCEPTED
