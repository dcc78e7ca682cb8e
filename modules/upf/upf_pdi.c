/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/be.h"
#include "modules/upf/upf_filter.h"
#include "modules/upf/upf_pdi.h"

/* The UE's prefix may be shorter than the /64 that line 0 has. */
static bool
is_ue6(const struct upf_rules *r, const uint8_t *address)
{
	return r->ue_ip6_bits != 0 &&
	       (be64_get(address) ^ be64_get(r->ue_ip6)) >> (64 - r->ue_ip6_bits) == 0;
}

static uint8_t
ue_of(const struct upf_session *s, const struct flow *f, const uint8_t *p)
{
	bool source, destination;

	if (f->version == 4) {
		uint32_t to;

		memcpy(&to, f->dst, sizeof(to));
		source = upf_source_is_ue(s, p);
		destination = to == s->ue_ip4 && to != 0;
	} else {
		source = is_ue6(s->rules, f->src) || upf_source_is_ue(s, p);
		destination = is_ue6(s->rules, f->dst);
	}
	return (uint8_t)((source ? UPF_SOURCE_UE : 0) | (destination ? UPF_DESTINATION_UE : 0));
}

/* What kept the packet from every PDR, so that the drop has the right name. */
static int
why(const struct upf_filter_set *set, struct upf_packet *p)
{
	uint8_t ue = p->ue;

	if (upf_filter_match_any_qfi(set, p) >= 0)
		return UPF_MISS_QFI;
	p->ue = ue | UPF_SOURCE_UE;
	return upf_filter_match_any_qfi(set, p) >= 0 ? UPF_MISS_SPOOFED : UPF_MISS_NO_PDR;
}

int
upf_match_group(const struct upf_session *s, unsigned group, const uint8_t *p, const struct flow *f,
		uint8_t qfi, uint16_t app)
{
	struct upf_packet packet = {.flow = *f, .qfi = qfi, .app = app};
	const struct upf_group *g = &s->rules->groups[group];
	int order;

	if (!g->filters)
		return UPF_MISS_NO_PDR;
	packet.ue = ue_of(s, f, p);
	order = upf_filter_match(g->filters, &packet);
	return order >= 0 ? (int)upf_group_lane(g, (unsigned)order) : why(g->filters, &packet);
}

int
upf_match_answers(const struct upf_session *s, unsigned group, const struct flow *f, uint16_t app)
{
	const struct upf_group *g = &s->rules->groups[group];
	struct upf_packet packet = {.flow = *f, .qfi = UPF_NO_QFI, .app = app};
	int order;

	if (!g->filters || s->ue_ip4 == 0)
		return -1;
	memcpy(packet.flow.src, f->dst, sizeof(f->dst));
	memcpy(packet.flow.dst, f->src, sizeof(f->src));
	packet.flow.ports[0] = f->ports[1];
	packet.flow.ports[1] = f->ports[0];
	packet.ue =
		(uint8_t)((memcmp(packet.flow.src, &s->ue_ip4, 4) == 0 ? UPF_SOURCE_UE : 0) |
			  (memcmp(packet.flow.dst, &s->ue_ip4, 4) == 0 ? UPF_DESTINATION_UE : 0));
	order = upf_filter_match(g->filters, &packet);
	return order >= 0 ? (int)upf_group_lane(g, (unsigned)order) : -1;
}

int
upf_match_lane(const struct upf_session *s, const struct upf_arrival *a, const uint8_t *p,
	       uint32_t len)
{
	struct flow f;
	int group;

	if (flow_decode(p, len, &f) < 0)
		return UPF_MISS_BAD_INNER;
	group = upf_group_of(s->rules, a);
	if (group < 0)
		return UPF_MISS_NO_PDR;
	return upf_match_group(s, (unsigned)group, p, &f, a->rx & UPF_RX_QFI ? a->qfi : UPF_NO_QFI,
			       0);
}
