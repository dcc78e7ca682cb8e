/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* cmocka needs the headers above. */
#include <cmocka.h>

#include "core/port_internal.h"
#include "test_eal.h"

static struct rte_mempool *pool;

static void
assert_text(const struct ap_error *err, const char *text)
{
	if (strstr(err->text, text) == NULL)
		print_error("unexpected message: %s\n", err->text);
	assert_non_null(strstr(err->text, text));
}

static void
assert_devargs(const struct ap_cfg_port *conf, uint16_t mtu, const char *name, const char *args)
{
	struct ap_error err = {0};
	struct port_device dev;

	assert_int_equal(port_preset(conf, conf->preset, mtu, &dev, &err), 0);
	assert_string_equal(dev.name, name);
	assert_string_equal(dev.args, args);
}

static void
test_devargs(void **state)
{
	(void)state;
	assert_devargs(
		&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_NULL, .devargs = "size=128"},
		1500, "net_null_p", "size=128");
	assert_devargs(&(struct ap_cfg_port){.name = "p",
					     .preset = AP_PRESET_PCAP,
					     .rx_file = "/dev/null",
					     .tx_file = "/tmp/out.pcap",
					     .infinite = true},
		       1500, "net_pcap_p", "rx_pcap=/dev/null,tx_pcap=/tmp/out.pcap,infinite_rx=1");
	assert_devargs(&(struct ap_cfg_port){.name = "user", .preset = AP_PRESET_TAP}, 1500,
		       "net_tap_user", "iface=user");
	assert_devargs(&(struct ap_cfg_port){.name = "u",
					     .preset = AP_PRESET_TAP,
					     .iface = "tap9",
					     .devargs = "persist"},
		       1500, "net_tap_u", "iface=tap9,persist");
	assert_devargs(
		&(struct ap_cfg_port){
			.name = "x", .preset = AP_PRESET_AF_XDP, .iface = "lo", .queues = 2},
		1500, "net_af_xdp_x", "iface=lo,start_queue=0,queue_count=2");
	assert_devargs(&(struct ap_cfg_port){.name = "m",
					     .preset = AP_PRESET_MEMIF,
					     .server = true,
					     .iface = "/run/m.sock",
					     .devargs = "id=3"},
		       9000, "net_memif_m",
		       "role=server,socket=/run/m.sock,socket-abstract=no,bsize=9216,id=3");
	assert_devargs(&(struct ap_cfg_port){.name = "n",
					     .preset = AP_PRESET_PCI,
					     .address = "0000:03:00.1",
					     .devargs = "a=1"},
		       1500, "0000:03:00.1", "0000:03:00.1,a=1");
	assert_devargs(&(struct ap_cfg_port){.name = "d",
					     .preset = AP_PRESET_DEVARGS,
					     .devargs = "net_null7,size=64"},
		       1500, "net_null7", "net_null7,size=64");
}

/** Whole frames in a block, and room for what the kernel puts in front of them. */
static void
test_af_packet_frames(void **state)
{
	const struct ap_cfg_port conf = {.name = "a", .preset = AP_PRESET_AF_PACKET, .iface = "lo"};
	struct ap_error err = {0};
	struct port_device dev;

	(void)state;
	assert_devargs(&conf, 1500, "net_af_packet_a",
		       "iface=lo,qpairs=1,framesz=2048,blocksz=8192,framecnt=1024");
	assert_devargs(&conf, 9000, "net_af_packet_a",
		       "iface=lo,qpairs=1,framesz=9216,blocksz=36864,framecnt=1024");
	assert_int_equal(port_preset(&conf, AP_PRESET_AF_PACKET, 1500, &dev, &err), 0);
	assert_int_equal(dev.rx_max_bytes, 2048 - 66);
	assert_true(ap_port_room(&(struct ap_cfg_port){.name = "n", .mtu = 9000}) >= 9018);
}

static void
assert_preset_fails(const struct ap_cfg_port *conf, const char *text)
{
	struct ap_error err = {0};
	struct port_device dev;

	assert_true(port_preset(conf, conf->preset, 1500, &dev, &err) < 0);
	assert_text(&err, text);
}

