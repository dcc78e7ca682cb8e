/* SPDX-License-Identifier: BSD-3-Clause */

/* The PDCP and SDAP nodes: runs of bearers, edges, drops, timers, and the books. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/rlc/rlc_tx.h"
#include "modules/sdap/sdap.h"
#include "test_eal.h"
#include "test_node.h"

#define BEARERS 3
#define MS AP_NS_PER_MS

static struct rte_mempool *pool, *hdr;
static struct l2 l2;

static struct rte_mbuf *
packet(uint32_t bearer, uint32_t word)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, sizeof(word)), &word, sizeof(word));
	*ap_meta(m) = (struct ap_meta){.bearer = bearer};
	return m;
}

static struct rte_mbuf *
pdu(uint32_t bearer, uint32_t count)
{
	struct rte_mbuf *m = packet(bearer, count);

	pdcp_hdr_put(PDCP_DRB_12, (uint8_t *)rte_pktmbuf_prepend(m, 2), count);
	return m;
}

static uint32_t
word(struct rte_mbuf *m)
{
	uint32_t w;

	memcpy(&w, rte_pktmbuf_mtod_offset(m, void *, m->data_len - sizeof(w)), sizeof(w));
	return w;
}

/** Stands in for NEA and NIA: COUNT 1 fails. */
static void
refuse_one(struct pdcp_secured *pdus, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		pdus[i].failed = pdus[i].count == 1;
}

static const struct pdcp_crypto crypto = {.protect = refuse_one, .verify = refuse_one};

/** Bearers 0 and 1 are plain, 2 is secured; RLC queues of 8. */
static void
make_l2(void)
{
	l2 = (struct l2){.nb_bearers = BEARERS, .pools = {.hdr = hdr, .ind = hdr}};
	l2.pdcp_tx = calloc(BEARERS + 1, sizeof(*l2.pdcp_tx));
	l2.pdcp_rx = calloc(BEARERS + 1, sizeof(*l2.pdcp_rx));
	l2.rlc_tx = aligned_alloc(RTE_CACHE_LINE_SIZE, BEARERS * sizeof(*l2.rlc_tx));
	memset(l2.rlc_tx, 0, BEARERS * sizeof(*l2.rlc_tx));
	for (uint32_t i = 0; i < BEARERS; i++) {
		const struct pdcp_crypto *c = i == 2 ? &crypto : NULL;
		const struct pdcp_tx_cfg tx = {.pdcp_SN_Size = 12,
					       .rb_identity = (uint8_t)(i + 1),
					       .crypto = c,
					       .hdr = hdr};
		const struct pdcp_rx_cfg rx = {.pdcp_SN_Size = 12,
					       .rb_identity = (uint8_t)(i + 1),
					       .crypto = c,
					       .t_Reordering = 10 * (i + 1)};
		const struct rlc_tx_cfg rlc = {.mode = RLC_TM,
					       .queue_sdus = 8,
					       .bearer = i,
					       .lcid = (uint8_t)(i + 4),
					       .pools = &l2.pools};

		assert_int_equal(pdcp_tx_init(&l2.pdcp_tx[i], &tx), 0);
		assert_int_equal(pdcp_rx_init(&l2.pdcp_rx[i], &rx), 0);
		assert_int_equal(rlc_tx_init(&l2.rlc_tx[i], &rlc), 0);
	}
}

static void
free_l2(void)
{
	for (uint32_t i = 0; i < BEARERS; i++) {
		pdcp_rx_fini(&l2.pdcp_rx[i]);
		rlc_tx_fini(&l2.rlc_tx[i]);
	}
	free(l2.pdcp_tx);
	free(l2.pdcp_rx);
	free(l2.rlc_tx);
	assert_pool_full(pool);
	assert_pool_full(hdr);
}

/** The packets on edge 0 carry these words, in this order; they are freed. */
static void
expect(struct test_node *t, unsigned nb, ...)
{
	struct rte_mbuf **p;
	va_list ap;

	assert_int_equal(test_node_take(t, 0, &p), nb);
	va_start(ap, nb);
	for (unsigned i = 0; i < nb; i++)
		assert_int_equal(word(p[i]), va_arg(ap, uint32_t));
	va_end(ap);
	rte_pktmbuf_free_bulk(p, nb);
	test_node_balance(t);
}

static void
tx_drops_before_an_sn(void **state)
{
	struct test_node *t;
	struct rte_mbuf *p[12];

	(void)state;
	make_l2();
	t = test_node_make("pdcp_tx", &l2);
	for (uint32_t i = 0; i < 6; i++)
		p[i] = packet(i < 5 ? 0 : 1, i);
	p[6] = packet(BEARERS, 6);
	for (uint32_t i = 7; i < 12; i++)
		p[i] = packet(0, i);
	test_node_visit(t, p, 12);
	expect(t, 9, 0, 1, 2, 3, 4, 5, 7, 8, 9);
	assert_int_equal(t->n.drops[PDCP_TX_NO_BEARER], 1);
	assert_int_equal(t->n.drops[PDCP_TX_QUEUE_FULL], 2);
	assert_int_equal(l2.pdcp_tx[0].TX_NEXT, 8);
	assert_int_equal(l2.pdcp_tx[1].TX_NEXT, 1);
	test_node_free(t);
	free_l2();
}

