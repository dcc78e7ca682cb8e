# SPDX-License-Identifier: BSD-3-Clause
"""Lcores that sleep lose nothing, whatever wakes them: cuts, rings, slots, kernel interfaces."""

import subprocess
from pathlib import Path

import pytest
from harness import program, telemetry, traffic
from harness.hosts import V4_B, make_hosts
from harness.program import AIRPATH, ROOT, Airpath

PACKETS = 2000
GOVERNORS = ["adaptive", "slot-aware"]


def start(net, tmp_path: Path, name: str, *changes: tuple[str, str]) -> tuple[Airpath, str]:
    """A deployment with some text of it changed."""
    text = (ROOT / "deploy" / f"{name}.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / f"{name}.yaml"
    file.write_text(text)
    ns = net.add("m")
    return Airpath(net, ns, file), ns


def role(report: dict, name: str) -> dict:
    return next(r for r in report["roles"] if r["role"] == name)


@pytest.mark.parametrize("governor", GOVERNORS)
def test_loopback_over_cuts(net, tmp_path, governor):
    """Every lcore sleeps, and is woken by cuts, ring ports, timers and calls."""
    changes = [(f"cpu: {n}}}", f"cpu: {n}, governor: {governor}}}") for n in (0, 1)]
    few = ("gbps: 2.0", f"pps: 2000, packets: {PACKETS}")
    airpath, _ = start(net, tmp_path, "ue-loopback-split", few, *changes)
    telemetry.wait_back("ue-loopback-split", PACKETS)
    # A command to a lcore that sleeps is answered.
    assert telemetry.ask("ue-loopback-split", "/airpath/pdcp/status", "ue", 1) is not None
    answer = telemetry.ask("ue-loopback-split", "/airpath/power")
    now = {lcore["lcore"]: lcore for lcore in answer.values()}
    report = airpath.stop()

    assert now.keys() == {"UL-L23", "UL-MAC", "DL", "TEST"}
    assert all(lcore["governor"] == governor for lcore in now.values())
    assert all(lcore["idle"] == "pause, eventfd" for lcore in now.values())
    assert now["UL-MAC"]["sleeps"] > 0
    gen = role(report, "gen")
    assert gen["good"] == PACKETS
    # TBs of padding may be late on a machine that is shared, packets are all there.
    assert (gen["lost"], gen["corrupted"], gen["duplicated"]) == (0, 0, 0)
    power = {p["lcore"]: p for p in report["power"]}
    assert power.keys() == now.keys()
    assert all(p["pstates"] == "none" and p["power_source"] == "none" for p in power.values())


def test_priority_is_shown_and_what_it_comes_to(net, tmp_path):
    """High: the fastest state of the model. Normal: the second. Without P-states: no effect."""
    table = ROOT / "deploy" / "power" / "xeon-gold-5418y.yaml"
    airpath, _ = start(
        net,
        tmp_path,
        "ue-loopback-split",
        ("lcores:", f"power: [{{name: fast, backend: model, table: {table}}}]\nlcores:"),
        ("name: UL-L23, cpu: 1", "name: UL-L23, cpu: 1, governor: adaptive, priority: high"),
        ("name: UL-MAC, cpu: 1", "name: UL-MAC, cpu: 1, governor: adaptive"),
        ("name: DL, cpu: 0", "name: DL, cpu: 0, priority: high"),
        ("gbps: 2.0", "pps: 1000, packets: 100"),
    )
    telemetry.wait_back("ue-loopback-split", 100)
    answer = telemetry.ask("ue-loopback-split", "/airpath/power")
    now = {lcore["lcore"]: lcore for lcore in answer.values()}
    shown = {name: (p.get("priority"), p.get("priority_effect")) for name, p in now.items()}
    assert shown == {
        "UL-L23": ("high", "up to 2200 MHz"),
        "UL-MAC": ("normal", "up to 1900 MHz"),
        "DL": ("high", "no effect"),
        "TEST": ("normal", "no effect"),
    }
    table = subprocess.run(
        [AIRPATH, "show", "power", "--name", "ue-loopback-split"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "high, up to 2200 MHz" in table
    assert "high, no effect" in table
    report = airpath.stop()
    said = {p["lcore"]: p.get("priority_effect") for p in report["power"]}
    assert said == {"UL-L23": "up to 2200 MHz", "UL-MAC": "up to 1900 MHz", "DL": "no effect"}
    assert "lcore DL: priority high: no effect" in airpath.log()
    assert float(now["UL-MAC"]["freq_mhz"]) <= 1900


@pytest.mark.parametrize("governor", GOVERNORS)
@pytest.mark.parametrize("preset", ["af_packet", "af_xdp"])
def test_sockets_wake_by_their_descriptors(net, tmp_path, preset, governor):
    """Requests and answers, each of which finds everybody asleep, and then a transfer."""
    hosts = make_hosts(net, tmp_path, preset=preset, governor=governor)
    sent, answered = traffic.ping(hosts.a, V4_B, size=1000)
    assert answered == sent
    sent, received = traffic.tcp_transfer(hosts.b, hosts.a, V4_B, 2 << 20)
    assert received == sent
    report = hosts.airpath.stop()
    idle = {p["lcore"]: p["idle"] for p in report["power"]}
    assert "epoll" in idle["l2"]
    fine = ("queue_full", *program.NO_CPU)
    lost = {k: n for k, n in program.drops(report).items() if not k.endswith(fine)}
    assert lost == {}, "only a full queue may cost TCP a packet here"


@pytest.mark.parametrize("governor", GOVERNORS)
def test_tap_wakes_by_its_descriptor(net, tmp_path, governor):
    airpath, ns = start(net, tmp_path, "ue-tap", ("governor: yield", f"governor: {governor}"))
    far = net.add("far")
    net.run(ns, ["ip", "link", "set", "airpath1", "netns", far])
    net.run(ns, ["ip", "addr", "add", "10.45.0.1/24", "dev", "airpath0"])
    net.run(ns, ["ip", "link", "set", "airpath0", "up"])
    net.run(far, ["ip", "addr", "add", "10.45.0.2/24", "dev", "airpath1"])
    net.run(far, ["ip", "link", "set", "airpath1", "up"])
    net.settle(ns, "airpath0")
    net.settle(far, "airpath1")
    sent, answered = traffic.ping(ns, "10.45.0.2", size=1000)
    assert answered == sent
    report = airpath.stop()
    assert any("epoll" in p["idle"] for p in report["power"])
