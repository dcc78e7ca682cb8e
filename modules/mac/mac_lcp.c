/* SPDX-License-Identifier: BSD-3-Clause */
/* Logical channel prioritization, TS 38.321 §5.4.3.1. */
#include "modules/mac/mac_tx.h"

#define UB_PER_B 1000000 /* Bj is in µB: kB/s × ns */
#define FAIR_BYTES 4096  /* what one of several channels of equal priority gets in a row */
#define SUBPDU_MIN 3     /* subheader and one byte */

/*
 * §5.4.3.1.2: "select the logical channels for each UL grant that satisfy all the following
 * conditions: the set of allowed Subcarrier Spacing index values in allowedSCS-List, if configured,
 * includes the Subcarrier Spacing index associated to the UL grant; and maxPUSCH-Duration, if
 * configured, is larger than or equal to the PUSCH transmission duration associated to the UL
 * grant; and … allowedServingCells, if configured, includes the Cell information associated to
 * the UL grant".
 */
static bool
selected(const struct mac_tx *tx, const struct mac_tx_lc *lc)
{
	const struct slot_tb *g = &tx->slot.tb[tx->carrier];

	if (!(lc->cfg.carriers >> tx->carrier & 1) || !(lc->cfg.scs >> g->subcarrier_spacing & 1))
		return false;
	/* A PUSCH of n of the 14 symbols takes n × slot / 14. */
	return lc->cfg.max_pusch_us == 0 ||
	       (uint64_t)g->nr_of_symbols * (AP_NS_PER_MS >> g->subcarrier_spacing) <
		       14ULL * (lc->cfg.max_pusch_us + 1) * AP_NS_PER_US;
}

/*
 * §5.4.3.1.1: "increment Bj by the product PBR × T before every instance of the LCP
 * procedure, where T is the time elapsed since Bj was last incremented; if the value of
 * Bj is greater than the bucket size (i.e. PBR × BSD): set Bj to the bucket size."
 */
void
mac_lcp_begin(struct mac_tx *tx, uint64_t now_ns)
{
	uint64_t T = now_ns > tx->lcp_ns ? now_ns - tx->lcp_ns : 0;

	tx->lcp_ns = RTE_MAX(now_ns, tx->lcp_ns);
	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		struct mac_tx_lc *lc = &tx->lcs[j];
		const uint64_t pbr = lc->cfg.pbr_kbytes_s;
		__int128 bucket = (__int128)pbr * lc->cfg.bsd_ms * AP_NS_PER_MS;
		__int128 Bj = lc->Bj + (__int128)pbr * T;

		lc->Bj = (int64_t)RTE_MIN(Bj, bucket);
		lc->blocked = false;
		lc->selected = selected(tx, lc);
	}
}

/* May the channel be served now? In the first round only with Bj > 0, or PBR infinity. */
static bool
eligible(const struct mac_tx_lc *lc, bool first_round)
{
	if (lc->blocked || !lc->selected)
		return false;
	if (first_round && lc->Bj <= 0 && lc->cfg.pbr_kbytes_s)
		return false;
	return rlc_tx_bytes_waiting(lc->cfg.rlc) > 0;
}

/* A channel that was empty starts level with its peers: silence earns no share. */
static void
join_peers(struct mac_tx *tx, struct mac_tx_lc *lc)
{
	if (!lc->idle)
		return;
	lc->served = RTE_MAX(lc->served, tx->floor[lc->cfg.priority]);
	lc->idle = false;
}

/* The eligible channel of the highest priority; among equals the one served least. */
static struct mac_tx_lc *
choose(struct mac_tx *tx, bool first_round, bool *has_peers)
{
	struct mac_tx_lc *best = NULL;

	*has_peers = false;
	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		struct mac_tx_lc *lc = &tx->lcs[j];

		if (best && lc->cfg.priority != best->cfg.priority)
			break;
		if (!eligible(lc, first_round))
			continue;
		join_peers(tx, lc);
		*has_peers = best != NULL;
		if (best == NULL || lc->served < best->served)
			best = lc;
	}
	return best;
}

/* "decrement Bj by the total size of MAC SDUs served to logical channel j above" */
static void
charge(struct mac_tx_lc *lc, struct rte_mbuf *const *pdus, unsigned n)
{
	if (lc->cfg.pbr_kbytes_s == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		lc->Bj -= (int64_t)pdus[i]->pkt_len * UB_PER_B;
}

static uint32_t
bytes_of(int64_t Bj)
{
	return (uint32_t)RTE_MIN((Bj + UB_PER_B - 1) / UB_PER_B, (int64_t)UINT32_MAX);
}

/*
 * §5.4.3.1.3, the allocation of resources:
 * 1st: "logical channels selected … for the UL grant with Bj > 0 are allocated resources in
 *	a decreasing priority order. If the PBR of a logical channel is set to infinity, the MAC
 *	entity shall allocate resources for all the data that is available for transmission on
 *	the logical channel before meeting the PBR of the lower priority logical channel(s)"
 * 2nd: "if any resources remain, all the logical channels selected … are served in a strict
 *	decreasing priority order (regardless of the value of Bj) until either the data for that
 *	logical channel or the UL grant is exhausted, whichever comes first. Logical channels
 *	configured with equal priority should be served equally."
 * An SDU that fits is never segmented: a quota only says after which SDU to stop (RLC's `want`).
 */
unsigned
mac_lcp_pull(struct mac_tx *tx, struct rte_mbuf **pdus, unsigned max, uint64_t now_ns)
{
	struct mac_tx_tb *tb = &tx->tb;
	unsigned n = 0;

	while (n < max && tb->left >= SUBPDU_MIN) {
		bool first_round = true, has_peers;
		struct mac_tx_lc *lc = choose(tx, true, &has_peers);
		uint32_t before = tb->left, want = UINT32_MAX;
		unsigned k;

		if (lc == NULL) {
			first_round = false;
			lc = choose(tx, false, &has_peers);
		}
		if (lc == NULL)
			break;
		if (first_round && lc->cfg.pbr_kbytes_s)
			want = bytes_of(lc->Bj);
		if (has_peers)
			want = RTE_MIN(want, (uint32_t)FAIR_BYTES);
		k = rlc_tx_pull_some(lc->cfg.rlc, &tb->left, want, pdus + n, max - n, now_ns,
				     &tx->rlc);
		lc->blocked = k == 0;
		lc->idle = rlc_tx_bytes_waiting(lc->cfg.rlc) == 0;
		if (first_round)
			charge(lc, pdus + n, k);
		if (has_peers)
			tx->floor[lc->cfg.priority] = lc->served;
		lc->served += before - tb->left;
		if (!has_peers)
			tx->floor[lc->cfg.priority] = lc->served;
		n += k;
	}
	return n;
}
