/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_byteorder.h>

#include "bench/upf_wire.h"
#include "codec/gtpu.h"
#include "codec/ip.h"

#define MAGIC 0x55475041u /* "APGU", the direction added */
#define TEST_BYTES 24     /**< magic, session, number (64 bits), time, CRC-32C */
#define INNER_HEAD (IP4_HDR_BYTES + UDP_HDR_BYTES)
#define TTL 64
#define PORT_UE 40000
#define PORT_SERVER 9000

/* In an IPv4 header. */
#define IP_ID 4
#define IP_TTL 8
#define IP_SUM 10
#define IP_SRC 12
#define IP_DST 16

static void
put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static uint32_t
get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/** @param src, dst network order; what is 0 is left to each packet */
static void
ip4_put(uint8_t *p, uint16_t bytes, uint32_t src, uint32_t dst)
{
	memset(p, 0, IP4_HDR_BYTES);
	p[0] = 0x45;
	ip_put16(p + 2, bytes);
	p[IP_TTL] = TTL;
	p[9] = IP_PROTO_UDP;
	put32(p + IP_SRC, src);
	put32(p + IP_DST, dst);
}

static void
udp_put(uint8_t *p, uint16_t from, uint16_t to, uint16_t bytes)
{
	ip_put16(p, from);
	ip_put16(p + 2, to);
	ip_put16(p + 4, bytes);
	ip_put16(p + 6, 0);
}

static void
eth_put(uint8_t *p, const uint8_t *to, const uint8_t *from)
{
	memcpy(p, to, 6);
	memcpy(p + 6, from, 6);
	ip_put16(p + 12, ETH_TYPE_IP4);
}

static void
inner_put(const struct upf_wire *w, enum upf_wire_direction d, uint8_t *p)
{
	const bool up = d == UPF_WIRE_UP;

	ip4_put(p, w->cfg.bytes, up ? 0 : w->cfg.server_ip, up ? w->cfg.server_ip : 0);
	udp_put(p + IP4_HDR_BYTES, up ? PORT_UE : PORT_SERVER, up ? PORT_SERVER : PORT_UE,
		w->cfg.bytes - IP4_HDR_BYTES);
}

/** Outer IPv4, UDP and GTP-U; addresses of gNBs, TEID and checksum are left to each packet. */
static void
outer_put(const struct upf_wire *w, enum upf_wire_direction d, uint8_t *p)
{
	const bool up = d == UPF_WIRE_UP;
	const uint16_t bytes = w->cfg.bytes + UPF_WIRE_OUTER;

	ip4_put(p, bytes, up ? 0 : w->cfg.n3_ip, up ? w->cfg.n3_ip : 0);
	udp_put(p + IP4_HDR_BYTES, GTPU_PORT, GTPU_PORT, bytes - IP4_HDR_BYTES);
	gtpu_gpdu_psc_put(p + INNER_HEAD, 0, w->cfg.bytes, up ? PSC_UL : PSC_DL, UPF_WIRE_QFI,
			  false);
}

/** Bits of an IPv4 header that are the same in every packet. */
static void
ip4_mask(uint8_t *mask, uint8_t address)
{
	memset(mask + IP_ID, 0, 2);
	mask[IP_TTL] = 0;
	memset(mask + IP_SUM, 0, 2);
	memset(mask + address, 0, 4);
}

static void
want_init(struct upf_wire *w)
{
	uint8_t *up = w->want[UPF_WIRE_UP], *down = w->want[UPF_WIRE_DOWN];
	uint8_t *mask;

	eth_put(up, w->cfg.net_mac, w->cfg.n6_mac);
	inner_put(w, UPF_WIRE_UP, up + ETH_HDR_BYTES);
	mask = w->mask[UPF_WIRE_UP];
	memset(mask, 0xFF, ETH_HDR_BYTES + INNER_HEAD);
	ip4_mask(mask + ETH_HDR_BYTES, IP_SRC);

	eth_put(down, w->cfg.gnb_mac, w->cfg.n3_mac);
	outer_put(w, UPF_WIRE_DOWN, down + ETH_HDR_BYTES);
	inner_put(w, UPF_WIRE_DOWN, down + ETH_HDR_BYTES + UPF_WIRE_OUTER);
	mask = w->mask[UPF_WIRE_DOWN];
	memset(mask, 0xFF, ETH_HDR_BYTES + UPF_WIRE_OUTER + INNER_HEAD);
	ip4_mask(mask + ETH_HDR_BYTES, IP_DST);
	memset(mask + ETH_HDR_BYTES + IP4_HDR_BYTES, 0, 2);  /* UDP source: the sender's choice */
	memset(mask + ETH_HDR_BYTES + INNER_HEAD + 4, 0, 4); /* TEID */
	ip4_mask(mask + ETH_HDR_BYTES + UPF_WIRE_OUTER, IP_DST);
}

