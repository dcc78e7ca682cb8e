/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "codec/mac.h"
#include "modules/mac/mac_build.h"
#include "test_eal.h"

#define TB_MAX 200000
#define OUT_MAX 1024

static struct l2_pools pools;
static struct rte_mbuf *out[OUT_MAX];
static uint8_t expected[TB_MAX + 70000], got[TB_MAX];
static uint32_t seed;

static uint32_t
rnd(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init())
		return -1;
	pools.proto = test_pool("proto", 4095, 9216);
	pools.phy = test_pool("phy", 1023, 9216);
	pools.hdr = test_pool("hdr", 4095, 128);
	pools.ind = rte_pktmbuf_pool_create("ind", 4095, 0, 0, 0, 0);
	return pools.proto && pools.phy && pools.hdr && pools.ind ? 0 : -1;
}

static void
assert_no_leak(void)
{
	assert_pool_full(pools.proto);
	assert_pool_full(pools.phy);
	assert_pool_full(pools.hdr);
	assert_pool_full(pools.ind);
}

static struct rte_mbuf *
mark(uint8_t flag, uint32_t tb_bytes, const void *ce, uint8_t ce_bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools.hdr);
	struct mac_tb_mark *k =
		(struct mac_tb_mark *)(void *)rte_pktmbuf_append(m, mac_tb_mark_bytes(ce_bytes));

	*k = (struct mac_tb_mark){.tb_bytes = tb_bytes, .sfn = 5, .slot = 7, .ce_bytes = ce_bytes};
	memcpy(k->ce, ce, ce_bytes);
	*ap_meta(m) = (struct ap_meta){.flags = flag};
	return m;
}

/** A PDU of `bytes` filled from `fill` on, in `segs` segments. */
static struct rte_mbuf *
pdu(uint32_t bytes, uint8_t lcid, uint8_t fill, unsigned segs)
{
	struct rte_mbuf *head = NULL;

	for (unsigned s = 0; s < segs; s++) {
		uint32_t part = s + 1 == segs ? bytes : bytes / segs;
		struct rte_mbuf *m = rte_pktmbuf_alloc(pools.proto);
		uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)part);

		for (uint32_t i = 0; i < part; i++)
			p[i] = fill++;
		bytes -= part;
		if (head)
			rte_pktmbuf_chain(head, m);
		else
			head = m;
	}
	*ap_meta(head) = (struct ap_meta){.lcid = lcid};
	return head;
}

/** Checks a TB's fragments against `expected`, then frees them. */
static void
check_tb(const struct mac_build_run *run, uint32_t first, uint32_t tb_bytes, uint32_t fragment)
{
	uint32_t nb = (tb_bytes + fragment - 1) / fragment, at = 0;

	assert_true(first + nb <= run->nb_out);
	for (uint32_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = run->out[first + i];
		const struct ap_ext *ext = ap_ext(m);
		uint8_t flags = ap_meta(m)->flags & (AP_M_FRAG_FIRST | AP_M_FRAG_LAST);
		const void *p;

		assert_int_equal(m->pkt_len, RTE_MIN(fragment, tb_bytes - at));
		assert_int_equal(flags, (i == 0 ? AP_M_FRAG_FIRST : 0) |
						(i + 1 == nb ? AP_M_FRAG_LAST : 0));
		assert_int_equal(ext->tb_bytes, tb_bytes);
		assert_int_equal(ext->tb_offset, at);
		assert_int_equal(ext->sfn, 5);
		assert_int_equal(ext->slot, 7);
		assert_int_equal(ap_meta(m)->carrier, 3);
		assert_int_equal(rte_mbuf_check(m, 1, &(const char *){NULL}), 0);
		p = rte_pktmbuf_read(m, 0, m->pkt_len, got + at);
		if (p != got + at)
			memcpy(got + at, p, m->pkt_len);
		at += m->pkt_len;
		rte_pktmbuf_free(m);
	}
	assert_memory_equal(got, expected, tb_bytes);
}

static struct mac_build
builder(enum mac_strategy strategy, uint32_t fragment)
{
	const struct mac_build_cfg cfg = {.strategy = strategy, .fragment_bytes = fragment};
	struct mac_build b;

	assert_int_equal(mac_build_init(&b, &cfg, &pools, 3), 0);
	return b;
}

