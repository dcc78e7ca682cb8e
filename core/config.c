/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/config.h"
#include "core/config_schema.h"

int
ap_error_set(struct ap_error *e, const char *fmt, ...)
{
	va_list ap;

	if (e->text[0] != '\0')
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/** What libcyaml says while loading: the reason first, then the place, innermost first. */
struct load_log {
	char reason[256];
	char place[256]; /**< `ports[0].framing` */
	unsigned line;
};

static void
place_prepend(struct load_log *log, const char *step)
{
	char inner[sizeof(log->place)];
	const char *dot = log->place[0] == '\0' || log->place[0] == '[' ? "" : ".";

	memcpy(inner, log->place, sizeof(inner));
	snprintf(log->place, sizeof(log->place), "%.60s%s%.180s", step, dot, inner);
}

static void
log_line(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
	struct load_log *log = ctx;
	char text[256], step[64];
	unsigned entry, line = 0;

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(text, sizeof(text), fmt, args);
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, "  in ", 5) == 0) {
		if (sscanf(text, "  in mapping field '%60[^']' (line: %u", step, &line) == 2)
			place_prepend(log, step);
		else if (sscanf(text, "  in sequence entry '%u' (line: %u", &entry, &line) == 2) {
			/* libcyaml counts entries from 1. */
			snprintf(step, sizeof(step), "[%u]", entry - 1);
			place_prepend(log, step);
		} else
			sscanf(text, "  in mapping (line: %u", &line);
		if (log->line == 0)
			log->line = line;
		return;
	}
	if (log->reason[0] == '\0' && strstr(text, "Backtrace") == NULL)
		snprintf(log->reason, sizeof(log->reason), "%.250s",
			 strncmp(text, "Load: ", 6) == 0 ? text + 6 : text);
}

/** libcyaml places an unexpected key where its mapping begins; the file knows better. */
static void
place_key(struct load_log *log, const char *path)
{
	char text[512], key[64];
	unsigned line = 0;
	FILE *f;

	if (sscanf(log->reason, "Unexpected key: %60s", key) != 1 || (f = fopen(path, "r")) == NULL)
		return;
	strcat(key, ":");
	while (fgets(text, sizeof(text), f) != NULL)
		if (++line >= log->line && strstr(text, key) != NULL) {
			log->line = line;
			break;
		}
	fclose(f);
}

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if ((field) == 0)                                                                  \
			(field) = (value);                                                         \
	} while (0)

static bool
power_of_2(uint32_t x)
{
	return x != 0 && (x & (x - 1)) == 0;
}

