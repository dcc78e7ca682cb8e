/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet detection against a model that goes through PDRs one by one, with random rules and packets
 * of a small world, so that they meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#include "modules/upf/upf_filter.h"
#include "test_eal.h"
#include "test_upf.h"

#define HANDLE 0x12300101U
#define OTHER_TEID (HANDLE + 0x100)
#define UE 0x0A2D0001U
#define UE6 0x20010DB800000001ULL
#define LINK_LOCAL 0xFE80000000000000ULL

static struct test_unit u;
static struct test_message msg;
static uint64_t seed;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((seed >> 33) % n);
}

static int
setup(void **state)
{
	(void)state;
	test_unit_open(&u);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	test_unit_close(&u);
	return 0;
}

/* --- packets ---------------------------------------------------------------------------------- */

/** A packet by what it says; packet_bytes() makes it. */
struct packet {
	bool ip6, later, tunnel, has_qfi;
	uint32_t teid;
	unsigned interface;
	uint8_t qfi, proto, tos;
	uint64_t src[2], dst[2]; /* IPv4: [0] */
	uint16_t ports[2];
	uint32_t spi, flow_label;
};

static void
put64(uint8_t *p, uint64_t v)
{
	be32_put(p, (uint32_t)(v >> 32));
	be32_put(p + 4, (uint32_t)v);
}

static unsigned
packet_bytes(const struct packet *k, uint8_t *p)
{
	unsigned at = 20;
	uint8_t *proto = p + 9;

	memset(p, 0, 128);
	if (k->ip6) {
		be32_put(p, 6U << 28 | (uint32_t)k->tos << 20 | k->flow_label);
		proto = p + 6;
		p[7] = 64;
		put64(p + 8, k->src[0]);
		put64(p + 16, k->src[1]);
		put64(p + 24, k->dst[0]);
		put64(p + 32, k->dst[1]);
		at = 40;
		if (k->later) {
			*proto = 44;
			proto = p + at;
			be16_put(p + at + 2, 8 << 3);
			at += 8;
		}
	} else {
		p[0] = 0x45;
		p[1] = k->tos;
		be16_put(p + 6, k->later ? 100 : 0);
		be32_put(p + 12, (uint32_t)k->src[0]);
		be32_put(p + 16, (uint32_t)k->dst[0]);
	}
	*proto = k->proto;
	if (k->proto == 50) {
		be32_put(p + at, k->spi);
	} else if (k->proto == 51) {
		be32_put(p + at + 4, k->spi);
	} else {
		be16_put(p + at, k->ports[0]);
		be16_put(p + at + 2, k->ports[1]);
	}
	at += 16;
	be16_put(p + (k->ip6 ? 4 : 2), (uint16_t)(at - (k->ip6 ? 40 : 0)));
	return at;
}

static struct upf_arrival
arrival(const struct packet *k)
{
	return (struct upf_arrival){.teid = k->tunnel ? k->teid : 0,
				    .qfi = k->qfi,
				    .interface = (uint8_t)k->interface,
				    .rx = (uint8_t)((k->tunnel ? UPF_RX_TUNNEL : 0) |
						    (k->has_qfi ? UPF_RX_QFI : 0) |
						    (k->ip6 ? UPF_RX_INNER6 : 0))};
}

static int
match(const struct upf_session *s, const struct packet *k)
{
	const struct upf_arrival a = arrival(k);
	uint8_t p[128];

	return upf_match_lane(s, &a, p, packet_bytes(k, p));
}

static uint64_t
random_address(bool ip6, unsigned which)
{
	static const uint32_t v4[] = {UE, UE + 1, 0xC6336401, 0xC6336481, 0xCB007105, 0xAC100101};
	static const uint64_t v6[] = {UE6, UE6 + 1, 0x2001067C00000000ULL, 0x2001067C00010000ULL};

	return ip6 ? v6[which % 4] : v4[which % 6];
}

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

/* --- rules ------------------------------------------------------------------------------------ */

static Airpath__Upf__V1__Prefix *
random_prefix(bool ip6)
{
	if (ip6)
		return test_prefix(&msg, test_ip6(&msg, random_address(true, rnd(4)), rnd(3)),
				   rnd(5) * 32);
	return test_prefix(&msg, test_ip4(&msg, (uint32_t)random_address(false, rnd(6))),
			   rnd(3) ? 24 + rnd(9) : rnd(33));
}

