/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "modules/mac/mac_rx.h"
#include "test_eal.h"

#define OUT 8192
#define BEARER(lcid) ((lcid) + 100u)

static struct rte_mempool *proto, *ind, *odd;
static struct rte_mbuf *out[OUT];
static struct mac_rx rx;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init())
		return -1;
	proto = test_pool("proto", 1023, 9216);
	ind = rte_pktmbuf_pool_create("ind", 8191, 0, 0, 0, 0);
	odd = rte_pktmbuf_pool_create("odd", 63, 0, 64, RTE_PKTMBUF_HEADROOM + 2048, 0);
	return proto && ind && odd ? 0 : -1;
}

static void
start(enum l2_direction direction)
{
	struct mac_rx_cfg cfg = {.direction = direction, .ind = ind};

	for (uint32_t i = 0; i <= L2_LCID_MAX; i++)
		cfg.bearer_of_lcid[i] = i >= 4 && i <= 20 ? BEARER(i) : L2_NO_BEARER;
	assert_int_equal(mac_rx_init(&rx, &cfg), 0);
}

static void
stop(void)
{
	mac_rx_fini(&rx);
	assert_pool_full(proto);
	assert_pool_full(ind);
	assert_pool_full(odd);
}

static struct rte_mbuf *
segment(struct rte_mempool *pool, const uint8_t *p, uint32_t n)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	if (n)
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), p, n);
	*ap_meta(m) = (struct ap_meta){.carrier = 1};
	return m;
}

/** A TB of `n` bytes in segments of at most `most`. */
static struct rte_mbuf *
tb_of(const uint8_t *p, uint32_t n, uint32_t most)
{
	struct rte_mbuf *tb = segment(proto, p, RTE_MIN(n, most)), *tail = tb;

	for (uint32_t at = tb->pkt_len; at < n;) {
		struct rte_mbuf *m = segment(proto, p + at, RTE_MIN(n - at, most));

		at += m->data_len;
		tail->next = m;
		tail = m;
		tb->nb_segs++;
		tb->pkt_len += m->data_len;
	}
	return tb;
}

/** Runs the TB; @return SDUs in out[]. Checks that the counts add up. */
static uint32_t
demux(struct rte_mbuf *tb, struct mac_rx_run *run)
{
	uint32_t dropped = 0;

	*run = (struct mac_rx_run){.out = out, .max = OUT};
	mac_rx_tb(&rx, tb, run);
	for (unsigned i = 0; i < MAC_RX_DROPS; i++)
		dropped += run->drops[i];
	assert_int_equal(run->made, run->nb_out + dropped - run->drops[MAC_RX_EMPTY_TB]);
	return run->nb_out;
}

static void
assert_sdu(struct rte_mbuf *m, uint8_t lcid, const uint8_t *want, uint32_t bytes)
{
	static uint8_t copy[70000];
	const void *p;

	assert_int_equal(m->pkt_len, bytes);
	assert_int_equal(ap_meta(m)->bearer, BEARER(lcid));
	assert_int_equal(ap_meta(m)->lcid, lcid);
	assert_int_equal(ap_meta(m)->carrier, 1);
	assert_int_equal(rte_mbuf_check(m, 1, &(const char *){NULL}), 0);
	p = rte_pktmbuf_read(m, 0, bytes, copy);
	assert_memory_equal(p, want, bytes);
}

/** Two SDUs, an empty and a long subheader, CEs and padding; @return bytes. */
static uint32_t
sample(uint8_t *p, uint8_t a[10], uint8_t b[300])
{
	uint32_t n = 0;

	for (unsigned i = 0; i < 10; i++)
		a[i] = (uint8_t)(i + 1);
	for (unsigned i = 0; i < 300; i++)
		b[i] = (uint8_t)(i * 3);
	n += mac_subheader_put(p + n, 4, 10);
	memcpy(p + n, a, 10);
	n += 10;
	n += mac_subheader_put(p + n, 5, 300);
	memcpy(p + n, b, 300);
	n += 300;
	memcpy(p + n, (const uint8_t[]){0x3e, 0x03, 0x21, 0x10, 0xfe, 0x3a, 0x46, 0x01}, 8);
	n += 8;
	mac_padding_put(p + n, 20);
	return n + 20;
}