void
upf_wire_begin(struct upf_wire *w, const struct upf_wire_cfg *cfg, const struct upf_wire_ops *o)
{
	uint64_t random = 0x9E3779B97F4A7C15ULL;

	memset(w, 0, sizeof(*w));
	w->cfg = *cfg;
	w->ops = o;
	w->seed = 0xA1B2C3D4;
	w->step = cfg->bytes;
	for (unsigned i = 0; i < sizeof(w->pattern); i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		w->pattern[i] = (uint8_t)random;
	}
}

void
upf_wire_init(struct upf_wire *w, const struct upf_wire_cfg *cfg)
{
	static const struct upf_wire_ops ops = {upf_wire_init, upf_wire_build, upf_wire_read,
						upf_wire_check};
	uint8_t *up = w->head[UPF_WIRE_UP], *down = w->head[UPF_WIRE_DOWN];

	upf_wire_begin(w, cfg, &ops);
	eth_put(up, cfg->n3_mac, cfg->gnb_mac);
	outer_put(w, UPF_WIRE_UP, up + ETH_HDR_BYTES);
	inner_put(w, UPF_WIRE_UP, up + ETH_HDR_BYTES + UPF_WIRE_OUTER);
	eth_put(down, cfg->n6_mac, cfg->net_mac);
	inner_put(w, UPF_WIRE_DOWN, down + ETH_HDR_BYTES);
	w->head_bytes[UPF_WIRE_UP] = ETH_HDR_BYTES + UPF_WIRE_OUTER + INNER_HEAD;
	w->head_bytes[UPF_WIRE_DOWN] = ETH_HDR_BYTES + INNER_HEAD;
	w->frame_bytes[UPF_WIRE_UP] = ETH_HDR_BYTES + UPF_WIRE_OUTER + cfg->bytes;
	w->frame_bytes[UPF_WIRE_DOWN] = ETH_HDR_BYTES + cfg->bytes;
	w->out_bytes[UPF_WIRE_UP] = w->frame_bytes[UPF_WIRE_DOWN];
	w->out_bytes[UPF_WIRE_DOWN] = w->frame_bytes[UPF_WIRE_UP];
	w->outer_sum = ip_sum_words(0, up + ETH_HDR_BYTES, 5);
	w->ip_sum[UPF_WIRE_UP] = ip_sum_words(0, up + ETH_HDR_BYTES + UPF_WIRE_OUTER, 5);
	w->ip_sum[UPF_WIRE_DOWN] = ip_sum_words(0, down + ETH_HDR_BYTES, 5);
	want_init(w);
}

static inline uint16_t
checksum(uint64_t sum)
{
	return (uint16_t)~ip_sum_fold(sum);
}

/** Test header as words; the CRC's place in the last one is 0. */
static inline uint32_t
test_crc(const struct upf_wire *w, const uint64_t word[3])
{
	return gen_crc(gen_crc(gen_crc(w->seed, word[0]), word[1]), word[2] & UINT32_MAX);
}

