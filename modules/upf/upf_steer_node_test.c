/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_steer: whose a packet is, order, hand-offs counted, streams that move whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "codec/be.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_rules.h"
#include "test_eal.h"
#include "test_node.h"

#define WORKERS 3
#define CORE 2

static struct rte_mempool *pool;
static struct upf upf;
static struct test_node *steer;

static int
setup(void **state)
{
	(void)state;
	upf = (struct upf){.nb_workers = WORKERS, .index = upf_index_create(SOCKET_ID_ANY)};
	upf_owner_map_init(&upf.owners, WORKERS, UPF_BUCKETS);
	steer = test_node_make("upf_steer", &upf);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	test_node_balance(steer);
	test_node_free(steer);
	upf_index_destroy(upf.index);
	assert_pool_full(pool);
	return 0;
}

static struct rte_mbuf *
packet(uint8_t rx, uint32_t teid, const uint8_t *dst)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *ip = (uint8_t *)rte_pktmbuf_append(m, 64);

	memset(ip, 0, 64);
	if (dst)
		memcpy(ip + (rx & UPF_RX_INNER6 ? 24 : 16), dst, rx & UPF_RX_INNER6 ? 16 : 4);
	*upf_arrival(m) = (struct upf_arrival){.teid = teid, .rx = rx, .interface = CORE};
	return m;
}

static struct rte_mbuf *
up(uint32_t teid)
{
	return packet(UPF_RX_TUNNEL, teid, NULL);
}

/** Visits with one packet. @return the worker it went to; its arrival in *a. */
static unsigned
one(struct rte_mbuf *m, struct upf_arrival *a)
{
	test_node_visit(steer, &m, 1);
	for (unsigned w = 0; w < WORKERS; w++) {
		struct rte_mbuf **out;

		if (test_node_take(steer, w, &out) == 1) {
			*a = *upf_arrival(out[0]);
			rte_pktmbuf_free(out[0]);
			return w;
		}
	}
	fail_msg("the packet is nowhere");
	return 0;
}

static void
tunnel_goes_by_the_bucket_of_its_teid(void **state)
{
	struct upf_arrival a;

	(void)state;
	for (uint32_t b = 0; b < 64; b++) {
		uint32_t teid = upf_teid(b, 5, 9);

		assert_int_equal(one(up(teid), &a), upf.owners.worker[b]);
		assert_int_equal(a.teid, teid);
	}
	/* Each packet that did not stay with worker 0 is a hand-off. */
	assert_int_equal(steer->n.out[1] + steer->n.out[2], 64 - steer->n.out[0]);
	assert_in_range(steer->n.out[1], 20, 22);
}

static void
teid_of_another_allocator_goes_by_the_index(void **state)
{
	const uint32_t handle = upf_teid(4, 1, 1), teid = upf_teid(5, 0, 0);
	struct upf_tunnel tunnel = {.teid = teid, .interface = 1, .foreign = true};
	struct upf_rules r = {.handle = handle, .nb_tunnels = 1, .tunnels = &tunnel};
	struct upf_arrival a;

	(void)state;
	assert_int_equal(one(up(teid), &a), upf.owners.worker[5]);
	assert_int_equal(upf_index_add(upf.index, &r, NULL), 0);
	assert_int_equal(one(up(teid), &a), upf.owners.worker[4]);
	assert_int_equal(a.teid, teid);
}

static void
address_goes_by_the_handle_which_goes_along(void **state)
{
	const uint8_t ip4[4] = {10, 45, 0, 9};
	uint8_t ip6[16] = {0x20, 1, 0xD, 0xB8, [15] = 1};
	/* The session's bucket is that of its IPv4 address: the /64's says nothing. */
	const uint32_t bucket = upf_bucket_ip4(ip4), handle = upf_teid(bucket, 2, 1);
	struct upf_rules r = {.handle = handle, .core_interface = CORE, .ue_ip6_bits = 64};
	struct upf_arrival a;

	(void)state;
	memcpy(r.ue_ip4, ip4, sizeof(ip4));
	while (upf.owners.worker[upf_bucket_prefix6(ip6)] == upf.owners.worker[bucket])
		ip6[7]++;
	memcpy(r.ue_ip6, ip6, sizeof(r.ue_ip6));
	assert_int_equal(one(packet(0, 0, ip4), &a), upf.owners.worker[bucket]);
	assert_int_equal(a.teid, 0);
	assert_int_equal(upf_index_add(upf.index, &r, NULL), 0);
	assert_int_equal(one(packet(0, 0, ip4), &a), upf.owners.worker[bucket]);
	assert_int_equal(a.teid, handle);
	assert_int_equal(one(packet(UPF_RX_INNER6, 0, ip6), &a), upf.owners.worker[bucket]);
	assert_int_equal(a.teid, handle);
}

static void
packets_of_a_worker_keep_their_order(void **state)
{
	struct rte_mbuf *pkts[600], **out;
	unsigned seen = 0;

	(void)state;
	for (uint32_t i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = up(upf_teid(i * 7 % 40, i % 4096, 1));
	test_node_visit(steer, pkts, RTE_DIM(pkts));
	for (unsigned w = 0; w < WORKERS; w++) {
		uint16_t nb = test_node_take(steer, w, &out);
		uint32_t last = 0;

		for (uint16_t i = 0; i < nb; i++) {
			uint32_t teid = upf_arrival(out[i])->teid;

			assert_int_equal(upf_owner_of_teid(&upf.owners, teid), w);
			assert_true(i == 0 || upf_teid_slot(teid) > last);
			last = upf_teid_slot(teid);
			rte_pktmbuf_free(out[i]);
			seen++;
		}
	}
	assert_int_equal(seen, RTE_DIM(pkts));
}

int
main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(tunnel_goes_by_the_bucket_of_its_teid),
		T(teid_of_another_allocator_goes_by_the_index),
		T(address_goes_by_the_handle_which_goes_along),
		T(packets_of_a_worker_keep_their_order),
	};

	if (test_eal_init() < 0 || (pool = test_pool("pkt", 1023, 256)) == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
