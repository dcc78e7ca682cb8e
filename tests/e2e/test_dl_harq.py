# SPDX-License-Identifier: BSD-3-Clause
"""Downlink HARQ of a gNB: what its UEs cannot decode at first comes again, and once."""

import pytest
from harness import deployment as d
from harness import program, telemetry, traffic
from harness.cell import make_cell
from harness.program import ROOT, Airpath

HOSTS = (
    ("ue", "airpath0", "10.60.0.1/24", "10.61.0.0/24"),
    ("dn", "airpath1", "10.61.0.1/24", "10.60.0.0/24"),
)
# No RLC repairs, and none is impatient with a busy machine.
UM = {"pdcp": {"t_reordering_ms": 3000}, "rlc": {"t_reassembly_ms": 9000, "queue_sdus": 1024}}
SILENCE = 257  # slots after which a TB that nothing was heard of is sent again
GOOD = ("soft_loss", "harq_repeat")  # what HARQ makes good


def roles(report: dict) -> dict[str, dict]:
    return {r["role"]: r for r in report["roles"]}


def lost(report: dict, *expected: str) -> dict[str, int]:
    """Drops but those expected, what hosts say of themselves, and requests that a busy machine
    delayed beyond their slot with the TBs behind them.
    """
    late = ("phy_loop_late", "phy_loop_no_pdu", *program.NO_CPU)
    fine = ("sdap_tx_no_ue", *late, *expected)
    return {k: n for k, n in program.drops(report).items() if not k.endswith(fine)}


def silences_pass(name: str) -> None:
    """What nothing is heard of comes again, before the PHY's clock stops."""
    slots = telemetry.wait_role(name, "gnb", bool)["slots"]
    telemetry.wait_role(name, "gnb", lambda gnb: gnb["slots"] > slots + 3 * SILENCE)


def no_idle_repeats(by: dict[str, dict]) -> bool:
    """What had decoded came again because its answer was lost, or the gNB was told of an error."""
    return by["phy"]["dl_harq_repeats"] <= by["gnb"]["dl_harq_dtx"] or by["gnb"]["phy_errors"] > 0


def deployed(net, tmp_path, file: str, changes: dict[str, str]) -> tuple[Airpath, str, str]:
    """The deployment, with texts in it changed. @return it, and the hosts' namespaces."""
    text = (ROOT / "deploy" / file).read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / file
    path.write_text(text)
    middle, hosts = net.add("m"), {name: net.add(name) for name in ("ue", "dn")}
    airpath = Airpath(net, middle, path)
    for name, interface, address, there in HOSTS:
        ns = hosts[name]
        net.run(middle, ["ip", "link", "set", interface, "netns", ns])
        net.run(ns, ["ip", "addr", "add", address, "dev", interface])
        net.run(ns, ["ip", "link", "set", interface, "up"])
        net.run(ns, ["ip", "route", "add", there, "dev", interface])
        net.settle(ns, interface)
    return airpath, hosts["ue"], hosts["dn"]