static void
check_sample(struct rte_mbuf *tb, const uint8_t *a, const uint8_t *b)
{
	struct mac_rx_run run;

	start(L2_UPLINK);
	assert_int_equal(demux(tb, &run), 2);
	assert_int_equal(run.made, 2);
	assert_sdu(out[0], 4, a, 10);
	assert_sdu(out[1], 5, b, 300);
	assert_int_equal(rx.ces[MAC_UL_LONG_BSR], 1);
	assert_int_equal(rx.bsr.size[1], 0xfe);
	assert_int_equal(rx.c_rnti_seen, 0x4601);
	assert_int_equal(rx.padding_bytes, 20);
	rte_pktmbuf_free_bulk(out, 2);
	stop();
}

static void
one_segment(void **state)
{
	uint8_t p[400], a[10], b[300];
	uint32_t n = sample(p, a, b);

	(void)state;
	check_sample(tb_of(p, n, 9000), a, b);
}

/** Every subheader, SDU and CE is split at every place, and cut into pieces of every size. */
static void
splits_at_every_offset(void **state)
{
	uint8_t p[400], a[10], b[300];
	uint32_t n = sample(p, a, b);

	(void)state;
	for (uint32_t at = 0; at <= n; at++) {
		struct rte_mbuf *tb = segment(proto, p, at);

		rte_pktmbuf_chain(tb, segment(proto, p + at, n - at));
		check_sample(tb, a, b);
	}
	for (uint32_t most = 1; most < n; most++)
		check_sample(tb_of(p, n, most), a, b);
}

/** Segments that show another's buffer: indirect, external, other private size, shared. */
static void
any_kind_of_segment(void **state)
{
	uint8_t p[400], a[10], b[300];
	uint32_t n = sample(p, a, b);
	struct rte_mbuf *tb, *whole, *twin;
	struct mac_rx_run run;

	(void)state;
	check_sample(segment(odd, p, n), a, b);

	whole = segment(odd, p, n);
	tb = rte_pktmbuf_clone(whole, ind);
	*ap_meta(tb) = (struct ap_meta){.carrier = 1};
	rte_pktmbuf_free(whole);
	check_sample(tb, a, b);

	/* The same buffer received twice, as a duplicating channel would hand it over. */
	tb = segment(proto, p, n);
	twin = rte_pktmbuf_clone(tb, ind);
	start(L2_UPLINK);
	assert_int_equal(demux(tb, &run), 2);
	rte_pktmbuf_free(out[0]);
	whole = out[1];
	*ap_meta(twin) = (struct ap_meta){.carrier = 1};
	assert_int_equal(demux(twin, &run), 2);
	assert_sdu(whole, 5, b, 300);
	assert_sdu(out[1], 5, b, 300);
	rte_pktmbuf_free(whole);
	rte_pktmbuf_free_bulk(out, 2);
	stop();
}

static unsigned ext_freed;

static void
ext_free(void *addr, void *arg)
{
	(void)addr;
	(void)arg;
	ext_freed++;
}

static void
external_buffer(void **state)
{
	static struct rte_mbuf_ext_shared_info info = {.free_cb = ext_free};
	static uint8_t p[400];
	uint8_t a[10], b[300];
	uint32_t n = sample(p, a, b);
	struct rte_mbuf *tb = rte_pktmbuf_alloc(ind);

	(void)state;
	rte_mbuf_ext_refcnt_set(&info, 1);
	rte_pktmbuf_attach_extbuf(tb, p, (uintptr_t)p, sizeof(p), &info);
	tb->data_len = (uint16_t)n;
	tb->pkt_len = n;
	*ap_meta(tb) = (struct ap_meta){.carrier = 1};
	check_sample(tb, a, b);
	assert_int_equal(ext_freed, 1);
}

