/* SPDX-License-Identifier: BSD-3-Clause */
/** Requests of `airpath ctl` that take a word or a list of UEs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/ctl.h"

int
ctl_tell(const char *what, int rc, const struct ctl_tally *t, const struct ap_error *err)
{
	if (rc < 0)
		fprintf(stderr, "airpath ctl %s: %s\n", what, err->text);
	else
		printf("%" PRIu64 " done, %" PRIu64 " refused\n", t->done, t->failed);
	return rc < 0 || t->failed ? 1 : 0;
}

static int
release_send(struct gnb_client *cl, uint32_t *ues, size_t nb, struct ctl_tally *t,
	     struct ap_error *err)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextReleaseCommand r =
		AIRPATH__GNB__V1__BEARER_CONTEXT_RELEASE_COMMAND__INIT;

	r.n_ue_ids = nb;
	r.ue_ids = ues;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_RELEASE;
	q.release = &r;
	return ctl_send_one(cl, &q, t, err);
}

/** @return how many UEs there are from 0 on, at most 256; < 0 with `err` filled */
static int
ues_get(struct gnb_client *cl, uint32_t ues[256], struct ap_error *err)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__ContextQuery query = AIRPATH__GNB__V1__CONTEXT_QUERY__INIT;
	Airpath__Gnb__V1__Answer *a;
	int nb = 0;

	query.max = 256;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_QUERY;
	q.query = &query;
	a = gnb_client_ask(cl, &q, err);
	if (a == NULL)
		return -EPROTO;
	for (size_t i = 0; i < a->reply->contexts->n_contexts && nb < 256; i++)
		ues[nb++] = a->reply->contexts->contexts[i]->ue_id;
	gnb_client_free(a);
	return nb;
}

int
ctl_delete(struct gnb_client *cl, int argc, char **argv)
{
	struct ap_error err = {0};
	struct ctl_tally t = {0};
	uint32_t ues[256];
	int nb = 0, rc = 0;

	if (argc == 2 && strcmp(argv[1], "--all") == 0) {
		while (rc == 0 && t.failed == 0 && (nb = ues_get(cl, ues, &err)) > 0)
			rc = release_send(cl, ues, (size_t)nb, &t, &err);
		return ctl_tell("delete", nb < 0 ? nb : rc, &t, &err);
	}
	if (argc < 2)
		rc = ap_error_set(&err, "which UE? Numbers are wanted, or --all");
	for (int i = 1; i < argc && rc == 0; i++) {
		if (ctl_text_number(argv[i], UINT32_MAX, &ues[nb++]) < 0)
			rc = ap_error_set(&err, "'%s' is no UE", argv[i]);
		else if (nb == 256 || i == argc - 1) {
			rc = release_send(cl, ues, (size_t)nb, &t, &err);
			nb = 0;
		}
	}
	return ctl_tell("delete", rc, &t, &err);
}

/** A request that is answered without results. */
static int
simple_send(struct gnb_client *cl, const char *what, Airpath__Gnb__V1__Request *q)
{
	struct ap_error err = {0};
	Airpath__Gnb__V1__Answer *a = gnb_client_ask(cl, q, &err);

	if (a == NULL)
		fprintf(stderr, "airpath ctl %s: %s\n", what, err.text);
	gnb_client_free(a);
	return a ? 0 : 1;
}

int
ctl_offload(struct gnb_client *cl, const char *percent)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__OffloadShare share = AIRPATH__GNB__V1__OFFLOAD_SHARE__INIT;

	if (ctl_text_number(percent, 100, &share.percent) < 0) {
		fprintf(stderr, "airpath ctl offload: '%s' is no share of 0..100 %%\n", percent);
		return 2;
	}
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_OFFLOAD;
	q.offload = &share;
	return simple_send(cl, "offload", &q);
}

int
ctl_complete(struct gnb_client *cl)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__Complete complete = AIRPATH__GNB__V1__COMPLETE__INIT;

	complete.complete = true;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_COMPLETE;
	q.complete = &complete;
	return simple_send(cl, "complete", &q);
}

int
ctl_echo(struct gnb_client *cl, const char *seconds)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__PathSupervision paths = AIRPATH__GNB__V1__PATH_SUPERVISION__INIT;

	if (ctl_text_number(seconds, 86400, &paths.echo_interval_s) < 0) {
		fprintf(stderr, "airpath ctl echo: '%s' is no number of seconds\n", seconds);
		return 2;
	}
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_PATHS;
	q.paths = &paths;
	return simple_send(cl, "echo", &q);
}
