/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka needs the headers above. */
#include <cmocka.h>

#include "core/port.h"
#include "modules/port/port_node.h"
#include "modules/port/port_test_rig.h"

/*
 * Two ports joined by rings, a and b. What is sent into b's far end reaches the node
 * under test on a.
 */

static struct rte_mempool *pool, *hdr_pool, *dst_pool;

/* --- ports ------------------------------------------------------------------------------------ */

static struct ap_cfg_port conf_a, conf_b;
static struct ap_port *port_a, *port_b;

static void
ports_make(enum ap_cfg_framing framing, bool proxy_neigh)
{
	struct ap_port_cfg cfg = {.rx_pool = pool, .hdr_pool = hdr_pool, .linear_pool = dst_pool};
	struct ap_error err = {0};

	conf_a = (struct ap_cfg_port){.name = "a",
				      .preset = AP_PRESET_RING,
				      .peer = "b",
				      .ring_size = 128,
				      .framing = framing,
				      .proxy_neigh = proxy_neigh,
				      .mac = "02:00:00:00:00:0a"};
	conf_b = (struct ap_cfg_port){.name = "b",
				      .preset = AP_PRESET_RING,
				      .peer = "a",
				      .ring_size = 128,
				      .framing = AP_FRAMING_RAW};
	cfg.conf = &conf_a;
	assert_int_equal(ap_port_open(&port_a, &cfg, &err), 0);
	cfg.conf = &conf_b;
	assert_int_equal(ap_port_open(&port_b, &cfg, &err), 0);
	assert_int_equal(ap_port_start(port_a, &err), 0);
	assert_int_equal(ap_port_start(port_b, &err), 0);
}

static void
ports_free(void)
{
	ap_port_stop(port_a);
	ap_port_stop(port_b);
	ap_port_close(port_a);
	ap_port_close(port_b);
	assert_pool_full(pool);
	assert_pool_full(hdr_pool);
	assert_pool_full(dst_pool);
}

static struct rte_mbuf *
packet(const void *bytes, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, len), bytes, len);
	*ap_meta(m) = (struct ap_meta){.bearer = 77, .flags = AP_M_TIMED | AP_M_FRAG_LAST};
	ap_ext(m)->enter_ns = 12345;
	return m;
}

/** Frame from 02:00:00:00:00:bb with an IP packet of `ip_len` bytes in it, then padding. */
static struct rte_mbuf *
ip_frame(uint16_t type, uint16_t ip_len, uint16_t frame_len)
{
	uint8_t f[1600] = {
		2, 0, 0, 0, 0, 0xa, 2, 0, 0, 0, 0, 0xbb, (uint8_t)(type >> 8), (uint8_t)type};

	if (type == 0x0800) {
		f[14] = 0x45;
		f[16] = (uint8_t)(ip_len >> 8);
		f[17] = (uint8_t)ip_len;
	} else if (type == 0x86dd) {
		f[14] = 0x60;
		f[18] = (uint8_t)((ip_len - 40) >> 8);
		f[19] = (uint8_t)(ip_len - 40);
		f[20] = 17;
	}
	f[14 + ip_len - 1] = 0xee;
	return packet(f, frame_len);
}

static void
send_b(struct rte_mbuf *m)
{
	assert_int_equal(rte_eth_tx_burst(port_b->id, 0, &m, 1), 1);
}

static void
test_rx_ethernet(void **state)
{
	struct rte_ether_addr peer;
	struct ap_node *n;

	(void)state;
	ports_make(AP_FRAMING_ETHERNET, false);
	n = node_make("port_rx", port_a);
	send_b(ip_frame(0x0800, 28, 60)); /* padded */
	send_b(ip_frame(0x86dd, 1000, 1014));
	walk();
	assert_int_equal(nb_caught[0], 2);
	assert_int_equal(caught[0][0]->pkt_len, 28);
	assert_int_equal(caught[0][0]->data_len, 28);
	assert_int_equal(rte_pktmbuf_mtod(caught[0][0], uint8_t *)[27], 0xee);
	assert_int_equal(caught[0][1]->pkt_len, 1000);
	/* The ring port is trusted: its time holds, the rest of its meta does not. */
	assert_int_equal(ap_meta(caught[0][0])->flags, AP_M_TIMED);
	assert_int_equal(ap_meta(caught[0][0])->bearer, 0);
	assert_int_equal(ap_ext(caught[0][0])->enter_ns, 12345);
	assert_int_equal(worker.work, 2);
	ap_port_peer_mac_get(port_a, &peer);
	assert_int_equal(peer.addr_bytes[5], 0xbb);
	node_free(n);
	ports_free();
}

