/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_match and upf_flow: lanes by flow and application, what changes them and what does not, and
 * the books. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#include "modules/upf/upf.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_scans.h"
#include "test_eal.h"
#include "test_node.h"
#include "test_upf.h"

#define HANDLE 0x12300101U
#define UE 0x0A2D0002U
#define SERVER 0xC6336401U
#define NEWS 7
#define VIDEO 8

enum { SYN = 2, ACK = 16, FIN = 1 };

static struct rte_mempool *pool;
static struct test_unit u;
static struct test_message msg;
static struct ap_cfg_upf cfg;
static struct upf upf;
static struct upf_worker w;
static struct test_node *match, *flow;
static struct dpi_set *sets[3];
static unsigned nb_sets;
static struct dpi_scratch *scratches[3];

static int
setup(void **state)
{
	(void)state;
	test_unit_open(&u);
	cfg = (struct ap_cfg_upf){.flows = 4096, .session_flows = 1000, .dpi = {.scans = 64}};
	upf = (struct upf){.cfg = &cfg, .nb_workers = 1, .workers = &w, .index = u.index};
	w = (struct upf_worker){.upf = &upf,
				.tables = u.tables,
				.charger = &u.charger,
				.flows = upf_flows_create(cfg.flows),
				.scans = upf_scans_create(cfg.dpi.scans)};
	match = test_node_make("upf_match", &upf);
	flow = test_node_make("upf_flow", &upf);
	match->worker.now_ns = flow->worker.now_ns = 1000 * AP_NS_PER_S;
	nb_sets = 0;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	if (upf_by_handle(u.tables, HANDLE))
		assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	test_node_balance(match);
	test_node_balance(flow);
	test_node_free(match);
	test_node_free(flow);
	upf_flows_destroy(w.flows);
	upf_scans_destroy(w.scans);
	for (unsigned i = 0; i < nb_sets; i++) {
		dpi_scratch_free(scratches[i]);
		dpi_set_free(sets[i]);
	}
	test_unit_close(&u);
	assert_pool_full(pool);
	return 0;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Another set is in force. */
static void
applications(const struct dpi_rule *rules, uint32_t nb)
{
	struct dpi_error error;
	const unsigned i = nb_sets++;

	if (dpi_set_build(rules, nb, NULL, i + 1, &sets[i], &error) < 0)
		fail_msg("%s", error.why);
	scratches[i] = dpi_scratch_alloc(sets[i]);
	w.scans->set = sets[i];
	w.scans->scratch = scratches[i];
}

static void
host_is(const char *host, uint16_t app)
{
	const struct dpi_rule rule = {.kind = DPI_RULE_HOST, .app = app, .text = host};

	applications(&rule, 1);
}

static Airpath__Upf__V1__Pdr *
app_pdr(unsigned id, unsigned source, uint32_t app)
{
	Airpath__Upf__V1__Pdr *pdr =
		test_pdr(&msg, id, 10 + id, source, source == UPF_ACCESS ? 1 : 0,
			 source == UPF_ACCESS ? 1 : 2);

	pdr->match_ue_source = source == UPF_ACCESS;
	pdr->match_ue_destination = source == UPF_CORE;
	pdr->match_ip4 = true;
	pdr->application = app;
	return pdr;
}

/* Lanes by precedence: 0 news up, 1 news down, 2 video up, 3 video down, 4 other up, 5 other down.
 */
enum { NEWS_UP, NEWS_DOWN, VIDEO_UP, VIDEO_DOWN, OTHER_UP, OTHER_DOWN };

static void
session(uint32_t version)
{
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.version = version;
	app_pdr(3, UPF_ACCESS, NEWS);
	app_pdr(4, UPF_CORE, NEWS);
	app_pdr(5, UPF_ACCESS, VIDEO);
	app_pdr(6, UPF_CORE, VIDEO);
	assert_int_equal(test_set(&u, &msg.m), 0);
}

/* --- packets ---------------------------------------------------------------------------------- */

/* A TCP segment, or with flags 0 a UDP datagram, between the UE's port and the server's. */
static struct rte_mbuf *
packet(bool up, uint16_t ue_port, uint16_t port, uint8_t flags, uint32_t seq, const void *data,
       uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	const uint16_t hdr = flags ? 20 : 8;
	uint8_t src[4], dst[4], *p;
	struct net_frame f = {.at = 0};

	be32_put(src, up ? UE : SERVER);
	be32_put(dst, up ? SERVER : UE);
	net_ip(&f, false, src, dst, flags ? 6 : 17, hdr + (size_t)len);
	assert_non_null(m);
	p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(20 + hdr + len));
	assert_non_null(p);
	memcpy(p, f.b, 20);
	for (uint16_t i = 20; i < 20 + hdr; i++)
		p[i] = 0;
	be16_put(p + 20, up ? ue_port : port);
	be16_put(p + 22, up ? port : ue_port);
	if (flags) {
		be32_put(p + 24, seq);
		p[32] = 5 << 4;
		p[33] = flags;
	} else {
		be16_put(p + 24, (uint16_t)(8 + len));
	}
	if (len > 0)
		memcpy(p + 20 + hdr, data, len);
	*upf_arrival(m) =
		(struct upf_arrival){.teid = up ? HANDLE : 0,
				     .rx = up ? UPF_RX_TUNNEL : 0,
				     .interface = up ? TEST_ACCESS_INTERFACE : TEST_CORE_INTERFACE};
	return m;
}