def test_what_is_lost_at_first_arrives(net, tmp_path):
    """Three TBs in ten do not decode at first, one answer in ten is not heard, RLC is UM."""
    airpath, ue, dn = deployed(
        net,
        tmp_path,
        "gnb-ue-crossconnect.yaml",
        {
            "integrity: true}, rlc: {mode: am, t_poll_retransmit_ms: 50}": "integrity: true, "
            "t_reordering_ms: 3000}, rlc: {t_reassembly_ms: 9000, queue_sdus: 1024}",
            "    tb_bytes: [60000]\n    scheduler: proportional_fair\n": "    tb_bytes: [6000]\n"
            "    dl_harq: {processes: 16, max_tx: 8}\n",
            "ahead: 8, numerology: 1, tb_bytes: [60000]": "ahead: 20, numerology: 1, "
            "tb_bytes: [6000], dl_soft_loss: 0.3, feedback_loss: 0.1",
        },
    )
    sent, answered = traffic.ping(dn, "10.60.0.1", size=1000, count=200)
    assert answered == sent
    sent, received = traffic.tcp_transfer(ue, dn, "10.60.0.1", 1 << 19, timeout=150, window=1 << 15)
    assert sent == received
    silences_pass("gnb-ue-crossconnect")
    report = airpath.stop()  # which checks the books of every node
    by = roles(report)
    assert by["phy"]["dl_tb_soft_lost"] > 20
    assert by["phy"]["feedback_lost"] > 5
    assert by["phy"]["dl_harq_repeats"] > 2
    assert by["gnb"]["dl_harq_dtx"] >= by["phy"]["feedback_lost"] - 16
    assert 0 < by["gnb"]["dl_harq_nacked"] <= by["phy"]["dl_tb_soft_lost"]
    assert by["gnb"]["dl_harq_retx"] >= by["gnb"]["dl_harq_nacked"] - 16  # the last may wait
    assert no_idle_repeats(by)
    assert by["gnb"]["tb_news_lost"] == 0
    assert by["gnb"]["dl_harq_given_up"] == 0
    assert by["gnb"]["dl_harq_acked"] > 50
    assert lost(report, *GOOD) == {}
    through = {n["node"]: n for n in report["nodes"]}
    assert through["gnb.sdap_tx"]["out"] == through["ue.sdap_rx"]["out"]


def test_what_is_given_up_has_a_name(net, tmp_path):
    """With one transmission every TB that does not decode is given up; AM repairs."""
    am = d.bearer(rlc={"mode": "am", "queue_sdus": 1024, "t_poll_retransmit_ms": 200})
    cell = make_cell(
        net,
        tmp_path,
        2,
        bearers=[am],
        security={},
        gnb={"dl_harq": {"processes": 4, "max_tx": 1}},
        tb_bytes=[3000],
        dl_soft_loss=0.1,
        seed=7,
    )
    sent, received = traffic.tcp_transfer(
        cell.ue, cell.dn, cell.v4[1], 1 << 19, timeout=150, window=1 << 15
    )
    assert sent == received
    report = cell.airpath.stop()
    gnb = roles(report)["gnb"]
    assert gnb["dl_harq_nacked"] > 5
    assert gnb["dl_harq_retx"] == 0
    assert gnb["dl_harq_given_up"] >= gnb["dl_harq_nacked"]
    assert program.drops(report)["gnb.mac_sched.mac_sched_harq_given_up"] == gnb["dl_harq_given_up"]


@pytest.mark.parametrize("strategy", ["scatter", "gather"])
def test_two_carriers_and_an_lcore_for_each_part(net, tmp_path, strategy):
    """Frames are freed by another core than the one that keeps them; uplink has HARQ, too."""
    parts = ["mac_build_fa0", "mac_build_fa1", "fapi_tx_fa0", "fapi_tx_fa1", "phy_tx"]
    place = {"ue.*": "ue", "gnb.*": "gnb", "phy.*": "phy"} | {f"gnb.{p}": p for p in parts}
    cell = make_cell(
        net,
        tmp_path,
        2,
        bearers=[d.bearer(**UM)],
        security={},
        gnb={"harq": {"max_tx": 8}, "dl_harq": {"processes": 8}, "strategy": strategy},
        tb_bytes=[3000, 9000],
        place=place,
        soft_loss=0.2,
        dl_soft_loss=0.2,
    )
    for address in cell.v4:
        sent, answered = traffic.ping(cell.dn, address, size=1400, count=40)
        assert answered == sent
    silences_pass("cell")
    report = cell.airpath.stop()
    assert no_idle_repeats(roles(report))
    assert roles(report)["gnb"]["dl_harq_retx"] > 5
    assert roles(report)["gnb"]["dl_harq_given_up"] == 0
    assert lost(report, *GOOD) == {}
