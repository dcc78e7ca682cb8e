/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/err.h"
#include "codec/ip.h"

#define IP4_DF 0x4000
#define IP4_MF 0x2000
#define IP4_OFFSET 0x1fff

/* RFC 8200 §4, RFC 4302 */
#define IP6_HOP_BY_HOP 0
#define IP6_ROUTING 43
#define IP6_FRAGMENT 44
#define IP6_AH 51
#define IP6_DEST_OPTIONS 60

uint64_t
ip_sum(uint64_t sum, const void *p, size_t len)
{
	const uint8_t *byte = p;
	uint16_t last = 0;

	for (; len >= sizeof(uint32_t); len -= sizeof(uint32_t), byte += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, byte, sizeof(word));
		sum += word;
	}
	if (len >= sizeof(uint16_t)) {
		uint16_t half;

		memcpy(&half, byte, sizeof(half));
		sum += half;
		byte += sizeof(half);
		len -= sizeof(half);
	}
	memcpy(&last, byte, len);
	return sum + last;
}

uint64_t
ip_pseudo_sum(const struct ip_hdr *h, uint32_t upper_bytes)
{
	size_t address = h->version == 4 ? 4 : 16;
	uint8_t tail[8] = {(uint8_t)(upper_bytes >> 24),
			   (uint8_t)(upper_bytes >> 16),
			   (uint8_t)(upper_bytes >> 8),
			   (uint8_t)upper_bytes,
			   0,
			   0,
			   0,
			   h->proto};

	return ip_sum(ip_sum(ip_sum(0, h->src, address), h->dst, address), tail, sizeof(tail));
}

int
eth_decode(const uint8_t *p, size_t len, struct eth_hdr *h)
{
	if (len < ETH_HDR_BYTES)
		return -CODEC_SHORT;
	memcpy(h->dst, p, sizeof(h->dst));
	memcpy(h->src, p + 6, sizeof(h->src));
	h->type = ip_get16(p + 12);
	/* IEEE 802.3 §3.2.6: below 0x0600 the field is a length. */
	return h->type < 0x0600 ? -CODEC_UNSUPPORTED : ETH_HDR_BYTES;
}

int
eth_encode(uint8_t *p, size_t len, const struct eth_hdr *h)
{
	if (len < ETH_HDR_BYTES)
		return -CODEC_SHORT;
	memcpy(p, h->dst, sizeof(h->dst));
	memcpy(p + 6, h->src, sizeof(h->src));
	ip_put16(p + 12, h->type);
	return ETH_HDR_BYTES;
}

static int
ip4_decode(const uint8_t *p, size_t len, struct ip_hdr *h)
{
	size_t hdr_bytes;
	uint16_t fragment;

	if (len < IP4_HDR_BYTES)
		return -CODEC_SHORT;
	hdr_bytes = (size_t)(p[0] & 0x0f) * 4;
	h->bytes = ip_get16(p + 2);
	if (hdr_bytes < IP4_HDR_BYTES || h->bytes < hdr_bytes)
		return -CODEC_CONTRADICTION;
	if (h->bytes > len)
		return -CODEC_SHORT;
	if (ip_checksum(p, hdr_bytes) != 0)
		return -CODEC_CONTRADICTION;

	fragment = ip_get16(p + 6);
	h->dscp = p[1] >> 2;
	h->ecn = p[1] & 3;
	h->id = ip_get16(p + 4);
	h->dont_fragment = (fragment & IP4_DF) != 0;
	h->more_fragments = (fragment & IP4_MF) != 0;
	h->fragment_offset = (uint16_t)((fragment & IP4_OFFSET) * 8);
	h->ttl = p[8];
	h->proto = p[9];
	memcpy(h->src, p + 12, 4);
	memcpy(h->dst, p + 16, 4);
	return (int)hdr_bytes;
}

static bool
ip6_is_extension(uint8_t type)
{
	return type == IP6_HOP_BY_HOP || type == IP6_ROUTING || type == IP6_FRAGMENT ||
	       type == IP6_AH || type == IP6_DEST_OPTIONS;
}

/** @return length of an extension header whose second byte is `length`. */
static size_t
ip6_extension_bytes(uint8_t type, uint8_t length)
{
	if (type == IP6_FRAGMENT)
		return 8;
	/* RFC 4302 §2.2: AH counts in words of 4 B, the others of 8 B. */
	return 8 + (size_t)length * (type == IP6_AH ? 4 : 8);
}

static int
ip6_decode(const uint8_t *p, size_t len, struct ip_hdr *h)
{
	size_t at = IP6_HDR_BYTES;

	if (len < IP6_HDR_BYTES)
		return -CODEC_SHORT;
	h->bytes = IP6_HDR_BYTES + (uint32_t)ip_get16(p + 4);
	h->proto = p[6];
	if (h->bytes == IP6_HDR_BYTES && h->proto == IP6_HOP_BY_HOP)
		return -CODEC_UNSUPPORTED;
	if (h->bytes > len)
		return -CODEC_SHORT;
	h->dscp = ip_dscp(p);
	h->ecn = (p[1] >> 4) & 3;
	h->flow_label = (uint32_t)(p[1] & 0x0f) << 16 | ip_get16(p + 2);
	h->ttl = p[7];
	h->dont_fragment = true;
	memcpy(h->src, p + 8, 16);
	memcpy(h->dst, p + 24, 16);

	/* A later fragment carries no headers behind its fragment header. */
	while (h->fragment_offset == 0 && ip6_is_extension(h->proto)) {
		size_t bytes;

		if (at + 8 > h->bytes)
			return -CODEC_CONTRADICTION;
		bytes = ip6_extension_bytes(h->proto, p[at + 1]);
		if (at + bytes > h->bytes)
			return -CODEC_CONTRADICTION;
		if (h->proto == IP6_FRAGMENT) {
			h->fragment_offset = ip_get16(p + at + 2) & 0xfff8;
			h->more_fragments = p[at + 3] & 1;
		}
		h->proto = p[at];
		at += bytes;
	}
	return (int)at;
}

