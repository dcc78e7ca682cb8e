/* SPDX-License-Identifier: BSD-3-Clause */
/** Sleeping lcores: what keeps them awake, what ends a sleep, and until when it lasts at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <pthread.h>
#include <rte_ring.h>

#include "core/plan.h"
#include "core/worker.h"
#include "test_eal.h"
#include "test_node.h"

#define LONG_NS (100 * AP_NS_PER_S) /**< longer than the test may take */

static uint32_t backlog; /* of the source */

static uint32_t
waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	(void)n;
	(void)queue;
	(void)now_ns;
	return backlog;
}

static const struct ap_node_type source = {.name = "source", .source = true, .waiting = waiting};
static const struct ap_node_type blind = {.name = "blind", .source = true};

struct bed {
	struct ap_worker w;
	struct ap_sleep sleep;
	struct ap_node n;
	struct ap_rxq rxq;
	struct ap_timer timer;
};

static void
fire(struct ap_timer *t, uint64_t now_ns)
{
	(void)t;
	(void)now_ns;
}

static int
setup(void **state)
{
	struct bed *b = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(sizeof(*b)));

	memset(b, 0, sizeof(*b));
	backlog = 0;
	assert_int_equal(ap_sleep_init(&b->sleep), 0);
	b->w.wheel = ap_wheel_create(10000, ap_clock_ns());
	b->w.sleep = &b->sleep;
	b->w.rxqs = &b->rxq;
	b->w.nb_rxqs = 1;
	b->n = (struct ap_node){.type = &source, .worker = &b->w, .rxqs = &b->rxq};
	b->rxq = (struct ap_rxq){.node = &b->n, .wake = AP_WAKE_KICK};
	b->timer.fire = fire;
	*state = b;
	return 0;
}

static int
teardown(void **state)
{
	struct bed *b = *state;

	ap_timer_cancel(b->w.wheel, &b->timer);
	ap_wheel_destroy(b->w.wheel);
	ap_sleep_fini(&b->sleep);
	free(b);
	return 0;
}

static void
test_what_waits_keeps_it_awake(void **state)
{
	struct bed *b = *state;
	struct ap_worker_call call = {0};

	backlog = 1;
	assert_int_equal(ap_governor_sleep(&b->w, ap_clock_ns() + LONG_NS).ns, 0);
	backlog = 0;
	atomic_store(&b->w.call, &call); /* of the control thread */
	assert_int_equal(ap_governor_sleep(&b->w, ap_clock_ns() + LONG_NS).ns, 0);
	atomic_store(&b->w.call, NULL);
	atomic_store(&b->w.stop, true);
	assert_int_equal(ap_governor_sleep(&b->w, ap_clock_ns() + LONG_NS).ns, 0);
	assert_int_equal(b->w.power.not_slept, 3);
	assert_int_equal(b->w.power.sleeps, 0);
	assert_false(atomic_load(&b->sleep.flag)); /* producers need not kick */
}

static void
test_a_sleep_ends_in_time(void **state)
{
	struct bed *b = *state;
	uint64_t now = ap_clock_ns();
	struct ap_slept s = ap_governor_sleep(&b->w, now + 1000000);

	assert_true(s.ns > 0 && !s.woken);
	assert_true(ap_clock_ns() >= now + 1000000);
	/* A timer of the wheel ends it earlier, or does not let it begin. */
	now = ap_clock_ns();
	ap_timer_set(b->w.wheel, &b->timer, now + 500000);
	s = ap_governor_sleep(&b->w, now + LONG_NS);
	assert_true(s.ns > 0 && !s.woken);
	assert_true(ap_clock_ns() >= now + 500000);
	assert_int_equal(ap_governor_sleep(&b->w, ap_clock_ns() + LONG_NS).ns, 0);
	assert_int_equal(b->w.power.sleeps, 2);
	assert_true(b->w.power.slept_ns >= 1500000);
}

/** Of a source that nobody wakes for, sleeps are short. */
static void
test_what_cannot_wake_is_looked_at(void **state)
{
	struct bed *b = *state;
	uint64_t now = ap_clock_ns();
	struct ap_slept s;

	b->n.type = &blind;
	b->rxq.wake = AP_WAKE_TIME;
	s = ap_governor_sleep(&b->w, now + LONG_NS);
	assert_true(s.ns >= AP_SLEEP_BLIND_NS - 10000 && !s.woken);
}

static void *
send_to_it(void *arg)
{
	struct bed *b = arg;

	backlog = 1;
	ap_node_wake(&b->n);
	return NULL;
}

static void *
call_it(void *arg)
{
	struct bed *b = arg;
	struct ap_worker_call call = {0};

	atomic_store(&b->w.call, &call);
	ap_worker_wake(&b->w);
	return NULL;
}

/** Whether it slept already or was about to: packets and calls end it, or do not let it begin. */
static void
test_packets_and_calls_wake(void **state)
{
	void *(*const who[])(void *) = {send_to_it, call_it};
	struct bed *b = *state;
	pthread_t other;

	for (unsigned i = 0; i < 200; i++) {
		struct ap_slept s;

		backlog = 0;
		atomic_store(&b->w.call, NULL);
		assert_int_equal(pthread_create(&other, NULL, who[i % 2], b), 0);
		s = ap_governor_sleep(&b->w, ap_clock_ns() + LONG_NS);
		assert_true(s.ns == 0 || s.woken);
		pthread_join(other, NULL);
	}
	assert_true(b->w.power.sleeps > 0);
}

static void
test_polls_are_told_to_the_governor(void **state)
{
	struct bed *b = *state;

	backlog = 70;
	ap_node_busy(&b->n, 64);
	assert_int_equal(b->rxq.taken, 64);
	assert_int_equal(b->rxq.count, 70);
	assert_int_equal(b->w.work, 64);
	b->n.rxqs = NULL; /* a governor that does not ask */
	ap_node_busy(&b->n, 1);
	assert_int_equal(b->rxq.taken, 64);
	assert_int_equal(b->w.work, 65);
}

/** The producer's end of a cut wakes the consumer's lcore. */
static void
test_a_cut_wakes_its_consumer(void **state)
{
	struct bed *b = *state;
	struct test_node *out = test_node_make("ring_out", NULL);
	struct rte_mempool *pool = test_pool("governor", 63, 64);
	struct ap_cut cut = {.sleep = &b->sleep};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	cut.ring = rte_ring_create("governor", 16, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	out->n.arg = &cut;
	ap_sleep_begin(&b->sleep);
	test_node_visit(out, &m, 1);
	assert_true(ap_sleep_wait(&b->sleep, LONG_NS));
	assert_int_equal(b->sleep.kicked, 1);
	assert_int_equal(
		ap_node_type_find("ring_in")->waiting(&(struct ap_node){.arg = &cut}, 0, 0), 1);
	assert_int_equal(rte_ring_sc_dequeue(cut.ring, (void **)&m), 0);
	rte_pktmbuf_free(m);
	assert_pool_full(pool);
	rte_ring_free(cut.ring);
	rte_mempool_free(pool);
	test_node_free(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_waits_keeps_it_awake, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_sleep_ends_in_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_cannot_wake_is_looked_at, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_packets_and_calls_wake, setup, teardown),
		cmocka_unit_test_setup_teardown(test_polls_are_told_to_the_governor, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_cut_wakes_its_consumer, setup, teardown),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("governor", tests, NULL, NULL);
}