static void
random_ranges(Airpath__Upf__V1__PortRange ***ranges, size_t *nb)
{
	for (unsigned i = rnd(3); i > 0; i--) {
		Airpath__Upf__V1__PortRange *r =
			TEST_ADD(&msg, *ranges, *nb, Airpath__Upf__V1__PortRange,
				 airpath__upf__v1__port_range__init);

		r->first = rnd(8);
		r->last = r->first + rnd(3);
	}
}

static void
random_filter(Airpath__Upf__V1__Pdr *pdr)
{
	static const uint16_t protos[] = {256, 6, 17, 50, 51, 58};
	Airpath__Upf__V1__Filter *f = test_filter(&msg, pdr);
	bool ip6 = rnd(2);

	f->protocol = protos[rnd(6)];
	if (rnd(2))
		f->source = random_prefix(ip6);
	if (rnd(2))
		f->destination = random_prefix(rnd(8) ? ip6 : !ip6);
	if (rnd(3) == 0)
		random_ranges(&f->source_ports, &f->n_source_ports);
	if (rnd(3) == 0)
		random_ranges(&f->destination_ports, &f->n_destination_ports);
	if (rnd(4) == 0) {
		f->tos = rnd(4) << 2;
		f->tos_mask = rnd(2) ? 0xFC : 0x04;
	}
	if (rnd(10) == 0) {
		f->match_spi = true;
		f->spi = rnd(2);
	}
	if (rnd(10) == 0) {
		f->match_flow_label = true;
		f->flow_label = rnd(2);
	}
}

