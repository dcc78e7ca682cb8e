/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "bench/upf_traffic.h"

#define SESSIONS 200
#define PER_SESSION 2
#define FIRST 1000

static struct upf_load *load;
static const struct upf_traffic_cfg model = {
	.first = FIRST,
	.sessions = SESSIONS,
	.per_session = PER_SESSION,
	.packets = 20,
	.bytes = 690,
	.udp_percent = 15,
	.policies = true,
	.seed = 3,
};

static bool
same_flow(const struct upf_traffic_flow *a, const struct upf_traffic_flow *b)
{
	return a->session == b->session && a->server == b->server && a->ue_port == b->ue_port &&
	       a->server_port == b->server_port && a->packets == b->packets && a->udp == b->udp &&
	       a->split == b->split && a->before == b->before && a->after == b->after &&
	       a->name == b->name && a->kind == b->kind &&
	       memcmp(a->isn, b->isn, sizeof(a->isn)) == 0;
}

/** Every place has its turn before any has two, each flow's packets come in order. */
static void
test_turns(void **state)
{
	struct upf_traffic f;
	uint16_t next[SESSIONS * PER_SESSION] = {0};
	uint32_t number[SESSIONS * PER_SESSION] = {0};
	uint32_t begun = 0;

	(void)state;
	assert_int_equal(upf_traffic_init(&f, &model, load), 0);
	for (unsigned round = 0; round < 100; round++) {
		bool seen[SESSIONS * PER_SESSION] = {false};

		for (uint32_t i = 0; i < f.nb_places; i++) {
			const uint32_t ahead = (f.next + f.step) % f.nb_places;
			struct upf_traffic_turn t;
			struct upf_traffic_flow flow;

			upf_traffic_take(&f, &t);
			assert_int_equal(f.next, ahead);
			assert_false(seen[t.place]);
			seen[t.place] = true;
			assert_int_equal(t.number, number[t.place]);
			assert_int_equal(t.at, next[t.place]);
			flow = upf_traffic_derive(&f, t.place, t.number);
			assert_true(same_flow(&flow, &t.flow));
			begun += t.at == 0;
			if (++next[t.place] == t.flow.packets) {
				assert_true(t.packet.fin || t.flow.udp);
				next[t.place] = 0;
				number[t.place]++;
			}
		}
	}
	assert_int_equal(f.begun, begun);
	upf_traffic_free(&f);
}

/** Trains begin behind the request, or an exchange of datagrams, and end with the flow. */
static void
test_trains(void **state)
{
	struct upf_traffic_cfg cfg = model;
	struct upf_traffic f;
	uint32_t last = UINT32_MAX, in_a_row = 0, longest = 0;

	(void)state;
	cfg.train = 4;
	assert_int_equal(upf_traffic_init(&f, &cfg, load), 0);
	for (uint32_t i = 0; i < 100 * f.nb_places; i++) {
		struct upf_traffic_turn t;

		upf_traffic_take(&f, &t);
		in_a_row = t.place == last ? in_a_row + 1 : 1;
		longest = in_a_row > longest ? in_a_row : longest;
		if (in_a_row > 1)
			assert_true(t.at > (t.flow.udp ? 1 : 4 + t.flow.split));
		last = t.place;
	}
	assert_int_equal(longest, 4);
	upf_traffic_free(&f);
}

/** What a TCP end would send: numbers go on where the last packet of that way ended. */
static void
check_tcp(const struct upf_traffic *f, const struct upf_traffic_flow *flow)
{
	uint32_t next[UPF_WIRE_DIRECTIONS] = {flow->isn[0], flow->isn[1]};
	unsigned requests = 0;

	for (unsigned at = 0; at < flow->packets; at++) {
		const struct upf_traffic_packet p = upf_traffic_packet(f, flow, at);
		const uint32_t data = p.bytes - UPF_TRAFFIC_SHORT;

		assert_in_range(p.bytes, UPF_TRAFFIC_SHORT, UPF_WIRE_BYTES_MAX);
		assert_int_equal(p.seq, next[p.direction]);
		assert_int_equal(p.ack, at == 0 ? 0 : next[!p.direction]);
		assert_int_equal(p.direction == UPF_WIRE_DOWN,
				 p.part == UPF_TRAFFIC_SYN_ACK ||
					 (p.part == UPF_TRAFFIC_DATA && p.direction));
		next[p.direction] += data + (at < 2);
		assert_int_equal(data == 0, at < 3);
		requests += p.part == UPF_TRAFFIC_REQUEST || p.part == UPF_TRAFFIC_REST;
		assert_int_equal(p.fin, at + 1 == flow->packets);
		/* Known with the request, whole. */
		assert_int_equal(p.policy, at >= 3U + flow->split ? flow->after : flow->before);
	}
	assert_int_equal(requests, 1 + flow->split);
}

