/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_DPI_DPI_NAME_H
#define AIRPATH_MODULES_DPI_DPI_NAME_H

/** What the first packets of a flow tell about it. */

#include <stdint.h>

#define DPI_HOST_MAX 255 /**< octets of a host name, RFC 1035 §2.3.4 */

enum dpi_verdict {
	DPI_MORE, /**< nothing yet: the next packets may tell */
	DPI_FOUND,
	DPI_NONE, /**< another protocol, a flow that names no host, or one that took too long to */
	DPI_BAD,  /**< begins like a protocol we know and breaks its rules */
	DPI_KEEP, /**< of dpi_look_first() alone: the flow needs a scan, which looks at it again */
};

enum dpi_proto { DPI_PROTO_NONE, DPI_HTTP, DPI_TLS, DPI_DNS, DPI_QUIC, DPI_PROTO_COUNT };

/** A name found; its octets live as long as the scan and the segment it was found in. */
struct dpi_name {
	enum dpi_proto proto;
	uint16_t host_len;   /**< 1..DPI_HOST_MAX */
	uint16_t path_len;   /**< 0: none */
	const uint8_t *host; /**< lower case, without port and final dot; not terminated */
	const uint8_t *path; /**< HTTP: path and query as sent, from its '/'; not terminated */
};

#endif
