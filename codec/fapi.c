/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/fapi.h"

#include "codec/fapi_dci.h"

#define PDU_HEAD 4 /* PDU type and PDU size; the size counts them too */
#define UL_TTI_HEAD 9
#define DL_TTI_HEAD 6

/* Octets of a PUSCH PDU, Table 3-46, from its PDU bitmap on. */
enum {
	PUSCH_BITMAP = 0,
	PUSCH_RNTI = 2,
	PUSCH_HANDLE = 4,
	PUSCH_BWP_SIZE = 8,
	PUSCH_BWP_START = 10,
	PUSCH_SCS = 12,
	PUSCH_QAM = 16,
	PUSCH_MCS = 17,
	PUSCH_TRANSFORM_PRECODING = 19,
	PUSCH_LAYERS = 22,
	PUSCH_RESOURCE_ALLOC = 34,
	PUSCH_RB_START = 71,
	PUSCH_RB_SIZE = 73,
	PUSCH_SYMBOLS = 81,
	PUSCH_DATA = 82, /* Table 3-47: RV index, HARQ process, NDI, TB size, number of CBs */
	PUSCH_RV = PUSCH_DATA,
	PUSCH_HARQ = 83,
	PUSCH_NDI = 84,
	PUSCH_TB_SIZE = 85,
	PUSCH_DATA_END = 91,
};

/* Octets of a PDSCH PDU with one codeword, Table 3-38, from its PDU bitmap on. */
enum {
	PDSCH_RNTI = 2,
	PDSCH_INDEX = 4,
	PDSCH_BWP_SIZE = 6,
	PDSCH_BWP_START = 8,
	PDSCH_SCS = 10,
	PDSCH_CODEWORDS = 12,
	PDSCH_QAM = 15,
	PDSCH_MCS = 16,
	PDSCH_RV = 18,
	PDSCH_TB_SIZE = 19,
	PDSCH_LAYERS = 25,
	PDSCH_RESOURCE_ALLOC = 37,
	PDSCH_RB_START = 74,
	PDSCH_RB_SIZE = 76,
	PDSCH_SYMBOLS = 80,
	PDSCH_END = 81,
};

#define PUSCH_BITMAP_DATA 1 /* puschData is present */
#define RESOURCE_ALLOC_TYPE_1 1
#define TRANSFORM_PRECODING_OFF 1

void
fapi_error_put(uint8_t *p, const struct fapi_error *e)
{
	fapi_slot_put(p, e->at);
	p[4] = e->message_id;
	p[5] = e->code;
}

int
fapi_error_decode(const uint8_t *p, size_t len, struct fapi_error *e)
{
	if (len < FAPI_ERROR_INDICATION_LEN)
		return -CODEC_SHORT;
	e->message_id = p[4];
	e->code = p[5];
	return fapi_slot_decode(p, len, &e->at) < 0 ? -CODEC_RESERVED : FAPI_ERROR_INDICATION_LEN;
}

static void
pusch_put(uint8_t *p, const struct fapi_grant *g)
{
	memset(p, 0, FAPI_PUSCH_LEN);
	be16_put(p, FAPI_PDU_PUSCH);
	be16_put(p + 2, FAPI_PUSCH_LEN);
	p += PDU_HEAD;
	be16_put(p + PUSCH_BITMAP, PUSCH_BITMAP_DATA);
	be16_put(p + PUSCH_RNTI, g->rnti);
	be32_put(p + PUSCH_HANDLE, g->handle);
	be16_put(p + PUSCH_BWP_SIZE, g->bwp_size);
	be16_put(p + PUSCH_BWP_START, g->bwp_start);
	p[PUSCH_SCS] = g->subcarrier_spacing;
	p[PUSCH_QAM] = g->qam_mod_order;
	p[PUSCH_MCS] = g->mcs_index;
	p[PUSCH_TRANSFORM_PRECODING] = TRANSFORM_PRECODING_OFF;
	p[PUSCH_LAYERS] = 1;
	p[PUSCH_RESOURCE_ALLOC] = RESOURCE_ALLOC_TYPE_1;
	be16_put(p + PUSCH_RB_START, g->rb_start);
	be16_put(p + PUSCH_RB_SIZE, g->rb_size);
	p[PUSCH_SYMBOLS] = g->nr_of_symbols;
	p[PUSCH_RV] = g->rv_index;
	p[PUSCH_HARQ] = g->harq_process;
	p[PUSCH_NDI] = g->new_data;
	be32_put(p + PUSCH_TB_SIZE, g->tb_bytes);
}

