/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_TX_H
#define AIRPATH_MODULES_MAC_TX_H

/**
 * The transmitting MAC entity of one UE: from a slot's grants to marked runs of RLC PDUs.
 *
 * For each granted carrier it runs logical channel prioritization (TS 38.321 §5.4.3.1),
 * pulls RLC and decides the MAC CEs and the BSR (§5.4.5). The TB itself is built by
 * mac_build from what this emits. Owner: the lcore of mac_slot.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/mac.h"
#include "modules/l2/l2.h"
#include "modules/mac/mac_harq.h"
#include "modules/mac/mac_tb.h"
#include "modules/rlc/rlc_tx.h"

#define MAC_TX_LCS_MAX L2_LCID_MAX
#define MAC_TX_CES_MAX 8      /**< queued CEs */
#define MAC_TX_CE_BYTES_MAX 9 /**< payload of a queued CE */
#define MAC_PRIORITIES 16
/** The PHY has no PRACH: random access is taken to last so long, and to bring SRs back. */
#define MAC_RANDOM_ACCESS_MS 100
#define MAC_SLOT_EDGE_SR L2_CARRIERS_MAX /**< of mac_slot: SR.request frames, to the PHY's port */

/** A logical channel, in the terms of LogicalChannelConfig (TS 38.331). */
struct mac_tx_lc_cfg {
	struct rlc_tx *rlc;
	uint8_t lcid;          /**< 1..32 */
	uint8_t priority;      /**< 1 (first) .. 16 */
	uint8_t lcg;           /**< logicalChannelGroup, 0..7 */
	uint8_t carriers;      /**< allowedServingCells: bit i is carrier i; 0: all */
	uint8_t scs;           /**< allowedSCS-List: bit i is numerology i; 0: all */
	uint32_t max_pusch_us; /**< maxPUSCH-Duration, µs without its fraction; 0: any */
	uint32_t pbr_kbytes_s; /**< prioritisedBitRate, kB/s; 0: infinity */
	uint32_t bsd_ms;       /**< bucketSizeDuration, 1..1000 ms */
};

/** Power headroom reports of one serving cell; the values are the configuration's, not measured. */
struct mac_tx_phr_cfg {
	bool on;              /**< uplink only */
	uint32_t periodic_ms; /**< phr-PeriodicTimer, 0: infinity */
	uint32_t prohibit_ms; /**< phr-ProhibitTimer */
	struct mac_phr value; /**< what is reported */
};

/** Scheduling requests (SchedulingRequestToAddMod, TS 38.331); an occasion is every slot. */
struct mac_tx_sr_cfg {
	uint32_t trans_max;   /**< sr-TransMax; 0: no SR is configured */
	uint32_t prohibit_ms; /**< sr-ProhibitTimer, 0: none */
	uint16_t rnti;        /**< who asks */
};

struct mac_tx_cfg {
	enum l2_direction direction;     /**< uplink: CEs after the SDUs, and BSRs */
	uint32_t nb_carriers;            /**< 1..8 */
	uint32_t nb_lcs;                 /**< 1..32 */
	const struct mac_tx_lc_cfg *lcs; /**< copied */
	uint32_t periodicBSR_ms;         /**< periodicBSR-Timer; 0: infinity */
	uint32_t retxBSR_ms;             /**< retxBSR-Timer; 0: infinity */
	struct mac_tx_phr_cfg phr;
	struct mac_tx_sr_cfg sr; /**< uplink only */
	uint32_t harq_processes; /**< of each carrier, 0..32; 0: every grant is new */
	bool every_slot;         /**< mac_slot serves late slots that grant something, too */
	struct rte_mempool *hdr; /**< marks */
};

struct mac_tx_lc {
	struct mac_tx_lc_cfg cfg;
	int64_t Bj;      /**< µB, to lose no fraction of PBR × T; may be negative */
	uint64_t served; /**< bytes, to share equally among equal priorities */
	bool idle;       /**< its data ran out when it was last served */
	bool selected;   /**< its restrictions allow the grant in hand (§5.4.3.1.2) */
	bool blocked;    /**< gave nothing although data waits: left alone until the next TB */
	bool had_data;   /**< data the network may know of: a regular BSR was triggered for it */
};

