/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/fapi_dci.h"

#define PDU_HEAD 4 /* PDU type and PDU size; the size counts them too */

/* Octets of a PDCCH PDU, table 3-36, from its BWP size on. */
enum {
	PDCCH_BWP_SIZE = 0,
	PDCCH_BWP_START = 2,
	PDCCH_SCS = 4,
	PDCCH_SYMBOLS = 7, /* DurationSymbols */
	PDCCH_RBS = 8,     /* FreqDomainResource, a bit for 6 RBs */
	PDCCH_REG_BUNDLE = 15,
	PDCCH_DCIS = 21,
	PDCCH_END = 23,
};

/* Octets of a DCI, table 3-37; precoding and beamforming as long as without PRGs. */
enum {
	DCI_RNTI = 0,
	DCI_AGGREGATION = 7,
	DCI_PRGS = 8,
	DCI_INTERFACES = 12,
	DCI_BEAMS = 13,
	DCI_BITS = 2, /* from the end of the beams, behind 2 power offsets */
	DCI_PAYLOAD = 4,
};

#define REG_BUNDLE 6
#define AGGREGATION 4
#define TPC_0_DB 1 /* TS 38.213 table 7.2.1-1 */
#define FIXED_BITS 28

/** Bits of the frequency domain resource assignment, ⌈log2(N(N + 1) / 2)⌉. */
static unsigned
riv_bits(uint16_t bwp_size)
{
	const uint32_t values = (uint32_t)bwp_size * (bwp_size + 1U) / 2;

	return values > 1 ? 32U - (unsigned)__builtin_clz(values - 1) : 0;
}

/** Resource indication value, TS 38.214 §5.1.2.2.2. */
static uint32_t
riv(const struct fapi_grant *g)
{
	const uint32_t n = g->bwp_size, start = g->rb_start, len = g->rb_size;

	if (len == 0 || start + len > n)
		return 0;
	return len - 1 <= n / 2 ? n * (len - 1) + start : n * (n - len + 1) + n - 1 - start;
}

static unsigned
payload_bytes(uint16_t bwp_size)
{
	return (FIXED_BITS + riv_bits(bwp_size) + 7) / 8;
}

static unsigned
dci_len(uint16_t bwp_size)
{
	return DCI_BEAMS + DCI_PAYLOAD + payload_bytes(bwp_size);
}

size_t
fapi_pdcch_len(const struct fapi_grant *g, unsigned nb)
{
	size_t len = 0;
	uint16_t bwp = 0;

	for (unsigned i = 0; i < nb; i++) {
		if (g[i].k1 == 0)
			continue;
		len += (len == 0 || g[i].bwp_size != bwp ? FAPI_PDCCH_LEN : 0) +
		       dci_len(g[i].bwp_size);
		bwp = g[i].bwp_size;
	}
	return len;
}

/** Fields of a DCI, the first one's most significant bit first. */
struct bits {
	uint64_t value;
	unsigned nb;
};

static void
put(struct bits *b, unsigned bits, uint32_t value)
{
	b->value = b->value << bits | (value & ((1ULL << bits) - 1));
	b->nb += bits;
}

static uint32_t
get(struct bits *b, unsigned bits)
{
	b->nb -= bits;
	return (uint32_t)(b->value >> b->nb & ((1ULL << bits) - 1));
}

static void
payload_put(uint8_t *p, const struct fapi_grant *g)
{
	struct bits b = {0};
	unsigned bytes;

	put(&b, 1, 1); /* identifier: downlink */
	put(&b, riv_bits(g->bwp_size), riv(g));
	put(&b, 4, 0); /* time domain resource assignment */
	put(&b, 1, 0); /* VRB-to-PRB mapping */
	put(&b, 5, g->mcs_index);
	put(&b, 1, g->new_data);
	put(&b, 2, g->rv_index);
	put(&b, 4, g->harq_process);
	put(&b, 2, 0); /* counter DAI: the first PDSCH of its feedback, TS 38.213 §9.1.3.1 */
	put(&b, 2, TPC_0_DB);
	put(&b, 3, 0); /* PUCCH resource */
	put(&b, 3, g->k1 - 1U);
	bytes = (b.nb + 7) / 8;
	put(&b, bytes * 8 - b.nb, 0);
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)get(&b, 8);
}

