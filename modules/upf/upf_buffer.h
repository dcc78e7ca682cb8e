/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_BUFFER_H
#define AIRPATH_UPF_BUFFER_H

/**
 * Downlink packets that wait for UEs that are paged: FARs with BUFF and BARs, TS 29.244 §5.2.4.
 *
 * A session whose packets wait has a queue, bounded by its BAR and by the unit's default; all of a
 * worker are bounded together. A *buffering period* begins with the first packet and ends when the
 * FAR lets packets go or drops them; in it the CP function is told once, after the BAR's delay.
 *
 * Who changes rules calls upf_buffer_changed() when the new ones are in use: what may go becomes
 * ready, and upf_forward is woken, which takes it in order, behind the packets it has under way.
 * Packets that come meanwhile wait behind those that do. Packets are kept by PDR id, so they
 * follow their PDR through changes. All of it belongs to the worker.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/wheel.h"
#include "modules/upf/upf_session.h"

struct rte_ring;
struct upf_buffer;

struct upf_buffer_cfg {
	uint32_t packets;         /**< of all sessions, 1..1 << 20 */
	uint32_t session_packets; /**< of one session without BAR, and most a BAR may ask for */
	struct ap_wheel *wheel;   /**< the worker's */
	struct rte_ring *reports; /**< upf_report_ring() */
	int socket;
};

/** Control thread, before the worker starts. @return NULL without memory. */
struct upf_buffer *upf_buffer_create(const struct upf_buffer_cfg *cfg);
/** After the worker stopped; packets left are freed. */
void upf_buffer_destroy(struct upf_buffer *b);

/** For upf_forward: `wake(arg)` is called when packets became ready; dropped ones are counted. */
void upf_buffer_bind(struct upf_buffer *b, void (*wake)(void *arg, uint64_t now_ns), void *arg,
		     uint64_t *discarded);

/** The session has other rules now. @param drop_buffered DROBU: what waits is dropped first */
void upf_buffer_changed(struct upf_buffer *b, struct upf_session *s, bool drop_buffered,
			uint64_t now_ns);

/** The session is about to end: what waits is dropped. Before upf_apply_delete(). */
void upf_buffer_gone(struct upf_buffer *b, struct upf_session *s);

enum upf_buffered {
	UPF_BUFFERED_HELD, /**< the buffer has it */
	UPF_BUFFERED_PASS, /**< nothing waits before it and its FAR forwards: go on */
	UPF_BUFFERED_FULL, /**< the caller drops it: the session's or the worker's bound */
	UPF_BUFFERED_DROP, /**< the caller drops it: its FAR does not forward (the CP is told) */
};

/** A matched packet whose lane buffers or notifies, or whose session has a queue. */
enum upf_buffered upf_buffer_put(struct upf_buffer *b, struct upf_session *s, uint16_t lane,
				 struct rte_mbuf *m, uint64_t now_ns);

/**
 * Packets that may go, in order, matched to their lane of now (upf_matched_set()).
 * @return how many, at most `max`; fewer: nothing more is ready
 */
uint16_t upf_buffer_take(struct upf_buffer *b, struct rte_mbuf **pkts, uint16_t max);

/** Packets that wait, of all sessions. */
uint32_t upf_buffer_held(const struct upf_buffer *b);

#endif
