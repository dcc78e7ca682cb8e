/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "modules/pdcp/pdcp_tx.h"
#include "test_eal.h"

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})

static struct rte_mempool *pool;
static struct rte_mempool *hdr;

static struct pdcp_tx_cfg
config(uint8_t sn_size)
{
	return (struct pdcp_tx_cfg){.pdcp_SN_Size = sn_size, .rb_identity = 1, .hdr = hdr};
}

static void
make(struct rte_mbuf **sdus, unsigned nb)
{
	for (unsigned i = 0; i < nb; i++) {
		sdus[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(sdus[i]);
		memset(rte_pktmbuf_append(sdus[i], 20), 0x45, 20);
		*ap_meta(sdus[i]) = (struct ap_meta){.bearer = 3, .qfi = 1};
	}
}

static void
expect_front(struct rte_mbuf *m, const uint8_t *bytes, uint32_t len)
{
	uint8_t buf[8];

	assert_memory_equal(rte_pktmbuf_read(m, 0, len, buf), bytes, len);
}

static void
headers_count_up(void **state)
{
	struct pdcp_tx_cfg cfg = config(12);
	struct rte_mbuf *p[4];
	uint64_t drops[PDCP_TX_DROPS] = {0};
	struct pdcp_tx e;

	(void)state;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	e.TX_NEXT = 4094;
	e.submitted = UINT32_MAX;
	make(p, 4);
	assert_int_equal(pdcp_tx_pre_process(&e, p, 4, drops), 4);
	expect_front(p[0], BYTES(0x8f, 0xfe, 0x45), 3);
	expect_front(p[1], BYTES(0x8f, 0xff, 0x45), 3);
	expect_front(p[2], BYTES(0x80, 0x00, 0x45), 3);
	expect_front(p[3], BYTES(0x80, 0x01, 0x45), 3);
	assert_int_equal(p[3]->pkt_len, 22);
	assert_int_equal(e.TX_NEXT, 4098);
	assert_int_equal(e.submitted, 3);
	rte_pktmbuf_free_bulk(p, 4);

	cfg.pdcp_SN_Size = 18;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	e.TX_NEXT = 0x3ffff;
	make(p, 2);
	assert_int_equal(pdcp_tx_pre_process(&e, p, 2, drops), 2);
	expect_front(p[0], BYTES(0x83, 0xff, 0xff, 0x45), 4);
	expect_front(p[1], BYTES(0x80, 0x00, 0x00, 0x45), 4);
	rte_pktmbuf_free_bulk(p, 2);
	assert_pool_full(pool);
}

static void
shared_buffers_get_a_header_segment(void **state)
{
	struct pdcp_tx_cfg cfg = config(18);
	struct rte_mbuf *sdu, *p;
	uint64_t drops[PDCP_TX_DROPS] = {0};
	struct pdcp_tx e;

	(void)state;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	make(&sdu, 1);
	p = rte_pktmbuf_clone(sdu, pool);
	*ap_meta(p) = *ap_meta(sdu);
	assert_int_equal(pdcp_tx_pre_process(&e, &p, 1, drops), 1);
	assert_int_equal(p->nb_segs, 2);
	assert_int_equal(ap_meta(p)->bearer, 3);
	expect_front(p, BYTES(0x80, 0x00, 0x00, 0x45), 4);
	assert_int_equal(sdu->pkt_len, 20);
	rte_pktmbuf_free(p);
	rte_pktmbuf_free(sdu);
	assert_pool_full(pool);
	assert_pool_full(hdr);
}

static void
no_segment_no_sn(void **state)
{
	struct pdcp_tx_cfg cfg = config(12);
	struct rte_mbuf *p[3], *all[7];
	uint64_t drops[PDCP_TX_DROPS] = {0};
	struct pdcp_tx e;

	(void)state;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(hdr, all, 7), 0);
	make(p, 3);
	p[1]->data_off = 0;
	assert_int_equal(pdcp_tx_pre_process(&e, p, 3, drops), 2);
	assert_int_equal(drops[PDCP_TX_NO_MBUF], 1);
	assert_int_equal(e.TX_NEXT, 2);
	assert_int_equal(e.submitted, 2);
	expect_front(p[1], BYTES(0x80, 0x01), 2);
	rte_pktmbuf_free_bulk(p, 2);
	rte_pktmbuf_free_bulk(all, 7);
	assert_pool_full(pool);
	assert_pool_full(hdr);
}

static void
count_never_wraps(void **state)
{
	struct pdcp_tx_cfg cfg = config(12);
	struct rte_mbuf *p[4];
	uint64_t drops[PDCP_TX_DROPS] = {0};
	struct pdcp_tx e;

	(void)state;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	e.TX_NEXT = PDCP_COUNT_END - 3;
	make(p, 4);
	assert_int_equal(pdcp_tx_pre_process(&e, p, 4, drops), 3);
	assert_int_equal(drops[PDCP_TX_COUNT_END], 1);
	expect_front(p[2], BYTES(0x8f, 0xff), 2);
	rte_pktmbuf_free_bulk(p, 3);
	make(p, 4);
	assert_int_equal(pdcp_tx_pre_process(&e, p, 4, drops), 0);
	assert_int_equal(drops[PDCP_TX_COUNT_END], 5);
	assert_true(e.TX_NEXT == PDCP_COUNT_END);
	assert_pool_full(pool);
}

