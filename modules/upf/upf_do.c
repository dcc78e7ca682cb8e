/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "modules/upf/upf.h"
#include "modules/upf/upf_buffer.h"
#include "modules/upf/upf_do.h"
#include "modules/upf/upf_msg.h"
#include "modules/upf/upf_scans.h"

static uint16_t
take(struct upf_accounts *a, unsigned urr, uint32_t trigger, uint64_t now_ns,
     struct upf_usage_report *to, uint16_t nb)
{
	return (uint16_t)(nb + upf_urr_take(a, urr, trigger, now_ns, &to[nb]));
}

static bool
is_asked(const struct upf_msg *m, uint32_t urr_id)
{
	for (unsigned i = 0; i < m->nb_query; i++)
		if (m->query[i] == urr_id)
			return true;
	return m->query_all;
}

/** Reports that the change asks for, while the rules it changes are in force. */
static void
take_asked(struct upf_msg *m, struct upf_session *s, uint64_t now_ns)
{
	struct upf_accounts *a = upf_accounts_of(s);

	for (unsigned i = 0; i < a->nb_urrs; i++) {
		if (m->rules && upf_rules_find_urr(m->rules, a->urrs[i].id) < 0)
			m->nb_removed =
				take(a, i, UPF_TRIGGER_TERMR, now_ns, m->removed, m->nb_removed);
		else if (is_asked(m, a->urrs[i].id))
			m->nb_reports =
				take(a, i, UPF_TRIGGER_IMMER, now_ns, m->reports, m->nb_reports);
	}
}

static void
set(struct upf_worker *w, struct upf_msg *m, struct upf_session *s, uint64_t now_ns)
{
	m->error = upf_apply_check(w->tables, m->rules);
	if (m->error == 0 && s)
		take_asked(m, s, now_ns);
	if (m->error == 0)
		m->error = upf_apply_set(w->tables, m->rules, w->charger, now_ns, &m->applied);
	if (m->error < 0) {
		m->status = m->error == -ENOMEM ? UPF_STATUS_NO_RESOURCES : UPF_STATUS_RULE_FAILED;
		return;
	}
	if (s && w->buffer)
		upf_buffer_changed(w->buffer, s, m->drop_buffered, now_ns);
}

static void delete (struct upf_worker *w, struct upf_msg *m, struct upf_session *s, uint64_t now_ns)
{
	struct upf_accounts *a = upf_accounts_of(s);

	for (unsigned i = 0; i < a->nb_urrs; i++)
		m->nb_reports = take(a, i, UPF_TRIGGER_TERMR, now_ns, m->reports, m->nb_reports);
	if (w->buffer)
		upf_buffer_gone(w->buffer, s);
	m->error = upf_apply_delete(w->tables, m->handle, m->id, now_ns, &m->applied);
	if (m->error < 0)
		m->status = UPF_STATUS_UNKNOWN_SESSION;
}

/** New flows are of the new set's applications; those that have one keep it. */
static void
applications(struct upf_scans *t, struct upf_msg *m)
{
	struct dpi_scratch *old = t->scratch;

	t->set = m->set;
	t->scratch = m->scratch;
	m->scratch = old;
}

void
upf_do(struct upf_worker *w, struct upf_msg *m, uint64_t now_ns)
{
	struct upf_session *s;

	w->applied++;
	m->status = UPF_STATUS_OK;
	if (m->kind == UPF_MSG_APPLICATIONS) {
		applications(w->scans, m);
		return;
	}
	s = upf_by_handle(w->tables, m->handle);
	if (s && s->id != m->id)
		s = NULL;
	if (m->kind == UPF_MSG_SET)
		set(w, m, s, now_ns);
	else if (s == NULL)
		m->status = UPF_STATUS_UNKNOWN_SESSION;
	else if (m->kind == UPF_MSG_DELETE)
		delete (w, m, s, now_ns);
	else
		take_asked(m, s, now_ns);
}
