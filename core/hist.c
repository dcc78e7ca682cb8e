/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "core/hist.h"

static uint64_t
get(const _Atomic uint64_t *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

static void
set(_Atomic uint64_t *cell, uint64_t v)
{
	atomic_store_explicit(cell, v, memory_order_relaxed);
}

static uint64_t
bucket_bottom(uint32_t bucket)
{
	uint32_t octave = bucket >> AP_HIST_SUB_BITS;

	if (octave == 0)
		return bucket;
	return (uint64_t)(AP_HIST_SUB + (bucket & (AP_HIST_SUB - 1))) << (octave - 1);
}

static uint64_t
bucket_top(uint32_t bucket)
{
	return bucket_bottom(bucket + 1) - 1;
}

void
ap_hist_snapshot(const struct ap_hist *live, struct ap_hist *copy)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < AP_HIST_BUCKETS; i++) {
		uint64_t n = get(&live->buckets[i]);

		set(&copy->buckets[i], n);
		count += n;
	}
	set(&copy->count, count);
	set(&copy->sum_ns, get(&live->sum_ns));
	set(&copy->max_ns, get(&live->max_ns));
}

void
ap_hist_merge(struct ap_hist *into, const struct ap_hist *from)
{
	for (uint32_t i = 0; i < AP_HIST_BUCKETS; i++)
		ap_hist_add(&into->buckets[i], get(&from->buckets[i]));
	ap_hist_add(&into->count, get(&from->count));
	ap_hist_add(&into->sum_ns, get(&from->sum_ns));
	if (get(&from->max_ns) > get(&into->max_ns))
		set(&into->max_ns, get(&from->max_ns));
}

void
ap_hist_subtract(struct ap_hist *newer, const struct ap_hist *older)
{
	uint64_t top = 0, count = 0;
	uint32_t max_bucket = ap_hist_bucket(get(&newer->max_ns)), highest = 0;

	for (uint32_t i = 0; i < AP_HIST_BUCKETS; i++) {
		uint64_t n = get(&newer->buckets[i]) - get(&older->buckets[i]);

		set(&newer->buckets[i], n);
		count += n;
		if (n) {
			highest = i;
			top = bucket_top(i);
		}
	}
	set(&newer->count, count);
	set(&newer->sum_ns, get(&newer->sum_ns) - get(&older->sum_ns));
	if (count == 0 || highest != max_bucket)
		set(&newer->max_ns, top);
}

uint64_t
ap_hist_percentile(const struct ap_hist *h, double percent)
{
	uint64_t count = get(&h->count), max = get(&h->max_ns), seen = 0, rank;
	double exact = percent / 100.0 * (double)count;

	if (count == 0)
		return 0;
	/* nearest rank: the first that leaves no more than the share above it */
	rank = (uint64_t)exact;
	rank += (double)rank < exact;
	rank = rank < 1 ? 1 : rank > count ? count : rank;
	for (uint32_t i = 0; i < AP_HIST_BUCKETS - 1; i++) {
		seen += get(&h->buckets[i]);
		if (seen >= rank) {
			uint64_t middle = (bucket_bottom(i) + bucket_top(i)) / 2;

			return middle < max ? middle : max;
		}
	}
	return max;
}

double
ap_hist_mean(const struct ap_hist *h)
{
	uint64_t count = get(&h->count);

	return count ? (double)get(&h->sum_ns) / (double)count : 0.0;
}

void
ap_hist_reset(struct ap_hist *h)
{
	memset(h, 0, sizeof(*h));
}
