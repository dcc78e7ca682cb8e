/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "modules/mac/mac_sched.h"
#include "modules/mac/mac_want.h"
#include "test_eal.h"

#define SLOT_NS 500000
#define SLOTS 4000
#define CAPACITY 10000
#define UES 10

static int
setup(void **state)
{
	(void)state;
	return test_eal_init();
}

static struct mac_sched
made(const char *policy, uint32_t ues_per_slot, uint32_t ue_bytes)
{
	const struct mac_sched_cfg cfg = {.policy = policy,
					  .nb_ues = UES,
					  .ues_per_slot = ues_per_slot,
					  .ue_bytes = ue_bytes};
	struct mac_sched s;

	assert_int_equal(mac_sched_init(&s, &cfg), 0);
	return s;
}

/** Every slot UEs 0..nb - 1 want `bytes`, with rates of their own. @return slots' parts of each. */
static void
serve(struct mac_sched *s, unsigned nb, uint32_t bytes, const uint32_t *rate, uint64_t *served,
      double *part)
{
	memset(served, 0, UES * sizeof(*served));
	memset(part, 0, UES * sizeof(*part));
	for (uint64_t t = 0; t < SLOTS; t++) {
		struct mac_sched_want w[UES];
		struct mac_sched_grant g[SLOT_UES_MAX];
		double sum = 0;
		unsigned n;

		for (uint16_t u = 0; u < nb; u++)
			w[u] = (struct mac_sched_want){u, bytes, rate[u]};
		n = mac_sched_run(s, w, nb, NULL, t * SLOT_NS, g);
		assert_true(n <= s->ues_per_slot);
		for (unsigned i = 0; i < n; i++) {
			assert_true(g[i].bytes > 0 && g[i].bytes <= bytes);
			assert_true(g[i].bytes <= s->ue_bytes);
			served[g[i].ue] += g[i].bytes;
			part[g[i].ue] += (double)g[i].bytes / rate[g[i].ue];
			sum += (double)g[i].bytes / rate[g[i].ue];
		}
		assert_true(sum <= 1.000001); /* never more than the carrier has */
	}
}

static const uint32_t alike[UES] = {CAPACITY, CAPACITY, CAPACITY, CAPACITY, CAPACITY,
				    CAPACITY, CAPACITY, CAPACITY, CAPACITY, CAPACITY};

/** Jain's index of what they got: 1 when all are equal. */
static double
fairness(const uint64_t *served, unsigned nb)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < nb; i++) {
		sum += (double)served[i];
		squares += (double)served[i] * (double)served[i];
	}
	return sum * sum / (nb * squares);
}

static void
equal_channels_get_equal_parts(void **state)
{
	const char *const policies[] = {"round_robin", "proportional_fair"};
	const unsigned per_slot[] = {1, 3, 10};
	uint64_t served[UES];
	double part[UES];

	(void)state;
	for (unsigned p = 0; p < 2; p++)
		for (unsigned k = 0; k < 3; k++) {
			struct mac_sched s = made(policies[p], per_slot[k], 0);
			uint64_t sum = 0;

			serve(&s, UES, 50000, alike, served, part);
			assert_true(fairness(served, UES) > 0.999);
			for (unsigned u = 0; u < UES; u++)
				sum += served[u];
			/* nothing is left over but what rounding takes */
			assert_in_range(sum, (uint64_t)SLOTS * CAPACITY * 999 / 1000,
					(uint64_t)SLOTS * CAPACITY);
			mac_sched_fini(&s);
		}
}

/** Round robin shares time; what one does not want the others get. */
static void
what_one_leaves_others_get(void **state)
{
	struct mac_sched s = made("round_robin", 4, 0);
	const struct mac_sched_want w[] = {
		{1, 100, CAPACITY}, {4, 50000, CAPACITY}, {5, 50000, CAPACITY}, {9, 10, CAPACITY}};
	struct mac_sched_grant g[SLOT_UES_MAX];
	uint64_t got[UES] = {0};

	(void)state;
	assert_int_equal(mac_sched_run(&s, w, 4, NULL, 0, g), 4);
	for (unsigned i = 0; i < 4; i++)
		got[g[i].ue] = g[i].bytes;
	assert_int_equal(got[1], 100);
	assert_int_equal(got[9], 10);
	assert_in_range(got[4] + got[5], CAPACITY - 110 - 4, CAPACITY - 110);
	assert_true(got[4] > 3000 && got[5] > 3000);
	mac_sched_fini(&s);
}

