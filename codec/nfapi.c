/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/nfapi.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>

uint32_t
nfapi_crc32c(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t c = ~crc, word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		c = _mm_crc32_u64(c, word);
	}
	for (; len > 0; p++, len--)
		c = _mm_crc32_u8((uint32_t)c, *p);
	return ~(uint32_t)c;
}
#else
/** CRC of one nibble, reflected polynomial 0x82F63B78. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3,
	0x61C69362, 0x7198540D, 0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9,
	0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t
nfapi_crc32c(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; len > 0; p++, len--) {
		crc ^= *p;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}
#endif

uint32_t
nfapi_p7_crc32c(const uint8_t *p)
{
	uint8_t h[NFAPI_P7_LEN];

	memcpy(h, p, NFAPI_P7_LEN);
	memset(h + 10, 0, 4);
	return nfapi_crc32c(0, h, NFAPI_P7_LEN);
}
