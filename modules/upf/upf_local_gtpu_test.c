/* SPDX-License-Identifier: BSD-3-Clause */
/* What the UPF answers as a GTP-U entity, and what it tells of tunnels. */
#include "modules/upf/upf_local_rig.h"

static struct net_frame
gtpu(bool v6, uint16_t port, const void *message, size_t n, bool checksum)
{
	struct ip_hdr h = {.version = v6 ? 6 : 4, .proto = 17};
	struct net_frame f = {0};
	uint16_t sum;
	size_t udp;

	net_eth(&f, net_mac_n3, 0, v6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4);
	net_ip(&f, v6, v6 ? gnb_6 : gnb_4, v6 ? n3_6 : n3_4, 17, 8 + n);
	udp = f.at;
	net_udp(&f, port, 2152, n);
	net_bytes(&f, message, n);
	memcpy(h.src, v6 ? gnb_6 : gnb_4, v6 ? 16 : 4);
	memcpy(h.dst, v6 ? n3_6 : n3_4, v6 ? 16 : 4);
	sum = udp_checksum(&h, f.b + udp, 8 + n);
	if (checksum)
		memcpy(f.b + udp + 6, &sum, 2);
	return f;
}

/** A message of ours: its headers are right, from us to the gNB. @return the message. */
static const uint8_t *
assert_message(bool v6, uint16_t port, size_t n)
{
	const uint8_t *ip = bytes(), *udp = ip + (v6 ? 40 : 20);
	struct ip_hdr h;
	struct udp_hdr u;

	assert_int_equal(ip_decode(ip, got->pkt_len, &h), v6 ? 40 : 20);
	assert_int_equal(h.bytes, got->pkt_len);
	assert_memory_equal(h.src, v6 ? n3_6 : n3_4, v6 ? 16 : 4);
	assert_memory_equal(h.dst, v6 ? gnb_6 : gnb_4, v6 ? 16 : 4);
	assert_int_equal(udp_decode(udp, got->pkt_len - (v6 ? 40 : 20), &u), 8);
	assert_int_equal(u.src_port, 2152);
	assert_int_equal(u.dst_port, port);
	assert_int_equal(u.bytes, 8 + n);
	assert_true(udp_checksum_ok(&h, udp, u.bytes));
	assert_int_equal(upf_leave(got)->interface, N3);
	return udp + 8;
}

static void
gtpu_echo_is_answered(void **state)
{
	static const uint8_t request[] = {0x32, 1, 0, 4, 0, 0, 0, 0, 0xAB, 0xCD, 0, 0};
	static const uint8_t response[] = {0x32, 2, 0, 6, 0, 0, 0, 0, 0xAB, 0xCD, 0, 0, 14, 0};

	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (unsigned checksum = 0; checksum < 2; checksum++) {
			struct net_frame f = gtpu(v6, 40000, request, sizeof(request), checksum);

			assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
			assert_memory_equal(assert_message(v6, 40000, sizeof(response)), response,
					    sizeof(response));
		}
	struct net_frame f = gtpu(false, 2152, request, sizeof(request), true);

	f.b[f.at - 1] ^= 1;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_CHECKSUM], 1);
}

static void
messages_we_make_nothing_of(void **state)
{
	uint8_t m[] = {0x32, 3, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0};
	struct net_frame f = gtpu(false, 2152, m, sizeof(m), false);

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	m[0] = 0x52; /* version 2 */
	f = gtpu(false, 2152, m, sizeof(m), false);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	m[0] = 0x32;
	m[1] = GTPU_ECHO_RESPONSE; /* without Recovery */
	f = gtpu(false, 2152, m, sizeof(m), false);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_MESSAGE], 2);
	assert_int_equal(drops[UPF_LOCAL_DROP_MALFORMED], 1);
}

