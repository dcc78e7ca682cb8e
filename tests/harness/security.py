# SPDX-License-Identifier: BSD-3-Clause
"""NEA and NIA of TS 33.501 annex D, independent of the program: AES by OpenSSL, the others here."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

from harness import snow3g, zuc

VECTORS = Path(__file__).parents[1] / "vectors" / "nea_nia.inc"


def nea(n: int, key: bytes, count: int, bearer: int, direction: int, data: bytes) -> bytes:
    if n == 1:
        return snow3g.uea2(key, count, bearer, direction, data)
    if n == 2:
        block = count.to_bytes(4) + (bearer << 27 | direction << 26).to_bytes(4) + bytes(8)
        return Cipher(algorithms.AES(key), modes.CTR(block)).encryptor().update(data)
    if n == 3:
        return zuc.eea3(key, count, bearer, direction, data)
    return data


def nia(
    n: int, key: bytes, count: int, bearer: int, direction: int, data: bytes, bits: int = 0
) -> bytes:
    bits = bits or 8 * len(data)
    if n == 1:
        return snow3g.uia2(key, count, bearer << 27, direction, data, bits)
    if n == 2:
        mac = CMAC(algorithms.AES(key))
        mac.update(count.to_bytes(4) + (bearer << 27 | direction << 26).to_bytes(4) + data)
        return mac.finalize()[:4]
    if n == 3:
        return zuc.eia3(key, count, bearer, direction, data, bits)
    return bytes(4)


@dataclass(frozen=True)
class Vector:
    algorithm: str
    set: int
    key: bytes
    count: int
    bearer: int
    direction: int
    bits: int
    message: bytes
    result: bytes


def vectors() -> list[Vector]:
    text = re.sub(r"/\*.*?\*/", "", VECTORS.read_text(), flags=re.S)
    rows = ast.literal_eval("[" + text.replace("{", "(").replace("}", ")") + "]")
    hexed = bytes.fromhex
    return [
        Vector(a, s, hexed(k), c, b, d, n, hexed(m), hexed(r)) for a, s, k, c, b, d, n, m, r in rows
    ]
