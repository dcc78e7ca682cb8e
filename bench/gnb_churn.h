/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_GNB_CHURN_H
#define AIRPATH_BENCH_GNB_CHURN_H

/**
 * Contexts of a gNB on the test bed of upf_bed.h, through its control socket: those that carry
 * packets, and others that come, change and go meanwhile. Control thread.
 */

#include <stdint.h>

#include "core/config.h"

#define GNB_CHURN_SESSIONS 8192 /**< room for sessions that come and go */

struct upf_bed;

/** Sets up a session for each of the generator's. @return 0, or -errno with `err` filled */
int gnb_churn_install(struct upf_bed *b, struct ap_error *err);

struct gnb_churn;

/** From now on a thread of its own has `rate` contexts a second set up, changed and released. */
struct gnb_churn *gnb_churn_start(const struct upf_bed *b, uint32_t rate, struct ap_error *err);

/** @return changes answered so far */
uint64_t gnb_churn_done(const struct gnb_churn *c);

/** Ends it when the last of its contexts is gone. @return changes that failed, or -errno after a
 * message */
int64_t gnb_churn_stop(struct gnb_churn *c);

#endif
