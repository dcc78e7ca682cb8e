/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving AM entity, TS 38.322 §5.2.3.2 and §5.3.4. */
#include "modules/rlc/rlc_control.h"
#include "modules/rlc/rlc_test.h"

#define MS AP_NS_PER_MS
#define LEN 20 /* of every SDU here */

static struct rlc_rx rx;
static struct rlc_am_link *link_;
static uint64_t drops[RLC_RX_DROPS], now;
static struct rlc_rx_counts counts;

static void
up(enum rlc_sn_len bits, uint32_t t_Reassembly_ms)
{
	struct rlc_rx_cfg cfg = {.mode = RLC_AM,
				 .sn_FieldLength = bits,
				 .t_Reassembly_ms = t_Reassembly_ms,
				 .segments_max = 16};

	link_ = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*link_));
	memset(link_, 0, sizeof(*link_));
	memset(drops, 0, sizeof(drops));
	counts = (struct rlc_rx_counts){.drops = drops};
	now = MS;
	assert_int_equal(rlc_am_link_init(link_), 0);
	cfg.am = link_;
	assert_int_equal(rlc_rx_init(&rx, &cfg), 0);
}

static void
down(void)
{
	rlc_rx_fini(&rx);
	ap_queue_fini(&link_->status);
	free(link_);
	assert_no_leak();
}

static bool
receive_bytes(const void *bytes, uint16_t len)
{
	struct rte_mbuf *m = packet(bytes, len);

	if (rlc_rx_receive(&rx, &m, 1, &m, &counts, now) == 0)
		return false;
	rte_pktmbuf_free(m);
	return true;
}

/** Bytes [so, end) of SDU `sn` come. @return whether an SDU was delivered; its bytes are checked.
 */
static bool
part(uint32_t sn, uint32_t so, uint32_t end, bool p)
{
	const struct rlc_amd h = {
		.p = p,
		.si = so == 0 ? (end == LEN ? RLC_SI_COMPLETE : RLC_SI_FIRST)
			      : (end == LEN ? RLC_SI_LAST : RLC_SI_MIDDLE),
		.sn = sn,
		.so = (uint16_t)so,
	};
	uint8_t buf[LEN + RLC_AMD_HEADER_MAX], sdu[LEN];
	int header = rlc_amd_encode(buf, sizeof(buf), rx.bits, &h);
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < LEN; i++)
		sdu[i] = sdu_byte(sn, i);
	memcpy(buf + header, sdu + so, end - so);
	m = packet(buf, (uint16_t)((uint32_t)header + end - so));
	if (rlc_rx_receive(&rx, &m, 1, &m, &counts, now) == 0)
		return false;
	assert_packet(m, sdu, LEN);
	rte_pktmbuf_free(m);
	return true;
}

static bool
sdu(uint32_t sn)
{
	return part(sn, 0, LEN, false);
}

/** A STATUS PDU is wanted and says so; it is taken as sent. */
static void
expect_status(uint32_t ack_sn, const struct rlc_nack *nacks, uint32_t n)
{
	const struct rlc_am_report *r;

	assert_true(rlc_am_link_wanted(link_));
	r = rlc_am_link_take(link_);
	assert_int_equal(r->ACK_SN, ack_sn);
	assert_int_equal(r->nb, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(r->nacks[i].sn, nacks[i].sn);
		assert_int_equal(r->nacks[i].range, nacks[i].range);
		assert_int_equal(r->nacks[i].has_so, nacks[i].has_so);
		if (nacks[i].has_so) {
			assert_int_equal(r->nacks[i].so_start, nacks[i].so_start);
			assert_int_equal(r->nacks[i].so_end, nacks[i].so_end);
		}
	}
	link_->sent = r->version;
}

static void
expire(uint64_t at)
{
	now = at;
	rlc_rx_expire(&rx, &counts, now);
}

