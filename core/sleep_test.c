/* SPDX-License-Identifier: BSD-3-Clause */
/** No packet that arrives between the last look and the sleep may be slept over. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_pause.h>

#include "core/clock.h"
#include "core/sleep.h"

#define ROUNDS 1000000
#define FOREVER (100 * AP_NS_PER_S) /**< longer than the test may take */

/** A queue of one place, as two threads share it. */
struct race {
	struct ap_sleep sleep;
	_Atomic uint64_t put __rte_cache_aligned;   /**< producer */
	_Atomic uint64_t taken __rte_cache_aligned; /**< consumer */
	uint64_t looked;                            /**< sleeps that a last look spared */
};

/** Some hundred instructions at most, so that both sides meet at every point. */
static void
dawdle(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	for (uint32_t i = *random >> 24; i > 0; i--)
		rte_pause();
}

static void *
produce(void *arg)
{
	struct race *r = arg;
	uint32_t random = 1;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		while (atomic_load_explicit(&r->taken, memory_order_acquire) < i - 1)
			rte_pause();
		if (i % 4 == 0)
			dawdle(&random);
		atomic_store_explicit(&r->put, i, memory_order_release);
		ap_sleep_wake(&r->sleep);
	}
	return NULL;
}

/** @return rounds until a packet was slept over: ROUNDS when none was. */
static uint64_t
consume(struct race *r)
{
	uint32_t random = 2;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		while (atomic_load_explicit(&r->put, memory_order_acquire) < i) {
			if (i % 8 == 0)
				dawdle(&random);
			ap_sleep_begin(&r->sleep);
			if (atomic_load_explicit(&r->put, memory_order_acquire) >= i) {
				ap_sleep_cancel(&r->sleep);
				r->looked++;
				break;
			}
			if (!ap_sleep_wait(&r->sleep, FOREVER))
				return i;
		}
		atomic_store_explicit(&r->taken, i, memory_order_release);
	}
	return ROUNDS;
}

static void
test_a_million_rounds_without_a_lost_wake_up(void **state)
{
	struct race *r = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*r));
	pthread_t producer;

	(void)state;
	*r = (struct race){0};
	assert_int_equal(ap_sleep_init(&r->sleep), 0);
	assert_int_equal(pthread_create(&producer, NULL, produce, r), 0);
	/* A lost wake-up would be a sleep that ends by its time, and the test's. */
	assert_int_equal(consume(r), ROUNDS);
	pthread_join(producer, NULL);
	assert_int_equal(r->sleep.timed, 0);
	assert_true(r->sleep.kicked > 0);
	print_message("%lu sleeps ended by kicks, %lu not begun\n", r->sleep.kicked, r->looked);
	ap_sleep_fini(&r->sleep);
	free(r);
}

/** Each interleaving of the two sides by itself: whoever comes second sees the first. */
static void
test_each_order(void **state)
{
	struct ap_sleep s;

	(void)state;
	assert_int_equal(ap_sleep_init(&s), 0);
	ap_sleep_wake(&s); /* nobody sleeps: no kick is left behind */
	ap_sleep_begin(&s);
	assert_false(ap_sleep_wait(&s, 1000));
	assert_int_equal(s.timed, 1);

	ap_sleep_begin(&s); /* kicked between the last look and the sleep */
	ap_sleep_wake(&s);
	assert_true(ap_sleep_wait(&s, FOREVER));
	assert_int_equal(s.kicked, 1);

	ap_sleep_begin(&s); /* the kick was taken out: the next sleep is a whole one */
	assert_false(ap_sleep_wait(&s, 1000));

	ap_sleep_begin(&s); /* kicked, and then given up: one sleep ends early, no more */
	ap_sleep_wake(&s);
	ap_sleep_cancel(&s);
	ap_sleep_begin(&s);
	assert_true(ap_sleep_wait(&s, FOREVER));
	ap_sleep_begin(&s);
	assert_false(ap_sleep_wait(&s, 1000));
	ap_sleep_fini(&s);
}

static void
test_descriptors_end_a_sleep(void **state)
{
	const uint64_t one = 1;
	struct ap_sleep s;
	int interrupt = eventfd(0, EFD_NONBLOCK), pair[2];
	char c;

	(void)state;
	assert_int_equal(ap_sleep_init(&s), 0);
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(ap_sleep_watch(&s, interrupt, true), 0);
	assert_int_equal(ap_sleep_watch(&s, pair[0], false), 0);
	assert_int_equal(write(interrupt, &one, sizeof(one)), sizeof(one));
	ap_sleep_begin(&s);
	assert_true(ap_sleep_wait(&s, FOREVER));
	assert_int_equal(s.polled, 1);
	ap_sleep_begin(&s); /* an interrupt is over when it has been read */
	assert_false(ap_sleep_wait(&s, 1000));

	assert_int_equal(write(pair[1], "x", 1), 1);
	for (unsigned i = 0; i < 2; i++) { /* what waits is still there */
		ap_sleep_begin(&s);
		assert_true(ap_sleep_wait(&s, FOREVER));
	}
	assert_int_equal(read(pair[0], &c, 1), 1);
	close(pair[1]); /* from now on it is in error for ever */
	ap_sleep_begin(&s);
	ap_sleep_wait(&s, 1000);
	ap_sleep_begin(&s);
	assert_false(ap_sleep_wait(&s, 1000));
	assert_int_equal(ap_sleep_watch(&s, -1, false), -EBADF);
	close(pair[0]);
	close(interrupt);
	ap_sleep_fini(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_order),
		cmocka_unit_test(test_descriptors_end_a_sleep),
		cmocka_unit_test(test_a_million_rounds_without_a_lost_wake_up),
	};

	return cmocka_run_group_tests_name("sleep", tests, NULL, NULL);
}
