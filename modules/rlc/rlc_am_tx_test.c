/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmitting AM entity, TS 38.322 §5.2.3.1 and §5.3. */
#include "modules/rlc/rlc_control.h"
#include "modules/rlc/rlc_test.h"

#define MS AP_NS_PER_MS
#define MAX 64

static struct rlc_tx tx;
static uint64_t drops[RLC_TX_DROPS];
static struct rlc_tx_pull_stats stats;
static struct rte_mbuf *pdus[MAX];
static uint32_t next_id, told, max_retx_told;

static void
on_delivered(void *arg, const uint8_t *sdu, uint32_t bytes)
{
	(void)arg;
	assert_int_equal(*sdu, (uint8_t)told++);
	assert_true(bytes > 0);
}

static void
on_max_retx(void *arg)
{
	(void)arg;
	max_retx_told++;
}

static void
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

static void
down(void)
{
	rlc_tx_fini(&tx);
	assert_no_leak();
}

static void
push(unsigned n, uint32_t len)
{
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = sdu_make(next_id++, len, 1);

		assert_int_equal(rlc_tx_push(&tx, &m, 1, 0, drops), 1);
	}
}

static unsigned
pull_at(uint32_t grant, uint64_t now_ns)
{
	return rlc_tx_pull(&tx, &grant, pdus, MAX, now_ns, &stats);
}

static unsigned
pull(uint32_t grant)
{
	return pull_at(grant, 0);
}

/** Header of pdus[i], whose `len` SDU bytes are those of SDU `id` from its SO on; then it is freed.
 */
static void
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

static void
discard(unsigned n)
{
	rte_pktmbuf_free_bulk(pdus, n);
}

/** A STATUS PDU comes from the peer, as rlc_rx hands it over. */
static void
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

static void
status(uint32_t ack_sn, const struct rlc_nack *nacks, unsigned n)
{
	status_at(ack_sn, nacks, n, 0);
}

static void
golden_headers(void **state)
{
	static const uint8_t first12[] = {0x80, 0x00, 'a', 'b', 'c'};
	static const uint8_t polled12[] = {0xc0, 0x01, 'a', 'b', 'c'};
	static const uint8_t polled18[] = {0xc0, 0x00, 0x00, 'a', 'b', 'c'};
	struct rte_mbuf *m[2];

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	m[0] = packet("abc", 3);
	m[1] = packet("abc", 3);
	assert_int_equal(rlc_tx_push(&tx, m, 2, 0, drops), 2);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 10);
	assert_int_equal(pull(100), 2);
	assert_packet(pdus[0], first12, 5);
	assert_packet(pdus[1], polled12, 5); /* nothing is left to send */
	discard(2);
	down();
	up(RLC_SN_18, (struct rlc_am_cfg){0});
	m[0] = packet("abc", 3);
	assert_int_equal(rlc_tx_push(&tx, m, 1, 0, drops), 1);
	assert_int_equal(pull(100), 1);
	assert_packet(pdus[0], polled18, 6);
	discard(1);
	down();
}

static void
poll_by_pdu_and_byte(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.pollPDU = 3});
	push(9, 10);
	assert_int_equal(pull(14 * 8), 8);
	for (unsigned i = 0; i < 8; i++)
		expect(i, &(struct rlc_amd){.sn = i, .p = i == 2 || i == 5}, i, 10);
	down();
	up(RLC_SN_12, (struct rlc_am_cfg){.pollByte = 25});
	push(9, 10);
	assert_int_equal(pull(14 * 8), 8);
	for (unsigned i = 0; i < 8; i++)
		expect(i, &(struct rlc_amd){.sn = i, .p = i == 2 || i == 5}, i, 10);
	assert_int_equal(tx.am->PDU_WITHOUT_POLL, 2);
	assert_int_equal(tx.am->BYTE_WITHOUT_POLL, 20);
	assert_int_equal(tx.am->POLL_SN, 5);
	down();
}

