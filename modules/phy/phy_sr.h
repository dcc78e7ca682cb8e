/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_SR_H
#define AIRPATH_MODULES_PHY_SR_H

/**
 * The network's side of scheduling requests and buffer status reports (TS 38.321 §5.4.4, §5.4.5):
 * does the stack at a side have something to send?
 *
 * It does after an SR, and until a BSR says that nothing waits any more. BSRs are read out of the
 * TBs as their segments pass, with nothing kept but the octets of a subheader or CE. Reports that
 * others of later slots overtook are not heeded.
 *
 * Owner: the phy_loop node of the side; phy_slot only asks phy_sr_waiting().
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/fapi.h"
#include "codec/mac.h"
#include "codec/nfapi.h"

#define PHY_SR_CARRIERS 8

/** The MAC PDU whose segments pass on a carrier. */
struct phy_sr_tb {
	bool open;  /**< what follows is looked at: nothing was missed, no padding came */
	bool again; /**< a retransmission: its BSR is older than its slot */
	uint8_t sequence;
	uint8_t segment; /**< next */
	uint8_t nb;      /**< octets in `head` */
	uint8_t head[MAC_SUBHEADER_MAX + MAC_BSR_BYTES_MAX];
	uint32_t skip; /**< octets of the payload that passes */
	uint64_t at;   /**< when it was granted */
};

struct phy_sr {
	/* phy_loop's lcore: rw, control: ro */
	uint64_t srs;    /**< SRs received */
	uint64_t bsrs;   /**< BSRs received */
	uint64_t latest; /**< slot and carrier of the latest SR or TB, counted on */
	uint64_t newest; /**< when the last report that counted was sent */
	struct phy_sr_tb tb[PHY_SR_CARRIERS];
	_Atomic bool waiting; /**< phy_slot: ro */
	/* constant */
	uint32_t slots_per_frame;
};

/** `s` zeroed before. Control thread. */
void phy_sr_init(struct phy_sr *s, uint8_t numerology);

/** An SR has come. */
void phy_sr_request(struct phy_sr *s, const struct fapi_sr *sr);

/**
 * A frame of TX_Data.request passes, its headers checked.
 * @param again the TB is sent again by HARQ
 */
void phy_sr_frame(struct phy_sr *s, const struct rte_mbuf *m, const struct nfapi_p7 *h, bool again);

/** Any thread. */
static inline bool
phy_sr_waiting(const struct phy_sr *s)
{
	return atomic_load_explicit(&s->waiting, memory_order_relaxed);
}

#endif
