/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/fapi/fapi_tx.h"
#include "test_eal.h"

static struct rte_mempool *phy, *hdr, *ind;

static struct fapi_tx_cfg cfg = {
	.carrier = 1,
	.src = {0x02, 0, 0, 0, 0, 0x01},
	.dst = {0x02, 0, 0, 0, 0, 0x02},
};

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() != 0)
		return -1;
	phy = test_pool("phy", 511, 9000);
	hdr = test_pool("hdr", 63, 128);
	ind = rte_pktmbuf_pool_create("ind", 63, 0, 0, 0, 0);
	cfg.hdr = hdr;
	return phy && hdr && ind ? 0 : -1;
}

static struct rte_mbuf *
fragment(uint8_t flags, uint16_t bytes, uint32_t tb_bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(phy);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, bytes), 0xA5, bytes);
	*ap_meta(m) = (struct ap_meta){.flags = flags, .carrier = 1};
	*ap_ext(m) = (struct ap_ext){.tb_bytes = tb_bytes, .sfn = 0x102, .slot = 9};
	return m;
}

static void
assert_all_back(void)
{
	assert_pool_full(phy);
	assert_pool_full(hdr);
	assert_pool_full(ind);
}

/* Ethernet, P7 (PHY 1, TX_Data.request), Tables 3-58: what stands before 100 B of a 250 B TB. */
static const uint8_t first_golden[FAPI_HDR_FIRST_LEN] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01,
	0x88, 0xB5, 0x00, 0x01, 0x00, 0x84, 0x00, 0x00, 0x00, 0x8C, /* length 140 */
	0x80, 0x00,                                                 /* M, segment 0, sequence 0 */
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64,             /* checksum, 100 us */
	0x01, 0x02, 0x00, 0x09, 0x00, 0x01,                         /* SFN, slot, 1 PDU */
	0x00, 0x00, 0x01, 0x0A, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, /* 266 B, 1 TLV */
	0x00, 0x00, 0x00, 0xFA,                                                 /* 250 B */
};
static const uint8_t last_golden[FAPI_HDR_LEN] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00,
	0x01, 0x88, 0xB5, 0x00, 0x01, 0x00, 0x84, 0x00, 0x00, 0x00, 0xA8, /* length 168 */
	0x01, 0x00, /* no M, segment 1, sequence 0 */
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64,
};

static void
frames_golden(void **state)
{
	uint64_t drops[FAPI_TX_DROPS] = {0};
	struct rte_mbuf *f[2];
	struct fapi_tx tx;

	(void)state;
	assert_int_equal(fapi_tx_init(&tx, &cfg), 0);
	f[0] = fragment(AP_M_FRAG_FIRST, 100, 250);
	f[1] = fragment(AP_M_FRAG_LAST, 150, 250);
	/* one SFN period and 100 us */
	assert_int_equal(fapi_tx_burst(&tx, f, 2, 10240100000ULL, drops), 2);
	assert_int_equal(f[0]->pkt_len, FAPI_HDR_FIRST_LEN + 100);
	assert_int_equal(f[1]->pkt_len, FAPI_HDR_LEN + 150);
	assert_memory_equal(rte_pktmbuf_mtod(f[0], void *), first_golden, sizeof(first_golden));
	assert_memory_equal(rte_pktmbuf_mtod(f[1], void *), last_golden, sizeof(last_golden));
	assert_int_equal(*rte_pktmbuf_mtod_offset(f[1], uint8_t *, FAPI_HDR_LEN), 0xA5);
	assert_int_equal(tx.tbs, 1);
	rte_pktmbuf_free_bulk(f, 2);
	assert_all_back();
}

static void
shared_buffer_is_not_written(void **state)
{
	uint64_t drops[FAPI_TX_DROPS] = {0};
	struct rte_mbuf *whole = fragment(0, 300, 0), *f[1];
	struct fapi_tx tx;
	uint8_t before[RTE_PKTMBUF_HEADROOM];

	(void)state;
	assert_int_equal(fapi_tx_init(&tx, &cfg), 0);
	memset(whole->buf_addr, 0x77, RTE_PKTMBUF_HEADROOM);
	memcpy(before, whole->buf_addr, sizeof(before));
	f[0] = rte_pktmbuf_alloc(ind);
	rte_pktmbuf_attach(f[0], whole);
	*ap_meta(f[0]) = (struct ap_meta){.flags = AP_M_FRAG_FIRST | AP_M_FRAG_LAST | AP_M_TIMED,
					  .carrier = 1};
	*ap_ext(f[0]) = (struct ap_ext){.enter_ns = 42, .tb_bytes = 300, .sfn = 0x102, .slot = 9};
	assert_int_equal(fapi_tx_burst(&tx, f, 1, 100000, drops), 1);
	assert_ptr_equal(f[0]->pool, hdr);
	assert_int_equal(f[0]->nb_segs, 2);
	assert_int_equal(f[0]->pkt_len, FAPI_HDR_FIRST_LEN + 300);
	assert_int_equal(f[0]->data_len, FAPI_HDR_FIRST_LEN);
	assert_memory_equal(whole->buf_addr, before, sizeof(before));
	assert_int_equal(ap_ext(f[0])->enter_ns, 42);
	assert_int_equal(ap_meta(f[0])->carrier, 1);
	rte_pktmbuf_free(f[0]);
	rte_pktmbuf_free(whole);
	assert_all_back();
}

