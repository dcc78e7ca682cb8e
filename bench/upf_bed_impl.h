/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_BED_IMPL_H
#define AIRPATH_BENCH_UPF_BED_IMPL_H

/** What the files of the test bed share. */

#include <time.h>

#include "bench/upf_agent.h"
#include "bench/upf_bed.h"
#include "core/plan.h"
#include "core/run.h"

struct gnb;
struct upf;

struct upf_bed {
	struct upf_bed_cfg cfg;
	struct ap_config *conf;
	struct ap_plan *plan;
	struct ap_run *run;
	struct upf *upf; /**< or */
	struct gnb *gnb;
	char socket[64];
	struct upf_agent *agent;
	struct upf_wire wire;
	struct upf_gen gen;
	struct upf_bed_install install;
	/* With flows. */
	struct upf_load *load;
	struct upf_quic *quic; /**< NULL: no flow is QUIC */
	struct upf_traffic flows[UPF_BED_LOADS];
	struct upf_traffic_wire flow_wire[UPF_BED_LOADS];
	struct upf_agent_done rules;
	clockid_t clock[AP_LCORES_MAX]; /**< of the lcores' threads */
	unsigned nb_clocks;
	uint64_t starved_ns; /**< lcores had no CPU when they were waited for */
};

/**
 * ap_worker_run() and ap_worker_hold() with patience for an lcore that others keep from its CPU,
 * and none for one that hangs. @return 0, or -errno after a message
 */
int upf_bed_call(struct upf_bed *b, unsigned lcore, void (*fn)(struct ap_worker *w, void *arg),
		 void *arg);
int upf_bed_hold(struct upf_bed *b, unsigned lcore, struct ap_worker_hold *hold);

/** Finds the lcores' clocks, which tell the one from the other. @return 0, or -errno likewise */
int upf_bed_clocks(struct upf_bed *b);

/**
 * Stops the generator and waits for what is under way. It is lost when all threads have gone round
 * many times and none found anything to do, however long that takes them. @return 0, or -errno
 */
int upf_bed_settle(struct upf_bed *b);

/** The load model's rules and flows. @return 0 or -errno with `err` filled; likewise below */
int upf_bed_flows_make(struct upf_bed *b, const struct upf_wire_cfg *wire, struct ap_error *err);
void upf_bed_flows_free(struct upf_bed *b);

/** Sends the rules, of a generation above the one before, and waits until they are in force. */
int upf_bed_rules_send(struct upf_bed *b, struct ap_error *err);

/** @return the flows a session has, or NULL. */
const struct upf_traffic *upf_bed_flows_of(const struct upf_bed *b, uint32_t session);

/** As upf_bed_trial() does. */
void upf_bed_rates(struct upf_bed *b, unsigned directions, double pps);

/** Begins to count a trial's packets, or ends it. */
void upf_bed_losses(const struct upf_bed *b, struct upf_bed_trial *t, bool begin);

#endif
