/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_CONTROL_H
#define AIRPATH_UPF_CONTROL_H

/**
 * The control thread of a forwarding unit: serves the agent's socket (api/upf.proto), compiles
 * sessions, hands them to their workers and answers when these have acknowledged.
 *
 * It shares with workers three rings each way, upf_index and upf_peers; nothing it does makes a
 * worker wait. Without an agent traffic goes on and events are kept.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/config.h"
#include "modules/upf/upf_apps.h"
#include "modules/upf/upf_peer.h"

struct upf;
struct upf_control;

/** What became of it so far. */
struct upf_control_stats {
	uint64_t connections, requests, bad_messages;
	uint64_t sets, deletes, queries, failed;
	uint64_t events, events_lost, told_lost, checkpoints;
	uint64_t strange_errors; /**< Error Indications about tunnels no session sends to */
	uint32_t sessions, peers;
	uint32_t events_kept; /**< not acknowledged */
	uint32_t told_kept;   /**< answers with usage, likewise */
	bool connected;
};

/** Binds the socket; a stale one is replaced. @return NULL with `err` filled. */
struct upf_control *upf_control_create(struct upf *upf, struct ap_error *err);

/** Starts the thread. @return 0 or -errno with `err` filled. */
int upf_control_start(struct upf_control *c, struct ap_error *err);

/** Says good-bye to the agent and ends the thread. Twice is once. */
void upf_control_stop(struct upf_control *c);

/** Workers have stopped: frees everything, sessions too. */
void upf_control_destroy(struct upf_control *c);

/** Any thread. */
void upf_control_stats(struct upf_control *c, struct upf_control_stats *s);

/** An application in force. */
struct upf_app_view {
	uint16_t index;
	char id[64];    /**< its begin */
	uint64_t flows; /**< that were found to be of it, of all generations */
};

/** @return applications with an index above `after` that were told, rising. Any thread. */
unsigned upf_control_applications(struct upf_control *c, uint32_t after, struct upf_apps_view *view,
				  struct upf_app_view *apps, unsigned max);

/** @return handle of a session, or 0. Any thread. */
uint32_t upf_control_handle(struct upf_control *c, uint64_t id);

/** Ids above `after`, rising. @return how many, or -ENOMEM. Any thread. */
int upf_control_list(struct upf_control *c, uint64_t after, uint64_t *ids, uint32_t max);

struct upf_peer_view {
	struct upf_peer_key key;
	uint32_t refs; /**< rules that name it */
};

/** @return how many of the peers in use were told. Any thread. */
unsigned upf_control_peers(struct upf_control *c, struct upf_peer_view *peers, unsigned max);

#endif
