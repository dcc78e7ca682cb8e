/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_NIC_H
#define AIRPATH_P4_NIC_H

/**
 * A SmartNIC: the program, and the agent that keeps its tables as the gNB's contexts are.
 *
 *   worker k of the gNB ── changes ──▶ ┐
 *   control thread ────── peers ────▶ ├ lcore of the NIC: p4_control, then packets
 *                   share (atomic) ──▶ ┘
 *
 * Changes are elements, by value, of one SPSC ring a worker. A worker never waits: should a ring
 * be full, the program can no longer be right about its sessions, so all bearers go back to the
 * host and stay there; the report says so.
 */

#include <stdatomic.h>

#include "modules/gnb/gnb_msg.h"
#include "modules/p4/p4_gnb.h"

struct rte_ring;
struct upf_net;
struct upf_peers;

#define P4_CHANGES 8192 /**< that one worker may be ahead */

struct p4_change_drb {
	uint32_t du_teid;
	uint16_t du;
	uint8_t format; /**< index in gnb_formats */
	uint8_t id;     /**< 0: there is none */
};

/** A session set, or (nb_drbs 0) gone. */
struct p4_change {
	uint32_t teid;
	uint8_t nb_drbs; /**< slots in `drbs`: as many as a session may have */
	uint8_t anew;    /**< slots whose numbering begins anew */
	uint16_t zero;
	uint8_t slot_of[32];
	struct p4_change_drb drbs[GNB_DRBS_MAX];
};
_Static_assert(sizeof(struct p4_change) % 4 == 0, "element of an rte_ring");

struct p4_nic;

/** What a worker's hook is given. */
struct p4_feed {
	struct p4_nic *nic;
	unsigned worker;
	struct rte_ring *changes;
};

struct p4_nic {
	/* constant */
	struct p4_gnb *program;
	unsigned nb_workers, drb_shift;
	struct p4_feed feeds[P4_VFS_MAX];
	struct rte_ring *peer_changes; /**< struct p4_peer; mtu 0: none any more */
	bool by_mark;                  /**< packets say; the share is not ours to choose */

	/* control thread: rw, NIC: ro */
	_Atomic uint32_t share __rte_cache_aligned;
	/* workers: rw */
	_Atomic bool behind;

	/* control thread */
	struct p4_peer *known; /**< by index, as last told */

	/* NIC's lcore */
	uint32_t share_now __rte_cache_aligned;
	uint32_t *teids; /**< of sessions in the tables, by index; 0: none */
	uint8_t *ids;    /**< of DRBs in the tables, by row; 0: none */
	uint64_t changes, no_space;
};

struct p4_nic_cfg {
	struct p4_cfg program; /**< nb_vfs: as many as the gNB has workers */
	bool by_mark;
	unsigned offload_percent; /**< of bearers, those the host has */
	unsigned serial;          /**< tells rings of several apart */
};

/** EAL is up. @return NULL with `err` filled. */
struct p4_nic *p4_nic_create(const struct p4_nic_cfg *cfg, struct ap_error *err);
void p4_nic_destroy(struct p4_nic *nic);

/** gnb_ctx_worker.changed; `arg` is a struct p4_feed. Worker. */
void p4_nic_changed(void *arg, const struct gnb_msg *m);

/** The same without message: the session as it is in the table. Who is alone with the table. */
int p4_nic_feed(struct p4_nic *nic, const struct gnb_table *t, uint32_t teid);

/** Looks which peers have become reachable, or are elsewhere. Control thread, now and then. */
void p4_nic_peers(struct p4_nic *nic, const struct upf_net *net, const struct upf_peers *peers);

/**
 * Any control thread: the host's share of the bearers from now on.
 * @return 0; -EINVAL above 100; -ENOTSUP where packets' marks decide
 */
int p4_nic_offload(struct p4_nic *nic, unsigned percent);

/** NIC's lcore: takes what has changed. @return how much. */
unsigned p4_nic_poll(struct p4_nic *nic);

#endif