/* Through both nodes. @return packets that got a lane, at *out until the next call */
static uint16_t
run(struct rte_mbuf **pkts, uint16_t nb, struct rte_mbuf ***out)
{
	test_node_visit(match, pkts, nb);
	nb = test_node_take(match, UPF_MATCH_FLOW, out);
	test_node_visit(flow, *out, nb);
	return test_node_take(flow, UPF_FLOW_POLICE, out);
}

static uint64_t
dropped(const char *reason)
{
	for (int i = 0; i < flow->n.type->nb_drops; i++)
		if (strcmp(flow->n.type->drops[i], reason) == 0)
			return flow->n.drops[i];
	fail_msg("no drop %s", reason);
	return 0;
}

/* @return lane of one packet, -1: dropped */
static int
one(struct rte_mbuf *m)
{
	struct rte_mbuf **out;
	int lane = -1;

	if (run(&m, 1, &out) == 1) {
		assert_ptr_equal(upf_matched_session(out[0]), upf_by_handle(u.tables, HANDLE));
		lane = upf_matched_lane(out[0]);
		rte_pktmbuf_free(out[0]);
	}
	return lane;
}

static struct rte_mbuf *
request(uint16_t ue_port, const char *host)
{
	char text[200];
	int len = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);

	return packet(true, ue_port, 80, ACK, 1001, text, (uint16_t)len);
}

static struct rte_mbuf *
bare(bool up, uint16_t ue_port, uint8_t flags)
{
	return packet(up, ue_port, 80, flags, 1000, NULL, 0);
}

/* A connection up to the request. @return the lane that the request took */
static int
connect_to(uint16_t ue_port, const char *host)
{
	assert_int_equal(one(bare(true, ue_port, SYN)), OTHER_UP);
	assert_int_equal(one(bare(false, ue_port, SYN | ACK)), OTHER_DOWN);
	assert_int_equal(one(bare(true, ue_port, ACK)), OTHER_UP);
	return one(request(ue_port, host));
}

/* --- tests ------------------------------------------------------------------------------------ */

static void
a_flow_changes_its_lane_when_it_is_named(void **state)
{
	(void)state;
	session(1);
	host_is("news.example", NEWS);
	assert_int_equal(connect_to(4000, "news.example"), NEWS_UP);
	assert_int_equal(one(bare(false, 4000, ACK)), NEWS_DOWN);
	assert_int_equal(one(bare(true, 4000, ACK)), NEWS_UP);
	assert_int_equal(connect_to(4001, "other.example"), OTHER_UP);
	assert_int_equal(one(bare(false, 4001, ACK)), OTHER_DOWN);
	assert_int_equal(w.flows->stats.live, 2);
	assert_int_equal(w.scans->stats.scans, 2);
	assert_int_equal(w.scans->stats.found[DPI_HTTP], 2);
	assert_int_equal(w.scans->apps[NEWS], 1);
	assert_int_equal(w.scans->used, 0);
}