static void
reference_is_raised_by_the_sdus(void **state)
{
	uint8_t p[64];
	uint32_t n = 0;
	struct rte_mbuf *tb;
	struct mac_rx_run run;

	(void)state;
	start(L2_DOWNLINK);
	for (unsigned i = 0; i < 5; i++) {
		n += mac_subheader_put(p + n, 4, 3);
		memset(p + n, (int)i, 3);
		n += 3;
	}
	tb = tb_of(p, n, 9000);
	assert_int_equal(demux(tb, &run), 5);
	assert_int_equal(rte_mbuf_refcnt_read(tb), 5);
	for (unsigned i = 0; i < 5; i++) {
		assert_sdu(out[i], 4, (const uint8_t[]){(uint8_t)i, (uint8_t)i, (uint8_t)i}, 3);
		rte_pktmbuf_free(out[i]);
	}
	stop();
}

static void
larger_than_64_kb(void **state)
{
	static uint8_t p[200000];
	struct mac_rx_run run;
	uint32_t n = 0, nb = 0;

	(void)state;
	while (n + 1403 + 70 < sizeof(p)) {
		n += mac_subheader_put(p + n, 7, 1400);
		for (uint32_t i = 0; i < 1400; i++)
			p[n + i] = (uint8_t)(nb + i);
		n += 1400;
		nb++;
	}
	mac_padding_put(p + n, (uint32_t)sizeof(p) - n);
	start(L2_DOWNLINK);
	assert_int_equal(demux(tb_of(p, sizeof(p), 8999), &run), nb);
	assert_int_equal(run.made, nb);
	for (uint32_t i = 0; i < nb; i++)
		assert_sdu(out[i], 7, p + 3 + i * 1403, 1400);
	rte_pktmbuf_free_bulk(out, nb);
	stop();
}

/** One malformed TB: which drop, after how many good SDUs; also cut into single bytes. */
static void
malformed(enum l2_direction direction, const uint8_t *p, uint32_t n, enum mac_rx_drop why,
	  uint32_t good)
{
	for (uint32_t most = 1; most <= n; most++) {
		struct mac_rx_run run;

		start(direction);
		assert_int_equal(demux(tb_of(p, n, most), &run), good);
		assert_int_equal(run.drops[why], 1);
		assert_int_equal(run.made, good + 1);
		rte_pktmbuf_free_bulk(out, good);
		stop();
	}
}

#define MALFORMED(direction, why, good, ...)                                                       \
	malformed(direction, (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}),     \
		  why, good)

