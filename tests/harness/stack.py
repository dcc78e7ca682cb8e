# SPDX-License-Identifier: BSD-3-Clause
"""One UE between two wires of the test: IP on one, the fronthaul on the other."""

import os
import socket
import time
from pathlib import Path

from harness import deployment as d
from harness import netns, telemetry
from harness.netns import Net
from harness.nfapi import Modem
from harness.program import Airpath
from harness.wait import until

HOST, PORT = "02:00:00:00:00:0a", "02:00:00:00:01:0a"
FRAME_BYTES = 1514


class Stack:
    """A running UE; the test is its user network and its PHY, and steps the slots."""

    def __init__(
        self, folder: Path, *, bearers: list[dict], place: dict[str, str] | None = None, **ue
    ):
        """`place`: node or glob → lcore, each lcore named there being a thread of its own."""
        self.net = Net()
        self.name = f"stack-{os.getpid()}"
        try:
            self._start(folder, bearers, place or {"*": "l2"}, ue)
        except BaseException:
            self.net.close()
            raise

    def _start(self, folder: Path, bearers: list[dict], place: dict, ue: dict) -> None:
        test, middle = self.net.add("t"), self.net.add("m")
        self.net.veth(test, "u0", HOST, middle, "pu", PORT)
        self.net.veth(test, "p0", "02:00:00:00:00:0c", middle, "pp", "02:00:00:00:01:0c")
        for ns, interface in ((test, "u0"), (test, "p0"), (middle, "pu"), (middle, "pp")):
            self.net.mute(ns, interface)
        file = d.write(
            folder / "stack.yaml",
            self.name,
            ports=[d.user_port("user", "pu", HOST), d.raw_port("fronthaul", "pp")],
            ue=[
                {
                    **d.ue("ue", "user", "fronthaul", bearers),
                    "loopback": False,
                    "frame_bytes": FRAME_BYTES,
                    "numerology": 1,
                    **ue,
                }
            ],
            lcores=d.lcores(*dict.fromkeys(place.values())),
            place=[{"node": node, "lcore": lcore} for node, lcore in place.items()],
        )
        with netns.inside(test):
            self._user = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._user.bind(("u0", 3))
        self.modem = Modem(test, "p0")
        self._sent = bytes.fromhex((PORT + HOST).replace(":", ""))
        self._program = Airpath(self.net, middle, file)

    def send(self, packets: list[bytes]) -> None:
        """Uplink IP packets; returns when they wait in the RLC queues."""
        expected = self._taken() + len(packets)
        for packet in packets:
            kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
            self._user.send(self._sent + kind + packet)
        until(lambda: self._taken() >= expected, seen=self._taken)
        telemetry.settle(self.name)

    def _taken(self) -> int:
        return self.tell("/airpath/node", "ue.user_rx")["in"]

    def receive(self, count: int, timeout: float = 20) -> list[bytes]:
        """Downlink IP packets, as many as `count` within `timeout` s."""
        got: list[bytes] = []
        give_up = time.monotonic() + timeout
        while len(got) < count and (left := give_up - time.monotonic()) > 0:
            self._user.settimeout(left)
            try:
                frame, address = self._user.recvfrom(65536)
            except TimeoutError:
                break
            if address[2] != socket.PACKET_OUTGOING:
                got.append(frame[14:])
        return got

    def tell(self, command: str, *params: object):
        """One telemetry command to the program. @return its answer, None when it refused."""
        return telemetry.ask(self.name, command, *params)

    def log(self) -> str:
        return self._program.log()

    def lines(self, text: str) -> list[str]:
        """Of the log, with this in them."""
        return [line for line in self.log().splitlines() if text in line]

    def stop(self) -> dict:
        """@return the report of the run, its accounting checked."""
        report = self._program.stop()
        self.close()
        return report

    def close(self) -> None:
        self.modem.close()
        self._user.close()
        self.net.close()
