/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/pdcp.h"

#include <string.h>

#include "codec/err.h"

int
pdcp_decode(enum pdcp_format f, const uint8_t *p, size_t len, struct pdcp_hdr *hdr)
{
	unsigned hdr_len = pdcp_hdr_len(f);
	unsigned type;

	if (len < 1)
		return -CODEC_SHORT;
	*hdr = (struct pdcp_hdr){.control = !pdcp_is_data(f, p)};
	if (!hdr->control) {
		if (len <= hdr_len)
			return -CODEC_SHORT;
		hdr->sn = pdcp_hdr_sn(f, p);
		return (int)hdr_len;
	}
	type = p[0] >> 4;
	if (type > PDCP_UDC_FEEDBACK)
		return -CODEC_RESERVED;
	hdr->type = type;
	return 1;
}

int
pdcp_status_decode(const uint8_t *p, size_t len, struct pdcp_status *s)
{
	if (len < PDCP_STATUS_HDR_LEN)
		return -CODEC_SHORT;
	if (p[0] >> 4 != PDCP_STATUS_REPORT)
		return -CODEC_CONTRADICTION;
	if (len > PDCP_CONTROL_MAX)
		return -CODEC_UNSUPPORTED;
	s->fmc = (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
	s->bitmap = p + PDCP_STATUS_HDR_LEN;
	s->bitmap_len = len - PDCP_STATUS_HDR_LEN;
	return (int)len;
}

size_t
pdcp_status_header(uint8_t *p, const struct pdcp_status *s)
{
	p[0] = PDCP_STATUS_REPORT << 4;
	p[1] = (uint8_t)(s->fmc >> 24);
	p[2] = (uint8_t)(s->fmc >> 16);
	p[3] = (uint8_t)(s->fmc >> 8);
	p[4] = (uint8_t)s->fmc;
	return PDCP_STATUS_HDR_LEN + s->bitmap_len;
}

int
pdcp_status_encode(uint8_t *p, size_t cap, const struct pdcp_status *s)
{
	if (s->bitmap_len > PDCP_CONTROL_MAX - PDCP_STATUS_HDR_LEN)
		return -CODEC_UNSUPPORTED;
	if (cap < PDCP_STATUS_HDR_LEN + s->bitmap_len)
		return -CODEC_SHORT;
	if (s->bitmap_len)
		memcpy(p + PDCP_STATUS_HDR_LEN, s->bitmap, s->bitmap_len);
	return (int)pdcp_status_header(p, s);
}

bool
pdcp_status_received(const struct pdcp_status *s, uint32_t count)
{
	/* §6.3.10: bit position N, counted from 1, stands for COUNT (FMC + N) modulo 2^32. */
	uint32_t bit = count - s->fmc - 1;

	if (bit / 8 >= s->bitmap_len)
		return false;
	return s->bitmap[bit / 8] & (0x80 >> bit % 8);
}
