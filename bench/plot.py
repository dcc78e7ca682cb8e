# SPDX-License-Identifier: BSD-3-Clause
"""Draws what `airpath bench … --json` measured: SVG and PNG beside the JSON.

usage: bench/plot.py [FOLDER]   (default bench/out)
"""

import json
import sys
from pathlib import Path

import matplotlib
import s2

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Table I of the S0 paper: IP packet size, B → Gbps and queueing delay, µs.
S0_GBPS = {128: 2.15, 256: 5.7, 512: 12.1, 1024: 24.24}
S0_DELAY_US = {128: 424, 256: 344, 512: 514, 1024: 742}
# S1, figures 2 and 3: a core's loopback at the shortest frames, Mpps from single- to zero-copy.
S1_MPPS = {"Zynq A9, 666 MHz": (0.7, 1.4), "Cortex-A53, 1.2 GHz": (1.8, 3.2)}

plt.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "svg.hashsalt": "airpath"})


def rows(folder: Path, name: str) -> list[dict]:
    file = folder / f"{name}.json"
    if not file.exists():
        return []
    document = json.loads(file.read_text())
    if document.get("bench") != name:
        raise SystemExit(f"{file}: holds bench {document.get('bench')!r}, not {name!r}")
    return document["rows"]


def save(figure, folder: Path, name: str) -> None:
    figure.tight_layout()
    for kind in ("svg", "png"):
        metadata = {"Date": None} if kind == "svg" else {}
        figure.savefig(folder / f"{name}.{kind}", metadata=metadata, dpi=120)
    plt.close(figure)
    print(f"{folder / name}.svg")


def grouped(of: list[dict], *keys: str) -> dict[tuple, list[dict]]:
    groups: dict[tuple, list[dict]] = {}
    for row in of:
        groups.setdefault(tuple(row.get(k) for k in keys), []).append(row)
    return groups


def line(axes, of: list[dict], x: str, y: str, label: str, **style) -> None:
    points = sorted((r[x], r[y]) for r in of if r.get(y) is not None)
    axes.plot(*zip(*points, strict=True), marker="o", label=label, **style) if points else None


def ue_loopback(folder: Path) -> None:
    found = rows(folder, "ue-loopback")
    if not found:
        return
    figure, (rate, delay) = plt.subplots(1, 2, figsize=(11, 4.2))
    paper = {"color": "black", "linestyle": "--", "marker": "s"}
    rate.plot(S0_GBPS.keys(), S0_GBPS.values(), label="S0 paper, 7 + 10 L-cores", **paper)
    delay.plot(S0_DELAY_US.keys(), S0_DELAY_US.values(), label="S0 paper", **paper)
    for (profile, lcores), some in grouped(found, "profile", "lcores").items():
        name = f"{profile}, {lcores} lcore{'' if lcores == 1 else 's'}"
        line(rate, some, "size", "gbps", name)
        line(rate, some, "size", "gbps_derived", f"{name}, derived", linestyle=":", alpha=0.6)
        line(delay, some, "size", "delay_us_p50", f"{name}, highest rate")
        line(delay, some, "size", "delay_us_p50_at_80", f"{name}, at 80 %", linestyle=":")
    rate.set(xlabel="IP packet, B", ylabel="Gbps of IP", title="UE loopback: highest rate")
    delay.set(xlabel="IP packet, B", ylabel="µs, median", title="UE loopback: queueing delay")
    delay.set_yscale("log")
    for axes in (rate, delay):
        axes.set_xscale("log", base=2)
        sizes = sorted({r["size"] for r in found} | S0_GBPS.keys())
        axes.set_xticks(sizes, [str(s) for s in sizes])
        axes.legend(fontsize=7)
    save(figure, folder, "ue-loopback")


def mac_build(folder: Path) -> None:
    found = rows(folder, "mac-build")
    if not found:
        return
    figure, (count, size) = plt.subplots(1, 2, figsize=(11, 4.2))
    for (strategy,), some in grouped(found, "strategy").items():
        line(count, [r for r in some if r["tb_bytes"] == 5000], "subpdus", "cycles", strategy)
        line(size, [r for r in some if r["subpdus"] == 20], "tb_bytes", "cycles", strategy)
    count.set(xlabel="subPDUs in 5000 B", ylabel="TSC cycles a TB", title="MAC build by subPDUs")
    size.set(xlabel="TB, B, 20 subPDUs", ylabel="TSC cycles a TB", title="MAC build by TB size")
    for axes in (count, size):
        axes.set_yscale("log")
        axes.legend(fontsize=8)
    size.set_xscale("log")
    save(figure, folder, "mac-build")


def port_limits(folder: Path) -> None:
    found = rows(folder, "port-limits")
    if not found:
        return
    frames = sorted({r["frame_bytes"] for r in found})
    figure, axes = plt.subplots(figsize=(10, 4.2))
    groups = grouped(found, "cores", "queues", "mode")
    width = 0.8 / len(groups)
    for n, ((cores, queues, mode), some) in enumerate(sorted(groups.items(), key=str)):
        mpps = {r["frame_bytes"]: r["mpps"] for r in some}
        at = [i - 0.4 + width * (n + 0.5) for i, f in enumerate(frames) if f in mpps]
        axes.bar(
            at,
            [mpps[f] for f in frames if f in mpps],
            width,
            label=f"{cores}C/{queues}Q {mode}",
        )
    for name, (low, high) in S1_MPPS.items():
        axes.errorbar(
            [0], [(low + high) / 2], yerr=(high - low) / 2, capsize=4, label=f"S1: {name}, 64 B"
        )
    axes.set_xticks(range(len(frames)), [str(f) for f in frames])
    axes.set(xlabel="frame, B", ylabel="Mpps", title="Software loopback of a port")
    axes.set_yscale("log")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, folder, "port-limits")


