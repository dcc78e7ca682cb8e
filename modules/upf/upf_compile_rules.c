/* SPDX-License-Identifier: BSD-3-Clause */
/* FARs, QERs, URRs of a message to those of struct upf_rules. */
#include <rte_common.h>

#include "core/clock.h"
#include "modules/upf/upf_compile_internal.h"

/* --- FARs ------------------------------------------------------------------------------------- */

/* What has no outer header leaves as packet or, to a LAN, as frame. */
static bool
can_leave(const struct upf_compiler *c, const UpfForwarding *f, uint32_t interface)
{
	const bool frames = c->work.m->ethernet && f->peer.len == 0;

	return c->c.interface_types[interface] && (c->c.lans >> interface & 1) == frames;
}

/* The interface named, or the first of the type there is. @return 0: none */
static uint8_t
out_interface(const struct upf_compiler *c, const UpfForwarding *f)
{
	if (f->interface != 0)
		return f->interface <= UPF_INTERFACES_MAX && can_leave(c, f, f->interface)
			       ? (uint8_t)f->interface
			       : 0;
	for (uint8_t i = 1; i <= UPF_INTERFACES_MAX; i++)
		if (c->c.interface_types[i] >> f->destination & 1 && can_leave(c, f, i))
			return i;
	return 0;
}

static int
compile_forwarding(struct upf_compiler *c, uint32_t far_id, const UpfForwarding *f,
		   struct upf_forwarding *to)
{
	struct upf_work *w = &c->work;
	int peer;

	if ((unsigned)f->destination > UPF_LI_FUNCTION || f->tos > UINT8_MAX ||
	    f->tos_mask > UINT8_MAX || f->port > UINT16_MAX)
		return upf_refuse(w, UPF_KIND(FAR), far_id, "a number is out of range");
	if (f->peer.len != 0 && f->peer.len != 4 && f->peer.len != 16)
		return upf_refuse(w, UPF_KIND(FAR), far_id, "a peer has 4 or 16 octets");
	to->interface = out_interface(c, f);
	if (to->interface == 0)
		return upf_refuse(w, UPF_KIND(FAR), far_id, "no such interface");
	to->teid = f->teid;
	if (f->peer.len == 0) {
		to->tos = (uint8_t)f->tos;
		to->tos_mask = (uint8_t)f->tos_mask;
		return 0;
	}
	peer = c->c.peer_get(c->c.arg, f);
	if (peer < 0)
		return upf_refuse(w, UPF_KIND(FAR), far_id,
				  "no outer header can be made for the peer");
	to->peer = (uint16_t)peer;
	to->psc = f->gtpu && f->pdu_session_container;
	return 0;
}

static int
compile_far(struct upf_compiler *c, struct upf_rules *r, const UpfFar *m, struct upf_far *far)
{
	struct upf_work *w = &c->work;

	far->id = m->id;
	if (!m->drop) {
		if (m->forward && !m->forwarding)
			return upf_refuse(w, UPF_KIND(FAR), m->id, "nowhere to forward to");
		far->flags |= m->forward ? UPF_LANE_FORWARD : 0;
		far->flags |= m->buffer ? UPF_LANE_BUFFER : 0;
		far->flags |= m->notify_cp ? UPF_LANE_NOTIFY : 0;
	}
	if (m->forwarding && compile_forwarding(c, m->id, m->forwarding, &far->to) < 0)
		return -1;
	far->flags |= far->to.peer ? UPF_LANE_OUTER : 0;
	far->flags |= far->to.psc ? UPF_LANE_PSC : 0;
	for (size_t i = 0; i < m->n_duplicates; i++) {
		far->nb_duplicates++;
		if (compile_forwarding(c, m->id, m->duplicates[i], &far->duplicates[i]) < 0)
			return -1;
	}
	if (w->m->ethernet && (upf_far_redirects(m) || m->n_duplicates != 0))
		return upf_refuse(w, UPF_KIND(FAR), m->id,
				  "frames are neither redirected nor duplicated");
	if (upf_far_redirects(m)) {
		if (!upf_redirect_url_ok(m->forwarding->redirect_url))
			return upf_refuse(w, UPF_KIND(FAR), m->id,
					  "a URL has 1 to 1000 visible ASCII characters");
		far->redirect_len =
			(uint16_t)upf_redirect_text(m->forwarding->redirect_url, far->redirect);
	}
	if (m->bar_id == 0)
		return 0;
	for (uint16_t i = 0; i < r->nb_bars; i++)
		if (r->bars[i].id == m->bar_id)
			far->bar = i + 1;
	return far->bar ? 0 : upf_refuse(w, UPF_KIND(FAR), m->id, "its BAR is not there");
}

