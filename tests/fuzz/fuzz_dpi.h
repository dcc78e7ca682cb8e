/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_TESTS_FUZZ_DPI_H
#define AIRPATH_TESTS_FUZZ_DPI_H

/** What holds for all parsers of names. */

#include <stdlib.h>
#include <string.h>

#include "modules/dpi/dpi_parse.h"

typedef enum dpi_verdict (*fuzz_dpi_parser)(const uint8_t *, uint32_t, uint8_t *,
					    struct dpi_name *);

/** Names have octets of hosts alone. */
static inline void
fuzz_dpi_check(enum dpi_verdict v, const struct dpi_name *n)
{
	if (v != DPI_FOUND)
		return;
	if (n->host_len == 0 || n->host_len > DPI_HOST_MAX)
		abort();
	for (unsigned i = 0; i < n->host_len; i++) {
		if (dpi_host_octet(n->host[i]) != n->host[i])
			abort();
	}
}

/** The first octet of `data` says where it is cut. */
static inline void
fuzz_dpi_parts(fuzz_dpi_parser p, const uint8_t *data, size_t size)
{
	uint8_t host[DPI_HOST_MAX], again[DPI_HOST_MAX];
	enum dpi_verdict v, w;
	struct dpi_name n = {0}, m = {0};
	uint32_t len, cut;

	if (size == 0)
		return;
	len = (uint32_t)size - 1;
	cut = len * data[0] / 256;
	v = p(data + 1, len, host, &n);
	w = p(data + 1, cut, again, &m);
	fuzz_dpi_check(v, &n);
	fuzz_dpi_check(w, &m);
	if (w == DPI_MORE)
		return;
	if (w != v)
		abort();
	if (v == DPI_FOUND && (m.host_len != n.host_len || m.path_len != n.path_len ||
			       memcmp(host, again, n.host_len) != 0))
		abort();
}

#endif
