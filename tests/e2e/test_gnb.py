# SPDX-License-Identifier: BSD-3-Clause
"""A gNB and its UEs over the cross-connected PHY: kernel hosts on both sides."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import deployment as d
from harness import program, traffic
from harness.cell import V4_DN, V6_DN, make_cell
from harness.program import ROOT, Airpath

AGAIN = ("rlc_rx_sn_old", "rlc_rx_duplicate")  # AM: what came twice


def roles(report: dict) -> dict[str, dict]:
    return {r["role"]: r for r in report["roles"]}


def unexpected(report: dict, *expected: str) -> dict[str, int]:
    """Drops but those expected and: full queues, what hosts say from link-local addresses, requests
    that a busy machine delayed beyond their slot with the TBs behind them, and their repair by AM.
    """
    late = ("phy_loop_late", "phy_loop_no_pdu", *program.NO_CPU)
    fine = ("queue_full", "sdap_tx_no_ue", *late, *AGAIN)
    lost = program.drops(report)
    return {k: n for k, n in lost.items() if not k.endswith((*fine, *expected))}


def test_every_ue_is_reached_and_reaches(net, tmp_path):
    cell = make_cell(net, tmp_path, 5)
    for addresses in (cell.v4, cell.v6):
        for address in addresses:
            sent, answered = traffic.ping(cell.dn, address, size=1000, count=5)
            assert answered == sent, address
    sent, answered = traffic.ping(cell.ue, V4_DN, size=1000)
    assert answered == sent
    report = cell.airpath.stop()
    assert unexpected(report) == {}
    by = roles(report)
    assert by["gnb"]["dl_tbs"] > 0
    assert by["gnb"]["ul_tbs"] > 0
    assert by["gnb"]["srs"] > 0
    assert 0 < by["ue"]["tbs"] <= by["gnb"]["ul_tbs"]


@pytest.mark.parametrize("scheduler", ["round_robin", "proportional_fair"])
def test_tcp_of_many_ues_at_once(net, tmp_path, scheduler):
    """Both ways, all at the same time, ciphered and with integrity protection."""
    cell = make_cell(net, tmp_path, 4, gnb={"scheduler": scheduler})
    jobs = [(cell.ue, cell.dn, address, None) for address in (*cell.v4[:2], cell.v6[2])]
    jobs += [(cell.dn, cell.ue, V4_DN, address) for address in cell.v4[1:3]]
    jobs += [(cell.dn, cell.ue, V6_DN, cell.v6[3])]

    def transfer(job: tuple) -> tuple[str, str]:
        server, client, address, source = job
        return traffic.tcp_transfer(
            server, client, address, 1 << 18, timeout=150, source=source, window=1 << 15
        )

    with ThreadPoolExecutor(len(jobs)) as pool:
        for sent, received in pool.map(transfer, jobs):
            assert sent == received
    report = cell.airpath.stop()
    assert unexpected(report) == {}
    through = {n["node"]: n for n in report["nodes"]}
    assert through["ue.sdap_tx"]["out"] == through["gnb.sdap_rx"]["out"]
    assert through["gnb.sdap_tx"]["out"] == through["ue.sdap_rx"]["out"]


def test_acknowledged_mode_repairs_a_lossy_air(net, tmp_path):
    cell = make_cell(net, tmp_path, 3, tb_loss=0.05, seed=5)
    for server, client, address, source in (
        (cell.ue, cell.dn, cell.v4[2], None),
        (cell.dn, cell.ue, V6_DN, cell.v6[1]),
    ):
        sent, received = traffic.tcp_transfer(
            server, client, address, 1 << 18, timeout=150, source=source, window=1 << 15
        )
        assert sent == received
    report = cell.airpath.stop()
    lost = program.drops(report)
    assert sum(n for k, n in lost.items() if k.endswith("tb_loss")) > 0, "no loss, no proof"
    assert unexpected(report, "tb_loss") == {}


def upload(cell, bytes_: int, ue: int = 1) -> None:
    """A UE's TCP transfer to the data network, by SHA-256."""
    sent, received = traffic.tcp_transfer(
        cell.dn, cell.ue, V4_DN, bytes_, timeout=150, source=cell.v4[ue], window=1 << 15
    )
    assert sent == received


def test_harq_repairs_the_uplink(net, tmp_path):
    """Three TBs in ten do not decode at first. RLC repairs nothing here: HARQ alone does."""
    um = d.bearer(pdcp={"t_reordering_ms": 3000}, rlc={"t_reassembly_ms": 9000, "queue_sdus": 1024})
    harq = {"processes": 16, "max_tx": 8}
    cell = make_cell(
        net, tmp_path, 3, bearers=[um], security={}, gnb={"harq": harq}, soft_loss=0.3, seed=6
    )
    for address in cell.v4:
        sent, answered = traffic.ping(cell.dn, address, size=1000, count=20)
        assert answered == sent, address
    upload(cell, 1 << 19)
    report = cell.airpath.stop()
    by = roles(report)
    assert by["gnb"]["ul_crc_failed"] == by["phy"]["tb_soft_lost"] > 20
    assert by["gnb"]["harq_lost"] == 0
    assert by["gnb"]["harq_retx"] > 20
    assert by["ue"]["harq_retx"] >= by["gnb"]["ul_crc_failed"] - 16  # the last may be under way
    assert by["ue"]["harq_mismatch"] == 0
    assert unexpected(report, "soft_loss", "harq_repeat") == {}