/** @return 1 when the PDU grants a TB, 0 when it has no puschData, -(enum codec_err). */
static int
pusch_get(const uint8_t *p, size_t len, struct fapi_grant *g)
{
	if (len < PUSCH_DATA)
		return -CODEC_CONTRADICTION;
	if (!(be16_get(p + PUSCH_BITMAP) & PUSCH_BITMAP_DATA))
		return 0;
	if (len < PUSCH_DATA_END)
		return -CODEC_CONTRADICTION;
	*g = (struct fapi_grant){
		.rnti = be16_get(p + PUSCH_RNTI),
		.handle = be32_get(p + PUSCH_HANDLE),
		.bwp_size = be16_get(p + PUSCH_BWP_SIZE),
		.bwp_start = be16_get(p + PUSCH_BWP_START),
		.subcarrier_spacing = p[PUSCH_SCS],
		.rb_start = be16_get(p + PUSCH_RB_START),
		.rb_size = be16_get(p + PUSCH_RB_SIZE),
		.nr_of_symbols = p[PUSCH_SYMBOLS],
		.qam_mod_order = p[PUSCH_QAM],
		.mcs_index = p[PUSCH_MCS],
		.rv_index = p[PUSCH_RV],
		.harq_process = p[PUSCH_HARQ],
		.new_data = p[PUSCH_NDI] != 0,
		.tb_bytes = be32_get(p + PUSCH_TB_SIZE),
	};
	return 1;
}

static void
pdsch_put(uint8_t *p, const struct fapi_grant *g)
{
	memset(p, 0, FAPI_PDSCH_LEN);
	be16_put(p, FAPI_PDU_PDSCH);
	be16_put(p + 2, FAPI_PDSCH_LEN);
	p += PDU_HEAD;
	be16_put(p + PDSCH_RNTI, g->rnti);
	be16_put(p + PDSCH_INDEX, (uint16_t)g->handle);
	be16_put(p + PDSCH_BWP_SIZE, g->bwp_size);
	be16_put(p + PDSCH_BWP_START, g->bwp_start);
	p[PDSCH_SCS] = g->subcarrier_spacing;
	p[PDSCH_CODEWORDS] = 1;
	p[PDSCH_QAM] = g->qam_mod_order;
	p[PDSCH_MCS] = g->mcs_index;
	p[PDSCH_RV] = g->rv_index;
	be32_put(p + PDSCH_TB_SIZE, g->tb_bytes);
	p[PDSCH_LAYERS] = 1;
	p[PDSCH_RESOURCE_ALLOC] = RESOURCE_ALLOC_TYPE_1;
	be16_put(p + PDSCH_RB_START, g->rb_start);
	be16_put(p + PDSCH_RB_SIZE, g->rb_size);
	p[PDSCH_SYMBOLS] = g->nr_of_symbols;
}

/** @return 1 or -(enum codec_err). */
static int
pdsch_get(const uint8_t *p, size_t len, struct fapi_grant *g)
{
	if (len < PDSCH_END)
		return -CODEC_CONTRADICTION;
	if (p[PDSCH_CODEWORDS] != 1)
		return -CODEC_UNSUPPORTED;
	*g = (struct fapi_grant){
		.rnti = be16_get(p + PDSCH_RNTI),
		.handle = be16_get(p + PDSCH_INDEX),
		.bwp_size = be16_get(p + PDSCH_BWP_SIZE),
		.bwp_start = be16_get(p + PDSCH_BWP_START),
		.subcarrier_spacing = p[PDSCH_SCS],
		.rb_start = be16_get(p + PDSCH_RB_START),
		.rb_size = be16_get(p + PDSCH_RB_SIZE),
		.nr_of_symbols = p[PDSCH_SYMBOLS],
		.qam_mod_order = p[PDSCH_QAM],
		.mcs_index = p[PDSCH_MCS],
		.rv_index = p[PDSCH_RV],
		.tb_bytes = be32_get(p + PDSCH_TB_SIZE),
	};
	return 1;
}

int
fapi_ul_tti_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_grant *g,
		   unsigned nb)
{
	if (nb > FAPI_TTI_PDUS_MAX)
		return -CODEC_UNSUPPORTED;
	if (room < FAPI_UL_TTI_LEN(nb))
		return -CODEC_SHORT;
	fapi_slot_put(p, at);
	p[4] = (uint8_t)nb;
	p[5] = 0;           /* RACH present */
	p[6] = (uint8_t)nb; /* number of ULSCH PDUs */
	p[7] = 0;           /* number of ULCCH PDUs */
	p[8] = 0;           /* UE groups */
	for (unsigned i = 0; i < nb; i++)
		pusch_put(p + FAPI_UL_TTI_LEN(i), &g[i]);
	return (int)FAPI_UL_TTI_LEN(nb);
}

