/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/fapi.h"
#include "codec/fapi_dci.h"
#include "codec/fapi_uci.h"

static void
slot_golden(void **state)
{
	static const uint8_t golden[] = {0x03, 0xFF, 0x00, 0x9F};
	uint8_t p[4];
	struct fapi_slot s;

	(void)state;
	fapi_slot_put(p, (struct fapi_slot){.sfn = 1023, .slot = 159});
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(fapi_slot_decode(golden, 4, &s), 4);
	assert_int_equal(s.sfn, 1023);
	assert_int_equal(s.slot, 159);
	assert_int_equal(fapi_slot_decode(golden, 3, &s), -CODEC_SHORT);
	assert_int_equal(fapi_slot_decode((const uint8_t[]){4, 0, 0, 0}, 4, &s), -CODEC_RESERVED);
	assert_int_equal(fapi_slot_decode((const uint8_t[]){0, 0, 0, 160}, 4, &s), -CODEC_RESERVED);
}

static void
error_golden(void **state)
{
	static const uint8_t golden[] = {0x01, 0x02, 0x00, 0x13, 0x84, 0x08};
	const struct fapi_error e = {.at = {258, 19}, .message_id = 0x84, .code = 8};
	struct fapi_error back;
	uint8_t p[FAPI_ERROR_INDICATION_LEN];

	(void)state;
	fapi_error_put(p, &e);
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(fapi_error_decode(golden, sizeof(golden), &back), 6);
	assert_int_equal(back.at.sfn, 258);
	assert_int_equal(back.message_id, 0x84);
	assert_int_equal(back.code, 8);
	assert_int_equal(fapi_error_decode(golden, 5, &back), -CODEC_SHORT);
}

static const struct fapi_grant grant = {
	.rnti = 0x4601,
	.handle = 0x01020304,
	.bwp_size = 273,
	.bwp_start = 2,
	.subcarrier_spacing = 3,
	.rb_start = 1,
	.rb_size = 272,
	.nr_of_symbols = 14,
	.qam_mod_order = 8,
	.mcs_index = 27,
	.harq_process = 5,
	.new_data = true,
	.tb_bytes = 195000,
};

/* Table 3-44 (SFN 513, slot 17, one ULSCH PDU), 3-46 PUSCH, 3-47 puschData, 3-53 no beams. */
static const uint8_t ul_tti_golden[FAPI_UL_TTI_LEN(1)] = {
	0x02, 0x01, 0x00, 0x11, 1,    0,    1,    0,    0, /* SFN, slot, PDUs, RACH, ULSCH, ULCCH,
							      groups */
	0x00, 0x01, 0x00, 0x64,                            /* PUSCH PDU, 100 B */
	0x00, 0x01, 0x46, 0x01, 0x01, 0x02, 0x03, 0x04,    /* bitmap, RNTI, handle */
	0x01, 0x11, 0x00, 0x02, 3,    0,                   /* BWP size, start, SCS, CP */
	0,    0,    8,    27,   0,    1,    0,    0,    1, /* rate, Qm, MCS, table, precoding off,
							      scrambling, layers */
	0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, /* DMRS */
	1, /* resource allocation type 1, RB bitmap */
	0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,
	0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,
	0,    0,    0,    0,    0x00, 0x01, 0x01, 0x10, 0, 0, 0, 0, 0, /* RB start, size, VRB,
									  hopping, DC, shift */
	0,    14,                                                      /* first symbol, symbols */
	0,    5,    1,    0x00, 0x02, 0xF9, 0xB8, 0,    0, /* RV, HARQ, NDI, TB size 195000, CBs */
	0,    0,    0,    0,    0,                         /* PRGs, PRG size, beams */
};

