# SPDX-License-Identifier: BSD-3-Clause
"""Ciphering and integrity of TS 33.501 annex D: published test sets, and our engine against
another implementation."""

import random
import subprocess
from dataclasses import dataclass, replace

import pytest
from harness import security
from harness.program import AIRPATH

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


def run(lines: list[str]) -> list[str]:
    done = subprocess.run(
        [LINES], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def jobs(seed: int, how_many: int, longest: int) -> list[Job]:
    rnd = random.Random(seed)
    made = []
    for _ in range(how_many):
        clear = rnd.randrange(1, 5)
        length = rnd.choice((rnd.randrange(1, 70), rnd.randrange(1, longest), longest))
        made.append(
            Job(
                nea=rnd.randrange(4),
                nia=rnd.randrange(4),
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
def test_mixed_batches_agree_with_the_judge(how_many, longest):
    """Any mix of algorithms, bearers, lengths and buffers in one batch, both ways."""
    made = jobs(longest, how_many, longest)
    protected = [job.protected() for job in made]
    lines = []
    for n, job in enumerate(made):
        room = job.plain + bytes(4 if job.nia else 0)
        lines.append(job.line("protect", shapes(job, n), room))
    wrong = [n for n, got in enumerate(run(lines)) if bytes.fromhex(got) != protected[n]]
    assert [(made[n].nea, made[n].nia, len(made[n].plain)) for n in wrong] == []

    lines = [job.line("verify", shapes(job, -n), protected[n]) for n, job in enumerate(made)]
    for job, got in zip(made, run(lines), strict=True):
        assert bytes.fromhex(got)[: len(job.plain)] == job.plain


@pytest.mark.parametrize("nia", [1, 2, 3])
@pytest.mark.parametrize("nea", [0, 1, 2, 3])
def test_what_was_tampered_with_fails(nea, nia):
    job = replace(jobs(7, 1, 200)[0], nea=nea, nia=nia)
    pdu = job.protected()
    bad = [replace(job, count=job.count ^ 1), replace(job, bearer=job.bearer ^ 1)]
    bad += [replace(job, direction=1 - job.direction), replace(job, key_int=bytes(16))]
    lines = [b.line("verify", "own", pdu) for b in bad]
    for at in range(len(pdu)):
        changed = bytearray(pdu)
        changed[at] ^= 1 << at % 8
        lines.append(job.line("verify", "shared" if at % 2 else "own", bytes(changed)))
    assert set(run(lines)) == {"failed 1"}
    assert run([job.line("verify", "own", pdu)])[0].startswith(job.plain.hex())
