/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Role `gen`: gen.tx → gen.port_tx, and gen.port_rx → gen.verify on the same or another port.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/role.h"
#include "core/run.h"
#include "modules/gen/gen_impl.h"

#define GEN_MBUFS 32767

static unsigned
role_count(const struct ap_config *cfg)
{
	return cfg->gen_count;
}

static int
role_plan(struct ap_plan *p, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_gen *g = &p->cfg->gen[i];
	struct ap_plan_node *tx, *port_tx, *port_rx, *verify;

	tx = ap_plan_add(p, g->name, "tx", "gen_tx", 0, err);
	port_tx = tx ? ap_plan_add_port(p, g->name, "port_tx", "port_tx", g->port, err) : NULL;
	port_rx = port_tx ? ap_plan_add_port(p, g->name, "port_rx", "port_rx",
					     g->rx_port ? g->rx_port : g->port, err)
			  : NULL;
	verify = port_rx ? ap_plan_add(p, g->name, "verify", "gen_verify", 0, err) : NULL;
	if (verify == NULL)
		return -EINVAL;
	ap_plan_link(tx, 0, port_tx);
	ap_plan_link(port_rx, 0, verify);
	return 0;
}

static void
gen_cfg_fill(struct gen_cfg *c, const struct ap_cfg_gen *g)
{
	c->name = g->name;
	c->ipv6 = g->ipv6;
	c->flows = g->flows;
	c->seed = g->seed;
	c->packets = g->packets;
	c->replay = g->replay;
	c->nb_dscps = (uint8_t)g->dscps_count;
	memcpy(c->dscps, g->dscps ? g->dscps : (uint8_t[]){0}, c->nb_dscps);
	for (unsigned s = 0; s < g->sizes_count && s < GEN_SIZES_MAX; s++) {
		uint16_t bytes = (uint16_t)g->sizes[s];

		c->sizes[c->nb_sizes++] = (struct gen_size){bytes, bytes, 1};
	}
	if (g->imix)
		gen_cfg_imix(c);
	if (g->pps > 0)
		c->rate = (struct gen_rate){GEN_RATE_PPS, g->pps};
	else if (g->gbps > 0)
		c->rate = (struct gen_rate){GEN_RATE_BPS, g->gbps * 1e9};
}

static uint32_t
gen_room(const struct ap_cfg_gen *g)
{
	uint32_t room = 2048;

	for (unsigned s = 0; s < g->sizes_count; s++)
		room = RTE_MAX(room, RTE_ALIGN_CEIL(g->sizes[s] + RTE_ETHER_HDR_LEN, 64u));
	return g->replay ? RTE_MAX(room, (uint32_t)GEN_IP_BYTES_MAX) : room;
}

/** Of Ethernet frames: what the port is given, whoever it is that takes them. */
static void
link_addresses(struct gen_cfg *c, const struct ap_port *port)
{
	struct rte_ether_addr peer;

	c->ethernet = port->framing == AP_FRAMING_RAW;
	if (port->conf->mac)
		memcpy(c->eth_src, &port->mac, sizeof(c->eth_src));
	if (port->conf->peer_mac && rte_ether_unformat_addr(port->conf->peer_mac, &peer) == 0)
		memcpy(c->eth_dst, &peer, sizeof(c->eth_dst));
}

static void *
role_build(struct ap_run *run, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_gen *g = &run->cfg->gen[i];
	struct gen_cfg c = {.eth_dst = {2, 0, 0, 0, 0, 2}, .eth_src = {2, 0, 0, 0, 0, 1}};
	struct gen *gen;

	gen_cfg_fill(&c, g);
	c.stream = (uint8_t)i;
	c.burst = (uint16_t)run->cfg->burst;
	link_addresses(&c, ap_run_port(run, g->port));
	c.pool = ap_run_pool(run, "gen", GEN_MBUFS, gen_room(g), err);
	if (c.pool == NULL)
		return NULL;
	gen = gen_create(&c, err);
	if (gen)
		ap_run_bind(run, g->name, gen);
	return gen;
}

static void
role_quiesce(void *obj)
{
	gen_set_rate(obj, (struct gen_rate){GEN_RATE_STOP, 0});
}

static uint64_t
lost(const struct gen_stats *s)
{
	uint64_t back = s->rx_good + s->rx_corrupted;

	return s->tx_packets > back ? s->tx_packets - back : 0;
}

static void
role_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct gen *g = obj;
	struct gen_stats s;
	double gbps;

	gen_stats_read(g, &s);
	gbps = seconds > 0 ? (double)s.rx_bytes * 8 / seconds / 1e9 : 0;
	if (json)
		fprintf(f,
			"{\"role\": \"%s\", \"sent\": %" PRIu64 ", \"good\": %" PRIu64
			", \"good_bytes\": %" PRIu64 ", \"gbps\": %.3f, \"lost\": %" PRIu64
			", \"corrupted\": %" PRIu64 ", \"duplicated\": %" PRIu64
			", \"reordered\": %" PRIu64 ", \"foreign\": %" PRIu64 "}",
			g->cfg.name, s.tx_packets, s.rx_good, s.rx_bytes, gbps, lost(&s),
			s.rx_corrupted, s.rx_duplicate, s.rx_reordered, s.rx_foreign);
	else
		fprintf(f,
			"%s: sent %" PRIu64 " packets, %" PRIu64
			" came back good (%.3f Gbps of IP), lost %" PRIu64 ", corrupted %" PRIu64
			", duplicated %" PRIu64 ", reordered %" PRIu64 "\n",
			g->cfg.name, s.tx_packets, s.rx_good, gbps, lost(&s), s.rx_corrupted,
			s.rx_duplicate, s.rx_reordered);
}

static void
role_destroy(void *obj)
{
	gen_destroy(obj);
}

static const struct ap_role_type gen_role = {
	.kind = "gen",
	.count = role_count,
	.plan = role_plan,
	.build = role_build,
	.quiesce = role_quiesce,
	.report = role_report,
	.destroy = role_destroy,
};

AP_ROLE_REGISTER(gen_role)
