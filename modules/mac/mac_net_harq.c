/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_net_harq.h"

#include <rte_common.h>

void
mac_net_harq_init(struct mac_net_harq *h, const struct mac_net_harq_cfg *cfg)
{
	*h = (struct mac_net_harq){.idle = (uint32_t)((1ULL << cfg->processes) - 1),
				   .downlink = cfg->downlink,
				   .max_tx = (uint8_t)cfg->max_tx};
}

int
mac_net_harq_pending(const struct mac_net_harq *h)
{
	uint64_t best = UINT64_MAX;
	int first = -1;

	for (uint32_t set = h->pending; set != 0; set &= set - 1) {
		const int i = __builtin_ctz(set);

		if (h->process[i].first_at < best) {
			best = h->process[i].first_at;
			first = i;
		}
	}
	return first;
}

void
mac_net_harq_grant(struct mac_net_harq *h, int process, uint64_t part, uint64_t now,
		   struct fapi_grant *g, struct mac_net_harq_stats *s)
{
	static const uint8_t rv[4] = {0, 2, 3, 1};
	struct mac_net_process *p = &h->process[process];
	const uint32_t bit = 1U << process;

	if (h->idle & bit)
		*p = (struct mac_net_process){.first_at = now,
					      .part = part,
					      .tb_bytes = g->tb_bytes,
					      .new_data = !p->new_data};
	s->retx += p->tx > 0;
	p->granted_at = now;
	h->last = now;
	h->idle &= ~bit;
	h->pending &= ~bit;
	if (h->waiting == 0)
		h->oldest = now;
	h->waiting |= bit;
	g->harq_process = (uint8_t)process;
	g->new_data = p->new_data;
	g->rv_index = rv[p->tx % 4];
	g->tb_bytes = p->tb_bytes;
}

static void
done(struct mac_net_harq *h, uint32_t bit)
{
	h->waiting &= ~bit;
	h->pending &= ~bit;
	h->parked &= ~bit;
	h->idle |= bit;
}

static void
not_sent(struct mac_net_harq *h, unsigned process, struct mac_net_harq_stats *s)
{
	struct mac_net_process *p = &h->process[process];
	const uint32_t bit = 1U << process;

	s->not_sent++;
	if (p->in_vain++ == 0)
		p->vain_since = p->granted_at;
	h->waiting &= ~bit;
	if (p->in_vain < MAC_NET_HARQ_VAIN) {
		h->pending |= bit;
		return;
	}
	p->in_vain = 0;
	if (h->downlink || h->heard > p->vain_since) {
		s->lost++;
		done(h, bit);
	} else {
		h->parked |= bit;
	}
}

/** A transmission that did not decode, as far as is known. */
static void
in_error(struct mac_net_harq *h, unsigned process, struct mac_net_harq_stats *s)
{
	struct mac_net_process *p = &h->process[process];
	const uint32_t bit = 1U << process;

	p->in_vain = 0;
	if (++p->tx < h->max_tx) {
		h->waiting &= ~bit;
		h->pending |= bit;
		return;
	}
	s->lost++;
	done(h, bit);
}

int
mac_net_harq_of_slot(const struct mac_net_harq *h, uint64_t at)
{
	for (uint32_t set = h->waiting | h->pending; set != 0; set &= set - 1) {
		const int i = __builtin_ctz(set);

		if (h->process[i].granted_at == at)
			return i;
	}
	return -1;
}

void
mac_net_harq_report(struct mac_net_harq *h, uint8_t process, uint64_t at,
		    enum mac_tb_verdict verdict, struct mac_net_harq_stats *s)
{
	const uint32_t bit = process < MAC_HARQ_MAX ? 1U << process : 0;
	struct mac_net_process *p = &h->process[bit ? process : 0];

	s->failed += verdict == MAC_TB_FAILED;
	s->dtx += verdict == MAC_TB_DTX;
	if (verdict != MAC_TB_NOT_SENT)
		h->heard = RTE_MAX(h->heard, at);
	if (verdict == MAC_TB_DTX)
		h->silent++;
	else
		h->silent = 0;
	if (!((h->waiting | h->pending | h->parked) & bit) || at < p->first_at)
		return;
	if (verdict == MAC_TB_DECODED) {
		s->decoded++;
		done(h, bit);
		return;
	}
	if (at != p->granted_at || !(h->waiting & bit))
		return; /* granted again since, or about to be */
	if (verdict == MAC_TB_NOT_SENT) {
		not_sent(h, process, s);
		return;
	}
	in_error(h, process, s);
}

void
mac_net_harq_reset(struct mac_net_harq *h, struct mac_net_harq_stats *s)
{
	const uint32_t open = h->waiting | h->pending | h->parked;

	s->lost += (uint64_t)__builtin_popcount(open);
	done(h, open);
}

void
mac_net_harq_refused(struct mac_net_harq *h, uint64_t at, struct mac_net_harq_stats *s)
{
	for (uint32_t set = h->waiting; set != 0; set &= set - 1) {
		const unsigned i = (unsigned)__builtin_ctz(set);

		if (h->process[i].granted_at == at)
			not_sent(h, i, s);
	}
}

void
mac_net_harq_expire(struct mac_net_harq *h, uint64_t now, struct mac_net_harq_stats *s)
{
	uint64_t oldest = now;

	if (likely(h->waiting == 0 || now - h->oldest <= MAC_NET_HARQ_WAIT))
		return;
	for (uint32_t set = h->waiting; set != 0; set &= set - 1) {
		const unsigned i = (unsigned)__builtin_ctz(set);

		if (now - h->process[i].granted_at > MAC_NET_HARQ_WAIT) {
			s->unheard++;
			s->dtx += h->downlink;
			h->silent += h->downlink;
			if (h->downlink)
				in_error(h, i, s);
			else
				not_sent(h, i, s);
		} else {
			oldest = RTE_MIN(oldest, h->process[i].granted_at);
		}
	}
	h->oldest = oldest;
}
