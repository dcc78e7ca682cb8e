# SPDX-License-Identifier: BSD-3-Clause
"""A control plane's side of api/gnb.proto, made from the schema: requests as Python objects."""

import functools
import ipaddress
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.program import ROOT

MESSAGE_MAX = 196608


@functools.cache
def bindings():
    """Module of the schema's messages, generated afresh."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["protoc", f"-I{ROOT / 'api'}", f"--python_out={folder}", "gnb.proto"]
        subprocess.run(command, check=True)
        sys.path.insert(0, folder)
        try:
            import gnb_pb2
        finally:
            sys.path.remove(folder)
    return gnb_pb2


class GnbControl:
    """One connection of a client."""

    def __init__(self, path: Path, *, hello: bool = True, events: bool = False):
        self.pb = bindings()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MESSAGE_MAX)
        self.socket.settimeout(20)
        self.socket.connect(str(path))
        self.seq = 0
        self.events = []
        self.welcome = self.hello(events=events).welcome if hello else None

    def close(self) -> None:
        self.socket.close()

    # --- messages ---

    def send(self, **body) -> int:
        """@return the request's seq."""
        self.seq += 1
        self.socket.send(self.pb.Request(seq=self.seq, **body).SerializeToString())
        return self.seq

    def receive(self):
        data = self.socket.recv(MESSAGE_MAX)
        if not data:
            raise ConnectionResetError("the gNB hung up")
        return self.pb.Answer.FromString(data)

    def reply(self, seq: int):
        """The reply to a request, of all its messages; events meanwhile are kept."""
        results = []
        while True:
            answer = self.receive()
            if answer.WhichOneof("body") == "event":
                self.events.append(answer.event)
                continue
            assert answer.reply.seq == seq, "replies come in the order of requests"
            results.extend(answer.reply.results.contexts)
            if not answer.reply.results.more:
                if len(results) > len(answer.reply.results.contexts):
                    del answer.reply.results.contexts[:]
                    answer.reply.results.contexts.extend(results)
                return answer.reply

    def wait_event(self):
        """The next event not yet taken."""
        while not self.events:
            answer = self.receive()
            assert answer.WhichOneof("body") == "event", "a reply that nobody asked for"
            self.events.append(answer.event)
        return self.events.pop(0)

    # --- requests ---

    def hello(self, protocol: int = 1, *, events: bool = False):
        body = self.pb.Hello(protocol=protocol, client="pytest", events=events)
        return self.reply(self.send(hello=body))

    def setup(self, *contexts):
        body = self.pb.BearerContextSetupRequest(contexts=contexts)
        return self._results(self.send(setup=body))

    def modify(self, *changes):
        body = self.pb.BearerContextModificationRequest(contexts=changes)
        return self._results(self.send(modification=body))

    def release(self, *ue_ids: int):
        body = self.pb.BearerContextReleaseCommand(ue_ids=ue_ids)
        return self._results(self.send(release=body))

    def _results(self, seq: int):
        reply = self.reply(seq)
        assert reply.error == ""
        return list(reply.results.contexts)

    def contexts(self) -> list:
        """Every context there is."""
        found, more = [], True
        while more:
            first = found[-1].ue_id + 1 if found else 0
            part = self.reply(self.send(query=self.pb.ContextQuery(ue_id=first))).contexts
            found.extend(part.contexts)
            more = part.more
        return found

    def context(self, ue_id: int):
        """One of them, or the error."""
        reply = self.reply(self.send(query=self.pb.ContextQuery(one=True, ue_id=ue_id)))
        return reply.error or reply.contexts.contexts[0]

    def status(self):
        return self.reply(self.send(status=self.pb.StatusRequest())).status

    def complete(self, complete: bool = True) -> None:
        assert self.reply(self.send(complete=self.pb.Complete(complete=complete))).error == ""

    def paths(self, **settings) -> None:
        body = self.pb.PathSupervision(**settings)
        assert self.reply(self.send(paths=body)).error == ""

    def offload(self, percent: int):
        return self.reply(self.send(offload=self.pb.OffloadShare(percent=percent)))

    def ack(self, event: int) -> None:
        self.send(ack=self.pb.EventAck(event=event))

    # --- objects ---

    def tunnel(self, address: str, teid: int, interface: int = 0):
        packed = ipaddress.ip_address(address).packed
        return self.pb.Tunnel(address=packed, teid=teid, interface=interface)

    def drb(self, number: int = 4, du: str = "10.7.0.9", du_teid: int = 0x55, **more):
        """A DRB with SDAP headers both ways; of QoS flow 9 unless said otherwise."""
        settings = {"qfis": [9], "sdap_ul_header": True, "sdap_dl_header": True} | more
        return self.pb.Drb(id=number, dl_up=self.tunnel(du, du_teid), **settings)

    def session(self, number: int = 5, upf: str = "10.3.0.1", upf_teid: int = 0x77, *drbs, **more):
        drbs = drbs or (self.drb(),)
        return self.pb.PduSession(id=number, ul_up=self.tunnel(upf, upf_teid), drbs=drbs, **more)

    def ue(self, ue_id: int, *sessions, **more):
        return self.pb.BearerContext(
            ue_id=ue_id, pdu_sessions=sessions or (self.session(),), **more
        )
