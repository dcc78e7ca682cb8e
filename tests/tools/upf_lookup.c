/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Cycles that finding a packet's session and lane takes, seeded random access over so many plain
 * sessions:
 *     upf_lookup [sessions]
 * Best of several runs, each over vectors of 64 packets in passes as upf_match makes them. What it
 * found is verified. Prints a line a way of lookup; asserts nothing of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>

#include "modules/upf/upf_filter.h"
#include "test_upf.h"

#define UE 0x0A000001U
#define VECTOR 64
#define LOOKUPS (VECTOR * 16384)
#define RUNS 21
#define CLASSIFIED 20000

static struct test_unit u;
static struct test_message msg;
static uint32_t *teids, *addresses; /* network order */
static unsigned nb_sessions;
static uint64_t sink;

static void
install(void)
{
	static uint16_t slots[UPF_BUCKETS];

	for (unsigned n = 0; n < nb_sessions; n++) {
		uint8_t p[4];
		unsigned bucket;

		be32_put(p, UE + n);
		bucket = upf_bucket_ip4(p);
		test_plain(&msg, n + 1, upf_teid(bucket, slots[bucket]++, 1), UE + n);
		if (test_set(&u, &msg.m) != 0)
			exit(1);
	}
	for (unsigned i = 0; i < LOOKUPS; i++) {
		unsigned n = (unsigned)(((uint64_t)rand() << 16 ^ (uint64_t)rand()) % nb_sessions);

		addresses[i] = rte_cpu_to_be_32(UE + n);
		teids[i] = upf_index_ip4(u.index, TEST_CORE_INTERFACE, addresses[i]);
	}
}

/* Line 0, then the lane: what upf_match fetches. */
static void
visit(struct upf_session *const *s, unsigned lane)
{
	for (unsigned i = 0; i < VECTOR; i++)
		rte_prefetch0(&s[i]->inline_lanes[lane]);
	for (unsigned i = 0; i < VECTOR; i++)
		sink += s[i]->inline_lanes[lane].teid;
}

static void
by_teid(unsigned at)
{
	struct upf_session *s[VECTOR];

	for (unsigned i = 0; i < VECTOR; i++) {
		s[i] = upf_slot(u.tables, teids[at + i]);
		rte_prefetch0(s[i]);
	}
	for (unsigned i = 0; i < VECTOR; i++)
		if (!upf_slot_has_teid(s[i], teids[at + i]))
			exit(1);
	visit(s, 0);
}

static void
by_address(unsigned at)
{
	struct upf_session *s[VECTOR];

	for (unsigned i = 0; i < VECTOR; i++)
		upf_index_prefetch(u.index, TEST_CORE_INTERFACE,
				   rte_be_to_cpu_32(addresses[at + i]), false);
	for (unsigned i = 0; i < VECTOR; i++) {
		s[i] = upf_slot(u.tables,
				upf_index_ip4(u.index, TEST_CORE_INTERFACE, addresses[at + i]));
		rte_prefetch0(s[i]);
	}
	for (unsigned i = 0; i < VECTOR; i++)
		if (s[i]->ue_ip4 != addresses[at + i])
			exit(1);
	visit(s, 1);
}

static void
measure(const char *what, void (*fn)(unsigned at))
{
	uint64_t best = UINT64_MAX;

	for (unsigned run = 0; run < RUNS; run++) {
		uint64_t from = rte_rdtsc(), took;

		for (unsigned at = 0; at < LOOKUPS; at += VECTOR)
			fn(at);
		took = rte_rdtsc() - from;
		best = took < best ? took : best;
	}
	printf("%u sessions, %s: %.1f cycles a packet\n", nb_sessions, what,
	       (double)best / LOOKUPS);
}

/* A session of `pdrs` uplink PDRs with a filter each, of which the last matches. */
static void
classify(unsigned pdrs)
{
	struct upf_arrival a = {
		.rx = UPF_RX_TUNNEL, .teid = 0xFFFFF101, .interface = TEST_ACCESS_INTERFACE};
	uint8_t p[40] = {0x45, 0, 0, 40, [9] = 17, [12] = 11, 0, 0, 1, 198, 51, 100, 1};
	uint64_t best = UINT64_MAX;
	struct upf_session *s;

	test_message(&msg, 0xFFFFFF, a.teid, 0x0B000001);
	test_far(&msg, 1, 0, 0);
	test_tunnel(&msg, a.teid);
	for (unsigned i = 0; i < pdrs; i++) {
		Airpath__Upf__V1__Filter *f =
			test_filter(&msg, test_pdr(&msg, i + 1, i, UPF_ACCESS, 1, 1));

		f->protocol = 17;
		f->destination = test_prefix(&msg, test_ip4(&msg, 0xC6336401 + (pdrs - 1 - i)), 32);
	}
	if (test_set(&u, &msg.m) != 0)
		exit(1);
	s = upf_by_handle(u.tables, a.teid);
	for (unsigned run = 0; run < RUNS; run++) {
		uint64_t from = rte_rdtsc(), took;

		for (unsigned i = 0; i < CLASSIFIED; i++)
			if (upf_match_lane(s, &a, p, sizeof(p)) != (int)pdrs - 1)
				exit(1);
		took = rte_rdtsc() - from;
		best = took < best ? took : best;
	}
	printf("%u filters (%s): %.0f cycles a packet\n", pdrs,
	       upf_filter_is_compiled(s->rules->groups[0].filters, false) ? "rte_acl" : "in order",
	       (double)best / CLASSIFIED);
	test_delete(&u, a.teid, 0xFFFFFF);
}

int
main(int argc, char **argv)
{
	char *eal[] = {"upf_lookup", "--no-pci", "--no-telemetry", "--in-memory", "-m", "512",
		       "-l",         "0",        "--log-level",    "error",       NULL};
	const uint8_t pool[4] = {10, 0, 0, 0};

	nb_sessions = argc > 1 ? (unsigned)atoi(argv[1]) : 6000;
	if (rte_eal_init(10, eal) < 0)
		return 1;
	test_unit_open(&u);
	teids = malloc(LOOKUPS * sizeof(*teids));
	addresses = malloc(LOOKUPS * sizeof(*addresses));
	if (!teids || !addresses || nb_sessions == 0)
		return 1;
	if (argc > 2 && upf_index_pool(u.index, pool, 4, 10, TEST_CORE_INTERFACE) != 0)
		return 1;
	install();
	measure("by TEID", by_teid);
	measure(argc > 2 ? "by pooled address" : "by hashed address", by_address);
	for (unsigned n = 1; n <= UPF_RULES_MAX; n *= 4)
		classify(n);
	classify(16);
	classify(17);
	return sink == 1; /* so that nothing is left out */
}
