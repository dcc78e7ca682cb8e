/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_far.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_remote.h"
#include "modules/upf/upf_rules.h"

#define ENTRIES_MIN 256

int
upf_remotes_init(struct upf_remotes *t)
{
	*t = (struct upf_remotes){.mask = ENTRIES_MIN - 1};
	t->entry = calloc(ENTRIES_MIN, sizeof(*t->entry));
	return t->entry ? 0 : -ENOMEM;
}

void
upf_remotes_fini(struct upf_remotes *t)
{
	free(t->entry);
	*t = (struct upf_remotes){0};
}

static uint32_t
place(uint32_t mask, uint64_t key)
{
	key *= 0x9E3779B97F4A7C15ULL;
	return (uint32_t)((key ^ key >> 29) >> 16) & mask;
}

static struct upf_remote_entry *
find(const struct upf_remotes *t, uint64_t key)
{
	uint32_t i = place(t->mask, key);

	while (t->entry[i].key != 0 && t->entry[i].key != key)
		i = (i + 1) & t->mask;
	return &t->entry[i];
}

static int
grow(struct upf_remotes *t)
{
	struct upf_remotes bigger = {.mask = t->mask * 2 + 1, .nb = t->nb};

	bigger.entry = calloc((size_t)bigger.mask + 1, sizeof(*bigger.entry));
	if (bigger.entry == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i <= t->mask; i++)
		if (t->entry[i].key)
			*find(&bigger, t->entry[i].key) = t->entry[i];
	free(t->entry);
	*t = bigger;
	return 0;
}

static int
add(struct upf_remotes *t, uint64_t key, uint64_t id)
{
	struct upf_remote_entry *e = find(t, key);

	if (e->key == 0) {
		if (t->nb >= t->mask / 2 && grow(t) < 0)
			return -ENOMEM;
		e = find(t, key);
		t->nb++;
	}
	*e = (struct upf_remote_entry){key, id};
	return 0;
}

/** What follows moves up, so that no search ends too early. */
static void
del(struct upf_remotes *t, uint64_t key, uint64_t id)
{
	uint32_t hole = (uint32_t)(find(t, key) - t->entry), i = hole;

	if (t->entry[hole].key == 0 || t->entry[hole].id != id)
		return;
	t->nb--;
	for (;;) {
		uint32_t home;

		i = (i + 1) & t->mask;
		if (t->entry[i].key == 0)
			break;
		home = place(t->mask, t->entry[i].key);
		if (((i - home) & t->mask) < ((i - hole) & t->mask))
			continue;
		t->entry[hole] = t->entry[i];
		hole = i;
	}
	t->entry[hole] = (struct upf_remote_entry){0};
}

/** @return the key of what is sent to; its high half is 0: no path is watched. */
static uint64_t
key_of(const struct upf_net *net, uint16_t peer, uint32_t teid)
{
	if (peer == 0 || peer >= UPF_PEERS_MAX || teid == 0)
		return 0;
	return (uint64_t)net->peers[peer].path << 32 | teid;
}

int
upf_remotes_add(struct upf_remotes *t, const struct upf_net *net, uint64_t id, uint16_t peer,
		uint32_t teid)
{
	uint64_t key = key_of(net, peer, teid);

	return key >> 32 ? add(t, key, id) : 0;
}

void
upf_remotes_del(struct upf_remotes *t, const struct upf_net *net, uint64_t id, uint16_t peer,
		uint32_t teid)
{
	uint64_t key = key_of(net, peer, teid);

	if (key >> 32)
		del(t, key, id);
}

int
upf_remotes_replace(struct upf_remotes *t, const struct upf_net *net, uint64_t id,
		    const struct upf_rules *old, const struct upf_rules *now)
{
	int rc = 0;

	for (unsigned i = 0; old && i < old->nb_fars; i++)
		upf_remotes_del(t, net, id, old->fars[i].to.peer, old->fars[i].to.teid);
	for (unsigned i = 0; now && i < now->nb_fars; i++)
		if (upf_remotes_add(t, net, id, now->fars[i].to.peer, now->fars[i].to.teid) < 0)
			rc = -ENOMEM;
	return rc;
}

uint64_t
upf_remotes_find(const struct upf_remotes *t, const struct upf_net *net, bool v6,
		 const uint8_t *peer, uint32_t teid)
{
	const uint32_t high = atomic_load(&net->paths_high);

	/* A path a peer and interface: few, and Error Indications are rare. */
	for (uint32_t i = 1; i < high; i++) {
		const struct upf_net_path *p = &net->paths[i];
		const struct upf_remote_entry *e;

		if (p->refs == 0 || p->v6 != v6 || memcmp(p->address, peer, v6 ? 16 : 4) != 0)
			continue;
		e = find(t, (uint64_t)i << 32 | teid);
		if (e->key)
			return e->id;
	}
	return 0;
}
