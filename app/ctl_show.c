/* SPDX-License-Identifier: BSD-3-Clause */
/** What `airpath ctl` shows: contexts, status, events. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/ctl.h"

typedef Airpath__Gnb__V1__PduSessionView SessionView;
typedef Airpath__Gnb__V1__DrbView DrbView;

static const char *
address_text(const ProtobufCBinaryData *a, char text[INET6_ADDRSTRLEN])
{
	if ((a->len != 4 && a->len != 16) ||
	    inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->data, text, INET6_ADDRSTRLEN) == NULL)
		return "?";
	return text;
}

static void
print_tunnel(const char *name, const Airpath__Gnb__V1__Tunnel *t)
{
	char text[INET6_ADDRSTRLEN];

	if (t)
		printf(" %s %s/0x%08x", name, address_text(&t->address, text), t->teid);
}

static void
print_drb(const Airpath__Gnb__V1__Drb *d, const DrbView *v)
{
	static const char *const modes[] = {"um", "tm", "am"};

	printf("    drb %u%s qfi", d->id, d->default_drb ? " default" : "");
	for (size_t i = 0; i < d->n_qfis; i++)
		printf("%s%u", i ? "+" : " ", d->qfis[i]);
	printf(" pdcp %u rlc %s %u%s%s", d->pdcp_sn_bits,
	       (unsigned)d->rlc_mode < 3 ? modes[d->rlc_mode] : "?", d->rlc_sn_bits,
	       d->sdap_ul_header ? "" : " no-sdap-ul", d->sdap_dl_header ? "" : " no-sdap-dl");
	print_tunnel("du", d->dl_up);
	if (v->ul_teid)
		printf(" our 0x%08x", v->ul_teid);
	printf(" count %u%s\n", v->dl_count, v->on_nic ? " nic" : "");
	printf("      dl %" PRIu64 " packets %" PRIu64 " B, ul %" PRIu64 " packets %" PRIu64
	       " B, drops %" PRIu64 "\n",
	       v->dl_packets, v->dl_bytes, v->ul_packets, v->ul_bytes, v->drops);
}

static void
print_context(const Airpath__Gnb__V1__ContextView *c)
{
	for (size_t i = 0; i < c->n_pdu_sessions; i++) {
		const SessionView *v = c->pdu_sessions[i];

		printf("ue %u session %u", c->ue_id, v->session->id);
		print_tunnel("upf", v->session->ul_up);
		print_tunnel("forward", v->session->forwarding);
		printf(" our 0x%08x worker %u%s\n", v->dl_teid, v->worker,
		       v->ul_stopped ? " uplink stopped" : "");
		for (size_t k = 0; k < v->n_drbs && k < v->session->n_drbs; k++)
			print_drb(v->session->drbs[k], v->drbs[k]);
	}
}

static void
json_tunnel(const char *name, const Airpath__Gnb__V1__Tunnel *t)
{
	char text[INET6_ADDRSTRLEN];

	if (t)
		printf(",\"%s\":{\"address\":\"%s\",\"teid\":%u,\"interface\":%u}", name,
		       address_text(&t->address, text), t->teid, t->interface);
}

static void
json_drb(const Airpath__Gnb__V1__Drb *d, const DrbView *v, bool first)
{
	static const char *const modes[] = {"um", "tm", "am"};

	printf("%s{\"id\":%u,\"qfis\":[", first ? "" : ",", d->id);
	for (size_t i = 0; i < d->n_qfis; i++)
		printf("%s%u", i ? "," : "", d->qfis[i]);
	printf("],\"default\":%s,\"pdcp_sn_bits\":%u,\"rlc\":\"%s\",\"rlc_sn_bits\":%u",
	       d->default_drb ? "true" : "false", d->pdcp_sn_bits,
	       (unsigned)d->rlc_mode < 3 ? modes[d->rlc_mode] : "?", d->rlc_sn_bits);
	json_tunnel("du", d->dl_up);
	printf(",\"ul_teid\":%u,\"dl_count\":%u,\"on_nic\":%s,\"dl_packets\":%" PRIu64
	       ",\"dl_bytes\":%" PRIu64 ",\"ul_packets\":%" PRIu64 ",\"ul_bytes\":%" PRIu64
	       ",\"drops\":%" PRIu64 "}",
	       v->ul_teid, v->dl_count, v->on_nic ? "true" : "false", v->dl_packets, v->dl_bytes,
	       v->ul_packets, v->ul_bytes, v->drops);
}

/** A line a context: one JSON object each. */
static void
json_context(const Airpath__Gnb__V1__ContextView *c)
{
	printf("{\"ue\":%u,\"sessions\":[", c->ue_id);
	for (size_t i = 0; i < c->n_pdu_sessions; i++) {
		const SessionView *v = c->pdu_sessions[i];

		printf("%s{\"id\":%u", i ? "," : "", v->session->id);
		json_tunnel("upf", v->session->ul_up);
		json_tunnel("forwarding", v->session->forwarding);
		printf(",\"dl_teid\":%u,\"worker\":%u,\"ul_stopped\":%s,\"drbs\":[", v->dl_teid,
		       v->worker, v->ul_stopped ? "true" : "false");
		for (size_t k = 0; k < v->n_drbs && k < v->session->n_drbs; k++)
			json_drb(v->session->drbs[k], v->drbs[k], k == 0);
		printf("]}");
	}
	printf("]}\n");
}

