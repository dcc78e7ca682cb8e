/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/free.h"
#include "test_eal.h"

#define BURST 200

static struct rte_mempool *data, *hdr, *ind;
static struct rte_mbuf *pkts[BURST];

static void
all_back(void)
{
	assert_pool_full(data);
	assert_pool_full(hdr);
	assert_pool_full(ind);
}

/** Every mbuf of `pool` must be as a pool hands it out. */
static void
pristine(struct rte_mempool *pool)
{
	struct rte_mbuf *m[1023];

	assert_int_equal(rte_mempool_get_bulk(pool, (void **)m, 1023), 0);
	for (unsigned i = 0; i < 1023; i++) {
		assert_int_equal(rte_mbuf_refcnt_read(m[i]), 1);
		assert_int_equal(m[i]->nb_segs, 1);
		assert_null(m[i]->next);
		assert_true(RTE_MBUF_DIRECT(m[i]));
		assert_ptr_equal(m[i]->buf_addr, (char *)m[i] + sizeof(struct rte_mbuf));
		assert_int_equal(m[i]->buf_iova,
				 rte_mempool_virt2iova(m[i]) + sizeof(struct rte_mbuf));
		assert_int_equal(m[i]->buf_len, rte_pktmbuf_data_room_size(pool));
	}
	rte_mempool_put_bulk(pool, (void **)m, 1023);
}

/** Packets as the downlink makes them: header segment, then a piece of one of many buffers. */
static void
make(unsigned per_buffer, struct rte_mbuf **kept)
{
	struct rte_mbuf *buffer = NULL;

	*kept = NULL;
	for (unsigned i = 0; i < BURST; i++) {
		struct rte_mbuf *piece = rte_pktmbuf_alloc(ind);

		if (i % per_buffer == 0) {
			if (buffer)
				rte_pktmbuf_free(buffer);
			buffer = rte_pktmbuf_alloc(data);
			rte_pktmbuf_append(buffer, 1000);
		}
		rte_pktmbuf_attach(piece, buffer);
		if (i == BURST / 2) {
			*kept = buffer;
			rte_mbuf_refcnt_update(buffer, 1);
		}
		pkts[i] = rte_pktmbuf_alloc(hdr);
		rte_pktmbuf_append(pkts[i], 14);
		assert_int_equal(rte_pktmbuf_chain(pkts[i], piece), 0);
	}
	rte_pktmbuf_free(buffer);
}

static void
shared_buffers_go_when_the_last_piece_goes(void **state)
{
	static const unsigned per_buffer[] = {1, 3, 8, 64, BURST};

	(void)state;
	for (unsigned k = 0; k < RTE_DIM(per_buffer); k++) {
		struct rte_mbuf *kept;

		make(per_buffer[k], &kept);
		ap_free_bulk(pkts, BURST);
		assert_pool_full(hdr);
		assert_pool_full(ind);
		assert_int_equal(rte_mempool_in_use_count(data), 1);
		assert_int_equal(rte_mbuf_refcnt_read(kept), 1);
		rte_pktmbuf_free(kept);
		all_back();
	}
	pristine(data);
	pristine(hdr);
	pristine(ind);
}

static void
plain_and_kept_packets(void **state)
{
	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(data, pkts, 10), 0);
	rte_mbuf_refcnt_update(pkts[3], 1);
	ap_free_bulk(pkts, 10);
	assert_int_equal(rte_mempool_in_use_count(data), 1);
	assert_int_equal(rte_mbuf_refcnt_read(pkts[3]), 1);
	ap_free_bulk(pkts + 3, 1);
	ap_free_bulk(pkts, 0);
	all_back();
	pristine(data);
}

static void
more_pools_than_batches(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 30; i++)
		pkts[i] = rte_pktmbuf_alloc(i % 3 == 0 ? data : i % 3 == 1 ? hdr : ind);
	ap_free_bulk(pkts, 30);
	all_back();
}

static int
start(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	data = test_pool("data", 1023, 1500);
	hdr = test_pool("hdr", 1023, 64);
	ind = rte_pktmbuf_pool_create("ind", 1023, 0, 0, 0, 0);
	return data && hdr && ind ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_buffers_go_when_the_last_piece_goes),
		cmocka_unit_test(plain_and_kept_packets),
		cmocka_unit_test(more_pools_than_batches),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
