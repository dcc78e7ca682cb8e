# SPDX-License-Identifier: BSD-3-Clause
"""What a running UPF has taken of the machine: memory, descriptors, and what is given out."""

import http.client
import re
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import netns
from harness.upf import Upf


@dataclass
class Vitals:
    """Octets where it is memory."""

    deleted: int = 0  # sessions so far
    unit_rss: int = 0
    unit_fds: int = 0
    heap: int = 0  # of DPDK
    heap_pieces: int = 0
    pools: dict[str, int] = field(default_factory=dict)  # mempool → objects in use
    unit: dict[str, int] = field(default_factory=dict)  # counters of the data plane
    agent_rss: int = 0
    agent_fds: int = 0
    live: int = 0  # heap of the agent after a collection
    goroutines: int = 0
    store: int = 0
    agent: dict[str, int] = field(default_factory=dict)  # metrics of the agent

    def nothing_left(self) -> bool:
        """No session, and nothing that only a session has."""
        unit = [self.unit[key] for key in ("sessions", "peers", "events_kept")]
        agent = [self.agent[f"airpath_{key}"] for key in ("sessions", "teids", "ue_addresses")]
        return not any(unit + agent)


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: Path):
        super().__init__("agent", timeout=20)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def _get(connection: http.client.HTTPConnection, path: str) -> str:
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text
        return text
    finally:
        connection.close()


def metrics(upf: Upf) -> dict[str, int]:
    """Metrics without labels; the UPF was made with `metrics`."""
    host, _, port = upf.options["metrics"].rpartition(":")
    with netns.inside(upf.ns):
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        connection.connect()
    found = re.findall(r"^(airpath_\w+) (\S+)$", _get(connection, "/metrics"), re.MULTILINE)
    return {name: int(float(value)) for name, value in found}


def resident(pid: int) -> int:
    """Without hugepages: what DPDK takes of those is told by its heap, to the octet."""
    text = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(re.search(r"^VmRSS:\s+(\d+) kB", text, re.MULTILINE)[1])


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def take(upf: Upf, deleted: int) -> Vitals:
    now = Vitals(deleted)
    now.unit = upf.tell("/airpath/upf/info")
    for one in upf.tell("/eal/heap_list"):
        heap = upf.tell("/eal/heap_info", one)
        now.heap += heap["Alloc_size"]
        now.heap_pieces += heap["Alloc_count"]
    now.pools = upf.tell("/airpath/pools")
    now.unit_rss, now.unit_fds = resident(upf.airpath.pid), descriptors(upf.airpath.pid)
    control = upf.folder / "n4.sock"
    heap = _get(_Unix(control), "/debug/pprof/heap?debug=1&gc=1")
    now.live = int(re.search(r"^# HeapAlloc = (\d+)", heap, re.MULTILINE)[1])
    goroutines = _get(_Unix(control), "/debug/pprof/goroutine?debug=1")
    now.goroutines = int(re.search(r"total (\d+)", goroutines)[1])
    _get(_Unix(control), "/v1/status?collect")
    now.agent_rss, now.agent_fds = resident(upf.agent.pid), descriptors(upf.agent.pid)
    now.store = (upf.folder / "n4.db").stat().st_size
    now.agent = metrics(upf)
    return now


def at_rest(upf: Upf, deleted: int, timeout: float = 30) -> Vitals:
    """Vitals when nothing is left of any session. @throws AssertionError if something stays."""
    until = time.monotonic() + timeout
    while not (now := take(upf, deleted)).nothing_left():
        assert time.monotonic() < until, now
        time.sleep(0.1)
    return now
