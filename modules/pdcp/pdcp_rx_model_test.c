/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The receiving entity against a slow model of TS 38.323 §5.2.2, written with sets of
 * COUNTs and no table, under random loss, duplication, reordering and time.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"
#include "test_eal.h"

#define COUNTS 20000U /* the model's sets are arrays over these COUNTs */
#define T_NS (5 * AP_NS_PER_MS)

struct model {
	uint8_t stored[COUNTS], received[COUNTS];
	uint32_t sdu[COUNTS]; /* the sender's COUNT, another one when the window was left behind */
	int64_t RX_NEXT, RX_DELIV, RX_REORD, window, slots;
	bool ooo, running;
	uint64_t deadline;
	uint32_t out[4 * COUNTS];
	unsigned nb_out;
};

static struct rte_mempool *pool;
static struct model m;
static uint32_t out[4 * COUNTS];
static unsigned nb_out;
static uint64_t seed;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

static void
model_deliver(int64_t count)
{
	m.stored[count] = 0;
	if (!m.ooo)
		m.out[m.nb_out++] = m.sdu[count];
}

static void
model_timer(uint64_t now)
{
	if (m.running && m.RX_DELIV >= m.RX_REORD)
		m.running = false;
	if (!m.running && m.RX_DELIV < m.RX_NEXT) {
		m.RX_REORD = m.RX_NEXT;
		m.running = true;
		m.deadline = now + T_NS;
	}
}

static void
model_receive(uint32_t count, uint64_t now)
{
	int64_t c = count;

	/* Within half the SN space the sender's COUNT is the receiver's; else it is another. */
	while (c < m.RX_DELIV - m.window)
		c += 2 * m.window;
	while (c >= m.RX_DELIV + m.window)
		c -= 2 * m.window;
	if (c < m.RX_DELIV || m.received[c])
		return;
	/* Beyond the slots the SDU is lost, but the state knows that it came. */
	if (c < m.RX_DELIV + m.slots) {
		m.received[c] = m.stored[c] = 1;
		m.sdu[c] = count;
		if (m.ooo)
			m.out[m.nb_out++] = count;
	}
	if (c >= m.RX_NEXT)
		m.RX_NEXT = c + 1;
	while (m.stored[m.RX_DELIV])
		model_deliver(m.RX_DELIV++);
	model_timer(now);
}

static void
model_expire(uint64_t now)
{
	if (!m.running || now < m.deadline)
		return;
	for (int64_t c = m.RX_DELIV; c < m.RX_REORD; c++)
		if (m.stored[c])
			model_deliver(c);
	m.RX_DELIV = m.RX_REORD;
	while (m.stored[m.RX_DELIV])
		model_deliver(m.RX_DELIV++);
	m.running = false;
	model_timer(now);
}

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	(void)arg;
	for (uint16_t i = 0; i < nb; i++)
		rte_memcpy(&out[nb_out++], rte_pktmbuf_mtod(sdus[i], void *), sizeof(uint32_t));
	rte_pktmbuf_free_bulk(sdus, nb);
}

static struct rte_mbuf *
pdu(const struct pdcp_rx *e, uint32_t count)
{
	struct rte_mbuf *p = rte_pktmbuf_alloc(pool);

	assert_non_null(p);
	pdcp_hdr_put(e->format, (uint8_t *)rte_pktmbuf_append(p, pdcp_hdr_len(e->format)), count);
	memcpy(rte_pktmbuf_append(p, sizeof(count)), &count, sizeof(count));
	return p;
}

/** What the air makes of COUNT `next`: itself, an earlier or later one, or nothing. */
static uint32_t
impair(uint32_t *next)
{
	uint32_t kind = draw(100), far;

	if (kind < 3)
		*next += 1 + draw(3);
	if (kind < 85)
		return (*next)++;
	far = kind < 95 ? draw(12) : draw(300);
	return kind & 1 ? *next + far : *next - RTE_MIN(*next, far);
}

static void
run(uint8_t sn_size, uint32_t slots, bool ooo, uint64_t s)
{
	const struct pdcp_rx_cfg cfg = {.pdcp_SN_Size = sn_size,
					.t_Reordering = T_NS / AP_NS_PER_MS,
					.reorder_slots = slots,
					.outOfOrderDelivery = ooo,
					.rb_identity = 1};
	uint64_t drops[PDCP_RX_DROPS] = {0}, used = 0, now = 1, sent = 0;
	const struct pdcp_rx_sink sink = {.deliver = deliver, .drops = drops, .used = &used};
	struct pdcp_rx e;
	uint32_t next = 0;

	assert_int_equal(pdcp_rx_init(&e, &cfg), 0);
	m = (struct model){.window = 1LL << (sn_size - 1), .slots = slots, .ooo = ooo};
	seed = s;
	nb_out = 0;
	while (next < COUNTS - 1000) {
		struct rte_mbuf *v[16];
		uint16_t nb = (uint16_t)(1 + draw(16));
		uint16_t k;

		for (uint16_t i = 0; i < nb; i++) {
			uint32_t count = impair(&next);

			v[i] = pdu(&e, count);
			model_receive(count, now);
		}
		sent += nb;
		k = pdcp_rx_in_order(&e, v, nb);
		deliver(NULL, v, k);
		pdcp_rx_receive(&e, v + k, nb - k, now, &sink);
		now += draw(1000000);
		pdcp_rx_expire(&e, now, &sink);
		model_expire(now);
		assert_int_equal(e.RX_DELIV, m.RX_DELIV);
		assert_int_equal(e.RX_NEXT, m.RX_NEXT);
		assert_int_equal(e.running, m.running);
		assert_int_equal(nb_out, m.nb_out);
	}
	assert_memory_equal(out, m.out, nb_out * sizeof(*out));
	for (unsigned i = 0; i < PDCP_RX_DROPS; i++)
		sent -= drops[i];
	assert_int_equal(sent, nb_out + e.held);
	pdcp_rx_fini(&e);
	assert_pool_full(pool);
}

static void
agrees_with_the_model(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= 8; s++) {
		run(12, 2048, false, s);
		run(12, 64, false, s);
		run(18, 4096, false, s);
		run(12, 2048, true, s);
		run(18, 128, true, s);
	}
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("model", 8191, 64);
	return pool ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
