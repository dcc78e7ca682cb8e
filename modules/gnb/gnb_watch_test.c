/* SPDX-License-Identifier: BSD-3-Clause */
/* What befalls bearers of role `gnb` is reported, each once, from the entities themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/gnb/gnb_watch.h"
#include "modules/pdcp/pdcp_control.h"
#include "modules/rlc/rlc_control.h"
#include "test_eal.h"

#define BEARER 1 /* [0] is another's, and quiet */
#define NOTIFY 1000
#define POLL_MS 10
#define GRANT 100

static struct rte_mempool *pool;
static struct pdcp_tx tx[2];
static struct pdcp_rx rx[2];
static struct rlc_tx rlc[2];
static struct l2 l2 = {.nb_bearers = 2, .pdcp_tx = tx, .pdcp_rx = rx, .rlc_tx = rlc};
static struct l2_pools pools;
static struct gnb_watch watch;
static struct gnb_report got[GNB_RADIO_REPORTS_MAX];
static uint64_t now;

static int
up(void **state)
{
	const struct pdcp_tx_cfg t = {
		.pdcp_SN_Size = 18, .rb_identity = 1, .hdr = pool, .count_notify = NOTIFY};
	const struct pdcp_rx_cfg r = {
		.pdcp_SN_Size = 18, .rb_identity = 1, .reorder_slots = 16, .count_notify = NOTIFY};
	const struct rlc_tx_cfg c = {.mode = RLC_AM,
				     .sn_FieldLength = RLC_SN_12,
				     .queue_sdus = 64,
				     .pools = &pools,
				     .am = {.t_PollRetransmit_ms = POLL_MS, .maxRetxThreshold = 2}};

	(void)state;
	pools = (struct l2_pools){.hdr = pool, .ind = pool, .phy = pool};
	for (unsigned i = 0; i < 2; i++)
		if (pdcp_tx_init(&tx[i], &t) < 0 || pdcp_rx_init(&rx[i], &r) < 0 ||
		    rlc_tx_init(&rlc[i], &c) < 0)
			return -1;
	gnb_watch_begin(&watch, &l2, BEARER);
	return 0;
}

static int
down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		pdcp_tx_fini(&tx[i]);
		pdcp_rx_fini(&rx[i]);
		rlc_tx_fini(&rlc[i]);
	}
	return rte_mempool_in_use_count(pool) == 0 ? 0 : -1;
}

static unsigned
look(void)
{
	return gnb_watch_look(&watch, &l2, BEARER, got);
}

static void
expect(enum gnb_report_kind kind, uint32_t count, bool uplink)
{
	assert_int_equal(look(), 1);
	assert_int_equal(got[0].kind, kind);
	assert_int_equal(got[0].count, count);
	assert_int_equal(got[0].uplink, uplink);
	assert_int_equal(look(), 0);
}

static struct rte_mbuf *
packet(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 40), 0x55, 40);
	*ap_meta(m) = (struct ap_meta){0};
	return m;
}

/** Downlink SDUs get their COUNT. */
static void
number(unsigned n)
{
	uint64_t drops[PDCP_TX_DROPS] = {0};

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = packet();

		if (pdcp_tx_pre_process(&tx[BEARER], &m, 1, drops))
			rte_pktmbuf_free(m);
	}
}

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	(void)arg;
	rte_pktmbuf_free_bulk(sdus, nb);
}

/** An uplink PDU of that COUNT comes. */
static void
receive(uint32_t count)
{
	uint64_t drops[PDCP_RX_DROPS] = {0}, used = 0;
	const struct pdcp_rx_sink sink = {.deliver = deliver, .drops = drops, .used = &used};
	struct rte_mbuf *m = packet();
	const uint16_t header = (uint16_t)pdcp_hdr_len(PDCP_DRB_18);

	pdcp_hdr_put(PDCP_DRB_18, (uint8_t *)rte_pktmbuf_prepend(m, header), count);
	pdcp_rx_receive(&rx[BEARER], &m, 1, 0, &sink);
}

static void
downlink_count_is_told_near_its_end_and_at_it(void **state)
{
	(void)state;
	tx[BEARER].TX_NEXT = NOTIFY - 1;
	number(1);
	assert_int_equal(look(), 0);
	number(1);
	expect(GNB_REPORT_COUNT_NOTIFY, NOTIFY + 1, false);
	tx[BEARER].TX_NEXT = PDCP_COUNT_END - 1;
	assert_int_equal(look(), 0);
	number(2);
	expect(GNB_REPORT_COUNT_LIMIT, UINT32_MAX, false);
}

/** A bearer that came to the end between two looks is told of once. */
static void
the_end_goes_before_its_nearness(void **state)
{
	(void)state;
	tx[BEARER].TX_NEXT = PDCP_COUNT_END - 1;
	number(1);
	expect(GNB_REPORT_COUNT_LIMIT, UINT32_MAX, false);
}

