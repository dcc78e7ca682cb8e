/* SPDX-License-Identifier: BSD-3-Clause */
/** From messages of api/gnb.proto to what a session is made of. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_peer.h"

#define RNTI_MAX 0xFFEF /* TS 38.321 §7.1 */
#define LCID_MIN 4      /* of DRBs; 1..3 are SRBs': TS 38.331 */
#define LCID_MAX 32
#define PRIORITY_MAX 16
#define BUFFER_MAX (1U << 20)

int
gnb_fail(struct gnb_control *c, struct gnb_item *item, GnbCause cause, const char *fmt, ...)
{
	va_list ap;

	item->cause = cause;
	va_start(ap, fmt);
	vsnprintf(item->error, sizeof(item->error), fmt, ap);
	va_end(ap);
	c->stats.failed++;
	return -1;
}

/* --- tunnels ---------------------------------------------------------------------------------- */

/** An interface that was named by its type alone: the first one that has a way there. */
static unsigned
interface_of(const struct upf_net *net, uint32_t interfaces, bool v6, const uint8_t *to)
{
	unsigned first = 0;

	for (unsigned i = 1; i <= net->nb_links; i++) {
		struct upf_neigh_key key;

		if (!(interfaces >> i & 1) || upf_link_source(&net->links[i], v6, to) == NULL)
			continue;
		if (upf_net_next_hop(net, (uint8_t)i, v6, to, &key) != -ENETUNREACH)
			return i;
		first = first ? first : i;
	}
	return first;
}

int
gnb_decode_tunnel(struct gnb_control *c, struct gnb_item *item, const char *what,
		  const GnbTunnel *t, uint32_t interfaces, uint16_t *peer, uint32_t *teid)
{
	struct upf_peer_key key = {.port = GTPU_PORT, .gtpu = true};
	int rc;

	if (t->address.len != 4 && t->address.len != 16)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"%s: an address of %zu octets: 4 or 16 are one", what,
				t->address.len);
	if (t->teid == 0)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR), "%s: TEID 0 is no tunnel",
				what);
	key.octets = (uint8_t)t->address.len;
	memcpy(key.ip, t->address.data, key.octets);
	if (t->interface > c->cfg.net->nb_links)
		return gnb_fail(c, item, GNB_CAUSE(TRANSPORT), "%s: interface %u is none of 1..%u",
				what, t->interface, c->cfg.net->nb_links);
	key.interface = (uint8_t)t->interface;
	if (key.interface == 0)
		key.interface =
			(uint8_t)interface_of(c->cfg.net, interfaces, key.octets == 16, key.ip);
	else if (!(interfaces >> key.interface & 1))
		return gnb_fail(c, item, GNB_CAUSE(TRANSPORT),
				"%s: interface %u is not of the type for that", what, t->interface);
	rc = upf_peer_get(c->cfg.peers, &key, ap_clock_ns());
	if (rc == -ENOSPC)
		return gnb_fail(c, item, GNB_CAUSE(TRANSPORT),
				"%s: %u peers are in use, no more fit", what, c->cfg.peers->live);
	if (rc < 0)
		return gnb_fail(c, item, GNB_CAUSE(TRANSPORT),
				"%s: no interface of that type has an IPv%c address", what,
				key.octets == 4 ? '4' : '6');
	*peer = (uint16_t)rc;
	*teid = t->teid;
	return 0;
}

/* --- DRBs ------------------------------------------------------------------------------------- */

uint64_t
gnb_decode_qfis(struct gnb_control *c, struct gnb_item *item, unsigned drb, const uint32_t *qfis,
		size_t nb, bool *ok)
{
	uint64_t set = 0;

	*ok = false;
	for (size_t i = 0; i < nb; i++) {
		if (qfis[i] > GNB_QFI_MAX) {
			gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR), "DRB %u: QFI %u is not 0..63",
				 drb, qfis[i]);
			return 0;
		}
		if (set >> qfis[i] & 1) {
			gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				 "DRB %u: QFI %u is there twice", drb, qfis[i]);
			return 0;
		}
		set |= 1ULL << qfis[i];
	}
	*ok = true;
	return set;
}

/** @return a slot that no DRB of the session has, or -1. */
static int
slot_free(const struct gnb_control *c, const struct gnb_session_spec *s)
{
	uint32_t taken = 0;

	for (unsigned i = 0; i < s->nb_drbs; i++)
		taken |= 1U << s->drbs[i].slot;
	taken = ~taken & ((1U << gnb_drbs_per_session(c->cfg.table)) - 1);
	return taken ? __builtin_ctz(taken) : -1;
}

