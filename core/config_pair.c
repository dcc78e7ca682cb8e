/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two stacks of one file that talk to each other: what one is set to the other must be, or what it
 * sends is taken for something else and dropped. All differences are told, not the first alone.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/config_check.h"

struct pair {
	const struct ap_config *cfg;
	const struct ap_cfg_ue *one, *other;
	const char *level; /**< before what is said of a stack */
	char text[AP_ERROR_LEN];
	size_t len;
	unsigned more; /**< that did not fit */
};

/** A line about `at`, of the stack `s`. */
static void __attribute__((format(printf, 4, 5)))
differ(struct pair *p, const struct ap_cfg_ue *s, const void *at, const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	n = snprintf(line, sizeof(line), "%s%s:%u: %s%s %s: ", p->len ? "\n" : "", p->cfg->path,
		     ap_config_line(p->cfg, at), p->level, s->kind, s->name);
	va_start(ap, fmt);
	if (n > 0 && (size_t)n < sizeof(line))
		vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	if (p->len + strlen(line) + 32 > sizeof(p->text)) {
		p->more++;
		return;
	}
	p->len += (size_t)snprintf(p->text + p->len, sizeof(p->text) - p->len, "%s", line);
}

/** `key` of both as words: `a` and `b` are where they stand. */
static void
words(struct pair *p, const char *key, const void *a, const char *is, const void *b,
      const char *but)
{
	if (strcmp(is, but) != 0)
		differ(p, p->one, a, "%s is %s, but %s of %s %s (line %u)", key, is, but,
		       p->other->kind, p->other->name, ap_config_line(p->cfg, b));
}

static void
numbers(struct pair *p, const char *key, const void *a, uint32_t is, const void *b, uint32_t but)
{
	char first[16], second[16];

	snprintf(first, sizeof(first), "%u", is);
	snprintf(second, sizeof(second), "%u", but);
	words(p, key, a, first, b, second);
}

static const char *
mode(enum ap_cfg_rlc_mode m)
{
	return m == AP_RLC_AM ? "am" : m == AP_RLC_TM ? "tm" : "um";
}

/** Says that keys differ, but not what they are. */
static void
keys(struct pair *p, const char *name, char *const *a, char *const *b)
{
	if (*a && *b && strcasecmp(*a, *b) != 0)
		differ(p, p->one, a, "security.%s is not that of %s %s (line %u)", name,
		       p->other->kind, p->other->name, ap_config_line(p->cfg, b));
}

static bool
has_integrity(const struct ap_cfg_ue *s)
{
	for (unsigned i = 0; i < s->bearers_count; i++)
		if (s->bearers[i].pdcp.integrity)
			return true;
	return false;
}

static void
security(struct pair *p)
{
	const struct ap_cfg_security *a = &p->one->security, *b = &p->other->security;

	numbers(p, "security.nea", &a->nea, a->nea, &b->nea, b->nea);
	if (a->nea && b->nea)
		keys(p, "key_enc", &a->key_enc, &b->key_enc);
	if (!has_integrity(p->one) && !has_integrity(p->other))
		return;
	numbers(p, "security.nia", &a->nia, a->nia, &b->nia, b->nia);
	if (a->nia && b->nia)
		keys(p, "key_int", &a->key_int, &b->key_int);
}

