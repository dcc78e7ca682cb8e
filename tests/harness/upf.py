# SPDX-License-Identifier: BSD-3-Clause
"""A UPF between kernel hosts: data plane and agent in one namespace, gNB and internet beside it.

gnb ── n3 ──┐        ┌── n6 ── dn (internet)
            ├─ upf ──┤
cp ── n4u ──┘  N4 on loopback addresses of upf
"""

import collections
import contextlib
import ipaddress
import itertools
import os
import time
from collections.abc import Iterable
from pathlib import Path

from scapy.packet import Packet

from harness import deployment as d
from harness import pfcp_ies as ies
from harness import program, telemetry, traffic
from harness.agent import N4, POOL, POOL_6, Agent
from harness.capture import Capture, judge
from harness.gnb import Gnb, Ue
from harness.netns import Net
from harness.pfcp import PORT, Session, Smf
from harness.program import Airpath

N3, N6, N4U = "10.3.0.1", "10.6.0.1", "10.4.0.1"
N3_6, N6_6 = "fd03::1", "fd06::1"
GNB, DN, CPU = "10.3.0.2", "10.6.0.2", "10.4.0.2"
GNB_6, DN_6 = "fd03::2", "fd06::2"
_MACS = {  # of the kernel's end, and of the UPF's
    "n3": ("02:00:00:00:03:02", "02:00:00:00:03:01"),
    "n6": ("02:00:00:00:06:02", "02:00:00:00:06:01"),
    "n4u": ("02:00:00:00:04:02", "02:00:00:00:04:01"),
}
_count = itertools.count()


