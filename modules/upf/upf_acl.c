/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>
#include <rte_byteorder.h>

#include "codec/be.h"
#include "modules/upf/upf_acl.h"

enum has { /* of the packet: what a rule may ask for */
	   HAS_PORTS = 1 << 0,
	   HAS_SPI = 1 << 1,
};

/* What rte_acl reads, in network order: an octet first, then four at a time. */
struct input {
	uint8_t proto;
	uint8_t pad[3];
	uint8_t ue, qfi, tos, has;
	uint8_t ports[4];
	uint8_t spi[4];
	uint8_t app[4];
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

/* Groups are of four octets, and numbers without gaps: see dpi_nets.c. */
enum field {
	PROTO,
	UE,
	QFI,
	TOS,
	HAS,
	SRC_PORT,
	DST_PORT,
	SPI,
	APP,
	COMMON,
	SRC4 = COMMON,
	DST4,
	FIELDS4,
	FLOW_LABEL = COMMON,
	SRC6,
	DST6 = SRC6 + 4,
	FIELDS6 = DST6 + 4,
};

RTE_ACL_RULE_DEF(acl_rule, FIELDS6);

static struct rte_acl_field_def
def(enum field field, unsigned group, size_t offset, uint8_t size, uint8_t type)
{
	return (struct rte_acl_field_def){.type = type,
					  .size = size,
					  .field_index = (uint8_t)field,
					  .input_index = (uint8_t)group,
					  .offset = (uint32_t)offset};
}

static void
config(struct rte_acl_config *c, bool ip6)
{
	struct rte_acl_field_def *d = c->defs;

	*c = (struct rte_acl_config){.num_categories = 1, .num_fields = ip6 ? FIELDS6 : FIELDS4};
	d[PROTO] = def(PROTO, 0, offsetof(struct input, proto), 1, RTE_ACL_FIELD_TYPE_BITMASK);
	d[UE] = def(UE, 1, offsetof(struct input, ue), 1, RTE_ACL_FIELD_TYPE_BITMASK);
	d[QFI] = def(QFI, 1, offsetof(struct input, qfi), 1, RTE_ACL_FIELD_TYPE_RANGE);
	d[TOS] = def(TOS, 1, offsetof(struct input, tos), 1, RTE_ACL_FIELD_TYPE_BITMASK);
	d[HAS] = def(HAS, 1, offsetof(struct input, has), 1, RTE_ACL_FIELD_TYPE_BITMASK);
	d[SRC_PORT] = def(SRC_PORT, 2, offsetof(struct input, ports), 2, RTE_ACL_FIELD_TYPE_RANGE);
	d[DST_PORT] =
		def(DST_PORT, 2, offsetof(struct input, ports) + 2, 2, RTE_ACL_FIELD_TYPE_RANGE);
	d[SPI] = def(SPI, 3, offsetof(struct input, spi), 4, RTE_ACL_FIELD_TYPE_BITMASK);
	d[APP] = def(APP, 4, offsetof(struct input, app), 4, RTE_ACL_FIELD_TYPE_BITMASK);
	if (!ip6) {
		d[SRC4] = def(SRC4, 5, offsetof(struct input, ip4.src), 4, RTE_ACL_FIELD_TYPE_MASK);
		d[DST4] = def(DST4, 6, offsetof(struct input, ip4.dst), 4, RTE_ACL_FIELD_TYPE_MASK);
		return;
	}
	d[FLOW_LABEL] = def(FLOW_LABEL, 5, offsetof(struct input, ip6.flow_label), 4,
			    RTE_ACL_FIELD_TYPE_BITMASK);
	for (unsigned i = 0; i < 8; i++)
		d[SRC6 + i] = def(SRC6 + i, 6 + i, offsetof(struct input, ip6.src) + 4 * i, 4,
				  RTE_ACL_FIELD_TYPE_MASK);
}

/* --- rules ------------------------------------------------------------------------------------ */

static unsigned
ones(uint32_t mask)
{
	return (unsigned)__builtin_popcount(mask);
}

static void
to_acl(const struct upf_filter_rule *r, bool ip6, uint8_t qfi_first, uint8_t qfi_last,
       struct acl_rule *a)
{
	bool ports = r->flags & UPF_FILTER_PORTS, spi = r->flags & UPF_FILTER_SPI;
	uint8_t has = (uint8_t)((ports ? HAS_PORTS : 0) | (spi ? HAS_SPI : 0));

