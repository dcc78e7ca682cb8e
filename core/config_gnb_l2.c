/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults and checks of a gnb, and of a phy that has one. */
#include <errno.h>
#include <string.h>
#include <sys/un.h>

#include "core/config_check.h"
#include "core/config_schema.h"

#define DRBS_MAX 8     /* of a PDU session */
#define DL_HARQ_MAX 16 /* HARQ process number of DCI format 1_0, 4 bits */

#define AT "gnb %s: "
#define WHERE gnb->l2.name

const struct ap_cfg_gnb *
ap_config_n3(const struct ap_config *cfg, const char *port)
{
	for (unsigned g = 0; g < cfg->gnb_count; g++)
		for (unsigned i = 0; i < cfg->gnb[g].n3.interfaces_count; i++) {
			const char *one = cfg->gnb[g].n3.interfaces[i].port;

			if (one && strcmp(one, port) == 0)
				return &cfg->gnb[g];
		}
	return NULL;
}

static int
contexts_finish(const struct ap_config *cfg, struct ap_cfg_gnb *gnb, struct ap_error *err)
{
	uint8_t address[16], bits;

	for (unsigned i = 0; i < gnb->contexts_count; i++) {
		struct ap_cfg_gnb_context *c = &gnb->contexts[i];
		int octets = ap_config_prefix(c->upf, address, &bits);

		DEFAULT(c->pdu_session, 1);
		if (c->ue >= gnb->l2.count)
			BAD(&c->ue, AT "contexts[%u]: ue %u: the first of %u UEs is 0", WHERE, i,
			    c->ue, gnb->l2.count);
		if (c->pdu_session > 255)
			BAD(&c->pdu_session, AT "contexts[%u]: pdu_session %u must be 1..255",
			    WHERE, i, c->pdu_session);
		if (octets < 0 || bits != 8 * octets)
			BAD(&c->upf, AT "contexts[%u]: upf '%s' is not an address", WHERE, i,
			    c->upf);
		if (!config_is_host(address, octets))
			BAD(&c->upf, AT "contexts[%u]: upf %s is no host's address", WHERE, i,
			    c->upf);
		if (config_is_ours(&gnb->n3, NULL, address, octets))
			BAD(&c->upf, AT "contexts[%u]: upf %s is an address of our own", WHERE, i,
			    c->upf);
		if (!config_reaches(&gnb->n3, address, octets))
			BAD(&c->upf,
			    AT "contexts[%u]: upf %s: no interface, route or gateway leads there",
			    WHERE, i, c->upf);
		if (c->teid == 0)
			BAD(&c->teid, AT "contexts[%u]: teid 0 is no tunnel", WHERE, i);
		for (unsigned k = 0; k < i; k++)
			if (gnb->contexts[k].ue == c->ue)
				BAD(&c->ue,
				    AT "contexts[%u]: ue %u has contexts[%u] already: a UE has "
				       "one PDU session",
				    WHERE, i, c->ue, k);
		for (unsigned k = 0; k < i; k++)
			if (gnb->contexts[k].teid == c->teid &&
			    strcmp(gnb->contexts[k].upf, c->upf) == 0)
				BAD(&c->teid,
				    AT "contexts[%u]: teid %u of upf %s is that of "
				       "contexts[%u]",
				    WHERE, i, c->teid, c->upf, k);
	}
	return 0;
}

