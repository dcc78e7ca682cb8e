/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/fapi_uci.h"

#define HEAD 6
#define PDU_HEAD 4 /* PDU type and PDU size; the size counts them too */
#define CQI_BITS 4

/* Octets of a PUCCH PDU of format 2, 3 or 4, table 3-66, from its PDU bitmap on. */
enum {
	UCI_BITMAP = 0,
	UCI_HANDLE = 1,
	UCI_RNTI = 5,
	UCI_FORMAT = 7,
	UCI_UL_CQI = 8,
	UCI_TIMING_ADVANCE = 9,
	UCI_RSSI = 11,
	UCI_PARTS = 13,
};

/* PDU bitmap */
#define UCI_SR 1
#define UCI_HARQ 2
#define UCI_CSI_1 4

#define CSI_CRC_PASS 0

int
fapi_uci_indication_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_cqi *c,
			   unsigned nb)
{
	if (nb > FAPI_UCIS_MAX)
		return -CODEC_UNSUPPORTED;
	if (room < FAPI_UCI_INDICATION_LEN(nb))
		return -CODEC_SHORT;
	fapi_slot_put(p, at);
	be16_put(p + 4, (uint16_t)nb);
	p += HEAD;
	for (unsigned i = 0; i < nb; i++, p += FAPI_UCI_LEN) {
		uint8_t *q = p + PDU_HEAD;

		be16_put(p, FAPI_UCI_PUCCH_2_3_4);
		be16_put(p + 2, FAPI_UCI_LEN);
		q[UCI_BITMAP] = UCI_CSI_1;
		be32_put(q + UCI_HANDLE, c[i].handle);
		be16_put(q + UCI_RNTI, c[i].rnti);
		q[UCI_FORMAT] = 0; /* format 2 */
		q[UCI_UL_CQI] = FAPI_CQI_INVALID;
		be16_put(q + UCI_TIMING_ADVANCE, FAPI_TIMING_ADVANCE_INVALID);
		be16_put(q + UCI_RSSI, FAPI_RSSI_INVALID);
		q[UCI_PARTS] = CSI_CRC_PASS;
		be16_put(q + UCI_PARTS + 1, CQI_BITS);
		q[UCI_PARTS + 3] = c[i].cqi & 0xF;
	}
	return (int)FAPI_UCI_INDICATION_LEN(nb);
}

/** Moves past a part of `head` octets that end with its length in bits. @return false: too short */
static bool
part_skip(const uint8_t *p, size_t len, size_t *at, size_t head)
{
	size_t bits;

	if (len - *at < head)
		return false;
	bits = be16_get(p + *at + head - 2);
	if (len - *at - head < (bits + 7) / 8)
		return false;
	*at += head + (bits + 7) / 8;
	return true;
}

/** @return 1 with a CQI, 0 when there is none, -(enum codec_err). */
static int
pucch_get(const uint8_t *p, size_t len, struct fapi_cqi *c)
{
	size_t at = UCI_PARTS, csi;

	if (len < UCI_PARTS)
		return -CODEC_CONTRADICTION;
	if ((p[UCI_BITMAP] & UCI_SR) && !part_skip(p, len, &at, 2))
		return -CODEC_CONTRADICTION;
	if ((p[UCI_BITMAP] & UCI_HARQ) && !part_skip(p, len, &at, 3))
		return -CODEC_CONTRADICTION;
	csi = at;
	if (!(p[UCI_BITMAP] & UCI_CSI_1))
		return 0;
	if (!part_skip(p, len, &at, 3))
		return -CODEC_CONTRADICTION;
	if (p[csi] != CSI_CRC_PASS || be16_get(p + csi + 1) < CQI_BITS)
		return 0;
	*c = (struct fapi_cqi){.handle = be32_get(p + UCI_HANDLE),
			       .rnti = be16_get(p + UCI_RNTI),
			       .cqi = p[csi + 3] & 0xF};
	return 1;
}

int
fapi_uci_indication_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_cqi *c,
			   unsigned *nb)
{
	const unsigned room = *nb;
	size_t done = HEAD;

	*nb = 0;
	if (len < HEAD)
		return -CODEC_SHORT;
	if (fapi_slot_decode(p, len, at) < 0)
		return -CODEC_RESERVED;
	for (unsigned left = be16_get(p + 4); left > 0; left--) {
		struct fapi_cqi one;
		size_t size;
		int ret = 0;

		if (len - done < PDU_HEAD)
			return -CODEC_SHORT;
		size = be16_get(p + done + 2);
		if (size < PDU_HEAD)
			return -CODEC_CONTRADICTION;
		if (size > len - done)
			return -CODEC_SHORT;
		if (be16_get(p + done) == FAPI_UCI_PUCCH_2_3_4)
			ret = pucch_get(p + done + PDU_HEAD, size - PDU_HEAD, &one);
		if (ret < 0)
			return ret;
		if (ret > 0) {
			if (*nb == room)
				return -CODEC_UNSUPPORTED;
			c[(*nb)++] = one;
		}
		done += size;
	}
	return (int)done;
}
