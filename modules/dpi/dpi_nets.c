/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>
#include <rte_malloc.h>

#include "codec/be.h"
#include "modules/dpi/dpi_nets.h"
#include "modules/dpi/dpi_nets_filter.h"

enum has { /* of the packet: what a rule may ask for */
	   HAS_PORTS = 1 << 0,
	   HAS_SPI = 1 << 1,
};

/* What rte_acl reads, in network order: an octet first, then four at a time. As downlink has it. */
struct input {
	uint8_t proto;
	uint8_t pad[3];
	uint8_t tos, has, zero[2];
	uint8_t ports[4];
	uint8_t spi[4];
	union {
		struct {
			uint8_t src[4], dst[4];
		} ip4;
		struct {
			uint8_t flow_label[4];
			uint8_t src[16], dst[16];
		} ip6;
	};
};

/* In the order in which tables are built: what tells most rules apart goes first.
 *
 * What rte_acl takes for granted and checks nowhere: every group but the first is four octets,
 * all of them in fields, as it walks four at a time; and the numbers of fields are those below
 * their count, as what it works with while building is an array of so many a rule. To leave a field
 * out, that no rule asks for, means a whole group and new numbers for those behind, or packets
 * match wrongly. It gains nothing: such groups rte_acl leaves out of its tables by itself. */
enum field {
	PROTO,
	TOS,
	HAS,
	ZERO, /* fills the four octets */
	ZERO2,
	SRC,
	DST4 = SRC + 1,
	REST4 = DST4 + 1,
	DST6 = SRC + 4,
	REST6 = DST6 + 4,
};

enum rest { /* behind the addresses */
	    SRC_PORT,
	    DST_PORT,
	    SPI,
	    FLOW_LABEL,
	    FIELDS4 = REST4 + SPI + 1,
	    FIELDS6 = REST6 + FLOW_LABEL + 1,
};

RTE_ACL_RULE_DEF(acl_rule, FIELDS6);

struct dpi_nets {
	struct dpi_nets_filter *filter;
	struct rte_acl_ctx *ctx[2]; /* by family, IPv6 second; NULL: no rules */
	size_t memory;
};

static struct rte_acl_field_def
def(unsigned field, unsigned group, size_t offset, uint8_t size, uint8_t type)
{
	return (struct rte_acl_field_def){.type = type,
					  .size = size,
					  .field_index = (uint8_t)field,
					  .input_index = (uint8_t)group,
					  .offset = (uint32_t)offset};
}

static void
config(struct rte_acl_config *c, bool ip6, uint64_t memory)
{
	const uint8_t bits = RTE_ACL_FIELD_TYPE_BITMASK, range = RTE_ACL_FIELD_TYPE_RANGE;
	unsigned words = ip6 ? 8 : 2, rest = ip6 ? REST6 : REST4, group = 2;
	size_t src = ip6 ? offsetof(struct input, ip6.src) : offsetof(struct input, ip4.src);
	struct rte_acl_field_def *d = c->defs;

	*c = (struct rte_acl_config){
		.num_categories = 1, .num_fields = ip6 ? FIELDS6 : FIELDS4, .max_size = memory};
	d[PROTO] = def(PROTO, 0, offsetof(struct input, proto), 1, bits);
	d[TOS] = def(TOS, 1, offsetof(struct input, tos), 1, bits);
	d[HAS] = def(HAS, 1, offsetof(struct input, has), 1, bits);
	d[ZERO] = def(ZERO, 1, offsetof(struct input, zero), 1, bits);
	d[ZERO2] = def(ZERO2, 1, offsetof(struct input, zero) + 1, 1, bits);
	for (unsigned i = 0; i < words; i++)
		d[SRC + i] = def(SRC + i, group++, src + 4 * i, 4, RTE_ACL_FIELD_TYPE_MASK);
	d += rest;
	d[SRC_PORT] = def(rest + SRC_PORT, group, offsetof(struct input, ports), 2, range);
	d[DST_PORT] = def(rest + DST_PORT, group++, offsetof(struct input, ports) + 2, 2, range);
	d[SPI] = def(rest + SPI, group++, offsetof(struct input, spi), 4, bits);
	if (ip6)
		d[FLOW_LABEL] = def(rest + FLOW_LABEL, group,
				    offsetof(struct input, ip6.flow_label), 4, bits);
}

/* --- rules ------------------------------------------------------------------------------------ */

static const char *
net_wrong(const struct dpi_net *n)
{
	unsigned most = n->src.bits > n->dst.bits ? n->src.bits : n->dst.bits;

	if (!(n->flags & (DPI_NET_IP4 | DPI_NET_IP6)))
		return "a flow of neither IPv4 nor IPv6";
	if (n->flags & DPI_NET_IP4 && n->flags & DPI_NET_IP6 && most > 0)
		return "a prefix of both IPv4 and IPv6";
	if (most > (n->flags & DPI_NET_IP6 ? 128 : 32))
		return "a prefix longer than an address";
	if (n->flags & DPI_NET_PORTS &&
	    (n->src_ports[0] > n->src_ports[1] || n->dst_ports[0] > n->dst_ports[1]))
		return "a port range that ends before it begins";
	if (n->flags & DPI_NET_FLOW_LABEL && n->flow_label > 0xFFFFF)
		return "a flow label of more than 20 bits";
	if (n->flags & DPI_NET_FLOW_LABEL && n->flags & DPI_NET_IP4)
		return "a flow label, which IPv4 has not";
	return NULL;
}

