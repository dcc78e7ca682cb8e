/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults and checks of a ue: bearers, security, HARQ, scheduling requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_check.h"

static int
bearer_am_finish(const struct ap_config *cfg, const struct ap_cfg_ue *ue, struct ap_cfg_bearer *b,
		 struct ap_error *err)
{
	struct ap_cfg_bearer_rlc *r = &b->rlc;

#define AT "%s %s: bearer %u: "
#define WHERE ue->kind, ue->name, b->id
	if (r->mode != AP_RLC_AM) {
		if (r->t_poll_retransmit_ms || r->t_status_prohibit_ms || r->poll_pdu ||
		    r->poll_byte || r->max_retx_threshold)
			BAD(&b->rlc,
			    AT "rlc: t_poll_retransmit_ms, t_status_prohibit_ms, poll_pdu, "
			       "poll_byte and max_retx_threshold are for mode am",
			    WHERE);
		return 0;
	}
	DEFAULT(r->sn_bits, ue->count > 1 ? 12 : 18); /* a window of 18 bits takes 10 MB a bearer */
	DEFAULT(r->t_reassembly_ms, 5);
	DEFAULT(r->t_poll_retransmit_ms, 10);
	DEFAULT(r->poll_pdu, 64);
	DEFAULT(r->max_retx_threshold, 32);
	if (r->sn_bits != 12 && r->sn_bits != 18)
		BAD(&r->sn_bits, AT "rlc.sn_bits %u must be 12 or 18 in AM", WHERE, r->sn_bits);
	if (r->t_poll_retransmit_ms > 10000)
		BAD(&r->t_poll_retransmit_ms, AT "rlc.t_poll_retransmit_ms %u must be 1..10000",
		    WHERE, r->t_poll_retransmit_ms);
	if (r->t_status_prohibit_ms > 10000)
		BAD(&r->t_status_prohibit_ms, AT "rlc.t_status_prohibit_ms %u must be 0..10000",
		    WHERE, r->t_status_prohibit_ms);
	if (r->max_retx_threshold > 32)
		BAD(&r->max_retx_threshold, AT "rlc.max_retx_threshold %u must be 1..32", WHERE,
		    r->max_retx_threshold);
	return 0;
}

static int
bearer_finish(const struct ap_config *cfg, const struct ap_cfg_ue *ue, struct ap_cfg_bearer *b,
	      struct ap_error *err)
{
	bool bounded;

