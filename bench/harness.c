/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/harness.h"

#define WINDOWS_MIN 5

uint64_t
harness_frame(void)
{
	uint64_t x = 1, start = rte_rdtsc_precise();

	for (unsigned i = 0; i < HARNESS_FRAME_ROUNDS; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		/* Kept as a chain of dependent instructions, whatever the optimizer knows. */
		__asm__ volatile("" : "+r"(x));
	}
	return rte_rdtsc_precise() - start;
}

uint64_t
harness_frame_least(unsigned runs)
{
	uint64_t least = UINT64_MAX, t;

	for (unsigned i = 0; i < runs; i++) {
		t = harness_frame();
		if (t < least)
			least = t;
	}
	return least;
}

bool
harness_frame_clean(uint64_t cycles)
{
	static _Atomic uint64_t least = UINT64_MAX;
	uint64_t seen = atomic_load_explicit(&least, memory_order_relaxed);

	if (seen == UINT64_MAX)
		seen = harness_frame_least(20);
	if (cycles < seen)
		seen = cycles;
	if (seen < atomic_load_explicit(&least, memory_order_relaxed))
		atomic_store_explicit(&least, seen, memory_order_relaxed);
	return (double)cycles <= (double)seen * HARNESS_TOLERANCE;
}

static uint64_t
slower_loop(const struct harness_window *w)
{
	return w->frame_before > w->frame_after ? w->frame_before : w->frame_after;
}

unsigned
harness_classify(struct harness_window *w, unsigned n, uint64_t frame_clean)
{
	unsigned clean = 0;

	for (unsigned i = 0; i < n; i++) {
		if (w[i].frame_before < frame_clean)
			frame_clean = w[i].frame_before;
		if (w[i].frame_after < frame_clean)
			frame_clean = w[i].frame_after;
	}
	for (unsigned i = 0; i < n; i++) {
		w[i].clean = !w[i].preempted &&
			     (double)slower_loop(&w[i]) <= (double)frame_clean * HARNESS_TOLERANCE;
		clean += w[i].clean;
	}
	return clean;
}

/** Clean windows first, then by value. */
static int
window_cmp(const void *a, const void *b)
{
	const struct harness_window *x = a, *y = b;

	if (x->clean != y->clean)
		return x->clean ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static int
value_cmp(const void *a, const void *b)
{
	const struct harness_window *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

struct harness_result
harness_summary(struct harness_window *w, unsigned n)
{
	struct harness_result r = {.windows = n};
	unsigned used;

	if (n == 0)
		return r;
	qsort(w, n, sizeof(*w), window_cmp);
	while (r.windows_clean < n && w[r.windows_clean].clean)
		r.windows_clean++;
	used = r.windows_clean ? r.windows_clean : n;
	if (r.windows_clean == 0)
		qsort(w, n, sizeof(*w), value_cmp);
	r.min = w[0].value;
	r.max = w[used - 1].value;
	r.median = used % 2 ? w[used / 2].value : (w[used / 2 - 1].value + w[used / 2].value) / 2;
	return r;
}

struct harness_result
harness_over(const double *value, const bool *clean, size_t stride, unsigned n)
{
	struct harness_window *w = calloc(n ? n : 1, sizeof(*w));
	struct harness_result r;

	if (w == NULL)
		abort();
	for (unsigned i = 0; i < n; i++) {
		w[i].value = *(const double *)((const char *)value + i * stride);
		w[i].clean = *(const bool *)((const char *)clean + i * stride);
	}
	r = harness_summary(w, n);
	free(w);
	return r;
}

long
harness_switches(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw + u.ru_nvcsw : 0;
}

struct harness_result
harness_run(harness_fn fn, void *arg, double seconds)
{
	struct harness_window *w = calloc(HARNESS_WINDOWS_MAX, sizeof(*w));
	struct harness_result r = {0};
	uint64_t clean, end, start, ops;
	unsigned n = 0;

	if (w == NULL)
		return r;
	clean = harness_frame_least(20);
	/* Caches and branch predictors first. */
	fn(arg);
	end = rte_rdtsc() + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	while (n < HARNESS_WINDOWS_MAX && (n < WINDOWS_MIN || rte_rdtsc() < end)) {
		long before = harness_switches();

		w[n].frame_before = harness_frame();
		start = rte_rdtsc_precise();
		ops = fn(arg);
		w[n].value = (double)(rte_rdtsc_precise() - start);
		w[n].frame_after = harness_frame();
		w[n].preempted = harness_switches() != before;
		if (ops == 0) {
			if (rte_rdtsc() >= end)
				break;
			continue;
		}
		w[n++].value /= (double)ops;
	}
	harness_classify(w, n, clean);
	r = harness_summary(w, n);
	free(w);
	return r;
}

struct harness_result
harness_rate(const struct harness_result *cycles)
{
	const double hz = (double)rte_get_tsc_hz();
	struct harness_result r = *cycles;

	if (cycles->windows == 0)
		return r;
	r.median = hz / cycles->median;
	r.min = hz / cycles->max;
	r.max = hz / cycles->min;
	return r;
}
