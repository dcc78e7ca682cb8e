/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_AM_TX_H
#define AIRPATH_MODULES_RLC_AM_TX_H

/**
 * The transmitting side of an AM entity, TS 38.322 §5.2.3.1 and §5.3.
 *
 * All of it belongs to the lcore of mac_slot. An SDU is kept by reference until it is
 * acknowledged. One in a single buffer of its own goes out as it is and the window only
 * holds a reference (AP_M_RETAINED); whatever else is sent goes out as indirect mbufs.
 */

#include "modules/rlc/rlc_am.h"
#include "modules/rlc/rlc_bits.h"

struct rlc_tx;
struct rlc_tx_pull_stats;

/** What the upper layer wants to hear; called on the lcore of mac_slot, any may be NULL. */
struct rlc_am_upper {
	/** "Successful delivery" of the SDU whose first `bytes` lie at `sdu`; it is freed next. */
	void (*delivered)(void *arg, const uint8_t *sdu, uint32_t bytes);
	/** "Max retransmission has been reached"; the bearer goes on (TS 38.322 §5.3.2). */
	void (*max_retx)(void *arg);
	void *arg;
};

struct rlc_am_cfg {
	uint32_t t_PollRetransmit_ms; /**< 1..10000 */
	uint32_t t_StatusProhibit_ms; /**< 0..10000 */
	uint32_t pollPDU;             /**< PDUs, 0: infinity */
	uint32_t pollByte;            /**< B, 0: infinity */
	uint32_t maxRetxThreshold;    /**< 1..32 */
	struct rlc_am_upper upper;
};

/** Written by the lcore of mac_slot; others may read while it runs. */
struct rlc_am_tx_counters {
	uint64_t retx;           /**< PDUs sent that carry what was sent before */
	uint64_t retx_bytes;     /**< SDU bytes of them */
	uint64_t polls;          /**< PDUs sent with P */
	uint64_t poll_timeouts;  /**< t-PollRetransmit expired */
	uint64_t delivered;      /**< SDUs acknowledged */
	uint64_t max_retx;       /**< RETX_COUNT reached maxRetxThreshold */
	uint64_t status_sent;    /**< STATUS PDUs */
	uint64_t status_trimmed; /**< of them: the grant did not take everything */
	uint64_t status_taken;   /**< STATUS PDUs acted on */
	uint64_t status_old;     /**< acknowledge only what was acknowledged before */
	uint64_t status_refused; /**< ACK_SN or NACK_SN that was never sent, or SNs not ascending */
	uint64_t stalled;        /**< pulls that found the window full */
};

#define RLC_AM_NO_RETX UINT8_MAX

enum {
	RLC_AM_CHAIN = 1 << 0,  /**< never sent itself: segments, or the buffer is not ours alone */
	RLC_AM_MARKED = 1 << 1, /**< has a bit in `nacked` or `pending` */
};

/** An SDU from its first transmission to its acknowledgement. */
struct rlc_am_sdu {
	struct rte_mbuf *m; /**< NULL: acknowledged */
	uint16_t bytes;
	uint16_t data_off; /**< of the SDU in its buffer, unless RLC_AM_CHAIN */
	uint8_t flags;
	uint8_t RETX_COUNT; /**< RLC_AM_NO_RETX: never considered for retransmission */
	uint16_t report;    /**< STATUS PDU that NACKed it last */
};
_Static_assert(sizeof(struct rlc_am_sdu) == 16, "four to a cache line");

/** Bytes of an SDU that wait for retransmission. */
struct rlc_am_range {
	uint16_t so;
	uint16_t end;  /**< behind the last byte */
	uint32_t more; /**< index of another range of the same SDU, 0: none */
};

struct rlc_am_tx {
	/* §7.1 */
	uint32_t TX_Next_Ack;
	uint32_t TX_Next;
	uint32_t POLL_SN;
	uint32_t PDU_WITHOUT_POLL;
	uint32_t BYTE_WITHOUT_POLL;

	uint32_t acked_to;  /**< highest ACK_SN: below it only SDUs in `nacked` are kept */
	uint32_t retx_from; /**< no SN before it is in `pending` */
	uint32_t nb_pending;
	uint64_t pending_bytes;    /**< SDU bytes that wait for retransmission */
	uint32_t so;               /**< SDU TX_Next - 1: bytes of it that were sent */
	uint32_t left;             /**< and that were not; 0: all are */
	bool poll_due;             /**< the next PDU has to poll */
	bool prohibited;           /**< t-StatusProhibit runs, as of the last look at the clock */
	bool max_retx;             /**< maxRetxThreshold was reached since establishment */
	uint16_t report;           /**< number of the STATUS PDU in hand */
	uint32_t poll_ack;         /**< TX_Next_Ack when t-PollRetransmit expired last */
	uint64_t poll_deadline_ns; /**< of t-PollRetransmit, 0: not running */
	uint64_t prohibit_ns;      /**< when t-StatusProhibit ends */
	uint64_t now_ns;           /**< of the last tick */