int
ctl_list(struct gnb_client *cl, const uint32_t *ue, bool json)
{
	Airpath__Gnb__V1__ContextQuery query = AIRPATH__GNB__V1__CONTEXT_QUERY__INIT;
	struct ap_error err = {0};
	bool more = true;

	query.one = ue != NULL;
	query.ue_id = ue ? *ue : 0;
	while (more) {
		Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
		Airpath__Gnb__V1__Answer *a;
		const Airpath__Gnb__V1__Contexts *c;

		q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_QUERY;
		q.query = &query;
		a = gnb_client_ask(cl, &q, &err);
		c = a && a->reply->body_case == AIRPATH__GNB__V1__REPLY__BODY_CONTEXTS
			    ? a->reply->contexts
			    : NULL;
		if (c == NULL) {
			fprintf(stderr, "%s\n", err.text);
			gnb_client_free(a);
			return 1;
		}
		for (size_t i = 0; i < c->n_contexts; i++)
			(json ? json_context : print_context)(c->contexts[i]);
		more = c->more && c->n_contexts > 0;
		if (more)
			query.ue_id = c->contexts[c->n_contexts - 1]->ue_id + 1;
		gnb_client_free(a);
	}
	return 0;
}

int
ctl_status(struct gnb_client *cl)
{
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__StatusRequest status = AIRPATH__GNB__V1__STATUS_REQUEST__INIT;
	const Airpath__Gnb__V1__Welcome *w = gnb_client_welcome(cl);
	struct ap_error err = {0};
	Airpath__Gnb__V1__Answer *a;
	const Airpath__Gnb__V1__Status *s;

	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_STATUS;
	q.status = &status;
	a = gnb_client_ask(cl, &q, &err);
	s = a ? a->reply->status : NULL;
	if (s == NULL) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%s %s: %u workers\n", w->kind, w->unit, w->workers);
	for (size_t i = 0; i < w->n_interfaces; i++)
		printf("interface %u %s:%s%s\n", w->interfaces[i]->index, w->interfaces[i]->name,
		       w->interfaces[i]->n3 ? " n3" : "", w->interfaces[i]->f1 ? " f1" : "");
	printf("ues %u, pdu_sessions %u of %u, drbs %u (up to %u a session)\n", s->ues,
	       s->pdu_sessions, s->sessions_max, s->drbs, w->drbs_per_session);
	printf("contexts so far: %" PRIu64 " set up, %" PRIu64 " modified, %" PRIu64
	       " released, %" PRIu64 " refused\n",
	       s->setups, s->modifications, s->releases, s->failed);
	printf("events %" PRIu64 ", lost %" PRIu64 "; contexts are %s\n", s->events, s->events_lost,
	       s->complete ? "complete" : "being loaded");
	if (s->has_offload)
		printf("offload: the host takes %u %%\n", s->offload_percent);
	gnb_client_free(a);
	return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

static void
print_event(const Airpath__Gnb__V1__Event *e)
{
	char text[INET6_ADDRSTRLEN];

	printf("%" PRIu64 " ", e->number);
	switch (e->body_case) {
	case AIRPATH__GNB__V1__EVENT__BODY_ERROR_INDICATION:
		printf("error indication from %s about TEID 0x%08x: ue %u session %u drb %u\n",
		       address_text(&e->error_indication->peer, text), e->error_indication->teid,
		       e->error_indication->ue_id, e->error_indication->pdu_session,
		       e->error_indication->drb);
		break;
	case AIRPATH__GNB__V1__EVENT__BODY_PATH:
		printf("path to %s is %s\n", address_text(&e->path->peer, text),
		       e->path->up ? "up" : "down");
		break;
	case AIRPATH__GNB__V1__EVENT__BODY_COUNT:
		printf("%s COUNT %u: ue %u session %u drb %u %s\n",
		       e->count->uplink ? "uplink" : "downlink", e->count->count, e->count->ue_id,
		       e->count->pdu_session, e->count->drb,
		       e->count->at_limit ? "drops its packets" : "needs new keys");
		break;
	case AIRPATH__GNB__V1__EVENT__BODY_RADIO_LINK_FAILURE:
		printf("radio link failure: ue %u session %u drb %u\n",
		       e->radio_link_failure->ue_id, e->radio_link_failure->pdu_session,
		       e->radio_link_failure->drb);
		break;
	default:
		printf("an event of another version\n");
	}
	fflush(stdout);
}

int
ctl_events(struct gnb_client *cl)
{
	struct ap_error err = {0};

	for (;;) {
		Airpath__Gnb__V1__Answer *a = gnb_client_receive(cl, -1, &err);

		if (a == NULL) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
		if (a->body_case == AIRPATH__GNB__V1__ANSWER__BODY_EVENT) {
			Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
			Airpath__Gnb__V1__EventAck ack = AIRPATH__GNB__V1__EVENT_ACK__INIT;

			print_event(a->event);
			ack.event = a->event->number;
			q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_ACK;
			q.ack = &ack;
			gnb_client_send(cl, &q, &err);
		}
		gnb_client_free(a);
	}
}
