/* SPDX-License-Identifier: BSD-3-Clause */
/* Which line of the file a value of the deployment is of. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/config_check.h"

#define MARKS_STEP 256

int
config_mark(struct ap_config *cfg, const void *at, size_t size, size_t line)
{
	if (cfg->marks_count % MARKS_STEP == 0) {
		struct ap_cfg_mark *marks =
			realloc(cfg->marks, (cfg->marks_count + MARKS_STEP) * sizeof(*marks));

		if (marks == NULL)
			return -ENOMEM;
		cfg->marks = marks;
	}
	cfg->marks[cfg->marks_count++] = (struct ap_cfg_mark){at, (uint32_t)size, (uint32_t)line};
	return 0;
}

unsigned
ap_config_line(const struct ap_config *cfg, const void *at)
{
	const struct ap_cfg_mark *best = NULL;

	/* The smallest that holds it: itself, or what it would be in. */
	for (unsigned i = 0; i < cfg->marks_count; i++) {
		const struct ap_cfg_mark *m = &cfg->marks[i];

		if ((uintptr_t)at - (uintptr_t)m->at < m->size && (!best || m->size < best->size))
			best = m;
	}
	return best ? best->line : 0;
}

int
config_warn(struct ap_config *cfg, const char *fmt, ...)
{
	char *text, *all;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	n = asprintf(&all, "%s%s\n", cfg->warnings ? cfg->warnings : "", text);
	free(text);
	if (n < 0)
		return -ENOMEM;
	free(cfg->warnings);
	cfg->warnings = all;
	return 0;
}
