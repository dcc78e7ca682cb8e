/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/dpi/dpi_parse.h"

#define BLOCK 16

typedef uint8_t block __attribute__((vector_size(BLOCK)));

/** Whether octets are in [from, to]. */
static inline block
within(block c, uint8_t from, uint8_t to)
{
	return (block)((block)(c - from) <= (uint8_t)(to - from));
}

/** dpi_host_octet() of each; adds to `bad` and `colon` where they are. */
static inline block
lower(block c, block *bad, block *colon)
{
	const block known = within(c, '$', '.') | within(c, '0', ';') | within(c, 'A', '[') |
			    within(c, 'a', 'z') | (block)(c == '!') | (block)(c == '=') |
			    (block)(c == ']') | (block)(c == '_') | (block)(c == '~');

	*bad |= ~known;
	*colon |= (block)(c == ':');
	return c | (within(c, 'A', 'Z') & 0x20);
}

static inline bool
any(block b)
{
	uint64_t w[2];

	memcpy(w, &b, sizeof(w));
	return (w[0] | w[1]) != 0;
}

bool
dpi_host_copy(const uint8_t *text, uint32_t len, uint8_t host[DPI_HOST_MAX], bool *colons)
{
	block b, bad = {0}, colon = {0};

	if (len < BLOCK) {
		memset(&b, 'a', sizeof(b));
		for (uint32_t i = 0; i < len; i++)
			b[i] = text[i];
		b = lower(b, &bad, &colon);
		memcpy(host, &b, sizeof(b));
	} else {
		for (uint32_t i = 0; i + BLOCK < len; i += BLOCK) {
			memcpy(&b, text + i, sizeof(b));
			b = lower(b, &bad, &colon);
			memcpy(host + i, &b, sizeof(b));
		}
		memcpy(&b, text + len - BLOCK, sizeof(b));
		b = lower(b, &bad, &colon);
		memcpy(host + len - BLOCK, &b, sizeof(b));
	}
	*colons = any(colon);
	return !any(bad);
}

bool
dpi_all_visible(const uint8_t *text, uint32_t len)
{
	block b, bad = {0};

	if (len < BLOCK) {
		for (uint32_t i = 0; i < len; i++)
			if (text[i] <= ' ' || text[i] == 0x7F)
				return false;
		return true;
	}
	for (uint32_t i = 0;; i = i + 2 * BLOCK <= len ? i + BLOCK : len - BLOCK) {
		memcpy(&b, text + i, sizeof(b));
		bad |= within(b, 0, ' ') | (block)(b == 0x7F);
		if (i + BLOCK == len)
			return !any(bad);
	}
}

enum dpi_verdict
dpi_host_take(const uint8_t *text, uint32_t len, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	bool colons;

	/* The dot of the root names the same host, RFC 1034 §3.1. */
	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0)
		return DPI_NONE;
	if (len > DPI_HOST_MAX || !dpi_host_copy(text, len, host, &colons))
		return DPI_BAD;
	out->host = host;
	out->host_len = (uint16_t)len;
	return DPI_FOUND;
}