static void
segments_at_every_grant(void **state)
{
	(void)state;
	for (uint32_t grant = 3; grant < 60; grant++) {
		uint32_t so = 0;

		up(RLC_SN_12, (struct rlc_am_cfg){0});
		push(1, 40);
		while (so < 40) {
			struct rlc_amd h = {.sn = 0, .so = (uint16_t)so};
			uint32_t header = so ? 4 : 2, n;

			if (rlc_mac_fitting(grant) <= header) {
				assert_int_equal(pull(grant), 0);
				break;
			}
			n = RTE_MIN(rlc_mac_fitting(grant) - header, 40 - so);
			h.si = so ? (so + n == 40 ? RLC_SI_LAST : RLC_SI_MIDDLE)
				  : (n == 40 ? RLC_SI_COMPLETE : RLC_SI_FIRST);
			h.p = so + n == 40;
			assert_int_equal(pull(grant), 1);
			expect(0, &h, 0, n);
			so += n;
		}
		down();
	}
}

static void
resegments_at_every_grant(void **state)
{
	static const struct rlc_nack all = {.sn = 0, .range = 1};

	(void)state;
	for (uint32_t grant = 7; grant < 60; grant++) {
		uint32_t so = 0;

		up(RLC_SN_12, (struct rlc_am_cfg){0});
		push(2, 40);
		assert_int_equal(pull(1000), 2);
		discard(2);
		status(2, &all, 1);
		assert_int_equal(rlc_tx_bytes_waiting(&tx), 42);
		while (so < 40) {
			struct rlc_amd h = {.sn = 0, .so = (uint16_t)so};
			uint32_t n = RTE_MIN(rlc_mac_fitting(grant) - (so ? 4 : 2), 40 - so);

			h.si = so ? (so + n == 40 ? RLC_SI_LAST : RLC_SI_MIDDLE)
				  : (n == 40 ? RLC_SI_COMPLETE : RLC_SI_FIRST);
			h.p = so + n == 40;
			assert_int_equal(pull(grant), 1);
			expect(0, &h, 0, n);
			so += n;
		}
		assert_int_equal(tx.am->counters.retx_bytes, 40);
		assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
		status(2, NULL, 0);
		assert_int_equal(rlc_tx_held(&tx), 0);
		down();
	}
}

