# SPDX-License-Identifier: BSD-3-Clause
"""MBR and session AMBR: TS 29.244 §5.4.3, §5.4.4, within 5 %.

A token bucket lets pass what its rate gives in the time between two moments at which it is empty,
however sender, UPF and receiver are scheduled meanwhile, unless all stand still for so long that it
fills up. It is empty when a packet is dropped. So packets are numbered, more are sent than may
pass, and what the kernel got between two gaps in the numbers is held against the time between.
"""

import contextlib
import itertools
import socket
import statistics
import threading
import time
from dataclasses import dataclass

import pytest
from harness import netns
from harness import pfcp_ies as ies
from harness.fixtures import making
from harness.gnb import SO_RCVBUFFORCE, receive_stamped, stamped
from harness.upf import DN, pdu_session
from scapy.layers.inet import IP, UDP

SIZE = 1000  # octets of an IP packet
BURST = 400_000  # octets: at 20 Mbit/s the bucket fills in 160 ms
OVER = 3  # times the rate is sent
WINDOWS, LEAST, TRIALS = 6, 4, 10
PACKETS = 80  # of a window, at least: one more or less is 1.3 %


@pytest.fixture(scope="module")
def upf(tmp_path_factory):
    with making(tmp_path_factory) as make:
        yield make(burst_bytes=BURST)


@pytest.fixture(scope="module")
def gnb(upf):
    return upf.gnb()


@pytest.fixture
def internet(upf):
    with netns.inside(upf.dn):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    stamped(sock)
    sock.bind((DN, 0))
    sock.settimeout(1)
    with sock:
        yield sock