static void
tx_secured_bearers_go_by_batch(void **state)
{
	struct test_node *t;
	struct rte_mbuf *p[4];

	(void)state;
	make_l2();
	t = test_node_make("pdcp_tx", &l2);
	for (uint32_t i = 0; i < 4; i++)
		p[i] = packet(i == 3 ? 0 : 2, i);
	test_node_visit(t, p, 4);
	expect(t, 3, 0, 2, 3);
	assert_int_equal(t->n.drops[PDCP_TX_CRYPTO], 1);
	test_node_free(t);
	free_l2();
}

static void
rx_mixes_order_and_disorder(void **state)
{
	struct test_node *t;
	struct rte_mbuf *p[9];

	(void)state;
	make_l2();
	t = test_node_make("pdcp_rx", &l2);
	p[0] = pdu(0, 0);
	p[1] = pdu(0, 2);
	p[2] = pdu(0, 1);
	p[3] = pdu(1, 0);
	p[4] = pdu(1, 1);
	p[5] = pdu(BEARERS, 0);
	p[6] = pdu(0, 3);
	p[7] = pdu(0, 0);
	p[8] = pdu(1, 2);
	test_node_visit(t, p, 9);
	expect(t, 7, 0, 1, 2, 0, 1, 3, 2);
	assert_int_equal(t->n.drops[PDCP_RX_NO_BEARER], 1);
	assert_int_equal(t->n.drops[PDCP_RX_OLD], 1);
	test_node_free(t);
	free_l2();
}

static void
rx_one_timer_serves_all_bearers(void **state)
{
	struct test_node *t;
	struct rte_mbuf *p[2];

	(void)state;
	make_l2();
	t = test_node_make("pdcp_rx", &l2);
	test_node_clock(t, 1 * MS);
	p[0] = pdu(1, 1); /* due at 21 ms */
	p[1] = pdu(0, 5); /* due at 11 ms */
	test_node_visit(t, p, 2);
	expect(t, 0);
	test_node_clock(t, 11 * MS + 10000);
	expect(t, 1, 5);
	assert_true(ap_timer_armed(&t->n.timer));
	p[0] = pdu(0, 6);
	p[1] = pdu(0, 8); /* due at 31 ms, after the other bearer */
	test_node_clock(t, 20 * MS);
	test_node_visit(t, p, 2);
	expect(t, 1, 6);
	test_node_clock(t, 21 * MS + 10000);
	expect(t, 1, 1);
	test_node_clock(t, 30 * MS + 20000);
	expect(t, 1, 8);
	assert_false(ap_timer_armed(&t->n.timer));
	/* What is still held is freed with the entity, and in the books until then. */
	p[0] = pdu(1, 4);
	test_node_visit(t, p, 1);
	expect(t, 0);
	assert_int_equal(t->n.type->held(&t->n), 1);
	test_node_free(t);
	free_l2();
}

static void
rx_secured_bearers_go_by_batch(void **state)
{
	struct test_node *t;
	struct rte_mbuf *p[4];

	(void)state;
	make_l2();
	t = test_node_make("pdcp_rx", &l2);
	for (uint32_t i = 0; i < 4; i++)
		p[i] = pdu(2, i);
	test_node_visit(t, p, 4);
	expect(t, 1, 0);
	assert_int_equal(t->n.drops[PDCP_RX_INTEGRITY], 1);
	test_node_clock(t, 30 * MS + 10000);
	expect(t, 2, 2, 3);
	test_node_free(t);
	free_l2();
}

static void
sdap_there_and_back(void **state)
{
	static const struct sdap_drb drb = {.present = true, .sdap_HeaderUL = true};
	const struct sdap_cfg cfg = {.nb_bearers = 1, .drbs = &drb, .default_qfi = 3, .hdr = hdr};
	struct sdap s;
	struct test_node *tx, *rx;
	struct rte_mbuf *p[3], **out;

	(void)state;
	make_l2();
	assert_int_equal(sdap_init(&s, &cfg), 0);
	l2.sdap = &s;
	tx = test_node_make("sdap_tx", &l2);
	rx = test_node_make("sdap_rx", &l2);
	for (uint32_t i = 0; i < 3; i++)
		p[i] = packet(9, i);
	test_node_visit(tx, p, 3);
	assert_int_equal(test_node_take(tx, 0, &out), 3);
	test_node_balance(tx);
	assert_int_equal(*rte_pktmbuf_mtod(out[0], uint8_t *), 0x83);
	memcpy(p, out, sizeof(p));
	ap_meta(p[1])->bearer = 1;
	test_node_visit(rx, p, 3);
	expect(rx, 2, 0, 2);
	assert_int_equal(rx->n.drops[SDAP_RX_NO_DRB], 1);
	test_node_free(tx);
	test_node_free(rx);
	sdap_fini(&s);
	free_l2();
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pdcp", 255, 512);
	hdr = test_pool("hdr", 15, 64);
	return pool && hdr ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tx_drops_before_an_sn),
		cmocka_unit_test(tx_secured_bearers_go_by_batch),
		cmocka_unit_test(rx_mixes_order_and_disorder),
		cmocka_unit_test(rx_one_timer_serves_all_bearers),
		cmocka_unit_test(rx_secured_bearers_go_by_batch),
		cmocka_unit_test(sdap_there_and_back),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
