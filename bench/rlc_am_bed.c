/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_cycles.h>

#include "bench/rlc_am_bed.h"
#include "core/meta.h"

#define BURST 64
#define PULL 256 /* what mac_slot takes at once */
#define HEADER_MAX RLC_AMD_HEADER_MAX

/* --- what is timed ---------------------------------------------------------------------------- */

static void
timed(struct rlc_am_bed *b, enum rlc_am_bed_part part, uint64_t since)
{
	uint64_t cycles = rte_rdtsc_precise() - since;

	if (part == b->part || b->part == RLC_AM_BED_ALL)
		b->cycles += cycles - RTE_MIN(cycles, b->clock_cycles);
}

/* SDUs in and PDUs out, a burst after the other as they come. @return PDUs. */
static unsigned
transmit(struct rlc_am_bed *b)
{
	uint64_t start = rte_rdtsc_precise();
	unsigned n = 0;

	for (unsigned i = 0; i < RLC_AM_BED_BATCH; i += PULL) {
		uint32_t grant = UINT32_MAX / 2;

		for (unsigned k = i; k < i + PULL; k += BURST)
			rlc_tx_push(&b->tx, b->sdus + k, BURST, b->now_ns, b->tx_drops);
		n += rlc_tx_pull(&b->tx, &grant, b->pdus + n, PULL + 1, b->now_ns, &b->stats);
	}
	timed(b, RLC_AM_BED_TX, start);
	return n;
}

/* `n` PDUs become SDUs in place. @return how many. */
static unsigned
receive(struct rlc_am_bed *b, unsigned n)
{
	uint64_t start = rte_rdtsc_precise();
	unsigned k = 0;

	for (unsigned i = 0; i < n; i += BURST)
		k += rlc_rx_receive(&b->rx, b->air_pdus + i, RTE_MIN(n - i, BURST), b->air_pdus + k,
				    &b->counts, b->now_ns);
	timed(b, RLC_AM_BED_RX, start);
	return k;
}

/* --- what is not ------------------------------------------------------------------------------ */

static bool
make_sdus(struct rlc_am_bed *b)
{
	if (rte_pktmbuf_alloc_bulk(b->pools.proto, b->sdus, RLC_AM_BED_BATCH))
		return false;
	for (unsigned i = 0; i < RLC_AM_BED_BATCH; i++) {
		struct rte_mbuf *m = b->sdus[i];

		*ap_meta(m) = (struct ap_meta){0};
		m->data_len = (uint16_t)b->bytes;
		m->pkt_len = b->bytes;
		*rte_pktmbuf_mtod(m, uint32_t *) = i; /* PDCP has just written its header */
	}
	return true;
}

static uint32_t
rnd(struct rlc_am_bed *b)
{
	b->rnd = b->rnd * 1664525 + 1013904223;
	return b->rnd >> 8;
}

static void
swap(struct rte_mbuf **p, unsigned i, unsigned k)
{
	struct rte_mbuf *m = p[i];

	p[i] = p[k];
	p[k] = m;
}

static void
put_in_order(struct rlc_am_bed *b, struct rte_mbuf **p, unsigned n)
{
	for (unsigned i = 0; b->order == RLC_AM_BED_REVERSE && i < n / 2; i++)
		swap(p, i, n - 1 - i);
	if (b->order == RLC_AM_BED_SWAPPED_EDGES)
		swap(p, 0, n - 1);
	for (unsigned i = n - 1; b->order == RLC_AM_BED_RANDOM && i > 0; i--)
		swap(p, i, rnd(b) % (i + 1));
}

/* What the PHY does: data PDUs come in other buffers. STATUS PDUs are none of the batch's. */
static bool
carry(struct rlc_am_bed *b, unsigned n)
{
	if (n != RLC_AM_BED_BATCH || rte_pktmbuf_alloc_bulk(b->air, b->air_pdus, n))
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *from = b->pdus[i], *to = b->air_pdus[i];

		memcpy(rte_pktmbuf_mtod(to, void *), rte_pktmbuf_mtod(from, void *),
		       HEADER_MAX + sizeof(uint32_t));
		to->data_len = from->data_len;
		to->pkt_len = from->pkt_len;
		*ap_meta(to) = (struct ap_meta){0};
	}
	put_in_order(b, b->air_pdus, n);
	rte_pktmbuf_free_bulk(b->pdus, n);
	return true;
}