@dataclass
class Trial:
    sent: int
    dropped: int  # for the rate, by the UPF's counter
    passed: list[tuple[float, int]]  # when, and its number

    def sound(self) -> bool:
        """Nothing was lost but for the rate: a gap in the numbers is an empty bucket."""
        return self.sent == self.dropped + len(self.passed)

    def edges(self) -> list[int]:
        """Of `passed`, those behind which a packet was dropped."""
        numbers = [number for _, number in self.passed]
        return [i for i, n in enumerate(numbers[:-1]) if numbers[i + 1] != n + 1]

    def before_the_first_drop(self) -> int:
        return (self.edges()[0] + 1) * SIZE

    def too_many(self, rate: float) -> bool:
        """More passed than the bucket held at first, and what came into it since."""
        seconds = self.passed[-1][0] - self.passed[0][0]
        return len(self.passed) * SIZE * 8 > 1.05 * (rate * seconds + BURST * 8)

    def rates(self, rate: float) -> list[float]:
        """bit/s from gap to gap, of windows in which the bucket cannot have filled up."""
        edges, found = self.edges(), []
        if len(edges) < 2:
            return []
        step = max(PACKETS, (edges[-1] - edges[0]) // WINDOWS)
        first = edges[0]
        for last in edges:
            if last - first < step:
                continue
            times = [when for when, _ in self.passed[first : last + 1]]
            still = max(b - a for a, b in itertools.pairwise(times))
            if still < 0.9 * BURST * 8 / rate:
                found.append((last - first) * SIZE * 8 / (times[-1] - times[0]))
            first = last
        return found


def number_of(payload: bytes) -> int:
    return int.from_bytes(payload[:8])


def pour(send, rate: float) -> int:
    """Packets that empty the bucket and go on for 1.5 s. @return how many"""
    seconds = BURST * 8 / rate / (OVER - 1) + 1.5
    gap, start, sent = SIZE * 8 / rate / OVER, time.monotonic(), 0
    while (now := time.monotonic()) < start + seconds:
        while sent * gap < now - start:
            send(sent)
            sent += 1
        time.sleep(0.001)
    return sent


def held(upf, rate: float, run) -> None:
    """@param run sends, and gives how many and what came"""
    seen: list[float] = []
    for n in range(TRIALS):
        before = upf.drops()
        sent, passed = run()
        trial = Trial(sent, (upf.drops() - before)["upf_police_rate"], passed())
        assert trial.dropped > 0
        assert not trial.too_many(rate)
        assert n > 0 or trial.before_the_first_drop() >= BURST - SIZE
        seen += trial.rates(rate) if trial.sound() else []
        if len(seen) >= LEAST:
            break
    assert len(seen) >= LEAST, "this machine stands still all the time"
    assert statistics.median(seen) == pytest.approx(rate, rel=0.05), seen


def downward(upf, gnb, internet, teid: int, address: str, ports: tuple[int, ...], rate: float):
    def run():
        down = gnb.sink(teid)

        def send(n: int) -> None:
            payload = n.to_bytes(8) + bytes(SIZE - 36)
            internet.sendto(payload, (address, ports[n % len(ports)]))

        sent = pour(send, rate)
        upf.settle()
        return sent, lambda: [(when, number_of(payload)) for when, payload in down.kept]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("kbps", [2000, 20000])
def test_downlink_mbr(upf, gnb, smf, internet, kbps):
    """Of the inner octets; the rest is dropped by name."""
    session = pdu_session(smf, ies.qer(2, mbr=(1, kbps)), qers=(1, 2), teid=0x21)
    run = downward(upf, gnb, internet, 0x21, session.ue[1][0], (9,), kbps * 1000)
    held(upf, kbps * 1000, run)
    session.delete()


@pytest.mark.slow
def test_uplink_mbr(upf, gnb, smf, internet):
    kbps = 8000
    session = pdu_session(smf, ies.qer(2, mbr=(kbps, 1)), qers=(1, 2))
    port = internet.getsockname()[1]
    udp = UDP(sport=9, dport=port, chksum=0)  # numbered below: none
    head = bytes(IP(src=session.ue[1][0], dst=DN) / udp / bytes(SIZE - 28))[:28]

    def run():
        stop, passed = threading.Event(), []

        def listen() -> None:
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    payload, _, when = receive_stamped(internet)
                    passed.append((when, number_of(payload)))

        def send(n: int) -> None:
            gnb.send(session.tunnels[1], head + n.to_bytes(8) + bytes(SIZE - 36))

        thread = threading.Thread(target=listen)
        thread.start()
        sent = pour(send, kbps * 1000)
        upf.settle()
        stop.set()
        thread.join()
        return sent, lambda: passed

    held(upf, kbps * 1000, run)
    session.delete()


@pytest.mark.slow
def test_session_ambr_across_pdrs(upf, gnb, smf, internet):
    """§5.4.4: one QER of several PDRs is one bucket."""
    filters = [
        ies.pdr(
            n,
            ies.pdi(
                ies.CORE,
                ies.network_instance("internet"),
                ies.choose_ue_ip(v4=True, destination=True),
                ies.sdf(f"permit out 17 from any to assigned {n}"),
            ),
            far=2,
            precedence=n,
            qers=[1, 2],
        )
        for n in (10, 11)
    ]
    session = pdu_session(smf, *filters, ies.qer(2, mbr=(4000, 4000)), qers=(1, 2), teid=0x22)
    held(upf, 4e6, downward(upf, gnb, internet, 0x22, session.ue[1][0], (10, 11), 4e6))
    session.delete()


def trial_of(bucket_bytes: float, rate: float, stall: float = 0.0, leak: float = 1.0) -> Trial:
    """What a UPF's bucket does with 3 times the rate for 3 s, if the UPF stands still for `stall`
    seconds in the middle and takes what came meanwhile at once."""
    gap, tokens, last, passed, dropped = SIZE * 8 / rate / OVER, bucket_bytes, 0.0, [], 0
    count = int(3 / gap)
    for n in range(count):
        now = n * gap
        if 1.5 < now < 1.5 + stall:
            now = 1.5 + stall
        tokens = min(bucket_bytes, tokens + (now - last) * rate * leak / 8)
        last = now
        if tokens >= SIZE:
            tokens -= SIZE
            passed.append((now, n))
        else:
            dropped += 1
    return Trial(count, dropped, passed)


def test_the_criterion_tells_right_from_wrong():
    rate = 4e6
    for stall in (0, 0.1, 0.5, 2.0):
        right = trial_of(BURST, rate, stall)
        assert right.sound()
        assert not right.too_many(rate)
        assert statistics.median(right.rates(rate)) == pytest.approx(rate, rel=0.02)
        for wrong in (0.9, 1.1):
            seen = trial_of(BURST, rate, stall, wrong).rates(rate)
            assert statistics.median(seen) != pytest.approx(rate, rel=0.05)
    assert trial_of(2 * BURST, rate).too_many(rate)
    assert trial_of(BURST / 2, rate).before_the_first_drop() < BURST
    lossy = trial_of(BURST, rate)
    del lossy.passed[100]
    assert not lossy.sound()
