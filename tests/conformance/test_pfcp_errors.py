# SPDX-License-Identifier: BSD-3-Clause
"""PFCP error handling, TS 29.244 §7.6: each wrong request gets the cause its clause wants, and
the IE that offends is named."""

import copy

import pytest
from harness import pfcp
from harness import pfcp_ies as ies
from harness.pfcp import ACCEPTED, Unanswered
from harness.upf import pdu_session
from scapy.contrib import pfcp as p

MISSING, CONDITIONAL_MISSING, INVALID_LENGTH, INCORRECT = 66, 67, 68, 69
NODE_ID, F_SEID, PDI = 60, 57, 2


def complete(smf) -> list:
    """An establishment with every mandatory IE, of all kinds of rules."""
    return [
        ies.node_id(smf.node),
        smf.f_seid(next(smf.seids)),
        ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=9, qers=[1], urrs=[1]),
        ies.far(1, "FORW", to=ies.CORE, instance="internet", bar=1),
        ies.urr(1, report=["VOLTH"], threshold={"total": 1000}),
        ies.qer(1, mbr=(1000, 1000)),
        ies.bar(1),
    ]


def changed(rules: list, path: tuple[int, ...], replacement) -> list:
    """The IEs with the one at `path`, types from the outside in, replaced; None removes it."""
    out = []
    for ie in rules:
        if ie.ietype != path[0]:
            out.append(ie)
        elif len(path) > 1:
            group = copy.deepcopy(ie)
            group.IE_list = changed(ie.IE_list, path[1:], replacement)
            out.append(group)
        elif replacement is not None:
            out.append(replacement)
    return out


def verdict(response) -> tuple[int, int | None]:
    offending = ies.one_of(response, p.IE_OffendingIE)
    return pfcp.cause(response), None if offending is None else offending.type


def test_the_complete_request_is_accepted(smf):
    response = smf.request(pfcp.ESTABLISHMENT, *complete(smf))
    assert pfcp.cause(response) == ACCEPTED


MANDATORY = [
    (NODE_ID,),
    (F_SEID,),
    (1,),
    (1, 56),
    (1, 29),
    (1, PDI),
    (1, PDI, 20),
    (3,),
    (3, 108),
    (3, 44),
    (3, 4, 42),
    (6, 81),
    (6, 62),
    (6, 37),
    (7, 109),
    (7, 25),
    (85, 88),
]


@pytest.mark.parametrize("path", MANDATORY, ids=str)
def test_missing_in_an_establishment(upf, smf, path):
    """§7.6.6: cause 66 and the type of what is missing."""
    before = upf.agent.sessions()
    response = smf.request(pfcp.ESTABLISHMENT, *changed(complete(smf), path, None))
    assert verdict(response) == (MISSING, path[-1])
    assert upf.agent.sessions() == before


SHORT = [
    ((NODE_ID,), b""),
    ((NODE_ID,), b"\0\x7f\0\0"),
    ((F_SEID,), b"\x02\0\0\0\0\0\0\0\x01\x7f\0\0"),
    ((1, 56), b"\x01"),
    ((1, 29), b"\0\0\x01"),
    ((1, PDI, 20), b""),
    ((1, PDI, 21), b""),
    ((1, 108), b"\0\0\x01"),
    ((3, 108), b"\0"),
    ((3, 44), b""),
    ((3, 4, 42), b""),
    ((6, 81), b"\0\0\0"),
    ((6, 62), b""),
    ((6, 37), b""),
    ((6, 31), b"\x01\0\0\0"),
    ((7, 25), b""),
    ((7, 26), b"\0" * 9),
    ((85, 88), b""),
]


@pytest.mark.parametrize(("path", "value"), SHORT, ids=str)
def test_too_short(upf, smf, path, value):
    """§7.6.7: a fixed part that is not there is an invalid length."""
    before = upf.agent.sessions()
    rules = changed(complete(smf), path, ies.raw(path[-1], value))
    response = smf.request(pfcp.ESTABLISHMENT, *rules, odd=True)
    assert verdict(response) == (INVALID_LENGTH, path[-1])
    assert upf.agent.sessions() == before


WRONG = [
    ((NODE_ID,), b"\x07\x7f\0\0\x01"),
    ((F_SEID,), b"\0\0\0\0\0\0\0\0\x01"),
    ((1, PDI, 20), b"\x0f"),
    ((3, 4, 42), b"\x0f"),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=str)
def test_values_that_are_not_defined(upf, smf, path, value):
    """§7.6.8: a mandatory IE with a wrong value is incorrect."""
    before = upf.agent.sessions()
    rules = changed(complete(smf), path, ies.raw(path[-1], value))
    response = smf.request(pfcp.ESTABLISHMENT, *rules, odd=True)
    assert verdict(response) == (INCORRECT, path[-1])
    assert upf.agent.sessions() == before


def test_a_cut_off_tlv(smf):
    """§7.6.7: an IE longer than what is left of its message."""
    whole = smf.message(pfcp.ESTABLISHMENT, *complete(smf), seq=0x7001)
    cut = bytearray(whole + b"\x01\x8d\x00\xff\x00")
    cut[2:4] = (len(cut) - 4).to_bytes(2)
    response = smf.read(smf.exchange(bytes(cut), odd=True))
    assert pfcp.cause(response) in (INVALID_LENGTH, INCORRECT)


