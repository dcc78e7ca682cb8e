/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the above before it. */
#include <cmocka.h>

#include <sys/socket.h>

#include "modules/gnb/gnb_client.h"
#include "modules/gnb/gnb_control_rig.h"
#include "tests/support/test_eal.h"

typedef Airpath__Gnb__V1__BearerContext Context;
typedef Airpath__Gnb__V1__ContextResult Result;

/* --- requests --------------------------------------------------------------------------------- */

/** A UE with one session and two DRBs, as a client would say it; tests change what they are about.
 */
struct ue {
	Context context, *contexts[1];
	GnbPduSession session, *sessions[2];
	GnbDrb drb[2], *drbs[2];
	GnbTunnel upf, du[2];
	uint32_t qfis[2];
	Airpath__Gnb__V1__BearerContextSetupRequest setup;
};

static uint8_t upf_4[4] = {192, 168, 1, 9}, du_4[4] = {10, 0, 0, 7}, other_4[4] = {192, 168, 1, 10};

static void
ue_make(struct ue *u, uint32_t id)
{
	airpath__gnb__v1__bearer_context__init(&u->context);
	airpath__gnb__v1__pdu_session__init(&u->session);
	airpath__gnb__v1__tunnel__init(&u->upf);
	airpath__gnb__v1__bearer_context_setup_request__init(&u->setup);
	for (unsigned i = 0; i < 2; i++) {
		airpath__gnb__v1__drb__init(&u->drb[i]);
		airpath__gnb__v1__tunnel__init(&u->du[i]);
		u->qfis[i] = 9 - i;
		u->drb[i].id = 4 + i;
		u->drb[i].n_qfis = 1;
		u->drb[i].qfis = &u->qfis[i];
		u->drb[i].dl_up = &u->du[i];
		u->du[i].teid = 0x5000 + i;
		u->du[i].address = (ProtobufCBinaryData){4, du_4};
		u->drbs[i] = &u->drb[i];
	}
	u->upf.teid = 0x7000 + id;
	u->upf.address = (ProtobufCBinaryData){4, upf_4};
	u->session.id = 5;
	u->session.ul_up = &u->upf;
	u->session.n_drbs = 2;
	u->session.drbs = u->drbs;
	u->sessions[0] = &u->session;
	u->context.ue_id = id;
	u->context.n_pdu_sessions = 1;
	u->context.pdu_sessions = u->sessions;
	u->contexts[0] = &u->context;
	u->setup.n_contexts = 1;
	u->setup.contexts = u->contexts;
}

static GnbAnswer *
ask(struct gnb_client *cl, GnbRequest *q, const char *refused)
{
	struct ap_error err = {0};
	GnbAnswer *a = gnb_client_ask(cl, q, &err);

	if (refused) {
		assert_null(a);
		assert_non_null(strstr(err.text, refused));
	} else if (a == NULL) {
		fail_msg("%s", err.text);
	}
	return a;
}

static GnbAnswer *
ask_setup(struct gnb_client *cl, struct ue *u)
{
	GnbRequest q = AIRPATH__GNB__V1__REQUEST__INIT;

	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_SETUP;
	q.setup = &u->setup;
	return ask(cl, &q, NULL);
}

/** @return TEID of the session. */
static uint32_t
setup(struct gnb_client *cl, uint32_t id)
{
	struct ue u;
	GnbAnswer *a;
	uint32_t teid;

	ue_make(&u, id);
	a = ask_setup(cl, &u);
	assert_int_equal(a->reply->results->contexts[0]->cause, GNB_CAUSE(OK));
	teid = a->reply->results->contexts[0]->pdu_sessions[0]->dl_teid;
	gnb_client_free(a);
	return teid;
}

static GnbCause
release(struct gnb_client *cl, uint32_t id)
{
	GnbRequest q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextReleaseCommand r =
		AIRPATH__GNB__V1__BEARER_CONTEXT_RELEASE_COMMAND__INIT;
	GnbAnswer *a;
	GnbCause cause;

	r.n_ue_ids = 1;
	r.ue_ids = &id;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_RELEASE;
	q.release = &r;
	a = ask(cl, &q, NULL);
	cause = a->reply->results->contexts[0]->cause;
	gnb_client_free(a);
	return cause;
}

