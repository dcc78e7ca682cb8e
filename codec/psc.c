/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/be.h"
#include "codec/psc.h"

/* First octet, after the PDU type. */
#define QMP 0x08
#define DL_SNP 0x04
#define DL_MSNP 0x02
#define UL_DL_DELAY 0x04
#define UL_UL_DELAY 0x02
#define UL_SNP 0x01
/* Second octet, before the QFI. */
#define DL_PPP 0x80
#define DL_RQI 0x40
#define UL_N3_N9_DELAY 0x80
#define UL_NEW_IE 0x40
/* New IE Flag octet. */
#define NEW_IE_D1 0x01

/* Octets still to be read or written; `ok` goes with the first that is not there. */
struct cursor {
	uint8_t *to;
	const uint8_t *from;
	size_t left;
	bool ok;
};

static void
put(struct cursor *c, unsigned octets, uint64_t v)
{
	if (c->left < octets)
		c->ok = false;
	if (!c->ok)
		return;
	for (unsigned i = octets; i-- > 0; v >>= 8)
		c->to[i] = (uint8_t)v;
	c->to += octets;
	c->left -= octets;
}

static uint64_t
get(struct cursor *c, unsigned octets)
{
	uint64_t v = 0;

	if (c->left < octets)
		c->ok = false;
	if (!c->ok)
		return 0;
	for (unsigned i = 0; i < octets; i++)
		v = v << 8 | c->from[i];
	c->from += octets;
	c->left -= octets;
	return v;
}

static void
put_dl(struct cursor *c, const struct psc *f)
{
	put(c, 1,
	    PSC_DL << 4 | (f->qmp ? QMP : 0) | (f->snp ? DL_SNP : 0) | (f->msnp ? DL_MSNP : 0));
	put(c, 1, (f->ppp ? DL_PPP : 0) | (f->rqi ? DL_RQI : 0) | f->qfi);
	if (f->ppp)
		put(c, 1, (uint64_t)f->ppi << 5);
	if (f->qmp)
		put(c, 8, f->dl_sending_ts);
	if (f->snp)
		put(c, 3, f->sn);
	if (f->msnp)
		put(c, 4, f->mbs_sn);
}

static void
put_ul(struct cursor *c, const struct psc *f)
{
	put(c, 1,
	    PSC_UL << 4 | (f->qmp ? QMP : 0) | (f->has_dl_delay ? UL_DL_DELAY : 0) |
		    (f->has_ul_delay ? UL_UL_DELAY : 0) | (f->snp ? UL_SNP : 0));
	put(c, 1, (f->has_n3_n9_delay ? UL_N3_N9_DELAY : 0) | (f->has_d1 ? UL_NEW_IE : 0) | f->qfi);
	if (f->qmp) {
		put(c, 8, f->dl_sending_ts);
		put(c, 8, f->dl_received_ts);
		put(c, 8, f->ul_sending_ts);
	}
	if (f->has_dl_delay)
		put(c, 4, f->dl_delay);
	if (f->has_ul_delay)
		put(c, 4, f->ul_delay);
	if (f->snp)
		put(c, 3, f->sn);
	if (f->has_n3_n9_delay)
		put(c, 4, f->n3_n9_delay);
	if (f->has_d1) {
		put(c, 1, NEW_IE_D1);
		put(c, 1, f->d1);
	}
}

int
psc_encode(uint8_t *p, size_t room, const struct psc *f)
{
	struct cursor c = {.to = p, .left = room, .ok = true};

	if (f->qfi > PSC_QFI_MAX || f->sn > PSC_SN_MAX || f->ppi > PSC_PPI_MAX)
		return -CODEC_CONTRADICTION;
	if (f->type == PSC_DL)
		put_dl(&c, f);
	else
		put_ul(&c, f);
	while (c.ok && (c.to - p) % 4 != 2)
		put(&c, 1, 0);
	return c.ok ? (int)(c.to - p) : -CODEC_SHORT;
}

static void
get_dl(struct cursor *c, uint8_t flags, uint8_t second, struct psc *f)
{
	f->qmp = flags & QMP;
	f->snp = flags & DL_SNP;
	f->msnp = flags & DL_MSNP;
	f->ppp = second & DL_PPP;
	f->rqi = second & DL_RQI;
	if (f->ppp)
		f->ppi = (uint8_t)(get(c, 1) >> 5);
	if (f->qmp)
		f->dl_sending_ts = get(c, 8);
	if (f->snp)
		f->sn = (uint32_t)get(c, 3);
	if (f->msnp)
		f->mbs_sn = (uint32_t)get(c, 4);
}

static void
get_ul(struct cursor *c, uint8_t flags, uint8_t second, struct psc *f)
{
	f->qmp = flags & QMP;
	f->has_dl_delay = flags & UL_DL_DELAY;
	f->has_ul_delay = flags & UL_UL_DELAY;
	f->snp = flags & UL_SNP;
	f->has_n3_n9_delay = second & UL_N3_N9_DELAY;
	if (f->qmp) {
		f->dl_sending_ts = get(c, 8);
		f->dl_received_ts = get(c, 8);
		f->ul_sending_ts = get(c, 8);
	}
	if (f->has_dl_delay)
		f->dl_delay = (uint32_t)get(c, 4);
	if (f->has_ul_delay)
		f->ul_delay = (uint32_t)get(c, 4);
	if (f->snp)
		f->sn = (uint32_t)get(c, 3);
	if (f->has_n3_n9_delay)
		f->n3_n9_delay = (uint32_t)get(c, 4);
	/* The octet of New IE Flag 0 follows all octets of flags, of which bit 7 announces another
	 * (§A.1). */
	if (second & UL_NEW_IE) {
		uint8_t first = (uint8_t)get(c, 1);

		for (uint8_t more = first; c->ok && more & 0x80;)
			more = (uint8_t)get(c, 1);
		f->has_d1 = first & NEW_IE_D1;
		if (f->has_d1)
			f->d1 = get(c, 1) & 1;
	}
}

int
psc_decode(const uint8_t *p, size_t n, struct psc *f)
{
	struct cursor c = {.from = p, .left = n, .ok = true};
	uint8_t first = (uint8_t)get(&c, 1);
	uint8_t second = (uint8_t)get(&c, 1);

	memset(f, 0, sizeof(*f));
	if (!c.ok)
		return -CODEC_SHORT;
	if (first >> 4 > PSC_UL)
		return -CODEC_RESERVED;
	f->type = (enum psc_type)(first >> 4);
	f->qfi = second & PSC_QFI_MAX;
	if (f->type == PSC_DL)
		get_dl(&c, first, second, f);
	else
		get_ul(&c, first, second, f);
	return c.ok ? (int)(n - c.left) : -CODEC_SHORT;
}
