/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/dpi/dpi_quic.h"

#include <errno.h>
#include <string.h>

#define DATAGRAM_MIN 1200 /* of a datagram with an Initial, RFC 9000 §14.1 */
#define PROTECTED_MIN 20  /* packet number and sample, RFC 9001 §5.4.2 */

/* Frames an Initial may carry, RFC 9000 §12.4. */
enum { PADDING = 0x00, PING = 0x01, ACK = 0x02, ACK_ECN = 0x03, CRYPTO = 0x06, CLOSE = 0x1c };

enum packet_kind { INITIAL, OTHER, UNKNOWN };

/** A long header, read. */
struct packet {
	enum packet_kind kind;
	uint32_t version;
	const uint8_t *cid; /* destination's */
	uint8_t cid_len;
	uint32_t pn;  /* where the packet number is */
	uint32_t len; /* of the packet */
};

struct reader {
	const uint8_t *at;
	const uint8_t *end;
};

/** RFC 9000 §16. @return false: beyond the end. */
static bool
varint(struct reader *r, uint64_t *value)
{
	uint32_t n;

	if (r->at == r->end)
		return false;
	n = 1u << (*r->at >> 6);
	if (n > (uint64_t)(r->end - r->at))
		return false;
	*value = *r->at & 0x3f;
	for (uint32_t i = 1; i < n; i++)
		*value = *value << 8 | r->at[i];
	r->at += n;
	return true;
}

static bool
skip(struct reader *r, uint64_t n)
{
	if (n > (uint64_t)(r->end - r->at))
		return false;
	r->at += n;
	return true;
}

/** A connection id behind its length. */
static bool
cid_read(struct reader *r, const uint8_t **cid, uint8_t *len)
{
	if (r->at == r->end)
		return false;
	*len = *r->at++;
	*cid = r->at;
	return *len <= DPI_QUIC_CID_MAX && skip(r, *len);
}

/** The type bits of the two versions: RFC 9000 §17.2, RFC 9369 §3.2. */
static enum packet_kind
kind_of(uint8_t first, uint32_t version)
{
	static const uint8_t initial[] = {0, 1}, retry[] = {3, 0};
	unsigned v2 = version == DPI_QUIC_V2, type = first >> 4 & 3;

	if (version != DPI_QUIC_V1 && version != DPI_QUIC_V2)
		return UNKNOWN;
	if (type == initial[v2])
		return INITIAL;
	return type == retry[v2] ? UNKNOWN : OTHER;
}

/** Reads the header up to Length. @return 0 or -EINVAL. */
static int
header_read(const uint8_t *data, uint32_t len, struct packet *p)
{
	struct reader r = {data + 5, data + len};
	const uint8_t *source;
	uint8_t source_len;
	uint64_t n;

	p->version = (uint32_t)data[1] << 24 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 8 |
		     data[4];
	p->kind = kind_of(data[0], p->version);
	if (p->kind == UNKNOWN)
		return 0;
	if (!cid_read(&r, &p->cid, &p->cid_len) || !cid_read(&r, &source, &source_len))
		return -EINVAL;
	if (p->kind == INITIAL && (!varint(&r, &n) || !skip(&r, n))) /* Token */
		return -EINVAL;
	if (!varint(&r, &n) || n < PROTECTED_MIN || n > (uint64_t)(r.end - r.at))
		return -EINVAL;
	p->pn = (uint32_t)(r.at - data);
	p->len = p->pn + (uint32_t)n;
	return 0;
}

/** ACK, RFC 9000 §19.3: passed by. */
static bool
ack_skip(struct reader *r, bool ecn)
{
	uint64_t v, ranges;

	if (!varint(r, &v) || !varint(r, &v) || !varint(r, &ranges) || !varint(r, &v))
		return false;
	/* A range has two octets at least: no more turns than octets. */
	for (uint64_t i = 0; i < ranges; i++) {
		if (!varint(r, &v) || !varint(r, &v))
			return false;
	}
	return !ecn || (varint(r, &v) && varint(r, &v) && varint(r, &v));
}

