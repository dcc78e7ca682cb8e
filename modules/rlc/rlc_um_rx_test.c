/* SPDX-License-Identifier: BSD-3-Clause */
/* Window and t-Reassembly of the receiving UM entity: TS 38.322 §5.2.2.2. */
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_test.h"

#define MS AP_NS_PER_MS
#define T_REASSEMBLY 35

static uint64_t drops[RLC_RX_DROPS];
static struct rlc_rx_counts counts;
static struct rlc_rx e;

static void
start(enum rlc_sn_len bits, uint32_t t_Reassembly_ms)
{
	const struct rlc_rx_cfg cfg = {
		.mode = RLC_UM, .sn_FieldLength = bits, .t_Reassembly_ms = t_Reassembly_ms};

	memset(drops, 0, sizeof(drops));
	counts = (struct rlc_rx_counts){.drops = drops};
	assert_int_equal(rlc_rx_init(&e, &cfg), 0);
}

static void
finish(void)
{
	rlc_rx_fini(&e);
	assert_no_leak();
}

/* One byte of an SDU 0, 1, 2 … @return whether an SDU came out. */
static bool
byte(enum rlc_si si, uint16_t sn, uint16_t so, uint64_t now)
{
	const struct rlc_umd h = {.si = si, .sn = sn, .so = so};
	struct rte_mbuf *m;
	uint8_t buf[8];
	int len = rlc_umd_encode(buf, 4, e.bits, &h);

	buf[len++] = (uint8_t)so;
	m = packet(buf, (uint16_t)len);
	if (rlc_rx_receive(&e, &m, 1, &m, &counts, now) == 0)
		return false;
	assert_packet(m, "\0\1\2\3", m->pkt_len);
	rte_pktmbuf_free(m);
	return true;
}

/* Part 0..2 of a three-byte SDU. */
static bool
part(uint16_t sn, uint16_t k, uint64_t now)
{
	static const enum rlc_si si[] = {RLC_SI_FIRST, RLC_SI_MIDDLE, RLC_SI_LAST};

	return byte(si[k], sn, k, now);
}

static void
sdu(uint16_t sn, uint64_t now)
{
	assert_false(part(sn, 0, now));
	assert_false(part(sn, 1, now));
	assert_true(part(sn, 2, now));
}

static void
gap_inside_one_sdu_starts_the_timer(void **state)
{
	(void)state;
	start(RLC_SN_6, T_REASSEMBLY);
	assert_false(part(0, 0, 5 * MS));
	assert_int_equal(rlc_rx_deadline(&e), 0); /* nothing missing before what came */
	assert_false(part(0, 2, 6 * MS));
	assert_int_equal(rlc_rx_deadline(&e), (6 + T_REASSEMBLY) * MS);
	assert_int_equal(e.um.RX_Timer_Trigger, 1);
	assert_true(part(0, 1, 7 * MS));
	assert_int_equal(rlc_rx_deadline(&e), 0);
	assert_int_equal(e.um.RX_Next_Reassembly, 1);
	finish();
}

/* The SDU is not whole yet, but nothing is missing before what came: the timer has no reason. */
static void
filled_gap_stops_the_timer(void **state)
{
	(void)state;
	start(RLC_SN_12, T_REASSEMBLY);
	assert_false(byte(RLC_SI_FIRST, 0, 0, 0));
	assert_false(byte(RLC_SI_MIDDLE, 0, 2, 0));
	assert_int_equal(rlc_rx_deadline(&e), T_REASSEMBLY * MS);
	assert_false(byte(RLC_SI_MIDDLE, 0, 1, 0));
	assert_int_equal(rlc_rx_deadline(&e), 0);
	assert_true(byte(RLC_SI_LAST, 0, 3, 99 * MS));
	finish();
}

static void
expiry_gives_up_what_is_before_the_trigger(void **state)
{
	(void)state;
	start(RLC_SN_6, T_REASSEMBLY);
	assert_false(part(0, 0, 0));
	sdu(1, MS); /* starts: trigger 2 */
	assert_false(part(2, 1, 2 * MS));
	assert_false(part(4, 0, 3 * MS));
	assert_int_equal(e.um.RX_Timer_Trigger, 2);
	assert_int_equal(rlc_rx_deadline(&e), (1 + T_REASSEMBLY) * MS);
	rlc_rx_expire(&e, &counts, (1 + T_REASSEMBLY) * MS - 1);
	assert_int_equal(e.um.RX_Next_Reassembly, 0);
	rlc_rx_expire(&e, &counts, (1 + T_REASSEMBLY) * MS);
	assert_int_equal(drops[RLC_RX_T_REASSEMBLY], 1);
	assert_int_equal(e.um.RX_Next_Reassembly, 2);
	assert_int_equal(e.um.RX_Timer_Trigger, 5); /* SN 2 and 3 are missing: runs again */
	assert_int_equal(rlc_rx_deadline(&e), (1 + 2 * T_REASSEMBLY) * MS);
	assert_false(part(0, 1, 37 * MS));
	assert_int_equal(drops[RLC_RX_SN_OLD], 1);
	rlc_rx_expire(&e, &counts, (1 + 2 * T_REASSEMBLY) * MS);
	assert_int_equal(drops[RLC_RX_T_REASSEMBLY], 3);
	assert_int_equal(e.um.RX_Next_Reassembly, 5);
	assert_int_equal(rlc_rx_deadline(&e), 0);
	assert_int_equal(e.held, 0);
	finish();
}

