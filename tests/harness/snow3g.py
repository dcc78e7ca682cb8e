# SPDX-License-Identifier: BSD-3-Clause
"""SNOW 3G, UEA2 and UIA2 as TS 35.215 and TS 35.216 write them: slow, and nobody else's code."""

MASK = 0xFFFFFFFF


def _mul_gf(a: int, b: int, polynomial: int) -> int:
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = a << 1 ^ (polynomial if a & 0x80 else 0)
        b >>= 1
    return product


def _power(x: int, n: int, polynomial: int) -> int:
    product = 1
    for _ in range(n):
        product = _mul_gf(product, x, polynomial)
    return product


def _rijndael(x: int) -> int:
    inverse = _power(x, 254, 0x11B)
    bits = inverse
    for n in range(1, 5):
        bits ^= (inverse << n | inverse >> 8 - n) & 0xFF
    return bits ^ 0x63


def _dickson(x: int) -> int:
    """S_Q: the Dickson polynomial of degree 49 and a constant."""
    value = 0x25
    for n in (1, 9, 13, 15, 33, 41, 45, 47, 49):
        value ^= _power(x, n, 0x169)
    return value


def _mulx(v: int, c: int) -> int:
    return (v << 1 & 0xFF) ^ (c if v & 0x80 else 0)


def _mulx_pow(v: int, n: int, c: int) -> int:
    for _ in range(n):
        v = _mulx(v, c)
    return v


def _word(powers: tuple[int, ...]) -> list[int]:
    return [int.from_bytes(bytes(_mulx_pow(c, n, 0xA9) for n in powers)) for c in range(256)]


_SR = [_rijndael(x) for x in range(256)]
_SQ = [_dickson(x) for x in range(256)]
_MUL_ALPHA = _word((23, 245, 48, 239))
_DIV_ALPHA = _word((16, 39, 6, 64))


def _box(w: int, table: list[int], c: int) -> int:
    s = [table[b] for b in w.to_bytes(4)]
    d = [_mulx(b, c) for b in s]
    return int.from_bytes(
        bytes(
            (
                d[0] ^ s[1] ^ s[2] ^ d[3] ^ s[3],
                d[0] ^ s[0] ^ d[1] ^ s[2] ^ s[3],
                s[0] ^ d[1] ^ s[1] ^ d[2] ^ s[3],
                s[0] ^ s[1] ^ d[2] ^ s[2] ^ d[3],
            )
        )
    )


class Snow3g:
    """Keystream generator; `iv` is IV3 first, as the modes give it."""

    def __init__(self, key: bytes, iv: list[int]):
        k3, k2, k1, k0 = (int.from_bytes(key[n : n + 4]) for n in range(0, 16, 4))
        iv3, iv2, iv1, iv0 = iv
        self.s = [k0 ^ MASK, k1 ^ MASK, k2 ^ MASK, k3 ^ MASK, k0, k1, k2, k3]
        self.s += [k0 ^ MASK, k1 ^ MASK ^ iv3, k2 ^ MASK ^ iv2, k3 ^ MASK]
        self.s += [k0 ^ iv1, k1, k2, k3 ^ iv0]
        self.r1 = self.r2 = self.r3 = 0
        for _ in range(32):
            self._lfsr(self._fsm())
        self._fsm()
        self._lfsr(0)

    def _fsm(self) -> int:
        f = (self.s[15] + self.r1 & MASK) ^ self.r2
        r = self.r2 + (self.r3 ^ self.s[5]) & MASK
        self.r3, self.r2, self.r1 = _box(self.r2, _SQ, 0x69), _box(self.r1, _SR, 0x1B), r
        return f

    def _lfsr(self, f: int) -> None:
        s0, s11 = self.s[0], self.s[11]
        v = (s0 << 8 & MASK) ^ _MUL_ALPHA[s0 >> 24] ^ self.s[2]
        v ^= s11 >> 8 ^ _DIV_ALPHA[s11 & 0xFF] ^ f
        self.s = [*self.s[1:], v]

    def word(self) -> int:
        z = self._fsm() ^ self.s[0]
        self._lfsr(0)
        return z


def uea2(key: bytes, count: int, bearer: int, direction: int, data: bytes) -> bytes:
    words = [count, bearer << 27 | direction << 26]
    stream = Snow3g(key, words * 2)
    keystream = b"".join(stream.word().to_bytes(4) for _ in range((len(data) + 3) // 4))
    return bytes(a ^ b for a, b in zip(data, keystream, strict=False))


def _mul64(v: int, p: int) -> int:
    product = 0
    for n in range(64):
        if p >> n & 1:
            product ^= v
        v = (v << 1 & (1 << 64) - 1) ^ (0x1B if v >> 63 else 0)
    return product


def uia2(key: bytes, count: int, fresh: int, direction: int, data: bytes, bits: int) -> bytes:
    stream = Snow3g(key, [count, fresh, count ^ direction << 31, fresh ^ direction << 15])
    z = [stream.word() for _ in range(5)]
    p, q = z[0] << 32 | z[1], z[2] << 32 | z[3]
    value = 0
    for n in range(0, (bits + 63) // 64 * 8, 8):
        value = _mul64(value ^ int.from_bytes(data[n : n + 8].ljust(8, b"\0")), p)
    value = _mul64(value ^ bits, q)
    return (value >> 32 ^ z[4]).to_bytes(4)
