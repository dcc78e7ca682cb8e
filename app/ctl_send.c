/* SPDX-License-Identifier: BSD-3-Clause */
/** Requests about contexts, many at once, and what became of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/ctl.h"
#include "modules/gnb/gnb_ctx.h"

#define BATCH 256
#define BATCH_BYTES 160000 /**< below what a message may have */
#define TOLD_MAX 10

void
ctl_tally_add(struct ctl_tally *t, const Airpath__Gnb__V1__Results *r)
{
	for (size_t i = 0; i < r->n_contexts; i++) {
		const Airpath__Gnb__V1__ContextResult *c = r->contexts[i];

		if (c->cause == AIRPATH__GNB__V1__CAUSE__OK) {
			t->done++;
			continue;
		}
		if (t->failed++ < TOLD_MAX)
			fprintf(stderr, "UE %u: %s\n", c->ue_id, c->error);
		if (t->failed == TOLD_MAX + 1)
			fprintf(stderr, "and further UEs\n");
	}
}

int
ctl_send_one(struct gnb_client *cl, Airpath__Gnb__V1__Request *q, struct ctl_tally *t,
	     struct ap_error *err)
{
	bool more = true;
	Airpath__Gnb__V1__Answer *a = gnb_client_ask(cl, q, err);

	while (a && more) {
		const Airpath__Gnb__V1__Reply *r =
			a->body_case == AIRPATH__GNB__V1__ANSWER__BODY_REPLY ? a->reply : NULL;

		if (r && r->body_case == AIRPATH__GNB__V1__REPLY__BODY_RESULTS) {
			ctl_tally_add(t, r->results);
			more = r->results->more;
		} else if (r) {
			more = false;
		}
		gnb_client_free(a);
		a = more ? gnb_client_receive(cl, GNB_CLIENT_TIMEOUT_MS, err) : NULL;
	}
	return more ? -EPROTO : 0;
}

/** Contexts that are sent together. */
struct batch {
	struct ctl_arena arena;
	Airpath__Gnb__V1__BearerContext *list[BATCH];
	unsigned nb;
	size_t bytes;
};

static int
batch_send(struct gnb_client *cl, struct batch *b, struct ctl_tally *t, struct ap_error *err)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextSetupRequest setup =
		AIRPATH__GNB__V1__BEARER_CONTEXT_SETUP_REQUEST__INIT;
	int rc;

	if (b->nb == 0)
		return 0;
	setup.n_contexts = b->nb;
	setup.contexts = b->list;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_SETUP;
	q.setup = &setup;
	rc = ctl_send_one(cl, &q, t, err);
	ctl_arena_reset(&b->arena);
	b->nb = 0;
	b->bytes = 0;
	return rc;
}

static int
context_send(struct gnb_client *cl, struct batch *b, const struct ctl_context *c,
	     struct ctl_tally *t, struct ap_error *err)
{
	uint32_t count = c->count ? c->count : 1;
	int rc = 0;

	if (count > GNB_SESSIONS_MAX || count - 1 > UINT32_MAX - c->ue)
		return ap_error_set(err,
				    "context of ue %u: count %u must be 1..%u, and UEs end at %u",
				    c->ue, count, GNB_SESSIONS_MAX, UINT32_MAX);
	for (uint32_t i = 0; i < count && rc == 0; i++) {
		Airpath__Gnb__V1__BearerContext *one = ctl_pack_context(&b->arena, c, i, err);

		if (one == NULL)
			return -EINVAL;
		b->list[b->nb++] = one;
		b->bytes += airpath__gnb__v1__bearer_context__get_packed_size(one) + 6;
		if (b->nb == BATCH || b->bytes > BATCH_BYTES)
			rc = batch_send(cl, b, t, err);
	}
	return rc;
}

int
ctl_send_file(struct gnb_client *cl, const struct ctl_file *f, struct ctl_tally *t,
	      struct ap_error *err)
{
	struct batch b = {0};
	int rc = 0;

	ctl_arena_init(&b.arena);
	for (unsigned i = 0; i < f->contexts_count && rc == 0; i++)
		rc = context_send(cl, &b, &f->contexts[i], t, err);
	if (rc == 0)
		rc = batch_send(cl, &b, t, err);
	ctl_arena_fini(&b.arena);
	return rc;
}