static void
a_request_in_two_segments_is_named_by_the_second(void **state)
{
	static const char a[] = "GET /index.html HTTP/1.1\r\nHost: new", b[] = "s.example\r\n\r\n";

	(void)state;
	session(1);
	host_is("news.example", NEWS);
	assert_int_equal(one(bare(true, 4000, SYN)), OTHER_UP);
	assert_int_equal(one(packet(true, 4000, 80, ACK, 1001, a, sizeof(a) - 1)), OTHER_UP);
	assert_int_equal(w.scans->used, 1);
	assert_int_equal(one(packet(true, 4000, 80, ACK, 1001 + sizeof(a) - 1, b, sizeof(b) - 1)),
			 NEWS_UP);
	assert_int_equal(w.scans->used, 0);
}

static void
headers_say_it_until_a_name_does(void **state)
{
	const struct dpi_rule rules[] = {
		{.kind = DPI_RULE_HOST, .app = NEWS, .text = "news.example"},
		{.kind = DPI_RULE_FLOW,
		 .app = VIDEO,
		 .flow = {.src = {{198, 51, 100, 1}, 32}, .flags = DPI_NET_IP4}}};

	(void)state;
	session(1);
	applications(rules, 2);
	assert_int_equal(one(bare(true, 4000, SYN)), VIDEO_UP);
	assert_int_equal(one(bare(false, 4000, SYN | ACK)), VIDEO_DOWN);
	assert_int_equal(one(request(4000, "news.example")), NEWS_UP);
	assert_int_equal(one(bare(false, 4000, ACK)), NEWS_DOWN);
	/* Another name leaves it to the headers. */
	assert_int_equal(one(request(4001, "other.example")), VIDEO_UP);
	assert_int_equal(one(bare(false, 4001, ACK)), VIDEO_DOWN);
	/* The server may speak first. */
	assert_int_equal(one(bare(false, 4002, SYN)), VIDEO_DOWN);
	assert_int_equal(w.scans->apps[VIDEO], 1);
}

static void
old_flows_keep_their_application_over_a_swap(void **state)
{
	(void)state;
	session(1);
	host_is("news.example", NEWS);
	assert_int_equal(connect_to(4000, "news.example"), NEWS_UP);
	assert_int_equal(one(bare(true, 4001, SYN)), OTHER_UP); /* not named yet */
	host_is("news.example", VIDEO);
	assert_int_equal(one(bare(true, 4000, ACK)), NEWS_UP);
	assert_int_equal(one(request(4000, "news.example")), NEWS_UP);
	assert_int_equal(one(request(4001, "news.example")), VIDEO_UP);
	assert_int_equal(connect_to(4002, "news.example"), VIDEO_UP);
	/* Other rules of the session find the lane anew, and leave the application alone. */
	session(2);
	assert_int_equal(one(bare(false, 4000, ACK)), NEWS_DOWN);
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.version = 3;
	app_pdr(5, UPF_ACCESS, NEWS);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(bare(true, 4000, ACK)), 0);
	assert_int_equal(one(bare(true, 4002, ACK)), 1);
	assert_int_equal(one(bare(false, 4000, ACK)), 2);
}

static void
a_new_connection_of_the_same_ports_is_another_flow(void **state)
{
	(void)state;
	session(1);
	host_is("news.example", NEWS);
	assert_int_equal(connect_to(4000, "news.example"), NEWS_UP);
	assert_int_equal(one(bare(true, 4000, FIN | ACK)), NEWS_UP);
	assert_int_equal(connect_to(4000, "other.example"), OTHER_UP);
	assert_int_equal(w.flows->stats.live, 1);
}

