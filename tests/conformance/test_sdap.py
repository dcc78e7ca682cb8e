# SPDX-License-Identifier: BSD-3-Clause
"""SDAP's reflective QoS: what the UE learns from downlink headers, and what it sends then."""

from harness import deployment as d
from harness import pdus, traffic, tshark
from harness.wait import until

QFI = 9
DRB1, DRB2 = 4, 5  # their LCIDs


def down(ue, slot: int, lcid: int, sn: int, *, rdi: int = 0, rqi: int = 0) -> None:
    """A downlink packet of QFI on a DRB, and its arrival."""
    packet = traffic.datagram(1000 + slot, 100)
    sdu = pdus.pdcp_data(sn, pdus.sdap_dl(QFI, packet, rdi, rqi), 18)
    ue.modem.downlink(0, slot, pdus.mac_subpdu(lcid, pdus.rlc_um(sdu, 12)))
    assert ue.receive(1) == [packet]


def up(ue, slot: int) -> dict[int, list[tshark.Pdcp]]:
    """What one slot sends: LCID → PDCP PDUs, by tshark."""
    ue.modem.slot(0, slot, [6000])
    (tb,) = ue.modem.collect(1)
    bearers = [tshark.Bearer(DRB1, 1, sdap=True), tshark.Bearer(DRB2, 2, sdap=True)]
    (pdu,) = tshark.judge_mac([tb.pdu], bearers, pdcp_sn_bits=18)
    assert pdu.problems == []
    found: dict[int, list[tshark.Pdcp]] = {}
    for s in pdu.subpdus:
        if s.rlc and s.rlc.pdcp:
            found.setdefault(s.lcid, []).append(s.rlc.pdcp)
    return found


def flow(ue, **expected: int) -> None:
    """Until the UE knows this of the QoS flow."""
    wanted = {f"{QFI}/{k}": v for k, v in expected.items()}

    def now() -> dict:
        return ue.tell("/airpath/sdap/flows", "ue")

    until(lambda: wanted.items() <= now().items(), seen=now)


def test_reflective_mapping_moves_a_flow_behind_an_end_marker(stack):
    place = {"ue.*": "one", "ue.sdap_rx": "two", "ue.sdap_tx": "three"}
    ue = stack(bearers=[d.bearer(1), d.bearer(2, default=False)], default_qfi=QFI, place=place)
    before, after, back = (traffic.datagram(n, 300) for n in range(3))
    ue.send([before])
    down(ue, 0, DRB2, 0, rqi=1)
    flow(ue, rqi=1, drb=1)

    down(ue, 1, DRB2, 1, rdi=1)
    # The end-marker does not wait for a packet of the flow.
    flow(ue, rdi=1, drb=2)
    ue.send([after])
    sent = up(ue, 2)
    assert [(p.sn, p.control, p.qfi) for p in sent[DRB1]] == [(0, False, QFI), (1, True, QFI)]
    assert sent[DRB1][0].sdu == before
    assert [(p.sn, p.control, p.qfi) for p in sent[DRB2]] == [(0, False, QFI)]
    assert sent[DRB2][0].sdu == after

    down(ue, 3, DRB1, 0, rdi=1)  # and back, now from a stored rule
    flow(ue, rdi=2, drb=1)
    ue.send([back])
    sent = up(ue, 4)
    assert [(p.sn, p.control, p.qfi) for p in sent[DRB2]] == [(1, True, QFI)]
    assert [(p.sn, p.control, p.qfi) for p in sent[DRB1]] == [(2, False, QFI)]
    assert sent[DRB1][0].sdu == back
    assert ue.tell("/airpath/sdap/flows", "ue")["end_markers_sent"] == 2
    ue.stop()
