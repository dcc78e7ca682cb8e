/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_ring.h>

#include "core/clock.h"
#include "modules/upf/upf_apps_rules.h"
#include "modules/upf/upf_control_impl.h"

void
upf_apps_init(struct upf_apps *a)
{
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->wake, NULL);
}

/* --- what the agent is told ------------------------------------------------------------------- */

static void
tell(struct upf_control *c, const struct upf_apps_rules *r, const char *error, uint32_t app,
     uint32_t pfd)
{
	UpfAnswer a = AIRPATH__UPF__V1__ANSWER__INIT;
	Airpath__Upf__V1__ApplicationsDone d = AIRPATH__UPF__V1__APPLICATIONS_DONE__INIT;
	const struct upf_apps_view *v = &c->apps.view;

	d.generation = r->generation;
	d.error = (char *)(uintptr_t)error;
	d.failed_application = app;
	d.failed_pfd = pfd;
	d.build_ms = c->apps.build_ms;
	d.rules = r->pfds;
	d.memory_bytes = error[0] == '\0' ? v->memory_bytes : 0;
	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_APPLICATIONS_DONE;
	a.applications_done = &d;
	if (c->greeted)
		ctl_send(c->agent, ctl_pack(&a.base));
}

/** A generation ends without having been in force. */
static void
refuse(struct upf_control *c, struct upf_apps_rules *r, const char *why, uint32_t app, uint32_t pfd)
{
	struct upf_apps_view *v = &c->apps.view;

	v->refused++;
	snprintf(v->error, sizeof(v->error), "generation %u: %.200s", r->generation, why);
	tell(c, r, why, app, pfd);
	upf_apps_rules_free(r);
}

/* --- the builder ------------------------------------------------------------------------------ */

/** What takes seconds, without the lock: nobody else touches `building` and `built` meanwhile. */
static void
build(struct upf_apps *a)
{
	const uint64_t begin_ns = ap_clock_ns();

	a->built = NULL;
	a->error = (struct dpi_error){.rule = DPI_NO_RULE};
	if (dpi_set_build(a->building->rules, a->building->nb, NULL, a->building->generation,
			  &a->built, &a->error) < 0) {
		a->built = NULL;
		if (a->error.why[0] == '\0')
			snprintf(a->error.why, sizeof(a->error.why), "it could not be built");
	}
	a->build_ms = (uint32_t)((ap_clock_ns() - begin_ns) / AP_NS_PER_MS);
}

