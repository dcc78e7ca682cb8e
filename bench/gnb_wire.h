/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_GNB_WIRE_H
#define AIRPATH_BENCH_GNB_WIRE_H

/**
 * Frames of `bench gnb`: what goes into a gNB's header processing, and what must come out at the
 * other side, written octet by octet and independently of it. A T-PDU says which session and
 * number it is of; a stretch of a fixed pattern follows.
 *
 * Sessions have one DRB with SDAP headers, PDCP SNs of 18 bits, and RLC UM, or AM with SNs of 18
 * bits.
 */

#include <stdbool.h>
#include <stdint.h>

#define GNB_WIRE_OUTER 58     /**< before a T-PDU on N3: Ethernet, IPv4, UDP, GTP-U, container */
#define GNB_WIRE_FRAME_MIN 80 /**< on N3, without FCS */
#define GNB_WIRE_FRAME_MAX 1400
#define GNB_WIRE_PEERS 16 /**< UPFs, and DUs, that sessions spread over */
#define GNB_WIRE_ROOM 2048
#define GNB_WIRE_QFI 9

enum gnb_wire_direction { GNB_WIRE_DOWN, GNB_WIRE_UP, GNB_WIRE_DIRECTIONS };

/** A side of the gNB: its address, and whom it meets there. Addresses in host order. */
struct gnb_wire_side {
	uint8_t mac[6], next_mac[6];
	uint32_t ip;
	uint32_t peers; /**< address of the first of GNB_WIRE_PEERS */
};

struct gnb_wire {
	struct gnb_wire_side n3, f1;
	uint16_t tpdu; /**< octets */
	bool am;
};

/** Where session `i` is: peer's address, and TEIDs of the peers'. */
uint32_t gnb_wire_peer(const struct gnb_wire_side *s, uint32_t i);
uint32_t gnb_wire_upf_teid(uint32_t i);
uint32_t gnb_wire_du_teid(uint32_t i);

/**
 * The frame a UPF, or a DU, sends.
 * @param teid ours, of the direction
 * @param n number of the packet in its session and direction: uplink also its SNs
 * @return its octets
 */
unsigned gnb_wire_build(const struct gnb_wire *w, enum gnb_wire_direction d, uint8_t *p, uint32_t i,
			uint32_t teid, uint32_t n);

/** The frame that must come out for it; downlink the n-th packet has COUNT n. @return octets */
unsigned gnb_wire_expect(const struct gnb_wire *w, enum gnb_wire_direction d, uint8_t *p,
			 uint32_t i, uint32_t n);

/** @return session that a frame that came out says it is of; UINT32_MAX: it is none of ours */
uint32_t gnb_wire_session(const struct gnb_wire *w, enum gnb_wire_direction d, const uint8_t *p,
			  unsigned bytes);

#endif
