# SPDX-License-Identifier: BSD-3-Clause
"""The SMF of the tests against itself: what it says is well formed, and its judges see what is
not."""

import contextlib

import pytest
from harness import gtpu, usage
from harness import pfcp_ies as ies
from harness.capture import Capture, judge
from harness.netns import Net, available
from harness.pfcp import ESTABLISHMENT, MODIFICATION, Smf, Unanswered
from scapy.contrib import pfcp as p

REQUEST = [
    ies.pdr(
        1,
        ies.pdi(
            ies.ACCESS,
            ies.choose(5, v6=True),
            ies.network_instance("internet"),
            ies.ue_ip("10.45.0.3", "2001:db8::1"),
            ies.sdf("permit out ip from any to assigned", tos=(8, 0xFC), spi=7, identity=1),
            p.IE_QFI(QFI=5),
        ),
        far=1,
        precedence=32,
        removal=0,
        qers=[1, 2],
        urrs=[1],
    ),
    ies.pdr(2, ies.pdi(ies.CORE, ies.choose_ue_ip(v4=True, destination=True)), far=2, precedence=7),
    ies.far(1, "FORW", to=ies.CORE, instance="internet"),
    ies.far(2, "BUFF", "NOCP", to=ies.ACCESS, out=(7, "10.3.0.2"), tos=(0xB8, 0xFC), bar=1),
    ies.qer(1, mbr=(1000, 2000), gbr=(64, 64), qfi=9, rqi=True),
    ies.qer(2, gate=(1, 0)),
    ies.urr(
        1,
        p.IE_MeasurementPeriod(period=5),
        methods=("VOLUM", "DURAT"),
        report=("PERIO", "VOLTH", "VOLQU"),
        threshold={"total": 1000},
        quota={"total": 5, "uplink": 6, "downlink": 7},
    ),
    ies.bar(1, packets=20, delay=4),
]
UPDATE = [
    ies.pdr(1, precedence=9, update=True),
    ies.far(2, "FORW", out=(9, "fd03::2"), end_markers=True, update=True),
    ies.qer(1, gate=None, mbr=(5, 5), update=True),
    ies.urr(1, methods=(), quota={"total": 9}, update=True),
    ies.remove(p.IE_RemovePDR, 2),
    ies.remove(p.IE_Remove_BAR, 1),
]


@pytest.fixture(scope="module")
def net():
    if not available():
        pytest.skip("no right to make network namespaces here; run as root")
    with Net() as net:
        yield net


def test_what_the_smf_says_is_well_formed(net, tmp_path):
    """Two SMFs, each the other's UPF: session requests get no answer, the others do."""
    ns = net.add("n4")
    capture = Capture(tmp_path / "n4.pcap")
    a = Smf(ns, capture)
    b = Smf(ns, None, address="127.0.0.7", upf=("127.0.0.4", 8805))
    a.associate()
    assert a.heartbeat() == b.recovery
    for kind, rules in ((ESTABLISHMENT, REQUEST), (MODIFICATION, UPDATE)):
        b.answer = lambda packet: None
        head = [ies.node_id("127.0.0.4"), a.f_seid(1)] if kind == ESTABLISHMENT else []
        with contextlib.suppress(Unanswered):
            a.request(kind, *head, *rules, tries=1, timeout=0.1)
        assert b.wait_request(kind).seq
    a.close()
    b.close()
    capture.close()
    assert a.unread == b.unread == []
    assert judge(tmp_path / "n4.pcap", "pfcp") == (6, [])


def test_the_judge_objects(net, tmp_path):
    capture = Capture(tmp_path / "n4.pcap")
    smf = Smf(net.add("objects"), capture)
    cut = ies.raw(57, b"\x02\0")  # an F-SEID must have nine octets at least
    capture.add(smf.local, smf.upf, smf.message(ESTABLISHMENT, cut, seq=1))
    smf.close()
    capture.close()
    count, problems = judge(tmp_path / "n4.pcap", "pfcp")
    assert count == 1
    assert problems


def test_usage_reports_are_read_octet_by_octet():
    volumes = b"".join(n.to_bytes(8) for n in (1 << 40, 7, 8, 3, 1, 2))
    report = p.IE_UsageReport_SDR(
        IE_list=[
            p.IE_URR_Id(id=1),
            p.IE_UR_SEQN(number=4),
            ies.raw(63, b"\x02\x08\x20"),
            ies.raw(66, b"\x3f" + volumes),
            p.IE_DurationMeasurement(duration=42),
        ]
    )
    got = usage.read(report)
    assert (got.urr, got.seqn, got.triggers) == (1, 4, {"VOLTH", "TERMR", "UPINT"})
    assert (got.total, got.uplink, got.downlink) == (1 << 40, 7, 8)
    assert (got.total_packets, got.uplink_packets, got.downlink_packets) == (3, 1, 2)
    assert (got.duration, got.first) == (42, None)


def test_gtpu_reads_what_it_makes():
    message = gtpu.parse(gtpu.uplink(7, b"E" * 20, 9))
    assert (message.kind, message.teid, message.qfi, message.payload) == (255, 7, 9, b"E" * 20)
    error = gtpu.parse(gtpu.error_indication(0xCAFE, "10.3.0.2"))
    assert error.ies() == {16: b"\0\0\xca\xfe", 133: b"\x0a\x03\0\x02"}
    with pytest.raises(gtpu.Broken):
        gtpu.parse(gtpu.uplink(7, b"E" * 20)[:-1])
