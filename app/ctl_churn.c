/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath ctl … churn`: UEs come, change and go as fast as they are answered. A request is a
 * batch of contexts; some are under way at a time, as with a control plane that does not wait.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/ctl.h"

#define WINDOW 8 /**< requests not answered */
#define BATCH_MAX 1024
#define NAP_NS 100000

enum phase { SETUP, MODIFY, RELEASE, PHASES };

/** A request that is not answered. */
struct asked {
	uint32_t batch;
	enum phase phase;
};

struct churn {
	struct gnb_client *cl;
	const struct ctl_churn *o;
	struct ctl_arena arena;
	struct ctl_tally tally;
	uint64_t next;      /**< batch and phase */
	unsigned under_way; /**< requests */
	struct asked asked[WINDOW];
	bool *busy;    /**< of each batch: a request of it is under way */
	bool *made;    /**< of each UE: it was set up, and not released */
	uint32_t left; /**< UEs that are */
};

static volatile sig_atomic_t stopping;

static void
on_signal(int sig)
{
	(void)sig;
	/* A second signal ends it with what was made. */
	if (stopping++)
		_exit(130);
}

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int
setup_send(struct churn *c, uint32_t first, struct ap_error *err)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextSetupRequest setup =
		AIRPATH__GNB__V1__BEARER_CONTEXT_SETUP_REQUEST__INIT;
	Airpath__Gnb__V1__BearerContext *list[BATCH_MAX];
	struct ctl_tunnel upf = {.address = (char *)(uintptr_t)c->o->upf, .teid = 0x10000};
	struct ctl_tunnel du = {.address = (char *)(uintptr_t)c->o->du, .teid = 0x20000};
	uint32_t qfi = 9;
	struct ctl_drb drb = {.id = 1, .qfis = &qfi, .qfis_count = 1, .du = &du};
	struct ctl_session session = {.id = 1, .upf = &upf, .drbs = &drb, .drbs_count = 1};
	struct ctl_context context = {.ue = c->o->first, .sessions = &session, .sessions_count = 1};

	for (uint32_t i = 0; i < c->o->batch; i++) {
		list[i] = ctl_pack_context(&c->arena, &context, first + i, err);
		if (list[i] == NULL)
			return -EINVAL;
	}
	setup.n_contexts = c->o->batch;
	setup.contexts = list;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_SETUP;
	q.setup = &setup;
	return gnb_client_send(c->cl, &q, err);
}

/** The DU moves: another tunnel of the DRB. */
static int
modify_send(struct churn *c, uint32_t first, struct ap_error *err)
{
	static Airpath__Gnb__V1__BearerContextChange changes[BATCH_MAX], *list[BATCH_MAX];
	static Airpath__Gnb__V1__PduSessionChange sessions[BATCH_MAX], *session[BATCH_MAX];
	static Airpath__Gnb__V1__DrbChange drbs[BATCH_MAX], *drb[BATCH_MAX];
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextModificationRequest m =
		AIRPATH__GNB__V1__BEARER_CONTEXT_MODIFICATION_REQUEST__INIT;
	struct ctl_tunnel du = {.address = (char *)(uintptr_t)c->o->du, .teid = 0x30000};

	for (uint32_t i = 0; i < c->o->batch; i++) {
		if (!c->made[first + i])
			continue;
		airpath__gnb__v1__bearer_context_change__init(&changes[i]);
		airpath__gnb__v1__pdu_session_change__init(&sessions[i]);
		airpath__gnb__v1__drb_change__init(&drbs[i]);
		drbs[i].id = 1;
		drbs[i].dl_up = ctl_pack_tunnel(&c->arena, &du, first + i, err);
		if (drbs[i].dl_up == NULL)
			return -EINVAL;
		drb[i] = &drbs[i];
		sessions[i].id = 1;
		sessions[i].n_modify_drbs = 1;
		sessions[i].modify_drbs = &drb[i];
		session[i] = &sessions[i];
		changes[i].ue_id = c->o->first + first + i;
		changes[i].n_modify = 1;
		changes[i].modify = &session[i];
		list[m.n_contexts++] = &changes[i];
	}
	m.contexts = list;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_MODIFICATION;
	q.modification = &m;
	return gnb_client_send(c->cl, &q, err);
}

static int
release_send(struct churn *c, uint32_t first, struct ap_error *err)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextReleaseCommand r =
		AIRPATH__GNB__V1__BEARER_CONTEXT_RELEASE_COMMAND__INIT;
	uint32_t ids[BATCH_MAX];

	for (uint32_t i = 0; i < c->o->batch; i++)
		if (c->made[first + i])
			ids[r.n_ue_ids++] = c->o->first + first + i;
	r.ue_ids = ids;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_RELEASE;
	q.release = &r;
	return gnb_client_send(c->cl, &q, err);
}

/** @return UEs of the batch that are set up. */
static uint32_t
made_of(const struct churn *c, uint32_t batch)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->o->batch; i++)
		n += c->made[batch * c->o->batch + i];
	return n;
}

static int
phase_send(struct churn *c, uint32_t batch, enum phase phase, struct ap_error *err)
{
	const uint32_t first = batch * c->o->batch;
	int rc;

	if (phase != SETUP && made_of(c, batch) == 0)
		return 0;
	ctl_arena_reset(&c->arena);
	rc = phase == SETUP    ? setup_send(c, first, err)
	     : phase == MODIFY ? modify_send(c, first, err)
			       : release_send(c, first, err);
	if (rc < 0)
		return rc;
	c->asked[c->cl->seq % WINDOW] = (struct asked){batch, phase};
	c->busy[batch] = true;
	c->under_way++;
	return 0;
}

/** What became of the UEs of a request: those that were there before are not ours. */
static void
results_take(struct churn *c, enum phase phase, const Airpath__Gnb__V1__Results *r)
{
	for (size_t i = 0; i < r->n_contexts; i++) {
		const uint32_t ue = r->contexts[i]->ue_id - c->o->first;

		if (ue >= c->o->ues || r->contexts[i]->cause != AIRPATH__GNB__V1__CAUSE__OK)
			continue;
		if (phase == SETUP)
			c->left += !c->made[ue];
		else if (phase == RELEASE)
			c->left -= c->made[ue];
		if (phase != MODIFY)
			c->made[ue] = phase == SETUP;
	}
}

static int
reply_take(struct churn *c, struct ap_error *err)
{
	Airpath__Gnb__V1__Answer *a = gnb_client_receive(c->cl, GNB_CLIENT_TIMEOUT_MS, err);
	const Airpath__Gnb__V1__Reply *r;
	int rc = 0;

	if (a == NULL)
		return -EPROTO;
	r = a->body_case == AIRPATH__GNB__V1__ANSWER__BODY_REPLY ? a->reply : NULL;
	if (r && r->body_case == AIRPATH__GNB__V1__REPLY__BODY_RESULTS) {
		const struct asked *of = &c->asked[r->seq % WINDOW];

		ctl_tally_add(&c->tally, r->results);
		results_take(c, of->phase, r->results);
		if (!r->results->more) {
			c->under_way--;
			c->busy[of->batch] = false;
		}
		if (c->o->done)
			atomic_store(c->o->done, c->tally.done);
	} else if (r) {
		rc = ap_error_set(err, "%s", r->error);
	}
	gnb_client_free(a);
	return rc;
}

/** All batches are set up, then changed, then released, until the time is over. */
static int
rounds(struct churn *c, double start, struct ap_error *err)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const struct ctl_churn *o = c->o;
	const uint32_t batches = o->ues / o->batch;
	int rc = 0;

	while (rc == 0 && !stopping) {
		const uint32_t batch = (uint32_t)(c->next % batches);
		const double since = now_s() - start;
		const bool due =
			o->rate == 0 || (double)(c->next * o->batch) <= since * (double)o->rate;

		if (o->stop ? atomic_load(o->stop) : since >= o->seconds)
			break;
		if (due && c->under_way < WINDOW && !c->busy[batch])
			rc = phase_send(c, batch, (enum phase)(c->next++ / batches % PHASES), err);
		else if (c->under_way > 0)
			rc = reply_take(c, err);
		else
			nanosleep(&nap, NULL);
	}
	return rc;
}

/** What was made goes, and nothing else. */
static int
clear(struct churn *c, struct ap_error *err)
{
	const uint32_t batches = c->o->ues / c->o->batch;
	int rc = 0;

	while (rc == 0 && c->under_way > 0)
		rc = reply_take(c, err);
	for (uint32_t b = 0; b < batches && rc == 0; b++) {
		while (rc == 0 && c->under_way == WINDOW)
			rc = reply_take(c, err);
		if (rc == 0)
			rc = phase_send(c, b, RELEASE, err);
	}
	while (rc == 0 && c->under_way > 0)
		rc = reply_take(c, err);
	return rc;
}

int
ctl_churn_run(struct gnb_client *cl, const struct ctl_churn *o, struct ctl_tally *t,
	      double *seconds, struct ap_error *err)
{
	struct churn c = {.cl = cl, .o = o};
	const double start = now_s();
	int rc;

	if (strcmp(gnb_client_welcome(cl)->kind, "gnb_header") != 0)
		return ap_error_set(err,
				    "this is a role %s, and churn is for gnb_header: its contexts "
				    "have tunnels to a DU, which is not here. 'add --count' and "
				    "'delete' make and end contexts of this role",
				    gnb_client_welcome(cl)->kind);
	if (o->batch < 1 || o->batch > BATCH_MAX || o->ues < o->batch || o->ues % o->batch ||
	    o->ues - 1 > UINT32_MAX - o->first)
		return ap_error_set(err,
				    "--batch is 1..%d, --ues a multiple of it, and UE ids end at "
				    "%u",
				    BATCH_MAX, UINT32_MAX);
	c.busy = calloc(o->ues / o->batch, sizeof(*c.busy));
	c.made = calloc(o->ues, sizeof(*c.made));
	ctl_arena_init(&c.arena);
	rc = c.busy && c.made ? rounds(&c, start, err) : ap_error_set(err, "out of memory");
	if (rc == 0)
		rc = clear(&c, err);
	*seconds = now_s() - start;
	if (rc < 0 && c.left)
		fprintf(stderr, "churn: %u of the UEs from %u on are left\n", c.left, o->first);
	ctl_arena_fini(&c.arena);
	free(c.busy);
	free(c.made);
	*t = c.tally;
	return rc;
}

int
ctl_churn(struct gnb_client *cl, const struct ctl_churn *o)
{
	struct ap_error err = {0};
	struct ctl_tally t = {0};
	double seconds;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (ctl_churn_run(cl, o, &t, &seconds, &err) < 0) {
		fprintf(stderr, "airpath ctl churn: %s\n", err.text);
		return 1;
	}
	printf("{\"changes\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"seconds\": %.3f, "
	       "\"changes_per_s\": %.0f}\n",
	       t.done, t.failed, seconds, (double)t.done / seconds);
	return t.failed ? 1 : 0;
}
