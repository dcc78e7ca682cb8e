/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_REPORT_H
#define AIRPATH_GNB_REPORT_H

/**
 * What there is to tell of DRBs, of which the control thread makes Events of api/gnb.proto. In role
 * `gnb_header` workers report: elements, by value, of one SPSC ring a worker, rare and said once,
 * for GNB_DRB_NOTIFIED and GNB_DRB_LIMITED are the sender's memory. In role `gnb` see gnb_watch.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

enum gnb_report_kind {
	GNB_REPORT_COUNT_NOTIFY,       /**< COUNT nears its end */
	GNB_REPORT_COUNT_LIMIT,        /**< ... and has come to it: packets are dropped */
	GNB_REPORT_RADIO_LINK_FAILURE, /**< RLC's maxRetxThreshold, TS 38.322 §5.3.2 */
};

struct gnb_report {
	uint32_t kind;   /**< enum gnb_report_kind */
	uint32_t teid;   /**< ours, with the DRB's slot */
	uint32_t count;  /**< TX_NEXT, or RX_NEXT */
	uint32_t uplink; /**< 1: the receiver's COUNT */
};
/** Most that gnb_watch_look() reports of a bearer at once. */
#define GNB_RADIO_REPORTS_MAX 3
_Static_assert(sizeof(struct gnb_report) % 4 == 0, "element of an rte_ring");

/** @return a ring for `n` reports, or NULL with rte_errno. Control thread. */
static inline struct rte_ring *
gnb_report_ring(const char *name, unsigned n, int socket)
{
	return rte_ring_create_elem(name, sizeof(struct gnb_report), rte_align32pow2(n + 1), socket,
				    RING_F_SP_ENQ | RING_F_SC_DEQ);
}

/** Worker. @return whether it fitted. */
static inline bool
gnb_report_put(struct rte_ring *r, const struct gnb_report *e)
{
	return rte_ring_sp_enqueue_elem(r, (void *)(uintptr_t)e, sizeof(*e)) == 0;
}

/** Control thread. @return whether there was one. */
static inline bool
gnb_report_get(struct rte_ring *r, struct gnb_report *e)
{
	return rte_ring_sc_dequeue_elem(r, e, sizeof(*e)) == 0;
}

#endif
