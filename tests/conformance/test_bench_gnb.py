# SPDX-License-Identifier: BSD-3-Clause
"""`airpath bench gnb` in short: it fails by itself unless every packet came out as it must, from
the host and from the SmartNIC's program."""

import json
import subprocess

import pytest
from harness.program import AIRPATH

MEASURED = {"cycles_per_packet", "cycles_min", "packets", "corrupted"}
KEYS = {
    "path",
    "direction",
    "bytes",
    "offload_percent",
    "mpps",
    "lcores",
    "lost",
    "modelled",
    "no_nic",
}


def bench(*options: str) -> list[dict]:
    command = [AIRPATH, "bench", "gnb", "--ues", "300", "--seconds", "0.1", "--json", "-"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    for row in rows:
        measured = set() if row["modelled"] else MEASURED
        assert row.keys() >= KEYS | (measured - {"cycles_min"} if "live" in row else measured)
        assert row["lost"] == 0
        assert row["mpps"] > 0
        assert row["modelled"] or (row["packets"] > 0 and row["corrupted"] == 0)
    return rows


def test_both_paths_and_what_they_make_together():
    rows = bench("--smartnics", "1,3", "--offload", "0,50,100")
    measured = [
        (r["path"], r["direction"], r["offload_percent"]) for r in rows if not r["modelled"]
    ]
    assert measured == [
        ("host", "downlink", 100),
        ("host", "uplink", 100),
        ("host", "both", 100),
        ("p4", "downlink", 0),
        ("p4", "downlink", 100),
    ]
    modelled = [r for r in rows if r["modelled"]]
    assert [(r["smartnics"], r["offload_percent"]) for r in modelled] == [
        (n, share) for n in (1, 3) for share in (0, 50, 100)
    ]
    alone = {r["offload_percent"]: r["mpps"] for r in rows if r["path"] == "p4"}
    for r in modelled:
        assert (r["lcores"] == 0) == (r["offload_percent"] == 0)
        if r["offload_percent"] != 50:
            assert r["mpps"] == pytest.approx(r["smartnics"] * alone[r["offload_percent"]])


def test_acknowledged_mode_and_sizes():
    rows = bench("--rlc", "am", "--size", "80,1400", "--path", "host")
    assert [r["bytes"] for r in rows] == [80, 1400] * 3


def test_live_loses_nothing_while_contexts_change():
    """The bench fails by itself when a packet of a bearer that does not change is missing."""
    rows = bench("--live", "--context-changes", "2000", "--mpps", "0.05")
    assert [(r["direction"], r["changes_asked"]) for r in rows] == [
        (d, n) for d in ("downlink", "uplink", "both") for n in (0, 2000)
    ]
    for r in rows:
        assert r["live"]
        assert r["changes_failed"] == 0
        assert (r["changes_per_s"] > 0) == (r["changes_asked"] > 0)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--direction", "sideways"], "--direction takes"),
        (["--size", "60"], "must be 80..1400"),
        (["--offload", "101"], "must be 0..100"),
        (["--ues", "0"], "must be 1.."),
        (["--live", "--size", "121"], "must be 122..1400"),
        (["--live", "--rlc", "am"], "RLC UM only"),
        (["--live", "--path", "p4"], "path host only"),
    ],
)
def test_bad_options_are_told(options, why):
    done = subprocess.run(
        [AIRPATH, "bench", "gnb", *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert why in done.stderr