size_t
fapi_dl_tti_len(const struct fapi_grant *g, unsigned nb)
{
	return FAPI_DL_TTI_LEN(nb) + fapi_pdcch_len(g, nb);
}

int
fapi_dl_tti_encode(uint8_t *p, size_t room, struct fapi_slot at, const struct fapi_grant *g,
		   unsigned nb)
{
	const size_t dcis = fapi_pdcch_len(g, nb);
	int pdcchs;

	if (nb > FAPI_TTI_PDUS_MAX)
		return -CODEC_UNSUPPORTED;
	if (room < FAPI_DL_TTI_LEN(nb) + dcis)
		return -CODEC_SHORT;
	pdcchs = fapi_pdcch_put(p + DL_TTI_HEAD, g, nb);
	if (pdcchs < 0)
		return pdcchs;
	fapi_slot_put(p, at);
	p[4] = (uint8_t)(nb + (unsigned)pdcchs);
	p[5] = 0; /* UE groups */
	for (unsigned i = 0; i < nb; i++)
		pdsch_put(p + dcis + FAPI_DL_TTI_LEN(i), &g[i]);
	return (int)(FAPI_DL_TTI_LEN(nb) + dcis);
}

/** DCIs are of the PDSCHs with their RNTI and BWP, in their order. */
static void
dcis_apply(const struct fapi_dci *d, unsigned dcis, struct fapi_grant *g, unsigned nb)
{
	for (unsigned i = 0; i < dcis; i++)
		for (unsigned k = 0; k < nb; k++) {
			if (g[k].rnti != d[i].rnti || g[k].bwp_size != d[i].bwp_size || g[k].k1)
				continue;
			g[k].harq_process = d[i].harq_process;
			g[k].new_data = d[i].new_data;
			g[k].k1 = d[i].k1;
			break;
		}
}

/** Reads the PDU list of a UL_TTI.request or DL_TTI.request whose fixed part ends at `at`. */
static int
pdus_get(const uint8_t *p, size_t len, size_t at, unsigned pdus, bool uplink, struct fapi_grant *g,
	 unsigned *nb)
{
	struct fapi_dci dci[FAPI_TTI_PDUS_MAX];
	unsigned room = *nb, dcis = 0;

	*nb = 0;
	for (unsigned i = 0; i < pdus; i++) {
		struct fapi_grant one;
		size_t size;
		int ret = 0;

		if (len - at < PDU_HEAD)
			return -CODEC_SHORT;
		size = be16_get(p + at + 2);
		if (size < PDU_HEAD)
			return -CODEC_CONTRADICTION;
		if (size > len - at)
			return -CODEC_SHORT;
		if (be16_get(p + at) == FAPI_PDU_PUSCH)
			ret = uplink ? pusch_get(p + at + PDU_HEAD, size - PDU_HEAD, &one)
				     : pdsch_get(p + at + PDU_HEAD, size - PDU_HEAD, &one);
		else if (!uplink && be16_get(p + at) == FAPI_PDU_PDCCH)
			ret = fapi_pdcch_get(p + at + PDU_HEAD, size - PDU_HEAD, dci, &dcis,
					     FAPI_TTI_PDUS_MAX);
		if (ret < 0)
			return ret;
		if (ret > 0) {
			if (*nb == room)
				return -CODEC_UNSUPPORTED;
			g[(*nb)++] = one;
		}
		at += size;
	}
	dcis_apply(dci, dcis, g, *nb);
	return (int)at;
}

int
fapi_ul_tti_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_grant *g,
		   unsigned *nb)
{
	if (len < UL_TTI_HEAD)
		return -CODEC_SHORT;
	if (fapi_slot_decode(p, len, at) < 0)
		return -CODEC_RESERVED;
	return pdus_get(p, len, UL_TTI_HEAD, p[4], true, g, nb);
}

int
fapi_dl_tti_decode(const uint8_t *p, size_t len, struct fapi_slot *at, struct fapi_grant *g,
		   unsigned *nb)
{
	if (len < DL_TTI_HEAD)
		return -CODEC_SHORT;
	if (fapi_slot_decode(p, len, at) < 0)
		return -CODEC_RESERVED;
	return pdus_get(p, len, DL_TTI_HEAD, p[4], false, g, nb);
}
