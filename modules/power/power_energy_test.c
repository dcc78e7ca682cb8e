/* SPDX-License-Identifier: BSD-3-Clause */
/** Tables, RAPL counters and what time in states comes to. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "modules/power/power.h"
#include "modules/power/power_rapl.h"

#define SECOND AP_NS_PER_S

#define TABLE                                                                                      \
	"name: t\nsource: a test\nbase_watts: 0\npause_share: 0.5\n"                               \
	"pstates: [{mhz: 2000, watts: 8}, {mhz: 1000, watts: 2}]\n"                                \
	"cstates: [{name: C1, watts: 1, exit_us: 2, residency_us: 0}, "                            \
	"{name: C6, watts: 0.1, exit_us: 100, residency_us: 300}]\n"

static char folder[] = "/tmp/airpath_power_XXXXXX";

static void
write_file(const char *name, const char *text)
{
	char path[192];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct power_table *
load(const char *text, struct ap_error *err)
{
	char beside[64];

	*err = (struct ap_error){0};
	write_file("t.yaml", text);
	snprintf(beside, sizeof(beside), "%s/deployment.yaml", folder);
	return power_table_load("t.yaml", beside, err);
}

static void
test_table(void **state)
{
	struct ap_error err;
	struct power_table *t = load(TABLE, &err);

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->pstates_count, 2);
	assert_int_equal(t->pstates[1].mhz, 1000);
	assert_int_equal(power_table_cstate(t, 0), 0);
	assert_int_equal(power_table_cstate(t, 299999), 0);
	assert_int_equal(power_table_cstate(t, 300000), 1);
	assert_int_equal(power_table_cstate(t, UINT64_MAX), 1);
	power_table_free(t);
}

static void
assert_refused(const char *from, const char *to, const char *why)
{
	char text[sizeof(TABLE) + 64] = TABLE;
	struct ap_error err;
	char *at = strstr(text, from);
	char rest[sizeof(text)];

	assert_non_null(at);
	snprintf(rest, sizeof(rest), "%s%s", to, at + strlen(from));
	snprintf(at, sizeof(text) - (size_t)(at - text), "%s", rest);
	assert_null(load(text, &err));
	if (strstr(err.text, why) == NULL || strstr(err.text, "t.yaml") == NULL)
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void
test_bad_tables_say_why(void **state)
{
	struct ap_error err = {0};

	(void)state;
	assert_refused("mhz: 1000", "mhz: 3000", "pstates[1]");
	assert_refused("mhz: 2000", "mhz: 0", "pstates[0]");
	assert_refused("mhz: 2000", "mhz: 2k", "pstates[0].mhz");
	assert_refused("watts: 8", "watts: 8W", "pstates[0].watts");
	assert_refused("watts: 2}", "watts: -2}", "pstates[1]");
	assert_refused("pause_share: 0.5", "pause_share: 1.5", "pause_share");
	assert_refused("residency_us: 300", "residency_us: 0", "cstates[1]");
	assert_refused("residency_us: 0", "residency_us: 1", "cstates[0]");
	assert_refused("source: a test", "sauce: a test", "sauce");
	assert_refused("{mhz: 2000, watts: 8}, {mhz: 1000, watts: 2}", "", "");
	assert_null(power_table_load("no-such-table.yaml", NULL, &err));
	assert_non_null(strstr(err.text, "no-such-table.yaml: cannot be opened"));
}

/** The preset that deployments name. */
static void
test_preset(void **state)
{
	struct ap_error err = {0};
	bool here = access("deploy/power", R_OK) == 0; /* or in the build folder */
	struct power_table *t = power_table_load(here ? "deploy/power/xeon-gold-5418y.yaml"
						      : "../deploy/power/xeon-gold-5418y.yaml",
						 NULL, &err);

	(void)state;
	if (t == NULL)
		fail_msg("%s", err.text);
	assert_int_equal(t->pstates_count, 13); /* P0 above 2 GHz ... P12 800 MHz */
	assert_true(t->pstates[0].mhz > 2000);
	assert_int_equal(t->pstates[12].mhz, 800);
	assert_true(t->cstates[t->cstates_count - 1].exit_us >= 100);
	power_table_free(t);
}

static void
rapl_package(unsigned i, const char *name, const char *uj)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/intel-rapl:%u", folder, i);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "intel-rapl:%u/name", i);
	write_file(path, name);
	snprintf(path, sizeof(path), "intel-rapl:%u/max_energy_range_uj", i);
	write_file(path, "1000000000\n");
	snprintf(path, sizeof(path), "intel-rapl:%u/energy_uj", i);
	write_file(path, uj);
}

