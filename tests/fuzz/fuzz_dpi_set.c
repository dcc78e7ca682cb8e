/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Names as hostile flows tell them, looked up in a set of all kinds of rules: any octets, of any
 * length, in memory that ends with them. What hosts and domains say is compared with a plain walk.
 */
#include <stdlib.h>
#include <string.h>

#include "modules/dpi/dpi_set.h"
#include "tests/support/test_eal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NB(a) (sizeof(a) / sizeof((a)[0]))

static const struct dpi_rule rules[] = {
	{DPI_RULE_HOST, 1, 0, "a", {.flags = 0}},
	{DPI_RULE_HOST, 2, 0, "www.example.com", {.flags = 0}},
	{DPI_RULE_SUFFIX, 3, 0, "com", {.flags = 0}},
	{DPI_RULE_SUFFIX, 4, 0, "a.b", {.flags = 0}},
	{DPI_RULE_SUFFIX, 5, 0, "b.a.b", {.flags = 0}},
	{DPI_RULE_SUFFIX, 6, 0, "a.a.a.a.a.a.a.a.a.a", {.flags = 0}},
	{DPI_RULE_HOST_PATTERN, 7, 0, "ba", {.flags = 0}},
	{DPI_RULE_HOST_PATTERN, 8, 1, "c[0-9]+(a|b){1,20}$", {.flags = 0}},
	{DPI_RULE_URL_PATTERN, 9, 0, "/x", {.flags = 0}},
	{DPI_RULE_URL_PATTERN, 10, 0, "http://b/", {.flags = 0}},
	{DPI_RULE_URL_PATTERN, 11, 1, "y.{0,40}z", {.flags = 0}},
};
#define WHOLE_NAMES 6

static struct dpi_set *set, *hosts;
static struct dpi_scratch *scratch;

/** The leak checker does not see pointers in DPDK's memory. */
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct dpi_error err;

	(void)argc;
	(void)argv;
	if (test_eal_init() < 0 || dpi_set_build(rules, NB(rules), NULL, 1, &set, &err) != 0 ||
	    dpi_set_build(rules, WHOLE_NAMES, NULL, 2, &hosts, &err) != 0 ||
	    (scratch = dpi_scratch_alloc(set)) == NULL)
		abort();
	return 0;
}

static uint16_t
walk(const uint8_t *host, size_t len)
{
	size_t longest = 0;
	uint16_t app = 0;

	for (unsigned i = 0; i < WHOLE_NAMES; i++) {
		size_t n = strlen(rules[i].text);

		if (len < n || memcmp(host + len - n, rules[i].text, n) != 0)
			continue;
		if (rules[i].kind == DPI_RULE_HOST && len == n)
			return rules[i].app;
		if (rules[i].kind == DPI_RULE_SUFFIX && n > longest &&
		    (len == n || host[len - n - 1] == '.')) {
			longest = n;
			app = rules[i].app;
		}
	}
	return app;
}

static uint8_t *
copy(const uint8_t *p, size_t len)
{
	uint8_t *to = malloc(len ? len : 1);

	if (!to)
		abort();
	memcpy(to, p, len);
	return to;
}

/** Two octets say how long the host is; the rest is the path. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dpi_name name = {.proto = DPI_HTTP};
	uint8_t *host, *path;
	size_t host_len;
	uint16_t app;

	if (size < 2 || size > UINT16_MAX)
		return 0;
	host_len = (size_t)(data[0] << 8 | data[1]) % (size - 1);
	host = copy(data + 2, host_len);
	path = copy(data + 2 + host_len, size - 2 - host_len);
	name.host = host;
	name.host_len = (uint16_t)host_len;
	name.path = path;
	name.path_len = (uint16_t)(size - 2 - host_len);
	app = dpi_set_name(set, scratch, &name);
	if (app > NB(rules) || app != dpi_set_name(set, scratch, &name))
		abort();
	name.path_len = 0;
	app = dpi_set_name(hosts, scratch, &name);
	if (app != (host_len > DPI_HOST_MAX ? 0 : walk(host, host_len)))
		abort();
	free(host);
	free(path);
	return 0;
}
