/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_GNB_H
#define AIRPATH_P4_GNB_H

/**
 * The gNB's SmartNIC program gnb.p4 as a pipeline of DPDK's rte_swx, built call by call.
 *
 *   wire → parser → session table (TEID) → DRB table → peer table → offload manager
 *        → header processing → wire, or → virtual function
 *   virtual function → wire; hand-over frames and packets to our own MAC are for the program
 *
 * It takes what a gNB gets nearly always: G-PDUs over IPv4 with a plain PDU session container of
 * sessions and DRBs it knows. All else goes to the host as it is, behind a shim. One thread owns
 * the pipeline: it runs it and changes its tables between two runs.
 *
 * State of a bearer is P4_REGS registers: COUNT of the next SDU, RLC's, who owns them, packets
 * sent to the host since the owner was asked to give them back, octets and packets sent.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/config.h"
#include "modules/p4/p4_shim.h"

#define P4_VFS_MAX 16
#define P4_INTERFACES_MAX 4
#define P4_OWN_MAX 16
#define P4_REGS 8 /**< of a bearer: one cache line */
#define P4_BURST 256

/** Where packets come from. */
enum p4_side { P4_SIDE_WIRE, P4_SIDE_VF };

/** Where they go: VF k is P4_OUT_VF + k. */
enum p4_out {
	P4_OUT_WIRE,
	P4_OUT_USED,    /**< a hand-over frame of the host: done with */
	P4_OUT_SHORT,   /**< drop: a hand-over frame that is none */
	P4_OUT_REFUSED, /**< drop: a packet the host handed in that is not for the program either */
	P4_OUT_NO_MBUF, /**< drop: no room before the data, and no mbuf to make some */
	P4_OUT_VF,
};

enum p4_reg {
	P4_REG_TX_NEXT,
	P4_REG_RLC_TX_NEXT,
	P4_REG_OWNER, /**< enum p4_owner */
	P4_REG_SENT,  /**< to the host since P4_OWNER_RETURNING */
	P4_REG_BYTES,
	P4_REG_PACKETS,
};

enum p4_owner { P4_OWNER_NIC, P4_OWNER_HOST, P4_OWNER_RETURNING };

#define P4_SHARE_ALL 65536U /**< p4_share_set(): all to the host */
#define P4_SHARE_BY_MARK (2 * P4_SHARE_ALL)

/** One of the gNB's interfaces, all on the wire. */
struct p4_interface {
	uint8_t mac[6];
	bool n3;      /**< else F1-U */
	uint32_t ip4; /**< G-PDUs to it are the program's; network order */
};

struct p4_cfg {
	const char *name;       /**< of the pipeline, one a process */
	uint32_t sessions;      /**< 1..1 << 20 */
	unsigned drb_shift;     /**< log2 of the DRBs a session may have, 0..3 */
	unsigned nb_vfs;        /**< 1..P4_VFS_MAX */
	unsigned nb_interfaces; /**< 1..P4_INTERFACES_MAX */
	struct p4_interface interfaces[P4_INTERFACES_MAX];
	unsigned nb_own;
	uint32_t own[P4_OWN_MAX]; /**< addresses of ours, none of which packets come from */
	struct rte_mempool *pool; /**< for packets without headroom */
	int socket;
};

/** A session as the tables want it. */
struct p4_session {
	uint32_t teid;       /**< of N3, ours */
	uint32_t index;      /**< below p4_cfg.sessions */
	uint8_t vf;          /**< its worker's */
	uint8_t slot_of[32]; /**< slot by QFI, 4 bits each, low first; 15: none */
};

enum p4_rlc { P4_RLC_NONE, P4_RLC_UM, P4_RLC_AM12, P4_RLC_AM18 };

/** Likewise a DRB: what the program writes before an SDU. */
struct p4_drb {
	uint32_t teid;  /**< ours, with the DRB's slot */
	uint32_t index; /**< of its registers: session's << drb_shift | slot */
	uint32_t du_teid;
	uint16_t peer; /**< of the DU */
	uint8_t vf;
	uint8_t rlc;          /**< enum p4_rlc */
	uint8_t pdcp_sn_bits; /**< 12 or 18 */
	bool sdap;
};

/** Headers toward a peer. */
struct p4_peer {
	uint16_t index;
	uint8_t dst_mac[6], src_mac[6];
	uint8_t ip_udp[28]; /**< template: lengths, identification and checksum are filled in */
	uint16_t mtu;       /**< octets of IP */
};

/** What a run made of packets: in their order. */
struct p4_result {
	uint16_t nb;
	uint8_t out[P4_BURST]; /**< enum p4_out */
	struct rte_mbuf *pkts[P4_BURST];
};

struct p4_gnb;

/** EAL is up. @return NULL with `err` filled. */
struct p4_gnb *p4_gnb_create(const struct p4_cfg *cfg, struct ap_error *err);
void p4_gnb_destroy(struct p4_gnb *g);

/** Sends up to P4_BURST packets through; `r` has as many afterwards. */
void p4_gnb_run(struct p4_gnb *g, enum p4_side side, struct rte_mbuf **pkts, uint16_t nb,
		struct p4_result *r);

/** Puts a session in place or changes it. @return 0 or -ENOSPC. */
int p4_session_set(struct p4_gnb *g, const struct p4_session *s);
void p4_session_clear(struct p4_gnb *g, uint32_t teid);

/** Likewise a DRB. @param anew its numbering is the host's from now on */
int p4_drb_set(struct p4_gnb *g, const struct p4_drb *d, bool anew);
void p4_drb_clear(struct p4_gnb *g, uint32_t teid);

int p4_peer_set(struct p4_gnb *g, const struct p4_peer *p);
void p4_peer_clear(struct p4_gnb *g, uint16_t index);

/** @param share of 65536 bearers, those the host has; P4_SHARE_BY_MARK: packets say */
void p4_share_set(struct p4_gnb *g, uint32_t share);

/** Any thread: it may be a moment old. `index` as in struct p4_drb. */
uint64_t p4_register(const struct p4_gnb *g, uint32_t index, enum p4_reg reg);

#endif
