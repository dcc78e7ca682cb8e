/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_MARK_H
#define AIRPATH_UPF_MARK_H

/** Transport Level Marking of packets without an outer header, TS 29.244 §8.2.12. Worker. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/**
 * Sets bits of an IP packet's ToS or Traffic Class and brings the IPv4 checksum up to date. A
 * shared buffer is read-only: then the IP header moves to a segment of its own.
 * @return false when `hdr` is exhausted: `*m` is untouched
 */
bool upf_mark(struct rte_mbuf **m, uint8_t tos, uint8_t mask, struct rte_mempool *hdr);

#endif
