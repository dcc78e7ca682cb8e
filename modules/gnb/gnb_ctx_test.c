/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the above before it. */
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "modules/gnb/gnb_ctx.h"
#include "modules/gnb/gnb_ids.h"
#include "tests/support/test_eal.h"

static struct gnb_session_spec
plain(uint32_t teid)
{
	return (struct gnb_session_spec){
		.teid = teid,
		.ul_teid = 0x77,
		.upf = 3,
		.pdu_session = 5,
		.nb_drbs = 1,
		.drbs = {{.id = 4,
			  .qfis = 1 << 9 | 1 << 1,
			  .sdap_ul = true,
			  .sdap_dl = true,
			  .pdcp_sn_bits = 18,
			  .rlc_mode = GNB_RLC_UM,
			  .rlc_sn_bits = 12,
			  .du_teid = 0x55,
			  .du = 2}},
	};
}

/* --- TEIDs ------------------------------------------------------------------------------------ */

static void
teids_say_index_slot_and_generation(void **state)
{
	uint32_t teid = gnb_teid(1, 0, 0);

	(void)state;
	assert_int_equal(teid, 0x01000000);
	teid = gnb_teid(255, GNB_SESSIONS_MAX - 1, GNB_SLOT_N3);
	assert_int_equal(teid, 0xFFFFFFFF);
	assert_int_equal(gnb_teid_index(teid), GNB_SESSIONS_MAX - 1);
	assert_int_equal(gnb_teid_slot(gnb_teid_with_slot(teid, 3)), 3);
	assert_int_equal(gnb_teid_index(gnb_teid_with_slot(teid, 3)), GNB_SESSIONS_MAX - 1);
}

/** P4-VFD's promise: max/min ≤ 1.02 for consecutive indices. */
static void
workers_get_even_shares(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 12; n++) {
		unsigned share[12] = {0}, min = UINT32_MAX, max = 0;

		for (uint32_t i = 1000; i < 66536; i++) {
			assert_true(gnb_worker_of(i, n) < n);
			share[gnb_worker_of(i, n)]++;
		}
		for (unsigned k = 0; k < n; k++) {
			min = RTE_MIN(min, share[k]);
			max = RTE_MAX(max, share[k]);
		}
		assert_true(max * 100 <= min * 102);
	}
}

static void
freed_indices_come_back_in_order(void **state)
{
	struct gnb_ids t;
	uint32_t a, b;

	(void)state;
	assert_int_equal(gnb_ids_init(&t, 2), 0);
	a = gnb_ids_get(&t, 1000);
	b = gnb_ids_get(&t, 1000);
	assert_int_equal(a, gnb_teid(1, 0, GNB_SLOT_N3));
	assert_int_equal(b, gnb_teid(1, 1, GNB_SLOT_N3));
	assert_int_equal(gnb_ids_get(&t, 1000), 0);
	gnb_ids_put(&t, b);
	gnb_ids_put(&t, a);
	assert_int_equal(gnb_ids_get(&t, 1000), gnb_teid(2, 1, GNB_SLOT_N3));
	assert_int_equal(gnb_ids_get(&t, 1000), gnb_teid(2, 0, GNB_SLOT_N3));
	gnb_ids_fini(&t);
}

/** However fast, and however long one of them was in use. */
static void
a_teid_rests_thirty_seconds(void **state)
{
	static uint64_t freed[256];
	struct gnb_ids t;
	uint64_t now = 5;
	unsigned waits = 0;

	(void)state;
	gnb_ids_init(&t, 1);
	for (unsigned i = 0; i < 5 * GNB_GENERATIONS; i++) {
		uint32_t teid;

		while ((teid = gnb_ids_get(&t, now)) == 0) {
			assert_int_equal(gnb_ids_resting(&t, now), 1);
			now += 100000000;
			waits++;
		}
		assert_int_equal(gnb_teid_slot(teid), GNB_SLOT_N3);
		assert_int_not_equal(teid >> 24, 0);
		assert_true(freed[teid >> 24] == 0 || now - freed[teid >> 24] >= GNB_TEID_REST_NS);
		now += i % 200 == 100 ? 40000000000 : 1;
		freed[teid >> 24] = now;
		gnb_ids_put(&t, teid);
	}
	assert_true(waits > 0);
	gnb_ids_fini(&t);
}

/* --- formats ---------------------------------------------------------------------------------- */

struct want {
	uint8_t rlc_mode, rlc_bits, pdcp_bits;
	bool sdap;
	unsigned nb;
	uint8_t octets[7];
};

