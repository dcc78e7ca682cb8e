# SPDX-License-Identifier: BSD-3-Clause
"""What the UE sends, stepped slot by slot, in front of tshark and scapy."""

import pytest
from harness import deployment as d
from harness import pdus, tshark
from harness.traffic import datagram
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6

BSR_LCIDS = {59, 60, 61, 62}
NO_SDAP = {"sdap": False}


def numbers(packets: list[bytes]) -> list[int]:
    """Parses each packet with scapy, checksums included. @return the UDP destination ports."""
    found = []
    for packet in packets:
        kind = IPv6 if packet[0] >> 4 == 6 else IP
        parsed = kind(packet)
        again = parsed.copy()
        if kind is IP:
            del again.chksum
        del again[UDP].chksum
        assert bytes(again) == packet
        found.append(parsed[UDP].dport)
    return found


def check_tb(tb: bytes, pdu: tshark.MacPdu, size: int) -> None:
    """Rules every uplink TB obeys: TS 38.321 6.1.2."""
    assert pdu.problems == []
    assert len(tb) == size
    lcids = pdu.lcids()
    assert pdus.PADDING not in lcids[:-1], "padding stands last"
    ces = [i for i, lcid in enumerate(lcids) if lcid >= 45 and lcid != pdus.PADDING]
    sdus = [i for i, lcid in enumerate(lcids) if lcid <= 32]
    assert not ces or not sdus or ces[0] > sdus[-1], "uplink CEs follow the SDUs"
    for s in pdu.subpdus:
        if s.length is not None:
            assert s.fields.get("mac-nr.subheader.f") == ("1" if s.length > 255 else "0")


def test_complete_sdus_padding_and_bsr(stack):
    ue = stack(bearers=[d.bearer(**NO_SDAP, pdcp={"sn_bits": 12}, rlc={"sn_bits": 12})])
    packets = [datagram(n, 60 + 83 * n, v6=n % 2 == 1) for n in range(15)]
    ue.send(packets)
    ue.modem.slot(7, 3, [14000])
    tbs = ue.modem.collect(1)

    (pdu,) = tshark.judge_mac(
        [tbs[0].pdu], [tshark.Bearer(4, 1)], pdcp_sn_bits=12, times=[(tbs[0].sfn, tbs[0].slot)]
    )
    check_tb(tbs[0].pdu, pdu, 14000)
    assert (pdu.sfn, pdu.slot) == (7, 3)
    rlc = [s.rlc for s in pdu.subpdus if s.lcid == 4]
    assert [(r.si, r.sn, r.so) for r in rlc] == [(pdus.SI_FULL, None, None)] * 15
    assert [r.pdcp.sn for r in rlc] == list(range(15))
    assert [r.pdcp.sdu for r in rlc] == packets
    assert numbers([r.pdcp.sdu for r in rlc]) == list(range(15))
    assert pdu.lcids()[-1] == pdus.PADDING
    assert len(BSR_LCIDS & set(pdu.lcids())) == 1, "padding this long carries a padding BSR"
    ue.stop()


