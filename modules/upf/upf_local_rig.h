/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_LOCAL_RIG_H
#define AIRPATH_UPF_LOCAL_RIG_H

/** Frames through upf_in to upf_local, and the books of both. */

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

static inline bool
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

static inline int
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

static inline int
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
static inline enum upf_local_verdict
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

static inline enum upf_local_verdict
take(const struct net_frame *f)
{
	return take_of(&in3, f, 0);
}

static inline const uint8_t *
bytes(void)
{
	return rte_pktmbuf_mtod(got, const uint8_t *);
}

#endif
