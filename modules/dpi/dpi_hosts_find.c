/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>
#include <rte_prefetch.h>

#include "modules/dpi/dpi_hosts_impl.h"

#define BATCH 16
#define PARTS_FEW 6 /* nearly all names have no more parts */

/* A name, or a domain it is of, that a rule may know. */
struct part {
	uint64_t hash;
	uint32_t slot; /* likely_slot() */
	uint8_t start; /* where in the name */
};

/* The parts of a name, the shortest first. @return how many; above `max`: there are more */
static inline unsigned
parts_of(const struct dpi_hosts *hosts, const uint8_t *host, unsigned len, struct part *parts,
	 unsigned max)
{
	unsigned end = len, start = len, labels = 0, nb = 0;
	struct dots dots;
	uint64_t h = 0;

	dots_find(host, len, &dots);
	/* No rule has more labels, so no more of the name counts. */
	while (labels < hosts->max_labels && start > 0) {
		start = label_before(&dots, end);
		h = add_label(h, host + start, end - start);
		end = start - 1;
		if (!hosts->labels[++labels])
			continue;
		if (nb == max)
			return max + 1;
		rte_prefetch0(&hosts->slots[(uint32_t)h & hosts->mask]);
		parts[nb++] = (struct part){.hash = h, .start = (uint8_t)start};
	}
	return nb;
}

static inline void
slots_find(const struct dpi_hosts *hosts, struct part *parts, unsigned nb)
{
	for (unsigned i = 0; i < nb; i++) {
		struct part *p = &parts[i];

		p->slot = likely_slot(hosts, p->hash, (uint32_t)p->hash);
		if (p->slot != NO_SLOT)
			rte_prefetch0(entry_at(hosts, hosts->slots[p->slot]));
	}
}

static inline uint16_t
app_of(const struct dpi_hosts *hosts, const uint8_t *host, unsigned len, const struct part *parts,
       unsigned nb)
{
	while (nb-- > 0) {
		const struct part *p = &parts[nb];
		const struct entry *e =
			find_from(hosts, p->hash, p->slot, host + p->start, len - p->start);

		if (!e)
			continue;
		if (p->start == 0 && e->exact != 0)
			return e->exact;
		if (e->suffix != 0)
			return e->suffix;
	}
	return 0;
}

static uint16_t
find_one(const struct dpi_hosts *hosts, const uint8_t *host, unsigned len)
{
	struct part parts[LABELS_MAX];
	const unsigned nb = parts_of(hosts, host, len, parts, LABELS_MAX);

	slots_find(hosts, parts, nb);
	return app_of(hosts, host, len, parts, nb);
}

static void
find_batch(const struct dpi_hosts *hosts, const struct dpi_name *const names[], unsigned nb,
	   uint16_t apps[])
{
	struct part parts[BATCH][PARTS_FEW];
	uint8_t nbs[BATCH];

	for (unsigned i = 0; i < nb; i++)
		nbs[i] = (uint8_t)parts_of(hosts, names[i]->host, names[i]->host_len, parts[i],
					   PARTS_FEW);
	for (unsigned i = 0; i < nb; i++)
		if (nbs[i] <= PARTS_FEW)
			slots_find(hosts, parts[i], nbs[i]);
	for (unsigned i = 0; i < nb; i++)
		apps[i] = nbs[i] <= PARTS_FEW ? app_of(hosts, names[i]->host, names[i]->host_len,
						       parts[i], nbs[i])
					      : find_one(hosts, names[i]->host, names[i]->host_len);
}

void
dpi_hosts_find(const struct dpi_hosts *hosts, const struct dpi_name *const names[], unsigned nb,
	       uint16_t apps[])
{
	for (unsigned i = 0; i < nb; i += BATCH)
		find_batch(hosts, names + i, RTE_MIN(nb - i, (unsigned)BATCH), apps + i);
}
