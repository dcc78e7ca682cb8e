/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/gtpu_msg.h"
#include "modules/upf/upf_local.h"
#include "modules/upf/upf_net_test.h"
#include "test_eal.h"
#include "test_upf.h"

#define S 1000000000ULL
#define PEER 3

static struct rte_mempool *pool;
static struct upf_net *net;
static struct upf_local l;
static struct upf_in in3, in6;
static uint64_t drops[UPF_LOCAL_DROPS], made, used, in, out;
static struct rte_mbuf *got;
static unsigned indications;
static uint32_t indicated_teid;
static uint8_t indicated_peer[16];
static bool room;

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static bool
indication(void *arg, bool v6, const uint8_t *peer, uint32_t teid)
{
	(void)arg;
	if (!room)
		return false;
	indications++;
	indicated_teid = teid;
	memcpy(indicated_peer, peer, v6 ? 16 : 4);
	return true;
}

static int
up(void **state)
{
	(void)state;
	memset(drops, 0, sizeof(drops));
	made = used = in = out = indications = 0;
	room = true;
	net = net_make(UPF_MTU_FRAGMENT);
	net->cfg.pool = pool;
	upf_in_init(&in3, net, 0);
	upf_in_init(&in6, net, 1);
	if (upf_local_init(&l, net) < 0)
		return -1;
	l.drops = drops;
	l.made = &made;
	l.used = &used;
	l.error_indication = indication;
	return upf_net_peer_set(net, PEER, N3, false, gnb_4, true);
}

static int
down(void **state)
{
	uint64_t sum = out + used + l.fragments.held;

	(void)state;
	for (unsigned i = 0; i < UPF_LOCAL_DROPS; i++)
		sum += drops[i];
	assert_int_equal(in + made, sum);
	rte_pktmbuf_free(got);
	got = NULL;
	upf_local_fini(&l);
	upf_net_destroy(net);
	assert_pool_full(pool);
	return 0;
}

/** The frame through upf_in to upf_local; `got` is what comes out. */
static enum upf_local_verdict
take_of(const struct upf_in *port, const struct net_frame *f, size_t seg)
{
	enum upf_local_verdict v;

	rte_pktmbuf_free(got);
	got = net_mbuf(pool, f, seg);
	assert_false(seg == 0 && upf_in_fast(port, got));
	assert_int_equal(upf_in_any(port, got), UPF_IN_OWN);
	in++;
	v = upf_local_take(&l, &got, S);
	if (v == UPF_LOCAL_GONE)
		got = NULL;
	else
		out++;
	return v;
}

static enum upf_local_verdict
take(const struct net_frame *f)
{
	return take_of(&in3, f, 0);
}

static const uint8_t *
bytes(void)
{
	return rte_pktmbuf_mtod(got, const uint8_t *);
}

/* --- ARP -------------------------------------------------------------------------------------- */

static struct net_frame
arp(uint8_t op, const uint8_t *spa, const uint8_t *tpa)
{
	struct net_frame f = {0};

	net_eth(&f, op == 1 ? broadcast : net_mac_n3, 0, ETH_TYPE_ARP);
	net_bytes(&f, (const uint8_t[]){0, 1, 8, 0, 6, 4, 0, op}, 8);
	net_bytes(&f, net_peer_mac, 6);
	net_bytes(&f, spa, 4);
	f.at += 6;
	net_bytes(&f, tpa, 4);
	f.at += 18;
	return f;
}

static int
find4(const uint8_t *address)
{
	struct upf_neigh_key key = {.interface = N3};

	memcpy(key.address, address, 4);
	return upf_neigh_find(&net->neighs, &key);
}

static void
arp_is_answered_for_our_addresses_alone(void **state)
{
	static const uint8_t other[4] = {192, 168, 1, 9}, none[4], far[4] = {9, 9, 9, 9};
	static const uint8_t golden[42] = {2,   0,   0, 0, 0, 0x99, 2, 0, 0, 0,    0,   3,   8, 6,
					   0,   1,   8, 0, 6, 4,    0, 2, 2, 0,    0,   0,   0, 3,
					   192, 168, 1, 1, 2, 0,    0, 0, 0, 0x99, 192, 168, 1, 9};
	struct net_frame f = arp(1, other, n3_4);

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_int_equal(got->pkt_len, 42);
	assert_memory_equal(bytes(), golden, 42);
	assert_int_equal(upf_leave(got)->peer, UPF_LEAVE_FRAME);
	assert_int_equal(upf_leave(got)->interface, N3);
	assert_true(find4(other) >= 0); /* RFC 826: who asks us is worth knowing */
	/* A probe (RFC 5227) is defended, and says nothing of its sender. */
	f = arp(1, none, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 38, none, 4);
	assert_true(find4(none) < 0);
	f = arp(1, other, gnb_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 1);
	f = arp(1, other, n6_4); /* of another interface */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = arp(1, n3_4, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_CONFLICT], 1);
	f = arp(1, far, n3_4); /* not of this link: answered, not learned */
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_true(find4(far) < 0);
	f = arp(3, other, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_MALFORMED], 1);
}