/** A UE with a better channel gets more, in proportion: equal time, and more bytes in all. */
static void
proportional_fair_uses_good_channels(void **state)
{
	const uint32_t rate[UES] = {1000, 2000, 4000, 8000};
	struct mac_sched s = made("proportional_fair", 2, 0);
	uint64_t served[UES];
	double part[UES], all = 0;

	(void)state;
	serve(&s, 4, 50000, rate, served, part);
	for (unsigned u = 0; u < 4; u++)
		all += part[u];
	for (unsigned u = 0; u < 4; u++)
		assert_true(part[u] / all > 0.23 && part[u] / all < 0.27);
	mac_sched_fini(&s);
}

/**
 * Channels that come and go: proportional fair serves a UE while its channel is good, so all get
 * more than by turns, and yet equally.
 */
static void
proportional_fair_waits_for_good_slots(void **state)
{
	const char *const policies[] = {"round_robin", "proportional_fair"};
	uint64_t served[2][UES] = {0}, sum[2] = {0};

	(void)state;
	for (unsigned p = 0; p < 2; p++) {
		struct mac_sched s = made(policies[p], 1, 0);

		for (uint64_t t = 0; t < SLOTS; t++) {
			struct mac_sched_want w[UES];
			struct mac_sched_grant g[SLOT_UES_MAX];

			/* slot by slot another half of the UEs stands well; 7 and 10 have no
			 * common factor, so that turns hit good and bad slots alike */
			for (uint16_t u = 0; u < UES; u++)
				w[u] = (struct mac_sched_want){
					u, 50000, (t / 7 + u) % 2 ? CAPACITY : CAPACITY / 5};
			assert_int_equal(mac_sched_run(&s, w, UES, NULL, t * SLOT_NS, g), 1);
			served[p][g[0].ue] += g[0].bytes;
			sum[p] += g[0].bytes;
		}
		mac_sched_fini(&s);
	}
	assert_true(sum[1] > sum[0] + sum[0] / 2);
	assert_true(fairness(served[1], UES) > 0.99);
}

static void
a_ue_is_limited(void **state)
{
	struct mac_sched s = made("proportional_fair", 4, 700);
	uint64_t served[UES];
	double part[UES];

	(void)state;
	serve(&s, 2, 50000, alike, served, part); /* asserts the limit */
	assert_int_equal(served[0], 700ULL * SLOTS);
	assert_int_equal(served[1], 700ULL * SLOTS);
	mac_sched_fini(&s);
}

/** Whoever comes back after a pause is neither owed nor fined for it for long. */
static void
a_pause_earns_little(void **state)
{
	struct mac_sched s = made("proportional_fair", 1, 0);
	struct mac_sched_want w[] = {{0, 50000, CAPACITY}, {1, 50000, CAPACITY}};
	struct mac_sched_grant g[SLOT_UES_MAX];
	uint64_t t = 0, got[2] = {0};

	(void)state;
	for (; t < SLOTS; t++)
		assert_int_equal(mac_sched_run(&s, w, 1, NULL, t * SLOT_NS, g), 1);
	for (; t < 2 * SLOTS; t++) {
		assert_int_equal(mac_sched_run(&s, w, 2, NULL, t * SLOT_NS, g), 1);
		got[g[0].ue] += g[0].bytes;
	}
	assert_true(got[1] > got[0] && got[1] < got[0] + got[0] / 5);
	mac_sched_fini(&s);
}

