/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_OUT_RIG_H
#define AIRPATH_UPF_OUT_RIG_H

/** Packets of sessions through upf_out, what it emits, and its books. */

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

static inline void
emit(void *arg, unsigned port, struct rte_mbuf *m)
{
	(void)arg;
	assert_true(nb < CAUGHT);
	caught_port[nb] = port;
	caught[nb++] = m;
}

static inline uint64_t
sum_drops(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < UPF_OUT_DROPS; i++)
		sum += drops[i];
	return sum;
}

static unsigned emitted;

/** Frees what came out, after the books were looked at. */
static inline void
clear(void)
{
	emitted += nb;
	assert_int_equal(in + made, emitted + used + sum_drops() + o.waits.held);
	rte_pktmbuf_free_bulk(caught, nb);
	nb = 0;
}

static inline int
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

static inline int
up(void **state)
{
	(void)state;
	return make(UPF_MTU_FRAGMENT);
}

static inline int
up_too_big(void **state)
{
	(void)state;
	return make(UPF_MTU_TOO_BIG);
}

static inline int
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

static inline void
know(uint8_t interface, bool v6, const uint8_t *address, const uint8_t *mac, uint64_t now_ns)
{
	net_know(net, interface, v6, address, mac, now_ns);
}

/** An IP packet of `payload` octets behind a UDP header. */
static inline struct rte_mbuf *
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

static inline struct rte_mbuf *
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
static inline void
send(struct rte_mbuf *m, uint64_t now_ns)
{
	int port = upf_out_fast(&o, m, now_ns);

	in++;
	if (port >= 0)
		emit(NULL, (unsigned)port, m);
	else
		upf_out_any(&o, m, now_ns);
}

static inline const uint8_t *
frame(unsigned i)
{
	return rte_pktmbuf_mtod(caught[i], const uint8_t *);
}

#endif