static int
bearer_am_finish(const struct ap_config *cfg, const struct ap_cfg_ue *ue, struct ap_cfg_bearer *b,
		 struct ap_error *err)
{
	struct ap_cfg_bearer_rlc *r = &b->rlc;

#define BAD(...) return ap_error_set(err, __VA_ARGS__)
#define AT "%s: ue %s: bearer %u: "
#define WHERE cfg->path, ue->name, b->id
	if (r->mode != AP_RLC_AM) {
		if (r->t_poll_retransmit_ms || r->t_status_prohibit_ms || r->poll_pdu ||
		    r->poll_byte || r->max_retx_threshold)
			BAD(AT "rlc: t_poll_retransmit_ms, t_status_prohibit_ms, poll_pdu, "
			       "poll_byte and max_retx_threshold are for mode am",
			    WHERE);
		return 0;
	}
	DEFAULT(r->sn_bits, 18);
	DEFAULT(r->t_reassembly_ms, 5);
	DEFAULT(r->t_poll_retransmit_ms, 10);
	DEFAULT(r->poll_pdu, 64);
	DEFAULT(r->max_retx_threshold, 32);
	if (r->sn_bits != 12 && r->sn_bits != 18)
		BAD(AT "rlc.sn_bits %u must be 12 or 18 in AM", WHERE, r->sn_bits);
	if (r->t_poll_retransmit_ms > 10000)
		BAD(AT "rlc.t_poll_retransmit_ms %u must be 1..10000", WHERE,
		    r->t_poll_retransmit_ms);
	if (r->t_status_prohibit_ms > 10000)
		BAD(AT "rlc.t_status_prohibit_ms %u must be 0..10000", WHERE,
		    r->t_status_prohibit_ms);
	if (r->max_retx_threshold > 32)
		BAD(AT "rlc.max_retx_threshold %u must be 1..32", WHERE, r->max_retx_threshold);
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
	DEFAULT(b->pdcp.t_reordering_ms, b->rlc.mode == AP_RLC_AM ? 200 : 40);
	DEFAULT(b->pdcp.reorder_slots, 131072);
	DEFAULT(b->pdcp.count_notify, UINT32_MAX - (1U << 24) + 1);
	if (bearer_am_finish(cfg, ue, b, err) < 0)
		return -EINVAL;
	DEFAULT(b->rlc.sn_bits, 12);
	DEFAULT(b->rlc.t_reassembly_ms, 35);
	/* The receiver takes an SN half the SN space ahead for an old one: neither may discardTimer
	 * drop so many in a row, nor may AM send them past one that is lost (TS 38.323 §5.2.1,
	 * note). */
	bounded = b->pdcp.discard_ms || b->rlc.mode == AP_RLC_AM;
	DEFAULT(b->rlc.queue_sdus, bounded && b->pdcp.sn_bits == 12 ? 1024 : 8192);
	DEFAULT(b->mac.priority, 8);
	DEFAULT(b->mac.bsd_ms, 50);
	if (b->id < 1 || b->id > 32)
		BAD(AT "id must be 1..32", WHERE);
	if (b->lcid < 4 || b->lcid > 32)
		BAD(AT "lcid %u must be 4..32", WHERE, b->lcid);
	if (b->pdcp.sn_bits != 12 && b->pdcp.sn_bits != 18)
		BAD(AT "pdcp.sn_bits %u must be 12 or 18", WHERE, b->pdcp.sn_bits);
	if (!power_of_2(b->pdcp.reorder_slots) || b->pdcp.reorder_slots > 131072)
		BAD(AT "pdcp.reorder_slots must be a power of 2 up to 131072", WHERE);
	if (b->rlc.mode == AP_RLC_UM && b->rlc.sn_bits != 6 && b->rlc.sn_bits != 12)
		BAD(AT "rlc.sn_bits %u must be 6 or 12 in UM", WHERE, b->rlc.sn_bits);
	if (b->rlc.t_reassembly_ms > 10000)
		BAD(AT "rlc.t_reassembly_ms %u must be 1..10000", WHERE, b->rlc.t_reassembly_ms);
	if (!power_of_2(b->rlc.queue_sdus) || b->rlc.queue_sdus > (1U << 20))
		BAD(AT "rlc.queue_sdus must be a power of 2 up to 1048576", WHERE);
	if (b->pdcp.integrity && ue->security.nia == 0)
		BAD(AT "pdcp.integrity needs the ue's security.nia, 1..3", WHERE);
	if (bounded && b->rlc.queue_sdus > 1U << (b->pdcp.sn_bits - 2))
		BAD(AT "rlc.queue_sdus must be at most %u with pdcp.discard_ms or AM and %u-bit "
		       "PDCP SNs",
		    WHERE, 1U << (b->pdcp.sn_bits - 2), b->pdcp.sn_bits);
	if (b->mac.priority > 16)
		BAD(AT "mac.priority must be 1..16", WHERE);
	if (b->mac.lcg > 7)
		BAD(AT "mac.lcg must be 0..7", WHERE);
	for (unsigned i = 0; i < b->mac.serving_cells_count; i++)
		if (b->mac.serving_cells[i] >= ue->carriers)
			BAD(AT "mac.serving_cells: carrier %u, there are %u", WHERE,
			    b->mac.serving_cells[i], ue->carriers);
	for (unsigned i = 0; i < b->mac.scs_count; i++)
		if (b->mac.scs[i] > 4)
			BAD(AT "mac.scs: numerology %u must be 0..4", WHERE, b->mac.scs[i]);
	if (b->mac.max_pusch_us && (b->mac.max_pusch_us < 20 || b->mac.max_pusch_us > 500))
		BAD(AT "mac.max_pusch_us %u must be 20..500", WHERE, b->mac.max_pusch_us);
	for (unsigned i = 0; i < b->qfis_count; i++)
		if (b->qfis[i] > 63)
			BAD(AT "qfi %u must be 0..63", WHERE, b->qfis[i]);
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
	   const char *hex, bool needed, struct ap_error *err)
{
	uint8_t key[AP_CFG_KEY_LEN];

	if (hex == NULL && needed)
		BAD("%s: ue %s: security.%s is missing", cfg->path, ue->name, name);
	if (hex != NULL && ap_config_key(hex, key) < 0)
		BAD("%s: ue %s: security.%s must be 32 hexadecimal digits, in quotes", cfg->path,
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
		BAD("%s: ue %s: security.engine: this build has no multi_buffer", cfg->path,
		    ue->name);
#endif
	if (s->cryptodev != NULL && s->engine != AP_ENGINE_CRYPTODEV)
		BAD("%s: ue %s: security.cryptodev needs security.engine: cryptodev", cfg->path,
		    ue->name);
	return 0;
}

static int
security_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	const struct ap_cfg_security *s = &ue->security;

	if (engine_finish(cfg, ue, err) < 0)
		return -EINVAL;
	if (s->nea > 3 || s->nia > 3)
		BAD("%s: ue %s: security.nea and nia must be 0..3", cfg->path, ue->name);
	if (key_finish(cfg, ue, "key_enc", s->key_enc, s->nea != 0, err) < 0)
		return -EINVAL;
	return key_finish(cfg, ue, "key_int", s->key_int, s->nia != 0, err);
}

