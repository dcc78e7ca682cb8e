/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_macs.h"

#include <errno.h>
#include <stdlib.h>

#include "modules/upf/upf_ethernet.h"
#include "modules/upf/upf_index.h"

#define CHAINS 8192
#define NONE UINT32_MAX

struct upf_mac_entry {
	struct upf_mac_owner o; /**< id 0: free */
	uint32_t next;          /**< of the chain, or of those that are free */
};

int
upf_macs_init(struct upf_macs *t, struct upf_index *index,
	      void (*told)(void *arg, const struct upf_mac_owner *owner, bool removed), void *arg)
{
	*t = (struct upf_macs){.index = index, .told = told, .arg = arg, .free = NONE};
	t->entries = calloc(UPF_MACS_KNOWN_MAX, sizeof(*t->entries));
	t->chains = malloc(CHAINS * sizeof(*t->chains));
	if (t->entries == NULL || t->chains == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < CHAINS; i++)
		t->chains[i] = NONE;
	return 0;
}

void
upf_macs_fini(struct upf_macs *t)
{
	free(t->entries);
	free(t->chains);
	*t = (struct upf_macs){0};
}

static uint32_t *
chain_of(struct upf_macs *t, uint64_t key, uint8_t interface)
{
	const uint64_t h = (key ^ (uint64_t)interface << 60) * 0x9E3779B97F4A7C15ULL;

	return &t->chains[h >> 51]; /* 13 bits */
}

static struct upf_mac_entry *
find(struct upf_macs *t, const struct upf_mac_owner *o)
{
	uint32_t i = *chain_of(t, o->key, o->interface);

	while (i != NONE &&
	       (t->entries[i].o.key != o->key || t->entries[i].o.interface != o->interface))
		i = t->entries[i].next;
	return i != NONE ? &t->entries[i] : NULL;
}

/** An entry of the address's chain; NULL: there is no room. */
static struct upf_mac_entry *
add(struct upf_macs *t, const struct upf_mac_owner *o)
{
	uint32_t *chain = chain_of(t, o->key, o->interface), i = t->free;

	if (i != NONE)
		t->free = t->entries[i].next;
	else if (t->nb < UPF_MACS_KNOWN_MAX)
		i = t->nb++;
	else
		return NULL;
	t->entries[i].next = *chain;
	*chain = i;
	return &t->entries[i];
}

static void
forget(struct upf_macs *t, struct upf_mac_entry *e)
{
	const uint32_t i = (uint32_t)(e - t->entries);
	uint32_t *at = chain_of(t, e->o.key, e->o.interface);

	while (*at != i)
		at = &t->entries[*at].next;
	*at = e->next;
	upf_index_mac_set(t->index, e->o.interface, e->o.key, 0);
	*e = (struct upf_mac_entry){.next = t->free};
	t->free = i;
}

void
upf_macs_seen(struct upf_macs *t, const struct upf_mac_owner *o, uint32_t now_s)
{
	struct upf_mac_entry *e = find(t, o);
	const bool same = e != NULL && e->o.id == o->id;

	if (upf_index_mac_set(t->index, o->interface, o->key, o->handle) < 0)
		return;
	if (e != NULL && !same)
		t->told(t->arg, &e->o, true);
	if (e == NULL)
		e = add(t, o);
	if (e == NULL) {
		upf_index_mac_set(t->index, o->interface, o->key, 0);
		return;
	}
	e->o = *o;
	e->o.seen_s = now_s;
	if (!same)
		t->told(t->arg, &e->o, false);
}

void
upf_macs_gone(struct upf_macs *t, uint64_t id)
{
	for (uint32_t i = 0; i < t->nb; i++)
		if (t->entries[i].o.id == id)
			forget(t, &t->entries[i]);
}

void
upf_macs_age(struct upf_macs *t, uint64_t id, uint32_t age_s, uint32_t now_s)
{
	for (uint32_t i = 0; i < t->nb; i++)
		if (t->entries[i].o.id == id) {
			t->entries[i].o.age_s = age_s;
			t->entries[i].o.seen_s = now_s;
		}
}

void
upf_macs_expire(struct upf_macs *t, uint32_t now_s)
{
	if (now_s == t->checked_s)
		return;
	t->checked_s = now_s;
	for (uint32_t i = 0; i < t->nb; i++) {
		struct upf_mac_entry *e = &t->entries[i];

		if (e->o.id == 0 || now_s - e->o.seen_s <= e->o.age_s)
			continue;
		t->told(t->arg, &e->o, true);
		forget(t, e);
	}
}
