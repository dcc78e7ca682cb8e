/* SPDX-License-Identifier: BSD-3-Clause */
/** Tunnels and DRBs as people write them on a command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/ctl.h"

int
ctl_text_number(const char *text, uint32_t max, uint32_t *to)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || n > max)
		return -EINVAL;
	*to = (uint32_t)n;
	return 0;
}

int
ctl_text_tunnel(const char *text, struct ctl_tunnel *t, struct ap_error *err)
{
	const char *slash = strchr(text, '/'), *at = strchr(text, '@');
	char teid[16];

	*t = (struct ctl_tunnel){0};
	if (slash == NULL || slash - text > 63 || (at && at < slash))
		return ap_error_set(err, "'%s' is not ADDRESS/TEID, or ADDRESS/TEID@INTERFACE",
				    text);
	snprintf(teid, sizeof(teid), "%.*s", (int)(at ? at - slash - 1 : (long)strlen(slash + 1)),
		 slash + 1);
	if (ctl_text_number(teid, UINT32_MAX, &t->teid) < 0 ||
	    (at && ctl_text_number(at + 1, 255, &t->interface) < 0))
		return ap_error_set(err, "'%s': the TEID, or the interface, is no number", text);
	t->address = strndup(text, (size_t)(slash - text));
	return t->address ? 0 : ap_error_set(err, "out of memory");
}

static int
qfis_take(char *value, struct ctl_drb *d, struct ap_error *err)
{
	char *save = NULL;

	d->qfis = calloc(64, sizeof(*d->qfis));
	for (char *one = strtok_r(value, "+", &save); one; one = strtok_r(NULL, "+", &save))
		if (d->qfis == NULL || d->qfis_count == 64 ||
		    ctl_text_number(one, UINT32_MAX, &d->qfis[d->qfis_count++]) < 0)
			return ap_error_set(err, "qfi=%s: numbers joined by '+' are wanted", one);
	return 0;
}

static int
rlc_take(const char *value, struct ctl_drb *d, struct ap_error *err)
{
	static const char *const modes[] = {"um", "tm", "am"};

	for (int i = 0; i < 3; i++)
		if (strcmp(value, modes[i]) == 0) {
			d->rlc = i;
			return 0;
		}
	return ap_error_set(err, "rlc=%s: um, tm and am are modes", value);
}

static int
number_take(const char *key, const char *value, struct ctl_drb *d, struct ap_error *err)
{
	const struct {
		const char *key;
		uint32_t *to;
	} numbers[] = {
		{"id", &d->id},
		{"pdcp-sn", &d->pdcp_sn_bits},
		{"rlc-sn", &d->rlc_sn_bits},
		{"count", &d->dl_count},
		{"lcid", &d->lcid},
		{"priority", &d->priority},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(key, numbers[i].key) == 0)
			return ctl_text_number(value, UINT32_MAX, numbers[i].to) == 0
				       ? 0
				       : ap_error_set(err, "%s=%s is no number", key, value);
	return ap_error_set(err,
			    "a DRB has no '%s': id, qfi, du, rlc, rlc-sn, pdcp-sn, count, "
			    "lcid, priority, default, no-sdap-ul, no-sdap-dl",
			    key);
}

static int
word_take(char *word, struct ctl_drb *d, struct ap_error *err)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	if (value && strcmp(word, "qfi") == 0)
		return qfis_take(value, d, err);
	if (value && strcmp(word, "rlc") == 0)
		return rlc_take(value, d, err);
	if (value && strcmp(word, "du") == 0) {
		d->du = calloc(1, sizeof(*d->du));
		return d->du ? ctl_text_tunnel(value, d->du, err) : -ENOMEM;
	}
	if (value)
		return number_take(word, value, d, err);
	if (strcmp(word, "default") == 0)
		d->is_default = true;
	else if (strcmp(word, "no-sdap-ul") == 0)
		d->sdap_ul = CTL_OFF;
	else if (strcmp(word, "no-sdap-dl") == 0)
		d->sdap_dl = CTL_OFF;
	else
		return number_take(word, "", d, err);
	return 0;
}

int
ctl_text_drb(const char *text, struct ctl_drb *d, struct ap_error *err)
{
	char *copy = strdup(text), *save = NULL;
	int rc = copy ? 0 : -ENOMEM;

	*d = (struct ctl_drb){0};
	for (char *w = copy ? strtok_r(copy, ",", &save) : NULL; w && rc == 0;
	     w = strtok_r(NULL, ",", &save))
		rc = word_take(w, d, err);
	free(copy);
	return rc;
}