static int
harq_finish(const struct ap_config *cfg, const char *role, const char *name, struct ap_cfg_harq *h,
	    struct ap_error *err)
{
	if (h->processes == 0 && h->max_tx == 0)
		return 0;
	DEFAULT(h->processes, 16);
	DEFAULT(h->max_tx, 4);
	if (h->processes > 32)
		BAD("%s: %s %s: harq.processes %u must be 1..32", cfg->path, role, name,
		    h->processes);
	if (h->max_tx > 8)
		BAD("%s: %s %s: harq.max_tx %u must be 1..8", cfg->path, role, name, h->max_tx);
	return 0;
}

static int
sr_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	struct ap_cfg_sr *sr = &ue->sr;

	if (sr->prohibit_ms == 0 && sr->trans_max == 0)
		return 0;
	DEFAULT(sr->trans_max, 64);
	if (sr->prohibit_ms > 1000)
		BAD("%s: ue %s: sr.prohibit_ms %u must be 0..1000", cfg->path, ue->name,
		    sr->prohibit_ms);
	if (sr->trans_max > 64)
		BAD("%s: ue %s: sr.trans_max %u must be 1..64", cfg->path, ue->name, sr->trans_max);
	return 0;
}

static int
ue_finish(const struct ap_config *cfg, struct ap_cfg_ue *ue, struct ap_error *err)
{
	unsigned defaults = 0;

	DEFAULT(ue->carriers, 1);
	if (cfg->phy_count && cfg->phy[0].numerology <= 4)
		DEFAULT(ue->numerology, cfg->phy[0].numerology);
	DEFAULT(ue->frame_bytes, 9000);
	DEFAULT(ue->default_qfi, 1);
	DEFAULT(ue->rnti, AP_CFG_RNTI);
	DEFAULT(ue->retx_bsr_ms, 320);
	DEFAULT(ue->phr.report, AP_CFG_OFF);
	if (ue->phr.ph > 63 || ue->phr.pcmax > 63)
		BAD("%s: ue %s: phr.ph and phr.pcmax must be 0..63", cfg->path, ue->name);
	if (ue->carriers > AP_CFG_CARRIERS_MAX)
		BAD("%s: ue %s: carriers %u: at most %u", cfg->path, ue->name, ue->carriers,
		    AP_CFG_CARRIERS_MAX);
	if (ue->numerology > 4)
		BAD("%s: ue %s: numerology %u must be 0..4", cfg->path, ue->name, ue->numerology);
	if (ue->frame_bytes < 256 || ue->frame_bytes > 65000)
		BAD("%s: ue %s: frame_bytes %u must be 256..65000", cfg->path, ue->name,
		    ue->frame_bytes);
	if (security_finish(cfg, ue, err) < 0 || sr_finish(cfg, ue, err) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < ue->qos_count; i++)
		if (ue->qos[i].dscp > 63 || ue->qos[i].qfi > 63)
			BAD("%s: ue %s: qos[%u]: dscp and qfi must be 0..63", cfg->path, ue->name,
			    i);
	for (unsigned i = 0; i < ue->bearers_count; i++) {
		struct ap_cfg_bearer *b = &ue->bearers[i];

		if (bearer_finish(cfg, ue, b, err) < 0)
			return -EINVAL;
		defaults += b->is_default;
		for (unsigned j = 0; j < i; j++) {
			if (ue->bearers[j].id == b->id)
				BAD(AT "two owners: bearers[%u] and bearers[%u] have the same id",
				    WHERE, j, i);
			if (ue->bearers[j].lcid == b->lcid)
				BAD(AT "lcid %u belongs to bearer %u already", WHERE, b->lcid,
				    ue->bearers[j].id);
		}
	}
	if (defaults > 1)
		BAD("%s: ue %s: %u default bearers, there can be one", cfg->path, ue->name,
		    defaults);
	return harq_finish(cfg, "ue", ue->name, &ue->harq, err);
}

