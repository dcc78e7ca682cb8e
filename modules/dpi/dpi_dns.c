/* SPDX-License-Identifier: BSD-3-Clause */

/* DNS: the name a query asks for, RFC 1035 §4.1. */

#include <stdbool.h>

#include "modules/dpi/dpi_parse.h"

#define HEADER 12
#define LABEL_MAX 63
#define NAME_MAX_WIRE 255 /* lengths and root label counted, §2.3.4 */
#define QTYPE_QCLASS 4

/** QNAME in dotted form; `at` is behind the header. */
static enum dpi_verdict
question(const uint8_t *data, uint32_t len, uint8_t *host, struct dpi_name *out)
{
	uint32_t at = HEADER, n = 0;
	bool plain = true;

	for (;;) {
		uint32_t label;

		/* Nothing stands in front of the first question that could be pointed at. */
		if (at >= len || data[at] > LABEL_MAX)
			return DPI_BAD;
		label = data[at++];
		if (label == 0)
			break;
		if (label > len - at || at + label - HEADER >= NAME_MAX_WIRE)
			return DPI_BAD;
		if (n > 0)
			host[n++] = '.';
		for (uint32_t i = 0; i < label; i++) {
			host[n] = dpi_host_octet(data[at + i]);
			plain &= host[n] != 0 && host[n] != '.';
			n++;
		}
		at += label;
	}
	if (len - at < QTYPE_QCLASS)
		return DPI_BAD;
	/* The root, and octets no host name has, though DNS carries them (RFC 2181 §11). */
	if (n == 0 || !plain)
		return DPI_NONE;
	out->host = host;
	out->host_len = (uint16_t)n;
	return DPI_FOUND;
}

enum dpi_verdict
dpi_dns(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	*out = (struct dpi_name){.proto = DPI_DNS};
	if (len < HEADER)
		return DPI_BAD;
	/* Responses; opcodes but QUERY; queries without a question (RFC 7873 §5.4). */
	if ((data[2] & 0xf8) != 0 || dpi_be16(data + 4) == 0)
		return DPI_NONE;
	return question(data, len, host, out);
}

enum dpi_verdict
dpi_dns_tcp(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	*out = (struct dpi_name){.proto = DPI_DNS};
	if (len < 2 || len - 2 < dpi_be16(data))
		return DPI_MORE;
	return dpi_dns(data + 2, dpi_be16(data), host, out);
}