static void
malformed_tbs(void **state)
{
	struct mac_rx_run run;

	(void)state;
	MALFORMED(L2_UPLINK, MAC_RX_TRUNCATED, 0, 4);
	MALFORMED(L2_UPLINK, MAC_RX_TRUNCATED, 0, 4, 9, 1, 2);
	MALFORMED(L2_UPLINK, MAC_RX_TRUNCATED, 1, 4, 1, 9, 0x44, 1);
	MALFORMED(L2_UPLINK, MAC_RX_TRUNCATED, 1, 4, 1, 9, 0x44, 0xff, 0xff, 1, 2, 3, 4);
	MALFORMED(L2_UPLINK, MAC_RX_TRUNCATED, 0, 0x3a, 0x46);
	MALFORMED(L2_UPLINK, MAC_RX_TRUNCATED, 0, 0x21, 0);
	MALFORMED(L2_UPLINK, MAC_RX_RESERVED_LCID, 1, 4, 1, 9, 40, 1, 2, 3, 4, 1, 1);
	MALFORMED(L2_DOWNLINK, MAC_RX_RESERVED_LCID, 0, 35, 1, 2, 3, 4);
	MALFORMED(L2_UPLINK, MAC_RX_RESERVED_LCID, 0, 34, 7, 2, 3, 4);
	/* These three cost one subPDU only. */
	MALFORMED(L2_UPLINK, MAC_RX_NO_BEARER, 2, 4, 1, 9, 3, 2, 1, 1, 5, 1, 1);
	MALFORMED(L2_UPLINK, MAC_RX_SDU_EMPTY, 2, 4, 1, 9, 4, 0, 5, 1, 1);
	MALFORMED(L2_UPLINK, MAC_RX_BAD_CE, 2, 4, 1, 9, 62, 3, 1, 1, 1, 5, 1, 1);
	MALFORMED(L2_UPLINK, MAC_RX_NO_BEARER, 1, 52, 1, 2, 3, 4, 5, 6, 4, 1, 1);
	MALFORMED(L2_UPLINK, MAC_RX_NO_BEARER, 1, 33, 0, 1, 2, 9, 9, 4, 1, 1);

	start(L2_UPLINK);
	demux(segment(proto, NULL, 0), &run);
	assert_int_equal(run.drops[MAC_RX_EMPTY_TB], 1);
	assert_int_equal(run.made, 0);
	stop();
}

/** The same bytes are a C-RNTI and a BSR uplink, and SCell activation and contention downlink. */
static void
ces_depend_on_the_direction(void **state)
{
	const uint8_t p[] = {58, 1, 61, 0x1f, 4, 1, 7};
	struct mac_rx_run run;

	(void)state;
	start(L2_DOWNLINK);
	assert_int_equal(demux(tb_of(p, sizeof(p), 99), &run), 1);
	assert_int_equal(rx.ces[MAC_DL_SCELL_ACT_1], 1);
	assert_int_equal(rx.ta.ta, 0x1f);
	rte_pktmbuf_free(out[0]);
	stop();
	start(L2_UPLINK); /* C-RNTI 0x013d, then LCID 31 of 4 bytes */
	assert_int_equal(demux(tb_of(p, sizeof(p), 99), &run), 0);
	assert_int_equal(rx.c_rnti_seen, 0x013d);
	assert_int_equal(run.drops[MAC_RX_TRUNCATED], 1);
	stop();
}

static void
padding_of_one_two_and_three(void **state)
{
	const uint8_t p[] = {4, 1, 7, 0x3f, 0, 0};
	struct mac_rx_run run;

	(void)state;
	for (uint32_t pad = 0; pad <= 3; pad++) {
		start(L2_UPLINK);
		assert_int_equal(demux(tb_of(p, 3 + pad, 99), &run), 1);
		assert_int_equal(run.made, 1);
		assert_int_equal(rx.padding_bytes, pad);
		rte_pktmbuf_free(out[0]);
		stop();
	}
}

/** A dry pool costs single SDUs, by name, also those across segments. */
static void
exhausted_pool(void **state)
{
	static struct rte_mbuf *hoard[8192];
	uint8_t p[400], a[10], b[300];
	uint32_t n = sample(p, a, b);

	(void)state;
	for (uint32_t keep = 0; keep < 4; keep++) {
		unsigned taken = rte_mempool_avail_count(ind) - keep;
		struct mac_rx_run run;
		uint32_t good;

		start(L2_UPLINK);
		assert_int_equal(rte_mempool_get_bulk(ind, (void **)hoard, taken), 0);
		good = demux(tb_of(p, n, 100), &run);
		assert_int_equal(good, keep ? 1 : 0);
		assert_int_equal(run.drops[MAC_RX_NO_MBUF], 2 - good);
		assert_int_equal(rx.ces[MAC_UL_C_RNTI], 1);
		rte_pktmbuf_free_bulk(out, good);
		rte_mempool_put_bulk(ind, (void **)hoard, taken);
		stop();
	}
}

