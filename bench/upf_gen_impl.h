/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_GEN_IMPL_H
#define AIRPATH_BENCH_UPF_GEN_IMPL_H

/** What the files of the generator share. Its thread, or who has its place. */

#include <string.h>

#include <rte_mbuf.h>

#include "bench/upf_gen.h"

#define UPF_GEN_BURST 32

static inline void
upf_gen_count(_Atomic uint64_t *counter, uint64_t n)
{
	ap_hist_add(counter, n);
}

/** A packet of one segment. */
static inline void
upf_gen_fresh(struct rte_mbuf *m, uint16_t bytes)
{
	/* data_off, refcnt, nb_segs and port */
	static const uint16_t rearm[4] = {RTE_PKTMBUF_HEADROOM, 1, 1, 0};

	memcpy(&m->rearm_data, rearm, sizeof(rearm));
	m->ol_flags = 0;
	m->packet_type = 0;
	m->pkt_len = bytes;
	m->data_len = bytes;
	memset(&m->hash, 0, 8);
}

/** Orders and counts a frame whose octets are right. */
static inline void
upf_gen_take(struct upf_gen_flow *f, uint64_t seq, uint16_t octets, bool timed, uint32_t delay)
{
	uint64_t opened;

	switch (gen_seq_take(&f->seqs, seq, &opened)) {
	case GEN_SEQ_REORDERED:
		upf_gen_count(&f->c.reordered, 1);
		/* fall through */
	case GEN_SEQ_IN_ORDER:
		upf_gen_count(&f->c.good, 1);
		upf_gen_count(&f->c.good_octets, octets);
		break;
	case GEN_SEQ_DUPLICATE:
	case GEN_SEQ_LATE:
		upf_gen_count(&f->c.duplicated, 1);
	}
	if (timed)
		ap_hist_record(&f->delay, delay);
}

/* --- upf_gen_traffic.c: with flows --------------------------------------------------------------
 */

/** Sends the next `n` turns, up to UPF_GEN_BURST. @return packets sent, 0 without mbufs */
uint16_t upf_gen_traffic_emit(struct upf_gen *g, uint16_t n, uint64_t now_ns);

/** Judges what came out of packets sent in direction `d`, up to UPF_GEN_BURST. */
void upf_gen_traffic_judge(struct upf_gen *g, enum upf_wire_direction d, struct rte_mbuf **pkts,
			   uint16_t n, uint32_t now);

#endif