static void
only_what_is_missing_is_sent_again(void **state)
{
	static const struct rlc_nack nacks[] = {
		{.sn = 0, .has_so = true, .so_start = 5, .so_end = 8, .range = 1},
		{.sn = 0, .has_so = true, .so_start = 30, .so_end = RLC_STATUS_SO_END, .range = 1},
		{.sn = 2, .has_so = true, .so_start = 35, .so_end = 2, .range = 3},
	};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(6, 40);
	assert_int_equal(pull(1000), 6);
	discard(6);
	status(6, nacks, 3);
	assert_int_equal(tx.am->TX_Next_Ack, 0);
	assert_int_equal(rlc_tx_held(&tx), 4); /* 1 and 5 were received */
	assert_int_equal(pull(1000), 5);
	expect(0, &(struct rlc_amd){.sn = 0, .si = RLC_SI_MIDDLE, .so = 5}, 0, 4);
	expect(1, &(struct rlc_amd){.sn = 0, .si = RLC_SI_LAST, .so = 30}, 0, 10);
	expect(2, &(struct rlc_amd){.sn = 2, .si = RLC_SI_LAST, .so = 35}, 2, 5);
	expect(3, &(struct rlc_amd){.sn = 3, .si = RLC_SI_COMPLETE}, 3, 40);
	expect(4, &(struct rlc_amd){.sn = 4, .si = RLC_SI_FIRST, .p = true}, 4, 3);
	assert_int_equal(tx.am->counters.retx, 5);
	status(6, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	assert_int_equal(tx.am->TX_Next_Ack, 6);
	down();
}

/* The buffer of an SDU still under way is not touched; one that is back goes out itself. */
static void
buffers_under_way_are_left_alone(void **state)
{
	static const struct rlc_nack all = {.sn = 0, .range = 1};
	struct rte_mbuf *flying;

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(1, 40);
	assert_int_equal(pull(1000), 1);
	flying = pdus[0];
	assert_int_equal(rte_mbuf_refcnt_read(flying), 2);
	rte_pktmbuf_prepend(flying, 3); /* MAC */
	status(1, &all, 1);
	assert_int_equal(pull(1000), 1);
	assert_true(pdus[0] != flying && pdus[0]->nb_segs == 2);
	expect(0, &(struct rlc_amd){.sn = 0, .p = true}, 0, 40);
	assert_int_equal(flying->pkt_len, 45);
	rte_pktmbuf_free(flying);
	status(1, &all, 1);
	assert_int_equal(pull(1000), 1);
	assert_true(pdus[0] == flying && pdus[0]->nb_segs == 1);
	assert_true(ap_meta(flying)->flags & AP_M_RETAINED);
	expect(0, &(struct rlc_amd){.sn = 0, .p = true}, 0, 40);
	/* Acknowledged while under way: freed when it lands. */
	status(1, &all, 1);
	assert_int_equal(pull(1000), 1);
	status(1, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	assert_int_equal(rte_mbuf_refcnt_read(flying), 1);
	rte_pktmbuf_free(flying);
	down();
}

static void
shared_and_chained_sdus(void **state)
{
	static const struct rlc_nack all = {.sn = 0, .range = 2};
	struct rte_mbuf *m[2], *direct;

	(void)state;
	up(RLC_SN_18, (struct rlc_am_cfg){0});
	direct = sdu_make(0, 40, 1);
	m[0] = rte_pktmbuf_clone(direct, pools.ind);
	*ap_meta(m[0]) = (struct ap_meta){0};
	m[1] = sdu_make(1, 40, 3);
	assert_int_equal(rlc_tx_push(&tx, m, 2, 0, drops), 2);
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(pull(1000), 2);
		expect(0, &(struct rlc_amd){.sn = 0}, 0, 40);
		expect(1, &(struct rlc_amd){.sn = 1, .p = true}, 1, 40);
		status(2, &all, round == 0);
	}
	assert_int_equal(rlc_tx_held(&tx), 0);
	rte_pktmbuf_free(direct);
	down();
}

static void
full_window_stalls_and_polls(void **state)
{
	static const struct rlc_nack first = {.sn = 0, .range = 1};
	unsigned sent = 0, n;

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(RLC_AM_WINDOW_12 + 3, 4);
	while ((n = pull(100)) > 0) {
		struct rlc_amd h;

		assert_true(rlc_amd_decode(rte_pktmbuf_mtod(pdus[n - 1], uint8_t *), 6, RLC_SN_12,
					   &h) > 0);
		sent += n;
		assert_int_equal(h.p, sent == RLC_AM_WINDOW_12);
		discard(n);
	}
	assert_int_equal(sent, RLC_AM_WINDOW_12);
	assert_true(rlc_tx_bytes_waiting(&tx) > 0);
	/* All but the first are received: the window stays where it is, and a poll is sent. */
	status(RLC_AM_WINDOW_12, &first, 1);
	assert_int_equal(rlc_tx_held(&tx), 1 + 3);
	assert_int_equal(pull(1000), 1);
	expect(0, &(struct rlc_amd){.sn = 0, .p = true}, 0, 4);
	status(RLC_AM_WINDOW_12, NULL, 0);
	assert_int_equal(pull(1000), 3);
	expect(0, &(struct rlc_amd){.sn = 2048}, 2048, 4);
	expect(1, &(struct rlc_amd){.sn = 2049}, 2049, 4);
	expect(2, &(struct rlc_amd){.sn = 2050, .p = true}, 2050, 4);
	down();
}

static void
sn_wraps(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.upper = {.delivered = on_delivered}});
	for (unsigned i = 0; i < 3 * 4096 / 32; i++) {
		push(32, 4);
		assert_int_equal(pull(10000), 32);
		discard(32);
		status(next_id & 4095, NULL, 0);
		assert_int_equal(rlc_tx_held(&tx), 0);
	}
	assert_int_equal(told, 3 * 4096);
	assert_int_equal(rlc_tx_room(&tx, next_id), 4096);
	down();
}

