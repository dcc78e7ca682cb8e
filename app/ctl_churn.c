/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath ctl … churn`: UEs come, change and go as fast as they are answered. A request is a
 * batch of contexts; some are under way at a time, as with a control plane that does not wait.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/ctl.h"

#define WINDOW 8 /**< requests not answered */
#define BATCH_MAX 1024
#define NAP_NS 100000

enum phase { SETUP, MODIFY, RELEASE, PHASES };

struct churn {
	struct gnb_client *cl;
	const struct ctl_churn *o;
	struct ctl_arena arena;
	struct ctl_tally tally;
	uint64_t next;      /**< batch and phase */
	unsigned under_way; /**< requests */
};

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
		list[i] = &changes[i];
	}
	m.n_contexts = c->o->batch;
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
		ids[i] = c->o->first + first + i;
	r.n_ue_ids = c->o->batch;
	r.ue_ids = ids;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_RELEASE;
	q.release = &r;
	return gnb_client_send(c->cl, &q, err);
}

/** The next request: all batches are set up, then changed, then released. */
static int
next_send(struct churn *c, struct ap_error *err)
{
	uint32_t batches = c->o->ues / c->o->batch;
	uint32_t first = (uint32_t)(c->next % batches) * c->o->batch;
	int rc;

	ctl_arena_reset(&c->arena);
	switch (c->next / batches % PHASES) {
	case SETUP:
		rc = setup_send(c, first, err);
		break;
	case MODIFY:
		rc = modify_send(c, first, err);
		break;
	default:
		rc = release_send(c, first, err);
	}
	c->next++;
	c->under_way++;
	return rc;
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
		ctl_tally_add(&c->tally, r->results);
		c->under_way -= !r->results->more;
		if (c->o->done)
			atomic_store(c->o->done, c->tally.done);
	} else if (r) {
		rc = ap_error_set(err, "%s", r->error);
	}
	gnb_client_free(a);
	return rc;
}

/** Until the time is over, and what was set up is gone. */
static int
churn(struct churn *c, double *seconds, struct ap_error *err)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const struct ctl_churn *o = c->o;
	const uint64_t round = (uint64_t)PHASES * (o->ues / o->batch);
	const double start = now_s();
	int rc = 0;

	while (rc == 0) {
		const double since = now_s() - start;
		const bool enough = o->stop ? atomic_load(o->stop) : since >= o->seconds;
		const bool over = enough && c->next % round == 0;
		const bool due = enough || o->rate == 0 ||
				 (double)(c->next * o->batch) <= since * (double)o->rate;

		if (over && c->under_way == 0)
			break;
		if (!over && due && c->under_way < WINDOW)
			rc = next_send(c, err);
		else if (c->under_way > 0)
			rc = reply_take(c, err);
		else
			nanosleep(&nap, NULL);
	}
	*seconds = now_s() - start;
	return rc;
}

int
ctl_churn_run(struct gnb_client *cl, const struct ctl_churn *o, struct ctl_tally *t,
	      double *seconds, struct ap_error *err)
{
	struct churn c = {.cl = cl, .o = o};
	int rc;

	if (o->batch < 1 || o->batch > BATCH_MAX || o->ues < o->batch || o->ues % o->batch)
		return ap_error_set(err, "--batch is 1..%d, and --ues a multiple of it", BATCH_MAX);
	ctl_arena_init(&c.arena);
	rc = churn(&c, seconds, err);
	ctl_arena_fini(&c.arena);
	*t = c.tally;
	return rc;
}

int
ctl_churn(struct gnb_client *cl, const struct ctl_churn *o)
{
	struct ap_error err = {0};
	struct ctl_tally t = {0};
	double seconds;

	if (ctl_churn_run(cl, o, &t, &seconds, &err) < 0) {
		fprintf(stderr, "churn: %s\n", err.text);
		return 1;
	}
	printf("{\"changes\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"seconds\": %.3f, "
	       "\"changes_per_s\": %.0f}\n",
	       t.done, t.failed, seconds, (double)t.done / seconds);
	return t.failed ? 1 : 0;
}
