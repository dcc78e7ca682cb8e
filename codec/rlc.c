/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/rlc.h"

#define AMD_DC 0x80
#define AMD_P 0x40
#define STATUS_CPT 0x70

static void
put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint16_t
get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool
has_so(enum rlc_si si)
{
	return si == RLC_SI_LAST || si == RLC_SI_MIDDLE;
}

int
rlc_umd_encode(uint8_t *buf, size_t cap, enum rlc_sn_len bits, const struct rlc_umd *h)
{
	unsigned len = rlc_umd_len(h->si, bits);

	if (cap < len)
		return -CODEC_SHORT;
	buf[0] = (uint8_t)(h->si << 6);
	if (h->si == RLC_SI_COMPLETE)
		return (int)len;
	if (bits == RLC_SN_6) {
		buf[0] |= h->sn & 0x3f;
	} else {
		buf[0] |= h->sn >> 8 & 0x0f;
		buf[1] = (uint8_t)h->sn;
	}
	if (has_so(h->si))
		put_be16(buf + len - 2, h->so);
	return (int)len;
}

int
rlc_umd_decode(const uint8_t *buf, size_t len, enum rlc_sn_len bits, struct rlc_umd *h)
{
	unsigned need;

	if (len < 1)
		return -CODEC_SHORT;
	*h = (struct rlc_umd){.si = buf[0] >> 6};
	need = rlc_umd_len(h->si, bits);
	if (len < need)
		return -CODEC_SHORT;
	if (h->si == RLC_SI_COMPLETE)
		return (int)need;
	if (bits == RLC_SN_6)
		h->sn = buf[0] & 0x3f;
	else
		h->sn = (uint16_t)((buf[0] & 0x0f) << 8 | buf[1]);
	if (has_so(h->si)) {
		h->so = get_be16(buf + need - 2);
		if (h->so == 0)
			return -CODEC_CONTRADICTION;
	}
	return (int)need;
}

int
rlc_amd_encode(uint8_t *buf, size_t cap, enum rlc_sn_len bits, const struct rlc_amd *h)
{
	unsigned len = rlc_amd_len(h->si, bits);

	if (cap < len)
		return -CODEC_SHORT;
	buf[0] = (uint8_t)(AMD_DC | (h->p ? AMD_P : 0) | h->si << 4);
	if (bits == RLC_SN_12) {
		buf[0] |= h->sn >> 8 & 0x0f;
		buf[1] = (uint8_t)h->sn;
	} else {
		buf[0] |= h->sn >> 16 & 0x03;
		put_be16(buf + 1, (uint16_t)h->sn);
	}
	if (has_so(h->si))
		put_be16(buf + len - 2, h->so);
	return (int)len;
}

int
rlc_amd_decode(const uint8_t *buf, size_t len, enum rlc_sn_len bits, struct rlc_amd *h)
{
	unsigned need;

	if (len < 1)
		return -CODEC_SHORT;
	if (rlc_am_is_control(buf[0]))
		return -CODEC_UNSUPPORTED;
	*h = (struct rlc_amd){.p = buf[0] & AMD_P, .si = buf[0] >> 4 & 3};
	need = rlc_amd_len(h->si, bits);
	if (len < need)
		return -CODEC_SHORT;
	if (bits == RLC_SN_12)
		h->sn = (uint32_t)(buf[0] & 0x0f) << 8 | buf[1];
	else
		h->sn = (uint32_t)(buf[0] & 0x03) << 16 | get_be16(buf + 1);
	if (has_so(h->si)) {
		h->so = get_be16(buf + need - 2);
		if (h->so == 0)
			return -CODEC_CONTRADICTION;
	}
	return (int)need;
}

/* --- STATUS PDU ------------------------------------------------------------------------------- */

static size_t
nack_sn_len(enum rlc_sn_len bits)
{
	return bits == RLC_SN_12 ? 2 : 3;
}

/** E1 of a NACK; E2 and E3 are the two bits below it. */
static uint8_t
nack_e1(enum rlc_sn_len bits)
{
	return bits == RLC_SN_12 ? 0x08 : 0x20;
}

int
rlc_status_start(struct rlc_status_builder *b, uint8_t *buf, size_t cap, enum rlc_sn_len bits)
{
	if (cap < RLC_STATUS_HEADER_LEN)
		return -CODEC_SHORT;
	*b = (struct rlc_status_builder){
		.buf = buf,
		.cap = cap,
		.len = RLC_STATUS_HEADER_LEN,
		.bits = bits,
		.e1 = {.offset = 2, .mask = bits == RLC_SN_12 ? 0x80 : 0x02},
	};
	buf[2] = 0;
	return 0;
}

