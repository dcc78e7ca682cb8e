/* SPDX-License-Identifier: BSD-3-Clause */
/* What the network learns of data that waits: from SRs, and from BSRs in TBs that pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy_sr.h"
#include "test_eal.h"

static struct rte_mempool *pool;
static struct phy_sr sr;
static uint8_t sequence;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() != 0)
		return -1;
	pool = test_pool("phy", 255, 2048);
	return pool ? 0 : -1;
}

static int
begin(void **state)
{
	(void)state;
	memset(&sr, 0, sizeof(sr));
	phy_sr_init(&sr, 1);
	return 0;
}

static void
request(uint16_t sfn, uint16_t slot)
{
	phy_sr_request(&sr, &(struct fapi_sr){.at = {sfn, slot}});
}

/** An SDU of 300 B, one of 5 B, PHR, `bsr`, padding. @return bytes. */
static uint32_t
pdu(uint8_t *p, const uint8_t *bsr, uint32_t bsr_bytes, uint32_t padding)
{
	uint32_t n = mac_subheader_put(p, 4, 300);

	memset(p + n, 0x3D, 300); /* would be a short BSR's subheader */
	n += 300;
	n += mac_subheader_put(p + n, 5, 5);
	memset(p + n, 0x3D, 5);
	n += 5;
	p[n++] = MAC_UL_SINGLE_ENTRY_PHR;
	p[n++] = 0x3D;
	p[n++] = 0x3D;
	memcpy(p + n, bsr, bsr_bytes);
	n += bsr_bytes;
	mac_padding_put(p + n, padding);
	if (padding > 2)
		p[n + 1] = MAC_UL_SHORT_BSR; /* octets of padding mean nothing */
	return n + padding;
}

struct cut {
	uint32_t frame;   /**< PDU bytes a frame */
	uint32_t segment; /**< of those in an mbuf */
	int lost;         /**< this frame does not come, -1 */
	bool again;
};

/** The PDU passes on a carrier in frames, each of mbufs. */
static void
pass(const uint8_t *p, uint32_t bytes, uint16_t sfn, uint16_t slot, uint16_t carrier, struct cut c)
{
	struct nfapi_p7 h = {
		.phy_id = carrier, .message_id = FAPI_TX_DATA_REQUEST, .sequence = sequence++};

	for (uint32_t at = 0; at < bytes; at += c.frame, h.segment++) {
		const uint32_t n = RTE_MIN(c.frame, bytes - at);
		const uint16_t hdr = at ? FAPI_HDR_LEN : FAPI_HDR_FIRST_LEN;
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint8_t *q = (uint8_t *)rte_pktmbuf_append(m, hdr);

		memset(q, 0, hdr);
		if (at == 0) {
			fapi_data_put(q + FAPI_HDR_LEN, &(struct fapi_data){{sfn, slot}, 1});
			fapi_tx_pdu_put(q + FAPI_HDR_LEN + FAPI_DATA_LEN,
					&(struct fapi_tx_pdu){.tb_bytes = bytes});
		}
		h.length = NFAPI_P7_LEN + hdr - FAPI_HDR_LEN + n;
		h.more = at + n < bytes;
		for (uint32_t k = 0; k < n; k += c.segment) {
			const uint16_t part = (uint16_t)RTE_MIN(c.segment, n - k);
			struct rte_mbuf *s = rte_pktmbuf_alloc(pool);

			memcpy(rte_pktmbuf_append(s, part), p + at + k, part);
			assert_int_equal(rte_pktmbuf_chain(m, s), 0);
		}
		rte_pktmbuf_append(m, 3); /* padding of the frame is not looked at */
		if (c.lost != (int)h.segment)
			phy_sr_frame(&sr, m, &h, c.again);
		rte_pktmbuf_free(m);
	}
}

static const uint8_t short_some[] = {MAC_UL_SHORT_BSR, 3 << 5 | 7};
static const uint8_t short_none[] = {MAC_UL_SHORT_BSR, 3 << 5};
static const uint8_t long_some[] = {MAC_UL_LONG_BSR, 3, 0x05, 0, 1};
static const uint8_t long_none[] = {MAC_UL_LONG_BSR, 1, 0x00};
static const uint8_t truncated[] = {MAC_UL_LONG_TRUNCATED_BSR, 1, 0x05};
static const struct cut whole = {2000, 1000, -1, false};

