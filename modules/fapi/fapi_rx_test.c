/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments become the TBs that were sent, in whatever order they come. */
#include "modules/fapi/fapi_rx_rig.h"

static uint64_t
expire(uint64_t now)
{
	struct fapi_rx_out out = {.drops = b.drops};
	uint64_t due = fapi_rx_expire(&b.rx, now, &out);

	collect(&out);
	return due;
}

static void
megabyte_in_order(void **state)
{
	(void)state;
	send_tb(0, 1, 1 << 20);
	assert_int_equal(b.nb, 118);
	/* stale fields that no packet's past may leak from */
	ap_meta(b.frames[0])->bearer = 77;
	ap_meta(b.frames[0])->flags |= AP_M_TIMED;
	ap_ext(b.frames[0])->enter_ns = 4711;
	deliver(b.frames, b.nb, 0);
	assert_int_equal(b.nb_tb, 1);
	assert_tb(b.tb[0], 1, 1 << 20);
	assert_int_equal(ap_meta(b.tb[0])->bearer, 0);
	assert_int_equal(ap_meta(b.tb[0])->carrier, 0);
	assert_int_equal(ap_meta(b.tb[0])->flags, AP_M_TIMED);
	assert_int_equal(ap_ext(b.tb[0])->enter_ns, 4711);
	assert_int_equal(ap_ext(b.tb[0])->tb_bytes, 1 << 20);
	assert_int_equal(ap_ext(b.tb[0])->sfn, 100);
	assert_int_equal(ap_ext(b.tb[0])->slot, 7);
	assert_int_equal(b.used, 118);
}

static void
any_order(void **state)
{
	uint32_t x = 1;

	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		b.nb = 0;
		send_tb(0, round, 200000);
		for (uint16_t i = b.nb - 1; i > 0; i--) {
			struct rte_mbuf *m;
			uint16_t k;

			x = x * 1664525 + 1013904223;
			k = (uint16_t)((x >> 8) % (i + 1U));
			m = b.frames[i];
			b.frames[i] = b.frames[k];
			b.frames[k] = m;
		}
		deliver(b.frames, b.nb, 0);
		assert_int_equal(b.nb_tb, round + 1);
		assert_tb(b.tb[round], round, 200000);
	}
}

static void
carriers_and_messages_interleave(void **state)
{
	struct rte_mbuf *mixed[64];
	uint16_t each, n = 0;

	(void)state;
	send_tb(0, 10, 60000);
	each = b.nb;
	send_tb(0, 11, 60000);
	send_tb(1, 12, 60000);
	for (uint16_t i = 0; i < each; i++)
		for (uint16_t k = 0; k < 3; k++)
			mixed[n++] = b.frames[k * each + i];
	deliver(mixed, n, 0);
	assert_int_equal(b.nb_tb, 3);
	for (uint16_t k = 0; k < 3; k++)
		assert_tb(b.tb[k], 10U + k, 60000);
	assert_int_equal(ap_meta(b.tb[1])->carrier, 0);
	assert_int_equal(ap_meta(b.tb[2])->carrier, 1);
}

static void
duplicates_are_dropped(void **state)
{
	struct rte_mbuf *copy;

	(void)state;
	send_tb(0, 3, 50000);
	copy = rte_pktmbuf_copy(b.frames[2], pool, 0, UINT32_MAX);
	deliver(b.frames, 3, 0);
	deliver(&copy, 1, 0);
	assert_int_equal(b.drops[FAPI_RX_DUPLICATE], 1);
	copy = rte_pktmbuf_copy(b.frames[4], pool, 0, UINT32_MAX);
	deliver(&b.frames[4], 1, 0); /* waits for number 3 */
	deliver(&copy, 1, 0);
	assert_int_equal(b.drops[FAPI_RX_DUPLICATE], 2);
	copy = rte_pktmbuf_copy(b.frames[5], pool, 0, UINT32_MAX);
	deliver(&b.frames[3], 1, 0);
	deliver(&b.frames[5], 1, 0);
	assert_int_equal(b.nb_tb, 1);
	assert_tb(b.tb[0], 3, 50000);
	deliver(&copy, 1, 0); /* of a complete message */
	assert_int_equal(b.drops[FAPI_RX_DUPLICATE], 3);
	assert_int_equal(b.nb_tb, 1);
}

static void
a_lost_segment_costs_its_tb(void **state)
{
	uint16_t each;

	(void)state;
	send_tb(0, 0, 50000);
	each = b.nb;
	for (uint32_t s = 1; s < 6; s++)
		send_tb(0, s, 50000);
	rte_pktmbuf_free(b.frames[1]);
	b.frames[1] = b.frames[0];
	deliver(&b.frames[1], b.nb - 1, 0);
	assert_int_equal(b.nb_tb, 5);
	for (uint16_t s = 1; s < 6; s++)
		assert_tb(b.tb[s - 1], s, 50000);
	/* given up when a message FAPI_OVERTAKEN newer was complete */
	assert_int_equal(b.drops[FAPI_RX_INCOMPLETE], each - 1);
	assert_int_equal(fapi_rx_held(&b.rx), 0);
}

