/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_WORKER_H
#define AIRPATH_CORE_WORKER_H

/**
 * A worker walks the graph of one lcore until told to stop.
 *
 * Between walks it runs due timers, takes at most one call from the control thread,
 * and lets its governor decide what an empty walk costs.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "core/wheel.h"

#define AP_WORKER_RUN_S 10

struct ap_worker;
struct rte_graph;

/** What a poller does after each walk; `work` is what its sources took in that walk. */
struct ap_governor {
	const char *name;
	const char *help;
	void (*after_walk)(struct ap_worker *w, uint32_t work);
};

/** @param shared several lcores run on the worker's CPU: what `auto` chooses by. */
const struct ap_governor *ap_governor_find(enum ap_cfg_governor kind, bool shared);

/** Code the control thread wants run on a worker between two walks. */
struct ap_worker_call {
	void (*fn)(struct ap_worker *w, void *arg);
	void *arg;
	_Atomic bool done;
};

struct ap_worker {
	/* worker: rw, control: ro */
	uint64_t now_ns; /**< time of this walk */
	uint32_t work;   /**< packets that sources took in this walk */
	uint32_t yields; /**< governor: walks since it last gave the CPU away */
	uint64_t walks;
	uint64_t busy_walks;  /**< walks with work */
	uint64_t busy_cycles; /**< TSC cycles of walks with work, and of timers that fired */
	uint64_t idle_cycles; /**< TSC cycles of walks without */
	struct ap_wheel *wheel;
	struct rte_graph *graph;

	/* control: rw, worker: ro */
	const struct ap_governor *governor __rte_cache_aligned;
	const char *name;
	unsigned lcore; /**< EAL lcore */
	bool stats;     /**< count calls and cycles per node */
	_Atomic bool stop;
	_Atomic(struct ap_worker_call *) call;
};

/** Body of an lcore, for rte_eal_remote_launch(). @param arg struct ap_worker *. @return 0. */
int ap_worker_main(void *arg);

/**
 * Runs `fn` on a running worker between two walks, or on one that is held, and waits for it. Any
 * control thread; calls of several take turns.
 * @return 0, -ETIMEDOUT when the worker did not come by within AP_WORKER_RUN_S, or -ECANCELED when
 * it was told to stop.
 */
int ap_worker_run(struct ap_worker *w, void (*fn)(struct ap_worker *w, void *arg), void *arg);

/** A worker that stands between two walks. Control thread: rw, but for `holding`. */
struct ap_worker_hold {
	struct ap_worker_call call;
	_Atomic bool holding;
	_Atomic bool release;
};

/**
 * Stops a worker between two walks until ap_worker_release(); ap_worker_run() still reaches it.
 * What procedures over several lcores do before they touch what the others own.
 * @return 0, or as ap_worker_run(); then it is not held.
 */
int ap_worker_hold(struct ap_worker *w, struct ap_worker_hold *h);

/** Lets it walk again, and returns when it does. */
void ap_worker_release(struct ap_worker_hold *h);

#endif
