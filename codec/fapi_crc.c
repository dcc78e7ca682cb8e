/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/fapi.h"

#define HEAD 6
/* Octets of a TB's entry. The code blocks' status, one bit each, stands between the two parts. */
#define BEFORE_CBS 10
#define AFTER_CBS (FAPI_CRC_LEN - BEFORE_CBS)

int
fapi_crc_indication_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_crc *c,
			   unsigned nb)
{
	if (nb > FAPI_CRCS_MAX)
		return -CODEC_UNSUPPORTED;
	if (room < FAPI_CRC_INDICATION_LEN(nb))
		return -CODEC_SHORT;
	fapi_slot_put(p, at);
	be16_put(p + 4, (uint16_t)nb);
	p += HEAD;
	for (unsigned i = 0; i < nb; i++, p += FAPI_CRC_LEN) {
		be32_put(p, c[i].handle);
		be16_put(p + 4, c[i].rnti);
		p[6] = c[i].harq_id;
		p[7] = c[i].failed;
		be16_put(p + 8, 0); /* number of code blocks */
		p[10] = c[i].ul_cqi;
		be16_put(p + 11, c[i].timing_advance);
		be16_put(p + 13, c[i].rssi);
	}
	return (int)FAPI_CRC_INDICATION_LEN(nb);
}

/** @return bytes read or -(enum codec_err). */
static int
crc_get(const uint8_t *p, size_t len, struct fapi_crc *c)
{
	size_t cbs;

	if (len < BEFORE_CBS)
		return -CODEC_SHORT;
	if (p[7] > 1)
		return -CODEC_RESERVED;
	cbs = (be16_get(p + 8) + 7U) / 8;
	if (len < BEFORE_CBS + cbs + AFTER_CBS)
		return -CODEC_SHORT;
	*c = (struct fapi_crc){
		.handle = be32_get(p),
		.rnti = be16_get(p + 4),
		.harq_id = p[6],
		.failed = p[7],
	};
	p += BEFORE_CBS + cbs;
	c->ul_cqi = p[0];
	c->timing_advance = be16_get(p + 1);
	c->rssi = be16_get(p + 3);
	return (int)(BEFORE_CBS + cbs + AFTER_CBS);
}

int
fapi_crc_indication_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_crc *c,
			   unsigned *nb)
{
	const unsigned room = *nb;
	size_t done = HEAD;

	*nb = 0;
	if (len < HEAD)
		return -CODEC_SHORT;
	if (fapi_slot_decode(p, len, at) < 0)
		return -CODEC_RESERVED;
	if (be16_get(p + 4) > room)
		return -CODEC_UNSUPPORTED;
	for (unsigned left = be16_get(p + 4); left > 0; left--) {
		const int ret = crc_get(p + done, len - done, &c[*nb]);

		if (ret < 0)
			return ret;
		done += (size_t)ret;
		(*nb)++;
	}
	return (int)done;
}
