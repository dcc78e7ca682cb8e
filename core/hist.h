/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_HIST_H
#define AIRPATH_CORE_HIST_H

/**
 * Latency histogram, log-linear: every octave is cut into 128 equal buckets.
 *
 * A bucket is at most 1/128 of its lowest value wide and percentiles give its middle,
 * so they are off by 0.4 % at most; below 256 ns they are exact. Memory is fixed.
 *
 * One writer; any thread may take a snapshot at any time and works on the copy. The
 * writer does not wait, so a snapshot can miss what is recorded while it is taken.
 */

#include <stdatomic.h>
#include <stdint.h>

#define AP_HIST_SUB_BITS 7
#define AP_HIST_SUB (1u << AP_HIST_SUB_BITS) /**< buckets an octave */
#define AP_HIST_OCTAVES 31 /**< octave 0 is 0..127 ns, the last one ends above 100 s */
#define AP_HIST_BUCKETS (AP_HIST_OCTAVES * AP_HIST_SUB)
#define AP_HIST_LIMIT_NS (1ULL << (AP_HIST_SUB_BITS + AP_HIST_OCTAVES - 1))
_Static_assert(AP_HIST_LIMIT_NS > 100000000000ULL, "range reaches 100 s");

/** Writer: rw, others: ro, through ap_hist_snapshot(). All zero is an empty histogram. */
struct ap_hist {
	_Atomic uint64_t count;
	_Atomic uint64_t sum_ns;
	_Atomic uint64_t max_ns; /**< exact */
	_Atomic uint64_t buckets[AP_HIST_BUCKETS];
};

/** @return bucket of `ns`; what is above the range belongs to the last one. */
static inline uint32_t
ap_hist_bucket(uint64_t ns)
{
	uint32_t shift;

	if (ns >= AP_HIST_LIMIT_NS)
		return AP_HIST_BUCKETS - 1;
	if (ns < AP_HIST_SUB)
		return (uint32_t)ns;
	shift = 63 - AP_HIST_SUB_BITS - (uint32_t)__builtin_clzll(ns);
	return (shift << AP_HIST_SUB_BITS) + (uint32_t)(ns >> shift);
}

static inline void
ap_hist_add(_Atomic uint64_t *cell, uint64_t n)
{
	atomic_store_explicit(cell, atomic_load_explicit(cell, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/** Records `ns` as often as `n` says. Writer only. */
static inline void
ap_hist_record_n(struct ap_hist *h, uint64_t ns, uint64_t n)
{
	ap_hist_add(&h->buckets[ap_hist_bucket(ns)], n);
	ap_hist_add(&h->count, n);
	ap_hist_add(&h->sum_ns, ns * n);
	if (ns > atomic_load_explicit(&h->max_ns, memory_order_relaxed))
		atomic_store_explicit(&h->max_ns, ns, memory_order_relaxed);
}

static inline void
ap_hist_record(struct ap_hist *h, uint64_t ns)
{
	ap_hist_record_n(h, ns, 1);
}

/** Copies what `live` holds now; the copy's count is the sum of its buckets. Any thread. */
void ap_hist_snapshot(const struct ap_hist *live, struct ap_hist *copy);

/** Adds `from` to `into`; both belong to the caller. */
void ap_hist_merge(struct ap_hist *into, const struct ap_hist *from);

/**
 * Takes the older snapshot out of the newer one, which leaves what was recorded in between.
 * The maximum becomes the top of the highest bucket left, unless the newer maximum lies in it.
 */
void ap_hist_subtract(struct ap_hist *newer, const struct ap_hist *older);

/** @param percent 0..100 @return ns, never above the maximum; 0 when empty */
uint64_t ap_hist_percentile(const struct ap_hist *h, double percent);

/** @return mean in ns, 0 when empty. */
double ap_hist_mean(const struct ap_hist *h);

/** Writer only, or the writer has stopped. */
void ap_hist_reset(struct ap_hist *h);

#endif