static void
put_nack(uint8_t *p, enum rlc_sn_len bits, const struct rlc_nack *nack)
{
	uint8_t e1 = nack_e1(bits);
	uint8_t *e = p + nack_sn_len(bits) - 1;

	if (bits == RLC_SN_12) {
		put_be16(p, (uint16_t)(nack->sn << 4));
	} else {
		put_be16(p, (uint16_t)(nack->sn >> 2));
		p[2] = (uint8_t)(nack->sn << 6);
	}
	p = e + 1;
	if (nack->has_so) {
		*e |= e1 >> 1;
		put_be16(p, nack->so_start);
		put_be16(p + 2, nack->so_end);
		p += 4;
	}
	if (nack->range > 1) {
		*e |= e1 >> 2;
		*p = nack->range;
	}
}

bool
rlc_status_add(struct rlc_status_builder *b, const struct rlc_nack *nack)
{
	size_t sn_len = nack_sn_len(b->bits);
	size_t len = sn_len + (nack->has_so ? 4 : 0) + (nack->range > 1 ? 1 : 0);

	if (b->trimmed)
		return false;
	if (!b->any || nack->sn != b->last_sn) {
		b->group_start = b->len;
		b->group_sn = nack->sn;
		b->group_e1 = b->e1;
		b->any = true;
	}
	if (len > b->cap - b->len) {
		b->trimmed = true;
		b->len = b->group_start;
		b->buf[b->group_e1.offset] &= (uint8_t)~b->group_e1.mask;
		return false;
	}
	b->buf[b->e1.offset] |= b->e1.mask;
	put_nack(b->buf + b->len, b->bits, nack);
	b->e1 = (struct rlc_status_e1){.offset = b->len + sn_len - 1, .mask = nack_e1(b->bits)};
	b->len += len;
	b->last_sn = nack->sn + (nack->range > 1 ? nack->range - 1U : 0);
	b->last_sn &= rlc_sn_mask(b->bits);
	return true;
}

size_t
rlc_status_finish(struct rlc_status_builder *b, uint32_t ack_sn)
{
	if (b->trimmed)
		ack_sn = b->group_sn;
	if (b->bits == RLC_SN_12) {
		put_be16(b->buf, ack_sn & 0x0fff);
	} else {
		put_be16(b->buf, (uint16_t)(ack_sn >> 6 & 0x0fff));
		b->buf[2] = (uint8_t)(ack_sn << 2 | (b->buf[2] & 0x02));
	}
	return b->len;
}

int
rlc_status_open(struct rlc_status_iter *it, const uint8_t *buf, size_t len, enum rlc_sn_len bits)
{
	*it = (struct rlc_status_iter){.buf = buf, .len = len, .bits = bits};
	if (len < RLC_STATUS_HEADER_LEN)
		return -CODEC_SHORT;
	if (!rlc_am_is_control(buf[0]))
		return -CODEC_UNSUPPORTED;
	if (buf[0] & STATUS_CPT)
		return -CODEC_RESERVED;
	it->offset = RLC_STATUS_HEADER_LEN;
	it->ack_sn = get_be16(buf) & 0x0fff;
	if (bits == RLC_SN_12) {
		it->more = buf[2] & 0x80;
	} else {
		it->ack_sn = it->ack_sn << 6 | buf[2] >> 2;
		it->more = buf[2] & 0x02;
	}
	return RLC_STATUS_HEADER_LEN;
}

int
rlc_status_next(struct rlc_status_iter *it, struct rlc_nack *nack)
{
	const uint8_t *p = it->buf + it->offset;
	size_t left = it->len - it->offset;
	size_t need = nack_sn_len(it->bits);
	uint8_t e1 = nack_e1(it->bits);
	uint8_t e;

	if (!it->more)
		return 0;
	if (left < need)
		return -CODEC_SHORT;
	e = p[need - 1];
	*nack = (struct rlc_nack){.has_so = e & e1 >> 1, .range = 1};
	nack->sn = it->bits == RLC_SN_12 ? (uint32_t)get_be16(p) >> 4
					 : (uint32_t)get_be16(p) << 2 | p[2] >> 6;
	if (left < need + (nack->has_so ? 4 : 0) + (e & e1 >> 2 ? 1 : 0))
		return -CODEC_SHORT;
	if (nack->has_so) {
		nack->so_start = get_be16(p + need);
		nack->so_end = get_be16(p + need + 2);
		need += 4;
	}
	if (e & e1 >> 2)
		nack->range = p[need++];
	if (nack->range == 0)
		return -CODEC_CONTRADICTION;
	if (nack->has_so && nack->range == 1 && nack->so_start > nack->so_end)
		return -CODEC_CONTRADICTION;
	it->more = e & e1;
	it->offset += need;
	return (int)need;
}