static void
bad_flows_pass_or_not_by_policy(void **state)
{
	static const char bad[] = "GET / HTTP/1.1\r\nHost: a\x01\x02 b\r\n\r\n";

	(void)state;
	session(1);
	host_is("news.example", NEWS);
	assert_int_equal(one(packet(true, 4000, 80, ACK, 1001, bad, sizeof(bad) - 1)), OTHER_UP);
	assert_int_equal(w.scans->stats.bad[DPI_HTTP], 1);
	cfg.dpi.on_bad = AP_DPI_CLOSED;
	assert_int_equal(one(packet(true, 4001, 80, ACK, 1001, bad, sizeof(bad) - 1)), -1);
	assert_int_equal(one(bare(false, 4001, ACK)), -1);
	assert_int_equal(dropped("dpi_bad"), 2);
	assert_int_equal(one(bare(false, 4000, ACK)), OTHER_DOWN);
}

static void
udp_names_are_seen(void **state)
{
	static const uint8_t query[] = {0x12, 0x34, 1,   0,   0,   1,   0,   0, 0,   0,
					0,    0,    4,   'n', 'e', 'w', 's', 7, 'e', 'x',
					'a',  'm',  'p', 'l', 'e', 0,   0,   1, 0,   1};

	(void)state;
	session(1);
	host_is("news.example", NEWS);
	assert_int_equal(one(packet(true, 5000, 53, 0, 0, query, sizeof(query))), NEWS_UP);
	assert_int_equal(one(packet(false, 5000, 53, 0, 0, query, sizeof(query))), NEWS_DOWN);
	assert_int_equal(w.scans->stats.found[DPI_DNS], 1);
}

static void
what_has_no_lane_gets_no_entry(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	session(1);
	m = bare(true, 4000, SYN);
	be32_put(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), UE + 1);
	assert_int_equal(one(m), -1);
	assert_int_equal(dropped("spoofed"), 1);
	m = bare(true, 4000, SYN);
	*rte_pktmbuf_mtod(m, uint8_t *) = 0x44;
	assert_int_equal(one(m), -1);
	assert_int_equal(dropped("malformed"), 1);
	assert_int_equal(w.flows->stats.made, 0);
}

/* All but an application's traffic is shut out: its flow is let through once it has its name. */
static void
a_name_may_bring_the_first_lane(void **state)
{
	static const uint8_t query[] = {0x12, 0x34, 1,   0,   0,   1,   0,   0, 0,   0,
					0,    0,    4,   'n', 'e', 'w', 's', 7, 'e', 'x',
					'a',  'm',  'p', 'l', 'e', 0,   0,   1, 0,   1};

	(void)state;
	test_message(&msg, 77, HANDLE, UE);
	test_tunnel(&msg, HANDLE);
	test_far(&msg, 1, 0, 0);
	test_far(&msg, 2, 0xC0A80102, 0x1234);
	app_pdr(3, UPF_ACCESS, NEWS);
	assert_int_equal(test_set(&u, &msg.m), 0);
	host_is("news.example", NEWS);
	assert_int_equal(one(packet(true, 5000, 53, 0, 0, query, 20)), -1);
	assert_int_equal(dropped("no_pdr"), 1);
	assert_int_equal(one(packet(true, 5001, 53, 0, 0, query, sizeof(query))), 0);
}

