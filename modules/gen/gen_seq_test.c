/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "modules/gen/gen_seq.h"

#define WINDOW 128

static uint64_t bitmap[WINDOW / 64];
static struct gen_seq s;
static uint64_t opened;

static int
fresh(void **state)
{
	(void)state;
	memset(bitmap, 0, sizeof(bitmap));
	s = (struct gen_seq){.window = WINDOW, .bitmap = bitmap};
	return 0;
}

static void
take(uint64_t seq, enum gen_seq_verdict want, uint64_t want_opened)
{
	assert_int_equal(gen_seq_take(&s, seq, &opened), want);
	assert_int_equal(opened, want_opened);
}

static void
in_order_leaves_nothing_missing(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		take(i, GEN_SEQ_IN_ORDER, 0);
	assert_int_equal(s.missing, 0);
	assert_int_equal(s.next, 1000);
}

static void
gap_then_late_arrivals(void **state)
{
	(void)state;
	take(0, GEN_SEQ_IN_ORDER, 0);
	take(3, GEN_SEQ_IN_ORDER, 2);
	assert_int_equal(s.missing, 2);
	take(1, GEN_SEQ_REORDERED, 0);
	take(1, GEN_SEQ_DUPLICATE, 0);
	take(4, GEN_SEQ_IN_ORDER, 0);
	take(2, GEN_SEQ_REORDERED, 0);
	assert_int_equal(s.missing, 0);
	take(4, GEN_SEQ_DUPLICATE, 0);
	take(0, GEN_SEQ_DUPLICATE, 0);
}

static void
first_packets_can_be_lost(void **state)
{
	(void)state;
	take(5, GEN_SEQ_IN_ORDER, 5);
	take(0, GEN_SEQ_REORDERED, 0);
}

static void
window_forgets(void **state)
{
	(void)state;
	take(1, GEN_SEQ_IN_ORDER, 1);
	for (uint64_t i = 2; i < WINDOW; i++)
		take(i, GEN_SEQ_IN_ORDER, 0);
	assert_int_equal(s.missing, 1);
	take(WINDOW, GEN_SEQ_IN_ORDER, 0);
	assert_int_equal(s.missing, 0);
	take(0, GEN_SEQ_LATE, 0);
	take(1, GEN_SEQ_DUPLICATE, 0);
}

static void
gap_wider_than_the_window(void **state)
{
	(void)state;
	take(1, GEN_SEQ_IN_ORDER, 1);
	take(1000000, GEN_SEQ_IN_ORDER, 999998);
	assert_int_equal(s.missing, WINDOW - 1);
	take(1000000 - WINDOW, GEN_SEQ_LATE, 0);
	take(1000000 - WINDOW + 1, GEN_SEQ_REORDERED, 0);
	take(1000000, GEN_SEQ_DUPLICATE, 0);
	take(UINT64_MAX - 1, GEN_SEQ_IN_ORDER, UINT64_MAX - 1 - 1000001);
}

/** Against a model that remembers every number. */
static void
random_order_matches_the_model(void **state)
{
	static uint8_t seen[20000];
	uint64_t next = 0, lost = 0;

	(void)state;
	srand(3);
	for (unsigned i = 0; i < 15000; i++) {
		uint64_t back = (uint64_t)rand() % 160;
		uint64_t seq = next + (uint64_t)rand() % 3;
		enum gen_seq_verdict want = GEN_SEQ_IN_ORDER;

		if (rand() % 3 == 0)
			seq = next > back ? next - back : 0;
		if (seq >= sizeof(seen))
			break;
		if (seq < next)
			want = next - seq > WINDOW ? GEN_SEQ_LATE
			       : seen[seq]         ? GEN_SEQ_DUPLICATE
						   : GEN_SEQ_REORDERED;
		assert_int_equal(gen_seq_take(&s, seq, &opened), want);
		lost += opened;
		lost -= want == GEN_SEQ_REORDERED;
		if (want != GEN_SEQ_LATE)
			seen[seq] = 1;
		next = seq >= next ? seq + 1 : next;
		assert_int_equal(s.next, next);
	}
	/* `seen` of late ones is not set: they stay lost. */
	for (uint64_t i = 0; i < next; i++)
		lost -= !seen[i];
	assert_int_equal(lost, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_order_leaves_nothing_missing, fresh),
		cmocka_unit_test_setup(gap_then_late_arrivals, fresh),
		cmocka_unit_test_setup(first_packets_can_be_lost, fresh),
		cmocka_unit_test_setup(window_forgets, fresh),
		cmocka_unit_test_setup(gap_wider_than_the_window, fresh),
		cmocka_unit_test_setup(random_order_matches_the_model, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
