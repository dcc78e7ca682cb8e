# SPDX-License-Identifier: BSD-3-Clause
"""What the UE receives: hand-made TBs, right and wrong, and the IP packets that come out."""

import pytest
from harness import deployment as d
from harness import pdus, program
from harness.nfapi import RX_DATA_INDICATION, rx_data
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6

CONTENTION_RESOLUTION, TIMING_ADVANCE = 62, 61  # DL-SCH LCIDs, TS 38.321 table 6.2.1-1


def datagram(number: int, size: int = 200, *, v6: bool = False) -> bytes:
    if v6:
        headers = IPv6(src="fd77::2", dst="fd77::1") / UDP(sport=number, dport=40000)
    else:
        headers = IP(src="10.77.0.2", dst="10.77.0.1") / UDP(sport=number, dport=40000)
    return bytes(headers / bytes(size - len(headers)))


def sdu(sn: int, packet: bytes) -> bytes:
    """PDCP data PDU, 18 bits, with a DL SDAP header of QFI 1."""
    return pdus.pdcp_data(sn, pdus.sdap_dl(1, packet), 18)


def whole(sn: int, packet: bytes, lcid: int = 4) -> bytes:
    return pdus.mac_subpdu(lcid, pdus.rlc_um(sdu(sn, packet), 12))


@pytest.fixture
def ue(stack):
    return stack(bearers=[d.bearer(pdcp={"t_reordering_ms": 200})])


def test_tb_with_ces_sdus_and_padding(ue):
    packets = [datagram(n, 60 + 97 * n, v6=n % 2 == 1) for n in range(12)]
    tb = pdus.mac_ce(TIMING_ADVANCE, b"\x1f") + pdus.mac_ce(CONTENTION_RESOLUTION, bytes(6))
    tb += b"".join(whole(n, p) for n, p in enumerate(packets)) + pdus.mac_padding(500)
    ue.modem.downlink(0, 0, tb)
    assert ue.receive(12) == packets
    ue.stop()


def test_segments_over_several_tbs(ue):
    packet = datagram(1, 1400)
    data = sdu(0, packet)
    parts = [
        pdus.rlc_um(data[:500], 12, pdus.SI_FIRST, sn=7),
        pdus.rlc_um(data[500:999], 12, pdus.SI_MIDDLE, sn=7, so=500),
        pdus.rlc_um(data[999:], 12, pdus.SI_LAST, sn=7, so=999),
    ]
    for n, part in enumerate((parts[2], parts[0], parts[1])):
        ue.modem.downlink(0, n, pdus.mac_subpdu(4, part) + pdus.mac_padding(2))
    assert ue.receive(1) == [packet]
    ue.stop()


def test_pdcp_puts_sdus_in_order(ue):
    packets = [datagram(n) for n in range(6)]
    for n in (0, 2, 1, 5, 4, 3):
        ue.modem.downlink(0, n, whole(n, packets[n]))
    assert ue.receive(6) == packets
    ue.stop()


def test_t_reordering_ends_the_wait_for_a_lost_pdu(ue):
    packets = [datagram(n) for n in range(4)]
    for n in (0, 2, 3):
        ue.modem.downlink(0, n, whole(n, packets[n]))
    assert ue.receive(1, timeout=0.1) == packets[:1]
    assert ue.receive(2) == packets[2:]
    ue.stop()


def test_duplicates_are_dropped_by_name(ue):
    for n in range(2):
        ue.modem.downlink(0, n, whole(0, datagram(0)))
    assert ue.receive(2, timeout=0.5) == [datagram(0)]
    lost = program.drops(ue.stop())
    assert [n for k, n in lost.items() if k.startswith("ue.pdcp_rx.")] == [1], lost


def test_f_bit_with_a_short_length(ue):
    body = pdus.rlc_um(sdu(0, datagram(0)), 12)
    ue.modem.downlink(0, 0, bytes([0x40 | 4]) + len(body).to_bytes(2, "big") + body)
    assert ue.receive(1) == [datagram(0)]
    ue.stop()


BROKEN = {
    "length beyond the TB": (lambda: whole(0, datagram(0))[:-1], "mac_demux"),
    "subheader cut off": (lambda: b"\x44\x01", "mac_demux"),
    "reserved LCID": (lambda: bytes([40, 3]) + b"abc", "mac_demux"),
    "LCID without a bearer": (lambda: whole(0, datagram(0), lcid=9), "mac_demux"),
    "no data behind the RLC header": (lambda: pdus.mac_subpdu(4, b"\x00"), "rlc_rx"),
    "SO cut off": (lambda: pdus.mac_subpdu(4, b"\xc0\x01\x00"), "rlc_rx"),
    "PDCP PDU without data": (lambda: pdus.mac_subpdu(4, b"\x00\x80\x00"), "pdcp_rx"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_input_is_dropped_where_it_is_wrong(ue, name):
    make, node = BROKEN[name]
    ue.modem.downlink(0, 0, make())
    ue.modem.downlink(0, 1, whole(0, datagram(0)))
    assert ue.receive(1) == [datagram(0)], "the next TB is unharmed"
    lost = program.drops(ue.stop())
    assert any(k.startswith(f"ue.{node}.") for k in lost), lost


@pytest.mark.parametrize("lacking", range(5))
def test_a_lost_fronthaul_segment_costs_its_message(ue, lacking):
    packet = datagram(0, 1400)
    tb = whole(0, packet) + pdus.mac_padding(3000)
    frames = ue.modem.frames(RX_DATA_INDICATION, rx_data(0, 0, 0x4601, tb), room=1000)
    assert len(frames) == 5
    for frame in frames[:lacking] + frames[lacking + 1 :]:
        ue.modem.raw(frame)
    ue.modem.downlink(0, 1, tb, room=1000)
    assert ue.receive(2, timeout=1) == [packet]
    lost = program.drops(ue.stop())
    assert any(k.startswith("ue.fapi_rx.") for k in lost), lost


def test_fronthaul_segments_out_of_order_and_twice(ue):
    packet = datagram(0, 1400)
    tb = whole(0, packet) + pdus.mac_padding(3000)
    frames = ue.modem.frames(RX_DATA_INDICATION, rx_data(0, 0, 0x4601, tb), room=1000)
    for frame in (frames[1], frames[0], frames[1], *frames[2:]):
        ue.modem.raw(frame)
    ue.modem.downlink(0, 1, whole(1, datagram(1)))
    assert ue.receive(2, timeout=1)[-1] == datagram(1), "the next message is unharmed"
    lost = program.drops(ue.stop())
    assert any(k.startswith("ue.fapi_rx.") for k in lost), lost
