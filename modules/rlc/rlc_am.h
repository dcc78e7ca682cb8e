/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_AM_H
#define AIRPATH_MODULES_RLC_AM_H

/**
 * What the two sides of an AM entity tell each other, TS 38.322 §5.3.
 *
 * The receiving side (lcore of rlc_rx) hands received STATUS PDUs to the transmitting
 * side (lcore of mac_slot) through a queue, and what the next STATUS PDU has to say
 * through a mailbox of three buffers: while it was not sent, a fresher report replaces
 * it. t-StatusProhibit runs where STATUS PDUs are sent.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/queue.h"
#include "modules/rlc/rlc.h"

#define RLC_AM_NACKS_MAX 512   /**< NACKs in a report; one that needs more is trimmed */
#define RLC_AM_STATUS_QUEUE 64 /**< STATUS PDUs that wait for the transmitting side */
#define RLC_AM_STATUS_MAX UINT16_MAX

/** sn-FieldLength 12 or 18 bits. @return AM_Window_Size. */
static inline uint32_t
rlc_am_window(enum rlc_sn_len bits)
{
	return bits == RLC_SN_12 ? RLC_AM_WINDOW_12 : RLC_AM_WINDOW_18;
}

/** The content of a STATUS PDU, in ascending SN. */
struct rlc_am_report {
	uint32_t version;
	uint32_t ACK_SN;
	uint32_t bytes; /**< of the STATUS PDU with everything in it */
	uint32_t nb;
	struct rlc_nack nacks[RLC_AM_NACKS_MAX];
};

#define RLC_AM_FRESH 4 /**< in rlc_am_link.middle: newer than the reader's buffer */

struct rlc_am_link {
	/* rlc_rx lcore: rw, mac_slot lcore: ro */
	_Atomic uint32_t need;  /**< oldest version of the report that will do; as `sent`: none is
				   wanted */
	_Atomic uint32_t bytes; /**< rlc_am_report.bytes of the newest version */
	uint32_t version;
	uint8_t writer; /**< buffer in hand */
	/* mac_slot lcore: rw, rlc_rx lcore: ro */
	_Atomic uint32_t sent __rte_cache_aligned; /**< version sent last */
	uint8_t reader;                            /**< buffer in hand */
	/* both */
	_Atomic uint8_t middle __rte_cache_aligned;
	struct rlc_am_report reports[3] __rte_cache_aligned;
	struct ap_queue status; /**< received STATUS PDUs, decodable; rlc_rx to mac_slot */
};

/** Control thread. @return 0 or -ENOMEM. */
static inline int
rlc_am_link_init(struct rlc_am_link *l)
{
	l->writer = 0;
	l->reader = 1;
	atomic_store_explicit(&l->middle, 2, memory_order_relaxed);
	return ap_queue_init(&l->status, RLC_AM_STATUS_QUEUE);
}

/** A STATUS PDU is wanted that was not sent. Either side. */
static inline bool
rlc_am_link_wanted(const struct rlc_am_link *l)
{
	return (int32_t)(atomic_load_explicit(&l->need, memory_order_acquire) -
			 atomic_load_explicit(&l->sent, memory_order_acquire)) > 0;
}

/** rlc_rx: the buffer to write the next report to. */
static inline struct rlc_am_report *
rlc_am_link_draft(struct rlc_am_link *l)
{
	return &l->reports[l->writer];
}

/** rlc_rx: replaces the report that waits. @param trigger it has to be sent, whatever was before */
static inline void
rlc_am_link_publish(struct rlc_am_link *l, bool trigger)
{
	struct rlc_am_report *r = &l->reports[l->writer];

	r->version = ++l->version;
	atomic_store_explicit(&l->bytes, r->bytes, memory_order_relaxed);
	l->writer = atomic_exchange_explicit(&l->middle, l->writer | RLC_AM_FRESH,
					     memory_order_acq_rel) &
		    3;
	if (trigger)
		atomic_store_explicit(&l->need, l->version, memory_order_release);
}

/** mac_slot, when rlc_am_link_wanted(): the newest report. */
static inline const struct rlc_am_report *
rlc_am_link_take(struct rlc_am_link *l)
{
	if (atomic_load_explicit(&l->middle, memory_order_acquire) & RLC_AM_FRESH)
		l->reader =
			atomic_exchange_explicit(&l->middle, l->reader, memory_order_acq_rel) & 3;
	return &l->reports[l->reader];
}

#endif