static void
test_rx_bad_frames(void **state)
{
	struct ap_node *n;
	struct rte_mbuf *m;

	(void)state;
	ports_make(AP_FRAMING_ETHERNET, false);
	n = node_make("port_rx", port_a);
	send_b(ip_frame(0x0800, 28, 33)); /* shorter than Ethernet and IPv4 headers */
	send_b(ip_frame(0x86dd, 40, 53)); /* shorter than Ethernet and IPv6 headers */
	send_b(ip_frame(0x8100, 46, 60)); /* VLAN */
	send_b(ip_frame(0x0806, 46, 60)); /* ARP */
	send_b(ip_frame(0x0800, 47, 60)); /* one byte is missing */
	send_b(ip_frame(0x0800, 19, 60)); /* shorter than its own header */
	m = ip_frame(0x0800, 46, 60);
	rte_pktmbuf_mtod(m, uint8_t *)[14] = 0x65;
	send_b(m);
	m = ip_frame(0x86dd, 40, 60); /* jumbogram */
	rte_pktmbuf_mtod(m, uint8_t *)[20] = 0;
	send_b(m);
	m = ip_frame(0x86dd, 64, 78); /* neighbour solicitation */
	rte_pktmbuf_mtod(m, uint8_t *)[20] = 58;
	rte_pktmbuf_mtod(m, uint8_t *)[54] = 135;
	send_b(m);
	walk();
	assert_int_equal(nb_caught[0], 0);
	assert_int_equal(dropped(n, "short"), 2);
	assert_int_equal(dropped(n, "ethertype"), 1);
	assert_int_equal(dropped(n, "arp"), 1);
	assert_int_equal(dropped(n, "truncated"), 1);
	assert_int_equal(dropped(n, "malformed"), 3);
	assert_int_equal(dropped(n, "nd"), 1);
	node_free(n);
	ports_free();
}

static void
test_rx_answers_arp(void **state)
{
	static const uint8_t request[60] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  0xbb, 8, 6,
		0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0,    0, 0xbb,
		10,   0,    0,    1,    0,    0,    0, 0, 0, 0, 10, 0,    0, 2,
	};
	struct ap_node *n;
	uint8_t *p;

	(void)state;
	ports_make(AP_FRAMING_ETHERNET, true);
	n = node_make("port_rx", port_a);
	send_b(packet(request, sizeof(request)));
	walk();
	assert_int_equal(nb_caught[PORT_RX_REPLY], 1);
	p = rte_pktmbuf_mtod(caught[PORT_RX_REPLY][0], uint8_t *);
	assert_int_equal(p[5], 0xbb);
	assert_int_equal(p[11], 0x0a);
	assert_int_equal(p[21], 2);
	assert_int_equal(ap_meta(caught[PORT_RX_REPLY][0])->flags, AP_M_CONTROL);
	node_free(n);
	ports_free();
}

static void
test_rx_raw_passes_whole(void **state)
{
	struct ap_node *n;

	(void)state;
	ports_make(AP_FRAMING_RAW, false);
	n = node_make("port_rx", port_a);
	for (unsigned i = 0; i < 100; i++)
		send_b(ip_frame(0x1234, 46, 60));
	walk();
	assert_int_equal(nb_caught[0], AP_BURST);
	walk();
	assert_int_equal(nb_caught[0], 100);
	assert_int_equal(caught[0][99]->pkt_len, 60);
	node_free(n);
	ports_free();
}

