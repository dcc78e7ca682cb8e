/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/mac.h"

/* Upper edges in bytes. Table 6.1.3.1-1; level 31 is open. */
static const uint32_t levels5[31] = {
	0,     10,    14,    20,    28,    38,    53,    74,     102,    142,  198,
	276,   384,   535,   745,   1038,  1446,  2014,  2806,   3909,   5446, 7587,
	10570, 14726, 20516, 28581, 39818, 55474, 77284, 107669, 150000,
};

/* Table 6.1.3.1-2; level 254 is open, 255 reserved. */
static const uint32_t levels8[254] = {
	0,        10,       11,       12,       13,       14,       15,       16,       17,
	18,       19,       20,       22,       23,       25,       26,       28,       30,
	32,       34,       36,       38,       40,       43,       46,       49,       52,
	55,       59,       62,       66,       71,       75,       80,       85,       91,
	97,       103,      110,      117,      124,      132,      141,      150,      160,
	170,      181,      193,      205,      218,      233,      248,      264,      281,
	299,      318,      339,      361,      384,      409,      436,      464,      494,
	526,      560,      597,      635,      677,      720,      767,      817,      870,
	926,      987,      1051,     1119,     1191,     1269,     1351,     1439,     1532,
	1631,     1737,     1850,     1970,     2098,     2234,     2379,     2533,     2698,
	2873,     3059,     3258,     3469,     3694,     3934,     4189,     4461,     4751,
	5059,     5387,     5737,     6109,     6506,     6928,     7378,     7857,     8367,
	8910,     9488,     10104,    10760,    11458,    12202,    12994,    13838,    14736,
	15692,    16711,    17795,    18951,    20181,    21491,    22885,    24371,    25953,
	27638,    29431,    31342,    33376,    35543,    37850,    40307,    42923,    45709,
	48676,    51836,    55200,    58784,    62599,    66663,    70990,    75598,    80505,
	85730,    91295,    97221,    103532,   110252,   117409,   125030,   133146,   141789,
	150992,   160793,   171231,   182345,   194182,   206786,   220209,   234503,   249725,
	265935,   283197,   301579,   321155,   342002,   364202,   387842,   413018,   439827,
	468377,   498780,   531156,   565634,   602350,   641449,   683087,   727427,   774645,
	824928,   878475,   935498,   996222,   1060888,  1129752,  1203085,  1281179,  1364342,
	1452903,  1547213,  1647644,  1754595,  1868488,  1989774,  2118933,  2256475,  2402946,
	2558924,  2725027,  2901912,  3090279,  3290873,  3504487,  3731968,  3974215,  4232186,
	4506902,  4799451,  5110989,  5442750,  5796046,  6172275,  6572925,  6999582,  7453933,
	7937777,  8453028,  9001725,  9586039,  10208280, 10870913, 11576557, 12328006, 13128233,
	13980403, 14887889, 15854280, 16883401, 17979324, 19146385, 20389201, 21712690, 23122088,
	24622972, 26221280, 27923336, 29735875, 31666069, 33721553, 35910462, 38241455, 40723756,
	43367187, 46182206, 49179951, 52372284, 55771835, 59392055, 63247269, 67352729, 71724679,
	76380419, 81338368,
};

/* First level whose upper edge is not below `bytes`; `n` when all are. */
static uint8_t
level_of(const uint32_t *levels, unsigned n, uint64_t bytes)
{
	unsigned low = 0, high = n;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (levels[mid] < bytes)
			low = mid + 1;
		else
			high = mid;
	}
	return (uint8_t)low;
}

uint8_t
mac_bsr_index5(uint64_t bytes)
{
	return level_of(levels5, 31, bytes);
}

uint8_t
mac_bsr_index8(uint64_t bytes)
{
	return level_of(levels8, 254, bytes);
}

uint32_t
mac_bsr_bytes5(uint8_t index)
{
	return index < 31 ? levels5[index] : UINT32_MAX;
}

uint32_t
mac_bsr_bytes8(uint8_t index)
{
	if (index == 255)
		return 0;
	return index < 254 ? levels8[index] : UINT32_MAX;
}

int
mac_ce_put(uint8_t *p, size_t room, enum mac_sch sch, uint32_t index, const uint8_t *payload,
	   size_t n)
{
	int len = n > MAC_SDU_BYTES_MAX ? -CODEC_CONTRADICTION
					: mac_subheader_encode(p, room, sch, index, (uint32_t)n);

	if (len < 0)
		return len;
	if (room - (size_t)len < n)
		return -CODEC_SHORT;
	if (n)
		memcpy(p + len, payload, n);
	return len + (int)n;
}

static bool
bsr_is_short(uint8_t lcid)
{
	return lcid == MAC_UL_SHORT_BSR || lcid == MAC_UL_SHORT_TRUNCATED_BSR;
}

