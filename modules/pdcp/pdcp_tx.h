/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_TX_H
#define AIRPATH_MODULES_PDCP_TX_H

/**
 * Transmitting PDCP entity, TS 38.323 §5.2.1.
 *
 * Three steps over vectors: pre-process (COUNT, header, room for MAC-I), security
 * (pdcp_crypto.h, only where configured) and hand-over to RLC. Whoever calls asks
 * rlc_tx_room(rlc, e->submitted) first, so that no SN is lost to a full queue.
 *
 * discardTimer runs where SDUs wait: the RLC queue stamps its entries and discards
 * those that are too old when it comes to take them.
 *
 * Owner: the lcore of the pdcp_tx node.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/pdcp.h"
#include "modules/l2/l2.h"
#include "modules/pdcp/pdcp_crypto.h"

/** First COUNT that does not exist: COUNT has 32 bits and never wraps. */
#define PDCP_COUNT_END (1ULL << 32)

/** In meta.bearer beside the index: a control PDU of that bearer, which takes no COUNT. */
#define PDCP_TX_CONTROL (1U << 31)

/** Why a packet is dropped; indexes the node's counters. */
enum pdcp_tx_drop {
	PDCP_TX_NO_BEARER,  /**< meta.bearer is not configured */
	PDCP_TX_QUEUE_FULL, /**< no room in the RLC queue; no SN was assigned */
	PDCP_TX_COUNT_END,  /**< every COUNT was used: the bearer needs new keys */
	PDCP_TX_NO_MBUF,    /**< no segment for header or MAC-I */
	PDCP_TX_CRYPTO,     /**< the security functions failed: no buffer, too long, device */
	PDCP_TX_DROPS,
};

/** RRC's PDCP-Config and what stands around it. */
struct pdcp_tx_cfg {
	uint8_t pdcp_SN_Size;     /**< 12 or 18 bits; SRB: 12 */
	bool srb;                 /**< signalling bearer: no D/C bit, MAC-I always */
	bool integrityProtection; /**< DRB with MAC-I */
	uint8_t rb_identity;      /**< srb-Identity or drb-Identity, 1..32 */
	uint8_t sdap_hdr_len;     /**< SDAP header in front of the SDU, 0 or 1 B: stays in clear */
	enum l2_direction direction;
	const struct pdcp_crypto *crypto; /**< NULL: NEA0 and NIA0 */
	void *keys;                       /**< of `crypto` */
	struct rte_mempool *hdr;          /**< segments for headers before shared buffers */
	uint32_t count_notify;            /**< COUNT from which new keys are asked for; 0: never */
};

struct pdcp_tx {
	uint64_t TX_NEXT;   /**< COUNT of the next SDU; PDCP_COUNT_END when none is left */
	uint32_t submitted; /**< PDUs given to RLC, modulo 2^32 */
	enum pdcp_format format;
	bool configured;
	uint32_t count_notify;
	struct pdcp_security sec;
	struct rte_mempool *hdr;
	uint64_t limit; /**< count_notify until it is reached, then PDCP_COUNT_END */
};
_Static_assert(sizeof(struct pdcp_tx) <= 64, "one cache line a bearer");

/** @return what `limit` of either direction is while COUNT is below `count_notify`. */
static inline uint64_t
pdcp_count_limit(uint32_t count_notify)
{
	return count_notify ? count_notify : PDCP_COUNT_END;
}

/** New keys are needed before COUNT ends. */
static inline bool
pdcp_tx_wants_keys(const struct pdcp_tx *e)
{
	return e->configured && e->count_notify && e->limit == PDCP_COUNT_END;
}

/** Control thread. @return 0, or -EINVAL when `cfg` is impossible. */
int pdcp_tx_init(struct pdcp_tx *e, const struct pdcp_tx_cfg *cfg);

/** Holds nothing; the bearer is unknown afterwards. */
void pdcp_tx_fini(struct pdcp_tx *e);

/**
 * Gives SDUs their COUNT and header, in order; advances TX_NEXT and `submitted`.
 * What cannot be sent is freed and counted in `drops` (enum pdcp_tx_drop), and takes no COUNT.
 * @return n: pkts[0..n) are the PDUs, with consecutive COUNTs of which the last is TX_NEXT - 1.
 */
uint16_t pdcp_tx_pre_process(struct pdcp_tx *e, struct rte_mbuf **pkts, uint16_t nb,
			     uint64_t *drops);

/**
 * Runs the security functions over the batch and empties it.
 * @return n: pkts[0..n) are PDUs for RLC, bearers' order kept; others were dropped and counted.
 */
uint16_t pdcp_tx_protect(struct pdcp_batch *b, struct rte_mbuf **pkts, uint64_t *drops);

#endif
