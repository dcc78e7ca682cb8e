/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_BE_H
#define AIRPATH_CODEC_BE_H

/** Network-order integers at any address; the caller has checked the bounds. */

#include <stdint.h>
#include <string.h>

static inline uint16_t
be16_get(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t
be32_get(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline uint64_t
be64_get(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline void
be16_put(uint8_t *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
be32_put(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
be64_put(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "x86 and aarch64 only");

#endif
