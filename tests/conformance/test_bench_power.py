# SPDX-License-Identifier: BSD-3-Clause
"""`airpath bench power` in short: every governor carries the load it is offered."""

import json
import subprocess

import pytest
from harness.program import AIRPATH

KEYS = {
    "governor",
    "load_percent",
    "cpu_time_percent",
    "wakeups_per_s",
    "power_watts",
    "power_source",
    "freq_mhz",
    "delay_us_p50",
    "delay_us_p99",
    "mpps",
    "lost",
    "idle",
    "pstates",
    "no_nic",
}


@pytest.mark.parametrize(("device", "slot"), [("gnb", "500"), ("gnb", "0"), ("upf", "500")])
def test_rows(device, slot):
    command = [AIRPATH, "bench", "power", "--sessions", "200", "--seconds", "0.3", "--json", "-"]
    command += ["--loads", "0,50", "--rate-mpps", "0.02", "--slot-us", slot, "--device", device]
    command += ["--tries", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["bench"] == "power"
    assert any("P-states: model" in e for e in document["host"]["emulations"])
    rows = document["rows"]
    names = ["busy", "adaptive", "slot-aware"]
    assert [(r["load_percent"], r["governor"]) for r in rows] == [
        (load, name) for load in (0, 50) for name in names
    ]
    for row in rows:
        assert row.keys() >= KEYS
        assert row["device"].startswith(device)
        assert row["power_source"] in ("measured", "modelled")
        assert (row["corrupted"], row["no_nic"], row["pstates"]) == (0, True, "model")
        assert 800 <= row["freq_mhz"] <= 2200
        assert row["power_watts"] > 0
        if row["governor"] == "busy":
            assert (row["wakeups_per_s"], row["freq_mhz"], row["idle"]) == (0, 2200, "none")
        else:
            assert row["idle"] == "pause, eventfd"
        if row["load_percent"] == 0:
            assert (row["mpps"], row["delay_us_p99"], row["lost"]) == (0, None, 0)
        else:
            assert row["mpps"] > 0
            assert row["delay_us_p99"] > 0
    idle = {r["governor"]: r for r in rows if r["load_percent"] == 0}
    assert all(idle[name]["wakeups_per_s"] > 0 for name in names[1:])


def test_some_governors():
    command = [AIRPATH, "bench", "power", "--sessions", "50", "--seconds", "0.1", "--json", "-"]
    command += ["--loads", "50", "--rate-mpps", "0.02", "--tries", "3"]
    command += ["--governors", "slot-aware,adaptive"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [r["governor"] for r in rows] == ["adaptive", "slot-aware"]
    for row in rows:
        assert row["tries"] == 3
        assert row["delay_us_p99_least"] <= row["delay_us_p99"] <= row["delay_us_p99_most"]


@pytest.mark.parametrize(
    "options",
    [
        ("--loads", "101"),
        ("--slot-us", "49"),
        ("--slot-us", "10001"),
        ("--bytes", "63"),
        ("--device", "ue"),
        ("--tries", "100"),
        ("--governors", "adaptive,eager"),
    ],
)
def test_refuses(options):
    done = subprocess.run(
        [AIRPATH, "bench", "power", *options], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.startswith("bench power: --")