static Airpath__Gnb__V1__BearerContextChange
change_of(uint32_t ue_id)
{
	Airpath__Gnb__V1__BearerContextChange change =
		AIRPATH__GNB__V1__BEARER_CONTEXT_CHANGE__INIT;

	change.ue_id = ue_id;
	return change;
}

static GnbAnswer *
modify(struct gnb_client *cl, Airpath__Gnb__V1__BearerContextChange *change)
{
	GnbRequest q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextModificationRequest m =
		AIRPATH__GNB__V1__BEARER_CONTEXT_MODIFICATION_REQUEST__INIT;

	m.n_contexts = 1;
	m.contexts = &change;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_MODIFICATION;
	q.modification = &m;
	return ask(cl, &q, NULL);
}

struct fixture {
	struct rig *rig;
	struct gnb_client client;
};

static struct fixture
fixture_make(uint32_t sessions, unsigned drbs)
{
	struct fixture f = {.rig = rig_make(2, sessions, drbs, true)};
	struct ap_error err = {0};

	assert_non_null(f.rig);
	assert_int_equal(gnb_control_start(f.rig->control, &err), 0);
	assert_int_equal(gnb_client_open(&f.client, f.rig->socket, true, &err), 0);
	return f;
}

static void
fixture_free(struct fixture *f)
{
	gnb_client_close(&f->client);
	rig_free(f->rig);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void
a_client_is_welcomed(void **state)
{
	struct fixture f = fixture_make(16, 2);
	const Airpath__Gnb__V1__Welcome *w = gnb_client_welcome(&f.client);

	(void)state;
	assert_string_equal(w->kind, "gnb_header");
	assert_int_equal(w->n_interfaces, 3);
	assert_true(w->interfaces[0]->n3 && !w->interfaces[0]->f1);
	assert_true(w->interfaces[1]->f1 && !w->interfaces[1]->n3);
	assert_memory_equal(w->interfaces[0]->ip4.data, n3_4, 4);
	assert_int_equal(w->workers, 2);
	assert_int_equal(w->sessions_max, 16);
	assert_int_equal(w->drbs_per_session, 2);
	fixture_free(&f);
}

static void
a_context_reaches_its_worker(void **state)
{
	struct fixture f = fixture_make(16, 2);
	struct gnb_table *t = f.rig->cfg.table;
	struct ue u;
	const Airpath__Gnb__V1__PduSessionResult *r;
	const struct gnb_session *s;
	const struct gnb_drb *d;
	GnbAnswer *a;

	(void)state;
	ue_make(&u, 1);
	u.drb[1].rlc_mode = AIRPATH__GNB__V1__RLC_MODE__AM;
	u.drb[1].pdcp_sn_bits = 12;
	u.drb[1].dl_count = 77;
	a = ask_setup(&f.client, &u);
	assert_int_equal(a->reply->results->contexts[0]->cause, GNB_CAUSE(OK));
	r = a->reply->results->contexts[0]->pdu_sessions[0];
	assert_int_equal(r->id, 5);
	assert_int_equal(r->n_drbs, 2);
	assert_int_equal(r->drbs[1]->ul_teid, gnb_teid_with_slot(r->dl_teid, 1));
	assert_int_equal(r->drbs[1]->dl_count, 77);
	s = gnb_session_at(t, r->dl_teid);
	assert_true(gnb_session_is(s, r->dl_teid));
	assert_int_equal(s->ul_teid, 0x7001);
	assert_memory_equal(f.rig->peers.peer[s->upf].key.ip, upf_4, 4);
	assert_int_equal(gnb_slot_of_qfi(s, 8), 1);
	d = gnb_drb_at(t, r->dl_teid, 1);
	assert_int_equal(d->config.id, 5);
	assert_int_equal(d->config.du_teid, 0x5001);
	assert_int_equal(f.rig->peers.peer[d->config.du].key.interface, N6);
	assert_int_equal(gnb_formats[d->config.format].dl_bytes, 3 + 2);
	gnb_client_free(a);
	assert_int_equal(release(&f.client, 1), GNB_CAUSE(OK));
	assert_int_equal(s->teid, 0);
	assert_int_equal(f.rig->peers.live, 0);
	assert_int_equal(release(&f.client, 1), GNB_CAUSE(UNKNOWN_UE));
	fixture_free(&f);
}

static void
a_context_changes_whole_or_not_at_all(void **state)
{
	struct fixture f = fixture_make(16, 2);
	uint32_t teid = setup(&f.client, 1), bad_drb = 9, good_drb = 4;
	struct gnb_table *t = f.rig->cfg.table;
	const struct gnb_session before = *gnb_session_at(t, teid);
	Airpath__Gnb__V1__BearerContextChange change = change_of(1);
	Airpath__Gnb__V1__PduSessionChange pdu = AIRPATH__GNB__V1__PDU_SESSION_CHANGE__INIT,
					   *pdus = &pdu;
	struct ue more;
	GnbAnswer *a;
	const Result *r;

	(void)state;
	/* A new UPF, and a second session, and a DRB that is not there. */
	ue_make(&more, 1);
	more.session.id = 6;
	more.upf.address.data = other_4;
	pdu.id = 5;
	pdu.ul_up = &more.upf;
	pdu.n_remove_drbs = 1;
	pdu.remove_drbs = &bad_drb;
	change.n_modify = 1;
	change.modify = &pdus;
	change.n_setup = 1;
	change.setup = more.sessions;
	a = modify(&f.client, &change);
	r = a->reply->results->contexts[0];
	assert_int_equal(r->cause, GNB_CAUSE(UNKNOWN_DRB));
	assert_string_equal(r->error, "PDU session 5 has no DRB 9");
	assert_int_equal(r->n_pdu_sessions, 0);
	gnb_client_free(a);
	assert_memory_equal(&before, gnb_session_at(t, teid), sizeof(before));
	assert_int_equal(f.rig->control->ids.nb, 1);
	assert_int_equal(f.rig->peers.live, 2);

	pdu.remove_drbs = &good_drb;
	a = modify(&f.client, &change);
	r = a->reply->results->contexts[0];
	assert_int_equal(r->cause, GNB_CAUSE(OK));
	assert_int_equal(r->n_pdu_sessions, 2);
	assert_int_equal(r->pdu_sessions[0]->dl_teid, teid);
	assert_int_equal(r->pdu_sessions[0]->n_drbs, 1);
	gnb_client_free(a);
	assert_int_equal(gnb_slot_of_qfi(gnb_session_at(t, teid), 9), GNB_NO_DRB);
	assert_int_equal(gnb_slot_of_qfi(gnb_session_at(t, teid), 8), 1);
	assert_int_equal(f.rig->control->ids.nb, 2);
	assert_int_equal(f.rig->peers.live, 2); /* upf_4 is nobody's now */
	assert_int_equal(release(&f.client, 1), GNB_CAUSE(OK));
	assert_int_equal(f.rig->control->ids.nb, 0);
	assert_int_equal(f.rig->control->nb_drbs, 0);
	assert_int_equal(f.rig->peers.live, 0);
	fixture_free(&f);
}

static void
nothing_left(const struct fixture *f)
{
	assert_int_equal(f->rig->control->ids.nb, 0);
	assert_int_equal(f->rig->peers.live, 0);
	assert_int_equal(f->rig->control->ues.nb, 0);
}

struct wrong {
	const char *why;
	GnbCause cause;
	void (*make)(struct ue *u);
};

#define WRONG(name, statement)                                                                     \
	static void name(struct ue *u)                                                             \
	{                                                                                          \
		statement;                                                                         \
	}

WRONG(no_session, u->context.n_pdu_sessions = 0)
WRONG(session_0, u->session.id = 0)
WRONG(session_twice, u->sessions[1] = u->sessions[0]; u->context.n_pdu_sessions = 2)
WRONG(no_upf, u->session.ul_up = NULL)
WRONG(upf_teid_0, u->upf.teid = 0)
WRONG(upf_address_of_5, u->upf.address = ((ProtobufCBinaryData){5, (uint8_t *)"12345"}))
WRONG(upf_by_n6, u->upf.interface = N6)
WRONG(upf_by_9, u->upf.interface = 9)
WRONG(no_drb, u->session.n_drbs = 0)
WRONG(drb_33, u->drb[1].id = 33)
WRONG(drb_twice, u->drb[1].id = 4)
WRONG(qfi_64, u->qfis[1] = 64)
WRONG(qfi_twice, u->qfis[1] = 9)
WRONG(no_du, u->drb[1].dl_up = NULL)
WRONG(sn_of_13, u->drb[0].pdcp_sn_bits = 13)
WRONG(am_of_6, u->drb[0].rlc_mode = AIRPATH__GNB__V1__RLC_MODE__AM; u->drb[0].rlc_sn_bits = 6)
WRONG(mode_7, u->drb[0].rlc_mode = 7)
WRONG(lcid_3, u->drb[0].lcid = 3)

static void
wrong_contexts_are_refused(void **state)
{
	static const struct wrong wrongs[] = {
		{"no PDU session in it", GNB_CAUSE(SEMANTIC_ERROR), no_session},
		{"1..255", GNB_CAUSE(SEMANTIC_ERROR), session_0},
		{"PDU session 5 is there already", GNB_CAUSE(MULTIPLE_PDU_SESSION), session_twice},
		{"PDU session 5 has no tunnel to its UPF", GNB_CAUSE(SEMANTIC_ERROR), no_upf},
		{"PDU session 5: tunnel to the UPF: TEID 0", GNB_CAUSE(SEMANTIC_ERROR), upf_teid_0},
		{"PDU session 5: tunnel to the UPF: an address of 5", GNB_CAUSE(SEMANTIC_ERROR),
		 upf_address_of_5},
		{"not of the type", GNB_CAUSE(TRANSPORT), upf_by_n6},
		{"interface 9 is none of 1..3", GNB_CAUSE(TRANSPORT), upf_by_9},
		{"0 DRBs", GNB_CAUSE(SEMANTIC_ERROR), no_drb},
		{"DRB ID 33 is not 1..32", GNB_CAUSE(SEMANTIC_ERROR), drb_33},
		{"has DRB 4 already", GNB_CAUSE(MULTIPLE_DRB), drb_twice},
		{"DRB 5: QFI 64 is not 0..63", GNB_CAUSE(SEMANTIC_ERROR), qfi_64},
		{"QFI 9 is mapped", GNB_CAUSE(SEMANTIC_ERROR), qfi_twice},
		{"DRB 5 has no tunnel to its DU", GNB_CAUSE(SEMANTIC_ERROR), no_du},
		{"13 bits", GNB_CAUSE(SEMANTIC_ERROR), sn_of_13},
		{"6 bits", GNB_CAUSE(SEMANTIC_ERROR), am_of_6},
		{"RLC mode 7", GNB_CAUSE(SEMANTIC_ERROR), mode_7},
		{"LCID 3 is not 4..32", GNB_CAUSE(SEMANTIC_ERROR), lcid_3},
	};
	struct fixture f = fixture_make(16, 2);

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(wrongs); i++) {
		struct ue u;
		GnbAnswer *a;
		const Result *r;

		ue_make(&u, 1);
		wrongs[i].make(&u);
		a = ask_setup(&f.client, &u);
		r = a->reply->results->contexts[0];
		if (strstr(r->error, wrongs[i].why) == NULL)
			fail_msg("%u: '%s' says nothing of '%s'", i, r->error, wrongs[i].why);
		assert_int_equal(r->cause, wrongs[i].cause);
		gnb_client_free(a);
		nothing_left(&f);
	}
	fixture_free(&f);
}

