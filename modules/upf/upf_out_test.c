/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/upf/upf_nd.h"
#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_out.h"
#include "test_eal.h"

#define S 1000000000ULL
#define MS 1000000ULL
#define CAUGHT 256
#define WAITING 200 /* packets, of all neighbours */
#define PEER4 5
#define PEER6 6

static struct rte_mempool *pool, *indirect;
static struct upf_net *net;
static struct upf_out o;
static uint64_t drops[UPF_OUT_DROPS], made, used, in;
static struct rte_mbuf *caught[CAUGHT];
static unsigned caught_port[CAUGHT], nb;

static const uint8_t gw_mac[6] = {2, 0, 0, 0, 0, 0xfe}, gw_4[4] = {10, 0, 0, 254};
static const uint8_t gw_6[16] = {0xfd, 6, [15] = 0xfe};

static void
emit(void *arg, unsigned port, struct rte_mbuf *m)
{
	(void)arg;
	assert_true(nb < CAUGHT);
	caught_port[nb] = port;
	caught[nb++] = m;
}

static uint64_t
sum_drops(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < UPF_OUT_DROPS; i++)
		sum += drops[i];
	return sum;
}

static unsigned emitted;

/** Frees what came out, after the books were looked at. */
static void
clear(void)
{
	emitted += nb;
	assert_int_equal(in + made, emitted + used + sum_drops() + o.waits.held);
	rte_pktmbuf_free_bulk(caught, nb);
	nb = 0;
}

static int
make(enum upf_mtu_mode mode)
{
	memset(drops, 0, sizeof(drops));
	made = used = in = nb = emitted = 0;
	net = net_make(mode);
	if (net == NULL)
		return -1;
	net->cfg.pool = pool;
	net->cfg.indirect = indirect;
	if (upf_out_init(&o, net, WAITING) < 0)
		return -1;
	o.emit = emit;
	o.drops = drops;
	o.made = &made;
	o.used = &used;
	return upf_net_peer_set(net, PEER4, N3, false, gnb_4, true) ||
	       upf_net_peer_set(net, PEER6, N3, true, gnb_6, true);
}

static int
up(void **state)
{
	(void)state;
	return make(UPF_MTU_FRAGMENT);
}

static int
up_too_big(void **state)
{
	(void)state;
	return make(UPF_MTU_TOO_BIG);
}

static int
down(void **state)
{
	(void)state;
	clear();
	upf_out_fini(&o);
	upf_net_destroy(net);
	assert_pool_full(pool);
	assert_pool_full(indirect);
	return 0;
}

static void
know(uint8_t interface, bool v6, const uint8_t *address, const uint8_t *mac, uint64_t now_ns)
{
	net_know(net, interface, v6, address, mac, now_ns);
}

/** An IP packet of `payload` octets behind a UDP header. */
static struct rte_mbuf *
packet(bool v6, const uint8_t *src, const uint8_t *dst, size_t payload, struct upf_leave l)
{
	struct net_frame f = {0};
	struct rte_mbuf *m;

	net_ip(&f, v6, src, dst, 17, 8 + payload);
	net_udp(&f, 1, 2, payload);
	net_bytes(&f, NULL, payload);
	m = net_mbuf(pool, &f, 0);
	*upf_leave(m) = l;
	return m;
}

static struct rte_mbuf *
tunnelled(bool outer6, bool inner6, size_t payload, bool df, uint8_t from)
{
	struct net_frame f = {0};
	struct rte_mbuf *m;
	uint8_t *p;

	net_gpdu(&f, outer6, inner6, 0x77, 9, payload);
	m = net_mbuf(pool, &f, 0);
	p = (uint8_t *)rte_pktmbuf_adj(m, 14);
	if (df)
		p[(outer6 ? 40 : 20) + 8 + 16 + 6] |= 0x40;
	*upf_leave(m) =
		(struct upf_leave){.peer = outer6 ? PEER6 : PEER4, .interface = N3, .from = from};
	return m;
}

/** As the node does. */
static void
send(struct rte_mbuf *m, uint64_t now_ns)
{
	int port = upf_out_fast(&o, m, now_ns);

	in++;
	if (port >= 0)
		emit(NULL, (unsigned)port, m);
	else
		upf_out_any(&o, m, now_ns);
}

static const uint8_t *
frame(unsigned i)
{
	return rte_pktmbuf_mtod(caught[i], const uint8_t *);
}