static void
random_pdr(unsigned id)
{
	bool tunnel = rnd(2);
	Airpath__Upf__V1__Pdr *pdr = test_pdr(&msg, id, rnd(20), tunnel ? UPF_ACCESS : UPF_CORE,
					      tunnel ? 1 + (rnd(4) == 0) : 0, 1);

	if (rnd(3) == 0)
		pdr->interface = tunnel ? 1 : 2 + rnd(2);
	pdr->match_ue_source = tunnel && rnd(3);
	pdr->match_ue_destination = !tunnel && rnd(3);
	pdr->match_ip4 = rnd(4) != 0;
	pdr->match_ip6 = rnd(4) != 0;
	if (rnd(3) == 0)
		pdr->qfis = 1 + rnd(15);
	for (unsigned i = rnd(4) ? 0 : 1 + rnd(2); i > 0; i--) {
		TEST_ADD(&msg, pdr->framed_routes, pdr->n_framed_routes, Airpath__Upf__V1__Prefix,
			 airpath__upf__v1__prefix__init);
		pdr->framed_routes[pdr->n_framed_routes - 1] = random_prefix(rnd(2));
	}
	for (unsigned i = rnd(4); i > 0; i--)
		random_filter(pdr);
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

static void
random_session(unsigned pdrs)
{
	test_message(&msg, 77, HANDLE, UE);
	msg.m.ue_ip6 = test_ip6(&msg, UE6, 0);
	msg.m.ue_ip6_bits = 64;
	test_tunnel(&msg, HANDLE);
	test_tunnel(&msg, OTHER_TEID);
	test_far(&msg, 1, 0, 0);
	for (unsigned i = 0; i < pdrs; i++)
		random_pdr(i + 1);
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

/* --- single cases ----------------------------------------------------------------------------- */

static struct packet
uplink(uint8_t proto, uint16_t from, uint16_t to)
{
	return (struct packet){.tunnel = true,
			       .teid = HANDLE,
			       .interface = TEST_ACCESS_INTERFACE,
			       .proto = proto,
			       .src = {UE},
			       .dst = {0xC6336401},
			       .ports = {from, to}};
}

static void
misses_have_names(void **state)
{
	struct packet k = uplink(17, 1, 2);
	struct upf_session *s;
	struct upf_arrival a = {.teid = HANDLE, .rx = UPF_RX_TUNNEL, .interface = 1};
	uint8_t p[128];

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.pdrs[0]->qfis = 1 << 9;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->only_qfi, 9);
	assert_int_equal(match(s, &k), UPF_MISS_QFI);
	k.has_qfi = true;
	k.qfi = 9;
	assert_int_equal(match(s, &k), 0);
	k.src[0]++;
	assert_int_equal(match(s, &k), UPF_MISS_SPOOFED);
	k.src[0]--;
	k.interface = TEST_CORE_INTERFACE;
	assert_int_equal(match(s, &k), UPF_MISS_NO_PDR);
	k.interface = TEST_ACCESS_INTERFACE;
	k.teid++;
	assert_int_equal(match(s, &k), UPF_MISS_NO_PDR);
	for (unsigned len = 0; len < 20; len++) {
		k.teid = HANDLE;
		packet_bytes(&k, p);
		assert_int_equal(upf_match_lane(s, &a, p, len), UPF_MISS_BAD_INNER);
	}
	p[0] = 0x55;
	assert_int_equal(upf_match_lane(s, &a, p, 40), UPF_MISS_BAD_INNER);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
later_fragments_take_filters_without_ports(void **state)
{
	struct packet k = uplink(17, 1000, 53);
	Airpath__Upf__V1__Pdr *pdr;
	Airpath__Upf__V1__Filter *f;
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	pdr = test_pdr(&msg, 3, 10, UPF_ACCESS, 1, 1);
	f = test_filter(&msg, pdr);
	f->protocol = 17;
	TEST_ADD(&msg, f->destination_ports, f->n_destination_ports, Airpath__Upf__V1__PortRange,
		 airpath__upf__v1__port_range__init);
	f->destination_ports[0]->first = f->destination_ports[0]->last = 53;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->rules->pdrs[match(s, &k)].id, 3);
	k.later = true;
	assert_int_equal(s->rules->pdrs[match(s, &k)].id, 1);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
the_link_is_the_ues(void **state)
{
	struct packet k = uplink(58, 133, 0);
	struct upf_session *s;
	uint8_t p[128];

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.ue_ip6 = test_ip6(&msg, UE6, 0);
	msg.m.ue_ip6_bits = 64;
	msg.m.pdrs[0]->match_ip6 = msg.m.pdrs[1]->match_ip6 = true;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->only_up, 1);
	k.ip6 = true;
	k.src[0] = LINK_LOCAL;
	k.src[1] = 5;
	k.dst[0] = 0xFF02000000000000ULL;
	k.dst[1] = 2;
	assert_int_equal(match(s, &k), 0); /* router solicitation */
	packet_bytes(&k, p);
	assert_true(upf_source_is_ue(s, p));
	k.src[0] = k.src[1] = 0;
	assert_int_equal(match(s, &k), 0); /* duplicate address detection */
	k.src[0] = LINK_LOCAL;
	k.dst[0] = 0x2001067C00000000ULL;
	assert_int_equal(match(s, &k), UPF_MISS_SPOOFED); /* would leave the link */
	packet_bytes(&k, p);
	assert_false(upf_source_is_ue(s, p));
	k.src[0] = UE6;
	assert_int_equal(match(s, &k), 0);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
delegated_prefixes_are_the_ues(void **state)
{
	struct packet k = uplink(17, 1, 2);
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 77, HANDLE, 0);
	msg.m.ue_ip6 = test_ip6(&msg, UE6, 0);
	msg.m.ue_ip6_bits = 56;
	msg.m.pdrs[0]->match_ip6 = msg.m.pdrs[1]->match_ip6 = true;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->only_up, 0);
	k.ip6 = true;
	k.dst[0] = 0x2001067C00000000ULL;
	k.src[0] = (UE6 & ~0xFFULL) | 0x37;
	assert_int_equal(match(s, &k), 0);
	k.src[0] += 0x100;
	assert_int_equal(match(s, &k), UPF_MISS_SPOOFED);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
equal_filters_are_one_set(void **state)
{
	unsigned sets = 0;

	(void)state;
	for (unsigned n = 0; n < 5; n++) {
		seed = 4; /* the same 200 rules for each */
		random_session(200);
		msg.m.id = 77 + n;
		msg.m.handle = HANDLE + n * 0x1000;
		msg.m.n_tunnels = 0;
		test_tunnel(&msg, msg.m.handle);
		test_tunnel(&msg, msg.m.handle + 0x100);
		msg.m.core_interface = 0; /* all have one address */
		assert_int_equal(test_set(&u, &msg.m), 0);
		if (n == 0)
			sets = upf_compiler_sets(u.compiler);
		assert_int_equal(upf_compiler_sets(u.compiler), sets);
	}
	for (unsigned n = 0; n < 5; n++)
		assert_int_equal(test_delete(&u, HANDLE + n * 0x1000, 77 + n), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(few_rules_agree_with_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(many_rules_agree_with_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_agree_with_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(misses_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(later_fragments_take_filters_without_ports, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_link_is_the_ues, setup, teardown),
		cmocka_unit_test_setup_teardown(delegated_prefixes_are_the_ues, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_filters_are_one_set, setup, teardown),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
