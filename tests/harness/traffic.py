# SPDX-License-Identifier: BSD-3-Clause
"""Traffic between kernel hosts in namespaces."""

import hashlib
import random
import re
import socket
import threading

from harness import netns
from harness.netns import Net


def ping(net: Net, ns: str, address: str, *, size: int, count: int = 20) -> tuple[int, int]:
    """ICMP echoes of `size` data octets, none fragmented. @return sent, answered."""
    command = ["ping", "-n", "-M", "do", "-c", str(count), "-i", "0.02", "-W", "2"]
    done = net.run(ns, [*command, "-s", str(size), address], check=False)
    found = re.search(r"(\d+) packets transmitted, (\d+) received", done.stdout)
    if not found:
        raise RuntimeError(f"ping: {done.stdout}{done.stderr}")
    return int(found[1]), int(found[2])


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
