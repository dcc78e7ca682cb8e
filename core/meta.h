/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_META_H
#define AIRPATH_CORE_META_H

/**
 * What airpath knows about a packet, kept inside its rte_mbuf.
 *
 * Two places, chosen by cache line: `struct ap_meta` lies over rte_mbuf.hash in
 * the first line, which every node touches anyway; `struct ap_ext` is a dynamic
 * field in the second line, touched only by nodes that need it.
 * Both belong to the worker that holds the mbuf.
 */

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

enum ap_meta_flag {
	AP_M_TB_START = 1 << 0, /**< mbuf is a TB mark, the RLC PDUs of the TB follow */
	AP_M_TB_END = 1 << 5,   /**< mbuf is the TB mark after the last RLC PDU */
	AP_M_TB_RETX = AP_M_TB_START | AP_M_TB_END, /**< TB mark: the TB is in the HARQ buffer */
	AP_M_FRAG_FIRST = 1 << 1,                   /**< first fragment of a TB */
	AP_M_FRAG_LAST = 1 << 2,                    /**< last fragment of a TB */
	AP_M_TIMED = 1 << 3,                        /**< ap_ext.enter_ns is valid */
	AP_M_CONTROL = 1 << 4,                      /**< protocol control PDU, not user data */
	/** An RLC window holds the second reference and leaves the mbuf alone while it is under
	 * way: headers may go into its headroom. */
	AP_M_RETAINED = 1 << 6,
};

struct ap_meta {
	uint32_t bearer; /**< index into the role's bearer table */
	uint8_t qfi;     /**< QoS flow identifier, 0..63 */
	uint8_t lcid;    /**< logical channel, 1..32 */
	uint8_t flags;   /**< enum ap_meta_flag */
	uint8_t carrier; /**< component carrier, 0..n-1 */
};
_Static_assert(sizeof(struct ap_meta) == 8, "must fit rte_mbuf.hash");
_Static_assert(sizeof(((struct rte_mbuf *)0)->hash) >= sizeof(struct ap_meta), "rte_mbuf.hash");

struct ap_ext {
	uint64_t enter_ns;  /**< when the packet entered the role, ap_clock_ns() */
	uint32_t tb_bytes;  /**< TB the fragment belongs to: size, B */
	uint32_t tb_offset; /**< byte offset of the fragment in its TB */
	uint16_t sfn;       /**< system frame number, 0..1023 */
	uint16_t slot;      /**< slot in the frame, 0..159 */
	uint32_t spare;     /**< free for the one node between two edges */
};
_Static_assert(sizeof(struct ap_ext) == 24, "dynamic field size");

/** Offset of struct ap_ext in every mbuf; set once by ap_meta_register(). */
extern int ap_ext_offset;

/** Registers the dynamic field. Control thread, after EAL init. @return 0 or -errno. */
int ap_meta_register(void);

static inline struct ap_meta *
ap_meta(struct rte_mbuf *m)
{
	return (struct ap_meta *)(void *)&m->hash;
}

static inline struct ap_ext *
ap_ext(struct rte_mbuf *m)
{
	return RTE_MBUF_DYNFIELD(m, ap_ext_offset, struct ap_ext *);
}

#endif
