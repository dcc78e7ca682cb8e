/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_AGENT_POLICIES_H
#define AIRPATH_BENCH_UPF_AGENT_POLICIES_H

/**
 * A session with the policies of the load model, as a message: a pair of PDRs each, static ones of
 * an application, dynamic ones of an SDF filter, and a default one; a QER each; a URR for every
 * rating group. What the message points to lies in one object.
 */

#include "api/upf.pb-c.h"
#include "bench/upf_agent.h"

#define UPF_AGENT_RULES (1 + UPF_LOAD_POLICIES) /**< the default one first */

struct upf_agent_policies {
	Airpath__Upf__V1__Op op;
	Airpath__Upf__V1__Session session;
	Airpath__Upf__V1__Tunnel tunnel, *tunnels[1];
	Airpath__Upf__V1__Pdr pdr[UPF_AGENT_RULES][2], *pdrs[UPF_AGENT_RULES * 2];
	Airpath__Upf__V1__Filter filter[UPF_LOAD_DYNAMIC][2], *filters[UPF_LOAD_DYNAMIC][2][1];
	Airpath__Upf__V1__Prefix server[UPF_LOAD_DYNAMIC];
	Airpath__Upf__V1__PortRange port, *ports[1];
	Airpath__Upf__V1__Far far[2], *fars[2];
	Airpath__Upf__V1__Forwarding forwarding[2];
	Airpath__Upf__V1__Qer qer[UPF_AGENT_RULES], *qers[UPF_AGENT_RULES];
	Airpath__Upf__V1__Rate mbr[UPF_AGENT_RULES];
	Airpath__Upf__V1__Urr urr[UPF_LOAD_RATING_GROUPS], *urrs[UPF_LOAD_RATING_GROUPS];
	Airpath__Upf__V1__Volume threshold[UPF_LOAD_RATING_GROUPS];
	uint32_t qer_id[UPF_AGENT_RULES], urr_id[UPF_AGENT_RULES];
	uint32_t nets[UPF_LOAD_DYNAMIC];
	uint32_t ue, gnb;
};

/** @param access, core index of the interfaces */
void upf_agent_policies_set(struct upf_agent_policies *o, const struct upf_agent_session *s,
			    uint32_t access, uint32_t core);

#endif
