/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/ip.h"
#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_reassembly.h"
#include "test_eal.h"

#define MS 1000000ULL
#define BYTES 1000

static struct rte_mempool *pool;
static struct upf_reassembly r;
static uint64_t drops[UPF_FRAG_DROPS], used, in;

static int
up(void **state)
{
	(void)state;
	memset(drops, 0, sizeof(drops));
	used = in = 0;
	return upf_reassembly_init(&r, 4, 1000 * MS);
}

static int
down(void **state)
{
	(void)state;
	upf_reassembly_fini(&r);
	assert_pool_full(pool);
	return 0;
}

/** Octets first..first + n of packet `id`'s payload, of BYTES, each its offset's low octet. */
static struct rte_mbuf *
fragment(bool v6, uint32_t id, unsigned first, unsigned n, bool more, size_t seg)
{
	struct net_frame f = {0};
	uint8_t *ip;
	uint16_t sum;

	ip = f.b +
	     net_ip(&f, v6, v6 ? gnb_6 : gnb_4, v6 ? n3_6 : n3_4, v6 ? 44 : 17, n + (v6 ? 8 : 0));
	if (v6) {
		f.b[f.at] = 17;
		be16_put(f.b + f.at + 2, (uint16_t)(first | more));
		be32_put(f.b + f.at + 4, id);
		f.at += 8;
	} else {
		be16_put(ip + 4, (uint16_t)id);
		be16_put(ip + 6, (uint16_t)((more ? 0x2000 : 0) | first / 8));
		be16_put(ip + 10, 0);
		sum = ip_checksum(ip, 20);
		memcpy(ip + 10, &sum, 2);
	}
	for (unsigned i = 0; i < n; i++)
		f.b[f.at++] = (uint8_t)(first + i);
	return net_mbuf(pool, &f, seg);
}

static struct rte_mbuf *
take(struct rte_mbuf *m, uint64_t now_ns)
{
	in++;
	return upf_reassembly_take(&r, m, now_ns, drops, &used);
}

static void
assert_books(unsigned out)
{
	uint64_t sum = out + used + r.held;

	for (unsigned i = 0; i < UPF_FRAG_DROPS; i++)
		sum += drops[i];
	assert_int_equal(in, sum);
}

static void
assert_whole(struct rte_mbuf *m, bool v6, unsigned bytes)
{
	struct ip_hdr h;
	uint8_t all[2 * BYTES];
	int hdr;

	assert_non_null(m);
	rte_mbuf_sanity_check(m, 1);
	assert_int_equal(rte_pktmbuf_linearize(m), 0);
	memcpy(all, rte_pktmbuf_mtod(m, void *), m->pkt_len);
	hdr = ip_decode(all, m->pkt_len, &h);
	assert_int_equal(hdr, v6 ? 40 : 20);
	assert_int_equal(h.bytes, m->pkt_len);
	assert_int_equal(h.proto, 17);
	assert_false(h.more_fragments);
	assert_int_equal(h.fragment_offset, 0);
	assert_int_equal(m->pkt_len, (unsigned)hdr + bytes);
	for (unsigned i = 0; i < bytes; i++)
		assert_int_equal(all[(unsigned)hdr + i], (uint8_t)i);
	rte_pktmbuf_free(m);
}

static void
any_order_and_any_segments(void **state)
{
	static const unsigned order[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	const unsigned first[] = {0, 400, 808, BYTES};
	unsigned wholes = 0;

	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned o = 0; o < 6; o++)
			for (size_t seg = 0; seg < 200; seg += 90) {
				struct rte_mbuf *m = NULL;

				for (unsigned i = 0; i < 3; i++) {
					unsigned k = order[o][i];

					assert_null(m);
					m = take(fragment(v6, o, first[k], first[k + 1] - first[k],
							  k < 2, seg),
						 MS);
				}
				assert_whole(m, v6, BYTES);
				assert_books(++wholes);
			}
	assert_int_equal(used, 2 * wholes);
	assert_int_equal(r.nb, 0);
}

