/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_RX_H
#define AIRPATH_MODULES_RLC_RX_H

/**
 * The receiving side of an RLC entity, TS 38.322 §5.2: TM, UM and AM.
 *
 * All of it belongs to the lcore of the rlc_rx node. `now` is a parameter; t-Reassembly
 * runs while rlc_rx_deadline() is not 0, and the owner calls rlc_rx_expire() then.
 */

#include <sys/queue.h>

#include "core/clock.h"
#include "core/meta.h"
#include "modules/l2/l2.h"
#include "modules/rlc/rlc.h"
#include "modules/rlc/rlc_am.h"
#include "modules/rlc/rlc_reassembly.h"

/** Why a PDU is lost; the drop reasons of the rlc_rx node. */
enum rlc_rx_drop {
	RLC_RX_NO_BEARER,     /**< bearer index without an entity */
	RLC_RX_PDU_SHORT,     /**< ends inside its header */
	RLC_RX_SDU_EMPTY,     /**< header without data */
	RLC_RX_SI_SO,         /**< last or middle segment at byte 0 */
	RLC_RX_SDU_OVERSIZE,  /**< segment reaches beyond RLC_SDU_MAX */
	RLC_RX_SN_OLD,        /**< SN before RX_Next_Reassembly: too late; AM: outside the window */
	RLC_RX_DUPLICATE,     /**< every byte was received before */
	RLC_RX_SO_CONFLICT,   /**< segment beyond the end of its SDU, or two different ends */
	RLC_RX_SEGMENTS_FULL, /**< the entity keeps as many segments as it may */
	RLC_RX_T_REASSEMBLY,  /**< segment of an SDU given up when t-Reassembly expired */
	RLC_RX_WINDOW_MOVED,  /**< segment of an SDU that fell out of the reassembly window */
	RLC_RX_REESTABLISHED, /**< segment kept when the entity was re-established */
	RLC_RX_STATUS_BAD, /**< STATUS PDU that does not decode, or a control PDU of another type */
	RLC_RX_STATUS_FULL, /**< STATUS PDUs came faster than slots */
	RLC_RX_DROPS,
};

struct rlc_rx_cfg {
	enum rlc_mode mode;
	enum rlc_sn_len sn_FieldLength; /**< UM: 6 or 12 bits; AM: 12 or 18; TM: not used */
	uint32_t t_Reassembly_ms;       /**< 0..10000; 0 expires at once */
	uint32_t segments_max;          /**< kept at most; 0: 64 (6 bits) or 4096 (others) */
	uint32_t bearer;                /**< index in the role */
	struct rlc_am_link *am;         /**< AM: rlc_tx_am_link() of the same entity */
};

/** What one call did, for the node's account; the caller zeroes it, calls add. */
struct rlc_rx_counts {
	uint64_t used;   /**< segments that became part of an SDU, and STATUS PDUs */
	uint64_t made;   /**< SDUs reassembled from them */
	uint64_t *drops; /**< [RLC_RX_DROPS], PDUs freed */
};

/** State of UM, TS 38.322 §7.1. */
struct rlc_um_rx {
	uint16_t RX_Next_Reassembly; /**< earliest SN still considered for reassembly */
	uint16_t RX_Next_Highest;    /**< SN after the highest one received */
	uint16_t RX_Timer_Trigger;   /**< SN after the one that started t-Reassembly */
	uint16_t window;             /**< UM_Window_Size */
	uint16_t sn_mask;
	struct rlc_sdu *sdus; /**< [window], indexed by SN mod window */
	struct rlc_seg_table segs;
};