static void
output_full(void **state)
{
	const uint8_t p[] = {4, 1, 7, 4, 1, 8, 4, 1, 9};
	struct mac_rx_run run = {.out = out, .max = 2};

	(void)state;
	start(L2_UPLINK);
	mac_rx_tb(&rx, tb_of(p, sizeof(p), 99), &run);
	assert_int_equal(run.nb_out, 2);
	assert_int_equal(run.drops[MAC_RX_OUT_FULL], 1);
	rte_pktmbuf_free_bulk(out, 2);
	stop();
}

static void
time_goes_with_the_first_sdu(void **state)
{
	const uint8_t p[] = {4, 1, 7, 4, 1, 8};
	struct rte_mbuf *tb = tb_of(p, sizeof(p), 99);
	struct mac_rx_run run;

	(void)state;
	start(L2_UPLINK);
	ap_meta(tb)->flags = AP_M_TIMED;
	ap_ext(tb)->enter_ns = 12345;
	assert_int_equal(demux(tb, &run), 2);
	assert_int_equal(ap_meta(out[0])->flags, AP_M_TIMED);
	assert_int_equal(ap_ext(out[0])->enter_ns, 12345);
	assert_int_equal(ap_meta(out[1])->flags, 0);
	rte_pktmbuf_free_bulk(out, 2);
	stop();
}

/** Random bytes: nothing crashes, nothing leaks, and the counts add up. */
static void
random_bytes(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		uint8_t p[256];
		struct mac_rx_run run;
		uint32_t n;

		for (unsigned i = 0; i < sizeof(p); i++) {
			seed = seed * 1664525 + 1013904223;
			p[i] = seed >> 30 ? (uint8_t)(seed >> 24 & 0x0f) : (uint8_t)(seed >> 16);
		}
		n = 1 + (seed >> 8) % sizeof(p);
		start(round & 1 ? L2_UPLINK : L2_DOWNLINK);
		n = demux(tb_of(p, n, 1 + (seed >> 20) % 64), &run);
		rte_pktmbuf_free_bulk(out, n);
		mac_rx_fini(&rx);
	}
	stop();
}

/* A TB says whose it is in RX_Data.indication; 0 is TX_Data.request, which does not. */
static void
other_ues_are_dropped(void **state)
{
	static const uint8_t tb[] = {4, 2, 1, 2, 0x3f};
	static const uint16_t rnti[] = {0x4601, 0x4602, 0};
	struct rte_mbuf *out[4];
	struct mac_rx_run run = {.out = out, .max = 4};

	(void)state;
	start(L2_DOWNLINK);
	rx.rnti = 0x4601;
	for (unsigned i = 0; i < 3; i++) {
		struct rte_mbuf *m = segment(proto, tb, sizeof(tb));

		ap_ext(m)->spare = rnti[i];
		mac_rx_tb(&rx, m, &run);
	}
	assert_int_equal(run.drops[MAC_RX_OTHER_RNTI], 1);
	assert_int_equal(run.tb_drops, 1);
	assert_int_equal(run.made, 2);
	assert_int_equal(run.nb_out, 2);
	rte_pktmbuf_free_bulk(out, 2);
	stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_ues_are_dropped),
		cmocka_unit_test(one_segment),
		cmocka_unit_test(splits_at_every_offset),
		cmocka_unit_test(any_kind_of_segment),
		cmocka_unit_test(external_buffer),
		cmocka_unit_test(reference_is_raised_by_the_sdus),
		cmocka_unit_test(larger_than_64_kb),
		cmocka_unit_test(malformed_tbs),
		cmocka_unit_test(ces_depend_on_the_direction),
		cmocka_unit_test(padding_of_one_two_and_three),
		cmocka_unit_test(exhausted_pool),
		cmocka_unit_test(output_full),
		cmocka_unit_test(time_goes_with_the_first_sdu),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
