/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "modules/mac/mac_build_seg.h"
#include "modules/mac/mac_build_walk.h"
#include "modules/mac/mac_harq.h"

#define FRAGMENT_BYTES_MIN 64
#define FRAGMENT_BYTES_MAX 65000 /* data_len of one mbuf, with headers to come */

int
mac_build_init(struct mac_build *b, const struct mac_build_cfg *cfg, const struct l2_pools *pools,
	       uint8_t carrier)
{
	uint32_t room = rte_pktmbuf_data_room_size(pools->phy);

	if (cfg->fragment_bytes < FRAGMENT_BYTES_MIN || cfg->fragment_bytes > FRAGMENT_BYTES_MAX ||
	    cfg->strategy >= MAC_STRATEGIES || cfg->harq_processes > MAC_HARQ_MAX)
		return -EINVAL;
	if (cfg->strategy != MAC_SCATTER && room < RTE_PKTMBUF_HEADROOM + cfg->fragment_bytes)
		return -EINVAL;
	*b = (struct mac_build){
		.cfg = *cfg,
		.carrier = carrier,
		.hdr = pools->hdr,
		.ind = pools->ind,
		.phy = pools->phy,
		.oldest_ns = UINT64_MAX,
	};
	b->zero = mac_build_zero_create(cfg->fragment_bytes);
	if (b->zero && cfg->harq_processes)
		b->harq = mac_harq_create(cfg->harq_ues ? cfg->harq_ues : 1, cfg->harq_processes);
	if (b->zero && (b->harq || cfg->harq_processes == 0))
		return 0;
	mac_build_fini(b);
	return -ENOMEM;
}

void
mac_build_fini(struct mac_build *b)
{
	rte_pktmbuf_free(b->head);
	b->head = NULL;
	if (b->zero)
		mac_build_zero_release(b->zero);
	b->zero = NULL;
	mac_harq_destroy(b->harq);
	b->harq = NULL;
}

/* @return drop reason of the mark, or MAC_BUILD_OK with the TB begun. */
int
mac_build_start(struct mac_build *b, struct rte_mbuf *m, struct mac_build_run *run)
{
	const struct mac_tb_mark *mark = rte_pktmbuf_mtod(m, const struct mac_tb_mark *);

	if (b->state == MAC_BUILD_BUILDING)
		mac_build_abandon(b, MAC_BUILD_NO_END, run);
	b->oldest_ns = UINT64_MAX;
	b->tb_at = 0;
	b->tb_bytes = mark->tb_bytes;
	b->sfn = mark->sfn;
	b->slot = mark->slot;
	b->handle = mark->handle;
	if (unlikely(b->harq != NULL))
		mac_harq_begin(b->harq, mark->ue, mark->harq_process);
	if (mark->tb_bytes == 0 ||
	    mark->tb_bytes > (uint64_t)MAC_BUILD_FRAGS_MAX * b->cfg.fragment_bytes) {
		b->state = MAC_BUILD_SKIPPING;
		return MAC_BUILD_TB_SIZE;
	}
	b->state = MAC_BUILD_BUILDING;
	return MAC_BUILD_OK;
}

/* Called last, so that without HARQ nothing is saved across it. */
static __rte_noinline bool
keep(struct mac_build *b, struct rte_mbuf *m)
{
	mac_harq_keep(b->harq, m);
	return true;
}

/* The fragment at b->head is complete. @return false when this visit can emit no more. */
bool
mac_build_emit(struct mac_build *b, struct mac_build_run *run)
{
	struct rte_mbuf *m = b->head;
	bool last = b->tb_at + b->open_bytes == b->tb_bytes;
	/* A HARQ buffer wants the fragment back as it is, without the headers to come. */
	uint8_t retained = b->harq ? 0 : ap_meta(m)->flags & AP_M_RETAINED;

	*ap_meta(m) = (struct ap_meta){
		.carrier = b->carrier,
		.flags = (uint8_t)((b->tb_at == 0 ? AP_M_FRAG_FIRST : 0) |
				   (last ? AP_M_FRAG_LAST : 0) |
				   (b->oldest_ns != UINT64_MAX ? AP_M_TIMED : 0) | retained),
	};
	*ap_ext(m) = (struct ap_ext){
		.enter_ns = b->oldest_ns,
		.tb_bytes = b->tb_bytes,
		.tb_offset = b->tb_at,
		.sfn = b->sfn,
		.slot = b->slot,
		.spare = b->handle,
	};
	b->tb_at += b->open_bytes;
	b->oldest_ns = UINT64_MAX;
	b->open_bytes = 0;
	b->segs = 0;
	b->head = NULL;
	run->made++;
	if (likely(run->nb_out < run->max)) {
		run->out[run->nb_out++] = m;
		return likely(b->harq == NULL) || keep(b, m);
	}
	run->why = MAC_BUILD_OUT_FULL;
	run->drops[MAC_BUILD_OUT_FULL]++;
	rte_pktmbuf_free(m);
	return false;
}

/* Drops the unfinished fragment under `why`; the rest of the TB is skipped up to its end mark. */
void
mac_build_abandon(struct mac_build *b, enum mac_build_drop why, struct mac_build_run *run)
{
	if (b->head) {
		run->made++;
		run->drops[why]++;
		rte_pktmbuf_free(b->head);
	}
	b->head = NULL;
	b->room = 0;
	b->open_bytes = 0;
	b->segs = 0;
	b->oldest_ns = UINT64_MAX;
	b->state = MAC_BUILD_SKIPPING;
	if (unlikely(b->harq != NULL))
		mac_harq_flush_open(b->harq);
}

/* A frame of its own that keeps its place among TBs. @return drop reason or MAC_BUILD_OK. */
int
mac_build_pass(struct rte_mbuf **m, struct mac_build_run *run)
{
	if (run->nb_out == run->max)
		return MAC_BUILD_OUT_FULL;
	run->out[run->nb_out++] = *m;
	run->made++;
	*m = NULL;
	return MAC_BUILD_OK;
}

static void
release(struct mac_build *b, const struct mac_tb_mark *mark)
{
	for (uint32_t at = 0; at + sizeof(struct mac_tb_release) <= mark->ce_bytes;
	     at += sizeof(struct mac_tb_release)) {
		struct mac_tb_release r;

		memcpy(&r, mark->ce + at, sizeof(r));
		mac_harq_flush(b->harq, r.ue, r.process);
	}
}

/* The mark of a TB to be sent again, or of those that will not be. @return drop reason of the mark,
 * or MAC_BUILD_OK. */
int
mac_build_again(struct mac_build *b, const struct mac_tb_mark *mark, struct mac_build_run *run)
{
	uint32_t room = run->max - run->nb_out, nb;

	if (b->state == MAC_BUILD_BUILDING)
		mac_build_abandon(b, MAC_BUILD_NO_END, run);
	b->state = MAC_BUILD_IDLE;
	if (b->harq == NULL)
		return MAC_BUILD_HARQ_EMPTY;
	if (mark->tb_bytes == 0) {
		release(b, mark);
		return MAC_BUILD_OK;
	}
	nb = mac_harq_send(b->harq, mark, run->out + run->nb_out, room);
	if (nb == 0)
		return MAC_BUILD_HARQ_EMPTY;
	if (nb > room)
		return MAC_BUILD_OUT_FULL;
	run->nb_out += nb;
	run->made += nb;
	return MAC_BUILD_OK;
}
