/* SPDX-License-Identifier: BSD-3-Clause */
/** The lcores of the test bed of upf_bed.h in turn, without threads. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/harness.h"
#include "bench/still.h"
#include "bench/upf_bed_impl.h"
#include "core/clock.h"

#define ROUND 512      /**< packets of a direction at once: 8 bursts of a port */
#define WARM_PACKETS 4 /**< of a session on average, in a direction */
#define FLOWS_BEGUN 3  /**< at a place, and as many end as begin */
#define BLOCK_S 0.1    /**< of one load, then the other has its turn */
#define REFRESH 24     /**< rounds: all places of 6000 sessions have had one turn */

struct stage {
	struct ap_worker *w;
	unsigned lcore; /**< of the plan */
	struct ap_worker_hold hold;
	struct harness_window *windows[UPF_BED_LOADS];
	unsigned n[UPF_BED_LOADS];
};

/** What runs in turn, and with which loads. */
struct alone {
	struct upf_bed *b;
	unsigned directions;
	struct stage s[UPF_BED_STAGES_MAX];
	unsigned nb;
	unsigned loads;
	unsigned load; /**< that runs now */
};

static void
window_take(struct stage *s, unsigned load)
{
	struct harness_window w;
	long switches = harness_switches();

	w.frame_before = harness_frame();
	w.value = still_walk(s->w);
	w.frame_after = harness_frame();
	w.preempted = harness_switches() != switches;
	if (w.value > 0 && s->n[load] < HARNESS_WINDOWS_MAX)
		s->windows[load][s->n[load]++] = w;
}

static void
pin(unsigned cpu)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	pthread_setaffinity_np(pthread_self(), sizeof(here), &here);
}

static void
fill(struct upf_bed *b, unsigned directions)
{
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		if (directions & 1U << d)
			upf_gen_fill(&b->gen, d, ROUND);
}

/** Packets in, through every lcore, and out, unmeasured. */
static void
round_once(struct alone *a)
{
	fill(a->b, a->directions);
	for (unsigned i = 0; i < a->nb; i++)
		still_walk(a->s[i].w);
	upf_gen_drain(&a->b->gen);
}

/** A session's first packet begins its measurement, and flows all begin at once; that is not what
 * is asked here. */
static void
warm(struct alone *a)
{
	struct upf_gen *g = &a->b->gen;

	if (g->flow_wire)
		while (g->flows->begun < FLOWS_BEGUN * (uint64_t)g->flows->nb_places)
			round_once(a);
	else
		for (uint32_t k = 0; k < g->active / ROUND * WARM_PACKETS + 1; k++)
			round_once(a);
}

/** Packets in, through every lcore, and out; again until the time is over. */
static int
rounds(struct alone *a, double seconds)
{
	struct upf_bed *b = a->b;
	uint64_t end = ap_clock_ns() + (uint64_t)(seconds * 1e9);
	struct ap_error err;
	int rc;

	do {
		fill(b, a->directions);
		for (unsigned i = 0; i < a->nb; i++) {
			if (b->cfg.remote)
				pin(b->plan->lcores[a->s[i].lcore].cfg->cpu);
			window_take(&a->s[i], a->load);
		}
		if (b->cfg.remote)
			pin(b->gen.cpu);
		upf_gen_drain(&b->gen);
		rc = upf_agent_idle(b->agent, &err);
	} while (rc == 0 && ap_clock_ns() < end && a->s[0].n[a->load] < HARNESS_WINDOWS_MAX);
	return rc;
}

/** One load after the other, until each had its time. */
static int
loads_run(struct alone *a, double seconds, struct upf_bed_trial *t)
{
	const unsigned blocks = a->loads == 1 ? 1 : (unsigned)(seconds / BLOCK_S) + 1;
	int rc = 0;

	for (unsigned i = 0; i < blocks && rc == 0; i++)
		for (a->load = 0; a->load < a->loads && rc == 0; a->load++) {
			if (a->loads > 1)
				upf_bed_select(a->b, a->load);
			upf_bed_losses(a->b, &t[a->load], true);
			warm(a);
			/* What the other one left in the caches. */
			for (unsigned k = 0; a->loads > 1 && k < REFRESH; k++)
				round_once(a);
			rc = rounds(a, seconds / blocks);
			upf_bed_losses(a->b, &t[a->load], false);
		}
	return rc;
}

