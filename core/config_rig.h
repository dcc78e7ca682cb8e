/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CONFIG_RIG_H
#define AIRPATH_CORE_CONFIG_RIG_H

/** What tests of deployments share: what is wrong with a text. Include cmocka.h before. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"

static char path[] = "/tmp/airpath_config_XXXXXX";

/** @return what is wrong with a deployment, or NULL. */
static inline const char *
problem(const char *yaml)
{
	static struct ap_error err;
	struct ap_config *cfg;
	struct ap_plan *p;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(yaml, f);
	fclose(f);
	cfg = ap_config_load(path, &err);
	if (cfg == NULL)
		return err.text;
	p = ap_plan_make(cfg, &err);
	ap_plan_free(p);
	ap_config_free(cfg);
	return p ? NULL : err.text;
}

/** That it is refused as `FILE:LINE: …`, with both texts. */
static inline void
assert_problem(const char *yaml, const char *where, const char *why)
{
	const char *text = problem(yaml);
	const size_t len = strlen(path);
	unsigned line = 0;

	if (text == NULL)
		fail_msg("accepted, expected '%s'", why);
	if (strncmp(text, path, len) != 0 || !strstr(text, where) || !strstr(text, why))
		fail_msg("'%s' does not name '%s' and '%s'", text, where, why);
	if (yaml[0] != '\0' && (sscanf(text + len, ":%u:", &line) != 1 || line == 0))
		fail_msg("'%s' names no line", text);
}

/** The same where `to` stands in place of `from`, and that the line is that of `to`. */
static inline void
assert_spoiled(const char *yaml, const char *from, const char *to, const char *why)
{
	const char *at = strstr(yaml, from);
	char text[8192], place[32];
	unsigned line = 1;

	if (at == NULL)
		fail_msg("there is no '%s'", from);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - yaml), yaml, to, at + strlen(from));
	while (at-- > yaml)
		line += *at == '\n';
	for (const char *c = to; *c == '\n'; c++)
		line++;
	snprintf(place, sizeof(place), ":%u: ", line);
	assert_problem(text, place, why);
}

#endif
