/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_BED_IMPL_H
#define AIRPATH_BENCH_UPF_BED_IMPL_H

/** What the files of the test bed share. */

#include "bench/upf_agent.h"
#include "bench/upf_bed.h"
#include "core/plan.h"
#include "core/run.h"

struct upf;

struct upf_bed {
	struct upf_bed_cfg cfg;
	struct ap_config *conf;
	struct ap_plan *plan;
	struct ap_run *run;
	struct upf *upf;
	char socket[64];
	struct upf_agent *agent;
	struct upf_wire wire;
	struct upf_gen gen;
	struct upf_bed_install install;
};

/** ap_worker_run() with more patience. @return 0, or -errno after a message */
int upf_bed_call(struct upf_bed *b, unsigned lcore, void (*fn)(struct ap_worker *w, void *arg),
		 void *arg);

/** Begins to count a trial's packets, or ends it. */
void upf_bed_losses(const struct upf_bed *b, struct upf_bed_trial *t, bool begin);

#endif
