# SPDX-License-Identifier: BSD-3-Clause
"""Two kernel hosts that reach each other only through two UE stacks and the PHY between them."""

from dataclasses import dataclass
from pathlib import Path

from harness import deployment as d
from harness.netns import Net
from harness.program import Airpath

MAC_A, MAC_B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
PORT_A, PORT_B = "02:00:00:00:01:0a", "02:00:00:00:01:0b"
V4_A, V4_B = "10.77.0.1", "10.77.0.2"
V6_A, V6_B = "fd77::1", "fd77::2"


@dataclass
class Hosts:
    net: Net
    a: str  # namespaces
    b: str
    airpath: Airpath
    folder: Path


def make_hosts(
    net: Net,
    folder: Path,
    *,
    preset: str = "af_packet",
    bearers: list[dict] | None = None,
    more: dict | None = None,
    governor: str = "auto",
    **phy,
) -> Hosts:
    """Host A — UE a — PHY cross-connect — UE b — host B. `more`: keys of both UEs; `phy`:
    impairments."""
    a, middle, b = net.add("a"), net.add("m"), net.add("b")
    net.veth(a, "h0", MAC_A, middle, "pa", PORT_A)
    net.veth(b, "h0", MAC_B, middle, "pb", PORT_B)
    net.mute(middle, "pa")
    net.mute(middle, "pb")
    net.address(a, "h0", f"{V4_A}/24", f"{V6_A}/64")
    net.address(b, "h0", f"{V4_B}/24", f"{V6_B}/64")
    file = d.write(
        folder / "hosts.yaml",
        "hosts",
        ports=[
            d.user_port("user_a", "pa", MAC_A, preset=preset),
            d.user_port("user_b", "pb", MAC_B, preset=preset),
            *d.ring_pair("ue_a", "phy_a"),
            *d.ring_pair("ue_b", "phy_b"),
        ],
        ue=[
            d.ue("a", "user_a", "ue_a", bearers, **(more or {})),
            d.ue("b", "user_b", "ue_b", bearers, **(more or {})),
        ],
        phy=[
            {
                "name": "phy",
                "port": "phy_a",
                "port2": "phy_b",
                "numerology": 1,
                "tb_bytes": [20000],
                **phy,
            }
        ],
        lcores=[{**each, "governor": governor} for each in d.lcores("l2", "phy")],
        place=[
            {"node": "a.*", "lcore": "l2"},
            {"node": "b.*", "lcore": "l2"},
            {"node": "phy.*", "lcore": "phy"},
        ],
    )
    return Hosts(net, a, b, Airpath(net, middle, file), folder)
