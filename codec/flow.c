/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/be.h"
#include "codec/err.h"
#include "codec/flow.h"
#include "codec/ip.h"

enum proto { /* IANA protocol numbers */
	     HOP_BY_HOP = 0,
	     TCP = 6,
	     UDP = 17,
	     DCCP = 33,
	     ROUTING = 43,
	     FRAGMENT = 44,
	     ESP = 50,
	     AH = 51,
	     DEST_OPTIONS = 60,
	     SCTP = 132,
	     UDP_LITE = 136,
};

/* What is behind all headers of the network layer: `p` with `len` octets. */
static void
upper_decode(const uint8_t *p, size_t len, struct flow *f)
{
	switch (f->proto) {
	case TCP:
	case UDP:
	case DCCP:
	case SCTP:
	case UDP_LITE:
		if (len < 4)
			return;
		f->has_ports = true;
		f->ports[0] = be16_get(p);
		f->ports[1] = be16_get(p + 2);
		return;
	case ESP: /* RFC 4303 §2 */
		if (len < 4)
			return;
		f->has_spi = true;
		f->spi = be32_get(p);
		return;
	case AH: /* RFC 4302 §2 */
		if (len < 8)
			return;
		f->has_spi = true;
		f->spi = be32_get(p + 4);
	}
}

static int
flow4_decode(const uint8_t *p, size_t len, struct flow *f)
{
	size_t hdr;

	if (len < IP4_HDR_BYTES)
		return -CODEC_SHORT;
	hdr = (size_t)(p[0] & 0x0F) * 4;
	if (hdr < IP4_HDR_BYTES || be16_get(p + 2) < hdr)
		return -CODEC_CONTRADICTION;
	if (len < hdr)
		return -CODEC_SHORT;
	if (len > be16_get(p + 2))
		len = be16_get(p + 2);
	f->tos = p[1];
	f->later = (be16_get(p + 6) & 0x1FFF) != 0;
	f->proto = p[9];
	memcpy(f->src, p + 12, 4);
	memcpy(f->dst, p + 16, 4);
	if (!f->later)
		upper_decode(p + hdr, len - hdr, f);
	return (int)hdr;
}

static int
flow6_decode(const uint8_t *p, size_t len, struct flow *f)
{
	size_t at = IP6_HDR_BYTES;

	if (len < IP6_HDR_BYTES)
		return -CODEC_SHORT;
	/* RFC 2675: a jumbogram says 0. */
	if (be16_get(p + 4) != 0 && len - IP6_HDR_BYTES > be16_get(p + 4))
		len = IP6_HDR_BYTES + (size_t)be16_get(p + 4);
	f->tos = (uint8_t)(be16_get(p) >> 4);
	f->flow_label = be32_get(p) & 0xFFFFF;
	f->proto = p[6];
	memcpy(f->src, p + 8, 16);
	memcpy(f->dst, p + 24, 16);
	while (!f->later && (f->proto == HOP_BY_HOP || f->proto == ROUTING ||
			     f->proto == FRAGMENT || f->proto == DEST_OPTIONS)) {
		uint8_t type = f->proto;

		if (len < at + 8)
			return -CODEC_SHORT;
		f->proto = p[at];
		if (type == FRAGMENT) {
			f->later = (be16_get(p + at + 2) & 0xFFF8) != 0;
			at += 8;
		} else {
			at += 8 + (size_t)p[at + 1] * 8;
		}
		if (len < at)
			return -CODEC_SHORT;
	}
	if (!f->later)
		upper_decode(p + at, len - at, f);
	return (int)at;
}

int
flow_decode(const uint8_t *p, size_t len, struct flow *f)
{
	if (len == 0)
		return -CODEC_SHORT;
	*f = (struct flow){.version = p[0] >> 4};
	if (f->version == 4)
		return flow4_decode(p, len, f);
	return f->version == 6 ? flow6_decode(p, len, f) : -CODEC_RESERVED;
}
