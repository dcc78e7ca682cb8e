/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_apps_rules.h"

typedef Airpath__Upf__V1__Application UpfApplication;
typedef Airpath__Upf__V1__Filter UpfFilter;
typedef Airpath__Upf__V1__Pfd UpfPfd;
typedef Airpath__Upf__V1__PortRange UpfPortRange;

struct upf_apps_rules *
upf_apps_rules_make(uint32_t generation)
{
	struct upf_apps_rules *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->generation = generation;
	r->ids = calloc(UPF_APPS, sizeof(*r->ids));
	r->app_pfds = calloc(UPF_APPS, sizeof(*r->app_pfds));
	if (r->ids != NULL && r->app_pfds != NULL)
		return r;
	upf_apps_rules_free(r);
	return NULL;
}

void
upf_apps_rules_shrink(struct upf_apps_rules *r)
{
	for (uint32_t i = 0; i < r->nb; i++)
		free((char *)(uintptr_t)r->rules[i].text);
	free(r->rules);
	free(r->pfd);
	free(r->app_pfds);
	r->rules = NULL;
	r->pfd = r->app_pfds = NULL;
	r->nb = r->max = 0;
}

void
upf_apps_rules_free(struct upf_apps_rules *r)
{
	if (r == NULL)
		return;
	upf_apps_rules_shrink(r);
	for (uint32_t i = 0; r->ids != NULL && i < UPF_APPS; i++)
		free(r->ids[i]);
	free(r->ids);
	free(r);
}

/** @return room for one more rule, zeroed, or NULL */
static struct dpi_rule *
rule_add(struct upf_apps_rules *r, uint32_t pfd)
{
	if (r->nb == r->max) {
		const uint32_t max = r->max != 0 ? 2 * r->max : 1024;
		void *rules = realloc(r->rules, max * sizeof(*r->rules)), *pfds;

		if (rules == NULL)
			return NULL;
		r->rules = rules;
		pfds = realloc(r->pfd, max * sizeof(*r->pfd));
		if (pfds == NULL)
			return NULL;
		r->pfd = pfds;
		r->max = max;
	}
	r->pfd[r->nb] = pfd;
	memset(&r->rules[r->nb], 0, sizeof(r->rules[0]));
	return &r->rules[r->nb++];
}

/* --- flows ------------------------------------------------------------------------------------ */

/* @return families that the prefix leaves, 0: it is none */
static uint8_t
prefix_of(const Airpath__Upf__V1__Prefix *p, struct dpi_prefix *to)
{
	*to = (struct dpi_prefix){.bits = 0};
	if (p == NULL)
		return DPI_NET_IP4 | DPI_NET_IP6;
	if ((p->address.len != 4 && p->address.len != 16) || p->bits > 8 * p->address.len)
		return 0;
	memcpy(to->address, p->address.data, p->address.len);
	to->bits = (uint8_t)p->bits;
	return p->address.len == 4 ? DPI_NET_IP4 : DPI_NET_IP6;
}

static bool
range_of(UpfPortRange *const *ranges, size_t nb, size_t i, uint16_t to[2])
{
	to[0] = 0;
	to[1] = UINT16_MAX;
	if (nb == 0)
		return true;
	to[0] = (uint16_t)ranges[i]->first;
	to[1] = (uint16_t)ranges[i]->last;
	return ranges[i]->first <= ranges[i]->last && ranges[i]->last <= UINT16_MAX;
}

static const char *
net_of(const UpfFilter *f, struct dpi_net *n)
{
	*n = (struct dpi_net){.tos = (uint8_t)f->tos, .tos_mask = (uint8_t)f->tos_mask};
	n->flags = prefix_of(f->source, &n->src) & prefix_of(f->destination, &n->dst);
	if (n->flags == 0)
		return "its prefixes are none, or of two families";
	if (f->protocol > 256 || f->tos > UINT8_MAX || f->tos_mask > UINT8_MAX ||
	    f->flow_label > 0xFFFFF)
		return "a number of its flow is out of range";
	if (f->protocol <= UINT8_MAX) {
		n->flags |= DPI_NET_PROTO;
		n->proto = (uint8_t)f->protocol;
	}
	if (f->match_spi) {
		n->flags |= DPI_NET_SPI;
		n->spi = f->spi;
	}
	if (f->match_flow_label) {
		n->flags = (uint8_t)((n->flags & ~DPI_NET_IP4) | DPI_NET_FLOW_LABEL);
		n->flow_label = f->flow_label;
		if (!(n->flags & DPI_NET_IP6))
			return "IPv4 has no flow label";
	}
	return NULL;
}