static void
configuration_is_checked(void **state)
{
	struct mac_sched_cfg cfg = {.policy = "lottery", .nb_ues = 1, .ues_per_slot = 1};
	struct mac_sched s;

	(void)state;
	assert_int_equal(mac_sched_init(&s, &cfg), -EINVAL);
	cfg.policy = "round_robin";
	cfg.ues_per_slot = SLOT_UES_MAX + 1;
	assert_int_equal(mac_sched_init(&s, &cfg), -EINVAL);
	cfg.ues_per_slot = 1;
	cfg.nb_ues = 0;
	assert_int_equal(mac_sched_init(&s, &cfg), -EINVAL);
	cfg.nb_ues = 1;
	assert_int_equal(mac_sched_init(&s, &cfg), 0);
	assert_int_equal(mac_sched_run(&s, NULL, 0, NULL, 0, NULL), 0);
	mac_sched_fini(&s);
}

#define PER_FRAME 20

static void
report(struct mac_ul *ul, uint64_t bytes, uint64_t slot)
{
	mac_ul_report(ul, bytes, 0, (uint16_t)(slot / PER_FRAME % 1024), slot % PER_FRAME);
}

/** SR, BSR, grants under way, and the end. */
static void
reports_become_wants(void **state)
{
	const uint64_t now = 1024 * PER_FRAME - 3; /* the SFN wraps on the way */
	struct mac_want w = {0};
	struct mac_ul ul = {0};
	uint32_t bytes;

	(void)state;
	assert_int_equal(mac_want(&w, &ul, now, PER_FRAME), 0);
	mac_ul_request(&ul);
	assert_int_equal(mac_want(&w, &ul, now, PER_FRAME), MAC_WANT_ASK_BYTES);
	mac_want_granted(&w, now, MAC_WANT_ASK_BYTES);
	assert_int_equal(mac_want(&w, &ul, now + 1, PER_FRAME), 0);
	report(&ul, 10000, now);
	bytes = mac_want(&w, &ul, now + 2, PER_FRAME);
	assert_in_range(bytes, 10000, 10300);
	mac_want_granted(&w, now + 2, 4000);
	assert_int_equal(mac_want(&w, &ul, now + 3, PER_FRAME), bytes - 4000);
	mac_want_granted(&w, now + 3, 3000);
	/* reported in slot now + 2, when the grant of now + 3 was under way */
	report(&ul, 8000, now + 2);
	bytes = mac_want(&w, &ul, now + 4, PER_FRAME);
	assert_in_range(bytes, 5000, 5300);
	mac_want_granted(&w, now + 4, bytes);
	report(&ul, 0, now + 4);
	for (uint64_t t = now + 5; t < now + 100; t++)
		assert_int_equal(mac_want(&w, &ul, t, PER_FRAME), 0);
}

/** Nothing is heard after a grant: the UE is asked, with more each time, and then left alone. */
static void
silence_is_asked(void **state)
{
	struct mac_want w = {0};
	struct mac_ul ul = {0};
	unsigned asked = 0;
	uint64_t t = 1000;

	(void)state;
	report(&ul, 5000, t);
	mac_want_granted(&w, t, mac_want(&w, &ul, t, PER_FRAME));
	for (; t < 2000; t++) {
		const uint32_t bytes = mac_want(&w, &ul, t, PER_FRAME);

		if (bytes == 0)
			continue;
		assert_int_equal(bytes, asked < 9 ? MAC_WANT_ASK_BYTES << asked : MAC_WANT_ASK_MAX);
		mac_want_granted(&w, t, bytes);
		asked++;
	}
	assert_int_equal(asked, MAC_WANT_VAIN);
	assert_false(w.active);
	mac_ul_request(&ul);
	assert_int_equal(mac_want(&w, &ul, t, PER_FRAME), MAC_WANT_ASK_BYTES);
}