class Upf:
    """Namespaces, then a data plane and an agent that can be stopped, killed and started again."""

    def __init__(self, folder: Path, **options):
        """`options`: of deployment() and config(), by name."""
        self.folder, self.options = folder, options
        self.n4 = options.get("n4", N4)
        self.net = Net()
        self.name = f"upf-{os.getpid()}-{next(_count)}"
        self.capture = Capture(folder / "n4.pcap")
        self.n3 = Capture(folder / "gtpu.pcap")
        self.smfs: list[Smf] = []
        self._addresses = itertools.count(1)
        self._gnbs: list[Gnb] = []
        self.closed = False
        self.more: dict[str, str] = {}  # namespaces of `links`
        self.airpath: Airpath | None = None
        self.agent: Agent | None = None
        try:
            self._wire()
            self.start_data_plane()
            self.start_agent()
        except BaseException:
            self.close()
            raise

    def _wire(self) -> None:
        self.ns = self.net.add("upf")
        self.gnb_ns, self.dn, self.cp = (self.net.add(name) for name in ("gnb", "dn", "cp"))
        for ns, link in ((self.gnb_ns, "n3"), (self.dn, "n6"), (self.cp, "n4u")):
            theirs, ours = _MACS[link]
            self.net.veth(ns, link, theirs, self.ns, f"{link}p", ours)
            self.net.mute(self.ns, f"{link}p")
        for link in self.options.get("links", ()):
            self.more[link] = self.net.add(link)
            macs = [f"02:00:00:00:{16 + len(self.more):02x}:0{end}" for end in (2, 1)]
            self.net.veth(self.more[link], link, macs[0], self.ns, f"{link}p", macs[1])
            self.net.mute(self.ns, f"{link}p")
        self.net.address(self.gnb_ns, "n3", f"{GNB}/24", f"{GNB_6}/64")
        self.net.address(self.dn, "n6", f"{DN}/24", f"{DN_6}/64")
        self.net.address(self.cp, "n4u", f"{CPU}/24")
        if ":" in self.n4:  # all of 127.0.0.0/8 is there already
            self.net.address(self.ns, "lo", f"{self.n4}/128")
        self.net.run(self.dn, ["ip", "route", "add", POOL, "via", N6])
        self.net.run(self.dn, ["ip", "-6", "route", "add", POOL_6, "via", N6_6])

    # --- processes ---

    def start_data_plane(self) -> None:
        options = {k: v for k, v in self.options.items() if k not in _OF_AGENT}
        file = deployment(self.folder / "upf.yaml", self.name, self.socket, **options)
        self.airpath = Airpath(self.net, self.ns, file)
        program.started.remove(self.airpath)  # it may outlive the test
        program.watched[self.name] = self.log

    def start_agent(self) -> None:
        options = {k: v for k, v in self.options.items() if k in _OF_AGENT}
        self.agent = Agent(self.net, self.ns, self.folder, self.socket, **options)

    @property
    def socket(self) -> Path:
        return self.folder / "upf.sock"

    def stop(self) -> dict:
        """Ends agent, then data plane. @return the report of the latter, its books checked; the
        judges have looked at what went over N4 and GTP-U."""
        for smf in self.smfs:
            smf.close()
        assert self.agent is not None
        self.agent.stop()
        assert self.airpath is not None
        report = self.airpath.stop()
        self.judge()
        self.close()
        return report

    def judge(self) -> None:
        """tshark and scapy find nothing to object to in what was said over N4 and GTP-U."""
        self.capture.close()
        self.n3.close()
        inner = ("-o", "gtp.dissect_tpdu_as:None")  # what a UE says is its own affair
        _, problems = judge(self.n3.path, "gtp", *inner)
        assert problems == [], self.n3.path
        count, problems = judge(self.capture.path, "pfcp")
        assert problems == [], self.capture.path
        assert count or not self.smfs, "a capture without messages proves nothing"
        assert [what for smf in self.smfs for what in smf.unread] == []
        assert [what for gnb in self._gnbs for what in gnb.broken] == []

    def close(self) -> None:
        self.closed = True
        program.watched.pop(self.name, None)
        for thing in (*self.smfs, *self._gnbs, self.capture, self.n3):
            with contextlib.suppress(OSError):
                thing.close()
        self.net.close()

    def log(self) -> str:
        """The ends of what both programs said."""
        files = [self.folder / "upf.log", self.folder / "agent.log"]
        return "\n".join(f"{f.name}:\n{f.read_text()[-6000:]}" for f in files if f.exists())

    def tell(self, command: str, *params: object):
        """One telemetry command to the data plane."""
        return telemetry.ask(self.name, command, *params)

    def drops(self) -> collections.Counter:
        """Packets dropped by now, by reason, over all nodes."""
        return telemetry.drops(self.name)

    def settle(self) -> None:
        """Returns when what was sent before has gone through: an echo has come behind it."""
        for ns, own in ((self.dn, N6), (self.gnb_ns, N3)):
            _, answered = traffic.ping(ns, own, size=56, count=1)
            assert answered == 1
        time.sleep(0.1)  # for the threads that listen

    # --- peers ---

    def smf(self, address: str | None = None, **options) -> Smf:
        """An SMF at an address of its own unless one is given."""
        address = address or f"127.0.1.{next(self._addresses)}"
        if ":" in address:
            self.net.address(self.ns, "lo", f"{address}/128")
        self.smfs.append(
            Smf(self.ns, self.capture, address=address, upf=(self.n4, PORT), **options)
        )
        return self.smfs[-1]

    def gnb(self, *addresses: str, ns: str | None = None) -> Gnb:
        """A GTP-U peer at addresses that the namespace has; the gNB's when none are given."""
        ns, addresses = ns or self.gnb_ns, addresses or (GNB, GNB_6)
        self._gnbs.append(Gnb(ns, *addresses, capture=self.n3))
        return self._gnbs[-1]

    def ue(self, gnb: Gnb, session: Session, *, name: str = "ue", **options) -> Ue:
        """The UE of a session that pdu_session() made. Of its /64 it takes address 1."""
        v4, v6 = session.ue[1]
        addresses = [v4] if v4 else []
        if v6:
            addresses.append(str(ipaddress.ip_network(f"{v6}/64", strict=False)[1]))
        return Ue(self.net, gnb, name, *addresses, uplink=session.tunnels[1], **options)


