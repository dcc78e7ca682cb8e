# SPDX-License-Identifier: BSD-3-Clause
"""`airpath bench upf` in short: it fails by itself unless every packet came out as it must and the
unit's usage reports agree with what was sent."""

import json
import subprocess

import pytest
from harness.program import AIRPATH

KEYS = {
    "direction",
    "bytes",
    "mpps",
    "gbps",
    "workers",
    "dpi",
    "steering",
    "delay_us_p50",
    "delay_us_p99",
    "delay_us_mean",
    "lost",
    "cycles_per_packet",
    "no_nic",
    "composed",
}


def bench(*options: str) -> list[dict]:
    command = [AIRPATH, "bench", "upf", "--sessions", "500", "--seconds", "0.2", "--json", "-"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["bench"] == "upf"
    for row in document["rows"]:
        assert row.keys() >= KEYS
        assert (row["lost"], row["corrupted"], row["duplicated"], row["foreign"]) == (0, 0, 0, 0)
        assert row["mpps"] > 0
        assert row["cycles_per_packet"] > 0
        assert row["no_nic"] is True
        assert row["dpi"] == "off"
    return document["rows"]


def test_at_its_ports():
    rows = bench("--bytes", "64", "--rate-mpps", "0.05")
    assert [r["direction"] for r in rows] == ["uplink", "downlink", "both"]
    assert all(r["delay_us_p50"] > 0 and not r["composed"] for r in rows)
    assert all(r["steering"].startswith("rss") and r["workers"] == 1 for r in rows)


def test_alone_with_few_of_the_sessions_active():
    rows = bench("--bytes", "65,1400", "--alone", "--active", "7")
    assert [r["bytes"] for r in rows] == [65, 1400] * 3


def test_a_dispatcher_and_two_workers():
    rows = bench("--bytes", "64", "--steering", "software")
    assert all(r["composed"] and r["workers"] == 2 and r["delay_us_p50"] is None for r in rows)
    assert all(r["steering"].startswith("software") for r in rows)


@pytest.mark.parametrize(
    "options",
    [
        ("--active", "501"),
        ("--bytes", "63"),
        ("--bytes", "1401"),
        ("--direction", "sideways"),
        ("--steering", "by-hand"),
    ],
)
def test_refuses(options):
    command = [AIRPATH, "bench", "upf", "--sessions", "500", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("bench upf: --")