/* RX_Next_Reassembly skips over what was reassembled early. */
static void
expiry_stops_at_the_first_not_reassembled(void **state)
{
	(void)state;
	start(RLC_SN_6, T_REASSEMBLY);
	assert_false(part(0, 0, 0));
	assert_false(part(1, 0, 0)); /* starts: trigger 2 */
	sdu(2, 0);
	sdu(3, 0);
	assert_false(part(4, 0, 0));
	rlc_rx_expire(&e, &counts, T_REASSEMBLY * MS);
	assert_int_equal(e.um.RX_Next_Reassembly, 4);
	assert_int_equal(drops[RLC_RX_T_REASSEMBLY], 2);
	assert_int_equal(rlc_rx_deadline(&e), 0);
	assert_int_equal(e.held, 1);
	finish();
}

static void
zero_timer_expires_at_once(void **state)
{
	(void)state;
	start(RLC_SN_6, 0);
	assert_false(part(0, 0, 9));
	assert_int_equal(e.held, 1);
	assert_false(part(0, 2, 9));
	assert_int_equal(drops[RLC_RX_T_REASSEMBLY], 2);
	assert_int_equal(rlc_rx_deadline(&e), 0);
	sdu(1, 9);
	finish();
}

/* An SN ahead pulls the window: RX_Next_Highest follows, what is behind is lost. */
static void
window_follows_the_highest(void **state)
{
	(void)state;
	start(RLC_SN_6, T_REASSEMBLY);
	assert_false(part(0, 0, 0));
	assert_false(part(1, 0, 0));
	sdu(2, 0);
	assert_false(part(31, 0, 0));
	assert_int_equal(drops[RLC_RX_WINDOW_MOVED], 0);
	assert_false(part(32, 0, 0)); /* window [1, 32] */
	assert_int_equal(drops[RLC_RX_WINDOW_MOVED], 1);
	assert_int_equal(e.um.RX_Next_Reassembly, 1);
	assert_false(part(33, 0, 0)); /* window [2, 33], 2 was delivered */
	assert_int_equal(drops[RLC_RX_WINDOW_MOVED], 2);
	assert_int_equal(e.um.RX_Next_Reassembly, 3);
	assert_false(part(2, 1, 0));
	assert_int_equal(drops[RLC_RX_SN_OLD], 1);
	/* 1 is as far ahead of 34 as can be: (1 - 34) mod 64 = 31, window [34, 1] */
	assert_false(part(1, 0, 0));
	assert_int_equal(drops[RLC_RX_WINDOW_MOVED], 5);
	assert_int_equal(e.um.RX_Next_Highest, 2);
	assert_int_equal(e.um.RX_Next_Reassembly, 34);
	assert_int_equal(e.held, 1);
	finish();
}

static void
delivered_in_window_is_a_duplicate(void **state)
{
	(void)state;
	start(RLC_SN_6, T_REASSEMBLY);
	assert_false(part(0, 0, 0));
	sdu(1, 0);
	assert_false(part(1, 0, 0));
	assert_int_equal(drops[RLC_RX_DUPLICATE], 1);
	finish();
}

/* A trigger that falls out of the window stops the timer; it starts anew for what is missing now.
 */
static void
timer_restarts_when_the_window_leaves_the_trigger(void **state)
{
	(void)state;
	start(RLC_SN_6, T_REASSEMBLY);
	assert_false(part(0, 0, 0));
	assert_false(part(1, 0, 0)); /* trigger 2 */
	assert_false(part(20, 0, 0));
	assert_int_equal(e.um.RX_Timer_Trigger, 2);
	assert_false(part(40, 0, 9 * MS)); /* window [9, 40] */
	assert_int_equal(e.um.RX_Timer_Trigger, 41);
	assert_int_equal(rlc_rx_deadline(&e), (9 + T_REASSEMBLY) * MS);
	finish();
}

/* Several times around, with a constant gap behind: nothing of an old round may linger. */
static void
wraps(enum rlc_sn_len bits)
{
	uint32_t mask = rlc_sn_mask(bits), lost = 0;

	start(bits, T_REASSEMBLY);
	for (uint32_t i = 0; i < 3 * (mask + 1) + 10; i++) {
		uint16_t sn = (uint16_t)(i & mask);
		uint64_t now = (uint64_t)i * MS;

		if (rlc_rx_deadline(&e) && rlc_rx_deadline(&e) <= now)
			rlc_rx_expire(&e, &counts, now);
		if (i % 5 == 3) {
			assert_false(part(sn, 1, now));
			lost++;
		} else {
			sdu(sn, now);
		}
	}
	assert_int_equal(drops[RLC_RX_DUPLICATE] + drops[RLC_RX_SN_OLD], 0);
	assert_int_equal(drops[RLC_RX_T_REASSEMBLY] + drops[RLC_RX_WINDOW_MOVED] + e.held, lost);
	finish();
}

static void
sn_wraps(void **state)
{
	(void)state;
	wraps(RLC_SN_6);
	wraps(RLC_SN_12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gap_inside_one_sdu_starts_the_timer),
		cmocka_unit_test(filled_gap_stops_the_timer),
		cmocka_unit_test(expiry_gives_up_what_is_before_the_trigger),
		cmocka_unit_test(expiry_stops_at_the_first_not_reassembled),
		cmocka_unit_test(zero_timer_expires_at_once),
		cmocka_unit_test(window_follows_the_highest),
		cmocka_unit_test(delivered_in_window_is_a_duplicate),
		cmocka_unit_test(timer_restarts_when_the_window_leaves_the_trigger),
		cmocka_unit_test(sn_wraps),
	};

	return cmocka_run_group_tests_name("rlc_um_rx", tests, rlc_test_setup, NULL);
}
