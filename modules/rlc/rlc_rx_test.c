/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_test.h"

#define MS AP_NS_PER_MS
#define T_REASSEMBLY 35

static uint64_t drops[RLC_RX_DROPS];
static struct rlc_rx_counts counts;
static struct rlc_rx e;
static uint64_t in, out;

static void
start(enum rlc_mode mode, enum rlc_sn_len bits, uint32_t t_Reassembly_ms, uint32_t segments_max)
{
	const struct rlc_rx_cfg cfg = {.mode = mode,
				       .sn_FieldLength = bits,
				       .bearer = 7,
				       .t_Reassembly_ms = t_Reassembly_ms,
				       .segments_max = segments_max};

	memset(drops, 0, sizeof(drops));
	counts = (struct rlc_rx_counts){.drops = drops};
	in = out = 0;
	assert_int_equal(rlc_rx_init(&e, &cfg), 0);
}

/* in + made = out + used + drops + held, as the node contract wants it; then no leak. */
static void
finish(void)
{
	uint64_t dropped = 0;

	for (int i = 0; i < RLC_RX_DROPS; i++)
		dropped += drops[i];
	assert_int_equal(in + counts.made, out + counts.used + dropped + e.held);
	rlc_rx_fini(&e);
	assert_no_leak();
}

/* One PDU of given bytes, `parts` segments. @return the SDU or NULL. */
static struct rte_mbuf *
receive_in(const void *bytes, uint16_t len, uint16_t first, uint64_t now)
{
	struct rte_mbuf *m = packet(bytes, first), *sdu;
	unsigned n;

	if (first < len) {
		m->next = packet((const uint8_t *)bytes + first, len - first);
		m->nb_segs = 2;
		m->pkt_len = len;
	}
	ap_meta(m)->bearer = 7;
	in++;
	n = rlc_rx_receive(&e, &m, 1, &sdu, &counts, now);
	out += n;
	return n ? sdu : NULL;
}

static struct rte_mbuf *
receive(const void *bytes, uint16_t len, uint64_t now)
{
	return receive_in(bytes, len, len, now);
}

/* Bytes [so, end) of SDU `id` as a segment with 6-bit SN. */
static struct rte_mbuf *
seg(enum rlc_si si, uint16_t sn, uint32_t id, uint16_t so, uint16_t end, uint64_t now)
{
	const struct rlc_umd h = {.si = si, .sn = sn, .so = so};
	uint8_t buf[2048];
	int len = rlc_umd_encode(buf, 4, e.bits, &h);

	for (uint16_t i = so; i < end; i++)
		buf[len++] = sdu_byte(id, i);
	return receive_in(buf, (uint16_t)len, (uint16_t)(len > 6 ? 5 : len), now);
}

static void
assert_sdu(struct rte_mbuf *m, uint32_t id, uint32_t len)
{
	static uint8_t buf[65536];

	assert_non_null(m);
	assert_int_equal(flatten(m, buf), len);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(buf[i], sdu_byte(id, i));
	assert_int_equal(ap_meta(m)->bearer, 7);
	rte_pktmbuf_free(m);
}

static void
assert_bytes(struct rte_mbuf *m, const char *bytes)
{
	assert_non_null(m);
	assert_packet(m, bytes, (uint32_t)strlen(bytes));
	assert_int_equal(ap_meta(m)->bearer, 7);
	rte_pktmbuf_free(m);
}

static void
tm_passes_and_none_drops(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	start(RLC_TM, 0, 0, 0);
	assert_bytes(receive("\x80 abc", 5, 0), "\x80 abc");
	assert_null(receive("", 0, 0));
	assert_int_equal(drops[RLC_RX_SDU_EMPTY], 1);
	finish();
	m = packet("x", 1);
	assert_int_equal(rlc_rx_receive(&e, &m, 1, &m, &counts, 0), 0);
	assert_int_equal(drops[RLC_RX_NO_BEARER], 1);
	assert_no_leak();
}

static void
config_is_checked(void **state)
{
	const struct rlc_rx_cfg am = {.mode = RLC_UM, .sn_FieldLength = RLC_SN_18};
	const struct rlc_rx_cfg none = {.mode = RLC_NONE};
	const struct rlc_rx_cfg slow = {
		.mode = RLC_UM, .sn_FieldLength = RLC_SN_6, .t_Reassembly_ms = 10001};

	(void)state;
	assert_int_equal(rlc_rx_init(&e, &am), -EINVAL);
	assert_int_equal(rlc_rx_init(&e, &none), -EINVAL);
	assert_int_equal(rlc_rx_init(&e, &slow), -EINVAL);
}

