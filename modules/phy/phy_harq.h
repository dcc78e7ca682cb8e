/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_HARQ_H
#define AIRPATH_MODULES_PHY_HARQ_H

/**
 * The network's side of uplink HARQ (TS 38.321 §5.4.2, TS 38.214 §6.1): a scheduler that grants
 * TBs to processes, and a receiver that fails to decode some of them (soft loss).
 *
 * A grant's handle names process, NDI, transmission and grant; the stack echoes it with the TB.
 * The receiver (phy_loop's lcore) draws whether the TB decodes: after combining k transmissions
 * it fails with probability soft_loss^k, given that it failed before. It tells the scheduler
 * (phy_slot's lcore) by a single-producer single-consumer box. What failed is granted again in a
 * later slot with the same NDI and RV 0, 2, 3, 1 in turn; after max_tx transmissions the TB is
 * lost. A grant that brings no TB, because the stack missed the slot, is repeated as it was, for
 * while NDI stays the stack keeps the TB; a process is given up when the stack is gone.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "codec/fapi.h"
#include "modules/phy/phy_rng.h"

#define PHY_HARQ_PROCESSES_MAX 32
#define PHY_HARQ_TX_MAX 8
#define PHY_HARQ_BOX 1024     /**< reports under way, power of two */
#define PHY_HARQ_DTX_MS 10    /**< a TB that has not come by then was not sent */
#define PHY_HARQ_GONE_MS 2000 /**< so long grants may be in vain before the process is given up */
#define PHY_HARQ_CARRIERS_MAX 8

struct phy_harq_cfg {
	uint8_t processes; /**< of each carrier, 1..32; 0: HARQ is off */
	uint8_t max_tx;    /**< transmissions of a TB, 1..8 */
	double soft_loss;  /**< probability that a first transmission does not decode, 0..1 */
};

/** @return whether the handle is of a retransmission. */
static inline bool
phy_harq_again(uint16_t handle)
{
	return (handle >> 5 & 7) > 0;
}

/** What the receiver says of a TB. */
enum phy_harq_verdict {
	PHY_HARQ_DECODED = 0,
	PHY_HARQ_FAILED,
	PHY_HARQ_AGAIN, /**< decoded before: sent again because the report came too late */
};

enum phy_harq_state {
	PHY_HARQ_IDLE = 0,
	PHY_HARQ_WAIT,    /**< granted */
	PHY_HARQ_PENDING, /**< to be granted again */
};

struct phy_harq_process {
	enum phy_harq_state state;
	uint32_t tb_bytes;
	uint64_t granted_at; /**< slot */
	uint16_t handle;     /**< of its last grant */
	bool new_data;       /**< NDI */
	uint8_t tx;          /**< transmissions granted and heard of, 0.. */
	uint64_t heard_at;   /**< slot of the last report, before any that of the first grant */
};

/** What the receiver knows of a process. */
struct phy_harq_soft {
	bool known;
	bool new_data; /**< NDI of the TB in the soft buffer */
	bool decoded;
};

struct phy_harq {
	/* phy_slot's lcore: rw, control: ro */
	uint64_t retx;    /**< retransmissions granted */
	uint64_t lost;    /**< TBs given up after max_tx transmissions */
	uint64_t dtx;     /**< grants that brought no TB */
	uint64_t unheard; /**< processes given up for silence */
	uint64_t stalls;  /**< slots without a grant because every process was busy */
	uint8_t sequence[PHY_HARQ_CARRIERS_MAX];
	struct phy_harq_process process[PHY_HARQ_CARRIERS_MAX][PHY_HARQ_PROCESSES_MAX];
	_Atomic uint32_t tail;
	/* phy_loop's lcore: rw, control: ro */
	uint64_t soft_lost __rte_cache_aligned; /**< TBs received that did not decode */
	uint64_t again;                         /**< TBs received that had been decoded */
	uint64_t box_full;                      /**< reports lost; the grant times out */
	struct phy_harq_soft soft[PHY_HARQ_CARRIERS_MAX][PHY_HARQ_PROCESSES_MAX];
	_Atomic uint32_t head;
	uint32_t box[PHY_HARQ_BOX];
	/* constant */
	uint64_t odds[PHY_HARQ_TX_MAX]; /**< of failing, by transmissions combined, less 1 */
	uint64_t dtx_slots;
	uint64_t gone_slots;
	uint8_t processes;
	uint8_t max_tx;
};

/** `h` zeroed before. Control thread. @return 0 or -EINVAL. */
int phy_harq_init(struct phy_harq *h, const struct phy_harq_cfg *cfg, uint8_t numerology);

static inline bool
phy_harq_on(const struct phy_harq *h)
{
	return h->processes > 0;
}

/** Scheduler, before the grants of slot `now`: reads the reports. */
void phy_harq_reports(struct phy_harq *h, uint64_t now);

/**
 * Scheduler: the process that `carrier` is to be granted in this slot. Changes nothing but
 * counters. @return its number, or -1 for none.
 */
int phy_harq_pick(struct phy_harq *h, uint8_t carrier, uint32_t tb_bytes);

/** Scheduler: fills TB size, handle, process, NDI and RV of the grant of a picked process. */
void phy_harq_grant(struct phy_harq *h, uint8_t carrier, int process, uint32_t tb_bytes,
		    uint64_t now, struct fapi_grant *g);

/** Receiver: a TB with the handle of its grant has come. */
enum phy_harq_verdict phy_harq_receive(struct phy_harq *h, uint8_t carrier, uint16_t handle,
				       struct phy_rng *rng);

#endif
