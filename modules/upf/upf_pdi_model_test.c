/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet detection against a model that goes through PDRs one by one, with random rules and packets
 * of a small world, so that they meet. */
#include "modules/upf/upf_pdi_rig.h"

/* --- packets ---------------------------------------------------------------------------------- */

static struct packet
random_packet(void)
{
	static const uint8_t protos[] = {6, 17, 1, 50, 51, 132, 58};
	struct packet k = {.ip6 = rnd(2),
			   .later = rnd(8) == 0,
			   .tunnel = rnd(2),
			   .teid = rnd(3) ? HANDLE : OTHER_TEID,
			   .has_qfi = rnd(4) != 0,
			   .qfi = (uint8_t)rnd(4),
			   .proto = protos[rnd(7)],
			   .tos = (uint8_t)(rnd(4) << 2),
			   .ports = {(uint16_t)rnd(8), (uint16_t)rnd(8)},
			   .spi = rnd(2),
			   .flow_label = rnd(2)};

	k.interface = k.tunnel ? rnd(8) ? 1 : 2 : 2 + rnd(2);
	k.src[0] = random_address(k.ip6, k.tunnel && rnd(4) ? 0 : rnd(6));
	k.dst[0] = random_address(k.ip6, !k.tunnel && rnd(4) ? 0 : rnd(6));
	k.src[1] = rnd(3);
	k.dst[1] = rnd(3);
	return k;
}

/* --- the model -------------------------------------------------------------------------------- */

static bool
in_prefix(const Airpath__Upf__V1__Prefix *x, bool ip6, const uint64_t address[2])
{
	uint8_t p[16] = {0};

	if (x->address.len != (ip6 ? 16 : 4))
		return false;
	if (ip6) {
		put64(p, address[0]);
		put64(p + 8, address[1]);
	} else {
		be32_put(p, (uint32_t)address[0]);
	}
	for (unsigned b = 0; b < x->bits; b++)
		if ((p[b / 8] ^ x->address.data[b / 8]) >> (7 - b % 8) & 1)
			return false;
	return true;
}

static bool
is_ue(const Airpath__Upf__V1__Pdr *pdr, bool ip6, const uint64_t address[2])
{
	if (ip6 ? pdr->match_ip6 && address[0] == UE6 : pdr->match_ip4 && address[0] == UE)
		return true;
	for (size_t i = 0; i < pdr->n_framed_routes; i++)
		if (in_prefix(pdr->framed_routes[i], ip6, address))
			return true;
	return false;
}

static bool
in_ranges(Airpath__Upf__V1__PortRange **r, size_t nb, uint16_t port)
{
	for (size_t i = 0; i < nb; i++)
		if (port >= r[i]->first && port <= r[i]->last)
			return true;
	return nb == 0;
}

static bool
filter_matches(const Airpath__Upf__V1__Filter *f, const struct packet *k)
{
	bool ports = !k->later && (k->proto == 6 || k->proto == 17 || k->proto == 132);
	bool spi = !k->later && (k->proto == 50 || k->proto == 51);

	if (f->protocol != 256 && f->protocol != k->proto)
		return false;
	if ((f->source && !in_prefix(f->source, k->ip6, k->src)) ||
	    (f->destination && !in_prefix(f->destination, k->ip6, k->dst)))
		return false;
	if ((f->n_source_ports || f->n_destination_ports) &&
	    (!ports || !in_ranges(f->source_ports, f->n_source_ports, k->ports[0]) ||
	     !in_ranges(f->destination_ports, f->n_destination_ports, k->ports[1])))
		return false;
	return ((f->tos ^ k->tos) & f->tos_mask) == 0 &&
	       (!f->match_spi || (spi && f->spi == k->spi)) &&
	       (!f->match_flow_label || (k->ip6 && f->flow_label == k->flow_label));
}

static bool
pdr_matches(const Airpath__Upf__V1__Pdr *pdr, const struct packet *k, bool any_qfi, bool any_source)
{
	static const unsigned types[] = {[1] = UPF_ACCESS, [2] = UPF_CORE, [3] = UPF_CORE};
	uint32_t teid = pdr->tunnel ? msg.m.tunnels[pdr->tunnel - 1]->teid : 0;

	if (teid != (k->tunnel ? k->teid : 0))
		return false;
	if (pdr->interface ? pdr->interface != k->interface : types[k->interface] != (unsigned)pdr->source)
		return false;
	if (pdr->qfis && !any_qfi && (!k->has_qfi || !(pdr->qfis >> k->qfi & 1)))
		return false;
	if (pdr->match_ue_source && !any_source && !is_ue(pdr, k->ip6, k->src))
		return false;
	if (pdr->match_ue_destination && !is_ue(pdr, k->ip6, k->dst))
		return false;
	for (size_t i = 0; i < pdr->n_filters; i++)
		if (filter_matches(pdr->filters[i], k))
			return true;
	return pdr->n_filters == 0;
}

