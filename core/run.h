/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_RUN_H
#define AIRPATH_CORE_RUN_H

/**
 * A deployment in being: pools, ports, role objects, graphs and workers.
 *
 * Life: create → start → (quiesce) → stop → destroy. All calls from the control thread.
 */

#include <stdbool.h>

#include "core/account.h"
#include "core/plan.h"
#include "core/port.h"
#include "core/role.h"
#include "core/worker.h"

#define AP_RUN_POOLS_MAX 32
#define AP_RUN_ROLES_MAX 48

struct ap_run_role {
	const struct ap_role_type *type;
	unsigned index; /**< among its kind */
	void *obj;
};

struct ap_run_pool {
	char name[32];
	struct rte_mempool *mp;
	bool kept; /**< the PMD keeps some even when closed: AF_XDP's fill ring in DPDK 22.11 */
};

struct ap_run {
	const struct ap_config *cfg;
	struct ap_plan *plan;
	unsigned serial;
	bool running;
	uint64_t started_ns;
	uint64_t quiet_ns;      /**< when traffic was told to end */
	struct ap_port **ports; /**< in cfg order */
	struct ap_run_pool pools[AP_RUN_POOLS_MAX];
	unsigned nb_pools;
	struct ap_run_role roles[AP_RUN_ROLES_MAX];
	unsigned nb_roles;
	struct ap_worker *workers; /**< in plan lcore order */
};

/** EAL is up. @return NULL with `err` filled, and nothing left behind. */
struct ap_run *ap_run_create(const struct ap_config *cfg, struct ap_plan *plan,
			     struct ap_error *err);

/** Launches the workers. @return 0 or -errno with `err` filled. */
int ap_run_start(struct ap_run *run, struct ap_error *err);

/** Has the roles look after themselves. Several times a second, while it runs. */
void ap_run_poll(struct ap_run *run);

/**
 * Roles stop making traffic; waits until nothing moves for 20 ms or `timeout_ms` is over.
 * @return true when it came to rest
 */
bool ap_run_quiesce(struct ap_run *run, unsigned timeout_ms);

/** Stops the workers; counters stay readable until ap_run_destroy(). */
void ap_run_stop(struct ap_run *run);
void ap_run_destroy(struct ap_run *run);

/** What happened, for people: books, lcores, what the roles say. Workers have stopped. */
void ap_run_print(const struct ap_run *run, FILE *f);

/** The same as one JSON document. */
void ap_run_json(const struct ap_run *run, FILE *f);

/** @return port `name` of the deployment, opened, or NULL. */
struct ap_port *ap_run_port(const struct ap_run *run, const char *name);

/**
 * The pool called `name`: from the deployment's `pools`, else with `mbufs` of `room` bytes.
 * Made on first use. @return NULL with `err` filled.
 */
struct rte_mempool *ap_run_pool(struct ap_run *run, const char *name, uint32_t mbufs, uint32_t room,
				struct ap_error *err);

/** Sets `role` of every node called `role_name.*`. For a role's build(). */
void ap_run_bind(struct ap_run *run, const char *role_name, void *obj);

/** @return object of the i-th role of a kind, or NULL. */
void *ap_run_role(const struct ap_run *run, const char *kind, unsigned i);

#endif
