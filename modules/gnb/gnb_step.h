/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_STEP_H
#define AIRPATH_GNB_STEP_H

/**
 * A change of a UE's context is made in steps, one a PDU session, each prepared with all that may
 * fail; only then directory and workers are told. Control thread. Functions return 0, or -1 with
 * the item failed.
 */

#include "modules/gnb/gnb_control_impl.h"

struct gnb_step {
	struct gnb_entry *old; /**< in force; NULL: a new session */
	struct gnb_entry *now; /**< NULL: it goes */
	bool entered;          /**< it has taken a place on the radio side */
	struct gnb_msg *msg;
};

struct gnb_change {
	struct gnb_control *c;
	struct gnb_item *item;
	struct gnb_step *steps; /**< in the arena */
	unsigned nb;
};

/** Room for so many steps. */
int gnb_change_begin(struct gnb_change *ch, size_t steps);

/** The change comes to nothing: what its steps took goes back. */
void gnb_change_undo(struct gnb_change *ch);

int gnb_step_setup(struct gnb_change *ch, const GnbPduSession *q, const struct gnb_ue_spec *radio);
int gnb_step_modify(struct gnb_change *ch, const Airpath__Gnb__V1__PduSessionChange *q);
int gnb_step_remove(struct gnb_change *ch, uint32_t pdu_session);

int gnb_change_no_memory(struct gnb_change *ch);

#endif