	DEFAULT(b->lcid, b->id + 3);
	DEFAULT(b->sdap.ul_header, AP_CFG_ON);
	DEFAULT(b->sdap.dl_header, AP_CFG_ON);
	DEFAULT(b->pdcp.sn_bits, 18);
	b->pdcp.reorder_at_once |= config_says_zero(cfg, &b->pdcp.t_reordering_ms);
	DEFAULT(b->pdcp.t_reordering_ms, b->rlc.mode == AP_RLC_AM ? 200 : 40);
	DEFAULT(b->pdcp.reorder_slots, ue->count > 1 ? 8192 : 131072);
	DEFAULT(b->pdcp.count_notify, UINT32_MAX - (1U << 24) + 1);
	if (bearer_am_finish(cfg, ue, b, err) < 0)
		return -EINVAL;
	DEFAULT(b->rlc.sn_bits, 12);
	DEFAULT(b->rlc.t_reassembly_ms, 35);
	/* The receiver takes an SN half the SN space ahead for an old one: neither may discardTimer
	 * drop so many in a row, nor may AM send them past one that is lost (TS 38.323 §5.2.1,
	 * note). */
	bounded = b->pdcp.discard_ms || b->rlc.mode == AP_RLC_AM;
	DEFAULT(b->rlc.queue_sdus,
		(bounded && b->pdcp.sn_bits == 12) || ue->count > 1 ? 1024 : 8192);
	DEFAULT(b->mac.priority, 8);
	DEFAULT(b->mac.bsd_ms, 50);
	if (b->id < 1 || b->id > 32)
		BAD(&b->id, AT "id must be 1..32", WHERE);
	if (b->lcid < 4 || b->lcid > 32)
		BAD(&b->lcid, AT "lcid %u must be 4..32", WHERE, b->lcid);
	if (b->pdcp.sn_bits != 12 && b->pdcp.sn_bits != 18)
		BAD(&b->pdcp.sn_bits, AT "pdcp.sn_bits %u must be 12 or 18", WHERE,
		    b->pdcp.sn_bits);
	if (!power_of_2(b->pdcp.reorder_slots) || b->pdcp.reorder_slots > 131072)
		BAD(&b->pdcp.reorder_slots,
		    AT "pdcp.reorder_slots must be a power of 2 up to 131072", WHERE);
	if (b->rlc.mode == AP_RLC_UM && b->rlc.sn_bits != 6 && b->rlc.sn_bits != 12)
		BAD(&b->rlc.sn_bits, AT "rlc.sn_bits %u must be 6 or 12 in UM", WHERE,
		    b->rlc.sn_bits);
	if (b->rlc.t_reassembly_ms > 10000)
		BAD(&b->rlc.t_reassembly_ms, AT "rlc.t_reassembly_ms %u must be 1..10000", WHERE,
		    b->rlc.t_reassembly_ms);
	if (!power_of_2(b->rlc.queue_sdus) || b->rlc.queue_sdus > (1U << 20))
		BAD(&b->rlc.queue_sdus, AT "rlc.queue_sdus must be a power of 2 up to 1048576",
		    WHERE);
	if (b->pdcp.integrity && ue->security.nia == 0)
		BAD(&b->pdcp.integrity, AT "pdcp.integrity needs the ue's security.nia, 1..3",
		    WHERE);
	if (bounded && b->rlc.queue_sdus > 1U << (b->pdcp.sn_bits - 2))
		BAD(&b->rlc.queue_sdus,
		    AT "rlc.queue_sdus must be at most %u with pdcp.discard_ms or AM and %u-bit "
		       "PDCP SNs",
		    WHERE, 1U << (b->pdcp.sn_bits - 2), b->pdcp.sn_bits);
	if (b->mac.priority > 16)
		BAD(&b->mac.priority, AT "mac.priority must be 1..16", WHERE);
	if (b->mac.lcg > 7)
		BAD(&b->mac.lcg, AT "mac.lcg must be 0..7", WHERE);
	for (unsigned i = 0; i < b->mac.serving_cells_count; i++)
		if (b->mac.serving_cells[i] >= ue->carriers)
			BAD(&b->mac.serving_cells[i],
			    AT "mac.serving_cells: carrier %u, there are %u", WHERE,
			    b->mac.serving_cells[i], ue->carriers);
	for (unsigned i = 0; i < b->mac.scs_count; i++)
		if (b->mac.scs[i] > 4)
			BAD(&b->mac.scs[i], AT "mac.scs: numerology %u must be 0..4", WHERE,
			    b->mac.scs[i]);
	if (b->mac.max_pusch_us && (b->mac.max_pusch_us < 20 || b->mac.max_pusch_us > 500))
		BAD(&b->mac.max_pusch_us, AT "mac.max_pusch_us %u must be 20..500", WHERE,
		    b->mac.max_pusch_us);
	for (unsigned i = 0; i < b->qfis_count; i++)
		if (b->qfis[i] > 63)
			BAD(&b->qfis[i], AT "qfi %u must be 0..63", WHERE, b->qfis[i]);
	return 0;
}

