/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/gtpu_msg.h"

static const uint8_t served[] = {GTPU_EXT_PDU_SESSION_CONTAINER, GTPU_EXT_UDP_PORT};

/* PDU session container of QFI 9 with RQI; two octets of T-PDU. */
static const uint8_t g_pdu_psc[] = {0x34, 0xFF, 0x00, 0x0A, 0x12, 0x34, 0x56, 0x78, 0x00,
				    0x00, 0x00, 0x85, 0x01, 0x00, 0x49, 0x00, 0x45, 0x00};

static void
g_pdu_golden(void **state)
{
	uint8_t p[GTPU_HDR_PSC_BYTES];
	struct gtpu_gpdu fast, any;

	(void)state;
	gtpu_gpdu_psc_put(p, 0x12345678, 2, PSC_DL, 9, true);
	assert_memory_equal(p, g_pdu_psc, sizeof(p));
	assert_int_equal(gtpu_gpdu_decode_fast(g_pdu_psc, sizeof(g_pdu_psc), &fast), 16);
	assert_int_equal(
		gtpu_gpdu_decode_any(g_pdu_psc, sizeof(g_pdu_psc), GTPU_ENDPOINT, served, 2, &any),
		16);
	for (const struct gtpu_gpdu *g = &fast; g; g = g == &fast ? &any : NULL) {
		assert_int_equal(g->teid, 0x12345678);
		assert_int_equal(g->hdr_bytes, 16);
		assert_int_equal(g->tpdu_bytes, 2);
		assert_int_equal(g->qfi, 9);
		assert_int_equal(g->psc_type, PSC_DL);
		assert_true(g->rqi);
		assert_int_equal(g->unknown, 0);
	}
	gtpu_gpdu_put(p, 1, 1400);
	assert_memory_equal(p, ((uint8_t[]){0x30, 0xFF, 0x05, 0x78, 0, 0, 0, 1}), 8);
	gtpu_gpdu_psc_put(p, 1, 1400, PSC_UL, 63, false);
	assert_memory_equal(
		p,
		((uint8_t[]){0x34, 0xFF, 0x05, 0x80, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 0x3F, 0}),
		16);
}

static void
g_pdu_of_other_forms(void **state)
{
	/* Sequence number and N-PDU number, no extension header. */
	static const uint8_t numbered[] = {0x33, 0xFF, 0, 5, 0, 0, 0, 7, 0x12, 0x34, 0x56, 0xC0, 9};
	/* NR RAN container of 8 octets before the PDU session container, with PPI 5. */
	static const uint8_t chain[] = {0x34, 0xFF, 0,    21,   0, 0, 0, 7, 0,   0,
					0,    0x84, 2,    1,    2, 3, 4, 5, 6,   0x85,
					2,    0,    0x83, 0xA0, 0, 0, 0, 0, 0x60};
	const uint8_t both[] = {GTPU_EXT_PDU_SESSION_CONTAINER, GTPU_EXT_NR_RAN_CONTAINER};
	struct gtpu_gpdu g;

	(void)state;
	assert_int_equal(gtpu_gpdu_decode_fast(numbered, sizeof(numbered), &g), 0);
	assert_int_equal(gtpu_gpdu_decode(numbered, sizeof(numbered), GTPU_ENDPOINT, NULL, 0, &g),
			 12);
	assert_int_equal(g.qfi, GTPU_NO_QFI);
	assert_int_equal(g.tpdu_bytes, 1);
	assert_int_equal(gtpu_gpdu_decode(chain, sizeof(chain), GTPU_ENDPOINT, both, 2, &g), 28);
	assert_int_equal(g.qfi, 3);
	assert_int_equal(g.tpdu_bytes, 1);
	assert_int_equal(g.unknown, 0);
	assert_int_equal(gtpu_gpdu_decode(chain, sizeof(chain), GTPU_ENDPOINT, served, 2, &g), 28);
	assert_int_equal(g.unknown, GTPU_EXT_NR_RAN_CONTAINER);
	assert_int_equal(gtpu_gpdu_decode(chain, sizeof(chain), GTPU_INTERMEDIATE, NULL, 0, &g),
			 28);
	assert_int_equal(g.unknown, 0);
	assert_int_equal(g.qfi, 3);
	/* An End Marker is no G-PDU. */
	assert_int_equal(gtpu_gpdu_decode((const uint8_t[]){0x30, 0xFE, 0, 0, 0, 0, 0, 7}, 8,
					  GTPU_ENDPOINT, NULL, 0, &g),
			 -CODEC_UNSUPPORTED);
}

