/* SPDX-License-Identifier: BSD-3-Clause */

/* TLS: the server name of a ClientHello, RFC 8446 §4.1.2, §5.1, RFC 6066 §3. */

#include <stdbool.h>
#include <string.h>

#include "modules/dpi/dpi_look.h"
#include "modules/dpi/dpi_parse.h"

#define RECORD_HEADER 5
#define RECORD_MAX 16384
#define HANDSHAKE 22
#define CLIENT_HELLO 1
#define HELLO_MAX 0x20000 /* each of its vectors as long as it can be */
#define EXTENSION_SERVER_NAME 0
#define NAME_HOST 0

/** Reads up to `end`; of that, octets up to `have` are there. */
struct cursor {
	const uint8_t *data;
	uint32_t at;
	uint32_t have;
	uint32_t end;
};

/** @return DPI_FOUND: `n` octets are there; DPI_MORE; DPI_BAD: they are beyond the end. */
static enum dpi_verdict
need(const struct cursor *c, uint32_t n)
{
	if (n > c->end - c->at)
		return DPI_BAD;
	return n > c->have - c->at ? DPI_MORE : DPI_FOUND;
}

/** Passes a vector with a length of `width` octets by. */
static enum dpi_verdict
skip_vector(struct cursor *c, uint32_t width)
{
	enum dpi_verdict v = need(c, width);
	uint32_t n;

	if (v != DPI_FOUND)
		return v;
	n = width == 1 ? c->data[c->at] : dpi_be16(c->data + c->at);
	v = need(c, width + n);
	c->at += v == DPI_FOUND ? width + n : 0;
	return v;
}

/** The extension, whole: ServerNameList of ServerName. */
static enum dpi_verdict
server_name(const uint8_t *data, uint32_t len, uint8_t *host, struct dpi_name *out)
{
	uint32_t at = 2;

	if (len < 2 || dpi_be16(data) != len - 2)
		return DPI_BAD;
	while (at < len) {
		uint32_t n;

		if (len - at < 3)
			return DPI_BAD;
		n = dpi_be16(data + at + 1);
		if (n == 0 || n > len - at - 3)
			return DPI_BAD;
		if (data[at] == NAME_HOST)
			return dpi_host_take(data + at + 3, n, host, out);
		at += 3 + n;
	}
	return DPI_NONE;
}

/** The extensions up to server_name; `c` is at their first. */
static enum dpi_verdict
extensions(struct cursor *c, uint8_t *host, struct dpi_name *out)
{
	while (c->at < c->end) {
		enum dpi_verdict v = need(c, 4);
		uint32_t type, n;

		if (v != DPI_FOUND)
			return v;
		type = dpi_be16(c->data + c->at);
		n = dpi_be16(c->data + c->at + 2);
		v = need(c, 4 + n);
		if (v != DPI_FOUND)
			return v;
		if (type == EXTENSION_SERVER_NAME)
			return server_name(c->data + c->at + 4, n, host, out);
		c->at += 4 + n;
	}
	return DPI_NONE;
}

enum dpi_verdict
dpi_tls_hello(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	struct cursor c = {.data = data, .at = 4, .have = len};
	enum dpi_verdict v;

	if (len == 0)
		return DPI_MORE;
	if (data[0] != CLIENT_HELLO)
		return DPI_NONE;
	if (len < 4)
		return DPI_MORE;
	c.end = 4 + ((uint32_t)data[1] << 16 | dpi_be16(data + 2));
	if (c.end > HELLO_MAX)
		return DPI_BAD;
	if (c.have > c.end)
		c.have = c.end;
	v = need(&c, 2 + 32); /* legacy_version, random */
	if (v != DPI_FOUND)
		return v;
	c.at += 2 + 32;
	v = skip_vector(&c, 1); /* legacy_session_id */
	if (v == DPI_FOUND)
		v = skip_vector(&c, 2); /* cipher_suites */
	if (v == DPI_FOUND)
		v = skip_vector(&c, 1); /* legacy_compression_methods */
	if (v != DPI_FOUND)
		return v;
	if (c.at == c.end)
		return DPI_NONE; /* up to TLS 1.2 they may be absent, RFC 5246 §7.4.1.2 */
	v = need(&c, 2);
	if (v != DPI_FOUND)
		return v;
	if (dpi_be16(data + c.at) != c.end - c.at - 2)
		return DPI_BAD;
	c.at += 2;
	return extensions(&c, host, out);
}

/** A record's header. @return its fragment's length, 0: not of a handshake. */
static uint32_t
record_length(const uint8_t *r)
{
	uint32_t n = dpi_be16(r + 3);

	return r[0] == HANDSHAKE && r[1] == 3 && n <= RECORD_MAX ? n : 0;
}

/** The fragments of several records, put together. */
static enum dpi_verdict
gathered(const uint8_t *data, uint32_t len, uint8_t *host, struct dpi_name *out)
{
	uint8_t hello[DPI_SCAN_OCTETS];
	uint32_t at = 0, n = 0;
	enum dpi_verdict v;

	while (n < sizeof(hello) && len - at >= RECORD_HEADER) {
		uint32_t part = record_length(data + at), room = sizeof(hello) - n;

		/* The message is not whole: no other record may lie between, RFC 8446 §5.1. */
		v = dpi_tls_hello(hello, n, host, out);
		if (v != DPI_MORE)
			return v;
		if (part == 0)
			return DPI_BAD;
		at += RECORD_HEADER;
		if (room > len - at)
			room = len - at;
		if (room > part)
			room = part;
		memcpy(hello + n, data + at, room);
		n += room;
		at += room;
		if (room < part)
			break;
	}
	v = dpi_tls_hello(hello, n, host, out);
	return v == DPI_MORE && n == sizeof(hello) ? DPI_NONE : v;
}

enum dpi_verdict
dpi_tls(const uint8_t *data, uint32_t len, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	uint32_t part, have;
	enum dpi_verdict v;

	*out = (struct dpi_name){0};
	if (len > 0 && data[0] != HANDSHAKE)
		return DPI_NONE;
	if (len > 1 && data[1] != 3)
		return DPI_NONE;
	if (len < RECORD_HEADER)
		return DPI_MORE;
	out->proto = DPI_TLS;
	part = record_length(data);
	if (part == 0)
		return DPI_BAD;
	have = len - RECORD_HEADER;
	v = dpi_tls_hello(data + RECORD_HEADER, have < part ? have : part, host, out);
	return v == DPI_MORE && have > part ? gathered(data, len, host, out) : v;
}
