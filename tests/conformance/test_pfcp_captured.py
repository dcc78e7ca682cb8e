# SPDX-License-Identifier: BSD-3-Clause
"""A session as a widely used SMF sends it (tests/vectors/pfcp), SEIDs substituted, and the way of
a router solicitation over N4-u: TS 29.244 §5.4.7, TS 29.281."""

import struct

import pytest
from harness import gtpu, pfcp
from harness import pfcp_ies as ies
from harness.pfcp import ACCEPTED
from harness.program import ROOT
from harness.upf import CPU, GNB, N3, N4U
from scapy.contrib import pfcp as p
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6ND_RA, ICMPv6ND_RS, ICMPv6NDOptPrefixInfo, IPv6
from scapy.utils import rdpcap

VECTOR = ROOT / "tests" / "vectors" / "pfcp" / "smf-session.pcap"
FRAMES = [bytes(packet[UDP].payload) for packet in rdpcap(str(VECTOR))]
FOREIGN, ESTABLISH, MODIFY, DELETE = FRAMES[0], FRAMES[2], FRAMES[4], FRAMES[10]
THEIRS = 0x20F  # the SMF's SEID
AT = bytes([127, 0, 0, 4])  # its address


def numbered(message: bytes, smf) -> bytes:
    return message[:12] + next(smf.seqs).to_bytes(3) + message[15:]


def with_seid(message: bytes, seid: int) -> bytes:
    return message[:4] + struct.pack(">Q", seid) + message[12:]


@pytest.fixture
def captured(upf):
    """The capture's SMF. The F-SEID's address is where it listens, its GTP-U is elsewhere."""
    smf = upf.smf(address="127.0.0.4")
    smf.associate()
    yield smf
    smf.release()
    smf.close()


def established(smf) -> tuple[int, dict[int, tuple[int, str]]]:
    """@return SEID of the UPF, and F-TEIDs by PDR."""
    # Outer Header Creation of FAR 3 leads to the SMF's GTP-U endpoint.
    there = b"\x01\0" + struct.pack(">I", 2)
    assert ESTABLISH.count(there + AT) == 1
    elsewhere = bytes(int(part) for part in CPU.split("."))
    message = ESTABLISH.replace(there + AT, there + elsewhere)
    response = smf.read(smf.exchange(numbered(message, smf)))
    assert pfcp.cause(response) == ACCEPTED, response.show(dump=True)
    assert response.seid == THEIRS
    seid = ies.one_of(response, p.IE_FSEID).seid
    smf.peer_seids[THEIRS] = seid
    tunnels = {}
    for created in ies.all_of(response, p.IE_CreatedPDR):
        local = ies.one_of(created, p.IE_FTEID)
        assert local.V4
        tunnels[ies.one_of(created, p.IE_PDR_Id).id] = local.TEID, local.ipv4
    return seid, tunnels


def modified(smf, seid: int) -> None:
    response = smf.read(smf.exchange(with_seid(numbered(MODIFY, smf), seid)))
    assert (pfcp.cause(response), response.seid) == (ACCEPTED, THEIRS)


def test_a_foreign_seid(captured):
    """Its first frame deletes a session of another run: cause 65."""
    response = captured.read(captured.exchange(numbered(FOREIGN, captured)))
    assert (pfcp.cause(response), response.seid) == (65, 0)


def test_establishment_modification_deletion(captured):
    seid, tunnels = established(captured)
    assert set(tunnels) == {2, 3, 4}
    assert tunnels[2] == tunnels[4], "CHOOSE ID 5 of both"
    assert tunnels[3] != tunnels[2]
    assert tunnels[2][1] == N3
    modified(captured, seid)
    response = captured.read(captured.exchange(with_seid(numbered(DELETE, captured), seid)))
    assert pfcp.cause(response) == ACCEPTED
    assert ies.one_of(response, p.IE_UsageReport_SDR) is not None


def test_router_solicitation_and_advertisement(upf, captured):
    """§5.4.7: PDR 4 takes the UE's solicitation to the SMF's GTP-U endpoint, PDR 3 its answer to
    the gNB."""
    seid, tunnels = established(captured)
    modified(captured, seid)
    gnb, cp = upf.gnb(GNB), upf.gnb(CPU, ns=upf.cp)
    solicitation = bytes(IPv6(src="fe80::3", dst="ff02::2", hlim=255) / ICMPv6ND_RS())
    gnb.send(tunnels[4], solicitation)
    got = cp.receive()
    assert (got.teid, got.payload) == (2, solicitation)
    advertisement = bytes(
        IPv6(src="fe80::1", dst="ff02::1", hlim=255)
        / ICMPv6ND_RA()
        / ICMPv6NDOptPrefixInfo(prefix="2001:db8:45:3::", prefixlen=64)
    )
    assert tunnels[3][1] in (N4U, N3)
    cp.send((tunnels[3][0], N4U), advertisement, qfi=None)
    got = gnb.receive(gtpu.G_PDU)
    assert (got.teid, got.payload) == (2, advertisement)
