# SPDX-License-Identifier: BSD-3-Clause
"""S2's figures 5 and 6 and its Table 1, beside what `airpath bench upf [--dpi]` measured.

Ours are the load model's rows (`--dpi`): a worker with plain sessions, and with policies, DPI and
charging, of the same flows in the same run. Where the paper compares generations of hardware, we
compare steering: by the port (`rss`, as its network adapters do since the second generation) and by
dispatcher lcores (`software`, as its first). A server's rate is that of an lcore times a stated
number of them: no server was measured, and there is no NIC.
"""

import json
import math
from pathlib import Path

# Figure 5: server, hyperthreads that forward, Gbps and Mpps without and with DPI and charging.
PAPER = [
    {"server": "6330N x 2", "lcores": 96, "off": (287.0, 51.3), "on": (177.0, 31.6)},
    {"server": "8380 x 2", "lcores": 144, "off": (462.0, 81.4), "on": (280.0, 49.4)},
]
# Figure 6 and its text: without DPI 162.1 % and 334.8 % above the first generation.
GENERATIONS = [
    {"server": "6138, first generation, no DDP", "off": 287.0 / 4.348, "on": None},
    {"server": "6230N, second generation", "off": 287.0 / 4.348 * 2.621, "on": 132.0},
    {"server": "6330N, third generation", "off": 287.0, "on": 177.0},
]
# Section 3.2: mean delay of UDP, µs, with software distribution and with DDP.
PAPER_DELAY_US = {"software": 150, "rss": 74}
# Table 1: server, Gbps with DPI, servers for TIERS.
TIERS = [100, 200, 300, 400, 500]
SERVERS = [
    ("6230N x 2", 132, [1, 2, 3, 4, 4]),
    ("6330N x 2", 177, [1, 2, 2, 3, 3]),
    ("8380 x 2", 280, [1, 1, 2, 2, 2]),
]


def model_rows(folder: Path) -> list[dict]:
    """Rows of the load model, those of rss first."""
    rows: list[dict] = []
    for file in [folder / "upf-dpi.json", *sorted(folder.glob("upf-dpi.*.json"))]:
        if file.exists():
            rows += json.loads(file.read_text())["rows"]
    return rows


def steering(row: dict) -> str:
    return "software" if row["steering"].startswith("software") else "rss"


def lcores(row: dict) -> int:
    """That the rate took: workers, and the dispatchers that are columns of their own."""
    return row["workers"] + sum(
        1 for key in row if key.startswith("cycles_D") and not key.endswith("_min")
    )


def throughput(rows: list[dict]) -> list[dict]:
    """Figures 5 and 6: an lcore's rates, plain and with DPI, and times the paper's hyperthreads."""
    found = []
    for row in rows:
        share = 1 / lcores(row)
        one = {
            "steering": steering(row),
            "packets_per_flow": row["packets_per_flow"],
            "dpi": row["dpi"],
            "lcores": lcores(row),
            "mpps_an_lcore": row["mpps_derived"] * share,
            "gbps_an_lcore": row["mpps_derived"] * share * 8 * row["bytes"] / 1e3,
            "ratio": row.get("ratio"),
            "nic": "none",
        }
        for server in PAPER:
            scaled = one["gbps_an_lcore"] * server["lcores"]
            one[f"gbps_times_{server['lcores']}"] = scaled
        found.append(one)
    return found


def delays(rows: list[dict]) -> list[dict]:
    """Of UDP packets, at the load the row says."""
    return [
        {
            "steering": steering(row),
            "dpi": row["dpi"],
            "packets_per_flow": row["packets_per_flow"],
            "load_percent": row["load_percent"],
            "paper_us_mean": PAPER_DELAY_US[steering(row)],
            "us_mean": row["delay_us_mean"],
            "us_p50": row["delay_us_p50"],
            "us_p99": row["delay_us_p99"],
        }
        for row in rows
        if row.get("delay_us_mean") is not None
    ]


def servers(rows: list[dict]) -> list[dict]:
    """Table 1: ceil(tier / what a server carries with DPI)."""
    found = [
        {"server": name, "who": "paper", "gbps": gbps, **dict(zip(map(str, TIERS), n, strict=True))}
        for name, gbps, n in SERVERS
    ]
    for one in throughput([r for r in rows if r["dpi"] == "on"]):
        for server in PAPER:
            gbps = one[f"gbps_times_{server['lcores']}"]
            found.append(
                {
                    "server": f"{server['lcores']} lcores, {one['steering']}, "
                    f"{one['packets_per_flow']} packets a flow",
                    "who": "ours x lcores, no NIC",
                    "gbps": gbps,
                    **{str(t): math.ceil(t / gbps) for t in TIERS},
                }
            )
    return found


def write(folder: Path) -> dict | None:
    """Writes s2.json. @return what it holds, or None where the load model was not measured."""
    rows = model_rows(folder)
    if not rows:
        return None
    document = {
        "bench": "s2",
        "throughput": throughput(rows),
        "delay": delays(rows),
        "servers": servers(rows),
    }
    (folder / "s2.json").write_text(json.dumps(document, indent=1) + "\n")
    return document