static void
t_poll_retransmit(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.t_PollRetransmit_ms = 10});
	push(3, 4);
	assert_int_equal(pull_at(1000, 1 * MS), 3);
	discard(3);
	rlc_tx_slot(&tx, 10 * MS);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
	rlc_tx_slot(&tx, 11 * MS);
	assert_true(rlc_tx_bytes_waiting(&tx) > 0); /* an idle bearer asks for a grant */
	assert_int_equal(pull_at(1000, 11 * MS), 1);
	expect(0, &(struct rlc_amd){.sn = 2, .p = true}, 2, 4);
	/* An acknowledgement of POLL_SN stops it, one of others does not. */
	status_at(2, NULL, 0, 12 * MS);
	assert_true(tx.am->poll_deadline_ns == 21 * MS);
	status_at(3, NULL, 0, 13 * MS);
	assert_int_equal(tx.am->poll_deadline_ns, 0);
	rlc_tx_slot(&tx, 500 * MS);
	assert_int_equal(tx.am->counters.poll_timeouts, 1);
	down();
}

static void
retx_count_once_a_status(void **state)
{
	static const struct rlc_nack parts[] = {
		{.sn = 0, .has_so = true, .so_start = 0, .so_end = 3, .range = 1},
		{.sn = 0, .has_so = true, .so_start = 10, .so_end = 13, .range = 1},
	};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.maxRetxThreshold = 2});
	push(1, 40);
	assert_int_equal(pull(1000), 1);
	discard(1);
	for (unsigned i = 0; i < 3; i++) {
		status(1, parts, 2);
		assert_int_equal(tx.am->sdus[0].RETX_COUNT, i);
		status(1, parts, 2); /* waits already */
		assert_int_equal(tx.am->sdus[0].RETX_COUNT, i);
		assert_int_equal(max_retx_told, i == 2);
		assert_int_equal(pull(1000), 2);
		discard(2);
	}
	assert_true(tx.am->max_retx);
	assert_int_equal(tx.am->counters.max_retx, 1);
	status(1, parts, 2); /* the bearer goes on */
	assert_int_equal(pull(1000), 2);
	discard(2);
	status(1, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	down();
}

static void
impossible_status_pdus(void **state)
{
	static const struct rlc_nack above = {.sn = 3, .range = 1};
	static const struct rlc_nack reaches_above = {.sn = 1, .range = 3};
	static const struct rlc_nack descending[] = {{.sn = 2, .range = 1}, {.sn = 1, .range = 1}};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(4, 4);
	assert_int_equal(pull(8 * 3), 3);
	discard(3);
	status(4, NULL, 0); /* SN 3 was never sent */
	status(3, &above, 1);
	status(3, &reaches_above, 1);
	status(3, descending, 2);
	assert_int_equal(tx.am->counters.status_refused, 4);
	assert_int_equal(rlc_tx_held(&tx), 4);
	status(2, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 2);
	status(1, NULL, 0); /* overtaken by the one before */
	assert_int_equal(tx.am->counters.status_old, 1);
	assert_int_equal(tx.am->counters.status_refused, 4);
	down();
}