static void
routed_by_the_gateway(void **state)
{
	const struct upf_leave l = {.interface = N6};
	const uint8_t *p;

	(void)state;
	know(N6, false, gw_4, gw_mac, S);
	know(N6, true, gw_6, gw_mac, S);
	send(packet(false, ue_4, host_4, 100, l), S);
	send(packet(true, ue_6, host_6, 100, l), S);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], 1);
	p = frame(0);
	assert_memory_equal(p, gw_mac, 6);
	assert_memory_equal(p + 6, net_mac_n6, 6);
	assert_int_equal(be16_get(p + 12), ETH_TYPE_IP4);
	assert_int_equal(p[14 + 8], 63);
	assert_int_equal(ip_checksum(p + 14, 20), 0);
	assert_int_equal(caught[0]->pkt_len, 14 + 128);
	p = frame(1);
	assert_int_equal(be16_get(p + 12), ETH_TYPE_IP6);
	assert_int_equal(p[14 + 7], 63);
	clear();
	/* Fast and slow agree. */
	in++;
	upf_out_any(&o, packet(false, ue_4, host_4, 100, l), S);
	assert_int_equal(frame(0)[14 + 8], 63);
	assert_int_equal(ip_checksum(frame(0) + 14, 20), 0);
}

static void
tunnels_and_vlans(void **state)
{
	const uint8_t n9_host[4] = {172, 16, 9, 5};

	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	know(N3, true, gnb_6, net_peer_mac, S);
	know(N9, false, n9_host, gw_mac, S);
	send(tunnelled(false, false, 10, false, N6), S);
	send(tunnelled(true, false, 10, false, N6), S);
	send(packet(false, host_4, n9_host, 10, (struct upf_leave){.interface = N9}), S);
	assert_int_equal(nb, 3);
	assert_memory_equal(frame(0), net_peer_mac, 6);
	assert_int_equal(frame(0)[14 + 8], 64); /* an outer header is made with its TTL */
	assert_int_equal(be16_get(frame(1) + 12), ETH_TYPE_IP6);
	assert_memory_equal(frame(2), gw_mac, 6);
	assert_memory_equal(frame(2) + 6, net_mac_n3, 6);
	assert_memory_equal(frame(2) + 12, "\x81\x00\x00\x09\x08\x00\x45", 7);
	assert_int_equal(caught_port[2], 0);
}

static void
a_neighbour_is_asked_for_while_packets_wait(void **state)
{
	const uint8_t near[4] = {10, 0, 0, 77}, mac[6] = {2, 7, 7, 7, 7, 7};
	const struct upf_leave l = {.interface = N6};

	(void)state;
	for (unsigned i = 0; i < UPF_WAIT_ON_LINK + 4; i++)
		send(packet(false, ue_4, near, i, l), S);
	assert_int_equal(nb, 1);
	assert_memory_equal(frame(0), "\xff\xff\xff\xff\xff\xff", 6);
	assert_memory_equal(frame(0) + 12, "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01", 10);
	assert_memory_equal(frame(0) + 28, n6_4, 4);
	assert_memory_equal(frame(0) + 38, near, 4);
	assert_int_equal(o.waits.held, UPF_WAIT_ON_LINK);
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH_FULL], 4);
	clear();
	/* Once a second, whoever asks. */
	upf_out_poll(&o, S + 500 * MS);
	assert_int_equal(nb, 0);
	upf_out_poll(&o, 2 * S);
	assert_int_equal(nb, 1);
	clear();
	know(N6, false, near, mac, 2 * S);
	upf_out_poll(&o, 2 * S + MS);
	assert_int_equal(nb, UPF_WAIT_ON_LINK);
	for (unsigned i = 0; i < nb; i++) {
		assert_memory_equal(frame(i), mac, 6);
		assert_int_equal(caught[i]->pkt_len, 14 + 28 + i);
		assert_int_equal(frame(i)[14 + 8], 63);
	}
	assert_int_equal(o.waits.nb, 0);
	assert_int_equal(o.waits.held, 0);
}

/* A configured next hop may have all slots, and what comes when it is known goes behind. */
static void
packets_to_a_next_hop_wait_in_order(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WAITING + 3; i++)
		send(tunnelled(false, false, i, false, N6), S);
	assert_int_equal(o.waits.held, WAITING);
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH_FULL], 3);
	send(tunnelled(true, false, 0, false, N6), S); /* nor is there room for another's */
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH_FULL], 4);
	clear();
	know(N3, false, gnb_4, net_peer_mac, S + MS);
	for (unsigned i = 0; i < 3; i++)
		send(tunnelled(false, false, WAITING + i, false, N6), S + MS);
	assert_int_equal(nb, WAITING + 3);
	for (unsigned i = 0; i < nb; i++) {
		assert_memory_equal(frame(i), net_peer_mac, 6);
		assert_int_equal(caught[i]->pkt_len, 14 + 28 + 16 + 28 + i);
	}
	assert_int_equal(o.waits.nb, 0);
}

