/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_TRAFFIC_WIRE_IMPL_H
#define AIRPATH_BENCH_UPF_TRAFFIC_WIRE_IMPL_H

/** Between upf_traffic_wire.c, which builds frames, and upf_traffic_wire_check.c. */

#include <string.h>

#include <rte_byteorder.h>

#include "bench/upf_traffic_wire.h"
#include "codec/gtpu.h"
#include "codec/ip.h"

#define UPF_TRAFFIC_WIRE_MAGIC 0x46475041u /**< "APGF", the direction added */
#define UPF_TRAFFIC_WIRE_TTL 64
#define VARIANTS 16
#define VARIANT_STEP 66 /**< even: sums are of words */
#define OUTER_HEAD (IP4_HDR_BYTES + UDP_HDR_BYTES)

/* In an IPv4 header. */
#define IP_BYTES 2
#define IP_ID 4
#define IP_TTL 8
#define IP_SUM 10
#define IP_SRC 12
#define IP_DST 16

/* In a TCP header. */
#define TCP_SUM 16
#define TCP_TEST 24

static inline void
put16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline void
put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static inline uint32_t
upf_traffic_wire_gnb_ip(const struct upf_traffic_wire *w, uint32_t session)
{
	return w->cfg.gnb_ip + rte_cpu_to_be_32(session % UPF_WIRE_GNBS);
}

/** Lengths of an outer header round `bytes`, and its TEID. */
static inline void
upf_traffic_wire_outer_fill(uint8_t *ip, uint16_t bytes, uint32_t teid)
{
	ip_put16(ip + IP_BYTES, bytes + UPF_WIRE_OUTER);
	ip_put16(ip + IP4_HDR_BYTES + 4, bytes + UPF_WIRE_OUTER - IP4_HDR_BYTES);
	ip_put16(ip + OUTER_HEAD + 2, bytes + UPF_WIRE_OUTER - OUTER_HEAD - 8);
	put32(ip + OUTER_HEAD + 4, teid);
}

/** CRC-32C over the test header less its own place. */
static inline uint32_t
upf_traffic_wire_test_crc(const struct upf_traffic_wire *w, const uint64_t word[4])
{
	return gen_crc(gen_crc(gen_crc(gen_crc(w->seed, word[0]), word[1]), word[2]),
		       word[3] & UINT32_MAX);
}

/** Whether the test header is at the end. @param port of the server */
static inline bool
upf_traffic_wire_ends_in_test(enum upf_wire_direction d, uint16_t port)
{
	return d == UPF_WIRE_UP && port != UPF_LOAD_PORT_UDP;
}

static inline uint32_t
upf_traffic_wire_stretch(uint64_t seq)
{
	return (uint32_t)(seq % VARIANTS * VARIANT_STEP);
}

static inline bool
upf_traffic_wire_is_request(const struct upf_traffic_packet *k)
{
	return k->part == UPF_TRAFFIC_REQUEST || k->part == UPF_TRAFFIC_REST;
}

/** Headers of the inner packet up to the data, but for TCP's checksum. @return their octets */
uint16_t upf_traffic_wire_head_put(const struct upf_traffic_wire *w, uint8_t *p,
				   const struct upf_traffic_flow *flow,
				   const struct upf_traffic_packet *k,
				   const struct upf_wire_session *s,
				   const struct upf_traffic_test *t, uint8_t ttl);

/** Data of a request's packet. */
void upf_traffic_wire_request_put(const struct upf_traffic_wire *w, uint8_t *p,
				  const struct upf_traffic_flow *flow,
				  const struct upf_traffic_packet *k, uint32_t len, uint64_t seq);

/** All that is behind the UDP header where the test header is at the end. */
void upf_traffic_wire_datagram_put(const struct upf_traffic_wire *w, uint8_t *p,
				   const struct upf_traffic_flow *flow,
				   const struct upf_traffic_packet *k, uint32_t len,
				   const struct upf_traffic_test *t);

/** RFC 9293 §3.1, over pseudo header, header and data. */
uint16_t upf_traffic_wire_tcp_sum(const struct upf_traffic_wire *w, const uint8_t *ip,
				  const uint8_t *data, const struct upf_traffic_packet *k,
				  uint64_t seq);

#endif
