/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_WIRE_H
#define AIRPATH_BENCH_UPF_WIRE_H

/**
 * Frames of `bench upf`: what goes into the forwarding unit on N3 and N6, and what must come out
 * at the other side, octet by octet.
 *
 * The inner packet is IPv4 and UDP without checksum; behind them a test header says which session,
 * which number and when, under a CRC, and a stretch of a fixed pattern follows. Headers are made
 * once a packet size; a packet costs a copy and the fields that differ.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/gen/gen_wire.h"

#define UPF_WIRE_BYTES_MIN 64   /**< of the inner packet */
#define UPF_WIRE_BYTES_MAX 1400 /**< fits 1500 octets with the outer header */
#define UPF_WIRE_OUTER 44       /**< IPv4, UDP, GTP-U, PDU session container */
#define UPF_WIRE_GNBS 64        /**< GTP-U peers the sessions spread over */
#define UPF_WIRE_QFI 9

enum upf_wire_direction { UPF_WIRE_UP, UPF_WIRE_DOWN, UPF_WIRE_DIRECTIONS };

/** A session as packets see it. The generator: rw. */
struct upf_wire_session {
	uint32_t ue;                          /**< IPv4 address, network order */
	uint32_t teid;                        /**< of the forwarding unit, network order */
	uint32_t octets[UPF_WIRE_DIRECTIONS]; /**< inner ones sent, modulo 2^32; see `step` */
};

/** Both ends of a link. Addresses in network order. */
struct upf_wire_cfg {
	uint8_t n3_mac[6], n6_mac[6];   /**< of the forwarding unit */
	uint8_t gnb_mac[6], net_mac[6]; /**< of its next hops */
	uint32_t n3_ip;                 /**< of the forwarding unit */
	uint32_t gnb_ip;                /**< of the first gNB; the others follow */
	uint32_t server_ip;             /**< in the data network */
	uint32_t f1_ip;                 /**< see gnb_frames.h */
	uint16_t bytes;                 /**< of the inner packet */
};

struct upf_wire_ops;

/** Constant once made. */
struct upf_wire {
	struct upf_wire_cfg cfg;
	const struct upf_wire_ops *ops;
	uint32_t seed;
	uint32_t step; /**< what a packet adds to upf_wire_session.octets */
	uint16_t head_bytes[UPF_WIRE_DIRECTIONS];  /**< up to the test header, as sent */
	uint16_t frame_bytes[UPF_WIRE_DIRECTIONS]; /**< as sent */
	uint16_t out_bytes[UPF_WIRE_DIRECTIONS];   /**< as it must come out */
	uint64_t ip_sum[UPF_WIRE_DIRECTIONS];      /**< of the inner header less the UE's address */
	uint64_t outer_sum;                        /**< of the outer one sent, less the gNB's */
	uint8_t head[UPF_WIRE_DIRECTIONS][128] __rte_cache_aligned;
	/** What comes out before the test header, and which bits of it do not differ. */
	uint8_t want[UPF_WIRE_DIRECTIONS][128], mask[UPF_WIRE_DIRECTIONS][128];
	uint8_t pattern[4096];
};

#define UPF_WIRE_VARIANTS 16 /**< stretches of the pattern used */
#define UPF_WIRE_VARIANT_STEP 67

/** Fills all but headers and lengths. */
void upf_wire_begin(struct upf_wire *w, const struct upf_wire_cfg *cfg,
		    const struct upf_wire_ops *ops);

void upf_wire_init(struct upf_wire *w, const struct upf_wire_cfg *cfg);

/** TEID of a gNB for session `i`, network order. */
static inline uint32_t
upf_wire_gnb_teid(uint32_t i)
{
	return rte_cpu_to_be_32(i + 1);
}

/** Address of the gNB of session `i`, network order. */
static inline uint32_t
upf_wire_gnb_ip(const struct upf_wire *w, uint32_t i)
{
	return w->cfg.gnb_ip + rte_cpu_to_be_32(i % UPF_WIRE_GNBS);
}

/**
 * Writes a frame of session `i`, whose entry is `s`, up to GEN_BLOCK octets beyond its end.
 * @param p aligned to 2, w->frame_bytes[d] long
 */
void upf_wire_build(const struct upf_wire *w, enum upf_wire_direction d, uint8_t *p, uint32_t i,
		    const struct upf_wire_session *s, uint64_t seq, uint32_t now);

enum upf_wire_verdict {
	UPF_WIRE_GOOD,
	UPF_WIRE_CORRUPTED,
	UPF_WIRE_FOREIGN, /**< not a frame of ours */
};

/** What a frame says of itself; `session` is within the sessions. */
struct upf_wire_test {
	uint32_t session;
	uint32_t now;
	uint64_t seq;
};

/**
 * Which session a frame is of, to bring its entry near. @param n of `sessions` entries
 * @return UPF_WIRE_GOOD with `t` filled, else what the frame is
 */
enum upf_wire_verdict upf_wire_read(const struct upf_wire *w, enum upf_wire_direction d,
				    const uint8_t *p, uint32_t bytes, uint32_t n,
				    struct upf_wire_test *t);

/** Everything else, for a frame upf_wire_read() found good. @return GOOD or CORRUPTED. */
enum upf_wire_verdict upf_wire_check(const struct upf_wire *w, enum upf_wire_direction d,
				     const uint8_t *p, const struct upf_wire_test *t,
				     const struct upf_wire_session *s);

/** The functions above: those of a forwarding unit's frames, or of others' (gnb_frames.h). */
struct upf_wire_ops {
	void (*init)(struct upf_wire *w, const struct upf_wire_cfg *cfg);
	void (*build)(const struct upf_wire *w, enum upf_wire_direction d, uint8_t *p, uint32_t i,
		      const struct upf_wire_session *s, uint64_t seq, uint32_t now);
	enum upf_wire_verdict (*read)(const struct upf_wire *w, enum upf_wire_direction d,
				      const uint8_t *p, uint32_t bytes, uint32_t n,
				      struct upf_wire_test *t);
	enum upf_wire_verdict (*check)(const struct upf_wire *w, enum upf_wire_direction d,
				       const uint8_t *p, const struct upf_wire_test *t,
				       const struct upf_wire_session *s);
};

static inline const uint8_t *
upf_wire_payload(const struct upf_wire *w, uint64_t seq)
{
	return w->pattern + seq % UPF_WIRE_VARIANTS * UPF_WIRE_VARIANT_STEP;
}

/** Up to 128 octets of headers, against `want` under `mask`. */
static inline bool
upf_wire_head_good(const uint8_t *p, const uint8_t *want, const uint8_t *mask, uint32_t bytes)
{
	gen_block differ = {0};
	uint64_t any = 0;

	for (uint32_t i = 0; i < bytes; i += GEN_BLOCK)
		differ |= (*(const gen_block *)(p + i) ^ *(const gen_block *)(want + i)) &
			  *(const gen_block *)(mask + i);
	for (unsigned i = 0; i < GEN_BLOCK / sizeof(uint64_t); i++)
		any |= differ[i];
	return any == 0;
}

#endif