/** CRYPTO, RFC 9000 §19.6. */
static bool
crypto_take(struct dpi_stream *s, struct reader *r)
{
	uint64_t offset, n;

	if (!varint(r, &offset) || !varint(r, &n) || n > (uint64_t)(r->end - r->at))
		return false;
	if (dpi_stream_put(s, offset, r->at, (uint32_t)n) != 0)
		return false;
	r->at += n;
	return true;
}

/** CONNECTION_CLOSE, RFC 9000 §19.19. */
static bool
close_skip(struct reader *r)
{
	uint64_t v;

	return varint(r, &v) && varint(r, &v) && varint(r, &v) && skip(r, v);
}

int
dpi_quic_frames(struct dpi_stream *s, const uint8_t *payload, uint32_t len)
{
	struct reader r = {payload, payload + len};

	while (r.at < r.end) {
		uint8_t type = *r.at++;
		bool ok = type == PADDING || type == PING;

		if (type == CRYPTO)
			ok = crypto_take(s, &r);
		else if (type == ACK || type == ACK_ECN)
			ok = ack_skip(&r, type == ACK_ECN);
		else if (type == CLOSE)
			ok = close_skip(&r);
		if (!ok)
			return -EINVAL;
	}
	return 0;
}

/**
 * Deciphers an Initial. Keys stay those of the first one the server took, unless a Retry made the
 * client begin anew: its Initials then go to the id the server chose (RFC 9001 §5.2).
 */
static int
initial_open(struct dpi_quic *q, const uint8_t *data, const struct packet *p, uint8_t *payload)
{
	bool same = q->cid_len == p->cid_len && memcmp(q->cid, p->cid, p->cid_len) == 0;
	struct dpi_quic_keys keys;
	int n;

	if (q->keyed) {
		n = dpi_quic_open(&q->keys, data, p->len, p->pn, payload);
		if (n >= 0 || same)
			return n;
	}
	n = dpi_quic_keys_make(p->cid, p->cid_len, p->version, &keys);
	if (n < 0)
		return n;
	n = dpi_quic_open(&keys, data, p->len, p->pn, payload);
	if (n < 0)
		return n;
	q->keys = keys;
	memcpy(q->cid, p->cid, p->cid_len);
	q->cid_len = p->cid_len;
	q->keyed = true;
	return n;
}

/** One Initial. What is not authentic is dropped by its receiver, and is nothing to us. */
static enum dpi_verdict
initial_take(struct dpi_quic *q, struct dpi_stream *s, const uint8_t *data, const struct packet *p)
{
	uint8_t payload[DPI_QUIC_INITIAL_MAX];
	int n;

	if (p->len > DPI_QUIC_INITIAL_MAX)
		return DPI_MORE;
	n = initial_open(q, data, p, payload);
	if (n == -ENOTSUP)
		return DPI_NONE;
	if (n < 0)
		return DPI_MORE;
	return dpi_quic_frames(s, payload, (uint32_t)n) < 0 ? DPI_BAD : DPI_MORE;
}

/** The first packet of a datagram is of no version we know, or none at all. */
static enum dpi_verdict
stranger(const struct dpi_quic *q, const uint8_t *data, uint32_t len)
{
	/* A server may ask for another version, RFC 9000 §6. */
	if (dpi_quic_may_be(data) && len >= DATAGRAM_MIN)
		return DPI_MORE;
	return q->keyed ? DPI_MORE : DPI_NONE;
}

enum dpi_verdict
dpi_quic_datagram(struct dpi_quic *q, struct dpi_stream *s, const uint8_t *data, uint32_t len)
{
	uint32_t had = s->have, at = 0;

	/* Packets are coalesced, RFC 9000 §12.2; zeros or one with a short header end a datagram.
	 */
	while (len - at >= 7 && dpi_quic_may_be(data + at)) {
		struct packet p;
		enum dpi_verdict v;

		/* What follows the last packet is not read by its receiver. */
		if (header_read(data + at, len - at, &p) != 0) {
			if (at == 0)
				return DPI_BAD;
			break;
		}
		if (p.kind == UNKNOWN)
			break;
		v = p.kind == INITIAL ? initial_take(q, s, data + at, &p) : DPI_MORE;
		if (v != DPI_MORE)
			return v;
		at += p.len;
	}
	if (s->have > had)
		return DPI_FOUND;
	return at == 0 && len > 0 ? stranger(q, data, len) : DPI_MORE;
}