static void
a_partial_message_times_out(void **state)
{
	struct rte_mbuf *late;

	(void)state;
	send_tb(0, 0, 50000);
	late = b.frames[5];
	deliver(b.frames, 4, 10 * MS);
	assert_true(fapi_rx_waiting(&b.rx));
	assert_int_equal(fapi_rx_held(&b.rx), 4);
	assert_int_equal(expire(12 * MS), 15 * MS);
	assert_int_equal(fapi_rx_held(&b.rx), 4);
	assert_int_equal(expire(15 * MS), 0);
	assert_int_equal(b.drops[FAPI_RX_INCOMPLETE], 4);
	assert_false(fapi_rx_waiting(&b.rx));
	deliver(&b.frames[4], 1, 16 * MS);
	deliver(&late, 1, 16 * MS);
	assert_int_equal(b.drops[FAPI_RX_STALE], 2);
}

static void
old_messages_are_stale_until_a_restart(void **state)
{
	(void)state;
	send_tb(0, 0, 100); /* sequence 0 */
	for (uint32_t s = 1; s < 21; s++)
		send_tb(0, s, 100);
	deliver(&b.frames[20], 1, MS);
	assert_int_equal(b.nb_tb, 1);
	deliver(&b.frames[0], 1, MS); /* 20 behind */
	assert_int_equal(b.drops[FAPI_RX_STALE], 1);
	deliver(&b.frames[13], 1, MS); /* 7 behind: in the window */
	assert_int_equal(b.nb_tb, 2);
	/* silence, then a peer that begins at 1 again */
	deliver(&b.frames[1], 1, MS + FAPI_RESTART_NS + 1);
	assert_int_equal(b.nb_tb, 3);
	assert_tb(b.tb[2], 1, 100);
	for (uint16_t s = 2; s < 20; s++)
		if (s != 13)
			rte_pktmbuf_free(b.frames[s]);
}

static void
sequence_wraps(void **state)
{
	(void)state;
	for (uint32_t s = 0; s < 600; s++) {
		b.nb = 0;
		send_tb(0, s, 100);
		deliver(b.frames, b.nb, s);
		assert_int_equal(b.nb_tb, 1);
		rte_pktmbuf_free(b.tb[0]);
		b.nb_tb = 0;
		b.made--;
	}
}

static void
several_tbs_in_a_message(void **state)
{
	static const uint16_t sizes[] = {33, 1, 250, 128, 7};
	static uint8_t body[2000];
	uint8_t seq = 0;

	(void)state;
	/* every way headers and TBs can lie across segments */
	for (uint16_t step = 5; step < 600; step += step < 40 ? 1 : 37) {
		for (int tx = 0; tx < 2; tx++) {
			uint16_t len = body_of(body, tx, sizes, 5, seq);

			deliver_body(body, len, step, tx, seq);
			assert_int_equal(b.nb_tb, 5);
			for (uint16_t i = 0; i < 5; i++) {
				assert_tb(b.tb[i], (uint32_t)seq + i, sizes[i]);
				assert_int_equal(ap_ext(b.tb[i])->spare, tx ? 0 : 100 + i);
				assert_int_equal(ap_ext(b.tb[i])->sfn, 5);
				assert_int_equal(ap_ext(b.tb[i])->slot, 6);
				for (const struct rte_mbuf *m = b.tb[i]; m; m = m->next)
					assert_int_equal(rte_mbuf_refcnt_read(m), 1);
			}
			rte_pktmbuf_free_bulk(b.tb, 5);
			b.made -= 5;
			b.nb_tb = 0;
			seq++;
		}
	}
}

static void
chained_frames(void **state)
{
	(void)state;
	send_tb(0, 4, 30000);
	for (uint16_t i = 0; i < b.nb; i++) {
		struct rte_mbuf *m = b.frames[i], *h = rte_pktmbuf_alloc(pool);
		uint16_t len = i == 0 ? FAPI_HDR_FIRST_LEN : FAPI_HDR_LEN;

		*ap_meta(h) = *ap_meta(m);
		memcpy(rte_pktmbuf_append(h, len), rte_pktmbuf_mtod(m, void *), len);
		assert_non_null(rte_pktmbuf_adj(m, len));
		assert_int_equal(rte_pktmbuf_chain(h, m), 0);
		b.frames[i] = h;
	}
	deliver(b.frames, b.nb, 0);
	assert_int_equal(b.nb_tb, 1);
	assert_tb(b.tb[0], 4, 30000);
}

static void
configuration_is_checked(void **state)
{
	struct fapi_rx_cfg cfg = {.carriers = 0, .slots = &b.slots};

	(void)state;
	assert_int_equal(fapi_rx_init(&b.rx, &cfg), -EINVAL);
	cfg.carriers = L2_CARRIERS_MAX + 1;
	assert_int_equal(fapi_rx_init(&b.rx, &cfg), -EINVAL);
	cfg.carriers = 1;
	cfg.numerology = 5;
	assert_int_equal(fapi_rx_init(&b.rx, &cfg), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_bench(megabyte_in_order),
		with_bench(any_order),
		with_bench(carriers_and_messages_interleave),
		with_bench(duplicates_are_dropped),
		with_bench(a_lost_segment_costs_its_tb),
		with_bench(a_partial_message_times_out),
		with_bench(old_messages_are_stale_until_a_restart),
		with_bench(sequence_wraps),
		with_bench(several_tbs_in_a_message),
		with_bench(chained_frames),
		with_bench(configuration_is_checked),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
