/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>
#include <rte_prefetch.h>

#include "modules/dpi/dpi_hosts_impl.h"

/* The parts of a name, the shortest first. @return how many; above `max`: there are more */
static inline unsigned
parts_of(const struct dpi_hosts *hosts, const uint8_t *host, unsigned len,
	 struct dpi_hosts_part *parts, unsigned max)
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
		rte_prefetch0(&hosts->slots[bucket_of(hosts, h)]);
		parts[nb++] = (struct dpi_hosts_part){.hash = h, .start = (uint8_t)start};
	}
	return nb;
}

static inline void
buckets_look(const struct dpi_hosts *hosts, struct dpi_hosts_part *parts, unsigned nb)
{
	for (unsigned i = 0; i < nb; i++) {
		struct dpi_hosts_part *p = &parts[i];

		const uint32_t *slots = &hosts->slots[bucket_of(hosts, p->hash)];
		const struct bucket b = bucket_look(slots, p->hash);

		p->like = b.like;
		p->full = b.full;
		if (b.like != 0)
			rte_prefetch0(entry_at(hosts, slots[__builtin_ctz(b.like)]));
	}
}

static inline uint16_t
app_of(const struct dpi_hosts *hosts, const uint8_t *host, unsigned len,
       const struct dpi_hosts_part *parts, unsigned nb)
{
	while (nb-- > 0) {
		const struct dpi_hosts_part *p = &parts[nb];
		const struct bucket first = {.like = p->like, .full = p->full};
		const struct entry *e =
			find_from(hosts, p->hash, first, host + p->start, len - p->start);

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
find_one(const struct dpi_hosts *hosts, const struct dpi_name *name)
{
	struct dpi_hosts_part parts[LABELS_MAX];
	const unsigned nb = parts_of(hosts, name->host, name->host_len, parts, LABELS_MAX);

	buckets_look(hosts, parts, nb);
	return app_of(hosts, name->host, name->host_len, parts, nb);
}

void
dpi_hosts_ask(const struct dpi_hosts *hosts, const struct dpi_name *const names[], unsigned nb,
	      struct dpi_hosts_asked *asked)
{
	asked->names = names;
	asked->nb = nb;
	for (unsigned i = 0; i < nb; i++)
		asked->nb_parts[i] = (uint8_t)parts_of(hosts, names[i]->host, names[i]->host_len,
						       asked->parts[i], DPI_HOSTS_PARTS);
}

void
dpi_hosts_look(const struct dpi_hosts *hosts, struct dpi_hosts_asked *asked)
{
	for (unsigned i = 0; i < asked->nb; i++)
		if (asked->nb_parts[i] <= DPI_HOSTS_PARTS)
			buckets_look(hosts, asked->parts[i], asked->nb_parts[i]);
}

void
dpi_hosts_tell(const struct dpi_hosts *hosts, const struct dpi_hosts_asked *asked, uint16_t apps[])
{
	for (unsigned i = 0; i < asked->nb; i++) {
		const struct dpi_name *name = asked->names[i];

		if (apps[i] != 0)
			continue;
		apps[i] = asked->nb_parts[i] <= DPI_HOSTS_PARTS
				  ? app_of(hosts, name->host, name->host_len, asked->parts[i],
					   asked->nb_parts[i])
				  : find_one(hosts, name);
	}
}