/* Table 3-35, 3-38 PDSCH with one codeword, 3-43 no beams, power offsets. */
static const uint8_t dl_tti_golden[FAPI_DL_TTI_LEN(1)] = {
	0x02, 0x01, 0x00, 0x11, 1,    0,    /* SFN, slot, PDUs, groups */
	0x00, 0x01, 0x00, 0x5C,             /* PDSCH PDU, 92 B */
	0x00, 0x00, 0x46, 0x01, 0x03, 0x04, /* bitmap, RNTI, PDU index */
	0x01, 0x11, 0x00, 0x02, 3,    0,    /* BWP size, start, SCS, CP */
	1,    0,    0,    8,    27,   0,    0, 0x00, 0x02, 0xF9, 0xB8, /* codeword: rate, Qm, MCS,
									  table, RV, TB */
	0,    0,    1,    0,    0, /* scrambling, layers, scheme, reference point */
	0,    0,    0,    0,    0,    0,    0, 0,    0, /* DMRS */
	1,                                              /* resource allocation type 1, RB bitmap */
	0,    0,    0,    0,    0,    0,    0, 0,    0,    0,    0,    0,    0, 0,
	0,    0,    0,    0,    0,    0,    0, 0,    0,    0,    0,    0,    0, 0,
	0,    0,    0,    0,    0,    0,    0, 0,    0x00, 0x01, 0x01, 0x10, 0, /* RB start, size,
										   VRB */
	0,    14,                              /* first symbol, symbols */
	0,    0,    0,    0,    0,    0,    0, /* PRGs, PRG size, beams, power offsets */
};

static void
assert_grant(const struct fapi_grant *g, bool uplink)
{
	assert_int_equal(g->rnti, grant.rnti);
	assert_int_equal(g->handle, uplink ? grant.handle : grant.handle & 0xFFFF);
	assert_int_equal(g->bwp_size, grant.bwp_size);
	assert_int_equal(g->bwp_start, grant.bwp_start);
	assert_int_equal(g->subcarrier_spacing, grant.subcarrier_spacing);
	assert_int_equal(g->rb_start, grant.rb_start);
	assert_int_equal(g->rb_size, grant.rb_size);
	assert_int_equal(g->nr_of_symbols, grant.nr_of_symbols);
	assert_int_equal(g->qam_mod_order, grant.qam_mod_order);
	assert_int_equal(g->mcs_index, grant.mcs_index);
	assert_int_equal(g->tb_bytes, grant.tb_bytes);
	if (uplink) {
		assert_int_equal(g->harq_process, grant.harq_process);
		assert_true(g->new_data);
	}
}

static void
ul_tti_round_trip(void **state)
{
	const struct fapi_slot at = {513, 17};
	uint8_t p[FAPI_UL_TTI_LEN(2)];
	struct fapi_grant g[2];
	struct fapi_slot back;
	unsigned nb = 1;

	(void)state;
	assert_int_equal(fapi_ul_tti_encode(p, sizeof(p), at, &grant, 1), sizeof(ul_tti_golden));
	assert_memory_equal(p, ul_tti_golden, sizeof(ul_tti_golden));
	assert_int_equal(fapi_ul_tti_decode(ul_tti_golden, sizeof(ul_tti_golden), &back, g, &nb),
			 sizeof(ul_tti_golden));
	assert_int_equal(nb, 1);
	assert_int_equal(back.sfn, 513);
	assert_int_equal(back.slot, 17);
	assert_grant(&g[0], true);

	assert_int_equal(fapi_ul_tti_encode(p, sizeof(p) - 1, at,
					    (const struct fapi_grant[]){grant, grant}, 2),
			 -CODEC_SHORT);
	assert_int_equal(
		fapi_ul_tti_encode(p, sizeof(p), at, (const struct fapi_grant[]){grant, grant}, 2),
		sizeof(p));
	nb = 2;
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &back, g, &nb), sizeof(p));
	assert_int_equal(nb, 2);
	nb = 1;
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &back, g, &nb), -CODEC_UNSUPPORTED);
}

static void
dl_tti_round_trip(void **state)
{
	const struct fapi_slot at = {513, 17};
	uint8_t p[FAPI_DL_TTI_LEN(1)];
	struct fapi_grant g;
	struct fapi_slot back;
	unsigned nb = 1;

	(void)state;
	assert_int_equal(fapi_dl_tti_encode(p, sizeof(p), at, &grant, 1), sizeof(p));
	assert_memory_equal(p, dl_tti_golden, sizeof(dl_tti_golden));
	assert_int_equal(fapi_dl_tti_decode(p, sizeof(p), &back, &g, &nb), sizeof(p));
	assert_int_equal(nb, 1);
	assert_grant(&g, false);
	p[6 + 4 + 12] = 2; /* two codewords */
	nb = 1;
	assert_int_equal(fapi_dl_tti_decode(p, sizeof(p), &back, &g, &nb), -CODEC_UNSUPPORTED);
}

