/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PATH_H
#define AIRPATH_UPF_PATH_H

/**
 * Watches GTP-U paths, TS 29.281 §7.2.1, §7.2.2 and clause 12: an Echo Request to every path in
 * use, again after T3-RESPONSE up to N3-REQUESTS times, then the path is down until one is
 * answered. One worker watches; answers come to any worker, through struct upf_net_path.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/upf/upf_net.h"

#define UPF_PATH_TICK_NS 100000000ULL
#define UPF_PATH_SEND_MAX 64 /**< requests a tick: paths in use take turns */

/** Watcher's view of a path. */
struct upf_path {
	uint64_t due_ns; /**< next request, or when the answer is given up */
	uint64_t sent_ns;
	uint32_t serial; /**< of the upf_net_path this is about */
	uint8_t tries;
	bool waiting;
	bool down;
};

struct upf_paths {
	struct upf_net *net;
	struct upf_path *path; /**< UPF_PEERS_MAX */
	/** Sends an Echo Request; false: not now. */
	bool (*send)(void *arg, const struct upf_net_path *path, uint16_t seq);
	/** Tells that a path is down, or up again; false: not now, ask again. */
	bool (*event)(void *arg, const struct upf_net_path *path, bool up);
	void *arg;
	uint32_t next; /**< where the next tick begins */
};

/** @return 0 or -ENOMEM. */
int upf_paths_init(struct upf_paths *w, struct upf_net *net);
void upf_paths_fini(struct upf_paths *w);

/** Every UPF_PATH_TICK_NS, by the worker that watches. */
void upf_paths_tick(struct upf_paths *w, uint64_t now_ns);

/**
 * An Echo Response; any worker.
 * @return whether it answers the last request to that address
 */
bool upf_path_answered(struct upf_net *net, bool v6, const uint8_t *from, uint16_t seq,
		       uint64_t now_ns);

#endif
