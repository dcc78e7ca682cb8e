/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/huge.h"
#include "modules/dpi/dpi_nets_near.h"

int
dpi_near_make(struct dpi_near *n, const struct dpi_rule *rules, uint32_t nb, uint64_t keys)
{
	uint64_t slots = 8;
	uint32_t flows = 0;

	for (uint32_t i = 0; i < nb; i++)
		flows += rules[i].kind == DPI_RULE_FLOW;
	while (slots < 2 * keys)
		slots *= 2;
	*n = (struct dpi_near){.mask = (uint32_t)(slots - 1)};
	n->slots = ap_huge_table(slots * sizeof(*n->slots));
	n->rules = ap_huge_table((flows + 1) * sizeof(*n->rules));
	if (!n->slots || !n->rules) {
		dpi_near_free(n);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nb; i++)
		if (rules[i].kind == DPI_RULE_FLOW)
			n->rules[n->nb_rules++] =
				(struct dpi_near_rule){.net = rules[i].flow, .app = rules[i].app};
	return 0;
}

void
dpi_near_free(struct dpi_near *n)
{
	free(n->slots);
	free(n->rules);
	*n = (struct dpi_near){0};
}

size_t
dpi_near_memory(const struct dpi_near *n)
{
	return n->slots
		       ? (n->mask + (size_t)1) * sizeof(*n->slots) + n->nb_rules * sizeof(*n->rules)
		       : 0;
}

void
dpi_near_add(struct dpi_near *n, uint64_t hash, uint32_t rule)
{
	const uint32_t tag = (uint32_t)hash;
	uint32_t i = (uint32_t)(hash >> 32) & n->mask;
	unsigned equal = 0;

	for (; n->slots[i].rule != 0; i = (i + 1) & n->mask) {
		if (n->slots[i].tag != tag)
			continue;
		if (n->slots[i].rule == rule + 1)
			return;
		if (++equal == DPI_NEAR_MAX) {
			n->slots[i].more = 1;
			return;
		}
	}
	n->slots[i] = (struct dpi_near_slot){.tag = tag, .rule = (rule + 1) & INT32_MAX};
}

/* --- lookup ----------------------------------------------------------------------------------- */

static inline bool
in_prefix(const struct dpi_prefix *p, const uint8_t *address)
{
	const unsigned whole = p->bits / 8, rest = p->bits % 8;

	for (unsigned i = 0; i < whole; i++)
		if (p->address[i] != address[i])
			return false;
	return rest == 0 || (p->address[whole] ^ address[whole]) >> (8 - rest) == 0;
}

static bool
matches(const struct dpi_net *n, const struct flow *f, bool uplink)
{
	const uint16_t src_port = f->ports[uplink], dst_port = f->ports[!uplink];

	if (!(n->flags & (f->version == 4 ? DPI_NET_IP4 : DPI_NET_IP6)))
		return false;
	if (!in_prefix(&n->src, uplink ? f->dst : f->src) ||
	    !in_prefix(&n->dst, uplink ? f->src : f->dst))
		return false;
	if (n->flags & DPI_NET_PROTO && n->proto != f->proto)
		return false;
	if (n->flags & DPI_NET_PORTS &&
	    (!f->has_ports || src_port < n->src_ports[0] || src_port > n->src_ports[1] ||
	     dst_port < n->dst_ports[0] || dst_port > n->dst_ports[1]))
		return false;
	if (n->flags & DPI_NET_SPI && (!f->has_spi || f->spi != n->spi))
		return false;
	if (n->flags & DPI_NET_FLOW_LABEL && f->flow_label != n->flow_label)
		return false;
	return ((n->tos ^ f->tos) & n->tos_mask) == 0;
}

bool
dpi_near_find(const struct dpi_near *n, uint64_t hash, const struct flow *flow, bool uplink,
	      uint16_t *app)
{
	uint32_t i = (uint32_t)(hash >> 32) & n->mask;

	*app = 0;
	for (; n->slots[i].rule != 0; i = (i + 1) & n->mask) {
		const struct dpi_near_slot *s = &n->slots[i];
		const struct dpi_near_rule *r;

		if (s->tag != (uint32_t)hash)
			continue;
		r = &n->rules[s->rule - 1];
		if (matches(&r->net, flow, uplink)) {
			*app = r->app;
			return true;
		}
		if (s->more)
			return false;
	}
	return true;
}
