/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "modules/upf/upf_profile.h"
#include "modules/upf/upf_qer.h"

#define CHAINS 4096

struct profile {
	union { /* first: what is given out */
		struct rte_meter_srtcm_profile mbr;
		struct rte_meter_trtcm_profile gbr;
	};
	uint64_t gbr_kbps, mbr_kbps, burst; /* gbr_kbps of an MBR alone: 0 */
	uint32_t refs;
	struct profile *next;
};

struct upf_profiles {
	int socket;
	unsigned nb;
	struct profile *chains[CHAINS];
};

struct upf_profiles *
upf_profiles_create(int socket)
{
	struct upf_profiles *p = calloc(1, sizeof(*p));

	if (p)
		p->socket = socket;
	return p;
}

void
upf_profiles_destroy(struct upf_profiles *p)
{
	free(p);
}

unsigned
upf_profiles_count(const struct upf_profiles *p)
{
	return p->nb;
}

static struct profile **
chain_of(struct upf_profiles *p, uint64_t gbr, uint64_t mbr, uint64_t burst)
{
	uint64_t h = (gbr * 31 + mbr) * 0x9E3779B97F4A7C15ULL ^ burst * 0xC4CEB9FE1A85EC53ULL;

	return &p->chains[(h ^ h >> 32) % CHAINS];
}

static struct profile *
get(struct upf_profiles *p, uint64_t gbr, uint64_t mbr, uint64_t burst)
{
	struct profile **chain = chain_of(p, gbr, mbr, burst), *f;
	int ret;

	for (f = *chain; f; f = f->next)
		if (f->gbr_kbps == gbr && f->mbr_kbps == mbr && f->burst == burst) {
			f->refs++;
			return f;
		}
	f = rte_zmalloc_socket("upf_profile", sizeof(*f), RTE_CACHE_LINE_SIZE, p->socket);
	if (!f)
		return NULL;
	ret = gbr ? upf_gbr_profile(&f->gbr, gbr, mbr, burst)
		  : upf_mbr_profile(&f->mbr, mbr, burst);
	if (ret < 0) {
		rte_free(f);
		return NULL;
	}
	f->gbr_kbps = gbr;
	f->mbr_kbps = mbr;
	f->burst = burst;
	f->refs = 1;
	f->next = *chain;
	*chain = f;
	p->nb++;
	return f;
}

struct rte_meter_srtcm_profile *
upf_profile_mbr(struct upf_profiles *p, uint64_t kbps, uint64_t burst)
{
	struct profile *f = get(p, 0, kbps, burst);

	return f ? &f->mbr : NULL;
}

struct rte_meter_trtcm_profile *
upf_profile_gbr(struct upf_profiles *p, uint64_t gbr_kbps, uint64_t mbr_kbps, uint64_t burst)
{
	struct profile *f = get(p, gbr_kbps, mbr_kbps, burst);

	return f ? &f->gbr : NULL;
}

void
upf_profile_put(struct upf_profiles *p, void *profile)
{
	struct profile *f = profile, **at;

	if (--f->refs != 0)
		return;
	at = chain_of(p, f->gbr_kbps, f->mbr_kbps, f->burst);
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	p->nb--;
	rte_free(f);
}
