# SPDX-License-Identifier: BSD-3-Clause
"""`airpath bench upf` in short: it fails by itself unless every packet came out as it must and the
unit's usage reports agree with what was sent."""

import json
import subprocess
import time

import pytest
from harness.freeze import frozen, thread
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
        assert row["mpps"] > 0 or row["limit"] == "disturbed"
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UPF", "GEN"])
def test_a_thread_without_a_cpu_disturbs_and_loses_nothing(tmp_path, name):
    """The worker or the generator stands still in the middle of a trial, for longer than a call to
    the worker waits: the bench goes on, says so, and every packet is accounted for."""
    log, report = tmp_path / "log", tmp_path / "json"
    command = [AIRPATH, "bench", "upf", "--sessions", "500", "--seconds", "4", "--json", report]
    command += ["--direction", "uplink", "--bytes", "64", "--rate-mpps", "0.05"]
    with log.open("w") as err, subprocess.Popen(command, stderr=err, stdout=err) as bench:
        while "uplink, 64 B" not in log.read_text() or (tid := thread(bench.pid, name)) is None:
            assert bench.poll() is None, log.read_text()
            time.sleep(0.05)
        time.sleep(2.5)  # what each part costs alone is over, trials have begun
        with frozen(tid):
            time.sleep(12)
        assert bench.wait(120) == 0, log.read_text()
    (row,) = json.loads(report.read_text())["rows"]
    assert (row["lost"], row["corrupted"], row["duplicated"]) == (0, 0, 0)
    assert ("lcore UPF has had no CPU for" in log.read_text()) == (name == "UPF")
    assert (row["starved_s"] > 0) == (name == "UPF")


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
