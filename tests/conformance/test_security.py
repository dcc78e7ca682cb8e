# SPDX-License-Identifier: BSD-3-Clause
"""Ciphering and integrity of TS 33.501 annex D: published test sets, and our engine against
another implementation."""

import random
import subprocess
from dataclasses import dataclass, replace

import pytest
from harness import deployment as d
from harness import pdus, program, security, tshark
from harness.program import AIRPATH
from harness.traffic import datagram

KEY_ENC, KEY_INT = bytes(range(16)), bytes(range(16, 32))
LINES = AIRPATH.with_name("pdcp_lines")


@dataclass(frozen=True)
class Job:
    nea: int
    nia: int
    key_enc: bytes
    key_int: bytes
    count: int
    bearer: int
    direction: int
    clear: int
    plain: bytes  # whole PDU without MAC-I

    def protected(self) -> bytes:
        inputs = (self.count, self.bearer, self.direction)
        pdu = self.plain
        if self.nia:
            pdu += security.nia(self.nia, self.key_int, *inputs, pdu)
        head, data = pdu[: self.clear], pdu[self.clear :]
        return head + security.nea(self.nea, self.key_enc, *inputs, data)

    def line(self, op: str, shape: str, pdu: bytes) -> str:
        keys = f"{self.key_enc.hex()} {self.key_int.hex()}"
        inputs = f"{self.count} {self.bearer} {self.direction} {self.clear}"
        return f"{op} {self.nea} {self.nia} {keys} {inputs} {shape} {pdu.hex()}"


