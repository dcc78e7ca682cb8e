# SPDX-License-Identifier: BSD-3-Clause
"""PDCP's procedures, with tshark as judge of what the UE sends."""

import pytest
from harness import deployment as d
from harness import pdus, program, security, traffic, tshark
from harness.telemetry import Refused
from harness.wait import until

LCID = 4
NO_SDAP = {"sdap": False}


def datagram(number: int, size: int = 200) -> bytes:
    return traffic.datagram(number, size)


def whole(sn: int, packet: bytes, sn_bits: int = 18) -> bytes:
    return pdus.mac_subpdu(LCID, pdus.rlc_um(pdus.pdcp_data(sn, packet, sn_bits), 12))


def sent(ue, slot: int, size: int = 14000) -> list[bytes]:
    """PDCP PDUs in the TB of one slot, by tshark's reading of MAC and RLC."""
    ue.modem.slot(0, slot, [size])
    (tb,) = ue.modem.collect(1)
    (pdu,) = tshark.judge_mac([tb.pdu], [tshark.Bearer(LCID, 1)])
    assert pdu.problems == []
    return [s.rlc.data for s in pdu.subpdus if s.lcid == LCID]


def wait_for(ue, **state: int) -> None:
    """Until the PDCP entities have come to this state."""

    def now() -> dict:
        return ue.tell("/airpath/pdcp/state", "ue", 1)

    until(lambda: state.items() <= now().items(), seen=now)


@pytest.fixture
def ue(stack):
    return stack(bearers=[d.bearer(**NO_SDAP, pdcp={"t_reordering_ms": 3000})])


@pytest.mark.parametrize("apart", [False, True])
def test_status_report(stack, apart):
    place = {"ue.*": "one", **({"ue.pdcp_rx": "two", "ue.rlc_tx": "three"} if apart else {})}
    ue = stack(bearers=[d.bearer(**NO_SDAP, pdcp={"t_reordering_ms": 3000})], place=place)
    received = [0, 1, 3, 5, 6, 12]
    for n in received:
        ue.modem.downlink(0, n, whole(n, datagram(n)))
    assert ue.receive(2) == [datagram(0), datagram(1)]
    wait_for(ue, RX_NEXT=13)
    assert ue.tell("/airpath/pdcp/status", "ue", 1) is not None
    ue.send([datagram(1000)])
    report, data = sent(ue, 1)

    (found,) = tshark.judge_pdcp_control([report], sn_bits=18, drb=1)
    assert found.problems == []
    assert found.fmc == 2
    assert found.received == received[2:]
    # 3 to 12 behind the missing 2, MSB first and rounded up to whole octets.
    bits = "".join("1" if 3 + i in received else "0" for i in range(16))
    assert report == bytes([0, 0, 0, 0, 2]) + int(bits, 2).to_bytes(2, "big")
    (pdu,) = tshark.judge_pdcp([data], sn_bits=18, drb=1, sdap=False)
    assert (pdu.sn, pdu.sdu) == (0, datagram(1000)), "a control PDU takes no SN"
    ue.stop()


def test_nothing_missing_is_a_report_without_bitmap(ue):
    ue.modem.downlink(0, 0, whole(0, datagram(0)))
    assert ue.receive(1) == [datagram(0)]
    assert ue.tell("/airpath/pdcp/status", "ue", 1) is not None
    assert sent(ue, 1) == [bytes([0, 0, 0, 0, 1])]
    ue.stop()


def test_a_received_report_discards_what_it_confirms(ue):
    ue.send([datagram(n) for n in range(8)])
    # FMC 2: 0 and 1 are confirmed, and by the bitmap 4 and 6.
    report = bytes([0, 0, 0, 0, 2, 0b01010000])
    ue.modem.downlink(0, 0, pdus.mac_subpdu(LCID, pdus.rlc_um(report, 12)))
    assert ue.receive(1, timeout=0.3) == []
    left = tshark.judge_pdcp(sent(ue, 1), sn_bits=18, drb=1, sdap=False)
    assert [p.sn for p in left] == [2, 3, 5, 7]
    assert [p.sdu for p in left] == [datagram(n) for n in (2, 3, 5, 7)]
    assert ue.tell("/airpath/pdcp/state", "ue", 1)["status_reports_received"] == 1
    assert program.drops(ue.stop()) == {"ue.mac_slot.mac_slot_confirmed": 4}


