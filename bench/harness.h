/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_HARNESS_H
#define AIRPATH_BENCH_HARNESS_H

/**
 * Measuring honestly on a machine that others use too.
 *
 * A measurement is many short windows, each between two runs of a fixed loop of
 * dependent multiplications and additions on the same core. That loop touches no
 * memory, so it takes the same time whenever the core is ours alone; a window with a
 * slower loop at either end was disturbed and is kept apart, and so is one in which the
 * kernel gave the CPU to someone else. The result is the median of the clean windows,
 * their least and greatest, and how many there were.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_cycles.h>

#define HARNESS_FRAME_ROUNDS 10000 /**< some 20 µs */
#define HARNESS_TOLERANCE 1.05     /**< a loop up to this times its clean time is clean */
#define HARNESS_WINDOWS_MAX 4096

/** @return how often the calling thread has lost its CPU. */
long harness_switches(void);

struct harness_window {
	double value;          /**< what was measured */
	uint64_t frame_before; /**< TSC cycles of the frame loops */
	uint64_t frame_after;
	bool preempted; /**< the thread lost its CPU meanwhile */
	bool clean;     /**< set by harness_classify() */
};

struct harness_result {
	double median; /**< over clean windows, or over all when none was clean */
	double min;
	double max;
	unsigned windows;
	unsigned windows_clean;
};

/** Runs the frame loop on the calling core. @return its TSC cycles. */
uint64_t harness_frame(void);

/** @return the least time of `runs` loops, TSC cycles: that of an undisturbed one. */
uint64_t harness_frame_least(unsigned runs);

/**
 * For windows that are judged one by one, on whatever cores: compares with the fastest
 * loop this process has seen, the given one included. Any thread.
 */
bool harness_frame_clean(uint64_t cycles);

/**
 * Sorts windows into clean and disturbed.
 * @param frame_clean time of an undisturbed loop; the windows' own loops lower it further
 * @return how many are clean
 */
unsigned harness_classify(struct harness_window *w, unsigned n, uint64_t frame_clean);

/** Statistics over classified windows; reorders them. All zero when `n` is 0. */
struct harness_result harness_summary(struct harness_window *w, unsigned n);

/**
 * The same over windows of the caller's kind, which it judged one by one and keeps as they are.
 * @param value, clean members of the first window; those of the next lie `stride` B on
 */
struct harness_result harness_over(const double *value, const bool *clean, size_t stride,
				   unsigned n);

/* --- code on the calling core ----------------------------------------------------------------- */

/** Does a window's work once, some 50..500 µs. @return operations done. */
typedef uint64_t (*harness_fn)(void *arg);

/**
 * Runs `fn` in windows for `seconds` (at least 5 windows).
 * @return TSC cycles per operation. Windows without operations do not count.
 */
struct harness_result harness_run(harness_fn fn, void *arg, double seconds);

/** Turns cycles per operation into operations per second: the extremes change places. */
struct harness_result harness_rate(const struct harness_result *cycles);

#endif
