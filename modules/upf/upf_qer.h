/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_QER_H
#define AIRPATH_UPF_QER_H

/**
 * QoS enforcement rules, TS 29.244 §5.4: gates and bit rates, on inner octets.
 *
 * Of a PDR with one QER of its own the lane has it all: gate, meter, QFI. A QER that several PDRs
 * share (a session's AMBR), a second one, and one with a GBR are met through `more`; then the
 * lane has no UPF_LANE_METER and its packets pass every QER in pdr->qers.
 *
 * Meters take time in ns. The configuration is the control thread's, before a worker has it; the
 * buckets are the worker's.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_meter.h>

#include "modules/upf/upf_session.h"

/** A packet needs so much of a bucket at once, whatever the rate. */
#define UPF_BURST_BYTES_MIN 2048
#define UPF_KBPS_MAX 1000000000ULL /**< 1 Tbit/s */

/** Of a QER with a GBR, which few have. */
struct upf_gbr {
	struct rte_meter_trtcm meter[2];
	struct rte_meter_trtcm_profile *profile[2]; /**< NULL: none of that direction */
	uint64_t yellow[2];                         /**< octets above the GBR that went through */
};

struct upf_qer {
	uint32_t id;
	uint8_t qfi; /**< 0xFF: none */
	uint8_t ppi; /**< Paging Policy Indicator, 0xFF: none */
	bool rqi;
	bool closed[2]; /**< by enum upf_direction: the gate, or an MBR of 0 */
	/** Two, by direction; NULL: lanes have the buckets, UPF_LANE_METER. */
	struct rte_meter_srtcm *meter;
	struct rte_meter_srtcm_profile *profile[2]; /**< MBR of a direction without GBR, or NULL */
	struct upf_gbr *gbr;                        /**< or NULL */
};

/**
 * Profile of an MBR. Control thread.
 * @param kbps > 0, of 1000 bit/s
 * @param burst octets; raised to UPF_BURST_BYTES_MIN
 * @return 0 or -EINVAL
 */
int upf_mbr_profile(struct rte_meter_srtcm_profile *p, uint64_t kbps, uint64_t burst);

/** Profile of a GBR and MBR (0: none, packets above the GBR are yellow). @return 0 or -EINVAL */
int upf_gbr_profile(struct rte_meter_trtcm_profile *p, uint64_t gbr_kbps, uint64_t mbr_kbps,
		    uint64_t burst);

/** Full buckets, from `now_ns` on. */
void upf_meter_fill(struct rte_meter_srtcm *m, const struct rte_meter_srtcm_profile *p,
		    uint64_t now_ns);
void upf_gbr_fill(struct rte_meter_trtcm *m, const struct rte_meter_trtcm_profile *p,
		  uint64_t now_ns);

/**
 * A packet of `bytes` wants to pass all QERs of a PDR. Tokens are taken from all, or from none
 * when a gate or a bucket stops it.
 * @return whether it passes; `*gate` says if a gate stopped it
 */
bool upf_qers_pass(struct upf_qer *qers, const struct upf_pdr *pdr, enum upf_direction direction,
		   uint32_t bytes, uint64_t now_ns, bool *gate);

#endif
