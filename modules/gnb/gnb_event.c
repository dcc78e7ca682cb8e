/* SPDX-License-Identifier: BSD-3-Clause */
/** What workers report, and the events made of it. */
#include <string.h>

#include "core/clock.h"
#include "modules/gnb/gnb_control_impl.h"
#include "modules/gnb/gnb_report.h"
#include "modules/upf/upf_report.h"

#define REPORTS_A_VISIT 256
#define SESSIONS_A_LOOK 64U
#define LOOK_NS (2 * AP_NS_PER_MS)

#define EVENT(name) AIRPATH__GNB__V1__EVENT__BODY_##name

static void
event_add(struct gnb_control *c, GnbEvent *e, Airpath__Gnb__V1__Event__BodyCase kind)
{
	GnbAnswer a = AIRPATH__GNB__V1__ANSWER__INIT;

	e->body_case = kind;
	e->number = c->events.next;
	a.body_case = AIRPATH__GNB__V1__ANSWER__BODY_EVENT;
	a.event = e;
	c->stats.events++;
	ctl_events_add(&c->events, ctl_pack(&a.base));
}

/** @return the session of a TEID of ours, if it is there still. */
static struct gnb_entry *
entry_of(const struct gnb_control *c, uint32_t teid)
{
	uint32_t index = gnb_teid_index(teid);
	struct gnb_entry *e = index < c->cfg.table->capacity ? c->entry[index] : NULL;

	return e && e->spec.teid == gnb_teid_with_slot(teid, GNB_SLOT_N3) ? e : NULL;
}

/** @return ID of the DRB in a TEID's slot, 0: none. */
static uint32_t
drb_of(const struct gnb_entry *e, uint32_t teid)
{
	for (unsigned i = 0; i < e->spec.nb_drbs; i++)
		if (e->spec.drbs[i].slot == gnb_teid_slot(teid))
			return e->spec.drbs[i].id;
	return 0;
}

/* --- the port side ---------------------------------------------------------------------------- */

/** TS 29.281 §7.3.1: the UPF does not know the tunnel, so nothing is sent there any more. */
static void
uplink_stop(struct gnb_control *c, struct gnb_entry *e)
{
	struct gnb_msg *m;

	if (e->spec.flags & GNB_SESSION_UL_STOPPED)
		return;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return;
	e->spec.flags |= GNB_SESSION_UL_STOPPED;
	m->kind = GNB_MSG_STOP;
	m->teid = e->spec.teid;
	gnb_control_send(c, NULL, m);
}

static void
error_event(struct gnb_control *c, const struct upf_error_report *r)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
	GnbEvent event = AIRPATH__GNB__V1__EVENT__INIT;
	Airpath__Gnb__V1__ErrorIndication i = AIRPATH__GNB__V1__ERROR_INDICATION__INIT;
	bool v4 = memcmp(r->peer, mapped, sizeof(mapped)) == 0;
	const uint8_t *peer = v4 ? r->peer + 12 : r->peer;
	uint32_t teid = (uint32_t)upf_remotes_find(&c->remotes, c->cfg.net, !v4, peer, r->teid);
	struct gnb_entry *e = teid ? entry_of(c, teid) : NULL;

	if (e == NULL) {
		c->stats.strange_errors++;
		return;
	}
	i.ue_id = e->ue_id;
	i.pdu_session = e->spec.pdu_session;
	i.drb = drb_of(e, teid);
	i.teid = r->teid;
	i.peer = (ProtobufCBinaryData){v4 ? 4 : 16, (uint8_t *)(uintptr_t)peer};
	event.error_indication = &i;
	event_add(c, &event, EVENT(ERROR_INDICATION));
	if (i.drb == 0)
		uplink_stop(c, e);
}

static void
path_event(struct gnb_control *c, const struct upf_path_report *r)
{
	GnbEvent event = AIRPATH__GNB__V1__EVENT__INIT;
	Airpath__Gnb__V1__Path p = AIRPATH__GNB__V1__PATH__INIT;

	p.peer = (ProtobufCBinaryData){r->octets, (uint8_t *)(uintptr_t)r->ip};
	p.interface = r->interface;
	p.up = r->up;
	event.path = &p;
	event_add(c, &event, EVENT(PATH));
}

