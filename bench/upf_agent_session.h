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

/** A PDR that takes all of a direction's packets, without rules. */
void upf_agent_pdr(Airpath__Upf__V1__Pdr *p, enum upf_wire_direction d, uint32_t core);

/** FARs 1 up and 2 down; `gnb` lives as long as they do. */
void upf_agent_fars(Airpath__Upf__V1__Far far[2], Airpath__Upf__V1__Forwarding forwarding[2],
		    uint32_t access, uint32_t core, uint32_t gnb_teid, uint32_t *gnb);

/** A QER with the QFI and an MBR that never limits. */
void upf_agent_qer(Airpath__Upf__V1__Qer *q, Airpath__Upf__V1__Rate *mbr, uint32_t id);

/** A URR of volume whose threshold is never reached. */
void upf_agent_urr(Airpath__Upf__V1__Urr *u, Airpath__Upf__V1__Volume *threshold, uint32_t id);

/** @param access, core index of the interfaces */
void upf_agent_set(struct upf_agent_op *o, const struct upf_agent_session *s, uint32_t access,
		   uint32_t core);

void upf_agent_ask(struct upf_agent_op *o, uint64_t id);

#endif