/* Complete SDUs: no SN, reserved bits ignored, header byte in a segment of its own, shared buffer.
 */
static void
complete_sdus(void **state)
{
	struct rte_mbuf *m, *views[2], *sdus[2];

	(void)state;
	start(RLC_UM, RLC_SN_12, T_REASSEMBLY, 0);
	assert_bytes(receive("\0abc", 4, 0), "abc");
	assert_bytes(receive("\x3f"
			     "abc",
			     4, 0),
		     "abc");
	assert_bytes(receive_in("\0abc", 4, 1, 0), "abc");
	assert_bytes(receive_in("\0abc", 4, 2, 0), "abc");

	m = packet("\0ab\0cd", 6);
	for (int i = 0; i < 2; i++) {
		views[i] = rte_pktmbuf_clone(m, pools.ind);
		views[i]->data_off += 3 * i;
		views[i]->data_len = 3;
		views[i]->pkt_len = 3;
		ap_meta(views[i])->bearer = 7;
	}
	in += 2;
	out += rlc_rx_receive(&e, views, 2, sdus, &counts, 0);
	assert_bytes(sdus[0], "ab");
	assert_bytes(sdus[1], "cd");
	assert_packet(m, "\0ab\0cd", 6);
	rte_pktmbuf_free(m);
	assert_int_equal(counts.made + counts.used, 0);
	finish();
}

/* The output may be the input: SDUs move up over PDUs that gave none. */
static void
in_place(void **state)
{
	struct rte_mbuf *pdus[5] = {packet("\0a", 2), packet("\0", 1), packet("\0b", 2),
				    packet("\x40", 1), packet("\0c", 2)};

	(void)state;
	start(RLC_UM, RLC_SN_6, T_REASSEMBLY, 0);
	in = 5;
	out = rlc_rx_receive(&e, pdus, 5, pdus, &counts, 0);
	assert_int_equal(out, 3);
	for (int i = 0; i < 3; i++)
		assert_packet(pdus[i], &"a\0b\0c"[2 * i], 1);
	rte_pktmbuf_free_bulk(pdus, 3);
	assert_int_equal(drops[RLC_RX_SDU_EMPTY], 2);
	finish();
}

static void
bad_pdus_drop_by_name(void **state)
{
	static uint8_t big[1000];

	(void)state;
	start(RLC_UM, RLC_SN_12, T_REASSEMBLY, 0);
	assert_null(receive("", 0, 0));
	assert_null(receive("\x40", 1, 0));
	assert_null(receive("\xc0\x00\x01", 3, 0));
	assert_int_equal(drops[RLC_RX_PDU_SHORT], 3);
	assert_null(receive("\0", 1, 0));
	assert_null(receive("\x40\x00", 2, 0));
	assert_null(receive("\xc0\x00\x00\x01", 4, 0));
	assert_int_equal(drops[RLC_RX_SDU_EMPTY], 3);
	assert_null(receive("\xc0\x00\x00\x00z", 5, 0));
	assert_null(receive("\x80\x00\x00\x00z", 5, 0));
	assert_int_equal(drops[RLC_RX_SI_SO], 2);
	memcpy(big, "\x80\x00\xff\x00", 4);
	assert_null(receive(big, sizeof(big), 0));
	assert_int_equal(drops[RLC_RX_SDU_OVERSIZE], 1);
	assert_int_equal(e.um.RX_Next_Highest, 0);
	finish();
}

static void
segments_in_any_order(void **state)
{
	static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static const enum rlc_si si[] = {RLC_SI_FIRST, RLC_SI_MIDDLE, RLC_SI_LAST};

	(void)state;
	start(RLC_UM, RLC_SN_6, T_REASSEMBLY, 0);
	for (uint32_t o = 0; o < 6; o++) {
		for (int i = 0; i < 3; i++) {
			uint8_t k = orders[o][i];
			struct rte_mbuf *sdu = seg(si[k], o, o, 10 * k, 10 * k + 10, 0);

			if (i < 2)
				assert_null(sdu);
			else
				assert_sdu(sdu, o, 30);
		}
	}
	assert_int_equal(counts.made, 6);
	assert_int_equal(counts.used, 18);
	assert_int_equal(e.um.RX_Next_Reassembly, 6);
	assert_int_equal(rlc_rx_deadline(&e), 0);
	finish();
}

