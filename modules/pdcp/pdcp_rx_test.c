/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"
#include "test_eal.h"

#define MS AP_NS_PER_MS
#define OUT_MAX 8192

static struct rte_mempool *pool;
static uint64_t drops[PDCP_RX_DROPS];
static uint64_t used;
static uint32_t out[OUT_MAX]; /* what the SDUs delivered since expect() carry */
static unsigned nb_out;

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	(void)arg;
	for (uint16_t i = 0; i < nb; i++) {
		assert_int_equal(sdus[i]->pkt_len, sizeof(uint32_t));
		rte_memcpy(&out[nb_out++], rte_pktmbuf_mtod(sdus[i], void *), sizeof(uint32_t));
		rte_pktmbuf_free(sdus[i]);
	}
}

static const struct pdcp_rx_sink sink = {.deliver = deliver, .drops = drops, .used = &used};

static struct pdcp_rx_cfg
config(uint8_t sn_size, uint32_t t_Reordering)
{
	return (struct pdcp_rx_cfg){
		.pdcp_SN_Size = sn_size, .t_Reordering = t_Reordering, .rb_identity = 1};
}

static void
start(struct pdcp_rx *e, const struct pdcp_rx_cfg *cfg, uint64_t count)
{
	memset(drops, 0, sizeof(drops));
	nb_out = 0;
	used = 0;
	assert_int_equal(pdcp_rx_init(e, cfg), 0);
	e->RX_NEXT = e->RX_DELIV = count;
}

/** A Data PDU whose SDU is its COUNT. */
static struct rte_mbuf *
pdu(const struct pdcp_rx *e, uint32_t count)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	pdcp_hdr_put(e->format, (uint8_t *)rte_pktmbuf_append(m, pdcp_hdr_len(e->format)), count);
	memcpy(rte_pktmbuf_append(m, sizeof(count)), &count, sizeof(count));
	*ap_meta(m) = (struct ap_meta){0};
	return m;
}

static void
receive(struct pdcp_rx *e, uint64_t now, uint64_t count)
{
	struct rte_mbuf *m = pdu(e, (uint32_t)count);

	pdcp_rx_receive(e, &m, 1, now, &sink);
}

/** The SDUs delivered since last asked are `nb` with the COUNTs given. */
static void
expect(unsigned nb, ...)
{
	va_list ap;

	assert_int_equal(nb_out, nb);
	va_start(ap, nb);
	for (unsigned i = 0; i < nb; i++)
		assert_int_equal(out[i], va_arg(ap, uint32_t));
	va_end(ap);
	nb_out = 0;
}

static void
stop(struct pdcp_rx *e)
{
	pdcp_rx_fini(e);
	assert_pool_full(pool);
}

static void
whole_vectors_in_order(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct rte_mbuf *p[64];
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 4096 - 32);
	for (uint32_t i = 0; i < 64; i++)
		p[i] = pdu(&e, 4096 - 32 + i);
	assert_int_equal(pdcp_rx_in_order(&e, p, 64), 64);
	assert_int_equal(e.RX_DELIV, 4096 + 32);
	assert_int_equal(e.RX_NEXT, 4096 + 32);
	deliver(NULL, p, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(out[i], 4096 - 32 + i);

	for (uint32_t i = 0; i < 4; i++)
		p[i] = pdu(&e, 4128 + i + (i > 1));
	assert_int_equal(pdcp_rx_in_order(&e, p, 4), 2);
	nb_out = 0;
	deliver(NULL, p, 2);
	expect(2, 4128, 4129);
	pdcp_rx_receive(&e, p + 2, 2, 0, &sink);
	expect(0);
	assert_int_equal(e.held, 2);
	p[0] = pdu(&e, 4133);
	assert_int_equal(pdcp_rx_in_order(&e, p, 1), 0);
	rte_pktmbuf_free(p[0]);
	stop(&e);
}

static void
reordered_and_filled(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 10 * MS, 1);
	receive(&e, 11 * MS, 3);
	expect(0);
	assert_true(e.running);
	assert_int_equal(e.RX_REORD, 2);
	assert_int_equal(e.deadline_ns, 60 * MS);
	receive(&e, 12 * MS, 0);
	expect(2, 0, 1);
	/* RX_DELIV reached RX_REORD: stopped, and started again for the hole at 2. */
	assert_int_equal(e.RX_DELIV, 2);
	assert_int_equal(e.RX_REORD, 4);
	assert_int_equal(e.deadline_ns, 62 * MS);
	receive(&e, 13 * MS, 2);
	expect(2, 2, 3);
	assert_false(e.running);
	assert_true(e.deadline_ns == PDCP_NO_DEADLINE);
	assert_int_equal(e.held, 0);
	stop(&e);
}

