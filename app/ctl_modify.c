/* SPDX-License-Identifier: BSD-3-Clause */
/** `airpath ctl … modify UE`: what changes of a context. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/ctl.h"

#define CHANGES_MAX 16

/** The message, as the options say it. */
struct modify {
	struct ctl_arena arena;
	struct ap_error err;
	Airpath__Gnb__V1__BearerContextChange change;
	Airpath__Gnb__V1__PduSessionChange session, *sessions[1];
	Airpath__Gnb__V1__DrbChange drbs[CHANGES_MAX], *drb_list[CHANGES_MAX];
	Airpath__Gnb__V1__Drb *new_drbs[CHANGES_MAX];
	uint32_t remove_drbs[CHANGES_MAX], remove_sessions[CHANGES_MAX];
	bool has_session, changes_session;
};

static Airpath__Gnb__V1__Tunnel *
tunnel_of(struct modify *m, const char *text)
{
	struct ctl_tunnel t;

	return ctl_text_tunnel(text, &t, &m->err) < 0 ? NULL
						      : ctl_pack_tunnel(&m->arena, &t, 0, &m->err);
}

/** `DRB=VALUE`: the change of that DRB. @return NULL with an error */
static Airpath__Gnb__V1__DrbChange *
drb_change(struct modify *m, const char *text, const char **value)
{
	char id[12];
	uint32_t n;
	size_t i = 0;

	*value = strchr(text, '=');
	snprintf(id, sizeof(id), "%.*s", *value ? (int)(*value - text) : 0, text);
	if (ctl_text_number(id, 255, &n) < 0) {
		ap_error_set(&m->err, "'%s' is not DRB=…", text);
		return NULL;
	}
	++*value;
	while (i < m->session.n_modify_drbs && m->drbs[i].id != n)
		i++;
	if (i == CHANGES_MAX) {
		ap_error_set(&m->err, "more than %d changes at once", CHANGES_MAX);
		return NULL;
	}
	if (i == m->session.n_modify_drbs) {
		airpath__gnb__v1__drb_change__init(&m->drbs[i]);
		m->drbs[i].id = n;
		m->drb_list[i] = &m->drbs[i];
		m->session.n_modify_drbs++;
	}
	return &m->drbs[i];
}

static int
number_add(struct modify *m, const char *text, uint32_t *list, size_t *nb)
{
	if (*nb == CHANGES_MAX || ctl_text_number(text, 255, &list[*nb]) < 0)
		return ap_error_set(&m->err, "'%s' is no ID", text);
	++*nb;
	return 0;
}

static int
drb_add(struct modify *m, const char *text)
{
	struct ctl_drb d;
	size_t i = m->session.n_setup_drbs;

	if (i == CHANGES_MAX)
		return ap_error_set(&m->err, "more than %d DRBs at once", CHANGES_MAX);
	if (ctl_text_drb(text, &d, &m->err) < 0)
		return -EINVAL;
	m->new_drbs[i] = ctl_pack_drb(&m->arena, &d, 0, &m->err);
	if (m->new_drbs[i] == NULL)
		return -EINVAL;
	m->session.n_setup_drbs++;
	return 0;
}

/** One option. @return 0, or < 0 with an error */
static int
option_take(struct modify *m, int option, const char *value)
{
	Airpath__Gnb__V1__DrbChange *d;

	m->changes_session |= strchr("ufdDcr", option) != NULL;
	switch (option) {
	case 's':
		m->has_session = true;
		return ctl_text_number(value, 255, &m->session.id) == 0
			       ? 0
			       : ap_error_set(&m->err, "session '%s' is no ID", value);
	case 'u':
		return (m->session.ul_up = tunnel_of(m, value)) ? 0 : -EINVAL;
	case 'f':
		m->session.stop_forwarding = strcmp(value, "none") == 0;
		if (m->session.stop_forwarding)
			return 0;
		return (m->session.forwarding = tunnel_of(m, value)) ? 0 : -EINVAL;
	case 'd':
		return drb_add(m, value);
	case 'D':
		d = drb_change(m, value, &value);
		return d && (d->dl_up = tunnel_of(m, value)) ? 0 : -EINVAL;
	case 'c':
		d = drb_change(m, value, &value);
		if (d == NULL)
			return -EINVAL;
		d->has_dl_count = true;
		return ctl_text_number(value, UINT32_MAX, &d->dl_count) == 0
			       ? 0
			       : ap_error_set(&m->err, "COUNT '%s' is no number", value);
	case 'r':
		return number_add(m, value, m->remove_drbs, &m->session.n_remove_drbs);
	case 'R':
		return number_add(m, value, m->remove_sessions, &m->change.n_remove);
	default:
		return ap_error_set(&m->err, "'airpath ctl --help' tells what modify takes");
	}
}

static int
options_take(struct modify *m, int argc, char **argv)
{
	static const struct option options[] = {
		{"session", required_argument, NULL, 's'},
		{"upf", required_argument, NULL, 'u'},
		{"forward", required_argument, NULL, 'f'},
		{"drb", required_argument, NULL, 'd'},
		{"du", required_argument, NULL, 'D'},
		{"count", required_argument, NULL, 'c'},
		{"remove-drb", required_argument, NULL, 'r'},
		{"remove-session", required_argument, NULL, 'R'},
		{0},
	};
	int o, rc = 0;

	optind = 0;
	while (rc == 0 && (o = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = option_take(m, o, optarg);
	if (rc == 0 &&
	    (optind != argc - 1 || ctl_text_number(argv[optind], UINT32_MAX, &m->change.ue_id) < 0))
		rc = ap_error_set(&m->err, "of which UE? One number is wanted");
	if (rc == 0 && m->changes_session && !m->has_session)
		rc = ap_error_set(&m->err, "of which PDU session? --session ID is wanted");
	return rc;
}

int
ctl_modify(struct gnb_client *cl, int argc, char **argv)
{
	Airpath__Gnb__V1__BearerContextModificationRequest request =
		AIRPATH__GNB__V1__BEARER_CONTEXT_MODIFICATION_REQUEST__INIT;
	Airpath__Gnb__V1__Request q = AIRPATH__GNB__V1__REQUEST__INIT;
	Airpath__Gnb__V1__BearerContextChange *list[1];
	struct ctl_tally tally = {0};
	struct modify m = {0};
	int rc;

	ctl_arena_init(&m.arena);
	airpath__gnb__v1__bearer_context_change__init(&m.change);
	airpath__gnb__v1__pdu_session_change__init(&m.session);
	m.sessions[0] = &m.session;
	m.session.modify_drbs = m.drb_list;
	m.session.setup_drbs = m.new_drbs;
	m.session.remove_drbs = m.remove_drbs;
	m.change.remove = m.remove_sessions;
	m.change.modify = m.sessions;
	list[0] = &m.change;
	rc = options_take(&m, argc, argv);
	m.change.n_modify = m.changes_session;
	request.n_contexts = 1;
	request.contexts = list;
	q.body_case = AIRPATH__GNB__V1__REQUEST__BODY_MODIFICATION;
	q.modification = &request;
	if (rc == 0)
		rc = ctl_send_one(cl, &q, &tally, &m.err);
	ctl_arena_fini(&m.arena);
	if (rc < 0)
		fprintf(stderr, "airpath ctl modify: %s\n", m.err.text);
	else
		printf("%u done, %u refused\n", (unsigned)tally.done, (unsigned)tally.failed);
	return rc < 0 || tally.failed ? 1 : 0;
}