int
ip_decode(const uint8_t *p, size_t len, struct ip_hdr *h)
{
	if (len == 0)
		return -CODEC_SHORT;
	*h = (struct ip_hdr){.version = p[0] >> 4};
	if (h->version == 4)
		return ip4_decode(p, len, h);
	return h->version == 6 ? ip6_decode(p, len, h) : -CODEC_RESERVED;
}

static int
ip4_encode(uint8_t *p, size_t len, const struct ip_hdr *h)
{
	uint16_t checksum;

	if (len < IP4_HDR_BYTES)
		return -CODEC_SHORT;
	if (h->bytes < IP4_HDR_BYTES || h->bytes > UINT16_MAX || h->fragment_offset % 8)
		return -CODEC_CONTRADICTION;
	memset(p, 0, IP4_HDR_BYTES);
	p[0] = 0x45;
	p[1] = (uint8_t)(h->dscp << 2 | (h->ecn & 3));
	ip_put16(p + 2, (uint16_t)h->bytes);
	ip_put16(p + 4, h->id);
	ip_put16(p + 6, (uint16_t)((h->dont_fragment ? IP4_DF : 0) |
				   (h->more_fragments ? IP4_MF : 0) | h->fragment_offset / 8));
	p[8] = h->ttl;
	p[9] = h->proto;
	memcpy(p + 12, h->src, 4);
	memcpy(p + 16, h->dst, 4);
	checksum = ip_checksum(p, IP4_HDR_BYTES);
	memcpy(p + 10, &checksum, sizeof(checksum));
	return IP4_HDR_BYTES;
}

static int
ip6_encode(uint8_t *p, size_t len, const struct ip_hdr *h)
{
	if (len < IP6_HDR_BYTES)
		return -CODEC_SHORT;
	if (h->bytes < IP6_HDR_BYTES || h->bytes > IP6_HDR_BYTES + UINT16_MAX)
		return -CODEC_CONTRADICTION;
	if (h->more_fragments || h->fragment_offset)
		return -CODEC_UNSUPPORTED;
	p[0] = (uint8_t)(0x60 | (h->dscp & 0x3f) >> 2);
	p[1] = (uint8_t)(h->dscp << 6 | (h->ecn & 3) << 4 | (h->flow_label >> 16 & 0x0f));
	ip_put16(p + 2, (uint16_t)h->flow_label);
	ip_put16(p + 4, (uint16_t)(h->bytes - IP6_HDR_BYTES));
	p[6] = h->proto;
	p[7] = h->ttl;
	memcpy(p + 8, h->src, 16);
	memcpy(p + 24, h->dst, 16);
	return IP6_HDR_BYTES;
}

int
ip_encode(uint8_t *p, size_t len, const struct ip_hdr *h)
{
	if (h->version == 4)
		return ip4_encode(p, len, h);
	return h->version == 6 ? ip6_encode(p, len, h) : -CODEC_UNSUPPORTED;
}

int
udp_decode(const uint8_t *p, size_t len, struct udp_hdr *h)
{
	if (len < UDP_HDR_BYTES)
		return -CODEC_SHORT;
	h->src_port = ip_get16(p);
	h->dst_port = ip_get16(p + 2);
	h->bytes = ip_get16(p + 4);
	memcpy(&h->checksum, p + 6, sizeof(h->checksum));
	if (h->bytes < UDP_HDR_BYTES)
		return -CODEC_CONTRADICTION;
	return h->bytes > len ? -CODEC_SHORT : UDP_HDR_BYTES;
}

int
udp_encode(uint8_t *p, size_t len, const struct udp_hdr *h)
{
	if (len < UDP_HDR_BYTES)
		return -CODEC_SHORT;
	ip_put16(p, h->src_port);
	ip_put16(p + 2, h->dst_port);
	ip_put16(p + 4, h->bytes);
	memcpy(p + 6, &h->checksum, sizeof(h->checksum));
	return UDP_HDR_BYTES;
}

uint16_t
udp_checksum(const struct ip_hdr *h, const uint8_t *p, size_t len)
{
	uint16_t checksum = (uint16_t)~ip_sum_fold(ip_sum(ip_pseudo_sum(h, (uint32_t)len), p, len));

	return checksum ? checksum : 0xffff;
}

bool
udp_checksum_ok(const struct ip_hdr *h, const uint8_t *p, size_t len)
{
	uint16_t field;

	if (len < UDP_HDR_BYTES)
		return false;
	memcpy(&field, p + 6, sizeof(field));
	if (field == 0)
		return h->version == 4;
	return ip_sum_fold(ip_sum(ip_pseudo_sum(h, (uint32_t)len), p, len)) == 0xffff;
}

void
ip_set_dscp(uint8_t *p, uint8_t dscp)
{
	uint16_t was, is, checksum;

	if (p[0] >> 4 == 6) {
		p[0] = (uint8_t)(0x60 | (dscp & 0x3f) >> 2);
		p[1] = (uint8_t)(dscp << 6 | (p[1] & 0x3f));
		return;
	}
	memcpy(&was, p, sizeof(was));
	p[1] = (uint8_t)(dscp << 2 | (p[1] & 3));
	memcpy(&is, p, sizeof(is));
	memcpy(&checksum, p + 10, sizeof(checksum));
	checksum = ip_checksum_update(checksum, was, is);
	memcpy(p + 10, &checksum, sizeof(checksum));
}
