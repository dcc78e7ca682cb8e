/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_STILL_H
#define AIRPATH_BENCH_STILL_H

/** What an lcore's nodes cost alone: its worker is held (ap_worker_hold()), the caller walks. */

#include "core/worker.h"

/** Walks until there is no more to do. @return cycles a packet, 0 without packets */
double still_walk(struct ap_worker *w);

#endif
