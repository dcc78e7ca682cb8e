/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_APPS_H
#define AIRPATH_UPF_APPS_H

/**
 * The applications of a forwarding unit: from the agent's messages to a rule set that all workers
 * read (modules/dpi/dpi_set.h), TS 29.244 §5.11.
 *
 *   messages of a generation → collection → builder thread → one message to each worker, which
 * takes the set between two walks → all have: the old set goes, the agent is told
 *
 * Building takes seconds, so a thread of its own does it; the set before stays in force meanwhile,
 * and when the new one cannot be made. All of it is the control thread's but the builder's job.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/upf.pb-c.h"
#include "modules/dpi/dpi_set.h"
#include "modules/upf/upf_scans.h"

struct upf_control;
struct upf_msg;

/** Rules of one generation, and what the agent calls them. */
struct upf_apps_rules {
	uint32_t generation;
	uint32_t nb, max;
	uint32_t applications;
	struct dpi_rule *rules;
	uint32_t *pfd;      /**< of rule i: which of its application's pfds */
	uint32_t pfds;      /**< of all applications */
	uint32_t *app_pfds; /**< of application i, UPF_APPS of them */
	char **ids;         /**< of application i, or NULL; UPF_APPS of them */
};

enum upf_apps_job {
	UPF_APPS_IDLE,
	UPF_APPS_BUILDING, /**< the builder has `building` */
	UPF_APPS_BUILT,    /**< `built`, or `error` */
	UPF_APPS_TAKING,   /**< workers are about to have `built` */
};

/** What is in force, for people. */
struct upf_apps_view {
	uint32_t generation; /**< 0: none */
	uint32_t applications, rules;
	uint64_t memory_bytes;
	uint32_t build_ms;
	uint32_t refused; /**< generations that could not be made */
	char error[256];  /**< of the last of them */
	bool building;
	struct dpi_figures figures;
};

struct upf_apps {
	struct upf_apps_rules *taking;  /**< its last message has not come */
	struct upf_apps_rules *waiting; /**< whole, while another is built */
	struct upf_apps_rules *building;
	struct upf_apps_rules *in_force; /**< its names; the rules are freed */
	struct dpi_set *set;             /**< in force */
	struct upf_apps_view view;
	unsigned workers_to_go; /**< that have not taken the set */
	char why[256];          /**< of the last message that was refused */
	/* between the two threads, under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool started, stop;
	enum upf_apps_job job;
	struct dpi_set *built;
	struct dpi_error error;
	uint32_t build_ms;
};

void upf_apps_init(struct upf_apps *a);
/** Workers have stopped: frees sets and scratches. May wait until a building ends. */
void upf_apps_fini(struct upf_control *c);

/** A message of the agent. @return an error for people, or NULL: taken */
const char *upf_apps_take(struct upf_control *c, const Airpath__Upf__V1__Applications *m);

/** Goes on with what is built, or waits to be. @return whether there was something. */
bool upf_apps_step(struct upf_control *c);

/** A worker has taken the set of a message, which is freed. */
void upf_apps_taken(struct upf_control *c, struct upf_msg *m);

/** A copy of what is known; under the control thread's lock. */
void upf_apps_look(struct upf_apps *a, struct upf_apps_view *v);

#endif
