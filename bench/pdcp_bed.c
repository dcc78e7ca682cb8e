/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench/pdcp_bed.h"
#include "core/meta.h"

#define WINDOW_US 200
#define ROOM 9216
#define MAC_RLC_HEADERS 5 /* B, before each PDU in a TB */

static uint8_t
pattern(unsigned sdu, unsigned i)
{
	return (uint8_t)(sdu * 29 + i * 13 + i / 256);
}

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	struct pdcp_bed *b = arg;

	memcpy(b->delivered + b->nb_delivered, sdus, nb * sizeof(*sdus));
	b->nb_delivered += nb;
}

/** The SDUs as they were, and both entities at COUNT 0. */
static void
reset(struct pdcp_bed *b)
{
	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++) {
		struct rte_mbuf *m = b->sdus[i];

		m->data_off = RTE_PKTMBUF_HEADROOM;
		m->data_len = (uint16_t)b->bytes;
		m->pkt_len = b->bytes;
	}
	b->tx.TX_NEXT = 0;
	b->rx.RX_NEXT = b->rx.RX_DELIV = 0;
	b->nb_delivered = 0;
}

static uint64_t
tx_run(struct pdcp_bed *b)
{
	struct rte_mbuf *pkts[PDCP_LIBRARY_MESSAGES];
	uint64_t drops[PDCP_TX_DROPS] = {0}, start;

	memcpy(pkts, b->sdus, sizeof(pkts));
	start = rte_rdtsc_precise();
	for (unsigned at = 0; at < PDCP_LIBRARY_MESSAGES; at += b->batch) {
		uint16_t n = pdcp_tx_pre_process(&b->tx, pkts + at, (uint16_t)b->batch, drops);

		if (b->tx.sec.crypto == NULL)
			continue;
		for (uint16_t i = 0; i < n; i++)
			pdcp_batch_add(&b->secured, pkts[at + i], &b->tx, &b->tx.sec, at + i);
		if (pdcp_tx_protect(&b->secured, b->out, drops) != b->batch)
			b->wrong = true;
	}
	return rte_rdtsc_precise() - start;
}

static uint64_t
rx_run(struct pdcp_bed *b, struct rte_mbuf **pdus)
{
	uint64_t drops[PDCP_RX_DROPS] = {0}, used = 0, start;
	struct pdcp_rx_sink sink = {.deliver = deliver, .arg = b, .drops = drops, .used = &used};
	uint32_t count;

	start = rte_rdtsc_precise();
	for (unsigned at = 0; at < PDCP_LIBRARY_MESSAGES; at += b->batch) {
		if (b->rx.sec.crypto == NULL) {
			pdcp_rx_receive(&b->rx, pdus + at, (uint16_t)b->batch, 0, &sink);
			continue;
		}
		for (unsigned i = at; i < at + b->batch; i++)
			if (pdcp_rx_pre_process(&b->rx, pdus[i], &count, &sink))
				pdcp_batch_add(&b->secured, pdus[i], &b->rx, &b->rx.sec, count);
		pdcp_rx_verify(&b->secured, 0, &sink);
	}
	return rte_rdtsc_precise() - start;
}

/** The first and last bytes of each SDU, that timing does not chase through caches. */
static void
check(struct pdcp_bed *b)
{
	if (b->nb_delivered != PDCP_LIBRARY_MESSAGES) {
		b->wrong = true;
		return;
	}
	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(b->delivered[i], const uint8_t *);
		const unsigned last = b->bytes - 1;

		b->wrong |= b->delivered[i]->pkt_len != b->bytes || p[0] != pattern(i, 0) ||
			    p[last] != pattern(i, last);
	}
}

static uint64_t
rx_own(struct pdcp_bed *b)
{
	struct rte_mbuf *pdus[PDCP_LIBRARY_MESSAGES];
	uint64_t cycles;

	memcpy(pdus, b->sdus, sizeof(pdus));
	cycles = rx_run(b, pdus);
	check(b);
	return cycles;
}

/** Copies the PDUs into TBs one after the other; `pdus` become indirect mbufs into them. */
static void
tbs_fill(struct pdcp_bed *b, struct rte_mbuf **pdus)
{
	unsigned tb = 0, at = 0;

	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++) {
		const struct rte_mbuf *from = b->sdus[i];

		at += MAC_RLC_HEADERS;
		if (at + from->data_len > ROOM) {
			at = MAC_RLC_HEADERS;
			tb++;
		}
		rte_pktmbuf_attach(pdus[i], b->tbs[tb]);
		pdus[i]->data_off = (uint16_t)(RTE_PKTMBUF_HEADROOM + at);
		pdus[i]->data_len = from->data_len;
		pdus[i]->pkt_len = from->data_len;
		*ap_meta(pdus[i]) = (struct ap_meta){0};
		memcpy(rte_pktmbuf_mtod(pdus[i], void *), rte_pktmbuf_mtod(from, const void *),
		       from->data_len);
		at += from->data_len;
	}
}

