/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_WATCH_H
#define AIRPATH_GNB_WATCH_H

/**
 * What befalls bearers of role `gnb`, each once: COUNT comes near its end and to it, either way,
 * and maxRetxThreshold is reached. Entities belong to their workers, which are not asked: they are
 * looked at now and then. Control thread.
 */

#include <stdint.h>

#include "modules/gnb/gnb_report.h"
#include "modules/l2/l2.h"

/** What was reported of a bearer. */
struct gnb_watch {
	uint64_t max_retx; /**< rlc_am_tx_counters.max_retx when it was looked at last */
	uint8_t told;      /**< Σ enum gnb_watch_told */
};

/** Another session has the bearer: what befell it before is nothing to it, but where COUNT is. */
void gnb_watch_begin(struct gnb_watch *w, const struct l2 *l2, uint32_t bearer);

/**
 * Of a bearer that began anew or was re-established everything may be reported again.
 * @param reports what was not reported yet, all but `teid`
 * @return how many
 */
unsigned gnb_watch_look(struct gnb_watch *w, const struct l2 *l2, uint32_t bearer,
			struct gnb_report reports[static GNB_RADIO_REPORTS_MAX]);

#endif
