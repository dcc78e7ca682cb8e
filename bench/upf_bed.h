/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_BED_H
#define AIRPATH_BENCH_UPF_BED_H

/**
 * A forwarding unit under test, with its sessions installed through its socket and a generator at
 * its ports; trials on it; its usage reports at the end. Control thread.
 *
 * A deployment with a gnb_header in its place, on ports n3 and f1, gets the generator's packets in
 * frames of gnb_frames.h; its contexts come through its socket too, and it reports no usage.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/harness.h"
#include "bench/upf_agent.h"
#include "bench/upf_gen.h"
#include "core/config.h"
#include "modules/dpi/dpi_name.h"

#define UPF_BED_UP (1U << UPF_WIRE_UP)
#define UPF_BED_DOWN (1U << UPF_WIRE_DOWN)
#define UPF_BED_STAGES_MAX 8

/** S2's load model: flows of sessions with policies, and the same of plain ones beside it. */
struct upf_bed_dpi {
	struct upf_traffic_cfg flows; /**< less sessions */
	uint32_t names, nets;         /**< rules of the applications; no names: none are sent */
};

/** Which sessions packets are for. */
enum upf_bed_load { UPF_BED_PLAIN, UPF_BED_DPI, UPF_BED_LOADS };

struct upf_bed_cfg {
	const char *deployment;
	/**
	 * The first `active` of the sessions get packets. With `dpi` those have policies, and as
	 * many plain ones follow all of them.
	 */
	uint32_t sessions, active;
	const struct upf_bed_dpi *dpi; /**< NULL: packets of no flows */
	uint32_t checkpoint_ms;
	uint32_t window;
	uint64_t seed;
	bool nodes; /**< count cycles of nodes: slower */
	/** Changes the deployment before it is planned. May be NULL. @return 0 or -errno with `err`
	 * filled. */
	int (*adjust)(struct ap_config *conf, struct ap_error *err);
	bool remote; /**< upf_bed_alone(): packets come out of the generator's CPU's cache */
};

/** What a trial found. Medians over clean windows where there are any, else over all. */
struct upf_bed_trial {
	double offered_pps; /**< both directions together; 0: as fast as the unit takes */
	double mpps, mpps_min, mpps_max;
	double busy_percent;      /**< busiest worker */
	double cycles_per_packet; /**< TSC cycles of all workers, busy walks only */
	double generator_percent; /**< busy turns of the generator */
	double delay_us_p50, delay_us_p99, delay_us_mean;
	uint64_t sent, lost, corrupted, duplicated, reordered, foreign;
	unsigned windows, windows_clean;
	bool generator_limited; /**< it could not offer more, though the unit had time */
};

/** What installing the sessions cost. */
struct upf_bed_install {
	double seconds;
	double octets_per_session; /**< of the process: heaps of C and of EAL */
};

/** Σ of what the unit reports, beside what was sent. */
struct upf_bed_usage {
	uint64_t octets, sent_octets;
	uint32_t wrong;   /**< sessions whose octets differ, of any rating group */
	uint64_t records; /**< rating groups of sessions that were charged */
};

struct upf_bed;

/** Starts EAL, the deployment, sessions and generator. @return NULL after a message */
struct upf_bed *upf_bed_open(const struct upf_bed_cfg *cfg);

const struct upf_bed_install *upf_bed_install(const struct upf_bed *b);
/** @return role of the device: upf, or gnb_header. */
const char *upf_bed_device(const struct upf_bed *b);
/** How packets come to their worker, as the unit says. */
const char *upf_bed_steering(const struct upf_bed *b);
/** @return seconds so far that lcores had no CPU for a second and more when they were needed. */
double upf_bed_starved(const struct upf_bed *b);
unsigned upf_bed_workers(const struct upf_bed *b);
/** @return whether lcores share CPUs, so that only each alone says something. */
bool upf_bed_shared(const struct upf_bed *b);

/** Octets of inner packets from now on; not with flows. */
void upf_bed_size(struct upf_bed *b, uint16_t bytes);

/** With flows: whose packets come from now on. Nothing is under way. */
void upf_bed_select(struct upf_bed *b, enum upf_bed_load load);

/** @return flows begun so far by packets sent so far */
double upf_bed_flows_share(const struct upf_bed *b, enum upf_bed_load load);

/** What the unit has counted of flows, all workers together. */
struct upf_bed_unit {
	uint64_t flows; /**< in its tables now */
	uint64_t begun, evicted;
	uint64_t crowded;                /**< packets decided without an entry */
	uint64_t scans;                  /**< flows that were looked at, or are */
	uint64_t named[DPI_PROTO_COUNT]; /**< of them by enum dpi_proto: they had a name */
	uint64_t memory;                 /**< octets of the tables */
};

void upf_bed_unit(const struct upf_bed *b, struct upf_bed_unit *u);

/** What the rules took that are in force. */
const struct upf_agent_done *upf_bed_rules(const struct upf_bed *b);

/**
 * Has the rules made anew and put into force while packets come at `pps`. They are the same ones.
 * @return 0, or -errno after a message; losses go to `t`
 */
int upf_bed_swap(struct upf_bed *b, double pps, struct upf_bed_trial *t);

/**
 * @param directions Σ UPF_BED_UP, UPF_BED_DOWN
 * @param pps of all of them together, 0: as fast as the unit takes
 * @return 0, or -errno after a message
 */
int upf_bed_trial(struct upf_bed *b, unsigned directions, double pps, double seconds,
		  struct upf_bed_trial *t);

/** A part of the unit on an lcore of its own. */
struct upf_bed_stage {
	const char *lcore;
	struct harness_result cycles; /**< TSC cycles a packet, of walks with work */
};

/**
 * Runs the unit's lcores in turn on this thread, burst after burst in windows of their own: what
 * each costs when it has all it needs and nobody disturbs it. Packets come out of this core's
 * second-level cache, or with `remote` out of another's. They are verified as in a trial.
 * @param stages room for UPF_BED_STAGES_MAX
 * @return how many there are, or -errno after a message; losses go to `t`
 */
int upf_bed_alone(struct upf_bed *b, unsigned directions, double seconds,
		  struct upf_bed_stage *stages, struct upf_bed_trial *t);

/**
 * The same of both loads in turn, many times: what disturbs the one disturbs the other. Of the
 * load model, whose flows go both ways. @return as upf_bed_alone()
 */
int upf_bed_pair(struct upf_bed *b, double seconds,
		 struct upf_bed_stage stages[UPF_BED_LOADS][UPF_BED_STAGES_MAX],
		 struct upf_bed_trial t[UPF_BED_LOADS]);

/** Asks for the usage of every session. @return 0, or -errno after a message */
int upf_bed_usage(struct upf_bed *b, struct upf_bed_usage *u);

/**
 * Stops and takes everything down, EAL too.
 * @param nodes where to print the table of nodes, or NULL
 * @return true when every packet is accounted for
 */
bool upf_bed_close(struct upf_bed *b, FILE *nodes);

#endif