static void
drops_are_named(void **state)
{
	uint64_t drops[FAPI_TX_DROPS] = {0};
	struct rte_mbuf *f[NFAPI_SEGMENTS_MAX + 2], *taken[64];
	struct fapi_tx_cfg c = cfg;
	struct fapi_tx tx;
	uint16_t n;

	(void)state;
	c.frame_bytes = 1000;
	assert_int_equal(fapi_tx_init(&tx, &c), 0);
	f[0] = fragment(AP_M_FRAG_LAST, 10, 10);
	assert_int_equal(fapi_tx_burst(&tx, f, 1, 0, drops), 0);
	assert_int_equal(drops[FAPI_TX_NO_FIRST], 1);

	f[0] = fragment(AP_M_FRAG_FIRST, 947, 2000);
	f[1] = fragment(AP_M_FRAG_LAST, 968, 2000);
	assert_int_equal(fapi_tx_burst(&tx, f, 2, 0, drops), 1);
	assert_int_equal(drops[FAPI_TX_TOO_LONG], 1);
	/* the gap stays visible */
	assert_int_equal(*rte_pktmbuf_mtod_offset(f[0], uint8_t *, NFAPI_ETHER_LEN + 8), 1);
	rte_pktmbuf_free(f[0]);

	for (unsigned i = 0; i < RTE_DIM(f); i++)
		f[i] = fragment(i == 0 ? AP_M_FRAG_FIRST : 0, 10, 1300);
	n = fapi_tx_burst(&tx, f, RTE_DIM(f), 0, drops);
	assert_int_equal(n, NFAPI_SEGMENTS_MAX);
	assert_int_equal(drops[FAPI_TX_TOO_MANY_SEGMENTS], 2);
	rte_pktmbuf_free_bulk(f, n);

	assert_int_equal(rte_mempool_get_bulk(hdr, (void **)taken, 63), 0);
	f[0] = fragment(AP_M_FRAG_FIRST | AP_M_FRAG_LAST, 10, 10);
	rte_mbuf_refcnt_update(f[0], 1);
	taken[63] = f[0];
	assert_int_equal(fapi_tx_burst(&tx, f, 1, 0, drops), 0);
	assert_int_equal(drops[FAPI_TX_NO_HDR_MBUF], 1);
	rte_mempool_put_bulk(hdr, (void **)taken, 63);
	rte_pktmbuf_free(taken[63]);
	assert_all_back();
}

static void
sequence_and_checksum(void **state)
{
	uint64_t drops[FAPI_TX_DROPS] = {0};
	struct fapi_tx_cfg c = cfg;
	struct fapi_tx tx;

	(void)state;
	c.checksum = true;
	assert_int_equal(fapi_tx_init(&tx, &c), 0);
	for (unsigned i = 0; i < 300; i++) {
		struct rte_mbuf *m = fragment(AP_M_FRAG_FIRST | AP_M_FRAG_LAST, 64, 64);
		const uint8_t *p;
		uint32_t crc;

		assert_int_equal(fapi_tx_burst(&tx, &m, 1, i, drops), 1);
		p = rte_pktmbuf_mtod_offset(m, const uint8_t *, NFAPI_ETHER_LEN);
		assert_int_equal(p[9], i & 0xFF);
		crc = nfapi_p7_crc32c(p);
		crc = nfapi_crc32c(crc, p + NFAPI_P7_LEN, m->pkt_len - FAPI_HDR_LEN);
		assert_int_equal(be32_get(p + 10), nfapi_checksum(crc));
		rte_pktmbuf_free(m);
	}
	assert_all_back();
}

static void
sizes(void **state)
{
	struct fapi_tx_cfg c = cfg;
	struct fapi_tx tx;

	(void)state;
	assert_int_equal(fapi_frag_payload(9000), 8946);
	assert_int_equal(fapi_frag_payload(54), 0);
	assert_int_equal(fapi_tb_max(9000), 1145088);
	c.frame_bytes = 54;
	assert_int_equal(fapi_tx_init(&tx, &c), -EINVAL);
	c.frame_bytes = 65536;
	assert_int_equal(fapi_tx_init(&tx, &c), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_golden),   cmocka_unit_test(shared_buffer_is_not_written),
		cmocka_unit_test(drops_are_named), cmocka_unit_test(sequence_and_checksum),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
