# SPDX-License-Identifier: BSD-3-Clause
"""Commands to a running airpath through DPDK's telemetry socket."""

import json
import socket


def ask(deployment: str, command: str, *params: object):
    """@return the answer, None when the command refused; OSError when nobody listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(15)
        s.connect(f"/var/run/dpdk/airpath-{deployment}/dpdk_telemetry.v2")
        s.recv(1024)
        s.send(",".join([command, *map(str, params)]).encode())
        return json.loads(s.recv(65536))[command]
