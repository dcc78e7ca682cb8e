# SPDX-License-Identifier: BSD-3-Clause
"""Sessions come, change and go at random under traffic, and take nothing with them: memory, mbufs,
descriptors, TEIDs and addresses are what they were.

The test lasts some seconds; SOAK_SECONDS says otherwise (`make soak`). Vitals are taken when all
sessions are deleted. Answers to requests are kept for up to 30 s in the agent (§6.4): a short run
allows for them, a long one waits until they are gone.

A freed TEID's slot rests 30 s, and memory of slots stays. So the slots there are follow the most
TEIDs that were freed in any 30 s, which a busy machine brings about at any time; they may be as
many as these need, and nothing else of the data plane may grow with them.
"""

import math
import os
import socket
import time

import pytest
from harness import netns, traffic
from harness.churn import Alive, Churn
from harness.gnb import Gnb
from harness.upf import DN, GNB, N3
from harness.vitals import Vitals, at_rest
from scapy.layers.inet import IP, UDP

SECONDS = float(os.environ.get("SOAK_SECONDS", "0"))
# Seconds of a long run: before the middle, of a round, until the agent has forgotten all answers.
WARM, PACE, IDLE = 90, 2.5, 45
ROUNDS, WARM_ROUNDS = 5, 3  # of a short run
STEPS, SESSIONS = 900, 120  # of a round; sessions at a time, about
KEPT = 1600  # octets of answers kept after a session and the requests for it
MIB = 1 << 20
BUCKETS, CHUNK, SLAB = 4096, 4, 256  # slots of a bucket come by the chunk, all by the slab
REST = 31  # seconds, and some for the agent's clock


class Traffic:
    """Packets both ways, most of them of sessions that live."""

    def __init__(self, upf):
        traffic.ping(upf.gnb_ns, N3, size=56, count=1)  # now they are neighbours
        self.gnb = Gnb(upf.gnb_ns, GNB)  # no capture: it would grow for hours
        with netns.inside(upf.dn):
            self.internet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.internet.bind((DN, 9))
        self.internet.setblocking(False)
        self.gone = (1, N3)  # a tunnel that was
        self.sent = self.up = self.down = 0

    def give(self, one: Alive) -> None:
        if not one.tunnels or one.ue is None:
            return
        self.sent += 1
        packet = bytes(IP(src=one.ue, dst=DN) / UDP(sport=9, dport=9) / b"up")
        self.gnb.send(one.tunnels[0], packet)
        if self.sent % 8 == 0:  # the gNB was not told in time: an error indication comes back
            self.gnb.send(self.gone, packet)
        self.gone = one.tunnels[0]
        for _ in range(3):
            self.internet.sendto(b"down" * 40, (one.ue, 5000 + self.sent % 1000))

    def take(self) -> None:
        """Empties what both ends received."""
        while True:
            try:
                self.up += self.internet.recv(2048) == b"up"
            except BlockingIOError:
                break
        while not self.gnb.inbox.empty():
            message, _ = self.gnb.inbox.get()
            self.down += b"down" in message.payload


def slots_needed(churn: Churn) -> int:
    """For TEIDs that rest and those that live, at most. UE addresses come in order, of which 4096
    fill half the buckets twice: that deep a bucket gets, and by one such turn that ended and one
    that began; old sessions may be in it, hardly more than two."""
    depth = 2 * math.ceil(churn.most_resting(REST) / BUCKETS) + 2 + 2
    return math.ceil(depth / CHUNK) * CHUNK * BUCKETS


def flat(middle: Vitals, end: Vitals, *, long: bool) -> list[str]:
    """@return what grew, of each what it may be at most."""
    ended = 0 if long else KEPT * (end.deleted - middle.deleted)
    slots = end.unit["slots"] - middle.unit["slots"]
    slot_bytes = end.unit["slot_bytes"] - middle.unit["slot_bytes"]
    bounds = {
        # nothing but slots: of filter sets and profiles as many are there as at the start
        "heap": middle.heap + MIB // 8 + slot_bytes * 1.01,
        "heap_pieces": middle.heap_pieces + 8 + slots / SLAB,
        "unit_rss": middle.unit_rss + (MIB // 2 if long else MIB) + slot_bytes,
        "unit_fds": middle.unit_fds + 3,  # telemetry's own come and go
        "agent_fds": middle.agent_fds + 3,
        "goroutines": middle.goroutines + 3,
        "live": middle.live + MIB // (4 if long else 2) + ended + 24 * slots,
        "agent_rss": middle.agent_rss * 1.05 + 2 * MIB + 2 * ended,
        "store": middle.store * 1.1 + MIB // 2 + ended,
    }
    grew = [
        f"{what}: {getattr(middle, what)} in the middle, {getattr(end, what)} at the end, "
        f"{end.deleted - middle.deleted} sessions later"
        for what, bound in bounds.items()
        if getattr(end, what) > bound
    ]
    return grew + [f"{pool}: {n} in use" for pool, n in end.pools.items() if n > 0]


class Run:
    """Rounds of sessions that come, change and go, until none is left."""

    def __init__(self, upf):
        self.upf, self.churn, self.packets = upf, Churn(upf, seed=4), Traffic(upf)
        self.long = SECONDS >= 3 * WARM

    def round(self, size: int) -> None:
        start = time.monotonic()
        for n in range(STEPS * size):
            one = self.churn.step(SESSIONS * size)
            if n % 4 == 0 and one is not None:
                self.packets.give(one)
            if n % 64 == 0:
                self.packets.take()
        self.churn.clear()
        if self.long:
            time.sleep(max(0.0, start + PACE - time.monotonic()))
        self.rest()

    def rounds(self, seconds: float, least: int, size: int) -> Vitals:
        start, done = time.monotonic(), 0
        while done < least or time.monotonic() < start + seconds:
            self.round(size)
            done += 1
        self.packets.take()
        if self.long:
            self.churn.idle(IDLE)
        return self.rest()

    def rest(self) -> Vitals:
        return at_rest(self.upf, self.churn.counts["deleted"])


@pytest.mark.slow
def test_churn_leaves_nothing(make_upf, capsys):
    upf = make_upf(metrics="127.0.0.7:9100")
    run = Run(upf)
    churn, packets = run.churn, run.packets
    churn.associate()
    first = run.rest()
    # While it warms up it does more than later, so that the later peaks find what they need.
    middle = run.rounds(WARM if run.long else SECONDS / 3, WARM_ROUNDS, 2)
    end = run.rounds(SECONDS - (WARM if run.long else SECONDS / 3), ROUNDS, 1)
    with capsys.disabled():
        if SECONDS:
            print(f"\n{dict(churn.counts)}\nfirst {first}\nmiddle {middle}\nend {end}")
    grew = flat(middle, end, long=run.long)
    if end.unit["slots"] > slots_needed(churn):
        grew.append(f"slots: {end.unit['slots']} of sessions, {slots_needed(churn)} do")
    assert not grew, "\n".join(grew)
    counts = churn.counts
    assert counts["established"] == counts["deleted"] == end.unit["deletes"]
    assert end.agent["airpath_sessions_deleted_total"] == counts["deleted"]
    for what in ("modified", "refused", "no_session", "same_answer", "reports"):
        assert counts[what] > 50, f"{what}: the run did not do what it is for"
    assert packets.up > 100
    assert packets.down > 100
    churn.release()
    churn.close()
    packets.internet.close()
    packets.gnb.close()
    assert packets.gnb.broken == []
    upf.stop()  # the books of every node balance
