# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites the marked sections of docs/benchmarks.md from the JSON of the benches.

usage: bench/report.py [FOLDER [DOCUMENT]]   (default bench/out docs/benchmarks.md)

A section stands between `<!-- bench NAME -->` and `<!-- end -->`; its rows are those of NAME.json
and NAME.*.json. Where there is no such file the section stays as it is.
"""

import json
import re
import sys
from pathlib import Path

import s2


def cell(value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)


def table(header: list[str], lines: list[list]) -> str:
    out = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    out += ["| " + " | ".join(cell(v) for v in one) + " |" for one in lines]
    return "\n".join(out)


def host(document: dict) -> str:
    parts = []
    for key in ("cpu", "cores", "tsc_hz", "hugepages", "dpdk", "emulations"):
        value = document.get("host", {}).get(key)
        if isinstance(value, list):
            value = "; ".join(value)
        if value not in (None, ""):
            parts.append(f"{key}: {value}")
    return "Measured on: " + ", ".join(parts) + "."


UE_LOOPBACK = {
    "size": "size B",
    "profile": "profile",
    "copier": "copier",
    "lcores": "lcores",
    "paper_gbps": "paper Gbps",
    "gbps": "ours Gbps",
    "gbps_derived": "derived Gbps",
    "mpps": "Mpps",
    "cycles_per_packet": "cycles/packet",
    "dut_busy_percent": "device busy %",
    "limit": "limit",
    "paper_delay_us": "paper delay µs",
    "delay_us_p50": "p50 µs",
    "delay_us_p99": "p99 µs",
    "delay_us_p50_at_80": "p50 at 80 % µs",
    "lost": "lost",
    "corrupted": "corrupted",
    "windows_clean": "clean windows",
    "windows": "of",
}


UE_LOOPBACK_L2 = {
    "rlc": "RLC",
    "nea": "NEA",
    "nia": "NIA",
    "size": "size B",
    "gbps": "Gbps",
    "gbps_derived": "derived Gbps",
    "cycles_per_packet": "cycles/packet",
    "dut_busy_percent": "device busy %",
    "delay_us_p50": "p50 µs",
    "tb_lost": "TBs lost",
    "tb_soft_lost": "TBs not decoded at first",
    "harq_retx": "HARQ retransmissions",
    "rlc_retx": "RLC retransmissions",
    "lost": "lost",
    "corrupted": "corrupted",
    "windows_clean": "clean windows",
    "windows": "of",
}


def chosen(document: dict, columns: dict[str, str]) -> str:
    """The columns that some row has."""
    rows = document["rows"]
    keys = [k for k in columns if any(r.get(k) is not None for r in rows)]
    return table([columns[k] for k in keys], [[r.get(k) for k in keys] for r in rows])


def mac_build(document: dict) -> str:
    names = ["scheme1", "scheme2", "gather", "scatter"]
    shapes: dict[tuple[int, int], dict[str, float]] = {}
    for row in document["rows"]:
        shapes.setdefault((row["subpdus"], row["tb_bytes"]), {})[row["strategy"]] = row["cycles"]
    lines = []
    for (count, size), cycles in sorted(shapes.items()):
        ratio = None
        if cycles.get("scheme1") and cycles.get("scheme2"):
            ratio = cycles["scheme1"] / cycles["scheme2"]
        lines.append([count, size, *(cycles.get(n) for n in names), ratio])
    return table(["subPDUs", "TB, B", *names, "scheme1 / scheme2"], lines)


def port_limits(document: dict) -> str:
    """Mpps, a column a frame size."""
    frames = sorted({row["frame_bytes"] for row in document["rows"]})
    lines: dict[tuple, dict[int, float]] = {}
    for row in document["rows"]:
        kind = (row["cores"], row["queues"], row["mode"])
        lines.setdefault(kind, {})[row["frame_bytes"]] = row["mpps"]
    header = ["cores / queues", "mode", *(f"{f} B" for f in frames)]
    body = []
    for (cores, queues, mode), mpps in sorted(lines.items()):
        body.append([f"{cores}C/{queues}Q", mode, *(mpps.get(f) for f in frames)])
    return "Mpps by frame size:\n\n" + table(header, body)


CUT = {
    "what": "what",
    "kind": "how",
    "burst": "burst",
    "bytes": "B",
    "cycles": "cycles",
    "cycles_min": "least",
    "cycles_max": "most",
    "windows_clean": "clean windows",
    "windows": "of",
}


PDCP = {
    "alg": "algorithms",
    "engine": "engine",
    "direction": "direction",
    "bytes": "SDU B",
    "mode": "mode",
    "cycles_per_pdu": "cycles/PDU",
    "library_cycles": "library",
    "over_library": "ours / library",
    "gbps": "Gbps",
    "ns": "ours ns",
    "peer_ns": "srsRAN ns",
    "peer_over_ours": "srsRAN / ours",
    "cycles_min": "least",
    "cycles_max": "most",
    "windows_clean": "clean windows",
    "windows": "of",
}


RLC_AM = {
    "direction": "direction",
    "bytes": "SDU B",
    "order": "order",
    "sn_bits": "SN bits",
    "cycles_per_pdu": "cycles/PDU",
    "gbps": "Gbps",
    "ns_per_pdu": "ours ns",
    "peer_ns": "srsRAN ns",
    "peer_over_ours": "srsRAN / ours",
    "us_per_batch": "µs a batch of 2048",
    "cycles_min": "least",
    "cycles_max": "most",
    "windows_clean": "clean windows",
    "windows": "of",
}


UPF = {
    "direction": "direction",
    "bytes": "inner B",
    "sessions": "sessions",
    "active": "active",
    "steering": "steering",
    "workers": "workers",
    "dpi": "DPI",
    "paper_mpps": "paper Mpps a hyperthread",
    "mpps": "ours Mpps",
    "mpps_min": "worst run",
    "mpps_max": "best run",
    "runs": "runs",
    "gbps": "Gbps",
    "mpps_derived": "alone Mpps",
    "cycles_per_packet": "alone cycles/packet",
    "cycles_min": "least",
    "cycles_live": "cycles/packet at ports",
    "busy_percent": "worker busy %",
    "limit": "limit",
    "delay_us_p50": "p50 µs",
    "delay_us_p99": "p99 µs",
    "delay_us_mean": "mean µs",
    "lost": "lost",
    "octets_per_session": "B a session",
    "windows_clean": "clean windows",
    "windows": "of",
}


UPF_DPI = {
    "steering": "steering",
    "workers": "workers",
    "sessions": "sessions",
    "active": "active",
    "packets_per_flow": "packets a flow",
    "train": "in a row",
    "dpi": "DPI, charging",
    "mpps": "Mpps",
    "gbps": "Gbps",
    "ratio": "of plain",
    "ratio_least": "by least cycles",
    "ratio_live": "of plain at ports",
    "cycles_per_packet": "alone cycles/packet",
    "cycles_min": "least",
    "new_flows_per_s": "new flows/s",
    "dpi_scans": "flows looked at",
    "flows_evicted": "evicted",
    "records": "records",
    "lost": "lost",
    "swaps": "swaps",
    "swap_sent": "packets meanwhile",
    "swap_lost": "lost meanwhile",
    "rules_memory": "rules B",
    "rules_build_ms": "built in ms",
    "flows_memory": "flow table B",
    "limit": "limit",
    "windows_clean": "clean windows",
    "windows": "of",
}


def s2_throughput(document: dict) -> str:
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


def s2_generations(document: dict) -> str:
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


S2_DELAY = {
    "steering": "steering",
    "dpi": "DPI, charging",
    "packets_per_flow": "packets a flow",
    "load_percent": "load %",
    "paper_us_mean": "paper mean µs",
    "us_mean": "ours mean µs",
    "us_p50": "p50 µs",
    "us_p99": "p99 µs",
}


def s2_delay(document: dict) -> str:
    if not document["delay"]:
        return "Not measured in these runs (`--alone` has no delay)."
    return chosen({"rows": document["delay"]}, S2_DELAY)


def s2_servers(document: dict) -> str:
    keys = {"server": "server", "who": "whose", "gbps": "Gbps with DPI"}
    keys |= {str(t): f"{t} Gbps" for t in s2.TIERS}
    return chosen({"rows": document["servers"]}, keys)


GNB = {
    "path": "path",
    "direction": "direction",
    "bytes": "B",
    "ues": "UEs",
    "offload_percent": "offload %",
    "smartnics": "SmartNICs",
    "mpps": "Mpps",
    "mpps_best": "best",
    "mpps_min": "worst run",
    "mpps_max": "best run",
    "runs": "runs",
    "lcores": "lcores",
    "cycles_per_packet": "cycles/packet",
    "cycles_min": "least",
    "modelled": "modelled",
    "lost": "lost",
    "corrupted": "corrupted",
    "packets": "packets",
    "windows_clean": "clean windows",
    "windows": "of",
}


GNB_LIVE = {
    "direction": "direction",
    "bytes": "B",
    "ues": "UEs",
    "changes_asked": "changes/s wanted",
    "changes_per_s": "changes/s",
    "changes_failed": "failed",
    "mpps": "Mpps",
    "mpps_min": "least",
    "mpps_max": "most",
    "cycles_per_packet": "cycles/packet",
    "busy_percent": "worker busy %",
    "generator_percent": "generator busy %",
    "delay_us_p50": "p50 µs",
    "delay_us_p99": "p99 µs",
    "lost": "lost",
    "corrupted": "corrupted",
    "packets": "packets",
    "windows_clean": "clean windows",
    "windows": "of",
}


N4 = {
    "procedure": "procedure",
    "mode": "mode",
    "window": "under way",
    "sessions": "sessions",
    "unit": "data plane",
    "per_second": "per second",
    "per_agent_core_second": "per s of agent CPU",
    "delay_us_p50": "µs p50",
    "delay_us_p99": "p99",
    "agent_bytes_per_session": "agent B a session",
}


POWER = {
    "device": "device",
    "slot_us": "slot µs",
    "load_percent": "load %",
    "governor": "governor",
    "cpu_time_percent": "CPU time %",
    "wakeups_per_s": "wake-ups/s",
    "power_watts": "W",
    "power_source": "source",
    "freq_mhz": "MHz",
    "delay_us_p50": "p50 µs",
    "delay_us_p99": "p99 µs",
    "mpps": "Mpps",
    "lost": "lost",
    "disturbed_ms": "disturbed ms",
}


# A function, or the columns to take as they are.
WRITERS = {
    "ue-loopback": UE_LOOPBACK,
    "ue-loopback-l2": UE_LOOPBACK_L2,
    "mac-build": mac_build,
    "port-limits": port_limits,
    "cut": CUT,
    "pdcp": PDCP,
    "rlc-am": RLC_AM,
    "upf": UPF,
    "upf-dpi": UPF_DPI,
    "gnb": GNB,
    "gnb-live": GNB_LIVE,
    "n4": N4,
    "power": POWER,
}


# Sections made of s2.json, which bench/s2.py computes.
S2 = {
    "s2-throughput": s2_throughput,
    "s2-generations": s2_generations,
    "s2-delay": s2_delay,
    "s2-servers": s2_servers,
}


def write(name: str, document: dict) -> str:
    how = WRITERS[name]
    return chosen(document, how) if isinstance(how, dict) else how(document)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "bench/out")
    page = Path(sys.argv[2] if len(sys.argv) > 2 else "docs/benchmarks.md")

    computed = s2.write(folder)

    def fill(section: re.Match) -> str:
        name = section[1]
        if name in S2:
            if computed is None:
                return section[0]
            return f"<!-- bench {name} -->\n{S2[name](computed)}\n<!-- end -->"
        files = [folder / f"{name}.json", *sorted(folder.glob(f"{name}.*.json"))]
        documents = [json.loads(f.read_text()) for f in files if f.exists()]
        if not documents:
            return section[0]
        document = {**documents[0], "rows": [row for d in documents for row in d["rows"]]}
        body = f"{host(document)}\n\n{write(name, document)}"
        return f"<!-- bench {name} -->\n{body}\n<!-- end -->"

    text = page.read_text()
    page.write_text(re.sub(r"<!-- bench ([\w-]+) -->\n.*?<!-- end -->", fill, text, flags=re.S))
    print(page)


if __name__ == "__main__":
    main()