static void
uplink_count_is_told(void **state)
{
	(void)state;
	rx[BEARER].RX_NEXT = rx[BEARER].RX_DELIV = rx[BEARER].RX_REORD = NOTIFY;
	assert_int_equal(look(), 0);
	receive(NOTIFY);
	expect(GNB_REPORT_COUNT_NOTIFY, NOTIFY + 1, true);
	rx[BEARER].RX_NEXT = rx[BEARER].RX_DELIV = rx[BEARER].RX_REORD = PDCP_COUNT_END - 1;
	receive(UINT32_MAX);
	expect(GNB_REPORT_COUNT_LIMIT, UINT32_MAX, true);
}

static void
a_bearer_that_begins_anew_is_told_of_again(void **state)
{
	struct pdcp_resubmitted r = {0};
	const struct pdcp_keys none = {0};

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		tx[BEARER].TX_NEXT = NOTIFY;
		number(1);
		expect(GNB_REPORT_COUNT_NOTIFY, NOTIFY + 1, false);
		pdcp_tx_renew(&tx[BEARER], &rlc[BEARER], &none, 0, &r);
		assert_int_equal(look(), 0);
	}
	/* Another session has the same COUNT before it. */
	tx[BEARER].TX_NEXT = NOTIFY;
	number(1);
	expect(GNB_REPORT_COUNT_NOTIFY, NOTIFY + 1, false);
	gnb_watch_begin(&watch, &l2, BEARER);
	expect(GNB_REPORT_COUNT_NOTIFY, NOTIFY + 1, false);
}

/* --- RLC -------------------------------------------------------------------------------------- */

/** Whatever may be sent is, and nobody acknowledges. */
static void
slot(void)
{
	struct rlc_tx_pull_stats stats = {0};
	struct rte_mbuf *pdus[8];
	uint32_t grant = GRANT;
	unsigned nb;

	rlc_tx_slot(&rlc[BEARER], now);
	nb = rlc_tx_pull(&rlc[BEARER], &grant, pdus, 8, now, &stats);
	rte_pktmbuf_free_bulk(pdus, nb);
	now += AP_NS_PER_MS;
}

static void
send(void)
{
	uint64_t drops[RLC_TX_DROPS] = {0};
	struct rte_mbuf *m = packet();

	assert_int_equal(rlc_tx_push(&rlc[BEARER], &m, 1, now, drops), 1);
}

/** Slots until RLC gives up, of which it tells upper layers. */
static void
give_up(void)
{
	const uint64_t before = rlc[BEARER].am->counters.max_retx;

	send();
	for (unsigned i = 0; i < 100 && rlc[BEARER].am->counters.max_retx == before; i++)
		slot();
	assert_int_equal(rlc[BEARER].am->counters.max_retx, before + 1);
}

static void
forget(void *arg, struct rte_mbuf *m, uint32_t enter_us)
{
	(void)arg;
	(void)enter_us;
	rte_pktmbuf_free(m);
}

/** TS 38.322 §5.3.2 */
static void
a_radio_link_failure_is_told_once_an_establishment(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		send();
		for (unsigned i = 0; i < POLL_MS; i++)
			slot();
		assert_int_equal(look(), 0);
		rlc_tx_take_unconfirmed(&rlc[BEARER], forget, NULL);
		give_up();
		expect(GNB_REPORT_RADIO_LINK_FAILURE, 0, false);
		/* More of the same. */
		for (unsigned i = 0; i < 10 * POLL_MS; i++)
			slot();
		assert_int_equal(look(), 0);
		rlc_tx_take_unconfirmed(&rlc[BEARER], forget, NULL);
		assert_int_equal(look(), 0);
	}
}

/** The failure of who was there before is nothing to the next one; its own is. */
static void
each_session_hears_of_its_own_failure(void **state)
{
	const uint64_t limit = 100;

	(void)state;
	give_up();
	gnb_watch_begin(&watch, &l2, BEARER);
	assert_int_equal(look(), 0);
	send();
	for (uint64_t i = 0; i < limit && rlc[BEARER].am->counters.max_retx == 1; i++)
		slot();
	assert_int_equal(rlc[BEARER].am->counters.max_retx, 2);
	expect(GNB_REPORT_RADIO_LINK_FAILURE, 0, false);
	rlc_tx_take_unconfirmed(&rlc[BEARER], forget, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(downlink_count_is_told_near_its_end_and_at_it, up,
						down),
		cmocka_unit_test_setup_teardown(the_end_goes_before_its_nearness, up, down),
		cmocka_unit_test_setup_teardown(uplink_count_is_told, up, down),
		cmocka_unit_test_setup_teardown(a_bearer_that_begins_anew_is_told_of_again, up,
						down),
		cmocka_unit_test_setup_teardown(a_radio_link_failure_is_told_once_an_establishment,
						up, down),
		cmocka_unit_test_setup_teardown(each_session_hears_of_its_own_failure, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("pool", 255, 512);
	return pool == NULL ? 1 : cmocka_run_group_tests_name("gnb_watch", tests, NULL, NULL);
}
