/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/dpi/dpi_stream.h"

#include <errno.h>
#include <string.h>

static bool
is_later(const struct dpi_stream *s, uint32_t at)
{
	return s->later[at / 64] >> (at % 64) & 1;
}

/** What is there behind the gap already must be the same: receivers differ in which they take. */
static bool
agrees(const struct dpi_stream *s, uint32_t from, const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		if (is_later(s, from + i) && s->data[from + i] != data[i])
			return false;
	}
	return true;
}

static void
later_set(struct dpi_stream *s, uint32_t from, uint32_t len)
{
	for (uint32_t i = from; i < from + len; i++)
		s->later[i / 64] |= (uint64_t)1 << (i % 64);
}

int
dpi_stream_put(struct dpi_stream *s, uint64_t offset, const uint8_t *data, uint32_t len)
{
	uint32_t at, old;

	if (offset >= DPI_SCAN_OCTETS || len == 0)
		return 0;
	at = (uint32_t)offset;
	if (len > DPI_SCAN_OCTETS - at)
		len = DPI_SCAN_OCTETS - at;
	if (at < s->have) {
		old = s->have - at < len ? s->have - at : len;
		if (memcmp(s->data + at, data, old) != 0)
			return -EINVAL;
		at += old;
		data += old;
		len -= old;
		if (len == 0)
			return 0;
	}
	if (s->gaps && !agrees(s, at, data, len))
		return -EINVAL;
	if (at > s->have && !s->gaps) {
		memset(s->later, 0, sizeof(s->later));
		s->gaps = true;
	}
	memcpy(s->data + at, data, len);
	if (at > s->have) {
		later_set(s, at, len);
		return 0;
	}
	s->have = at + len;
	while (s->gaps && s->have < DPI_SCAN_OCTETS && is_later(s, s->have))
		s->have++;
	return 0;
}
