# SPDX-License-Identifier: BSD-3-Clause
"""The access side in Python: a GTP-U endpoint over kernel sockets, and UEs that are TUN devices."""

import contextlib
import fcntl
import os
import queue
import socket
import struct
import time
from collections.abc import Callable

from harness import gtpu, netns
from harness.capture import Capture
from harness.netns import Net
from harness.server import Server

_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_RCVBUF = 4 << 20
# Of Linux; not in Python's socket module.
SO_RCVBUFFORCE, _UDP_NO_CHECK6_RX = 33, 102
_SO_TIMESTAMPNS, _TIMESPEC = 35, struct.Struct("@qq")


def stamped(one: socket.socket) -> None:
    """From now on receive_stamped() knows when packets came."""
    one.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)


def receive_stamped(one: socket.socket) -> tuple[bytes, tuple, float]:
    """@return packet, who sent it, and when the kernel got it, however late this thread is"""
    octets, extra, _, source = one.recvmsg(65536, socket.CMSG_SPACE(_TIMESPEC.size))
    when = 0.0
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, ns = _TIMESPEC.unpack(data)
            when = seconds + ns / 1e9
    return octets, source, when


class Gnb:
    """GTP-U of a gNB, or of any other peer. One thread carries packets of every UE."""

    def __init__(self, ns: str, *addresses: str, capture: Capture | None = None):
        """`capture`: gets what is received and belongs to no UE."""
        self.ns = ns
        self._capture = capture
        self.inbox: queue.Queue[tuple[gtpu.Message, str]] = queue.Queue()  # and who sent it
        self.broken: list[str] = []
        self.echo = True  # answer Echo Requests
        self.restart_counter = 0
        self._sockets: dict[int, socket.socket] = {}  # by IP version
        self._busy: set[bytes] = set()  # their TEIDs as in a header
        self._ues: dict[int, Ue | Sink] = {}  # by downlink TEID
        self._server = Server()
        for address in addresses:
            six = ":" in address
            with netns.inside(ns):
                one = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM)
            one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, _RCVBUF)
            if six:  # tunnels may go without a checksum, RFC 6935
                one.setsockopt(socket.IPPROTO_UDP, _UDP_NO_CHECK6_RX, 1)
            stamped(one)
            one.bind((address, gtpu.PORT))
            one.setblocking(False)
            self._sockets[6 if six else 4] = one
            self._server.add(one.fileno(), lambda one=one: self._drain(one))

    def close(self) -> None:
        self._server.close()
        for one in self._sockets.values():
            one.close()
        for ue in list(self._ues.values()):
            ue.close()

    def send_raw(self, upf: str, octets: bytes, port: int = gtpu.PORT) -> None:
        self._sockets[6 if ":" in upf else 4].sendto(octets, (upf, port))

    def send(self, tunnel: tuple[int, str], packet: bytes, qfi: int | None = 1) -> None:
        """One IP packet up a tunnel of the UPF."""
        self.send_raw(tunnel[1], gtpu.uplink(tunnel[0], packet, qfi))

    def receive(
        self,
        kind: int = gtpu.G_PDU,
        timeout: float = 10,
        *,
        which: Callable[[gtpu.Message], bool] = lambda _: True,
    ) -> gtpu.Message:
        """The next message of a kind that belongs to no UE; others are left out.
        @throws TimeoutError"""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            try:
                message, _ = self.inbox.get(timeout=left)
            except queue.Empty:
                break
            if message.kind == kind and which(message):
                return message
        raise TimeoutError(f"no GTP-U message of type {kind}")

    def silence(self, seconds: float = 0.5, kind: int = gtpu.G_PDU) -> bool:
        """Whether none of a kind comes for so long."""
        try:
            self.receive(kind, seconds)
        except TimeoutError:
            return True
        return False

    def sink(self, teid: int) -> "Sink":
        """From now on counts what comes down a tunnel, in place of receive()."""
        self._ues[teid] = Sink()
        self._busy.add(teid.to_bytes(4))
        return self._ues[teid]

    def add_ue(self, ue: "Ue") -> None:
        self._ues[ue.downlink] = ue
        self._busy.add(ue.downlink.to_bytes(4))
        self._server.add(ue.fd, lambda: self._up(ue))

    def remove_ue(self, ue: "Ue") -> None:
        self._ues.pop(ue.downlink, None)
        self._busy.discard(ue.downlink.to_bytes(4))
        self._server.remove(ue.fd)

    def _up(self, ue: "Ue") -> None:
        for _ in range(64):
            packet = os.read(ue.fd, 65536)
            if packet[0] >> 4 == 6 and (packet[24] == 0xFF or packet[8] in (0, 0xFE)):
                continue  # the kernel's own: MLD and the like, from no address of the session
            ue.sent(packet)
            if ue.uplink is not None:
                self.send(ue.uplink, packet, ue.qfi)

    def _drain(self, one: socket.socket) -> None:
        for _ in range(64):
            octets, source, when = receive_stamped(one)
            if self._capture is not None and octets[4:8] not in self._busy:
                self._capture.add(source[:2], one.getsockname()[:2], octets)
            try:
                message = gtpu.parse(octets)
            except gtpu.Broken as error:
                self.broken.append(str(error))
                continue
            ue = self._ues.get(message.teid)
            if message.kind == gtpu.G_PDU and ue is not None:
                ue.took(message, when)
                continue
            if message.kind == gtpu.ECHO_REQUEST and self.echo:
                recovery = bytes((14, self.restart_counter))
                answer = gtpu.make(gtpu.ECHO_RESPONSE, 0, recovery, seq=message.seq)
                one.sendto(answer, source)
            self.inbox.put((message, source[0]))


