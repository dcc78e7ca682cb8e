/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "codec/be.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_security.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_tx.h"
#include "modules/sdap/sdap.h"
#include "modules/ue/ue.h"

static bool
sdap_header(const struct ap_cfg_bearer *b, enum l2_direction direction)
{
	return (direction == L2_UPLINK ? b->sdap.ul_header : b->sdap.dl_header) == AP_CFG_ON;
}

/** @param u index of the UE */
static int
sdap_ue_init(struct ue *ue, uint32_t u)
{
	const struct ap_cfg_ue *cfg = ue->cfg;
	struct sdap_drb drbs[32] = {0};
	struct sdap_mapping maps[64 * 32];
	struct sdap_rule rules[64];
	struct sdap_cfg sc = {
		.tx_direction = ue->l2.tx_direction,
		.rx_direction = ue->l2.rx_direction,
		.first_bearer = u * cfg->bearers_count,
		.nb_bearers = cfg->bearers_count,
		.drbs = drbs,
		.defaultDRB = L2_NO_BEARER,
		.default_qfi = cfg->default_qfi,
		.rules = rules,
		.nb_rules = cfg->qos_count,
		.mappings = maps,
		.hdr = ue->l2.pools.hdr,
	};

	for (unsigned i = 0; i < cfg->qos_count; i++)
		rules[i] = (struct sdap_rule){cfg->qos[i].dscp, cfg->qos[i].qfi};
	for (unsigned i = 0; i < cfg->bearers_count; i++) {
		const struct ap_cfg_bearer *b = &cfg->bearers[i];

		drbs[i] = (struct sdap_drb){true, sdap_header(b, L2_UPLINK),
					    sdap_header(b, L2_DOWNLINK)};
		if (b->is_default)
			sc.defaultDRB = i;
		for (unsigned q = 0; q < b->qfis_count; q++)
			maps[sc.nb_mappings++] = (struct sdap_mapping){b->qfis[q], i};
	}
	return sdap_init(&ue->l2.sdap[u], &sc);
}

static int
sdap_make(struct ue *ue)
{
	struct l2 *l2 = &ue->l2;
	int rc = 0;

	l2->sdap = rte_zmalloc("sdap", l2->nb_ues * sizeof(struct sdap), RTE_CACHE_LINE_SIZE);
	l2->ue_of_bearer = rte_zmalloc("ues", l2->nb_bearers * sizeof(uint16_t), 0);
	if (l2->sdap == NULL || l2->ue_of_bearer == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < l2->nb_bearers; i++)
		l2->ue_of_bearer[i] = (uint16_t)(i / ue->cfg->bearers_count);
	for (uint32_t u = 0; u < l2->nb_ues && rc == 0; u++)
		rc = sdap_ue_init(ue, u);
	return rc;
}

/** Makes the key of one of several UEs its own. */
static void
key_of_ue(uint8_t key[AP_CFG_KEY_LEN], uint32_t u)
{
	uint8_t *last = key + AP_CFG_KEY_LEN - 4;

	be32_put(last, be32_get(last) ^ u);
}

int
ue_key_create(const struct ue *ue, const struct ap_cfg_bearer *b, struct pdcp_security_cfg *sc,
	      struct pdcp_security_key **key, struct ap_error *err)
{
	static const char *const engines[] = {
		[AP_ENGINE_MULTI_BUFFER] = "multi_buffer", [AP_ENGINE_CRYPTODEV] = "cryptodev"};
	const struct ap_cfg_security *s = &ue->cfg->security;

	*key = NULL;
	if (!b->pdcp.integrity)
		sc->nia = PDCP_NIA0;
	if (sc->nea == PDCP_NEA0 && sc->nia == PDCP_NIA0)
		return 0;
	sc->pool = ue->l2.pools.pdcp;
	sc->engine = pdcp_security_engine(engines[s->engine]);
	sc->device = s->cryptodev;
	return pdcp_security_key_create(sc, key, err);
}