/** What stands in place of user_port. */
static int
n3_finish(const struct ap_config *cfg, struct ap_cfg_gnb *gnb, struct ap_error *err)
{
	struct ap_cfg_upf *n3 = &gnb->n3;

	n3->kind = "gnb";
	n3->name = gnb->l2.name;
	n3->workers = 1;
	n3->sessions = gnb->l2.count;
	DEFAULT(n3->reassembly_packets, 1024);
	DEFAULT(n3->reassembly_ms, 1000);
	DEFAULT(n3->error_indications_s, 100);
	n3->buffer_packets = 1024; /* for neighbours that have not answered */
	if (n3->socket == NULL)
		BAD(&n3->interfaces, AT "socket: one is needed with 'interfaces', for contexts",
		    WHERE);
	if (strlen(n3->socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		BAD(&n3->socket, AT "socket: a path has at most %zu characters", WHERE,
		    sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
	if (gnb->l2.bearers_count > DRBS_MAX)
		BAD(&gnb->l2.bearers, AT "bearers: %u, where a PDU session has at most %d", WHERE,
		    gnb->l2.bearers_count, DRBS_MAX);
	if (n3->reassembly_packets > 65536 || n3->reassembly_ms > 60000)
		BAD(n3->reassembly_ms > 60000 ? &n3->reassembly_ms : &n3->reassembly_packets,
		    AT "reassembly_packets must be 1..65536 and reassembly_ms 1..60000", WHERE);
	for (unsigned i = 0; i < n3->interfaces_count; i++) {
		const struct ap_cfg_upf_interface *in = &n3->interfaces[i];

		if (in->side != AP_GNB_N3)
			BAD(&in->side, AT "interface %s: type: a gnb has n3 alone", WHERE,
			    in->name);
		if (in->port == NULL || in->mac)
			BAD(in->mac ? &in->mac : &in->name, AT "interface %s: %s", WHERE, in->name,
			    in->mac ? "mac: that of its port is used" : "port: one is needed");
	}
	if (config_edge_finish(cfg, n3, err) < 0)
		return -EINVAL;
	return contexts_finish(cfg, gnb, err);
}

/** @return what only tunnels have use for, or NULL. */
static const void *
n3_only(const struct ap_cfg_gnb *gnb)
{
	const struct ap_cfg_upf *n3 = &gnb->n3;

	return n3->socket                ? &n3->socket
	       : n3->routes_count        ? &n3->routes
	       : n3->neighbours_count    ? &n3->neighbours
	       : gnb->contexts_count     ? &gnb->contexts
	       : n3->reassembly_packets  ? &n3->reassembly_packets
	       : n3->reassembly_ms       ? &n3->reassembly_ms
	       : n3->error_indications_s ? (const void *)&n3->error_indications_s
					 : NULL;
}

/** @return what only a user_port has use for, or NULL. */
static const void *
plain_only(const struct ap_cfg_gnb *gnb)
{
	const struct ap_cfg_ue *l2 = &gnb->l2;

	return l2->user_port   ? &l2->user_port
	       : l2->address   ? &l2->address
	       : l2->address6  ? &l2->address6
	       : l2->qos_count ? (const void *)&l2->qos
			       : NULL;
}

/** Packets of a user_port, as they are. */
static int
plain_finish(const struct ap_config *cfg, const struct ap_cfg_gnb *gnb, struct ap_error *err)
{
	if (gnb->l2.user_port == NULL)
		BAD(&gnb->l2.user_port, AT "user_port: one is needed, or 'interfaces' to UPFs",
		    WHERE);
	if (gnb->l2.address == NULL && gnb->l2.address6 == NULL)
		BAD(&gnb->l2.address, AT "needs 'address' or 'address6', those of the first UE",
		    WHERE);
	if (n3_only(gnb))
		BAD(n3_only(gnb),
		    AT "socket, routes, neighbours, contexts, reassembly and error_indications_s "
		       "are for a gnb with 'interfaces'",
		    WHERE);
	return 0;
}

/** The processes that a DCI can tell apart; as many transmissions as in uplink. */
static int
dl_harq_finish(const struct ap_config *cfg, struct ap_cfg_gnb *gnb, struct ap_error *err)
{
	struct ap_cfg_harq *h = &gnb->l2.harq;

	if (h->processes > DL_HARQ_MAX)
		BAD(&h->processes, AT "dl_harq.processes %u must be 1..%d", WHERE, h->processes,
		    DL_HARQ_MAX);
	if (h->processes && h->max_tx == 0)
		h->max_tx = gnb->harq.max_tx;
	if (h->max_tx > 8)
		BAD(&h->max_tx, AT "dl_harq.max_tx %u must be 1..8", WHERE, h->max_tx);
	return 0;
}

int
config_gnb_finish(const struct ap_config *cfg, struct ap_cfg_gnb *gnb, struct ap_error *err)
{
	const char *name = gnb->l2.name;

	gnb->l2.kind = "gnb";
	gnb->l2.carriers = gnb->tb_bytes_count;
	DEFAULT(gnb->ues_per_slot, 16);
	DEFAULT(gnb->average_ms, 100);
	if (gnb->n3.interfaces_count && plain_only(gnb))
		BAD(plain_only(gnb),
		    AT "user_port, address, address6 and qos: with 'interfaces' packets come in "
		       "tunnels, which say whose they are",
		    WHERE);
	if (config_harq_finish(cfg, "gnb", name, &gnb->harq, err) < 0 ||
	    dl_harq_finish(cfg, gnb, err) < 0 || config_ue_finish(cfg, &gnb->l2, err) < 0)
		return -EINVAL;
	if ((gnb->n3.interfaces_count ? n3_finish(cfg, gnb, err) : plain_finish(cfg, gnb, err)) < 0)
		return -EINVAL;
	if (gnb->ues_per_slot > 64)
		BAD(&gnb->ues_per_slot, "gnb %s: ues_per_slot %u must be 1..64", name,
		    gnb->ues_per_slot);
	if (gnb->ue_slot_bytes && gnb->ue_slot_bytes < 64)
		BAD(&gnb->ue_slot_bytes, "gnb %s: ue_slot_bytes %u must be at least 64", name,
		    gnb->ue_slot_bytes);
	if (gnb->average_ms > 60000)
		BAD(&gnb->average_ms, "gnb %s: average_ms %u must be 1..60000", name,
		    gnb->average_ms);
	for (unsigned i = 0; i < gnb->tb_bytes_count; i++)
		if (gnb->tb_bytes[i] < 64)
			BAD(&gnb->tb_bytes[i], "gnb %s: tb_bytes[%u] = %u must be at least 64",
			    name, i, gnb->tb_bytes[i]);
	return 0;
}

/** @return what only a phy with a gNB has use for, or NULL. */
static const void *
side_gnb_only(const struct ap_cfg_phy *phy)
{
	return phy->ues                 ? &phy->ues
	       : phy->ahead             ? &phy->ahead
	       : phy->cqi_count         ? &phy->cqi
	       : phy->dl_soft_loss > 0  ? (const void *)&phy->dl_soft_loss
	       : phy->feedback_loss > 0 ? (const void *)&phy->feedback_loss
	       : phy->cqi_spread        ? (const void *)&phy->cqi_spread
					: NULL;
}

int
config_phy_gnb_finish(const struct ap_config *cfg, struct ap_cfg_phy *phy, struct ap_error *err)
{
	if (phy->side != AP_PHY_GNB) {
		if (side_gnb_only(phy))
			BAD(side_gnb_only(phy),
			    "phy %s: ues, ahead, cqi, cqi_spread, dl_soft_loss and feedback_loss "
			    "are for side gnb",
			    phy->name);
		return 0;
	}
	DEFAULT(phy->ues, 1);
	DEFAULT(phy->ahead, 2);
	if (phy->port2 == NULL)
		BAD(&phy->side, "phy %s: side gnb: 'port2' is missing, the gNB's", phy->name);
	if (phy->ues > AP_CFG_UES_MAX)
		BAD(&phy->ues, "phy %s: %u UEs: at most %u", phy->name, phy->ues, AP_CFG_UES_MAX);
	if (phy->ahead > 63)
		BAD(&phy->ahead, "phy %s: ahead %u must be 1..63", phy->name, phy->ahead);
	for (unsigned i = 0; i < phy->cqi_count; i++)
		if (phy->cqi[i] < 1 || phy->cqi[i] > 15)
			BAD(&phy->cqi[i], "phy %s: cqi[%u] = %u must be 1..15", phy->name, i,
			    phy->cqi[i]);
	if (phy->cqi_spread > 14 || (phy->cqi_spread && phy->cqi_count == 0))
		BAD(&phy->cqi_spread,
		    "phy %s: cqi_spread %u must be 0..14, about the values of 'cqi'", phy->name,
		    phy->cqi_spread);
	if (phy->harq.max_tx || phy->grant_on_sr)
		BAD(phy->grant_on_sr ? (const void *)&phy->grant_on_sr : &phy->harq.max_tx,
		    "phy %s: harq.max_tx and grant_on_sr are not for side gnb: the gNB grants",
		    phy->name);
	return 0;
}

/** @return whether a ring joins the phy's port to the stack's. */
static bool
joined(const struct ap_config *cfg, const char *phy_port, const struct ap_cfg_ue *stack)
{
	const struct ap_cfg_port *port = ap_config_port(cfg, phy_port);

	return port && port->preset == AP_PRESET_RING && strcmp(port->peer, stack->phy_port) == 0;
}

static int
join(const struct ap_config *cfg, const struct ap_cfg_phy *phy, const struct ap_cfg_ue *stack,
     struct ap_error *err)
{
	if (stack->numerology != phy->numerology)
		BAD(&phy->numerology, "phy %s: numerology %u, but %s %s at its port has %u",
		    phy->name, phy->numerology, stack->kind, stack->name, stack->numerology);
	if (stack->carriers != phy->tb_bytes_count)
		BAD(&phy->tb_bytes, "phy %s: %u carriers, but %s %s at its port has %u", phy->name,
		    phy->tb_bytes_count, stack->kind, stack->name, stack->carriers);
	if (stack->count != phy->ues || stack->rnti != phy->rnti)
		BAD(stack->count != phy->ues ? (const void *)&phy->ues : &phy->rnti,
		    "phy %s: %u UEs from rnti %u, but %s %s at its port has %u from %u", phy->name,
		    phy->ues, phy->rnti, stack->kind, stack->name, stack->count, stack->rnti);
	if (stack->loopback)
		BAD(&stack->loopback,
		    "phy %s: ue %s at its port has 'loopback': it would not hear the gNB",
		    phy->name, stack->name);
	return 0;
}

/** @return the gNB at port2, or NULL where it is not in this file. */
static const struct ap_cfg_gnb *
gnb_of(const struct ap_config *cfg, const struct ap_cfg_phy *phy)
{
	for (unsigned i = 0; i < cfg->gnb_count; i++)
		if (joined(cfg, phy->port2, &cfg->gnb[i].l2))
			return &cfg->gnb[i];
	return NULL;
}

/** A UE has the HARQ processes that its gNB's grants name, and so has the PHY. */
static int
join_harq(const struct ap_config *cfg, struct ap_cfg_phy *phy, const struct ap_cfg_gnb *gnb,
	  struct ap_error *err)
{
	if (gnb == NULL)
		return 0;
	if (phy->harq.processes == 0)
		phy->harq.processes = gnb->harq.processes;
	if ((phy->harq.processes > 0) != (gnb->harq.processes > 0))
		BAD(&phy->harq, "phy %s: has 'harq', but gnb %s at its port has not", phy->name,
		    gnb->l2.name);
	for (unsigned i = 0; i < cfg->ue_count; i++) {
		struct ap_cfg_ue *ue = &cfg->ue[i];

		if (!joined(cfg, phy->port, ue))
			continue;
		if (ue->harq.processes == 0)
			ue->harq = gnb->harq;
		if (gnb->harq.processes == 0 && ue->harq.processes)
			BAD(&ue->harq, "ue %s: has 'harq', but its gnb %s has not", ue->name,
			    gnb->l2.name);
		if (ue->harq.processes < gnb->harq.processes)
			BAD(&gnb->harq.processes, "gnb %s: harq.processes %u, but ue %s has %u",
			    gnb->l2.name, gnb->harq.processes, ue->name, ue->harq.processes);
	}
	return 0;
}

int
config_phy_gnb_join(struct ap_config *cfg, struct ap_cfg_phy *phy, struct ap_error *err)
{
	const struct ap_cfg_gnb *gnb = gnb_of(cfg, phy);

	for (unsigned i = 0; i < cfg->ue_count; i++) {
		if (joined(cfg, phy->port2, &cfg->ue[i]))
			BAD(&phy->port2,
			    "phy %s: port2 is the gNB's with side gnb, but leads to ue %s",
			    phy->name, cfg->ue[i].name);
		if (joined(cfg, phy->port, &cfg->ue[i])) {
			if (join(cfg, phy, &cfg->ue[i], err) < 0)
				return -EINVAL;
			if (cfg->ue[i].sr.trans_max == 0)
				BAD(&cfg->ue[i].sr,
				    "ue %s: needs 'sr': a gNB grants what is asked for",
				    cfg->ue[i].name);
		}
	}
	if (gnb && join(cfg, phy, &gnb->l2, err) < 0)
		return -EINVAL;
	for (unsigned c = 0; gnb && c < gnb->tb_bytes_count; c++)
		if (gnb->tb_bytes[c] > phy->tb_bytes[c])
			BAD(&gnb->tb_bytes[c], "gnb %s: tb_bytes[%u] = %u, but phy %s has %u",
			    gnb->l2.name, c, gnb->tb_bytes[c], phy->name, phy->tb_bytes[c]);
	if (join_harq(cfg, phy, gnb, err) < 0)
		return -EINVAL;
	for (unsigned i = 0; gnb && i < cfg->ue_count; i++)
		if (joined(cfg, phy->port, &cfg->ue[i]) &&
		    config_pair(cfg, &gnb->l2, &cfg->ue[i], err) < 0)
			return -EINVAL;
	return 0;
}
