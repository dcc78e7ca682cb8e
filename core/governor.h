/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_GOVERNOR_H
#define AIRPATH_CORE_GOVERNOR_H

/**
 * Governors: what a worker does between two walks.
 *
 * A governor that sleeps sees the RX queues of its lcore: queues of ports, cuts, and whatever else
 * its sources poll. Sources tell what each poll brought (ap_node_busy()); how many packets wait is
 * asked of the node type. One `struct ap_governor` a kind, registered as node types are.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>

#include "core/config.h"
#include "core/sleep.h"

struct ap_node;
struct ap_run;
struct ap_worker;

/** What tells a sleeping lcore that a queue of its has something. */
enum ap_wake {
	AP_WAKE_TIME = 0,  /**< nothing: it looks again after 300 µs at most */
	AP_WAKE_KICK,      /**< the producer, by ap_node_wake(), or a timer of the lcore */
	AP_WAKE_EPOLL,     /**< a file descriptor of the port's driver */
	AP_WAKE_INTERRUPT, /**< the RX interrupt of a NIC's queue */
};

const char *ap_wake_name(enum ap_wake wake);

/** An RX queue of a sleeping lcore. Owner: the lcore. */
struct ap_rxq {
	struct ap_node *node;
	uint16_t queue; /**< of a port; else 0 */
	enum ap_wake wake;
	uint32_t taken; /**< packets of this walk's poll */
	uint32_t count; /**< that waited right after it */
};

/** What a governor has done since the start. Owner: the lcore; others: ro. */
struct ap_governor_stats {
	uint64_t paused_ns; /**< in pauses of microseconds: the CPU is not given away */
	uint64_t slept_ns;
	uint64_t sleeps;
	uint64_t not_slept; /**< sleeps that a last look at the queues spared */
	uint64_t deep;      /**< sleeps long enough for a deep C-state, by the power table */
	uint64_t steps_up, steps_down;
};

struct ap_governor {
	const char *name;
	const char *help;
	bool sleeps; /**< wants RX queues and a `struct ap_sleep` */
	/** Control thread, before the worker runs: sets w->governor_state. May be NULL. @return 0
	 * or -errno with `err` filled. */
	int (*create)(struct ap_worker *w, const struct ap_cfg_power *cfg, unsigned cpu,
		      struct ap_error *err);
	/** Control thread, the worker has stopped. May be NULL. */
	void (*destroy)(struct ap_worker *w);
	/** Worker thread, once, before the first walk. May be NULL. */
	void (*begin)(struct ap_worker *w);
	/**
	 * After each walk.
	 * @param work what the sources took in that walk
	 * @param tsc when it ended
	 * @return TSC at which the next one begins
	 */
	uint64_t (*after_walk)(struct ap_worker *w, uint32_t work, uint64_t tsc);
	/** Control thread, several times a second. May be NULL. */
	void (*poll)(struct ap_worker *w);
	/** What it came to since `since_ns`: a line for people, or a JSON object. Control thread.
	 * May be NULL. */
	void (*report)(const struct ap_worker *w, uint64_t since_ns, FILE *f, bool json);
};

void ap_governor_add(const struct ap_governor *g);

#define AP_GOVERNOR_REGISTER(g)                                                                    \
	RTE_INIT(ap_governor_register_##g)                                                         \
	{                                                                                          \
		ap_governor_add(&g);                                                               \
	}

/** @param shared several lcores run on the worker's CPU: what `auto` chooses by. */
const struct ap_governor *ap_governor_find(enum ap_cfg_governor kind, bool shared);

/**
 * Gives the workers of a run what their governors want: RX queues, how each is woken, sleeps.
 * Control thread; graphs and ports exist, ports have started, workers have not.
 * @return 0 or -errno with `err` filled
 */
int ap_governor_setup(struct ap_run *run, struct ap_error *err);
void ap_governor_fini(struct ap_run *run);

/** What a sleep came to. */
struct ap_slept {
	uint64_t ns;      /**< 0: it did not sleep, something waits or is due */
	uint64_t late_ns; /**< past the time it was to end at; 0 when something came before that */
	bool woken;       /**< something came, be it while the thread was late to get up */
};

/**
 * Sleeps until something comes for this lcore: packets, calls of the control thread, a due timer,
 * `until_ns`. What cannot wake is looked at every AP_SLEEP_BLIND_NS. Worker thread.
 * @param until_ns absolute (ap_clock_ns)
 */
struct ap_slept ap_governor_sleep(struct ap_worker *w, uint64_t until_ns);

#define AP_SLEEP_BLIND_NS 300000ULL
#define AP_SLEEP_LEAST_NS 5000ULL /**< a shorter one is not begun: going to sleep takes longer */

#endif