static int
phy_finish(const struct ap_config *cfg, struct ap_cfg_phy *p, struct ap_error *err)
{
	const struct {
		const char *name;
		double value;
	} chances[] = {{"tb_loss", p->tb_loss},       {"soft_loss", p->soft_loss},
		       {"frame_loss", p->frame_loss}, {"duplicate", p->duplicate},
		       {"reorder", p->reorder},       {"bit_error_rate", p->bit_error_rate}};

	DEFAULT(p->seed, 1);
	DEFAULT(p->rnti, AP_CFG_RNTI);
	DEFAULT(p->frame_bytes, 9000);
	if (p->numerology > 4)
		BAD("%s: phy %s: numerology %u must be 0..4", cfg->path, p->name, p->numerology);
	for (unsigned i = 0; i < p->tb_bytes_count; i++)
		if (p->tb_bytes[i] < 16)
			BAD("%s: phy %s: tb_bytes[%u] = %u: a TB of less than 16 B carries no "
			    "packet",
			    cfg->path, p->name, i, p->tb_bytes[i]);
	for (unsigned i = 0; i < sizeof(chances) / sizeof(chances[0]); i++)
		if (!(chances[i].value >= 0 && chances[i].value <= 1))
			BAD("%s: phy %s: %s must be 0..1", cfg->path, p->name, chances[i].name);
	return harq_finish(cfg, "phy", p->name, &p->harq, err);
}

static int
gen_finish(const struct ap_config *cfg, struct ap_cfg_gen *g, struct ap_error *err)
{
	DEFAULT(g->flows, 16);
	DEFAULT(g->seed, 1);
	if (g->pps < 0 || g->gbps < 0 || g->pps > 1e9 || g->gbps > 1e3 ||
	    (g->pps > 0 && g->gbps > 0))
		BAD("%s: gen %s: give pps up to 1e9 or gbps up to 1000, not both", cfg->path,
		    g->name);
	for (unsigned i = 0; i < g->sizes_count; i++)
		if (g->sizes[i] < 64 || g->sizes[i] > 9000)
			BAD("%s: gen %s: size %u must be 64..9000 B of IP", cfg->path, g->name,
			    g->sizes[i]);
	for (unsigned i = 0; i < g->dscps_count; i++)
		if (g->dscps[i] > 63)
			BAD("%s: gen %s: dscp %u must be 0..63", cfg->path, g->name, g->dscps[i]);
	return 0;
}

