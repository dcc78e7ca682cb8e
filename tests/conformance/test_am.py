# SPDX-License-Identifier: BSD-3-Clause
"""Acknowledged mode as tshark and a hand-written peer see it: SNs, polls, STATUS, segments."""

import pytest
from harness import deployment as d
from harness import pdus, program, tshark
from harness.traffic import datagram
from harness.wait import until

LCID = 4


def bearer(sn_bits: int, **rlc) -> dict:
    pdcp = {"sn_bits": 18, "t_reordering_ms": 3000}
    return d.bearer(sdap=False, pdcp=pdcp, rlc={"mode": "am", "sn_bits": sn_bits, **rlc})


class Link:
    """Grants slot by slot."""

    def __init__(self, ue, sn_bits: int):
        self.ue, self.sn_bits, self.slot = ue, sn_bits, 0

    def grant(self, size: int, slots: int = 1) -> list[tshark.Rlc]:
        """@return the RLC PDUs of as many TBs; none of them draws a warning."""
        tbs = []
        for _ in range(slots):
            self.ue.modem.slot(self.slot // 20, self.slot % 20, [size])
            self.slot += 1
            tbs += self.ue.modem.collect(1)
        mode = f"AM, SN Len={self.sn_bits}"
        found = tshark.judge_mac([t.pdu for t in tbs], [tshark.Bearer(LCID, 1, mode)])
        # What a segment continues may have been judged before.
        problems = [p for pdu in found for p in pdu.problems if not p.startswith("segment at")]
        assert problems == []
        return [s.rlc for pdu in found for s in pdu.subpdus if s.lcid == LCID]

    def down(self, pdu: bytes) -> None:
        self.ue.modem.downlink(0, self.slot % 20, pdus.mac_subpdu(LCID, pdu) + pdus.mac_padding(2))


@pytest.mark.parametrize("sn_bits", [12, 18])
def test_sns_polls_and_the_answer_to_a_status(stack, sn_bits):
    ue = stack(bearers=[bearer(sn_bits)])
    link = Link(ue, sn_bits)
    packets = [datagram(n, 300) for n in range(6)]
    ue.send(packets)

    sent = link.grant(4000)
    assert [(r.si, r.sn) for r in sent] == [(pdus.SI_FULL, n) for n in range(6)]
    assert [r.poll for r in sent] == [False] * 5 + [True], "the last of the buffer polls"

    link.down(pdus.rlc_status(sn_bits, 6, [1, 4]))
    again = [r for r in link.grant(4000) if r.data]
    assert [r.sn for r in again] == [1, 4]
    assert [r.data for r in again] == [sent[1].data, sent[4].data]
    assert again[-1].poll, "nothing waits behind it"

    link.down(pdus.rlc_status(sn_bits, 6))
    assert [r for r in link.grant(4000) if r and r.data] == []
    report = ue.stop()
    assert program.drops(report) == {}
    assert report["held"] == 0, "what is acknowledged is let go"


@pytest.mark.parametrize("sn_bits", [12, 18])
def test_a_retransmission_is_segmented_to_the_grant(stack, sn_bits):
    ue = stack(bearers=[bearer(sn_bits)])
    link = Link(ue, sn_bits)
    ue.send([datagram(0, 1200)])
    (whole,) = link.grant(2000)
    link.down(pdus.rlc_status(sn_bits, 1, [0]))
    parts, at = [], 0
    while at < len(whole.data):
        for part in [r for r in link.grant(400) if r.data]:
            assert (part.sn, part.so or 0) == (0, at)
            parts.append(part)
            at += len(part.data)
    assert b"".join(p.data for p in parts) == whole.data
    assert [p.si for p in parts] == [
        pdus.SI_FIRST,
        *[pdus.SI_MIDDLE] * (len(parts) - 2),
        pdus.SI_LAST,
    ]
    assert [p.poll for p in parts] == [False] * (len(parts) - 1) + [True]
    link.down(pdus.rlc_status(sn_bits, 1))
    ue.stop()


@pytest.mark.parametrize("sn_bits", [12, 18])
def test_a_poll_is_answered_with_what_is_missing(stack, sn_bits):
    ue = stack(bearers=[bearer(sn_bits, t_reassembly_ms=5)])
    link = Link(ue, sn_bits)
    packets = [datagram(n, 200) for n in range(5)]
    for n in (0, 1, 3, 4):
        data = pdus.pdcp_data(n, packets[n], 18)
        link.down(pdus.rlc_am(data, sn_bits, n, poll=n == 4))
    assert ue.receive(2) == packets[:2]
    # t-Reassembly runs first: the poll is ahead of what is complete.
    until(lambda: ue.tell("/airpath/rlc", "ue", 1)["RX_Highest_Status"] == 5)
    statuses = [r.status for r in link.grant(200, slots=20) if r.status]
    assert statuses[0] == tshark.Status(5, [2])
    link.down(pdus.rlc_am(pdus.pdcp_data(2, packets[2], 18), sn_bits, 2, poll=True))
    assert ue.receive(3) == packets[2:]
    statuses = [r.status for r in link.grant(200, slots=20) if r.status]
    assert statuses
    assert statuses[-1] == tshark.Status(5, [])
    ue.stop()


def test_what_no_peer_would_send_is_dropped_by_name(stack):
    ue = stack(bearers=[bearer(12)])
    link = Link(ue, 12)
    ue.send([datagram(0, 300)])
    link.grant(1000)
    for bad in (
        b"\x70\x00\x00",  # control PDU type 7
        b"\x00",  # ends inside its header
        pdus.rlc_am(b"", 12, 0),  # no data
        pdus.rlc_status(12, 9),  # acknowledges what was never sent
    ):
        link.down(bad)
    link.down(pdus.rlc_status(12, 1, [0]))
    assert [r.sn for r in link.grant(1000) if r.data] == [0], "nothing was acknowledged yet"
    link.down(pdus.rlc_status(12, 1))
    link.grant(1000)
    lost = program.drops(ue.stop())
    assert sum(lost.values()) == 3, lost
