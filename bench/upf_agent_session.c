/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/upf_agent_session.h"

#define MBR_KBPS 100000000 /**< 100 Gbps: metered, never limited */
#define THRESHOLD (1ULL << 50)

void
upf_agent_pdr(Airpath__Upf__V1__Pdr *p, enum upf_wire_direction d, uint32_t core)
{
	const bool up = d == UPF_WIRE_UP;

	airpath__upf__v1__pdr__init(p);
	p->id = d + 1;
	p->precedence = 255;
	p->source = up ? AIRPATH__UPF__V1__INTERFACE_TYPE__ACCESS
		       : AIRPATH__UPF__V1__INTERFACE_TYPE__CORE;
	p->interface = up ? 0 : core;
	p->tunnel = up;
	p->match_ue_source = up;
	p->match_ue_destination = !up;
	p->match_ip4 = true;
	p->qfis = up ? 1ULL << UPF_WIRE_QFI : 0;
	p->outer_header_removal = up;
	p->far_id = d + 1;
}

void
upf_agent_fars(Airpath__Upf__V1__Far far[2], Airpath__Upf__V1__Forwarding forwarding[2],
	       uint32_t access, uint32_t core, uint32_t gnb_teid, uint32_t *gnb)
{
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		Airpath__Upf__V1__Forwarding *f = &forwarding[d];
		const bool up = d == UPF_WIRE_UP;

		airpath__upf__v1__forwarding__init(f);
		f->destination = up ? AIRPATH__UPF__V1__INTERFACE_TYPE__CORE
				    : AIRPATH__UPF__V1__INTERFACE_TYPE__ACCESS;
		f->interface = up ? core : access;
		airpath__upf__v1__far__init(&far[d]);
		far[d].id = d + 1;
		far[d].forward = true;
		far[d].forwarding = f;
	}
	forwarding[UPF_WIRE_DOWN].teid = gnb_teid;
	forwarding[UPF_WIRE_DOWN].peer = (ProtobufCBinaryData){4, (uint8_t *)gnb};
	forwarding[UPF_WIRE_DOWN].port = 2152;
	forwarding[UPF_WIRE_DOWN].gtpu = true;
	forwarding[UPF_WIRE_DOWN].pdu_session_container = true;
}

void
upf_agent_qer(Airpath__Upf__V1__Qer *q, Airpath__Upf__V1__Rate *mbr, uint32_t id)
{
	airpath__upf__v1__rate__init(mbr);
	mbr->ul_kbps = MBR_KBPS;
	mbr->dl_kbps = MBR_KBPS;
	airpath__upf__v1__qer__init(q);
	q->id = id;
	q->mbr = mbr;
	q->has_qfi = true;
	q->qfi = UPF_WIRE_QFI;
}

void
upf_agent_urr(Airpath__Upf__V1__Urr *u, Airpath__Upf__V1__Volume *threshold, uint32_t id)
{
	airpath__upf__v1__volume__init(threshold);
	threshold->has_total = true;
	threshold->total = THRESHOLD;
	airpath__upf__v1__urr__init(u);
	u->id = id;
	u->volume = true;
	u->triggers = AIRPATH__UPF__V1__TRIGGER__VOLTH;
	u->volume_threshold = threshold;
}

static void
rules_set(struct upf_agent_op *o, uint32_t access, uint32_t core, uint32_t gnb_teid)
{
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		Airpath__Upf__V1__Pdr *p = &o->pdr[d];

		upf_agent_pdr(p, d, core);
		p->n_qer_ids = 1;
		p->qer_ids = o->qer_ids;
		p->n_urr_ids = 1;
		p->urr_ids = o->urr_ids;
		o->pdrs[d] = p;
		o->fars[d] = &o->far[d];
	}
	upf_agent_fars(o->far, o->forwarding, access, core, gnb_teid, &o->gnb);
	upf_agent_qer(&o->qer, &o->mbr, 1);
	o->qers[0] = &o->qer;
	o->qer_ids[0] = 1;
	upf_agent_urr(&o->urr, &o->threshold, 1);
	o->urrs[0] = &o->urr;
	o->urr_ids[0] = 1;
}

void
upf_agent_set(struct upf_agent_op *o, const struct upf_agent_session *s, uint32_t access,
	      uint32_t core)
{
	Airpath__Upf__V1__Session *m = &o->session;

	airpath__upf__v1__op__init(&o->op);
	o->op.op_case = AIRPATH__UPF__V1__OP__OP_SET;
	o->op.set = m;
	o->ue = s->ue;
	o->gnb = s->gnb_ip;
	rules_set(o, access, core, s->gnb_teid);
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
	m->n_pdrs = 2;
	m->pdrs = o->pdrs;
	m->n_fars = 2;
	m->fars = o->fars;
	m->n_qers = 1;
	m->qers = o->qers;
	m->n_urrs = 1;
	m->urrs = o->urrs;
	m->ue_ip4 = (ProtobufCBinaryData){4, (uint8_t *)&o->ue};
	m->core_interface = core;
}

void
upf_agent_ask(struct upf_agent_op *o, uint64_t id)
{
	airpath__upf__v1__op__init(&o->op);
	o->op.op_case = AIRPATH__UPF__V1__OP__OP_QUERY;
	o->op.query = &o->query;
	airpath__upf__v1__query__init(&o->query);
	o->query.id = id;
}
