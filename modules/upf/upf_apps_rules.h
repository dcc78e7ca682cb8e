/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_APPS_RULES_H
#define AIRPATH_UPF_APPS_RULES_H

/** From the agent's applications to rules of a set. Control thread. */

#include "modules/upf/upf_apps.h"

/** @return NULL without memory. */
struct upf_apps_rules *upf_apps_rules_make(uint32_t generation);
/** NULL is allowed. */
void upf_apps_rules_free(struct upf_apps_rules *r);
/** The set is made: only the ids are needed now. */
void upf_apps_rules_shrink(struct upf_apps_rules *r);

/**
 * Adds applications; one that is here already gets more pfds.
 * @param why filled, when they cannot be: which and why
 * @return 0 or -errno
 */
int upf_apps_rules_add(struct upf_apps_rules *r, const Airpath__Upf__V1__Applications *m,
		       char why[256]);

#endif
