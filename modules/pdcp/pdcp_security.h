/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_SECURITY_H
#define AIRPATH_MODULES_PDCP_SECURITY_H

/**
 * NEA1..3 and NIA1..3 of TS 33.501 annex D, behind the seam of pdcp_crypto.h: many
 * PDUs of any mix of bearers and algorithms at once. Two engines do it: `multi_buffer`,
 * Intel's library (x86-64 only), and `cryptodev`, a DPDK crypto device.
 *
 * A key object holds what one direction of one bearer needs: algorithms and expanded
 * keys. It is constant once made, so several lcores may use it; what an engine needs for
 * each lcore is made with its first key object.
 *
 * PDUs are worked on in place where their buffer belongs to them alone and is one
 * segment. All others move to an mbuf of `pool`; multi_buffer deciphers a received PDU
 * that lies in a shared TB from there straight into its new mbuf, without a copy before.
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
	uint8_t key_enc[PDCP_KEY_LEN];    /**< K_UPenc or K_RRCenc; unused with NEA0 */
	uint8_t key_int[PDCP_KEY_LEN];    /**< K_UPint or K_RRCint; unused with NIA0 */
	struct rte_mempool *pool;         /**< for PDUs that cannot stay where they are */
	const struct pdcp_crypto *engine; /**< NULL: pdcp_security_engine(NULL) */
	const char *device; /**< cryptodev: vdev, or name or PCI address of a device that exists;
				 NULL: PDCP_SECURITY_DEVICE_DEFAULT */
};

#define PDCP_SECURITY_DEVICE_DEFAULT "crypto_openssl"

struct pdcp_security_key;

#ifdef AIRPATH_IPSEC_MB
extern const struct pdcp_crypto pdcp_multi_buffer;
#endif
extern const struct pdcp_crypto pdcp_cryptodev;

/** @return the engine of that name, NULL where this build has none; for NULL the default one. */
const struct pdcp_crypto *pdcp_security_engine(const char *name);

/**
 * Expands keys; `cfg` is not kept. With NIA0, or for an entity without MAC-I, PDUs are
 * ciphered only. Control thread.
 * @param err says more; may be NULL
 * @return 0 and the object; -EINVAL for an unknown algorithm or no pool; -ENOMEM; -ENODEV
 *         for no such device; -ENOTSUP where the engine or its device cannot do it
 */
int pdcp_security_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key,
			     struct ap_error *err);

/** Wipes and frees; no PDU may still be under way with it. NULL is allowed. Control thread. */
void pdcp_security_key_destroy(struct pdcp_security_key *key);

/** @return the engine to be configured with the key as `keys`; any EAL lcore may run it. */
const struct pdcp_crypto *pdcp_security_crypto(const struct pdcp_security_key *key);

/** @return the engine and its device as people know them. */
const char *pdcp_security_name(const struct pdcp_security_key *key);

#endif
