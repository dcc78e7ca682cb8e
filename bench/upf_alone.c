/* SPDX-License-Identifier: BSD-3-Clause */
/** The lcores of the test bed of upf_bed.h in turn, without threads. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/harness.h"
#include "bench/still.h"
#include "bench/upf_bed_impl.h"
#include "core/clock.h"

#define ROUND 512      /**< packets of a direction at once: 8 bursts of a port */
#define WARM_PACKETS 4 /**< of a session on average, in a direction */

struct stage {
	struct ap_worker *w;
	unsigned lcore; /**< of the plan */
	struct ap_worker_hold hold;
	struct harness_window *windows;
	unsigned n;
};

static void
window_take(struct stage *s)
{
	struct harness_window w;
	long switches = harness_switches();

	w.frame_before = harness_frame();
	w.value = still_walk(s->w);
	w.frame_after = harness_frame();
	w.preempted = harness_switches() != switches;
	if (w.value > 0 && s->n < HARNESS_WINDOWS_MAX)
		s->windows[s->n++] = w;
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

/** A session's first packet begins its measurement; that is not what is asked here. */
static void
warm(struct upf_bed *b, unsigned directions, struct stage *s, unsigned nb)
{
	const uint32_t n = b->gen.active / ROUND * WARM_PACKETS + 1;

	for (uint32_t k = 0; k < n; k++) {
		fill(b, directions);
		for (unsigned i = 0; i < nb; i++)
			still_walk(s[i].w);
		upf_gen_drain(&b->gen);
	}
}

/** Packets in, through every lcore, and out; again until the time is over. */
static void
rounds(struct upf_bed *b, unsigned directions, double seconds, struct stage *s, unsigned nb)
{
	uint64_t end = ap_clock_ns() + (uint64_t)(seconds * 1e9);
	struct ap_error err;

	do {
		fill(b, directions);
		for (unsigned i = 0; i < nb; i++) {
			if (b->cfg.remote)
				pin(b->plan->lcores[s[i].lcore].cfg->cpu);
			window_take(&s[i]);
		}
		if (b->cfg.remote)
			pin(b->gen.cpu);
		upf_gen_drain(&b->gen);
	} while (ap_clock_ns() < end && s[0].n < HARNESS_WINDOWS_MAX &&
		 upf_agent_idle(b->agent, &err) == 0);
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
stages_hold(struct upf_bed *b, struct stage *s, unsigned nb)
{
	int rc = 0;

	for (unsigned i = 0; i < nb && rc == 0; i++) {
		s[i].windows = calloc(HARNESS_WINDOWS_MAX, sizeof(*s[i].windows));
		rc = s[i].windows ? upf_bed_hold(b, s[i].lcore, &s[i].hold) : -ENOMEM;
		if (rc < 0)
			fprintf(stderr, "bench upf: lcore %s does not stand still\n", s[i].w->name);
	}
	return rc;
}

static void
stages_release(struct stage *s, unsigned nb)
{
	for (unsigned i = 0; i < nb; i++) {
		if (atomic_load(&s[i].hold.holding))
			ap_worker_release(&s[i].hold);
		free(s[i].windows);
	}
}

int
upf_bed_alone(struct upf_bed *b, unsigned directions, double seconds, struct upf_bed_stage *stages,
	      struct upf_bed_trial *t)
{
	struct stage s[UPF_BED_STAGES_MAX] = {0};
	unsigned nb = stages_make(b, s);
	uint64_t frame = harness_frame_least(20);
	cpu_set_t was;
	int rc = stages_hold(b, s, nb), settled;

	*t = (struct upf_bed_trial){0};
	upf_bed_losses(b, t, true);
	upf_gen_pause(&b->gen, true);
	pthread_getaffinity_np(pthread_self(), sizeof(was), &was);
	pin(b->gen.cpu); /* workers that stand still have the others */
	if (rc == 0) {
		warm(b, directions, s, nb);
		rounds(b, directions, seconds, s, nb);
	}
	pthread_setaffinity_np(pthread_self(), sizeof(was), &was);
	upf_gen_pause(&b->gen, false);
	for (unsigned i = 0; i < nb; i++) {
		harness_classify(s[i].windows, s[i].n, frame);
		stages[i] =
			(struct upf_bed_stage){s[i].w->name, harness_summary(s[i].windows, s[i].n)};
	}
	stages_release(s, nb);
	settled = upf_bed_settle(b);
	upf_bed_losses(b, t, false);
	rc = rc < 0 ? rc : settled;
	return rc < 0 ? rc : (int)nb;
}
