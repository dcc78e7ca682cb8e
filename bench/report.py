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

import report_columns
import report_s2
import s2
from report_table import chosen, table


def host(document: dict) -> str:
    parts = []
    for key in ("cpu", "cores", "tsc_hz", "hugepages", "dpdk", "emulations"):
        value = document.get("host", {}).get(key)
        if isinstance(value, list):
            value = "; ".join(value)
        if value not in (None, ""):
            parts.append(f"{key}: {value}")
    return "Measured on: " + ", ".join(parts) + "."


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


# A function, or the columns to take as they are.
WRITERS = {
    "ue-loopback": report_columns.UE_LOOPBACK,
    "ue-loopback-l2": report_columns.UE_LOOPBACK_L2,
    "mac-build": mac_build,
    "port-limits": port_limits,
    "cut": report_columns.CUT,
    "pdcp": report_columns.PDCP,
    "rlc-am": report_columns.RLC_AM,
    "upf": report_columns.UPF,
    "upf-dpi": report_columns.UPF_DPI,
    "gnb": report_columns.GNB,
    "gnb-live": report_columns.GNB_LIVE,
    "n4": report_columns.N4,
    "power": report_columns.POWER,
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
        if name in report_s2.SECTIONS:
            if computed is None:
                return section[0]
            return f"<!-- bench {name} -->\n{report_s2.SECTIONS[name](computed)}\n<!-- end -->"
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