int
ue_key_make(const struct ue *ue, uint32_t u, const struct ap_cfg_bearer *b, const char *key_enc,
	    const char *key_int, struct pdcp_security_key **key, struct ap_error *err)
{
	const struct ap_cfg_security *s = &ue->cfg->security;
	struct pdcp_security_cfg cfg = {.nea = s->nea,
					.nia = b->pdcp.integrity ? s->nia : PDCP_NIA0};
	int rc = 0;

	*key = NULL;
	if (cfg.nea != PDCP_NEA0)
		rc = ap_config_key(key_enc, cfg.key_enc);
	if (rc == 0 && cfg.nia != PDCP_NIA0)
		rc = ap_config_key(key_int, cfg.key_int);
	key_of_ue(cfg.key_enc, u);
	key_of_ue(cfg.key_int, u);
	if (rc == 0)
		rc = ue_key_create(ue, b, &cfg, key, err);
	explicit_bzero(&cfg, sizeof(cfg));
	return rc;
}

static enum rlc_mode
rlc_mode(const struct ap_cfg_bearer *b)
{
	switch (b->rlc.mode) {
	case AP_RLC_TM:
		return RLC_TM;
	case AP_RLC_UM:
		return RLC_UM;
	case AP_RLC_AM:
		return RLC_AM;
	}
	return RLC_NONE;
}

/** The configuration of the bearer with this index. */
static const struct ap_cfg_bearer *
cfg_of(const struct ue *ue, uint32_t i)
{
	return &ue->cfg->bearers[i % ue->cfg->bearers_count];
}

static int
bearer_tx_make(struct ue *ue, uint32_t i, struct ap_error *err)
{
	const struct ap_cfg_bearer *b = cfg_of(ue, i);
	struct pdcp_security_key *key;
	struct pdcp_tx_cfg pdcp = {
		.pdcp_SN_Size = b->pdcp.sn_bits,
		.integrityProtection = b->pdcp.integrity,
		.rb_identity = (uint8_t)b->id,
		.sdap_hdr_len = sdap_header(b, ue->l2.tx_direction),
		.direction = ue->l2.tx_direction,
		.hdr = ue->l2.pools.hdr,
		.count_notify = b->pdcp.count_notify,
	};
	const struct rlc_tx_cfg rlc = {
		.mode = rlc_mode(b),
		.sn_FieldLength = (enum rlc_sn_len)b->rlc.sn_bits,
		.queue_sdus = b->rlc.queue_sdus,
		.discard_ms = b->pdcp.discard_ms,
		.bearer = i,
		.lcid = b->lcid,
		.pools = &ue->l2.pools,
		.am = {.t_PollRetransmit_ms = b->rlc.t_poll_retransmit_ms,
		       .t_StatusProhibit_ms = b->rlc.t_status_prohibit_ms,
		       .pollPDU = b->rlc.poll_pdu,
		       .pollByte = b->rlc.poll_byte,
		       .maxRetxThreshold = b->rlc.max_retx_threshold},
	};
	int rc = ue_key_make(ue, ue->l2.ue_of_bearer[i], b, ue->cfg->security.key_enc,
			     ue->cfg->security.key_int, &key, err);

	if (rc < 0)
		return rc;
	pdcp.crypto = key ? pdcp_security_crypto(key) : NULL;
	pdcp.keys = key;
	rc = pdcp_tx_init(&ue->l2.pdcp_tx[i], &pdcp);
	if (rc < 0)
		pdcp_security_key_destroy(key);
	return rc < 0 ? rc : rlc_tx_init(&ue->l2.rlc_tx[i], &rlc);
}