static void
role_that_does_not_cipher_says_so(void **state)
{
	struct fixture f = fixture_make(16, 2);
	Airpath__Gnb__V1__SecurityInformation security =
		AIRPATH__GNB__V1__SECURITY_INFORMATION__INIT;
	struct ue u;
	GnbAnswer *a;

	(void)state;
	ue_make(&u, 1);
	u.context.security = &security;
	a = ask_setup(&f.client, &u);
	assert_int_equal(a->reply->results->contexts[0]->cause, GNB_CAUSE(OK));
	gnb_client_free(a);
	security.nea = 2;
	u.context.ue_id = 2;
	a = ask_setup(&f.client, &u);
	assert_int_equal(a->reply->results->contexts[0]->cause, GNB_CAUSE(SECURITY));
	gnb_client_free(a);
	fixture_free(&f);
}

static void
a_full_table_refuses_and_goes_on(void **state)
{
	struct fixture f = fixture_make(2, 2);
	struct ue u;
	GnbAnswer *a;

	(void)state;
	setup(&f.client, 1);
	setup(&f.client, 2);
	ue_make(&u, 3);
	a = ask_setup(&f.client, &u);
	assert_int_equal(a->reply->results->contexts[0]->cause, GNB_CAUSE(NO_RESOURCES));
	assert_non_null(strstr(a->reply->results->contexts[0]->error, "table full: 2"));
	gnb_client_free(a);
	assert_int_equal(f.rig->control->ids.nb, 2);
	/* A UE that is there cannot be set up again. */
	ue_make(&u, 2);
	a = ask_setup(&f.client, &u);
	assert_int_equal(a->reply->results->contexts[0]->cause, GNB_CAUSE(UE_IN_USE));
	gnb_client_free(a);
	fixture_free(&f);
}