static int
port_finish(const struct ap_config *cfg, struct ap_cfg_port *p, struct ap_error *err)
{
	static const char *const needs[] = {
		[AP_PRESET_RING] = "peer",       [AP_PRESET_AF_PACKET] = "iface",
		[AP_PRESET_AF_XDP] = "iface",    [AP_PRESET_TAP] = "iface",
		[AP_PRESET_MEMIF] = "iface",     [AP_PRESET_PCI] = "address",
		[AP_PRESET_DEVARGS] = "devargs",
	};
	const char *need = p->preset < sizeof(needs) / sizeof(needs[0]) ? needs[p->preset] : NULL;
	const char *has = NULL;

	DEFAULT(p->queues, 1);
	DEFAULT(p->ring_size, 4096);
	if (need)
		has = need[0] == 'p'   ? p->peer
		      : need[0] == 'i' ? p->iface
		      : need[0] == 'a' ? p->address
				       : p->devargs;
	if (need && !has)
		BAD("%s: port %s: this preset needs '%s'", cfg->path, p->name, need);
	if (p->preset == AP_PRESET_PCAP && !p->rx_file && !p->tx_file)
		BAD("%s: port %s: preset pcap needs 'rx_file', 'tx_file' or both", cfg->path,
		    p->name);
	for (unsigned i = 0; i < cfg->ue_count; i++)
		if (cfg->ue[i].user_port && strcmp(cfg->ue[i].user_port, p->name) == 0)
			DEFAULT(p->tx_hold, 8192);
	if (p->tx_hold > (1U << 20))
		BAD("%s: port %s: tx_hold %u must be 0..1048576", cfg->path, p->name, p->tx_hold);
	if (!power_of_2(p->ring_size))
		BAD("%s: port %s: ring_size %u must be a power of 2", cfg->path, p->name,
		    p->ring_size);
	if (p->preset == AP_PRESET_RING) {
		const struct ap_cfg_port *peer = ap_config_port(cfg, p->peer);

		if (peer == NULL || peer->preset != AP_PRESET_RING || peer->peer == NULL ||
		    strcmp(peer->peer, p->name) != 0 || peer == p)
			BAD("%s: port %s: peer '%s' must be another ring port whose peer is '%s'",
			    cfg->path, p->name, p->peer, p->name);
	}
	return 0;
}

static int
lcores_finish(const struct ap_config *cfg, struct ap_error *err)
{
	for (unsigned i = 0; i < cfg->lcores_count; i++) {
		const struct ap_cfg_lcore *l = &cfg->lcores[i];

		if (strlen(l->name) > 15)
			BAD("%s: lcore %s: a thread name has at most 15 characters", cfg->path,
			    l->name);
		for (unsigned j = 0; j < i; j++)
			if (strcmp(cfg->lcores[j].name, l->name) == 0)
				BAD("%s: lcore %s: there are two of this name", cfg->path, l->name);
	}
	return 0;
}

static int
names_unique(const struct ap_config *cfg, struct ap_error *err)
{
	const char *seen[64 + 48];
	unsigned n = 0;

	for (unsigned i = 0; i < cfg->ports_count; i++)
		for (unsigned j = 0; j < i; j++)
			if (strcmp(cfg->ports[i].name, cfg->ports[j].name) == 0)
				BAD("%s: port %s: there are two of this name", cfg->path,
				    cfg->ports[i].name);
	for (unsigned i = 0; i < cfg->ue_count; i++)
		seen[n++] = cfg->ue[i].name;
	for (unsigned i = 0; i < cfg->phy_count; i++)
		seen[n++] = cfg->phy[i].name;
	for (unsigned i = 0; i < cfg->gen_count; i++)
		seen[n++] = cfg->gen[i].name;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			if (strcmp(seen[i], seen[j]) == 0)
				BAD("%s: two roles are called '%s'", cfg->path, seen[i]);
	return 0;
}