/* More flows than the table, the session or the scans have room for: nothing is lost. */
static void
nothing_is_lost_for_want_of_room(void **state)
{
	struct rte_mbuf *m[64], **out;
	uint32_t sent = 0, got = 0;

	(void)state;
	session(1);
	host_is("news.example", NEWS);
	cfg.session_flows = 3000;
	for (unsigned i = 0; i < 20000; i++) {
		m[i % 64] = i % 7 == 0 ? request((uint16_t)(1 + i % 15000), "news.example")
				       : bare(true, (uint16_t)(1 + i % 15000), SYN);
		if (i % 64 < 63)
			continue;
		flow->worker.now_ns += 20 * AP_NS_PER_MS;
		sent += 64;
		got += run(m, 64, &out);
		rte_pktmbuf_free_bulk(out, 64);
	}
	for (unsigned i = 20000 / 64 * 64; i < 20000; i++)
		rte_pktmbuf_free(m[i % 64]);
	assert_int_equal(got, sent);
	assert_true(w.flows->stats.capped > 0);
	assert_int_equal(w.flows->stats.live, 3000);
	assert_int_equal(upf_by_handle(u.tables, HANDLE)->rules->nb_flows, 3000);
	/* Without a cap the table is what ends it. */
	cfg.session_flows = 100000;
	for (unsigned i = 0; i < 30000; i++) {
		const uint16_t port = (uint16_t)(20000 + i);

		flow->worker.now_ns += 20 * AP_NS_PER_MS;
		assert_int_equal(one(bare(true, port, SYN)), OTHER_UP);
		assert_int_equal(one(packet(true, port, 80, ACK, 1001, "GET /", 5)), OTHER_UP);
	}
	assert_true(w.flows->stats.evicted > 0);
	assert_true(w.flows->stats.live <= cfg.flows);
	assert_int_equal(upf_by_handle(u.tables, HANDLE)->rules->nb_flows, w.flows->stats.live);
	assert_in_range(w.scans->used, 1, cfg.dpi.scans);
}

/* Those who begin and say nothing do not keep others from being looked at. */
static void
scans_are_taken_from_the_oldest(void **state)
{
	static const char part[] = "GET /";

	(void)state;
	session(1);
	host_is("news.example", NEWS);
	for (uint16_t i = 0; i < 100; i++)
		assert_int_equal(one(bare(true, 1000 + i, SYN)), OTHER_UP);
	assert_int_equal(w.scans->used, 0);
	for (uint16_t i = 0; i < 100; i++)
		assert_int_equal(one(packet(true, 2000 + i, 80, ACK, 1001, part, sizeof(part) - 1)),
				 OTHER_UP);
	assert_int_equal(w.scans->used, 64);
	assert_int_equal(w.scans->stats.robbed, 36);
	assert_int_equal(connect_to(4000, "news.example"), NEWS_UP);
	/* Who needed none has lost nothing; who lost his scan stays nameless. */
	assert_int_equal(one(request(1000, "news.example")), NEWS_UP);
	assert_int_equal(one(request(2000, "news.example")), OTHER_UP);
}

/* Segments without data do not wait for their flow's name, but for packets before them that do. */
static void
segments_without_data_follow_the_request(void **state)
{
	struct rte_mbuf *m[3], **out;

	(void)state;
	session(1);
	host_is("news.example", NEWS);
	assert_int_equal(one(bare(true, 4000, SYN)), OTHER_UP);
	for (unsigned i = 0; i < 2 * DPI_SCAN_PACKETS; i++)
		assert_int_equal(one(bare(i & 1, 4000, ACK)), i & 1 ? OTHER_UP : OTHER_DOWN);
	m[0] = request(4000, "news.example");
	m[1] = bare(true, 4000, ACK);
	m[2] = bare(false, 4000, ACK);
	assert_int_equal(run(m, 3, &out), 3);
	assert_int_equal(upf_matched_lane(out[0]), NEWS_UP);
	assert_int_equal(upf_matched_lane(out[1]), NEWS_UP);
	assert_int_equal(upf_matched_lane(out[2]), NEWS_DOWN);
	rte_pktmbuf_free_bulk(out, 3);
}

/* PDRs that look at the ToS: answers whose ToS is another one than was foretold have their own. */
static void
answers_may_be_other_than_foretold(void **state)
{
	Airpath__Upf__V1__Filter *f;
	struct rte_mbuf *m;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.version = 1;
	for (unsigned i = 0; i < 2; i++) {
		f = test_filter(&msg, app_pdr(3 + i, i ? UPF_CORE : UPF_ACCESS, 0));
		f->tos = 0xB8;
		f->tos_mask = 0xFC;
	}
	assert_int_equal(test_set(&u, &msg.m), 0);
	for (unsigned i = 0; i < 8; i++) {
		const bool marked = (i & 1) != (i < 4); /* of the first answer, too */

		m = bare(i % 4 == 0, 4000 + (uint16_t)(i / 4), i % 4 == 0 ? SYN : ACK);
		rte_pktmbuf_mtod(m, uint8_t *)[1] = marked ? 0xB8 : 0;
		assert_int_equal(one(m), (marked ? 0 : 2) + (i % 4 != 0));
	}
}

