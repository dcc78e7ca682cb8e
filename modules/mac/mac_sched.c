/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_sched.h"

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#define AVERAGE_MS 100

/** Round robin: those behind the one that was served last, in turn. */
static unsigned
round_robin(struct mac_sched *s, const struct mac_sched_want *w, unsigned nb, uint64_t now_ns)
{
	unsigned first = 0, n = RTE_MIN(nb, s->ues);

	(void)now_ns;
	while (first < nb && w[first].ue < s->next)
		first++;
	for (unsigned i = 0; i < n; i++)
		s->order[i] = (uint16_t)(first + i < nb ? first + i : first + i - nb);
	if (n > 0)
		s->next = w[s->order[n - 1]].ue + 1U;
	return n;
}

/** What the UE was served of late: bytes in average_ns, those longer ago counting less. */
static double
average(struct mac_sched *s, uint16_t ue, uint64_t now_ns)
{
	struct mac_sched_average *a = &s->average[ue];
	double x;

	if (now_ns > a->served_ns) {
		x = (double)(now_ns - a->served_ns) / s->average_ns;
		a->bytes /= 1 + x + x * x / 2; /* e^-x, near enough for all that is recent */
	}
	a->served_ns = now_ns;
	return a->bytes;
}

/** Proportional fair: the greatest rate in proportion to what a UE was served on average. */
static unsigned
proportional_fair(struct mac_sched *s, const struct mac_sched_want *w, unsigned nb, uint64_t now_ns)
{
	double metric[SLOT_UES_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < nb; i++) {
		const double m = w[i].rate / (average(s, w[i].ue, now_ns) + 1);
		unsigned at;

		if (n == s->ues && m <= metric[n - 1])
			continue;
		n += n < s->ues;
		for (at = n - 1; at > 0 && metric[at - 1] < m; at--) {
			metric[at] = metric[at - 1];
			s->order[at] = s->order[at - 1];
		}
		metric[at] = m;
		s->order[at] = (uint16_t)i;
	}
	return n;
}

static const struct mac_sched_policy policies[] = {
	{.name = "round_robin", .order = round_robin, .equal_parts = true},
	{.name = "proportional_fair", .order = proportional_fair},
};

const struct mac_sched_policy *
mac_sched_policy_find(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(policies); i++)
		if (strcmp(policies[i].name, name) == 0)
			return &policies[i];
	return NULL;
}

int
mac_sched_init(struct mac_sched *s, const struct mac_sched_cfg *cfg)
{
	*s = (struct mac_sched){
		.policy = mac_sched_policy_find(cfg->policy),
		.nb_ues = cfg->nb_ues,
		.ues_per_slot = cfg->ues_per_slot,
		.ue_bytes = cfg->ue_bytes ? cfg->ue_bytes : UINT32_MAX,
		.average_ns = 1e6 * (cfg->average_ms ? cfg->average_ms : AVERAGE_MS),
	};
	if (s->policy == NULL || cfg->nb_ues == 0 || cfg->ues_per_slot == 0 ||
	    cfg->ues_per_slot > SLOT_UES_MAX)
		return -EINVAL;
	s->average = rte_zmalloc("mac_sched", cfg->nb_ues * sizeof(*s->average), 0);
	return s->average ? 0 : -ENOMEM;
}

void
mac_sched_fini(struct mac_sched *s)
{
	rte_free(s->average);
	s->average = NULL;
}

/** Bytes that `part` of the slot gives at `rate`. */
static uint32_t
bytes_of(uint64_t part, uint32_t rate)
{
	return (uint32_t)((unsigned __int128)part * rate / MAC_SCHED_WHOLE);
}

/** Gives the UE at `w` up to `part` of the slot on top of what it has. @return the part it took. */
static uint64_t
give(const struct mac_sched *s, const struct mac_sched_want *w, uint64_t part, uint32_t *has)
{
	const uint32_t limit = RTE_MIN(w->bytes, s->ue_bytes);
	const uint32_t more = RTE_MIN(limit - *has, bytes_of(part, w->rate));

	*has += more;
	/* Rounded up, so that all parts together are never more than the slot. */
	return RTE_MIN(part, mac_sched_part(more, w->rate));
}

unsigned
mac_sched_run(struct mac_sched *s, const struct mac_sched_want *w, unsigned nb,
	      const struct mac_sched_room *room, uint64_t now_ns, struct mac_sched_grant *out)
{
	uint64_t left = room ? room->part : MAC_SCHED_WHOLE;
	uint32_t bytes[SLOT_UES_MAX] = {0};
	unsigned n, grants = 0;

	s->ues = room ? RTE_MIN(room->ues, s->ues_per_slot) : s->ues_per_slot;
	if (s->ues == 0 || left == 0)
		return 0;
	n = s->policy->order(s, w, nb, now_ns);
	for (unsigned i = 0; s->policy->equal_parts && i < n; i++)
		left -= give(s, &w[s->order[i]], left / (n - i), &bytes[i]);
	for (unsigned i = 0; i < n && left > 0; i++)
		left -= give(s, &w[s->order[i]], left, &bytes[i]);
	for (unsigned i = 0; i < n; i++) {
		if (bytes[i] == 0)
			continue;
		out[grants++] = (struct mac_sched_grant){w[s->order[i]].ue, bytes[i]};
		s->average[w[s->order[i]].ue].bytes += bytes[i];
	}
	return grants;
}
