/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "bench/upf_load.h"

#define NAMES 2000
#define NETS 1000

static struct upf_load *load;

/** Host and path of a request. */
static void
read_request(const char *request, char *host, char *path)
{
	assert_int_equal(sscanf(request, "GET %255s HTTP/1.1\r\nHost: %255s\r\n", path, host), 2);
}

static bool
ends_with(const char *host, const char *domain)
{
	const size_t n = strlen(host), k = strlen(domain);

	return n >= k && strcmp(host + n - k, domain) == 0 && (n == k || host[n - k - 1] == '.');
}

/** As the kinds of packet flow descriptions are told apart, in the plainest way. */
static bool
matches(const struct upf_load_name *rule, const char *host, const char *path)
{
	bool found;
	regex_t re;

	switch (rule->kind) {
	case UPF_LOAD_HOST:
		return strcmp(host, rule->text) == 0;
	case UPF_LOAD_SUFFIX:
		return ends_with(host, rule->text);
	case UPF_LOAD_HOST_PATTERN:
		return strstr(host, rule->text) != NULL;
	default:
		if (!rule->regex)
			return strstr(path, rule->text) != NULL;
		assert_int_equal(regcomp(&re, rule->text, REG_EXTENDED | REG_NOSUB), 0);
		found = regexec(&re, path, 0, NULL, 0) == 0;
		regfree(&re);
		return found;
	}
}

static void
test_a_request_matches_its_rule_alone(void **state)
{
	char host[256], path[256];

	(void)state;
	for (uint32_t i = 0; i < NAMES + UPF_LOAD_UNLISTED; i += i < NAMES ? 17 : 1) {
		read_request(load->names[i].request, host, path);
		for (uint32_t k = 0; k < NAMES; k++)
			if (matches(&load->names[k], host, path) != (k == i))
				fail_msg("'%s%s' of rule %u, rule %u is '%s'", host, path, i, k,
					 load->names[k].text);
	}
}

static void
test_requests_have_a_beginning_alone(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NAMES + UPF_LOAD_UNLISTED; i++) {
		const struct upf_load_name *n = &load->names[i];

		assert_int_equal(strlen(n->request), n->request_len);
		assert_true(n->request_len < UPF_LOAD_REQUEST_MAX);
		assert_null(strstr(n->request, "\r\n\r\n"));
		assert_string_equal(n->request + n->request_len - 10, "\r\nCookie: ");
	}
}

static void
test_kinds_have_their_shares(void **state)
{
	unsigned kinds[5] = {0}, regex = 0, apps[UPF_LOAD_STATIC + 1] = {0};

	(void)state;
	for (uint32_t i = 0; i < NAMES; i++) {
		kinds[load->names[i].kind]++;
		regex += load->names[i].regex;
		apps[load->names[i].app]++;
	}
	assert_int_equal(kinds[UPF_LOAD_HOST], NAMES * 60 / 100);
	assert_int_equal(kinds[UPF_LOAD_SUFFIX], NAMES * 25 / 100);
	assert_int_equal(kinds[UPF_LOAD_HOST_PATTERN], NAMES * 5 / 100);
	assert_int_equal(kinds[UPF_LOAD_URL_PATTERN], NAMES * 10 / 100);
	assert_int_equal(regex, NAMES / 10 / 50);
	for (unsigned a = 1; a <= UPF_LOAD_STATIC; a++)
		assert_in_range(apps[a], NAMES / UPF_LOAD_STATIC, NAMES / UPF_LOAD_STATIC + 1);
	assert_int_equal(apps[0], 0);
}

static void
test_networks_do_not_overlap(void **state)
{
	uint64_t end = 0;

	(void)state;
	for (uint32_t i = 0; i < NETS; i++) {
		const struct upf_load_net *n = &load->nets[i];
		const uint64_t hosts = 1ULL << (32 - n->bits);

		assert_in_range(n->bits, 20, 32);
		assert_int_equal(n->address % hosts, 0);
		assert_true(n->address >= end);
		end = n->address + hosts;
		assert_true(end <= upf_load_dynamic_net(UPF_LOAD_STATIC + 1));
		assert_in_range(n->app, 1, UPF_LOAD_STATIC);
	}
	for (unsigned p = UPF_LOAD_STATIC + 1; p <= UPF_LOAD_POLICIES; p++) {
		assert_true(upf_load_dynamic_net(p) >= end);
		end = upf_load_dynamic_net(p) + (1ULL << (32 - UPF_LOAD_DYNAMIC_BITS));
		assert_true(end <= UPF_LOAD_ELSEWHERE);
	}
}

static void
test_the_seed_decides(void **state)
{
	struct upf_load *same = upf_load_make(NAMES, NETS, 7), *other = upf_load_make(NAMES, 0, 8);

	(void)state;
	assert_non_null(same);
	assert_non_null(other);
	for (uint32_t i = 0; i < NAMES; i++) {
		assert_string_equal(load->names[i].request, same->names[i].request);
		assert_string_not_equal(load->names[i].text, other->names[i].text);
	}
	assert_memory_equal(load->nets, same->nets, NETS * sizeof(load->nets[0]));
	upf_load_free(same);
	upf_load_free(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_matches_its_rule_alone),
		cmocka_unit_test(test_requests_have_a_beginning_alone),
		cmocka_unit_test(test_kinds_have_their_shares),
		cmocka_unit_test(test_networks_do_not_overlap),
		cmocka_unit_test(test_the_seed_decides),
	};
	int rc;

	load = upf_load_make(NAMES, NETS, 7);
	if (load == NULL)
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	upf_load_free(load);
	return rc;
}
