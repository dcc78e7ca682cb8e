/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * An AM entity that receives any bytes: AMD PDUs for its receiving side, STATUS PDUs for its
 * transmitting side, which has SDUs to send all the while. Nothing may leak, and the books must
 * balance.
 */
#include <stdlib.h>
#include <string.h>

#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_tx.h"
#include "tests/support/test_eal.h"

static struct l2_pools pools;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (test_eal_init() < 0)
		abort();
	pools.user = test_pool("user", 4095, 512);
	pools.hdr = test_pool("hdr", 2047, 128);
	pools.ind = test_pool("ind", 2047, 0);
	if (!pools.user || !pools.hdr || !pools.ind)
		abort();
	return 0;
}

struct entity {
	struct rlc_tx tx;
	struct rlc_rx rx;
	uint64_t tx_drops[RLC_TX_DROPS], rx_drops[RLC_RX_DROPS];
	struct rlc_rx_counts counts;
	struct rlc_tx_pull_stats stats;
	uint64_t in, out, now_ns;
};

static struct rte_mbuf *
packet(const uint8_t *bytes, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools.user);

	if (m == NULL)
		abort();
	*ap_meta(m) = (struct ap_meta){0};
	memcpy(rte_pktmbuf_append(m, len), bytes, len);
	return m;
}

static void
receive(struct entity *e, const uint8_t *bytes, uint8_t len)
{
	struct rte_mbuf *m = packet(bytes, len);

	e->in++;
	if (rlc_rx_receive(&e->rx, &m, 1, &m, &e->counts, e->now_ns)) {
		e->out++;
		rte_pktmbuf_free(m);
	}
}

static void
transmit(struct entity *e, uint8_t grant)
{
	static const uint8_t sdu[200];
	struct rte_mbuf *m = packet(sdu, (uint16_t)(1 + grant % sizeof(sdu))), *pdus[16];
	uint32_t left = 3 + grant * 2U;
	unsigned n;

	if (rlc_tx_held(&e->tx) < 500)
		rlc_tx_push(&e->tx, &m, 1, e->now_ns, e->tx_drops);
	else
		rte_pktmbuf_free(m);
	n = rlc_tx_pull(&e->tx, &left, pdus, 16, e->now_ns, &e->stats);
	rte_pktmbuf_free_bulk(pdus, n);
}

static void
up(struct entity *e, uint8_t options)
{
	const enum rlc_sn_len bits = options & 1 ? RLC_SN_12 : RLC_SN_18;
	const struct rlc_tx_cfg tx = {
		.mode = RLC_AM,
		.sn_FieldLength = bits,
		.queue_sdus = 512,
		.lcid = 4,
		.pools = &pools,
		.am = {.t_PollRetransmit_ms = 5,
		       .t_StatusProhibit_ms = options & 2 ? 10 : 0,
		       .pollPDU = 4,
		       .maxRetxThreshold = 2},
	};
	struct rlc_rx_cfg rx = {.mode = RLC_AM,
				.sn_FieldLength = bits,
				.t_Reassembly_ms = options & 4 ? 0 : 5,
				.segments_max = 16};

	e->counts.drops = e->rx_drops;
	if (rlc_tx_init(&e->tx, &tx) < 0)
		abort();
	rx.am = rlc_tx_am_link(&e->tx);
	if (rlc_rx_init(&e->rx, &rx) < 0)
		abort();
}

static void
down(struct entity *e)
{
	uint64_t went = e->out + e->counts.used + e->rx.held;

	for (unsigned i = 0; i < RLC_RX_DROPS; i++)
		went += e->rx_drops[i];
	if (went != e->in + e->counts.made)
		abort();
	rlc_tx_fini(&e->tx);
	rlc_rx_fini(&e->rx);
	if (rte_mempool_in_use_count(pools.user) || rte_mempool_in_use_count(pools.hdr) ||
	    rte_mempool_in_use_count(pools.ind))
		abort();
}

/** Each step: what to do and a length, then so many bytes to receive. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct entity e;
	size_t at = 1;

	if (size == 0)
		return 0;
	memset(&e, 0, sizeof(e));
	up(&e, data[0]);
	while (at + 1 < size) {
		uint8_t what = data[at], len = data[at + 1];

		at += 2;
		e.now_ns += (what & 0x0f) * AP_NS_PER_MS;
		if (what & 0x80)
			transmit(&e, len);
		if (what & 0x40) {
			len = (uint8_t)RTE_MIN(len, size - at);
			receive(&e, data + at, len);
			at += len;
		}
		rlc_rx_expire(&e.rx, &e.counts, e.now_ns);
		rlc_tx_slot(&e.tx, e.now_ns);
	}
	down(&e);
	return 0;
}
