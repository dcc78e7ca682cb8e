# SPDX-License-Identifier: BSD-3-Clause
"""Deployments made by tests: the pieces of core/config.h as dictionaries."""

import json
import os
from pathlib import Path


def bearer(drb: int = 1, *, sdap: bool = True, default: bool = True, **parts) -> dict:
    """A DRB; `parts` are its pdcp, rlc and mac mappings, lcid and qfis."""
    switch = "on" if sdap else "off"
    return {
        "id": drb,
        "default": default,
        "sdap": {"ul_header": switch, "dl_header": switch},
        **parts,
    }


def user_port(name: str, interface: str, peer_mac: str, *, preset: str = "af_packet") -> dict:
    """A port toward a kernel host, which finds every address behind it."""
    return {
        "name": name,
        "preset": preset,
        "iface": interface,
        "framing": "ethernet",
        "proxy_neigh": True,
        "peer_mac": peer_mac,
    }


def raw_port(name: str, interface: str) -> dict:
    """A fronthaul port on a kernel interface."""
    return {"name": name, "preset": "af_packet", "iface": interface, "framing": "raw"}


def ring_pair(a: str, b: str, framing: str = "raw") -> list[dict]:
    return [
        {"name": a, "preset": "ring", "peer": b, "framing": framing},
        {"name": b, "preset": "ring", "peer": a, "framing": framing},
    ]


def ue(name: str, user: str, phy: str, bearers: list[dict] | None = None, **more) -> dict:
    """A UE whose receiver plays the gNB's: what it gets was sent uplink by itself or a twin."""
    return {
        "name": name,
        "user_port": user,
        "phy_port": phy,
        "loopback": True,
        "bearers": bearers or [bearer()],
        **more,
    }


def lcores(*names: str) -> list[dict]:
    """Lcores spread over the CPUs there are; where they share one they yield to each other."""
    cpus = sorted(os.sched_getaffinity(0))
    return [{"name": n, "cpu": cpus[i % len(cpus)]} for i, n in enumerate(names)]


def write(path: Path, name: str, **parts) -> Path:
    """One deployment file. JSON is YAML, and needs no library to write."""
    deployment = {"name": name, "memory": {"mb": 512}, **parts}
    path.write_text(json.dumps(deployment, indent=1) + "\n")
    return path