/** COUNT 0x3AABCDE (SN 0xCDE or 0x2BCDE), RLC SN 0x2F123, RQI 1, QFI 9: octets by hand. */
static void
headers_are_those_of_the_clauses(void **state)
{
	static const struct want wants[] = {
		{GNB_RLC_UM, 12, 12, false, 3, {0x00, 0x8C, 0xDE}},
		{GNB_RLC_UM, 6, 18, true, 5, {0x00, 0x82, 0xBC, 0xDE, 0x49}},
		{GNB_RLC_TM, 0, 12, true, 3, {0x8C, 0xDE, 0x49}},
		{GNB_RLC_TM, 0, 18, false, 3, {0x82, 0xBC, 0xDE}},
		{GNB_RLC_AM, 12, 12, false, 4, {0x81, 0x23, 0x8C, 0xDE}},
		{GNB_RLC_AM, 12, 18, true, 6, {0x81, 0x23, 0x82, 0xBC, 0xDE, 0x49}},
		{GNB_RLC_AM, 18, 12, true, 6, {0x82, 0xF1, 0x23, 0x8C, 0xDE, 0x49}},
		{GNB_RLC_AM, 18, 18, true, 7, {0x82, 0xF1, 0x23, 0x82, 0xBC, 0xDE, 0x49}},
	};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wants); i++) {
		const struct want *w = &wants[i];
		struct gnb_session_spec s = plain(gnb_teid(1, 7, GNB_SLOT_N3));
		const struct gnb_format *f;
		struct gnb_image image;
		uint64_t word;
		char why[96];

		s.drbs[0].rlc_mode = w->rlc_mode;
		s.drbs[0].rlc_sn_bits = w->rlc_bits;
		s.drbs[0].pdcp_sn_bits = w->pdcp_bits;
		s.drbs[0].sdap_dl = w->sdap;
		assert_int_equal(gnb_image_make(&s, 1, &image, why, sizeof(why)), 0);
		f = &gnb_formats[image.drbs[0].config.format];
		assert_int_equal(f->dl_bytes, w->nb);
		assert_int_equal(f->ul_bytes, w->nb + 1 - w->sdap);
		assert_int_equal(f->rlc_bytes + f->pdcp_bytes + w->sdap, w->nb);
		word = gnb_header_word(f, 0x3AABCDE, 0x2F123, 1 << 6 | 9);
		for (unsigned k = w->nb; k-- > 0; word >>= 8)
			assert_int_equal(word & 0xFF, w->octets[k]);
		assert_int_equal(word, 0);
	}
}

static void
pdcp_split_has_no_rlc(void **state)
{
	struct gnb_session_spec s = plain(gnb_teid(1, 7, GNB_SLOT_N3));
	struct gnb_image image;
	char why[96];

	(void)state;
	s.drbs[0].no_rlc = true;
	assert_int_equal(gnb_image_make(&s, 1, &image, why, sizeof(why)), 0);
	assert_int_equal(gnb_formats[image.drbs[0].config.format].rlc_bytes, 0);
	assert_int_equal(gnb_formats[image.drbs[0].config.format].dl_bytes, 4);
}

/* --- images ----------------------------------------------------------------------------------- */

static void
flows_find_their_drb(void **state)
{
	struct gnb_session_spec s = plain(gnb_teid(1, 7, GNB_SLOT_N3));
	struct gnb_image image;
	char why[96];

	(void)state;
	assert_int_equal(gnb_image_make(&s, 2, &image, why, sizeof(why)), 0);
	assert_int_equal(gnb_slot_of_qfi(&image.session, 9), 0);
	assert_int_equal(gnb_slot_of_qfi(&image.session, 1), 0);
	assert_int_equal(gnb_slot_of_qfi(&image.session, 8), GNB_NO_DRB);
	s.nb_drbs = 2;
	s.drbs[1] = s.drbs[0];
	s.drbs[1].id = 32;
	s.drbs[1].slot = 1;
	s.drbs[1].qfis = 1ULL << 63;
	s.drbs[1].is_default = true;
	assert_int_equal(gnb_image_make(&s, 2, &image, why, sizeof(why)), 0);
	assert_int_equal(image.session.default_slot, 1);
	for (unsigned qfi = 0; qfi < 64; qfi++)
		assert_int_equal(gnb_slot_of_qfi(&image.session, qfi), qfi != 9 && qfi != 1);
}

static void
what_cannot_be_is_refused(void **state)
{
	struct {
		const char *why;
		struct gnb_session_spec s;
	} bad[9];
	char why[96];

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		bad[i].s = plain(gnb_teid(1, 7, GNB_SLOT_N3));
		bad[i].s.drbs[1] = bad[i].s.drbs[0];
		bad[i].s.drbs[1].id = 5;
		bad[i].s.drbs[1].slot = 1;
		bad[i].s.drbs[1].qfis = 1 << 2;
	}
	bad[0].s.nb_drbs = 0, bad[0].why = "0 DRBs";
	bad[1].s.nb_drbs = 3, bad[1].why = "3 DRBs";
	bad[2].s.drbs[0].id = 33, bad[2].why = "1..32";
	bad[3].s.drbs[0].pdcp_sn_bits = 13, bad[3].why = "13 bits";
	bad[4].s.drbs[0].rlc_sn_bits = 18, bad[4].why = "18 bits";
	bad[5].s.drbs[0].qfis = 0, bad[5].why = "no QoS flow";
	bad[6].s.drbs[0].sdap_ul = false, bad[6].why = "uplink SDAP header";
	bad[7].s.nb_drbs = 2, bad[7].s.drbs[1].qfis = 1 << 9, bad[7].why = "QFI 9";
	bad[8].s.nb_drbs = 2, bad[8].s.drbs[1].id = 4, bad[8].why = "twice";
	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		struct gnb_image image;

		assert_int_equal(gnb_image_make(&bad[i].s, 2, &image, why, sizeof(why)), -EINVAL);
		if (strstr(why, bad[i].why) == NULL)
			fail_msg("%u: '%s' says nothing of '%s'", i, why, bad[i].why);
	}
}