static void
prefix_to_acl(struct rte_acl_field *f, const struct dpi_prefix *p, unsigned words)
{
	for (unsigned i = 0, bits = p->bits; i<words; i++, bits -= bits> 32 ? 32 : bits) {
		f[i].mask_range.u32 = bits > 32 ? 32 : bits;
		f[i].value.u32 = bits ? be32_get(p->address + 4 * (size_t)i) : 0;
	}
}

static void
to_acl(const struct dpi_rule *rule, uint32_t order, bool ip6, struct acl_rule *a)
{
	const struct dpi_net *n = &rule->flow;
	bool ports = n->flags & DPI_NET_PORTS, spi = n->flags & DPI_NET_SPI;
	bool label = n->flags & DPI_NET_FLOW_LABEL;
	struct rte_acl_field *rest = &a->field[ip6 ? REST6 : REST4];

	memset(a, 0, sizeof(*a));
	a->data.category_mask = 1;
	a->data.priority = (int32_t)(RTE_ACL_MAX_PRIORITY - order);
	a->data.userdata = rule->app;
	a->field[PROTO].value.u8 = n->proto;
	a->field[PROTO].mask_range.u8 = n->flags & DPI_NET_PROTO ? 0xFF : 0;
	a->field[TOS].value.u8 = n->tos & n->tos_mask;
	a->field[TOS].mask_range.u8 = n->tos_mask;
	a->field[HAS].value.u8 = (uint8_t)((ports ? HAS_PORTS : 0) | (spi ? HAS_SPI : 0));
	a->field[HAS].mask_range.u8 = a->field[HAS].value.u8;
	rest[SRC_PORT].value.u16 = ports ? n->src_ports[0] : 0;
	rest[SRC_PORT].mask_range.u16 = ports ? n->src_ports[1] : UINT16_MAX;
	rest[DST_PORT].value.u16 = ports ? n->dst_ports[0] : 0;
	rest[DST_PORT].mask_range.u16 = ports ? n->dst_ports[1] : UINT16_MAX;
	rest[SPI].value.u32 = spi ? n->spi : 0;
	rest[SPI].mask_range.u32 = spi ? UINT32_MAX : 0;
	if (ip6) {
		rest[FLOW_LABEL].value.u32 = label ? n->flow_label : 0;
		rest[FLOW_LABEL].mask_range.u32 = label ? UINT32_MAX : 0;
	}
	prefix_to_acl(&a->field[SRC], &n->src, ip6 ? 4 : 1);
	prefix_to_acl(&a->field[ip6 ? DST6 : DST4], &n->dst, ip6 ? 4 : 1);
}

/* --- building --------------------------------------------------------------------------------- */

static bool
is_of(const struct dpi_rule *r, bool ip6)
{
	return r->kind == DPI_RULE_FLOW && r->flow.flags & (ip6 ? DPI_NET_IP6 : DPI_NET_IP4);
}

static int
build(const struct dpi_rule *rules, uint32_t nb, uint32_t count, bool ip6, uint64_t memory,
      struct rte_acl_ctx **ctx)
{
	static _Atomic unsigned made; /* names must differ while their contexts live */
	char name[RTE_ACL_NAMESIZE];
	struct rte_acl_param param = {
		.name = name,
		.socket_id = SOCKET_ID_ANY,
		.rule_size = RTE_ACL_RULE_SZ(FIELDS6),
		.max_rule_num = count,
	};
	struct rte_acl_config c;
	int ret = 0;

	snprintf(name, sizeof(name), "dpi_nets_%u", atomic_fetch_add(&made, 1));
	*ctx = rte_acl_create(&param);
	if (!*ctx)
		return -ENOMEM;
	for (uint32_t i = 0; i < nb && ret == 0; i++) {
		struct acl_rule a;

		if (!is_of(&rules[i], ip6))
			continue;
		to_acl(&rules[i], i, ip6, &a);
		ret = rte_acl_add_rules(*ctx, (const struct rte_acl_rule *)&a, 1);
	}
	config(&c, ip6, memory);
	return ret < 0 ? ret : rte_acl_build(*ctx, &c);
}

static size_t
heap_used(void)
{
	struct rte_malloc_socket_stats s;
	size_t sum = 0;

	for (unsigned i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &s) == 0)
			sum += s.heap_allocsz_bytes;
	return sum;
}

