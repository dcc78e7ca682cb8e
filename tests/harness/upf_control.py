# SPDX-License-Identifier: BSD-3-Clause
"""The agent's side of api/upf.proto, made from the schema: requests as Python objects."""

import ipaddress
from pathlib import Path

from harness.control import Client


class Control(Client):
    """One connection of an agent."""

    schema = "upf"
    timeout = 10.0

    def __init__(self, path: Path, *, hello: bool = True, config: bool = True, **settings):
        super().__init__(path)
        self.checkpoints, self.sets, self.told = [], [], []
        self.welcome = self.hello().welcome if hello else None
        if hello and config:
            assert self.config(**settings).error == ""

    def part(self, reply):
        return reply.result.results, reply.result.more

    def kept(self, answer) -> bool:
        if answer.WhichOneof("body") == "checkpoints":
            self.checkpoints.append(answer.checkpoints)
        elif answer.WhichOneof("body") == "applications_done":
            self.sets.append(answer.applications_done)
        elif answer.WhichOneof("body") == "told":
            self.told.append(answer.told)
        return super().kept(answer)

    def wait_told(self):
        """The next usage of an answer that an agent before was given."""
        while not self.told:
            assert self.kept(self.receive()), "a reply that nobody asked for"
        return self.told.pop(0)

    # --- requests ---

    def ack_told(self, number: int) -> None:
        self.send(ack=self.pb.EventAck(told=number))
        self.list(limit=1)  # it was taken when this is answered

    def hello(self, protocol: int = 1):
        return self.reply(self.send(hello=self.pb.Hello(protocol=protocol, agent="pytest")))

    def config(self, **settings):
        settings.setdefault("checkpoint_ms", 100)
        return self.reply(self.send(config=self.pb.Config(**settings)))

    def apply(self, *ops):
        """@return results, as many as ops."""
        reply = self.reply(self.send(apply=self.pb.Apply(ops=ops)))
        assert reply.error == ""
        return list(reply.result.results)

    def set(self, session):
        return self.apply(self.pb.Op(set=session))[0]

    def delete(self, session_id: int):
        return self.apply(self.pb.Op(delete=self.pb.Delete(id=session_id)))[0]

    def query(self, session_id: int, *urr_ids: int):
        return self.apply(self.pb.Op(query=self.pb.Query(id=session_id, urr_ids=urr_ids)))[0]

    def list(self, after: int = 0, limit: int = 0):
        return self.reply(self.send(list=self.pb.List(after=after, max=limit))).sessions

    def applications(self, generation: int, *applications):
        """Hands a whole set over. @return how it ended"""
        body = self.pb.Applications(
            generation=generation, first=True, last=True, applications=applications
        )
        assert self.reply(self.send(applications=body)).error == ""
        while not self.sets:
            assert self.kept(self.receive()), "a reply that nobody asked for"
        return self.sets.pop(0)

    # --- objects ---

    def application(self, index: int, name: str, *pfds: tuple[str, str]):
        """`pfds`: kind and text."""
        kinds = self.pb.Pfd
        return self.pb.Application(
            index=index,
            id=name,
            pfds=[kinds(kind=getattr(kinds, kind), text=text) for kind, text in pfds],
        )

    def session(
        self,
        number: int,
        *,
        version: int = 1,
        peer: str = "192.0.2.2",
        peer_teid: int = 7,
        urr: dict | None = None,
        **more,
    ):
        """A plain session: one PDR up, one down, a FAR each, a QER and a URR for both."""
        pb = self.pb
        handle = handle_of(number)
        urr = {"id": 1, "volume": True, "duration": True} | (urr or {})
        return pb.Session(
            id=number,
            handle=handle,
            version=version,
            tunnels=[pb.Tunnel(teid=handle, interface=1)],
            ue_ip4=ue_ip(number).packed,
            core_interface=2,
            pdrs=[
                pb.Pdr(
                    id=1,
                    precedence=100,
                    source=pb.ACCESS,
                    tunnel=1,
                    match_ue_source=True,
                    match_ip4=True,
                    outer_header_removal=True,
                    far_id=1,
                    qer_ids=[1],
                    urr_ids=[1],
                ),
                pb.Pdr(
                    id=2,
                    precedence=100,
                    source=pb.CORE,
                    match_ue_destination=True,
                    match_ip4=True,
                    far_id=2,
                    qer_ids=[1],
                    urr_ids=[1],
                ),
            ],
            fars=[
                pb.Far(
                    id=1,
                    forward=True,
                    forwarding=pb.Forwarding(destination=pb.CORE, interface=2),
                ),
                pb.Far(
                    id=2,
                    forward=True,
                    forwarding=pb.Forwarding(
                        destination=pb.ACCESS,
                        interface=1,
                        teid=peer_teid,
                        peer=ipaddress.ip_address(peer).packed,
                        port=2152,
                        gtpu=True,
                        pdu_session_container=True,
                    ),
                ),
            ],
            qers=[pb.Qer(id=1, has_qfi=True, qfi=9)],
            urrs=[pb.Urr(**urr)],
            **more,
        )


def ue_ip(number: int) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address("10.45.0.0") + number


def handle_of(number: int) -> int:
    """Bucket of the UE's address, a slot of its own, generation 1."""
    return bucket(ue_ip(number).packed) << 20 | (number & 0xFFF) << 8 | 1


def bucket(ip4: bytes) -> int:
    """Toeplitz under the key that repeats 0x6D5A, bit by bit as the hash is defined."""
    key = int.from_bytes(b"\x6d\x5a" * 8, "big")
    result = 0
    for i, bit in enumerate(f"{int.from_bytes(ip4, 'big'):032b}"):
        if bit == "1":
            result ^= key >> (128 - 32 - i) & 0xFFFFFFFF
    return result & 0xFFF