/* --- the table -------------------------------------------------------------------------------- */

static void
sessions_come_change_and_go(void **state)
{
	struct gnb_table *t = gnb_table_create(100, 2, SOCKET_ID_ANY);
	uint32_t teid = gnb_teid(3, 99, GNB_SLOT_N3);
	struct gnb_session_spec s = plain(teid);
	struct gnb_image image;
	struct gnb_drb *d;
	char why[96];

	(void)state;
	assert_non_null(t);
	assert_false(gnb_session_is(gnb_session_at(t, teid), teid));
	assert_false(gnb_session_is(gnb_session_at(t, UINT32_MAX), UINT32_MAX));
	s.drbs[0].count = 17;
	gnb_image_make(&s, 2, &image, why, sizeof(why));
	gnb_session_set(t, &image);
	assert_true(gnb_session_is(gnb_session_at(t, teid), teid));
	assert_true(gnb_session_is(gnb_session_at(t, teid), gnb_teid_with_slot(teid, 1)));
	assert_false(gnb_session_is(gnb_session_at(t, teid), teid + (1 << 24)));
	d = gnb_drb_at(t, teid, 0);
	assert_int_equal(d->tx_next, 17);
	assert_int_equal(gnb_drb_at(t, teid, 1)->config.id, 0);

	/* What stays runs on, what is new begins. */
	d->tx_next = 1000;
	d->dl_packets = 983;
	s.nb_drbs = 2;
	s.drbs[0].du_teid = 0x66;
	s.drbs[1] = (struct gnb_drb_spec){.id = 9,
					  .slot = 1,
					  .qfis = 1 << 3,
					  .pdcp_sn_bits = 12,
					  .rlc_mode = GNB_RLC_AM,
					  .rlc_sn_bits = 12,
					  .count = 5};
	gnb_image_make(&s, 2, &image, why, sizeof(why));
	gnb_session_set(t, &image);
	assert_int_equal(d->tx_next, 1000);
	assert_int_equal(d->dl_packets, 983);
	assert_int_equal(d->config.du_teid, 0x66);
	assert_int_equal(gnb_drb_at(t, teid, 1)->tx_next, 5);
	assert_int_equal(gnb_drb_at(t, teid, 1)->config.ul_qfi, 3);

	d->owner = GNB_OWNER_NIC;
	gnb_session_set(t, &image);
	assert_int_equal(d->owner, GNB_OWNER_NIC);
	/* Another COUNT: whoever numbered before, we do now. */
	s.drbs[0].set_count = true;
	s.drbs[0].count = 40;
	gnb_image_make(&s, 2, &image, why, sizeof(why));
	gnb_session_set(t, &image);
	assert_int_equal(d->tx_next, 40);
	assert_int_equal(d->owner, GNB_OWNER_HOST);
	assert_int_equal(d->dl_packets, 983);

	assert_false(gnb_session_clear(t, teid + (1 << 24)));
	assert_true(gnb_session_clear(t, teid));
	assert_false(gnb_session_clear(t, teid));
	assert_int_equal(d->config.id, 0);
	gnb_table_destroy(t);
}

static void
tables_of_no_size_are_refused(void **state)
{
	(void)state;
	assert_null(gnb_table_create(0, 1, SOCKET_ID_ANY));
	assert_null(gnb_table_create(GNB_SESSIONS_MAX + 1, 1, SOCKET_ID_ANY));
	assert_null(gnb_table_create(16, 3, SOCKET_ID_ANY));
	assert_null(gnb_table_create(16, 16, SOCKET_ID_ANY));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(teids_say_index_slot_and_generation),
		cmocka_unit_test(workers_get_even_shares),
		cmocka_unit_test(freed_indices_come_back_in_order),
		cmocka_unit_test(a_teid_rests_thirty_seconds),
		cmocka_unit_test(headers_are_those_of_the_clauses),
		cmocka_unit_test(pdcp_split_has_no_rlc),
		cmocka_unit_test(flows_find_their_drb),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(sessions_come_change_and_go),
		cmocka_unit_test(tables_of_no_size_are_refused),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