static void *
builder_main(void *arg)
{
	struct upf_apps *a = arg;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		if (a->job != UPF_APPS_BUILDING) {
			pthread_cond_wait(&a->wake, &a->lock);
			continue;
		}
		pthread_mutex_unlock(&a->lock);
		build(a);
		pthread_mutex_lock(&a->lock);
		a->job = UPF_APPS_BUILT;
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static enum upf_apps_job
job_of(struct upf_apps *a)
{
	enum upf_apps_job job;

	pthread_mutex_lock(&a->lock);
	job = a->job;
	pthread_mutex_unlock(&a->lock);
	return job;
}

static void
job_set(struct upf_apps *a, enum upf_apps_job job)
{
	pthread_mutex_lock(&a->lock);
	a->job = job;
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
}

static void
build_begin(struct upf_control *c, struct upf_apps_rules *r)
{
	struct upf_apps *a = &c->apps;

	if (!a->started && rte_ctrl_thread_create(&a->thread, "upf-apps", NULL, builder_main, a)) {
		refuse(c, r, "no thread to build it", 0, 0);
		return;
	}
	a->started = true;
	a->building = r;
	job_set(a, UPF_APPS_BUILDING);
}

/* --- to the workers --------------------------------------------------------------------------- */

/** @return a message for each worker, in `msgs`; false without memory */
static bool
messages_make(struct upf_control *c, const struct dpi_set *set, struct upf_msg **msgs)
{
	for (unsigned k = 0; k < c->upf->nb_workers; k++) {
		msgs[k] = calloc(1, sizeof(**msgs));
		if (msgs[k] == NULL)
			return false;
		msgs[k]->kind = UPF_MSG_APPLICATIONS;
		msgs[k]->set = set;
		msgs[k]->scratch = dpi_scratch_alloc(set);
		if (msgs[k]->scratch == NULL)
			return false;
	}
	return true;
}

static void
hand_over(struct upf_control *c)
{
	struct upf_msg *msgs[UPF_ROLE_WORKERS_MAX] = {0};
	struct upf_apps *a = &c->apps;

	if (!messages_make(c, a->built, msgs)) {
		for (unsigned k = 0; k < c->upf->nb_workers; k++) {
			dpi_scratch_free(msgs[k] ? msgs[k]->scratch : NULL);
			free(msgs[k]);
		}
		dpi_set_free(a->built);
		job_set(a, UPF_APPS_IDLE);
		refuse(c, a->building, "no memory for the workers", 0, 0);
		return;
	}
	job_set(a, UPF_APPS_TAKING);
	a->workers_to_go = c->upf->nb_workers;
	for (unsigned k = 0; k < c->upf->nb_workers; k++) {
		upf_scans_touch(c->upf->workers[k].scans);
		upf_worker_send(c, k, msgs[k]);
	}
}

/** All workers have it. */
static void
in_force(struct upf_control *c)
{
	struct upf_apps *a = &c->apps;
	struct upf_apps_view *v = &a->view;

	dpi_set_free(a->set);
	a->set = a->built;
	upf_apps_rules_free(a->in_force);
	a->in_force = a->building;
	v->generation = a->in_force->generation;
	v->applications = a->in_force->applications;
	v->rules = a->in_force->pfds;
	v->memory_bytes = dpi_set_memory(a->set);
	v->build_ms = a->build_ms;
	dpi_set_figures(a->set, &v->figures);
	tell(c, a->in_force, "", 0, 0);
	upf_apps_rules_shrink(a->in_force);
	job_set(a, UPF_APPS_IDLE);
}

void
upf_apps_taken(struct upf_control *c, struct upf_msg *m)
{
	dpi_scratch_free(m->scratch);
	free(m);
	if (--c->apps.workers_to_go == 0)
		in_force(c);
}

bool
upf_apps_step(struct upf_control *c)
{
	struct upf_apps *a = &c->apps;
	struct upf_apps_rules *r = a->waiting;
	enum upf_apps_job job = a->started ? job_of(a) : UPF_APPS_IDLE;

	if (job == UPF_APPS_BUILT && a->built != NULL) {
		hand_over(c);
	} else if (job == UPF_APPS_BUILT) {
		const uint32_t rule = a->error.rule;
		const bool one = rule < a->building->nb;

		job_set(a, UPF_APPS_IDLE);
		refuse(c, a->building, a->error.why, one ? a->building->rules[rule].app : 0,
		       one ? a->building->pfd[rule] : 0);
	} else if (job == UPF_APPS_IDLE && r != NULL) {
		a->waiting = NULL;
		build_begin(c, r);
	} else {
		return false;
	}
	return true;
}

/* --- from the agent --------------------------------------------------------------------------- */

static void
replace(struct upf_control *c, struct upf_apps_rules **old, struct upf_apps_rules *r)
{
	if (*old != NULL)
		refuse(c, *old, "a newer generation came before it was built", 0, 0);
	*old = r;
}

const char *
upf_apps_take(struct upf_control *c, const Airpath__Upf__V1__Applications *m)
{
	struct upf_apps *a = &c->apps;
	struct upf_apps_rules *r = a->taking;

	if (m->generation == 0)
		return "applications: generation must not be 0";
	if (m->first) {
		replace(c, &a->taking, NULL);
		r = a->taking = upf_apps_rules_make(m->generation);
		if (r == NULL)
			return "applications: no memory";
	} else if (r == NULL || r->generation != m->generation) {
		return "applications: the first message of this generation is missing";
	}
	if (upf_apps_rules_add(r, m, a->why) < 0) {
		a->taking = NULL;
		upf_apps_rules_free(r);
		return a->why;
	}
	if (!m->last)
		return NULL;
	a->taking = NULL;
	replace(c, &a->waiting, r);
	return NULL;
}

void
upf_apps_look(struct upf_apps *a, struct upf_apps_view *v)
{
	*v = a->view;
	v->building = a->waiting != NULL || (a->started && job_of(a) != UPF_APPS_IDLE);
}

void
upf_apps_fini(struct upf_control *c)
{
	struct upf_apps *a = &c->apps;

	if (a->started) {
		pthread_mutex_lock(&a->lock);
		a->stop = true;
		pthread_cond_signal(&a->wake);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	for (unsigned k = 0; k < c->upf->nb_workers; k++) {
		struct upf_scans *s = c->upf->workers[k].scans;

		dpi_scratch_free(s->scratch);
		s->scratch = NULL;
		s->set = NULL;
	}
	if (a->job == UPF_APPS_BUILT || a->job == UPF_APPS_TAKING)
		dpi_set_free(a->built);
	if (a->job != UPF_APPS_IDLE)
		upf_apps_rules_free(a->building);
	dpi_set_free(a->set);
	upf_apps_rules_free(a->taking);
	upf_apps_rules_free(a->waiting);
	upf_apps_rules_free(a->in_force);
	pthread_cond_destroy(&a->wake);
	pthread_mutex_destroy(&a->lock);
}