def power(folder: Path) -> None:
    """Figures 3 and 4 of S3, and what saving costs."""
    found = rows(folder, "power")
    if not found:
        return
    figure, four = plt.subplots(1, 4, figsize=(16, 4))
    wanted = {
        "power_watts": f"W, {found[0]['power_source']}",
        "freq_mhz": "MHz, mean while awake",
        "cpu_time_percent": "CPU time, %",
        "delay_us_p99": "delay p99, µs",
    }
    for axes, (key, label) in zip(four, wanted.items(), strict=True):
        for (governor,), some in grouped(found, "governor").items():
            line(axes, some, "load_percent", key, governor)
        axes.set(xlabel="load, %", ylabel=label)
        if key == "delay_us_p99":
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.legend(fontsize=8)
    first = found[0]
    figure.suptitle(f"{first['device']}, {first['bytes']} B, slots of {first['slot_us']} µs")
    save(figure, folder, "power")


def bars(axes, groups: list[tuple[str, float | None, float | None]]) -> None:
    """Without and with DPI and charging, side by side."""
    for n, label in enumerate(("without DPI and charging", "with")):
        found = [(i, g[1 + n]) for i, g in enumerate(groups) if g[1 + n] is not None]
        drawn = axes.bar(
            [i - 0.2 + 0.4 * n for i, _ in found], [v for _, v in found], 0.4, label=label
        )
        axes.bar_label(drawn, fmt="%.3g", fontsize=6)
    axes.set_xticks(range(len(groups)), [g[0] for g in groups], fontsize=6)
    axes.legend(fontsize=7)


def pairs(of: list[dict], key: str) -> list[tuple[str, float | None, float | None]]:
    """Our rows without and with DPI of one steering and flow length."""
    found = []
    for (how, length), some in grouped(of, "steering", "packets_per_flow").items():
        value = {r["dpi"]: r[key] for r in some}
        name = f"ours, {how}\n{length} packets\na flow"
        found.append((name, value.get("off"), value.get("on")))
    return found


def s2_figures(folder: Path) -> None:
    """Figures 5 and 6, delay, and Table 1 of S2."""
    document = s2.write(folder)
    if document is None:
        return
    ours = document["throughput"]
    figure, ((five, mpps), (six, servers)) = plt.subplots(2, 2, figsize=(14, 9))
    paper = [(p["server"], p["off"][0], p["on"][0]) for p in s2.PAPER]
    bars(five, paper + pairs(ours, "gbps_times_144"))
    five.set(ylabel="Gbps", title="Figure 5: a server; ours an lcore x 144, no NIC")
    each = [(p["server"], *(p[k][1] / p["lcores"] for k in ("off", "on"))) for p in s2.PAPER]
    bars(mpps, each + pairs(ours, "mpps_an_lcore"))
    mpps.set(ylabel="Mpps", title="Figure 5, a hyperthread; ours an lcore of this machine")
    generations = [(g["server"].replace(", ", "\n"), g["off"], g["on"]) for g in s2.GENERATIONS]
    bars(six, generations + pairs(ours, "gbps_times_96"))
    six.set(ylabel="Gbps", title="Figure 6: generations; ours by steering, an lcore x 96, no NIC")
    for one in document["servers"]:
        style = {"linestyle": "--"} if one["who"] == "paper" else {}
        tiers = [one[str(t)] for t in s2.TIERS]
        servers.plot(s2.TIERS, tiers, marker="o", label=one["server"], **style)
    servers.set(xlabel="Gbps with DPI", ylabel="servers", title="Table 1; ours no NIC")
    servers.legend(fontsize=6)
    save(figure, folder, "s2")


def s2_delays(folder: Path) -> None:
    document = s2.write(folder)
    if document is None or not document["delay"]:
        return
    figure, axes = plt.subplots(figsize=(8, 4.2))
    names = []
    for n, row in enumerate(document["delay"]):
        names.append(
            f"{row['steering']}, DPI {row['dpi']}\n{row['packets_per_flow']} packets a flow"
        )
        for key, mark in (("us_p50", "v"), ("us_mean", "o"), ("us_p99", "^")):
            axes.plot([n], [row[key]], mark, color="C0", label=key if n == 0 else None)
        axes.plot(
            [n], [row["paper_us_mean"]], "s", color="black", label="paper, mean" if n == 0 else None
        )
    axes.set_xticks(range(len(names)), names, fontsize=7)
    axes.set(ylabel="µs", title="Delay of UDP packets")
    axes.set_yscale("log")
    axes.legend(fontsize=7)
    save(figure, folder, "s2-delay")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "bench/out")
    for draw in (ue_loopback, mac_build, port_limits, power, s2_figures, s2_delays):
        draw(folder)


if __name__ == "__main__":
    main()
