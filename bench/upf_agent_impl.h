/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_AGENT_IMPL_H
#define AIRPATH_BENCH_UPF_AGENT_IMPL_H

/** What the files of the agent's end share. */

#include "bench/upf_agent.h"
#include "bench/upf_agent_policies.h"
#include "bench/upf_agent_session.h"

#define UPF_AGENT_MESSAGE_MAX 196608
#define UPF_AGENT_OPS 128    /**< of a message */
#define UPF_AGENT_POLICED 20 /**< of those, of sessions with policies: they are long */

typedef Airpath__Upf__V1__Request upf_agent_request;
typedef Airpath__Upf__V1__Reply upf_agent_reply;

struct upf_agent {
	int fd;
	uint64_t seq;
	uint32_t access, core; /**< interfaces */
	Airpath__Upf__V1__Answer *answer;
	struct upf_agent_done done; /**< the last one that came */
	struct upf_agent_op ops[UPF_AGENT_OPS];
	struct upf_agent_policies policies[UPF_AGENT_POLICED];
	uint8_t buffer[UPF_AGENT_MESSAGE_MAX];
};

/** @return 0, or -errno with `err` filled */
int upf_agent_put(struct upf_agent *a, upf_agent_request *r, struct ap_error *err);

/** Takes the next message within `ms`. @return 1 for a reply, 0 for anything else, or -errno */
int upf_agent_take(struct upf_agent *a, int ms, struct ap_error *err);

/** Waits for a reply. @return it, valid until the next one, or NULL with `err` filled */
const upf_agent_reply *upf_agent_wait(struct upf_agent *a, struct ap_error *err);

#endif