/*
 * Table 3-36, 3-37: one DCI of format 1_0, 44 bits. Of TS 38.212 §7.3.1.2.1: identifier 1, RIV 545
 * (all of 273 RBs) in 16 bits, time domain 0, no VRB mapping, MCS 27, NDI 1, RV 2, process 11, DAI
 * 0, TPC 1, PUCCH 0, K1 4 as 3: 1 0000001000100001 0000 0 11011 1 10 1011 00 01 000 011.
 */
static const uint8_t dci_golden[FAPI_PDCCH_LEN + FAPI_DCI_LEN_MAX] = {
	0x00, 0x00, 0x00, 0x32,                   /* PDCCH PDU, 50 B */
	0x01, 0x11, 0x00, 0x00, 1,    0,          /* BWP size, start, SCS, CP */
	0,    1,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, /* first symbol, symbols, RBs */
	0xF8, 0,    6,    0,    0,    0,    0, /* mapping, REGs, interleaver, CORESET type, shift */
	0,    0x00, 0x01,                      /* granularity, DCIs */
	0x46, 0x01, 0,    0,    0,    0,    0,    4, /* RNTI, scrambling, CCE, aggregation level */
	0,    0,    0,    0,    0,    0,    0,       /* PRGs, PRG size, beams, power offsets */
	0x00, 0x2C, 0x81, 0x10, 0x83, 0x7A, 0xC4, 0x30, /* bits, payload */
};

static void
dcis_go_before_their_pdschs(void **state)
{
	struct fapi_grant g[3] = {
		{.rnti = 0x4601,
		 .handle = 0,
		 .bwp_size = 273,
		 .rb_size = 273,
		 .mcs_index = 27,
		 .subcarrier_spacing = 1,
		 .harq_process = 11,
		 .new_data = true,
		 .rv_index = 2,
		 .k1 = 4,
		 .tb_bytes = 100},
		{.rnti = 0x4602, .handle = 1, .bwp_size = 273, .tb_bytes = 200},
		{.rnti = 0x4603,
		 .handle = 2,
		 .bwp_size = 24,
		 .rb_start = 3,
		 .rb_size = 20,
		 .harq_process = 15,
		 .k1 = 8,
		 .tb_bytes = 300},
	};
	uint8_t p[1000];
	struct fapi_grant back[3];
	struct fapi_slot at = {513, 17};
	unsigned nb = 3;
	int len;

	(void)state;
	len = fapi_dl_tti_encode(p, sizeof(p), at, g, 3);
	assert_int_equal(len, fapi_dl_tti_len(g, 3));
	assert_int_equal(len, FAPI_DL_TTI_LEN(3) + 2 * FAPI_PDCCH_LEN + 23 + 22);
	assert_int_equal(p[4], 5);
	assert_memory_equal(p + 6, dci_golden, sizeof(dci_golden));
	assert_int_equal(fapi_dl_tti_decode(p, (size_t)len, &at, back, &nb), len);
	assert_int_equal(nb, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(back[i].k1, g[i].k1);
		assert_int_equal(back[i].harq_process, g[i].harq_process);
		assert_int_equal(back[i].new_data, g[i].new_data);
		assert_int_equal(back[i].rv_index, g[i].rv_index);
		assert_int_equal(back[i].tb_bytes, g[i].tb_bytes);
	}
	for (int cut = 0; cut < len; cut++) {
		nb = 3;
		assert_true(fapi_dl_tti_decode(p, (size_t)cut, &at, back, &nb) < 0);
	}
	assert_int_equal(fapi_dl_tti_encode(p, (size_t)len - 1, at, g, 3), -CODEC_SHORT);
	p[6 + FAPI_PDCCH_LEN + 16] = 45; /* another format */
	nb = 3;
	assert_int_equal(fapi_dl_tti_decode(p, (size_t)len, &at, back, &nb), len);
	assert_int_equal(back[0].k1, 0);
	assert_int_equal(back[2].k1, 8);
	be16_put(p + 25 + 6, 2); /* announces a second DCI */
	nb = 3;
	assert_int_equal(fapi_dl_tti_decode(p, (size_t)len, &at, back, &nb), -CODEC_CONTRADICTION);
	g[0].harq_process = 16;
	assert_int_equal(fapi_dl_tti_encode(p, sizeof(p), at, g, 3), -CODEC_UNSUPPORTED);
	g[0].harq_process = 0;
	g[0].k1 = 9;
	assert_int_equal(fapi_dl_tti_encode(p, sizeof(p), at, g, 3), -CODEC_UNSUPPORTED);
	g[0].k1 = 1;
	g[0].bwp_size = 276;
	assert_int_equal(fapi_dl_tti_encode(p, sizeof(p), at, g, 3), -CODEC_UNSUPPORTED);
}

