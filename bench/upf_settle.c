/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Waiting for the threads of the test bed of upf_bed.h, which a neighbour may keep from their CPUs
 * for minutes. What they have done tells whether they are stuck, never how long it took.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <rte_cycles.h>

#include "bench/upf_bed_impl.h"
#include "core/clock.h"

#define PATIENCE_S 600               /**< without any CPU: it will not be measured here */
#define HANG_NS (2 * AP_NS_PER_S)    /**< of CPU without a call taken: some 10^7 walks */
#define STARVED_NS (1 * AP_NS_PER_S) /**< worth telling */
#define TURNS 1000 /**< of every thread, none with work: several polls of every queue */
#define ROUNDS 64  /**< of TURNS: a lcore may have other work than packets all the time */

static void
clock_of_worker(struct ap_worker *w, void *arg)
{
	(void)w;
	pthread_getcpuclockid(pthread_self(), arg);
}

/** @return ns of CPU an lcore's thread has had. */
static uint64_t
cpu_ns(const struct upf_bed *b, unsigned lcore)
{
	struct timespec t;

	if (lcore >= b->nb_clocks || clock_gettime(b->clock[lcore], &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * AP_NS_PER_S + (uint64_t)t.tv_nsec;
}

/** A call that an lcore does not take. */
struct wait {
	uint64_t since_ns;
	uint64_t cpu_ns;
};

static struct wait
wait_begin(const struct upf_bed *b, unsigned lcore)
{
	return (struct wait){ap_clock_ns(), cpu_ns(b, lcore)};
}

/** @return whether to try again what ended with `rc` */
static bool
wait_on(const struct upf_bed *b, unsigned lcore, const struct wait *w, int rc)
{
	const char *name = b->run->workers[lcore].name;
	const double waited = (double)(ap_clock_ns() - w->since_ns) / 1e9;
	const uint64_t had = cpu_ns(b, lcore) - w->cpu_ns;

	if (rc != -ETIMEDOUT) {
		if (rc < 0)
			fprintf(stderr, "bench upf: lcore %s has stopped\n", name);
		return false;
	}
	if (had > HANG_NS) {
		fprintf(stderr,
			"bench upf: lcore %s hangs: %.0f s of CPU, and it does not come by\n", name,
			(double)had / 1e9);
		return false;
	}
	fprintf(stderr, "lcore %s has had no CPU for %.0f s: others use this machine\n", name,
		waited);
	if (waited < PATIENCE_S)
		return true;
	fprintf(stderr, "bench upf: nothing can be measured here\n");
	return false;
}

static void
wait_end(struct upf_bed *b, const struct wait *w)
{
	const uint64_t waited = ap_clock_ns() - w->since_ns;

	b->starved_ns += waited > STARVED_NS ? waited : 0;
}

int
upf_bed_call(struct upf_bed *b, unsigned lcore, void (*fn)(struct ap_worker *w, void *arg),
	     void *arg)
{
	struct wait w = wait_begin(b, lcore);
	int rc;

	do
		rc = ap_worker_run(&b->run->workers[lcore], fn, arg);
	while (wait_on(b, lcore, &w, rc));
	wait_end(b, &w);
	return rc;
}

int
upf_bed_hold(struct upf_bed *b, unsigned lcore, struct ap_worker_hold *hold)
{
	struct wait w = wait_begin(b, lcore);
	int rc;

	do
		rc = ap_worker_hold(&b->run->workers[lcore], hold);
	while (wait_on(b, lcore, &w, rc));
	wait_end(b, &w);
	return rc;
}

int
upf_bed_clocks(struct upf_bed *b)
{
	int rc = 0;

	while (rc == 0 && b->nb_clocks < b->plan->nb_lcores) {
		rc = upf_bed_call(b, b->nb_clocks, clock_of_worker, &b->clock[b->nb_clocks]);
		b->nb_clocks += rc == 0;
	}
	return rc;
}

/** Turns of all threads, and those that had work: the generator's, then the lcores'. */
struct pulse {
	uint64_t turns[1 + AP_LCORES_MAX];
	uint64_t busy;
};

static uint64_t
busy_turns(const struct upf_bed *b)
{
	uint64_t n = atomic_load(&b->gen.turns_busy);

	for (unsigned i = 0; i < b->plan->nb_lcores; i++)
		n += __atomic_load_n(&b->run->workers[i].busy_walks, __ATOMIC_ACQUIRE);
	return n;
}

static void
turns_take(const struct upf_bed *b, struct pulse *p)
{
	p->turns[0] = atomic_load(&b->gen.turns);
	for (unsigned i = 0; i < b->plan->nb_lcores; i++)
		p->turns[1 + i] = __atomic_load_n(&b->run->workers[i].walks, __ATOMIC_ACQUIRE);
}

static bool
all_went_round(const struct upf_bed *b, const struct pulse *from, const struct pulse *to)
{
	for (unsigned i = 0; i <= b->plan->nb_lcores; i++)
		if (to->turns[i] - from->turns[i] < TURNS)
			return false;
	return true;
}

static void
nothing(struct ap_worker *w, void *arg)
{
	(void)w;
	(void)arg;
}

/** Waits until every thread has gone round TURNS times. @return 0, or -errno after a message */
static int
go_round(struct upf_bed *b, const struct pulse *from, struct pulse *to)
{
	int rc = 0;

	do {
		rte_delay_us_sleep(200);
		turns_take(b, to);
		/* The last of these turns is over, its work counted, when a call has been taken. */
		for (unsigned i = 0; i < b->plan->nb_lcores && rc == 0; i++)
			rc = upf_bed_call(b, i, nothing, NULL);
	} while (rc == 0 && !all_went_round(b, from, to) && upf_gen_inside(&b->gen) != 0);
	return rc;
}

int
upf_bed_settle(struct upf_bed *b)
{
	struct pulse from, to;
	uint64_t inside = UINT64_MAX;
	unsigned rounds = 0;
	int rc;

	upf_gen_quiet(&b->gen);
	do {
		rounds = upf_gen_inside(&b->gen) == inside ? rounds + 1 : 0;
		inside = upf_gen_inside(&b->gen);
		/* Work between the first look at it and the last is not missed: turns are counted
		 * within. */
		from.busy = busy_turns(b);
		turns_take(b, &from);
		rc = go_round(b, &from, &to);
		to.busy = busy_turns(b);
	} while (rc == 0 && upf_gen_inside(&b->gen) != 0 && to.busy != from.busy &&
		 rounds < ROUNDS);
	if (upf_gen_inside(&b->gen) != 0)
		upf_gen_give_up(&b->gen);
	return rc;
}
