# SPDX-License-Identifier: BSD-3-Clause
"""ZUC, 128-EEA3 and 128-EIA3 as TS 35.221 and TS 35.222 write them: slow, nobody else's code."""

_M31, _M32 = 0x7FFFFFFF, 0xFFFFFFFF

_S0 = bytes.fromhex(
    "3e725b47cae0003304d1549809b96dcb7b1bf932af9d6aa5b82dfc1d08530390"
    "4d4e8499e4ced991ddb685488b296eaccdc1f81e734369c6b5bdfd396320d438"
    "767db2a7cfed57c5f32cbb142106559be3ef5e314f7f5aa40d8251495fba581c"
    "4a16d517a892241f8cffd8ae2e01d3ad3b4bda46ebc9de9a8f87d73a806f2fc8"
    "b1b437f70a2213287ccc3c89c7c3965607bf7ef00b2b975235417961a64c10fe"
    "bc2695888ab0a3fbc01894f2e1e5e95dd0dc1166645cec59427512f5749caa23"
    "0e86abbe2a02e767e644a26cc2939ff1f6fa36d250689e6271153dd640c4e20f"
    "8e83776b25053f0c30ea70b7a1e8a9658d271adb81b3a0f4457a19dfee783460"
)
_S1 = bytes.fromhex(
    "55c263713bc847869f3cda5b29aafd778cc5940ca61a1300e3a8167240f9f842"
    "4426689681d9453e1076c6a78b3943e13ab5562ac06db3052266bfdc0bfa6248"
    "dd20110636c9c1cff62752bb69f5d4877f844cd29c57a4bc4f9adffed68d7aeb"
    "2b53d85ca11417fb23d57d3067730809eeb7703f61b2198e4ee54b938f5ddba9"
    "adf1ae2ecb0dfcf42d466e1d97e8d1e94d37a5755e839eab829db91ce0cd4989"
    "01b6bd5824a25f387899159050b895e4d091c7ceed0fb46fa0ccf0024a79c3de"
    "a3efea51e66b18ec1b2c80f774e7ff215a6a541e41319235c433070aba7e0e34"
    "88b1987cf33d606c7bcad31f3265042864be859b2f598ad7b025acaf1203e2f2"
)
_D = (0x44D7, 0x26BC, 0x626B, 0x135E, 0x5789, 0x35E2, 0x7135, 0x09AF)
_D += (0x4D78, 0x2F13, 0x6BC4, 0x1AF1, 0x5E26, 0x3C4D, 0x789A, 0x47AC)


def _rot(x: int, n: int) -> int:
    return (x << n | x >> 32 - n) & _M32


def _l1(x: int) -> int:
    return x ^ _rot(x, 2) ^ _rot(x, 10) ^ _rot(x, 18) ^ _rot(x, 24)


def _l2(x: int) -> int:
    return x ^ _rot(x, 8) ^ _rot(x, 14) ^ _rot(x, 22) ^ _rot(x, 30)


def _box(x: int) -> int:
    a, b, c, d = x.to_bytes(4)
    return _S0[a] << 24 | _S1[b] << 16 | _S0[c] << 8 | _S1[d]


class Zuc:
    def __init__(self, key: bytes, iv: bytes):
        self.s = [k << 23 | d << 8 | v for k, d, v in zip(key, _D, iv, strict=True)]
        self.r1 = self.r2 = 0
        for _ in range(32):
            self._shift(self._f()[0] >> 1)
        self._f()
        self._shift(0)

    def _f(self) -> tuple[int, int]:
        """@return W and the fourth word of the bit reorganization."""
        s = self.s
        x0 = s[15] >> 15 << 16 | s[14] & 0xFFFF
        x1 = (s[11] & 0xFFFF) << 16 | s[9] >> 15
        x2 = (s[7] & 0xFFFF) << 16 | s[5] >> 15
        x3 = (s[2] & 0xFFFF) << 16 | s[0] >> 15
        w = (x0 ^ self.r1) + self.r2 & _M32
        w1, w2 = self.r1 + x1 & _M32, self.r2 ^ x2
        self.r1 = _box(_l1((w1 & 0xFFFF) << 16 | w2 >> 16))
        self.r2 = _box(_l2((w2 & 0xFFFF) << 16 | w1 >> 16))
        return w, x3

    def _shift(self, u: int) -> None:
        s = self.s
        v = (s[15] << 15) + (s[13] << 17) + (s[10] << 21) + (s[4] << 20) + (s[0] << 8) + s[0] + u
        v %= _M31
        self.s = [*s[1:], v or _M31]

    def word(self) -> int:
        w, x3 = self._f()
        self._shift(0)
        return w ^ x3


def eea3(key: bytes, count: int, bearer: int, direction: int, data: bytes) -> bytes:
    half = count.to_bytes(4) + bytes((bearer << 3 | direction << 2, 0, 0, 0))
    stream = Zuc(key, half * 2)
    keystream = b"".join(stream.word().to_bytes(4) for _ in range((len(data) + 3) // 4))
    return bytes(a ^ b for a, b in zip(data, keystream, strict=False))


def eia3(key: bytes, count: int, bearer: int, direction: int, data: bytes, bits: int) -> bytes:
    half = count.to_bytes(4) + bytes((bearer << 3, 0, 0, 0))
    iv = bytearray(half * 2)
    iv[8] ^= direction << 7
    iv[14] ^= direction << 7
    stream = Zuc(key, bytes(iv))
    words = (bits + 31) // 32 + 2
    keystream = int.from_bytes(b"".join(stream.word().to_bytes(4) for _ in range(words)))

    def at(bit: int) -> int:
        return keystream >> words * 32 - 32 - bit & _M32

    mac = 0
    for n in range(bits):
        if data[n // 8] >> 7 - n % 8 & 1:
            mac ^= at(n)
    return (mac ^ at(bits) ^ at(words * 32 - 32)).to_bytes(4)