/* Whoever sends to addresses nobody has takes no room from tunnels. */
static void
half_of_the_room_is_for_next_hops(void **state)
{
	const struct upf_leave l = {.interface = N6};
	uint8_t near[4] = {10, 0, 0, 20};

	(void)state;
	for (; near[3] < 22; near[3]++)
		for (unsigned i = 0; i < UPF_WAIT_ON_LINK; i++)
			send(packet(false, ue_4, near, i, l), S);
	assert_int_equal(o.waits.held, WAITING / 2);
	assert_int_equal(o.waits.nb, 2);
	clear();
	for (unsigned i = 0; i < WAITING / 2 + 1; i++)
		send(tunnelled(false, false, i, false, N6), S);
	assert_int_equal(o.waits.held, WAITING);
	know(N3, false, gnb_4, net_peer_mac, S + MS);
	clear();
	upf_out_poll(&o, S + MS);
	assert_int_equal(nb, WAITING / 2);
	assert_int_equal(o.waits.nb, 2);
	clear();
	/* Neighbours one waits for at once, likewise: half of 64. */
	for (near[3] = 20; near[3] < 100; near[3]++)
		send(packet(false, ue_4, near, 0, l), S + MS);
	assert_true(o.waits.nb <= o.waits.nb_max / 2);
	assert_int_equal(o.waits.held, WAITING / 2);
}

static void
a_silent_neighbour_costs_its_packets(void **state)
{
	const uint8_t near[4] = {10, 0, 0, 77};
	const struct upf_leave l = {.interface = N6};

	(void)state;
	send(packet(false, ue_4, near, 0, l), S);
	for (unsigned i = 1; i <= 3; i++)
		upf_out_poll(&o, (1 + i) * S);
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH], 1);
	assert_int_equal(o.waits.held, 0);
	/* Three requests; then the UE is told: host unreachable. */
	assert_int_equal(nb, 4);
	assert_int_equal(caught_port[3], UPF_OUT_STEER);
	assert_memory_equal(frame(3) + 20, "\x03\x01", 2);
	assert_memory_equal(frame(3) + 16, ue_4, 4);
	assert_int_equal(upf_arrival(caught[3])->interface, N6);
	assert_int_equal(upf_arrival(caught[3])->rx, 0);
}

static void
a_known_neighbour_is_probed_in_use(void **state)
{
	const struct upf_leave l = {.interface = N6};

	(void)state;
	know(N6, true, gw_6, gw_mac, S);
	send(packet(true, ue_6, host_6, 0, l), 31 * S);
	assert_int_equal(nb, 2);
	/* A neighbour solicitation to itself, and the packet as before. */
	assert_memory_equal(frame(0), gw_mac, 6);
	assert_int_equal(frame(0)[14 + 6], 58);
	assert_int_equal(frame(0)[14 + 7], 255);
	assert_int_equal(frame(0)[14 + 40], 135);
	assert_memory_equal(frame(0) + 14 + 24, gw_6, 16);
	assert_int_equal(upf_icmp_checksum(frame(0) + 14, frame(0) + 54, 32), 0);
	assert_int_equal(frame(1)[14 + 6], 17);
	send(packet(true, ue_6, host_6, 0, l), 31 * S);
	assert_int_equal(nb, 3);
}

/** The UE is told by way of its session: an arrival from the network it was sending to. */
static void
a_ttl_that_ends_here(void **state)
{
	const struct upf_leave l = {.interface = N6};
	struct rte_mbuf *m = packet(false, ue_4, host_4, 100, l);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);

	(void)state;
	ip[8] = 1;
	send(m, S);
	m = packet(true, ue_6, host_6, 100, l);
	rte_pktmbuf_mtod(m, uint8_t *)[7] = 1;
	send(m, S);
	assert_int_equal(drops[UPF_OUT_DROP_EXPIRED], 2);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], UPF_OUT_STEER);
	ip = rte_pktmbuf_mtod(caught[0], uint8_t *);
	assert_int_equal(ip_checksum(ip, 20), 0);
	assert_memory_equal(ip + 12, n6_4, 4);
	assert_memory_equal(ip + 16, ue_4, 4);
	assert_memory_equal(ip + 20, "\x0b\x00", 2);
	assert_int_equal(ip_checksum(ip + 20, caught[0]->pkt_len - 20), 0);
	assert_int_equal(ip[28], 0x45);
	assert_int_equal(be16_get(ip + 2), caught[0]->pkt_len);
	assert_int_equal(upf_arrival(caught[1])->rx, UPF_RX_INNER6);
	assert_memory_equal(frame(1) + 40, "\x03\x00", 2);
	assert_memory_equal(frame(1) + 8, n6_6, 16);
}