/** A port of the outside world: meta is written, the first packet of a burst gets its time. */
static void
test_rx_untrusted(void **state)
{
	const struct ap_cfg_port conf = {
		.name = "null", .preset = AP_PRESET_NULL, .framing = AP_FRAMING_IP};
	struct ap_port_cfg cfg = {.conf = &conf, .rx_pool = pool, .burst = 16};
	struct ap_error err = {0};
	struct ap_port *p;
	struct ap_node *n;

	(void)state;
	assert_int_equal(ap_port_open(&p, &cfg, &err), 0);
	assert_int_equal(ap_port_start(p, &err), 0);
	n = node_make("port_rx", p);
	walk();
	assert_int_equal(nb_caught[0], 16);
	assert_int_equal(ap_meta(caught[0][0])->flags, AP_M_TIMED);
	assert_int_equal(ap_ext(caught[0][0])->enter_ns, worker.now_ns);
	for (unsigned i = 1; i < 16; i++)
		assert_int_equal(ap_meta(caught[0][i])->flags, 0);
	node_free(n);
	ap_port_stop(p);
	ap_port_close(p);
	assert_pool_full(pool);
}

static uint16_t
receive_b(struct rte_mbuf **out, uint16_t nb)
{
	return rte_eth_rx_burst(port_b->id, 0, out, nb);
}

