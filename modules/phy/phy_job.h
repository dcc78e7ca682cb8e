/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_JOB_H
#define AIRPATH_MODULES_PHY_JOB_H

/**
 * Between phy_path.c, which takes and copies frames, phy_path_control.c, which takes those without
 * a TB, and phy_out.c, which lets them go.
 */

#include "modules/phy/phy_path.h"

/** One frame to be copied. */
struct phy_job {
	struct rte_mbuf *src;
	struct rte_mbuf *dst;
	uint32_t id;     /**< of the TB or its twin */
	uint64_t due_ns; /**< of the TB */
	bool hold;       /**< the TB waits for the next one */
	bool release;    /**< behind it goes the TB that waited */
	uint64_t release_due_ns;
	struct nfapi_p7 h; /**< as it came */
};

/**
 * Draws the fate of a TB whose first segment is here.
 * @param drop enum phy_loop_drop if it is settled, -1
 */
struct phy_tb *phy_tb_open(struct phy_path *path, struct phy_path_carrier *c, uint8_t sequence,
			   int8_t drop, uint64_t now_ns);

/** The waiting is over, and what is still to come of the TB follows. @return its due_ns. */
uint64_t phy_hold_end(struct phy_path_carrier *c, uint64_t now_ns);

/** The copy leaves, or is kept; without a copy (no mbuf) only what hangs on it happens. */
void phy_job_send(struct phy_path *path, const struct phy_job *j, uint64_t *drops);

/** Drops a frame, and counts it. */
static inline void
phy_path_lose(struct rte_mbuf *m, int reason, uint64_t *drops)
{
	drops[reason]++;
	rte_pktmbuf_free(m);
}

/**
 * A frame that is not TX_Data.request: an SR, a gNB's request for TBs, or one to drop.
 * @param reason why TX_Data.request could not be read of it, enum phy_loop_drop
 * @param used one more where the frame ends here and is no drop
 */
void phy_path_control(struct phy *p, uint32_t side, struct rte_mbuf *m, const struct nfapi_p7 *h,
		      int reason, uint16_t *used, uint64_t *drops);

#endif
