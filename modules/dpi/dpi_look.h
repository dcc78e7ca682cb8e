/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_DPI_DPI_LOOK_H
#define AIRPATH_MODULES_DPI_DPI_LOOK_H

/**
 * Looks at the first packets of a flow until they name a host: HTTP/1 (RFC 9112), TLS ClientHello
 * (RFC 8446 §4.1.2, RFC 6066 §3), DNS query (RFC 1035 §4.1) and QUIC Initial (RFC 9000 §17.2.2,
 * RFC 9369). A request in one packet is read where it lies, and nothing is kept of its flow but a
 * word; one that takes several is put together in a scan, in any order, up to DPI_SCAN_OCTETS
 * octets and DPI_SCAN_PACKETS packets.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modules/dpi/dpi_name.h"

#define DPI_SCAN_OCTETS 3584 /**< of a request that takes several packets */
#define DPI_SCAN_PACKETS 32  /**< of both directions: after them the verdict is DPI_NONE */

#define DPI_FIRST_BITS 22 /**< of what dpi_look_first() leaves for the next packet */

/** One flow while it is looked at. Plain memory of dpi_scan_bytes() octets: owned by one worker. */
struct dpi_scan;

/** A packet's payload behind its TCP or UDP header. */
struct dpi_segment {
	const uint8_t *data;
	uint32_t len;
	uint32_t seq; /**< TCP: sequence number field of the header; else unused */
	bool syn;     /**< TCP */
	bool from_ue;
};

/**
 * Once, by the control thread before any worker looks: what deciphers QUIC Initials.
 * @return 0; -ENOTSUP: built without multi-buffer ciphers, flows of QUIC are DPI_NONE; -ENOMEM.
 */
int dpi_look_init(void);

/**
 * Looks at a packet of a flow that has no scan, in the order they came; as dpi_look() for the rest.
 * Worker thread; no lock, no allocation.
 * @param first what is remembered of the flow: 0 before its first packet; DPI_FIRST_BITS bits
 * @param ip_proto IPPROTO_TCP or IPPROTO_UDP; of others it tells DPI_NONE
 * @param port_of_server the port that is not the UE's, host order: 53 is DNS
 * @param host room for the name
 * @return DPI_KEEP: the packet does not tell alone: dpi_scan_begin(), and dpi_look() at it again
 */
enum dpi_verdict dpi_look_first(uint32_t *first, uint8_t ip_proto, uint16_t port_of_server,
				const struct dpi_segment *segment, uint8_t host[DPI_HOST_MAX],
				struct dpi_name *out);

/** @return octets of a scan, at most 4608, to be aligned to 8. */
size_t dpi_scan_bytes(void);

/**
 * Begins with a flow; the memory may hold anything.
 * @param first what dpi_look_first() remembers of it; 0: nothing was looked at
 * @param seq of the packet that comes next
 */
void dpi_scan_begin(struct dpi_scan *scan, uint8_t ip_proto, uint16_t port_of_server,
		    uint32_t first, uint32_t seq);

/**
 * Looks at the flow's next packet, in the order they came; packets without payload and of the
 * server count, too. The verdict is final unless it is DPI_MORE: begin anew before the next call.
 * Worker thread; no lock, no allocation.
 * @param out set with DPI_FOUND; `proto` also with DPI_BAD: whose rules are broken
 */
enum dpi_verdict dpi_look(struct dpi_scan *scan, const struct dpi_segment *segment,
			  struct dpi_name *out);

#endif
