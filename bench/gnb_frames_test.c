/* SPDX-License-Identifier: BSD-3-Clause */
/* The generator's frames of a gNB, against those of gnb_wire.h, which were written without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_byteorder.h>

#include "bench/gnb_frames.h"
#include "bench/gnb_wire.h"

#define TPDU 77
#define SESSION 21
#define SESSIONS 22
#define NUMBER 0x10102
#define IP_ID 18 /* in a frame */
#define IP_SUM 24

static const struct upf_wire_cfg cfg = {
	.n3_mac = {2, 0, 0, 0, 3, 1},
	.n6_mac = {2, 0, 0, 0, 7, 1},
	.gnb_mac = {2, 0, 0, 0, 3, 9},
	.net_mac = {2, 0, 0, 0, 7, 9},
	.n3_ip = RTE_BE32(0x0A030002),
	.f1_ip = RTE_BE32(0x0A070001),
	.gnb_ip = RTE_BE32(0x0A030001),
	.server_ip = RTE_BE32(0x0A070009),
	.bytes = TPDU,
};
static const struct gnb_wire other = {
	.n3 = {{2, 0, 0, 0, 3, 1}, {2, 0, 0, 0, 3, 9}, 0x0A030002, 0x0A030001},
	.f1 = {{2, 0, 0, 0, 7, 1}, {2, 0, 0, 0, 7, 9}, 0x0A070001, 0x0A070009},
	.tpdu = TPDU,
};
static const struct upf_wire_session session = {.teid = RTE_BE32(0x0100015F),
						.octets = {NUMBER, NUMBER}};

static enum gnb_wire_direction
other_way(enum upf_wire_direction d)
{
	return d == UPF_WIRE_UP ? GNB_WIRE_UP : GNB_WIRE_DOWN;
}

static enum upf_wire_verdict
judge(const struct upf_wire *w, enum upf_wire_direction d, const uint8_t *p, unsigned bytes)
{
	struct upf_wire_test t;
	enum upf_wire_verdict v = w->ops->read(w, d, p, bytes, SESSIONS, &t);

	if (v != UPF_WIRE_GOOD)
		return v;
	assert_int_equal(t.session, SESSION);
	assert_int_equal(t.seq, 99);
	assert_int_equal(t.now, 1234);
	return w->ops->check(w, d, p, &t, &session);
}

static void
sent_frames_are_alike(void **state)
{
	struct upf_wire w;

	(void)state;
	gnb_frames_init(&w, &cfg);
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		uint8_t p[GNB_WIRE_ROOM], q[GNB_WIRE_ROOM];
		const uint32_t teid = d == UPF_WIRE_UP ? 0x01000150 : 0x0100015F;

		w.ops->build(&w, d, p, SESSION, &session, 99, 1234);
		assert_int_equal(gnb_wire_build(&other, other_way(d), q, SESSION, teid, NUMBER),
				 w.frame_bytes[d]);
		memset(q + IP_ID, 0, 2); /* a mark of the other's */
		assert_memory_equal(p, q, IP_SUM);
		assert_memory_equal(p + IP_SUM + 2, q + IP_SUM + 2, w.head_bytes[d] - IP_SUM - 2U);
	}
}

static void
what_must_come_out_is_good_and_nothing_else(void **state)
{
	struct upf_wire w;

	(void)state;
	gnb_frames_init(&w, &cfg);
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		uint8_t sent[GNB_WIRE_ROOM], p[GNB_WIRE_ROOM];
		unsigned bytes = gnb_wire_expect(&other, other_way(d), p, SESSION, NUMBER);

		w.ops->build(&w, d, sent, SESSION, &session, 99, 1234);
		assert_int_equal(bytes, w.out_bytes[d]);
		memcpy(p + bytes - TPDU, sent + w.frame_bytes[d] - TPDU, TPDU);
		assert_int_equal(judge(&w, d, p, bytes), UPF_WIRE_GOOD);
		for (unsigned i = 0; i < bytes; i++) {
			p[i] ^= 0x10;
			assert_int_not_equal(judge(&w, d, p, bytes), UPF_WIRE_GOOD);
			p[i] ^= 0x10;
		}
		assert_int_not_equal(judge(&w, d, p, bytes - 1), UPF_WIRE_GOOD);
		assert_int_equal(judge(&w, d, p, 60), UPF_WIRE_FOREIGN);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sent_frames_are_alike),
		cmocka_unit_test(what_must_come_out_is_good_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
