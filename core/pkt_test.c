/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/pkt.h"
#include "test_eal.h"

static struct rte_mempool *pool;
static struct rte_mempool *tiny; /* one mbuf */

/** A chain of segments "0123", "4567" …, `segs` of them, with telling meta. */
static struct rte_mbuf *
chain(unsigned segs)
{
	struct rte_mbuf *head = NULL;

	for (unsigned i = 0; i < segs; i++) {
		struct rte_mbuf *s = rte_pktmbuf_alloc(pool);

		assert_non_null(s);
		for (unsigned k = 0; k < 4; k++)
			rte_pktmbuf_append(s, 1)[0] = (char)('0' + 4 * i + k);
		if (head == NULL)
			head = s;
		else
			assert_int_equal(rte_pktmbuf_chain(head, s), 0);
	}
	*ap_meta(head) = (struct ap_meta){.bearer = 7, .qfi = 9, .flags = AP_M_TIMED};
	ap_ext(head)->enter_ns = 1234;
	return head;
}

static void
expect(struct rte_mbuf *m, const char *bytes)
{
	char buf[64];
	const char *reason;

	assert_int_equal(rte_mbuf_check(m, 1, &reason), 0);
	assert_int_equal(m->pkt_len, strlen(bytes));
	assert_memory_equal(rte_pktmbuf_read(m, 0, m->pkt_len, buf), bytes, m->pkt_len);
	assert_int_equal(ap_meta(m)->bearer, 7);
	assert_int_equal(ap_meta(m)->flags, AP_M_TIMED);
	assert_int_equal(ap_ext(m)->enter_ns, 1234);
}

static void
prepend_in_headroom(void **state)
{
	struct rte_mbuf *m = chain(2), *was = m;

	(void)state;
	memcpy(ap_pkt_prepend(&m, 2, tiny), "ab", 2);
	assert_ptr_equal(m, was);
	expect(m, "ab01234567");
	rte_pktmbuf_free(m);
	assert_pool_full(pool);
}

/* The second holder promises to leave a buffer under way alone: its headroom may be used. */
static void
prepend_to_a_retained_buffer(void **state)
{
	struct rte_mbuf *m = chain(1), *was = m;

	(void)state;
	rte_mbuf_refcnt_set(m, 2);
	ap_meta(m)->flags |= AP_M_RETAINED;
	memcpy(ap_pkt_prepend(&m, 2, tiny), "ab", 2);
	assert_ptr_equal(m, was);
	ap_meta(m)->flags &= (uint8_t)~AP_M_RETAINED;
	memcpy(ap_pkt_prepend(&m, 1, tiny), "c", 1);
	assert_ptr_not_equal(m, was); /* shared as any other */
	expect(m, "cab0123");
	rte_pktmbuf_free(m);
	assert_int_equal(rte_mbuf_refcnt_read(was), 1);
	rte_pktmbuf_free_seg(was);
	assert_pool_full(pool);
	assert_pool_full(tiny);
}

static void
prepend_before_shared_buffer(void **state)
{
	struct rte_mbuf *owner = chain(1);
	struct rte_mbuf *m = rte_pktmbuf_clone(owner, pool), *was = m;
	uint16_t off = owner->data_off;

	(void)state;
	*ap_meta(m) = *ap_meta(owner);
	*ap_ext(m) = *ap_ext(owner);
	memcpy(ap_pkt_prepend(&m, 2, tiny), "ab", 2);
	assert_ptr_not_equal(m, was);
	expect(m, "ab0123");
	/* The direct mbuf is shared as well, and read-only for the same reason. */
	memcpy(ap_pkt_prepend(&owner, 1, pool), "c", 1);
	expect(owner, "c0123");
	assert_int_equal(owner->next->data_off, off);
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(owner);
	assert_pool_full(pool);
	assert_pool_full(tiny);
}

static void
prepend_without_a_segment_leaves_the_packet(void **state)
{
	struct rte_mbuf *m = chain(1), *was = m;
	struct rte_mbuf *last = rte_pktmbuf_alloc(tiny);

	(void)state;
	m->data_off = 1;
	assert_null(ap_pkt_prepend(&m, 2, tiny));
	assert_ptr_equal(m, was);
	rte_pktmbuf_free(last);
	rte_pktmbuf_free(m);
	assert_pool_full(pool);
}

static void
strip_frees_emptied_segments(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	m = ap_pkt_strip(chain(3), 3);
	expect(m, "3456789:;");
	m = ap_pkt_strip(m, 1);
	expect(m, "456789:;");
	assert_int_equal(m->nb_segs, 2);
	m = ap_pkt_strip(m, 6);
	expect(m, ":;");
	rte_pktmbuf_free(m);
	m = ap_pkt_strip(chain(3), 10);
	expect(m, ":;");
	assert_int_equal(m->nb_segs, 1);
	rte_pktmbuf_free(m);
	assert_pool_full(pool);
}

static void
append_and_trim(void **state)
{
	struct rte_mbuf *m = chain(2);

	(void)state;
	memcpy(ap_pkt_append(m, 2, tiny), "yz", 2);
	assert_int_equal(m->nb_segs, 2);
	expect(m, "01234567yz");
	ap_pkt_trim(m, 5);
	expect(m, "01234");
	ap_pkt_trim(m, 1);
	assert_int_equal(m->nb_segs, 1);
	expect(m, "0123");
	rte_mbuf_refcnt_update(m, 1);
	memcpy(ap_pkt_append(m, 2, tiny), "yz", 2);
	assert_int_equal(m->nb_segs, 2);
	expect(m, "0123yz");
	assert_null(ap_pkt_append(m, 200, tiny));
	rte_mbuf_refcnt_update(m, -1);
	rte_pktmbuf_free(m);
	assert_pool_full(pool);
	assert_pool_full(tiny);
}

static void
run_of_bearer(void **state)
{
	struct rte_mbuf *pkts[40];

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		pkts[i] = chain(1);
		ap_meta(pkts[i])->bearer = i < 3 ? 1 : i < 35 ? 2 : 3;
	}
	assert_int_equal(ap_run_of_bearer(pkts, 40), 3);
	assert_int_equal(ap_run_of_bearer(pkts, 2), 2);
	assert_int_equal(ap_run_of_bearer(pkts + 3, 37), 32);
	assert_int_equal(ap_run_of_bearer(pkts + 35, 5), 5);
	assert_int_equal(ap_run_of_bearer(pkts + 39, 1), 1);
	rte_pktmbuf_free_bulk(pkts, 40);
	assert_pool_full(pool);
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pkt", 255, 512);
	tiny = test_pool("tiny", 1, 64);
	return pool && tiny ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prepend_in_headroom),
		cmocka_unit_test(prepend_to_a_retained_buffer),
		cmocka_unit_test(prepend_before_shared_buffer),
		cmocka_unit_test(prepend_without_a_segment_leaves_the_packet),
		cmocka_unit_test(strip_frees_emptied_segments),
		cmocka_unit_test(append_and_trim),
		cmocka_unit_test(run_of_bearer),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