@pytest.mark.parametrize("sn_bits", [6, 12])
def test_segments(stack, sn_bits):
    ue = stack(bearers=[d.bearer(**NO_SDAP, pdcp={"sn_bits": 18}, rlc={"sn_bits": sn_bits})])
    packets = [datagram(n, 1400) for n in range(80)]
    ue.send(packets)
    tbs = []
    for n in range(80 * 1400 // 480):  # 500 B hold no SDU whole
        ue.modem.slot(n // 20, n % 20, [500])
        tbs += ue.modem.collect(1)

    mode = f"UM, SN Len={sn_bits}"
    found = tshark.judge_mac([t.pdu for t in tbs], [tshark.Bearer(4, 1, mode)], pdcp_sn_bits=18)

    for tb, pdu in zip(tbs, found, strict=True):
        check_tb(tb.pdu, pdu, 500)
    check_segments([s.rlc for p in found for s in p.subpdus if s.rlc], packets, 1 << sn_bits)
    ue.stop()


def check_segments(rlc: list[tshark.Rlc], packets: list[bytes], modulus: int) -> None:
    """SN rises once a segmented SDU, SO goes on where the last segment ended (TS 38.322 5.2.2)."""
    sn, offset, whole = 0, 0, []
    for r in rlc:
        if r.si == pdus.SI_FULL:
            assert r.sn is None
        else:
            assert r.sn == sn % modulus
            assert (r.so or 0) == offset
            offset += len(r.data)
        if r.si == pdus.SI_LAST:
            sn, offset = sn + 1, 0
        if r.pdcp is not None:
            whole.append(r.pdcp)
    assert sn > 64, "the test must see 6-bit SNs wrap"
    assert [p.sn for p in whole] == list(range(len(whole)))
    assert [p.sdu for p in whole] == packets[: len(whole)]
    assert len(whole) > len(packets) // 2


@pytest.mark.parametrize("left", [0, 1, 2, 3, 4, 257, 300])
def test_what_is_left_of_a_tb(stack, left):
    """Exact fit, padding of one and two octets, padding BSR, long padding."""
    ue = stack(bearers=[d.bearer(**NO_SDAP, pdcp={"sn_bits": 12}, rlc={"sn_bits": 12})])
    packet = datagram(1, 1000)
    size = 3 + 1 + 2 + len(packet) + left  # MAC, RLC, PDCP
    ue.send([packet])
    ue.modem.slot(0, 0, [size])
    (tb,) = ue.modem.collect(1)
    (pdu,) = tshark.judge_mac([tb.pdu], [tshark.Bearer(4, 1)], pdcp_sn_bits=12)
    check_tb(tb.pdu, pdu, size)
    assert pdu.subpdus[0].rlc.pdcp.sdu == packet
    if left == 0:
        assert pdu.lcids() == [4]
    if left == 1:
        assert pdu.lcids() == [4, pdus.PADDING]
        assert tb.pdu[-1:] == b"\x3f"
    ue.stop()


def test_sdap_header_and_two_bearers(stack):
    ue = stack(
        bearers=[
            d.bearer(1, qfis=[1], mac={"priority": 8}),
            d.bearer(2, default=False, qfis=[5], mac={"priority": 2}),
        ],
        qos=[{"dscp": 46, "qfi": 5}],
    )
    packets = [datagram(n, 300, tos=46 << 2 if n % 3 == 0 else 0) for n in range(30)]
    ue.send(packets)
    ue.modem.slot(0, 0, [20000])
    (tb,) = ue.modem.collect(1)

    (pdu,) = tshark.judge_mac([tb.pdu], [tshark.Bearer(4, 1), tshark.Bearer(5, 2)])
    check_tb(tb.pdu, pdu, 20000)
    sdus = [(s.lcid, s.rlc.sdu) for s in pdu.subpdus if s.rlc]
    assert [lcid for lcid, _ in sdus] == [5] * 10 + [4] * 20, "priority 2 goes first"
    for drb, lcid, qfi, wanted in ((2, 5, 5, packets[::3]), (1, 4, 1, None)):
        mine = [sdu for at, sdu in sdus if at == lcid]
        found = tshark.judge_pdcp(mine, sn_bits=18, drb=drb, sdap=True)
        assert [p.problems for p in found] == [[]] * len(found)
        assert {p.qfi for p in found} == {qfi}
        assert [p.sn for p in found] == list(range(len(found)))
        wanted = wanted or [p for n, p in enumerate(packets) if n % 3]
        assert [p.sdu for p in found] == wanted
    ue.stop()


def test_two_carriers_share_the_data(stack):
    ue = stack(bearers=[d.bearer(**NO_SDAP)], carriers=2)
    packets = [datagram(n, 1000) for n in range(40)]
    ue.send(packets)
    tbs = []
    for n in range(4):
        ue.modem.slot(0, n, [9000, 5000])
        tbs += ue.modem.collect(2)
    assert sorted((t.slot, t.carrier) for t in tbs) == [(s, c) for s in range(4) for c in (0, 1)]
    tbs.sort(key=lambda t: (t.slot, t.carrier))
    found = tshark.judge_mac([t.pdu for t in tbs], [tshark.Bearer(4, 1)], pdcp_sn_bits=18)
    for tb, pdu in zip(tbs, found, strict=True):
        check_tb(tb.pdu, pdu, 9000 if tb.carrier == 0 else 5000)
    whole = [s.rlc.pdcp for p in found for s in p.subpdus if s.rlc and s.rlc.pdcp]
    assert [p.sn for p in whole] == list(range(40))
    assert [p.sdu for p in whole] == packets
    ue.stop()


def test_a_tb_as_large_as_tshark_takes(stack):
    ue = stack(bearers=[d.bearer(**NO_SDAP)])
    packets = [datagram(n, 1400) for n in range(50)]
    ue.send(packets)
    ue.modem.slot(0, 0, [65000])
    (tb,) = ue.modem.collect(1)
    (pdu,) = tshark.judge_mac([tb.pdu], [tshark.Bearer(4, 1)], pdcp_sn_bits=18)
    check_tb(tb.pdu, pdu, 65000)
    assert len([s for s in pdu.subpdus if s.lcid == 4]) == 47
    ue.stop()


def test_strategies_build_the_same_tbs(stack):
    packets = [datagram(n, 40 + 97 * n % 1400) for n in range(100)]
    built = {}
    for strategy in ("scatter", "gather", "scheme1", "scheme2"):
        ue = stack(bearers=[d.bearer()], carriers=2, strategy=strategy)
        ue.send(packets)
        tbs = []
        for n in range(8):
            ue.modem.slot(0, n, [8000, 3000])
            tbs += ue.modem.collect(2)
        built[strategy] = sorted((t.slot, t.carrier, t.pdu) for t in tbs)
        ue.stop()
    for strategy in ("gather", "scheme1", "scheme2"):
        assert built[strategy] == built["scatter"], strategy
