/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_RLC_AM_BED_H
#define AIRPATH_BENCH_RLC_AM_BED_H

/** A transmitting and a receiving AM entity, and batches of SDUs that go through both. */

#include <stdbool.h>
#include <stdint.h>

#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_tx.h"

#define RLC_AM_BED_BATCH 2048
#define RLC_AM_BED_ROOM 2048

/** What is timed. */
enum rlc_am_bed_part {
	RLC_AM_BED_TX,
	RLC_AM_BED_RX,
	RLC_AM_BED_STATUS,
	RLC_AM_BED_ALL,
};

/** How PDUs come. */
enum rlc_am_bed_order {
	RLC_AM_BED_IN_ORDER,
	RLC_AM_BED_REVERSE,
	RLC_AM_BED_SWAPPED_EDGES,
	RLC_AM_BED_RANDOM,
};

struct rlc_am_bed {
	struct l2_pools pools;
	struct rte_mempool *air; /* the receiver's buffers */
	struct rlc_tx tx;
	struct rlc_rx rx;
	uint64_t rx_drops[RLC_RX_DROPS], tx_drops[RLC_TX_DROPS];
	struct rlc_rx_counts counts;
	struct rlc_tx_pull_stats stats;
	enum rlc_am_bed_part part;
	enum rlc_am_bed_order order;
	unsigned bytes;
	uint32_t rnd;
	uint64_t clock_cycles, cycles; /* of reading the clock twice; of the timed calls */
	uint64_t now_ns;
	bool lost;
	struct rte_mbuf *sdus[RLC_AM_BED_BATCH], *pdus[2 * RLC_AM_BED_BATCH],
		*air_pdus[2 * RLC_AM_BED_BATCH];
};

/** Pools. @return false without memory; rlc_am_bed_free() frees what there is either way. */
bool rlc_am_bed_make(struct rlc_am_bed *b);
void rlc_am_bed_free(struct rlc_am_bed *b);

/** @return 0 or -errno. The caller ends `b->tx` and `b->rx`. */
int rlc_am_bed_entities(struct rlc_am_bed *b, enum rlc_sn_len bits);

/** Adds what `b->part` takes for a batch to `b->cycles`. @return false when an SDU was lost. */
bool rlc_am_bed_batch(struct rlc_am_bed *b);

#endif
