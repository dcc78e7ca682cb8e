/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_BUILD_WALK_H
#define AIRPATH_MODULES_MAC_BUILD_WALK_H

/**
 * The walk over marks and PDUs that all strategies share; private to mac_build_*.c.
 *
 * Each strategy passes its operations as a constant, so that the compiler inlines them:
 * the walk exists four times in the program and has no call through a pointer.
 */

#include <string.h>

#include <rte_prefetch.h>

#include "codec/mac.h"
#include "core/meta.h"
#include "modules/mac/mac_build.h"

#define MAC_BUILD_OK (-1)

/**
 * What a strategy does. An operation that keeps the mbuf sets *m to NULL; whatever it leaves
 * there the walk frees. false: a pool ran dry, the TB is to be abandoned.
 */
struct mac_build_ops {
	/**
	 * The common case in a tight loop, or NULL: takes plain PDUs from the front (no flags,
	 * one segment, and the open fragment has more room than they need). @return how many.
	 */
	uint16_t (*run)(struct mac_build *b, struct rte_mbuf **in, uint16_t nb);
	/** Prepares an empty fragment of b->open_bytes. */
	bool (*open)(struct mac_build *b);
	/** Appends subheader (hl) and PDU (len) to the open fragment, which has room for both. */
	bool (*whole)(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl);
	/** The same over as many fragments as it takes. */
	bool (*across)(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
		       struct mac_build_run *run);
	/** Appends `bytes` of CE subPDUs, the data of *m from its start. */
	bool (*ce)(struct mac_build *b, struct rte_mbuf **m, uint32_t bytes,
		   struct mac_build_run *run);
	/** Appends one padding subPDU of `bytes` > 0. */
	bool (*pad)(struct mac_build *b, uint32_t bytes, struct mac_build_run *run);
	/** Readies b->head: pkt_len and nb_segs right. */
	bool (*close)(struct mac_build *b);
	bool copies;         /**< what run() took is to be freed */
	unsigned data_lines; /**< lines of each SDU to fetch ahead */
};

/* Out of line, once a TB or fragment: mac_build.c */
int mac_build_start(struct mac_build *b, struct rte_mbuf *mark, struct mac_build_run *run);
int mac_build_again(struct mac_build *b, const struct mac_tb_mark *mark, struct mac_build_run *run);
int mac_build_pass(struct rte_mbuf **m, struct mac_build_run *run);
bool mac_build_emit(struct mac_build *b, struct mac_build_run *run);
void mac_build_abandon(struct mac_build *b, enum mac_build_drop why, struct mac_build_run *run);

/** TB bytes not written yet. */
static inline uint32_t
mac_build_left(const struct mac_build *b)
{
	return b->tb_bytes - b->tb_at - (b->open_bytes - b->room);
}

/** The open fragment, or a new one. */
static __rte_always_inline bool
mac_build_open(struct mac_build *b, const struct mac_build_ops *ops)
{
	if (b->room)
		return true;
	b->open_bytes = RTE_MIN(b->cfg.fragment_bytes, b->tb_bytes - b->tb_at);
	b->room = b->open_bytes;
	if (likely(ops->open(b)))
		return true;
	b->room = 0;
	b->open_bytes = 0;
	return false;
}

/** `bytes` were appended: the fragment leaves when it is complete. */
static __rte_always_inline bool
mac_build_took(struct mac_build *b, uint32_t bytes, struct mac_build_run *run,
	       const struct mac_build_ops *ops)
{
	b->room -= bytes;
	if (likely(b->room))
		return true;
	return ops->close(b) && mac_build_emit(b, run);
}

/** A PDU that is not simply the next piece of the open fragment. @return drop or MAC_BUILD_OK. */
static __rte_always_inline int
mac_build_slow(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
	       struct mac_build_run *run, const struct mac_build_ops *ops)
{
	bool ok;

	if (b->state != MAC_BUILD_BUILDING)
		return b->state == MAC_BUILD_IDLE ? MAC_BUILD_NO_TB : MAC_BUILD_ABANDONED;
	if (len == 0 || len > MAC_SDU_BYTES_MAX)
		return MAC_BUILD_BAD_PDU;
	if (len + hl > mac_build_left(b)) {
		mac_build_abandon(b, MAC_BUILD_OVERRUN, run);
		return MAC_BUILD_OVERRUN;
	}
	ok = mac_build_open(b, ops);
	if (ok && len + hl <= b->room)
		ok = ops->whole(b, m, len, hl) && mac_build_took(b, len + hl, run, ops);
	else if (ok)
		ok = ops->across(b, m, len, hl, run);
	if (likely(ok))
		return MAC_BUILD_OK;
	mac_build_abandon(b, run->why, run);
	return (int)run->why;
}

