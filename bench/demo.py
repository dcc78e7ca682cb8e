# SPDX-License-Identifier: BSD-3-Clause
"""Prints what the demo measured beside table I of the S0 paper.

usage: bench/demo.py FUSED.json PIPELINE.json
"""

import json
import sys

PAPER_LCORES = "10 + 7"


def main() -> None:
    rows = []
    for path in sys.argv[1:]:
        with open(path) as file:
            rows += json.load(file)["rows"]
    print("S0, table I: UE L2, uplink looped into downlink")
    print()
    print("                    highest loss-free rate, Gbps     queueing delay, µs     L-cores")
    print(
        "  size  profile      paper    ours   (if busy*)       paper      ours        paper    ours"
    )
    for row in rows:
        print(
            f"{row['size']:6}  {row['profile']:<10}{figure(row.get('paper_gbps'), 2):>8}"
            f"{figure(row['gbps'], 2):>8}{figure(row.get('gbps_derived'), 2):>11}"
            f"{figure(row.get('paper_delay_us'), 0):>14}{figure(row['delay_us_p50'], 0):>10}"
            f"{PAPER_LCORES:>13}{row['lcores']:>8}"
        )
    print()
    print("  * what the device would carry if it were busy all the time: the generator and the PHY")
    print("    emulator share the machine and may be the limit. Delay is the median at that rate.")
    print(
        "    paper: the UE's L2 on 10 L-cores up and 7 down, two Xeons. Every packet was checked:"
    )
    print(f"    lost {total(rows, 'lost')}, corrupted {total(rows, 'corrupted')}.")
    clean, windows = total(rows, "windows_clean"), total(rows, "windows")
    if clean < windows / 2:
        print(f"    A busy machine: {windows - clean} of {windows} windows of measurement were")
        print("    slowed down by somebody else. A quiet one shows more.")


def figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def total(rows: list[dict], key: str) -> int:
    return sum(row[key] for row in rows)


if __name__ == "__main__":
    main()
