/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_RX_H
#define AIRPATH_MODULES_PDCP_RX_H

/**
 * Receiving PDCP entity, TS 38.323 §5.2.2.
 *
 * pdcp_rx_in_order() takes what arrives in order with nothing waiting, in place;
 * pdcp_rx_receive() follows the clause for everything else. Secured PDUs go
 * pre-process, security (pdcp_crypto.h), post-process: COUNTs are derived from the
 * RX_DELIV of the pre-process, and a state variable moves only in the post-process.
 *
 * The reception buffer is a table indexed by COUNT modulo its size. A table smaller
 * than Window_Size is allowed; a PDU inside the window that it has no place for is
 * dropped and counted, yet RX_NEXT moves past it, so that t-Reordering closes the gap.
 *
 * Owner: the lcore of the pdcp_rx node. The caller owns the clock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_mbuf.h>

#include "codec/pdcp.h"
#include "modules/l2/l2.h"
#include "modules/pdcp/pdcp_crypto.h"
#include "modules/pdcp/pdcp_tx.h"

#define PDCP_T_REORDERING_INFINITY UINT32_MAX
#define PDCP_NO_DEADLINE UINT64_MAX

/** Why a PDU is dropped; indexes the node's counters. */
enum pdcp_rx_drop {
	PDCP_RX_NO_BEARER, /**< meta.bearer is not configured */
	PDCP_RX_SHORT,     /**< no data behind header and MAC-I, or a truncated control PDU */
	PDCP_RX_RESERVED,  /**< reserved control PDU type, or a malformed status report */
	PDCP_RX_CONTROL_UNSUPPORTED, /**< ROHC, EHC or UDC feedback: none is configured */
	PDCP_RX_OUT_OF_WINDOW,       /**< COUNT would be below 0 or above 2^32 - 1 */
	PDCP_RX_OLD,                 /**< RCVD_COUNT < RX_DELIV */
	PDCP_RX_DUPLICATE,           /**< received before */
	PDCP_RX_REORDER_FULL,        /**< in the window but beyond reorder_slots */
	PDCP_RX_INTEGRITY,           /**< integrity verification failed */
	PDCP_RX_NO_MBUF,             /**< no buffer to decipher into */
	PDCP_RX_TOO_LONG,            /**< longer than such a buffer, or than the engine takes */
	PDCP_RX_DEVICE,              /**< the crypto device did not do it */
	PDCP_RX_STATUS_FULL,         /**< status reports came faster than slots */
	PDCP_RX_DROPS,
};

/** RRC's PDCP-Config and what stands around it. */
struct pdcp_rx_cfg {
	uint8_t pdcp_SN_Size;     /**< 12 or 18 bits; SRB: 12 */
	bool srb;                 /**< signalling bearer: no D/C bit, MAC-I always */
	bool integrityProtection; /**< DRB with MAC-I */
	bool outOfOrderDelivery;
	uint32_t t_Reordering;  /**< ms, 0..3000 or PDCP_T_REORDERING_INFINITY */
	uint32_t reorder_slots; /**< power of two ≤ Window_Size; 0: Window_Size */
	uint8_t rb_identity;    /**< srb-Identity or drb-Identity, 1..32 */
	uint8_t sdap_hdr_len;   /**< SDAP header in front of the SDU, 0 or 1 B: is in clear */
	enum l2_direction direction;
	const struct pdcp_crypto *crypto; /**< NULL: NEA0 and NIA0 */
	void *keys;                       /**< of `crypto` */
	uint32_t count_notify;            /**< COUNT from which new keys are asked for; 0: never */
};

struct pdcp_rx {
	/* COUNTs, but 64 bits wide: one past the last COUNT is a value of its own */
	uint64_t RX_NEXT;  /**< COUNT of the next SDU expected */
	uint64_t RX_DELIV; /**< COUNT of the first SDU not delivered but still waited for */
	uint64_t RX_REORD; /**< COUNT after the one that started t-Reordering */
	uint64_t limit;    /**< count_notify until RX_NEXT is beyond, then PDCP_COUNT_END */
	enum pdcp_format format;
	uint32_t count_notify;
	bool configured;
	bool outOfOrderDelivery;
	bool running; /**< t-Reordering is running */
	bool plain;   /**< neither security nor MAC-I: pdcp_rx_in_order() applies */
	uint32_t slot_mask;
	uint32_t held;           /**< SDUs in the reception buffer */
	struct rte_mbuf **slots; /**< [slot_mask + 1], NULL where nothing was received */
	uint64_t deadline_ns;    /**< when t-Reordering expires; PDCP_NO_DEADLINE unless it is to */
	uint64_t t_Reordering_ns; /**< PDCP_NO_DEADLINE: infinity */
	struct pdcp_security sec;
	uint64_t status_reports; /**< status reports received */
	/* the node's list of entities that may have a deadline */
	LIST_ENTRY(pdcp_rx) watch;
	bool watched;
};

/** New keys are needed before COUNT ends. */
static inline bool
pdcp_rx_wants_keys(const struct pdcp_rx *e)
{
	return e->configured && e->count_notify && e->limit == PDCP_COUNT_END;
}

/** Where SDUs and counts go; deliver() is called with runs of SDUs. */
struct pdcp_rx_sink {
	void (*deliver)(void *arg, struct rte_mbuf **sdus, uint16_t nb);
	/** Takes a well-formed status report to the transmitting side; false when it cannot. May be
	 * NULL: nothing is there to discard. */
	bool (*report)(void *arg, struct rte_mbuf *m);
	void *arg;
	uint64_t *drops; /**< [PDCP_RX_DROPS] */
	uint64_t *used;  /**< control PDUs that were acted upon */
};

/** Control thread. @return 0, -EINVAL when `cfg` is impossible, or -ENOMEM. */
int pdcp_rx_init(struct pdcp_rx *e, const struct pdcp_rx_cfg *cfg);

/** Frees what the reception buffer holds, and the buffer. */
void pdcp_rx_fini(struct pdcp_rx *e);

/**
 * Takes Data PDUs from the front of a vector as long as each is the very next one and nothing
 * waits in the reception buffer; they become SDUs in place.
 * @return how many were taken; the rest is for pdcp_rx_receive().
 */
uint16_t pdcp_rx_in_order(struct pdcp_rx *e, struct rte_mbuf **pkts, uint16_t nb);

/** A vector of any PDUs of an entity without pdcp_crypto. */
void pdcp_rx_receive(struct pdcp_rx *e, struct rte_mbuf **pkts, uint16_t nb, uint64_t now_ns,
		     const struct pdcp_rx_sink *sink);

/**
 * First step for a secured PDU: takes control PDUs and malformed ones off, derives RCVD_COUNT.
 * @return true when `m` is a Data PDU to be deciphered and verified with `*count`.
 */
bool pdcp_rx_pre_process(struct pdcp_rx *e, struct rte_mbuf *m, uint32_t *count,
			 const struct pdcp_rx_sink *sink);

/** Runs the security functions over the batch, post-processes it in order and empties it. */
void pdcp_rx_verify(struct pdcp_batch *b, uint64_t now_ns, const struct pdcp_rx_sink *sink);

/** t-Reordering expires (§5.2.2.2), if it is running and due at `now_ns`; otherwise nothing. */
void pdcp_rx_expire(struct pdcp_rx *e, uint64_t now_ns, const struct pdcp_rx_sink *sink);

#endif
