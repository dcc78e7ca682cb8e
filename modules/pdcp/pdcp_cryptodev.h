/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_CRYPTODEV_H
#define AIRPATH_MODULES_PDCP_CRYPTODEV_H

/** What pdcp_cryptodev_key.c makes and pdcp_cryptodev.c uses. */

#include <rte_cryptodev.h>
#include <rte_lcore.h>

#include "modules/pdcp/pdcp_engine.h"

#define CRYPTODEV_PDUS 128 /* operations of an lcore */

/** Behind each operation: what the device reads and writes beside the PDU. */
struct pdcp_op_extra {
	uint32_t iv_enc[4];
	uint32_t iv_int[4];
	uint32_t mac_i[4];
};

#define CRYPTODEV_EXTRA (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))

/** One lcore's way to a device, and nobody else's. */
struct pdcp_cryptodev_queue {
	uint8_t dev;
	uint16_t qp;
	uint16_t nb_out;  /**< operations the device did not give back in time */
	uint16_t nb_held; /**< mbufs it may still write to */
	struct rte_crypto_op *ops[CRYPTODEV_PDUS];
	struct rte_mbuf *held[CRYPTODEV_PDUS];
};

/** Has what its keys have in common. Control thread, but for the queues. */
struct pdcp_cryptodev_device {
	char name[RTE_CRYPTODEV_NAME_MAX_LEN];
	uint8_t id;
	bool made; /**< by us */
	bool configured;
	unsigned nb_keys;
	unsigned nb_pools;
	struct rte_mempool *ops;
	struct rte_mempool *sessions[32]; /**< more are made as keys come */
	struct pdcp_cryptodev_queue *queues[RTE_MAX_LCORE];
};

struct pdcp_cryptodev_key {
	struct pdcp_security_key base;
	struct pdcp_cryptodev_device *device;
	void *cipher; /**< session; NULL with NEA0 */
	void *auth;   /**< session; NULL with NIA0 */
};

/**
 * Finds or makes the device, with a queue pair for each lcore.
 * @return NULL with `err` filled
 */
struct pdcp_cryptodev_device *pdcp_cryptodev_open(const char *name, struct ap_error *err);

/** When no key of it is left. */
void pdcp_cryptodev_close(struct pdcp_cryptodev_device *d);

/** The engine's half of pdcp_security.h. */
int pdcp_cryptodev_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key,
			      struct ap_error *err);
void pdcp_cryptodev_key_destroy(struct pdcp_security_key *key);

#endif