@pytest.mark.parametrize("apart", [False, True])
def test_reestablishment_of_a_um_drb(stack, apart):
    every = ("user_rx", "pdcp_tx", "rlc_tx", "mac_slot", "rlc_rx", "pdcp_rx")
    place = {"ue.*": "one", **({f"ue.{n}": n for n in every} if apart else {})}
    ue = stack(bearers=[d.bearer(**NO_SDAP, pdcp={"t_reordering_ms": 3000})], place=place)
    ue.send([datagram(n, 1000) for n in range(6)])
    (first,) = sent(ue, 0, 1010)  # SN 0 goes, 1 to 5 wait
    assert first == pdus.pdcp_data(0, datagram(0, 1000), 18)
    for n in (0, 2, 3):
        ue.modem.downlink(0, n, whole(n, datagram(n)))
    assert ue.receive(2, timeout=0.3) == [datagram(0)]
    assert ue.tell("/airpath/pdcp/reestablish", "ue", 1)["sent_again"] == 5
    assert ue.receive(2) == [datagram(2), datagram(3)], "what was stored is delivered"
    state = ue.tell("/airpath/pdcp/state", "ue", 1)
    assert (state["RX_NEXT"], state["RX_DELIV"], state["TX_NEXT"]) == (0, 0, 5)
    ue.modem.downlink(0, 9, whole(0, datagram(9)))
    assert ue.receive(1) == [datagram(9)], "COUNT 0 is a new one"
    ue.send([datagram(6, 1000)])
    left = tshark.judge_pdcp(sent(ue, 1), sn_bits=18, drb=1, sdap=False)
    assert [(p.sn, p.sdu) for p in left] == [(n, datagram(n + 1, 1000)) for n in range(6)]
    assert program.drops(ue.stop()) == {}


def protected(count: int, packet: bytes, direction: int, key_enc: bytes, key_int: bytes) -> bytes:
    """NEA2 and NIA2 on DRB 1, by the Python implementation."""
    pdu = pdus.pdcp_data(count & 0x3FFFF, packet, 18)
    pdu += security.nia(2, key_int, count, 0, direction, pdu)
    return pdu[:3] + security.nea(2, key_enc, count, 0, direction, pdu[3:])


def test_reestablishment_changes_keys(stack):
    old, new = (
        (bytes(range(n, n + 16)) for n in (0, 32)),
        (bytes(range(n, n + 16)) for n in (64, 96)),
    )
    old_enc, old_int, new_enc, new_int = *old, *new
    ue = stack(
        bearers=[d.bearer(**NO_SDAP, pdcp={"t_reordering_ms": 3000, "integrity": True})],
        security={"nea": 2, "nia": 2, "key_enc": old_enc.hex(), "key_int": old_int.hex()},
    )
    packets = [datagram(n, 1000) for n in range(6)]
    ue.send(packets)
    assert sent(ue, 0, 1014) == [protected(0, packets[0], 0, old_enc, old_int)]
    with pytest.raises(Refused, match="COUNT of a UM DRB begins at 0 again: new keys"):
        ue.tell("/airpath/pdcp/reestablish", "ue", 1)
    command = ("/airpath/pdcp/reestablish", "ue", 1, new_enc.hex())
    with pytest.raises(Refused, match="32 hexadecimal digits: K_UPenc, then K_UPint"):
        ue.tell(*command)
    assert ue.tell(*command, new_int.hex())["sent_again"] == 5
    assert sent(ue, 1) == [protected(n, packets[n + 1], 0, new_enc, new_int) for n in range(5)]
    for n, pair in enumerate(((old_enc, old_int), (new_enc, new_int))):
        pdu = protected(0, datagram(9 + n), 1, *pair)
        ue.modem.downlink(0, 2 + n, pdus.mac_subpdu(LCID, pdus.rlc_um(pdu, 12)))
    assert ue.receive(1) == [datagram(10)]
    assert program.drops(ue.stop()) == {"ue.pdcp_rx.pdcp_rx_integrity": 1}