/** One random TB over one or several visits. @return its length. */
static void
random_tb(enum mac_strategy strategy, uint32_t the_seed)
{
	static const uint32_t sizes[] = {1, 40, 255, 256, 300, 1500, 9000};
	struct rte_mbuf *in[512], *kept[512];
	struct mac_build_run run = {.out = out, .max = OUT_MAX};
	const uint8_t ce[] = {0x3d, 0x41, 0x3e, 0x02, 0x01, 0x55};
	uint32_t at = 0, fragment, tb_bytes, nb = 0, nb_kept = 0;
	struct mac_build b;

	seed = the_seed;
	fragment = 64 + rnd(9000);
	b = builder(strategy, fragment);
	tb_bytes = 1 + rnd(rnd(2) ? 300 : RTE_MIN(TB_MAX, 128 * fragment));
	in[nb++] = mark(AP_M_TB_START, tb_bytes, ce, tb_bytes > 10 ? 2 : 0);
	if (tb_bytes > 10) {
		memcpy(expected, ce, 2);
		at = 2;
	}
	while (nb < 400) {
		uint32_t bytes = 1 + rnd(sizes[rnd(RTE_DIM(sizes))]);
		uint8_t lcid = (uint8_t)(1 + rnd(32));
		uint32_t need = bytes + mac_subheader_len(bytes);

		if (at + need > tb_bytes || rnd(100) == 0)
			break;
		at += mac_subheader_put(expected + at, lcid, bytes);
		for (uint32_t i = 0; i < bytes; i++)
			expected[at + i] = (uint8_t)(nb + i);
		at += bytes;
		in[nb] = pdu(bytes, lcid, (uint8_t)nb, bytes > 8 ? 1 + rnd(3) : 1);
		if (rnd(4) == 0) {
			rte_mbuf_refcnt_update(in[nb], 1);
			kept[nb_kept++] = in[nb];
		}
		nb++;
	}
	if (at + 6 <= tb_bytes && rnd(2)) {
		memcpy(expected + at, ce, 6);
		at += 6;
		in[nb++] = mark(AP_M_TB_END, tb_bytes, ce, 6);
	} else {
		in[nb++] = mark(AP_M_TB_END, tb_bytes, ce, 0);
	}
	mac_padding_put(expected + at, tb_bytes - at);
	for (uint32_t i = 0, n; i < nb; i += n) {
		n = RTE_MIN(1 + rnd(64), nb - i);
		mac_build(&b, in + i, (uint16_t)n, &run);
	}
	assert_int_equal(run.in_drops, 0);
	assert_int_equal(run.made, run.nb_out);
	assert_int_equal(run.nb_out, (tb_bytes + fragment - 1) / fragment);
	check_tb(&run, 0, tb_bytes, fragment);
	for (uint32_t i = 0; i < nb_kept; i++)
		rte_pktmbuf_free_seg(kept[i]);
	mac_build_fini(&b);
	assert_no_leak();
}

static void
strategies_give_identical_bytes(void **state)
{
	(void)state;
	for (uint32_t s = 1; s <= 150; s++)
		for (unsigned strategy = 0; strategy < MAC_STRATEGIES; strategy++)
			random_tb(strategy, s * 7919);
}

/** Padding of 0..4 B and more behind one SDU, in one fragment and split over two. */
static void
padding_lengths(void **state)
{
	(void)state;
	for (unsigned strategy = 0; strategy < MAC_STRATEGIES; strategy++) {
		for (uint32_t pad = 0; pad < 70; pad++) {
			struct mac_build b = builder(strategy, 64);
			struct mac_build_run run = {.out = out, .max = OUT_MAX};
			uint32_t tb_bytes = 62 + pad;
			struct rte_mbuf *in[] = {mark(AP_M_TB_START, tb_bytes, "", 0),
						 pdu(60, 4, 9, 1),
						 mark(AP_M_TB_END, tb_bytes, "", 0)};

			mac_subheader_put(expected, 4, 60);
			for (uint8_t i = 0; i < 60; i++)
				expected[2 + i] = (uint8_t)(9 + i);
			memset(expected + 62, 0, pad);
			if (pad)
				expected[62] = 0x3f;
			mac_build(&b, in, 3, &run);
			check_tb(&run, 0, tb_bytes, 64);
			mac_build_fini(&b);
			assert_no_leak();
		}
	}
}

static void
drop_one(struct rte_mbuf **in, uint16_t nb, enum mac_build_drop why, uint32_t times)
{
	struct mac_build_run run = {.out = out, .max = OUT_MAX};
	struct mac_build b = builder(MAC_SCATTER, 100);
	uint32_t dropped = 0;

	mac_build(&b, in, nb, &run);
	assert_int_equal(run.drops[why], times);
	for (unsigned i = 0; i < MAC_BUILD_DROPS; i++)
		dropped += run.drops[i];
	assert_int_equal(dropped - run.in_drops, run.made - run.nb_out);
	rte_pktmbuf_free_bulk(run.out, run.nb_out);
	mac_build_fini(&b);
	assert_no_leak();
}