int
mac_bsr_encode(uint8_t *p, size_t room, const struct mac_bsr *b)
{
	if (bsr_is_short(b->lcid)) {
		if (b->nb != 1 || b->lcg[0] >= MAC_LCGS || b->size[0] > 31)
			return -CODEC_CONTRADICTION;
		if (room < 1)
			return -CODEC_SHORT;
		p[0] = (uint8_t)(b->lcg[0] << 5 | b->size[0]);
		return 1;
	}
	/* Only the truncated format may say that an LCG has data and not how much. */
	if (b->nb > MAC_LCGS || b->nb > __builtin_popcount(b->lcgs) ||
	    (b->lcid == MAC_UL_LONG_BSR && b->nb != __builtin_popcount(b->lcgs)))
		return -CODEC_CONTRADICTION;
	if (room < 1u + b->nb)
		return -CODEC_SHORT;
	p[0] = b->lcgs;
	memcpy(p + 1, b->size, b->nb);
	return 1 + b->nb;
}

int
mac_bsr_decode(const uint8_t *p, size_t n, uint8_t lcid, struct mac_bsr *b)
{
	*b = (struct mac_bsr){.lcid = lcid};
	if (n < 1)
		return -CODEC_SHORT;
	if (bsr_is_short(lcid)) {
		if (n != 1)
			return -CODEC_CONTRADICTION;
		b->nb = 1;
		b->lcg[0] = p[0] >> 5;
		b->size[0] = p[0] & 0x1f;
		b->lcgs = (uint8_t)(1 << b->lcg[0]);
		return 1;
	}
	b->lcgs = p[0];
	if (n - 1 > (size_t)__builtin_popcount(b->lcgs))
		return -CODEC_CONTRADICTION;
	if (lcid == MAC_UL_LONG_BSR && n - 1 != (size_t)__builtin_popcount(b->lcgs))
		return -CODEC_SHORT;
	for (uint8_t lcg = 0; lcg < MAC_LCGS && b->nb < n - 1; lcg++) {
		if (!(b->lcgs & 1 << lcg))
			continue;
		b->lcg[b->nb] = lcg;
		b->size[b->nb] = p[1 + b->nb];
		b->nb++;
	}
	return (int)n;
}

void
mac_phr_encode(uint8_t p[MAC_PHR_BYTES], const struct mac_phr *phr)
{
	p[0] = (uint8_t)(phr->p << 7 | (phr->ph & 0x3f));
	p[1] = (uint8_t)((phr->mpe & 3) << 6 | (phr->pcmax & 0x3f));
}

void
mac_phr_decode(const uint8_t p[MAC_PHR_BYTES], struct mac_phr *phr)
{
	phr->p = p[0] >> 7;
	phr->ph = p[0] & 0x3f;
	phr->mpe = p[1] >> 6;
	phr->pcmax = p[1] & 0x3f;
}

void
mac_ta_encode(uint8_t p[MAC_TA_BYTES], const struct mac_ta *ta)
{
	p[0] = (uint8_t)(ta->tag << 6 | (ta->ta & 0x3f));
}

void
mac_ta_decode(const uint8_t p[MAC_TA_BYTES], struct mac_ta *ta)
{
	ta->tag = p[0] >> 6;
	ta->ta = p[0] & 0x3f;
}

void
mac_c_rnti_encode(uint8_t p[MAC_C_RNTI_BYTES], uint16_t rnti)
{
	p[0] = (uint8_t)(rnti >> 8);
	p[1] = (uint8_t)rnti;
}

uint16_t
mac_c_rnti_decode(const uint8_t p[MAC_C_RNTI_BYTES])
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

void
mac_contention_encode(uint8_t p[MAC_CONTENTION_BYTES], uint64_t identity)
{
	for (int i = MAC_CONTENTION_BYTES - 1; i >= 0; i--, identity >>= 8)
		p[i] = (uint8_t)identity;
}

uint64_t
mac_contention_decode(const uint8_t p[MAC_CONTENTION_BYTES])
{
	uint64_t identity = 0;

	for (int i = 0; i < MAC_CONTENTION_BYTES; i++)
		identity = identity << 8 | p[i];
	return identity;
}

void
mac_scell_encode(uint8_t *p, unsigned octets, uint32_t cells)
{
	cells &= ~1u; /* C_0 does not exist: its bit is R */
	for (unsigned i = 0; i < octets; i++)
		p[i] = (uint8_t)(cells >> 8 * i);
}

uint32_t
mac_scell_decode(const uint8_t *p, unsigned octets)
{
	uint32_t cells = 0;

	for (unsigned i = 0; i < octets; i++)
		cells |= (uint32_t)p[i] << 8 * i;
	return cells & ~1u;
}

void
mac_bit_rate_encode(uint8_t p[MAC_BIT_RATE_BYTES], const struct mac_bit_rate *r)
{
	p[0] = (uint8_t)((r->lcid & 0x3f) << 2 | r->uplink << 1 | (r->rate >> 5 & 1));
	p[1] = (uint8_t)((r->rate & 0x1f) << 3 | r->x << 2);
}

void
mac_bit_rate_decode(const uint8_t p[MAC_BIT_RATE_BYTES], struct mac_bit_rate *r)
{
	r->lcid = p[0] >> 2;
	r->uplink = p[0] >> 1 & 1;
	r->rate = (uint8_t)((p[0] & 1) << 5 | p[1] >> 3);
	r->x = p[1] >> 2 & 1;
}