static void
containers_and_others(void **state)
{
	/* Two containers of QFI 1 and 2, and one whose flags announce more than there is. */
	static const uint8_t two[] = {0x34, 0xFF, 0, 12, 0, 0,    0, 7, 0, 0,
				      0,    0x85, 1, 0,  1, 0x85, 1, 0, 2, 0};
	static const uint8_t bad[] = {0x34, 0xFF, 0, 8, 0, 0, 0, 7, 0, 0, 0, 0x85, 1, 8, 1, 0};
	struct gtpu_gpdu g;

	(void)state;
	assert_int_equal(gtpu_gpdu_decode(two, sizeof(two), GTPU_ENDPOINT, served, 2, &g), 20);
	assert_int_equal(g.qfi, 1);
	assert_int_equal(g.tpdu_bytes, 0);
	assert_int_equal(gtpu_gpdu_decode(bad, sizeof(bad), GTPU_ENDPOINT, served, 2, &g),
			 -CODEC_SHORT);
	/* Who does not serve containers does not look into them. */
	assert_int_equal(gtpu_gpdu_decode(bad, sizeof(bad), GTPU_ENDPOINT, NULL, 0, &g), 16);
	assert_int_equal(g.unknown, GTPU_EXT_PDU_SESSION_CONTAINER);
	assert_int_equal(g.qfi, GTPU_NO_QFI);
}

/* Every flag octet and container octet: the fast path says what the other one says, or nothing. */
static void
fast_path_agrees(void **state)
{
	uint8_t p[sizeof(g_pdu_psc) + 4];
	struct gtpu_gpdu fast, any;
	unsigned taken = 0;

	(void)state;
	memset(p, 0, sizeof(p));
	memcpy(p, g_pdu_psc, sizeof(g_pdu_psc));
	for (unsigned i = 0; i < 1U << 24; i += 7) {
		p[0] = (uint8_t)i;
		p[13] = (uint8_t)(i >> 8);
		p[14] = (uint8_t)(i >> 16);
		for (size_t len = 7; len <= sizeof(p); len += 11) {
			int n = gtpu_gpdu_decode_fast(p, len, &fast);

			if (n == 0)
				continue;
			taken++;
			assert_int_equal(
				gtpu_gpdu_decode_any(p, len, GTPU_ENDPOINT, served, 2, &any), n);
			assert_int_equal(fast.teid, any.teid);
			assert_int_equal(fast.hdr_bytes, any.hdr_bytes);
			assert_int_equal(fast.tpdu_bytes, any.tpdu_bytes);
			assert_int_equal(fast.qfi, any.qfi);
			assert_int_equal(fast.psc_type, any.psc_type);
			assert_int_equal(fast.rqi, any.rqi);
			assert_int_equal(any.unknown, 0);
		}
	}
	assert_true(taken > 1000);
}

static void
header_bounds(void **state)
{
	struct gtpu_hdr h;
	struct gtpu_gpdu g;
	uint8_t p[16];

	(void)state;
	for (size_t n = 0; n < sizeof(g_pdu_psc); n++)
		assert_int_equal(gtpu_gpdu_decode(g_pdu_psc, n, GTPU_ENDPOINT, served, 2, &g),
				 -CODEC_SHORT);
	/* GTPv2, GTP', optional fields beyond the length, a spare bit that is set. */
	assert_int_equal(gtpu_hdr_decode((const uint8_t[]){0x48}, 1, &h), -CODEC_UNSUPPORTED);
	assert_int_equal(gtpu_hdr_decode((const uint8_t[]){0x20}, 1, &h), -CODEC_UNSUPPORTED);
	assert_int_equal(
		gtpu_hdr_decode((const uint8_t[]){0x32, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0}, 11, &h),
		-CODEC_CONTRADICTION);
	assert_int_equal(gtpu_hdr_decode((const uint8_t[]){0x38, 1, 0, 0, 0, 0, 0, 0}, 8, &h), 8);
	/* Unused fields are neither read nor written. */
	assert_int_equal(
		gtpu_hdr_decode((const uint8_t[]){0x31, 1, 0, 4, 0, 0, 0, 0, 1, 2, 3, 4}, 12, &h),
		12);
	assert_int_equal(h.seq, 0);
	assert_int_equal(h.npdu, 3);
	assert_int_equal(h.next, GTPU_EXT_NONE);
	h.seq = 0x0102;
	h.next = 4;
	assert_int_equal(gtpu_hdr_encode(p, 11, &h), -CODEC_SHORT);
	assert_int_equal(gtpu_hdr_encode(p, 12, &h), 12);
	assert_memory_equal(p, ((uint8_t[]){0x31, 1, 0, 4, 0, 0, 0, 0, 0, 0, 3, 0}), 12);
}