/* Only a part of SN 1 was sent: nobody can have received it. */
static void
ack_of_an_sdu_in_hand(void **state)
{
	static const struct rlc_nack rest = {
		.sn = 1, .has_so = true, .so_start = 4, .so_end = RLC_STATUS_SO_END, .range = 1};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(2, 40);
	assert_int_equal(pull(44 + 14), 2);
	discard(2);
	assert_int_equal(tx.am->left, 30);
	status(2, NULL, 0);
	assert_int_equal(tx.am->TX_Next_Ack, 1);
	assert_int_equal(rlc_tx_held(&tx), 1);
	status(2, &rest, 1); /* bytes 4 to 9 were sent, the others come first-hand */
	assert_int_equal(tx.am->pending_bytes, 6);
	assert_int_equal(pull(1000), 2);
	expect(0, &(struct rlc_amd){.sn = 1, .si = RLC_SI_MIDDLE, .so = 4}, 1, 6);
	expect(1, &(struct rlc_amd){.sn = 1, .si = RLC_SI_LAST, .so = 10, .p = true}, 1, 30);
	status(2, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	down();
}

/* A report for the peer, as rlc_rx makes one. */
static void
want_status(uint32_t ack_sn, const struct rlc_nack *nacks, uint32_t n)
{
	struct rlc_am_link *l = rlc_tx_am_link(&tx);
	struct rlc_am_report *r = rlc_am_link_draft(l);

	r->ACK_SN = ack_sn;
	r->nb = n;
	r->bytes = 3 + 4 * n;
	for (uint32_t i = 0; i < n; i++)
		r->nacks[i] = nacks[i];
	rlc_am_link_publish(l, true);
}

static void
status_first_then_retransmissions(void **state)
{
	static const struct rlc_nack nack = {.sn = 0, .range = 1};
	static const uint8_t ack_only[] = {0x00, 0x09, 0x00};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.t_StatusProhibit_ms = 20});
	push(2, 4);
	assert_int_equal(pull(1000), 2);
	discard(2);
	status(2, &nack, 1);
	push(1, 4);
	want_status(8, NULL, 0);
	want_status(9, NULL, 0); /* replaces it */
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 3 + 6 + 6);
	assert_int_equal(pull(1000), 3);
	assert_packet(pdus[0], ack_only, 3);
	rte_pktmbuf_free(pdus[0]);
	expect(1, &(struct rlc_amd){.sn = 0}, 0, 4);
	expect(2, &(struct rlc_amd){.sn = 2, .p = true}, 2, 4);
	want_status(10, NULL, 0);
	assert_int_equal(pull_at(1000, 19 * MS), 0);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
	rlc_tx_slot(&tx, 20 * MS);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 3);
	assert_int_equal(pull_at(5, 20 * MS), 1);
	discard(1);
	assert_int_equal(tx.am->counters.status_sent, 2);
	down();
}

static void
status_is_trimmed_to_the_grant(void **state)
{
	struct rlc_nack nacks[40];

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		nacks[i] = (struct rlc_nack){.sn = 2 * i, .range = 1};
	for (uint32_t grant = 3; grant < 100; grant++) {
		const uint32_t fits = RTE_MIN((grant - 2 - 3) / 2, 40U);
		struct rlc_status_iter it;
		struct rlc_nack nack;
		uint32_t n = 0;

		up(RLC_SN_12, (struct rlc_am_cfg){0});
		want_status(100, nacks, 40);
		if (grant < 5) {
			assert_int_equal(pull(grant), 0);
			down();
			continue;
		}
		assert_int_equal(pull(grant), 1);
		assert_true(rlc_status_open(&it, rte_pktmbuf_mtod(pdus[0], uint8_t *),
					    pdus[0]->data_len, RLC_SN_12) > 0);
		while (rlc_status_next(&it, &nack) > 0)
			assert_int_equal(nack.sn, 2 * n++);
		assert_int_equal(n, fits);
		assert_int_equal(it.ack_sn, fits < 40 ? 2 * fits : 100);
		assert_int_equal(tx.am->counters.status_trimmed, fits < 40);
		discard(1);
		down();
	}
}

