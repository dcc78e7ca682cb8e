/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Frames through upf_in, upf_local and upf_out over a clock that moves. The fast path must agree
 * with the slow one, nothing may leak, and the books must balance.
 *
 * Each frame begins with a mode octet and two of length; what arrives is given back to upf_local
 * as of an unknown session, or routed on.
 */
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_local.h"
#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf_out.h"
#include "tests/support/test_eal.h"

#define FRAME_MAX 2300
#define PEER 3

enum {
	MODE_PORT = 1,
	MODE_SEGMENTS = 2,
	MODE_FIX = 4,
	MODE_PAUSE = 8,
	MODE_ROUTE = 16,
	MODE_TUNNEL = 32,
	MODE_ETHERNET = 64 /* T-PDUs may be frames */
};

static struct rte_mempool *pool, *indirect;
static struct upf_net *net;
static struct upf_local l;
static struct upf_out o;
static uint64_t now, local_drops[UPF_LOCAL_DROPS], out_drops[UPF_OUT_DROPS];
static uint64_t local_in, local_out, local_made, local_used, out_in, out_out, out_made, out_used;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool ok)
{
	if (!ok)
		abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	check(test_eal_init() == 0);
	pool = test_pool("frames", 4096, 2560);
	indirect = test_pool("indirect", 4096, 0);
	check(pool && indirect);
	return 0;
}

static bool
indication(void *arg, bool v6, const uint8_t *peer, uint32_t teid)
{
	(void)arg;
	(void)v6;
	(void)peer;
	return teid & 1;
}

static void
emit(void *arg, unsigned port, struct rte_mbuf *m)
{
	(void)arg;
	check(port == UPF_OUT_STEER || port < 2);
	rte_mbuf_sanity_check(m, 1);
	out_out++;
	rte_pktmbuf_free(m);
}

/** IPv4 header checksums are hard to guess. */
static void
fix(uint8_t *p, size_t n)
{
	size_t at = n > 16 && p[12] == 0x81 ? 18 : 14;
	uint16_t sum;

	if (n < at + 20 || p[at] >> 4 != 4 || n < at + (p[at] & 0xFU) * 4)
		return;
	memset(p + at + 10, 0, 2);
	sum = ip_checksum(p + at, (p[at] & 0xFU) * 4);
	memcpy(p + at + 10, &sum, 2);
}

/** As upf_in does. @return verdict; both ways agree. */
static unsigned
sort(const struct upf_in *in, const struct net_frame *f, size_t seg, struct rte_mbuf **m)
{
	struct rte_mbuf *other = net_mbuf(pool, f, 0);
	unsigned verdict = upf_in_any(in, other), again;

	*m = net_mbuf(pool, f, seg);
	if (upf_in_fast(in, *m)) {
		check(verdict == UPF_IN_PASS && other->pkt_len == (*m)->pkt_len &&
		      other->vlan_tci_outer == (*m)->vlan_tci_outer &&
		      memcmp(&other->hash, &(*m)->hash, 8) == 0 &&
		      memcmp(rte_pktmbuf_mtod(other, void *), rte_pktmbuf_mtod(*m, void *),
			     other->data_len) == 0);
		rte_pktmbuf_free(other);
		return UPF_IN_PASS;
	}
	again = upf_in_any(in, *m);
	rte_mbuf_sanity_check(*m, 1);
	check(seg || again == verdict);
	rte_pktmbuf_free(other);
	return again;
}

static void
route(struct rte_mbuf *m)
{
	out_in++;
	int port = upf_out_fast(&o, m, now);

	if (port >= 0)
		emit(NULL, (unsigned)port, m);
	else
		upf_out_any(&o, m, now);
}

static void
one(const struct upf_in *in, const struct net_frame *f, uint8_t mode)
{
	struct rte_mbuf *m;
	unsigned verdict;
	uint8_t interface;

	atomic_store(&net->live.ethernet, (mode & MODE_ETHERNET) != 0);
	verdict = sort(in, f, mode & MODE_SEGMENTS ? 50 : 0, &m);

	if (verdict >= UPF_IN_DROPPED) {
		check(verdict - UPF_IN_DROPPED < UPF_IN_DROPS);
		rte_pktmbuf_free(m);
		return;
	}
	interface = upf_arrival(m)->interface;
	check(interface >= 1 && interface <= net->nb_links);
	if (verdict == UPF_IN_PASS && mode & MODE_ROUTE) {
		const bool tunnel = mode & MODE_TUNNEL;

		*upf_leave(m) = (struct upf_leave){
			.peer = tunnel ? PEER : 0, .interface = N6, .from = tunnel ? N6 : 0};
		route(m);
		return;
	}
	local_in++;
	switch (upf_local_take(&l, &m, now)) {
	case UPF_LOCAL_ANSWER:
		local_out++;
		route(m);
		break;
	case UPF_LOCAL_ARRIVED:
		local_out++;
		rte_mbuf_sanity_check(m, 1);
		rte_pktmbuf_free(m);
		break;
	case UPF_LOCAL_GONE:
		break;
	}
}

static void
balance(void)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < UPF_LOCAL_DROPS; i++)
		lost += local_drops[i];
	check(local_in + local_made == local_out + local_used + lost + l.fragments.held);
	lost = 0;
	for (unsigned i = 0; i < UPF_OUT_DROPS; i++)
		lost += out_drops[i];
	check(out_in + out_made == out_out + out_used + lost + o.waits.held);
}

static void
up(void)
{
	net = net_make(UPF_MTU_TOO_BIG);
	check(net != NULL);
	net->cfg.pool = pool;
	net->cfg.indirect = indirect;
	atomic_store(&net->live.refilled, true);
	check(upf_local_init(&l, net) == 0);
	check(upf_out_init(&o, net, 64) == 0);
	l.drops = local_drops;
	l.made = &local_made;
	l.used = &local_used;
	l.error_indication = indication;
	o.drops = out_drops;
	o.made = &out_made;
	o.used = &out_used;
	o.emit = emit;
	check(upf_net_peer_set(net, PEER, N3, false, gnb_4, true) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct net_frame f;
	struct upf_in in[2];

	now = 1000000000;
	memset(local_drops, 0, sizeof(local_drops));
	memset(out_drops, 0, sizeof(out_drops));
	local_in = local_out = local_made = local_used = 0;
	out_in = out_out = out_made = out_used = 0;
	up();
	upf_in_init(&in[0], net, 0);
	upf_in_init(&in[1], net, 1);
	while (size > 3) {
		uint8_t mode = data[0];
		size_t n = (size_t)(data[1] << 8 | data[2]) % FRAME_MAX;

		data += 3;
		size -= 3;
		f.at = n < size ? n : size;
		memcpy(f.b, data, f.at);
		data += f.at;
		size -= f.at;
		if (f.at == 0)
			continue;
		if (mode & MODE_FIX)
			fix(f.b, f.at);
		now += mode & MODE_PAUSE ? 700000000 : 100000;
		upf_out_poll(&o, now);
		one(&in[mode & MODE_PORT], &f, mode);
		balance();
	}
	upf_local_fini(&l);
	upf_out_fini(&o);
	upf_net_destroy(net);
	check(rte_mempool_in_use_count(pool) == 0 && rte_mempool_in_use_count(indirect) == 0);
	return 0;
}