def am_sdus(tb: bytes) -> list[bytes]:
    """Complete SDUs of AMD PDUs with 18-bit SNs (TS 38.322 figure 6.2.2.4-2), SNs checked."""
    at, found = 0, []
    while tb[at] & 0x3F == LCID:
        wide = tb[at] >> 6 & 1
        length = int.from_bytes(tb[at + 1 : at + 2 + wide])
        at += 2 + wide
        assert tb[at] & 0xB0 == 0x80, "a whole SDU"
        assert int.from_bytes(tb[at : at + 3]) & 0x3FFFF == len(found)
        found.append(tb[at + 3 : at + length])
        at += length
    return found


@pytest.mark.parametrize("apart", [False, True])
def test_an_am_drb_sends_again_what_is_not_confirmed(stack, apart):
    """Re-establishment with new keys, then data recovery: COUNTs stay, RLC starts anew."""
    old_enc, old_int, new_enc, new_int = (bytes(range(n, n + 16)) for n in range(0, 64, 16))
    every = ("user_rx", "pdcp_tx", "rlc_tx", "mac_slot", "rlc_rx", "pdcp_rx")
    ue = stack(
        place={"ue.*": "one", **({f"ue.{n}": n for n in every} if apart else {})},
        bearers=[
            d.bearer(
                **NO_SDAP,
                rlc={"mode": "am", "t_poll_retransmit_ms": 10000},
                pdcp={"t_reordering_ms": 3000, "integrity": True, "status_report": True},
            )
        ],
        security={"nea": 2, "nia": 2, "key_enc": old_enc.hex(), "key_int": old_int.hex()},
    )
    packets = [datagram(n, 1000) for n in range(6)]

    def slot(n: int, size: int) -> list[bytes]:
        ue.modem.slot(0, n, [size])
        (tb,) = ue.modem.collect(1)
        return am_sdus(tb.pdu)

    ue.send(packets)
    first = [protected(n, packets[n], 0, old_enc, old_int) for n in range(3)]
    assert slot(0, 3 * 1013 + 2) == first, "three are on the way, three wait"
    command = ("/airpath/pdcp/reestablish", "ue", 1, new_enc.hex(), new_int.hex())
    assert ue.tell(*command)["sent_again"] == 7
    report = bytes(5)
    again = [protected(n, packets[n], 0, new_enc, new_int) for n in range(6)]
    assert slot(1, 14000) == [report, *again]
    assert ue.tell("/airpath/pdcp/recover", "ue", 1)["sent_again"] == 8
    assert slot(2, 14000) == [report, report, *again]
    assert ue.tell("/airpath/pdcp/state", "ue", 1)["TX_NEXT"] == 6
    assert program.drops(ue.stop()) == {}


def test_the_end_of_count_is_announced_once(stack):
    ue = stack(bearers=[d.bearer(**NO_SDAP, pdcp={"count_notify": 4})])
    ue.send([datagram(n) for n in range(4)])
    assert ue.tell("/airpath/pdcp/state", "ue", 1)["wants_keys"] == 0
    ue.send([datagram(n) for n in range(4)])
    wait_for(ue, wants_keys=1)
    for n in range(6):
        ue.modem.downlink(0, n, whole(n, datagram(n)))
    assert len(ue.receive(6)) == 6
    until(lambda: len(ue.lines("needs new keys")) >= 2, seen=ue.log)
    ue.stop()
    lines = ue.lines("needs new keys")
    assert ["sender" in line for line in lines] == [True, False], lines


def test_commands_about_no_bearer_are_refused(ue):
    for params, why in (
        ((), "name the bearer"),
        (("ue",), "name the bearer"),
        (("ue", 2), "ue ue has no bearer 2"),
        (("eu", 1), "there is no ue 'eu'"),
        (("ue", "x"), "name the bearer"),
        (("ue", 1, ""), "behind UE,DRB"),
    ):
        for command in ("status", "reestablish", "recover", "state"):
            with pytest.raises(Refused, match=why):
                ue.tell(f"/airpath/pdcp/{command}", *params)
    with pytest.raises(Refused, match="has no security"):
        ue.tell("/airpath/pdcp/reestablish", "ue", 1, "00" * 16)
    ue.stop()
