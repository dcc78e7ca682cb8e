/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_redirect, and upf_forward before and behind it: who is told what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modules/upf/upf_path_test.h"
#include "modules/upf/upf_redirect.h"

#define T0 (100 * AP_NS_PER_S)
#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define PSH 0x08
#define ACK 0x10
#define URL "http://portal.example/pay?ue=1"
#define GET "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"

static const char answer_text[] = "HTTP/1.1 302 Found\r\nLocation: " URL "\r\n"
				  "Content-Length: 0\r\nCache-Control: no-store\r\n"
				  "Connection: close\r\n\r\n";

static struct test_node *forward, *redirect;
static char text[UPF_REDIRECT_TEXT_MAX];

static int
setup(void **state)
{
	path_setup(state);
	forward = path_node("upf_forward");
	redirect = path_node("upf_redirect");
	bed.w.charger->wheel = forward->worker.wheel;
	ap_wheel_run(forward->worker.wheel, T0);
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	bed.fars[0].redirect = text;
	bed.fars[0].redirect_len = (uint16_t)upf_redirect_text(URL, text);
	upf_lane_take_far(&bed.lanes[0], &bed.fars[0]);
	bed.r.core_interface = N6;
	return 0;
}

static int
teardown(void **state)
{
	upf_urr_leave(&bed.r.accounts, T0);
	test_node_balance(forward);
	test_node_balance(redirect);
	path_node_free(forward);
	path_node_free(redirect);
	return path_teardown(state);
}

/** A segment of the UE in lane 0; `options` octets behind the header. */
static struct rte_mbuf *
segment(bool v6, uint8_t flags, const void *options, uint8_t nb_options, const char *payload)
{
	const size_t bytes = 20U + nb_options + strlen(payload);
	struct rte_mbuf *m = path_packet(0, v6, (uint16_t)((v6 ? 40 : 20) + bytes), 0);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *), *tcp = ip + (v6 ? 40 : 20);

	ip[v6 ? 6 : 9] = 6;
	memset(tcp, 0, 20);
	be16_put(tcp, 40000);
	be16_put(tcp + 2, 80);
	be32_put(tcp + 4, 0xfffffff0);
	be32_put(tcp + 8, 0x1000);
	tcp[12] = (uint8_t)((20 + nb_options) / 4 << 4);
	tcp[13] = flags;
	if (nb_options > 0)
		memcpy(tcp + 20, options, nb_options);
	memcpy(tcp + 20 + nb_options, payload, strlen(payload));
	return m;
}

static uint64_t
dropped(const char *reason)
{
	for (unsigned i = 0; i < redirect->n.type->nb_drops; i++)
		if (strcmp(redirect->n.type->drops[i], reason) == 0)
			return redirect->n.drops[i];
	fail_msg("no drop %s", reason);
	return 0;
}

/** Sums over the pseudo header and TCP are all ones, RFC 9293 §3.1. */
static void
checksums_hold(const uint8_t *ip)
{
	struct ip_hdr h;
	int at = ip_decode(ip, 2048, &h);

	assert_true(at > 0);
	assert_int_equal(h.proto, 6);
	assert_int_equal(ip_sum_fold(ip_sum(ip_pseudo_sum(&h, h.bytes - (uint32_t)at), ip + at,
					    h.bytes - (uint32_t)at)),
			 0xffff);
}

/** Through upf_forward, upf_redirect and back. @return what leaves; *told: what the UE is told. */
static struct rte_mbuf *
run(struct rte_mbuf *m, struct rte_mbuf **told)
{
	struct rte_mbuf **out, *left = NULL;
	uint16_t n;

	*told = NULL;
	test_node_visit(forward, &m, 1);
	n = test_node_take(forward, UPF_FORWARD_REDIRECT, &out);
	if (n != 0) {
		m = out[0];
		test_node_visit(redirect, &m, 1);
		if (test_node_take(redirect, UPF_REDIRECT_STEER, &out))
			*told = out[0];
		if (test_node_take(redirect, UPF_REDIRECT_FORWARD, &out)) {
			m = out[0];
			test_node_visit(forward, &m, 1);
			assert_int_equal(test_node_take(forward, UPF_FORWARD_REDIRECT, &out), 0);
		}
	}
	if (test_node_take(forward, UPF_FORWARD_OUT, &out))
		left = out[0];
	return left;
}

