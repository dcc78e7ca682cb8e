# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces for a test, and everything in them gone afterwards."""

import contextlib
import ctypes
import itertools
import os
import re
import subprocess

from harness.wait import until

_OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "rxvlan", "txvlan")
_counter = itertools.count()


def available() -> bool:
    """Whether this process may make namespaces and veth pairs."""
    name = f"airpath-probe-{os.getpid()}"
    probe = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if probe.returncode != 0:
        return False
    subprocess.run(["ip", "netns", "del", name], check=True)
    return True


class Net:
    """Namespaces of one test. Names are private to the process; close() removes them all."""

    def __init__(self):
        self._tag = f"airpath-{os.getpid()}-{next(_counter)}"
        self._names: list[str] = []
        self._children: list[subprocess.Popen] = []

    def __enter__(self) -> "Net":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def add(self, name: str) -> str:
        """@return the namespace's name for the other calls."""
        full = f"{self._tag}-{name}"
        subprocess.run(["ip", "netns", "add", full], check=True)
        self._names.append(full)
        # Silence of its own accord: no duplicate address detection, no router solicitations.
        for key in ("accept_dad=0", "router_solicitations=0", "autoconf=0"):
            for scope in ("all", "default"):
                self.run(full, ["sysctl", "-q", "-w", f"net.ipv6.conf.{scope}.{key}"])
        self.run(full, ["ip", "link", "set", "lo", "up"])
        return full

    def veth(
        self, ns_a: str, if_a: str, mac_a: str, ns_b: str, if_b: str, mac_b: str, mtu: int = 1500
    ) -> None:
        """Joins two namespaces. Offloads are off: what is sent is what a wire would carry."""
        command = f"ip link add dev {if_a} netns {ns_a} address {mac_a} mtu {mtu} type veth"
        command += f" peer name {if_b} netns {ns_b} address {mac_b} mtu {mtu}"
        subprocess.run(command.split(), check=True)
        for ns, interface in ((ns_a, if_a), (ns_b, if_b)):
            for offload in _OFFLOADS:  # one by one: not every kernel has them all
                self.run(ns, ["ethtool", "-K", interface, offload, "off"], check=False)
            self.run(ns, ["ip", "link", "set", interface, "up"])

    def address(self, ns: str, interface: str, *addresses: str) -> None:
        for address in addresses:
            nodad = ["nodad"] if ":" in address else []
            self.run(ns, ["ip", "addr", "add", address, "dev", interface, *nodad])

    def settle(self, ns: str, *interfaces: str) -> None:
        """What is sent before the kernel has seen the carrier goes nowhere."""
        for interface in interfaces:
            link = ["ip", "link", "show", "dev", interface]
            until(
                lambda link=link: re.search(
                    r"LOWER_UP.* qdisc (?!noop )", self.run(ns, link).stdout
                )
            )

    def mute(self, ns: str, interface: str) -> None:
        """Takes the kernel's own IPv6 chatter off an interface that a port or a test drives."""
        self.run(ns, ["sysctl", "-q", "-w", f"net.ipv6.conf.{interface}.disable_ipv6=1"])

    def run(
        self, ns: str, command: list[str], *, check: bool = True, timeout: float = 60
    ) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["ip", "netns", "exec", ns, *command],
            check=check,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def popen(self, ns: str, command: list[str], **options) -> subprocess.Popen:
        """A child in the namespace; ended by close() at the latest."""
        child = subprocess.Popen(["ip", "netns", "exec", ns, *command], **options)
        self._children.append(child)
        return child

    def remove(self, ns: str) -> None:
        """Before close(), for one that is not needed any more."""
        subprocess.run(["ip", "netns", "del", ns], check=False)
        self._names.remove(ns)

    def close(self) -> None:
        for child in self._children:
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(5)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
        for name in reversed(self._names):
            subprocess.run(["ip", "netns", "del", name], check=False)
        self._names.clear()


@contextlib.contextmanager
def inside(ns: str):
    """Runs the body of a `with` in a namespace: sockets made there stay there."""
    with open("/proc/self/ns/net") as home, open(f"/run/netns/{ns}") as there:
        _setns(there.fileno())
        try:
            yield
        finally:
            _setns(home.fileno())


def _setns(fd: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, 0x40000000) != 0:  # CLONE_NEWNET; os.setns() comes with Python 3.12
        raise OSError(ctypes.get_errno(), "setns")
