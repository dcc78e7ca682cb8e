/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_DPI_DPI_PARSE_H
#define AIRPATH_MODULES_DPI_DPI_PARSE_H

/**
 * The parsers behind dpi_look(). Each reads the first octets of a stream, or a datagram, from the
 * beginning, reads nothing behind `len`, and keeps nothing. `host` takes the name; `out` points at
 * it and at `data`. More octets of the same stream change no verdict but DPI_MORE.
 */

#include <stdbool.h>

#include "modules/dpi/dpi_name.h"

/** HTTP/1 request up to its Host field, RFC 9112 §2.1, §3. */
enum dpi_verdict dpi_http(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX],
			  struct dpi_name *out);

/** TLS records that begin with a ClientHello, RFC 8446 §5.1. */
enum dpi_verdict dpi_tls(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX],
			 struct dpi_name *out);

/** A ClientHello without records, RFC 8446 §4: as in TLS records put together and in CRYPTO
 * frames. Leaves `out->proto` to the caller. */
enum dpi_verdict dpi_tls_hello(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX],
			       struct dpi_name *out);

/** A DNS message that asks, RFC 1035 §4.1, of UDP. */
enum dpi_verdict dpi_dns(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX],
			 struct dpi_name *out);

/** The same behind its length, RFC 1035 §4.2.2, of TCP. */
enum dpi_verdict dpi_dns_tcp(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX],
			     struct dpi_name *out);

/** @return `c` in lower case, 0: not an octet of a host (RFC 3986 §3.2.2). */
static inline uint8_t
dpi_host_octet(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c | 0x20;
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
		return c;
	switch (c) {
	case '-':
	case '.':
	case '_':
	case '~':
	case '%':
	case '!':
	case '$':
	case '&':
	case '\'':
	case '(':
	case ')':
	case '*':
	case '+':
	case ',':
	case ';':
	case '=':
	case ':':
	case '[':
	case ']':
		return c;
	default:
		return 0;
	}
}

/**
 * A host in lower case.
 * @param len at most DPI_HOST_MAX
 * @param colons whether there are any
 * @return false: not all of it may be in a host
 */
bool dpi_host_copy(const uint8_t *text, uint32_t len, uint8_t host[DPI_HOST_MAX], bool *colons);

/** @return whether no octet is a control character or a space. */
bool dpi_all_visible(const uint8_t *text, uint32_t len);

/**
 * Takes a host as it is written, without port.
 * @return DPI_FOUND with `out->host` set; DPI_NONE: empty; DPI_BAD: too long, or not a host
 */
enum dpi_verdict dpi_host_take(const uint8_t *text, uint32_t len, uint8_t host[DPI_HOST_MAX],
			       struct dpi_name *out);

static inline uint16_t
dpi_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

#endif