int
ap_config_key(const char *hex, uint8_t key[AP_CFG_KEY_LEN])
{
	if (strlen(hex) != 2 * AP_CFG_KEY_LEN ||
	    strspn(hex, "0123456789abcdefABCDEF") != 2 * AP_CFG_KEY_LEN)
		return -EINVAL;
	for (unsigned i = 0; i < AP_CFG_KEY_LEN; i++) {
		const char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		key[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return 0;
}

/** Says what is wrong with a key, but not what the key is. */
static int
key_finish(const struct ap_config *cfg, const struct ap_cfg_ue *ue, const char *name,
	   char *const *at, bool needed, struct ap_error *err)
{
	uint8_t key[AP_CFG_KEY_LEN];

	if (*at == NULL && needed)
		BAD(at, "%s %s: security.%s is missing", ue->kind, ue->name, name);
	if (*at != NULL && ap_config_key(*at, key) < 0)
		BAD(at, "%s %s: security.%s must be 32 hexadecimal digits, in quotes", ue->kind,
		    ue->name, name);
	return 0;
}

static int
engine_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	struct ap_cfg_security *s = &ue->security;

#ifdef AIRPATH_IPSEC_MB
	DEFAULT(s->engine, AP_ENGINE_MULTI_BUFFER);
#else
	DEFAULT(s->engine, AP_ENGINE_CRYPTODEV);
	if (s->engine == AP_ENGINE_MULTI_BUFFER)
		BAD(&s->engine, "%s %s: security.engine: this build has no multi_buffer", ue->kind,
		    ue->name);
#endif
	if (s->cryptodev != NULL && s->engine != AP_ENGINE_CRYPTODEV)
		BAD(&s->cryptodev, "%s %s: security.cryptodev needs security.engine: cryptodev",
		    ue->kind, ue->name);
	return 0;
}

static int
security_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	const struct ap_cfg_security *s = &ue->security;

	if (engine_finish(cfg, ue, err) < 0)
		return -EINVAL;
	if (s->nea > 3 || s->nia > 3)
		BAD(s->nea > 3 ? &s->nea : &s->nia, "%s %s: security.nea and nia must be 0..3",
		    ue->kind, ue->name);
	if (key_finish(cfg, ue, "key_enc", &s->key_enc, s->nea != 0, err) < 0)
		return -EINVAL;
	return key_finish(cfg, ue, "key_int", &s->key_int, s->nia != 0, err);
}

int
config_harq_finish(const struct ap_config *cfg, const char *role, const char *name,
		   struct ap_cfg_harq *h, struct ap_error *err)
{
	if (h->processes == 0 && h->max_tx == 0)
		return 0;
	DEFAULT(h->processes, 16);
	DEFAULT(h->max_tx, 4);
	if (h->processes > 32)
		BAD(&h->processes, "%s %s: harq.processes %u must be 1..32", role, name,
		    h->processes);
	if (h->max_tx > 8)
		BAD(&h->max_tx, "%s %s: harq.max_tx %u must be 1..8", role, name, h->max_tx);
	return 0;
}

static int
sr_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	struct ap_cfg_sr *sr = &ue->sr;

	if (sr->prohibit_ms == 0 && sr->trans_max == 0 && !config_says_zero(cfg, &sr->prohibit_ms))
		return 0;
	DEFAULT(sr->trans_max, 64);
	if (sr->prohibit_ms > 1000)
		BAD(&sr->prohibit_ms, "%s %s: sr.prohibit_ms %u must be 0..1000", ue->kind,
		    ue->name, sr->prohibit_ms);
	if (sr->trans_max > 64)
		BAD(&sr->trans_max, "%s %s: sr.trans_max %u must be 1..64", ue->kind, ue->name,
		    sr->trans_max);
	return 0;
}

static uint32_t
ip4_number(const uint8_t *a)
{
	return (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3];
}

static int
address_finish(const struct ap_config *cfg, const struct ap_cfg_ue *ue, const char *key,
	       char *const *at, int octets, struct ap_error *err)
{
	const char *text = *at;
	uint8_t address[16], bits;
	if (text == NULL)
		return 0;
	if (ap_config_prefix(text, address, &bits) != octets || bits != 8 * octets)
		BAD(at, "%s %s: %s '%s' is not an IPv%u address", ue->kind, ue->name, key, text,
		    octets == 4 ? 4 : 6);
	if (octets == 4 && ue->count - 1 > UINT32_MAX - ip4_number(address))
		BAD(at, "%s %s: %s '%s' and the %u that follow: addresses end at 255.255.255.255",
		    ue->kind, ue->name, key, text, ue->count - 1);
	return 0;
}