int
upf_compile_fars(struct upf_compiler *c, struct upf_rules *r)
{
	const UpfSession *m = c->work.m;

	for (unsigned i = 0; i < r->nb_bars; i++)
		r->bars[i] = (struct upf_bar){.id = m->bars[i]->id,
					      .packets = m->bars[i]->packets,
					      .notify_delay_ms = m->bars[i]->notify_delay_ms};
	for (unsigned i = 0; i < r->nb_fars; i++)
		if (compile_far(c, r, m->fars[i], &r->fars[i]) < 0)
			return -1;
	return 0;
}

/* --- QERs ------------------------------------------------------------------------------------- */

static uint64_t
burst_of(const struct upf_compiler *c, const UpfQer *m, uint64_t kbps)
{
	return m->burst_bytes ? m->burst_bytes
			      : RTE_MAX(kbps * c->c.burst_ms / 8, c->c.burst_bytes);
}

static int
compile_rates(struct upf_compiler *c, const UpfQer *m, unsigned direction, struct upf_qer *qer)
{
	const Airpath__Upf__V1__Rate *of[2] = {m->mbr, m->gbr};
	uint64_t kbps[2] = {0, 0};

	for (unsigned i = 0; i < 2; i++)
		if (of[i])
			kbps[i] = direction == UPF_UL ? of[i]->ul_kbps : of[i]->dl_kbps;
	if (m->mbr && kbps[0] == 0) {
		qer->closed[direction] = true;
		return 0;
	}
	if (m->mbr && kbps[1] > kbps[0])
		return upf_refuse(&c->work, UPF_KIND(QER), m->id, "its GBR is above its MBR");
	/* Beyond what any port carries, no meter is needed; it would not count right either. */
	for (unsigned i = 0; i < 2; i++)
		kbps[i] = kbps[i] > UPF_MBR_KBPS_MAX ? 0 : kbps[i];
	if (kbps[0] == 0 && kbps[1] == 0)
		return 0;
	if (kbps[1] != 0) {
		qer->gbr->profile[direction] = upf_profile_gbr(
			c->profiles, kbps[1], kbps[0], burst_of(c, m, RTE_MAX(kbps[0], kbps[1])));
		return qer->gbr->profile[direction] ? 0 : upf_refuse_memory(&c->work);
	}
	qer->profile[direction] = upf_profile_mbr(c->profiles, kbps[0], burst_of(c, m, kbps[0]));
	return qer->profile[direction] ? 0 : upf_refuse_memory(&c->work);
}

int
upf_compile_qers(struct upf_compiler *c, struct upf_rules *r)
{
	for (unsigned i = 0; i < r->nb_qers; i++) {
		const UpfQer *m = c->work.m->qers[i];
		struct upf_qer *qer = &r->qers[i];

		qer->id = m->id;
		qer->closed[UPF_UL] = m->gate_ul_closed;
		qer->closed[UPF_DL] = m->gate_dl_closed;
		if ((m->has_qfi && m->qfi > 63) || (m->has_ppi && m->ppi > 7))
			return upf_refuse(&c->work, UPF_KIND(QER), m->id,
					  "a number is out of range");
		qer->qfi = m->has_qfi ? (uint8_t)m->qfi : UPF_NO_QFI;
		qer->ppi = m->has_ppi ? (uint8_t)m->ppi : 0xFF;
		qer->rqi = m->rqi;
		for (unsigned d = UPF_UL; d <= UPF_DL; d++)
			if (compile_rates(c, m, d, qer) < 0)
				return -1;
	}
	return 0;
}

/* --- URRs ------------------------------------------------------------------------------------- */

static struct upf_volume
volume(const Airpath__Upf__V1__Volume *m)
{
	if (!m)
		return (struct upf_volume){UPF_NO_LIMIT, {UPF_NO_LIMIT, UPF_NO_LIMIT}};
	return (struct upf_volume){m->has_total ? m->total : UPF_NO_LIMIT,
				   {m->has_uplink ? m->uplink : UPF_NO_LIMIT,
				    m->has_downlink ? m->downlink : UPF_NO_LIMIT}};
}

bool
upf_urr_wants_more(const UpfUrr *u)
{
	return u->duration || u->event || u->time_threshold_s || u->has_time_quota ||
	       u->event_threshold || u->has_event_quota || u->quota_holding_s || u->inactivity_s ||
	       u->quota_validity_s || u->monitoring_unix_s || u->subsequent_volume_threshold ||
	       u->subsequent_time_threshold_s || u->dropped_dl_packets || u->dropped_dl_bytes ||
	       u->has_quota_far || u->n_linked_urr_ids ||
	       u->triggers & (UPF_TRIGGER_START | UPF_TRIGGER_STOPT);
}

