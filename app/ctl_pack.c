/* SPDX-License-Identifier: BSD-3-Clause */
/** From what people wrote to messages of api/gnb.proto. */
#include <errno.h>
#include <string.h>

#include "app/ctl.h"
#include "core/config.h"

/** @return zeroed memory of the arena, or NULL with `err` filled. */
static void *
take(struct ctl_arena *a, size_t bytes, struct ap_error *err)
{
	void *p = ctl_arena_alloc(a, bytes + 1);

	if (p)
		memset(p, 0, bytes);
	else
		ap_error_set(err, "out of memory");
	return p;
}

Airpath__Gnb__V1__Tunnel *
ctl_pack_tunnel(struct ctl_arena *a, const struct ctl_tunnel *t, uint32_t more,
		struct ap_error *err)
{
	Airpath__Gnb__V1__Tunnel *to = take(a, sizeof(*to), err);
	uint8_t *address = take(a, 16, err), bits;
	int octets;

	if (to == NULL || address == NULL)
		return NULL;
	octets = ap_config_prefix(t->address, address, &bits);
	if (octets < 0 || bits != octets * 8) {
		ap_error_set(err, "'%s' is not an address", t->address);
		return NULL;
	}
	airpath__gnb__v1__tunnel__init(to);
	to->address = (ProtobufCBinaryData){(size_t)octets, address};
	to->teid = t->teid + more;
	to->interface = t->interface;
	return to;
}

Airpath__Gnb__V1__Drb *
ctl_pack_drb(struct ctl_arena *a, const struct ctl_drb *d, uint32_t more, struct ap_error *err)
{
	Airpath__Gnb__V1__Drb *to = take(a, sizeof(*to), err);

	if (to == NULL)
		return NULL;
	airpath__gnb__v1__drb__init(to);
	to->id = d->id;
	to->n_qfis = d->qfis_count;
	to->qfis = d->qfis;
	to->default_drb = d->is_default;
	to->sdap_ul_header = d->sdap_ul != CTL_OFF;
	to->sdap_dl_header = d->sdap_dl != CTL_OFF;
	to->pdcp_sn_bits = d->pdcp_sn_bits;
	to->rlc_mode = (Airpath__Gnb__V1__RlcMode)d->rlc;
	to->rlc_sn_bits = d->rlc_sn_bits;
	to->dl_count = d->dl_count;
	to->lcid = d->lcid;
	to->priority = d->priority;
	if (d->du && (to->dl_up = ctl_pack_tunnel(a, d->du, more, err)) == NULL)
		return NULL;
	return to;
}

static Airpath__Gnb__V1__PduSession *
pack_session(struct ctl_arena *a, const struct ctl_session *s, uint32_t more, struct ap_error *err)
{
	Airpath__Gnb__V1__PduSession *to = take(a, sizeof(*to), err);
	Airpath__Gnb__V1__Drb **drbs =
		take(a, s->drbs_count * sizeof(Airpath__Gnb__V1__Drb *), err);

	if (to == NULL || drbs == NULL)
		return NULL;
	airpath__gnb__v1__pdu_session__init(to);
	to->id = s->id;
	to->drbs = drbs;
	if (s->upf && (to->ul_up = ctl_pack_tunnel(a, s->upf, more, err)) == NULL)
		return NULL;
	if (s->forwarding &&
	    (to->forwarding = ctl_pack_tunnel(a, s->forwarding, more, err)) == NULL)
		return NULL;
	for (unsigned i = 0; i < s->drbs_count; i++) {
		drbs[i] = ctl_pack_drb(a, &s->drbs[i], more, err);
		if (drbs[i] == NULL)
			return NULL;
		to->n_drbs++;
	}
	return to;
}

/** @return 0 or -EINVAL with `err` filled */
static int
pack_key(struct ctl_arena *a, const char *name, const char *hex, ProtobufCBinaryData *to,
	 struct ap_error *err)
{
	uint8_t *key = take(a, AP_CFG_KEY_LEN, err);

	if (hex == NULL)
		return 0;
	if (key == NULL)
		return -EINVAL;
	if (ap_config_key(hex, key) < 0)
		return ap_error_set(err, "security.%s must be 32 hexadecimal digits, in quotes",
				    name);
	*to = (ProtobufCBinaryData){AP_CFG_KEY_LEN, key};
	return 0;
}

/** What the radio side of role `gnb` is told. @return 0 or -EINVAL with `err` filled */
static int
pack_radio(struct ctl_arena *a, const struct ctl_context *c, uint32_t i,
	   Airpath__Gnb__V1__BearerContext *to, struct ap_error *err)
{
	if (c->rnti) {
		to->f1 = take(a, sizeof(*to->f1), err);
		if (to->f1 == NULL)
			return -EINVAL;
		airpath__gnb__v1__ue_f1__init(to->f1);
		to->f1->rnti = c->rnti + i;
	}
	if (c->security == NULL)
		return 0;
	if (c->count > 1)
		return ap_error_set(err, "context of ue %u: security is of one UE, count is %u",
				    c->ue, c->count);
	to->security = take(a, sizeof(*to->security), err);
	if (to->security == NULL)
		return -EINVAL;
	airpath__gnb__v1__security_information__init(to->security);
	to->security->nea = c->security->nea;
	to->security->nia = c->security->nia;
	if (pack_key(a, "key_enc", c->security->key_enc, &to->security->key_enc, err) < 0)
		return -EINVAL;
	return pack_key(a, "key_int", c->security->key_int, &to->security->key_int, err);
}

Airpath__Gnb__V1__BearerContext *
ctl_pack_context(struct ctl_arena *a, const struct ctl_context *c, uint32_t i, struct ap_error *err)
{
	Airpath__Gnb__V1__BearerContext *to = take(a, sizeof(*to), err);
	Airpath__Gnb__V1__PduSession **sessions =
		take(a, c->sessions_count * sizeof(Airpath__Gnb__V1__PduSession *), err);

	if (to == NULL || sessions == NULL)
		return NULL;
	airpath__gnb__v1__bearer_context__init(to);
	to->ue_id = c->ue + i;
	to->pdu_sessions = sessions;
	if (pack_radio(a, c, i, to, err) < 0)
		return NULL;
	for (unsigned k = 0; k < c->sessions_count; k++) {
		sessions[k] = pack_session(a, &c->sessions[k], i, err);
		if (sessions[k] == NULL)
			return NULL;
		to->n_pdu_sessions++;
	}
	return to;
}
