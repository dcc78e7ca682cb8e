/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_memcpy.h>
#include <rte_pause.h>
#include <rte_prefetch.h>

#include "bench/move.h"

#define BUFFERS 128 /**< in a set: what two cores of a loopback have in flight */
#define SETS 2      /**< one with each core */
#define AHEAD 2     /**< buffers fetched ahead of the copy, as the copier does */
#define STRIDE_PAD 320
#define TURNS 8 /**< exchanges of sets in a window */

struct mover {
	enum move_kind kind;
	uint32_t bytes;
	uint8_t *memory;
	uint8_t *from[SETS][BUFFERS];
	uint8_t *to[SETS][BUFFERS];
	_Atomic uint64_t mine __rte_cache_aligned;  /**< turns finished by the calling core */
	_Atomic uint64_t other __rte_cache_aligned; /**< by the other one */
	_Atomic bool stop;
};

/** In an order that no prefetcher of the hardware foresees, as mbufs of a pool are. */
static void
buffers_place(struct mover *m)
{
	const uint32_t stride = RTE_ALIGN(m->bytes, RTE_CACHE_LINE_SIZE) + STRIDE_PAD;
	const unsigned nb = 2 * SETS * BUFFERS;
	uint32_t at = 0;

	for (unsigned i = 0; i < nb; i++) {
		uint8_t *p = m->memory + (size_t)at * stride;

		/* 37 and the power of two have no common divisor: every place is taken once. */
		at = (at + 37) % nb;
		if (i % 2 == 0)
			m->from[i / 2 / BUFFERS][i / 2 % BUFFERS] = p;
		else
			m->to[i / 2 / BUFFERS][i / 2 % BUFFERS] = p;
	}
}

static void
wait_for(const struct mover *m, const _Atomic uint64_t *turn, uint64_t value)
{
	while (atomic_load_explicit(turn, memory_order_acquire) < value &&
	       !atomic_load_explicit(&m->stop, memory_order_relaxed))
		rte_pause();
}

static void
other_turn(const struct mover *m, unsigned set, uint64_t turn)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < BUFFERS; i++) {
		if (m->kind == MOVE_READ || m->kind == MOVE_READ_WRITE)
			memset(m->from[set][i], (int)(turn + i), m->bytes);
		if (m->kind != MOVE_WRITE && m->kind != MOVE_READ_WRITE)
			continue;
		for (uint32_t at = 0; at < m->bytes; at += RTE_CACHE_LINE_SIZE)
			sum += m->to[set][i][at];
	}
	__asm__ volatile("" : : "r"(sum));
}

static int
other_main(void *arg)
{
	struct mover *m = arg;

	for (uint64_t turn = 0; !atomic_load_explicit(&m->stop, memory_order_relaxed); turn++) {
		other_turn(m, (turn + 1) % SETS, turn);
		atomic_store_explicit(&m->other, turn + 1, memory_order_release);
		wait_for(m, &m->mine, turn + 1);
	}
	return 0;
}

static void
my_turn(const struct mover *m, unsigned set)
{
	for (unsigned i = 0; i < BUFFERS; i++) {
		for (uint32_t at = 0; at < m->bytes && i + AHEAD < BUFFERS;
		     at += RTE_CACHE_LINE_SIZE) {
			rte_prefetch1(m->from[set][i + AHEAD] + at);
			rte_prefetch0_write(m->to[set][i + AHEAD] + at);
		}
		rte_memcpy(m->to[set][i], m->from[set][i], m->bytes);
	}
}

/** The waits for the other core are not this core's cost: only turns are timed. */
static void
window(struct mover *m, struct harness_window *w, uint64_t *turn)
{
	uint64_t cycles = 0;
	long before = harness_switches();

	w->frame_before = harness_frame();
	for (unsigned i = 0; i < TURNS; i++, (*turn)++) {
		uint64_t start = rte_rdtsc_precise();

		my_turn(m, *turn % SETS);
		cycles += rte_rdtsc_precise() - start;
		atomic_store_explicit(&m->mine, *turn + 1, memory_order_release);
		wait_for(m, &m->other, *turn + 1);
	}
	w->frame_after = harness_frame();
	w->value = (double)cycles / TURNS / BUFFERS;
	w->preempted = harness_switches() != before;
}

struct harness_result
move_measure(enum move_kind kind, uint32_t bytes, double seconds, unsigned lcore)
{
	const size_t room = RTE_ALIGN(bytes, RTE_CACHE_LINE_SIZE) + STRIDE_PAD;
	static struct harness_window w[HARNESS_WINDOWS_MAX];
	struct mover m = {.kind = kind, .bytes = bytes};
	uint64_t clean = harness_frame_least(20), turn = 0, end;
	unsigned n = 0;

	m.memory = rte_zmalloc("bench_move", room * 2 * SETS * BUFFERS, RTE_CACHE_LINE_SIZE);
	if (m.memory == NULL)
		return (struct harness_result){0};
	buffers_place(&m);
	if (rte_eal_remote_launch(other_main, &m, lcore) != 0) {
		rte_free(m.memory);
		return (struct harness_result){0};
	}
	end = rte_rdtsc() + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	while (n < HARNESS_WINDOWS_MAX && (n < 6 || rte_rdtsc() < end))
		window(&m, &w[n++], &turn);
	atomic_store_explicit(&m.stop, true, memory_order_relaxed);
	rte_eal_wait_lcore(lcore);
	rte_free(m.memory);
	harness_classify(w + 1, n - 1, clean);
	return harness_summary(w + 1, n - 1);
}