static int
config_finish(struct ap_config *cfg, struct ap_error *err)
{
	DEFAULT(cfg->memory.mb, 1024);
	DEFAULT(cfg->stats, AP_CFG_ON);
	DEFAULT(cfg->burst, 64);
	DEFAULT(cfg->cut_size, 4096);
	if (strspn(cfg->name, NAME_CHARS) != strlen(cfg->name))
		BAD("%s: name '%s': letters, digits, '-' and '_' only, it becomes part of a path",
		    cfg->path, cfg->name);
	if (cfg->burst > 512)
		BAD("%s: burst %u must be 1..512", cfg->path, cfg->burst);
	if (!power_of_2(cfg->cut_size) || cfg->cut_size < 64)
		BAD("%s: cut_size %u must be a power of 2 from 64", cfg->path, cfg->cut_size);
	for (unsigned i = 0; i < cfg->pools_count; i++)
		DEFAULT(cfg->pools[i].cache, 256);
	for (unsigned i = 0; i < cfg->ports_count; i++)
		if (port_finish(cfg, &cfg->ports[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->ue_count; i++)
		if (ue_finish(cfg, &cfg->ue[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->phy_count; i++)
		if (phy_finish(cfg, &cfg->phy[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->gen_count; i++)
		if (gen_finish(cfg, &cfg->gen[i], err) < 0)
			return -EINVAL;
	if (ap_config_join(cfg, err) < 0 || lcores_finish(cfg, err) < 0)
		return -EINVAL;
	return names_unique(cfg, err);
}

static cyaml_config_t
cyaml_setup(struct load_log *log)
{
	return (cyaml_config_t){
		.log_fn = log_line,
		.log_ctx = log,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_ERROR,
	};
}

struct ap_config *
ap_config_load(const char *path, struct ap_error *err)
{
	struct load_log log = {0};
	cyaml_config_t setup = cyaml_setup(&log);
	struct ap_config *cfg = NULL;
	cyaml_err_t rc;
	struct stat st;

	err->text[0] = '\0';
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		ap_error_set(err, "%s: is a folder, not a deployment file", path);
		return NULL;
	}
	rc = cyaml_load_file(path, &setup, &ap_config_schema, (cyaml_data_t **)&cfg, NULL);
	if (rc == CYAML_ERR_FILE_OPEN) {
		ap_error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
		return NULL;
	}
	if (rc == CYAML_OK && cfg == NULL) {
		ap_error_set(err, "%s: the file is empty", path);
		return NULL;
	}
	if (rc != CYAML_OK) {
		place_key(&log, path);
		ap_error_set(err, "%s:%u: %s%s%s", path, log.line, log.place,
			     log.place[0] ? ": " : "",
			     log.reason[0] ? log.reason : cyaml_strerror(rc));
		return NULL;
	}
	cfg->path = strdup(path);
	if (cfg->path == NULL || config_finish(cfg, err) < 0) {
		ap_config_free(cfg);
		return NULL;
	}
	return cfg;
}

void
ap_config_free(struct ap_config *cfg)
{
	struct load_log log = {0};
	cyaml_config_t setup = cyaml_setup(&log);

	if (cfg == NULL)
		return;
	free(cfg->path);
	cfg->path = NULL;
	cyaml_free(&setup, &ap_config_schema, cfg, 0);
}

const struct ap_cfg_port *
ap_config_port(const struct ap_config *cfg, const char *name)
{
	for (unsigned i = 0; i < cfg->ports_count; i++)
		if (strcmp(cfg->ports[i].name, name) == 0)
			return &cfg->ports[i];
	return NULL;
}