static void
extension_header_chain(void **state)
{
	/* Four types, one for each pair of comprehension bits, all unknown. */
	uint8_t p[] = {0x34, 0xFF, 0, 20, 0, 0,    0, 7, 0, 0,    0, 0x2F, 1, 0xAA,
		       0xBB, 0x4F, 1, 0,  0, 0x8F, 1, 0, 0, 0xCF, 1, 0,    0, 0};
	struct gtpu_chain chain;
	struct gtpu_ext_iter it;
	struct gtpu_ext ext;
	struct gtpu_hdr h;

	(void)state;
	assert_int_equal(gtpu_hdr_decode(p, sizeof(p), &h), 12);
	assert_int_equal(gtpu_chain_decode(p, &h, GTPU_ENDPOINT, served, 2, &chain), 28);
	assert_int_equal(chain.unknown, 0x8F);
	assert_int_equal(gtpu_chain_decode(p, &h, GTPU_INTERMEDIATE, served, 2, &chain), 28);
	assert_int_equal(chain.unknown, 0xCF);
	assert_int_equal(
		gtpu_chain_decode(p, &h, GTPU_ENDPOINT, (const uint8_t[]){0xCF, 0x8F}, 2, &chain),
		28);
	assert_int_equal(chain.unknown, 0);
	gtpu_ext_open(&it, p, &h);
	assert_int_equal(gtpu_ext_next(&it, &ext), 1);
	assert_int_equal(ext.type, 0x2F);
	assert_int_equal(ext.bytes, 2);
	assert_memory_equal(ext.content, ((uint8_t[]){0xAA, 0xBB}), 2);
	p[20] = 0;
	assert_int_equal(gtpu_chain_decode(p, &h, GTPU_ENDPOINT, NULL, 0, &chain),
			 -CODEC_CONTRADICTION);
	p[20] = 3;
	assert_int_equal(gtpu_chain_decode(p, &h, GTPU_ENDPOINT, NULL, 0, &chain), -CODEC_SHORT);
	p[20] = 1;
	p[27] = 0x40; /* another one is announced where the message ends */
	assert_int_equal(gtpu_chain_decode(p, &h, GTPU_ENDPOINT, NULL, 0, &chain), -CODEC_SHORT);
	ext = (struct gtpu_ext){.bytes = 3, .content = (const uint8_t[]){1, 2, 3}};
	assert_int_equal(gtpu_ext_encode(p, 7, &ext, 0x85), -CODEC_SHORT);
	assert_int_equal(gtpu_ext_encode(p, 8, &ext, 0x85), 8);
	assert_memory_equal(p, ((uint8_t[]){2, 1, 2, 3, 0, 0, 0, 0x85}), 8);
	ext.bytes = GTPU_EXT_CONTENT_MAX + 1;
	assert_int_equal(gtpu_ext_encode(p, sizeof(p), &ext, 0), -CODEC_CONTRADICTION);
}

struct golden {
	struct gtpu_msg m;
	int n;
	uint8_t p[48];
};

