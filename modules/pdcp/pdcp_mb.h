/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_MB_H
#define AIRPATH_MODULES_PDCP_MB_H

/** What pdcp_mb_key.c makes and pdcp_multi_buffer.c uses. */

#include <intel-ipsec-mb.h>

#include <rte_lcore.h>

#include "modules/pdcp/pdcp_engine.h"

#define ENGINE_PDUS IMB_MAX_BURST_SIZE /* PDUs the library takes at once */
#define ENGINE_SNOW_ALONE 2            /* so few NEA1 PDUs in a burst are ciphered singly */
#define ENGINE_CTR_RUN 32              /* jobs that stay in the first-level cache */

struct pdcp_mb_key {
	struct pdcp_security_key base;
	IMB_JOB job;                            /**< what no PDU changes */
	uint32_t enc[4 * 11] __rte_aligned(16); /**< NEA2 */
	uint32_t dec[4 * 11] __rte_aligned(16);
	uint32_t cmac[4 * 11] __rte_aligned(16); /**< NIA2, and its subkeys */
	uint32_t cmac_1[4] __rte_aligned(16);
	uint32_t cmac_2[4] __rte_aligned(16);
	snow3g_key_schedule_t snow_enc __rte_aligned(16);
	snow3g_key_schedule_t snow_int __rte_aligned(16);
	uint8_t zuc_enc[PDCP_KEY_LEN] __rte_aligned(16);
	uint8_t zuc_int[PDCP_KEY_LEN] __rte_aligned(16);
};

/** Where one PDU of a burst is read and written. */
struct pdcp_place {
	uint8_t *pdu; /**< as it will be */
	const uint8_t
		*src;   /**< what is to be ciphered, pdu + clear_len unless it moves meanwhile */
	uint32_t len;   /**< of the PDU, B */
	uint64_t saved; /**< what stood where the CMAC prefix is now */
	uint32_t mac_i; /**< computed for comparison */
	bool prefixed;
	bool alone; /**< ciphered by snow3g_alone(), not by the job */
	bool late;  /**< MAC-I by pdcp_eia3_long(), not by the job */
};

/** One lcore's. */
struct pdcp_mb {
	IMB_MGR *mgr;
	uint16_t nb_old;
	uint16_t nb_fresh;
	struct pdcp_place places[ENGINE_PDUS];
	struct rte_mbuf *old[ENGINE_PDUS]; /**< still read from, freed when the burst is done */
	struct rte_mempool *fresh_pool;
	struct rte_mbuf *fresh[ENGINE_PDUS]; /**< to move to, as the pool gave them */
	uint32_t iv_enc[ENGINE_PDUS][4] __rte_aligned(64);
	uint32_t iv_int[ENGINE_PDUS][4] __rte_aligned(64);
	IMB_JOB ctr[ENGINE_CTR_RUN];
	uint32_t stream[UINT16_MAX / 4 + 4]; /**< of pdcp_eia3_long() */
};

/** By lcore; made with the first key. */
extern struct pdcp_mb *pdcp_mbs[RTE_MAX_LCORE];

/**
 * Moves a PDU that is shared, chained or without headroom to an mbuf of the key's pool. What is to
 * be deciphered stays where it is until then (pdcp_place.src); the rest is copied.
 * @param left PDUs of the burst from this one on: most often all of them move
 * @return false: it failed, the reason is in `p`
 */
bool pdcp_place_elsewhere(struct pdcp_mb *e, struct pdcp_secured *p, struct pdcp_place *at,
			  bool verify, uint16_t left);

/** After a burst: frees what was moved from, and gives back what was not needed. */
void pdcp_place_done(struct pdcp_mb *e);

/** The engine's half of pdcp_security.h. */
int pdcp_mb_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key,
		       struct ap_error *err);
void pdcp_mb_key_destroy(struct pdcp_security_key *key);

/**
 * 128-EIA3 (TS 35.222) of a message that is longer than EIA3_MAX, up to 65535 B.
 * No job may be under way in the engine.
 * @return the MAC as it stands in a PDU
 */
uint32_t pdcp_eia3_long(struct pdcp_mb *e, const uint8_t *key, const void *iv,
			const uint8_t *message, uint32_t bytes);

#endif
