/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What RRC asks of a bearer, asked by telemetry:
 *   /airpath/pdcp/status,UE,DRB        send a status report
 *   /airpath/pdcp/recover,UE,DRB       data recovery, TS 38.323 §5.5
 *   /airpath/pdcp/reestablish,UE,DRB[,K_UPenc[,K_UPint]]
 *                                      re-establishment of PDCP and RLC, §5.1.2
 *   /airpath/pdcp/renew,UE,DRB[,K_UPenc[,K_UPint]]
 *                                      release and setup, §5.1.3, §5.1.1: all begins anew
 *   /airpath/pdcp/state,UE,DRB         state variables
 * Of a role with several UEs, UE.u is the one with index u, UE the first. Of a gnb it tells the
 * state alone.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/pdcp/pdcp_security.h"
#include "modules/ue/ue_pdcp.h"

/** Parses `UE[.u],DRB`, and with `keys` `UE[.u],DRB[,KEY[,KEY]]`. @return 0 or -EINVAL. */
static int
find(const struct ap_run *run, const char *params, bool keys, struct ue_bearer *b)
{
	char ue[40];
	unsigned drb, u = 0;
	int end = 0;

	*b = (struct ue_bearer){0};
	if (params == NULL || sscanf(params, "%39[^.,]%n", ue, &end) != 1)
		return ap_telemetry_refuse("name the bearer: UE,DRB");
	params += end;
	if (sscanf(params, ".%u%n", &u, &end) == 1)
		params += end;
	if (sscanf(params, ",%u%n", &drb, &end) != 1)
		return ap_telemetry_refuse("name the bearer: UE,DRB");
	params += end;
	if (keys && sscanf(params, ",%39[0-9a-fA-F]%n", b->key_enc, &end) == 1)
		params += end;
	if (b->key_enc[0] && sscanf(params, ",%39[0-9a-fA-F]%n", b->key_int, &end) == 1)
		params += end;
	if (*params != '\0')
		return ap_telemetry_refuse(
			keys ? "behind UE,DRB come K_UPenc and K_UPint, hexadecimal, or nothing"
			     : "nothing is expected behind UE,DRB");
	b->ue = ue_stack_named(run, ue);
	for (uint32_t i = 0; b->ue && u < b->ue->cfg->count && i < b->ue->cfg->bearers_count; i++)
		if (b->ue->cfg->bearers[i].id == drb)
			ue_bearer_find(b, run->plan, b->ue, u * b->ue->cfg->bearers_count + i);
	if (b->ue == NULL)
		return ap_telemetry_refuse("there is no ue '%s'", ue);
	if (b->cfg == NULL)
		return ap_telemetry_refuse("%s %s has no bearer %u", b->ue->cfg->kind, ue, drb);
	return 0;
}

/** As find(), of a bearer that is to be changed. */
static int
find_ues(const struct ap_run *run, const char *params, bool keys, struct ue_bearer *b)
{
	int rc = find(run, params, keys, b);

	if (rc == 0 && b->ue->ul)
		return ap_telemetry_refuse("%s is a gnb: its DRBs change by contexts, airpath ctl",
					   b->ue->cfg->name);
	return rc;
}

static int
tell(struct ue_bearer *b, int rc, struct rte_tel_data *d)
{
	if (rc < 0)
		return rc;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "ue", b->ue->cfg->name);
	rte_tel_data_add_dict_int(d, "drb", (int)b->cfg->id);
	rte_tel_data_add_dict_u64(d, "taken_back", b->r.taken);
	rte_tel_data_add_dict_u64(d, "sent_again", b->r.again);
	return 0;
}

static int
status(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct ue_bearer b;
	int rc = find_ues(run, params, false, &b);

	return tell(&b, rc < 0 ? rc : ue_pdcp_status(&b), d);
}

static int
recover(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct ue_bearer b;
	int rc = find_ues(run, params, false, &b);

	return tell(&b, rc < 0 ? rc : ue_pdcp_recover(&b), d);
}

/** New keys of one direction, or the old ones again. */
static int
keys_make(const struct ue_bearer *b, const struct pdcp_security *old, struct pdcp_keys *keys)
{
	struct pdcp_security_key *key;
	struct ap_error err = {0};
	int rc;

	*keys = (struct pdcp_keys){old->crypto, old->keys};
	if (old->crypto == NULL)
		return b->key_enc[0] ? ap_telemetry_refuse("the bearer has no security: no keys")
				     : 0;
	/* A COUNT is never used twice with a key (§5.8). */
	if (b->key_enc[0] == '\0')
		return b->renew || ue_pdcp_mode(b) == PDCP_DRB_UM
			       ? ap_telemetry_refuse("COUNT of %s begins at 0 again: new keys are "
						     "needed",
						     b->renew ? "a new DRB" : "a UM DRB")
			       : 0;
	rc = ue_key_make(b->ue, b->ue->l2.ue_of_bearer[b->index], b->cfg, b->key_enc, b->key_int,
			 &key, &err);
	keys->keys = key;
	if (rc == -EINVAL && err.text[0] == '\0')
		return ap_telemetry_refuse("each key that the ue's algorithms need is 32 "
					   "hexadecimal digits: K_UPenc, then K_UPint");
	return rc < 0 && err.text[0] != '\0' ? ap_telemetry_refuse("%.100s", err.text) : rc;
}