static void
plain_packets_beyond_the_mtu(void **state)
{
	const struct upf_leave l = {.interface = N6};
	struct rte_mbuf *m;

	(void)state;
	know(N6, false, gw_4, gw_mac, S);
	send(packet(false, ue_4, host_4, 1480, l), S); /* 1508 */
	assert_int_equal(nb, 2);
	assert_int_equal(be16_get(frame(0) + 14 + 6), 0x2000);
	assert_int_equal(be16_get(frame(1) + 14 + 6), be16_get(frame(0) + 16) / 8 - 20 / 8);
	assert_int_equal(caught[0]->pkt_len + caught[1]->pkt_len, 2 * 34 + 1488);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(caught[i]->pkt_len <= 1514);
		assert_int_equal(ip_checksum(frame(i) + 14, 20), 0);
		assert_int_equal(frame(i)[14 + 8], 63);
	}
	clear();
	m = packet(false, ue_4, host_4, 1480, l);
	rte_pktmbuf_mtod(m, uint8_t *)[6] = 0x40;
	send(m, S);
	send(packet(true, ue_6, host_6, 1480, l), S);
	assert_int_equal(drops[UPF_OUT_DROP_TOO_BIG], 2);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], UPF_OUT_STEER);
	assert_memory_equal(frame(0) + 20, "\x03\x04", 2);
	assert_int_equal(be16_get(frame(0) + 26), 1500);
	assert_memory_equal(frame(1) + 40, "\x02\x00", 2);
	assert_int_equal(be32_get(frame(1) + 44), 1500);
	assert_true(caught[1]->pkt_len <= 1280);
}

/** All octets of a fragmented tunnel packet, put together again. */
static void
assert_fragments(bool v6, unsigned bytes)
{
	unsigned at = 0;

	assert_true(nb >= 2);
	for (unsigned i = 0; i < nb; i++) {
		uint8_t p[2000];
		unsigned hdr = v6 ? 48 : 20, offset;

		assert_true(caught[i]->pkt_len <= 1514);
		memcpy(p, rte_pktmbuf_read(caught[i], 0, caught[i]->pkt_len, p),
		       caught[i]->pkt_len);
		offset =
			v6 ? be16_get(p + 14 + 42) & 0xFFF8U : (be16_get(p + 14 + 6) & 0x1FFFU) * 8;
		assert_int_equal(offset, at);
		at += caught[i]->pkt_len - 14 - hdr;
		if (!v6)
			assert_int_equal(ip_checksum(p + 14, 20), 0);
		if (i > 0)
			assert_memory_equal(p + 14 + (v6 ? 44 : 4), frame(0) + 14 + (v6 ? 44 : 4),
					    v6 ? 4 : 2);
	}
	assert_int_equal(at, bytes);
}

static void
tunnels_beyond_the_mtu_are_fragmented(void **state)
{
	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	know(N3, true, gnb_6, net_peer_mac, S);
	send(tunnelled(false, false, 1472, true, N6), S);
	assert_fragments(false, 8 + 16 + 28 + 1472);
	clear();
	send(tunnelled(true, true, 1452, false, N6), S);
	assert_fragments(true, 8 + 16 + 48 + 1452);
	assert_int_equal(sum_drops(), 0);
}

