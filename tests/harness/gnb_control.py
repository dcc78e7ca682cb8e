# SPDX-License-Identifier: BSD-3-Clause
"""A control plane's side of api/gnb.proto, made from the schema: requests as Python objects."""

import ipaddress
from pathlib import Path

from harness.control import Client


class GnbControl(Client):
    """One connection of a client."""

    schema = "gnb"

    def __init__(self, path: Path, *, hello: bool = True, events: bool = False):
        super().__init__(path)
        self.welcome = self.hello(events=events).welcome if hello else None

    def part(self, reply):
        return reply.results.contexts, reply.results.more

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