/** The keys of one direction that are not in use any more, or never came to be. */
static void
keys_free(void *keys, const struct pdcp_security *used)
{
	if (keys != used->keys)
		pdcp_security_key_destroy(keys);
}

static int
with_keys(struct ap_run *run, const char *params, bool renew, struct rte_tel_data *d)
{
	const struct pdcp_security *rx, *tx;
	void *old_rx, *old_tx;
	struct ue_bearer b;
	int rc = find_ues(run, params, true, &b);

	if (rc < 0)
		return rc;
	b.renew = renew;
	rx = &b.ue->l2.pdcp_rx[b.index].sec;
	tx = &b.ue->l2.pdcp_tx[b.index].sec;
	old_rx = rx->keys;
	old_tx = tx->keys;
	rc = keys_make(&b, rx, &b.rx_keys);
	if (rc == 0) {
		rc = keys_make(&b, tx, &b.tx_keys);
		if (rc == 0)
			rc = renew ? ue_pdcp_renew(&b, true) : ue_pdcp_reestablish(&b);
		keys_free(b.rx_keys.keys, rx);
		keys_free(b.tx_keys.keys, tx);
		keys_free(old_rx, rx);
		keys_free(old_tx, tx);
	}
	if (rc == 0)
		b.ue->keys_asked[b.index] = 0;
	explicit_bzero(b.key_enc, sizeof(b.key_enc));
	explicit_bzero(b.key_int, sizeof(b.key_int));
	return tell(&b, rc, d);
}

static int
reestablish(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	return with_keys(run, params, false, d);
}

static int
renew(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	return with_keys(run, params, true, d);
}

static bool
wants_keys(const struct l2 *l2, uint32_t i, bool rx)
{
	return rx ? pdcp_rx_wants_keys(&l2->pdcp_rx[i]) : pdcp_tx_wants_keys(&l2->pdcp_tx[i]);
}

/** Names the UE of a bearer. */
static const char *
who(const struct ue *ue, uint32_t bearer, char *name, size_t size)
{
	if (ue->cfg->count == 1)
		return ue->cfg->name;
	snprintf(name, size, "%s.%u", ue->cfg->name, ue->l2.ue_of_bearer[bearer]);
	return name;
}

void
ue_pdcp_poll(void *obj)
{
	struct ue *ue = obj;
	char name[48];

	for (uint32_t i = 0; i < ue->l2.nb_bearers; i++)
		for (unsigned rx = 0; rx <= 1; rx++) {
			if (ue->keys_asked[i] >> rx & 1 || !wants_keys(&ue->l2, i, rx))
				continue;
			ue->keys_asked[i] |= (uint8_t)(1 << rx);
			fprintf(stderr,
				"%s %s: DRB %u needs new keys: %s COUNT is beyond "
				"pdcp.count_notify, "
				"and stops at 2^32\n",
				ue->cfg->kind, who(ue, i, name, sizeof(name)),
				ue->cfg->bearers[i % ue->cfg->bearers_count].id,
				rx ? "the receiver's" : "the sender's");
		}
}

static int
state(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	const struct pdcp_tx *tx;
	const struct pdcp_rx *rx;
	struct ue_bearer b;
	int rc = find(run, params, false, &b);

	if (rc < 0)
		return rc;
	tx = &b.ue->l2.pdcp_tx[b.index];
	rx = &b.ue->l2.pdcp_rx[b.index];
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_u64(d, "TX_NEXT", tx->TX_NEXT);
	rte_tel_data_add_dict_u64(d, "RX_NEXT", rx->RX_NEXT);
	rte_tel_data_add_dict_u64(d, "RX_DELIV", rx->RX_DELIV);
	rte_tel_data_add_dict_u64(d, "RX_REORD", rx->RX_REORD);
	rte_tel_data_add_dict_u64(d, "reordering", rx->held);
	rte_tel_data_add_dict_int(d, "wants_keys",
				  wants_keys(&b.ue->l2, b.index, true) ||
					  wants_keys(&b.ue->l2, b.index, false));
	rte_tel_data_add_dict_u64(d, "status_reports_received", rx->status_reports);
	return 0;
}

RTE_INIT(ue_pdcp_commands)
{
	ap_telemetry_add("/airpath/pdcp/status", status, "Send a PDCP status report: UE,DRB.");
	ap_telemetry_add("/airpath/pdcp/recover", recover, "PDCP data recovery: UE,DRB.");
	ap_telemetry_add("/airpath/pdcp/reestablish", reestablish,
			 "Re-establish PDCP and RLC: UE,DRB[,K_UPenc[,K_UPint]].");
	ap_telemetry_add("/airpath/pdcp/renew", renew,
			 "Release and set up a DRB: UE,DRB[,K_UPenc[,K_UPint]].");
	ap_telemetry_add("/airpath/pdcp/state", state, "PDCP state variables: UE,DRB.");
}
