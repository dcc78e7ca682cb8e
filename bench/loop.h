/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_LOOP_H
#define AIRPATH_BENCH_LOOP_H

/**
 * The S0 loopback as something to measure: generator → UE up → PHY → UE down → generator.
 *
 * A trial offers a rate for a while. It is cut into short windows, each framed by a fixed ALU
 * loop on the lcores under test; what was measured while a neighbour slowed the machine is kept
 * apart. Loss is counted over the whole trial, after everything inside has come out.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "core/plan.h"

struct loop;

/** What a trial found. Medians over clean windows where there are any, else over all. */
struct loop_trial {
	double offered_pps; /**< 0: as fast as the device takes */
	double seconds;     /**< the generator was on */
	double gbps;        /**< IP goodput at the verifier: good packets only, counted once */
	double gbps_min, gbps_max;
	double mpps;
	double busy_percent;      /**< busiest lcore of the device under test */
	double cycles_per_packet; /**< TSC cycles, all lcores of the device, busy walks only */
	double gbps_derived;      /**< gbps / busy share: what the device could carry */
	double delay_us_p50, delay_us_p99, delay_us_max; /**< enters the UE → first output */
	uint64_t sent, lost, corrupted, duplicated, reordered;
	uint64_t tb_lost;      /**< by the PHY emulator's impairments, for good */
	uint64_t tb_soft_lost; /**< received and not decoded, of which HARQ makes the most good */
	uint64_t harq_retx;    /**< TBs the UE sent again */
	uint64_t rlc_retx;     /**< AM: PDUs the UE sent again */
	uint64_t slots_missed;
	unsigned windows, windows_clean;
	bool generator_limited; /**< the offered rate was not reached though the device had time */
};

/** Brings the deployment up; EAL is running. @return NULL with `err` filled. */
struct loop *loop_open(const struct ap_config *cfg, struct ap_plan *plan, struct ap_error *err);

/** @param pps rate, 0: as fast as the device takes. @return 0, or -ETIMEDOUT if a worker hangs. */
int loop_trial(struct loop *l, double pps, double seconds, struct loop_trial *t);

/** TB size on every carrier from now on, B. */
void loop_set_tb(struct loop *l, uint32_t bytes);

/**
 * Stops, checks the books, takes everything down.
 * @param nodes where to print the table of nodes, or NULL
 * @return true when every packet is accounted for
 */
bool loop_close(struct loop *l, FILE *nodes, struct ap_error *err);

/** Lcores that run the device under test. */
unsigned loop_lcores(const struct loop *l);

/** Copier that runs, e.g. "cpu" or "dma: … (emulation)". */
const char *loop_copier(const struct loop *l);

#endif
