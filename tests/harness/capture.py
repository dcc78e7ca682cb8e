# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams written to a pcap as they were on the wire, and tshark's opinion of them."""

import ipaddress
import os
import struct
import subprocess
import threading
import time
import xml.etree.ElementTree as ET
from pathlib import Path

from scapy.utils import checksum

from harness import tshark

_LINKTYPE_RAW = 101
Endpoint = tuple[str, int]


def _ip(source: str, destination: str, udp: bytes) -> bytes:
    a, b = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    if a.version == 4:
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
    else:
        head = struct.pack(">IHBB", 6 << 28, len(udp), 17, 64)
        pseudo = a.packed + b.packed + struct.pack(">II", len(udp), 17)
        udp = udp[:6] + struct.pack(">H", checksum(pseudo + udp) or 0xFFFF) + udp[8:]
    return head + a.packed + b.packed + udp


class Capture:
    """A pcap of UDP datagrams that grows; any thread may add to it."""

    def __init__(self, path: Path):
        self.path = path
        self._lock = threading.Lock()
        self._out = path.open("wb")
        self._out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, _LINKTYPE_RAW))

    def add(self, source: Endpoint, destination: Endpoint, payload: bytes) -> None:
        udp = struct.pack(">HHHH", source[1], destination[1], 8 + len(payload), 0) + payload
        packet = _ip(source[0], destination[0], udp)
        micros = time.time_ns() // 1000
        head = struct.pack("<IIII", *divmod(micros, 10**6), len(packet), len(packet))
        with self._lock:
            if not self._out.closed:
                self._out.write(head + packet)

    def close(self) -> None:
        with self._lock:
            self._out.close()


def judge(path: Path, protocol: str, *options: str) -> tuple[int, list[str]]:
    """@return how many packets of `protocol` tshark found in the file, and what it objects to."""
    done = subprocess.run(
        ["tshark", "-n", "-r", str(path), "-T", "pdml", *options],
        capture_output=True,
        # A home of its own: no preference of whoever runs the tests may change the verdict.
        env={**os.environ, "HOME": str(path.parent)},
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"tshark: {done.stderr.decode()}")
    count, problems = 0, []
    for number, packet in enumerate(ET.fromstring(done.stdout).findall("packet"), 1):
        proto = packet.find(f"proto[@name='{protocol}']")
        found = tshark.problems(packet)
        if proto is None:
            found.append(f"no {protocol}")
        else:
            count += 1
        problems += [f"packet {number}: {problem}" for problem in found]
    return count, problems
