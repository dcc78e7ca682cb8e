/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "modules/dpi/dpi_hosts_impl.h"

static uint64_t seed = 1;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

/** Dots are found where they are, in names of all lengths. */
static void
dots(void **state)
{
	(void)state;
	for (unsigned len = 1; len <= DPI_HOST_MAX; len++)
		for (unsigned round = 0; round < 20; round++) {
			uint8_t *host = malloc(len); /* for the sanitizer to see its end */
			unsigned last = 0;
			struct dots d;

			for (unsigned i = 0; i < len; i++)
				host[i] = (uint8_t)(draw(round + 1) ? draw(256) : '.');
			dots_find(host, len, &d);
			for (unsigned i = 0; i <= DPI_HOST_MAX; i++)
				assert_int_equal(d.at[i / 64] >> i % 64 & 1,
						 i < len && host[i] == '.');
			for (unsigned end = 0; end <= len; end++) {
				assert_int_equal(label_before(&d, end), last);
				if (end < len && host[end] == '.')
					last = end + 1;
			}
			free(host);
		}
}

static void
same(void **state)
{
	(void)state;
	for (unsigned len = 0; len <= DPI_HOST_MAX; len++) {
		uint8_t *a = malloc(len + !len), *b = malloc(len + !len);

		for (unsigned i = 0; i < len; i++)
			a[i] = b[i] = (uint8_t)draw(256);
		assert_true(is_same(a, b, len));
		for (unsigned i = 0; i < len; i++) {
			b[i] ^= (uint8_t)(1 << draw(8));
			assert_false(is_same(a, b, len));
			b[i] = a[i];
		}
		free(a);
		free(b);
	}
}

/** What vector instructions say of a bucket is what a plain look says. */
static void
buckets(void **state)
{
	static uint32_t slots[BUCKET] __attribute__((aligned(64)));
	unsigned full = 0, alike = 0;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		const uint64_t hash = draw(8) ? (uint64_t)draw(1U << 31) << 33 : 0;
		const unsigned used = draw(BUCKET + 1);
		struct bucket is, should;
		uint32_t like = 0;

		for (unsigned i = 0; i < BUCKET; i++) {
			slots[i] = i < used ? draw(1U << 31) << 1 | 1 : 0;
			if (i < used && draw(4) == 0)
				slots[i] = tag_of(hash) | (1 + draw(SLOT_AT));
			like |= (uint32_t)(i < used &&
					   slots[i] >> SLOT_AT_BITS == tag_of(hash) >> SLOT_AT_BITS)
				<< i;
		}
		is = bucket_look(slots, hash);
		should = bucket_look_plain(slots, hash);
		assert_int_equal(is.like, should.like);
		assert_int_equal(is.full, should.full);
		assert_int_equal(is.like, like);
		assert_int_equal(is.full, used == BUCKET);
		full += is.full;
		alike += is.like != 0;
	}
	assert_in_range(full, 500, 5000);
	assert_in_range(alike, 5000, 19999);
}

static uint16_t
find(const struct dpi_hosts *hosts, const char *text)
{
	struct dpi_name name = {.host = (const uint8_t *)text, .host_len = (uint16_t)strlen(text)};
	const struct dpi_name *names[] = {&name};
	struct dpi_hosts_asked asked;
	uint16_t app = 0;

	dpi_hosts_ask(hosts, names, 1, &asked);
	dpi_hosts_look(hosts, &asked);
	dpi_hosts_tell(hosts, &asked, &app);
	return app;
}

/** Tables as full as they get, where buckets run over: each name is found, no other is. */
static void
full_tables(void **state)
{
	enum { MOST = 4096 };
	static struct dpi_rule rules[MOST];
	static char texts[MOST][48];

	(void)state;
	for (unsigned nb = 1; nb <= MOST; nb *= 2) {
		struct dpi_hosts *hosts;
		struct dpi_error err;

		for (unsigned i = 0; i < nb; i++) {
			snprintf(texts[i], sizeof(texts[i]), "%x.h%u.test", draw(1U << 30), i);
			rules[i] = (struct dpi_rule){
				.kind = DPI_RULE_HOST, .app = (uint16_t)(1 + i), .text = texts[i]};
		}
		assert_int_equal(dpi_hosts_build(rules, nb, &hosts, &err), 0);
		for (unsigned i = 0; i < nb; i++) {
			assert_int_equal(find(hosts, texts[i]), 1 + i);
			texts[i][0] ^= 1;
			assert_int_equal(find(hosts, texts[i]), 0);
		}
		dpi_hosts_free(hosts);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dots),
		cmocka_unit_test(same),
		cmocka_unit_test(buckets),
		cmocka_unit_test(full_tables),
	};

	return cmocka_run_group_tests_name("dpi_hosts", tests, NULL, NULL);
}
