# SPDX-License-Identifier: BSD-3-Clause
"""UEs, the PHY and a gNB in one program, whose N3 leads to a UPF of harness.upf.

ue ── h0 ─ [ue stack ─ phy ─ gnb] ─ n3 ── upf ── n6 ── dn (internet)
"""

import os
import socket
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import cell, netns, telemetry
from harness import deployment as d
from harness.gnb_control import GnbControl
from harness.program import Airpath
from harness.upf import DN, DN_6, GNB, GNB_6, Upf

RNTI = 0x4601
QFI = 9
_MAC_UE, _MAC_PORT = "02:00:00:00:07:0a", "02:00:00:00:07:0b"
_ETH_P_ALL, _PACKET_OUTGOING, _LINKTYPE_ETHERNET = 3, 4, 1


def dl_teid(position: int, generation: int = 1) -> int:
    """Of the contexts in a deployment file, by position; of others the one it will be."""
    return generation << 24 | position << 4 | 15


@dataclass
class Radio:
    """The program, and the host with all UEs' addresses."""

    upf: Upf
    ue: str  # namespace
    airpath: Airpath
    name: str
    socket: Path

    def control(self, **options) -> GnbControl:
        return GnbControl(self.socket, **options)

    def tell(self, command: str, *params: object):
        return telemetry.ask(self.name, command, *params)

    def drops(self, node: str) -> dict[str, int]:
        """Of one node by now."""
        counts = self.tell("/airpath/node", node)
        return {k.removeprefix("drop_"): n for k, n in counts.items() if k.startswith("drop_")}


def make_radio(
    upf: Upf,
    folder: Path,
    v4: list[str],
    v6: Iterable[str] = (),
    *,
    contexts: Iterable[dict] = (),
    bearers: list[dict] | None = None,
    security: dict | None = None,
    n3: str = GNB,
    place: dict[str, str] | None = None,
    **phy,
) -> Radio:
    """`v4`: consecutive addresses, one a UE; `v6`: likewise the first addresses of /64s. Of `upf`
    name, net and gnb_ns are used, whose interface n3 leads to it."""
    net, v6 = upf.net, list(v6)
    ue_ns = net.add("ues")
    net.veth(ue_ns, "h0", _MAC_UE, upf.gnb_ns, "pu", _MAC_PORT)
    net.mute(upf.gnb_ns, "pu")
    net.mute(upf.gnb_ns, "n3")
    net.run(upf.gnb_ns, ["ip", "addr", "flush", "dev", "n3"])
    net.address(ue_ns, "h0", *(f"{a}/32" for a in v4), *(f"{a}/128" for a in v6))
    for prefix in (f"{DN}/32", f"{DN_6}/128"):
        net.run(ue_ns, ["ip", "route", "add", prefix, "dev", "h0", "mtu", "1400"])
    name = f"radio-{upf.name}"
    both = {
        "numerology": 0,
        "rnti": RNTI,
        "default_qfi": QFI,
        "bearers": bearers or [{**cell.secured(), "qfis": [QFI]}],
        "security": security or {"nea": 2, "nia": 2, **cell.KEYS},
    }
    place = place or {"ue.*": "l2", "gnb.*": "l2", "phy.*": "phy"}
    file = d.write(
        folder / "radio.yaml",
        name,
        memory={"mb": 1024},
        ports=[
            d.user_port("ues", "pu", _MAC_UE),
            d.raw_port("n3", "n3"),
            *d.ring_pair("radio_ue", "phy_ue"),
            *d.ring_pair("radio_gnb", "phy_gnb"),
        ],
        ue=[
            {
                **both,
                "name": "ue",
                "user_port": "ues",
                "phy_port": "radio_ue",
                "count": len(v4),
                "address": v4[0],
                **({"address6": v6[0]} if v6 else {}),
                "sr": {"prohibit_ms": 4, "trans_max": 64},
                "periodic_bsr_ms": 5,
                "retx_bsr_ms": 20,
            }
        ],
        gnb=[
            {
                **both,
                "name": "gnb",
                "phy_port": "radio_gnb",
                "ues": len(v4),
                "tb_bytes": [20000],
                "socket": str(folder / "gnb.sock"),
                "interfaces": [
                    {
                        "name": "n3",
                        "type": "n3",
                        "port": "n3",
                        "addresses": [f"{n3}/24" if ":" not in n3 else f"{n3}/64"],
                    }
                ],
                "contexts": list(contexts),
            }
        ],
        phy=[
            {
                "name": "phy",
                "port": "phy_ue",
                "port2": "phy_gnb",
                "side": "gnb",
                "ues": len(v4),
                "ahead": 20,
                "numerology": 0,
                "tb_bytes": [20000],
                **phy,
            }
        ],
        # Away from the UPF's poller, where there are two CPUs.
        lcores=[
            {"name": lcore, "cpu": max(os.sched_getaffinity(0)), "governor": "yield"}
            for lcore in dict.fromkeys(place.values())
        ],
        place=[{"node": node, "lcore": lcore} for node, lcore in place.items()],
    )
    airpath = Airpath(net, upf.gnb_ns, file)
    return Radio(upf, ue_ns, airpath, name, folder / "gnb.sock")


class Wire:
    """GTP-U frames that arrive on N3, at either end, in a pcap. A context manager."""

    def __init__(self, upf: Upf, path: Path):
        self.path = path
        self._sockets = []
        for ns, interface in ((upf.ns, "n3p"), (upf.gnb_ns, "n3")):
            with netns.inside(ns):
                one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
            one.bind((interface, _ETH_P_ALL))
            one.settimeout(0.1)
            self._sockets.append(one)
        self._out = path.open("wb")
        head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, _LINKTYPE_ETHERNET)
        self._out.write(head)
        self._lock, self._stop = threading.Lock(), False
        self._threads = [threading.Thread(target=self._run, args=(s,)) for s in self._sockets]

    def __enter__(self) -> "Wire":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop = True
        for thread, one in zip(self._threads, self._sockets, strict=True):
            thread.join()
            one.close()
        self._out.close()

    def _run(self, one: socket.socket) -> None:
        while not self._stop:
            try:
                frame, source = one.recvfrom(65536)
            except TimeoutError:
                continue
            if source[2] == _PACKET_OUTGOING or b"\x08\x68\x08\x68" not in frame[:60]:
                continue
            micros = time.time_ns() // 1000
            with self._lock:
                self._out.write(
                    struct.pack("<IIII", *divmod(micros, 10**6), len(frame), len(frame)) + frame
                )

    def flows(self) -> Counter:
        """(PDU type of the container, QFI, TEID) → G-PDUs, as tshark reads them."""
        names = ["pdu_type", "qos_flow_id"]
        fields = [f"gtp.ext_hdr.pdu_ses_con.{n}" for n in names] + ["gtp.teid"]
        command = [
            "tshark",
            "-n",
            "-r",
            str(self.path),
            "-Y",
            "gtp.message == 0xff",
            "-T",
            "fields",
        ]
        for field in fields:
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return Counter(
            tuple(int(x, 0) for x in line.split("\t")) for line in done.stdout.splitlines()
        )


__all__ = ["DN", "GNB", "GNB_6", "QFI", "RNTI", "Radio", "Wire", "dl_teid", "make_radio"]