def run(lines: list[str], engine: tuple = ()) -> list[str]:
    done = subprocess.run(
        [LINES, *engine], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


# Arguments of pdcp_lines, and the algorithms they offer.
ENGINES = [
    pytest.param(("multi_buffer",), (0, 1, 2, 3), id="multi_buffer"),
    pytest.param(("cryptodev", "crypto_openssl"), (0, 2), id="openssl"),
    pytest.param(("cryptodev", "crypto_aesni_mb"), (0, 1, 2, 3), id="aesni_mb"),
    pytest.param(("cryptodev", "crypto_snow3g"), (0, 1), id="snow3g"),
    pytest.param(("cryptodev", "crypto_zuc"), (0, 3), id="zuc"),
]
EIA3_MAX = 8188  # B, the longest message of NIA3 by a crypto device


def jobs(seed: int, how_many: int, longest: int, offers=(0, 1, 2, 3)) -> list[Job]:
    rnd = random.Random(seed)
    made = []
    for _ in range(how_many):
        clear = rnd.randrange(1, 5)
        length = rnd.choice((rnd.randrange(1, 70), rnd.randrange(1, longest), longest))
        made.append(
            Job(
                nea=rnd.choice(offers),
                nia=rnd.choice(offers),
                key_enc=rnd.randbytes(16),
                key_int=rnd.randbytes(16),
                count=rnd.choice((rnd.getrandbits(32), 0, 2**32 - 1)),
                bearer=rnd.randrange(32),
                direction=rnd.randrange(2),
                clear=clear,
                plain=rnd.randbytes(clear + length),
            )
        )
    return made


def whole_bits(data: bytes, bits: int) -> bytes:
    """Sets what is behind the last bit to zero."""
    mask = 0xFF << -bits % 8 & 0xFF
    return data[:-1] + bytes((data[-1] & mask,))


@pytest.mark.parametrize("v", security.vectors(), ids=lambda v: f"{v.algorithm}-{v.set}")
def test_the_judge_knows_the_test_sets(v):
    n = int(v.algorithm[3])
    inputs = (v.key, v.count, v.bearer, v.direction, v.message)
    if v.algorithm.startswith("NEA"):
        assert whole_bits(security.nea(n, *inputs), v.bits) == whole_bits(v.result, v.bits)
    else:
        assert security.nia(n, *inputs, v.bits) == v.result


def shapes(job: Job, seed: int) -> str:
    rnd = random.Random(seed)
    return rnd.choice(("own", "shared", str(rnd.randrange(len(job.plain) // 8 + 1, 9100))))


@pytest.mark.parametrize(("how_many", "longest"), [(700, 120), (260, 1500), (60, 9000)])
@pytest.mark.parametrize(("engine", "offers"), ENGINES)
def test_mixed_batches_agree_with_the_judge(engine, offers, how_many, longest):
    """Any mix of algorithms, bearers, lengths and buffers in one batch, both ways."""
    if engine[0] == "cryptodev":
        longest = min(longest, EIA3_MAX - 4)
    made = jobs(longest, how_many, longest, offers)
    protected = [job.protected() for job in made]
    lines = []
    for n, job in enumerate(made):
        room = job.plain + bytes(4 if job.nia else 0)
        lines.append(job.line("protect", shapes(job, n), room))
    wrong = [n for n, got in enumerate(run(lines, engine)) if bytes.fromhex(got) != protected[n]]
    assert [(made[n].nea, made[n].nia, len(made[n].plain)) for n in wrong] == []

    lines = [job.line("verify", shapes(job, -n), protected[n]) for n, job in enumerate(made)]
    for job, got in zip(made, run(lines, engine), strict=True):
        assert bytes.fromhex(got)[: len(job.plain)] == job.plain


@pytest.mark.parametrize("nia", [1, 2, 3])
@pytest.mark.parametrize("nea", [0, 1, 2, 3])
@pytest.mark.parametrize("engine", [("multi_buffer",), ("cryptodev", "crypto_aesni_mb")])
def test_what_was_tampered_with_fails(engine, nea, nia):
    job = replace(jobs(7, 1, 200)[0], nea=nea, nia=nia)
    pdu = job.protected()
    bad = [replace(job, count=job.count ^ 1), replace(job, bearer=job.bearer ^ 1)]
    bad += [replace(job, direction=1 - job.direction), replace(job, key_int=bytes(16))]
    lines = [b.line("verify", "own", pdu) for b in bad]
    for at in range(len(pdu)):
        changed = bytearray(pdu)
        changed[at] ^= 1 << at % 8
        lines.append(job.line("verify", "shared" if at % 2 else "own", bytes(changed)))
    assert set(run(lines, engine)) == {"failed 1"}
    assert run([job.line("verify", "own", pdu)], engine)[0].startswith(job.plain.hex())


# --- a running UE ---------------------------------------------------------------------------------


def keys(nea: int, nia: int, **engine) -> dict:
    return {
        "nea": nea,
        "nia": nia,
        "key_enc": KEY_ENC.hex(),
        "key_int": KEY_INT.hex(),
        **engine,
    }


def uplink(ue, packets: list[bytes]) -> list[bytes]:
    """@return the PDCP PDUs of LCID 4."""
    ue.send(packets)
    ue.modem.slot(0, 0, [30000])
    (tb,) = ue.modem.collect(1)
    (mac,) = tshark.judge_mac([tb.pdu], [tshark.Bearer(4, 7)])
    assert mac.problems == []
    return [s.rlc.sdu for s in mac.subpdus if s.lcid == 4]


@pytest.mark.parametrize(("nea", "nia"), [(2, 0), (0, 2), (2, 2)])
@pytest.mark.parametrize("sn_bits", [12, 18])
def test_tshark_deciphers_and_verifies(stack, nea, nia, sn_bits):
    pdcp = {"sn_bits": sn_bits, "integrity": nia != 0}
    bearer = d.bearer(7, sdap=False, lcid=4, pdcp=pdcp)
    ue = stack(bearers=[bearer], security=keys(nea, nia))
    packets = [datagram(n, 60 + 83 * n, v6=n % 2 == 1) for n in range(15)]
    got = uplink(ue, packets)
    inside = [p[sn_bits // 8 + 1 :][: len(q)] for p, q in zip(got, packets, strict=True)]
    assert (inside == packets) == (nea == 0)
    how = {"sn_bits": sn_bits, "drb": 7, "sdap": False}
    known = tshark.Security(KEY_ENC, KEY_INT, nea, nia)
    found = tshark.judge_pdcp(got, **how, security=known)
    assert [p.problems for p in found] == [[]] * 15
    assert [p.count for p in found] == list(range(15))
    assert [p.sdu for p in found] == packets
    assert all((p.mac_i is not None) == (nia != 0) for p in found)
    if nia:
        wrong = tshark.Security(KEY_ENC, KEY_ENC, nea, nia)
        assert all(p.problems for p in tshark.judge_pdcp(got, **how, security=wrong))
    ue.stop()


def both_directions(stack, nea: int, nia: int, place=None, **engine) -> str:
    """SDAP header in clear, DIRECTION 0 up and 1 down; what was tampered with is dropped.
    @return what the UE says it ciphers with"""
    bearer = d.bearer(7, lcid=4, pdcp={"integrity": nia != 0, "reorder_at_once": True})
    ue = stack(bearers=[bearer], place=place, security=keys(nea, nia, **engine))
    packets = [datagram(n, 200 + n) for n in range(8)]

    def job(n: int, direction: int) -> Job:
        header = pdus.sdap_ul if direction == 0 else pdus.sdap_dl
        plain = pdus.pdcp_data(n, header(1, packets[n]), 18)
        return Job(nea, nia, KEY_ENC, KEY_INT, n, 6, direction, 4, plain)

    assert uplink(ue, packets) == [job(n, 0).protected() for n in range(8)]
    for n in range(8):
        pdu = job(n, 1).protected()
        if nia and n == 5:
            pdu = pdu[:-20] + bytes((pdu[-20] ^ 4,)) + pdu[-19:]
        rlc = pdus.rlc_um(pdu, 12)
        ue.modem.downlink(0, n, pdus.mac_subpdu(4, rlc) + pdus.mac_padding(50))
    expected = [p for n, p in enumerate(packets) if not nia or n != 5]
    assert ue.receive(len(expected)) == expected
    report = ue.stop()
    lost = program.drops(report)
    assert lost == ({"ue.pdcp_rx.pdcp_rx_integrity": 1} if nia else {})
    return report["roles"][0]["security"]


@pytest.mark.parametrize("nia", [0, 1, 2, 3])
@pytest.mark.parametrize("nea", [0, 1, 2, 3])
def test_both_directions_of_a_ue(stack, nea, nia):
    assert both_directions(stack, nea, nia) == ("multi_buffer" if nea or nia else "none")


@pytest.mark.parametrize(("device", "n"), [("crypto_openssl", 2), ("crypto_aesni_mb", 3)])
def test_both_directions_by_a_crypto_device(stack, device, n):
    place = {"*": "l2", "ue.pdcp_rx": "rx"}
    used = both_directions(stack, n, n, place, engine="cryptodev", cryptodev=device)
    assert used == f"cryptodev {device}"


def test_an_algorithm_the_device_lacks_is_refused(stack):
    with pytest.raises(RuntimeError, match="cryptodev crypto_openssl does not offer NEA1"):
        stack(bearers=[d.bearer(7)], security=keys(1, 0, engine="cryptodev"))