/* The STATUS PDU comes back and is acted on. @return whether it acknowledged everything. */
static bool
acknowledge(struct rlc_am_bed *b)
{
	struct rte_mbuf *m;
	uint32_t grant = UINT16_MAX;
	uint64_t start;

	start = rte_rdtsc_precise();
	if (rlc_tx_pull(&b->tx, &grant, &m, 1, b->now_ns, &b->stats) != 1)
		return false;
	rlc_rx_receive(&b->rx, &m, 1, &m, &b->counts, b->now_ns);
	rlc_tx_slot(&b->tx, b->now_ns);
	timed(b, RLC_AM_BED_STATUS, start);
	return rlc_tx_held(&b->tx) == 0;
}

bool
rlc_am_bed_batch(struct rlc_am_bed *b)
{
	uint64_t seen = 0;
	unsigned n;

	b->now_ns += 125000;
	if (!make_sdus(b) || !carry(b, transmit(b)))
		return false;
	n = receive(b, RLC_AM_BED_BATCH);
	for (unsigned i = 0; i < n; i++)
		seen += *rte_pktmbuf_mtod(b->air_pdus[i], uint32_t *);
	rte_pktmbuf_free_bulk(b->air_pdus, n);
	return n == RLC_AM_BED_BATCH &&
	       seen == (uint64_t)RLC_AM_BED_BATCH * (RLC_AM_BED_BATCH - 1) / 2 && acknowledge(b);
}

int
rlc_am_bed_entities(struct rlc_am_bed *b, enum rlc_sn_len bits)
{
	const struct rlc_tx_cfg tx = {
		.mode = RLC_AM,
		.sn_FieldLength = bits,
		.queue_sdus = 2 * RLC_AM_BED_BATCH,
		.lcid = 4,
		.pools = &b->pools,
		.am = {.t_PollRetransmit_ms = 10, .pollPDU = 64, .maxRetxThreshold = 32},
	};
	struct rlc_rx_cfg rx = {.mode = RLC_AM, .sn_FieldLength = bits, .t_Reassembly_ms = 5};
	int ret = rlc_tx_init(&b->tx, &tx);

	if (ret < 0)
		return ret;
	rx.am = rlc_tx_am_link(&b->tx);
	b->counts.drops = b->rx_drops;
	return rlc_rx_init(&b->rx, &rx);
}

static uint64_t
clock_cycles(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t start = rte_rdtsc_precise();

		least = RTE_MIN(least, rte_rdtsc_precise() - start);
	}
	return least;
}

bool
rlc_am_bed_make(struct rlc_am_bed *b)
{
	const uint16_t room = RTE_PKTMBUF_HEADROOM + RLC_AM_BED_ROOM;

	b->pools.proto = rte_pktmbuf_pool_create("bench_am_sdu", 8191, 256, 0, room, 0);
	b->air = rte_pktmbuf_pool_create("bench_am_air", 8191, 256, 0, room, 0);
	b->pools.hdr =
		rte_pktmbuf_pool_create("bench_am_hdr", 1023, 64, 0, RTE_PKTMBUF_HEADROOM + 128, 0);
	b->pools.ind = rte_pktmbuf_pool_create("bench_am_ind", 1023, 64, 0, 0, 0);
	b->clock_cycles = clock_cycles();
	return b->pools.proto && b->air && b->pools.hdr && b->pools.ind;
}

void
rlc_am_bed_free(struct rlc_am_bed *b)
{
	rte_mempool_free(b->pools.proto);
	rte_mempool_free(b->air);
	rte_mempool_free(b->pools.hdr);
	rte_mempool_free(b->pools.ind);
}