static void
or_the_sender_is_told(void **state)
{
	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	know(N3, true, gnb_6, net_peer_mac, S);
	know(N6, false, gw_4, gw_mac, S);
	know(N6, true, gw_6, gw_mac, S);
	send(tunnelled(false, false, 1472, true, N6), S);
	send(tunnelled(false, true, 1452, false, N6), S);
	assert_int_equal(drops[UPF_OUT_DROP_TOO_BIG], 2);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], 1);
	/* From our address toward the network to the inner packet's source. */
	assert_memory_equal(frame(0) + 14 + 12, n6_4, 4);
	assert_memory_equal(frame(0) + 14 + 16, ue_4, 4);
	assert_memory_equal(frame(0) + 34, "\x03\x04", 2);
	assert_int_equal(be16_get(frame(0) + 40), 1500 - 44);
	assert_int_equal(frame(0)[42], 0x45);
	assert_int_equal(be32_get(frame(1) + 58), 1500 - 44);
	clear();
	/* Who does not forbid it is fragmented, as is what came in a tunnel. */
	send(tunnelled(false, false, 1472, false, N6), S);
	assert_int_equal(nb, 2);
	clear();
	send(tunnelled(false, true, 1452, false, 0), S);
	assert_int_equal(nb, 2);
	clear();
	/* 1280 octets of IPv6 are never too much. */
	net->links[N3].mtu = 1300;
	send(tunnelled(false, true, 1232, false, N6), S);
	assert_int_equal(nb, 2);
	assert_int_equal(drops[UPF_OUT_DROP_TOO_BIG], 2);
}

static void
errors_are_limited(void **state)
{
	const struct upf_leave l = {.interface = N6};

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct rte_mbuf *m = packet(false, ue_4, host_4, 0, l);

		rte_pktmbuf_mtod(m, uint8_t *)[8] = 1;
		send(m, S);
	}
	assert_int_equal(drops[UPF_OUT_DROP_EXPIRED], 100);
	assert_int_equal(nb, 10); /* a tenth of a second's */
}

static void
no_way_out(void **state)
{
	(void)state;
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.interface = 0}), S);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.interface = 9}), S);
	assert_int_equal(drops[UPF_OUT_DROP_INTERFACE], 2);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.peer = 77, .interface = N3}), S);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.peer = 70000}), S);
	assert_int_equal(drops[UPF_OUT_DROP_PEER], 2);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.interface = N3}), S);
	assert_int_equal(drops[UPF_OUT_DROP_NO_ROUTE], 1);
	assert_int_equal(nb, 1); /* net unreachable */
	clear();
	send(packet(false, ue_4, (const uint8_t[4]){224, 0, 0, 1}, 0,
		    (struct upf_leave){.interface = N6, .flags = AP_M_CONTROL}),
	     S);
	assert_int_equal(drops[UPF_OUT_DROP_NO_ROUTE], 2);
	assert_int_equal(nb, 0);
	upf_net_peer_clear(net, PEER4);
	send(tunnelled(false, false, 0, false, N6), S);
	assert_int_equal(drops[UPF_OUT_DROP_PEER], 3);
}

/** A buffer somebody else holds is not written to: its header is a segment of its own. */
static void
shared_buffers_are_read_only(void **state)
{
	const struct upf_leave l = {.interface = N3, .peer = PEER4};
	struct rte_mbuf *m = tunnelled(false, false, 10, false, N6), *clone;

	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	clone = rte_pktmbuf_clone(m, indirect);
	assert_non_null(clone);
	*upf_leave(clone) = l;
	send(clone, S);
	assert_int_equal(nb, 1);
	assert_int_equal(caught[0]->nb_segs, 2);
	assert_int_equal(caught[0]->data_len, 14);
	assert_memory_equal(frame(0), net_peer_mac, 6);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(routed_by_the_gateway, up, down),
		cmocka_unit_test_setup_teardown(tunnels_and_vlans, up, down),
		cmocka_unit_test_setup_teardown(a_neighbour_is_asked_for_while_packets_wait, up,
						down),
		cmocka_unit_test_setup_teardown(packets_to_a_next_hop_wait_in_order, up, down),
		cmocka_unit_test_setup_teardown(half_of_the_room_is_for_next_hops, up, down),
		cmocka_unit_test_setup_teardown(a_silent_neighbour_costs_its_packets, up, down),
		cmocka_unit_test_setup_teardown(a_known_neighbour_is_probed_in_use, up, down),
		cmocka_unit_test_setup_teardown(a_ttl_that_ends_here, up, down),
		cmocka_unit_test_setup_teardown(plain_packets_beyond_the_mtu, up, down),
		cmocka_unit_test_setup_teardown(tunnels_beyond_the_mtu_are_fragmented, up, down),
		cmocka_unit_test_setup_teardown(or_the_sender_is_told, up_too_big, down),
		cmocka_unit_test_setup_teardown(errors_are_limited, up, down),
		cmocka_unit_test_setup_teardown(no_way_out, up, down),
		cmocka_unit_test_setup_teardown(shared_buffers_are_read_only, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("packets", 512, 2560);
	indirect = test_pool("indirect", 512, 0);
	return pool && indirect ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
