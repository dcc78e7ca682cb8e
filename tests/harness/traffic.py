# SPDX-License-Identifier: BSD-3-Clause
"""Traffic: packets that know their number, and what kernel hosts say to each other."""

import hashlib
import random
import re
import socket
import threading

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6

from harness import netns
from harness.netns import Net


def datagram(number: int, size: int, *, tos: int = 0, v6: bool = False) -> bytes:
    """An IP packet of `size` B that says which one it is."""
    if v6:
        headers = IPv6(src="fd77::1", dst="fd77::2", tc=tos) / UDP(sport=40000, dport=number)
    else:
        headers = IP(src="10.77.0.1", dst="10.77.0.2", tos=tos) / UDP(sport=40000, dport=number)
    fill = bytes((number + i) & 0xFF for i in range(size - len(headers)))
    return bytes(headers / fill)


def ping(net: Net, ns: str, address: str, *, size: int, count: int = 20) -> tuple[int, int]:
    """ICMP echoes of `size` data octets, none fragmented. @return sent, answered.

    An answer may take seconds: pollers hold the CPUs that the hosts need, too.
    """
    command = ["ping", "-n", "-M", "do", "-c", str(count), "-i", "0.02", "-W", "10"]
    done = net.run(ns, [*command, "-s", str(size), address], check=False)
    found = re.search(r"(\d+) packets transmitted, (\d+) received", done.stdout)
    if not found:
        raise RuntimeError(f"ping: {done.stdout}{done.stderr}")
    return int(found[1]), int(found[2])


def tcp_retransmitted(net: Net, ns: str) -> int:
    """@return TCP segments the host has sent again."""
    names, values = (
        line.split()
        for line in net.run(ns, ["cat", "/proc/net/snmp"]).stdout.splitlines()
        if line.startswith("Tcp:")
    )
    return int(values[names.index("RetransSegs")])


def tcp_transfer(
    server_ns: str, client_ns: str, address: str, size: int, timeout: float = 60
) -> tuple[str, str]:
    """Sends `size` random octets over one TCP connection. @return SHA-256 sent, and received."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with netns.inside(server_ns):
        listener = socket.create_server((address, 0), family=family)
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
