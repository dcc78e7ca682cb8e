/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * tests/vectors/upf_owner.txt is what these functions make of a fixed sequence of questions. The
 * agent's own implementation is held to the same file (control/owner), so that both compute the
 * same bucket of a UE and the same TEIDs. `test_upf_owner_vectors --write` prints the file anew.
 */

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "modules/upf/upf_owner.h"

#define SLOTS 6
#define FIRST_GENERATION 250 /* generations come round within the file */
#define LIVE_MAX 64
#define STEPS 1500

static uint64_t seed;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

static uint32_t
draw_teid(void)
{
	const uint8_t generation = (uint8_t)draw(256);
	const uint16_t slot = (uint16_t)draw(SLOTS + 1);

	return upf_teid((uint16_t)draw(3), slot, generation);
}

static const char *
outcome(int rc)
{
	switch (rc) {
	case -EINVAL:
		return "EINVAL";
	case -ENOSPC:
		return "ENOSPC";
	case -EAGAIN:
		return "EAGAIN";
	case -EEXIST:
		return "EEXIST";
	case -ENOENT:
		return "ENOENT";
	default:
		return "ok";
	}
}

static void
write_buckets(FILE *f)
{
	for (unsigned i = 0; i < 64; i++) {
		uint8_t a[8];

		for (unsigned j = 0; j < sizeof(a); j++)
			a[j] = (uint8_t)draw(256);
		fprintf(f, "ip4 %02x%02x%02x%02x %u\n", a[0], a[1], a[2], a[3], upf_bucket_ip4(a));
		fprintf(f, "prefix6 %02x%02x%02x%02x%02x%02x%02x%02x %u\n", a[0], a[1], a[2], a[3],
			a[4], a[5], a[6], a[7], upf_bucket_prefix6(a));
	}
}

static const char *
state_name(enum upf_teid_state s)
{
	return s == UPF_TEID_LIVE ? "live" : s == UPF_TEID_STALE ? "stale" : "unknown";
}

/* One question and its answer a line: few buckets, so that slots run out and rest. */
static void
write_step(FILE *f, struct upf_teids *t, uint64_t now_ms, uint32_t *live, unsigned *n)
{
	uint64_t now = now_ms * 1000000;
	uint32_t teid = 0, i;
	int rc;

	switch (draw(6)) {
	case 0:
	case 1:
	case 2:
		i = draw(16) ? draw(3) : UPF_BUCKETS;
		rc = *n < LIVE_MAX ? upf_teids_alloc(t, i, now, &teid) : -EINVAL;
		if (*n == LIVE_MAX)
			return;
		if (rc == 0)
			live[(*n)++] = teid;
		fprintf(f, "alloc %" PRIu64 " %u %s %08x\n", now_ms, i, outcome(rc), teid);
		return;
	case 3:
		if (*n == 0)
			return;
		i = draw(*n);
		rc = upf_teids_free(t, live[i], now);
		fprintf(f, "free %" PRIu64 " %08x %s\n", now_ms, live[i], outcome(rc));
		live[i] = live[--*n];
		return;
	case 4:
		teid = draw_teid();
		rc = *n < LIVE_MAX ? upf_teids_claim(t, teid, now) : -EINVAL;
		if (*n == LIVE_MAX)
			return;
		if (rc == 0)
			live[(*n)++] = teid;
		fprintf(f, "claim %" PRIu64 " %08x %s\n", now_ms, teid, outcome(rc));
		return;
	default:
		teid = draw_teid();
		if (*n && draw(2))
			teid = live[draw(*n)];
		fprintf(f, "state %08x %s\n", teid, state_name(upf_teids_state(t, teid)));
		fprintf(f, "free %" PRIu64 " %08x %s\n", now_ms, teid ^ 1,
			outcome(upf_teids_free(t, teid ^ 1, now)));
		for (i = 0; i < *n; i++)
			if (live[i] == (teid ^ 1))
				live[i] = live[--*n];
	}
}

static void
write_all(FILE *f)
{
	struct upf_teids *t = upf_teids_create(SLOTS, FIRST_GENERATION);
	uint32_t live[LIVE_MAX];
	uint64_t now_ms = 1000;
	unsigned n = 0;

	seed = 29281;
	fprintf(f, "# SPDX-License-Identifier: BSD-3-Clause\n");
	fprintf(f, "# Written by test_upf_owner_vectors --write; times are ms, addresses and TEIDs "
		   "hexadecimal.\n");
	write_buckets(f);
	fprintf(f, "teids %u %u\n", SLOTS, FIRST_GENERATION);
	for (unsigned i = 0; i < STEPS; i++) {
		now_ms += draw(8) ? draw(1500) : draw(20000);
		write_step(f, t, now_ms, live, &n);
	}
	for (unsigned i = 0; i < 20; i++)
		fprintf(f, "any %" PRIu64 " %d\n", now_ms,
			upf_teids_any_bucket(t, now_ms * 1000000));
	fprintf(f, "count %u\n", upf_teids_live(t));
	upf_teids_destroy(t);
}

static void
agrees_with_the_file(void **state)
{
	const char *name = __FILE__, *slash = strrchr(name, '/');
	char path[4096], kept[256], made[256];
	FILE *file, *now = tmpfile();
	unsigned lines = 0;

	(void)state;
	assert_non_null(now);
	snprintf(path, sizeof(path), "%.*s/../../tests/vectors/upf_owner.txt",
		 slash ? (int)(slash - name) : 1, slash ? name : ".");
	file = fopen(path, "r");
	assert_non_null(file);
	write_all(now);
	rewind(now);
	while (fgets(made, sizeof(made), now)) {
		assert_non_null(fgets(kept, sizeof(kept), file));
		assert_string_equal(kept, made);
		lines++;
	}
	assert_null(fgets(kept, sizeof(kept), file));
	assert_true(lines > STEPS / 2);
	fclose(file);
	fclose(now);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_file),
	};

	if (argc > 1 && strcmp(argv[1], "--write") == 0) {
		write_all(stdout);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
