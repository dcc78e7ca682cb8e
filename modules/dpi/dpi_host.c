/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/dpi/dpi_parse.h"

enum dpi_verdict
dpi_host_take(const uint8_t *text, uint32_t len, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	/* The dot of the root names the same host, RFC 1034 §3.1. */
	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0)
		return DPI_NONE;
	if (len > DPI_HOST_MAX)
		return DPI_BAD;
	for (uint32_t i = 0; i < len; i++) {
		host[i] = dpi_host_octet(text[i]);
		if (host[i] == 0)
			return DPI_BAD;
	}
	out->host = host;
	out->host_len = (uint16_t)len;
	return DPI_FOUND;
}
