/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow table against a model that remembers every flow: what it has is what was put there, what
 * it lacks it said it gave up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "core/clock.h"
#include "modules/upf/upf_flow.h"

#define WORLD 200000  /* flows there may be */
#define PLACES 32768  /* in the table */
#define STEPS 3000000 /* of the model */
#define TICK_NS (1ULL << UPF_FLOW_TICK_SHIFT)

static uint64_t seed;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((seed >> 33) % n);
}

/* Flow i of the world: neighbours differ in one field alone, so every field counts. */
static struct upf_flow_key
key_of(uint32_t i)
{
	struct upf_flow_key k = {
		.handle = 0x00100101 + i % 5,
		.ports = {(uint16_t)(i / 5 % 7), (uint16_t)(i / 35 % 11)},
		.proto = (uint8_t)(i / 385 % 2 ? 6 : 17),
		.what = (uint8_t)(i / 770 % 2 ? UPF_FLOW_PORTS | UPF_FLOW_IP6 : UPF_FLOW_PORTS)};

	const bool v6 = k.what & UPF_FLOW_IP6;

	i /= 1540;
	memcpy(k.ends[0], &i, sizeof(i));
	k.ends[0][v6 ? 15 : 3] = (uint8_t)(i % 3);
	k.ends[1][v6 ? 7 : 2] = (uint8_t)(i % 2);
	return k;
}

struct model {
	struct upf_flows *t;
	uint16_t mark[WORLD]; /* of the flow, 0: not in the table */
	uint16_t seen[WORLD];
	uint32_t nb, moved;
};

/* The number that a flow of the table was given, and by key_of() which it is. */
static uint32_t
number_of(const struct upf_flow *f)
{
	return (uint32_t)f->way[0];
}

static void
went(struct model *m, const struct upf_flow *gone)
{
	const uint32_t i = number_of(gone);
	const struct upf_flow_key k = key_of(i);

	assert_true(upf_flow_is(gone, &k));
	assert_int_equal(gone->app, m->mark[i]);
	assert_int_not_equal(m->mark[i], 0);
	m->mark[i] = 0;
	m->nb--;
}

/* Each line's `kin` is exactly the lines of the bucket whose flows are at home there. */
static void
kin_is_right(const struct upf_flows *t, uint32_t bucket)
{
	uint8_t kin[UPF_FLOW_WAYS] = {0};

	for (unsigned l = 0; l < UPF_FLOW_WAYS; l++) {
		const struct upf_flow *f = &t->flows[bucket + l];

		if (f->key.handle != 0) {
			const struct upf_flow_key k = key_of(number_of(f));

			kin[upf_flow_home(t, upf_flow_hash(t, &k)) - bucket] |= (uint8_t)(1U << l);
		}
	}
	for (unsigned l = 0; l < UPF_FLOW_WAYS; l++)
		assert_int_equal(t->flows[bucket + l].kin, kin[l]);
}

/* Either the flow and the one at its home change places, with all they have, or nothing does. */
static void
bring_home(struct model *m, uint32_t at, uint64_t hash, uint16_t tick)
{
	const uint32_t home = upf_flow_home(m->t, hash);
	const struct upf_flow f = m->t->flows[at], other = m->t->flows[home];
	const bool moves = at != home && !((f.state | other.state) & UPF_FLOW_SCANNING) &&
			   (other.key.handle == 0 || (uint16_t)(tick - other.seen) >= 2);
	const uint32_t is = upf_flow_bring_home(m->t, at, hash, tick);

	m->moved += moves;
	assert_int_equal(is, moves ? home : at);
	assert_memory_equal(&m->t->flows[is], &f, offsetof(struct upf_flow, kin));
	assert_int_equal(m->t->flows[is].way[1], f.way[1]); /* and state */
	if (!moves)
		return;
	kin_is_right(m->t, home / UPF_FLOW_WAYS * UPF_FLOW_WAYS);
	assert_int_equal(m->t->flows[at].key.handle, other.key.handle);
	if (other.key.handle != 0) {
		const struct upf_flow_key k = key_of(number_of(&other));

		assert_int_equal(upf_flow_find(m->t, &k, upf_flow_hash(m->t, &k)), at);
		assert_memory_equal(&m->t->flows[at], &other, offsetof(struct upf_flow, kin));
		assert_int_equal(m->t->flows[at].way[1], other.way[1]);
	}
}

static void
step(struct model *m, uint32_t i, uint16_t tick)
{
	const struct upf_flow_key k = key_of(i);
	const uint64_t hash = upf_flow_hash(m->t, &k);
	uint32_t at = upf_flow_find(m->t, &k, hash);
	struct upf_flow gone;

	assert_int_equal(at != UPF_FLOW_NONE, m->mark[i] != 0);
	if (at != UPF_FLOW_NONE) {
		assert_int_equal(m->t->flows[at].app, m->mark[i]);
		assert_int_equal(number_of(&m->t->flows[at]), i);
		assert_true(k.what & UPF_FLOW_IP6 || m->t->flows[at].first == ~i);
		bring_home(m, at, hash, tick);
		at = upf_flow_find(m->t, &k, hash);
		upf_flow_seen(&m->t->flows[at], tick);
		m->seen[i] = tick;
		return;
	}
	at = upf_flow_add(m->t, &k, hash, tick, &gone);
	if (gone.key.handle != 0) {
		assert_int_not_equal(m->seen[number_of(&gone)], tick);
		went(m, &gone);
	}
	if (at == UPF_FLOW_NONE)
		return;
	assert_int_equal(m->t->flows[at].state | m->t->flows[at].app, 0);
	m->t->flows[at].app = m->mark[i] = (uint16_t)(1 + rnd(65535));
	m->t->flows[at].state = rnd(8) ? UPF_FLOW_FINAL : UPF_FLOW_SCANNING;
	upf_flow_way_set(&m->t->flows[at], 0, i);
	if (!(k.what & UPF_FLOW_IP6))
		m->t->flows[at].first = ~i;
	m->seen[i] = tick;
	m->nb++;
}

