# SPDX-License-Identifier: BSD-3-Clause
"""A client's end of a control socket: messages of a schema in api/ as Python objects, requests and
their replies in order."""

import functools
import importlib
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.program import ROOT

MESSAGE_MAX = 196608


@functools.cache
def bindings(name: str):
    """Module of the messages of api/NAME.proto, generated afresh."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["protoc", f"-I{ROOT / 'api'}", f"--python_out={folder}", f"{name}.proto"]
        subprocess.run(command, check=True)
        sys.path.insert(0, folder)
        try:
            return importlib.import_module(f"{name}_pb2")
        finally:
            sys.path.remove(folder)


class Client:
    """One connection. A subclass says which `schema`, and where a reply's parts are."""

    schema: str
    timeout = 20.0

    def __init__(self, path: Path):
        self.pb = bindings(self.schema)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MESSAGE_MAX)
        self.socket.settimeout(self.timeout)
        self.socket.connect(str(path))
        self.seq = 0
        self.events = []

    def close(self) -> None:
        self.socket.close()

    def send(self, **body) -> int:
        """@return the request's seq."""
        self.seq += 1
        self.socket.send(self.pb.Request(seq=self.seq, **body).SerializeToString())
        return self.seq

    def receive(self):
        data = self.socket.recv(MESSAGE_MAX)
        if not data:
            raise ConnectionResetError("it hung up")
        return self.pb.Answer.FromString(data)

    def part(self, reply):
        """@return a reply's results, and whether more follow."""
        raise NotImplementedError

    def kept(self, answer) -> bool:
        """Keeps what comes unasked. @return whether it was that"""
        kind = answer.WhichOneof("body")
        if kind == "event":
            self.events.append(answer.event)
        return kind != "reply"

    def reply(self, seq: int):
        """The reply to a request, of all its messages; what comes unasked meanwhile is kept."""
        results = []
        while True:
            answer = self.receive()
            if self.kept(answer):
                continue
            assert answer.reply.seq == seq, "replies come in the order of requests"
            part, more = self.part(answer.reply)
            results.extend(part)
            if not more:
                if len(results) > len(part):
                    del part[:]
                    part.extend(results)
                return answer.reply

    def wait_event(self, timeout: float | None = None):
        """The next event not yet taken."""
        self.socket.settimeout(timeout or self.timeout)
        while not self.events:
            assert self.kept(self.receive()), "a reply that nobody asked for"
        self.socket.settimeout(self.timeout)
        return self.events.pop(0)

    def ack(self, event: int) -> None:
        self.send(ack=self.pb.EventAck(event=event))
