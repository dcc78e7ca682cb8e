/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_SDAP_H
#define AIRPATH_MODULES_SDAP_H

/**
 * SDAP entity of a UE or a gNB, TS 37.324 §5.2: QoS flows to DRBs and back.
 *
 * One entity maps both ways. Which header format a side writes and reads follows
 * from its direction on the air, and whether there is one from the DRB.
 *
 * Owners: the tx part is the sdap_tx node's lcore, the rx part the sdap_rx node's;
 * both only read what sdap_init() wrote, each writes on cache lines of its own. A
 * reflective mapping (§5.3.2) goes from rx to tx by a mailbox that keeps the newest one
 * of each QoS flow, so that none can be lost.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/sdap.h"
#include "modules/l2/l2.h"

#define SDAP_DSCP_MAX 63

/** Why a packet is dropped in sdap_tx; indexes the node's counters. */
enum sdap_tx_drop {
	SDAP_TX_NO_DRB,  /**< the QoS flow has no DRB and there is no default DRB */
	SDAP_TX_NO_MBUF, /**< no segment for the header */
	SDAP_TX_NO_UE,   /**< several UEs, and the packet's address is none of theirs */
	SDAP_TX_DROPS,
};

/** Why a PDU is dropped in sdap_rx; indexes the node's counters. */
enum sdap_rx_drop {
	SDAP_RX_NO_DRB,    /**< meta.bearer is not one of the entity's DRBs */
	SDAP_RX_SHORT,     /**< no SDU behind the header */
	SDAP_RX_MALFORMED, /**< bytes behind an end-marker */
	SDAP_RX_DROPS,
};

/** QoS rule: packets of one DSCP belong to a QoS flow. */
struct sdap_rule {
	uint8_t dscp; /**< 0..63, of IPv4 TOS or IPv6 traffic class */
	uint8_t qfi;  /**< 0..63 */
};

/** mappedQoS-FlowsToAdd: a QoS flow and its DRB. */
struct sdap_mapping {
	uint8_t qfi;     /**< 0..63 */
	uint32_t bearer; /**< index into the entity's bearers */
};

/** RRC's SDAP-Config of one DRB. */
struct sdap_drb {
	bool present; /**< the bearer is a DRB of this entity */
	bool sdap_HeaderUL;
	bool sdap_HeaderDL;
};

struct sdap_cfg {
	enum l2_direction tx_direction;
	enum l2_direction rx_direction;
	uint32_t first_bearer;         /**< index in the role of the entity's first */
	uint32_t nb_bearers;           /**< indices below count from the first */
	const struct sdap_drb *drbs;   /**< [nb_bearers] */
	uint32_t defaultDRB;           /**< bearer index, or L2_NO_BEARER */
	uint8_t default_qfi;           /**< QoS flow of packets that match no rule */
	const struct sdap_rule *rules; /**< [nb_rules]; without any, packet data is not looked at */
	uint32_t nb_rules;
	const struct sdap_mapping *mappings; /**< [nb_mappings]; other QFIs go to defaultDRB */
	uint32_t nb_mappings;
	struct rte_mempool *hdr; /**< segments for headers before shared buffers */
};

/** QoS flows whose uplink mapping sdap_rx learned anew. */
struct sdap_mailbox {
	_Atomic uint64_t changed; /**< 1 << QFI; rx sets, tx takes */
	_Atomic uint32_t bearer[SDAP_QFI_MAX + 1];
};

struct sdap {
	/* control: rw before start, tx and rx: ro */
	struct rte_mempool *hdr;
	uint32_t first_bearer;
	uint32_t nb_bearers;
	uint8_t default_qfi;
	bool classify;    /**< there are rules */
	uint8_t tx_octet; /**< header octet of QFI 0 in the tx direction */
	bool rx_uplink;   /**< received PDUs have the uplink format */
	bool *tx_header;  /**< [nb_bearers] */
	bool *rx_header;  /**< [nb_bearers] */
	bool *present;    /**< [nb_bearers] */
	bool reflective;  /**< RDI and RQI come: a UE that reads downlink headers */
	uint32_t defaultDRB;
	uint8_t qfi_of_dscp[SDAP_DSCP_MAX + 1];

	/* tx: rw */
	uint32_t bearer_of_qfi[SDAP_QFI_MAX + 1] __rte_cache_aligned; /**< L2_NO_BEARER: no DRB */
	uint64_t stored;           /**< 1 << QFI: by a stored rule, not by default */
	uint64_t reflected;        /**< 1 << QFI: the rule is a reflected one */
	uint64_t end_markers_sent; /**< end-marker control PDUs */

	/* rx: rw */
	uint64_t end_markers __rte_cache_aligned; /**< end-marker control PDUs received */
	uint32_t rule[SDAP_QFI_MAX + 1]; /**< what rx knows to be stored; L2_NO_BEARER: nothing */
	uint64_t rdi[SDAP_QFI_MAX + 1];  /**< PDUs that asked to reflect the flow's DRB */
	uint64_t rqi[SDAP_QFI_MAX + 1];  /**< PDUs of which NAS is to derive a QoS rule (§5.4) */

	struct sdap_mailbox box __rte_cache_aligned; /* rx → tx */
};

/** Control thread. @return 0, -EINVAL when `cfg` is impossible, or -ENOMEM. */
int sdap_init(struct sdap *s, const struct sdap_cfg *cfg);
void sdap_fini(struct sdap *s);

/**
 * User packets become SDAP PDUs: writes meta.bearer and meta.qfi, prepends the header where the
 * DRB has one. What cannot be sent is freed and counted in `drops` (enum sdap_tx_drop).
 * @return n: pkts[0..n) are the PDUs, order kept.
 */
uint16_t sdap_tx_process(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops);

/**
 * Packets whose bearer stands in meta, and RQI << 6 | QFI in meta.qfi, become SDAP PDUs of it: a
 * gNB's, of which the tunnel said both. meta.qfi is the QFI alone afterwards.
 * @return as sdap_tx_process()
 */
uint16_t sdap_tx_mapped(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops);

/** Tx part: a mapping waits in the mailbox. */
static inline bool
sdap_tx_remapped(const struct sdap *s)
{
	return atomic_load_explicit(&s->box.changed, memory_order_relaxed) != 0;
}

/**
 * Tx part: stores the mappings that wait and makes the end-marker control PDUs that go before
 * whatever follows (§5.3.2). A flow for which there is no mbuf waits on.
 * @return end-markers written to `markers`, [SDAP_QFI_MAX + 1].
 */
uint16_t sdap_tx_remap(struct sdap *s, struct rte_mbuf **markers);

/**
 * SDAP PDUs of the bearers in meta become user packets: strips the header and writes meta.qfi;
 * where the DRB has no header both stay as they are. Control PDUs are freed, counted in `used` and
 * end_markers; what is wrong is freed and counted in `drops` (enum sdap_rx_drop).
 * @return n: pkts[0..n) are user packets, order kept.
 */
uint16_t sdap_rx_process(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops,
			 uint64_t *used);

#endif