static void
bad_tti_lists(void **state)
{
	uint8_t p[sizeof(ul_tti_golden)];
	struct fapi_slot at;
	struct fapi_grant g;
	unsigned nb;

	(void)state;
	for (size_t len = 0; len < sizeof(ul_tti_golden); len++) {
		nb = 1;
		assert_int_equal(fapi_ul_tti_decode(ul_tti_golden, len, &at, &g, &nb),
				 -CODEC_SHORT);
	}
	for (size_t len = 0; len < sizeof(dl_tti_golden); len++) {
		nb = 1;
		assert_int_equal(fapi_dl_tti_decode(dl_tti_golden, len, &at, &g, &nb),
				 -CODEC_SHORT);
	}
	memcpy(p, ul_tti_golden, sizeof(p));
	be16_put(p + 11, 3); /* PDU size below its own header */
	nb = 1;
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &at, &g, &nb), -CODEC_CONTRADICTION);
	be16_put(p + 11, 50); /* PUSCH PDU cut short */
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &at, &g, &nb), -CODEC_CONTRADICTION);
	be16_put(p + 11, 101); /* beyond the message */
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &at, &g, &nb), -CODEC_SHORT);
	memcpy(p, ul_tti_golden, sizeof(p));
	p[10] = 2; /* PUCCH PDU: not ours, no grant */
	nb = 1;
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &at, &g, &nb), sizeof(p));
	assert_int_equal(nb, 0);
	p[10] = 1;
	p[14] = 2; /* PUSCH with UCI only */
	nb = 1;
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &at, &g, &nb), sizeof(p));
	assert_int_equal(nb, 0);
	p[0] = 4; /* SFN 1025 */
	assert_int_equal(fapi_ul_tti_decode(p, sizeof(p), &at, &g, &nb), -CODEC_RESERVED);
}

static void
tx_data_golden(void **state)
{
	static const uint8_t golden[] = {
		0x00, 0x07, 0x00, 0x02, 0x00, 0x01, /* SFN 7, slot 2, 1 PDU */
		0x00, 0x02, 0xF9, 0xC8, 0x00, 0x09, /* PDU length 195000 + 16, index 9 */
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0xF9, 0xB8, /* 1 TLV, tag 0 */
	};
	uint8_t p[sizeof(golden)];
	struct fapi_tx_pdu t;
	struct fapi_data d;

	(void)state;
	fapi_data_put(p, &(struct fapi_data){{7, 2}, 1});
	fapi_tx_pdu_put(p + FAPI_DATA_LEN, &(struct fapi_tx_pdu){.index = 9, .tb_bytes = 195000});
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(fapi_data_decode(golden, sizeof(golden), &d), FAPI_DATA_LEN);
	assert_int_equal(d.at.sfn, 7);
	assert_int_equal(d.pdus, 1);
	assert_int_equal(fapi_tx_pdu_decode(golden + 6, 16, &t), FAPI_DATA_PDU_LEN);
	assert_int_equal(t.tb_bytes, 195000);
	assert_int_equal(t.index, 9);
	assert_int_equal(fapi_tx_pdu_decode(golden + 6, 15, &t), -CODEC_SHORT);
	assert_int_equal(fapi_data_decode(golden, 5, &d), -CODEC_SHORT);
	p[9]++; /* PDU length */
	assert_int_equal(fapi_tx_pdu_decode(p + 6, 16, &t), -CODEC_CONTRADICTION);
	p[9]--;
	p[15] = 2; /* two TLVs */
	assert_int_equal(fapi_tx_pdu_decode(p + 6, 16, &t), -CODEC_UNSUPPORTED);
	p[15] = 1;
	p[17] = 1; /* a pointer means nothing on a wire */
	assert_int_equal(fapi_tx_pdu_decode(p + 6, 16, &t), -CODEC_UNSUPPORTED);
}

