# SPDX-License-Identifier: BSD-3-Clause
"""Commands to a running airpath through DPDK's telemetry socket."""

import collections
import json
import operator
import re
import socket
import time
from collections.abc import Callable

from harness.wait import until

WALKS = 20  # more than a packet takes through all cuts of a deployment


class Refused(Exception):
    """A command was refused, and why."""


def ask(deployment: str, command: str, *params: object):
    """@return the answer. @throws Refused, and OSError when nobody listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(15)
        s.connect(f"/var/run/dpdk/airpath-{deployment}/dpdk_telemetry.v2")
        s.recv(1024)
        s.send(",".join([command, *map(str, params)]).encode())
        answer = json.loads(s.recv(65536))[command]
    if isinstance(answer, dict) and "refused" in answer:
        raise Refused(answer["refused"])
    return answer


def role(deployment: str, name: str) -> dict:
    """What a role reports by now: `gen`, `gen1`, ..."""
    return json.loads(ask(deployment, "/airpath/role", name))


def drops(deployment: str) -> collections.Counter:
    """Packets dropped by now, by reason, over all nodes."""
    counts: collections.Counter = collections.Counter()
    for name in ask(deployment, "/airpath/nodes"):
        for key, count in ask(deployment, "/airpath/node", name).items():
            if key.startswith("drop_"):
                counts[key.removeprefix("drop_")] += count
    return counts


def wait_role(
    deployment: str, name: str, true: Callable[[dict], bool], timeout: float = 30
) -> dict:
    """@return what a role reports once that is true. @throws TimeoutError"""
    return until(
        lambda: now if true(now := role(deployment, name)) else None,
        timeout,
        seen=lambda: role(deployment, name),
    )


def _walks(deployment: str) -> list[int]:
    """Of each lcore so far."""
    lcores = ask(deployment, "/airpath/lcores").values()
    return [int(re.search(r"(\d+) walks", text)[1]) for text in lcores]


def _passed(deployment: str) -> list[int]:
    """Packets into each node, and made there, so far."""
    nodes = (ask(deployment, "/airpath/node", n) for n in ask(deployment, "/airpath/nodes"))
    return [node["in"] + node["made"] for node in nodes]


def walk(deployment: str, timeout: float = 30) -> None:
    """Until every lcore has walked its graph so often that a packet is through. Not for lcores that
    sleep. @throws TimeoutError"""
    goal = [walks + WALKS for walks in _walks(deployment)]
    until(lambda: all(map(operator.ge, _walks(deployment), goal)), timeout)


def settle(deployment: str, timeout: float = 30) -> None:
    """Until packets stand still: none moved while every lcore walked. @throws TimeoutError"""

    def still() -> bool:
        before = _passed(deployment)
        walk(deployment, timeout)
        return before == _passed(deployment)

    until(still, timeout)


def wait_back(deployment: str, packets: int, *gens: str, timeout: float = 40) -> None:
    """Until every generator has sent so many and all of them are back, or time is up.

    A stop gives queues 100 ms of slots to drain, which on a busy machine may not do.
    """
    until = time.monotonic() + timeout
    for gen in gens or ("gen",):
        while time.monotonic() < until:
            now = role(deployment, gen)
            if now["sent"] >= packets and now["good"] >= now["sent"]:
                break
            time.sleep(0.05)