static void
test_flows_are_what_ends_would_send(void **state)
{
	struct upf_traffic f;
	unsigned udp = 0, split = 0, unlisted = 0, nets = 0, dynamic = 0, n = 0;

	(void)state;
	assert_int_equal(upf_traffic_init(&f, &model, load), 0);
	for (uint32_t place = 0; place < f.nb_places; place++)
		for (uint32_t number = 0; number < 50; number++, n++) {
			const struct upf_traffic_flow flow = upf_traffic_derive(&f, place, number);

			assert_in_range(flow.packets, UPF_TRAFFIC_PACKETS_MIN, 30);
			assert_in_range(flow.session, FIRST, FIRST + SESSIONS - 1);
			udp += flow.udp;
			split += flow.split;
			nets += flow.before != 0 && flow.before <= UPF_LOAD_STATIC;
			dynamic += flow.before > UPF_LOAD_STATIC;
			unlisted += !flow.udp && flow.name >= load->nb_names;
			if (flow.udp)
				assert_int_equal(flow.before, flow.after);
			else
				check_tcp(&f, &flow);
		}
	assert_in_range(udp, n * 14 / 100, n * 16 / 100);
	assert_in_range(split, n * 4 / 100, n * 7 / 100);
	assert_in_range(unlisted, n * 7 / 100, n * 11 / 100);
	assert_in_range(nets, n * 14 / 100, n * 22 / 100);
	assert_in_range(dynamic, n / 100, n * 3 / 100);
	upf_traffic_free(&f);
}

/** Which rule of layers 3 and 4 a flow is of, asked of the rules. */
static unsigned
policy_of(const struct upf_traffic_flow *flow)
{
	const uint32_t server = rte_be_to_cpu_32(flow->server);
	const uint8_t protocol = flow->udp ? 17 : 6;

	for (uint32_t i = 0; i < load->nb_nets; i++) {
		const struct upf_load_net *n = &load->nets[i];

		if ((server ^ n->address) >> (32 - n->bits) == 0 &&
		    (n->protocol == 0 || n->protocol == protocol) &&
		    (n->port == 0 || n->port == flow->server_port))
			return n->app;
	}
	for (unsigned p = UPF_LOAD_STATIC + 1; p <= UPF_LOAD_POLICIES; p++)
		if (flow->udp &&
		    (server ^ upf_load_dynamic_net(p)) >> (32 - UPF_LOAD_DYNAMIC_BITS) == 0)
			return p;
	return 0;
}

static void
test_policies_are_those_of_the_rules(void **state)
{
	struct upf_traffic f;

	(void)state;
	assert_int_equal(upf_traffic_init(&f, &model, load), 0);
	for (uint32_t place = 0; place < f.nb_places; place++)
		for (uint32_t number = 0; number < 10; number++) {
			const struct upf_traffic_flow flow = upf_traffic_derive(&f, place, number);

			assert_int_equal(flow.before, policy_of(&flow));
			if (!flow.udp && flow.name < load->nb_names)
				assert_int_equal(flow.after, load->names[flow.name].app);
			else
				assert_int_equal(flow.after, flow.before);
		}
	upf_traffic_free(&f);
}