/** Dispatchers first: what they hand over is the workers' input. */
static unsigned
stages_make(struct upf_bed *b, struct stage *s)
{
	unsigned nb = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < b->plan->nb_lcores && nb < UPF_BED_STAGES_MAX; i++) {
			bool dispatcher = b->plan->lcores[i].cfg->name[0] == 'D';

			if (dispatcher != (pass == 0))
				continue;
			s[nb].w = &b->run->workers[i];
			s[nb++].lcore = i;
		}
	return nb;
}

static int
stages_hold(struct alone *a)
{
	int rc = 0;

	for (unsigned i = 0; i < a->nb && rc == 0; i++) {
		struct stage *s = &a->s[i];

		for (unsigned k = 0; k < a->loads && rc == 0; k++) {
			s->windows[k] = calloc(HARNESS_WINDOWS_MAX, sizeof(*s->windows[k]));
			rc = s->windows[k] ? 0 : -ENOMEM;
		}
		rc = rc == 0 ? upf_bed_hold(a->b, s->lcore, &s->hold) : rc;
		if (rc < 0)
			fprintf(stderr, "bench upf: lcore %s does not stand still\n", s->w->name);
	}
	return rc;
}

static void
stages_release(struct alone *a)
{
	for (unsigned i = 0; i < a->nb; i++) {
		if (atomic_load(&a->s[i].hold.holding))
			ap_worker_release(&a->s[i].hold);
		for (unsigned k = 0; k < a->loads; k++)
			free(a->s[i].windows[k]);
	}
}

static void
stages_summarize(struct alone *a, uint64_t frame, struct upf_bed_stage stages[][UPF_BED_STAGES_MAX])
{
	for (unsigned k = 0; k < a->loads; k++)
		for (unsigned i = 0; i < a->nb; i++) {
			struct stage *s = &a->s[i];

			harness_classify(s->windows[k], s->n[k], frame);
			stages[k][i] = (struct upf_bed_stage){
				s->w->name, harness_summary(s->windows[k], s->n[k])};
		}
}

static int
alone_run(struct upf_bed *b, unsigned directions, double seconds, unsigned loads,
	  struct upf_bed_stage stages[][UPF_BED_STAGES_MAX], struct upf_bed_trial *t)
{
	struct alone a = {.b = b, .directions = directions, .loads = loads};
	uint64_t frame = harness_frame_least(20);
	uint64_t lost = 0;
	cpu_set_t was;
	int rc, settled;

	a.nb = stages_make(b, a.s);
	memset(t, 0, loads * sizeof(*t));
	rc = stages_hold(&a);
	upf_gen_pause(&b->gen, true);
	pthread_getaffinity_np(pthread_self(), sizeof(was), &was);
	pin(b->gen.cpu); /* workers that stand still have the others */
	if (rc == 0)
		rc = loads_run(&a, seconds, t);
	pthread_setaffinity_np(pthread_self(), sizeof(was), &was);
	upf_gen_pause(&b->gen, false);
	stages_summarize(&a, frame, stages);
	stages_release(&a);
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		lost -= atomic_load(&b->gen.flow[d].c.given_up);
	settled = upf_bed_settle(b);
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		lost += atomic_load(&b->gen.flow[d].c.given_up);
	t[loads - 1].lost += lost;
	rc = rc < 0 ? rc : settled;
	return rc < 0 ? rc : (int)a.nb;
}

int
upf_bed_alone(struct upf_bed *b, unsigned directions, double seconds, struct upf_bed_stage *stages,
	      struct upf_bed_trial *t)
{
	return alone_run(b, directions, seconds, 1,
			 (struct upf_bed_stage(*)[UPF_BED_STAGES_MAX])stages, t);
}

int
upf_bed_pair(struct upf_bed *b, double seconds,
	     struct upf_bed_stage stages[UPF_BED_LOADS][UPF_BED_STAGES_MAX],
	     struct upf_bed_trial t[UPF_BED_LOADS])
{
	return alone_run(b, UPF_BED_UP | UPF_BED_DOWN, seconds, UPF_BED_LOADS, stages, t);
}