static void
test_rapl(void **state)
{
	struct power_rapl r;

	(void)state;
	assert_int_equal(power_rapl_open(&r, "/no/such/folder"), 0);
	assert_true(isnan(power_rapl_read(&r)));
	rapl_package(0, "package-0\n", "5000000\n");
	rapl_package(1, "psys\n", "77\n"); /* a whole: packages are in it */
	rapl_package(2, "package-1\n", "999000000\n");
	assert_int_equal(power_rapl_open(&r, folder), 2);
	assert_true(fabs(power_rapl_read(&r)) < 1e-9);
	write_file("intel-rapl:0/energy_uj", "7000000\n");
	write_file("intel-rapl:1/energy_uj", "999999\n");
	write_file("intel-rapl:2/energy_uj", "1500000\n"); /* went round: 2.5 J */
	assert_true(fabs(power_rapl_read(&r) - 4.5) < 1e-9);
	assert_true(fabs(power_rapl_read(&r) - 4.5) < 1e-9);
	write_file("intel-rapl:0/energy_uj", "soon\n");
	assert_true(isnan(power_rapl_read(&r)));
}

/** One second, of which half in each P-state, with pauses and sleep. */
static void
test_figures(void **state)
{
	static const struct ap_governor sleeping = {.name = "adaptive", .sleeps = true};
	static const struct ap_governor busy = {.name = "busy"};
	struct ap_error err;
	struct power_table *t = load(TABLE, &err);
	struct power_lcore l = {.table = t};
	struct ap_worker w = {.governor = &sleeping, .governor_state = &l};
	struct power_sample a = {.ns = 10 * SECOND, .time.since_ns = 10 * SECOND}, b = a;
	struct power_figures f;

	(void)state;
	assert_int_equal(power_pstates_open(&l.pstates, AP_PSTATES_MODEL, 0, t, &err), 0);
	b.ns = 11 * SECOND;
	b.cpu_ns = SECOND / 4;
	b.sleeps = 300;
	b.time.in_state[0] = SECOND / 2;
	b.time.since_ns = 10 * SECOND + SECOND / 2;
	b.pstate = 1; /* the other half is still running */
	b.time.paused[0] = SECOND / 4;
	b.time.asleep[1] = SECOND / 4;
	b.time.cstate[0] = SECOND / 8;
	b.time.cstate[1] = SECOND / 8;
	power_figures(&w, NULL, &a, &b, &f);
	assert_true(fabs(f.cpu_percent - 25) < 1e-6);
	assert_true(fabs(f.wakeups_per_s - 300) < 1e-6);
	/* Awake for 1/2 s at 2000 MHz and 1/4 s at 1000 MHz. */
	assert_true(fabs(f.mhz - 1250 / 0.75) < 1e-6);
	/* P0 1/4 s and, paused, at half of it; P1 1/4 s; C1 and C6 1/8 s each. */
	assert_true(fabs(f.watts -
			 (8 * 0.25 + 8 * 0.25 * 0.5 + 2 * 0.25 + 1 * 0.125 + 0.1 * 0.125)) < 1e-6);
	/* Half a second more in one sleep, which goes on. */
	b.time.asleep_since_ns = b.ns;
	b.ns += SECOND / 2;
	power_figures(&w, NULL, &a, &b, &f);
	assert_true(fabs(f.mhz - 1250 / 0.75) < 1e-6);
	assert_true(fabs(f.watts * 1.5 - (8 * 0.25 + 8 * 0.25 * 0.5 + 2 * 0.25 + 1 * 0.125 +
					  0.1 * 0.125 + 0.1 * 0.5)) < 1e-6);
	/* And a period within it. */
	a = b;
	b.ns += SECOND;
	power_figures(&w, NULL, &a, &b, &f);
	assert_true(fabs(f.watts - 0.1) < 1e-6);
	a = (struct power_sample){.ns = 10 * SECOND};
	b.ns = 11 * SECOND;
	w.governor = &busy;
	b.cpu_ns = SECOND;
	power_figures(&w, t, &a, &b, &f);
	assert_true(fabs(f.watts - 8) < 1e-6 && fabs(f.mhz - 2000) < 1e-6);
	power_figures(&w, NULL, &a, &b, &f);
	assert_true(isnan(f.watts) && isnan(f.mhz));
	power_table_free(t);
}