static void
test_tx_ethernet(void **state)
{
	static const uint8_t v4[28] = {0x45}, v6[48] = {0x60}, neither[20] = {0x10};
	struct rte_mbuf *got[8], *shared, *ind;
	struct ap_node *n;
	uint8_t *p;

	(void)state;
	ports_make(AP_FRAMING_ETHERNET, false);
	n = node_make("port_tx", port_a);
	shared = packet(v6, sizeof(v6));
	ind = rte_pktmbuf_alloc(pool);
	rte_pktmbuf_attach(ind, shared);
	*ap_meta(ind) = (struct ap_meta){0};
	fed[0] = packet(v4, sizeof(v4));
	fed[1] = ind;
	fed[2] = packet(neither, sizeof(neither));
	fed[3] = packet(v4, 0);
	nb_fed = 4;
	walk();
	assert_int_equal(dropped(n, "not_ip"), 2);
	assert_int_equal(receive_b(got, 8), 2);
	p = rte_pktmbuf_mtod(got[0], uint8_t *);
	assert_int_equal(got[0]->nb_segs, 1);
	assert_memory_equal(p, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x0a\x08\x00\x45", 15);
	assert_int_equal(got[0]->pkt_len, 42);
	/* The shared payload was not written to: its header is a segment of its own. */
	assert_int_equal(got[1]->nb_segs, 2);
	assert_int_equal(got[1]->data_len, 14);
	assert_int_equal(got[1]->pkt_len, 62);
	assert_memory_equal(rte_pktmbuf_mtod_offset(got[1], uint8_t *, 12), "\x86\xdd", 2);
	assert_ptr_equal(got[1]->next, ind);
	rte_pktmbuf_free_bulk(got, 2);
	rte_pktmbuf_free(shared);
	assert_int_equal(((struct port_tx *)n->priv)->delay.count, 1);
	node_free(n);
	ports_free();
}

static void
test_tx_full(void **state)
{
	struct ap_node *n;

	(void)state;
	ports_make(AP_FRAMING_RAW, false);
	n = node_make("port_tx", port_a);
	for (nb_fed = 0; nb_fed < 200; nb_fed++)
		fed[nb_fed] = ip_frame(0x0800, 46, 60);
	walk();
	assert_int_equal(n->in, 200);
	assert_int_equal(n->used, 128);
	assert_int_equal(dropped(n, "tx_full"), 72);
	assert_int_equal(((struct port_tx *)n->priv)->delay.count, 128);
	node_free(n);
	ports_free();
}

/** With tx_hold what the port does not take waits, in order, and leaves by itself. */
static void
test_tx_holds(void **state)
{
	struct rte_mbuf *got[256];
	struct ap_node *n;
	unsigned nb;

	(void)state;
	ports_make(AP_FRAMING_RAW, false);
	conf_a.tx_hold = 50;
	n = node_make("port_tx", port_a);
	for (nb_fed = 0; nb_fed < 200; nb_fed++) {
		fed[nb_fed] = ip_frame(0x0800, 46, 60);
		*rte_pktmbuf_mtod(fed[nb_fed], uint8_t *) = (uint8_t)nb_fed;
	}
	walk();
	assert_int_equal(n->used, 128);
	assert_int_equal(n->type->held(n), 50);
	assert_int_equal(dropped(n, "tx_full"), 22);
	nb = rte_eth_rx_burst(port_b->id, 0, got, 40);
	n->type->expire(n, 0);
	assert_int_equal(n->used, 168);
	assert_int_equal(n->type->held(n), 10);
	nb += rte_eth_rx_burst(port_b->id, 0, got + nb, 256 - nb);
	fed[nb_fed++] = ip_frame(0x0800, 46, 60);
	*rte_pktmbuf_mtod(fed[0], uint8_t *) = 178;
	walk();
	assert_int_equal(n->type->held(n), 0);
	nb += rte_eth_rx_burst(port_b->id, 0, got + nb, 256 - nb);
	assert_int_equal(nb, 179);
	for (unsigned i = 0; i < nb; i++)
		assert_int_equal(*rte_pktmbuf_mtod(got[i], uint8_t *), i);
	assert_int_equal(n->in, n->used + dropped(n, "tx_full"));
	rte_pktmbuf_free_bulk(got, nb);
	node_free(n);
	ports_free();
}

/** A PMD that sends one segment gets one; what has no room or no mbuf is dropped by name. */
static void
test_tx_linearizes(void **state)
{
	struct rte_mbuf *got[2], *head, *hold[63];
	struct ap_node *n;

	(void)state;
	ports_make(AP_FRAMING_RAW, false);
	port_a->tx_multi_seg = false;
	n = node_make("port_tx", port_a);
	head = packet("abc", 3);
	rte_pktmbuf_chain(head, packet("defg", 4));
	fed[0] = head;
	nb_fed = 1;
	walk();
	assert_int_equal(receive_b(got, 2), 1);
	assert_int_equal(got[0]->nb_segs, 1);
	assert_memory_equal(rte_pktmbuf_mtod(got[0], char *), "abcdefg", 7);
	assert_int_equal(((struct port_tx *)n->priv)->delay.count, 1);
	rte_pktmbuf_free(got[0]);

	head = ip_frame(0x0800, 1500, 1514);
	rte_pktmbuf_chain(head, ip_frame(0x0800, 1500, 1514));
	fed[0] = head;
	nb_fed = 1;
	walk();
	assert_int_equal(dropped(n, "too_long"), 1);

	assert_int_equal(rte_pktmbuf_alloc_bulk(dst_pool, hold, 63), 0);
	head = packet("abc", 3);
	rte_pktmbuf_chain(head, packet("defg", 4));
	fed[0] = head;
	nb_fed = 1;
	walk();
	assert_int_equal(dropped(n, "no_mbuf"), 1);
	rte_pktmbuf_free_bulk(hold, 63);

	port_a->tx_max_bytes = 59;
	fed[0] = ip_frame(0x0800, 46, 60);
	nb_fed = 1;
	walk();
	assert_int_equal(dropped(n, "too_long"), 2);
	node_free(n);
	ports_free();
}

static void
test_init_errors(void **state)
{
	const struct ap_node_type *rx = ap_node_type_find("port_rx"),
				  *tx = ap_node_type_find("port_tx");
	uint64_t priv[2] = {0};
	struct ap_node n = {.name = "test", .priv = priv, .index = 1};

	(void)state;
	ports_make(AP_FRAMING_ETHERNET, false);
	n.arg = port_a;
	assert_int_equal(rx->init(&n), -EINVAL);
	assert_int_equal(tx->init(&n), -EINVAL);
	n.index = 0;
	port_a->hdr_pool = NULL;
	assert_int_equal(tx->init(&n), -EINVAL);
	ports_free();
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pool", 511, 2048);
	hdr_pool = test_pool("hdr", 63, 64);
	dst_pool = test_pool("dst", 63, 2048);
	return pool && hdr_pool && dst_pool ? 0 : -1;
}

static int
start_over(void **state)
{
	(void)state;
	worker.work = 0;
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rx_ethernet, start_over),
		cmocka_unit_test(test_rx_bad_frames),
		cmocka_unit_test(test_rx_answers_arp),
		cmocka_unit_test(test_rx_raw_passes_whole),
		cmocka_unit_test(test_rx_untrusted),
		cmocka_unit_test(test_tx_ethernet),
		cmocka_unit_test(test_tx_full),
		cmocka_unit_test(test_tx_holds),
		cmocka_unit_test(test_tx_linearizes),
		cmocka_unit_test(test_init_errors),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