static void
test_preset_errors(void **state)
{
	(void)state;
	assert_preset_fails(&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_PCAP},
			    "port p: preset pcap needs 'rx_file', 'tx_file' or both");
	assert_preset_fails(
		&(struct ap_cfg_port){
			.name = "p", .preset = AP_PRESET_PCAP, .tx_file = "x", .infinite = true},
		"is missing");
	assert_preset_fails(
		&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_PCAP, .rx_file = "/nowhere"},
		"No such file");
	assert_preset_fails(&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_AF_PACKET},
			    "preset af_packet needs 'iface'");
	assert_preset_fails(&(struct ap_cfg_port){.name = "p",
						  .preset = AP_PRESET_AF_PACKET,
						  .iface = "lo",
						  .devargs = "framesz=65536"},
			    "follow from 'mtu'");
	assert_preset_fails(
		&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_AF_XDP, .iface = "nosuch0"},
		"no interface nosuch0");
	assert_preset_fails(&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_MEMIF},
			    "preset memif needs 'iface'");
	assert_preset_fails(&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_PCI},
			    "preset pci needs 'address'");
	assert_preset_fails(&(struct ap_cfg_port){.name = "p", .preset = AP_PRESET_DEVARGS},
			    "preset devargs needs 'devargs'");
}

static void
assert_open_fails(struct ap_cfg_port conf, struct rte_mempool *rx_pool, const char *text)
{
	struct ap_port_cfg cfg = {.conf = &conf, .rx_pool = rx_pool};
	struct ap_error err = {0};
	struct ap_port *p;

	assert_true(ap_port_open(&p, &cfg, &err) < 0);
	assert_text(&err, text);
}

static void
test_open_errors(void **state)
{
	const struct ap_cfg_port null = {.name = "p", .preset = AP_PRESET_NULL};
	struct ap_cfg_port conf = null;

	(void)state;
	assert_open_fails(conf, NULL, "port p: no pool for received packets");
	conf.mtu = 4000;
	assert_open_fails(conf, pool,
			  "frames of 4018 B can arrive, an mbuf of pool user holds 2048 B");
	conf.mtu = 10;
	assert_open_fails(conf, pool, "mtu 10 must be");
	conf = null;
	conf.queues = 33;
	assert_open_fails(conf, pool, "33 queues, at most 32");
	conf = null;
	conf.mac = "01:00:00:00:00:01";
	assert_open_fails(conf, pool, "no unicast Ethernet address");
	conf.mac = NULL;
	conf.peer_mac = "nonsense";
	assert_open_fails(conf, pool, "peer_mac 'nonsense'");
	conf = (struct ap_cfg_port){
		.name = "p", .preset = AP_PRESET_DEVARGS, .devargs = "net_nosuch0"};
	assert_open_fails(conf, pool, "port p: devargs (net_nosuch0) does not open");
	conf = (struct ap_cfg_port){.name = "a_very_long_port_name", .preset = AP_PRESET_RING};
	assert_open_fails(conf, NULL, "at most 19 characters");
	conf = (struct ap_cfg_port){.name = "r", .preset = AP_PRESET_RING};
	assert_open_fails(conf, NULL, "needs 'peer'");
	conf.peer = "s";
	conf.ring_size = 1000;
	assert_open_fails(conf, NULL, "power of 2");
}

static struct ap_port *
open_port(const struct ap_cfg_port *conf, struct rte_mempool *rx_pool)
{
	struct ap_port_cfg cfg = {.conf = conf, .rx_pool = rx_pool};
	struct ap_port *p = NULL;
	struct ap_error err = {0};

	if (ap_port_open(&p, &cfg, &err) < 0)
		fail_msg("%s", err.text);
	return p;
}

static void
start_port(struct ap_port *p)
{
	struct ap_error err = {0};

	if (ap_port_start(p, &err) < 0)
		fail_msg("%s", err.text);
}

static void
test_null_port(void **state)
{
	const struct ap_cfg_port conf = {
		.name = "n", .preset = AP_PRESET_NULL, .devargs = "size=128", .queues = 2};
	struct rte_mbuf *m[8];
	struct ap_port *p;

	(void)state;
	/* Twice: what closing leaves behind would be in the way. */
	for (unsigned i = 0; i < 2; i++) {
		p = open_port(&conf, pool);
		start_port(p);
		assert_string_equal(p->driver, "net_null");
		assert_false(p->trusted_meta);
		assert_int_equal(ap_port_rx_waiting(p, 0), -ENOTSUP);
		assert_int_equal(rte_eth_rx_burst(p->id, 1, m, 8), 8);
		assert_int_equal(m[7]->pkt_len, 128);
		assert_int_equal(rte_eth_tx_burst(p->id, 1, m, 8), 8);
		ap_port_stop(p);
		ap_port_close(p);
	}
	assert_pool_full(pool);
}