/** A TB that HARQ had sent again says what waited when it was first sent. */
static void
old_reports_are_old(void **state)
{
	struct mac_want w = {0};
	struct mac_ul ul = {0};
	const uint64_t t = 5000;
	uint32_t bytes;

	(void)state;
	mac_want_granted(&w, t, 1000);     /* does not decode */
	mac_want_granted(&w, t + 1, 3000); /* does */
	mac_want_again(&w, t + 8, 2, t);
	report(&ul, 20000, t + 8); /* of carrier 0: no retransmission there */
	assert_in_range(mac_want(&w, &ul, t + 9, PER_FRAME), 20000, 20400);
	w = (struct mac_want){0};
	mac_want_granted(&w, t, 1000);
	mac_want_granted(&w, t + 1, 3000);
	mac_want_again(&w, t + 8, 2, t);
	mac_ul_report(&ul, 20000, 2, (t + 8) / PER_FRAME % 1024, (t + 8) % PER_FRAME);
	bytes = mac_want(&w, &ul, t + 9, PER_FRAME);
	assert_in_range(bytes, 17000, 17400); /* what was granted since is under way */
	report(&ul, 0, t + 1);                /* newer than that, though it came before */
	assert_int_equal(mac_want(&w, &ul, t + 10, PER_FRAME), 0);
	mac_want_again(&w, t + 9, 2, t);
	mac_ul_report(&ul, 20000, 2, (t + 9) / PER_FRAME % 1024, (t + 9) % PER_FRAME);
	assert_int_equal(mac_want(&w, &ul, t + 11, PER_FRAME), 0);
}

/** Where retransmissions took a part, what is left is shared out. */
static void
room_is_kept(void **state)
{
	const char *const policies[] = {"round_robin", "proportional_fair"};
	const struct mac_sched_want w[] = {
		{1, 50000, CAPACITY}, {4, 50000, CAPACITY}, {5, 50000, CAPACITY}};
	struct mac_sched_room room = {MAC_SCHED_WHOLE / 4, 2};
	struct mac_sched_grant g[SLOT_UES_MAX];

	(void)state;
	for (unsigned p = 0; p < 2; p++) {
		struct mac_sched s = made(policies[p], 4, 0);
		uint32_t sum = 0;
		unsigned n;

		room.ues = 2;
		n = mac_sched_run(&s, w, 3, &room, 0, g);
		assert_in_range(n, 1, 2);
		for (unsigned i = 0; i < n; i++)
			sum += g[i].bytes;
		assert_in_range(sum, CAPACITY / 4 - 4, CAPACITY / 4);
		room.ues = 0;
		assert_int_equal(mac_sched_run(&s, w, 3, &room, 0, g), 0);
		assert_int_equal(mac_sched_run(&s, w, 3, &(struct mac_sched_room){0, 3}, 0, g), 0);
		mac_sched_fini(&s);
	}
}

/** TS 38.214 table 5.2.2.1-2, in thousandths of a bit per symbol. */
static void
cqi_table(void **state)
{
	static const uint16_t table[] = {0,    152,  234,  377,  602,  877,  1176, 1477,
					 1914, 2406, 2731, 3322, 3902, 4523, 5115, 5555};

	(void)state;
	assert_int_equal(mac_cqi_efficiency(0), 0);
	for (uint8_t cqi = 1; cqi <= MAC_CQI_MAX; cqi++)
		assert_in_range((mac_cqi_efficiency(cqi) * 1000 + 512) / 1024, table[cqi] - 1,
				table[cqi] + 1);
	assert_int_equal(mac_cqi_bytes(20000, 15), 20000);
	assert_int_equal(mac_cqi_bytes(20000, 9), 20000 * 2464 / 5688);
	assert_int_equal(mac_cqi_bytes(20000, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_channels_get_equal_parts),
		cmocka_unit_test(what_one_leaves_others_get),
		cmocka_unit_test(proportional_fair_uses_good_channels),
		cmocka_unit_test(proportional_fair_waits_for_good_slots),
		cmocka_unit_test(a_ue_is_limited),
		cmocka_unit_test(a_pause_earns_little),
		cmocka_unit_test(configuration_is_checked),
		cmocka_unit_test(reports_become_wants),
		cmocka_unit_test(silence_is_asked),
		cmocka_unit_test(old_reports_are_old),
		cmocka_unit_test(room_is_kept),
		cmocka_unit_test(cqi_table),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
