/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_RLC_AM_TX_RIG_H
#define AIRPATH_RLC_AM_TX_RIG_H

/** A transmitting AM entity, SDUs for it, and STATUS PDUs of its peer. */

#include "modules/rlc/rlc_control.h"
#include "modules/rlc/rlc_test.h"

#define MS AP_NS_PER_MS
#define MAX 64

static struct rlc_tx tx;
static uint64_t drops[RLC_TX_DROPS];
static struct rlc_tx_pull_stats stats;
static struct rte_mbuf *pdus[MAX];
static uint32_t next_id, told, max_retx_told;

static inline void
on_max_retx(void *arg)
{
	(void)arg;
	max_retx_told++;
}

static inline void
up(enum rlc_sn_len bits, struct rlc_am_cfg am)
{
	struct rlc_tx_cfg cfg = {.mode = RLC_AM,
				 .sn_FieldLength = bits,
				 .queue_sdus = 4096,
				 .discard_ms = 500,
				 .bearer = 3,
				 .lcid = 7,
				 .pools = &pools,
				 .am = am};

	if (cfg.am.t_PollRetransmit_ms == 0)
		cfg.am.t_PollRetransmit_ms = 45;
	if (cfg.am.maxRetxThreshold == 0)
		cfg.am.maxRetxThreshold = 4;
	cfg.am.upper.max_retx = on_max_retx;
	memset(&stats, 0, sizeof(stats));
	next_id = told = max_retx_told = 0;
	assert_int_equal(rlc_tx_init(&tx, &cfg), 0);
}

static inline void
down(void)
{
	rlc_tx_fini(&tx);
	assert_no_leak();
}

static inline void
push(unsigned n, uint32_t len)
{
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = sdu_make(next_id++, len, 1);

		assert_int_equal(rlc_tx_push(&tx, &m, 1, 0, drops), 1);
	}
}

static inline unsigned
pull_at(uint32_t grant, uint64_t now_ns)
{
	return rlc_tx_pull(&tx, &grant, pdus, MAX, now_ns, &stats);
}

static inline unsigned
pull(uint32_t grant)
{
	return pull_at(grant, 0);
}

/** Header of pdus[i], whose `len` SDU bytes are those of SDU `id` from its SO on; then it is freed.
 */
static inline void
expect(unsigned i, const struct rlc_amd *want, uint32_t id, uint32_t len)
{
	static uint8_t buf[65536];
	uint32_t bytes = flatten(pdus[i], buf);
	struct rlc_amd h;
	int header = rlc_amd_decode(buf, bytes, tx.bits, &h);

	assert_true(header > 0);
	assert_int_equal(h.sn, want->sn);
	assert_int_equal(h.si, want->si);
	assert_int_equal(h.so, want->so);
	assert_int_equal(h.p, want->p);
	assert_int_equal(bytes - (uint32_t)header, len);
	for (uint32_t k = 0; k < len; k++)
		assert_int_equal(buf[(uint32_t)header + k], sdu_byte(id, h.so + k));
	assert_int_equal(ap_meta(pdus[i])->lcid, 7);
	assert_int_equal(ap_meta(pdus[i])->bearer, 3);
	rte_pktmbuf_free(pdus[i]);
}

static inline void
discard(unsigned n)
{
	rte_pktmbuf_free_bulk(pdus, n);
}

/** A STATUS PDU comes from the peer, as rlc_rx hands it over. */
static inline void
status_at(uint32_t ack_sn, const struct rlc_nack *nacks, unsigned n, uint64_t now_ns)
{
	uint8_t buf[2000];
	struct rlc_status_builder b;
	struct ap_queue_entry x;

	assert_int_equal(rlc_status_start(&b, buf, sizeof(buf), tx.bits), 0);
	for (unsigned i = 0; i < n; i++)
		assert_true(rlc_status_add(&b, &nacks[i]));
	x.bytes = (uint32_t)rlc_status_finish(&b, ack_sn);
	x.m = packet(buf, (uint16_t)x.bytes);
	assert_int_equal(ap_queue_push(&rlc_tx_am_link(&tx)->status, &x, 1), 1);
	rlc_tx_slot(&tx, now_ns);
}

static inline void
status(uint32_t ack_sn, const struct rlc_nack *nacks, unsigned n)
{
	status_at(ack_sn, nacks, n, 0);
}

#endif