static int
compile_more(struct upf_compiler *c, const struct upf_rules *r, const UpfUrr *m,
	     struct upf_urr_more *more)
{
	more->time_threshold_ns = m->time_threshold_s * AP_NS_PER_S;
	more->time_quota_ns = m->has_time_quota ? m->time_quota_s * AP_NS_PER_S : UPF_NO_LIMIT;
	more->event_threshold = m->event_threshold;
	more->event_quota = m->has_event_quota ? m->event_quota : UPF_NO_LIMIT;
	more->quota_holding_ns = m->quota_holding_s * AP_NS_PER_S;
	more->inactivity_ns = m->inactivity_s * AP_NS_PER_S;
	more->quota_validity_ns = m->quota_validity_s * AP_NS_PER_S;
	more->monitoring_unix_ms = m->monitoring_unix_s * 1000;
	more->subsequent_volume_threshold = volume(m->subsequent_volume_threshold);
	more->subsequent_time_threshold_ns = m->subsequent_time_threshold_s * AP_NS_PER_S;
	more->dropped_dl_packets = m->dropped_dl_packets;
	more->dropped_dl_bytes = m->dropped_dl_bytes;
	if (m->has_quota_far) {
		int far = upf_rules_find_far(r, m->quota_far_id);

		if (far < 0)
			return upf_refuse(&c->work, UPF_KIND(URR), m->id,
					  "its FAR for Quota Action is not there");
		more->quota_far = (uint16_t)far;
	}
	if (m->n_linked_urr_ids > UPF_LINKED_URRS_MAX)
		return upf_refuse(&c->work, UPF_KIND(URR), m->id, "too many linked URRs");
	/* A link to a URR removed since links to nothing. */
	for (size_t i = 0; i < m->n_linked_urr_ids; i++) {
		int urr = upf_rules_find_urr(r, m->linked_urr_ids[i]);

		if (urr >= 0)
			more->linked[more->nb_linked++] = (uint16_t)urr;
	}
	return 0;
}

static void
carry(const struct upf_compiler *c, const Airpath__Upf__V1__Usage *m, struct upf_urr *u)
{
	struct upf_usage_report report = {
		.urr_id = u->id,
		.bytes = {m->ul_bytes, m->dl_bytes},
		.packets = {m->ul_packets, m->dl_packets},
		.duration_ms = m->duration_ms,
		.start_ms = m->start_unix_ms,
		.end_ms = m->end_unix_ms,
		.first_ms = m->first_unix_ms,
		.last_ms = m->last_unix_ms,
		.events = m->events,
		.quota_bytes = {m->quota_ul_bytes, m->quota_dl_bytes},
		.quota_duration_ms = m->quota_duration_ms,
		.quota_events = m->quota_events,
	};

	upf_urr_carry(u, &report, c->c.unix_offset_ns);
}

int
upf_compile_urrs(struct upf_compiler *c, struct upf_rules *r)
{
	for (unsigned i = 0; i < r->accounts.nb_urrs; i++)
		r->accounts.urrs[i].id = c->work.m->urrs[i]->id; /* others link to it */
	for (unsigned i = 0; i < r->accounts.nb_urrs; i++) {
		const UpfUrr *m = c->work.m->urrs[i];
		struct upf_urr *u = &r->accounts.urrs[i];

		u->triggers = m->triggers;
		u->generation = m->quota_generation;
		u->threshold_generation = (uint16_t)m->threshold_generation;
		u->flags = (uint16_t)((m->volume ? UPF_URR_VOLUME : 0) |
				      (m->duration ? UPF_URR_DURATION : 0) |
				      (m->event ? UPF_URR_EVENT : 0) |
				      (m->before_qos ? UPF_URR_BEFORE_QOS : 0) |
				      (m->inactive ? UPF_URR_INACTIVE : 0) |
				      (m->immediate_start ? UPF_URR_IMMEDIATE : 0) |
				      (m->has_quota_far ? UPF_URR_QUOTA_FAR : 0));
		u->volume_threshold = volume(m->volume_threshold);
		u->volume_quota = volume(m->volume_quota);
		u->period_ns = m->period_s * AP_NS_PER_S;
		if (u->more && compile_more(c, r, m, u->more) < 0)
			return -1;
		if (m->carry)
			carry(c, m->carry, u);
	}
	return 0;
}
