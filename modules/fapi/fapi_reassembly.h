/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_FAPI_REASSEMBLY_H
#define AIRPATH_MODULES_FAPI_REASSEMBLY_H

/**
 * nFAPI segments of one carrier back to messages, and data messages to transport blocks.
 *
 * Segments of a message may arrive in any order, and up to FAPI_WINDOW messages may be
 * under way at once; a TB leaves when its message is whole, so a message that lost a
 * segment delays no other. In order, a segment is linked to the chain's kept tail and
 * nothing else is touched.
 *
 * Owner: the fapi_rx node.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/fapi.h"
#include "codec/nfapi.h"

#define FAPI_WINDOW 8    /**< messages of a carrier that may be incomplete, power of two */
#define FAPI_OVERTAKEN 4 /**< a message is given up when one so much newer is complete */
#define FAPI_RESTART_NS 1000000000ULL /**< silence after which any sequence number is new */
#define FAPI_RX_ROOM 128              /**< TBs an output can hold, ≥ 2 × FAPI_PDUS_MAX */

enum fapi_rx_drop {
	FAPI_RX_NOT_FAPI,        /**< another EtherType */
	FAPI_RX_SHORT,           /**< ends inside the Ethernet or P7 header */
	FAPI_RX_BAD_LENGTH,      /**< message length below its header or unlike the frame */
	FAPI_RX_BAD_CHECKSUM,    /**< CRC-32C differs */
	FAPI_RX_UNKNOWN_CARRIER, /**< PHY ID beyond the carriers configured */
	FAPI_RX_UNKNOWN_MESSAGE, /**< message ID not handled */
	FAPI_RX_BAD_SEGMENT,     /**< segment number against M bit, message ID or message type */
	FAPI_RX_DUPLICATE,       /**< segment that has come already */
	FAPI_RX_STALE,           /**< message older than the window, or given up */
	FAPI_RX_INCOMPLETE,      /**< waited in vain for the rest of its message */
	FAPI_RX_BAD_BODY,        /**< a whole message that contradicts itself */
	FAPI_RX_NO_MBUF,         /**< copy impossible: pool empty */
	FAPI_RX_COPY_TOO_LONG,   /**< copy impossible: longer than the pool's data room */
	FAPI_RX_COPY_FULL,       /**< copy impossible: copier's queue full */
	FAPI_RX_DROPS,
};

/** What a burst makes: TBs, and what became of the frames. */
struct fapi_rx_out {
	struct rte_mbuf *tb[FAPI_RX_ROOM];
	uint16_t nb;     /**< TBs in `tb` */
	uint64_t used;   /**< frames whose bytes went into TBs or into state */
	uint64_t made;   /**< TBs, those lost for want of a buffer included */
	uint64_t *drops; /**< [FAPI_RX_DROPS], added to */
};

enum fapi_message_state {
	FAPI_MSG_FREE = 0,
	FAPI_MSG_PARTIAL,
	FAPI_MSG_DONE, /**< kept to know a duplicate by */
	FAPI_MSG_LOST, /**< given up; what still comes of it is stale */
};

struct fapi_message_rx {
	enum fapi_message_state state;
	uint16_t message_id;
	uint8_t sequence;
	uint8_t next;     /**< first segment not in the chain */
	int16_t last;     /**< segment without M, -1 before it came */
	uint8_t highest;  /**< largest segment number that came */
	uint8_t stashed;  /**< segments waiting for one before them */
	uint32_t bytes;   /**< of the body, in the chain */
	uint32_t nb_segs; /**< mbufs in the chain */
	struct rte_mbuf *head;
	struct rte_mbuf *tail;
	uint64_t first_ns; /**< when its first segment came */
	struct rte_mbuf *stash[NFAPI_SEGMENTS_MAX];
};

struct fapi_reassembly {
	uint8_t carrier;
	uint8_t newest;            /**< largest sequence seen, modulo 256 */
	bool any;                  /**< `newest` is valid */
	uint8_t partial;           /**< messages in FAPI_MSG_PARTIAL */
	uint64_t last_ns;          /**< when a segment was last taken */
	uint64_t messages;         /**< complete ones */
	struct rte_mempool *proto; /**< copies of TBs that share a frame with the next one */
	struct fapi_message_rx msg[FAPI_WINDOW];
};

/** `r` zeroed before. */
void fapi_reassembly_init(struct fapi_reassembly *r, uint8_t carrier, struct rte_mempool *proto);

/**
 * Takes one segment of TX_Data.request or RX_Data.indication.
 * @param m the segment's body: everything behind its P7 header, > 0 B
 * @param out needs room for FAPI_PDUS_MAX TBs
 */
void fapi_reassembly_add(struct fapi_reassembly *r, const struct nfapi_p7 *h, struct rte_mbuf *m,
			 uint64_t now_ns, struct fapi_rx_out *out);

/**
 * Gives up messages whose first segment came `timeout_ns` ago.
 * @return when the next one is due, 0 for never.
 */
uint64_t fapi_reassembly_expire(struct fapi_reassembly *r, uint64_t now_ns, uint64_t timeout_ns,
				struct fapi_rx_out *out);

/** @return frames kept in partial messages. */
uint64_t fapi_reassembly_held(const struct fapi_reassembly *r);

/** Frees everything kept. */
void fapi_reassembly_fini(struct fapi_reassembly *r);

/**
 * Cuts the TBs out of a whole message and appends them to `out`; its chain is consumed.
 * @return 0, or -(enum codec_err) with the chain untouched.
 */
int fapi_tb_take(struct fapi_reassembly *r, struct fapi_message_rx *msg, struct fapi_rx_out *out);

#endif