static void
bad_input_is_dropped_by_name(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	drop_one((struct rte_mbuf *[]){pdu(50, 4, 0, 1)}, 1, MAC_BUILD_NO_TB, 1);
	drop_one((struct rte_mbuf *[]){mark(AP_M_TB_END, 9, "", 0)}, 1, MAC_BUILD_NO_TB, 1);
	drop_one((struct rte_mbuf *[]){mark(AP_M_TB_START, 0, "", 0), pdu(5, 4, 0, 1),
				       mark(AP_M_TB_END, 0, "", 0)},
		 3, MAC_BUILD_TB_SIZE, 1);
	drop_one((struct rte_mbuf *[]){mark(AP_M_TB_START, 12801, "", 0),
				       mark(AP_M_TB_END, 12801, "", 0)},
		 2, MAC_BUILD_TB_SIZE, 1);
	/* The SDU and the open fragment go; a later PDU is of an abandoned TB. */
	drop_one((struct rte_mbuf *[]){mark(AP_M_TB_START, 50, "", 0), pdu(20, 4, 0, 1),
				       pdu(40, 4, 0, 1), pdu(4, 4, 0, 1),
				       mark(AP_M_TB_END, 50, "", 0)},
		 5, MAC_BUILD_OVERRUN, 2);
	drop_one((struct rte_mbuf *[]){mark(AP_M_TB_START, 50, "", 0), pdu(20, 4, 0, 1),
				       mark(AP_M_TB_START, 50, "", 0),
				       mark(AP_M_TB_END, 50, "", 0)},
		 4, MAC_BUILD_NO_END, 1);
	m = pdu(20, 4, 0, 1);
	rte_pktmbuf_trim(m, 20);
	drop_one((struct rte_mbuf *[]){mark(AP_M_TB_START, 50, "", 0), m,
				       mark(AP_M_TB_END, 50, "", 0)},
		 3, MAC_BUILD_BAD_PDU, 1);
	m = mark(AP_M_TB_START, 50, "1234", 4);
	rte_pktmbuf_trim(m, 1);
	drop_one((struct rte_mbuf *[]){m, mark(AP_M_TB_END, 50, "", 0)}, 2, MAC_BUILD_BAD_MARK, 1);
	drop_one((struct rte_mbuf *[]){mark(AP_M_TB_START, 3, "1234", 4),
				       mark(AP_M_TB_END, 3, "", 0)},
		 2, MAC_BUILD_OVERRUN, 1);
}

/** A dry pool costs the TB in hand, by name; the next TB is whole. */
static void
exhausted_pool_spares_the_next_tb(void **state)
{
	(void)state;
	for (unsigned strategy = 0; strategy < MAC_STRATEGIES; strategy++) {
		struct rte_mempool *pool = strategy == MAC_SCATTER ? pools.ind : pools.phy;
		struct rte_mbuf *hoard[4096];
		struct mac_build_run run = {.out = out, .max = OUT_MAX};
		struct mac_build b = builder(strategy, 100);
		unsigned held = rte_mempool_avail_count(pool);
		uint32_t dropped = 0;

		assert_int_equal(rte_pktmbuf_alloc_bulk(pool, hoard, held), 0);
		struct rte_mbuf *bad[] = {mark(AP_M_TB_START, 300, "", 0), pdu(40, 4, 0, 1),
					  pdu(100, 4, 0, 1), pdu(30, 4, 0, 1),
					  mark(AP_M_TB_END, 300, "", 0)};
		mac_build(&b, bad, 5, &run);
		assert_true(run.drops[MAC_BUILD_NO_MBUF] > 0);
		assert_true(run.drops[MAC_BUILD_ABANDONED] > 0);
		for (unsigned i = 0; i < MAC_BUILD_DROPS; i++)
			dropped += run.drops[i];
		assert_int_equal(dropped - run.in_drops, run.made - run.nb_out);
		rte_pktmbuf_free_bulk(run.out, run.nb_out);
		rte_pktmbuf_free_bulk(hoard, held);

		run = (struct mac_build_run){.out = out, .max = OUT_MAX};
		struct rte_mbuf *good[] = {mark(AP_M_TB_START, 42, "", 0), pdu(40, 4, 1, 1),
					   mark(AP_M_TB_END, 42, "", 0)};
		mac_subheader_put(expected, 4, 40);
		for (uint8_t i = 0; i < 40; i++)
			expected[2 + i] = (uint8_t)(1 + i);
		mac_build(&b, good, 3, &run);
		check_tb(&run, 0, 42, 100);
		mac_build_fini(&b);
		assert_no_leak();
	}
}

