/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_qer.h"

#include <errno.h>
#include <string.h>

#define NS_OF_KBPS 8000000   /* n kbit/s are n octets in so many ns */
#define TOKENS_MIN 1024      /* a period may always bring so many */
#define NO_PEAK (1ULL << 40) /* octets that come at once: more than ever do */

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/*
 * Tokens of a period: exact where a period's are no more than a 64th of the burst, so that
 * tokens come in small portions; else to the nearest ns.
 */
static void
rate(uint64_t kbps, uint64_t burst, uint64_t *period_ns, uint64_t *bytes)
{
	const uint64_t g = gcd(kbps, NS_OF_KBPS), most = RTE_MAX(burst / 64, (uint64_t)TOKENS_MIN);
	const uint64_t all = kbps / g, period = NS_OF_KBPS / g;

	*bytes = RTE_MIN(all, most);
	*period_ns = (period * *bytes + all / 2) / all;
	if (*period_ns == 0)
		*period_ns = 1;
}

int
upf_mbr_profile(struct rte_meter_srtcm_profile *p, uint64_t kbps, uint64_t burst)
{
	if (kbps == 0 || kbps > UPF_KBPS_MAX)
		return -EINVAL;
	memset(p, 0, sizeof(*p));
	p->cbs = RTE_MAX(burst, (uint64_t)UPF_BURST_BYTES_MIN);
	rate(kbps, p->cbs, &p->cir_period, &p->cir_bytes_per_period);
	return 0;
}

int
upf_gbr_profile(struct rte_meter_trtcm_profile *p, uint64_t gbr_kbps, uint64_t mbr_kbps,
		uint64_t burst)
{
	const uint64_t peak = mbr_kbps != 0 ? mbr_kbps : UPF_KBPS_MAX;

	if (gbr_kbps == 0 || gbr_kbps > peak || peak > UPF_KBPS_MAX)
		return -EINVAL;
	memset(p, 0, sizeof(*p));
	p->cbs = p->pbs = RTE_MAX(burst, (uint64_t)UPF_BURST_BYTES_MIN);
	rate(gbr_kbps, p->cbs, &p->cir_period, &p->cir_bytes_per_period);
	if (mbr_kbps == 0)
		p->pbs = NO_PEAK; /* also for packets that come at once */
	rate(peak, p->pbs, &p->pir_period, &p->pir_bytes_per_period);
	return 0;
}

void
upf_meter_fill(struct rte_meter_srtcm *m, const struct rte_meter_srtcm_profile *p, uint64_t now_ns)
{
	*m = (struct rte_meter_srtcm){.time = now_ns, .tc = p->cbs, .te = p->ebs};
}

void
upf_gbr_fill(struct rte_meter_trtcm *m, const struct rte_meter_trtcm_profile *p, uint64_t now_ns)
{
	*m = (struct rte_meter_trtcm){
		.time_tc = now_ns, .time_tp = now_ns, .tc = p->cbs, .tp = p->pbs};
}

/* GBR: green within it, yellow up to the MBR, red above. */
static enum rte_color
qer_colour(struct upf_qer *q, enum upf_direction d, uint32_t bytes, uint64_t now_ns)
{
	enum rte_color colour = RTE_COLOR_GREEN;

	if (q->gbr != NULL && q->gbr->profile[d] != NULL) {
		colour = rte_meter_trtcm_color_blind_check(&q->gbr->meter[d], q->gbr->profile[d],
							   now_ns, bytes);
		if (colour == RTE_COLOR_YELLOW)
			q->gbr->yellow[d] += bytes;
	} else if (q->profile[d] != NULL) {
		colour = rte_meter_srtcm_color_blind_check(&q->meter[d], q->profile[d], now_ns,
							   bytes);
	}
	return colour;
}

/* Puts back what qer_colour() took. */
static void
qer_return(struct upf_qer *q, enum upf_direction d, uint32_t bytes, enum rte_color colour)
{
	if (q->gbr != NULL && q->gbr->profile[d] != NULL) {
		q->gbr->meter[d].tp += bytes;
		if (colour == RTE_COLOR_YELLOW)
			q->gbr->yellow[d] -= bytes;
		else
			q->gbr->meter[d].tc += bytes;
	} else if (q->profile[d] != NULL) {
		q->meter[d].tc += bytes;
	}
}

bool
upf_qers_pass(struct upf_qer *qers, const struct upf_pdr *pdr, enum upf_direction direction,
	      uint32_t bytes, uint64_t now_ns, bool *gate)
{
	enum rte_color colours[UPF_PDR_QERS_MAX];

	*gate = false;
	for (unsigned i = 0; i < pdr->nb_qers; i++) {
		if (qers[pdr->qers[i]].closed[direction]) {
			*gate = true;
			return false;
		}
	}
	for (unsigned i = 0; i < pdr->nb_qers; i++) {
		colours[i] = qer_colour(&qers[pdr->qers[i]], direction, bytes, now_ns);
		if (colours[i] != RTE_COLOR_RED)
			continue;
		/* What a flow's own MBR stops must not eat the session's AMBR. */
		while (i-- > 0)
			qer_return(&qers[pdr->qers[i]], direction, bytes, colours[i]);
		return false;
	}
	return true;
}