/* Overlap on both edges, a segment that covers others, and one that adds nothing. */
static void
overlapping_segments(void **state)
{
	(void)state;
	start(RLC_UM, RLC_SN_6, T_REASSEMBLY, 0);
	assert_null(seg(RLC_SI_FIRST, 0, 5, 0, 10, 0));
	assert_null(seg(RLC_SI_MIDDLE, 0, 5, 20, 30, 0));
	assert_null(seg(RLC_SI_MIDDLE, 0, 5, 22, 28, 0));
	assert_int_equal(drops[RLC_RX_DUPLICATE], 1);
	assert_null(seg(RLC_SI_LAST, 0, 5, 40, 50, 0));
	assert_null(seg(RLC_SI_MIDDLE, 0, 5, 5, 25, 0)); /* trimmed on both edges */
	assert_null(seg(RLC_SI_FIRST, 0, 5, 0, 10, 0));
	assert_int_equal(drops[RLC_RX_DUPLICATE], 2);
	assert_sdu(seg(RLC_SI_MIDDLE, 0, 5, 18, 45, 0), 5, 50); /* covers 20..30 */
	assert_int_equal(drops[RLC_RX_DUPLICATE], 3);
	assert_null(seg(RLC_SI_LAST, 0, 5, 40, 50, 0)); /* late copy of a delivered SDU */
	assert_int_equal(drops[RLC_RX_SN_OLD], 1);
	finish();
}

/* The bytes were there; only that they were the last ones was not known. */
static void
duplicate_tells_the_end(void **state)
{
	(void)state;
	start(RLC_UM, RLC_SN_6, T_REASSEMBLY, 0);
	assert_null(seg(RLC_SI_FIRST, 0, 5, 0, 10, 0));
	assert_null(seg(RLC_SI_MIDDLE, 0, 5, 10, 30, 0));
	assert_sdu(seg(RLC_SI_LAST, 0, 5, 20, 30, 0), 5, 30);
	assert_int_equal(drops[RLC_RX_DUPLICATE], 1);
	finish();
}

static void
contradicting_ends(void **state)
{
	(void)state;
	start(RLC_UM, RLC_SN_6, T_REASSEMBLY, 0);
	assert_null(seg(RLC_SI_MIDDLE, 0, 5, 30, 40, 0));
	assert_null(seg(RLC_SI_LAST, 0, 5, 20, 35, 0));
	assert_null(seg(RLC_SI_LAST, 0, 5, 40, 50, 0));
	assert_null(seg(RLC_SI_LAST, 0, 5, 40, 49, 0));
	assert_null(seg(RLC_SI_LAST, 0, 5, 45, 51, 0));
	assert_null(seg(RLC_SI_MIDDLE, 0, 5, 45, 60, 0));
	assert_int_equal(drops[RLC_RX_SO_CONFLICT], 4);
	assert_sdu(seg(RLC_SI_FIRST, 0, 5, 0, 30, 0), 5, 50);
	finish();
}

static void
kept_segments_are_bounded(void **state)
{
	(void)state;
	start(RLC_UM, RLC_SN_6, T_REASSEMBLY, 2);
	assert_null(seg(RLC_SI_FIRST, 0, 5, 0, 10, 0));
	assert_null(seg(RLC_SI_MIDDLE, 0, 5, 20, 30, 0));
	assert_null(seg(RLC_SI_LAST, 0, 5, 30, 40, 0));
	assert_int_equal(drops[RLC_RX_SEGMENTS_FULL], 1);
	assert_int_equal(e.held, 2);
	rlc_rx_expire(&e, &counts, T_REASSEMBLY * MS);
	assert_int_equal(drops[RLC_RX_T_REASSEMBLY], 2);
	assert_null(seg(RLC_SI_FIRST, 1, 5, 0, 10, 0));
	assert_sdu(seg(RLC_SI_LAST, 1, 5, 10, 20, 0), 5, 20);
	finish();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tm_passes_and_none_drops),
		cmocka_unit_test(config_is_checked),
		cmocka_unit_test(complete_sdus),
		cmocka_unit_test(in_place),
		cmocka_unit_test(bad_pdus_drop_by_name),
		cmocka_unit_test(segments_in_any_order),
		cmocka_unit_test(overlapping_segments),
		cmocka_unit_test(duplicate_tells_the_end),
		cmocka_unit_test(contradicting_ends),
		cmocka_unit_test(kept_segments_are_bounded),
	};

	return cmocka_run_group_tests_name("rlc_rx", tests, rlc_test_setup, NULL);
}
