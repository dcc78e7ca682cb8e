/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_RX_H
#define AIRPATH_MODULES_MAC_RX_H

/**
 * The receiving MAC entity of one UE: disassembly and demultiplexing of TBs, TS 38.321 §5.3.3,
 * §6.1.2.
 *
 * A TB is one mbuf chain. Its SDUs leave as indirect mbufs into it: nothing is copied, and each
 * segment's reference count is raised once for all SDUs in it. Owner: the lcore of mac_demux.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/mac.h"
#include "modules/l2/l2.h"
#include "modules/mac/mac_ul.h"

#define MAC_RX_SPARE 64

/** Indirect mbufs taken from the pool ahead. */
struct mac_rx_spares {
	uint32_t nb;
	struct rte_mbuf *m[MAC_RX_SPARE];
};

struct mac_rx_cfg {
	enum l2_direction direction;              /**< of the TBs received: l2.rx_direction */
	uint16_t rnti;                            /**< whose TBs are taken; 0: anyone's */
	uint32_t bearer_of_lcid[L2_LCID_MAX + 1]; /**< L2_NO_BEARER: none; [0] unused */
	struct rte_mempool *ind;
	struct mac_rx_spares *spares; /**< of another entity of the same lcore; NULL: its own */
	struct mac_ul *ul;            /**< where BSRs are told of; NULL: nowhere */
};

enum mac_rx_drop {
	MAC_RX_EMPTY_TB,
	MAC_RX_NO_BEARER,     /**< SDU of a logical channel that is not set up, CCCH included */
	MAC_RX_NO_MBUF,       /**< pools.ind is dry */
	MAC_RX_SDU_EMPTY,     /**< L = 0 */
	MAC_RX_BAD_CE,        /**< CE whose payload contradicts itself */
	MAC_RX_TRUNCATED,     /**< subheader or payload ends after the TB; the rest is lost */
	MAC_RX_RESERVED_LCID, /**< of unknown length: the rest is lost */
	MAC_RX_OUT_FULL,      /**< more SDUs in a visit than its caller has room for */
	MAC_RX_OTHER_RNTI,    /**< TB of another UE */
	MAC_RX_DROPS,
};

/** What a visit did; the caller zeroes it and sets `out` and `max`. */
struct mac_rx_run {
	struct rte_mbuf **out;
	uint32_t max;
	uint32_t nb_out;
	uint32_t made;     /**< SDUs emitted, and one for each drop but that of whole TBs */
	uint32_t tb_drops; /**< whole TBs among the drops */
	uint32_t drops[MAC_RX_DROPS];
};

struct mac_rx {
	/* counters and last values; worker: rw, control: ro */
	uint64_t tbs;
	uint64_t sdus;
	uint64_t padding_bytes;
	uint64_t ces[64];     /**< CEs received, by LCID; [33], [34]: with eLCID */
	uint64_t c_rnti_seen; /**< last C-RNTI CE */
	struct mac_bsr bsr;   /**< last BSR, .lcid 0: none yet */
	struct mac_phr phr;   /**< last single entry PHR */
	struct mac_ta ta;     /**< last timing advance command */

	/* worker: rw */
	uint32_t stride; /**< length of the last subPDU: where the next ones probably are */
	uint16_t sfn;    /**< of the TB in hand */
	uint16_t slot;
	uint8_t carrier;
	struct mac_rx_spares own;

	/* constant */
	struct mac_rx_spares *spares;
	struct mac_ul *ul;
	enum mac_sch sch;
	uint16_t rnti;
	uint16_t ind_priv_size;
	struct rte_mempool *ind;
	uint32_t bearer_of_lcid[64];
};

/** Control thread. @return 0 or -EINVAL. */
int mac_rx_init(struct mac_rx *rx, const struct mac_rx_cfg *cfg);

/** Control thread, worker stopped: returns spare mbufs. */
void mac_rx_fini(struct mac_rx *rx);

/** Takes the TB apart; `tb` is consumed. */
void mac_rx_tb(struct mac_rx *rx, struct rte_mbuf *tb, struct mac_rx_run *run);

/** A CE's payload (mac_rx_ce.c). @return false when it contradicts itself. */
bool mac_rx_ce(struct mac_rx *rx, uint32_t index, const uint8_t *p, uint32_t bytes);

#define MAC_RX_CE_BYTES 16 /**< payload bytes mac_rx_ce() looks at, at most */

#endif
