/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include <rte_byteorder.h>

#include "bench/upf_dns.h"
#include "bench/upf_traffic_wire.h"
#include "codec/ip.h"

#define ETH 14
#define SESSIONS 100

static const struct upf_wire_cfg cfg = {
	.n3_mac = {2, 0, 0, 0, 0, 3},
	.n6_mac = {2, 0, 0, 0, 0, 6},
	.gnb_mac = {2, 0, 0, 0, 1, 3},
	.net_mac = {2, 0, 0, 0, 1, 6},
	.n3_ip = RTE_BE32(0xC0A80101),
	.gnb_ip = RTE_BE32(0xAC100001),
};

static const struct upf_wire_session session = {.ue = RTE_BE32(0x0A00002A),
						.teid = RTE_BE32(0x12345601)};
static struct upf_load *load;
static struct upf_traffic flows;
static struct upf_traffic_wire wire;
static struct upf_quic *quic;

/** The n-th packet of the first flow that is as asked. */
static struct upf_traffic_turn
turn_of(enum upf_traffic_kind kind, bool split, uint16_t at)
{
	struct upf_traffic_turn t = {.at = at};

	do
		t.flow = upf_traffic_derive(&flows, ++t.place, 1);
	while (t.flow.kind != kind || t.flow.split != split || t.flow.packets <= at);
	t.number = 1;
	t.packet = upf_traffic_packet(&flows, &t.flow, at);
	return t;
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

/** What a UPF makes of a frame, written out by hand. @return its octets */
static uint16_t
forward(const struct upf_traffic_turn *t, const uint8_t *in, uint8_t *out)
{
	static const uint8_t psc[] = {0, 0, 0, 0x85, 1, 0, UPF_WIRE_QFI, 0};
	const uint16_t bytes = t->packet.bytes;
	uint8_t *ip = out + ETH, *udp = ip + 20, *gtpu = udp + 8;
	uint32_t gnb = RTE_BE32(0xAC100001) + rte_cpu_to_be_32(t->flow.session % UPF_WIRE_GNBS);
	uint32_t teid = upf_wire_gnb_teid(t->flow.session);
	uint16_t sum;

	ip_put16(out + 12, ETH_TYPE_IP4);
	if (t->packet.direction == UPF_WIRE_UP) {
		memcpy(out, cfg.net_mac, 6);
		memcpy(out + 6, cfg.n6_mac, 6);
		memcpy(out + ETH, in + ETH + UPF_WIRE_OUTER, bytes);
		route(out + ETH);
		return ETH + bytes;
	}
	memcpy(out, cfg.gnb_mac, 6);
	memcpy(out + 6, cfg.n3_mac, 6);
	memset(ip, 0, UPF_WIRE_OUTER);
	ip[0] = 0x45;
	ip_put16(ip + 2, bytes + 44);
	ip_put16(ip + 4, 0x4711);
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, &cfg.n3_ip, 4);
	memcpy(ip + 16, &gnb, 4);
	sum = ip_checksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
	ip_put16(udp, 50000);
	ip_put16(udp + 2, 2152);
	ip_put16(udp + 4, bytes + 24);
	gtpu[0] = 0x34;
	gtpu[1] = 255;
	ip_put16(gtpu + 2, bytes + 8);
	memcpy(gtpu + 4, &teid, 4);
	memcpy(gtpu + 8, psc, sizeof(psc));
	memcpy(out + ETH + UPF_WIRE_OUTER, in + ETH, bytes);
	route(out + ETH + UPF_WIRE_OUTER);
	return ETH + UPF_WIRE_OUTER + bytes;
}

static enum upf_wire_verdict
judge(enum upf_wire_direction d, const uint8_t *p, uint32_t bytes, struct upf_traffic_test *t)
{
	enum upf_wire_verdict v = upf_traffic_wire_read(&wire, d, p, bytes, t);
	struct upf_traffic_flow flow;

	if (v != UPF_WIRE_GOOD)
		return v;
	flow = upf_traffic_derive(&flows, t->place, t->number);
	return upf_traffic_wire_check(&wire, d, p, bytes, t, &flow, &session);
}