/** Several UEs in one role. */
static int
count_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	DEFAULT(ue->count, 1);
	if (ue->count > AP_CFG_UES_MAX)
		BAD(&ue->count, "%s %s: %u UEs: at most %u", ue->kind, ue->name, ue->count,
		    AP_CFG_UES_MAX);
	if (ue->rnti + ue->count - 1 > 0xFFEF)
		BAD(&ue->rnti, "%s %s: rnti %u and the %u that follow: C-RNTIs end at 65519",
		    ue->kind, ue->name, ue->rnti, ue->count - 1);
	if (address_finish(cfg, ue, "address", &ue->address, 4, err) < 0 ||
	    address_finish(cfg, ue, "address6", &ue->address6, 16, err) < 0)
		return -EINVAL;
	if (ue->count == 1)
		return 0;
	if (ue->user_port && ue->address == NULL && ue->address6 == NULL)
		BAD(&ue->count,
		    "%s %s: several UEs need 'address' or 'address6', those of the first", ue->kind,
		    ue->name);
	if (ue->any_rnti)
		BAD(&ue->any_rnti, "%s %s: any_rnti is for one UE", ue->kind, ue->name);
	return 0;
}

int
config_ue_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	unsigned defaults = 0;

	DEFAULT(ue->kind, "ue");
	DEFAULT(ue->carriers, 1);
	if (cfg->phy_count && cfg->phy[0].numerology <= 4)
		DEFAULT(ue->numerology, cfg->phy[0].numerology);
	DEFAULT(ue->frame_bytes, 9000);
	DEFAULT(ue->default_qfi, 1);
	DEFAULT(ue->rnti, AP_CFG_RNTI);
	DEFAULT(ue->retx_bsr_ms, 320);
	DEFAULT(ue->phr.report, AP_CFG_OFF);
	if (ue->phr.ph > 63 || ue->phr.pcmax > 63)
		BAD(ue->phr.ph > 63 ? &ue->phr.ph : &ue->phr.pcmax,
		    "%s %s: phr.ph and phr.pcmax must be 0..63", ue->kind, ue->name);
	if (ue->carriers > AP_CFG_CARRIERS_MAX)
		BAD(&ue->carriers, "%s %s: carriers %u: at most %u", ue->kind, ue->name,
		    ue->carriers, AP_CFG_CARRIERS_MAX);
	if (ue->default_qfi > 63)
		BAD(&ue->default_qfi, "%s %s: default_qfi %u must be 0..63", ue->kind, ue->name,
		    ue->default_qfi);
	if (ue->numerology > 4)
		BAD(&ue->numerology, "%s %s: numerology %u must be 0..4", ue->kind, ue->name,
		    ue->numerology);
	if (ue->frame_bytes < 256 || ue->frame_bytes > 65000)
		BAD(&ue->frame_bytes, "%s %s: frame_bytes %u must be 256..65000", ue->kind,
		    ue->name, ue->frame_bytes);
	if (count_finish(cfg, ue, err) < 0 || security_finish(cfg, ue, err) < 0 ||
	    sr_finish(cfg, ue, err) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < ue->qos_count; i++)
		if (ue->qos[i].dscp > 63 || ue->qos[i].qfi > 63)
			BAD(ue->qos[i].dscp > 63 ? &ue->qos[i].dscp : &ue->qos[i].qfi,
			    "%s %s: qos[%u]: dscp and qfi must be 0..63", ue->kind, ue->name, i);
	for (unsigned i = 0; i < ue->bearers_count; i++) {
		struct ap_cfg_bearer *b = &ue->bearers[i];

		if (bearer_finish(cfg, ue, b, err) < 0)
			return -EINVAL;
		defaults += b->is_default;
		for (unsigned j = 0; j < i; j++) {
			if (ue->bearers[j].id == b->id)
				BAD(&b->id,
				    AT "two owners: bearers[%u] and bearers[%u] have the same id",
				    WHERE, j, i);
			if (ue->bearers[j].lcid == b->lcid)
				BAD(&b->lcid, AT "lcid %u belongs to bearer %u already", WHERE,
				    b->lcid, ue->bearers[j].id);
		}
	}
	if (defaults > 1)
		BAD(&ue->bearers, "%s %s: %u default bearers, there can be one", ue->kind, ue->name,
		    defaults);
	return config_harq_finish(cfg, ue->kind, ue->name, &ue->harq, err);
}