static void
an_error_indication_stops_the_uplink(void **state)
{
	struct fixture f = fixture_make(16, 2);
	uint32_t teid = setup(&f.client, 1);
	const struct gnb_session *s = gnb_session_at(f.rig->cfg.table, teid);
	struct upf_report r = {.kind = UPF_REPORT_ERROR, .error = {.teid = 0x7001}};
	struct gnb_report count = {.kind = GNB_REPORT_COUNT_LIMIT,
				   .teid = gnb_teid_with_slot(teid, 1),
				   .count = UINT32_MAX};
	struct gnb_report late = {.kind = GNB_REPORT_COUNT_LIMIT, .teid = teid + (1 << 24)};
	Airpath__Gnb__V1__BearerContextChange change = change_of(1);
	Airpath__Gnb__V1__PduSessionChange pdu = AIRPATH__GNB__V1__PDU_SESSION_CHANGE__INIT,
					   *pdus = &pdu;
	struct ap_error err = {0};
	struct ue u;
	GnbAnswer *a;

	(void)state;
	r.error.peer[10] = r.error.peer[11] = 0xFF;
	memcpy(r.error.peer + 12, upf_4, 4);
	/* Rings have one producer: this is the worker of no thread. */
	assert_true(upf_report_put(f.rig->cfg.workers[0].edge_reports, &r));
	a = gnb_client_receive(&f.client, 5000, &err);
	assert_non_null(a);
	assert_int_equal(a->event->number, 1);
	assert_int_equal(a->event->error_indication->ue_id, 1);
	assert_int_equal(a->event->error_indication->pdu_session, 5);
	assert_int_equal(a->event->error_indication->drb, 0);
	gnb_client_free(a);
	/* Another tunnel of the UPF brings it back. */
	ue_make(&u, 1);
	u.upf.teid = 0x8001;
	pdu.id = 5;
	pdu.ul_up = &u.upf;
	change.n_modify = 1;
	change.modify = &pdus;
	assert_true(gnb_report_put(f.rig->cfg.workers[1].reports, &late));
	assert_true(gnb_report_put(f.rig->cfg.workers[1].reports, &count));
	a = gnb_client_receive(&f.client, 5000, &err);
	assert_int_equal(a->event->number, 2);
	assert_int_equal(a->event->count->drb, 5);
	assert_true(a->event->count->at_limit);
	gnb_client_free(a);
	/* The event does not wait for the worker. */
	for (unsigned i = 0; i < 5000 && s->flags == 0; i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(s->flags, GNB_SESSION_UL_STOPPED);
	gnb_client_free(modify(&f.client, &change));
	assert_int_equal(s->flags, 0);
	assert_int_equal(s->ul_teid, 0x8001);
	fixture_free(&f);
}

static void
contexts_are_listed_in_chunks(void **state)
{
	struct fixture f = fixture_make(1024, 2);
	uint32_t next = 0, seen = 0;
	bool more = true;

	(void)state;
	for (uint32_t id = 0; id < 600; id++)
		setup(&f.client, id);
	while (more) {
		GnbRequest q = AIRPATH__GNB__V1__REQUEST__INIT;
		Airpath__Gnb__V1__ContextQuery query = AIRPATH__GNB__V1__CONTEXT_QUERY__INIT;
		GnbAnswer *a;

		query.ue_id = next;
		q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_QUERY;
		q.query = &query;
		a = ask(&f.client, &q, NULL);
		for (size_t i = 0; i < a->reply->contexts->n_contexts; i++, seen++) {
			const Airpath__Gnb__V1__ContextView *v = a->reply->contexts->contexts[i];

			assert_int_equal(v->ue_id, seen);
			assert_int_equal(v->pdu_sessions[0]->session->ul_up->teid, 0x7000 + seen);
			assert_int_equal(v->pdu_sessions[0]->session->drbs[1]->qfis[0], 8);
		}
		more = a->reply->contexts->more;
		next = seen;
		gnb_client_free(a);
	}
	assert_int_equal(seen, 600);
	fixture_free(&f);
}

static void
a_share_is_set_once_it_can_be(void **state)
{
	struct fixture f = fixture_make(16, 2);
	GnbRequest q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__OffloadShare share = AIRPATH__GNB__V1__OFFLOAD_SHARE__INIT;
	GnbAnswer *a;

	(void)state;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_OFFLOAD;
	q.offload = &share;
	share.percent = 40;
	a = ask(&f.client, &q, NULL);
	assert_int_equal(a->reply->status->offload_percent, 40);
	assert_int_equal(f.rig->percent, 40);
	gnb_client_free(a);
	share.percent = 101;
	ask(&f.client, &q, "0..100");
	f.rig->control->cfg.offload = NULL;
	ask(&f.client, &q, "no SmartNIC");
	fixture_free(&f);
}

static void
clients_do_not_disturb_each_other(void **state)
{
	struct fixture f = fixture_make(16, 2);
	struct gnb_client other;
	struct ap_error err = {0};
	uint8_t garbage[3] = {0xFF, 0xFF, 0xFF};

	(void)state;
	setup(&f.client, 1);
	assert_int_equal(gnb_client_open(&other, f.rig->socket, false, &err), 0);
	assert_int_equal(send(other.fd, garbage, sizeof(garbage), 0), 3);
	assert_null(gnb_client_receive(&other, 5000, &err));
	assert_non_null(strstr(err.text, "hung up"));
	gnb_client_close(&other);
	setup(&f.client, 2);
	assert_int_equal(release(&f.client, 1), GNB_CAUSE(OK));
	fixture_free(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_is_welcomed),
		cmocka_unit_test(a_context_reaches_its_worker),
		cmocka_unit_test(a_context_changes_whole_or_not_at_all),
		cmocka_unit_test(wrong_contexts_are_refused),
		cmocka_unit_test(role_that_does_not_cipher_says_so),
		cmocka_unit_test(a_full_table_refuses_and_goes_on),
		cmocka_unit_test(an_error_indication_stops_the_uplink),
		cmocka_unit_test(contexts_are_listed_in_chunks),
		cmocka_unit_test(a_share_is_set_once_it_can_be),
		cmocka_unit_test(clients_do_not_disturb_each_other),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