static void
any_order_is_delivered_at_once(void **state)
{
	static const uint32_t order[] = {3, 1, 4, 0, 2, 5};

	(void)state;
	up(RLC_SN_12, 10);
	for (unsigned i = 0; i < 6; i++)
		assert_true(sdu(order[i]));
	assert_int_equal(rx.am.RX_Next, 6);
	assert_int_equal(rx.am.RX_Highest_Status, 6);
	assert_int_equal(rx.am.RX_Next_Highest, 6);
	assert_int_equal(rlc_rx_deadline(&rx), 0);
	assert_false(rlc_am_link_wanted(link_));
	down();
}

static void
window_and_duplicates(void **state)
{
	(void)state;
	up(RLC_SN_12, 10);
	assert_true(sdu(0));
	assert_false(sdu(0)); /* behind the window */
	assert_false(sdu(1 + RLC_AM_WINDOW_12));
	assert_true(sdu(RLC_AM_WINDOW_12)); /* its last SN */
	assert_false(sdu(RLC_AM_WINDOW_12));
	assert_int_equal(drops[RLC_RX_SN_OLD], 2);
	assert_int_equal(drops[RLC_RX_DUPLICATE], 1);
	assert_false(rlc_am_link_wanted(link_));
	/* The poll is read before window and duplicates. */
	assert_false(part(0, 0, LEN, true));
	assert_true(rlc_am_link_wanted(link_));
	link_->sent = link_->version;
	assert_false(part(RLC_AM_WINDOW_12, 0, LEN, true));
	assert_true(rlc_am_link_wanted(link_));
	down();
}

static void
sn_wraps(void **state)
{
	(void)state;
	for (unsigned mode = 0; mode < 2; mode++) {
		up(RLC_SN_12, 10);
		for (uint32_t i = 0; i < 3 * 4096; i += 2) {
			assert_true(sdu((i + mode) & 4095));
			assert_true(sdu((i + !mode) & 4095));
		}
		assert_int_equal(rx.am.RX_Next, 0);
		assert_int_equal(rx.am.RX_Next_Highest, 0);
		down();
	}
}

static void
segments_in_any_order_and_overlapping(void **state)
{
	(void)state;
	up(RLC_SN_18, 10);
	assert_false(part(0, 12, LEN, false));
	assert_false(part(0, 3, 8, false));
	assert_false(part(0, 5, 15, false)); /* over both edges */
	assert_false(part(0, 4, 7, false));  /* nothing new */
	assert_int_equal(rx.held, 3);
	assert_true(part(0, 0, 4, false));
	assert_int_equal(rx.held, 0);
	assert_int_equal(drops[RLC_RX_DUPLICATE], 1);
	assert_false(part(0, 0, 4, false)); /* old by now */
	/* A whole SDU comes when a part was there. */
	assert_false(part(1, 0, 4, false));
	assert_true(sdu(1));
	assert_int_equal(rx.held, 0);
	assert_int_equal(rx.am.RX_Next, 2);
	down();
}

static void
poll_is_answered_at_once_in_order(void **state)
{
	(void)state;
	up(RLC_SN_12, 10);
	assert_true(sdu(0));
	assert_false(rlc_am_link_wanted(link_));
	assert_true(part(1, 0, LEN, true));
	expect_status(2, NULL, 0);
	assert_false(rlc_am_link_wanted(link_));
	down();
}

/* §5.3.4: a poll above RX_Highest_Status waits, for HARQ may still bring what is missing. */
static void
poll_beyond_a_gap_is_delayed(void **state)
{
	static const struct rlc_nack gap = {.sn = 0, .range = 2};

	(void)state;
	up(RLC_SN_12, 10);
	assert_true(part(2, 0, LEN, true));
	assert_false(rlc_am_link_wanted(link_));
	assert_true(sdu(0));
	assert_false(rlc_am_link_wanted(link_));
	assert_true(sdu(1)); /* the gap is filled */
	expect_status(3, NULL, 0);
	assert_true(rlc_rx_deadline(&rx) == 0);

	rlc_rx_reestablish(&rx, &counts);
	assert_true(part(2, 0, LEN, true));
	assert_false(rlc_am_link_wanted(link_));
	expire(11 * MS); /* or t-Reassembly ends the wait */
	expect_status(3, &gap, 1);
	down();
}

