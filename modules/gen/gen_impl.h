/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_GEN_IMPL_H
#define AIRPATH_MODULES_GEN_IMPL_H

/**
 * Inside of a generator: constant tables, the sending half and the verifying half.
 * Each half has one lcore as its only writer; others read counters alone.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec/ip.h"
#include "modules/gen/gen.h"
#include "modules/gen/gen_pace.h"
#include "modules/gen/gen_replay.h"
#include "modules/gen/gen_seq.h"
#include "modules/gen/gen_wire.h"

#define GEN_TIMED_EVERY 16 /**< one packet in so many is timed through the device, power of 2 */
#define GEN_FLOW_BITS 24   /**< gen_test.flow below the stream */

/** Headers of a flow; constant. */
struct gen_flow {
	uint8_t head[64]; /**< Ethernet, IP, UDP; lengths and checksums zero */
	/** IPv4: sum of the header; IPv6: of pseudo header and UDP ports. Lengths zero. */
	uint32_t sum;
	uint32_t ports; /**< UDP ports, as in the packet */
	uint8_t qfi;
} __rte_cache_aligned;

struct gen_tx {
	struct gen_pace pace;
	uint64_t rate_word;    /**< gen.rate as last obeyed */
	uint64_t left;         /**< packets still to send */
	const uint16_t *sizes; /**< cycle of IP packet sizes; replay: of the file's packets */
	uint32_t nb_sizes;
	uint32_t size_at;
	uint32_t flow_at;
	uint32_t run_left;            /**< packets still to come of flow_at */
	uint32_t replay_at;           /**< next packet of the capture */
	uint32_t timed;               /**< counts to GEN_TIMED_EVERY */
	bool placed;                  /**< a gen_tx node has this half */
	uint64_t *seq;                /**< [flows] next number */
	uint16_t plan[GEN_BURST_MAX]; /**< sizes of the packets of this visit */

	/* worker: rw, control: ro */
	_Atomic uint64_t packets;
	_Atomic uint64_t bytes;
	_Atomic uint64_t no_mbuf;
	_Atomic uint64_t behind_ns;
};

struct gen_rx {
	struct gen_seq *seqs; /**< [flows] */
	uint64_t *bitmaps;    /**< of all seqs */
	bool placed;
	uint8_t l2_bytes; /**< Ethernet header of the last packet that was ours, or 0 */

	/* worker: rw, control: ro */
	_Atomic uint64_t good;
	_Atomic uint64_t bytes;
	_Atomic uint64_t corrupted;
	_Atomic uint64_t duplicate;
	_Atomic uint64_t reordered;
	_Atomic uint64_t late;
	_Atomic uint64_t foreign;
	_Atomic uint64_t lost;
	struct ap_hist latency;
};

struct gen {
	struct gen_cfg cfg; /**< defaults filled in */
	uint8_t l2_bytes;   /**< Ethernet header of sent packets, or 0 */
	uint8_t ip_bytes;   /**< IP header */
	uint32_t check_seed;
	uint64_t rearm;         /**< rte_mbuf.rearm_data of a fresh packet */
	uint8_t *pattern;       /**< [GEN_PATTERN_BYTES + GEN_BLOCK] */
	uint32_t *pattern_sums; /**< checksum sums of pattern[0 .. 2i); IPv6 */
	struct gen_flow *flows;
	uint16_t *size_table;
	struct gen_replay replay; /**< nb_packets 0: not replaying */

	_Atomic uint64_t rate; /**< control: rw, sender: ro; encoded by gen_set_rate() */
	struct gen_tx tx __rte_cache_aligned;
	struct gen_rx rx __rte_cache_aligned;
};

/** Adds to a counter of which the caller is the only writer. */
static inline void
gen_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline uint64_t
gen_counted(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/** @return the rate behind gen.rate. */
struct gen_rate gen_rate_decode(uint64_t word);

/**
 * Sum of a UDP datagram of `f` over IPv6 with its pseudo header, checksum field not included.
 * The payload need not be read: its sum follows from its place in the pattern.
 * @param test test header as it stands in the packet
 */
static inline uint64_t
gen_udp6_sum(const struct gen *g, const struct gen_flow *f, uint32_t udp_bytes, const uint8_t *test,
	     uint32_t pattern)
{
	uint32_t end = pattern + udp_bytes - UDP_HDR_BYTES - GEN_TEST_BYTES;
	uint64_t sum = f->sum + 2 * (uint64_t)rte_cpu_to_be_16((uint16_t)udp_bytes);

	/* A payload starts at an even offset. */
	sum += g->pattern_sums[end / 2] - g->pattern_sums[pattern / 2];
	if (end % 2)
		sum += ip_sum(0, &g->pattern[end - 1], 1);
	return ip_sum_words(sum, test, GEN_TEST_BYTES / 4);
}

/* --- gen_tables.c: control thread ------------------------------------------------------------- */

/** Fills g->pattern and its sums from the seed. @return 0 or -ENOMEM. */
int gen_pattern_init(struct gen *g);

/** Fills g->flows. @return 0 or -ENOMEM. */
int gen_flows_init(struct gen *g);

/** Fills g->size_table, a cycle with the exact proportions in seeded order. @return 0 or -ENOMEM.
 */
int gen_sizes_init(struct gen *g);

/* --- gen_build.c: sending lcore ----------------------------------------------------------------
 */

/** Decides how many packets leave now, at most `max`, and their sizes. @return how many */
uint16_t gen_plan(struct gen *g, uint64_t now, uint16_t max);

/** Takes back the last plan: there were no mbufs for its `n` packets. */
void gen_unplan(struct gen *g, uint16_t n);

/** Makes the planned packets in raw mbufs. */
void gen_build(struct gen *g, struct rte_mbuf **pkts, uint16_t n, uint64_t now);

/* --- gen_check.c: verifying lcore --------------------------------------------------------------
 */

enum gen_verdict {
	GEN_OURS, /**< every byte as it was sent */
	GEN_CORRUPTED,
	GEN_FOREIGN,
};

/** What a vector of arrivals was. */
struct gen_arrivals {
	uint16_t ours; /**< good, duplicate or late */
	uint16_t corrupted;
	uint16_t foreign;
};

/** Judges, orders and counts `n` packets, which stay the caller's. */
struct gen_arrivals gen_verify(struct gen *g, struct rte_mbuf **pkts, uint16_t n, uint64_t now);

#endif