struct mac_tx_ce {
	uint8_t lcid;
	uint8_t bytes;
	uint8_t payload[MAC_TX_CE_BYTES_MAX];
};

enum mac_tx_phase {
	MAC_TX_NO_TB,
	MAC_TX_START,
	MAC_TX_DATA,
	MAC_TX_END,
	MAC_TX_RETX, /**< the TB is in the HARQ buffer */
};

/** The last grant of a HARQ process, TS 38.321 §5.4.2.1. */
struct mac_tx_harq {
	uint32_t tb_bytes; /**< 0: none yet, the next one is new data */
	bool new_data;     /**< its NDI */
};

/** Scheduling requests, TS 38.321 §5.4.4. */
struct mac_tx_sr {
	struct mac_tx_sr_cfg cfg;
	bool pending;
	bool granted;         /**< the slot in hand gave resources for a new transmission */
	bool released;        /**< sr-TransMax was reached: no SR until a grant or random access */
	uint8_t sequence;     /**< of the next message */
	uint32_t SR_COUNTER;  /**< SRs sent for what is pending */
	uint64_t prohibit_ns; /**< when sr-ProhibitTimer expires */
	uint64_t access_ns;   /**< with `released`: when random access has succeeded */
};

/** The TB in hand. */
struct mac_tx_tb {
	enum mac_tx_phase phase;
	uint32_t left;     /**< bytes free for SDUs */
	uint32_t reserved; /**< bytes kept for the CEs of the end mark */
	uint8_t bsr_lcid;  /**< format of the BSR decided at the start, 0: none */
	uint8_t bsr_lcgs;  /**< LCGs it will report */
	struct rte_mbuf *start;
	struct rte_mbuf *end;
};

struct mac_tx {
	/* counters; worker: rw, control: ro */
	uint64_t slots;        /**< slots served */
	uint64_t slots_missed; /**< slots that waited while a newer one had come */
	uint64_t tbs;
	uint64_t tbs_no_mark;      /**< grants not used because pools.hdr was empty */
	uint64_t tbs_padding_only; /**< no SDU and no CE but a padding BSR */
	uint64_t bsrs;             /**< regular and periodic BSRs sent */
	uint64_t padding_bsrs;
	uint64_t phrs;          /**< power headroom reports sent */
	uint64_t srs;           /**< scheduling requests sent */
	uint64_t sr_failures;   /**< times sr-TransMax was reached: random access began */
	uint64_t harq_retx;     /**< TBs sent again */
	uint64_t harq_mismatch; /**< grants ignored: a HARQ process or TB size that cannot be */
	struct rlc_tx_pull_stats rlc;

	/* worker: rw */
	bool active;      /**< grants of `slot` remain */
	uint32_t carrier; /**< the one in hand, then those above it remain */
	uint64_t serial;  /**< of the slot served last; of who serves many (mac_serve.c) */
	struct slot_grant slot;
	struct mac_tx_tb tb;
	uint64_t lcp_ns;          /**< when Bj was last incremented */
	uint64_t periodic_ns;     /**< when the periodic BSR is due, UINT64_MAX: never */
	uint64_t retx_ns;         /**< when retxBSR-Timer expires, UINT64_MAX: it does not run */
	uint64_t phr_ns;          /**< when a PHR is due, UINT64_MAX: never */
	uint64_t phr_prohibit_ns; /**< when phr-ProhibitTimer expires */
	bool bsr_triggered;
	bool bsr_regular; /**< what triggered it was regular */
	struct mac_tx_sr sr;
	uint32_t nb_ces;
	struct mac_tx_ce ces[MAC_TX_CES_MAX];
	uint64_t floor[MAC_PRIORITIES +
		       1]; /**< least `served` of the active channels, by priority */
	struct mac_tx_lc lcs[MAC_TX_LCS_MAX]; /**< by falling priority */
	struct mac_tx_harq harq[L2_CARRIERS_MAX][MAC_HARQ_MAX];

	/* constant */
	enum mac_sch sch;
	uint32_t nb_carriers;
	uint32_t nb_lcs;
	uint32_t periodicBSR_ms;
	uint32_t retxBSR_ms;
	uint32_t harq_processes;
	bool every_slot;
	struct mac_tx_phr_cfg phr;
	struct rte_mempool *hdr;
};