/* @return id of the PDR by precedence, then id; 0: none */
static unsigned
model(const struct packet *k, bool any_qfi, bool any_source)
{
	const Airpath__Upf__V1__Pdr *best = NULL;

	for (size_t i = 0; i < msg.m.n_pdrs; i++) {
		const Airpath__Upf__V1__Pdr *pdr = msg.m.pdrs[i];

		if (pdr_matches(pdr, k, any_qfi, any_source) &&
		    (!best || pdr->precedence < best->precedence ||
		     (pdr->precedence == best->precedence && pdr->id < best->id)))
			best = pdr;
	}
	return best ? best->id : 0;
}

/* What is foretold of the packets that answer this one holds for them. */
static void
answers_agree(const struct upf_session *s, const struct packet *k)
{
	const struct upf_arrival a = arrival(k);
	const int group = upf_group_of(s->rules, &a);
	struct packet back = *k;
	struct flow f;
	uint8_t p[128];
	int lane, foretold;

	assert_true(flow_decode(p, packet_bytes(k, p), &f) > 0);
	if (group < 0 || k->ip6 || !f.has_ports)
		return;
	back.src[0] = k->dst[0];
	back.dst[0] = k->src[0];
	back.ports[0] = k->ports[1];
	back.ports[1] = k->ports[0];
	back.has_qfi = false;
	lane = match(s, &back);
	foretold = upf_match_answers(s, (unsigned)group, &f, 0);
	if (foretold != lane && (lane >= 0 || foretold >= 0))
		fail_msg("lane %d of answers is foretold as %d", lane, foretold);
}

static void
against_the_model(unsigned sessions, unsigned max_pdrs, unsigned packets, unsigned *matched)
{
	*matched = 0;
	for (unsigned n = 0; n < sessions; n++) {
		struct upf_session *s;

		random_session(1 + rnd(max_pdrs));
		assert_int_equal(test_set(&u, &msg.m), 0);
		s = upf_by_handle(u.tables, HANDLE);
		for (unsigned i = 0; i < packets; i++) {
			struct packet k = random_packet();
			unsigned id = model(&k, false, false);
			int lane = match(s, &k);

			if (lane >= 0 ? s->rules->pdrs[lane].id != id : id != 0)
				fail_msg("session %u packet %u: lane %d, PDR %u", n, i, lane, id);
			*matched += id != 0;
			if (lane == UPF_MISS_QFI)
				assert_int_not_equal(model(&k, true, false), 0);
			answers_agree(s, &k);
		}
		assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	}
}

static void
few_rules_agree_with_the_model(void **state)
{
	unsigned matched;

	(void)state;
	seed = 1;
	against_the_model(400, 4, 100, &matched);
	assert_true(matched > 5000);
}

static void
many_rules_agree_with_the_model(void **state)
{
	unsigned matched;

	(void)state;
	seed = 2;
	against_the_model(12, 60, 3000, &matched);
	assert_true(matched > 10000);
}

static void
limits_agree_with_the_model(void **state)
{
	struct upf_session *s;
	unsigned compiled = 0;

	(void)state;
	seed = 3;
	random_session(UPF_RULES_MAX);
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->rules->nb_lanes, UPF_RULES_MAX);
	assert_int_equal(s->nb_lanes, 0); /* 256 */
	for (unsigned i = 0; i < s->rules->nb_groups; i++)
		compiled += s->rules->groups[i].filters &&
			    upf_filter_is_compiled(s->rules->groups[i].filters, false) &&
			    upf_filter_is_compiled(s->rules->groups[i].filters, true);
	assert_true(compiled >= 2);
	for (unsigned i = 0; i < 3000; i++) {
		struct packet k = random_packet();
		unsigned id = model(&k, false, false);
		int lane = match(s, &k);

		assert_int_equal(lane >= 0 ? s->rules->pdrs[lane].id : 0, id);
	}
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(few_rules_agree_with_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(many_rules_agree_with_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_agree_with_the_model, setup, teardown),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