static void
rx_data_golden(void **state)
{
	static const uint8_t golden[] = {0x00, 0x00, 0x00, 0x05, 0x46, 0x01, 0x0F, 0x00,
					 0x02, 0xF9, 0xB8, 0xFF, 0x00, 0x1F, 0xFF, 0xFF};
	const struct fapi_rx_pdu r = {
		.handle = 5,
		.rnti = 0x4601,
		.harq_id = 15,
		.tb_bytes = 195000,
		.ul_cqi = FAPI_CQI_INVALID,
		.timing_advance = 31,
		.rssi = FAPI_RSSI_INVALID,
	};
	uint8_t p[FAPI_DATA_PDU_LEN];
	struct fapi_rx_pdu back;

	(void)state;
	fapi_rx_pdu_put(p, &r);
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(fapi_rx_pdu_decode(golden, sizeof(golden), &back), FAPI_DATA_PDU_LEN);
	assert_int_equal(back.handle, 5);
	assert_int_equal(back.rnti, 0x4601);
	assert_int_equal(back.harq_id, 15);
	assert_int_equal(back.tb_bytes, 195000);
	assert_int_equal(back.ul_cqi, 255);
	assert_int_equal(back.timing_advance, 31);
	assert_int_equal(back.rssi, 0xFFFF);
	assert_int_equal(fapi_rx_pdu_decode(golden, 15, &back), -CODEC_SHORT);
}

static void
sr_golden(void **state)
{
	static const uint8_t golden[] = {0x03, 0xFF, 0x00, 0x13, 0x46, 0x01};
	static const uint8_t late[] = {0x04, 0x00, 0x00, 0x13, 0x46, 0x01};
	const struct fapi_sr sr = {{1023, 19}, 0x4601};
	uint8_t p[FAPI_SR_REQUEST_LEN];
	struct fapi_sr back;

	(void)state;
	fapi_sr_put(p, &sr);
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(fapi_sr_decode(golden, sizeof(golden), &back), FAPI_SR_REQUEST_LEN);
	assert_int_equal(back.at.sfn, 1023);
	assert_int_equal(back.at.slot, 19);
	assert_int_equal(back.rnti, 0x4601);
	assert_int_equal(fapi_sr_decode(golden, 5, &back), -CODEC_SHORT);
	assert_int_equal(fapi_sr_decode(late, sizeof(late), &back), -CODEC_RESERVED);
}

static const struct fapi_crc crcs[] = {
	{0x01020304, 0x4601, 5, false, 168, 31, 900},
	{2, 0x4602, 15, true, FAPI_CQI_INVALID, FAPI_TIMING_ADVANCE_INVALID, FAPI_RSSI_INVALID},
};

