/* SPDX-License-Identifier: BSD-3-Clause */
/* Outer headers, end markers and marking, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modules/upf/upf_encap.h"
#include "modules/upf/upf_end_marker.h"
#include "modules/upf/upf_mark.h"
#include "modules/upf/upf_path_test.h"

static void
expect_front(const struct rte_mbuf *m, const uint8_t *bytes, size_t n)
{
	assert_memory_equal(rte_pktmbuf_mtod(m, const uint8_t *), bytes, n);
}

static uint8_t *
encap(struct rte_mbuf **m, int peer, const struct upf_tag *tag)
{
	assert_true(peer > 0);
	return upf_encap(m, &bed.upf.peers.peer[peer], tag,
			 upf_tos(rte_pktmbuf_mtod(*m, uint8_t *)), 0x1234, bed.hdr);
}

static void
checksum_is_right(const uint8_t *p)
{
	assert_int_equal(ip_checksum(p, IP4_HDR_BYTES), 0);
}

/* TS 29.281 §5.1, TS 38.415 §5.5.2.1: DL PDU SESSION INFORMATION with RQI, QFI 9. */
static void
down_to_n3_over_ip4(void **state)
{
	static const uint8_t want[] = {0x45,
				       0x00,
				       0x00,
				       0x90,
				       0x12,
				       0x34,
				       0x00,
				       0x00,
				       64,
				       17,
				       0xe4,
				       0xd0,
				       192,
				       168,
				       1,
				       1,
				       192,
				       168,
				       1,
				       7,
				       /* UDP */ 0x08,
				       0x68,
				       0x08,
				       0x68,
				       0x00,
				       0x7c,
				       0x00,
				       0x00,
				       /* GTP-U */ 0x34,
				       0xff,
				       0x00,
				       0x6c,
				       0x00,
				       0xa0,
				       0x0b,
				       0x01,
				       0x00,
				       0x00,
				       0x00,
				       0x85,
				       /* container */ 0x01,
				       0x00,
				       0x49,
				       0x00};
	const struct upf_tag tag = {
		.teid = PATH_TEID, .psc = true, .down = true, .rqi = true, .qfi = 9};
	struct rte_mbuf *m = path_packet(1, false, 100, 7);
	uint8_t *p = encap(&m, bed.gnb, &tag);

	(void)state;
	checksum_is_right(p);
	expect_front(m, want, sizeof(want));
	assert_int_equal(m->pkt_len, 144);
	assert_int_equal(m->nb_segs, 1);
	rte_pktmbuf_free(m);
}

/* Over IPv6 the UDP checksum is 0 (RFC 6935); up on N9 the container is of type 1, without RQI. */
static void
up_to_n9_over_ip6(void **state)
{
	static const uint8_t want[48 + 16] = {0x60,
					      0x00,
					      0x00,
					      0x00,
					      0x00,
					      0x7c,
					      17,
					      64,
					      0xfd,
					      3,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      1,
					      0xfd,
					      3,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      0,
					      7,
					      /* UDP */ 0x08,
					      0x68,
					      0x08,
					      0x68,
					      0x00,
					      0x7c,
					      0x00,
					      0x00,
					      /* GTP-U */ 0x34,
					      0xff,
					      0x00,
					      0x6c,
					      0x00,
					      0xa0,
					      0x0b,
					      0x01,
					      0x00,
					      0x00,
					      0x00,
					      0x85,
					      /* container */ 0x01,
					      0x10,
					      0x09,
					      0x00};
	const struct upf_tag tag = {.teid = PATH_TEID, .psc = true, .rqi = true, .qfi = 9};
	struct rte_mbuf *m = path_packet(0, true, 100, 7);

	(void)state;
	assert_non_null(encap(&m, bed.gnb6, &tag));
	expect_front(m, want, sizeof(want));
	assert_int_equal(m->pkt_len, 164);
	rte_pktmbuf_free(m);
}

static void
without_container_and_without_gtpu(void **state)
{
	static const uint8_t gtpu[] = {0x30, 0xff, 0x00, 0x64, 0x00, 0xa0, 0x0b, 0x01};
	const struct upf_tag tag = {.teid = PATH_TEID, .down = true, .qfi = 9};
	struct rte_mbuf *m = path_packet(1, false, 100, 7);
	uint8_t *p = encap(&m, bed.gnb, &tag);

	(void)state;
	assert_memory_equal(p + 28, gtpu, sizeof(gtpu));
	assert_int_equal(be16_get(p + 24), 116);
	assert_int_equal(m->pkt_len, 136);
	checksum_is_right(p);
	rte_pktmbuf_free(m);

	m = path_packet(1, false, 100, 7);
	p = encap(&m, path_peer(gnb_4, 4, 0, 0, false), &tag);
	assert_int_equal(m->pkt_len, 128);
	assert_int_equal(be16_get(p + 24), 108);
	assert_int_equal(p[28], 0x45);
	checksum_is_right(p);
	rte_pktmbuf_free(m);
}

