# SPDX-License-Identifier: BSD-3-Clause
"""A cell: a host with the addresses of many UEs, their stacks, the PHY, a gNB, a host behind."""

from dataclasses import dataclass
from pathlib import Path

from harness import deployment as d
from harness.netns import Net
from harness.program import Airpath

MAC_UE, MAC_DN = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
PORT_UE, PORT_DN = "02:00:00:00:01:0a", "02:00:00:00:01:0b"
V4_DN, V6_DN = "10.61.0.1", "fd61::1"
KEYS = {
    "key_enc": "000102030405060708090a0b0c0d0e0f",
    "key_int": "101112131415161718191a1b1c1d1e1f",
}


@dataclass
class Cell:
    net: Net
    ue: str  # namespaces
    dn: str
    airpath: Airpath
    v4: list[str]  # addresses of the UEs
    v6: list[str]


def secured() -> dict:
    """An AM bearer, ciphered, with integrity protection; patient with a busy machine."""
    return d.bearer(
        pdcp={"integrity": True, "t_reordering_ms": 3000},
        rlc={"mode": "am", "queue_sdus": 1024, "t_poll_retransmit_ms": 200},
    )


def make_cell(
    net: Net,
    folder: Path,
    ues: int,
    *,
    bearers: list[dict] | None = None,
    security: dict | None = None,
    gnb: dict | None = None,
    tb_bytes: list[int] | None = None,
    place: dict[str, str] | None = None,
    foreign: int = 0,
    tag: str = "",
    **phy,
) -> Cell:
    """`foreign`: more addresses of the UEs' host, which are no UE's. `tag`: of its namespaces."""
    ue_ns, middle, dn = (net.add(f"{name}{tag}") for name in ("ue", "m", "dn"))
    v4 = [f"10.60.0.{u + 1}" for u in range(ues + foreign)]
    v6 = [f"fd60:0:0:{u + 1:x}::1" for u in range(ues + foreign)]
    net.veth(ue_ns, "h0", MAC_UE, middle, "pu", PORT_UE)
    net.veth(dn, "h0", MAC_DN, middle, "pd", PORT_DN)
    net.mute(middle, "pu")
    net.mute(middle, "pd")
    net.address(ue_ns, "h0", *(f"{a}/32" for a in v4), *(f"{a}/128" for a in v6))
    net.address(dn, "h0", f"{V4_DN}/32", f"{V6_DN}/128")
    for ns, there in ((ue_ns, ("10.61.0.0/24", "fd61::/64")), (dn, ("10.60.0.0/16", "fd60::/32"))):
        for prefix in there:
            net.run(ns, ["ip", "route", "add", prefix, "dev", "h0"])
    both = {
        "address": v4[0],
        "address6": v6[0],
        "numerology": 1,
        "bearers": bearers or [secured()],
        "security": security or {"nea": 2, "nia": 2, **KEYS},
    }
    tb_bytes = tb_bytes or [20000]
    place = place or {"ue.*": "l2", "gnb.*": "l2", "phy.*": "phy"}
    file = d.write(
        folder / "cell.yaml",
        "cell",
        memory={"mb": 1024},
        ports=[
            d.user_port("ues", "pu", MAC_UE),
            d.user_port("network", "pd", MAC_DN),
            *d.ring_pair("radio_ue", "phy_ue"),
            *d.ring_pair("radio_gnb", "phy_gnb"),
        ],
        ue=[
            {
                "name": "ue",
                "user_port": "ues",
                "phy_port": "radio_ue",
                "count": ues,
                "carriers": len(tb_bytes),
                "sr": {"prohibit_ms": 4, "trans_max": 64},
                "periodic_bsr_ms": 5,
                "retx_bsr_ms": 20,
                **both,
            }
        ],
        gnb=[
            {
                "name": "gnb",
                "user_port": "network",
                "phy_port": "radio_gnb",
                "ues": ues,
                "tb_bytes": tb_bytes,
                **both,
                **(gnb or {}),
            }
        ],
        phy=[
            {
                "name": "phy",
                "port": "phy_ue",
                "port2": "phy_gnb",
                "side": "gnb",
                "ues": ues,
                "ahead": 20,
                "numerology": 1,
                "tb_bytes": tb_bytes,
                **phy,
            }
        ],
        lcores=d.lcores(*dict.fromkeys(place.values())),
        place=[{"node": node, "lcore": lcore} for node, lcore in place.items()],
    )
    return Cell(net, ue_ns, dn, Airpath(net, middle, file), v4, v6)