/** Shares, and what comes of names and headers; flows that are not UDP are as without it. */
static void
test_mix_of_udp(void **state)
{
	struct upf_traffic_cfg cfg = model;
	struct upf_traffic f, without;
	unsigned n[4] = {0}, udp = 0, split = 0, named = 0, nets = 0;

	(void)state;
	cfg.udp_percent = 60;
	assert_int_equal(upf_traffic_init(&without, &cfg, load), 0);
	cfg.dns_percent = 20;
	cfg.quic_percent = 50;
	assert_int_equal(upf_traffic_init(&f, &cfg, load), 0);
	for (uint32_t i = 0; i < f.nb_places * 50; i++) {
		const uint32_t place = i % f.nb_places, number = i / f.nb_places;
		const struct upf_traffic_flow flow = upf_traffic_derive(&f, place, number);
		const struct upf_traffic_flow old = upf_traffic_derive(&without, place, number);
		const bool url = flow.name < load->nb_names &&
				 load->names[flow.name].kind == UPF_LOAD_URL_PATTERN;

		n[flow.kind]++;
		udp += flow.udp;
		if (flow.kind <= UPF_TRAFFIC_OTHER) {
			assert_true(same_flow(&flow, &old));
			continue;
		}
		assert_true(flow.udp && old.udp);
		assert_int_equal(flow.before, policy_of(&flow));
		assert_int_equal(flow.after, flow.name < load->nb_names && !url
						     ? load->names[flow.name].app
						     : flow.before);
		assert_int_equal(flow.split,
				 flow.kind == UPF_TRAFFIC_QUIC && upf_quic_split(flow.name));
		split += flow.split;
		named += flow.after != flow.before;
		nets += flow.before != 0;
	}
	assert_in_range(n[UPF_TRAFFIC_DNS], udp * 18 / 100, udp * 22 / 100);
	assert_in_range(n[UPF_TRAFFIC_QUIC], udp * 48 / 100, udp * 52 / 100);
	assert_in_range(split, n[UPF_TRAFFIC_QUIC] * 4 / 100, n[UPF_TRAFFIC_QUIC] * 8 / 100);
	assert_in_range(named, udp / 2, udp);
	assert_in_range(nets, udp * 5 / 100, udp * 12 / 100);
	upf_traffic_free(&f);
	upf_traffic_free(&without);
}

/** What ends would send: DNS asks and is answered; QUIC begins with all of its ClientHello. */
static void
test_datagrams_of_names(void **state)
{
	struct upf_traffic_cfg cfg = model;
	struct upf_traffic f;

	(void)state;
	cfg.udp_percent = cfg.quic_percent = 100;
	assert_int_equal(upf_traffic_init(&f, &cfg, load), 0);
	for (uint32_t place = 0; place < f.nb_places; place++) {
		const struct upf_traffic_flow flow = upf_traffic_derive(&f, place, 1);

		for (unsigned at = 0; at < flow.packets; at++) {
			const struct upf_traffic_packet p = upf_traffic_packet(&f, &flow, at);
			const bool initial = at <= flow.split;

			assert_int_equal(p.part, !initial ? UPF_TRAFFIC_DATAGRAM
						 : at     ? UPF_TRAFFIC_INITIAL_REST
							  : UPF_TRAFFIC_INITIAL);
			assert_int_equal(p.direction,
					 initial ? UPF_WIRE_UP : (at - flow.split) % 2);
			assert_int_equal(p.bytes, initial ? UPF_TRAFFIC_INITIAL_BYTES : f.datagram);
			assert_int_equal(p.policy, at < flow.split ? flow.before : flow.after);
		}
	}
	upf_traffic_free(&f);
	cfg.quic_percent = 0;
	cfg.dns_percent = 100;
	assert_int_equal(upf_traffic_init(&f, &cfg, load), 0);
	for (uint32_t place = 0; place < f.nb_places; place++) {
		const struct upf_traffic_flow flow = upf_traffic_derive(&f, place, 1);
		const struct upf_traffic_packet query = upf_traffic_packet(&f, &flow, 0);
		const struct upf_traffic_packet response = upf_traffic_packet(&f, &flow, 1);

		assert_int_equal(flow.packets, 2);
		assert_int_equal(query.part, UPF_TRAFFIC_QUERY);
		assert_int_equal(query.direction, UPF_WIRE_UP);
		assert_int_equal(response.part, UPF_TRAFFIC_DATAGRAM);
		assert_int_equal(response.direction, UPF_WIRE_DOWN);
		assert_int_equal(query.policy, flow.after);
		assert_int_equal(response.policy, flow.after);
	}
	upf_traffic_free(&f);
}

/** Flows a session has at a time, and the one before at a place, are told apart by their ports. */
static void
test_flows_of_a_session_differ(void **state)
{
	struct upf_traffic f;

	(void)state;
	assert_int_equal(upf_traffic_init(&f, &model, load), 0);
	for (uint32_t number = 0; number < 1000; number++) {
		const uint16_t a = upf_traffic_derive(&f, 5, number).ue_port;
		const uint16_t b = upf_traffic_derive(&f, 5 + SESSIONS, number).ue_port;

		assert_int_equal(upf_traffic_derive(&f, 5, number).session,
				 upf_traffic_derive(&f, 5 + SESSIONS, number).session);
		assert_int_not_equal(a, b);
		assert_int_not_equal(a, upf_traffic_derive(&f, 5 + SESSIONS, number + 1).ue_port);
		assert_int_not_equal(a, upf_traffic_derive(&f, 5, number + 1).ue_port);
	}
	upf_traffic_free(&f);
}

