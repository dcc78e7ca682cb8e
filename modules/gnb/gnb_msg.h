/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_MSG_H
#define AIRPATH_GNB_MSG_H

/**
 * What the control thread has a worker do. A message belongs to the worker from its ring to the
 * reply ring; the control thread makes and frees it.
 *
 * The role makes one struct gnb_ctx_worker a worker by gnb_ctx_workers_init() and binds it as
 * `arg` of node gnb_control, so that the node serves every role that has contexts.
 */

#include "modules/gnb/gnb_ctx.h"
#include "modules/gnb/gnb_report.h"

struct ap_node;
struct rte_ring;

enum gnb_msg_kind {
	GNB_MSG_SET,    /**< `image` in place of the session, or anew */
	GNB_MSG_DELETE, /**< session `teid` goes */
	GNB_MSG_STOP,   /**< uplink of session `teid` stops: Error Indication */
};

struct gnb_msg {
	/* control → worker */
	uint8_t kind;  /**< enum gnb_msg_kind */
	bool fresh;    /**< SET: the session is new */
	uint32_t teid; /**< with GNB_SLOT_N3 */
	const struct gnb_image *image;
	const struct gnb_session_spec *spec; /**< SET: what `image` was made of, for `changed` */
	/* worker → control */
	bool done;            /**< false: there is no such session */
	struct gnb_drb *drbs; /**< by slot, after SET; NULL: nobody asks */
	/* control thread alone */
	struct gnb_msg *next; /**< of the same context */
	void *request;
	void *old; /**< what the session was before */
};

/** A worker's part. */
struct gnb_ctx_worker {
	/* constant while it runs */
	struct gnb_table *table;
	uint32_t index;
	struct rte_ring *messages; /**< control → worker: struct gnb_msg */
	struct rte_ring *replies;  /**< worker → control: the same, done */
	struct rte_ring *reports;  /**< worker → control: gnb_report_put() */
	/** Likewise struct upf_report of the port side: Error Indications, paths. The role's; NULL:
	 * none. */
	struct rte_ring *edge_reports;
	/** Worker, after a SET, before a DELETE of a session that is there; or NULL. */
	void (*changed)(void *arg, const struct gnb_msg *m);
	void *changed_arg;

	struct ap_node *node; /**< gnb_control: may sleep; NULL: nobody is to be woken */

	/* worker: rw, control: ro */
	uint64_t applied __rte_cache_aligned; /**< messages */
} __rte_cache_aligned;

/**
 * @param serial tells the rings of several roles apart
 * @return `nb` workers, or NULL without memory. EAL is up.
 */
struct gnb_ctx_worker *gnb_ctx_workers_init(struct gnb_table *t, unsigned nb, unsigned serial);
void gnb_ctx_workers_fini(struct gnb_ctx_worker *w, unsigned nb);

/** Does it and fills in the result. Worker thread, between two packets. */
void gnb_do(struct gnb_ctx_worker *w, struct gnb_msg *m);

#endif