/** A TB mark: CEs, and at the end the padding. @return drop or MAC_BUILD_OK. */
static __rte_always_inline int
mac_build_mark(struct mac_build *b, struct rte_mbuf **m, bool start, struct mac_build_run *run,
	       const struct mac_build_ops *ops)
{
	const struct mac_tb_mark *mark = rte_pktmbuf_mtod(*m, const struct mac_tb_mark *);
	uint32_t ce, pad;
	int bad;

	if ((*m)->data_len < mac_tb_mark_bytes(0) ||
	    (*m)->data_len < mac_tb_mark_bytes(mark->ce_bytes)) {
		mac_build_abandon(b, MAC_BUILD_BAD_MARK, run);
		b->state = start ? MAC_BUILD_SKIPPING : MAC_BUILD_IDLE;
		return MAC_BUILD_BAD_MARK;
	}
	if (unlikely((ap_meta(*m)->flags & AP_M_TB_RETX) == AP_M_TB_RETX))
		return mac_build_again(b, mark, run);
	ce = mark->ce_bytes;
	if (start) {
		bad = mac_build_start(b, *m, run);
		if (bad != MAC_BUILD_OK)
			return bad;
	} else if (b->state != MAC_BUILD_BUILDING) {
		bad = b->state == MAC_BUILD_IDLE ? MAC_BUILD_NO_TB : MAC_BUILD_OK;
		b->state = MAC_BUILD_IDLE;
		return bad;
	}
	if (ce > mac_build_left(b)) {
		mac_build_abandon(b, MAC_BUILD_OVERRUN, run);
		b->state = start ? MAC_BUILD_SKIPPING : MAC_BUILD_IDLE;
		return MAC_BUILD_OVERRUN;
	}
	bad = MAC_BUILD_OK;
	pad = start ? 0 : mac_build_left(b) - ce;
	if (unlikely((ce && !ops->ce(b, m, ce, run)) || (pad && !ops->pad(b, pad, run)))) {
		bad = (int)run->why;
		mac_build_abandon(b, run->why, run);
	}
	if (!start)
		b->state = MAC_BUILD_IDLE;
	return bad;
}

static __rte_always_inline void
mac_build_prefetch(struct rte_mbuf **in, uint16_t i, uint16_t nb, unsigned data_lines)
{
	if (i + 8 < nb) {
		rte_prefetch0(in[i + 8]);
		rte_mbuf_prefetch_part2(in[i + 8]);
	}
	if (i + 4 < nb) {
		const char *data = rte_pktmbuf_mtod(in[i + 4], const char *);

		for (unsigned l = 0; l < data_lines; l++)
			rte_prefetch0(data + l * RTE_CACHE_LINE_SIZE);
	}
}

/** Bytes of a plain PDU with its subheader, 0 when it needs the general way. */
static __rte_always_inline uint32_t
mac_build_plain(struct rte_mbuf *m, uint32_t room)
{
	uint32_t len = m->pkt_len;
	uint32_t need = len + mac_subheader_len(len);

	if (unlikely(ap_meta(m)->flags & ~AP_M_RETAINED || m->nb_segs != 1 || len == 0 ||
		     need >= room))
		return 0;
	return need;
}

/** One mbuf of any kind. @return drop or MAC_BUILD_OK. */
static __rte_always_inline int
mac_build_one(struct mac_build *b, struct rte_mbuf **m, struct mac_build_run *run,
	      const struct mac_build_ops *ops)
{
	uint8_t flags = ap_meta(*m)->flags;
	uint32_t len = (*m)->pkt_len;
	uint32_t hl = mac_subheader_len(len);

	if (flags & AP_M_TIMED)
		b->oldest_ns = RTE_MIN(b->oldest_ns, ap_ext(*m)->enter_ns);
	if (unlikely(flags & (AP_M_TB_START | AP_M_TB_END | AP_M_CONTROL)))
		return flags & AP_M_CONTROL ? mac_build_pass(m, run)
					    : mac_build_mark(b, m, flags & AP_M_TB_START, run, ops);
	if (unlikely(len + hl >= b->room || len == 0))
		return mac_build_slow(b, m, len, hl, run, ops);
	if (likely(ops->whole(b, m, len, hl))) {
		b->room -= len + hl;
		return MAC_BUILD_OK;
	}
	mac_build_abandon(b, run->why, run);
	return (int)run->why;
}

static __rte_always_inline void
mac_build_walk(struct mac_build *b, struct rte_mbuf **in, uint16_t nb, struct mac_build_run *run,
	       const struct mac_build_ops *ops)
{
	uint16_t nb_free = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m;
		int bad;

		if (ops->run && b->head) {
			uint16_t k = ops->run(b, in + i, (uint16_t)(nb - i));

			if (ops->copies && nb_free < i)
				memmove(in + nb_free, in + i, k * sizeof(*in));
			if (ops->copies)
				nb_free = (uint16_t)(nb_free + k);
			i = (uint16_t)(i + k);
			if (i == nb)
				break;
		}
		mac_build_prefetch(in, i, nb, ops->data_lines);
		m = in[i];
		bad = mac_build_one(b, &m, run, ops);
		if (unlikely(bad != MAC_BUILD_OK)) {
			run->drops[bad]++;
			run->in_drops++;
		}
		if (m)
			in[nb_free++] = m;
	}
	if (nb_free)
		rte_pktmbuf_free_bulk(in, nb_free);
}

#endif
