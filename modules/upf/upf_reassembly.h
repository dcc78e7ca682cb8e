/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_REASSEMBLY_H
#define AIRPATH_UPF_REASSEMBLY_H

/**
 * Reassembly of packets to us: IPv4 (RFC 791 §3.2, RFC 1858) and IPv6 (RFC 8200 §4.5, RFC 5722:
 * overlaps cost the packet). Bounded in packets at once and fragments of each; nothing is copied.
 * Belongs to one worker.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define UPF_FRAGMENTS_MAX 16 /**< of one packet */

enum upf_frag_drop {
	UPF_FRAG_MALFORMED, /**< lengths that no fragment has */
	UPF_FRAG_OVERLAP,   /**< fragments of a packet that claim the same octets */
	UPF_FRAG_DUPLICATE, /**< the same one again */
	UPF_FRAG_FULL,      /**< more packets or fragments than there is room for */
	UPF_FRAG_TIMEOUT,
	UPF_FRAG_DROPS,
};

struct upf_frag_packet;

struct upf_reassembly {
	struct upf_frag_packet *packets;
	uint16_t *buckets; /**< chains of indices + 1 */
	uint32_t mask;
	uint32_t max;
	uint32_t nb;     /**< packets begun */
	uint32_t held;   /**< mbufs with fragments */
	uint16_t free;   /**< chain of indices + 1 */
	uint16_t oldest; /**< by arrival of the first fragment, index + 1 */
	uint16_t newest;
	uint64_t timeout_ns;
};

/** @param max packets at once, up to 65534. @return 0 or -ENOMEM. */
int upf_reassembly_init(struct upf_reassembly *r, uint32_t max, uint64_t timeout_ns);
/** Frees what is held. */
void upf_reassembly_fini(struct upf_reassembly *r);

/**
 * A fragment: data begins with the IP header, which was checked and lies in one piece, and ends
 * with the packet.
 * @param drops of enum upf_frag_drop, mbufs
 * @param used counts mbufs that became part of another
 * @return the whole packet, as if it had come whole; else NULL: held or dropped
 */
struct rte_mbuf *upf_reassembly_take(struct upf_reassembly *r, struct rte_mbuf *m, uint64_t now_ns,
				     uint64_t *drops, uint64_t *used);

/** Gives up what waits too long. */
void upf_reassembly_expire(struct upf_reassembly *r, uint64_t now_ns, uint64_t *drops);

/** @return when upf_reassembly_expire() may have something to do; UINT64_MAX: nothing waits. */
uint64_t upf_reassembly_due(const struct upf_reassembly *r);

#endif