/** The fragment carries the time of its oldest timed SDU, and none when it holds none. */
static void
oldest_time_travels_with_the_fragment(void **state)
{
	(void)state;
	for (unsigned strategy = 0; strategy < MAC_STRATEGIES; strategy++) {
		struct mac_build b = builder(strategy, 100);
		struct mac_build_run run = {.out = out, .max = OUT_MAX};
		struct rte_mbuf *in[] = {mark(AP_M_TB_START, 200, "", 0), pdu(40, 4, 0, 1),
					 pdu(40, 4, 0, 1), pdu(30, 4, 0, 1),
					 mark(AP_M_TB_END, 200, "", 0)};

		ap_meta(in[1])->flags = AP_M_TIMED;
		ap_ext(in[1])->enter_ns = 2000;
		ap_meta(in[3])->flags = AP_M_TIMED;
		ap_ext(in[3])->enter_ns = 1000;
		mac_build(&b, in, 5, &run);
		assert_int_equal(run.nb_out, 2);
		assert_true(ap_meta(out[0])->flags & AP_M_TIMED);
		assert_int_equal(ap_ext(out[0])->enter_ns, 1000);
		assert_false(ap_meta(out[1])->flags & AP_M_TIMED);
		rte_pktmbuf_free_bulk(out, 2);
		mac_build_fini(&b);
		assert_no_leak();
	}
}

/** Padding bytes in flight outlive the builder that made them; an open fragment is freed. */
static void
fini_leaves_nothing(void **state)
{
	struct mac_build b = builder(MAC_SCATTER, 100);
	struct mac_build_run run = {.out = out, .max = OUT_MAX};
	struct rte_mbuf *in[] = {mark(AP_M_TB_START, 90, "", 0), mark(AP_M_TB_END, 90, "", 0),
				 mark(AP_M_TB_START, 90, "", 0), pdu(50, 4, 0, 2)};

	(void)state;
	mac_build(&b, in, 4, &run);
	mac_build_fini(&b);
	mac_padding_put(expected, 90);
	check_tb(&run, 0, 90, 100);
	assert_no_leak();
}

/** No room for the second fragment: it and the rest of the TB go by name. */
static void
full_output(void **state)
{
	struct mac_build b = builder(MAC_SCATTER, 100);
	struct mac_build_run run = {.out = out, .max = 1};
	struct rte_mbuf *in[] = {mark(AP_M_TB_START, 300, "", 0),
				 pdu(150, 4, 0, 1),
				 pdu(40, 4, 0, 1),
				 pdu(40, 4, 0, 1),
				 pdu(10, 4, 0, 1),
				 mark(AP_M_TB_END, 300, "", 0)};

	(void)state;
	mac_build(&b, in, 6, &run);
	assert_int_equal(run.nb_out, 1);
	assert_int_equal(run.made, 2);
	assert_int_equal(run.drops[MAC_BUILD_OUT_FULL], 2);
	assert_int_equal(run.drops[MAC_BUILD_ABANDONED], 1);
	assert_int_equal(run.in_drops, 2);
	rte_pktmbuf_free(out[0]);
	mac_build_fini(&b);
	assert_no_leak();
}

static void
configuration_is_checked(void **state)
{
	struct mac_build b;

	(void)state;
	assert_int_equal(mac_build_init(&b, &(struct mac_build_cfg){MAC_GATHER, 9217}, &pools, 0),
			 -EINVAL);
	assert_int_equal(mac_build_init(&b, &(struct mac_build_cfg){MAC_SCATTER, 63}, &pools, 0),
			 -EINVAL);
	assert_int_equal(mac_build_init(&b, &(struct mac_build_cfg){MAC_STRATEGIES, 64}, &pools, 0),
			 -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies_give_identical_bytes),
		cmocka_unit_test(padding_lengths),
		cmocka_unit_test(bad_input_is_dropped_by_name),
		cmocka_unit_test(exhausted_pool_spares_the_next_tb),
		cmocka_unit_test(oldest_time_travels_with_the_fragment),
		cmocka_unit_test(fini_leaves_nothing),
		cmocka_unit_test(full_output),
		cmocka_unit_test(configuration_is_checked),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