/* One rule for each pair of port ranges. */
static const char *
add_flow(struct upf_apps_rules *r, uint16_t app, uint32_t pfd, const UpfFilter *f)
{
	const size_t nb_src = f->n_source_ports ? f->n_source_ports : 1;
	const size_t nb_dst = f->n_destination_ports ? f->n_destination_ports : 1;
	struct dpi_net net;
	const char *why = net_of(f, &net);

	for (size_t i = 0; why == NULL && i < nb_src * nb_dst; i++) {
		struct dpi_rule *rule;

		if (!range_of(f->source_ports, f->n_source_ports, i / nb_dst, net.src_ports) ||
		    !range_of(f->destination_ports, f->n_destination_ports, i % nb_dst,
			      net.dst_ports))
			return "a port range of its flow is none";
		if (f->n_source_ports + f->n_destination_ports != 0)
			net.flags |= DPI_NET_PORTS;
		rule = rule_add(r, pfd);
		if (rule == NULL)
			return "no memory";
		*rule = (struct dpi_rule){.kind = DPI_RULE_FLOW, .app = app, .flow = net};
	}
	return why;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *
add_text(struct upf_apps_rules *r, uint16_t app, uint32_t pfd, const UpfPfd *p)
{
	static const enum dpi_rule_kind kinds[] = {
		[AIRPATH__UPF__V1__PFD__KIND__HOST] = DPI_RULE_HOST,
		[AIRPATH__UPF__V1__PFD__KIND__SUFFIX] = DPI_RULE_SUFFIX,
		[AIRPATH__UPF__V1__PFD__KIND__HOST_PATTERN] = DPI_RULE_HOST_PATTERN,
		[AIRPATH__UPF__V1__PFD__KIND__URL_PATTERN] = DPI_RULE_URL_PATTERN,
	};
	struct dpi_rule *rule;
	char *text;

	if ((unsigned)p->kind >= sizeof(kinds) / sizeof(kinds[0]))
		return "it is of no kind";
	text = strdup(p->text);
	rule = text != NULL ? rule_add(r, pfd) : NULL;
	if (rule == NULL) {
		free(text);
		return "no memory";
	}
	rule->kind = kinds[p->kind];
	rule->app = app;
	rule->pattern_is_regex = p->regex;
	rule->text = text;
	return NULL;
}

static const char *
add_pfd(struct upf_apps_rules *r, uint16_t app, const UpfPfd *p)
{
	const uint32_t pfd = r->app_pfds[app]++;

	r->pfds++;
	if (p->kind != AIRPATH__UPF__V1__PFD__KIND__FLOW)
		return add_text(r, app, pfd, p);
	return p->flow != NULL ? add_flow(r, app, pfd, p->flow) : "its flow is missing";
}

static const char *
add_application(struct upf_apps_rules *r, const UpfApplication *a)
{
	if (a->index == 0 || a->index >= UPF_APPS)
		return "its index must be 1..65535";
	if (r->ids[a->index] == NULL) {
		r->ids[a->index] = strdup(a->id);
		r->applications++;
	} else if (strcmp(r->ids[a->index], a->id) != 0) {
		return "its index is that of another one";
	}
	return r->ids[a->index] != NULL ? NULL : "no memory";
}

int
upf_apps_rules_add(struct upf_apps_rules *r, const Airpath__Upf__V1__Applications *m, char why[256])
{
	for (size_t i = 0; i < m->n_applications; i++) {
		const UpfApplication *a = m->applications[i];
		const char *wrong = add_application(r, a);

		if (wrong != NULL) {
			snprintf(why, 256, "application %u '%.64s': %s", a->index, a->id, wrong);
			return -EINVAL;
		}
		for (size_t k = 0; k < a->n_pfds; k++) {
			wrong = add_pfd(r, (uint16_t)a->index, a->pfds[k]);
			if (wrong == NULL && r->nb > dpi_limits_default.rules)
				wrong = "more rules than a set may have";
			if (wrong == NULL)
				continue;
			snprintf(why, 256, "application %u '%.64s', pfd %u: %s", a->index, a->id,
				 r->app_pfds[a->index] - 1, wrong);
			return -EINVAL;
		}
	}
	return 0;
}
