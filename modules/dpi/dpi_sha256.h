/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_DPI_DPI_SHA256_H
#define AIRPATH_MODULES_DPI_DPI_SHA256_H

/**
 * SHA-256 (FIPS 180-4) a block at a time and HMAC with it, for keys that everyone may know: QUIC's
 * Initials. The multi-buffer library takes whole texts only, some 600 cycles a block; with states
 * that are kept and the CPU's instructions it is a third, of 14 blocks in place of 20.
 */

#include <stdint.h>

#define DPI_SHA256_BLOCK 64
#define DPI_SHA256_DIGEST 32

struct dpi_sha256 {
	uint32_t h[8];
};

/** Takes a block in. */
void dpi_sha256_block(struct dpi_sha256 *s, const uint8_t block[DPI_SHA256_BLOCK]);

/** An HMAC key, RFC 2104: what the padded key makes of either hash. */
struct dpi_hmac {
	struct dpi_sha256 inner, outer;
};

/** @param len at most DPI_SHA256_BLOCK */
void dpi_hmac_key(struct dpi_hmac *k, const uint8_t *key, uint32_t len);

/** @param len at most 55: with padding a block */
void dpi_hmac(const struct dpi_hmac *k, const uint8_t *text, uint32_t len,
	      uint8_t digest[DPI_SHA256_DIGEST]);

#endif