static void
test_model_steps(void **state)
{
	struct power_pstates p;
	struct ap_error err;
	struct power_table *t = load(TABLE, &err);

	(void)state;
	assert_int_equal(power_pstates_open(&p, AP_PSTATES_MODEL, 0, t, &err), 0);
	assert_string_equal(power_pstates_name(&p), "model");
	assert_int_equal(p.now, 0);
	assert_int_equal(p.slower[0], 0);
	assert_int_equal(p.slower[1], 1 << 16); /* half the frequency: as long again */
	assert_false(power_pstates_step(&p, POWER_NEXT));
	assert_true(power_pstates_down(&p));
	assert_false(power_pstates_down(&p));
	assert_int_equal(p.now, 1);
	assert_false(power_pstates_step(&p, POWER_KEEP));
	assert_true(power_pstates_step(&p, POWER_NEXT));
	assert_true(power_pstates_down(&p));
	assert_true(power_pstates_step(&p, POWER_HIGHEST));
	assert_int_equal(p.now, 0);
	power_pstates_close(&p);
	assert_int_equal(power_pstates_open(&p, AP_PSTATES_NONE, 0, NULL, &err), 0);
	assert_false(power_pstates_step(&p, POWER_HIGHEST));
	assert_false(power_pstates_down(&p));
	assert_string_equal(power_pstates_name(&p), "none");
	err.text[0] = '\0';
	assert_true(power_pstates_open(&p, AP_PSTATES_RTE_POWER, 100000, NULL, &err) < 0);
	assert_non_null(strstr(err.text, "CPU 100000 has no cpufreq"));
	power_table_free(t);
}

/** Lcores without priority get no faster than the second state, or what is said. */
static void
test_priority_is_a_ceiling(void **state)
{
	static const struct ap_governor sleeping = {.name = "adaptive", .sleeps = true};
	static const struct ap_governor busy = {.name = "busy"};
	struct power_lcore l = {0};
	struct ap_worker w = {.governor = &sleeping, .governor_state = &l};
	struct power_pstates *p = &l.pstates;
	struct ap_error err;
	struct power_table *t = load(TABLE, &err);
	char text[48];

	(void)state;
	assert_int_equal(power_pstates_open(p, AP_PSTATES_MODEL, 0, t, &err), 0);
	power_pstates_limit(p, AP_PRIORITY_NONE, 1000);
	assert_int_equal(p->now, 0);
	assert_null(power_priority_effect(&w, text, sizeof(text)));
	w.priority = AP_PRIORITY_HIGH;
	power_pstates_limit(p, w.priority, 1000);
	assert_int_equal(p->now, 0);
	assert_string_equal(power_priority_effect(&w, text, sizeof(text)), "up to 2000 MHz");
	w.priority = AP_PRIORITY_NORMAL;
	power_pstates_limit(p, w.priority, 0);
	assert_int_equal(p->now, 1);
	assert_string_equal(power_priority_effect(&w, text, sizeof(text)), "up to 1000 MHz");
	assert_false(power_pstates_step(p, POWER_HIGHEST));
	assert_false(power_pstates_step(p, POWER_NEXT));
	assert_int_equal(p->now, 1);
	power_pstates_limit(p, w.priority, 2000); /* all of them */
	assert_int_equal(p->now, 0);
	assert_true(power_pstates_down(p));
	assert_true(power_pstates_step(p, POWER_HIGHEST));
	assert_int_equal(p->now, 0);
	power_pstates_limit(p, w.priority, 1); /* none is so slow: the slowest */
	assert_int_equal(p->now, 1);
	power_pstates_close(p);
	w.priority = AP_PRIORITY_HIGH;
	assert_string_equal(power_priority_effect(&w, text, sizeof(text)), "no effect");
	w.governor = &busy;
	w.governor_state = NULL;
	assert_string_equal(power_priority_effect(&w, text, sizeof(text)), "no effect");
	power_table_free(t);
}

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **state)
{
	char cmd[64];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -r %s", folder);
	return system(cmd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_bad_tables_say_why),
		cmocka_unit_test(test_preset),
		cmocka_unit_test(test_rapl),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_model_steps),
		cmocka_unit_test(test_priority_is_a_ceiling),
	};

	return cmocka_run_group_tests_name("power_energy", tests, make_folder, remove_folder);
}