static const struct golden messages[] = {
	{{.hdr = {.type = GTPU_ECHO_REQUEST, .seq = 0x0102}},
	 12,
	 {0x32, 1, 0, 4, 0, 0, 0, 0, 1, 2, 0, 0}},
	{{.hdr = {.type = GTPU_ECHO_RESPONSE, .seq = 0x0102},
	  .ies = {.present = GTPU_HAS_RECOVERY}},
	 14,
	 {0x32, 2, 0, 6, 0, 0, 0, 0, 1, 2, 0, 0, 14, 0}},
	{{.hdr = {.type = GTPU_ERROR_INDICATION},
	  .chain = {.has_udp_port = true, .udp_port = 2152},
	  .ies = {.present = GTPU_HAS_TEID_DATA_I | GTPU_HAS_PEER_ADDRESS,
		  .teid = 0xCAFE0001,
		  .peer_bytes = 4,
		  .peer = {10, 0, 0, 1}}},
	 28,
	 {0x36, 26, 0,  20,   0,    0,    0, 0,   0, 0, 0,  0x40, 1, 0x08,
	  0x68, 0,  16, 0xCA, 0xFE, 0x00, 1, 133, 0, 4, 10, 0,    0, 1}},
	{{.hdr = {.type = GTPU_SUPPORTED_EXTENSION_HEADERS, .seq = 5},
	  .ies = {.present = GTPU_HAS_EXT_HEADER_TYPES, .nb_ext_types = 2, .ext_types = served}},
	 16,
	 {0x32, 31, 0, 8, 0, 0, 0, 0, 0, 5, 0, 0, 141, 2, 0x85, 0x40}},
	{{.hdr = {.type = GTPU_TUNNEL_STATUS, .teid = 7},
	  .ies = {.present = GTPU_HAS_TUNNEL_STATUS, .spoc = true}},
	 12,
	 {0x30, 253, 0, 4, 0, 0, 0, 7, 230, 0, 1, 1}},
	{{.hdr = {.type = GTPU_END_MARKER, .teid = 7}}, 8, {0x30, 254, 0, 0, 0, 0, 0, 7}},
	{{.hdr = {.type = GTPU_END_MARKER, .teid = 7},
	  .chain = {.has_psc = true, .psc = {0x85, 2, (const uint8_t *)"\x00\x09"}},
	  .ies = {.present = GTPU_HAS_RECOVERY_TIME_STAMP | GTPU_HAS_PRIVATE_EXTENSION,
		  .recovery_time_stamp = 0xEC000001,
		  .private_id = 0x1234,
		  .private_bytes = 3,
		  .private_value = (const uint8_t *)"abc"}},
	 31,
	 {0x34, 254, 0, 23,   0, 0, 0, 7,   0, 0, 0,    0x85, 1,   0,   9,  0,
	  231,  0,   4, 0xEC, 0, 0, 1, 255, 0, 5, 0x12, 0x34, 'a', 'b', 'c'}},
};

static void
messages_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		const struct golden *g = &messages[i];
		struct gtpu_msg m;
		uint8_t p[48];

		assert_int_equal(gtpu_msg_encode(p, sizeof(p), &g->m), g->n);
		assert_memory_equal(p, g->p, g->n);
		assert_int_equal(gtpu_msg_decode(g->p, (size_t)g->n, GTPU_ENDPOINT, served, 2, &m),
				 g->n);
		assert_int_equal(m.hdr.type, g->m.hdr.type);
		assert_int_equal(m.hdr.teid, g->m.hdr.teid);
		assert_int_equal(m.hdr.seq, g->m.hdr.seq);
		assert_int_equal(m.chain.has_psc, g->m.chain.has_psc);
		assert_int_equal(m.chain.udp_port, g->m.chain.udp_port);
		assert_int_equal(m.ies.present, g->m.ies.present);
		assert_int_equal(m.ies.teid, g->m.ies.teid);
		assert_int_equal(m.ies.spoc, g->m.ies.spoc);
		assert_int_equal(m.ies.recovery_time_stamp, g->m.ies.recovery_time_stamp);
		assert_int_equal(m.ies.peer_bytes, g->m.ies.peer_bytes);
		assert_memory_equal(m.ies.peer, g->m.ies.peer, 16);
		assert_int_equal(m.ies.nb_ext_types, g->m.ies.nb_ext_types);
		assert_int_equal(m.ies.private_id, g->m.ies.private_id);
		assert_int_equal(m.ies.private_bytes, g->m.ies.private_bytes);
		if (m.ies.nb_ext_types)
			assert_memory_equal(m.ies.ext_types, served, 2);
		if (m.ies.private_bytes)
			assert_memory_equal(m.ies.private_value, "abc", 3);
		for (size_t n = 0; n < (size_t)g->n; n++) {
			assert_int_equal(gtpu_msg_encode(p, n, &g->m), -CODEC_SHORT);
			assert_int_equal(gtpu_msg_decode(g->p, n, GTPU_ENDPOINT, served, 2, &m),
					 -CODEC_SHORT);
		}
	}
}

