/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_SLEEP_H
#define AIRPATH_CORE_SLEEP_H

/**
 * A sleep that no producer's packet can be lost in: an eventfd and a flag.
 *
 * The consumer raises the flag, looks at its queues once more and only then sleeps; a producer puts
 * its packets in the queue and only then looks at the flag. Each has a full barrier between the
 * two, so at least one of them sees the other: either the consumer finds the packets, or the
 * producer finds the flag and kicks the eventfd. A kick before the sleep begins ends it at once.
 *
 * One consumer, which owns the sleep; any number of producers on any threads.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#define AP_SLEEP_FDS_MAX 64

struct ap_sleep {
	/* Both sides: rw. True from before the last look at the queues until awake. */
	_Atomic bool flag __rte_cache_aligned;
	/* Constant. */
	int event_fd __rte_cache_aligned;
	int epoll_fd;
	/* Consumer: rw. */
	uint64_t kicked; /**< sleeps that a kick ended */
	uint64_t polled; /**< ... that a file descriptor ended */
	uint64_t timed;  /**< ... that their time ended */
};

/** Control thread. @return 0 or -errno. */
int ap_sleep_init(struct ap_sleep *s);
void ap_sleep_fini(struct ap_sleep *s);

/**
 * Has a file descriptor end sleeps too, as long as it can be read. Control thread, before the
 * worker runs.
 * @param drain it is an eventfd that is to be read when it ends a sleep
 * @return 0 or -errno; -EPERM for a kind that epoll does not take
 */
int ap_sleep_watch(struct ap_sleep *s, int fd, bool drain);

/** Ends a sleep. For a producer, when its packets are in the queue. */
void ap_sleep_kick(struct ap_sleep *s);

static inline void
ap_sleep_wake(struct ap_sleep *s)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (unlikely(atomic_load_explicit(&s->flag, memory_order_relaxed)))
		ap_sleep_kick(s);
}

/** Consumer: from now on producers kick. To be followed by a look at every queue. */
static inline void
ap_sleep_begin(struct ap_sleep *s)
{
	atomic_store_explicit(&s->flag, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

/** Consumer: there was something in a queue. */
static inline void
ap_sleep_cancel(struct ap_sleep *s)
{
	atomic_store_explicit(&s->flag, false, memory_order_relaxed);
}

/**
 * Consumer, after ap_sleep_begin() and a look that found nothing: sleeps.
 * @param ns at most, from now
 * @return whether something came: false when the time was over
 */
bool ap_sleep_wait(struct ap_sleep *s, uint64_t ns);

#endif