static void
t_reordering_gives_up_a_loss(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 0, 1);
	receive(&e, 10 * MS, 2);
	receive(&e, 10 * MS, 5);
	receive(&e, 10 * MS, 7);
	pdcp_rx_expire(&e, 50 * MS - 1, &sink);
	expect(0);
	pdcp_rx_expire(&e, 50 * MS, &sink);
	/* RX_REORD was 2: what is below it, and what follows it without a hole. */
	expect(2, 1, 2);
	assert_int_equal(e.RX_DELIV, 3);
	assert_int_equal(e.RX_REORD, 8);
	assert_int_equal(e.deadline_ns, 100 * MS);
	receive(&e, 60 * MS, 0);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	receive(&e, 60 * MS, 8);
	pdcp_rx_expire(&e, 100 * MS, &sink);
	expect(3, 5, 7, 8);
	assert_int_equal(e.RX_DELIV, 9);
	assert_false(e.running);
	stop(&e);
}

static void
t_reordering_zero_and_infinity(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 0);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 5, 2);
	expect(1, 2);
	assert_int_equal(e.RX_DELIV, 3);
	assert_false(e.running);
	receive(&e, 5, 0);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	stop(&e);

	cfg.t_Reordering = PDCP_T_REORDERING_INFINITY;
	start(&e, &cfg, 0);
	receive(&e, 5, 2);
	assert_true(e.running);
	pdcp_rx_expire(&e, UINT64_MAX - 1, &sink);
	expect(0);
	receive(&e, 5, 0);
	receive(&e, 5, 1);
	expect(3, 0, 1, 2);
	stop(&e);
}

static void
duplicates_are_named(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 0, 0);
	receive(&e, 0, 2);
	receive(&e, 0, 2);
	receive(&e, 0, 0);
	assert_int_equal(drops[PDCP_RX_DUPLICATE], 1);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	assert_int_equal(e.held, 1);
	stop(&e);
}

static void
out_of_order_delivery(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.outOfOrderDelivery = true;
	start(&e, &cfg, 0);
	receive(&e, 0, 0);
	receive(&e, 0, 3);
	receive(&e, 0, 1);
	expect(3, 0, 3, 1);
	assert_int_equal(e.held, 0);
	assert_int_equal(e.RX_DELIV, 2);
	receive(&e, 0, 3);
	assert_int_equal(drops[PDCP_RX_DUPLICATE], 1);
	receive(&e, 0, 2);
	receive(&e, 0, 4);
	expect(2, 2, 4);
	assert_int_equal(e.RX_DELIV, 5);
	receive(&e, 0, 6);
	pdcp_rx_expire(&e, 50 * MS, &sink);
	expect(1, 6);
	assert_int_equal(e.RX_DELIV, 7);
	/* A whole turn of the table later nothing is left of the marks. */
	for (uint32_t c = 7; c < 7 + 2 * 2048; c++)
		receive(&e, 0, c);
	assert_int_equal(nb_out, 2 * 2048);
	stop(&e);
}

/** An SN beyond the window at HFN 0 belongs to no COUNT, and never to HFN -1. */
static void
hfn_zero_has_no_past(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 0, 2048);
	receive(&e, 0, 4095);
	assert_int_equal(drops[PDCP_RX_OUT_OF_WINDOW], 2);
	assert_int_equal(e.RX_NEXT, 0);
	receive(&e, 0, 2047);
	assert_int_equal(e.RX_NEXT, 2048);
	assert_int_equal(e.held, 1);
	stop(&e);
}

static void
hfn_follows_the_window(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	/* SN(RX_DELIV) = 4000: SNs below 4000 - 2048 are of the next HFN. */
	start(&e, &cfg, 3 * 4096 + 4000);
	receive(&e, 0, 4 * 4096 + 1951);
	assert_int_equal(e.RX_NEXT, 4 * 4096 + 1952);
	receive(&e, 0, 3 * 4096 + 1952);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	stop(&e);
	/* SN(RX_DELIV) = 10: SNs from 10 + 2048 on are of the previous HFN. */
	start(&e, &cfg, 3 * 4096 + 10);
	receive(&e, 0, 2 * 4096 + 2058);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	receive(&e, 0, 3 * 4096 + 2057);
	assert_int_equal(e.RX_NEXT, 3 * 4096 + 2058);
	stop(&e);
}