static bool
edge_reports(struct gnb_control *c, struct rte_ring *ring)
{
	struct upf_report r;
	unsigned nb = 0;

	while (ring && nb < REPORTS_A_VISIT && upf_report_get(ring, &r)) {
		nb++;
		if (r.kind == UPF_REPORT_ERROR)
			error_event(c, &r.error);
		else if (r.kind == UPF_REPORT_PATH)
			path_event(c, &r.path);
	}
	return nb > 0;
}

/* --- DRBs ------------------------------------------------------------------------------------- */

static void
count_event(struct gnb_control *c, const struct gnb_entry *e, const struct gnb_report *r)
{
	GnbEvent event = AIRPATH__GNB__V1__EVENT__INIT;
	Airpath__Gnb__V1__CountEvent count = AIRPATH__GNB__V1__COUNT_EVENT__INIT;

	count.ue_id = e->ue_id;
	count.pdu_session = e->spec.pdu_session;
	count.drb = drb_of(e, r->teid);
	count.count = r->count;
	count.at_limit = r->kind == GNB_REPORT_COUNT_LIMIT;
	count.uplink = r->uplink;
	event.count = &count;
	event_add(c, &event, EVENT(COUNT));
}

static void
failure_event(struct gnb_control *c, const struct gnb_entry *e, const struct gnb_report *r)
{
	GnbEvent event = AIRPATH__GNB__V1__EVENT__INIT;
	Airpath__Gnb__V1__RadioLinkFailure f = AIRPATH__GNB__V1__RADIO_LINK_FAILURE__INIT;

	f.ue_id = e->ue_id;
	f.pdu_session = e->spec.pdu_session;
	f.drb = drb_of(e, r->teid);
	event.radio_link_failure = &f;
	event_add(c, &event, EVENT(RADIO_LINK_FAILURE));
}

static void
drb_event(struct gnb_control *c, const struct gnb_entry *e, const struct gnb_report *r)
{
	if (r->kind == GNB_REPORT_RADIO_LINK_FAILURE)
		failure_event(c, e, r);
	else
		count_event(c, e, r);
}

static bool
drb_reports(struct gnb_control *c, struct rte_ring *ring)
{
	struct gnb_report r;
	unsigned nb = 0;

	while (nb < REPORTS_A_VISIT && gnb_report_get(ring, &r)) {
		const struct gnb_entry *e = entry_of(c, r.teid);

		nb++;
		if (e)
			drb_event(c, e, &r);
	}
	return nb > 0;
}

/** @return whether a DRB of the session had something to report. */
static bool
session_look(struct gnb_control *c, const struct gnb_entry *e)
{
	const struct gnb_radio *radio = c->cfg.radio;
	struct gnb_report r[GNB_RADIO_REPORTS_MAX];
	bool any = false;

	for (unsigned i = 0; i < e->spec.nb_drbs; i++) {
		const struct gnb_drb_spec *d = &e->spec.drbs[i];
		const unsigned nb = radio->look(radio->arg, d->bearer, r);

		for (unsigned k = 0; k < nb; k++) {
			r[k].teid = gnb_teid_with_slot(e->spec.teid, d->slot);
			drb_event(c, e, &r[k]);
		}
		any |= nb > 0;
	}
	return any;
}

/** Some sessions in turn, and not all the time: a look at a bearer is a few cache lines of others.
 */
static bool
radio_look(struct gnb_control *c)
{
	const uint64_t now = ap_clock_ns();
	const uint32_t capacity = c->cfg.table->capacity;
	bool any = false;

	if (now - c->look_ns < LOOK_NS)
		return false;
	c->look_ns = now;
	for (uint32_t i = 0; i < RTE_MIN(capacity, SESSIONS_A_LOOK); i++) {
		const struct gnb_entry *e = c->entry[c->look_at];

		any |= e && session_look(c, e);
		c->look_at = c->look_at + 1 < capacity ? c->look_at + 1 : 0;
	}
	return any;
}

bool
gnb_events_take(struct gnb_control *c)
{
	bool any = false;

	for (unsigned k = 0; k < c->cfg.nb_workers; k++) {
		any |= edge_reports(c, c->cfg.workers[k].edge_reports);
		any |= drb_reports(c, c->cfg.workers[k].reports);
	}
	if (c->cfg.radio)
		any |= radio_look(c);
	return any;
}
