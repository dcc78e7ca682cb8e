/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_APPLY_H
#define AIRPATH_UPF_APPLY_H

/**
 * The worker's side of a change: new rules in, old rules out, between two walks.
 *
 * A change applies whole or, with an error, not at all. Rules of the same id go on: a QER's tokens,
 * a URR's usage, the lane's octets not yet folded. Nothing is allocated or freed; old rules go back
 * to the control thread.
 *
 * A packet holds a pointer to its session and a lane's number from upf_match to upf_forward only.
 * These run in one walk on one lcore, and upf_control, a source, runs before them, so no such
 * packet is under way when rules change; what crosses a cut (upf_steer → upf_match) holds a TEID
 * or handle alone. Whoever keeps packets longer (upf_buffer) keeps ids of rules, not lanes.
 *
 * Order of work for upf_control:
 *   1. upf_apply_check()
 *   2. reports of URRs that the new rules lack, or all on deletion: upf_urr_take()
 *   3. upf_apply_set() or upf_apply_delete()
 *   4. packets that wait: upf_buffer, by old and new rules
 */

#include <stdint.h>

#include "modules/upf/upf_rules.h"
#include "modules/upf/upf_tables.h"

/** What a change put out of use; the control thread's again. */
struct upf_applied {
	struct upf_session *session; /**< NULL after deletion */
	struct upf_rules *old;       /**< to upf_rules_free(); NULL: the session was new */
	struct upf_lane *spent;      /**< to upf_rules_installed(); may be NULL */
};

/**
 * Whether upf_apply_set() will take the rules: for what must not happen in vain before it.
 * @return 0 or an error of it; nothing has changed
 */
int upf_apply_check(const struct upf_tables *t, const struct upf_rules *r);

/**
 * Takes rules in use: a new session, or new rules of the one with the same handle and id.
 * @param charger the worker's, for accounts
 * @return 0; -EEXIST when another session has the slot of the handle or of a tunnel; -EINVAL when
 *         a slot is another worker's or was not prepared
 */
int upf_apply_set(struct upf_tables *t, struct upf_rules *r, struct upf_charger *charger,
		  uint64_t now_ns, struct upf_applied *out);

/** Ends a session and its aliases. @return 0, or -ENOENT. */
int upf_apply_delete(struct upf_tables *t, uint32_t handle, uint64_t id, uint64_t now_ns,
		     struct upf_applied *out);

#endif
