/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/trial.h"

/** A device that carries `capacity` packets/s, on a machine with bad moments. */
struct device {
	double capacity;
	double generator;     /* most it can be offered */
	unsigned bad_percent; /* trials a neighbour spoils */
	unsigned trials;
	unsigned fail_after; /* trials until the run itself fails */
	uint64_t corrupt;
};

static int
simulate(void *arg, double rate, double seconds, struct trial_outcome *o)
{
	struct device *d = arg;
	double sent = rate < d->generator ? rate : d->generator, carried = d->capacity;

	if (d->fail_after && d->trials >= d->fail_after)
		return -ETIMEDOUT;
	d->trials++;
	if ((unsigned)rand() % 100 < d->bad_percent)
		carried *= 0.5;
	o->achieved = sent;
	o->sent = (uint64_t)(sent * seconds);
	o->lost = sent > carried ? (uint64_t)((sent - carried) * seconds) + 1 : 0;
	o->corrupted = d->corrupt;
	o->generator_limited = sent < rate * 0.99;
	return 0;
}

static const struct trial_cfg usual = {
	.seconds = 0.1, .min_rate = 1e4, .max_rate = 20e6, .resolution = 0.01, .repeats = 3};

static struct device
quiet(double capacity)
{
	return (struct device){.capacity = capacity, .generator = 1e12};
}

static void
search_finds_the_capacity(void **state)
{
	static const double capacities[] = {10100, 123456, 1e6, 7.77e6, 19.9e6};

	(void)state;
	for (unsigned i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		struct device d = quiet(capacities[i]);
		struct trial_outcome best;

		assert_int_equal(trial_search(&usual, simulate, &d, &best), 0);
		assert_true(best.offered <= capacities[i]);
		assert_true(best.offered >= capacities[i] * 0.98);
		assert_int_equal(best.lost, 0);
		assert_true(d.trials < 60);
	}
}

static void
search_sees_through_noise(void **state)
{
	unsigned close = 0;

	(void)state;
	srand(11);
	for (unsigned i = 0; i < 200; i++) {
		struct device d = quiet(5e6);
		struct trial_cfg cfg = usual;
		struct trial_outcome best;

		d.bad_percent = 20;
		cfg.repeats = 4;
		assert_int_equal(trial_search(&cfg, simulate, &d, &best), 0);
		assert_true(best.offered <= 5e6);
		assert_true(trial_passed(&cfg, &best));
		close += best.offered >= 5e6 * 0.97;
	}
	assert_true(close >= 190);
}

static void
full_rate_needs_one_trial(void **state)
{
	struct device d = quiet(1e9);
	struct trial_outcome best;

	(void)state;
	assert_int_equal(trial_search(&usual, simulate, &d, &best), 0);
	assert_int_equal(d.trials, 1);
	assert_true(best.offered == usual.max_rate);
	assert_false(best.generator_limited);
}

static void
generator_limit_is_said(void **state)
{
	struct device d = quiet(8e6);
	struct trial_outcome best;

	(void)state;
	d.generator = 6e6;
	assert_int_equal(trial_search(&usual, simulate, &d, &best), 0);
	assert_true(best.generator_limited);
	assert_true(best.achieved == 6e6);
}

static void
hopeless_devices_are_reported(void **state)
{
	struct device d = quiet(100);
	struct trial_outcome best;

	(void)state;
	assert_int_equal(trial_search(&usual, simulate, &d, &best), -ENOENT);
	d = quiet(1e9);
	d.corrupt = 1;
	assert_int_equal(trial_search(&usual, simulate, &d, &best), -ENOENT);
	d = quiet(1e6);
	d.fail_after = 3;
	assert_int_equal(trial_search(&usual, simulate, &d, &best), -ETIMEDOUT);
	assert_int_equal(trial_search(&(struct trial_cfg){0}, simulate, &d, &best), -EINVAL);
}

static void
tolerance_is_a_share_of_what_was_sent(void **state)
{
	struct trial_cfg cfg = {.loss_tolerance = 0.001};
	struct trial_outcome o = {.sent = 10000, .lost = 10};

	(void)state;
	assert_true(trial_passed(&cfg, &o));
	o.lost = 11;
	assert_false(trial_passed(&cfg, &o));
	o = (struct trial_outcome){.sent = 10000, .corrupted = 1};
	assert_false(trial_passed(&cfg, &o));
	o = (struct trial_outcome){0};
	assert_false(trial_passed(&cfg, &o));
}

static void
progress_rewrites_only_a_terminal(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct trial_progress p = {.to = f, .tty = true};

	(void)state;
	trial_progress_show(&p, "long line %d", 1);
	trial_progress_show(&p, "short");
	trial_progress_end(&p, "end");
	p.tty = false;
	trial_progress_show(&p, "unseen");
	trial_progress_end(&p, "final");
	fclose(f);
	assert_string_equal(text, "\rlong line 1\rshort      \rend  \nfinal\n");
	free(text);
	p.to = NULL;
	trial_progress_show(&p, "nowhere");
	trial_progress_end(&p, "nowhere");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search_finds_the_capacity),
		cmocka_unit_test(search_sees_through_noise),
		cmocka_unit_test(full_rate_needs_one_trial),
		cmocka_unit_test(generator_limit_is_said),
		cmocka_unit_test(hopeless_devices_are_reported),
		cmocka_unit_test(tolerance_is_a_share_of_what_was_sent),
		cmocka_unit_test(progress_rewrites_only_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
