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

#include <rte_branch_prediction.h>

#include "core/config.h"
#include "core/governor.h"
#include "core/wheel.h"

#define AP_WORKER_RUN_S 10
#define AP_WORKER_STALL_NS 20000000ULL /**< between two walks: the lcore had no CPU, or slept */
#define AP_WORKER_CATCH_UP 16          /**< walks with work that timers wait for then, at most */

struct ap_worker;
struct rte_graph;

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
	uint32_t behind; /**< walks that timers still wait for, ap_worker_behind() */
	uint64_t walks;
	uint64_t busy_walks;  /**< walks with work */
	uint64_t busy_cycles; /**< TSC cycles of walks with work, and of timers that fired */
	uint64_t idle_cycles; /**< TSC cycles of walks without */
	uint64_t walk_tsc;    /**< when this walk began */
	uint64_t slot_ns;     /**< when the next slot is due, as a node says; 0: nobody knows */
	struct ap_governor_stats power;
	struct ap_rxq *rxqs; /**< governors that sleep: what the sources poll */
	unsigned nb_rxqs;
	void *governor_state;
	uint64_t cpu_ns; /**< CPU time of the thread when it ended */
	struct ap_wheel *wheel;
	struct rte_graph *graph;

	/* control: rw, worker: ro */
	const struct ap_governor *governor __rte_cache_aligned;
	const char *name;
	unsigned lcore;         /**< EAL lcore */
	const char *deployment; /**< its file: what it names may lie beside it */
	bool tpause;            /**< the CPU pauses until a time (WAITPKG) */
	enum ap_cfg_priority priority;
	struct ap_sleep *sleep;    /**< NULL: its governor does not sleep */
	_Atomic int64_t cpu_clock; /**< clockid_t of the thread's CPU time; 0: it does not run */
	bool stats;                /**< count calls and cycles per node */
	_Atomic bool stop;
	_Atomic(struct ap_worker_call *) call;
};

/**
 * Whether timers wait in the walk that begins: a lcore that had no CPU takes what came meanwhile
 * before it decides that something did not come. Bounded, so that timers run where every walk is
 * late. Sets w->now_ns. Worker.
 */
static inline bool
ap_worker_behind(struct ap_worker *w, uint64_t now_ns)
{
	const bool stalled = now_ns - w->now_ns > AP_WORKER_STALL_NS;

	w->now_ns = now_ns;
	if (likely(w->behind == 0))
		w->behind = unlikely(stalled) ? AP_WORKER_CATCH_UP : 0;
	else
		w->behind = w->work ? w->behind - 1 : 0;
	return w->behind > 0;
}

/** Body of an lcore, for rte_eal_remote_launch(). @param arg struct ap_worker *. @return 0. */
int ap_worker_main(void *arg);

/** Ends its sleep, if it sleeps. Any thread, when what it is woken for is there. */
static inline void
ap_worker_wake(struct ap_worker *w)
{
	if (w->sleep != NULL)
		ap_sleep_wake(w->sleep);
}

/** @return CPU time that the worker's thread has had, ns, as the OS counts it. Any thread. */
uint64_t ap_worker_cpu_ns(const struct ap_worker *w);

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
