/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_AGENT_SESSION_H
#define AIRPATH_BENCH_UPF_AGENT_SESSION_H

/** A plain session as a message of api/upf.proto. What messages point to lies in one object. */

#include "api/upf.pb-c.h"
#include "bench/upf_agent.h"

struct upf_agent_op {
	Airpath__Upf__V1__Op op;
	Airpath__Upf__V1__Session session;
	Airpath__Upf__V1__Tunnel tunnel, *tunnels[1];
	Airpath__Upf__V1__Pdr pdr[2], *pdrs[2];
	Airpath__Upf__V1__Far far[2], *fars[2];
	Airpath__Upf__V1__Forwarding forwarding[2];
	Airpath__Upf__V1__Qer qer, *qers[1];
	Airpath__Upf__V1__Rate mbr;
	Airpath__Upf__V1__Urr urr, *urrs[1];
	Airpath__Upf__V1__Volume threshold;
	Airpath__Upf__V1__Query query;
	uint32_t qer_ids[1], urr_ids[1];
	uint32_t ue, gnb;
};

/** @param access, core index of the interfaces */
void upf_agent_set(struct upf_agent_op *o, const struct upf_agent_session *s, uint32_t access,
		   uint32_t core);

void upf_agent_ask(struct upf_agent_op *o, uint64_t id);

#endif
