/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_CRYPTO_H
#define AIRPATH_MODULES_PDCP_CRYPTO_H

/**
 * Where PDCP meets its security functions, TS 38.323 §5.8 (ciphering) and §5.9
 * (integrity): one call over a vector of PDUs of any mix of bearers, so that an
 * implementation can run them side by side.
 *
 * An entity without a pdcp_crypto uses NEA0 and NIA0; its PDUs never come here.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "modules/l2/l2.h"

#define PDCP_CRYPTO_BATCH 256

/** Why a PDU must not go on. */
enum pdcp_security_failure {
	PDCP_SECURITY_OK,
	PDCP_SECURITY_MAC_I,    /**< integrity verification failed */
	PDCP_SECURITY_NO_MBUF,  /**< no buffer to write to */
	PDCP_SECURITY_TOO_LONG, /**< does not fit such a buffer, or the engine */
	PDCP_SECURITY_DEVICE,   /**< the engine's device did not do it */
};

/** What TS 33.501 annex D takes beside COUNT and the message. Constant while PDUs flow. */
struct pdcp_security {
	const struct pdcp_crypto *crypto; /**< NULL: NEA0 and NIA0 */
	void *keys;        /**< of `crypto`: algorithms and keys of this bearer and direction */
	uint8_t bearer;    /**< BEARER, RB identity - 1 */
	uint8_t direction; /**< DIRECTION, enum l2_direction */
	uint8_t clear_len; /**< PDCP and SDAP header in front, not ciphered but integrity protected,
			      B */
	uint8_t mac_i_len; /**< MAC-I behind, 0 or PDCP_MAC_I_LEN, B */
};

/** One PDU in the vector. */
struct pdcp_secured {
	struct rte_mbuf
		*m;   /**< whole PDU; replaced when its buffers were shared and not writable */
	void *entity; /**< pdcp_tx or pdcp_rx it belongs to */
	const struct pdcp_security *sec;
	uint32_t count;
	uint8_t failed; /**< out: enum pdcp_security_failure */
};

struct pdcp_security_cfg;
struct pdcp_security_key;
struct ap_error;

/** An engine. */
struct pdcp_crypto {
	const char *name; /**< as deployments call it */
	/** Fills the MAC-I, then ciphers. */
	void (*protect)(struct pdcp_secured *pdus, uint16_t nb);
	/** Deciphers, then verifies the MAC-I. */
	void (*verify)(struct pdcp_secured *pdus, uint16_t nb);
	/** Behind pdcp_security_key_create() and pdcp_security_key_destroy(). */
	int (*key_create)(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key,
			  struct ap_error *err);
	void (*key_destroy)(struct pdcp_security_key *key);
};

/** Collects a node visit's secured PDUs; all of one pdcp_crypto. */
struct pdcp_batch {
	const struct pdcp_crypto *crypto;
	uint16_t nb;
	struct pdcp_secured pdus[PDCP_CRYPTO_BATCH];
};

/** @return true when a PDU of `sec` must wait until the batch was run and emptied. */
static inline bool
pdcp_batch_full(const struct pdcp_batch *b, const struct pdcp_security *sec)
{
	return b->nb == PDCP_CRYPTO_BATCH || (b->nb > 0 && b->crypto != sec->crypto);
}

static inline void
pdcp_batch_add(struct pdcp_batch *b, struct rte_mbuf *m, void *entity,
	       const struct pdcp_security *sec, uint32_t count)
{
	b->crypto = sec->crypto;
	b->pdus[b->nb++] =
		(struct pdcp_secured){.m = m, .entity = entity, .sec = sec, .count = count};
}

#endif