static void
error_indications_are_told(void **state)
{
	static const uint8_t m[] = {0x32, 26, 0,    16, 0, 0,   0, 0, 0,   1,   0, 0,
				    16,   1,  0x22, 3,  4, 133, 0, 4, 192, 168, 1, 7};
	struct net_frame f = gtpu(false, 2152, m, sizeof(m), true);

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(indications, 1);
	assert_int_equal(indicated_teid, 0x01220304);
	assert_memory_equal(indicated_peer, gnb_4, 4);
	assert_int_equal(used, 1);
	room = false;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_EVENTS], 1);
}

static void
extension_headers_we_do_not_understand(void **state)
{
	static const uint8_t g_pdu[] = {0x34, 255, 0, 8, 0, 0, 0, 7, 0, 0, 0, 0xC0, 1, 0, 0, 0};
	static const uint8_t request[] = {0x36, 1, 0, 8, 0, 0, 0, 0, 0, 9, 0, 0x81, 1, 0, 0, 0};
	static const uint8_t list[] = {0x32, 31, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 141, 2, 0x85, 0x40};
	struct net_frame f = gtpu(false, 40000, g_pdu, sizeof(g_pdu), false);

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(assert_message(false, 2152, sizeof(list)), list, sizeof(list));
	f = gtpu(true, 40000, request, sizeof(request), true);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(assert_message(true, 2152, sizeof(list)), list, sizeof(list));
	assert_int_equal(drops[UPF_LOCAL_DROP_EXTENSION], 2);
	/* As many a second as Error Indications, 100. */
	for (unsigned i = 0; i < 100; i++)
		take(&f);
	assert_int_equal(drops[UPF_LOCAL_DROP_EXTENSION], 102);
	assert_int_equal(made, 10);
}

static void
end_markers_go_to_who_owns_the_tunnel(void **state)
{
	static const uint8_t m[] = {0x30, 254, 0, 0, 0x12, 0x34, 0x56, 0x78};
	struct net_frame f = gtpu(false, 2152, m, sizeof(m), true);

	(void)state;
	f.at = 60; /* a padded frame */
	assert_int_equal(take(&f), UPF_LOCAL_ARRIVED);
	assert_int_equal(got->pkt_len, 0);
	assert_int_equal(upf_arrival(got)->teid, 0x12345678);
	assert_int_equal(upf_arrival(got)->rx, UPF_RX_TUNNEL | UPF_RX_END_MARKER);
	assert_int_equal(upf_arrival(got)->interface, N3);
	/* One of no tunnel comes back, and is not answered. */
	atomic_store(&net->live.refilled, true);
	out--; /* the same packet again */
	assert_int_equal(upf_local_take(&l, &got, S), UPF_LOCAL_GONE);
	got = NULL;
	assert_int_equal(drops[UPF_LOCAL_DROP_TEID], 1);
}

/** A G-PDU as upf_match gives it back. */
static enum upf_local_verdict
unknown(bool v6)
{
	struct net_frame f = {0};
	enum upf_local_verdict v;

	net_gpdu(&f, v6, false, 0xCAFE, 9, 40);
	be16_put(f.b + 14 + (v6 ? 40 : 20), 40000);
	rte_pktmbuf_free(got);
	got = net_mbuf(pool, &f, 0);
	assert_true(upf_in_fast(&in3, got));
	in++;
	v = upf_local_take(&l, &got, S);
	if (v == UPF_LOCAL_GONE)
		got = NULL;
	else
		out++;
	return v;
}

static void
unknown_teids_are_told_once_all_is_known(void **state)
{
	static const uint8_t head[] = {0x36, 26,   0,    20, 0,  0, 0, 0,    0,    0,   0, 0x40,
				       1,    0x9C, 0x40, 0,  16, 0, 0, 0xCA, 0xFE, 133, 0, 4};
	const uint8_t *p;

	(void)state;
	assert_int_equal(unknown(false), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_FILLING], 1);
	atomic_store(&net->live.refilled, true);
	assert_int_equal(unknown(false), UPF_LOCAL_ANSWER);
	p = assert_message(false, 2152, sizeof(head) + 4);
	assert_memory_equal(p, head, sizeof(head));
	assert_memory_equal(p + sizeof(head), n3_4, 4);
	assert_int_equal(unknown(true), UPF_LOCAL_ANSWER);
	p = assert_message(true, 2152, sizeof(head) + 16);
	assert_memory_equal(p + sizeof(head), n3_6, 16);
	for (unsigned i = 0; i < 30; i++)
		unknown(false);
	assert_int_equal(drops[UPF_LOCAL_DROP_TEID], 32);
	assert_int_equal(made, 10);
}