static void
arp_replies_are_learned_where_we_asked(void **state)
{
	static const uint8_t other[4] = {192, 168, 1, 9};
	struct net_frame f = arp(2, gnb_4, n3_4); /* the peer's next hop */

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(upf_neigh_usable(net->neighs.entry[find4(gnb_4)].word));
	f = arp(2, other, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(find4(other) < 0);
	assert_int_equal(used, 2);
}

/* --- neighbour discovery ---------------------------------------------------------------------- */

static struct net_frame
nd(uint8_t type, uint8_t flags, const uint8_t *src, const uint8_t *dst, const uint8_t *target,
   int option)
{
	const size_t n = option ? 32 : 24;
	struct net_frame f = {0};
	uint16_t sum;
	uint8_t *p;
	size_t ip;

	net_eth(&f, dst[0] == 0xff ? (const uint8_t[6]){0x33, 0x33, 0xff, 0, 0, 1} : net_mac_n3, 0,
		ETH_TYPE_IP6);
	ip = net_ip(&f, true, src, dst, 58, n);
	f.b[ip + 7] = 255;
	p = f.b + f.at;
	p[0] = type;
	p[4] = flags;
	memcpy(p + 8, target, 16);
	if (option) {
		p[24] = (uint8_t)option;
		p[25] = 1;
		memcpy(p + 26, net_peer_mac, 6);
	}
	f.at += n;
	sum = upf_icmp_checksum(f.b + ip, p, (unsigned)n);
	memcpy(p + 2, &sum, 2);
	return f;
}

static const uint8_t solicited_node[16] = {0xff, 2, [11] = 1, 0xff, 0, 0, 1};
static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1}, unspecified[16];

static void
assert_advertisement(const uint8_t *dst_mac, const uint8_t *dst, uint8_t flags)
{
	const uint8_t *p = bytes();

	assert_int_equal(got->pkt_len, 14 + 72);
	assert_memory_equal(p, dst_mac, 6);
	assert_memory_equal(p + 6, net_mac_n3, 6);
	assert_int_equal(p[14 + 7], 255);
	assert_memory_equal(p + 14 + 8, n3_6, 16);
	assert_memory_equal(p + 14 + 24, dst, 16);
	assert_int_equal(p[54], 136);
	assert_int_equal(p[58], flags);
	assert_memory_equal(p + 62, n3_6, 16);
	assert_memory_equal(p + 78, "\x02\x01", 2);
	assert_memory_equal(p + 80, net_mac_n3, 6);
	assert_int_equal(upf_icmp_checksum(p + 14, p + 54, 32), 0);
}

static void
solicitations_are_answered(void **state)
{
	struct net_frame f = nd(135, 0, gnb_6, solicited_node, n3_6, 1);

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_advertisement(net_peer_mac, gnb_6, 0x60);
	/* Now we know the asker: a unicast one needs no option. */
	f = nd(135, 0, gnb_6, n3_6, n3_6, 0);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_advertisement(net_peer_mac, gnb_6, 0x60);
	/* Duplicate address detection: to all nodes, not solicited. */
	f = nd(135, 0, unspecified, solicited_node, n3_6, 0);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_advertisement((const uint8_t[6]){0x33, 0x33, 0, 0, 0, 1}, all_nodes, 0x20);
	f = nd(135, 0, gnb_6, solicited_node, gnb_6, 1);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 1);
}

static void
what_is_no_neighbour_discovery(void **state)
{
	struct net_frame f = nd(135, 0, gnb_6, solicited_node, n3_6, 1), good = f;

	(void)state;
	f.b[14 + 7] = 254; /* from beyond the link */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = good;
	f.b[f.at - 1] ^= 1; /* checksum */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = nd(135, 0, unspecified, solicited_node, n3_6, 1); /* DAD with an option */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = nd(136, 0x40, gnb_6, all_nodes, gnb_6, 2); /* solicited, to a group */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_MALFORMED], 4);
	f = nd(134, 0, gnb_6, all_nodes, n3_6, 0);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_ROUTER], 1);
	f = nd(136, 0x20, gnb_6, all_nodes, n3_6, 2);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_CONFLICT], 1);
}