static void
t_reassembly(void **state)
{
	static const struct rlc_nack gaps[] = {{.sn = 1, .range = 1}, {.sn = 3, .range = 2}};

	(void)state;
	up(RLC_SN_12, 10);
	assert_true(sdu(0));
	assert_true(sdu(2));
	assert_int_equal(rlc_rx_deadline(&rx), 11 * MS);
	assert_int_equal(rx.am.RX_Next_Status_Trigger, 3);
	now = 5 * MS;
	assert_true(sdu(5)); /* does not restart it */
	assert_int_equal(rlc_rx_deadline(&rx), 11 * MS);
	expire(11 * MS);
	assert_int_equal(rx.am.RX_Highest_Status, 3);
	expect_status(3, gaps, 1);
	/* "if RX_Next_Highest > RX_Highest_Status + 1: start" for the gap behind */
	assert_int_equal(rlc_rx_deadline(&rx), 21 * MS);
	assert_int_equal(rx.am.RX_Next_Status_Trigger, 6);
	expire(21 * MS);
	expect_status(6, gaps, 2);
	assert_int_equal(rlc_rx_deadline(&rx), 0);
	assert_true(sdu(1));
	assert_int_equal(rlc_rx_deadline(&rx), 31 * MS);
	assert_true(sdu(3));
	assert_true(sdu(4)); /* nothing is missing any more */
	assert_int_equal(rlc_rx_deadline(&rx), 0);
	down();
}

static void
t_reassembly_zero_reports_at_once(void **state)
{
	static const struct rlc_nack gap = {.sn = 0, .range = 1};

	(void)state;
	up(RLC_SN_12, 0);
	assert_true(sdu(1));
	expect_status(2, &gap, 1);
	assert_int_equal(rlc_rx_deadline(&rx), 0);
	down();
}

static void
status_names_parts_and_ranges(void **state)
{
	static const struct rlc_nack nacks[] = {
		{.sn = 0, .has_so = true, .so_start = 0, .so_end = 2, .range = 1},
		{.sn = 0, .has_so = true, .so_start = 8, .so_end = 11, .range = 1},
		{.sn = 1, .has_so = true, .so_start = 5, .so_end = RLC_STATUS_SO_END, .range = 1},
		{.sn = 3, .range = 255},
		{.sn = 258, .range = 45},
	};

	(void)state;
	up(RLC_SN_18, 10);
	assert_false(part(0, 3, 8, false));
	assert_false(part(0, 12, LEN, false));
	assert_false(part(1, 0, 5, false));
	assert_true(sdu(2));
	assert_true(sdu(303));
	expire(11 * MS); /* the gap in SN 0 started it */
	expire(30 * MS);
	expect_status(304, nacks, 5);
	down();
}

/* While the report was not sent, it follows what comes in. */
static void
report_stays_fresh_until_sent(void **state)
{
	static const struct rlc_nack one = {.sn = 1, .range = 1};

	(void)state;
	up(RLC_SN_12, 10);
	assert_true(sdu(2));
	expire(11 * MS);
	assert_true(rlc_am_link_wanted(link_));
	assert_true(sdu(0));
	expect_status(3, &one, 1);
	assert_true(sdu(1)); /* sent: nothing more is wanted */
	assert_false(rlc_am_link_wanted(link_));
	down();
}

static void
long_reports_are_trimmed(void **state)
{
	(void)state;
	up(RLC_SN_12, 10);
	for (uint32_t sn = 1; sn < 2 * RLC_AM_NACKS_MAX + 100; sn += 2)
		assert_true(sdu(sn));
	expire(11 * MS);
	expire(30 * MS);
	assert_true(rlc_am_link_wanted(link_));
	assert_int_equal(rlc_am_link_take(link_)->nb, RLC_AM_NACKS_MAX);
	assert_int_equal(rlc_am_link_take(link_)->ACK_SN, 2 * RLC_AM_NACKS_MAX);
	down();
}