static void
fragmented_tunnels_arrive(void **state)
{
	struct net_frame f = {0}, part;
	uint16_t sum;

	(void)state;
	net_gpdu(&f, false, true, 0x77, 9, 600);
	for (unsigned i = 0; i < 2; i++) {
		const size_t first = i ? 320 : 0, end = i ? f.at - 34 : 320;

		part = f;
		memcpy(part.b + 34, f.b + 34 + first, end - first);
		part.at = 34 + end - first;
		be16_put(part.b + 16, (uint16_t)(part.at - 14));
		be16_put(part.b + 20, (uint16_t)((i ? 0 : 0x2000) | first / 8));
		be16_put(part.b + 24, 0);
		sum = ip_checksum(part.b + 14, 20);
		memcpy(part.b + 24, &sum, 2);
		assert_int_equal(take(&part), i ? UPF_LOCAL_ARRIVED : UPF_LOCAL_GONE);
	}
	assert_int_equal(upf_arrival(got)->teid, 0x77);
	assert_int_equal(upf_arrival(got)->qfi, 9);
	assert_int_equal(upf_arrival(got)->rx, UPF_RX_TUNNEL | UPF_RX_QFI | UPF_RX_INNER6);
	assert_int_equal(got->pkt_len, 48 + 600);
	assert_int_equal(used, 1);
}

static void
packets_no_session_takes(void **state)
{
	struct net_frame f = {0};

	(void)state;
	net_eth(&f, net_mac_n6, 0, ETH_TYPE_IP4);
	net_ip(&f, false, host_4, ue_4, 17, 30);
	net_bytes(&f, NULL, 30);
	got = net_mbuf(pool, &f, 0);
	assert_true(upf_in_fast(&in6, got));
	in++;
	assert_int_equal(upf_local_take(&l, &got, S), UPF_LOCAL_GONE);
	got = NULL;
	assert_int_equal(drops[UPF_LOCAL_DROP_USER], 1);
}

/** A shared buffer is left alone: the answer is another one. */
static void
answers_do_not_write_to_shared_buffers(void **state)
{
	static const uint8_t request[] = {0x32, 1, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0};
	struct net_frame f = gtpu(false, 2152, request, sizeof(request), false);
	struct rte_mbuf *m = net_mbuf(pool, &f, 0);

	(void)state;
	assert_int_equal(upf_in_any(&in3, m), UPF_IN_OWN);
	rte_mbuf_refcnt_update(m, 1);
	got = m;
	in++;
	out++;
	assert_int_equal(upf_local_take(&l, &got, S), UPF_LOCAL_ANSWER);
	assert_ptr_not_equal(got, m);
	assert_message(false, 2152, 14);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gtpu_echo_is_answered, up, down),
		cmocka_unit_test_setup_teardown(messages_we_make_nothing_of, up, down),
		cmocka_unit_test_setup_teardown(error_indications_are_told, up, down),
		cmocka_unit_test_setup_teardown(extension_headers_we_do_not_understand, up, down),
		cmocka_unit_test_setup_teardown(end_markers_go_to_who_owns_the_tunnel, up, down),
		cmocka_unit_test_setup_teardown(unknown_teids_are_told_once_all_is_known, up, down),
		cmocka_unit_test_setup_teardown(fragmented_tunnels_arrive, up, down),
		cmocka_unit_test_setup_teardown(packets_no_session_takes, up, down),
		cmocka_unit_test_setup_teardown(answers_do_not_write_to_shared_buffers, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("frames", 512, 2560);
	return pool ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
