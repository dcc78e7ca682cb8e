/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_ROLE_H
#define AIRPATH_CORE_ROLE_H

/**
 * A role (ue, phy, gen, …) turns its part of a deployment into nodes, and later into
 * the objects behind them. One `struct ap_role_type` a kind; registered like node types.
 */

#include "core/plan.h"

struct ap_run;

struct ap_role_type {
	const char *kind; /**< YAML key */
	unsigned (*count)(const struct ap_config *cfg);
	/** Adds the nodes and links of the i-th role of this kind. No EAL. @return 0 or -EINVAL. */
	int (*plan)(struct ap_plan *p, unsigned i, struct ap_error *err);
	/** Nodes are on lcores: says what may not be there. No EAL. May be NULL. @return 0 or
	 * -EINVAL. */
	int (*placed)(const struct ap_plan *p, unsigned i, struct ap_error *err);
	/**
	 * EAL, pools and ports are up: makes the role's object and sets role and arg of its nodes.
	 * @return the object, or NULL with `err` filled.
	 */
	void *(*build)(struct ap_run *run, unsigned i, struct ap_error *err);
	/** Ports have started, workers have not. May be NULL. @return 0 or < 0 with `err` filled.
	 */
	int (*start)(void *obj, struct ap_error *err);
	/** Stops making traffic, so that what is inside can drain. May be NULL. Control thread. */
	void (*quiesce)(void *obj);
	/**
	 * Says what came of it in the `seconds` that traffic was made: a line for people, or a JSON
	 * object. May be NULL. Control thread.
	 */
	void (*report)(const void *obj, double seconds, FILE *f, bool json);
	/** Looks at what the workers came to, and tells people. May be NULL. Control thread. */
	void (*poll)(void *obj);
	/** Workers have stopped and the graphs are gone. */
	void (*destroy)(void *obj);
};

void ap_role_type_add(const struct ap_role_type *type);

/** @return the i-th registered kind, or NULL past the last. */
const struct ap_role_type *ap_role_type_at(unsigned i);

#define AP_ROLE_REGISTER(t)                                                                        \
	RTE_INIT(ap_role_register_##t)                                                             \
	{                                                                                          \
		ap_role_type_add(&t);                                                              \
	}

#endif
