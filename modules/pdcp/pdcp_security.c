/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "codec/pdcp.h"
#include "modules/pdcp/pdcp_engine.h"
#include "modules/pdcp/pdcp_security.h"

struct pdcp_engine *pdcp_engines[RTE_MAX_LCORE];
static unsigned nb_keys;

static void
engines_free(void)
{
	for (unsigned i = 0; i < RTE_MAX_LCORE; i++) {
		if (pdcp_engines[i] == NULL)
			continue;
		free_mb_mgr(pdcp_engines[i]->mgr);
		rte_free(pdcp_engines[i]);
		pdcp_engines[i] = NULL;
	}
}

static int
engine_make(unsigned lcore)
{
	struct pdcp_engine *e = rte_zmalloc("pdcp_engine", sizeof(*e), RTE_CACHE_LINE_SIZE);
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
	pdcp_engines[lcore] = e;
	return 0;
}

static int
engines_make(void)
{
	unsigned lcore;
	int rc = 0;

	RTE_LCORE_FOREACH(lcore)
	{
		if (rc == 0 && pdcp_engines[lcore] == NULL)
			rc = engine_make(lcore);
	}
	return rc;
}

static void
cipher_prepare(struct pdcp_security_key *k, const uint8_t *key, IMB_MGR *mgr)
{
	IMB_JOB *job = &k->job;

	job->cipher_mode = IMB_CIPHER_NULL;
	job->cipher_direction = IMB_DIR_ENCRYPT;
	job->key_len_in_bytes = PDCP_KEY_LEN;
	job->iv_len_in_bytes = 16;
	switch (k->nea) {
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
hash_prepare(struct pdcp_security_key *k, const uint8_t *key, IMB_MGR *mgr)
{
	IMB_JOB *job = &k->job;

	job->hash_alg = IMB_AUTH_NULL;
	switch (k->nia) {
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
pdcp_security_key_create(const struct pdcp_security_cfg *cfg, struct pdcp_security_key **key)
{
	struct pdcp_security_key *k;
	IMB_MGR *mgr = NULL;
	int rc;

	if (cfg->nea > PDCP_NEA3 || cfg->nia > PDCP_NIA3 || cfg->pool == NULL)
		return -EINVAL;
	k = rte_zmalloc("pdcp_key", sizeof(*k), RTE_CACHE_LINE_SIZE);
	rc = k ? engines_make() : -ENOMEM;
	if (rc < 0) {
		rte_free(k);
		if (nb_keys == 0)
			engines_free();
		return rc;
	}
	mgr = pdcp_engines[rte_get_main_lcore()]->mgr;
	nb_keys++;
	k->nea = cfg->nea;
	k->nia = cfg->nia;
	k->pool = cfg->pool;
	k->room = rte_pktmbuf_data_room_size(cfg->pool) - RTE_PKTMBUF_HEADROOM;
	cipher_prepare(k, cfg->key_enc, mgr);
	hash_prepare(k, cfg->key_int, mgr);
	*key = k;
	return 0;
}

void
pdcp_security_key_destroy(struct pdcp_security_key *key)
{
	if (key == NULL)
		return;
	explicit_bzero(key, sizeof(*key));
	rte_free(key);
	if (--nb_keys == 0)
		engines_free();
}