@pytest.mark.parametrize("missing", [NODE_ID, 96])
def test_missing_in_a_setup(stranger, missing):
    rules = [ies.node_id(stranger.node), p.IE_RecoveryTimeStamp(timestamp=stranger.recovery)]
    response = stranger.request(pfcp.SETUP, *changed(rules, (missing,), None))
    assert verdict(response) == (MISSING, missing)


@pytest.mark.parametrize("kind", [pfcp.UPDATE, pfcp.RELEASE])
def test_missing_in_update_and_release(smf, kind):
    assert verdict(smf.request(kind)) == (MISSING, NODE_ID)


MODIFICATIONS = [
    ((9, 56), ies.pdr(1, precedence=1, update=True)),
    ((10, 108), ies.far(1, "DROP", update=True)),
    ((13, 81), ies.urr(1, methods=(), threshold={"total": 1}, update=True)),
    ((14, 109), ies.qer(1, update=True)),
    ((15, 56), ies.remove(p.IE_RemovePDR, 1)),
    ((16, 108), ies.remove(p.IE_RemoveFAR, 1)),
    ((17, 81), ies.remove(p.IE_RemoveURR, 1)),
    ((18, 109), ies.remove(p.IE_RemoveQER, 1)),
    ((87, 88), ies.remove(p.IE_Remove_BAR, 1)),
]


@pytest.mark.parametrize(("path", "rule"), MODIFICATIONS, ids=str)
def test_missing_in_a_modification(upf, smf, path, rule):
    session = pdu_session(smf)
    before = upf.agent.show(session.seid)
    response = session.modify(*changed([rule], path, None), expect=MISSING)
    assert verdict(response) == (MISSING, path[-1])
    assert upf.agent.show(session.seid) == before
    session.delete()


def test_a_forwarding_far_needs_parameters(smf):
    """§7.5.2.3: conditional on FORW."""
    rules = changed(complete(smf), (3, 4), None)
    assert verdict(smf.request(pfcp.ESTABLISHMENT, *rules)) == (CONDITIONAL_MISSING, 4)


def test_unknown_and_unexpected_ies_are_ignored(smf):
    """§7.6.9, §8.1.1: of later releases, of a vendor, of another message; in any
    order, at any depth."""
    extra = [ies.raw(999, b"new"), ies.raw(0x8001, b"\x28\xafvendor"), ies.raw(19, b"\x01")]
    rules = changed(complete(smf), (1, PDI, 20), ies.raw(20, b"\0"))
    for group in rules:
        if group.ietype == 1:
            group.IE_list = extra + group.IE_list
    response = smf.request(pfcp.ESTABLISHMENT, *extra, *reversed(rules), odd=True)
    assert pfcp.cause(response) == ACCEPTED


def test_longer_ies_are_read_as_far_as_known(smf):
    """§8.1.1: extendable IEs may have more octets than this release knows."""
    longer = {
        (1, 56): b"\0\x01" + b"new",
        (1, 29): b"\0\0\0\x05" + b"new",
        (3, 108): b"\0\0\0\x01" + b"new",
        (7, 25): b"\0" + b"new",
        (6, 62): b"\x02" + b"new",
    }
    rules = complete(smf)
    for path, value in longer.items():
        rules = changed(rules, path, ies.raw(path[-1], value))
    assert pfcp.cause(smf.request(pfcp.ESTABLISHMENT, *rules)) == ACCEPTED


def test_of_repeated_ies_the_first_counts(upf, smf):
    """§7.6.10: where only one may stand."""
    rules = complete(smf)
    for group in rules:
        if group.ietype == 1:
            group.IE_list = [*group.IE_list, p.IE_Precedence(precedence=77)]
    response = smf.request(pfcp.ESTABLISHMENT, *rules)
    assert pfcp.cause(response) == ACCEPTED
    shown = upf.agent.show(ies.one_of(response, p.IE_FSEID).seid)
    assert shown["pdr_rules"][0]["Precedence"] == 9


def test_a_message_type_nobody_knows_is_discarded(smf):
    """§7.6.4."""
    for kind in (0, 16, 49, 58, 99, 255):
        message = smf.message(1, p.IE_RecoveryTimeStamp(timestamp=1), seq=0x7100 + kind)
        with pytest.raises(Unanswered):
            smf.exchange(message[:1] + bytes([kind]) + message[2:], tries=1, timeout=0.1, odd=True)


def test_what_is_shorter_than_its_header_is_discarded(smf):
    """§7.6.3: nothing can be said of it."""
    whole = smf.message(pfcp.DELETION, seid=1, seq=0x7200)
    for size in range(len(whole)):
        smf.send_raw(whole[:size])
    assert smf.heartbeat()


@pytest.mark.parametrize("length", [0, 11, 13, 0xFFFF])
def test_a_length_that_is_not_the_datagrams(smf, length):
    """§7.6.3: cause 68, or nothing; never as if it were right (cause 65)."""
    whole = smf.message(pfcp.DELETION, seid=1, seq=0x7300 + length)
    broken = whole[:2] + length.to_bytes(2) + whole[4:]
    try:
        response = smf.read(smf.exchange(broken, tries=1, timeout=0.3, odd=True))
    except Unanswered:
        return
    assert pfcp.cause(response) == INVALID_LENGTH