_OF_AGENT = {
    *("instances", "n4", "cp_fteid", "peers", "associate", "heartbeat_s", "echo", "metrics"),
    "agent",
}


def deployment(
    file: Path,
    name: str,
    socket: Path,
    *,
    workers: int = 1,
    dispatchers: int = 0,
    links: Iterable[str] = (),
    preset: str = "af_packet",
    governor: str = "auto",
    interfaces: Iterable[dict] = (),
    **more,
) -> Path:
    """`links`: more ports; `interfaces`: change those of their names or are more; `more`: keys of
    the upf."""
    lcores = d.lcores(*(f"w{i}" for i in range(workers)), *(f"d{i}" for i in range(dispatchers)))
    ports = {link: f"{link}p" for link in ("n3", "n6", "n4u", *links)}
    found = {
        "n3": {"types": ["access"], "addresses": [f"{N3}/24", f"{N3_6}/64"]},
        "n6": {
            "types": ["core", "sgi_n6_lan"],
            "network_instances": ["internet"],
            "addresses": [f"{N6}/24", f"{N6_6}/64"],
            "gateways": [DN, DN_6],
        },
        "n4u": {"types": ["cp_function"], "addresses": [f"{N4U}/24"]},
    }
    for one in interfaces:
        found[one["name"]] = found.get(one["name"], {}) | one
    if dispatchers:
        more["dispatchers"] = dispatchers
    return d.write(
        file,
        name,
        ports=[
            {"name": port, "preset": preset, "iface": iface, "framing": "raw"}
            for port, iface in ports.items()
        ],
        upf=[
            {
                "name": "upf",
                "socket": str(socket),
                "workers": workers,
                "sessions": 4096,
                "interfaces": [{"name": n, "port": n, **keys} for n, keys in found.items()],
                **more,
            }
        ],
        lcores=[{**each, "governor": governor} for each in lcores],
        place=[
            *({"node": f"upf.*_w{i}", "lcore": f"w{i}"} for i in range(workers)),
            *({"node": f"upf.*_d{i}", "lcore": f"d{i}"} for i in range(dispatchers)),
        ],
    )


def pdu_session(
    smf: Smf,
    *more: Packet,
    teid: int = 7,
    gnb: str | None = GNB,
    v4: bool = True,
    v6: bool = False,
    qers: Iterable[int] = (1,),
    urrs: Iterable[int] = (),
    down: Iterable[str] = ("FORW",),
    bar: int | None = None,
    ue: Packet | None = None,
) -> Session:
    """A session as an SMF makes it: PDR 1 up (N3 to N6), PDR 2 down, addresses by the UPF; FAR 2
    leads to `teid` at `gnb`. `more`: further rules."""
    uplink = ies.pdi(
        ies.ACCESS,
        ies.choose(v4=True, v6=gnb is not None and ":" in gnb),
        ue or ies.choose_ue_ip(v4=v4, v6=v6),
    )
    downlink = ies.pdi(
        ies.CORE,
        ies.network_instance("internet"),
        ies.as_destination(ue) if ue else ies.choose_ue_ip(v4=v4, v6=v6, destination=True),
    )
    return smf.establish(
        ies.pdr(1, uplink, far=1, precedence=200, removal=6, qers=qers, urrs=urrs),
        ies.pdr(2, downlink, far=2, precedence=200, qers=qers, urrs=urrs),
        ies.far(1, "FORW", to=ies.CORE, instance="internet"),
        ies.far(2, *down, to=ies.ACCESS, out=None if gnb is None else (teid, gnb), bar=bar),
        *([ies.qer(1, qfi=1)] if 1 in qers else []),
        *more,
    )