/* In one vector: a flow begins and ends; and one whose rules are new ends where another begins,
 * whose SYN must not act on what came before it. */
static void
packets_of_a_vector_keep_their_order(void **state)
{
	struct rte_mbuf *m[2], **out;
	unsigned closing = 0;

	(void)state;
	session(1);
	host_is("news.example", NEWS);
	m[0] = bare(true, 4100, SYN);
	m[1] = bare(true, 4100, FIN | ACK);
	assert_int_equal(run(m, 2, &out), 2);
	rte_pktmbuf_free_bulk(out, 2);
	for (uint32_t i = 0; i < w.flows->nb_buckets * UPF_FLOW_WAYS; i++)
		closing += w.flows->flows[i].key.handle != 0 &&
			   w.flows->flows[i].state & UPF_FLOW_CLOSING;
	assert_int_equal(closing, 1);
	assert_int_equal(connect_to(4200, "news.example"), NEWS_UP);
	session(2);
	m[0] = packet(true, 4200, 80, ACK, 5000, "\1\2\3\4\5\6\7", 7);
	m[1] = bare(true, 4200, SYN);
	assert_int_equal(run(m, 2, &out), 2);
	assert_int_equal(upf_matched_lane(out[0]), NEWS_UP);
	assert_int_equal(upf_matched_lane(out[1]), OTHER_UP);
	rte_pktmbuf_free_bulk(out, 2);
	assert_int_equal(one(request(4200, "news.example")), NEWS_UP);
}

static uint32_t
home(uint16_t ue_port)
{
	struct upf_flow_key k = {.handle = HANDLE, .proto = 6, .what = UPF_FLOW_PORTS};

	be32_put(k.ends[0], UE);
	be32_put(k.ends[1], SERVER);
	be16_put((uint8_t *)&k.ports[0], ue_port);
	be16_put((uint8_t *)&k.ports[1], 80);
	return upf_flow_home(w.flows, upf_flow_hash(w.flows, &k));
}

/* The next port whose flow is at home there. */
static uint16_t
port_at(uint32_t line, uint16_t ue_port)
{
	while (home(++ue_port) != line)
		assert_int_not_equal(ue_port, UINT16_MAX);
	return ue_port;
}

/* Flows change places between packets of one vector: the first of `f` found it where it has to make
 * room for an idle flow of another application, once the second packet's flow went home. */
static void
flows_change_places_within_a_vector(void **state)
{
	const uint16_t old = 4000;
	struct rte_mbuf *m[3], **out;
	uint16_t f, g;

	(void)state;
	upf_flows_destroy(w.flows);
	w.flows = upf_flows_create(UPF_FLOW_WAYS);
	session(1);
	applications((const struct dpi_rule[]){{DPI_RULE_HOST, NEWS, .text = "news.example"},
					       {DPI_RULE_HOST, VIDEO, .text = "video.example"}},
		     2);
	g = port_at(home(old), old);
	f = port_at(home(old) ^ 1, old);
	assert_int_equal(connect_to(old, "video.example"), VIDEO_UP);
	match->worker.now_ns = flow->worker.now_ns += AP_NS_PER_S;
	assert_int_equal(one(bare(true, g, SYN)), OTHER_UP);
	assert_int_equal(one(bare(true, f, SYN)), OTHER_UP);
	assert_int_equal(w.flows->flows[home(old)].key.ports[0], rte_cpu_to_be_16(old));
	assert_int_equal(w.flows->flows[home(f)].key.ports[0], rte_cpu_to_be_16(g));
	m[0] = request(f, "news.example");
	m[1] = bare(true, g, ACK);
	m[2] = bare(true, f, ACK);
	assert_int_equal(run(m, 3, &out), 3);
	assert_int_equal(upf_matched_lane(out[0]), NEWS_UP);
	assert_int_equal(upf_matched_lane(out[1]), OTHER_UP);
	assert_int_equal(upf_matched_lane(out[2]), NEWS_UP);
	rte_pktmbuf_free_bulk(out, 3);
	assert_int_equal(w.flows->flows[home(g)].key.ports[0], rte_cpu_to_be_16(g));
	assert_int_equal(w.flows->flows[home(f)].key.ports[0], rte_cpu_to_be_16(f));
	assert_int_equal(one(bare(false, old, ACK)), VIDEO_DOWN);
	assert_int_equal(one(bare(false, f, ACK)), NEWS_DOWN);
}