static void
random_flows_as_a_model_has_them(void **state)
{
	struct model *m = calloc(1, sizeof(*m));
	uint64_t now_ns = 5000 * AP_NS_PER_S;

	(void)state;
	seed = 11;
	m->t = upf_flows_create(PLACES);
	upf_flows_touch(m->t);
	for (uint32_t n = 0; n < STEPS; n++) {
		/* Mostly few flows often, sometimes all of them. */
		step(m, rnd(4) ? rnd(20000) : rnd(WORLD), upf_flow_tick(now_ns));
		if (n % 50000 == 0)
			now_ns += TICK_NS;
		assert_int_equal(m->t->stats.live, m->nb);
	}
	assert_true(m->t->stats.evicted > 10000 && m->t->stats.crowded > 0 && m->moved > 10000);
	assert_int_equal(m->t->stats.made, m->nb + m->t->stats.evicted);
	upf_flows_destroy(m->t);
	free(m);
}

static void
the_longest_idle_one_goes(void **state)
{
	struct upf_flows *t = upf_flows_create(1); /* one bucket */
	struct upf_flow gone;

	(void)state;
	assert_int_equal(t->nb_buckets, 1);
	for (uint32_t i = 0; i < UPF_FLOW_WAYS; i++) {
		const struct upf_flow_key k = key_of(i);

		assert_int_not_equal(upf_flow_add(t, &k, upf_flow_hash(t, &k), 65530 + i, &gone),
				     UPF_FLOW_NONE);
		assert_int_equal(gone.key.handle, 0);
	}
	for (uint32_t i = UPF_FLOW_WAYS; i < 2 * UPF_FLOW_WAYS; i++) {
		const struct upf_flow_key k = key_of(i), old = key_of(i - UPF_FLOW_WAYS);

		assert_int_not_equal(upf_flow_add(t, &k, upf_flow_hash(t, &k), 100, &gone),
				     UPF_FLOW_NONE);
		assert_true(upf_flow_is(&gone, &old));
	}
	/* All are busy now. */
	{
		const struct upf_flow_key k = key_of(99);

		assert_int_equal(upf_flow_add(t, &k, upf_flow_hash(t, &k), 100, &gone),
				 UPF_FLOW_NONE);
		assert_int_equal(t->stats.crowded, 1);
	}
	upf_flows_destroy(t);
}

static void
idle_flows_go_after_their_time(void **state)
{
	static const struct {
		uint8_t proto, state;
		uint64_t idle_s;
	} flows[] = {{17, 0, 300}, {6, 0, 7440}, {6, UPF_FLOW_CLOSING, 30}};
	struct upf_flow gone[2 * UPF_FLOW_WAYS];

	(void)state;
	for (unsigned i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		struct upf_flows *t = upf_flows_create(2 * UPF_FLOW_WAYS);
		const uint64_t begin_ns = 70000 * AP_NS_PER_S;
		struct upf_flow_key k = key_of(0);
		uint64_t went_s = 0;
		uint32_t at;

		k.proto = flows[i].proto;
		t->sweep_ns = begin_ns;
		at = upf_flow_add(t, &k, upf_flow_hash(t, &k), upf_flow_tick(begin_ns), gone);
		t->flows[at].state = flows[i].state;
		for (uint64_t s = 1; s < 8000 && went_s == 0; s++)
			if (upf_flows_sweep(t, 2, begin_ns + s * AP_NS_PER_S, gone) == 1)
				went_s = s;
		/* Once a minute each bucket is looked at. */
		assert_in_range(went_s, flows[i].idle_s, flows[i].idle_s + 61);
		assert_true(upf_flow_is(&gone[0], &k));
		assert_int_equal(upf_flow_find(t, &k, upf_flow_hash(t, &k)), UPF_FLOW_NONE);
		assert_int_equal(t->stats.live, 0);
		upf_flows_destroy(t);
	}
}

static void
ways_go_before_stamps_come_again(void **state)
{
	struct upf_flows *t = upf_flows_create(2 * UPF_FLOW_WAYS);
	const struct upf_flow_key k = key_of(0);
	struct upf_flow gone, *f;

	(void)state;
	f = &t->flows[upf_flow_add(t, &k, upf_flow_hash(t, &k), UINT16_MAX, &gone)];
	f->state = UPF_FLOW_LOOKED | UPF_FLOW_FINAL;
	f->app = 7;
	for (unsigned d = 0; d < 2; d++)
		upf_flow_way_set(f, d, UPF_WAY_VALID | 5);
	upf_flow_seen(f, UPF_FLOW_CLOSED - 2);
	assert_true(f->way[0] & f->way[1] & UPF_WAY_VALID);
	upf_flow_seen(f, 2 * UPF_FLOW_CLOSED - 2);
	assert_int_equal((f->way[0] | f->way[1]) & UPF_WAY_MASK, 0);
	assert_int_equal(f->app, 7);
	assert_int_equal(f->state, UPF_FLOW_LOOKED | UPF_FLOW_FINAL);
	assert_int_equal(f->seen, 2 * UPF_FLOW_CLOSED - 2);
	upf_flows_destroy(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_flows_as_a_model_has_them),
		cmocka_unit_test(the_longest_idle_one_goes),
		cmocka_unit_test(idle_flows_go_after_their_time),
		cmocka_unit_test(ways_go_before_stamps_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