static void
bad_pdus_drop_by_name(void **state)
{
	static const uint8_t range_0[] = {0x00, 0x05, 0x80, 0x00, 0x12, 0x00};
	static const uint8_t sound[] = {0x00, 0x05, 0x00};

	(void)state;
	up(RLC_SN_12, 10);
	assert_false(receive_bytes("", 0));
	assert_false(receive_bytes("\x80", 1));
	assert_int_equal(drops[RLC_RX_PDU_SHORT], 2);
	assert_false(receive_bytes("\x80\0", 2));
	assert_int_equal(drops[RLC_RX_SDU_EMPTY], 1);
	assert_false(rlc_am_link_wanted(link_));
	assert_false(receive_bytes("\xe0\0\0\0x", 5)); /* LAST at byte 0, with a poll */
	assert_int_equal(drops[RLC_RX_SI_SO], 1);
	assert_true(rlc_am_link_wanted(link_));
	assert_false(receive_bytes("\xa0\0\xff\xffx", 5));
	assert_int_equal(drops[RLC_RX_SDU_OVERSIZE], 1);
	assert_false(receive_bytes("\0\5", 2)); /* STATUS: too short */
	assert_false(receive_bytes("\x10\5\0", 3));
	assert_false(receive_bytes("\0\5\x80", 3)); /* a NACK is announced */
	assert_false(receive_bytes(range_0, sizeof(range_0)));
	assert_int_equal(drops[RLC_RX_STATUS_BAD], 4);
	for (unsigned i = 0; i < RLC_AM_STATUS_QUEUE + 2; i++)
		assert_false(receive_bytes(sound, sizeof(sound)));
	assert_int_equal(counts.used, RLC_AM_STATUS_QUEUE);
	assert_int_equal(drops[RLC_RX_STATUS_FULL], 2);
	/* Reserved bits are ignored: a 12-bit header has none, an 18-bit one two. */
	down();
	up(RLC_SN_18, 10);
	assert_true(receive_bytes("\x8c\0\0x", 4));
	down();
}

static void
full_segment_table_gives_up_the_highest(void **state)
{
	(void)state;
	up(RLC_SN_12, 10);
	for (uint32_t sn = 1; sn <= 16; sn++)
		assert_false(part(sn, 0, 4, false));
	assert_int_equal(rx.held, 16);
	assert_false(part(17, 0, 4, false)); /* no lower than any: itself */
	assert_int_equal(drops[RLC_RX_SEGMENTS_FULL], 1);
	assert_false(part(0, 0, 4, false));
	assert_int_equal(drops[RLC_RX_SEGMENTS_FULL], 2);
	assert_int_equal(rx.held, 16);
	assert_true(part(0, 4, LEN, false));
	assert_true(sdu(16)); /* what was given up may come again */
	down();
}

static void
reestablishment_forgets(void **state)
{
	(void)state;
	up(RLC_SN_12, 10);
	assert_true(sdu(0));
	assert_false(part(1, 0, 4, false));
	assert_true(part(3, 0, LEN, true));
	rlc_rx_reestablish(&rx, &counts);
	assert_int_equal(drops[RLC_RX_REESTABLISHED], 1);
	assert_int_equal(rx.held, 0);
	assert_int_equal(rlc_rx_deadline(&rx), 0);
	assert_true(sdu(0));
	assert_true(sdu(3));
	assert_int_equal(rx.am.RX_Next, 1);
	down();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_is_delivered_at_once),
		cmocka_unit_test(window_and_duplicates),
		cmocka_unit_test(sn_wraps),
		cmocka_unit_test(segments_in_any_order_and_overlapping),
		cmocka_unit_test(poll_is_answered_at_once_in_order),
		cmocka_unit_test(poll_beyond_a_gap_is_delayed),
		cmocka_unit_test(t_reassembly),
		cmocka_unit_test(t_reassembly_zero_reports_at_once),
		cmocka_unit_test(status_names_parts_and_ranges),
		cmocka_unit_test(report_stays_fresh_until_sent),
		cmocka_unit_test(long_reports_are_trimmed),
		cmocka_unit_test(bad_pdus_drop_by_name),
		cmocka_unit_test(full_segment_table_gives_up_the_highest),
		cmocka_unit_test(reestablishment_forgets),
	};

	return cmocka_run_group_tests_name("rlc_am_rx", tests, rlc_test_setup, NULL);
}