@pytest.mark.parametrize("max_tx", [4, 1])
def test_what_harq_gives_up_acknowledged_mode_repairs(net, tmp_path, max_tx):
    """One TB in ten does not decode at first; with one transmission each of these is given up."""
    harq = {"processes": 8, "max_tx": max_tx}
    cell = make_cell(net, tmp_path, 2, gnb={"harq": harq}, soft_loss=0.1, seed=7)
    upload(cell, 1 << 19)
    report = cell.airpath.stop()
    gnb = roles(report)["gnb"]
    assert gnb["ul_crc_failed"] > 5
    if max_tx > 1:
        assert gnb["harq_retx"] >= gnb["ul_crc_failed"] - 2
        assert gnb["harq_lost"] == 0
    else:
        assert gnb["harq_retx"] == 0
        assert gnb["harq_lost"] == gnb["ul_crc_failed"]
    assert unexpected(report, "soft_loss", "harq_repeat") == {}


def download(cell, bytes_: int) -> None:
    """To all UEs at once, each by TCP."""

    def one(address: str) -> tuple[str, str]:
        return traffic.tcp_transfer(cell.ue, cell.dn, address, bytes_, timeout=150, window=1 << 16)

    with ThreadPoolExecutor(len(cell.v4)) as pool:
        for sent, received in pool.map(one, cell.v4):
            assert sent == received


def mean_tb(net, tmp_path, ues: int, size: int, tag: str, **cell_args) -> float:
    """@return bytes of a downlink TB on average, one UE in a slot."""
    am = d.bearer(rlc={"mode": "am", "queue_sdus": 1024, "t_poll_retransmit_ms": 200})
    gnb = {"ues_per_slot": 1, **cell_args.pop("gnb", {})}
    (tmp_path / tag).mkdir()
    cell = make_cell(
        net, tmp_path / tag, ues, bearers=[am], security={}, gnb=gnb, tag=tag, **cell_args
    )
    download(cell, size)
    report = cell.airpath.stop()
    assert unexpected(report) == {}
    gnb = roles(report)["gnb"]
    return gnb["dl_tb_bytes"] / gnb["dl_tbs"]


def test_tbs_follow_the_channel(net, tmp_path):
    """TS 38.214 table 5.2.2.1-2: a slot carries 386/5688 as much at CQI 3 as at CQI 15."""
    poor = mean_tb(net, tmp_path, 1, 1 << 17, "a", cqi=[3], tb_bytes=[9000])
    good = mean_tb(net, tmp_path, 1, 1 << 17, "b", cqi=[15], tb_bytes=[9000])
    assert 100 < poor <= 9000 * 386 / 5688
    assert good > 2 * poor


def test_two_carriers_and_an_lcore_for_each_part(net, tmp_path):
    parts = ["mac_build_fa0", "mac_build_fa1", "fapi_tx_fa0", "fapi_tx_fa1", "phy_tx"]
    place = {"ue.*": "ue", "gnb.*": "gnb", "phy.*": "phy"} | {f"gnb.{p}": p for p in parts}
    cell = make_cell(net, tmp_path, 2, tb_bytes=[3000, 9000], place=place)
    for address in cell.v4:
        sent, answered = traffic.ping(cell.dn, address, size=1400, count=20)
        assert answered == sent
    sent, received = traffic.tcp_transfer(
        cell.ue, cell.dn, cell.v4[1], 1 << 18, timeout=150, window=1 << 15
    )
    assert sent == received
    report = cell.airpath.stop()
    assert unexpected(report) == {}


def test_what_is_nobodys_has_a_name(net, tmp_path):
    """Packets from, and to, an address that no UE has."""
    um = d.bearer(rlc={"mode": "um", "queue_sdus": 1024})
    cell = make_cell(net, tmp_path, 2, bearers=[um], security={}, foreign=1)
    sent, answered = traffic.ping(cell.dn, cell.v4[0], size=100, count=5)
    assert answered == sent
    for client, server, address, source in (
        (cell.dn, cell.ue, cell.v4[2], None),
        (cell.ue, cell.dn, V4_DN, cell.v4[2]),
    ):
        with pytest.raises(TimeoutError):
            traffic.tcp_transfer(server, client, address, 100, timeout=2, source=source)
    report = cell.airpath.stop()
    lost = program.drops(report)
    assert lost["gnb.sdap_tx.sdap_tx_no_ue"] > 0
    assert lost["ue.sdap_tx.sdap_tx_no_ue"] > 0


def test_deployment_carries_tcp_between_namespaces(net, tmp_path):
    """deploy/gnb-ue-crossconnect.yaml, as the comment in the file says."""
    file = tmp_path / "gnb-ue-crossconnect.yaml"
    shutil.copy(ROOT / "deploy" / file.name, file)
    middle, ue, dn = net.add("m"), net.add("ue"), net.add("dn")
    airpath = Airpath(net, middle, file)
    for ns, interface, address, there in (
        (ue, "airpath0", "10.60.0.1/24", "10.61.0.0/24"),
        (dn, "airpath1", "10.61.0.1/24", "10.60.0.0/24"),
    ):
        net.run(middle, ["ip", "link", "set", interface, "netns", ns])
        net.run(ns, ["ip", "addr", "add", address, "dev", interface])
        net.run(ns, ["ip", "link", "set", interface, "up"])
        net.run(ns, ["ip", "route", "add", there, "dev", interface])
        net.settle(ns, interface)
    for server, client, address in ((dn, ue, "10.61.0.1"), (ue, dn, "10.60.0.1")):
        sent, received = traffic.tcp_transfer(
            server, client, address, 1 << 20, timeout=150, window=1 << 15
        )
        assert sent == received
    report = airpath.stop()
    assert roles(report)["gnb"]["dl_tbs"] > 0
    assert roles(report)["ue"]["security"] != "none"
