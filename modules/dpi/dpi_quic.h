/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_DPI_DPI_QUIC_H
#define AIRPATH_MODULES_DPI_DPI_QUIC_H

/** A client's Initial packets: RFC 9000 §12, §17.2.2, RFC 9001 §5, RFC 9369. */

#include <stdbool.h>
#include <stdint.h>

#include "modules/dpi/dpi_stream.h"

#define DPI_QUIC_V1 1
#define DPI_QUIC_V2 0x6b3343cf
#define DPI_QUIC_CID_MAX 20
#define DPI_QUIC_INITIAL_MAX 4096 /**< octets of a packet that is deciphered */
#define DPI_QUIC_TAG 16

/** What a client's Initials are protected by: of whoever knows its connection id. */
struct dpi_quic_keys {
	uint8_t key[16];
	uint8_t iv[12];
	uint8_t hp[16];
};

/** The client of one flow. */
struct dpi_quic {
	struct dpi_quic_keys keys;
	uint8_t cid[DPI_QUIC_CID_MAX]; /**< that `keys` are made of */
	uint8_t cid_len;
	bool keyed; /**< an Initial was authentic under `keys` */
};

/** Keys of the client that sent its first Initial to `cid`, RFC 9001 §5.2. @return 0 or -ENOTSUP.
 */
int dpi_quic_keys_make(const uint8_t *cid, uint8_t cid_len, uint32_t version,
		       struct dpi_quic_keys *keys);

/**
 * Removes protection, RFC 9001 §5.3, §5.4.
 * @param packet to the end of its Length, at most DPI_QUIC_INITIAL_MAX octets
 * @param pn octets in front of the packet number; 20 and more are behind it
 * @return octets of `payload`; -EBADMSG: not authentic; -ENOTSUP: no ciphers
 */
int dpi_quic_open(const struct dpi_quic_keys *keys, const uint8_t *packet, uint32_t len,
		  uint32_t pn, uint8_t payload[DPI_QUIC_INITIAL_MAX]);

/** Puts the CRYPTO frames of an Initial into `s`. @return 0 or -EINVAL: rules broken. */
int dpi_quic_frames(struct dpi_stream *s, const uint8_t *payload, uint32_t len);

/** Headers of the form that Initials have, RFC 9000 §17.2. */
#define DPI_QUIC_LONG 0xC0

/** @return false: no Initial, nor a packet that may come before one: dpi_quic_datagram() would say
 * DPI_NONE of it. @param len not 0 */
static inline bool
dpi_quic_may_be(const uint8_t *data)
{
	return (data[0] & DPI_QUIC_LONG) == DPI_QUIC_LONG;
}

/**
 * Takes a datagram of the client into `s`.
 * @return DPI_FOUND: `s` has more; DPI_MORE; DPI_NONE: not QUIC of a known version; DPI_BAD
 */
enum dpi_verdict dpi_quic_datagram(struct dpi_quic *q, struct dpi_stream *s, const uint8_t *data,
				   uint32_t len);

#endif