/* The inner DSCP where no marking says another; ECN stays behind (RFC 6040 §4.1). */
static void
dscp_of_outer_headers(void **state)
{
	const struct upf_tag tag = {.teid = PATH_TEID};
	static const struct {
		uint8_t tos, mask, inner, outer;
	} cases[] = {{0, 0, 0xB8, 0xB8},
		     {0, 0, 0xBB, 0xB8},
		     {0x28, 0xFC, 0xB8, 0x28},
		     {0x28, 0xFC, 0xFF, 0x28},
		     {0x80, 0xE0, 0x1C, 0x9C}};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(cases); i++)
		for (unsigned v6 = 0; v6 < 2; v6++) {
			struct rte_mbuf *m = path_packet(1, false, 100, 7);
			uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

			p[1] = cases[i].inner;
			p = encap(&m,
				  path_peer(v6 ? gnb_6 : gnb_4, v6 ? 16 : 4, cases[i].tos,
					    cases[i].mask, true),
				  &tag);
			assert_int_equal(upf_tos(p), cases[i].outer);
			if (v6)
				assert_int_equal(p[0] >> 4, 6);
			else
				checksum_is_right(p);
			rte_pktmbuf_free(m);
		}
}

static void
checksum_holds_for_all_lengths_and_ids(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 65536; i++) {
		uint8_t h[20];

		memcpy(h, bed.upf.peers.peer[bed.gnb].header, sizeof(h));
		upf_encap_ip4(h, (uint16_t)(i * 40503U), (uint16_t)i, (uint8_t)(i >> 3) & 0xFC);
		assert_int_equal(ip_checksum(h, IP4_HDR_BYTES), 0);
	}
}

/* A shared buffer is read-only: the header gets a segment of its own. */
static void
shared_buffer_is_not_written(void **state)
{
	const struct upf_tag tag = {.teid = PATH_TEID};
	struct rte_mbuf *m = path_packet(1, false, 100, 7), *data = m;
	const uint16_t room = rte_pktmbuf_headroom(m);

	(void)state;
	memset(rte_pktmbuf_mtod_offset(m, uint8_t *, -room), 0x5A, room);
	rte_mbuf_refcnt_update(m, 1);
	assert_non_null(encap(&m, bed.gnb, &tag));
	assert_ptr_not_equal(m, data);
	assert_int_equal(m->nb_segs, 2);
	assert_int_equal(m->pkt_len, 136);
	for (unsigned i = 0; i < room; i++)
		assert_int_equal(*rte_pktmbuf_mtod_offset(data, uint8_t *, -(int)i - 1), 0x5A);
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(data);
}

static void
end_marker_is_made(void **state)
{
	static const uint8_t want[] = {0x30, 0xfe, 0x00, 0x00, 0x00, 0xa0, 0x0b, 0x01};
	struct rte_mbuf *m;

	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++) {
		uint16_t peer = v6 ? bed.gnb6 : bed.gnb;

		m = upf_end_marker_make(&bed.upf.peers.peer[peer], peer, PATH_TEID, 7, bed.pkt);
		assert_non_null(m);
		assert_int_equal(m->pkt_len, v6 ? 56 : 36);
		assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, v6 ? 48 : 28), want, 8);
		assert_int_equal(upf_leave(m)->peer, peer);
		assert_int_equal(upf_leave(m)->interface, N3);
		assert_true(upf_leave(m)->flags & AP_M_CONTROL);
		if (!v6)
			checksum_is_right(rte_pktmbuf_mtod(m, uint8_t *));
		rte_pktmbuf_free(m);
	}
	assert_null(upf_end_marker_make(&bed.upf.peers.peer[path_peer(gnb_4, 4, 0, 0, false)], 1, 1,
					1, bed.pkt));
}

static void
marking_without_outer_header(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		const bool v6 = i & 1, shared = i & 2;
		struct rte_mbuf *m = path_packet(0, v6, 100, 7), *data = m;
		uint8_t before[100], *p = rte_pktmbuf_mtod(m, uint8_t *);

		assert_true(v6 || ip_checksum(p, IP4_HDR_BYTES) == 0);
		memcpy(before, p, 100);
		if (shared)
			rte_mbuf_refcnt_update(m, 1);
		assert_true(upf_mark(&m, 0xB8, i & 4 ? 0xFF : 0xFC, bed.hdr));
		p = rte_pktmbuf_mtod(m, uint8_t *);
		assert_int_equal(upf_tos(p), 0xB8);
		assert_int_equal(m->pkt_len, 100);
		if (!v6)
			checksum_is_right(p);
		assert_int_equal(m->nb_segs, shared ? 2 : 1);
		assert_int_equal(upf_matched_lane(m), 0);
		assert_ptr_equal(upf_matched_session(m), &bed.s);
		if (shared) {
			data->data_off = (uint16_t)(data->data_off - (v6 ? 40 : 20));
			assert_memory_equal(rte_pktmbuf_mtod(data, uint8_t *), before, 100);
			data->data_off = (uint16_t)(data->data_off + (v6 ? 40 : 20));
			rte_mbuf_refcnt_update(data, -1);
		}
		rte_pktmbuf_free(m);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, path_setup, path_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(down_to_n3_over_ip4),
		TEST(up_to_n9_over_ip6),
		TEST(without_container_and_without_gtpu),
		TEST(dscp_of_outer_headers),
		TEST(checksum_holds_for_all_lengths_and_ids),
		TEST(shared_buffer_is_not_written),
		TEST(end_marker_is_made),
		TEST(marking_without_outer_header),
	};

	if (path_pools() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