static void
advertisements_update_what_is_there(void **state)
{
	struct upf_neigh_key key = {.interface = N3, .v6 = true};
	const uint8_t other_mac[6] = {2, 1, 1, 1, 1, 1};
	struct net_frame f = nd(136, 0x40, gnb_6, n3_6, gnb_6, 2);
	struct upf_neigh *e;
	int index;

	(void)state;
	memcpy(key.address, gnb_6, 16);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(upf_neigh_find(&net->neighs, &key) < 0); /* §7.2.5: none is made */
	index = upf_neigh_get(&net->neighs, &key, false, S);
	e = &net->neighs.entry[index];
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(upf_neigh_usable(e->word));
	assert_true(e->probe_ns > 20 * S);
	/* Another address without the Override flag: doubt alone. */
	upf_neigh_learn(&net->neighs, (uint32_t)index, other_mac, S);
	f = nd(136, 0, gnb_6, n3_6, gnb_6, 2);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(e->word & 0xFFFFFFFFFFFF, 0x010101010102);
	assert_int_equal(e->probe_ns, S);
	/* With it, unsolicited: taken, and to be probed. */
	f = nd(136, 0x20, gnb_6, n3_6, gnb_6, 2);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(e->word & 0xFFFFFFFFFFFF, 0x990000000002);
	assert_int_equal(e->probe_ns, S);
}

/* --- proxy ------------------------------------------------------------------------------------ */

/* RFC 1027, RFC 4861 §7.2.8: for UEs with a session, where the interface says so. */
static void
neighbours_of_ues_are_answered(void **state)
{
	static const uint8_t router[4] = {10, 0, 0, 254}, none[4], ue[4] = {10, 0, 0, 77};
	static const uint8_t nobody[4] = {10, 0, 0, 78}, router6[16] = {0xfd, 6, [15] = 0xfe};
	static const uint8_t ue6[16] = {0x20, 1, 0xd, 0xb8, [7] = 1, [15] = 5};
	static struct test_message msg;
	static struct test_unit u;
	struct net_frame f = arp(1, router, ue), f6 = nd(135, 0, router6, solicited_node, ue6, 1);
	struct upf_neigh_key key = {0};
	uint32_t index;

	(void)state;
	test_unit_open(&u);
	test_plain(&msg, 77, 0x12300101, 0x0A00004D);
	msg.m.ue_ip6 = test_ip6(&msg, 0x20010DB800000001ULL, 0);
	msg.m.ue_ip6_bits = 64;
	assert_int_equal(test_set(&u, &msg.m), 0);
	net->users = u.index;
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(take_of(&in6, &f6, 0), UPF_LOCAL_GONE);
	net->links[N3].proxy = net->links[N6].proxy = true;
	assert_int_equal(take_of(&in3, &f, 0), UPF_LOCAL_GONE); /* not the session's network */
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 3);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 14, "\0\1\x08\0\6\4\0\2", 8);
	assert_memory_equal(bytes() + 22, net_mac_n6, 6);
	assert_memory_equal(bytes() + 28, ue, 4);
	assert_memory_equal(bytes() + 38, router, 4);
	assert_int_equal(upf_leave(got)->interface, N6);
	assert_int_equal(take_of(&in6, &f6, 0), UPF_LOCAL_ANSWER);
	assert_int_equal(bytes()[58], 0x40); /* no Override */
	assert_memory_equal(bytes() + 62, ue6, 16);
	assert_memory_equal(bytes() + 80, net_mac_n6, 6);
	f = arp(1, none, ue); /* who wants the address is told that it is taken */
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	f = arp(1, ue, ue);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(used, 1);
	f = arp(1, router, nobody);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 4);
	/* A neighbour we know has the address himself. */
	key.interface = N6;
	memcpy(key.address, ue, sizeof(ue));
	index = (uint32_t)upf_neigh_get(&net->neighs, &key, false, 1);
	f = arp(1, router, ue);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER); /* whom we only ask for */
	upf_neigh_learn(&net->neighs, index, net_mac_n3, 2);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 5);
	/* Or had it, once. */
	atomic_store(&net->neighs.entry[index].probe_ns, S - UPF_NEIGH_IDLE_NS);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	assert_int_equal(test_delete(&u, 0x12300101, 77), 0);
	f = arp(1, router, ue);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(take_of(&in6, &f6, 0), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 7);
	test_unit_close(&u);
}

/* --- ICMP ------------------------------------------------------------------------------------- */

