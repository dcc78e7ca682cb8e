/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_ip.h>

#include "codec/be.h"
#include "codec/ip.h"
#include "modules/upf/upf_icmp.h"
#include "modules/upf/upf_packet.h"

#define ICMP 1
#define ICMP6 58
#define ICMP_HDR 8
#define ECHO4 8
#define ECHO6 128
#define ECHO6_REPLY 129
#define TTL 64
/* RFC 1812 §4.3.2.3: as much of the packet as makes 576 octets; RFC 4443: 1280. */
#define QUOTE4 (576 - IP4_HDR_BYTES - ICMP_HDR)
#define QUOTE6 (1280 - IP6_HDR_BYTES - ICMP_HDR)
#define PRECEDENCE 0xC0 /* RFC 1812 §4.3.2.5 */

static bool
is_query4(uint8_t type)
{
	return type == 0 || type == ECHO4 || type == 13 || type == 14;
}

bool
upf_icmp_may(const struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	static const uint8_t none[16];
	unsigned hdr;

	if (m->data_len < IP4_HDR_BYTES)
		return false;
	if (ip[0] >> 4 == 6)
		return m->data_len > IP6_HDR_BYTES && ip[8] != 0xff &&
		       memcmp(ip + 8, none, 16) != 0 && ip[24] != 0xff &&
		       (ip[6] != ICMP6 || (ip[IP6_HDR_BYTES] & 0x80 && ip[IP6_HDR_BYTES] != 137));
	hdr = (ip[0] & 0xFU) * 4;
	if (be16_get(ip + 6) & 0x1FFF || ip[12] == 0 || ip[12] == 127 || ip[12] >= 224 ||
	    ip[16] >= 224)
		return false;
	return ip[9] != ICMP || (m->data_len > hdr && is_query4(ip[hdr]));
}

static void
head(uint8_t *icmp, enum upf_icmp_error error, bool v6, uint16_t mtu)
{
	static const uint8_t type4[][2] = {{11, 0}, {3, 4}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};
	static const uint8_t type6[][2] = {{3, 0}, {2, 0}, {1, 0}, {1, 3}, {4, 1}, {1, 4}};

	memset(icmp, 0, ICMP_HDR);
	memcpy(icmp, v6 ? type6[error] : type4[error], 2);
	if (error == UPF_ICMP_TOO_BIG)
		be16_put(icmp + 6, mtu); /* ICMPv6: the lower half of 32 bits */
	if (error == UPF_ICMP_PROTOCOL && v6)
		icmp[7] = 6; /* RFC 4443 §3.4: where the Next Header is, in the usual header */
}

struct rte_mbuf *
upf_icmp_error(struct rte_mbuf *m, enum upf_icmp_error error, const uint8_t *source, uint16_t mtu,
	       struct rte_mempool *pool)
{
	const bool v6 = *rte_pktmbuf_mtod(m, uint8_t *) >> 4 == 6;
	uint8_t quote[QUOTE6], to[16], *ip, *icmp;
	const unsigned hdr = v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES;
	unsigned n = RTE_MIN(m->pkt_len, (uint32_t)(v6 ? QUOTE6 : QUOTE4));
	const void *p = rte_pktmbuf_read(m, 0, n, quote);
	struct rte_mbuf *e;
	uint16_t sum;

	if (p != quote)
		memcpy(quote, p, n);
	memcpy(to, quote + (v6 ? 8 : 12), v6 ? 16 : 4);
	e = upf_packet_fresh(m, pool);
	if (e == NULL)
		return NULL;
	n = RTE_MIN(n, rte_pktmbuf_tailroom(e) - hdr - ICMP_HDR);
	ip = (uint8_t *)rte_pktmbuf_append(e, (uint16_t)(hdr + ICMP_HDR + n));
	icmp = ip + upf_packet_ip(ip, v6, source, to, v6 ? ICMP6 : ICMP, TTL, ICMP_HDR + n);
	head(icmp, error, v6, mtu);
	memcpy(icmp + ICMP_HDR, quote, n);
	if (!v6)
		ip_set_dscp(ip, PRECEDENCE >> 2);
	sum = upf_icmp_checksum(ip, icmp, ICMP_HDR + n);
	memcpy(icmp + 2, &sum, 2);
	return e;
}

/** The checksum over all segments. */
static bool
checksum_ok(const struct rte_mbuf *m, unsigned at, bool v6)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	struct ip_hdr h = {.version = 6, .proto = ICMP6};
	uint64_t sum = 0;
	uint16_t rest;

	if (rte_raw_cksum_mbuf(m, at, m->pkt_len - at, &rest) < 0)
		return false;
	if (v6) {
		memcpy(h.src, ip + 8, 16);
		memcpy(h.dst, ip + 24, 16);
		sum = ip_pseudo_sum(&h, m->pkt_len - at);
	}
	return ip_sum_fold(sum + rest) == 0xffff;
}

enum upf_icmp_verdict
upf_icmp_take(struct rte_mbuf *m, unsigned at)
{
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *), *icmp = ip + at, swap[16];
	const bool v6 = ip[0] >> 4 == 6;
	const unsigned from = v6 ? 8 : 12, size = v6 ? 16 : 4;
	uint16_t was, is, sum;

	if (m->data_len < at + ICMP_HDR || !checksum_ok(m, at, v6))
		return UPF_ICMP_BAD;
	if (icmp[0] != (v6 ? ECHO6 : ECHO4) || icmp[1] != 0 || !ap_seg_writable(m))
		return UPF_ICMP_OTHER;
	memcpy(swap, ip + from, size);
	memcpy(ip + from, ip + from + size, size);
	memcpy(ip + from + size, swap, size);
	memcpy(&was, icmp, 2);
	icmp[0] = v6 ? ECHO6_REPLY : 0;
	memcpy(&is, icmp, 2);
	memcpy(&sum, icmp + 2, 2);
	sum = ip_checksum_update(sum, was, is);
	memcpy(icmp + 2, &sum, 2);
	if (v6) {
		ip[7] = TTL;
		return UPF_ICMP_REPLY;
	}
	be16_put(ip + 6, 0); /* however the request came, the reply may be fragmented */
	ip[8] = TTL;
	be16_put(ip + 10, 0);
	sum = ip_checksum(ip, (ip[0] & 0xFU) * 4);
	memcpy(ip + 10, &sum, 2);
	return UPF_ICMP_REPLY;
}