static void
count_never_wraps(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct rte_mbuf *p[3];
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, PDCP_COUNT_END - 2);
	for (uint32_t i = 0; i < 3; i++)
		p[i] = pdu(&e, (uint32_t)-2 + i);
	pdcp_rx_receive(&e, p, 3, 0, &sink);
	expect(2, (uint32_t)-2, (uint32_t)-1);
	assert_int_equal(drops[PDCP_RX_OUT_OF_WINDOW], 1);
	assert_true(e.RX_DELIV == PDCP_COUNT_END);
	receive(&e, 0, (uint32_t)-1);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	stop(&e);
}

static void
small_table_is_named(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.reorder_slots = 8;
	start(&e, &cfg, 100);
	receive(&e, 0, 107);
	receive(&e, 0, 108);
	assert_int_equal(drops[PDCP_RX_REORDER_FULL], 1);
	for (uint32_t c = 100; c < 107; c++)
		receive(&e, 0, c);
	expect(8, 100, 101, 102, 103, 104, 105, 106, 107);
	receive(&e, 0, 108);
	expect(1, 108);
	/* A jump far beyond the table does not stall the bearer. */
	receive(&e, 0, 1000);
	receive(&e, 0, 111);
	assert_int_equal(drops[PDCP_RX_REORDER_FULL], 2);
	pdcp_rx_expire(&e, 50 * MS, &sink);
	expect(1, 111);
	receive(&e, 50 * MS, 1001);
	expect(1, 1001);
	assert_false(e.running);
	stop(&e);
}

static void
control_pdus(void **state)
{
	static const uint8_t pdus[][6] = {
		{0x00, 0, 0, 0, 1, 0x80}, {0x10, 0xfc}, {0x20}, {0x70}, {0x00, 0, 0}, {0x8f, 0xff},
	};
	static const uint16_t len[] = {6, 2, 1, 1, 3, 2};
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	for (unsigned i = 0; i < RTE_DIM(len); i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		memcpy(rte_pktmbuf_append(m, len[i]), pdus[i], len[i]);
		pdcp_rx_receive(&e, &m, 1, 0, &sink);
	}
	assert_int_equal(used, 1);
	assert_int_equal(e.status_reports, 1);
	assert_int_equal(drops[PDCP_RX_CONTROL_UNSUPPORTED], 2);
	assert_int_equal(drops[PDCP_RX_RESERVED], 1);
	assert_int_equal(drops[PDCP_RX_SHORT], 2);
	expect(0);
	stop(&e);
}

/** A reassembled SDU may have its header spread over segments. */
static void
header_across_segments(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct rte_mbuf *m[2];
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *tail = pdu(&e, i), *head = rte_pktmbuf_alloc(pool);

		memcpy(rte_pktmbuf_append(head, 2), rte_pktmbuf_mtod(tail, void *), 2);
		rte_pktmbuf_adj(tail, 2);
		*ap_meta(head) = (struct ap_meta){.bearer = 5};
		rte_pktmbuf_chain(head, tail);
		m[i] = head;
	}
	pdcp_rx_receive(&e, m, 2, 0, &sink);
	expect(2, 0, 1);
	stop(&e);
}

static void
srb_loses_its_mac_i(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct rte_mbuf *m;
	struct pdcp_rx e;

	(void)state;
	cfg.srb = true;
	start(&e, &cfg, 0);
	for (uint32_t i = 0; i < 2; i++) {
		m = pdu(&e, i);
		memset(rte_pktmbuf_append(m, 4), 0xee, 4); /* NIA0 does not look at it */
		pdcp_rx_receive(&e, &m, 1, 0, &sink);
	}
	expect(2, 0, 1);
	m = pdu(&e, 2);
	pdcp_rx_receive(&e, &m, 1, 0, &sink);
	assert_int_equal(drops[PDCP_RX_SHORT], 1);
	stop(&e);
}

static void
refuse_third(struct pdcp_secured *pdus, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		pdus[i].failed = pdus[i].count == 2;
}

