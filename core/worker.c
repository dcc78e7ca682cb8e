/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "core/clock.h"
#include "core/node.h"
#include "core/walk.h"
#include "core/worker.h"

#define STAND_US 10 /**< between looks of a worker that is held */

uint64_t
ap_node_now(const struct ap_node *n)
{
	return n->worker->now_ns;
}

void
ap_node_busy(struct ap_node *n, uint32_t packets)
{
	struct ap_rxq *q;

	n->worker->work += packets;
	if (n->rxqs == NULL)
		return;
	q = &n->rxqs[n->rxq];
	q->taken += packets;
	q->count = n->type->waiting ? n->type->waiting(n, q->queue, n->worker->now_ns) : 0;
}

void
ap_node_wake(struct ap_node *n)
{
	ap_worker_wake(n->worker);
}

void
ap_node_slot(struct ap_node *n, uint64_t next_ns)
{
	n->worker->slot_ns = next_ns;
}

void
ap_node_arm(struct ap_node *n, uint64_t deadline_ns)
{
	if (!ap_timer_armed(&n->timer) || deadline_ns < n->timer.deadline_ns)
		ap_timer_set(n->worker->wheel, &n->timer, deadline_ns);
}

uint16_t
ap_node_credit(const struct ap_node *n, uint16_t max)
{
	uint32_t credit = max;

	for (uint16_t i = 0; i < n->nb_rings; i++) {
		uint32_t room = rte_ring_free_count(n->rings[i]);

		/* Once a visit, and only where a packet can become several. */
		if (n->ring_amp[i] > 1)
			room /= n->ring_amp[i];
		credit = RTE_MIN(credit, room);
	}
	return credit;
}

static void
take_call(struct ap_worker *w)
{
	struct ap_worker_call *call = atomic_exchange(&w->call, NULL);

	if (call == NULL)
		return; /* taken back meanwhile */
	call->fn(w, call->arg);
	atomic_store_explicit(&call->done, true, memory_order_release);
}

/** Others read the thread's clock while it runs, and what it had come to afterwards. */
static void
cpu_clock_set(struct ap_worker *w)
{
	clockid_t clock;

	if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
		atomic_store(&w->cpu_clock, clock);
}

static uint64_t
clock_read(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * AP_NS_PER_S + (uint64_t)t.tv_nsec;
}

static void
cpu_clock_end(struct ap_worker *w)
{
	w->cpu_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);
	atomic_store(&w->cpu_clock, 0);
}

uint64_t
ap_worker_cpu_ns(const struct ap_worker *w)
{
	int64_t clock = atomic_load(&w->cpu_clock);

	return clock != 0 ? clock_read((clockid_t)clock) : w->cpu_ns;
}

int
ap_worker_main(void *arg)
{
	struct ap_worker *w = arg;
	void (*walk)(struct rte_graph *) = w->stats ? ap_walk_stats : ap_walk_plain;
	uint64_t start, end;
	bool behind;

	pthread_setname_np(pthread_self(), w->name);
	cpu_clock_set(w);
	if (w->governor->begin)
		w->governor->begin(w);
	start = rte_rdtsc();
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		w->walk_tsc = start;
		behind = ap_worker_behind(w, ap_clock_from_tsc(start));
		w->work = behind ? 0 : ap_wheel_run(w->wheel, w->now_ns);
		walk(w->graph);
		end = rte_rdtsc();
		w->walks++;
		if (w->work) {
			w->busy_walks++;
			w->busy_cycles += end - start;
		} else {
			w->idle_cycles += end - start;
		}
		start = w->governor->after_walk(w, w->work + behind, end);
		if (atomic_load_explicit(&w->call, memory_order_relaxed)) {
			take_call(w);
			start = rte_rdtsc();
		}
	}
	cpu_clock_end(w);
	return 0;
}

/** Hands `call` to the worker and waits for `*event`. */
static int
call_and_wait(struct ap_worker *w, struct ap_worker_call *call, const _Atomic bool *event)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	uint64_t give_up = ap_clock_ns() + AP_WORKER_RUN_S * AP_NS_PER_S;
	int rc = 0;

	pthread_mutex_lock(&turn);
	atomic_store_explicit(&w->call, call, memory_order_release);
	ap_worker_wake(w);
	while (!atomic_load_explicit(event, memory_order_acquire)) {
		struct ap_worker_call *mine = call;
		bool stopped = atomic_load_explicit(&w->stop, memory_order_relaxed);

		/* Once taken it will be finished: `call` must outlive it. */
		if ((stopped || ap_clock_ns() > give_up) &&
		    atomic_compare_exchange_strong(&w->call, &mine, NULL)) {
			rc = stopped ? -ECANCELED : -ETIMEDOUT;
			break;
		}
		rte_delay_us_sleep(20);
	}
	pthread_mutex_unlock(&turn);
	return rc;
}

int
ap_worker_run(struct ap_worker *w, void (*fn)(struct ap_worker *w, void *arg), void *arg)
{
	struct ap_worker_call call = {.fn = fn, .arg = arg};

	return call_and_wait(w, &call, &call.done);
}

/** Stands still, but for calls. */
static void
stand(struct ap_worker *w, void *arg)
{
	struct ap_worker_hold *h = arg;

	atomic_store_explicit(&h->holding, true, memory_order_release);
	while (!atomic_load_explicit(&h->release, memory_order_acquire)) {
		if (atomic_load_explicit(&w->call, memory_order_relaxed))
			take_call(w);
		else
			/* Whom we wait for may share the CPU. Not sched_yield(): a thread that
			 * calls it all the time has, for Linux 6.18, used up its share for long. */
			rte_delay_us_sleep(STAND_US);
	}
}

int
ap_worker_hold(struct ap_worker *w, struct ap_worker_hold *h)
{
	*h = (struct ap_worker_hold){.call = {.fn = stand, .arg = h}};
	return call_and_wait(w, &h->call, &h->holding);
}

void
ap_worker_release(struct ap_worker_hold *h)
{
	atomic_store_explicit(&h->release, true, memory_order_release);
	while (!atomic_load_explicit(&h->call.done, memory_order_acquire))
		rte_delay_us_sleep(20);
}
