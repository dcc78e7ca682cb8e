/* SPDX-License-Identifier: BSD-3-Clause */
/** The N3 side of role `gnb`, see gnb_n3.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/gnb/gnb_edge.h"
#include "modules/gnb/gnb_n3_impl.h"
#include "modules/gnb/gnb_place.h"
#include "modules/upf/upf_role.h"

struct gnb_n3 {
	struct gnb gnb; /**< first: role of the nodes */
	const struct ap_cfg_gnb *cfg;
	struct gnb_places *places;
};

/** Worker: bearers of the session's UE are those of its DRBs now, or nobody's. */
static void
changed(void *arg, const struct gnb_msg *m)
{
	const struct gnb_n3 *n3 = arg;
	const struct gnb *gnb = &n3->gnb;
	const struct gnb_session *s = gnb_session_at(gnb->table, m->teid);
	const struct gnb_drb *drbs = gnb_drb_at(gnb->table, m->teid, 0);
	const uint32_t nb = n3->cfg->l2.bearers_count;
	uint32_t *rows = &gnb->row_of_bearer[s->ue * nb];

	for (uint32_t i = 0; i < nb; i++)
		rows[i] = GNB_NO_ROW;
	for (unsigned k = 0; m->kind == GNB_MSG_SET && k < gnb_drbs_per_session(gnb->table); k++)
		if (drbs[k].config.id != 0)
			gnb->row_of_bearer[drbs[k].config.bearer] =
				(uint32_t)(&drbs[k] - gnb->table->drbs);
}

static void
nodes_bind(struct ap_run *run, struct gnb_n3 *n3)
{
	static const char *const nodes[] = {"rx", "in", "tx"};
	const char *ports[UPF_INTERFACES_MAX];
	const unsigned nb = upf_ports(&n3->cfg->n3, ports);

	for (unsigned i = 0; i < GNB_N3_NODES; i++)
		gnb_n3_node(run->plan, n3->cfg, i)->role = &n3->gnb;
	gnb_n3_node(run->plan, n3->cfg, GNB_N3_CONTROL)->arg = n3->gnb.ctx;
	for (unsigned p = 0; p < nb; p++) {
		for (unsigned i = 0; i < RTE_DIM(nodes); i++)
			gnb_n3_port_node(run->plan, n3->cfg, nodes[i], ports[p])->role = &n3->gnb;
		gnb_n3_port_node(run->plan, n3->cfg, "in", ports[p])->arg = (void *)(intptr_t)p;
	}
}

static int
make(struct ap_run *run, struct gnb_n3 *n3, struct ue *stack, unsigned serial, struct ap_error *err)
{
	const char *ports[UPF_INTERFACES_MAX];
	const unsigned nb = upf_ports(&n3->cfg->n3, ports);
	struct gnb *gnb = &n3->gnb;
	int rc = gnb_edge_init(run, gnb, &n3->cfg->n3, ports, nb, err);

	if (rc == 0)
		rc = gnb_edge_workers(run, gnb, rte_align32pow2(n3->cfg->l2.bearers_count), serial,
				      err);
	gnb->nb_bearers = stack->l2.nb_bearers;
	gnb->row_of_bearer =
		rte_malloc("gnb_rows", gnb->nb_bearers * sizeof(uint32_t), RTE_CACHE_LINE_SIZE);
	n3->places = gnb_places_create(stack, run->plan);
	if (rc < 0 || gnb->row_of_bearer == NULL || n3->places == NULL)
		return rc < 0 ? rc : -ENOMEM;
	memset(gnb->row_of_bearer, 0xff, gnb->nb_bearers * sizeof(uint32_t));
	gnb->ctx[0].changed = changed;
	gnb->ctx[0].changed_arg = n3;
	return 0;
}
_Static_assert(GNB_NO_ROW == UINT32_MAX, "all octets 0xff");

struct gnb_n3 *
gnb_n3_create(struct ap_run *run, const struct ap_cfg_gnb *cfg, struct ue *stack, unsigned serial,
	      struct ap_error *err)
{
	struct gnb_n3 *n3 = rte_zmalloc("gnb_n3", sizeof(*n3), RTE_CACHE_LINE_SIZE);