static void
answers(bool v6, bool timestamps)
{
	static const uint8_t options[12] = {1, 1, 8, 10, 0, 0, 1, 2, 0, 0, 3, 4};
	const unsigned at = v6 ? 40 : 20;
	struct rte_mbuf *told, *m = segment(v6, ACK | PSH, options, timestamps ? 12 : 0, GET);
	uint8_t *p, *tcp;

	m = run(m, &told);
	assert_non_null(m);
	assert_non_null(told);
	/* To the UE, as from the server. */
	p = rte_pktmbuf_mtod(told, uint8_t *);
	tcp = p + at;
	checksums_hold(p);
	assert_memory_equal(p + (v6 ? 8 : 12), v6 ? host_6 : host_4, v6 ? 16 : 4);
	assert_memory_equal(p + (v6 ? 24 : 16), v6 ? ue_6 : ue_4, v6 ? 16 : 4);
	assert_int_equal(be16_get(tcp), 80);
	assert_int_equal(be16_get(tcp + 2), 40000);
	assert_int_equal(be32_get(tcp + 4), 0x1000);
	assert_int_equal(be32_get(tcp + 8), (uint32_t)(0xfffffff0 + strlen(GET)));
	assert_int_equal(tcp[13], FIN | PSH | ACK);
	assert_int_equal(tcp[12] >> 4, timestamps ? 8 : 5);
	if (timestamps) {
		assert_int_equal(be32_get(tcp + 24), 0x304);
		assert_int_equal(be32_get(tcp + 28), 0x102);
	}
	tcp += (tcp[12] >> 4) * 4;
	assert_int_equal(told->pkt_len, (unsigned)(tcp - p) + strlen(answer_text));
	assert_memory_equal(tcp, answer_text, strlen(answer_text));
	assert_int_equal(upf_arrival(told)->interface, N6);
	assert_int_equal(upf_arrival(told)->rx, v6 ? UPF_RX_INNER6 : 0);
	assert_int_equal(upf_arrival(told)->teid, 0);
	/* To the server, as from the UE. */
	p = rte_pktmbuf_mtod(m, uint8_t *);
	tcp = p + at;
	checksums_hold(p);
	assert_int_equal(m->pkt_len, at + 20);
	assert_memory_equal(p + (v6 ? 8 : 12), v6 ? ue_6 : ue_4, v6 ? 16 : 4);
	assert_int_equal(be16_get(tcp), 40000);
	assert_int_equal(be32_get(tcp + 4), 0xfffffff0);
	assert_int_equal(tcp[13], RST | ACK);
	assert_int_equal(upf_leave(m)->interface, N6);
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(told);
}

static void
answers_requests(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		answers(i & 1, i >> 1);
}

/** The UE's FIN is behind its request: it is acknowledged, too. */
static void
fin_counts(void **state)
{
	struct rte_mbuf *told, *m = run(segment(false, ACK | FIN, NULL, 0, GET), &told);

	(void)state;
	assert_int_equal(be32_get(rte_pktmbuf_mtod_offset(told, uint8_t *, 28)),
			 (uint32_t)(0xfffffff0 + strlen(GET) + 1));
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(told);
}

static void
handshakes_pass(void **state)
{
	static const uint8_t flags[] = {SYN, ACK, ACK | FIN, RST};

	(void)state;
	for (unsigned i = 0; i < 2 * RTE_DIM(flags); i++) {
		struct rte_mbuf *told, *m = segment(i & 1, flags[i / 2], NULL, 0, ""), *left;

		left = run(m, &told);
		assert_ptr_equal(left, m);
		assert_null(told);
		assert_int_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, i & 1 ? 40 : 20)[13],
				 flags[i / 2]);
		rte_pktmbuf_free(m);
	}
}