/* The lane is of the default PDR or of the application that the port's flows are of. */
static void
is_of_its_flow(struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	const bool up = be32_get(ip + 12) == UE;
	const unsigned kind = be16_get(ip + (up ? 20 : 22)) % 3, lane = upf_matched_lane(m);

	assert_true(lane == (up ? OTHER_UP : OTHER_DOWN) || lane == 2 * kind + !up);
}

/* Everything at once, in vectors: packets keep their order in a flow, and none is lost or takes the
 * lane of another flow. */
static void
random_traffic_over_swaps(void **state)
{
	static const char *const hosts[] = {"news.example", "video.example", "other.example"};
	struct rte_mbuf *m[128], **out;
	uint64_t x = 99, sent = 0, got = 0, lanes[6] = {0};

	(void)state;
	cfg.session_flows = 100000;
	session(1);
	applications(
		(const struct dpi_rule[]){
			{.kind = DPI_RULE_HOST, .app = NEWS, .text = "news.example"},
			{.kind = DPI_RULE_SUFFIX, .app = VIDEO, .text = "video.example"}},
		2);
	for (unsigned round = 0; round < 3000; round++) {
		uint16_t nb = 1 + (uint16_t)(round % 128), n;

		for (uint16_t i = 0; i < nb; i++) {
			uint16_t port;

			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
			port = (uint16_t)(1 + (x >> 40) % 9000);
			m[i] = (x >> 33 & 3) == 0   ? request(port, hosts[port % 3])
			       : (x >> 33 & 3) == 1 ? bare(true, port, SYN)
						    : bare(x >> 35 & 1, port, ACK);
		}
		flow->worker.now_ns += 50 * AP_NS_PER_MS;
		sent += nb;
		n = run(m, nb, &out);
		for (uint16_t i = 0; i < n; i++) {
			is_of_its_flow(out[i]);
			lanes[upf_matched_lane(out[i])]++;
		}
		got += n;
		rte_pktmbuf_free_bulk(out, n);
		if (round == 1000)
			host_is("news.example", NEWS);
		if (round % 100 == 0)
			session(2 + round);
		if (round == 2000) {
			assert_int_equal(test_delete(&u, HANDLE, 77), 0);
			session(5000);
		}
	}
	assert_int_equal(got, sent);
	for (unsigned i = 0; i < 6; i++)
		assert_true(lanes[i] > 100);
	assert_true(w.flows->stats.evicted + w.flows->stats.expired > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flow_changes_its_lane_when_it_is_named),
		TEST(a_request_in_two_segments_is_named_by_the_second),
		TEST(headers_say_it_until_a_name_does),
		TEST(old_flows_keep_their_application_over_a_swap),
		TEST(a_new_connection_of_the_same_ports_is_another_flow),
		TEST(bad_flows_pass_or_not_by_policy),
		TEST(udp_names_are_seen),
		TEST(what_has_no_lane_gets_no_entry),
		TEST(a_name_may_bring_the_first_lane),
		TEST(nothing_is_lost_for_want_of_room),
		TEST(scans_are_taken_from_the_oldest),
		TEST(segments_without_data_follow_the_request),
		TEST(answers_may_be_other_than_foretold),
		TEST(packets_of_a_vector_keep_their_order),
		TEST(flows_change_places_within_a_vector),
		TEST(random_traffic_over_swaps),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("flow", 1023, 512);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
