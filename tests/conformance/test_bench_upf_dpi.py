# SPDX-License-Identifier: BSD-3-Clause
"""`airpath bench upf --dpi` in short: it fails by itself unless every packet came out as it must
and every rating group of every session was charged what its flows come to."""

import json
import subprocess
import sys

import pytest
from harness.program import AIRPATH, ROOT

sys.path.insert(0, str(ROOT / "bench"))
import s2

KEYS = {
    "packets_per_flow",
    "new_flows_per_s",
    "flows",
    "dpi_scans",
    "records",
    "ratio",
    "ratio_live",
    "lost",
    "rules_l7",
    "rules_l34",
    "rules_memory",
    "flows_memory",
}
SMALL = ["--sessions", "400", "--rules", "1000", "--flow-rules", "200", "--seconds", "0.2"]


def bench(*options: str) -> tuple[dict, dict]:
    command = [AIRPATH, "bench", "upf", "--dpi", *SMALL, "--json", "-", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    plain, dpi = json.loads(done.stdout)["rows"]
    assert (plain["dpi"], dpi["dpi"]) == ("off", "on")
    for row in (plain, dpi):
        assert row.keys() >= KEYS
        assert (row["lost"], row["corrupted"], row["duplicated"], row["foreign"]) == (0, 0, 0, 0)
        assert (row["direction"], row["bytes"], row["rules_l7"]) == ("both", 690, 1000)
        assert row["cycles_per_packet"] > 0
    assert dpi["ratio"] > 0
    return plain, dpi


def test_alone():
    plain, dpi = bench("--alone", "--packets-per-flow", "10")
    assert dpi["records"] > 400 * 5, "sessions have used most rating groups"
    assert dpi["dpi_scans"] > 400 * 2
    assert dpi["flows"] > 0
    assert dpi["new_flows_per_s"] > 0
    assert plain["records"] == 400
    assert dpi["rules_memory"] > 0


def test_names_in_udp():
    """DNS and QUIC are charged by their names, or the run fails."""
    mix = ("--udp-percent", "60", "--udp-mix", "dns=30,quic=60")
    _, dpi = bench("--alone", "--packets-per-flow", "10", *mix)
    named = [dpi[f"named_{proto}"] for proto in ("http", "dns", "quic")]
    assert sum(named) <= dpi["dpi_scans"]
    assert named[2] > named[1] > 0, "60 % and 30 % of UDP"
    # HTTP is 40 of the 94 % of flows that have names, less where the run ends before the request.
    assert 0 < named[0] < 1.25 * sum(named) * 40 / 94
    _, dpi = bench("--alone", "--packets-per-flow", "10")
    assert dpi["named_http"] > 0
    assert (dpi["named_dns"], dpi["named_quic"]) == (0, 0)


def test_rules_are_swapped_under_load():
    _, dpi = bench("--packets-per-flow", "20", "--rate-mpps", "0.05", "--swap", "2")
    assert (dpi["swaps"], dpi["swap_lost"]) == (2, 0)
    assert dpi["swap_sent"] > 0
    assert dpi["delay_us_p50"] > 0


def test_a_rate_of_new_flows():
    _, dpi = bench("--rate-mpps", "0.05", "--new-flows-per-s", "2500")
    assert dpi["packets_per_flow"] == 20


@pytest.mark.parametrize(
    "options",
    [
        ("--packets-per-flow", "4"),
        ("--packets-per-flow", "30001"),
        ("--new-flows-per-s", "10"),
        ("--bytes", "479"),
        ("--bytes", "690,700"),
        ("--direction", "uplink"),
        ("--rules", "100001"),
        ("--udp-percent", "101"),
        ("--udp-mix", "dns=50,quic=51"),
        ("--udp-mix", "dns=50,other=49"),
        ("--udp-mix", "sctp=5"),
        ("--udp-mix", ",dns=5"),
        ("--udp-mix", "dns=5,"),
        ("--flows-per-session", "0"),
        ("--active", "10"),
    ],
)
def test_refuses(options):
    command = [AIRPATH, "bench", "upf", "--dpi", *SMALL, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("bench upf: --")


def row(steering: str, dpi: str, mpps: float, **more) -> dict:
    return {
        "steering": steering,
        "dpi": dpi,
        "bytes": 690,
        "workers": 1,
        "packets_per_flow": 100,
        "mpps_derived": mpps,
        "cycles_UPF": 1.0,
        "cycles_UPF_min": 1.0,
        **more,
    }


def test_the_papers_table_is_what_its_figures_come_to():
    for _, gbps, servers in s2.SERVERS:
        assert [-(-tier // gbps) for tier in s2.TIERS] == servers


def test_servers_of_a_measured_rate():
    """5 Mpps of 690 B are 27.6 Gbps an lcore, 2649.6 of 96 lcores."""
    found = s2.servers([row("rss", "off", 10.0), row("rss", "on", 5.0)])
    ours = [s for s in found if s["who"] != "paper"]
    assert [round(s["gbps"], 1) for s in ours] == [2649.6, 3974.4]
    assert all(s[str(tier)] == 1 for s in ours for tier in s2.TIERS)
    assert all("no NIC" in s["who"] for s in ours)
    (slow, _) = (s for s in s2.servers([row("rss", "on", 0.25)]) if s["who"] != "paper")
    assert [slow[str(tier)] for tier in s2.TIERS] == [1, 2, 3, 4, 4]


def test_an_lcores_share_counts_dispatchers():
    more = {"workers": 2, "cycles_D0": 1.0, "cycles_D0_min": 1.0}
    (found,) = s2.throughput([row("software: one dispatcher", "off", 9.0, **more)])
    assert (found["lcores"], found["mpps_an_lcore"], found["nic"]) == (3, 3.0, "none")