	/* constant */
	struct rlc_am_cfg cfg;
	enum rlc_sn_len bits;
	uint32_t header; /**< B of the header of a complete SDU */
	uint32_t window; /**< AM_Window_Size */
	uint32_t sn_mask;
	struct rlc_am_sdu *sdus;     /**< [window], slot = SN mod window; so the others */
	struct rlc_am_range *ranges; /**< [window], the first of each SDU */
	struct rlc_am_range *more;   /**< further ones; [0] is not used */
	uint32_t more_free;          /**< first free one, 0: none */
	uint64_t *nacked;            /**< kept although below acked_to */
	uint64_t *pending;           /**< to be retransmitted */
	uint8_t *scratch;            /**< [RLC_AM_STATUS_MAX], a STATUS PDU made contiguous */
	struct rlc_am_tx_counters counters __rte_cache_aligned;
	struct rlc_am_link link;
};

/* --- between rlc_tx.c and rlc_am_*.c; all but init and fini on the lcore of mac_slot ------------
 */

/** Control thread. @return 0, -EINVAL or -ENOMEM. */
int rlc_am_tx_init(struct rlc_tx *e, const struct rlc_am_cfg *cfg);
void rlc_am_tx_fini(struct rlc_tx *e);

/**
 * Re-establishment, TS 38.322 §5.1.2: what is not acknowledged goes to `take`, a copy where its
 * buffer is still under way. Both lcores held. @return SDUs that left the window.
 */
unsigned rlc_am_tx_take(struct rlc_tx *e, rlc_tx_taker *take, void *arg);

/** Acts on received STATUS PDUs and on timers. */
void rlc_am_tx_tick(struct rlc_tx *e, uint64_t now_ns);

/** As rlc_tx_pull_some(). */
unsigned rlc_am_tx_pull(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
			unsigned max, uint64_t now_ns, struct rlc_tx_pull_stats *stats);

/** Acts on one STATUS PDU, TS 38.322 §5.3.3.3 and §5.2.3.1.1. */
void rlc_am_tx_status(struct rlc_tx *e, const uint8_t *pdu, uint32_t len);

/** The STATUS PDU that is wanted, if `fitting` bytes take it; or NULL. */
struct rte_mbuf *rlc_am_tx_make_status(struct rlc_tx *e, uint32_t fitting, uint64_t now_ns,
				       struct rlc_tx_pull_stats *stats);

/** The next retransmission of at most `fitting` bytes, or NULL. */
struct rte_mbuf *rlc_am_tx_retransmit(struct rlc_tx *e, uint32_t fitting, uint64_t now_ns,
				      struct rlc_tx_pull_stats *stats);

/** A PDU over `n` bytes of SDU `sn` from `so` on; it does not poll. NULL when a pool is empty. */
struct rte_mbuf *rlc_am_tx_segment(struct rlc_tx *e, uint32_t sn, uint32_t so, uint32_t n);

/** Considers bytes [so, end) of SDU `sn` for retransmission. */
void rlc_am_tx_consider(struct rlc_tx *e, uint32_t sn, uint32_t so, uint32_t end);

/** An SDU that was in `nacked` or `pending` is in neither any more. */
void rlc_am_tx_unmark(struct rlc_am_tx *am, uint32_t sn);

/** "include a poll" in the PDU whose header begins at `header`, §5.3.3.2. */
void rlc_am_tx_poll(struct rlc_am_tx *am, uint8_t *header, uint64_t now_ns);

/** Nothing waits that could poll later, or nothing new may be sent. */
bool rlc_am_tx_must_poll(struct rlc_tx *e, bool queue_empty);

static inline struct rlc_am_sdu *
rlc_am_sdu_of(const struct rlc_am_tx *am, uint32_t sn)
{
	return &am->sdus[sn & (am->window - 1)];
}

/** SNs from TX_Next_Ack to TX_Next. */
static inline uint32_t
rlc_am_tx_span(const struct rlc_am_tx *am)
{
	return (am->TX_Next - am->TX_Next_Ack) & am->sn_mask;
}

/** RLC data volume but for the queue: segments, retransmissions and STATUS, §5.5. */
static inline uint64_t
rlc_am_tx_volume(const struct rlc_am_tx *am)
{
	uint64_t bytes = am->pending_bytes + (uint64_t)am->nb_pending * am->header;

	if (am->left)
		bytes += am->left + am->header + 2;
	if (!am->prohibited && rlc_am_link_wanted(&am->link))
		bytes += atomic_load_explicit(&am->link.bytes, memory_order_relaxed);
	return bytes;
}

/** Writes the header of a complete SDU. */
static inline void
rlc_am_header_put(uint8_t *p, enum rlc_sn_len bits, uint32_t sn)
{
	if (bits == RLC_SN_12) {
		p[0] = (uint8_t)(0x80 | sn >> 8);
		p[1] = (uint8_t)sn;
	} else {
		p[0] = (uint8_t)(0x80 | sn >> 16);
		p[1] = (uint8_t)(sn >> 8);
		p[2] = (uint8_t)sn;
	}
}

#endif