static int
bearer_rx_make(struct ue *ue, uint32_t i, struct ap_error *err)
{
	const struct ap_cfg_bearer *b = cfg_of(ue, i);
	const struct rlc_rx_cfg rlc = {
		.mode = rlc_mode(b),
		.sn_FieldLength = (enum rlc_sn_len)b->rlc.sn_bits,
		.t_Reassembly_ms = b->rlc.t_reassembly_ms,
		.bearer = i,
		.am = rlc_tx_am_link(&ue->l2.rlc_tx[i]),
	};
	struct pdcp_security_key *key;
	struct pdcp_rx_cfg pdcp = {
		.pdcp_SN_Size = b->pdcp.sn_bits,
		.integrityProtection = b->pdcp.integrity,
		.outOfOrderDelivery = b->pdcp.out_of_order,
		.t_Reordering = b->pdcp.reorder_at_once ? 0 : b->pdcp.t_reordering_ms,
		.reorder_slots = RTE_MIN(b->pdcp.reorder_slots, 1U << (b->pdcp.sn_bits - 1)),
		.rb_identity = (uint8_t)b->id,
		.sdap_hdr_len = sdap_header(b, ue->l2.rx_direction),
		.direction = ue->l2.rx_direction,
		.count_notify = b->pdcp.count_notify,
	};
	int rc = rlc_rx_init(&ue->l2.rlc_rx[i], &rlc);

	if (rc == 0)
		rc = ue_key_make(ue, ue->l2.ue_of_bearer[i], b, ue->cfg->security.key_enc,
				 ue->cfg->security.key_int, &key, err);
	if (rc < 0)
		return rc;
	pdcp.crypto = key ? pdcp_security_crypto(key) : NULL;
	pdcp.keys = key;
	rc = pdcp_rx_init(&ue->l2.pdcp_rx[i], &pdcp);
	if (rc == -EINVAL)
		pdcp_security_key_destroy(key);
	return rc;
}

int
ue_bearers_init(struct ue *ue, struct ap_error *err)
{
	struct l2 *l2 = &ue->l2;
	uint32_t n = ue->cfg->bearers_count * ue->cfg->count;
	struct ap_error why = {0};
	int rc = -ENOMEM;

	l2->nb_bearers = n;
	l2->pdcp_tx = rte_zmalloc("pdcp_tx", n * sizeof(struct pdcp_tx), RTE_CACHE_LINE_SIZE);
	l2->pdcp_rx = rte_zmalloc("pdcp_rx", n * sizeof(struct pdcp_rx), RTE_CACHE_LINE_SIZE);
	l2->rlc_tx = rte_zmalloc("rlc_tx", n * sizeof(struct rlc_tx), RTE_CACHE_LINE_SIZE);
	l2->rlc_rx = rte_zmalloc("rlc_rx", n * sizeof(struct rlc_rx), RTE_CACHE_LINE_SIZE);
	ue->keys_asked = rte_zmalloc("keys_asked", n, 0);
	if (l2->pdcp_tx && l2->pdcp_rx && l2->rlc_tx && l2->rlc_rx && ue->keys_asked)
		rc = sdap_make(ue);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = bearer_tx_make(ue, i, &why);
		if (rc == 0)
			rc = bearer_rx_make(ue, i, &why);
		if (rc < 0)
			return ap_error_set(err, "%s %s: bearer %u: %s", ue->cfg->kind,
					    ue->cfg->name, cfg_of(ue, i)->id,
					    why.text[0] ? why.text : strerror(-rc));
	}
	return rc == 0 ? 0
		       : ap_error_set(err, "%s %s: %s", ue->cfg->kind, ue->cfg->name,
				      strerror(-rc));
}

void
ue_bearers_fini(struct ue *ue)
{
	struct l2 *l2 = &ue->l2;

	for (uint32_t i = 0; i < l2->nb_bearers; i++) {
		if (l2->rlc_tx)
			rlc_tx_fini(&l2->rlc_tx[i]);
		if (l2->pdcp_tx) {
			pdcp_security_key_destroy(l2->pdcp_tx[i].sec.keys);
			pdcp_tx_fini(&l2->pdcp_tx[i]);
		}
		if (l2->rlc_rx)
			rlc_rx_fini(&l2->rlc_rx[i]);
		if (l2->pdcp_rx) {
			pdcp_security_key_destroy(l2->pdcp_rx[i].sec.keys);
			pdcp_rx_fini(&l2->pdcp_rx[i]);
		}
	}
	for (uint32_t u = 0; l2->sdap && u < l2->nb_ues; u++)
		sdap_fini(&l2->sdap[u]);
	rte_free(l2->sdap);
	rte_free(l2->ue_of_bearer);
	rte_free(ue->keys_asked);
	rte_free(l2->pdcp_tx);
	rte_free(l2->pdcp_rx);
	rte_free(l2->rlc_tx);
	rte_free(l2->rlc_rx);
}