static struct net_frame
ping(bool v6, size_t n)
{
	struct net_frame f = {0};
	uint16_t sum;
	size_t ip, icmp;

	net_eth(&f, net_mac_n3, 0, v6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4);
	ip = net_ip(&f, v6, v6 ? gnb_6 : gnb_4, v6 ? n3_6 : n3_4, v6 ? 58 : 1, 8 + n);
	icmp = f.at;
	net_bytes(&f, v6 ? "\x80\0\0\0\x12\x34\0\1" : "\x08\0\0\0\x12\x34\0\1", 8);
	net_bytes(&f, NULL, n);
	sum = upf_icmp_checksum(f.b + ip, f.b + icmp, (unsigned)(8 + n));
	memcpy(f.b + icmp + 2, &sum, 2);
	return f;
}

static void
echo_is_answered(void **state)
{
	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (size_t n = 26; n < 1400; n += 457)
			for (size_t seg = 0; seg <= 300; seg += 100) {
				struct net_frame f = ping(v6, n);
				const size_t hdr = v6 ? 40 : 20;
				uint8_t p[1600];

				assert_int_equal(take_of(&in3, &f, seg), UPF_LOCAL_ANSWER);
				assert_int_equal(got->pkt_len, f.at - 14);
				memcpy(p, rte_pktmbuf_read(got, 0, got->pkt_len, p), got->pkt_len);
				assert_int_equal(p[hdr], v6 ? 129 : 0);
				assert_int_equal(
					upf_icmp_checksum(p, p + hdr, got->pkt_len - (unsigned)hdr),
					0);
				assert_memory_equal(p + (v6 ? 24 : 16), v6 ? gnb_6 : gnb_4,
						    v6 ? 16 : 4);
				assert_memory_equal(p + hdr + 4, f.b + 14 + hdr + 4, n + 4);
				assert_true(v6 || ip_checksum(p, 20) == 0);
				assert_int_equal(upf_leave(got)->interface, N3);
				assert_int_equal(upf_leave(got)->peer, 0);
				assert_true(upf_leave(got)->flags & AP_M_CONTROL);
			}
	struct net_frame f = ping(false, 30);

	f.b[f.at - 1] ^= 1;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_CHECKSUM], 1);
	f = ping(false, 30);
	f.b[34] = 13;
	f.b[36] = (uint8_t)(f.b[36] - 5);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_ICMP], 1);
}

static void
what_nobody_here_speaks(void **state)
{
	struct net_frame f = {0};

	(void)state;
	net_eth(&f, net_mac_n3, 0, ETH_TYPE_IP4);
	net_ip(&f, false, gnb_4, n3_4, 17, 8 + 30);
	net_udp(&f, 1000, 53, 30);
	net_bytes(&f, NULL, 30);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 20, "\x03\x03", 2);
	assert_int_equal(drops[UPF_LOCAL_DROP_PORT], 1);
	memset(&f, 0, sizeof(f));
	net_eth(&f, net_mac_n3, 0, ETH_TYPE_IP6);
	net_ip(&f, true, gnb_6, n3_6, 6, 30);
	net_bytes(&f, NULL, 30);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 40, "\x04\x01", 2);
	assert_int_equal(drops[UPF_LOCAL_DROP_PROTOCOL], 1);
}

static void
a_ttl_that_ends_here(void **state)
{
	struct net_frame f = {0};
	uint8_t *ip;

	(void)state;
	net_eth(&f, net_mac_n6, 0, ETH_TYPE_IP6);
	ip = f.b + net_ip(&f, true, host_6, ue_6, 17, 30);
	net_bytes(&f, NULL, 30);
	ip[7] = 1;
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 8, n6_6, 16);
	assert_memory_equal(bytes() + 24, host_6, 16);
	assert_memory_equal(bytes() + 40, "\x03\x00", 2);
	assert_int_equal(upf_leave(got)->interface, N6);
	assert_int_equal(drops[UPF_LOCAL_DROP_EXPIRED], 1);
}

/* --- GTP-U ------------------------------------------------------------------------------------ */

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
		cmocka_unit_test_setup_teardown(arp_is_answered_for_our_addresses_alone, up, down),
		cmocka_unit_test_setup_teardown(arp_replies_are_learned_where_we_asked, up, down),
		cmocka_unit_test_setup_teardown(solicitations_are_answered, up, down),
		cmocka_unit_test_setup_teardown(what_is_no_neighbour_discovery, up, down),
		cmocka_unit_test_setup_teardown(advertisements_update_what_is_there, up, down),
		cmocka_unit_test_setup_teardown(neighbours_of_ues_are_answered, up, down),
		cmocka_unit_test_setup_teardown(echo_is_answered, up, down),
		cmocka_unit_test_setup_teardown(what_nobody_here_speaks, up, down),
		cmocka_unit_test_setup_teardown(a_ttl_that_ends_here, up, down),
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
