/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_AGENT_H
#define AIRPATH_BENCH_UPF_AGENT_H

/**
 * The management unit's end of a forwarding unit's socket (api/upf.proto), as far as `bench upf`
 * needs it: applications and sessions in, usage out. Several requests are under way at once.
 * Control thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench/trial.h"
#include "bench/upf_load.h"
#include "bench/upf_wire.h"
#include "core/config.h"

struct upf_agent;

/** A plain session: a PDR and a FAR each way, one QER with MBR and QFI, one URR of volume. */
struct upf_agent_session {
	uint64_t id;
	uint32_t teid;   /**< ours, host order; the handle too */
	uint32_t ue;     /**< network order, as the next ones */
	uint32_t gnb_ip; /**< where downlink packets go */
	uint32_t gnb_teid;
	bool policies; /**< it has the load model's in place of the rules of a plain one */
};

struct upf_agent_usage {
	uint64_t octets[UPF_WIRE_DIRECTIONS];
	uint64_t packets[UPF_WIRE_DIRECTIONS];
	/** Of each URR 1.., which are rating groups. */
	struct {
		uint64_t octets[UPF_WIRE_DIRECTIONS];
	} group[UPF_LOAD_RATING_GROUPS];
};

/** What became of applications. */
struct upf_agent_done {
	uint32_t generation;
	uint32_t application, pfd; /**< whose fault `error` is */
	uint32_t build_ms, rules;
	uint64_t memory; /**< octets */
	char error[256]; /**< empty: they are in force */
};

/**
 * Connects and says hello.
 * @return NULL with `err` filled
 */
struct upf_agent *upf_agent_open(const char *path, struct ap_error *err);
void upf_agent_close(struct upf_agent *a);

/**
 * @param access, core names of the interfaces
 * @param pool UE addresses, network order
 * @return 0, or -errno with `err` filled; likewise below
 */
int upf_agent_config(struct upf_agent *a, const char *access, const char *core, uint32_t pool,
		     unsigned pool_bits, uint32_t checkpoint_ms, struct ap_error *err);

/** Reads away what the unit sends unasked, and acknowledges events. Never waits. */
int upf_agent_idle(struct upf_agent *a, struct ap_error *err);

/**
 * Sends the load model's rules as applications, as their agent does, and waits until they are in
 * force. Meanwhile reads away what comes, so packets may flow.
 * @param generation above the one before
 */
int upf_agent_applications(struct upf_agent *a, const struct upf_load *load, uint32_t generation,
			   struct upf_agent_done *done, struct ap_error *err);

/** Calls `fill` for 0..n - 1 and installs what it made. */
int upf_agent_install(struct upf_agent *a, uint32_t n,
		      void (*fill)(void *arg, uint32_t i, struct upf_agent_session *s), void *arg,
		      struct trial_progress *progress, struct ap_error *err);

/** Queries the usage of sessions 1..n and hands it to `fn`, in that order. */
int upf_agent_query(struct upf_agent *a, uint32_t n,
		    void (*fn)(void *arg, uint32_t i, const struct upf_agent_usage *u), void *arg,
		    struct trial_progress *progress, struct ap_error *err);

#endif