class Sink:
    """A UE without a kernel: when packets came and how long they were."""

    def __init__(self):
        self.times: list[float] = []
        self.sizes: list[int] = []
        self.kept: list[tuple[float, bytes]] = []  # by the kernel's clock; what UDP carries, begun

    def took(self, message: gtpu.Message, when: float) -> None:
        self.times.append(time.monotonic())
        self.sizes.append(len(message.payload))
        self.kept.append((when, message.payload[28:36]))

    def close(self) -> None:
        pass


class Ue:
    """A UE's kernel host: a TUN device in a namespace of its own behind the gNB."""

    def __init__(
        self,
        net: Net,
        gnb: Gnb,
        name: str,
        *addresses: str,
        downlink: int,
        uplink: tuple[int, str] | None = None,
        qfi: int | None = 1,
        mtu: int = 1400,
    ):
        """`downlink`: the gNB's TEID; `uplink`: TEID and address of the UPF; addresses without a
        prefix length."""
        self.ns = net.add(name)
        self.downlink, self.uplink, self.qfi = downlink, uplink, qfi
        self.v4 = next((a for a in addresses if ":" not in a), None)
        self.v6 = next((a for a in addresses if ":" in a), None)
        self.ul_bytes = self.ul_packets = self.dl_bytes = self.dl_packets = 0
        self.qfis: set[int | None] = set()  # that came down
        self.keep: list[bytes] | None = None  # where a test wants the packets
        with netns.inside(self.ns):
            self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            request = struct.pack("16sH22x", b"ue0", _IFF_TUN | _IFF_NO_PI)
            fcntl.ioctl(self.fd, _TUNSETIFF, request)
        net.run(self.ns, ["ip", "link", "set", "ue0", "mtu", str(mtu), "up"])
        for address in addresses:
            six = ":" in address
            net.address(self.ns, "ue0", f"{address}/{64 if six else 32}")
            kind = ["-6"] if six else []
            net.run(self.ns, ["ip", *kind, "route", "add", "default", "dev", "ue0"])
        self._gnb, self._closed = gnb, False
        gnb.add_ue(self)

    def sent(self, packet: bytes) -> None:
        self.ul_bytes += len(packet)
        self.ul_packets += 1

    def took(self, message: gtpu.Message, _: float) -> None:
        self.dl_bytes += len(message.payload)
        self.dl_packets += 1
        self.qfis.add(message.qfi)
        if self.keep is not None:
            self.keep.append(message.payload)
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self.fd, message.payload)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._gnb.remove_ue(self)
            os.close(self.fd)
