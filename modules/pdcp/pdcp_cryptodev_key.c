/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "codec/pdcp.h"
#include "core/config.h"
#include "modules/pdcp/pdcp_cryptodev.h"

#define SESSIONS 512 /* in a pool */
#define IV_LEN 16

static const struct {
	enum rte_crypto_cipher_algorithm cipher;
	enum rte_crypto_auth_algorithm auth;
	uint16_t auth_iv;
} algorithms[] = {
	[PDCP_NEA1] = {RTE_CRYPTO_CIPHER_SNOW3G_UEA2, RTE_CRYPTO_AUTH_SNOW3G_UIA2, IV_LEN},
	[PDCP_NEA2] = {RTE_CRYPTO_CIPHER_AES_CTR, RTE_CRYPTO_AUTH_AES_CMAC, 0},
	[PDCP_NEA3] = {RTE_CRYPTO_CIPHER_ZUC_EEA3, RTE_CRYPTO_AUTH_ZUC_EIA3, IV_LEN},
};

static void *
session_make(struct pdcp_cryptodev_device *d, struct rte_crypto_sym_xform *xform)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	void *s = NULL;

	for (unsigned i = 0; i < RTE_DIM(d->sessions) && s == NULL; i++) {
		if (i == d->nb_pools) {
			snprintf(name, sizeof(name), "pdcp_sessions%u.%u", d->id, i);
			d->sessions[i] = rte_cryptodev_sym_session_pool_create(
				name, SESSIONS, rte_cryptodev_sym_get_private_session_size(d->id),
				0, 0, rte_cryptodev_socket_id(d->id));
			if (d->sessions[i] == NULL)
				return NULL;
			d->nb_pools++;
		}
		if (rte_mempool_avail_count(d->sessions[i]) > 0)
			s = rte_cryptodev_sym_session_create(d->id, xform, d->sessions[i]);
	}
	return s;
}

static int
cipher_make(struct pdcp_cryptodev_key *k, const struct pdcp_security_cfg *cfg, struct ap_error *err)
{
	const struct rte_cryptodev_sym_capability_idx idx = {
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER, .algo.cipher = algorithms[cfg->nea].cipher};
	const struct rte_cryptodev_symmetric_capability *cap =
		rte_cryptodev_sym_capability_get(k->device->id, &idx);
	/* All of them are key streams: to decipher is to encipher. */
	struct rte_crypto_sym_xform xform = {
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher = {
			.op = RTE_CRYPTO_CIPHER_OP_ENCRYPT,
			.algo = idx.algo.cipher,
			.key = {.data = cfg->key_enc, .length = PDCP_KEY_LEN},
			.iv = {.offset = CRYPTODEV_EXTRA + offsetof(struct pdcp_op_extra, iv_enc),
			       .length = IV_LEN}}};

	if (cap == NULL ||
	    rte_cryptodev_sym_capability_check_cipher(cap, PDCP_KEY_LEN, IV_LEN) != 0) {
		ap_error_set(err, "cryptodev %s does not offer NEA%u (%s)", k->device->name,
			     cfg->nea, rte_crypto_cipher_algorithm_strings[idx.algo.cipher]);
		return -ENOTSUP;
	}
	k->cipher = session_make(k->device, &xform);
	if (k->cipher == NULL) {
		ap_error_set(err, "cryptodev %s: no session", k->device->name);
		return -ENOMEM;
	}
	return 0;
}

static int
auth_make(struct pdcp_cryptodev_key *k, const struct pdcp_security_cfg *cfg, struct ap_error *err)
{
	const uint16_t iv = algorithms[cfg->nia].auth_iv;
	const struct rte_cryptodev_sym_capability_idx idx = {
		.type = RTE_CRYPTO_SYM_XFORM_AUTH, .algo.auth = algorithms[cfg->nia].auth};
	const struct rte_cryptodev_symmetric_capability *cap =
		rte_cryptodev_sym_capability_get(k->device->id, &idx);
	/* What was received is compared here: devices differ in where they want it. */
	struct rte_crypto_sym_xform xform = {
		.type = RTE_CRYPTO_SYM_XFORM_AUTH,
		.auth = {.op = RTE_CRYPTO_AUTH_OP_GENERATE,
			 .algo = idx.algo.auth,
			 .key = {.data = cfg->key_int, .length = PDCP_KEY_LEN},
			 .iv = {.offset = CRYPTODEV_EXTRA + offsetof(struct pdcp_op_extra, iv_int),
				.length = iv},
			 .digest_length = PDCP_MAC_I_LEN}};

	if (cap == NULL ||
	    rte_cryptodev_sym_capability_check_auth(cap, PDCP_KEY_LEN, PDCP_MAC_I_LEN, iv) != 0) {
		ap_error_set(err, "cryptodev %s does not offer NIA%u (%s)", k->device->name,
			     cfg->nia, rte_crypto_auth_algorithm_strings[idx.algo.auth]);
		return -ENOTSUP;
	}
	k->auth = session_make(k->device, &xform);
	if (k->auth == NULL) {
		ap_error_set(err, "cryptodev %s: no session", k->device->name);
		return -ENOMEM;
	}
	return 0;
}

int
pdcp_cryptodev_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key,
			  struct ap_error *err)
{
	const char *name = cfg->device ? cfg->device : PDCP_SECURITY_DEVICE_DEFAULT;
	struct pdcp_cryptodev_device *d = pdcp_cryptodev_open(name, err);
	struct pdcp_cryptodev_key *k;
	int rc = 0;

	if (d == NULL)
		return -ENODEV;
	d->nb_keys++;
	k = rte_zmalloc("pdcp_key", sizeof(*k), RTE_CACHE_LINE_SIZE);
	if (k == NULL) {
		if (--d->nb_keys == 0)
			pdcp_cryptodev_close(d);
		ap_error_set(err, "cryptodev %s: out of memory", name);
		return -ENOMEM;
	}
	k->device = d;
	k->base.nea = cfg->nea;
	k->base.nia = cfg->nia;
	snprintf(k->base.name, sizeof(k->base.name), "cryptodev %.48s", name);
	if (cfg->nea != PDCP_NEA0)
		rc = cipher_make(k, cfg, err);
	if (rc == 0 && cfg->nia != PDCP_NIA0)
		rc = auth_make(k, cfg, err);
	if (rc < 0) {
		pdcp_cryptodev_key_destroy(&k->base);
		return rc;
	}
	*key = &k->base;
	return 0;
}

void
pdcp_cryptodev_key_destroy(struct pdcp_security_key *key)
{
	struct pdcp_cryptodev_key *k = (struct pdcp_cryptodev_key *)key;
	struct pdcp_cryptodev_device *d = k->device;

	if (k->cipher != NULL)
		rte_cryptodev_sym_session_free(d->id, k->cipher);
	if (k->auth != NULL)
		rte_cryptodev_sym_session_free(d->id, k->auth);
	rte_free(k);
	if (--d->nb_keys == 0)
		pdcp_cryptodev_close(d);
}