/** What SDAP, PDCP and RLC of a DRB write and read (TS 37.324 §6.2, 38.323 §6.2, 38.322 §6.2). */
static void
bearer(struct pair *p, const struct ap_cfg_bearer *a, const struct ap_cfg_bearer *b)
{
	char key[48];

#define KEY(k) (snprintf(key, sizeof(key), "bearer %u: " k, a->id), key)
#define ON(s) ((s) == AP_CFG_ON ? "on" : "off")
	numbers(p, KEY("lcid"), &a->lcid, a->lcid, &b->lcid, b->lcid);
	words(p, KEY("sdap.ul_header"), &a->sdap.ul_header, ON(a->sdap.ul_header),
	      &b->sdap.ul_header, ON(b->sdap.ul_header));
	words(p, KEY("sdap.dl_header"), &a->sdap.dl_header, ON(a->sdap.dl_header),
	      &b->sdap.dl_header, ON(b->sdap.dl_header));
	numbers(p, KEY("pdcp.sn_bits"), &a->pdcp.sn_bits, a->pdcp.sn_bits, &b->pdcp.sn_bits,
		b->pdcp.sn_bits);
	words(p, KEY("pdcp.integrity"), &a->pdcp.integrity, a->pdcp.integrity ? "true" : "false",
	      &b->pdcp.integrity, b->pdcp.integrity ? "true" : "false");
	words(p, KEY("rlc.mode"), &a->rlc.mode, mode(a->rlc.mode), &b->rlc.mode, mode(b->rlc.mode));
	if (a->rlc.mode == b->rlc.mode && a->rlc.mode != AP_RLC_TM)
		numbers(p, KEY("rlc.sn_bits"), &a->rlc.sn_bits, a->rlc.sn_bits, &b->rlc.sn_bits,
			b->rlc.sn_bits);
#undef KEY
#undef ON
}

static const struct ap_cfg_bearer *
bearer_find(const struct ap_cfg_ue *s, uint16_t id)
{
	for (unsigned i = 0; i < s->bearers_count; i++)
		if (s->bearers[i].id == id)
			return &s->bearers[i];
	return NULL;
}

static void
bearers(struct pair *p)
{
	for (unsigned i = 0; i < p->one->bearers_count; i++) {
		const struct ap_cfg_bearer *a = &p->one->bearers[i];
		const struct ap_cfg_bearer *b = bearer_find(p->other, a->id);

		if (b)
			bearer(p, a, b);
		else
			differ(p, p->one, a, "has bearer %u, %s %s (line %u) has not", a->id,
			       p->other->kind, p->other->name,
			       ap_config_line(p->cfg, &p->other->bearers));
	}
	for (unsigned i = 0; i < p->other->bearers_count; i++)
		if (!bearer_find(p->one, p->other->bearers[i].id))
			differ(p, p->other, &p->other->bearers[i],
			       "has bearer %u, %s %s (line %u) has not", p->other->bearers[i].id,
			       p->one->kind, p->one->name,
			       ap_config_line(p->cfg, &p->one->bearers));
}

/** @param octets that count */
static void
address(struct pair *p, const char *key, char *const *a, char *const *b, size_t octets)
{
	uint8_t x[16], y[16], bits;

	if (*a == NULL && *b == NULL)
		return;
	if (*a == NULL || *b == NULL) {
		words(p, key, a, *a ? *a : "none", b, *b ? *b : "none");
		return;
	}
	if (ap_config_prefix(*a, x, &bits) > 0 && ap_config_prefix(*b, y, &bits) > 0 &&
	    memcmp(x, y, octets) != 0)
		words(p, key, a, *a, b, *b);
}

int
config_pair(struct ap_config *cfg, const struct ap_cfg_ue *one, const struct ap_cfg_ue *other,
	    struct ap_error *err)
{
	/* Contexts of a gNB with N3 may bring algorithms and keys of their own. */
	const bool contexts = one->user_port == NULL;
	struct pair p = {.cfg = cfg, .one = one, .other = other};

	p.level = contexts ? "warning: unless contexts bring others: " : "";
	security(&p);
	if (contexts && p.len && config_warn(cfg, "%s", p.text) < 0)
		return ap_error_set(err, "%s: out of memory", cfg->path);
	if (contexts)
		p.len = 0;
	p.level = "";
	bearers(&p);
	/* One UE without addresses takes every packet. */
	if (!contexts && strcmp(one->kind, "gnb") == 0 && (other->address || other->address6)) {
		address(&p, "address", &one->address, &other->address, 4);
		address(&p, "address6", &one->address6, &other->address6, 8);
	}
	if (p.len == 0)
		return 0;
	if (p.more)
		return ap_error_set(err, "%s\nand %u more keys", p.text, p.more);
	return ap_error_set(err, "%s", p.text);
}