/** State moves only after integrity verification: a forged SN changes nothing. */
static void
failed_integrity_moves_nothing(void **state)
{
	static const struct pdcp_crypto crypto = {.verify = refuse_third};
	static struct pdcp_batch b;
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.crypto = &crypto;
	start(&e, &cfg, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct rte_mbuf *m = pdu(&e, i);
		uint32_t count;

		assert_int_equal(pdcp_rx_in_order(&e, &m, 1), 0);
		assert_true(pdcp_rx_pre_process(&e, m, &count, &sink));
		assert_int_equal(count, i);
		pdcp_batch_add(&b, m, &e, &e.sec, count);
	}
	assert_int_equal(e.RX_NEXT, 0);
	pdcp_rx_verify(&b, 0, &sink);
	expect(2, 0, 1);
	assert_int_equal(drops[PDCP_RX_INTEGRITY], 1);
	assert_int_equal(e.RX_NEXT, 2);
	assert_int_equal(b.nb, 0);
	stop(&e);
}

static bool starved;

static void
starve(struct pdcp_secured *pdus, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		pdus[i].failed = starved ? PDCP_SECURITY_NO_MBUF : PDCP_SECURITY_OK;
}

static void
receive_secured(struct pdcp_rx *e, uint32_t sn)
{
	static struct pdcp_batch b;
	struct rte_mbuf *m = pdu(e, sn);
	uint32_t count;

	assert_true(pdcp_rx_pre_process(e, m, &count, &sink));
	pdcp_batch_add(&b, m, e, &e->sec, count);
	pdcp_rx_verify(&b, 0, &sink);
}

/** A while without buffers costs its SDUs, not the order or the HFN of what follows. */
static void
no_buffer_moves_the_window(void **state)
{
	static const struct pdcp_crypto crypto = {.verify = starve};
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.crypto = &crypto;
	start(&e, &cfg, 0);
	receive_secured(&e, 0);
	expect(1, 0);
	starved = true;
	for (uint32_t i = 1; i <= 3 * 4096; i++)
		receive_secured(&e, i % 4096);
	starved = false;
	assert_int_equal(drops[PDCP_RX_NO_MBUF], 3 * 4096);
	assert_false(e.running);
	receive_secured(&e, 2);
	starved = true;
	receive_secured(&e, 1);
	starved = false;
	expect(1, 2);
	assert_int_equal(e.RX_DELIV, 3 * 4096 + 3);
	stop(&e);
}

/** A flow in order, ciphered: new keys are asked for there as well. */
static void
count_threshold_is_told_of_secured_pdus(void **state)
{
	static const struct pdcp_crypto crypto = {.verify = starve};
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.crypto = &crypto;
	cfg.count_notify = 3;
	start(&e, &cfg, 0);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(pdcp_rx_wants_keys(&e), i > 3);
		receive_secured(&e, i);
		expect(1, i);
	}
	stop(&e);
}

static void
impossible_configurations(void **state)
{
	struct pdcp_rx_cfg cfg;
	struct pdcp_rx e;

	(void)state;
	cfg = config(13, 50);
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg = config(12, 3001);
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg = config(12, 50);
	cfg.reorder_slots = 4096;
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg.reorder_slots = 100;
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg = config(18, 50);
	cfg.srb = true;
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pdcp", 1023, 512);
	return pool ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_vectors_in_order),
		cmocka_unit_test(reordered_and_filled),
		cmocka_unit_test(t_reordering_gives_up_a_loss),
		cmocka_unit_test(t_reordering_zero_and_infinity),
		cmocka_unit_test(duplicates_are_named),
		cmocka_unit_test(out_of_order_delivery),
		cmocka_unit_test(hfn_zero_has_no_past),
		cmocka_unit_test(hfn_follows_the_window),
		cmocka_unit_test(count_never_wraps),
		cmocka_unit_test(small_table_is_named),
		cmocka_unit_test(count_threshold_is_told_of_secured_pdus),
		cmocka_unit_test(control_pdus),
		cmocka_unit_test(header_across_segments),
		cmocka_unit_test(srb_loses_its_mac_i),
		cmocka_unit_test(failed_integrity_moves_nothing),
		cmocka_unit_test(no_buffer_moves_the_window),
		cmocka_unit_test(impossible_configurations),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