/** Whatever the cuts, the same is read. */
static void
every_format_at_every_cut(void **state)
{
	const struct {
		const uint8_t *bsr;
		uint32_t bytes;
		bool waiting;
	} formats[] = {{short_some, sizeof(short_some), true},
		       {short_none, sizeof(short_none), false},
		       {long_some, sizeof(long_some), true},
		       {long_none, sizeof(long_none), false},
		       {truncated, sizeof(truncated), true}};
	uint8_t p[400];
	uint16_t slot = 0;

	(void)state;
	for (unsigned f = 0; f < RTE_DIM(formats); f++)
		for (uint32_t cut = 5; cut < 330; cut += cut < 290 ? 57 : 1)
			for (uint32_t padding = 0; padding < 10; padding += 3) {
				uint32_t n = pdu(p, formats[f].bsr, formats[f].bytes, padding);
				uint64_t before = sr.bsrs;

				slot++;
				sr.waiting = !formats[f].waiting;
				pass(p, n, slot / 20, slot % 20, 0,
				     (struct cut){cut, 1 + cut / 3, -1, false});
				assert_int_equal(sr.bsrs, before + 1);
				assert_int_equal(phy_sr_waiting(&sr), formats[f].waiting);
			}
}

static void
requests_and_reports(void **state)
{
	uint8_t p[400];
	uint32_t n;

	(void)state;
	assert_false(phy_sr_waiting(&sr));
	request(0, 3);
	assert_true(phy_sr_waiting(&sr));
	assert_int_equal(sr.srs, 1);
	n = pdu(p, short_some, 0, 4); /* no BSR: no news */
	pass(p, n, 0, 4, 0, whole);
	assert_true(phy_sr_waiting(&sr));
	n = pdu(p, short_none, sizeof(short_none), 0);
	pass(p, n, 0, 5, 0, whole);
	assert_false(phy_sr_waiting(&sr));
}

/** TBs take longer than SRs, and one carrier longer than another. */
static void
late_news_are_old(void **state)
{
	uint8_t none[400], some[400];
	uint32_t n = pdu(none, short_none, sizeof(short_none), 0);

	(void)state;
	assert_int_equal(pdu(some, short_some, sizeof(short_some), 0), n);
	request(1023, 19);
	pass(none, n, 1023, 18, 7, whole);
	assert_true(phy_sr_waiting(&sr));
	pass(some, n, 0, 0, 1, whole); /* SFN wraps */
	pass(none, n, 0, 0, 0, whole);
	assert_true(phy_sr_waiting(&sr));
	pass(none, n, 0, 1, 0, (struct cut){2000, 1000, -1, true}); /* HARQ: older than it looks */
	assert_true(phy_sr_waiting(&sr));
	pass(none, n, 0, 1, 0, whole);
	assert_false(phy_sr_waiting(&sr));
}

/** SFNs count for 10.24 s; silence and data without BSRs may last longer. */
static void
time_passes(void **state)
{
	uint8_t none[400], data[400];
	uint32_t n = pdu(none, short_none, sizeof(short_none), 0);
	uint32_t nb_data = pdu(data, short_none, 0, 0);

	(void)state;
	for (uint16_t sfn = 0; sfn < 5000; sfn += 700) {
		request(sfn % 1024, 0);
		assert_true(phy_sr_waiting(&sr));
		pass(none, n, sfn % 1024, 1, 0, whole);
		assert_false(phy_sr_waiting(&sr));
	}
	request(0, 0);
	for (uint16_t sfn = 0; sfn < 700; sfn += 100)
		pass(data, nb_data, sfn, 1, 0, whole);
	assert_true(phy_sr_waiting(&sr));
	pass(none, n, 700, 1, 0, whole);
	assert_false(phy_sr_waiting(&sr));
}

/** What is missing leaves the rest unread, not misread. */
static void
lost_frames_and_broken_pdus(void **state)
{
	uint8_t p[400];
	uint32_t n = pdu(p, short_none, sizeof(short_none), 0);

	(void)state;
	request(0, 0);
	for (int lost = 0; lost < 4; lost++)
		pass(p, n, 0, 1, 0, (struct cut){100, 60, lost, false});
	assert_int_equal(sr.bsrs, 0);
	assert_true(phy_sr_waiting(&sr));
	p[0] = 40; /* reserved LCID */
	pass(p, n, 0, 1, 0, whole);
	assert_int_equal(sr.bsrs, 0);
	pdu(p, short_none, sizeof(short_none), 0);
	pass(p, n, 0, 2, 0, (struct cut){100, 60, -1, false});
	assert_int_equal(sr.bsrs, 1);
	assert_false(phy_sr_waiting(&sr));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_format_at_every_cut, begin),
		cmocka_unit_test_setup(requests_and_reports, begin),
		cmocka_unit_test_setup(late_news_are_old, begin),
		cmocka_unit_test_setup(time_passes, begin),
		cmocka_unit_test_setup(lost_frames_and_broken_pdus, begin),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
