/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "codec/pdcp.h"
#include "core/config.h"
#include "modules/pdcp/pdcp_mb.h"

struct pdcp_mb *pdcp_mbs[RTE_MAX_LCORE];
static unsigned nb_keys;

static void
engines_free(void)
{
	for (unsigned i = 0; i < RTE_MAX_LCORE; i++) {
		if (pdcp_mbs[i] == NULL)
			continue;
		free_mb_mgr(pdcp_mbs[i]->mgr);
		rte_free(pdcp_mbs[i]);
		pdcp_mbs[i] = NULL;
	}
}

static int
engine_make(unsigned lcore)
{
	struct pdcp_mb *e = rte_zmalloc("pdcp_mb", sizeof(*e), RTE_CACHE_LINE_SIZE);
	IMB_MGR *mgr = e ? alloc_mb_mgr(0) : NULL;

	if (mgr == NULL) {
		rte_free(e);
		return -ENOMEM;
	}
	init_mb_mgr_auto(mgr, NULL);
	if (imb_get_errno(mgr) != 0) {
		free_mb_mgr(mgr);
		rte_free(e);
		return -ENOTSUP;
	}
	for (unsigned i = 0; i < ENGINE_CTR_RUN; i++)
		e->ctr[i] = (IMB_JOB){.cipher_mode = IMB_CIPHER_CNTR,
				      .cipher_direction = IMB_DIR_ENCRYPT,
				      .hash_alg = IMB_AUTH_NULL,
				      .key_len_in_bytes = PDCP_KEY_LEN,
				      .iv_len_in_bytes = 16};
	e->mgr = mgr;
	pdcp_mbs[lcore] = e;
	return 0;
}

static int
engines_make(void)
{
	unsigned lcore;
	int rc = 0;

	RTE_LCORE_FOREACH(lcore)
	{
		if (rc == 0 && pdcp_mbs[lcore] == NULL)
			rc = engine_make(lcore);
	}
	return rc;
}

static void
cipher_prepare(struct pdcp_mb_key *k, const uint8_t *key, IMB_MGR *mgr)
{
	IMB_JOB *job = &k->job;

	job->cipher_mode = IMB_CIPHER_NULL;
	job->cipher_direction = IMB_DIR_ENCRYPT;
	job->key_len_in_bytes = PDCP_KEY_LEN;
	job->iv_len_in_bytes = 16;
	switch (k->base.nea) {
	case PDCP_NEA0:
		break;
	case PDCP_NEA1:
		IMB_SNOW3G_INIT_KEY_SCHED(mgr, key, &k->snow_enc);
		job->cipher_mode = IMB_CIPHER_SNOW3G_UEA2_BITLEN;
		job->enc_keys = job->dec_keys = &k->snow_enc;
		break;
	case PDCP_NEA2:
		/* Counter mode deciphers with the enciphering key. */
		IMB_AES_KEYEXP_128(mgr, key, k->enc, k->dec);
		job->cipher_mode = IMB_CIPHER_CNTR;
		job->enc_keys = job->dec_keys = k->enc;
		break;
	case PDCP_NEA3:
		memcpy(k->zuc_enc, key, PDCP_KEY_LEN);
		job->cipher_mode = IMB_CIPHER_ZUC_EEA3;
		job->enc_keys = job->dec_keys = k->zuc_enc;
		break;
	}
}

static void
hash_prepare(struct pdcp_mb_key *k, const uint8_t *key, IMB_MGR *mgr)
{
	IMB_JOB *job = &k->job;

	job->hash_alg = IMB_AUTH_NULL;
	switch (k->base.nia) {
	case PDCP_NIA0:
		return;
	case PDCP_NIA1:
		IMB_SNOW3G_INIT_KEY_SCHED(mgr, key, &k->snow_int);
		job->hash_alg = IMB_AUTH_SNOW3G_UIA2_BITLEN;
		job->u.SNOW3G_UIA2._key = &k->snow_int;
		break;
	case PDCP_NIA2:
		IMB_AES_KEYEXP_128(mgr, key, k->cmac, k->dec);
		IMB_AES_CMAC_SUBKEY_GEN_128(mgr, k->cmac, k->cmac_1, k->cmac_2);
		job->hash_alg = IMB_AUTH_AES_CMAC;
		job->u.CMAC._key_expanded = k->cmac;
		job->u.CMAC._skey1 = k->cmac_1;
		job->u.CMAC._skey2 = k->cmac_2;
		break;
	case PDCP_NIA3:
		memcpy(k->zuc_int, key, PDCP_KEY_LEN);
		job->hash_alg = IMB_AUTH_ZUC_EIA3_BITLEN;
		job->u.ZUC_EIA3._key = k->zuc_int;
		break;
	}
	job->auth_tag_output_len_in_bytes = PDCP_MAC_I_LEN;
}

int
pdcp_mb_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key,
		   struct ap_error *err)
{
	struct pdcp_mb_key *k = rte_zmalloc("pdcp_key", sizeof(*k), RTE_CACHE_LINE_SIZE);
	int rc = k ? engines_make() : -ENOMEM;
	IMB_MGR *mgr;

	if (rc < 0) {
		rte_free(k);
		if (nb_keys == 0)
			engines_free();
		ap_error_set(err, "multi_buffer: %s", strerror(-rc));
		return rc;
	}
	mgr = pdcp_mbs[rte_get_main_lcore()]->mgr;
	nb_keys++;
	k->base.nea = cfg->nea;
	k->base.nia = cfg->nia;
	cipher_prepare(k, cfg->key_enc, mgr);
	hash_prepare(k, cfg->key_int, mgr);
	*key = &k->base;
	return 0;
}

void
pdcp_mb_key_destroy(struct pdcp_security_key *key)
{
	explicit_bzero(key, sizeof(struct pdcp_mb_key));
	rte_free(key);
	if (--nb_keys == 0)
		engines_free();
}
