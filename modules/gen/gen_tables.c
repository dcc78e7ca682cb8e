/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_byteorder.h>
#include <rte_malloc.h>

#include "modules/gen/gen_impl.h"

#define SIZE_SAMPLES 1024 /* of the size cycle when a size is a range */

/** SplitMix64: any seed will do, and the sequence is the same everywhere. */
static uint64_t
random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

int
gen_pattern_init(struct gen *g)
{
	uint64_t state = g->cfg.seed;
	uint32_t sum = 0;

	g->check_seed = (uint32_t)random_next(&state);
	g->pattern = rte_malloc("gen_pattern", GEN_PATTERN_BYTES + GEN_BLOCK, RTE_CACHE_LINE_SIZE);
	g->pattern_sums = rte_malloc("gen_sums", (GEN_PATTERN_BYTES / 2 + 1) * sizeof(sum),
				     RTE_CACHE_LINE_SIZE);
	if (g->pattern == NULL || g->pattern_sums == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < GEN_PATTERN_BYTES + GEN_BLOCK; i += sizeof(state)) {
		uint64_t word = random_next(&state);

		memcpy(g->pattern + i, &word, sizeof(word));
	}
	for (uint32_t i = 0; i <= GEN_PATTERN_BYTES / 2; i++) {
		g->pattern_sums[i] = sum;
		sum = (uint32_t)ip_sum(sum, g->pattern + i * 2, 2);
	}
	return 0;
}

/** Adds `n` to the last four bytes of an address. */
static void
address_add(uint8_t *address, bool ipv6, uint32_t n)
{
	uint8_t *last = address + (ipv6 ? 12 : 0);
	uint32_t word;

	memcpy(&word, last, sizeof(word));
	word = rte_cpu_to_be_32(rte_be_to_cpu_32(word) + n);
	memcpy(last, &word, sizeof(word));
}

static void
flow_init(const struct gen *g, struct gen_flow *f, uint32_t i)
{
	const struct gen_cfg *c = &g->cfg;
	struct ip_hdr ip = {
		.version = c->ipv6 ? 6 : 4,
		.proto = IP_PROTO_UDP,
		.dscp = c->nb_dscps ? c->dscps[i % c->nb_dscps] : 0,
		.ttl = 64,
		/* An atomic datagram (RFC 6864): the Identification means nothing and stays 0. */
		.dont_fragment = true,
		.bytes = g->ip_bytes,
	};
	struct udp_hdr udp = {.src_port = (uint16_t)(c->src_port + i / c->addresses),
			      .dst_port = c->dst_port};
	struct eth_hdr eth = {.type = ip_eth_type(ip.version)};
	uint8_t *l3 = f->head + g->l2_bytes, *l4 = l3 + g->ip_bytes;

	memcpy(ip.src, c->src, sizeof(ip.src));
	memcpy(ip.dst, c->dst, sizeof(ip.dst));
	address_add(ip.dst, c->ipv6, i % c->addresses);
	memcpy(eth.dst, c->eth_dst, sizeof(eth.dst));
	memcpy(eth.src, c->eth_src, sizeof(eth.src));
	if (g->l2_bytes)
		eth_encode(f->head, g->l2_bytes, &eth);
	ip_encode(l3, g->ip_bytes, &ip);
	udp_encode(l4, UDP_HDR_BYTES, &udp);
	memcpy(&f->ports, l4, sizeof(f->ports));
	f->qfi = c->nb_qfis ? c->qfis[i % c->nb_qfis] : 0;
	if (c->ipv6) {
		f->sum = (uint32_t)ip_sum(ip_pseudo_sum(&ip, 0), l4, UDP_HDR_BYTES);
		return;
	}
	memset(l3 + 2, 0, 2);
	memset(l3 + 10, 0, 2);
	f->sum = ip_sum_fold(ip_sum(0, l3, IP4_HDR_BYTES));
}

int
gen_flows_init(struct gen *g)
{
	g->flows = rte_zmalloc("gen_flows", sizeof(*g->flows) * g->cfg.flows, RTE_CACHE_LINE_SIZE);
	if (g->flows == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->cfg.flows; i++)
		flow_init(g, &g->flows[i], i);
	return 0;
}

static void
shuffle(uint16_t *v, uint32_t n, uint64_t state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t other = (uint32_t)(random_next(&state) % i);
		uint16_t was = v[i - 1];

		v[i - 1] = v[other];
		v[other] = was;
	}
}

int
gen_sizes_init(struct gen *g)
{
	const struct gen_cfg *c = &g->cfg;
	uint32_t weights = 0, repeat = 1, n = 0;

	for (unsigned i = 0; i < c->nb_sizes; i++)
		weights += c->sizes[i].weight;
	for (unsigned i = 0; i < c->nb_sizes; i++)
		if (c->sizes[i].min != c->sizes[i].max)
			repeat = (SIZE_SAMPLES + weights - 1) / weights;
	g->size_table = rte_malloc("gen_sizes", sizeof(uint16_t) * weights * repeat, 0);
	if (g->size_table == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < c->nb_sizes; i++) {
		const struct gen_size *s = &c->sizes[i];
		uint32_t samples = s->weight * repeat;

		for (uint32_t k = 0; k < samples; k++)
			g->size_table[n++] = (uint16_t)(s->min + (s->max - s->min) * k /
									 RTE_MAX(samples - 1, 1u));
	}
	shuffle(g->size_table, n, c->seed);
	g->tx.sizes = g->size_table;
	g->tx.nb_sizes = n;
	return 0;
}
