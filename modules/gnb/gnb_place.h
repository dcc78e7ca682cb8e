/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_PLACE_H
#define AIRPATH_GNB_PLACE_H

/**
 * The places of UEs in role `gnb`: each a C-RNTI with the entities of all bearers of the
 * deployment, made at start. A context takes one. With keys of its own its DRBs begin anew there
 * (COUNT and SNs at 0, nothing left of who was there before); without, they are those of the
 * deployment, under its keys, and run on. Control thread.
 */

#include "modules/gnb/gnb_control.h"
#include "modules/ue/ue.h"

struct gnb_places;

/** @return NULL without memory. `stack` has its entities. */
struct gnb_places *gnb_places_create(struct ue *stack, const struct ap_plan *plan);
void gnb_places_destroy(struct gnb_places *p);

/** What the control thread asks of them. */
const struct gnb_radio *gnb_places_radio(const struct gnb_places *p);

#endif
