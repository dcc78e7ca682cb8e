/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_GEN_H
#define AIRPATH_MODULES_GEN_H

/**
 * Packet generator and verifier: the test set at the user's side of a device.
 *
 * `struct gen` is the role object of gen_tx and gen_verify. gen_tx makes UDP packets of known
 * content, or replays a capture; gen_verify judges what comes back, byte by byte. The two may run
 * on different lcores, one instance each. A verifier that stands apart from its generator needs
 * the same configuration, for content follows from it alone, and starts first: sequences begin at
 * 0.
 *
 * A packet's size is the length of its IP packet in bytes, and rates in bit/s count IP bits.
 *
 * Terms: loss, RFC 2544 §26.3; reordering, RFC 4737 §3.3 (a sequence number below the next
 * expected one); duplicates, RFC 5560 §4.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/config.h"
#include "core/hist.h"

#define GEN_SIZES_MAX 64 /**< entries of gen_cfg.sizes */
#define GEN_MARKS_MAX 64 /**< entries of gen_cfg.dscps and qfis */
#define GEN_FLOWS_MAX 1048576
#define GEN_BURST_MAX 1024
#define GEN_IP_BYTES_MAX 9600 /**< largest packet size, B */
#define GEN_IP4_BYTES_MIN 60  /**< IPv4, UDP and test header, B */
#define GEN_IP6_BYTES_MIN 80

enum gen_rate_kind {
	GEN_RATE_MAX = 0, /**< as fast as the next node takes them */
	GEN_RATE_STOP,
	GEN_RATE_PPS, /**< value: packets a second */
	GEN_RATE_BPS, /**< value: IP bits a second */
};

struct gen_rate {
	enum gen_rate_kind kind;
	double value; /**< PPS: 1 .. 1e9; BPS: 1e5 .. 1e12 */
};

/** Sizes min..max, evenly spread, take `weight` of Σ weight of all packets. */
struct gen_size {
	uint16_t min;    /**< B of IP */
	uint16_t max;    /**< = min for one size */
	uint16_t weight; /**< 1..255 */
};

struct gen_cfg {
	const char *name;
	struct rte_mempool *pool; /**< packets; NULL when nothing is sent */
	bool ethernet; /**< packets leave in Ethernet frames, else bare; both are verified */
	uint8_t eth_dst[6];
	uint8_t eth_src[6];

	bool ipv6;
	bool routed;     /**< a router lies between: DSCP, flow label and TTL may change */
	uint8_t src[16]; /**< IPv4 uses the first four; all zero: 198.18.0.1 or 2001:2::1 (RFC 2544,
			    RFC 5180) */
	uint8_t dst[16]; /**< of flow 0; all zero: 198.19.0.1 or 2001:2:0:1::1 */
	uint32_t addresses; /**< flows spread over dst, dst + 1, …; 0 means 1 */
	uint16_t src_port;  /**< 0 means 49152 */
	uint16_t dst_port;  /**< 0 means 9000 */
	uint32_t flows;     /**< 1 .. GEN_FLOWS_MAX, 0 means 1; the source port tells those of an
			       address apart */
	uint32_t flow_run;  /**< packets of a flow in a row, 0 means 1 */
	uint8_t dscps[GEN_MARKS_MAX]; /**< dealt to the flows in turn */
	uint8_t nb_dscps;
	uint8_t qfis[GEN_MARKS_MAX]; /**< ap_meta.qfi of the flows, dealt in turn */
	uint8_t nb_qfis;

	struct gen_size sizes[GEN_SIZES_MAX];
	uint8_t nb_sizes; /**< 0: one size of 1024 B */

	const char *replay; /**< capture file (pcap) whose IP packets are sent instead */
	struct gen_rate rate;
	uint64_t packets;     /**< stops after so many, 0: never */
	uint16_t burst;       /**< packets a visit, 0 means 64 */
	uint32_t catch_up_us; /**< lag behind the rate that is made good, 0 means 100 */
	uint64_t seed;        /**< content and order of sizes; 0 means 1 */
	uint8_t stream;       /**< told apart from other generators' packets on the same wire */
};

/** What has happened since gen_create(). */
struct gen_stats {
	uint64_t tx_packets;
	uint64_t tx_bytes;     /**< of IP */
	uint64_t tx_no_mbuf;   /**< visits that found the pool empty */
	uint64_t tx_behind_ns; /**< lag that was given up: the generator is the limit where this
				  grows */

	uint64_t rx_good;      /**< first arrivals, every byte as it was sent */
	uint64_t rx_bytes;     /**< of IP, in good packets */
	uint64_t rx_corrupted; /**< ours, but changed */
	uint64_t rx_duplicate; /**< correct, and here before */
	uint64_t rx_reordered; /**< good ones that came after a later one */
	uint64_t rx_late;      /**< too far behind to tell reordered from duplicate; not good */
	uint64_t rx_foreign;   /**< not from this generator */
	uint64_t rx_lost; /**< gaps in the sequences that are still open; a corrupted packet is one,
			     too */
};

struct gen;

/** Weights 7:4:1 of 64, 570 and 1518 B; 64 becomes GEN_IP6_BYTES_MIN with cfg->ipv6. */
void gen_cfg_imix(struct gen_cfg *cfg);

/**
 * Makes the role object. `cfg` is copied; EAL and the pool are up. Control thread.
 * @param err filled when NULL is returned
 */
struct gen *gen_create(const struct gen_cfg *cfg, struct ap_error *err);

/** The lcores have stopped. */
void gen_destroy(struct gen *g);

/** Changes the rate of a running generator; the next visit obeys. Any one thread. @return 0 or
 * -EINVAL. */
int gen_set_rate(struct gen *g, struct gen_rate rate);

/** Any thread. rx_good is read first and tx_packets last, so that loss is never understated. */
void gen_stats_read(const struct gen *g, struct gen_stats *s);

/** Snapshot of the one-way latency from gen_tx to gen_verify, ns. Any thread. */
void gen_latency_read(const struct gen *g, struct ap_hist *copy);

/** @return true when cfg.packets have been sent. Any thread. */
bool gen_done(const struct gen *g);

#endif
