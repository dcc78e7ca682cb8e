# SPDX-License-Identifier: BSD-3-Clause
"""The judge itself: it must read hand-made PDUs as meant and object to broken ones."""

import pytest
from harness import framing, pdus, tshark
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6

UM12 = [tshark.Bearer(lcid=4, drb=1)]


def ip_packet(length: int = 68) -> bytes:
    headers = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1111, dport=2222)
    return bytes(headers / bytes(range(256))[: length - 28])


def test_complete_sdu_with_bsr_and_padding():
    packet = ip_packet()
    sdu = pdus.rlc_um(pdus.pdcp_data(5, packet, 12), 12)
    tb = pdus.mac_subpdu(4, sdu) + pdus.mac_short_bsr(lcg=1, index=7) + pdus.mac_padding(10)

    (pdu,) = tshark.judge_mac([tb], UM12, pdcp_sn_bits=12, times=[(1023, 19)])

    assert pdu.problems == []
    assert (pdu.sfn, pdu.slot) == (1023, 19)
    assert pdu.lcids() == [4, pdus.SHORT_BSR, pdus.PADDING]
    data, bsr, padding = pdu.subpdus
    assert data.length == len(sdu)
    assert (data.rlc.si, data.rlc.sn, data.rlc.so) == (pdus.SI_FULL, None, None)
    assert data.rlc.pdcp.sn == 5
    assert data.rlc.pdcp.sdu == packet
    assert bsr.fields["mac-nr.control.bsr.short.lcg"] == "1"
    assert bsr.fields["mac-nr.control.bsr.bs-lcg1"] == "7"
    assert padding.padding == 9


@pytest.mark.parametrize(("sn_bits", "mode"), [(6, "UM, SN Len=6"), (12, "UM, SN Len=12")])
def test_three_segments_reassemble(sn_bits, mode):
    sdu = pdus.pdcp_data(0x2ABCD, ip_packet(), 18)
    parts = [
        pdus.rlc_um(sdu[:20], sn_bits, pdus.SI_FIRST, sn=9),
        pdus.rlc_um(sdu[20:41], sn_bits, pdus.SI_MIDDLE, sn=9, so=20),
        pdus.rlc_um(sdu[41:], sn_bits, pdus.SI_LAST, sn=9, so=41),
    ]
    tbs = [pdus.mac_subpdu(4, p) for p in parts]

    found = tshark.judge_mac(tbs, [tshark.Bearer(4, 1, mode)], pdcp_sn_bits=18)

    assert [p.problems for p in found] == [[], [], []]
    rlc = [p.subpdus[0].rlc for p in found]
    assert [(r.si, r.sn, r.so) for r in rlc] == [(1, 9, None), (3, 9, 20), (2, 9, 41)]
    assert rlc[2].sdu == sdu
    assert rlc[2].pdcp.sn == 0x2ABCD


@pytest.mark.parametrize("size", [200, 255, 256, 1500, 9000])
def test_eight_and_sixteen_bit_length(size):
    sdu = pdus.rlc_um(pdus.pdcp_data(1, bytes(size - 4), 18), 12)
    (pdu,) = tshark.judge_mac([pdus.mac_subpdu(4, sdu)], UM12)
    assert pdu.problems == []
    assert pdu.subpdus[0].length == size
    assert pdu.subpdus[0].fields["mac-nr.subheader.f"] == ("1" if size > 255 else "0")


@pytest.mark.parametrize("octets", [1, 2, 3, 300])
def test_padding_sizes(octets):
    sdu = pdus.rlc_um(pdus.pdcp_data(1, ip_packet(), 18), 12)
    (pdu,) = tshark.judge_mac([pdus.mac_subpdu(4, sdu) + pdus.mac_padding(octets)], UM12)
    assert pdu.problems == []
    assert pdu.subpdus[-1].padding == octets - 1


@pytest.mark.parametrize("direction", [framing.UPLINK, framing.DOWNLINK])
def test_sdap_header(direction):
    packet = bytes(IPv6(src="fd00::1", dst="fd00::2") / UDP(sport=1, dport=2) / b"x")
    header = pdus.sdap_ul if direction == framing.UPLINK else pdus.sdap_dl
    pdu = pdus.pdcp_data(3, header(9, packet), 18)
    (found,) = tshark.judge_pdcp([pdu], sn_bits=18, drb=1, sdap=True, direction=direction)
    assert found.problems == []
    assert (found.sn, found.qfi) == (3, 9)
    assert found.sdu == packet


def test_judge_objects_to_a_length_beyond_the_tb():
    tb = bytearray(pdus.mac_subpdu(4, pdus.rlc_um(pdus.pdcp_data(1, ip_packet(), 18), 12)))
    tb[1] += 1
    (pdu,) = tshark.judge_mac([bytes(tb)], UM12)
    assert pdu.problems


def test_judge_objects_to_reserved_bits():
    sdu = b"\x01" + pdus.pdcp_data(1, ip_packet(), 18)
    (pdu,) = tshark.judge_mac([pdus.mac_subpdu(4, sdu)], UM12)
    assert pdu.problems


def test_judge_objects_to_a_gap_in_pdcp_sn():
    tbs = [pdus.mac_subpdu(4, pdus.rlc_um(pdus.pdcp_data(n, ip_packet(), 18), 12)) for n in (0, 2)]
    found = tshark.judge_mac(tbs, UM12, pdcp_sn_bits=18)
    assert found[0].problems == []
    assert found[1].problems


def test_tb_above_one_datagram_is_refused():
    with pytest.raises(framing.TooLarge):
        tshark.judge_mac([bytes(66000)], UM12)
