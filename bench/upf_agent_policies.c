/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>

#include "bench/upf_agent_policies.h"
#include "bench/upf_agent_session.h"
#include "codec/ip.h"

/** Dynamic policies before static ones, which stand before the default one. */
#define PRECEDENCE_DYNAMIC 10
#define PRECEDENCE_STATIC 100

/** The server's side of packets of a direction. */
static void
filter_set(struct upf_agent_policies *o, unsigned policy, enum upf_wire_direction d)
{
	const unsigned i = policy - UPF_LOAD_STATIC - 1;
	Airpath__Upf__V1__Filter *f = &o->filter[i][d];

	airpath__upf__v1__filter__init(f);
	f->protocol = IP_PROTO_UDP;
	if (d == UPF_WIRE_UP) {
		f->destination = &o->server[i];
		f->n_destination_ports = 1;
		f->destination_ports = o->ports;
	} else {
		f->source = &o->server[i];
		f->n_source_ports = 1;
		f->source_ports = o->ports;
	}
	o->filters[i][d][0] = f;
}

static void
pdr_set(struct upf_agent_policies *o, unsigned policy, enum upf_wire_direction d, uint32_t core)
{
	Airpath__Upf__V1__Pdr *p = &o->pdr[policy][d];

	upf_agent_pdr(p, d, core);
	p->id = 1 + 2 * policy + d;
	p->n_qer_ids = 1;
	p->qer_ids = &o->qer_id[policy];
	p->n_urr_ids = 1;
	p->urr_ids = &o->urr_id[policy];
	if (policy > UPF_LOAD_STATIC) {
		filter_set(o, policy, d);
		p->precedence = PRECEDENCE_DYNAMIC + policy - UPF_LOAD_STATIC;
		p->n_filters = 1;
		p->filters = o->filters[policy - UPF_LOAD_STATIC - 1][d];
	} else if (policy > 0) {
		p->precedence = PRECEDENCE_STATIC + policy;
		p->application = policy;
	}
	o->pdrs[2 * policy + d] = p;
}

static void
servers_set(struct upf_agent_policies *o)
{
	airpath__upf__v1__port_range__init(&o->port);
	o->port.first = o->port.last = UPF_LOAD_PORT_UDP;
	o->ports[0] = &o->port;
	for (unsigned i = 0; i < UPF_LOAD_DYNAMIC; i++) {
		o->nets[i] = rte_cpu_to_be_32(upf_load_dynamic_net(UPF_LOAD_STATIC + 1 + i));
		airpath__upf__v1__prefix__init(&o->server[i]);
		o->server[i].address = (ProtobufCBinaryData){4, (uint8_t *)&o->nets[i]};
		o->server[i].bits = UPF_LOAD_DYNAMIC_BITS;
	}
}

static void
rules_set(struct upf_agent_policies *o, uint32_t core)
{
	servers_set(o);
	for (unsigned policy = 0; policy < UPF_AGENT_RULES; policy++) {
		o->qer_id[policy] = policy + 1;
		o->urr_id[policy] = upf_load_rating_group(policy);
		upf_agent_qer(&o->qer[policy], &o->mbr[policy], policy + 1);
		o->qers[policy] = &o->qer[policy];
		for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
			pdr_set(o, policy, d, core);
	}
	for (unsigned i = 0; i < UPF_LOAD_RATING_GROUPS; i++) {
		upf_agent_urr(&o->urr[i], &o->threshold[i], i + 1);
		o->urrs[i] = &o->urr[i];
	}
}

void
upf_agent_policies_set(struct upf_agent_policies *o, const struct upf_agent_session *s,
		       uint32_t access, uint32_t core)
{
	Airpath__Upf__V1__Session *m = &o->session;

	airpath__upf__v1__op__init(&o->op);
	o->op.op_case = AIRPATH__UPF__V1__OP__OP_SET;
	o->op.set = m;
	o->ue = s->ue;
	o->gnb = s->gnb_ip;
	rules_set(o, core);
	upf_agent_fars(o->far, o->forwarding, access, core, s->gnb_teid, &o->gnb);
	o->fars[UPF_WIRE_UP] = &o->far[UPF_WIRE_UP];
	o->fars[UPF_WIRE_DOWN] = &o->far[UPF_WIRE_DOWN];
	airpath__upf__v1__tunnel__init(&o->tunnel);
	o->tunnel.teid = s->teid;
	o->tunnel.interface = access;
	o->tunnels[0] = &o->tunnel;
	airpath__upf__v1__session__init(m);
	m->id = s->id;
	m->handle = s->teid;
	m->version = 1;
	m->n_tunnels = 1;
	m->tunnels = o->tunnels;
	m->n_pdrs = UPF_AGENT_RULES * 2;
	m->pdrs = o->pdrs;
	m->n_fars = 2;
	m->fars = o->fars;
	m->n_qers = UPF_AGENT_RULES;
	m->qers = o->qers;
	m->n_urrs = UPF_LOAD_RATING_GROUPS;
	m->urrs = o->urrs;
	m->ue_ip4 = (ProtobufCBinaryData){4, (uint8_t *)&o->ue};
	m->core_interface = core;
}
