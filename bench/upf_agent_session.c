/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/upf_agent_session.h"

#define MBR_KBPS 100000000 /**< 100 Gbps: metered, never limited */
#define THRESHOLD (1ULL << 50)

enum { UP, DOWN };

static void
pdrs_set(struct upf_agent_op *o, uint32_t core)
{
	for (unsigned d = UP; d <= DOWN; d++) {
		Airpath__Upf__V1__Pdr *p = &o->pdr[d];

		airpath__upf__v1__pdr__init(p);
		p->id = d + 1;
		p->precedence = 255;
		p->source = d == UP ? AIRPATH__UPF__V1__INTERFACE_TYPE__ACCESS
				    : AIRPATH__UPF__V1__INTERFACE_TYPE__CORE;
		p->interface = d == UP ? 0 : core;
		p->tunnel = d == UP;
		p->match_ue_source = d == UP;
		p->match_ue_destination = d == DOWN;
		p->match_ip4 = true;
		p->qfis = d == UP ? 1ULL << UPF_WIRE_QFI : 0;
		p->outer_header_removal = d == UP;
		p->far_id = d + 1;
		p->n_qer_ids = 1;
		p->qer_ids = o->qer_ids;
		p->n_urr_ids = 1;
		p->urr_ids = o->urr_ids;
		o->pdrs[d] = p;
	}
}

static void
fars_set(struct upf_agent_op *o, uint32_t access, uint32_t core, uint32_t gnb_teid)
{
	for (unsigned d = UP; d <= DOWN; d++) {
		Airpath__Upf__V1__Forwarding *f = &o->forwarding[d];

		airpath__upf__v1__forwarding__init(f);
		f->destination = d == UP ? AIRPATH__UPF__V1__INTERFACE_TYPE__CORE
					 : AIRPATH__UPF__V1__INTERFACE_TYPE__ACCESS;
		f->interface = d == UP ? core : access;
		airpath__upf__v1__far__init(&o->far[d]);
		o->far[d].id = d + 1;
		o->far[d].forward = true;
		o->far[d].forwarding = f;
		o->fars[d] = &o->far[d];
	}
	o->forwarding[DOWN].teid = gnb_teid;
	o->forwarding[DOWN].peer = (ProtobufCBinaryData){4, (uint8_t *)&o->gnb};
	o->forwarding[DOWN].port = 2152;
	o->forwarding[DOWN].gtpu = true;
	o->forwarding[DOWN].pdu_session_container = true;
}

static void
qer_set(struct upf_agent_op *o)
{
	airpath__upf__v1__rate__init(&o->mbr);
	o->mbr.ul_kbps = MBR_KBPS;
	o->mbr.dl_kbps = MBR_KBPS;
	airpath__upf__v1__qer__init(&o->qer);
	o->qer.id = 1;
	o->qer.mbr = &o->mbr;
	o->qer.has_qfi = true;
	o->qer.qfi = UPF_WIRE_QFI;
	o->qers[0] = &o->qer;
	o->qer_ids[0] = 1;
}

static void
urr_set(struct upf_agent_op *o)
{
	airpath__upf__v1__volume__init(&o->threshold);
	o->threshold.has_total = true;
	o->threshold.total = THRESHOLD;
	airpath__upf__v1__urr__init(&o->urr);
	o->urr.id = 1;
	o->urr.volume = true;
	o->urr.triggers = AIRPATH__UPF__V1__TRIGGER__VOLTH;
	o->urr.volume_threshold = &o->threshold;
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
	pdrs_set(o, core);
	fars_set(o, access, core, s->gnb_teid);
	qer_set(o);
	urr_set(o);
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
