/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_BUILD_H
#define AIRPATH_MODULES_MAC_BUILD_H

/**
 * Builds the transport blocks of one carrier (TS 38.321 §6.1.2) as a run of fragments.
 *
 * Four strategies give the same bytes. Scheme 1 and 2 are those of Song and Chung, "A Packet
 * Processing Scheme in 5G MAC Protocol Using DPDK"; gather copies each SDU once to its place;
 * scatter copies nothing and links the PDUs into a list by its tail.
 * One owner: the lcore of the carrier's mac_build node.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "modules/l2/l2.h"
#include "modules/mac/mac_tb.h"

enum mac_strategy {
	MAC_SCATTER = 0,
	MAC_GATHER,
	MAC_SCHEME1, /**< chain all, linearize once */
	MAC_SCHEME2, /**< chain and linearize each */
	MAC_STRATEGIES,
};

#define MAC_BUILD_FRAGS_MAX 128 /**< fragments of a TB: nFAPI numbers no more segments */

struct mac_build_cfg {
	enum mac_strategy strategy;
	uint32_t fragment_bytes; /**< most TB bytes in a fragment, 64..65000 */
	uint32_t harq_processes; /**< 0..32; 0: TBs are not kept */
	uint32_t harq_ues;       /**< UEs that have these processes, 0: 1 */
};

enum mac_build_drop {
	MAC_BUILD_NO_MBUF,    /**< a pool ran dry; the TB is abandoned */
	MAC_BUILD_ABANDONED,  /**< PDU of an abandoned TB */
	MAC_BUILD_NO_TB,      /**< PDU or end mark outside a TB */
	MAC_BUILD_NO_END,     /**< unfinished fragment of a TB whose end mark never came */
	MAC_BUILD_OVERRUN,    /**< more data than the TB holds; the TB is abandoned */
	MAC_BUILD_TB_SIZE,    /**< start mark of an empty TB, or one of more than 128 fragments */
	MAC_BUILD_BAD_PDU,    /**< RLC PDU of 0 or more than 65535 B */
	MAC_BUILD_BAD_MARK,   /**< mark shorter than it says */
	MAC_BUILD_OUT_FULL,   /**< more fragments in a visit than its caller has room for */
	MAC_BUILD_HARQ_EMPTY, /**< mark of a TB to send again that the HARQ buffer does not hold */
	MAC_BUILD_DROPS,
};

/** What one visit did; the caller zeroes it and sets `out` and `max`. */
struct mac_build_run {
	struct rte_mbuf **out;
	uint32_t max; /**< fragments `out` has room for */
	uint32_t nb_out;
	uint32_t made;           /**< fragments made, also those dropped unfinished */
	enum mac_build_drop why; /**< reason of a failed operation, MAC_BUILD_NO_MBUF unless set */
	uint32_t in_drops;       /**< input mbufs among the drops; all others were used */
	uint32_t drops[MAC_BUILD_DROPS];
};

enum mac_build_state {
	MAC_BUILD_IDLE,
	MAC_BUILD_BUILDING,
	MAC_BUILD_SKIPPING, /**< TB abandoned: all is dropped up to its end mark */
};

struct mac_build_zero;
struct mac_harq;

struct mac_build {
	/* the open fragment */
	uint32_t room;       /**< bytes it can still take; 0 when none is open */
	uint32_t open_bytes; /**< its size when complete */
	struct rte_mbuf *head;
	struct rte_mbuf **link; /**< scatter: where the next segment hangs; the tail is kept, never
				   searched */
	uint8_t *dst;           /**< gather: where the next byte goes */
	uint32_t segs;          /**< scatter: segments linked */
	uint64_t oldest_ns;     /**< oldest timed SDU in it, UINT64_MAX: none */
	/* the TB */
	enum mac_build_state state;
	uint32_t tb_bytes;
	uint32_t tb_at; /**< bytes in closed fragments */
	uint16_t sfn;
	uint16_t slot;
	uint16_t handle;
	struct mac_harq *harq; /**< TBs kept to be sent again; NULL: HARQ is off */
	/* constant */
	struct mac_build_cfg cfg;
	uint8_t carrier;
	struct rte_mempool *hdr;
	struct rte_mempool *ind;
	struct rte_mempool *phy;
	struct mac_build_zero
		*zero; /**< read-only padding bytes that outlive this object if in use */
};

/** Control thread. @return 0, -EINVAL (sizes; phy room below fragment_bytes) or -ENOMEM. */
int mac_build_init(struct mac_build *b, const struct mac_build_cfg *cfg,
		   const struct l2_pools *pools, uint8_t carrier);

/** Frees an unfinished fragment. Padding bytes still in flight stay valid. */
void mac_build_fini(struct mac_build *b);

/**
 * Consumes `nb` mbufs of a carrier's edge (marks and PDUs) in the configured strategy's own
 * function; overwrites `in`. Emits every fragment completed on the way.
 */
void mac_build_scatter(struct mac_build *b, struct rte_mbuf **in, uint16_t nb,
		       struct mac_build_run *run);
void mac_build_gather(struct mac_build *b, struct rte_mbuf **in, uint16_t nb,
		      struct mac_build_run *run);
void mac_build_scheme1(struct mac_build *b, struct rte_mbuf **in, uint16_t nb,
		       struct mac_build_run *run);
void mac_build_scheme2(struct mac_build *b, struct rte_mbuf **in, uint16_t nb,
		       struct mac_build_run *run);

static inline void
mac_build(struct mac_build *b, struct rte_mbuf **in, uint16_t nb, struct mac_build_run *run)
{
	switch (b->cfg.strategy) {
	case MAC_GATHER:
		mac_build_gather(b, in, nb, run);
		break;
	case MAC_SCHEME1:
		mac_build_scheme1(b, in, nb, run);
		break;
	case MAC_SCHEME2:
		mac_build_scheme2(b, in, nb, run);
		break;
	default:
		mac_build_scatter(b, in, nb, run);
	}
}

#endif