static void
discard_leaves_no_gap(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(2, 4);
	assert_int_equal(pull(8), 1);
	discard(1);
	assert_int_equal(rlc_tx_slot(&tx, 600 * MS), 1);
	push(1, 4);
	assert_int_equal(rlc_tx_slot(&tx, 0), 0);
	assert_int_equal(pull(100), 1);
	expect(0, &(struct rlc_amd){.sn = 1, .p = true}, 2, 4);
	/* What was sent is kept, however old it gets. */
	assert_int_equal(rlc_tx_held(&tx), 2);
	down();
}

static struct rte_mbuf *taken[8];
static unsigned nb_taken;

static void
take(void *arg, struct rte_mbuf *m, uint32_t enter_us)
{
	(void)arg;
	(void)enter_us;
	taken[nb_taken++] = m;
}

static void
reestablishment_hands_back_what_is_unconfirmed(void **state)
{
	static const uint32_t ids[] = {0, 2, 3, 4};
	static const struct rlc_nack first = {.sn = 0, .range = 1};
	struct rte_mbuf *flying;

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(5, 40);
	assert_int_equal(pull(44 * 3 + 20), 4);
	flying = pdus[0];
	rte_pktmbuf_free_bulk(pdus + 1, 3);
	status(2, &first, 1);
	nb_taken = 0;
	assert_int_equal(rlc_tx_take_unconfirmed(&tx, take, NULL), 4);
	assert_int_equal(nb_taken, 4);
	for (unsigned i = 0; i < 4; i++) {
		static uint8_t buf[65536];

		assert_int_equal(flatten(taken[i], buf), 40);
		for (unsigned k = 0; k < 40; k++)
			assert_int_equal(buf[k], sdu_byte(ids[i], k));
		assert_true(taken[i] != flying);
		assert_int_equal(rte_mbuf_refcnt_read(taken[i]), 1);
		rte_pktmbuf_free(taken[i]);
	}
	rte_pktmbuf_free(flying);
	assert_int_equal(rlc_tx_held(&tx), 0);
	assert_int_equal(tx.am->TX_Next, 0);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
	down();
}

static void
impossible_configurations(void **state)
{
	struct rlc_tx_cfg cfg = {.mode = RLC_AM,
				 .sn_FieldLength = RLC_SN_6,
				 .queue_sdus = 16,
				 .pools = &pools,
				 .am = {.t_PollRetransmit_ms = 10, .maxRetxThreshold = 4}};

	(void)state;
	assert_int_equal(rlc_tx_init(&tx, &cfg), -EINVAL);
	cfg.sn_FieldLength = RLC_SN_12;
	cfg.am.maxRetxThreshold = 33;
	assert_int_equal(rlc_tx_init(&tx, &cfg), -EINVAL);
	cfg.am.maxRetxThreshold = 4;
	cfg.am.t_PollRetransmit_ms = 0;
	assert_int_equal(rlc_tx_init(&tx, &cfg), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_headers),
		cmocka_unit_test(poll_by_pdu_and_byte),
		cmocka_unit_test(segments_at_every_grant),
		cmocka_unit_test(resegments_at_every_grant),
		cmocka_unit_test(only_what_is_missing_is_sent_again),
		cmocka_unit_test(buffers_under_way_are_left_alone),
		cmocka_unit_test(shared_and_chained_sdus),
		cmocka_unit_test(full_window_stalls_and_polls),
		cmocka_unit_test(sn_wraps),

		cmocka_unit_test(t_poll_retransmit),
		cmocka_unit_test(retx_count_once_a_status),
		cmocka_unit_test(impossible_status_pdus),
		cmocka_unit_test(ack_of_an_sdu_in_hand),
		cmocka_unit_test(status_first_then_retransmissions),
		cmocka_unit_test(status_is_trimmed_to_the_grant),
		cmocka_unit_test(discard_leaves_no_gap),
		cmocka_unit_test(reestablishment_hands_back_what_is_unconfirmed),
		cmocka_unit_test(impossible_configurations),
	};

	return cmocka_run_group_tests_name("rlc_am_tx", tests, rlc_test_setup, NULL);
}
