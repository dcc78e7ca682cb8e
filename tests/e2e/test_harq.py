# SPDX-License-Identifier: BSD-3-Clause
"""HARQ with a real UE and PHY: what the PHY cannot decode at first comes again, unchanged."""

from pathlib import Path

import pytest
from harness import deployment as d
from harness import program, telemetry
from harness.netns import Net
from harness.program import Airpath

PACKETS = 2000
HARQ = {"processes": 16, "max_tx": 4}
EXPECTED = {"soft_loss", "harq_repeat"}  # what HARQ makes good


def run(
    net: Net,
    folder: Path,
    *,
    ue: dict,
    phy: dict,
    place: dict[str, str] | None = None,
    drains: bool = True,
) -> dict:
    """The generator's packets through UE, PHY and back. @return the report of the run."""
    place = place or {"ue.*": "ue", "gen.*": "test", "phy.*": "test"}
    # Longer than retransmissions take where a starved UE misses most slots.
    slow = d.bearer(pdcp={"t_reordering_ms": 3000}, rlc={"t_reassembly_ms": 9000})
    file = d.write(
        folder / "harq.yaml",
        "harq",
        ports=[*d.ring_pair("gen", "user", "ip"), *d.ring_pair("radio", "phy")],
        ue=[d.ue("ue", "user", "radio", [slow], carriers=2, **ue)],
        phy=[{"name": "phy", "port": "phy", "numerology": 1, "tb_bytes": [9000, 20000], **phy}],
        gen=[{"name": "gen", "port": "gen", "sizes": [64, 1400], "pps": 4000, "packets": PACKETS}],
        lcores=d.lcores(*dict.fromkeys(place.values())),
        place=[{"node": node, "lcore": lcore} for node, lcore in place.items()],
    )
    airpath = Airpath(net, net.add("m"), file)
    if drains:
        telemetry.wait_back("harq", PACKETS)
    else:
        telemetry.wait_role("harq", "phy", lambda phy: phy["tb_lost"] > 50)
    return airpath.stop()


def roles(report: dict) -> dict[str, dict]:
    return {r["role"]: r for r in report["roles"]}


@pytest.mark.parametrize("strategy", ["scatter", "gather", "scheme1", "scheme2"])
def test_nothing_is_lost(net, tmp_path, strategy):
    report = run(
        net, tmp_path, ue={"strategy": strategy, "harq": HARQ}, phy={"soft_loss": 0.1, "seed": 3}
    )
    gen, phy, ue = (roles(report)[k] for k in ("gen", "phy", "ue"))
    assert phy["tb_soft_lost"] > 20
    assert ue["harq_retx"] >= phy["tb_soft_lost"] - 2  # the slot clock may stop before the last
    assert phy["tb_lost"] == 0
    assert {k.rsplit("phy_loop_")[-1] for k in program.drops(report)} <= EXPECTED
    assert gen["good"] == gen["sent"] > 1000
    assert (gen["lost"], gen["corrupted"], gen["duplicated"], gen["reordered"]) == (0, 0, 0, 0)


def test_an_lcore_for_each_node(net, tmp_path):
    """Frames are freed by another core than the one that keeps them."""
    nodes = ["mac_build_fa0", "mac_build_fa1", "fapi_tx_fa0", "fapi_tx_fa1", "phy_tx"]
    place = {"ue.*": "ue", "gen.*": "test", "phy.*": "phy"} | {f"ue.{n}": n for n in nodes}
    report = run(net, tmp_path, ue={"harq": HARQ}, phy={"soft_loss": 0.3, "seed": 4}, place=place)
    gen, phy = (roles(report)[k] for k in ("gen", "phy"))
    assert phy["tb_soft_lost"] > 50
    assert phy["tb_lost"] == 0
    assert (gen["good"], gen["corrupted"], gen["duplicated"]) == (gen["sent"], 0, 0)


def test_max_tx_gives_up(net, tmp_path):
    harq = {"processes": 4, "max_tx": 2}
    report = run(net, tmp_path, ue={"harq": harq}, phy={"soft_loss": 1.0}, drains=False)
    gen, phy = (roles(report)[k] for k in ("gen", "phy"))
    assert gen["good"] == 0
    assert phy["tb_out"] == 0
    assert 0 < phy["tb_lost"] <= phy["harq_retx"]
    assert phy["tb_soft_lost"] >= 2 * phy["tb_lost"]


def test_without_loss_nothing_is_sent_again(net, tmp_path):
    report = run(net, tmp_path, ue={"harq": HARQ}, phy={})
    gen, phy = (roles(report)[k] for k in ("gen", "phy"))
    assert phy["harq_retx"] == phy["tb_soft_lost"] == 0
    assert (gen["good"], gen["lost"]) == (gen["sent"], 0)
