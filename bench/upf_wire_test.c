/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include <rte_byteorder.h>

#include "bench/upf_wire.h"
#include "codec/ip.h"

#define SESSIONS 100
#define ETH 14

static const struct upf_wire_cfg base = {
	.n3_mac = {2, 0, 0, 0, 0, 3},
	.n6_mac = {2, 0, 0, 0, 0, 6},
	.gnb_mac = {2, 0, 0, 0, 1, 3},
	.net_mac = {2, 0, 0, 0, 1, 6},
	.n3_ip = RTE_BE32(0xC0A80101),
	.gnb_ip = RTE_BE32(0xAC100001),
	.server_ip = RTE_BE32(0xC6336401),
	.bytes = 64,
};

static const struct upf_wire_session session = {.ue = RTE_BE32(0x0A00002A),
						.teid = RTE_BE32(0x12345601)};

static void
make(struct upf_wire *w, uint16_t bytes)
{
	struct upf_wire_cfg cfg = base;

	cfg.bytes = bytes;
	upf_wire_init(w, &cfg);
}

/** Routes the IP packet: one off the TTL, checksum anew. */
static void
route(uint8_t *ip)
{
	uint16_t sum;

	ip[8]--;
	memset(ip + 10, 0, 2);
	sum = ip_checksum(ip, IP4_HDR_BYTES);
	memcpy(ip + 10, &sum, sizeof(sum));
}

/** What a UPF makes of an uplink frame. */
static void
forward_up(const struct upf_wire *w, const uint8_t *in, uint8_t *out)
{
	memcpy(out, w->cfg.net_mac, 6);
	memcpy(out + 6, w->cfg.n6_mac, 6);
	ip_put16(out + 12, ETH_TYPE_IP4);
	memcpy(out + ETH, in + ETH + UPF_WIRE_OUTER, w->cfg.bytes);
	route(out + ETH);
}

/** The header a UPF puts before a downlink packet, written out by hand. */
static void
forward_down(const struct upf_wire *w, const uint8_t *in, uint8_t *out, uint32_t i)
{
	uint8_t *ip = out + ETH, *udp = ip + 20, *gtpu = udp + 8;
	uint32_t gnb = upf_wire_gnb_ip(w, i), teid = upf_wire_gnb_teid(i);
	uint16_t sum;
	static const uint8_t psc[] = {0, 0, 0, 0x85, 1, 0, UPF_WIRE_QFI, 0};

	memcpy(out, w->cfg.gnb_mac, 6);
	memcpy(out + 6, w->cfg.n3_mac, 6);
	ip_put16(out + 12, ETH_TYPE_IP4);
	memset(ip, 0, UPF_WIRE_OUTER);
	ip[0] = 0x45;
	ip_put16(ip + 2, w->cfg.bytes + 44);
	ip_put16(ip + 4, 0x4711);
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, &w->cfg.n3_ip, 4);
	memcpy(ip + 16, &gnb, 4);
	sum = ip_checksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
	ip_put16(udp, 50000);
	ip_put16(udp + 2, 2152);
	ip_put16(udp + 4, w->cfg.bytes + 24);
	gtpu[0] = 0x34;
	gtpu[1] = 255;
	ip_put16(gtpu + 2, w->cfg.bytes + 8);
	memcpy(gtpu + 4, &teid, 4);
	memcpy(gtpu + 8, psc, sizeof(psc));
	memcpy(out + ETH + UPF_WIRE_OUTER, in + ETH, w->cfg.bytes);
	route(out + ETH + UPF_WIRE_OUTER);
}

static enum upf_wire_verdict
judge(const struct upf_wire *w, enum upf_wire_direction d, const uint8_t *p, uint32_t bytes)
{
	struct upf_wire_test t = {0};
	enum upf_wire_verdict v = upf_wire_read(w, d, p, bytes, SESSIONS, &t);

	return v == UPF_WIRE_GOOD ? upf_wire_check(w, d, p, &t, &session) : v;
}

/** Octets a UPF chooses, or that a checksum which is right again covers. */
static bool
free_octet(enum upf_wire_direction d, uint32_t at)
{
	/* UDP source port of the outer header. */
	return d == UPF_WIRE_DOWN && (at == ETH + 20 || at == ETH + 21);
}

static void
check_size(enum upf_wire_direction d, uint16_t bytes)
{
	static struct upf_wire w;
	uint8_t in[2048], out[2048] = {0};
	struct upf_wire_test t;

	make(&w, bytes);
	upf_wire_build(&w, d, in, 42, &session, 77, 0x12345678);
	if (d == UPF_WIRE_UP)
		forward_up(&w, in, out);
	else
		forward_down(&w, in, out, 42);
	assert_int_equal(upf_wire_read(&w, d, out, w.out_bytes[d], SESSIONS, &t), UPF_WIRE_GOOD);
	assert_int_equal(t.session, 42);
	assert_int_equal(t.seq, 77);
	assert_int_equal(t.now, 0x12345678);
	assert_int_equal(judge(&w, d, out, w.out_bytes[d]), UPF_WIRE_GOOD);
	assert_int_equal(judge(&w, !d, out, w.out_bytes[d]), UPF_WIRE_FOREIGN);
	assert_int_not_equal(judge(&w, d, out, w.out_bytes[d] - 1U), UPF_WIRE_GOOD);
	for (uint32_t bit = 0; bit < w.out_bytes[d] * 8U; bit++) {
		out[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!free_octet(d, bit / 8) && judge(&w, d, out, w.out_bytes[d]) == UPF_WIRE_GOOD)
			fail_msg("direction %d, %u B: octet %u bit %u", d, bytes, bit / 8, bit % 8);
		out[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void
test_every_bit_counts(void **state)
{
	static const uint16_t sizes[] = {64, 65, 128, 690, 1400};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(sizes); i++) {
		check_size(UPF_WIRE_UP, sizes[i]);
		check_size(UPF_WIRE_DOWN, sizes[i]);
	}
}

/** What is sent is whole: lengths and checksums of both headers. */
static void
test_frames_sent_are_valid(void **state)
{
	static struct upf_wire w;
	uint8_t in[2048];

	(void)state;
	make(&w, 300);
	upf_wire_build(&w, UPF_WIRE_UP, in, 42, &session, 1, 2);
	assert_int_equal(ip_checksum(in + ETH, 20), 0);
	assert_int_equal(ip_get16(in + ETH + 2), 344);
	assert_int_equal(ip_checksum(in + ETH + UPF_WIRE_OUTER, 20), 0);
	assert_memory_equal(in + ETH + UPF_WIRE_OUTER + 12, &session.ue, 4);
	assert_memory_equal(in + ETH + 28 + 4, &session.teid, 4);
	upf_wire_build(&w, UPF_WIRE_DOWN, in, 42, &session, 1, 2);
	assert_int_equal(ip_checksum(in + ETH, 20), 0);
	assert_memory_equal(in + ETH + 16, &session.ue, 4);
}

static void
test_session_out_of_range(void **state)
{
	static struct upf_wire w;
	uint8_t in[2048], out[2048];
	struct upf_wire_test t;

	(void)state;
	make(&w, 64);
	upf_wire_build(&w, UPF_WIRE_UP, in, SESSIONS, &session, 1, 2);
	forward_up(&w, in, out);
	assert_int_equal(upf_wire_read(&w, UPF_WIRE_UP, out, w.out_bytes[0], SESSIONS, &t),
			 UPF_WIRE_CORRUPTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_bit_counts),
		cmocka_unit_test(test_frames_sent_are_valid),
		cmocka_unit_test(test_session_out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
