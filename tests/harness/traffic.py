# SPDX-License-Identifier: BSD-3-Clause
"""Traffic: packets that know their number, and what kernel hosts say to each other."""

import hashlib
import random
import socket
import struct
import threading
import time

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.utils import checksum

from harness import netns

_IP_MTU_DISCOVER, _IP_PMTUDISC_DO = 10, 2  # Linux; not in Python's socket module
_IPV6_DONTFRAG = 62


def datagram(number: int, size: int, *, tos: int = 0, v6: bool = False) -> bytes:
    """An IP packet of `size` B that says which one it is."""
    if v6:
        headers = IPv6(src="fd77::1", dst="fd77::2", tc=tos) / UDP(sport=40000, dport=number)
    else:
        headers = IP(src="10.77.0.1", dst="10.77.0.2", tos=tos) / UDP(sport=40000, dport=number)
    fill = bytes((number + i) & 0xFF for i in range(size - len(headers)))
    return bytes(headers / fill)


def ping(ns: str, address: str, *, size: int, count: int = 20) -> tuple[int, int]:
    """ICMP echoes of `size` data octets, none fragmented. @return sent, answered unchanged.

    Waits 10 s for the last answer. ping(8) waits two round-trip times, and where pollers hold the
    CPUs one packet in a thousand takes longer.
    """
    v6 = ":" in address
    request, reply = (128, 129) if v6 else (8, 0)
    identifier = random.getrandbits(16)
    with netns.inside(ns):
        sock = socket.socket(
            socket.AF_INET6 if v6 else socket.AF_INET,
            socket.SOCK_RAW,
            socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP,
        )
    with sock:
        if v6:
            sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_DONTFRAG, 1)
        else:
            sock.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_DO)
        waiting = {n: random.randbytes(size) for n in range(count)}
        for n, data in list(waiting.items()):
            echo = struct.pack(">BBHHH", request, 0, 0, identifier, n) + data
            if not v6:  # the kernel makes the sum of ICMPv6 itself
                echo = echo[:2] + struct.pack(">H", checksum(echo)) + echo[4:]
            sock.settimeout(60)  # not what was left to wait for answers: a queue may be full
            sock.sendto(echo, (address, 0))
            _take_echoes(sock, v6, (reply, identifier), waiting, 0.02)
        _take_echoes(sock, v6, (reply, identifier), waiting, 10)
    return count, count - len(waiting)


def _take_echoes(
    sock: socket.socket, v6: bool, mine: tuple[int, int], waiting: dict[int, bytes], seconds: float
) -> None:
    """Removes from `waiting` what is answered within `seconds`."""
    until = time.monotonic() + seconds
    while waiting and (left := until - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            packet = sock.recv(65536)
        except TimeoutError:
            return
        icmp = packet if v6 else packet[4 * (packet[0] & 15) :]
        kind, _, _, identifier, number = struct.unpack(">BBHHH", icmp[:8])
        if (kind, identifier) == mine and waiting.get(number) == icmp[8:]:
            del waiting[number]


def tcp_transfer(
    server_ns: str,
    client_ns: str,
    address: str,
    size: int,
    timeout: float = 60,
    *,
    window: int | None = None,
    source: str | None = None,
) -> tuple[str, str]:
    """Sends `size` random octets over one TCP connection. @return SHA-256 sent, and received.

    `source`: the client's address, where it has several.
    `window`: octets under way at most, so that no queue on the way overflows where pollers and
    hosts share CPUs.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with netns.inside(server_ns):
        listener = socket.create_server((address, 0), family=family)
    if window:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    listener.settimeout(timeout)
    port = listener.getsockname()[1]
    received = hashlib.sha256()
    problem: list[BaseException] = []

    def serve() -> None:
        try:
            peer, _ = listener.accept()
            with peer:
                peer.settimeout(timeout)
                while data := peer.recv(1 << 16):
                    received.update(data)
        except OSError as error:
            problem.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    content = random.Random(size).randbytes(size)
    with netns.inside(client_ns):
        client = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Reno is in every kernel, and does not take a CPU that others use too for a thin link.
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        client.settimeout(timeout)
        if source:
            client.bind((source, 0))
        client.connect((address, port))
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)
    finally:
        client.close()
        thread.join(timeout)
        listener.close()
    if problem:
        raise problem[0]
    return hashlib.sha256(content).hexdigest(), received.hexdigest()
