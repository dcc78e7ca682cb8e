/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_END_MARKER_H
#define AIRPATH_UPF_END_MARKER_H

/**
 * End markers, TS 29.281 §7.3.2: what says to a tunnel's far end that no packet follows, made
 * where old rules end (TS 23.501 §5.8.2.9) and passed on where one came. Worker.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

struct upf_peer;

/**
 * Makes an end marker of a packet without data.
 * @return false when `hdr` is exhausted or the peer has no GTP-U: `*m` is untouched
 */
bool upf_end_marker_put(struct rte_mbuf **m, const struct upf_peer *peer, uint32_t teid,
			uint16_t id, struct rte_mempool *hdr);

/**
 * An end marker for upf_out: struct upf_leave is filled in.
 * @param index of `peer`
 * @return NULL without mbufs, or when the peer has no GTP-U
 */
struct rte_mbuf *upf_end_marker_make(const struct upf_peer *peer, uint16_t index, uint32_t teid,
				     uint16_t id, struct rte_mempool *pool);

#endif