/** Control thread. @return 0 or -EINVAL. */
int mac_tx_init(struct mac_tx *tx, const struct mac_tx_cfg *cfg);

/** Control thread, worker stopped: frees marks not sent. */
void mac_tx_fini(struct mac_tx *tx);

/**
 * Queues a CE for the next TBs, where it goes before data and after C-RNTI and BSR (§5.4.3.1.3).
 * @return 0, -EINVAL (reserved LCID, wrong size) or -ENOSPC.
 */
int mac_tx_queue_ce(struct mac_tx *tx, uint8_t lcid, const uint8_t *payload, uint32_t bytes);

/** Data that waits in all logical channels with what their subheaders may take, B. Its lcore. */
uint64_t mac_tx_waiting(const struct mac_tx *tx);

/** Begins the grants of a slot; allowed only when mac_tx_busy() is false. */
void mac_tx_slot(struct mac_tx *tx, const struct slot_grant *slot, uint64_t now_ns);

static inline bool
mac_tx_busy(const struct mac_tx *tx)
{
	return tx->active;
}

/**
 * Emits the next marks and PDUs of the slot, all of one carrier and at most `max`.
 * A TB larger than that continues on the next call.
 * @return how many; 0 when the slot is done.
 */
unsigned mac_tx_next(struct mac_tx *tx, struct rte_mbuf **pkts, unsigned max, uint64_t now_ns,
		     uint32_t *carrier);

/* --- between mac_tx.c, mac_lcp.c and mac_bsr.c ------------------------------------------------ */

/**
 * Before every instance of the LCP procedure: selects the logical channels for the grant of
 * tx->carrier; Bj grows by PBR × T, up to the bucket size.
 */
void mac_lcp_begin(struct mac_tx *tx, uint64_t now_ns);

/** LCP for the TB in hand. @return PDUs; fewer than `max` when the TB can take no more. */
unsigned mac_lcp_pull(struct mac_tx *tx, struct rte_mbuf **pdus, unsigned max, uint64_t now_ns);

/** The power headroom of the model changed by more than phr-Tx-PowerFactorChange. Owner's lcore. */
void mac_phr_set(struct mac_tx *tx, const struct mac_phr *value, uint64_t now_ns);

/** Adds a PHR to the queued CEs when one is triggered and `room` holds it (mac_phr.c). */
void mac_phr_plan(struct mac_tx *tx, uint32_t room, uint64_t now_ns);

/** Looks for BSR triggers and picks the format for a TB of `bytes`. @return bytes to reserve. */
uint32_t mac_bsr_plan(struct mac_tx *tx, uint32_t bytes, uint64_t now_ns);

/** Writes the planned BSR. @return bytes written. */
uint32_t mac_bsr_write(struct mac_tx *tx, uint8_t *p, uint32_t room, uint64_t now_ns);

/** Writes a padding BSR if `room` bytes of padding allow one. @return bytes written. */
uint32_t mac_bsr_pad(struct mac_tx *tx, uint8_t *p, uint32_t room, uint64_t now_ns);

/**
 * The TB is closed: forgets the channels it emptied, so that new data there triggers again.
 * @return whether data still waits
 */
bool mac_bsr_settle(struct mac_tx *tx);

/** A slot without a grant: looks for triggers. @return whether a regular BSR waits for a grant. */
bool mac_bsr_regular(struct mac_tx *tx, uint64_t now_ns);

/** A TB is closed, which had a BSR or not; `waiting`: data waits even so. */
void mac_sr_settle(struct mac_tx *tx, bool bsr, bool waiting);

static inline bool
mac_sr_on(const struct mac_tx *tx)
{
	return tx->sr.cfg.trans_max > 0;
}

/**
 * The grants of a slot are used up: its SR occasion comes. For MACs with SR on.
 * @return true when the PHY is to signal an SR; mac_sr_sent() follows if it is told to
 */
bool mac_sr_due(struct mac_tx *tx, uint64_t now_ns);
void mac_sr_sent(struct mac_tx *tx, uint64_t now_ns);

struct ap_node;

/** Books for SDUs that left a queue and went nowhere; `n` is the mac_slot node, its lcore held. */
void mac_slot_node_reestablished(struct ap_node *n, uint64_t discarded);

#endif