/** What TS 38.473 and 38.331 allow; the rest is gnb_image_make()'s to judge. */
static int
drb_check(struct gnb_control *c, struct gnb_item *item, const struct gnb_entry *e, const GnbDrb *d)
{
	unsigned id = d->id;

	if (id < 1 || id > 32)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR), "DRB ID %u is not 1..32", id);
	for (unsigned i = 0; i < e->spec.nb_drbs; i++)
		if (e->spec.drbs[i].id == id)
			return gnb_fail(c, item, GNB_CAUSE(MULTIPLE_DRB),
					"PDU session %u has DRB %u already", e->spec.pdu_session,
					id);
	if ((unsigned)d->rlc_mode > GNB_RLC_AM)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u: RLC mode %u is none of UM, TM, AM", id, d->rlc_mode);
	if (d->pdcp_sn_bits > 18 || d->rlc_sn_bits > 18)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR), "DRB %u: an SN of %u bits", id,
				d->pdcp_sn_bits > 18 ? d->pdcp_sn_bits : d->rlc_sn_bits);
	if (d->lcid && (d->lcid < LCID_MIN || d->lcid > LCID_MAX))
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR), "DRB %u: LCID %u is not 4..32",
				id, d->lcid);
	if (d->priority > PRIORITY_MAX)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u: priority %u is not 1..16", id, d->priority);
	if (d->dl_up == NULL && !c->cfg.no_du)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u has no tunnel to its DU (dl_up)", id);
	if (d->dl_up && c->cfg.no_du)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u has a tunnel to a DU (dl_up): there is none here", id);
	return 0;
}

/** Whether it is what the deployment's bearer of that ID is: numbers that are 0 are. */
static int
radio_check(struct gnb_control *c, struct gnb_item *item, const GnbDrb *d)
{
	static const char *const modes[] = {"UM", "TM", "AM"};
	const struct gnb_drb_spec *has = c->cfg.radio->drb(c->cfg.radio->arg, d->id);
	const struct {
		const char *what;
		uint32_t asked, has;
	} numbers[] = {
		{"PDCP SN bits", d->pdcp_sn_bits, has ? has->pdcp_sn_bits : 0},
		{"RLC SN bits", d->rlc_sn_bits, has ? has->rlc_sn_bits : 0},
		{"LCID", d->lcid, has ? has->lcid : 0},
		{"priority", d->priority, has ? has->priority : 0},
	};

	if (has == NULL)
		return gnb_fail(c, item, GNB_CAUSE(UNKNOWN_DRB),
				"DRB %u: no bearer of the deployment has that id", d->id);
	if ((unsigned)d->rlc_mode != has->rlc_mode)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u: RLC %s, but its bearer in the deployment has %s", d->id,
				modes[d->rlc_mode], modes[has->rlc_mode]);
	if (d->sdap_ul_header != has->sdap_ul || d->sdap_dl_header != has->sdap_dl)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u: its bearer in the deployment has the SDAP header %s",
				d->id,
				has->sdap_ul && has->sdap_dl ? "both ways"
				: has->sdap_ul               ? "uplink alone"
				: has->sdap_dl               ? "downlink alone"
							     : "in no direction");
	for (unsigned i = 0; i < RTE_DIM(numbers); i++)
		if (numbers[i].asked && numbers[i].asked != numbers[i].has)
			return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
					"DRB %u: %s %u, but its bearer in the deployment has %u",
					d->id, numbers[i].what, numbers[i].asked, numbers[i].has);
	return 0;
}

/** Numbers that were left out: the deployment's, or what is usual. */
static void
formats_fill(const struct gnb_control *c, const GnbDrb *d, struct gnb_drb_spec *to)
{
	if (c->cfg.radio) {
		const struct gnb_drb_spec *has = c->cfg.radio->drb(c->cfg.radio->arg, d->id);

		to->pdcp_sn_bits = has->pdcp_sn_bits;
		to->rlc_sn_bits = has->rlc_sn_bits;
		to->lcid = has->lcid;
		to->priority = has->priority;
		return;
	}
	to->pdcp_sn_bits = d->pdcp_sn_bits ? (uint8_t)d->pdcp_sn_bits : 18;
	to->rlc_sn_bits = d->rlc_sn_bits               ? (uint8_t)d->rlc_sn_bits
			  : to->rlc_mode == GNB_RLC_UM ? 12
						       : 18;
	to->lcid = d->lcid ? (uint8_t)d->lcid : (uint8_t)RTE_MIN(d->id + 3, (uint32_t)LCID_MAX);
	to->priority = d->priority ? (uint8_t)d->priority : 8;
}

