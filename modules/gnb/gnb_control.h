/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_CONTROL_H
#define AIRPATH_GNB_CONTROL_H

/**
 * The control thread of a role that has contexts: serves the control socket (api/gnb.proto),
 * chooses TEIDs, hands contexts to their workers and answers when these have acknowledged.
 *
 * It shares with a worker the rings of struct gnb_ctx_worker, and with all of them struct
 * upf_peers; nothing it does makes a worker wait. Without a client traffic goes on.
 */

#include <stdbool.h>
#include <stdint.h>

#include "api/gnb.pb-c.h"
#include "core/config.h"
#include "modules/gnb/gnb_msg.h"

struct gnb_control;
struct gnb_report;
struct upf_net;
struct upf_peers;

/**
 * The radio side of role `gnb`: places of UEs, one C-RNTI each, with the bearers of the deployment.
 * All calls are the control thread's.
 */
struct gnb_radio {
	/** @return the bearer of that DRB ID as every place has it, or NULL. */
	const struct gnb_drb_spec *(*drb)(void *arg, unsigned id);
	/**
	 * Gives a session its place: fills in ue and the DRBs' bearers. Of a fresh session it takes
	 * a place, by rnti or any, and with keys makes the bearers anew.
	 * @return 0; -EBUSY: the place of that C-RNTI is taken; -ENOSPC, -EINVAL, -EACCES or
	 * another error with `why` filled
	 */
	int (*enter)(void *arg, struct gnb_session_spec *spec, bool fresh, char *why,
		     unsigned size);
	/** Nothing can refuse the change any more: DRBs that are new to the session begin. */
	void (*begin)(void *arg, const struct gnb_session_spec *spec);
	/** The session that entered has gone. */
	void (*leave)(void *arg, const struct gnb_session_spec *spec);
	/** @return COUNT of the bearer's next downlink SDU. */
	uint32_t (*count)(void *arg, uint32_t bearer);
	/** As gnb_watch_look(), of a bearer that a session has. */
	unsigned (*look)(void *arg, uint32_t bearer, struct gnb_report *reports);
	void *arg;
};

/** What the role gives. It outlives the control thread. */
struct gnb_control_cfg {
	const char *kind; /**< of the role: gnb_header, gnb */
	const char *name;
	const char *socket; /**< UNIX SOCK_SEQPACKET */
	struct gnb_table *table;
	struct gnb_ctx_worker *workers;
	unsigned nb_workers;
	struct upf_net *net;           /**< interfaces; `live` is set by requests */
	struct upf_peers *peers;       /**< of the UPFs, and of the DUs */
	uint32_t n3, f1;               /**< interfaces of that type: Σ 1 << index */
	bool ciphers;                  /**< UEs may have NEA and NIA */
	bool split_pdcp;               /**< PDCP PDUs cross F1-U: no RLC headers */
	bool no_du;                    /**< role `gnb`: DRBs have no F1-U tunnel */
	const struct gnb_radio *radio; /**< role `gnb`; NULL: contexts are rows alone */
	/**
	 * Sets the share of offload packets that the host takes, 0..100 %; NULL: the role has no
	 * SmartNIC. Control thread.
	 * @return 0, or -errno: refused
	 */
	int (*offload)(void *arg, unsigned percent);
	void *arg;
	unsigned offload_percent; /**< what it is at the start */
};

/** What became of it so far. */
struct gnb_control_stats {
	uint64_t connections, requests, bad_messages;
	uint64_t setups, modifications, releases, failed;
	uint64_t events, events_lost;
	uint32_t events_kept;    /**< not acknowledged */
	uint64_t strange_errors; /**< Error Indications about tunnels no session sends to */
	uint32_t sessions, drbs, ues;
	uint32_t resting; /**< indices of TEIDs that wait before they are used again */
	uint32_t capacity;
	uint32_t clients; /**< connected */
	bool loaded;      /**< contexts are complete: Error Indications may be sent */
};

/** Binds the socket; a stale one is replaced. @return NULL with `err` filled. */
struct gnb_control *gnb_control_create(const struct gnb_control_cfg *cfg, struct ap_error *err);

/** Starts the thread. @return 0 or -errno with `err` filled. */
int gnb_control_start(struct gnb_control *c, struct ap_error *err);

/**
 * Sets a context up before the thread and the workers run.
 * @return 0, or -EINVAL with `err` filled
 */
int gnb_control_preset(struct gnb_control *c, const Airpath__Gnb__V1__BearerContext *context,
		       struct ap_error *err);

/** Every context is there: unknown TEIDs are answered by Error Indications. Before start. */
void gnb_control_complete(struct gnb_control *c);

/** Says good-bye to the client and ends the thread. Twice is once. */
void gnb_control_stop(struct gnb_control *c);

/** Workers have stopped: frees everything. NULL is nothing. */
void gnb_control_destroy(struct gnb_control *c);

/** Any thread. */
void gnb_control_stats(struct gnb_control *c, struct gnb_control_stats *s);

#endif
