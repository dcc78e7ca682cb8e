/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/sdap.h"

#include "codec/err.h"

int
sdap_ul_decode(const uint8_t *p, size_t len, struct sdap_ul_hdr *hdr)
{
	if (len < SDAP_HDR_LEN)
		return -CODEC_SHORT;
	hdr->control = !(p[0] & 0x80);
	hdr->qfi = p[0] & SDAP_QFI_MAX;
	if (hdr->control && len > SDAP_HDR_LEN)
		return -CODEC_CONTRADICTION;
	if (!hdr->control && len == SDAP_HDR_LEN)
		return -CODEC_SHORT;
	return SDAP_HDR_LEN;
}

int
sdap_dl_decode(const uint8_t *p, size_t len, struct sdap_dl_hdr *hdr)
{
	if (len <= SDAP_HDR_LEN)
		return -CODEC_SHORT;
	hdr->rdi = p[0] & 0x80;
	hdr->rqi = p[0] & 0x40;
	hdr->qfi = p[0] & SDAP_QFI_MAX;
	return SDAP_HDR_LEN;
}