static void
dci_put(uint8_t *p, const struct fapi_grant *g)
{
	memset(p, 0, dci_len(g->bwp_size));
	be16_put(p + DCI_RNTI, g->rnti);
	p[DCI_AGGREGATION] = AGGREGATION;
	p += DCI_BEAMS;
	be16_put(p + DCI_BITS, (uint16_t)(FIXED_BITS + riv_bits(g->bwp_size)));
	payload_put(p + DCI_PAYLOAD, g);
}

static void
pdcch_begin(uint8_t *p, const struct fapi_grant *g)
{
	memset(p, 0, FAPI_PDCCH_LEN);
	be16_put(p, FAPI_PDU_PDCCH);
	p += PDU_HEAD;
	be16_put(p + PDCCH_BWP_SIZE, g->bwp_size);
	be16_put(p + PDCCH_BWP_START, g->bwp_start);
	p[PDCCH_SCS] = g->subcarrier_spacing;
	p[PDCCH_SYMBOLS] = 1;
	for (unsigned i = 0; i < g->bwp_size / 6U && i < 45; i++)
		p[PDCCH_RBS + i / 8] |= (uint8_t)(0x80 >> i % 8);
	p[PDCCH_REG_BUNDLE] = REG_BUNDLE;
}

int
fapi_pdcch_put(uint8_t *p, const struct fapi_grant *g, unsigned nb)
{
	uint8_t *pdu = NULL;
	uint16_t bwp = 0;
	int pdus = 0;

	for (unsigned i = 0; i < nb; i++) {
		if (g[i].k1 == 0)
			continue;
		if (g[i].k1 > FAPI_DCI_K1_MAX || g[i].harq_process >= FAPI_DCI_PROCESSES ||
		    g[i].bwp_size == 0 || g[i].bwp_size > FAPI_BWP_SIZE_MAX)
			return -CODEC_UNSUPPORTED;
		if (pdu == NULL || g[i].bwp_size != bwp) {
			pdu = p;
			pdcch_begin(pdu, &g[i]);
			p += FAPI_PDCCH_LEN;
			bwp = g[i].bwp_size;
			pdus++;
		}
		dci_put(p, &g[i]);
		p += dci_len(bwp);
		be16_put(pdu + PDU_HEAD + PDCCH_DCIS,
			 (uint16_t)(be16_get(pdu + PDU_HEAD + PDCCH_DCIS) + 1));
		be16_put(pdu + 2, (uint16_t)(p - pdu));
	}
	return pdus;
}

/** @return whether it is of format 1_0. */
static bool
payload_get(const uint8_t *p, unsigned bits, uint16_t bwp_size, struct fapi_dci *d)
{
	struct bits b = {0};

	if (bwp_size == 0 || bwp_size > FAPI_BWP_SIZE_MAX ||
	    bits != FIXED_BITS + riv_bits(bwp_size))
		return false;
	for (unsigned i = 0; i < payload_bytes(bwp_size); i++)
		put(&b, 8, p[i]);
	if (get(&b, 1) != 1)
		return false;
	get(&b, riv_bits(bwp_size) + 4 + 1 + 5);
	d->bwp_size = bwp_size;
	d->new_data = get(&b, 1);
	get(&b, 2);
	d->harq_process = (uint8_t)get(&b, 4);
	get(&b, 2 + 2 + 3);
	d->k1 = (uint8_t)(get(&b, 3) + 1);
	return true;
}

int
fapi_pdcch_get(const uint8_t *p, size_t len, struct fapi_dci *d, unsigned *nb, unsigned room)
{
	size_t at = PDCCH_END;

	if (len < PDCCH_END)
		return -CODEC_CONTRADICTION;
	for (unsigned left = be16_get(p + PDCCH_DCIS); left > 0; left--) {
		struct fapi_dci one;
		size_t beams, bits;

		if (len - at < DCI_BEAMS)
			return -CODEC_CONTRADICTION;
		one.rnti = be16_get(p + at + DCI_RNTI);
		beams = be16_get(p + at + DCI_PRGS) * (2U + 2U * p[at + DCI_INTERFACES]);
		at += DCI_BEAMS;
		if (len - at < beams + DCI_PAYLOAD)
			return -CODEC_CONTRADICTION;
		at += beams;
		bits = be16_get(p + at + DCI_BITS);
		at += DCI_PAYLOAD;
		if (len - at < (bits + 7) / 8)
			return -CODEC_CONTRADICTION;
		if (payload_get(p + at, (unsigned)bits, be16_get(p + PDCCH_BWP_SIZE), &one)) {
			if (*nb == room)
				return -CODEC_UNSUPPORTED;
			d[(*nb)++] = one;
		}
		at += (bits + 7) / 8;
	}
	return 0;
}
