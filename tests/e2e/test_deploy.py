# SPDX-License-Identifier: BSD-3-Clause
"""The deployment files people start from do what they say."""

import re
import shutil
from pathlib import Path

import pytest
from harness import program, telemetry, traffic
from harness.program import ROOT, Airpath

PIPELINE = ROOT / "deploy" / "ue-loopback-pipeline.yaml"


def start(net, tmp_path: Path, name: str) -> tuple[Airpath, str]:
    """A deployment as it is, in a namespace of its own. @return the program, the namespace."""
    file = tmp_path / f"{name}.yaml"
    shutil.copy(ROOT / "deploy" / f"{name}.yaml", file)
    ns = net.add("m")
    return Airpath(net, ns, file), ns


def role(report: dict, name: str) -> dict:
    return next(r for r in report["roles"] if r["role"] == name)


def threads(pid: int) -> set[str]:
    return {p.read_text().strip() for p in Path(f"/proc/{pid}/task").glob("*/comm")}


def test_pipeline_runs_the_seventeen_l_cores(net, tmp_path):
    names = re.findall(r"\{name: ([DU]L-[\w-]+), cpu", PIPELINE.read_text())
    assert len(names) == len(set(names)) == 17
    airpath, _ = start(net, tmp_path, "ue-loopback-pipeline")
    telemetry.wait_role("ue-loopback-pipeline", "gen", lambda gen: gen["good"] > 10000, 120)
    running = threads(airpath.pid)
    # The cut from pdcp_rx to pdcp_tx is for what somebody asks for.
    assert telemetry.ask("ue-loopback-pipeline", "/airpath/pdcp/status", "ue", 1) is not None
    telemetry.walk("ue-loopback-pipeline")
    report = airpath.stop()

    assert set(names) <= running
    assert len(report["cuts"]) >= 14
    assert [c for c in report["cuts"] if c["packets"] == 0] == []
    gen = role(report, "gen")
    assert gen["good"] > 10000
    assert (gen["lost"], gen["corrupted"], gen["duplicated"]) == (0, 0, 0)
    assert program.drops(report) == {}


@pytest.mark.parametrize("name", ["ue-loopback-fused", "ue-loopback-split"])
def test_loopback_brings_back_what_it_takes(net, tmp_path, name):
    airpath, _ = start(net, tmp_path, name)
    telemetry.wait_role(name, "gen", lambda gen: gen["good"] > 1000, 120)
    gen = role(airpath.stop(), "gen")
    assert gen["good"] > 1000
    assert gen["corrupted"] == gen["duplicated"] == 0


def test_tap_joins_two_kernel_interfaces(net, tmp_path):
    """As the comment in the file says."""
    airpath, ns = start(net, tmp_path, "ue-tap")
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
    airpath.stop()