	if (n3)
		n3->cfg = cfg;
	if (n3 == NULL || make(run, n3, stack, serial, err) < 0) {
		ap_error_set(err, "%s: gnb %s: out of memory", run->cfg->path, cfg->l2.name);
		gnb_n3_destroy(n3);
		return NULL;
	}
	nodes_bind(run, n3);
	return n3;
}

void
gnb_n3_destroy(struct gnb_n3 *n3)
{
	if (n3 == NULL)
		return;
	gnb_control_destroy(n3->gnb.control);
	gnb_places_destroy(n3->places);
	rte_free(n3->gnb.row_of_bearer);
	gnb_edge_fini(&n3->gnb);
	rte_free(n3);
}

/* --- contexts of the deployment --------------------------------------------------------------- */

static void
drb_fill(Airpath__Gnb__V1__Drb *to, const struct ap_cfg_bearer *b, uint32_t *qfis)
{
	airpath__gnb__v1__drb__init(to);
	for (unsigned i = 0; i < b->qfis_count; i++)
		qfis[i] = b->qfis[i];
	to->id = b->id;
	to->qfis = qfis;
	to->n_qfis = b->qfis_count;
	to->default_drb = b->is_default;
	to->sdap_ul_header = b->sdap.ul_header == AP_CFG_ON;
	to->sdap_dl_header = b->sdap.dl_header == AP_CFG_ON;
	to->rlc_mode = (Airpath__Gnb__V1__RlcMode)b->rlc.mode;
}

/** A context with every bearer of its UE. */
static int
preset(struct gnb_n3 *n3, const struct ap_cfg_gnb_context *c, struct ap_error *err)
{
	const struct ap_cfg_ue *l2 = &n3->cfg->l2;
	Airpath__Gnb__V1__BearerContext context = AIRPATH__GNB__V1__BEARER_CONTEXT__INIT;
	Airpath__Gnb__V1__PduSession session = AIRPATH__GNB__V1__PDU_SESSION__INIT;
	Airpath__Gnb__V1__PduSession *sessions[] = {&session};
	Airpath__Gnb__V1__Tunnel tunnel = AIRPATH__GNB__V1__TUNNEL__INIT;
	Airpath__Gnb__V1__UeF1 f1 = AIRPATH__GNB__V1__UE_F1__INIT;
	Airpath__Gnb__V1__Drb drbs[GNB_DRBS_MAX], *list[GNB_DRBS_MAX];
	uint32_t qfis[GNB_DRBS_MAX][GNB_QFI_MAX + 1];
	uint8_t address[16], bits;

	for (unsigned i = 0; i < l2->bearers_count; i++) {
		drb_fill(&drbs[i], &l2->bearers[i], qfis[i]);
		list[i] = &drbs[i];
	}
	tunnel.address.data = address;
	tunnel.address.len = (size_t)ap_config_prefix(c->upf, address, &bits);
	tunnel.teid = c->teid;
	session.id = c->pdu_session;
	session.ul_up = &tunnel;
	session.n_drbs = l2->bearers_count;
	session.drbs = list;
	f1.rnti = l2->rnti + c->ue;
	context.ue_id = c->ue;
	context.n_pdu_sessions = 1;
	context.pdu_sessions = sessions;
	context.f1 = &f1;
	return gnb_control_preset(n3->gnb.control, &context, err);
}

int
gnb_n3_start(struct gnb_n3 *n3, struct ap_error *err)
{
	struct gnb_control_cfg c = gnb_edge_control(&n3->gnb);

	c.no_du = true;
	c.ciphers = true;
	c.split_pdcp = true;
	c.radio = gnb_places_radio(n3->places);
	n3->gnb.control = gnb_control_create(&c, err);
	if (n3->gnb.control == NULL)
		return -EINVAL;
	for (unsigned i = 0; i < n3->cfg->contexts_count; i++)
		if (preset(n3, &n3->cfg->contexts[i], err) < 0)
			return -EINVAL;
	if (n3->cfg->contexts_count)
		gnb_control_complete(n3->gnb.control);
	return gnb_control_start(n3->gnb.control, err);
}

void
gnb_n3_quiesce(struct gnb_n3 *n3)
{
	if (n3->gnb.control)
		gnb_control_stop(n3->gnb.control);
}

void
gnb_n3_report(const struct gnb_n3 *n3, FILE *f, bool json)
{
	gnb_edge_report(&n3->gnb, f, json);
}
