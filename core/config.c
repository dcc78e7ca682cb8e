/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/config_check.h"
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

int
ap_config_bad(const struct ap_config *cfg, const void *at, struct ap_error *err, const char *fmt,
	      ...)
{
	const unsigned line = ap_config_line(cfg, at);
	char text[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (line == 0)
		return ap_error_set(err, "%s: %s", cfg->path, text);
	return ap_error_set(err, "%s:%u: %s", cfg->path, line, text);
}

#define DELAY_US_MAX 1000000U /* more than over two geostationary satellites */
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

static int
phy_finish(const struct ap_config *cfg, struct ap_cfg_phy *p, struct ap_error *err)
{
	const struct {
		const char *name;
		const double *value;
	} chances[] = {{"tb_loss", &p->tb_loss},           {"soft_loss", &p->soft_loss},
		       {"frame_loss", &p->frame_loss},     {"duplicate", &p->duplicate},
		       {"reorder", &p->reorder},           {"bit_error_rate", &p->bit_error_rate},
		       {"dl_soft_loss", &p->dl_soft_loss}, {"feedback_loss", &p->feedback_loss}};

	DEFAULT(p->seed, 1);
	DEFAULT(p->rnti, AP_CFG_RNTI);
	DEFAULT(p->frame_bytes, 9000);
	if (p->numerology > 4)
		BAD(&p->numerology, "phy %s: numerology %u must be 0..4", p->name, p->numerology);
	if (p->frame_bytes < 256 || p->frame_bytes > 65000)
		BAD(&p->frame_bytes, "phy %s: frame_bytes %u must be 256..65000", p->name,
		    p->frame_bytes);
	for (unsigned i = 0; i < p->tb_bytes_count; i++)
		if (p->tb_bytes[i] < 16)
			BAD(&p->tb_bytes[i],
			    "phy %s: tb_bytes[%u] = %u: a TB of less than 16 B carries no "
			    "packet",
			    p->name, i, p->tb_bytes[i]);
	for (unsigned i = 0; i < sizeof(chances) / sizeof(chances[0]); i++)
		if (!(*chances[i].value >= 0 && *chances[i].value <= 1))
			BAD(chances[i].value, "phy %s: %s must be 0..1", p->name, chances[i].name);
	if (p->delay_us > DELAY_US_MAX)
		BAD(&p->delay_us, "phy %s: delay_us %u must be 0..%u", p->name, p->delay_us,
		    DELAY_US_MAX);
	/* On the air what was sent in a slot does not come behind what the next one sent. */
	if (p->jitter_us > 1000U >> p->numerology)
		BAD(&p->jitter_us,
		    "phy %s: jitter_us %u must be 0..%u, a slot of numerology %u: 'reorder' lets "
		    "TBs overtake",
		    p->name, p->jitter_us, 1000U >> p->numerology, p->numerology);
	if (config_phy_gnb_finish(cfg, p, err) < 0)
		return -EINVAL;
	return config_harq_finish(cfg, "phy", p->name, &p->harq, err);
}

static int
gen_finish(const struct ap_config *cfg, struct ap_cfg_gen *g, struct ap_error *err)
{
	DEFAULT(g->flows, 16);
	DEFAULT(g->seed, 1);
	if (g->pps < 0 || g->gbps < 0 || g->pps > 1e9 || g->gbps > 1e3 ||
	    (g->pps > 0 && g->gbps > 0))
		BAD(g->gbps != 0 ? &g->gbps : &g->pps,
		    "gen %s: give pps up to 1e9 or gbps up to 1000, not both", g->name);
	for (unsigned i = 0; i < g->sizes_count; i++)
		if (g->sizes[i] < 64 || g->sizes[i] > 9000)
			BAD(&g->sizes[i], "gen %s: size %u must be 64..9000 B of IP", g->name,
			    g->sizes[i]);
	for (unsigned i = 0; i < g->dscps_count; i++)
		if (g->dscps[i] > 63)
			BAD(&g->dscps[i], "gen %s: dscp %u must be 0..63", g->name, g->dscps[i]);
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
	const struct ap_cfg_ue *stack;
	const char *has = NULL;
	uint8_t mac[6];

	DEFAULT(p->queues, config_upf_queues(cfg, p->name));
	DEFAULT(p->queues, config_gnb_header_queues(cfg, p->name));
	DEFAULT(p->queues, 1);
	DEFAULT(p->ring_size, 4096);
	if (need)
		has = need[0] == 'p'   ? p->peer
		      : need[0] == 'i' ? p->iface
		      : need[0] == 'a' ? p->address
				       : p->devargs;
	if (need && !has)
		BAD(&p->preset, "port %s: this preset needs '%s'", p->name, need);
	if (p->preset == AP_PRESET_PCAP && !p->rx_file && !p->tx_file)
		BAD(&p->preset, "port %s: preset pcap needs 'rx_file', 'tx_file' or both", p->name);
	for (unsigned i = 0; (stack = ap_config_stack(cfg, i)) != NULL; i++)
		if (stack->user_port && strcmp(stack->user_port, p->name) == 0)
			DEFAULT(p->tx_hold, 8192);
	if (p->mac && !config_is_station(p->mac))
		BAD(&p->mac,
		    "port %s: mac '%s' is no unicast Ethernet address such as 02:00:00:00:00:01",
		    p->name, p->mac);
	if (p->peer_mac && (ap_config_mac(p->peer_mac, mac) < 0 ||
			    memcmp(mac, (const uint8_t[6]){0}, sizeof(mac)) == 0))
		BAD(&p->peer_mac, "port %s: peer_mac '%s' is no Ethernet address", p->name,
		    p->peer_mac);
	if (p->tx_hold > (1U << 20))
		BAD(&p->tx_hold, "port %s: tx_hold %u must be 0..1048576", p->name, p->tx_hold);
	if (!power_of_2(p->ring_size))
		BAD(&p->ring_size, "port %s: ring_size %u must be a power of 2", p->name,
		    p->ring_size);
	if (p->preset == AP_PRESET_RING) {
		const struct ap_cfg_port *peer = ap_config_port(cfg, p->peer);

		if (peer == NULL || peer->preset != AP_PRESET_RING || peer->peer == NULL ||
		    strcmp(peer->peer, p->name) != 0 || peer == p)
			BAD(&p->peer,
			    "port %s: peer '%s' must be another ring port whose peer is '%s'",
			    p->name, p->peer, p->name);
	}
	return 0;
}

static int
lcores_finish(const struct ap_config *cfg, struct ap_error *err)
{
	for (unsigned i = 0; i < cfg->lcores_count; i++) {
		const struct ap_cfg_lcore *l = &cfg->lcores[i];

		if (strlen(l->name) > 15)
			BAD(&l->name, "lcore %s: a thread name has at most 15 characters", l->name);
		for (unsigned j = 0; j < i; j++)
			if (strcmp(cfg->lcores[j].name, l->name) == 0)
				BAD(&l->name, "lcore %s: there are two of this name", l->name);
	}
	return 0;
}

static int
names_unique(const struct ap_config *cfg, struct ap_error *err)
{
	char *const *seen[7 * 16];
	unsigned n = 0;

	for (unsigned i = 0; i < cfg->ports_count; i++)
		for (unsigned j = 0; j < i; j++)
			if (strcmp(cfg->ports[i].name, cfg->ports[j].name) == 0)
				BAD(&cfg->ports[i].name, "port %s: there are two of this name",
				    cfg->ports[i].name);
	for (unsigned i = 0; ap_config_stack(cfg, i) != NULL; i++)
		seen[n++] = &ap_config_stack(cfg, i)->name;
	for (unsigned i = 0; i < cfg->phy_count; i++)
		seen[n++] = &cfg->phy[i].name;
	for (unsigned i = 0; i < cfg->gen_count; i++)
		seen[n++] = &cfg->gen[i].name;
	for (unsigned i = 0; i < cfg->upf_count; i++)
		seen[n++] = &cfg->upf[i].name;
	for (unsigned i = 0; i < cfg->gnb_header_count; i++)
		seen[n++] = &cfg->gnb_header[i].edge.name;
	for (unsigned i = 0; i < cfg->smartnic_count; i++)
		seen[n++] = &cfg->smartnic[i].name;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			if (strcmp(*seen[i], *seen[j]) == 0)
				BAD(ap_config_line(cfg, seen[i]) > ap_config_line(cfg, seen[j])
					    ? seen[i]
					    : seen[j],
				    "two roles are called '%s'", *seen[i]);
	return 0;
}

int
config_finish(struct ap_config *cfg, struct ap_error *err)
{
	DEFAULT(cfg->memory.mb, 1024);
	DEFAULT(cfg->stats, AP_CFG_ON);
	DEFAULT(cfg->burst, 64);
	DEFAULT(cfg->cut_size, 4096);
	if (strspn(cfg->name, NAME_CHARS) != strlen(cfg->name))
		BAD(&cfg->name,
		    "name '%s': letters, digits, '-' and '_' only, it becomes part of a path",
		    cfg->name);
	if (cfg->burst > 512)
		BAD(&cfg->burst, "burst %u must be 1..512", cfg->burst);
	if (!power_of_2(cfg->cut_size) || cfg->cut_size < 64)
		BAD(&cfg->cut_size, "cut_size %u must be a power of 2 from 64", cfg->cut_size);
	for (unsigned i = 0; i < cfg->pools_count; i++)
		DEFAULT(cfg->pools[i].cache, 256);
	for (unsigned i = 0; i < cfg->ports_count; i++)
		if (port_finish(cfg, &cfg->ports[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->ue_count; i++)
		if (config_ue_finish(cfg, &cfg->ue[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->gnb_count; i++)
		if (config_gnb_finish(cfg, &cfg->gnb[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->phy_count; i++)
		if (phy_finish(cfg, &cfg->phy[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->gen_count; i++)
		if (gen_finish(cfg, &cfg->gen[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->upf_count; i++)
		if (config_upf_finish(cfg, &cfg->upf[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->gnb_header_count; i++)
		if (config_gnb_header_finish(cfg, &cfg->gnb_header[i], err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < cfg->smartnic_count; i++)
		if (config_smartnic_finish(cfg, &cfg->smartnic[i], err) < 0)
			return -EINVAL;
	if (config_power_finish(cfg, err) < 0)
		return -EINVAL;
	if (ap_config_join(cfg, err) < 0 || lcores_finish(cfg, err) < 0)
		return -EINVAL;
	return names_unique(cfg, err);
}

const struct ap_cfg_ue *
ap_config_stack(const struct ap_config *cfg, unsigned i)
{
	if (i < cfg->ue_count)
		return &cfg->ue[i];
	i -= cfg->ue_count;
	return i < cfg->gnb_count ? &cfg->gnb[i].l2 : NULL;
}

const struct ap_cfg_port *
ap_config_port(const struct ap_config *cfg, const char *name)
{
	for (unsigned i = 0; i < cfg->ports_count; i++)
		if (strcmp(cfg->ports[i].name, name) == 0)
			return &cfg->ports[i];
	return NULL;
}
