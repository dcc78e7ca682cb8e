# SPDX-License-Identifier: BSD-3-Clause
"""Tables of what s2.py computes: prototype and paper side by side."""

import s2
from report_table import chosen, table


def throughput(document: dict) -> str:
    paper = [
        [p["server"], p["lcores"], *p["off"], *p["on"], p["on"][0] / p["off"][0]] for p in s2.PAPER
    ]
    first = table(
        ["paper", "hyperthreads", "Gbps without", "Mpps", "Gbps with", "Mpps", "with / without"],
        paper,
    )
    keys = {
        "steering": "ours: steering",
        "packets_per_flow": "packets a flow",
        "dpi": "DPI, charging",
        "mpps_an_lcore": "Mpps an lcore",
        "gbps_an_lcore": "Gbps an lcore",
        "ratio": "with / without",
        **{f"gbps_times_{p['lcores']}": f"Gbps x {p['lcores']}, no NIC" for p in s2.PAPER},
    }
    return first + "\n\n" + chosen({"rows": document["throughput"]}, keys)


def generations(document: dict) -> str:
    paper = [
        [g["server"], g["off"], g["off"] / s2.GENERATIONS[0]["off"], g["on"]]
        for g in s2.GENERATIONS
    ]
    found = [o for o in document["throughput"] if o["dpi"] == "off"]
    with_dpi = {
        (o["steering"], o["packets_per_flow"]): o
        for o in document["throughput"]
        if o["dpi"] == "on"
    }
    first = {o["packets_per_flow"]: o for o in found if o["steering"] == "software"}
    ours = []
    for o in found:
        flow = o["packets_per_flow"]
        base = first.get(flow)
        on = with_dpi.get((o["steering"], flow))
        ours.append(
            [
                f"ours, {o['steering']}, {flow} packets a flow, x 96 lcores, no NIC",
                o["gbps_times_96"],
                o["gbps_an_lcore"] / base["gbps_an_lcore"] if base else None,
                on["gbps_times_96"] if on else None,
            ]
        )
    return table(["", "Gbps without DPI", "to the first", "Gbps with DPI"], paper + ours)


DELAY = {
    "steering": "steering",
    "dpi": "DPI, charging",
    "packets_per_flow": "packets a flow",
    "load_percent": "load %",
    "paper_us_mean": "paper mean µs",
    "us_mean": "ours mean µs",
    "us_p50": "p50 µs",
    "us_p99": "p99 µs",
}


def delay(document: dict) -> str:
    if not document["delay"]:
        return "Not measured in these runs (`--alone` has no delay)."
    return chosen({"rows": document["delay"]}, DELAY)


def servers(document: dict) -> str:
    keys = {"server": "server", "who": "whose", "gbps": "Gbps with DPI"}
    keys |= {str(t): f"{t} Gbps" for t in s2.TIERS}
    return chosen({"rows": document["servers"]}, keys)


# Sections made of s2.json, which bench/s2.py computes.
SECTIONS = {
    "s2-throughput": throughput,
    "s2-generations": generations,
    "s2-delay": delay,
    "s2-servers": servers,
}