static void
packets_do_not_mix(void **state)
{
	(void)state;
	assert_null(take(fragment(false, 1, 0, 400, true, 0), MS));
	assert_null(take(fragment(false, 2, 400, 600, false, 0), MS));
	assert_null(take(fragment(true, 1, 400, 600, false, 0), MS));
	assert_whole(take(fragment(true, 1, 0, 400, true, 0), MS), true, BYTES);
	assert_whole(take(fragment(false, 2, 0, 400, true, 0), MS), false, BYTES);
	assert_whole(take(fragment(false, 1, 400, 600, false, 0), MS), false, BYTES);
	assert_books(3);
}

static void
overlaps_cost_the_packet(void **state)
{
	(void)state;
	assert_null(take(fragment(false, 1, 0, 400, true, 0), MS));
	assert_null(take(fragment(false, 1, 0, 400, true, 0), MS));
	assert_int_equal(drops[UPF_FRAG_DUPLICATE], 1);
	assert_null(take(fragment(false, 1, 392, 400, true, 0), MS));
	assert_int_equal(drops[UPF_FRAG_OVERLAP], 2);
	assert_int_equal(r.nb, 0);
	/* Two ends, and something behind the end. */
	assert_null(take(fragment(true, 1, 800, 100, false, 0), MS));
	assert_null(take(fragment(true, 1, 400, 100, false, 0), MS));
	assert_int_equal(drops[UPF_FRAG_OVERLAP], 4);
	assert_null(take(fragment(true, 1, 800, 104, false, 0), MS));
	assert_null(take(fragment(true, 1, 904, 96, true, 0), MS));
	assert_int_equal(drops[UPF_FRAG_OVERLAP], 6);
	assert_books(0);
}

static void
what_cannot_be_a_fragment(void **state)
{
	(void)state;
	assert_null(take(fragment(false, 1, 0, 401, true, 0), MS)); /* not of 8s, and more */
	assert_null(take(fragment(false, 1, 65528, 100, false, 0), MS));
	assert_null(take(fragment(false, 1, 8, 0, false, 0), MS));
	assert_null(take(fragment(true, 1, 8, 0, false, 0), MS));
	assert_int_equal(drops[UPF_FRAG_MALFORMED], 4);
	assert_books(0);
}

static void
bounded_in_packets_fragments_and_time(void **state)
{
	(void)state;
	for (unsigned id = 0; id < 5; id++)
		assert_null(take(fragment(false, id, 0, 8, true, 0), (1 + id) * MS));
	assert_int_equal(drops[UPF_FRAG_FULL], 1);
	assert_int_equal(r.nb, 4);
	assert_int_equal(upf_reassembly_due(&r), 1001 * MS);
	upf_reassembly_expire(&r, 1002 * MS, drops);
	assert_int_equal(drops[UPF_FRAG_TIMEOUT], 2);
	assert_int_equal(r.nb, 2);
	/* The rest of one goes with the first of them. */
	for (unsigned i = 1; i <= UPF_FRAGMENTS_MAX; i++)
		assert_null(take(fragment(false, 3, 8 * i, 8, true, 0), 1003 * MS));
	assert_int_equal(drops[UPF_FRAG_FULL], 1 + UPF_FRAGMENTS_MAX + 1);
	upf_reassembly_expire(&r, 5000 * MS, drops);
	assert_int_equal(upf_reassembly_due(&r), UINT64_MAX);
	assert_books(0);
	/* Room again. */
	assert_null(take(fragment(false, 9, 0, 400, true, 0), 5000 * MS));
	assert_whole(take(fragment(false, 9, 400, 600, false, 0), 5001 * MS), false, BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(any_order_and_any_segments, up, down),
		cmocka_unit_test_setup_teardown(packets_do_not_mix, up, down),
		cmocka_unit_test_setup_teardown(overlaps_cost_the_packet, up, down),
		cmocka_unit_test_setup_teardown(what_cannot_be_a_fragment, up, down),
		cmocka_unit_test_setup_teardown(bounded_in_packets_fragments_and_time, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("fragments", 512, 2048);
	return pool ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
