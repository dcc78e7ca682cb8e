/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_SECURITY_H
#define AIRPATH_MODULES_PDCP_SECURITY_H

/**
 * NEA1..3 and NIA1..3 of TS 33.501 annex D, behind the seam of pdcp_crypto.h: many
 * PDUs of any mix of bearers and algorithms at once, by Intel's multi-buffer library.
 *
 * A key object holds what one direction of one bearer needs: algorithms and expanded
 * keys. It is constant once made, so several lcores may use it; each lcore has a
 * manager of the library of its own, made with the first key object.
 *
 * PDUs are worked on in place where their buffer belongs to them alone and is one
 * segment. All others move to an mbuf of `pool`: a received PDU that lies in a shared
 * TB is deciphered from there straight into its new mbuf, without a copy before.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "modules/pdcp/pdcp_crypto.h"

#define PDCP_KEY_LEN 16

/** Data room of the mbufs in `pool`, B: the longest SDU (9000 B) with header and MAC-I. */
#define PDCP_SECURITY_ROOM 9216

/** Algorithm identities of TS 33.501 §5.11.1. */
enum pdcp_nea {
	PDCP_NEA0, /**< null */
	PDCP_NEA1, /**< SNOW 3G */
	PDCP_NEA2, /**< AES-128 in CTR mode */
	PDCP_NEA3, /**< ZUC */
};

enum pdcp_nia {
	PDCP_NIA0, /**< null: a MAC-I is zero, and not looked at */
	PDCP_NIA1, /**< SNOW 3G */
	PDCP_NIA2, /**< AES-128 in CMAC mode */
	PDCP_NIA3, /**< ZUC */
};

struct pdcp_security_cfg {
	enum pdcp_nea nea;
	enum pdcp_nia nia;
	uint8_t key_enc[PDCP_KEY_LEN]; /**< K_UPenc or K_RRCenc; unused with NEA0 */
	uint8_t key_int[PDCP_KEY_LEN]; /**< K_UPint or K_RRCint; unused with NIA0 */
	struct rte_mempool *pool;      /**< for PDUs that cannot stay where they are */
};

struct pdcp_security_key;

/** To be configured with a pdcp_security_key as `keys`. Protects and verifies on any EAL lcore. */
extern const struct pdcp_crypto pdcp_multi_buffer;

/**
 * Expands keys; `cfg` is not kept. With NIA0, or for an entity without MAC-I, PDUs are
 * ciphered only. Control thread.
 * @return 0 and the object; -EINVAL for an unknown algorithm or no pool; -ENOMEM;
 *         -ENOTSUP where this build has no library
 */
int pdcp_security_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key);

/** Wipes and frees; no PDU may still be under way with it. NULL is allowed. Control thread. */
void pdcp_security_key_destroy(struct pdcp_security_key *key);

#endif
