/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PATH_RIG_H
#define AIRPATH_UPF_PATH_RIG_H

/** The fast path's three nodes behind each other, by a manual clock. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modules/upf/upf_path_test.h"

#define T0 (100 * AP_NS_PER_S)
#define MS AP_NS_PER_MS

static struct test_node *police, *charge, *forward;

static inline int
setup(void **state)
{
	path_setup(state);
	police = path_node("upf_police");
	charge = path_node("upf_charge");
	forward = path_node("upf_forward");
	bed.w.charger->wheel = forward->worker.wheel;
	ap_wheel_run(forward->worker.wheel, T0);
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	return 0;
}

static inline int
teardown(void **state)
{
	upf_buffer_gone(bed.w.buffer, &bed.s);
	upf_urr_leave(&bed.r.accounts, T0);
	test_node_balance(police);
	test_node_balance(charge);
	test_node_balance(forward);
	path_node_free(forward);
	path_node_free(charge);
	path_node_free(police);
	return path_teardown(state);
}

static inline uint64_t
dropped(const struct test_node *t, const char *reason)
{
	for (unsigned i = 0; i < t->n.type->nb_drops; i++)
		if (strcmp(t->n.type->drops[i], reason) == 0)
			return t->n.drops[i];
	fail_msg("%s has no drop %s", t->n.type->name, reason);
	return 0;
}

/* Through the three nodes. @return how many left, at *out until the next call */
static inline uint16_t
run(struct rte_mbuf **pkts, uint16_t nb, struct rte_mbuf ***out)
{
	test_node_visit(police, pkts, nb);
	nb = test_node_take(police, 0, out);
	test_node_visit(charge, *out, nb);
	nb = test_node_take(charge, 0, out);
	test_node_visit(forward, *out, nb);
	return test_node_take(forward, 0, out);
}

/* `n` packets of `bytes`, marked from `mark` on. @return how many left; they are freed */
static inline uint16_t
send(unsigned lane, uint16_t n, uint16_t bytes, uint8_t mark)
{
	struct rte_mbuf *m[32], **out;

	for (uint16_t i = 0; i < n; i++)
		m[i] = path_packet(lane, false, bytes, (uint8_t)(mark + i));
	n = run(m, n, &out);
	rte_pktmbuf_free_bulk(out, n);
	return n;
}

static inline void
clock_to(uint64_t ns)
{
	police->worker.now_ns = charge->worker.now_ns = ns;
	test_node_clock(forward, ns);
}

static inline uint64_t
counted(unsigned lane)
{
	struct upf_usage_report r[2];

	upf_urr_take(&bed.r.accounts, 0, UPF_TRIGGER_IMMER, forward->worker.now_ns, r);
	return r[0].bytes[lane & 1];
}

/* While no header can be had, for packets whose buffer others read. */
static struct rte_mbuf *headers[63], *shared[16];

static inline void
take_headers(uint16_t packets)
{
	assert_int_equal(rte_pktmbuf_alloc_bulk(bed.hdr, headers, RTE_DIM(headers)), 0);
	for (uint16_t i = 0; i < packets; i++) {
		shared[i] = path_packet(1, false, 100, 0);
		rte_mbuf_refcnt_update(shared[i], 1);
	}
}

static inline void
give_back(uint16_t packets)
{
	rte_pktmbuf_free_bulk(shared, packets);
	rte_pktmbuf_free_bulk(headers, RTE_DIM(headers));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
