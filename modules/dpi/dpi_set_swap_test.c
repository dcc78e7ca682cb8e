/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Sets that come and go under workers: one thread builds, hands over and frees, others look up all
 * the time. What a worker finds is always of the set that it has.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "modules/dpi/dpi_set.h"
#include "tests/support/test_eal.h"

#define WORKERS 3
#define SETS 25
#define RULES 400

struct handed {
	struct dpi_set *set;
	struct dpi_scratch *scratch;
};

struct worker {
	pthread_t thread;
	struct handed *_Atomic next, *_Atomic has; /* builder: next; worker: has */
	uint64_t found, wrong;
};

static struct worker workers[WORKERS];
static atomic_bool stop;

/* Every rule of a set is of the application that is its generation. */
static struct dpi_set *
build(uint16_t generation)
{
	static char texts[RULES][32];
	struct dpi_rule rules[RULES];
	struct dpi_error err;
	struct dpi_set *set;

	for (unsigned i = 0; i < RULES; i++) {
		rules[i] = (struct dpi_rule){
			.kind = (enum dpi_rule_kind)(i % 5), .app = generation, .text = texts[i]};
		if (rules[i].kind == DPI_RULE_FLOW)
			rules[i].flow = (struct dpi_net){
				.flags = DPI_NET_IP4,
				.src = {{192, 0, (uint8_t)(i % 7), (uint8_t)generation}, 24}};
		else
			sprintf(texts[i], "h%u.example", i);
	}
	if (dpi_set_build(rules, RULES, NULL, generation, &set, &err) != 0)
		fail_msg("rule %u: %s", err.rule, err.why);
	memset(texts, '#', sizeof(texts)); /* the set has copies */
	return set;
}

static void
judge(struct worker *w, const struct handed *h, uint16_t app)
{
	w->found += app != 0;
	w->wrong += app != dpi_set_generation(h->set);
}

static void
look_up(struct worker *w, const struct handed *h)
{
	static const char *const hosts[] = {"h1.example", "a.h2.example", "ah3.example.org"};
	struct flow f = {.version = 4, .src = {192, 0, 5, 9}};
	struct dpi_name name = {.path = (const uint8_t *)"/h4.example", .path_len = 11};

	for (unsigned i = 0; i < 3; i++) {
		name.host = (const uint8_t *)hosts[i];
		name.host_len = (uint16_t)strlen(hosts[i]);
		name.path_len = i == 0 ? 11 : 0;
		judge(w, h, dpi_set_name(h->set, h->scratch, &name));
	}
	judge(w, h, dpi_set_flow(h->set, &f, false));
}

static void *
work(void *arg)
{
	struct worker *w = arg;

	while (!stop) {
		struct handed *h = atomic_load_explicit(&w->next, memory_order_acquire);

		atomic_store_explicit(&w->has, h, memory_order_release);
		for (unsigned i = 0; h && i < 20; i++)
			look_up(w, h);
		sched_yield();
	}
	return NULL;
}

static void
free_handed(struct handed h[WORKERS])
{
	dpi_set_free(h[0].set);
	for (unsigned i = 0; i < WORKERS; i++)
		dpi_scratch_free(h[i].scratch);
}

static void
wait_for_all(struct handed h[WORKERS])
{
	for (unsigned i = 0; i < WORKERS; i++)
		while (atomic_load_explicit(&workers[i].has, memory_order_acquire) != &h[i])
			sched_yield();
}

static void
sets_are_replaced_under_workers(void **state)
{
	static struct handed handed[2][WORKERS];

	(void)state;
	for (unsigned i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (uint16_t n = 1; n <= SETS; n++) {
		struct handed *h = handed[n % 2];
		struct dpi_set *set = build(n);

		for (unsigned i = 0; i < WORKERS; i++) {
			h[i] = (struct handed){.set = set, .scratch = dpi_scratch_alloc(set)};
			assert_non_null(h[i].scratch);
			atomic_store_explicit(&workers[i].next, &h[i], memory_order_release);
		}
		wait_for_all(h);
		if (n > 1)
			free_handed(handed[(n - 1) % 2]);
	}
	stop = true;
	for (unsigned i = 0; i < WORKERS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_int_equal(workers[i].wrong, 0);
		assert_true(workers[i].found > 0);
	}
	free_handed(handed[SETS % 2]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_replaced_under_workers),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