static void
information_elements(void **state)
{
	struct gtpu_ies ies;
	struct gtpu_msg m;
	uint8_t p[64];

	(void)state;
	/* Out of order, an unknown TLV, a repeated Recovery: the first counts. */
	assert_int_equal(
		gtpu_ies_decode((const uint8_t[]){255, 0, 2, 0, 9, 232, 0, 1, 7, 14, 3, 14, 4}, 13,
				&ies),
		13);
	assert_int_equal(ies.present, GTPU_HAS_RECOVERY | GTPU_HAS_PRIVATE_EXTENSION);
	assert_int_equal(ies.restart_counter, 3);
	assert_int_equal(ies.private_id, 9);
	assert_int_equal(ies.private_bytes, 0);
	/* A list whose length was written in two octets, and one that is empty. */
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){141, 0, 1, 0x85}, 4, &ies), 4);
	assert_int_equal(ies.nb_ext_types, 1);
	assert_int_equal(ies.ext_types[0], 0x85);
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){141, 0}, 2, &ies), 2);
	assert_int_equal(ies.nb_ext_types, 0);
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){15, 0}, 2, &ies), -CODEC_UNSUPPORTED);
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){133, 0, 1, 9}, 4, &ies),
			 -CODEC_CONTRADICTION);
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){255, 0, 1, 9}, 4, &ies),
			 -CODEC_CONTRADICTION);
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){230, 0, 0}, 3, &ies),
			 -CODEC_CONTRADICTION);
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){231, 0, 3, 0, 0, 0}, 6, &ies),
			 -CODEC_CONTRADICTION);
	assert_int_equal(gtpu_ies_decode((const uint8_t[]){255, 0}, 2, &ies), -CODEC_SHORT);
	/* An Echo Response without Recovery; G-PDUs are not signalling. */
	assert_int_equal(gtpu_msg_decode((const uint8_t[]){0x32, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0},
					 12, GTPU_ENDPOINT, NULL, 0, &m),
			 -CODEC_CONTRADICTION);
	assert_int_equal(
		gtpu_msg_decode(g_pdu_psc, sizeof(g_pdu_psc), GTPU_ENDPOINT, served, 2, &m),
		-CODEC_UNSUPPORTED);
	assert_int_equal(m.hdr.type, GTPU_G_PDU);
	m = (struct gtpu_msg){.hdr = {.type = GTPU_G_PDU}};
	assert_int_equal(gtpu_msg_encode(p, sizeof(p), &m), -CODEC_UNSUPPORTED);
	m.hdr.type = GTPU_ECHO_RESPONSE;
	assert_int_equal(gtpu_msg_encode(p, sizeof(p), &m), -CODEC_CONTRADICTION);
	/* A path has no TEID. */
	m.hdr = (struct gtpu_hdr){.type = GTPU_ECHO_REQUEST, .teid = 7};
	assert_int_equal(gtpu_msg_encode(p, sizeof(p), &m), 12);
	assert_memory_equal(p, messages[0].p, 8);
	m.ies = (struct gtpu_ies){.present = GTPU_HAS_PEER_ADDRESS, .peer_bytes = 5};
	assert_int_equal(gtpu_ies_encode(p, sizeof(p), &m.ies), -CODEC_CONTRADICTION);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(g_pdu_golden),          cmocka_unit_test(g_pdu_of_other_forms),
		cmocka_unit_test(containers_and_others), cmocka_unit_test(fast_path_agrees),
		cmocka_unit_test(header_bounds),         cmocka_unit_test(extension_header_chain),
		cmocka_unit_test(messages_golden),       cmocka_unit_test(information_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