static void
check_turn(const struct upf_traffic_turn *t)
{
	const enum upf_wire_direction d = t->packet.direction;
	uint8_t in[2048], out[2048] = {0};
	struct upf_traffic_test is;
	uint16_t bytes;

	upf_traffic_wire_build(&wire, in, t, &session, 77, 0x12345678);
	bytes = forward(t, in, out);
	assert_int_equal(judge(d, out, bytes, &is), UPF_WIRE_GOOD);
	assert_int_equal(is.place, t->place);
	assert_int_equal(is.number, t->number);
	assert_int_equal(is.at, t->at);
	assert_int_equal(is.seq, 77);
	assert_int_equal(is.now, 0x12345678);
	assert_int_not_equal(judge(!d, out, bytes, &is), UPF_WIRE_GOOD);
	assert_int_not_equal(judge(d, out, bytes - 1U, &is), UPF_WIRE_GOOD);
	for (uint32_t bit = 0; bit < bytes * 8U; bit++) {
		const uint32_t octet = bit / 8;

		/* The outer UDP source port is the sender's choice. */
		if (d == UPF_WIRE_DOWN && (octet == ETH + 20 || octet == ETH + 21))
			continue;
		out[octet] ^= (uint8_t)(1 << bit % 8);
		if (judge(d, out, bytes, &is) == UPF_WIRE_GOOD)
			fail_msg("part %d: octet %u bit %u", t->packet.part, octet, bit % 8);
		out[octet] ^= (uint8_t)(1 << bit % 8);
	}
}

static void
test_every_bit_counts(void **state)
{
	(void)state;
	for (uint16_t at = 0; at < 8; at++) {
		struct upf_traffic_turn t = turn_of(UPF_TRAFFIC_HTTP, at % 2, at);

		check_turn(&t);
		t = turn_of(UPF_TRAFFIC_HTTP, !(at % 2), at);
		check_turn(&t);
	}
	for (uint16_t at = 0; at < 2; at++) {
		struct upf_traffic_turn t = turn_of(UPF_TRAFFIC_OTHER, false, at);

		check_turn(&t);
		t = turn_of(UPF_TRAFFIC_DNS, false, at);
		check_turn(&t);
	}
	for (uint16_t at = 0; at < 5 && quic; at++) {
		struct upf_traffic_turn t = turn_of(UPF_TRAFFIC_QUIC, false, at);

		check_turn(&t);
		t = turn_of(UPF_TRAFFIC_QUIC, true, at);
		check_turn(&t);
	}
}

/** RFC 9293 §3.1, over a pseudo header made for it. */
static void
check_tcp_sum(const uint8_t *ip)
{
	const uint16_t len = ip_get16(ip + 2) - 20;
	uint8_t pseudo[12];

	memcpy(pseudo, ip + 12, 8);
	pseudo[8] = 0;
	pseudo[9] = 6;
	ip_put16(pseudo + 10, len);
	assert_int_equal(ip_sum_fold(ip_sum(ip_sum(0, pseudo, 12), ip + 20, len)), 0xFFFF);
}

/** What is sent is whole: lengths, addresses, ports, and checksums of every header. */
static void
test_frames_sent_are_valid(void **state)
{
	uint8_t in[2048];

	(void)state;
	for (uint16_t at = 0; at < 12; at++) {
		const struct upf_traffic_turn t = turn_of(UPF_TRAFFIC_HTTP, at % 2, at);
		const bool up = t.packet.direction == UPF_WIRE_UP;
		const uint8_t *ip = in + ETH;
		uint16_t bytes = upf_traffic_wire_build(&wire, in, &t, &session, at, 2);

		if (up) {
			assert_int_equal(ip_checksum(ip, 20), 0);
			assert_int_equal(ip_get16(ip + 2), bytes - ETH);
			assert_int_equal(ip_get16(ip + 24), bytes - ETH - 20);
			assert_int_equal(ip_get16(ip + 30), bytes - ETH - 36);
			assert_memory_equal(ip + 32, &session.teid, 4);
			ip += UPF_WIRE_OUTER;
		}
		assert_int_equal(ip_checksum(ip, 20), 0);
		assert_int_equal(ip_get16(ip + 2), in + bytes - ip);
		assert_memory_equal(ip + (up ? 12 : 16), &session.ue, 4);
		assert_memory_equal(ip + (up ? 16 : 12), &t.flow.server, 4);
		assert_int_equal(ip_get16(ip + (up ? 20 : 22)), t.flow.ue_port);
		assert_int_equal(ip_get16(ip + (up ? 22 : 20)), UPF_LOAD_PORT_HTTP);
		assert_int_equal(ip[20 + 12] >> 4, UPF_TRAFFIC_TCP_HEAD / 4);
		assert_int_equal(ip[20 + 13] & 0x02, at < 2 ? 0x02 : 0);
		check_tcp_sum(ip);
	}
}

