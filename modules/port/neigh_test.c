/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs the headers above. */
#include <cmocka.h>

#include "modules/port/neigh.h"

#define MAC 0x02, 0x00, 0x5e, 0x10, 0x00, 0x01
#define ASKER 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc

static const uint8_t mac[6] = {MAC};

/* Who has 10.0.0.2? Tell 10.0.0.1. */
static const uint8_t arp_request[42] = {
	0xff, 0xff,  0xff, 0xff, 0xff, 0xff, ASKER, 0x08, 0x06, 0x00, 0x01, 0x08, 0x00, 6, 4, 0,
	1,    ASKER, 10,   0,    0,    1,    0,     0,    0,    0,    0,    0,    10,   0, 0, 2,
};

static const uint8_t arp_answer[42] = {
	ASKER, MAC, 0x08, 0x06, 0x00, 0x01, 0x08,  0x00, 6, 4, 0,
	2,     MAC, 10,   0,    0,    2,    ASKER, 10,   0, 0, 1,
};

/* fe80::1 solicits fe80::2, with its link-layer address; checksum from another program. */
static const uint8_t solicit[86] = {
	0x33, 0x33, 0xff, 0x00, 0x00, 0x02, ASKER, 0x86, 0xdd, 0x60, 0,    0,     0, 0,    32, 58,
	255,  0xfe, 0x80, 0,    0,    0,    0,     0,    0,    0,    0,    0,     0, 0,    0,  0,
	1,    0xff, 0x02, 0,    0,    0,    0,     0,    0,    0,    0,    0,     1, 0xff, 0,  0,
	2,    135,  0,    0x6d, 0xcd, 0,    0,     0,    0,    0xfe, 0x80, 0,     0, 0,    0,  0,
	0,    0,    0,    0,    0,    0,    0,     0,    2,    1,    1,    ASKER,
};

static const uint8_t advert[86] = {
	ASKER, MAC, 0x86, 0xdd, 0x60, 0, 0, 0, 0,   32, 58,   255,  0xfe, 0x80, 0, 0, 0,    0,
	0,     0,   0,    0,    0,    0, 0, 0, 0,   2,  0xfe, 0x80, 0,    0,    0, 0, 0,    0,
	0,     0,   0,    0,    0,    0, 0, 1, 136, 0,  0xda, 0x0a, 0x40, 0,    0, 0, 0xfe, 0x80,
	0,     0,   0,    0,    0,    0, 0, 0, 0,   0,  0,    0,    0,    2,    2, 1, MAC,
};

static uint8_t frame[128];

static void
assert_unanswered(bool (*answer)(uint8_t *, uint32_t, const uint8_t *), uint32_t len)
{
	uint8_t before[sizeof(frame)];

	memcpy(before, frame, sizeof(frame));
	assert_false(answer(frame, len, mac));
	assert_memory_equal(frame, before, sizeof(frame));
}

static void
test_arp(void **state)
{
	(void)state;
	memcpy(frame, arp_request, sizeof(arp_request));
	assert_true(neigh_answer_arp(frame, 60, mac));
	assert_memory_equal(frame, arp_answer, sizeof(arp_answer));
}

static void
test_arp_not_answered(void **state)
{
	(void)state;
	memcpy(frame, arp_request, sizeof(arp_request));
	assert_unanswered(neigh_answer_arp, 41);
	frame[14 + 7] = 2; /* an answer */
	assert_unanswered(neigh_answer_arp, 60);
	memcpy(frame, arp_request, sizeof(arp_request));
	memset(frame + 28, 0, 4); /* probe: sender 0.0.0.0 */
	assert_unanswered(neigh_answer_arp, 60);
	memcpy(frame, arp_request, sizeof(arp_request));
	frame[41] = 1; /* announcement: target is the sender */
	assert_unanswered(neigh_answer_arp, 60);
	memcpy(frame, arp_request, sizeof(arp_request));
	frame[14] = 6; /* not Ethernet hardware */
	assert_unanswered(neigh_answer_arp, 60);
}

static void
test_nd(void **state)
{
	(void)state;
	memcpy(frame, solicit, sizeof(solicit));
	assert_true(neigh_is_nd(frame + 14, 72));
	assert_true(neigh_answer_nd(frame, 86, mac));
	assert_memory_equal(frame, advert, sizeof(advert));
}

static void
put(uint32_t at, uint8_t v)
{
	memcpy(frame, solicit, sizeof(solicit));
	frame[at] = v;
}

static void
test_nd_not_answered(void **state)
{
	(void)state;
	memcpy(frame, solicit, sizeof(solicit));
	for (uint32_t len = 0; len < 86; len++)
		assert_unanswered(neigh_answer_nd, len);
	put(14 + 7, 254); /* came through a router */
	assert_unanswered(neigh_answer_nd, 86);
	put(14 + 42, 0); /* checksum */
	assert_unanswered(neigh_answer_nd, 86);
	put(14 + 40, 136); /* an advertisement; checksum made good */
	frame[14 + 42] -= 1;
	assert_unanswered(neigh_answer_nd, 86);
	put(14 + 65, 0); /* option of length zero; checksum made good */
	frame[14 + 43] += 1;
	assert_unanswered(neigh_answer_nd, 86);
	put(14 + 23, 2); /* asks for its own address; checksum made good */
	frame[14 + 43] -= 1;
	assert_unanswered(neigh_answer_nd, 86);
	/* duplicate address detection: no source; checksum made good */
	memcpy(frame, solicit, sizeof(solicit));
	memset(frame + 22, 0, 16);
	frame[14 + 42] = 0x6c;
	frame[14 + 43] = 0x4f;
	assert_unanswered(neigh_answer_nd, 86);
}

static void
test_is_nd(void **state)
{
	(void)state;
	memcpy(frame, solicit, sizeof(solicit));
	assert_false(neigh_is_nd(frame + 14, 40));
	frame[14 + 40] = 128; /* echo request */
	assert_false(neigh_is_nd(frame + 14, 72));
	frame[14 + 40] = 134; /* router advertisement */
	assert_true(neigh_is_nd(frame + 14, 72));
	frame[14 + 6] = 17;
	assert_false(neigh_is_nd(frame + 14, 72));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arp),   cmocka_unit_test(test_arp_not_answered),
		cmocka_unit_test(test_nd),    cmocka_unit_test(test_nd_not_answered),
		cmocka_unit_test(test_is_nd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