int
gnb_decode_drb(struct gnb_control *c, struct gnb_item *item, struct gnb_entry *e, const GnbDrb *d)
{
	struct gnb_session_spec *s = &e->spec;
	struct gnb_drb_spec to = {.id = (uint8_t)d->id,
				  .is_default = d->default_drb,
				  .sdap_dl = d->sdap_dl_header,
				  .sdap_ul = d->sdap_ul_header,
				  .no_rlc = c->cfg.split_pdcp,
				  .rlc_mode = (uint8_t)d->rlc_mode,
				  /* A DRB that went in the same request may have had the ID. */
				  .set_count = true,
				  .count = d->dl_count};
	int slot = slot_free(c, s);
	char what[32];
	bool ok;

	if (drb_check(c, item, e, d) < 0 || (c->cfg.radio && radio_check(c, item, d) < 0))
		return -1;
	if (slot < 0)
		return gnb_fail(c, item, GNB_CAUSE(NO_RESOURCES),
				"DRB %u: a PDU session has at most %u here (drbs_per_session)",
				d->id, gnb_drbs_per_session(c->cfg.table));
	to.slot = (uint8_t)slot;
	formats_fill(c, d, &to);
	to.qfis = gnb_decode_qfis(c, item, d->id, d->qfis, d->n_qfis, &ok);
	if (!ok)
		return -1;
	snprintf(what, sizeof(what), "DRB %u: tunnel to the DU", d->id);
	if (d->dl_up &&
	    gnb_decode_tunnel(c, item, what, d->dl_up, c->cfg.f1, &to.du, &to.du_teid) < 0)
		return -1;
	s->drbs[s->nb_drbs++] = to;
	return 0;
}

/* --- UEs -------------------------------------------------------------------------------------- */

static int
key_take(struct gnb_control *c, struct gnb_item *item, const char *what, unsigned algorithm,
	 ProtobufCBinaryData key, uint8_t to[16])
{
	if (algorithm > 3)
		return gnb_fail(c, item, GNB_CAUSE(SECURITY), "%s: algorithm %u is none of 0..3",
				what, algorithm);
	if (algorithm > 0 && key.len != 16)
		return gnb_fail(c, item, GNB_CAUSE(SECURITY), "%s: a key of %zu octets, not 16",
				what, key.len);
	if (algorithm > 0)
		memcpy(to, key.data, 16);
	return 0;
}

int
gnb_decode_ue(struct gnb_control *c, struct gnb_item *item, struct gnb_ue_spec *to,
	      const Airpath__Gnb__V1__SecurityInformation *s, const Airpath__Gnb__V1__UeF1 *f1)
{
	if (f1 && (f1->rnti > RNTI_MAX || f1->buffer_packets > BUFFER_MAX))
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				f1->rnti > RNTI_MAX ? "f1: C-RNTI %u is not 1..65519"
						    : "f1: buffer_packets %u is not 1..1048576",
				f1->rnti > RNTI_MAX ? f1->rnti : f1->buffer_packets);
	if (f1 && f1->buffer_packets && c->cfg.radio)
		return gnb_fail(c, item, GNB_CAUSE(SEMANTIC_ERROR),
				"f1: buffer_packets: rlc.queue_sdus of the deployment's bearers is "
				"the limit");
	if (f1) {
		to->rnti = (uint16_t)f1->rnti;
		to->buffer_packets = f1->buffer_packets;
	}
	if (s == NULL)
		return 0;
	if ((s->nea || s->nia) && !c->cfg.ciphers)
		return gnb_fail(c, item, GNB_CAUSE(SECURITY),
				"NEA%u, NIA%u: role %s does not cipher: NEA0 and NIA0 alone",
				s->nea, s->nia, c->cfg.kind);
	to->given = true;
	to->nea = (uint8_t)s->nea;
	to->nia = (uint8_t)s->nia;
	if (key_take(c, item, "ciphering", s->nea, s->key_enc, to->key_enc) < 0)
		return -1;
	return key_take(c, item, "integrity", s->nia, s->key_int, to->key_int);
}