/** PDUs lie in buffers that others share. */
static uint64_t
rx_tb(struct pdcp_bed *b)
{
	struct rte_mbuf *pdus[PDCP_LIBRARY_MESSAGES];
	uint64_t cycles;

	if (rte_pktmbuf_alloc_bulk(b->ind, pdus, PDCP_LIBRARY_MESSAGES) != 0) {
		b->wrong = true;
		return 0;
	}
	tbs_fill(b, pdus);
	cycles = rx_run(b, pdus);
	check(b);
	rte_pktmbuf_free_bulk(b->delivered, b->nb_delivered);
	return cycles;
}

void
pdcp_bed_window(struct pdcp_bed *b, unsigned n)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000000 * WINDOW_US;
	uint64_t sum[PDCP_BED_PARTS] = {0}, passes = 0, before = harness_frame(), after;
	long switches = harness_switches();

	do {
		reset(b);
		sum[PDCP_BED_TX] += tx_run(b);
		/* Leaves the PDUs as they are, for they are shared. */
		sum[PDCP_BED_RX_TB] += rx_tb(b);
		b->rx.RX_NEXT = b->rx.RX_DELIV = 0;
		b->nb_delivered = 0;
		sum[PDCP_BED_RX] += rx_own(b);
		if (b->library != NULL)
			sum[PDCP_BED_LIBRARY] += pdcp_library_run(b->library);
		passes++;
	} while (rte_rdtsc() < end);
	after = harness_frame();
	for (unsigned w = 0; w < PDCP_BED_PARTS; w++)
		b->windows[w][n] = (struct harness_window){
			.value = (double)sum[w] / (double)passes / PDCP_LIBRARY_MESSAGES,
			.frame_before = before,
			.frame_after = after,
			.preempted = harness_switches() != switches};
}

int
pdcp_bed_entities(struct pdcp_bed *b, const struct pdcp_security_cfg *sec)
{
	const struct pdcp_crypto *crypto = b->key ? pdcp_security_crypto(b->key) : NULL;
	const struct pdcp_tx_cfg tx = {.pdcp_SN_Size = 18,
				       .integrityProtection = sec->nia != PDCP_NIA0,
				       .rb_identity = 1,
				       .crypto = crypto,
				       .keys = b->key,
				       .hdr = b->hdr};
	const struct pdcp_rx_cfg rx = {.pdcp_SN_Size = 18,
				       .integrityProtection = sec->nia != PDCP_NIA0,
				       .rb_identity = 1,
				       .t_Reordering = 40,
				       .crypto = crypto,
				       .keys = b->key};
	int rc = pdcp_tx_init(&b->tx, &tx);

	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++)
		for (unsigned j = 0; j < b->bytes; j++)
			((uint8_t *)b->sdus[i]->buf_addr)[RTE_PKTMBUF_HEADROOM + j] = pattern(i, j);
	return rc < 0 ? rc : pdcp_rx_init(&b->rx, &rx);
}

int
pdcp_bed_make(struct pdcp_bed *b)
{
	b->pool = rte_pktmbuf_pool_create("bench_pdcp", 255, 0, 0, RTE_PKTMBUF_HEADROOM + ROOM, 0);
	b->fresh = rte_pktmbuf_pool_create("bench_pdcp_fresh", 1023, 256, 0,
					   RTE_PKTMBUF_HEADROOM + PDCP_SECURITY_ROOM, 0);
	b->ind = rte_pktmbuf_pool_create("bench_pdcp_ind", 1023, 256, 0, 0, 0);
	b->hdr = rte_pktmbuf_pool_create("bench_pdcp_hdr", 127, 0, 0, RTE_PKTMBUF_HEADROOM, 0);
	if (b->pool == NULL || b->fresh == NULL || b->ind == NULL || b->hdr == NULL)
		return -ENOMEM;
	if (rte_pktmbuf_alloc_bulk(b->pool, b->sdus, PDCP_LIBRARY_MESSAGES) != 0)
		return -ENOMEM;
	return rte_pktmbuf_alloc_bulk(b->pool, b->tbs, PDCP_LIBRARY_MESSAGES);
}

void
pdcp_bed_free(struct pdcp_bed *b)
{
	if (b->sdus[0] != NULL)
		rte_pktmbuf_free_bulk(b->sdus, PDCP_LIBRARY_MESSAGES);
	if (b->tbs[0] != NULL)
		rte_pktmbuf_free_bulk(b->tbs, PDCP_LIBRARY_MESSAGES);
	rte_mempool_free(b->pool);
	rte_mempool_free(b->fresh);
	rte_mempool_free(b->ind);
	rte_mempool_free(b->hdr);
}