	memset(a, 0, sizeof(*a));
	a->data.category_mask = 1;
	a->data.priority = RTE_ACL_MAX_PRIORITY - r->order;
	a->data.userdata = r->order + 1U;
	a->field[PROTO].value.u8 = r->proto;
	a->field[PROTO].mask_range.u8 = r->flags & UPF_FILTER_PROTO ? 0xFF : 0;
	a->field[UE].value.u8 = a->field[UE].mask_range.u8 = r->ue;
	a->field[QFI].value.u8 = qfi_first;
	a->field[QFI].mask_range.u8 = qfi_last;
	a->field[TOS].value.u8 = r->tos & r->tos_mask;
	a->field[TOS].mask_range.u8 = r->tos_mask;
	a->field[HAS].value.u8 = a->field[HAS].mask_range.u8 = has;
	a->field[SRC_PORT].value.u16 = ports ? r->src_ports[0] : 0;
	a->field[SRC_PORT].mask_range.u16 = ports ? r->src_ports[1] : UINT16_MAX;
	a->field[DST_PORT].value.u16 = ports ? r->dst_ports[0] : 0;
	a->field[DST_PORT].mask_range.u16 = ports ? r->dst_ports[1] : UINT16_MAX;
	a->field[SPI].value.u32 = r->spi;
	a->field[SPI].mask_range.u32 = spi ? UINT32_MAX : 0;
	a->field[APP].value.u32 = r->app;
	a->field[APP].mask_range.u32 = r->app ? UINT32_MAX : 0;
	if (!ip6) {
		a->field[SRC4].value.u32 = r->src[0];
		a->field[SRC4].mask_range.u32 = ones(r->src_mask[0]);
		a->field[DST4].value.u32 = r->dst[0];
		a->field[DST4].mask_range.u32 = ones(r->dst_mask[0]);
		return;
	}
	a->field[FLOW_LABEL].value.u32 = r->flow_label;
	a->field[FLOW_LABEL].mask_range.u32 = r->flags & UPF_FILTER_FLOW_LABEL ? UINT32_MAX : 0;
	for (unsigned i = 0; i < 4; i++) {
		a->field[SRC6 + i].value.u32 = r->src[i];
		a->field[SRC6 + i].mask_range.u32 = ones(r->src_mask[i]);
		a->field[DST6 + i].value.u32 = r->dst[i];
		a->field[DST6 + i].mask_range.u32 = ones(r->dst_mask[i]);
	}
}

/* A set of QFIs is several ranges, so several rules. */
static int
add_rule(struct rte_acl_ctx *ctx, const struct upf_filter_rule *r, bool ip6)
{
	struct acl_rule a;
	int ret = 0;

	if (r->qfis == 0) {
		to_acl(r, ip6, 0, UPF_NO_QFI, &a);
		return rte_acl_add_rules(ctx, (const struct rte_acl_rule *)&a, 1);
	}
	for (unsigned first = 0; first < 64 && ret == 0; first++) {
		unsigned last = first;

		if (!(r->qfis >> first & 1))
			continue;
		while (last < 63 && r->qfis >> (last + 1) & 1)
			last++;
		to_acl(r, ip6, (uint8_t)first, (uint8_t)last, &a);
		ret = rte_acl_add_rules(ctx, (const struct rte_acl_rule *)&a, 1);
		first = last;
	}
	return ret;
}

static uint32_t
count_rules(const struct upf_filter_rule *rules, unsigned nb)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < nb; i++)
		n += rules[i].qfis == 0 ? 1
					: (uint32_t)__builtin_popcountll(rules[i].qfis &
									 ~(rules[i].qfis << 1));
	return n;
}

int
upf_acl_build(const struct upf_filter_rule *rules, unsigned nb, bool ip6, int socket,
	      struct rte_acl_ctx **ctx)
{
	static unsigned made;
	char name[RTE_ACL_NAMESIZE];
	struct rte_acl_param param = {
		.name = name,
		.socket_id = socket,
		.rule_size = RTE_ACL_RULE_SZ(FIELDS6),
		.max_rule_num = count_rules(rules, nb),
	};
	struct rte_acl_config c;
	int ret = 0;

	snprintf(name, sizeof(name), "upf_filter_%u", made++);
	*ctx = rte_acl_create(&param);
	if (!*ctx)
		return -ENOMEM;
	for (unsigned i = 0; i < nb && ret == 0; i++)
		if (rules[i].flags & (ip6 ? UPF_FILTER_IP6 : UPF_FILTER_IP4))
			ret = add_rule(*ctx, &rules[i], ip6);
	config(&c, ip6);
	if (ret == 0)
		ret = rte_acl_build(*ctx, &c);
	if (ret < 0) {
		rte_acl_free(*ctx);
		*ctx = NULL;
	}
	return ret;
}

int
upf_acl_match(const struct rte_acl_ctx *ctx, const struct upf_packet *p)
{
	const struct flow *f = &p->flow;
	struct input in = {.proto = f->proto, .ue = p->ue, .qfi = p->qfi, .tos = f->tos};
	const uint8_t *data = (const uint8_t *)&in;
	uint32_t result = 0;

	in.has = (uint8_t)((f->has_ports ? HAS_PORTS : 0) | (f->has_spi ? HAS_SPI : 0));
	be16_put(in.ports, f->ports[0]);
	be16_put(in.ports + 2, f->ports[1]);
	be32_put(in.spi, f->spi);
	be32_put(in.app, p->app);
	if (f->version == 4) {
		memcpy(in.ip4.src, f->src, sizeof(in.ip4.src));
		memcpy(in.ip4.dst, f->dst, sizeof(in.ip4.dst));
	} else {
		be32_put(in.ip6.flow_label, f->flow_label);
		memcpy(in.ip6.src, f->src, sizeof(in.ip6.src));
		memcpy(in.ip6.dst, f->dst, sizeof(in.ip6.dst));
	}
	if (rte_acl_classify(ctx, &data, &result, 1, 1) != 0)
		return -1;
	return (int)result - 1;
}
