/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Texts of rules as an operator or the control plane sends them: counted, refused or built, never a
 * crash. A host name that is taken is found again. Expressions are counted and not compiled: that
 * is left to a process that may end.
 */
#include <stdlib.h>
#include <string.h>

#include "modules/dpi/dpi_cost.h"
#include "modules/dpi/dpi_hosts.h"
#include "modules/dpi/dpi_set.h"
#include "tests/support/test_eal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The leak checker does not see pointers in DPDK's memory. */
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (test_eal_init() < 0)
		abort();
	return 0;
}

static void
find_again(const struct dpi_set *set, const struct dpi_rule *r)
{
	char host[DPI_HOST_MAX];
	const char *why;
	int len = dpi_host_normal(r->text, r->kind == DPI_RULE_SUFFIX, host, &why);
	struct dpi_name name = {.host = (const uint8_t *)host, .host_len = (uint16_t)len};

	if (len <= 0 || dpi_set_name(set, NULL, &name) != r->app)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dpi_rule rule = {.app = 3};
	struct dpi_error err;
	struct dpi_set *set;
	uint64_t positions;
	const char *why;
	char *text;

	if (size < 1 || size > 4096 || (text = malloc(size)) == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (dpi_cost(text, &positions, &why) == 0 && positions > DPI_COST_MAX)
		abort();
	rule.text = text;
	rule.kind = (enum dpi_rule_kind)(1 + data[0] % 4);
	if (dpi_set_build(&rule, 1, NULL, 1, &set, &err) == 0) {
		if (rule.kind == DPI_RULE_HOST || rule.kind == DPI_RULE_SUFFIX)
			find_again(set, &rule);
		dpi_set_free(set);
	} else if (err.why[0] == '\0') {
		abort();
	}
	free(text);
	return 0;
}
