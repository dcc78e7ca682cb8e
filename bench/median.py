# SPDX-License-Identifier: BSD-3-Clause
"""One document from several runs of one bench: of each row the median, and how far it spread.

usage: bench/median.py OUT RUN.json...

Rows are matched by their place; the settings that tell them apart must be equal in all runs. Of
what should be 0 (`lost`, `corrupted`) the most of any run stays. `mpps_min`, `mpps_max` and the
same of `cycles_per_packet` are the least and the most of the runs' figures, `runs` is how many
there were.
"""

import json
import statistics
import sys
from pathlib import Path

WORST = {"lost", "corrupted", "changes_failed", "swap_lost"}
SPREAD = ("mpps", "cycles_per_packet")
SETTINGS = {
    *("bytes", "ues", "sessions", "active", "workers", "offload_percent", "smartnics"),
    *("load_percent", "slot_us", "packets_per_flow", "direction", "path", "governor", "steering"),
    *("device", "changes_asked", "dpi", "train"),
}


def settings(row: dict) -> dict:
    return {k: v for k, v in row.items() if k in SETTINGS}


def middle(values: list):
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(values) or not numbers:
        known = [v for v in values if v is not None]
        return max(known, key=known.count) if known else None
    if all(isinstance(v, int) for v in numbers):
        return statistics.median_low(numbers)
    return statistics.median(numbers)


def merged(rows: list[dict]) -> dict:
    out = {}
    for key in rows[0]:
        values = [r.get(key) for r in rows]
        known = [v for v in values if v is not None]
        out[key] = max(known, default=None) if key in WORST else middle(known or values)
    for key in SPREAD:
        known = [r[key] for r in rows if r.get(key) is not None]
        if known:
            out[f"{key}_min"], out[f"{key}_max"] = min(known), max(known)
    out["runs"] = len(rows)
    return out


def main() -> None:
    out, files = Path(sys.argv[1]), [Path(f) for f in sys.argv[2:]]
    if not files:
        raise SystemExit("usage: bench/median.py OUT RUN.json...")
    documents = [json.loads(f.read_text()) for f in files]
    first = documents[0]
    for file, document in zip(files, documents, strict=True):
        ours = [settings(r) for r in document["rows"]]
        if document["bench"] != first["bench"] or ours != [settings(r) for r in first["rows"]]:
            raise SystemExit(f"{file}: not the same bench and rows as {files[0]}")
    rows = [merged(list(same)) for same in zip(*(d["rows"] for d in documents), strict=True)]
    out.write_text(json.dumps({**first, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