/** The segments of a request, one behind the other, are a request as a browser sends it. */
static void
test_requests(void **state)
{
	(void)state;
	for (unsigned split = 0; split < 2; split++) {
		struct upf_traffic_turn t = turn_of(UPF_TRAFFIC_HTTP, split, 3);
		const struct upf_load_name *name = &load->names[t.flow.name];
		char text[4096] = "";

		for (unsigned i = 0; i <= split; i++) {
			uint8_t in[2048];
			const uint8_t *data = in + ETH + UPF_WIRE_OUTER + UPF_TRAFFIC_SHORT;
			uint16_t bytes;

			t.at = (uint16_t)(3 + i);
			t.packet = upf_traffic_packet(&flows, &t.flow, t.at);
			bytes = upf_traffic_wire_build(&wire, in, &t, &session, 9, 2);
			strncat(text, (const char *)data, (size_t)(in + bytes - data));
		}
		assert_memory_equal(text, name->request, name->request_len);
		assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
		for (const char *c = text + name->request_len; *c != '\r'; c++)
			assert_in_range(*c, 'a', 'z');
	}
}

/** First datagrams of DNS and QUIC are what their ends send, but for the test header at the end. */
static void
test_names_in_datagrams(void **state)
{
	static const uint8_t none[UPF_TRAFFIC_TEST];

	(void)state;
	for (unsigned i = 0; i < (quic ? 4 : 1); i++) {
		const struct upf_traffic_turn t =
			turn_of(i == 0 ? UPF_TRAFFIC_DNS : UPF_TRAFFIC_QUIC, i > 1, i == 3);
		const struct upf_load_name *name = &load->names[t.flow.name];
		uint8_t in[2048], want[2048] = {0}, *udp = in + ETH + UPF_WIRE_OUTER + 20;
		const uint16_t bytes = upf_traffic_wire_build(&wire, in, &t, &session, 9, 2);
		const uint32_t len = bytes - (uint32_t)(udp + 8 - in);

		assert_int_equal(ip_get16(udp), t.flow.ue_port);
		assert_int_equal(ip_get16(udp + 2), i == 0 ? 53 : 443);
		assert_int_equal(ip_get16(udp + 4), 8 + len);
		if (i == 0) {
			upf_dns_put(want, len, name->host, name->host_len, 9, UPF_TRAFFIC_TEST);
		} else {
			assert_int_equal(len, UPF_QUIC_DATAGRAM);
			memcpy(want, upf_quic_datagram(quic, t.flow.name, i == 3), UPF_QUIC_MADE);
		}
		assert_memory_equal(udp + 8, want, len - UPF_TRAFFIC_TEST);
		assert_memory_not_equal(udp + 8 + len - UPF_TRAFFIC_TEST, none, UPF_TRAFFIC_TEST);
	}
}

static void
test_places_and_packets_out_of_range(void **state)
{
	struct upf_traffic_turn t = turn_of(UPF_TRAFFIC_OTHER, false, 0);
	uint8_t in[2048], out[2048];
	struct upf_traffic_test is;
	uint16_t bytes;

	(void)state;
	t.at = t.flow.packets & ~1;
	upf_traffic_wire_build(&wire, in, &t, &session, 1, 2);
	bytes = forward(&t, in, out);
	if (t.at >= t.flow.packets)
		assert_int_equal(judge(UPF_WIRE_UP, out, bytes, &is), UPF_WIRE_CORRUPTED);
	t.at = t.flow.packets + 1 + (t.flow.packets & 1);
	upf_traffic_wire_build(&wire, in, &t, &session, 1, 2);
	bytes = forward(&t, in, out);
	assert_int_equal(judge(UPF_WIRE_UP, out, bytes, &is), UPF_WIRE_CORRUPTED);
	t.at = 0;
	t.place = flows.nb_places;
	upf_traffic_wire_build(&wire, in, &t, &session, 1, 2);
	bytes = forward(&t, in, out);
	assert_int_equal(judge(UPF_WIRE_UP, out, bytes, &is), UPF_WIRE_CORRUPTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_bit_counts),
		cmocka_unit_test(test_frames_sent_are_valid),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_names_in_datagrams),
		cmocka_unit_test(test_places_and_packets_out_of_range),
	};
	struct upf_traffic_cfg model = {.sessions = SESSIONS,
					.per_session = 2,
					.packets = 30,
					.bytes = 690,
					.udp_percent = 40,
					.dns_percent = 30,
					.policies = true,
					.seed = 5};
	int rc;

	load = upf_load_make(1000, 100, 7);
	quic = load ? upf_quic_make(load, 3) : NULL; /* none without ciphers */
	model.quic_percent = quic ? 60 : 0;
	if (load == NULL || upf_traffic_init(&flows, &model, load) < 0)
		return 1;
	upf_traffic_wire_init(&wire, &cfg, &flows, quic);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	upf_traffic_free(&flows);
	upf_quic_free(quic);
	upf_load_free(load);
	return rc;
}
