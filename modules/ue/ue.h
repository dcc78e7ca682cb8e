/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_UE_H
#define AIRPATH_MODULES_UE_H

/** Role `ue`: a deployment's bearers become one L2 stack, its nodes a chain up and one down. */

#include "core/role.h"
#include "core/run.h"
#include "core/copier.h"
#include "modules/fapi/fapi_rx.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/l2/l2.h"
#include "modules/mac/mac_build.h"

struct pdcp_security_cfg;
struct pdcp_security_key;

/** The stack of role `ue`; a gNB's has the same parts in the other direction. */
struct ue {
	struct l2 l2; /**< the role object of the protocol nodes */
	const struct ap_cfg_ue *cfg;
	struct mac_build_cfg build;
	struct ap_copier_cfg copy_ul_in;
	struct ap_copier *copy_dl_in; /**< NULL: frames are not copied */
	struct ap_copier_cfg copy_dl_out;
	uint8_t *keys_asked; /**< [nb_bearers] control: 1 << 0 tx, 1 << 1 rx */
	struct mac_ul *ul;   /**< [cfg->count] a gNB's uplink; NULL: a UE */
};

/** Plan step of the role. @return 0 or -EINVAL with `err` filled. */
int ue_plan(struct ap_plan *p, unsigned i, struct ap_error *err);

/**
 * Plans the nodes of a stack.
 * @param slot_type node type of its MAC: `mac_slot`, of a gNB `mac_sched`
 */
int ue_stack_plan(struct ap_plan *p, const struct ap_cfg_ue *ue, const char *slot_type,
		  struct ap_error *err);

/**
 * Makes all entities of the UEs, and binds the nodes called `cfg->name`.* to them. `cfg`, `ul` and
 * the l2's directions are set before. Control thread.
 * @return 0 or -EINVAL with `err` filled; ue_stack_fini() follows either way
 */
int ue_stack_init(struct ue *ue, struct ap_run *run, struct ap_error *err);
void ue_stack_fini(struct ue *ue);

/** @return the stack of the role `ue` or `gnb` of that name, or NULL. */
struct ue *ue_stack_named(const struct ap_run *run, const char *name);

/** Makes the entities of every bearer. @return 0 or -errno with `err` filled. */
int ue_bearers_init(struct ue *ue, struct ap_error *err);
void ue_bearers_fini(struct ue *ue);

/**
 * Expands the bearer's keys with the UE's algorithms. Of several UEs each has keys of its own:
 * the last 32 bits of those given, exclusive-or its index.
 * @param u index of the UE
 * @param key_enc and key_int as in ap_cfg_security; one that the bearer does not use may be NULL
 * @param err may be NULL
 * @return 0 with NULL where the bearer has no security, or as pdcp_security_key_create()
 */
int ue_key_make(const struct ue *ue, uint32_t u, const struct ap_cfg_bearer *b, const char *key_enc,
		const char *key_int, struct pdcp_security_key **key, struct ap_error *err);

/**
 * A key object of algorithms and keys that are said, for bearers of the stack.
 * @param sc nea, nia and both keys filled in; the rest is filled in here
 * @return as ue_key_make()
 */
int ue_key_create(const struct ue *ue, const struct ap_cfg_bearer *b, struct pdcp_security_cfg *sc,
		  struct pdcp_security_key **key, struct ap_error *err);

/** Says once of each direction that COUNT came to count_notify. Control thread, now and then. */
void ue_pdcp_poll(void *obj);

#endif
