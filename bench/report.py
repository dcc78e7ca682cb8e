# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites the marked sections of docs/benchmarks.md from the JSON of the benches.

usage: bench/report.py [FOLDER [DOCUMENT]]   (default bench/out docs/benchmarks.md)

A section stands between `<!-- bench NAME -->` and `<!-- end -->`. Where there is no JSON of that
bench the section stays as it is.
"""

import json
import re
import sys
from pathlib import Path

import plot


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
    parts = [f"{k}: {v}" for k, v in document.get("host", {}).items() if v not in (None, "")]
    return "Measured on: " + ", ".join(parts) + "."


def ue_loopback(document: dict) -> str:
    header = ["size B", "profile", "load", "lcores", "paper Gbps", "ours Gbps", "derived Gbps"]
    header += ["Mpps", "cycles/packet", "device busy %", "paper delay µs", "p50 µs", "p99 µs"]
    header += ["lost", "corrupted"]
    keys = ["gbps", "gbps_derived", "mpps", "cycles_per_packet", "dut_busy_percent"]
    lines = []
    for row in document["rows"]:
        size = row.get("size")
        line = [size, row.get("profile"), row.get("load"), row.get("lcores")]
        line += [plot.S0_GBPS.get(size), *(row.get(k) for k in keys)]
        line += [plot.S0_DELAY_US.get(size), row.get("delay_us_p50"), row.get("delay_us_p99")]
        lines.append([*line, row.get("lost"), row.get("corrupted")])
    return table(header, lines)


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
    keys = ["cores", "queues", "frame_bytes", "mode", "mpps", "cycles_per_packet"]
    header = ["cores", "queues", "frame B", "mode", "Mpps", "cycles/packet"]
    return table(header, [[row.get(k) for k in keys] for row in document["rows"]])


WRITERS = {"ue-loopback": ue_loopback, "mac-build": mac_build, "port-limits": port_limits}


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "bench/out")
    page = Path(sys.argv[2] if len(sys.argv) > 2 else "docs/benchmarks.md")

    def fill(section: re.Match) -> str:
        name = section[1]
        file = folder / f"{name}.json"
        if not file.exists():
            return section[0]
        document = json.loads(file.read_text())
        body = f"{host(document)}\n\n{WRITERS[name](document)}"
        return f"<!-- bench {name} -->\n{body}\n<!-- end -->"

    text = page.read_text()
    page.write_text(re.sub(r"<!-- bench ([\w-]+) -->\n.*?<!-- end -->", fill, text, flags=re.S))
    print(page)


if __name__ == "__main__":
    main()
