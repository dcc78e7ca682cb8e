# SPDX-License-Identifier: BSD-3-Clause
"""Scheduling requests: a PHY that grants only what is asked for."""

import pytest
from harness import deployment as d
from harness import program, telemetry, traffic
from harness.hosts import V4_B, make_hosts
from harness.program import Airpath
from harness.wait import until

SR = {"prohibit_ms": 4, "trans_max": 64}
IDLE_SLOTS = 1000  # HARQ and SRs that go on would ask for some of them


def roles(report: dict) -> dict[str, dict]:
    return {r["role"]: r for r in report["roles"]}


def asked_for_nothing(deployment: str) -> dict:
    """Until the PHY has granted none of many slots. @return what it reports then"""

    def found() -> dict | None:
        before = telemetry.role(deployment, "phy")
        after = telemetry.wait_role(
            deployment, "phy", lambda now: now["slots"] >= before["slots"] + IDLE_SLOTS
        )
        return after if after["grants"] == before["grants"] else None

    return until(found, 60)


def test_ping_and_tcp_on_grants_asked_for(net, tmp_path):
    hosts = make_hosts(net, tmp_path, more={"sr": SR}, grant_on_sr=True)
    sent, answered = traffic.ping(hosts.a, V4_B, size=1000)
    assert answered == sent
    sent, received = traffic.tcp_transfer(hosts.b, hosts.a, V4_B, 2 << 20)
    assert received == sent
    asked_for_nothing("hosts")
    report = hosts.airpath.stop()
    phy, a, b = (roles(report)[k] for k in ("phy", "a", "b"))
    fine = ("queue_full", *program.NO_CPU)
    lost = {k: n for k, n in program.drops(report).items() if not k.endswith(fine)}
    assert lost == {}, "only a full queue may cost TCP a packet here"
    assert phy["srs"] == a["srs"] + b["srs"]
    assert a["srs"] > 5  # pings ask, unless a slow machine brings several at once
    assert a["sr_failures"] == b["sr_failures"] == 0
    assert 0 < phy["grants"] < phy["slots"], "idle slots are not granted"


@pytest.mark.parametrize("harq", [{}, {"processes": 8, "max_tx": 4}])
def test_nothing_is_lost_and_idle_slots_are_not_granted(net, tmp_path, harq):
    """Bursts on two carriers, an lcore for each of them, with TBs that decode late or never."""
    names = ["mac_build_fa0", "mac_build_fa1", "fapi_tx_fa0", "fapi_tx_fa1", "phy_tx"]
    place = {"ue.*": "ue", "gen.*": "test", "phy.*": "phy"} | {f"ue.{n}": n for n in names}
    slow = d.bearer(pdcp={"t_reordering_ms": 3000}, rlc={"t_reassembly_ms": 9000})
    file = d.write(
        tmp_path / "sr.yaml",
        "sr",
        ports=[*d.ring_pair("gen", "user", "ip"), *d.ring_pair("radio", "phy")],
        ue=[
            d.ue(
                "ue", "user", "radio", [slow], carriers=2, sr=SR, **({"harq": harq} if harq else {})
            )
        ],
        phy=[
            {
                "name": "phy",
                "port": "phy",
                "numerology": 1,
                "tb_bytes": [3000, 9000],
                "grant_on_sr": True,
                **({"soft_loss": 0.2} if harq else {}),
            }
        ],
        gen=[{"name": "gen", "port": "gen", "sizes": [64, 1400], "pps": 200, "packets": 200}],
        lcores=d.lcores(*dict.fromkeys(place.values())),
        place=[{"node": node, "lcore": lcore} for node, lcore in place.items()],
    )
    airpath = Airpath(net, net.add("m"), file)
    telemetry.wait_back("sr", 200)
    quiet = asked_for_nothing("sr")
    report = airpath.stop()
    gen, phy, ue = (roles(report)[k] for k in ("gen", "phy", "ue"))
    assert gen["sent"] >= 200
    assert (gen["good"], gen["lost"], gen["corrupted"]) == (gen["sent"], 0, 0)
    assert {k.rsplit("phy_loop_")[-1] for k in program.drops(report)} <= {
        "soft_loss",
        "harq_repeat",
    }
    assert 20 < ue["srs"] == phy["srs"]
    assert ue["sr_failures"] == 0
    assert quiet["grants"] > 0


def test_data_waits_when_nobody_hears_the_requests(net, tmp_path):
    """trans_max SRs go out, then as many after each random access; nothing is lost or sent."""
    file = d.write(
        tmp_path / "deaf.yaml",
        "deaf",
        ports=[*d.ring_pair("gen", "user", "ip"), *d.ring_pair("radio", "phy")],
        ue=[d.ue("ue", "user", "radio", any_rnti=True, sr={"prohibit_ms": 1, "trans_max": 5})],
        phy=[
            {
                "name": "phy",
                "port": "phy",
                "numerology": 1,
                "rnti": 77,
                "tb_bytes": [9000],
                "grant_on_sr": True,
            }
        ],
        gen=[{"name": "gen", "port": "gen", "sizes": [100], "pps": 1000, "packets": 50}],
        lcores=d.lcores("ue", "test"),
        place=[
            {"node": "ue.*", "lcore": "ue"},
            *({"node": f"{r}.*", "lcore": "test"} for r in ("gen", "phy")),
        ],
    )
    airpath = Airpath(net, net.add("m"), file)
    telemetry.wait_role("deaf", "gen", lambda gen: gen["sent"] >= 50)
    telemetry.wait_role("deaf", "ue", lambda ue: ue["sr_failures"] > 1)
    report = airpath.stop()
    phy, ue = (roles(report)[k] for k in ("phy", "ue"))
    assert ue["sr_failures"] > 1
    assert 0 <= ue["srs"] - 5 * ue["sr_failures"] <= 5
    assert ue["tbs"] == 0
    assert (phy["srs"], phy["grants"]) == (0, 0)
    assert program.drops(report) == {"phy.loop0.phy_loop_unknown_rnti": ue["srs"]}
    assert report["held"] >= 50
