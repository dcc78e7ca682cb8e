/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "core/huge.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_scans.h"

#define PAGE_BYTES 4096

static size_t
apps_bytes(void)
{
	return UPF_APPS * sizeof(uint32_t);
}

size_t
upf_scans_bytes(const struct upf_scans *t)
{
	return t->nb * t->scan_bytes + apps_bytes();
}

struct upf_scans *
upf_scans_create(uint32_t scans)
{
	struct upf_scans *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->nb = (uint16_t)scans;
	t->scan_bytes = RTE_CACHE_LINE_ROUNDUP(dpi_scan_bytes());
	t->slots = calloc(scans, sizeof(*t->slots));
	if (t->slots != NULL)
		t->memory = ap_huge_alloc(upf_scans_bytes(t));
	if (t->memory == NULL) {
		free(t->slots);
		free(t);
		return NULL;
	}
	t->apps = (uint32_t *)(void *)(t->memory + t->nb * t->scan_bytes);
	t->first = t->last = UPF_SCAN_NONE;
	for (uint32_t i = 0; i < scans; i++)
		t->slots[i].next = (uint16_t)(i + 1 == scans ? UPF_SCAN_NONE : i + 1);
	return t;
}

void
upf_scans_destroy(struct upf_scans *t)
{
	if (t == NULL)
		return;
	ap_huge_free(t->memory, upf_scans_bytes(t));
	free(t->slots);
	free(t);
}

void
upf_scans_touch(struct upf_scans *t)
{
	volatile uint8_t *p = t->memory;

	for (size_t at = 0; at < upf_scans_bytes(t) && !t->touched; at += PAGE_BYTES)
		p[at] = 0;
	t->touched = true;
}

static void
unlink_slot(struct upf_scans *t, uint16_t scan)
{
	struct upf_scan_slot *s = &t->slots[scan];

	if (s->prev == UPF_SCAN_NONE)
		t->first = s->next;
	else
		t->slots[s->prev].next = s->next;
	if (s->next == UPF_SCAN_NONE)
		t->last = s->prev;
	else
		t->slots[s->next].prev = s->prev;
}

static void
append(struct upf_scans *t, uint16_t scan)
{
	struct upf_scan_slot *s = &t->slots[scan];

	s->next = UPF_SCAN_NONE;
	s->prev = t->last;
	if (t->last == UPF_SCAN_NONE)
		t->first = scan;
	else
		t->slots[t->last].next = scan;
	t->last = scan;
}

uint16_t
upf_scan_begin(struct upf_scans *t, uint32_t flow, uint16_t app, uint8_t ip_proto,
	       uint16_t port_of_server, uint32_t first, uint32_t seq, uint32_t *robbed,
	       uint16_t *robbed_app)
{
	uint16_t scan = t->free;

	*robbed = UPF_FLOW_NONE;
	if (scan != UPF_SCAN_NONE) {
		t->free = t->slots[scan].next;
		t->used++;
	} else {
		scan = t->first;
		*robbed = t->slots[scan].flow;
		*robbed_app = t->slots[scan].app;
		unlink_slot(t, scan);
		t->stats.robbed++;
	}
	t->slots[scan].flow = flow;
	t->slots[scan].app = app;
	append(t, scan);
	t->stats.scans += first == 0;
	dpi_scan_begin(upf_scan_memory(t, scan), ip_proto, port_of_server, first, seq);
	return scan;
}

void
upf_scan_end(struct upf_scans *t, uint16_t scan)
{
	unlink_slot(t, scan);
	t->slots[scan].next = t->free;
	t->free = scan;
	t->used--;
}

static void
count(struct upf_scan_stats *stats, enum dpi_verdict v, enum dpi_proto proto)
{
	if (v == DPI_FOUND)
		stats->found[proto]++;
	else if (v == DPI_BAD)
		stats->bad[proto]++;
	else
		stats->nameless++;
}

enum dpi_verdict
upf_scan_first(struct upf_scans *t, uint32_t *first, uint8_t ip_proto, uint16_t port_of_server,
	       const struct dpi_segment *segment, struct upf_scan_names *names)
{
	const bool begins = *first == 0;
	struct dpi_name *name = &names->name[names->nb];
	const enum dpi_verdict v = dpi_look_first(first, ip_proto, port_of_server, segment,
						  names->hosts[names->nb], name);

	if (v == DPI_KEEP) {
		/* upf_scan_begin() counts the flow, where nothing was remembered, and
		 * upf_scan_look() the packet. */
		t->stats.scans += begins && *first != 0;
		return v;
	}
	t->stats.scans += begins;
	t->stats.packets++;
	if (v == DPI_MORE)
		return v;
	count(&t->stats, v, name->proto);
	names->nb += v == DPI_FOUND;
	return v;
}

void
upf_scan_names(struct upf_scans *t, struct upf_scan_names *names)
{
	if (t->set != NULL)
		dpi_set_names(t->set, t->scratch, names->name, names->nb, names->app);
	else
		memset(names->app, 0, names->nb * sizeof(names->app[0]));
}

enum dpi_verdict
upf_scan_look(struct upf_scans *t, uint16_t scan, const struct dpi_segment *segment, uint16_t *app)
{
	struct dpi_name name;
	const enum dpi_verdict v = dpi_look(upf_scan_memory(t, scan), segment, &name);
	uint16_t named = 0;

	t->stats.packets++;
	if (v == DPI_MORE)
		return v;
	count(&t->stats, v, name.proto);
	if (v == DPI_FOUND && t->set != NULL)
		named = dpi_set_name(t->set, t->scratch, &name);
	*app = named != 0 ? named : t->slots[scan].app;
	upf_scan_end(t, scan);
	return v;
}