static int
check(const struct dpi_rule *rules, uint32_t nb, uint32_t count[2], struct dpi_error *err)
{
	for (uint32_t i = 0; i < nb; i++) {
		const char *why = rules[i].kind == DPI_RULE_FLOW ? net_wrong(&rules[i].flow) : NULL;

		if (why) {
			err->rule = i;
			snprintf(err->why, sizeof(err->why), "%s", why);
			return -EINVAL;
		}
		count[0] += is_of(&rules[i], false);
		count[1] += is_of(&rules[i], true);
	}
	return 0;
}

int
dpi_nets_build(const struct dpi_rule *rules, uint32_t nb, uint64_t memory, struct dpi_nets **made,
	       struct dpi_error *err)
{
	size_t before = heap_used(), after;
	uint32_t count[2] = {0, 0};
	struct dpi_nets *nets;
	int ret = check(rules, nb, count, err);

	*made = NULL;
	if (ret < 0 || count[0] + count[1] == 0)
		return ret;
	nets = calloc(1, sizeof(*nets));
	if (!nets)
		return -ENOMEM;
	nets->filter = dpi_nets_filter_make(rules, nb);
	ret = nets->filter ? 0 : -ENOMEM;
	for (unsigned ip6 = 0; ip6 < 2 && ret == 0; ip6++)
		if (count[ip6] > 0)
			ret = build(rules, nb, count[ip6], ip6, memory, &nets->ctx[ip6]);
	if (ret < 0) {
		dpi_nets_free(nets);
		if (ret != -ERANGE)
			return ret;
		snprintf(err->why, sizeof(err->why),
			 "%" PRIu32 " flow rules need more than the %" PRIu64
			 " octets that a set may have",
			 count[0] + count[1], memory);
		return -E2BIG;
	}
	after = heap_used();
	nets->memory = sizeof(*nets) + dpi_nets_filter_memory(nets->filter) +
		       (after > before ? after - before : 0);
	*made = nets;
	return 0;
}

void
dpi_nets_free(struct dpi_nets *nets)
{
	if (!nets)
		return;
	rte_acl_free(nets->ctx[0]);
	rte_acl_free(nets->ctx[1]);
	dpi_nets_filter_free(nets->filter);
	free(nets);
}

size_t
dpi_nets_memory(const struct dpi_nets *nets)
{
	return nets ? nets->memory : 0;
}

/* --- lookup ----------------------------------------------------------------------------------- */

static inline void
to_input(const struct flow *f, bool uplink, struct input *in)
{
	const uint8_t *remote = uplink ? f->dst : f->src, *ue = uplink ? f->src : f->dst;

	*in = (struct input){.proto = f->proto, .tos = f->tos};
	in->has = (uint8_t)((f->has_ports ? HAS_PORTS : 0) | (f->has_spi ? HAS_SPI : 0));
	be16_put(in->ports, f->has_ports ? f->ports[uplink] : 0);
	be16_put(in->ports + 2, f->has_ports ? f->ports[!uplink] : 0);
	be32_put(in->spi, f->has_spi ? f->spi : 0);
	if (f->version == 4) {
		memcpy(in->ip4.src, remote, sizeof(in->ip4.src));
		memcpy(in->ip4.dst, ue, sizeof(in->ip4.dst));
		return;
	}
	be32_put(in->ip6.flow_label, f->flow_label);
	memcpy(in->ip6.src, remote, sizeof(in->ip6.src));
	memcpy(in->ip6.dst, ue, sizeof(in->ip6.dst));
}

/* @param which bit n: flows[n] is asked for */
static void
find(const struct rte_acl_ctx *ctx, const struct flow *const flows[], uint64_t uplink,
     uint64_t which, uint16_t apps[])
{
	struct input in[DPI_FLOWS_MAX];
	const uint8_t *data[DPI_FLOWS_MAX];
	uint32_t results[DPI_FLOWS_MAX];
	unsigned n = 0;

	for (uint64_t left = which; left != 0; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		to_input(flows[i], uplink >> i & 1, &in[n]);
		data[n] = (const uint8_t *)&in[n];
		n++;
	}
	if (rte_acl_classify(ctx, data, results, n, 1) != 0)
		return;
	n = 0;
	for (uint64_t left = which; left != 0; left &= left - 1)
		apps[__builtin_ctzll(left)] = (uint16_t)results[n++];
}

void
dpi_nets_find(const struct dpi_nets *nets, const struct flow *const flows[], uint64_t uplink,
	      unsigned nb, uint16_t apps[])
{
	const uint64_t unknown = dpi_nets_filter_find(nets->filter, flows, uplink, nb, apps);
	uint64_t of[2] = {0, 0};

	for (uint64_t left = unknown; left != 0; left &= left - 1)
		of[flows[__builtin_ctzll(left)]->version == 6] |= left & -left;
	for (unsigned ip6 = 0; ip6 < 2; ip6++)
		if (nets->ctx[ip6] && of[ip6] != 0)
			find(nets->ctx[ip6], flows, uplink, of[ip6], apps);
}
