# SPDX-License-Identifier: BSD-3-Clause
"""Commands to a running airpath through DPDK's telemetry socket."""

import json
import socket
import time


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