void
upf_wire_build(const struct upf_wire *w, enum upf_wire_direction d, uint8_t *p, uint32_t i,
	       const struct upf_wire_session *s, uint64_t seq, uint32_t now)
{
	uint64_t word[3] = {(MAGIC + d) | (uint64_t)i << 32, seq, now};
	uint8_t *inner = p + ETH_HDR_BYTES, *test = p + w->head_bytes[d];
	uint16_t sum = checksum(w->ip_sum[d] + s->ue);

	gen_copy(p, w->head[d], w->head_bytes[d]);
	gen_copy(test + TEST_BYTES, upf_wire_payload(w, seq),
		 w->cfg.bytes - INNER_HEAD - TEST_BYTES);
	if (d == UPF_WIRE_UP) {
		uint32_t gnb = upf_wire_gnb_ip(w, i);
		uint16_t outer = checksum(w->outer_sum + gnb);

		put32(inner + IP_SRC, gnb);
		memcpy(inner + IP_SUM, &outer, sizeof(outer));
		put32(inner + INNER_HEAD + 4, s->teid);
		inner += UPF_WIRE_OUTER;
		put32(inner + IP_SRC, s->ue);
	} else {
		put32(inner + IP_DST, s->ue);
	}
	memcpy(inner + IP_SUM, &sum, sizeof(sum));
	word[2] |= (uint64_t)test_crc(w, word) << 32;
	memcpy(test, word, TEST_BYTES);
}

enum upf_wire_verdict
upf_wire_read(const struct upf_wire *w, enum upf_wire_direction d, const uint8_t *p, uint32_t bytes,
	      uint32_t n, struct upf_wire_test *t)
{
	/* What goes in as an uplink packet comes out with the headers of a downlink one. */
	const uint8_t *test = p + w->head_bytes[!d];
	uint64_t word[3];

	if (bytes < w->head_bytes[!d] + (uint32_t)TEST_BYTES)
		return UPF_WIRE_FOREIGN;
	memcpy(word, test, TEST_BYTES);
	if ((uint32_t)word[0] != MAGIC + d)
		return UPF_WIRE_FOREIGN;
	t->session = (uint32_t)(word[0] >> 32);
	t->seq = word[1];
	t->now = (uint32_t)word[2];
	return word[2] >> 32 == test_crc(w, word) && bytes == w->out_bytes[d] && t->session < n
		       ? UPF_WIRE_GOOD
		       : UPF_WIRE_CORRUPTED;
}

/** The UE's address, and a TTL as sent or one less with the checksum for it. */
static inline bool
inner_good(const struct upf_wire *w, enum upf_wire_direction d, const uint8_t *ip, uint32_t ue)
{
	uint16_t sum;

	memcpy(&sum, ip + IP_SUM, sizeof(sum));
	/* Network order on a little-endian machine: the TTL is the low octet of its word. */
	return get32(ip + (d == UPF_WIRE_UP ? IP_SRC : IP_DST)) == ue &&
	       (ip[IP_TTL] == TTL || ip[IP_TTL] == TTL - 1) && get32(ip + IP_ID) == 0 &&
	       sum == checksum(w->ip_sum[d] + ue - (TTL - ip[IP_TTL]));
}

static inline bool
outer_good(const struct upf_wire *w, const uint8_t *ip, uint32_t i)
{
	return get32(ip + IP_DST) == upf_wire_gnb_ip(w, i) && ip[IP_TTL] != 0 &&
	       get32(ip + INNER_HEAD + 4) == upf_wire_gnb_teid(i) &&
	       ip_sum_fold(ip_sum_words(0, ip, 5)) == 0xFFFF;
}

enum upf_wire_verdict
upf_wire_check(const struct upf_wire *w, enum upf_wire_direction d, const uint8_t *p,
	       const struct upf_wire_test *t, const struct upf_wire_session *s)
{
	const uint8_t *test = p + w->head_bytes[!d], *ip = p + ETH_HDR_BYTES;

	if (!upf_wire_head_good(p, w->want[d], w->mask[d], w->head_bytes[!d]) ||
	    (d == UPF_WIRE_DOWN && !outer_good(w, ip, t->session)))
		return UPF_WIRE_CORRUPTED;
	ip += d == UPF_WIRE_DOWN ? UPF_WIRE_OUTER : 0;
	return inner_good(w, d, ip, s->ue) &&
			       gen_same(test + TEST_BYTES, upf_wire_payload(w, t->seq),
					w->cfg.bytes - INNER_HEAD - TEST_BYTES)
		       ? UPF_WIRE_GOOD
		       : UPF_WIRE_CORRUPTED;
}