static void
test_ring_pair(void **state)
{
	const struct ap_cfg_port ca = {.name = "a",
				       .preset = AP_PRESET_RING,
				       .peer = "b",
				       .ring_size = 8,
				       .framing = AP_FRAMING_RAW};
	const struct ap_cfg_port cb = {.name = "b",
				       .preset = AP_PRESET_RING,
				       .peer = "a",
				       .ring_size = 8,
				       .framing = AP_FRAMING_RAW};
	struct ap_port *a = open_port(&ca, NULL), *b;
	struct ap_error err = {0};
	struct rte_mbuf *m[16], *got[16];

	(void)state;
	assert_true(ap_port_start(a, &err) < 0);
	assert_text(&err, "port a: its peer b is not open");
	b = open_port(&cb, NULL);
	start_port(a);
	start_port(b);
	assert_true(a->trusted_meta);
	assert_true(a->tx_multi_seg);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, m, 16), 0);
	assert_int_equal(ap_port_tx_room(a, 0), 8);
	assert_int_equal(rte_eth_tx_burst(a->id, 0, m, 16), 8);
	assert_int_equal(ap_port_tx_room(a, 0), 0);
	assert_int_equal(ap_port_rx_waiting(b, 0), 8);
	assert_int_equal(ap_port_in_flight(a), 8);
	assert_int_equal(rte_eth_rx_burst(b->id, 0, got, 5), 5);
	assert_memory_equal(got, m, 5 * sizeof(*m));
	assert_int_equal(rte_eth_tx_burst(b->id, 0, m + 8, 8), 8);
	assert_int_equal(rte_eth_rx_burst(a->id, 0, got + 5, 8), 8);
	assert_memory_equal(got + 5, m + 8, 8 * sizeof(*m));
	rte_pktmbuf_free_bulk(got, 13);
	/* Three are still inside: the end that closes last frees them. */
	ap_port_stop(a);
	ap_port_stop(b);
	ap_port_close(a);
	assert_int_equal(rte_mempool_in_use_count(pool), 3);
	ap_port_close(b);
	assert_pool_full(pool);
}

static void
test_ring_errors(void **state)
{
	const struct ap_cfg_port ca = {.name = "a", .preset = AP_PRESET_RING, .peer = "b"};
	struct ap_cfg_port cb = {.name = "b", .preset = AP_PRESET_RING, .peer = "c"};
	struct ap_port *a = open_port(&ca, NULL);

	(void)state;
	assert_open_fails(cb, NULL, "port b: its peer is c, but port a names b as peer");
	cb.peer = "a";
	cb.queues = 2;
	assert_open_fails(cb, NULL, "give both ends the same");
	ap_port_close(a);
}

static void
test_ring_loopback(void **state)
{
	const struct ap_cfg_port conf = {
		.name = "self", .preset = AP_PRESET_RING, .peer = "self", .queues = 2};
	struct ap_port *p = open_port(&conf, NULL);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool), *got;

	(void)state;
	start_port(p);
	assert_int_equal(rte_eth_tx_burst(p->id, 1, &m, 1), 1);
	assert_int_equal(rte_eth_rx_burst(p->id, 0, &got, 1), 0);
	assert_int_equal(rte_eth_rx_burst(p->id, 1, &got, 1), 1);
	assert_ptr_equal(m, got);
	rte_pktmbuf_free(got);
	ap_port_stop(p);
	ap_port_close(p);
	assert_pool_full(pool);
}

/** What one port writes to a file another reads back. */
static void
test_pcap_port(void **state)
{
	char path[] = "/tmp/port_test_XXXXXX";
	struct ap_cfg_port conf = {.name = "w", .preset = AP_PRESET_PCAP, .tx_file = path};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool), *got = NULL;
	struct ap_port *p;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	p = open_port(&conf, pool);
	start_port(p);
	memset(rte_pktmbuf_append(m, 77), 0x5a, 77);
	assert_int_equal(rte_eth_tx_burst(p->id, 0, &m, 1), 1);
	ap_port_stop(p);
	ap_port_close(p);
	conf = (struct ap_cfg_port){.name = "r", .preset = AP_PRESET_PCAP, .rx_file = path};
	p = open_port(&conf, pool);
	start_port(p);
	assert_int_equal(rte_eth_rx_burst(p->id, 0, &got, 1), 1);
	assert_int_equal(got->pkt_len, 77);
	assert_int_equal(*rte_pktmbuf_mtod(got, uint8_t *), 0x5a);
	rte_pktmbuf_free(got);
	ap_port_stop(p);
	ap_port_close(p);
	unlink(path);
	assert_pool_full(pool);
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("user", 255, 2048);
	return pool != NULL ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devargs),       cmocka_unit_test(test_af_packet_frames),
		cmocka_unit_test(test_preset_errors), cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_null_port),     cmocka_unit_test(test_ring_pair),
		cmocka_unit_test(test_ring_errors),   cmocka_unit_test(test_ring_loopback),
		cmocka_unit_test(test_pcap_port),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