/* Table 3-62: SFN 513, slot 17, two TBs; no code blocks. */
static const uint8_t crc_golden_bytes[] = {
	0x02, 0x01, 0x00, 0x11, 0x00, 0x02,              /* SFN, slot, CRCs */
	0x01, 0x02, 0x03, 0x04, 0x46, 0x01, 5,  0, 0, 0, /* handle, RNTI, HARQ, status, CBs */
	168,  0x00, 0x1F, 0x03, 0x84,                    /* SNR, timing advance, RSSI */
	0x00, 0x00, 0x00, 0x02, 0x46, 0x02, 15, 1, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

static void
assert_crc(const struct fapi_crc *a, const struct fapi_crc *b)
{
	assert_int_equal(a->handle, b->handle);
	assert_int_equal(a->rnti, b->rnti);
	assert_int_equal(a->harq_id, b->harq_id);
	assert_int_equal(a->failed, b->failed);
	assert_int_equal(a->ul_cqi, b->ul_cqi);
	assert_int_equal(a->timing_advance, b->timing_advance);
	assert_int_equal(a->rssi, b->rssi);
}

static void
crc_golden(void **state)
{
	const size_t len = sizeof(crc_golden_bytes);
	const struct fapi_slot at = {513, 17};
	uint8_t p[sizeof(crc_golden_bytes)];
	struct fapi_crc c[2];
	struct fapi_slot back;
	unsigned nb = 2;

	(void)state;
	assert_int_equal(fapi_crc_indication_encode(p, len, at, crcs, 2), len);
	assert_memory_equal(p, crc_golden_bytes, len);
	assert_int_equal(fapi_crc_indication_encode(p, len - 1, at, crcs, 2), -CODEC_SHORT);
	assert_int_equal(fapi_crc_indication_encode(p, len, at, crcs, FAPI_CRCS_MAX + 1),
			 -CODEC_UNSUPPORTED);
	assert_int_equal(fapi_crc_indication_decode(crc_golden_bytes, len, &back, c, &nb), len);
	assert_int_equal(nb, 2);
	assert_int_equal(back.sfn, 513);
	assert_int_equal(back.slot, 17);
	for (unsigned i = 0; i < 2; i++)
		assert_crc(&c[i], &crcs[i]);
	for (size_t cut = 0; cut < len; cut++) {
		nb = 2;
		assert_int_equal(fapi_crc_indication_decode(crc_golden_bytes, cut, &back, c, &nb),
				 -CODEC_SHORT);
	}
	nb = 1;
	assert_int_equal(fapi_crc_indication_decode(crc_golden_bytes, len, &back, c, &nb),
			 -CODEC_UNSUPPORTED);
	memcpy(p, crc_golden_bytes, len);
	p[6 + 7] = 2; /* neither pass nor fail */
	nb = 2;
	assert_int_equal(fapi_crc_indication_decode(p, len, &back, c, &nb), -CODEC_RESERVED);
}

/** The status of code blocks is passed over, whatever their number. */
static void
crc_with_code_blocks(void **state)
{
	const uint16_t cbs[] = {1, 8, 9, 1000, 65535};
	static uint8_t p[FAPI_CRC_INDICATION_LEN(1) + 8192];
	struct fapi_slot at;
	struct fapi_crc c;

	(void)state;
	for (unsigned i = 0; i < sizeof(cbs) / sizeof(cbs[0]); i++) {
		const size_t bytes = (cbs[i] + 7U) / 8, len = FAPI_CRC_INDICATION_LEN(1) + bytes;
		unsigned nb = 1;

		memset(p, 0xA5, sizeof(p));
		memcpy(p, crc_golden_bytes, 16);
		be16_put(p + 4, 1);
		be16_put(p + 14, cbs[i]);
		memcpy(p + 16 + bytes, crc_golden_bytes + 16, 5);
		assert_int_equal(fapi_crc_indication_decode(p, len, &at, &c, &nb), len);
		assert_crc(&c, &crcs[0]);
		nb = 1;
		assert_int_equal(fapi_crc_indication_decode(p, len - 1, &at, &c, &nb),
				 -CODEC_SHORT);
	}
}

/* Table 3-63: SFN 513, slot 17; table 3-66, CSI part 1 of table 3-71 alone: CQI 11. */
static const uint8_t uci_golden_bytes[] = {
	0x02, 0x01, 0x00, 0x11, 0x00, 0x02,          /* SFN, slot, UCIs */
	0x00, 0x02, 0x00, 0x15,                      /* PUCCH of format 2, 3 or 4, 21 B */
	0x04, 0x01, 0x02, 0x03, 0x04, 0x46, 0x01, 0, /* bitmap, handle, RNTI, format 2 */
	0xFF, 0xFF, 0xFF, 0xFF, 0xFF,                /* SNR, timing advance, RSSI: invalid */
	0,    0x00, 0x04, 0x0B,                      /* CRC passed, 4 bits */
	0x00, 0x02, 0x00, 0x15, 0x04, 0,    0,    0,    0,    0x46, 0x02,
	0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0,    0x00, 0x04, 0,
};

static void
uci_golden(void **state)
{
	const struct fapi_cqi cqis[] = {{0x01020304, 0x4601, 11}, {0, 0x4602, 0}};
	const size_t len = sizeof(uci_golden_bytes);
	uint8_t p[sizeof(uci_golden_bytes)];
	struct fapi_slot at = {513, 17};
	struct fapi_cqi c[2];
	unsigned nb = 2;

	(void)state;
	assert_int_equal(fapi_uci_indication_encode(p, len, at, cqis, 2), len);
	assert_memory_equal(p, uci_golden_bytes, len);
	assert_int_equal(fapi_uci_indication_encode(p, len - 1, at, cqis, 2), -CODEC_SHORT);
	assert_int_equal(fapi_uci_indication_encode(p, len, at, cqis, FAPI_UCIS_MAX + 1),
			 -CODEC_UNSUPPORTED);
	assert_int_equal(fapi_uci_indication_decode(uci_golden_bytes, len, &at, c, &nb), len);
	assert_int_equal(nb, 2);
	assert_int_equal(at.sfn, 513);
	assert_int_equal(c[0].handle, 0x01020304);
	assert_int_equal(c[0].rnti, 0x4601);
	assert_int_equal(c[0].cqi, 11);
	assert_int_equal(c[1].cqi, 0);
	for (size_t cut = 0; cut < len; cut++) {
		nb = 2;
		assert_int_equal(fapi_uci_indication_decode(uci_golden_bytes, cut, &at, c, &nb),
				 -CODEC_SHORT);
	}
	nb = 1;
	assert_int_equal(fapi_uci_indication_decode(uci_golden_bytes, len, &at, c, &nb),
			 -CODEC_UNSUPPORTED);
	memcpy(p, uci_golden_bytes, len);
	p[6 + 1] = 1;   /* PUCCH of format 0 or 1: passed over */
	p[27 + 17] = 1; /* CSI that did not decode */
	nb = 2;
	assert_int_equal(fapi_uci_indication_decode(p, len, &at, c, &nb), len);
	assert_int_equal(nb, 0);
	p[6 + 3] = 3; /* size below its own header */
	assert_int_equal(fapi_uci_indication_decode(p, len, &at, c, &nb), -CODEC_CONTRADICTION);
	memcpy(p, uci_golden_bytes, len);
	p[6 + 3] = 20; /* the payload is not in the PDU */
	nb = 2;
	assert_int_equal(fapi_uci_indication_decode(p, len, &at, c, &nb), -CODEC_CONTRADICTION);
}

/** SR and HARQ before the CSI are passed over. */
static void
uci_with_other_parts(void **state)
{
	uint8_t p[6 + FAPI_UCI_LEN + 3 + 5];
	struct fapi_slot at;
	struct fapi_cqi c;
	unsigned nb = 1;

	(void)state;
	memset(p, 0xFF, sizeof(p));
	memcpy(p, uci_golden_bytes, 6 + 17);
	be16_put(p + 4, 1);
	be16_put(p + 8, sizeof(p) - 6);
	p[10] = 7;
	be16_put(p + 23, 1); /* SR: 1 bit */
	be16_put(p + 27, 9); /* HARQ: 9 bits */
	memcpy(p + 31, uci_golden_bytes + 23, 4);
	assert_int_equal(fapi_uci_indication_decode(p, sizeof(p), &at, &c, &nb), sizeof(p));
	assert_int_equal(nb, 1);
	assert_int_equal(c.cqi, 11);
	be16_put(p + 27, 30); /* HARQ bits to the end: no room for the CSI */
	nb = 1;
	assert_int_equal(fapi_uci_indication_decode(p, sizeof(p), &at, &c, &nb),
			 -CODEC_CONTRADICTION);
}

/* Table 3-65 with HARQ of table 3-68 alone: format 0, one bit. */
static const uint8_t uci_harq_golden[] = {
	0x02, 0x01, 0x00, 0x11, 0x00, 0x02,          /* SFN, slot, UCIs */
	0x00, 0x01, 0x00, 0x14,                      /* PUCCH of format 0 or 1, 20 B */
	0x02, 0x01, 0x02, 0x03, 0x04, 0x46, 0x01, 0, /* bitmap, handle, RNTI, format 0 */
	0xFF, 0xFF, 0xFF, 0xFF, 0xFF,                /* SNR, timing advance, RSSI: invalid */
	0xFF, 1,    0,                               /* confidence: not told, 1 bit: ACK */
	0x00, 0x01, 0x00, 0x14, 0x02, 0,    0,    0,    0, 0x46,
	0x02, 0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2,
};

static void
uci_harq_round_trip(void **state)
{
	const struct fapi_harq h[] = {{0x01020304, 0x4601, FAPI_HARQ_ACK},
				      {0, 0x4602, FAPI_HARQ_DTX}};
	const size_t len = sizeof(uci_harq_golden);
	uint8_t p[sizeof(uci_harq_golden)];
	struct fapi_slot at = {513, 17};
	struct fapi_harq back[2];
	struct fapi_cqi c;
	unsigned nb = 2;

	(void)state;
	assert_int_equal(fapi_uci_harq_encode(p, len, at, h, 2), len);
	assert_memory_equal(p, uci_harq_golden, len);
	assert_int_equal(fapi_uci_harq_encode(p, len - 1, at, h, 2), -CODEC_SHORT);
	assert_int_equal(fapi_uci_harq_encode(p, len, at, h, FAPI_UCIS_MAX + 1),
			 -CODEC_UNSUPPORTED);
	assert_int_equal(fapi_uci_harq_decode(p, len, &at, back, &nb), len);
	assert_int_equal(nb, 2);
	assert_memory_equal(back, h, sizeof(h));
	nb = 1;
	assert_int_equal(fapi_uci_indication_decode(p, len, &at, &c, &nb), len);
	assert_int_equal(nb, 0); /* no CQI in there */
	for (size_t cut = 0; cut < len; cut++) {
		nb = 2;
		assert_int_equal(fapi_uci_harq_decode(p, cut, &at, back, &nb), -CODEC_SHORT);
	}
	nb = 1;
	assert_int_equal(fapi_uci_harq_decode(p, len, &at, back, &nb), -CODEC_UNSUPPORTED);
	p[25] = 3;
	nb = 2;
	assert_int_equal(fapi_uci_harq_decode(p, len, &at, back, &nb), -CODEC_RESERVED);
	p[24] = 0; /* no bits */
	assert_int_equal(fapi_uci_harq_decode(p, len, &at, back, &nb), -CODEC_CONTRADICTION);
	p[24] = 2; /* more than the PDU has */
	assert_int_equal(fapi_uci_harq_decode(p, len, &at, back, &nb), -CODEC_CONTRADICTION);
	p[10] = 1; /* an SR alone, without its octets: nobody looks */
	nb = 2;
	assert_int_equal(fapi_uci_harq_decode(p, len, &at, back, &nb), len);
	assert_int_equal(nb, 1);
}

/** On PUCCH of format 2 to 4 and on PUSCH, table 3-70: behind an SR, before CSI. */
static void
harq_in_other_pdus(void **state)
{
	static const uint8_t pucch[] = {
		0,    1,    0,    2,    0,    1,                         /* SFN, slot, UCIs */
		0x00, 0x02, 0,    28,   7,    0, 0, 0, 9, 0x46, 0x01, 0, /* SR, HARQ, CSI */
		0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1, 1,                   /* SR: 1 bit */
		0,    0,    2,    0x02, /* passed, 2 bits: NACK, ACK */
		0,    0,    4,    11,
	};
	static const uint8_t pusch[] = {
		0,    1,    0,    2,    0,    1, 0x00, 0x00, 0,
		20,   2,    0,    0,    0,    9, 0x46, 0x01,       /* HARQ, handle, RNTI */
		0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0,    1,    0x01, /* ACK */
	};
	uint8_t p[sizeof(pucch)];
	struct fapi_slot at;
	struct fapi_harq h;
	struct fapi_cqi c;
	unsigned nb = 1;

	(void)state;
	assert_int_equal(fapi_uci_harq_decode(pucch, sizeof(pucch), &at, &h, &nb), sizeof(pucch));
	assert_int_equal(nb, 1);
	assert_int_equal(h.handle, 9);
	assert_int_equal(h.rnti, 0x4601);
	assert_int_equal(h.value, FAPI_HARQ_NACK);
	assert_int_equal(fapi_uci_indication_decode(pucch, sizeof(pucch), &at, &c, &nb),
			 sizeof(pucch));
	assert_int_equal(c.cqi, 11);
	memcpy(p, pucch, sizeof(p));
	p[26] = 1; /* did not decode */
	assert_int_equal(fapi_uci_harq_decode(p, sizeof(p), &at, &h, &nb), sizeof(p));
	assert_int_equal(h.value, FAPI_HARQ_DTX);
	be16_put(p + 27, 80); /* bits beyond the PDU */
	assert_int_equal(fapi_uci_harq_decode(p, sizeof(p), &at, &h, &nb), -CODEC_CONTRADICTION);
	nb = 1;
	assert_int_equal(fapi_uci_harq_decode(pusch, sizeof(pusch), &at, &h, &nb), sizeof(pusch));
	assert_int_equal(nb, 1);
	assert_int_equal(h.rnti, 0x4601);
	assert_int_equal(h.value, FAPI_HARQ_ACK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sr_golden),
		cmocka_unit_test(slot_golden),
		cmocka_unit_test(error_golden),
		cmocka_unit_test(ul_tti_round_trip),
		cmocka_unit_test(dl_tti_round_trip),
		cmocka_unit_test(bad_tti_lists),
		cmocka_unit_test(tx_data_golden),
		cmocka_unit_test(rx_data_golden),
		cmocka_unit_test(dcis_go_before_their_pdschs),
		cmocka_unit_test(uci_harq_round_trip),
		cmocka_unit_test(harq_in_other_pdus),
		cmocka_unit_test(uci_golden),
		cmocka_unit_test(uci_with_other_parts),
		cmocka_unit_test(crc_golden),
		cmocka_unit_test(crc_with_code_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
