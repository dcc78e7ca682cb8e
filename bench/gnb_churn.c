/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/ctl.h"
#include "bench/gnb_churn.h"
#include "bench/gnb_wire.h"
#include "bench/upf_bed_impl.h"
#include "core/clock.h"

#define BATCH 128U
#define CHURN_UES 4096
#define CHURN_FIRST (1U << 24) /**< UE IDs from here on */

/* --- contexts that carry packets -------------------------------------------------------------- */

static const char *
address(char *text, uint32_t first, uint32_t more)
{
	const struct in_addr a = {htonl(ntohl(first) + more)};

	return inet_ntop(AF_INET, &a, text, INET_ADDRSTRLEN);
}

static Airpath__Gnb__V1__BearerContext *
context(const struct upf_bed *b, struct ctl_arena *arena, uint32_t i, struct ap_error *err)
{
	static uint32_t qfi = UPF_WIRE_QFI;
	char upf_text[INET_ADDRSTRLEN], du_text[INET_ADDRSTRLEN];
	struct ctl_tunnel upf = {.address = upf_text, .teid = gnb_wire_upf_teid(i)};
	struct ctl_tunnel du = {.address = du_text, .teid = gnb_wire_du_teid(i)};
	struct ctl_drb drb = {
		.id = 1, .qfis = &qfi, .qfis_count = 1, .is_default = true, .du = &du};
	struct ctl_session session = {.id = 1, .upf = &upf, .drbs = &drb, .drbs_count = 1};
	const struct ctl_context c = {.ue = i, .sessions = &session, .sessions_count = 1};

	address(upf_text, b->wire.cfg.gnb_ip, i % GNB_WIRE_PEERS);
	address(du_text, b->wire.cfg.server_ip, i % GNB_WIRE_PEERS);
	return ctl_pack_context(arena, &c, 0, err);
}

/** @return 0, or -errno with `err` filled: a session was not set up */
static int
results_take(struct upf_bed *b, const Airpath__Gnb__V1__Results *r, struct ap_error *err)
{
	for (size_t k = 0; k < r->n_contexts; k++) {
		const Airpath__Gnb__V1__ContextResult *c = r->contexts[k];

		if (c->cause != AIRPATH__GNB__V1__CAUSE__OK || c->n_pdu_sessions != 1 ||
		    c->ue_id >= b->cfg.sessions)
			return ap_error_set(err, "session %u: %s", c->ue_id, c->error);
		b->gen.sessions[c->ue_id].teid = htonl(c->pdu_sessions[0]->dl_teid);
	}
	return 0;
}

/** Sets up sessions from `first` on. @return how many, or -errno with `err` filled */
static int
batch(struct upf_bed *b, struct gnb_client *cl, struct ctl_arena *arena, uint32_t first,
      struct ap_error *err)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextSetupRequest setup =
		AIRPATH__GNB__V1__BEARER_CONTEXT_SETUP_REQUEST__INIT;
	Airpath__Gnb__V1__BearerContext *list[BATCH];
	Airpath__Gnb__V1__Answer *a;
	bool more = true;

	setup.contexts = list;
	while (setup.n_contexts < RTE_MIN(BATCH, b->cfg.sessions - first)) {
		const uint32_t i = first + (uint32_t)setup.n_contexts;

		list[setup.n_contexts] = context(b, arena, i, err);
		if (list[setup.n_contexts++] == NULL)
			return -EINVAL;
	}
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_SETUP;
	q.setup = &setup;
	for (a = gnb_client_ask(cl, &q, err); a && more;
	     a = more ? gnb_client_receive(cl, GNB_CLIENT_TIMEOUT_MS, err) : NULL) {
		int rc = -EPROTO;

		more = false;
		if (a->body_case == AIRPATH__GNB__V1__ANSWER__BODY_REPLY &&
		    a->reply->body_case == AIRPATH__GNB__V1__REPLY__BODY_RESULTS) {
			rc = results_take(b, a->reply->results, err);
			more = a->reply->results->more;
		}
		gnb_client_free(a);
		if (rc < 0)
			return rc;
	}
	return more ? -EPROTO : (int)setup.n_contexts;
}

int
gnb_churn_install(struct upf_bed *b, struct ap_error *err)
{
	const uint64_t start = ap_clock_ns();
	struct ctl_arena arena;
	struct gnb_client cl;
	int rc = gnb_client_open(&cl, b->socket, false, err);

	ctl_arena_init(&arena);
	for (uint32_t i = 0; rc >= 0 && i < b->cfg.sessions; i += (uint32_t)rc) {
		rc = batch(b, &cl, &arena, i, err);
		ctl_arena_reset(&arena);
	}
	ctl_arena_fini(&arena);
	gnb_client_close(&cl);
	b->install.seconds = (double)(ap_clock_ns() - start) / 1e9;
	if (rc >= 0)
		fprintf(stderr, "%u sessions in %.1f s\n", b->cfg.sessions, b->install.seconds);
	return RTE_MIN(rc, 0);
}

/* --- contexts that come and go ---------------------------------------------------------------- */

struct gnb_churn {
	struct gnb_client client;
	pthread_t thread;
	char upf[INET_ADDRSTRLEN], du[INET_ADDRSTRLEN];
	struct ctl_churn how;
	struct ctl_tally tally;
	struct ap_error err;
	int rc;
	_Atomic bool stop;
	_Atomic uint64_t done;
};

static void *
churn_main(void *arg)
{
	struct gnb_churn *c = arg;
	double seconds;

	c->rc = ctl_churn_run(&c->client, &c->how, &c->tally, &seconds, &c->err);
	return NULL;
}

struct gnb_churn *
gnb_churn_start(const struct upf_bed *b, uint32_t rate, struct ap_error *err)
{
	struct gnb_churn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	address(c->upf, b->wire.cfg.gnb_ip, 0);
	address(c->du, b->wire.cfg.server_ip, 0);
	c->how = (struct ctl_churn){.ues = CHURN_UES,
				    .first = CHURN_FIRST,
				    .batch = BATCH,
				    .rate = rate,
				    .stop = &c->stop,
				    .done = &c->done,
				    .upf = c->upf,
				    .du = c->du};
	if (gnb_client_open(&c->client, b->socket, false, err) == 0) {
		if (pthread_create(&c->thread, NULL, churn_main, c) == 0)
			return c;
		ap_error_set(err, "no thread");
	}
	gnb_client_close(&c->client);
	free(c);
	return NULL;
}

uint64_t
gnb_churn_done(const struct gnb_churn *c)
{
	return atomic_load(&c->done);
}

int64_t
gnb_churn_stop(struct gnb_churn *c)
{
	int64_t rc;

	atomic_store(&c->stop, true);
	pthread_join(c->thread, NULL);
	if (c->rc < 0)
		fprintf(stderr, "changes of contexts: %s\n", c->err.text);
	rc = c->rc < 0 ? c->rc : (int64_t)c->tally.failed;
	gnb_client_close(&c->client);
	free(c);
	return rc;
}
