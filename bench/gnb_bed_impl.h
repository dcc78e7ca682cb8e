/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_GNB_BED_IMPL_H
#define AIRPATH_BENCH_GNB_BED_IMPL_H

/** What the files of the test bed share. */

#include "bench/gnb_bed.h"
#include "core/plan.h"
#include "core/run.h"
#include "modules/gnb/gnb.h"

#define GNB_BED_ROUND 512 /**< packets of a direction at once: 8 bursts of a port */
#define GNB_BED_BURST 32

struct p4_gnb;

struct gnb_bed_flow {
	struct rte_ring *to, *from;
	uint32_t *sent, *next; /**< by session: number of the next packet */
	uint64_t random;
};

struct gnb_bed {
	struct gnb_bed_cfg cfg;
	struct ap_config *conf;
	struct ap_plan *plan;
	struct ap_run *run;
	struct gnb *gnb;
	struct rte_mempool *pool;
	struct gnb_wire wire;
	struct gnb_bed_flow flow[GNB_WIRE_DIRECTIONS];
	struct ap_worker_hold hold;
	char socket[64];
	uint64_t sent, good, corrupted;
	/* the SmartNIC's program */
	struct p4_gnb *nic;
	bool nic_numbers;   /**< it has the bearers; else the host */
	uint32_t *nic_next; /**< by session: number of the next packet */
	uint64_t nic_random;
};

/** TEID of ours of session `i`. */
uint32_t gnb_bed_teid(uint32_t i, enum gnb_wire_direction d);
/** @return a session at random */
uint32_t gnb_bed_draw(struct gnb_bed_flow *f, uint32_t n);
void gnb_bed_pin(unsigned cpu);

/** Nothing without one. */
void gnb_nic_destroy(struct gnb_bed *b);

#endif
