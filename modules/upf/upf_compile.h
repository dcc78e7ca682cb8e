/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_COMPILE_H
#define AIRPATH_UPF_COMPILE_H

/**
 * From the agent's message to the rules a worker runs. All of it is the control thread's.
 *
 * What many sessions have alike is made once and counted: profiles of meters by rate and burst,
 * filter sets (upf_filter.h) by content. Outer headers come from the role by index.
 */

#include <stdint.h>

#include "api/upf.pb-c.h"
#include "modules/upf/upf_rules.h"

#define UPF_TUNNELS_MAX 64
#define UPF_FRAMED_MAX 256          /**< framed routes of a session */
#define UPF_BURST_MS 20             /**< default burst: so much of the rate */
#define UPF_MBR_KBPS_MAX 1000000000 /**< an MBR above 1 Tbps limits nothing */
#define UPF_BURST_DEFAULT_MIN 16384 /**< but no fewer octets */

typedef Airpath__Upf__V1__Session UpfSession;
typedef Airpath__Upf__V1__Forwarding UpfForwarding;

/** What the compiler asks of the role. */
struct upf_compiler_config {
	/** Σ 1 << enum upf_interface_type by index of interface; 0: there is none. */
	uint8_t interface_types[UPF_INTERFACES_MAX + 1];
	uint32_t lans;           /**< Σ 1 << index: interfaces that carry frames */
	uint32_t burst_ms;       /**< 0: UPF_BURST_MS */
	uint64_t burst_bytes;    /**< least default burst; 0: UPF_BURST_DEFAULT_MIN */
	uint64_t unix_offset_ns; /**< Unix time less ap_clock_ns(), for usage carried over */
	int socket;
	/**
	 * The outer header that `f` wants, f->peer and f->interface checked; counts a use.
	 * @return index 1..UPF_PEERS_MAX, or -errno
	 */
	int (*peer_get)(void *arg, const UpfForwarding *f);
	void (*peer_put)(void *arg, uint16_t peer); /**< ends a use */
	void *arg;
};

/** Why a message could not be made rules: OpResult of the proto. */
struct upf_compile_error {
	uint32_t status; /**< AIRPATH__UPF__V1__STATUS__* */
	uint32_t kind;   /**< AIRPATH__UPF__V1__RULE_KIND__* */
	uint32_t id;     /**< of the rule */
	char text[96];   /**< for people */
};

struct upf_compiler;

/** @return NULL without memory. EAL up. */
struct upf_compiler *upf_compiler_create(const struct upf_compiler_config *c);
/** All rules are freed. */
void upf_compiler_destroy(struct upf_compiler *c);

/**
 * @return rules for upf_apply_set(); NULL with *e said, and nothing kept: a reference to a rule
 *         or interface that is not there, numbers beyond limits, or no memory
 */
struct upf_rules *upf_compile(struct upf_compiler *c, const UpfSession *m,
			      struct upf_compile_error *e);

/** Ends all uses and frees. No worker has them. */
void upf_rules_free(struct upf_compiler *c, struct upf_rules *r);

/** @return different filter sets, and profiles of meters, that rules share now. */
unsigned upf_compiler_sets(const struct upf_compiler *c);
unsigned upf_compiler_profiles(const struct upf_compiler *c);

/**
 * After the worker took the rules in use: frees what only the installation needed (lanes that
 * now lie in the session). For rules in use that is the one thing the control thread may touch.
 */
void upf_rules_installed(struct upf_compiler *c, struct upf_lane *spent);

#endif