static void
srb_has_a_zero_mac_i(void **state)
{
	struct pdcp_tx_cfg cfg = config(12);
	struct rte_mbuf *p[2];
	uint64_t drops[PDCP_TX_DROPS] = {0};
	uint8_t buf[4];
	struct pdcp_tx e;

	(void)state;
	cfg.srb = true;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	make(p, 2);
	p[1]->buf_len = p[1]->data_off + p[1]->data_len; /* no tailroom */
	assert_int_equal(pdcp_tx_pre_process(&e, p, 2, drops), 2);
	expect_front(p[1], BYTES(0x00, 0x01, 0x45), 3);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(p[i]->pkt_len, 26);
		assert_int_equal(p[i]->nb_segs, 1 + i);
		assert_memory_equal(rte_pktmbuf_read(p[i], 22, 4, buf), BYTES(0, 0, 0, 0), 4);
	}
	p[1]->buf_len = p[0]->buf_len;
	rte_pktmbuf_free_bulk(p, 2);
	assert_pool_full(pool);
	assert_pool_full(hdr);
}

/* A stand-in for NEA/NIA: fails every third PDU and writes COUNT's low octet over the MAC-I. */
static void
mark(struct pdcp_secured *pdus, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++) {
		assert_int_equal(pdus[i].sec->bearer, 4);
		assert_int_equal(pdus[i].sec->direction, L2_DOWNLINK);
		assert_int_equal(pdus[i].sec->clear_len, 3);
		pdus[i].failed = pdus[i].count % 3 == 2;
		*rte_pktmbuf_mtod_offset(pdus[i].m, uint8_t *, pdus[i].m->pkt_len - 1) =
			(uint8_t)pdus[i].count;
	}
}

static void
security_is_a_batch(void **state)
{
	static const struct pdcp_crypto crypto = {.protect = mark};
	static struct pdcp_batch b;
	struct pdcp_tx_cfg cfg = config(12);
	struct rte_mbuf *p[6], *out[PDCP_CRYPTO_BATCH];
	uint64_t drops[PDCP_TX_DROPS] = {0};
	struct pdcp_tx e;

	(void)state;
	cfg.crypto = &crypto;
	cfg.integrityProtection = true;
	cfg.rb_identity = 5;
	cfg.sdap_hdr_len = 1;
	cfg.direction = L2_DOWNLINK;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	e.TX_NEXT = 30;
	make(p, 6);
	assert_int_equal(pdcp_tx_pre_process(&e, p, 6, drops), 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_false(pdcp_batch_full(&b, &e.sec));
		pdcp_batch_add(&b, p[i], &e, &e.sec, 30 + i);
	}
	assert_int_equal(pdcp_tx_protect(&b, out, drops), 4);
	assert_int_equal(b.nb, 0);
	assert_int_equal(drops[PDCP_TX_CRYPTO], 2);
	assert_int_equal(e.submitted, 4);
	assert_ptr_equal(out[2], p[3]);
	assert_int_equal(*rte_pktmbuf_mtod_offset(out[3], uint8_t *, out[3]->pkt_len - 1), 34);
	rte_pktmbuf_free_bulk(out, 4);
	assert_pool_full(pool);
}

static void
impossible_configurations(void **state)
{
	struct pdcp_tx_cfg cfg;
	struct pdcp_tx e;

	(void)state;
	cfg = config(7);
	assert_int_equal(pdcp_tx_init(&e, &cfg), -EINVAL);
	cfg = config(18);
	cfg.srb = true;
	assert_int_equal(pdcp_tx_init(&e, &cfg), -EINVAL);
	cfg = config(12);
	cfg.rb_identity = 0;
	assert_int_equal(pdcp_tx_init(&e, &cfg), -EINVAL);
	cfg = config(12);
	cfg.hdr = NULL;
	assert_int_equal(pdcp_tx_init(&e, &cfg), -EINVAL);
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pdcp", 255, 512);
	hdr = test_pool("hdr", 7, 64);
	return pool && hdr ? 0 : -1;
}

/** The threshold changes nothing but what control is told; the hard stop stays. */
static void
count_threshold_is_told(void **state)
{
	struct pdcp_tx_cfg cfg = {
		.pdcp_SN_Size = 18, .rb_identity = 1, .hdr = hdr, .count_notify = 1000};
	uint64_t lost[PDCP_TX_DROPS] = {0};
	struct rte_mbuf *p[4];
	struct pdcp_tx e;

	(void)state;
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	e.TX_NEXT = 996;
	for (unsigned round = 0; round < 2; round++) {
		assert_false(pdcp_tx_wants_keys(&e));
		assert_int_equal(rte_pktmbuf_alloc_bulk(pool, p, 4), 0);
		for (unsigned i = 0; i < 4; i++)
			rte_pktmbuf_append(p[i], 20);
		assert_int_equal(pdcp_tx_pre_process(&e, p, 4, lost), 4);
		rte_pktmbuf_free_bulk(p, 4);
	}
	assert_true(pdcp_tx_wants_keys(&e));
	assert_int_equal(e.TX_NEXT, 1004);
	e.TX_NEXT = PDCP_COUNT_END - 1;
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, p, 4), 0);
	for (unsigned i = 0; i < 4; i++)
		rte_pktmbuf_append(p[i], 20);
	assert_int_equal(pdcp_tx_pre_process(&e, p, 4, lost), 1);
	assert_int_equal(lost[PDCP_TX_COUNT_END], 3);
	rte_pktmbuf_free(p[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_count_up),
		cmocka_unit_test(shared_buffers_get_a_header_segment),
		cmocka_unit_test(no_segment_no_sn),
		cmocka_unit_test(count_never_wraps),
		cmocka_unit_test(count_threshold_is_told),
		cmocka_unit_test(srb_has_a_zero_mac_i),
		cmocka_unit_test(security_is_a_batch),
		cmocka_unit_test(impossible_configurations),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
