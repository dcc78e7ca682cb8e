/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_GNB_BED_H
#define AIRPATH_BENCH_GNB_BED_H

/**
 * A gNB's header processing under test, its contexts in place, both ends of its ring ports in
 * hand. Its worker stands still and the caller walks its nodes, burst after burst, in windows of
 * their own. Every frame that comes out is compared with what must, octet by octet, and sequence
 * numbers with the session's next one. Control thread.
 */

#include "bench/gnb_wire.h"
#include "bench/harness.h"

#define GNB_BED_DOWN (1U << GNB_WIRE_DOWN)
#define GNB_BED_UP (1U << GNB_WIRE_UP)

struct gnb_bed_cfg {
	const char *deployment;
	uint32_t ues; /**< a session each */
	uint64_t seed;
	bool am;
	bool nodes; /**< count cycles of nodes: slower */
};

struct gnb_bed_trial {
	struct harness_result cycles; /**< TSC cycles a packet */
	uint64_t sent, good, lost, corrupted;
	uint64_t host_packets; /**< that the role counted in its DRBs */
};

struct gnb_bed;

/** Starts EAL and the deployment, fills in the contexts. @return NULL after a message */
struct gnb_bed *gnb_bed_open(const struct gnb_bed_cfg *cfg);

/**
 * @param directions Σ GNB_BED_DOWN, GNB_BED_UP
 * @param frame_bytes of a T-PDU's frame on N3, without FCS
 * @return 0, or -errno after a message
 */
int gnb_bed_trial(struct gnb_bed *b, unsigned directions, unsigned frame_bytes, double seconds,
		  struct gnb_bed_trial *t);

/**
 * The SmartNIC's program (modules/p4) on this thread, with the same contexts, downlink: what it
 * costs per packet that it processes, or that it hands to the host.
 * @param forward all packets go to the host
 */
int gnb_bed_nic(struct gnb_bed *b, unsigned frame_bytes, double seconds, bool forward,
		struct gnb_bed_trial *t);

/** @param print the table of nodes. @return true when every packet is accounted for */
bool gnb_bed_close(struct gnb_bed *b, bool print);

#endif
