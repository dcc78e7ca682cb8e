/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_TRAFFIC_WIRE_H
#define AIRPATH_BENCH_UPF_TRAFFIC_WIRE_H

/**
 * Frames of the flows of upf_traffic.h, as they go into the forwarding unit and as they must come
 * out, octet by octet.
 *
 * The test header says which packet of which flow it is, under a CRC. TCP has it as an option for
 * experiments (RFC 6994), which handshakes carry too; UDP has it before its data, or where a UE
 * sends DNS or QUIC at their end: in an option of the query, or in place of what 0-RTT protects.
 * Everything else follows from the flow: headers, with checksums, and the request. Other data is a
 * stretch of a fixed pattern.
 */

#include "bench/upf_traffic.h"
#include "bench/upf_wire.h"

#define UPF_TRAFFIC_WIRE_PATTERN 4096

/** Constant once made. */
struct upf_traffic_wire {
	struct upf_wire_cfg cfg; /**< less its packet size */
	const struct upf_traffic *flows;
	const struct upf_quic *quic; /**< Initials of the flows' names, if there are such flows */
	uint32_t seed;
	/** Ethernet, and toward gNBs the outer header without what differs: as sent, as expected.
	 */
	uint8_t link[UPF_WIRE_DIRECTIONS][64], want[UPF_WIRE_DIRECTIONS][64];
	uint8_t pattern[UPF_TRAFFIC_WIRE_PATTERN];
	uint8_t filler[UPF_TRAFFIC_WIRE_PATTERN];        /**< of requests: letters */
	uint32_t sums[UPF_TRAFFIC_WIRE_PATTERN / 2 + 1]; /**< of the pattern before each word */
};

/**
 * @param flows of the sessions; may change until the first frame, as may `cfg->bytes`
 * @param quic of their load; NULL: none of them is QUIC
 */
void upf_traffic_wire_init(struct upf_traffic_wire *w, const struct upf_wire_cfg *cfg,
			   const struct upf_traffic *flows, const struct upf_quic *quic);

/**
 * Writes a turn's frame, up to GEN_BLOCK octets beyond its end.
 * @param s entry of its session
 * @return its octets
 */
uint16_t upf_traffic_wire_build(const struct upf_traffic_wire *w, uint8_t *p,
				const struct upf_traffic_turn *t, const struct upf_wire_session *s,
				uint64_t seq, uint32_t now);

/** What a frame says of itself; the place is one of the flows'. */
struct upf_traffic_test {
	uint32_t place, number;
	uint16_t at;
	uint32_t now;
	uint64_t seq;
};

/** @param d it was sent in @return UPF_WIRE_GOOD with `t` filled, else what the frame is */
enum upf_wire_verdict upf_traffic_wire_read(const struct upf_traffic_wire *w,
					    enum upf_wire_direction d, const uint8_t *p,
					    uint32_t bytes, struct upf_traffic_test *t);

/**
 * Everything else, for a frame upf_traffic_wire_read() found good.
 * @param flow of t's place and number
 * @return GOOD or CORRUPTED
 */
enum upf_wire_verdict upf_traffic_wire_check(const struct upf_traffic_wire *w,
					     enum upf_wire_direction d, const uint8_t *p,
					     uint32_t bytes, const struct upf_traffic_test *t,
					     const struct upf_traffic_flow *flow,
					     const struct upf_wire_session *s);

#endif
