/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/fapi_uci.h"

#define HEAD 6
#define PDU_HEAD 4 /* PDU type and PDU size; the size counts them too */
#define CQI_BITS 4

/* Octets of a PUCCH PDU, tables 3-65 and 3-66, from its PDU bitmap on. */
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

#define UCI_CRC_PASS 0
#define CONFIDENCE_UNUSED 255
#define PUSCH_PARTS 12 /* a PUSCH PDU has no format, table 3-64 */

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
		q[UCI_PARTS] = UCI_CRC_PASS;
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
	if (p[csi] != UCI_CRC_PASS || be16_get(p + csi + 1) < CQI_BITS)
		return 0;
	*c = (struct fapi_cqi){.handle = be32_get(p + UCI_HANDLE),
			       .rnti = be16_get(p + UCI_RNTI),
			       .cqi = p[csi + 3] & 0xF};
	return 1;
}

/**
 * The next PDU of the `left` at p + *done, which moves on. @param[out] size of what is behind its
 * head
 * @return it, from its PDU bitmap on, or NULL with *done = -(enum codec_err)
 */
static const uint8_t *
pdu_next(const uint8_t *p, size_t len, int *done, unsigned *type, size_t *size)
{
	const size_t at = (size_t)*done;

	if (len - at < PDU_HEAD) {
		*done = -CODEC_SHORT;
		return NULL;
	}
	*type = be16_get(p + at);
	*size = be16_get(p + at + 2);
	if (*size < PDU_HEAD || *size > len - at) {
		*done = *size < PDU_HEAD ? -CODEC_CONTRADICTION : -CODEC_SHORT;
		return NULL;
	}
	*done += (int)*size;
	*size -= PDU_HEAD;
	return p + at + PDU_HEAD;
}

int
fapi_uci_indication_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_cqi *c,
			   unsigned *nb)
{
	const unsigned room = *nb;
	int done = HEAD;

	*nb = 0;
	if (len < HEAD)
		return -CODEC_SHORT;
	if (fapi_slot_decode(p, len, at) < 0)
		return -CODEC_RESERVED;
	for (unsigned left = be16_get(p + 4); left > 0; left--) {
		struct fapi_cqi one;
		unsigned type;
		size_t size;
		const uint8_t *pdu = pdu_next(p, len, &done, &type, &size);
		int ret = 0;

		if (pdu == NULL)
			return done;
		if (type == FAPI_UCI_PUCCH_2_3_4)
			ret = pucch_get(pdu, size, &one);
		if (ret < 0)
			return ret;
		if (ret > 0) {
			if (*nb == room)
				return -CODEC_UNSUPPORTED;
			c[(*nb)++] = one;
		}
	}
	return done;
}

int
fapi_uci_harq_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_harq *h,
		     unsigned nb)
{
	if (nb > FAPI_UCIS_MAX)
		return -CODEC_UNSUPPORTED;
	if (room < FAPI_UCI_HARQ_INDICATION_LEN(nb))
		return -CODEC_SHORT;
	fapi_slot_put(p, at);
	be16_put(p + 4, (uint16_t)nb);
	p += HEAD;
	for (unsigned i = 0; i < nb; i++, p += FAPI_UCI_HARQ_LEN) {
		uint8_t *q = p + PDU_HEAD;

		be16_put(p, FAPI_UCI_PUCCH_0_1);
		be16_put(p + 2, FAPI_UCI_HARQ_LEN);
		q[UCI_BITMAP] = UCI_HARQ;
		be32_put(q + UCI_HANDLE, h[i].handle);
		be16_put(q + UCI_RNTI, h[i].rnti);
		q[UCI_FORMAT] = 0; /* format 0 */
		q[UCI_UL_CQI] = FAPI_CQI_INVALID;
		be16_put(q + UCI_TIMING_ADVANCE, FAPI_TIMING_ADVANCE_INVALID);
		be16_put(q + UCI_RSSI, FAPI_RSSI_INVALID);
		q[UCI_PARTS] = CONFIDENCE_UNUSED;
		q[UCI_PARTS + 1] = 1; /* bits */
		q[UCI_PARTS + 2] = h[i].value;
	}
	return (int)FAPI_UCI_HARQ_INDICATION_LEN(nb);
}

/** A PUCCH PDU of format 0 or 1. @return 1 with feedback, 0 without, -(enum codec_err). */
static int
harq_short_get(const uint8_t *p, size_t len, struct fapi_harq *h)
{
	size_t at = UCI_PARTS;

	if (len < UCI_PARTS)
		return -CODEC_CONTRADICTION;
	at += p[UCI_BITMAP] & UCI_SR ? 2 : 0;
	if (!(p[UCI_BITMAP] & UCI_HARQ))
		return 0;
	if (len < at + 2 || p[at + 1] == 0 || len < at + 2 + p[at + 1])
		return -CODEC_CONTRADICTION;
	if (p[at + 2] > FAPI_HARQ_DTX)
		return -CODEC_RESERVED;
	*h = (struct fapi_harq){be32_get(p + UCI_HANDLE), be16_get(p + UCI_RNTI), p[at + 2]};
	return 1;
}

/** Any other PDU, whose parts begin at `at`. @return as above */
static int
harq_long_get(const uint8_t *p, size_t len, size_t at, struct fapi_harq *h)
{
	size_t harq;

	if (len < at)
		return -CODEC_CONTRADICTION;
	if (at == UCI_PARTS && (p[UCI_BITMAP] & UCI_SR) && !part_skip(p, len, &at, 2))
		return -CODEC_CONTRADICTION;
	harq = at;
	if (!(p[UCI_BITMAP] & UCI_HARQ))
		return 0;
	if (!part_skip(p, len, &at, 3))
		return -CODEC_CONTRADICTION;
	*h = (struct fapi_harq){be32_get(p + UCI_HANDLE), be16_get(p + UCI_RNTI), FAPI_HARQ_DTX};
	/* TS 38.213 §9.1: 1 is ACK; the first bit is the payload's lowest. */
	if (p[harq] == UCI_CRC_PASS && be16_get(p + harq + 1) > 0)
		h->value = p[harq + 3] & 1 ? FAPI_HARQ_ACK : FAPI_HARQ_NACK;
	return 1;
}

int
fapi_uci_harq_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_harq *h,
		     unsigned *nb)
{
	const unsigned room = *nb;
	int done = HEAD;

	*nb = 0;
	if (len < HEAD)
		return -CODEC_SHORT;
	if (fapi_slot_decode(p, len, at) < 0)
		return -CODEC_RESERVED;
	for (unsigned left = be16_get(p + 4); left > 0; left--) {
		struct fapi_harq one;
		unsigned type;
		size_t size;
		const uint8_t *pdu = pdu_next(p, len, &done, &type, &size);
		int ret = 0;

		if (pdu == NULL)
			return done;
		if (type == FAPI_UCI_PUCCH_0_1)
			ret = harq_short_get(pdu, size, &one);
		else if (type == FAPI_UCI_PUCCH_2_3_4 || type == FAPI_UCI_PUSCH)
			ret = harq_long_get(pdu, size,
					    type == FAPI_UCI_PUSCH ? PUSCH_PARTS : UCI_PARTS, &one);
		if (ret < 0)
			return ret;
		if (ret > 0) {
			if (*nb == room)
				return -CODEC_UNSUPPORTED;
			h[(*nb)++] = one;
		}
	}
	return done;
}