/** State of AM, TS 38.322 §7.1; the bits' slots are those of the window. */
struct rlc_am_rx {
	uint32_t RX_Next;                /**< before it all were received */
	uint32_t RX_Next_Status_Trigger; /**< SN after the one that started t-Reassembly */
	uint32_t RX_Next_Highest;        /**< SN after the highest one received */
	uint32_t RX_Highest_Status;      /**< highest ACK_SN a STATUS PDU may have */
	uint32_t window;                 /**< AM_Window_Size */
	uint32_t sn_mask;
	uint32_t header; /**< B of the header of a complete SDU */
	bool triggered;  /**< a STATUS PDU is to be sent */
	bool delayed;    /**< polls wait for RX_Highest_Status to pass them, §5.3.4 */
	uint32_t poll_first, poll_last; /**< lowest and highest SN of them */
	struct rlc_am_link *link;
	uint64_t *received;   /**< complete, from RX_Next on */
	uint64_t *partial;    /**< in `sdus` */
	struct rlc_sdu *sdus; /**< [window] */
	struct rlc_seg_table segs;
	uint8_t *scratch;     /**< [RLC_AM_STATUS_MAX], a STATUS PDU made contiguous */
	uint64_t status_made; /**< times a STATUS PDU was triggered */
};

struct rlc_rx {
	enum rlc_mode mode __rte_cache_aligned;
	enum rlc_sn_len bits;
	uint32_t bearer;
	uint32_t held; /**< segments kept */
	uint64_t t_Reassembly_ns;
	uint64_t deadline_ns;     /**< of t-Reassembly, 0 when it does not run */
	LIST_ENTRY(rlc_rx) watch; /**< rlc_rx node: entities whose timer runs */
	bool watched;
	struct rlc_um_rx um;
	struct rlc_am_rx am;
};

/** Control thread. `cfg` is copied. @return 0, -EINVAL or -ENOMEM. */
int rlc_rx_init(struct rlc_rx *e, const struct rlc_rx_cfg *cfg);

/** Control thread, lcore stopped: frees segments and memory. A zeroed entity is fine. */
void rlc_rx_fini(struct rlc_rx *e);

/**
 * Takes `n` PDUs and writes the SDUs they give to `sdus`, which may be `pdus` itself.
 * PDUs lost are freed and counted. A complete PDU is its own SDU and counts nowhere.
 * @return SDUs written, ≤ n.
 */
unsigned rlc_rx_receive(struct rlc_rx *e, struct rte_mbuf **pdus, unsigned n,
			struct rte_mbuf **sdus, struct rlc_rx_counts *c, uint64_t now_ns);

/** When t-Reassembly expires in ns, or 0. */
static inline uint64_t
rlc_rx_deadline(const struct rlc_rx *e)
{
	return e->deadline_ns;
}

/** Acts on t-Reassembly if it is due; it may run again afterwards. */
void rlc_rx_expire(struct rlc_rx *e, struct rlc_rx_counts *c, uint64_t now_ns);

/* --- between rlc_rx.c and its modes ----------------------------------------------------------- */

int rlc_um_rx_init(struct rlc_rx *e, uint32_t segments_max);
void rlc_um_rx_fini(struct rlc_rx *e);

/** A PDU that is not simply complete. @return an SDU, or NULL. */
struct rte_mbuf *rlc_um_rx_segment(struct rlc_rx *e, struct rte_mbuf *m, struct rlc_rx_counts *c,
				   uint64_t now_ns);
void rlc_um_rx_expire(struct rlc_rx *e, struct rlc_rx_counts *c, uint64_t now_ns);

int rlc_am_rx_init(struct rlc_rx *e, uint32_t segments_max, struct rlc_am_link *link);
void rlc_am_rx_fini(struct rlc_rx *e);

/** Re-establishment, TS 38.322 §5.1.2. @return segments freed. */
unsigned rlc_am_rx_reset(struct rlc_rx *e);

/** As rlc_rx_receive(). */
unsigned rlc_am_rx_receive(struct rlc_rx *e, struct rte_mbuf **pdus, unsigned n,
			   struct rte_mbuf **sdus, struct rlc_rx_counts *c, uint64_t now_ns);
void rlc_am_rx_expire(struct rlc_rx *e, uint64_t now_ns);

/** Brings the report for the next STATUS PDU up to date, if one is wanted. */
void rlc_am_rx_report(struct rlc_am_rx *am);

#endif