/** Mean packet and mean flow in the long run, and what sessions were charged, sum up. */
static void
check_means(uint32_t packets, uint32_t bytes, uint32_t want_bytes, uint32_t quic_percent)
{
	struct upf_traffic_cfg cfg = model;
	struct upf_traffic f;
	uint64_t octets = 0, charged = 0, n, begun;

	cfg.packets = packets;
	cfg.bytes = bytes;
	cfg.quic_percent = quic_percent;
	cfg.udp_percent = quic_percent ? 60 : cfg.udp_percent;
	assert_int_equal(upf_traffic_init(&f, &cfg, load), 0);
	n = (uint64_t)f.nb_places * packets * 40;
	for (uint64_t i = 0; i < n; i++) {
		struct upf_traffic_turn t;

		upf_traffic_take(&f, &t);
		octets += t.packet.bytes;
	}
	begun = f.begun;
	assert_in_range(n * 100 / begun, packets * 95, packets * 105);
	assert_in_range(octets * 100 / n, want_bytes * 98, want_bytes * 102);
	for (uint32_t s = 0; s < SESSIONS; s++)
		for (unsigned g = 1; g <= UPF_LOAD_RATING_GROUPS; g++) {
			const struct upf_traffic_usage *u = upf_traffic_used(&f, FIRST + s, g);

			charged += u->octets[0] + u->octets[1];
		}
	assert_int_equal(charged, octets);
	upf_traffic_free(&f);
}

static void
test_means(void **state)
{
	(void)state;
	check_means(10, 690, 690, 0);
	check_means(100, 690, 690, 0);
	check_means(25, 1000, 1000, 0);
	check_means(10, 690, 690, 100);
	check_means(25, 1000, 1000, 50);
}

static void
test_plain_sessions_have_one_policy(void **state)
{
	struct upf_traffic_cfg cfg = model;
	struct upf_traffic f, with;

	(void)state;
	cfg.policies = false;
	assert_int_equal(upf_traffic_init(&f, &cfg, load), 0);
	assert_int_equal(upf_traffic_init(&with, &model, load), 0);
	for (uint32_t place = 0; place < f.nb_places; place++) {
		const struct upf_traffic_flow a = upf_traffic_derive(&f, place, 1);
		struct upf_traffic_flow b = upf_traffic_derive(&with, place, 1);

		assert_int_equal(a.before + a.after, 0);
		b.before = b.after = 0; /* and else they are the same */
		assert_memory_equal(&a, &b, sizeof(a));
	}
	upf_traffic_free(&f);
	upf_traffic_free(&with);
}

static void
test_what_cannot_be_is_refused(void **state)
{
	static const size_t at[] = {offsetof(struct upf_traffic_cfg, packets),
				    offsetof(struct upf_traffic_cfg, bytes),
				    offsetof(struct upf_traffic_cfg, sessions),
				    offsetof(struct upf_traffic_cfg, per_session),
				    offsetof(struct upf_traffic_cfg, udp_percent),
				    offsetof(struct upf_traffic_cfg, dns_percent),
				    offsetof(struct upf_traffic_cfg, quic_percent)};
	static const uint32_t bad[][2] = {
		{UPF_TRAFFIC_PACKETS_MIN - 1, UPF_TRAFFIC_PACKETS_MAX + 1},
		{UPF_TRAFFIC_BYTES_MIN - 1, UPF_WIRE_BYTES_MAX + 1},
		{0, 0},
		{0, 65},
		{101, UINT32_MAX},
		{101, UINT32_MAX},
		{101, UINT32_MAX}};

	(void)state;
	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (unsigned k = 0; k < 2; k++) {
			struct upf_traffic_cfg cfg = model;
			struct upf_traffic f;

			memcpy((uint8_t *)&cfg + at[i], &bad[i][k], sizeof(uint32_t));
			assert_int_equal(upf_traffic_init(&f, &cfg, load), -EINVAL);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_trains),
		cmocka_unit_test(test_flows_are_what_ends_would_send),
		cmocka_unit_test(test_policies_are_those_of_the_rules),
		cmocka_unit_test(test_mix_of_udp),
		cmocka_unit_test(test_datagrams_of_names),
		cmocka_unit_test(test_flows_of_a_session_differ),
		cmocka_unit_test(test_means),
		cmocka_unit_test(test_plain_sessions_have_one_policy),
		cmocka_unit_test(test_what_cannot_be_is_refused),
	};
	int rc;

	load = upf_load_make(4000, 1000, 7);
	if (load == NULL)
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	upf_load_free(load);
	return rc;
}