static void
others_are_dropped(void **state)
{
	struct rte_mbuf *told;

	(void)state;
	assert_null(run(segment(false, ACK, NULL, 0, "\x16\x03\x01 hello"), &told));
	assert_null(run(segment(false, ACK, NULL, 0, "Cookie: rest\r\n"), &told));
	assert_null(run(segment(false, SYN, NULL, 0, GET), &told));
	assert_null(run(segment(true, 0, NULL, 0, GET), &told));
	assert_null(run(path_packet(0, false, 100, 0), &told)); /* UDP */
	assert_int_equal(dropped("not_http"), 5);
}

/** Of a header that is not all there, or longer than the packet, nothing is read. */
static void
malformed(void **state)
{
	struct rte_mbuf *m = segment(false, ACK, NULL, 0, GET);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	struct upf_request r;

	(void)state;
	for (uint32_t len = 0; len < m->data_len; len++) {
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, ip, len);
		assert_int_equal(upf_request_read(copy, len, &r), len >= 40);
		assert_false(upf_redirect_passes(copy, len) && len < 40);
		free(copy);
	}
	ip[32] = 4 << 4;
	assert_false(upf_request_read(ip, m->data_len, &r));
	ip[32] = 15 << 4;
	be16_put(ip + 2, 60);
	assert_false(upf_request_read(ip, m->data_len, &r));
	rte_pktmbuf_free(m);
}

/** A quota's FAR may redirect: from the next packet on, TS 29.244 §5.2.2.2.1. */
static void
quota_far(void **state)
{
	struct rte_mbuf *told, *m;

	(void)state;
	bed.fars[2] = bed.fars[0];
	bed.fars[0].redirect_len = 0;
	bed.lanes[0].flags &= ~(uint32_t)UPF_LANE_MORE;
	upf_lane_take_far(&bed.lanes[0], &bed.fars[0]);
	m = run(segment(false, ACK, NULL, 0, GET), &told);
	assert_null(told);
	rte_pktmbuf_free(m);
	path_take_far(&bed.s, 0, 2);
	m = run(segment(false, ACK, NULL, 0, GET), &told);
	assert_non_null(told);
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(told);
}

static void
without_mbufs(void **state)
{
	struct rte_mbuf *all[63], *told;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(bed.pkt, all, 63), 0);
	assert_null(run(segment(false, ACK, NULL, 0, GET), &told));
	assert_null(told);
	assert_int_equal(dropped("no_mbuf"), 1);
	rte_pktmbuf_free_bulk(all, 63);
}

static void
urls(void **state)
{
	char url[UPF_REDIRECT_URL_MAX + 2], out[UPF_REDIRECT_TEXT_MAX];
	unsigned len;

	(void)state;
	assert_true(upf_redirect_url_ok(URL));
	assert_false(upf_redirect_url_ok(""));
	assert_false(upf_redirect_url_ok("http://a b"));
	assert_false(upf_redirect_url_ok("http://a\r\nSet-Cookie: x"));
	assert_false(upf_redirect_url_ok("http://\xc3\xa4"));
	memset(url, 'a', sizeof(url));
	url[UPF_REDIRECT_URL_MAX + 1] = 0;
	assert_false(upf_redirect_url_ok(url));
	url[UPF_REDIRECT_URL_MAX] = 0;
	assert_true(upf_redirect_url_ok(url));
	len = upf_redirect_text(url, out);
	assert_int_equal(len, strlen(out));
	assert_string_equal(out + strlen(out) - 4, "\r\n\r\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(fin_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(handshakes_pass, setup, teardown),
		cmocka_unit_test_setup_teardown(others_are_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed, setup, teardown),
		cmocka_unit_test_setup_teardown(quota_far, setup, teardown),
		cmocka_unit_test_setup_teardown(without_mbufs, setup, teardown),
		cmocka_unit_test(urls),
	};

	if (path_pools() < 0)
		return 1;
	return cmocka_run_group_tests_name("upf_redirect", tests, NULL, NULL);
}
