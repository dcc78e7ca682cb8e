/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <rte_cycles.h>

#include "bench/pdcp_library.h"
#include "codec/pdcp.h"
#include "modules/pdcp/pdcp_mb.h"

#define HEADER 3
#define BEFORE 64
#define BUFFER 9408

struct pdcp_library {
	struct pdcp_mb_key *key;
	IMB_JOB *ready; /**< [PDCP_LIBRARY_MESSAGES], complete jobs */
	IMB_JOB *ctr;   /**< [ENGINE_CTR_RUN] */
	uint8_t *data;
	uint32_t iv[PDCP_LIBRARY_MESSAGES][4] __rte_aligned(16);
};

static void
job_prepare(struct pdcp_library *l, unsigned i, unsigned bytes)
{
	const struct pdcp_mb_key *k = l->key;
	uint8_t *pdu = l->data + (size_t)i * BUFFER + BEFORE;
	const unsigned prefix = k->base.nia == PDCP_NIA2 ? CMAC_PREFIX : 0;
	const unsigned trailer = k->base.nia ? PDCP_MAC_I_LEN : 0;
	const uint64_t cipher = bytes + trailer, hash = HEADER + bytes + prefix;
	IMB_JOB *job = &l->ready[i];

	*job = k->job;
	job->chain_order = IMB_ORDER_HASH_CIPHER;
	job->src = job->dst = pdu + HEADER;
	job->iv = (const uint8_t *)l->iv[i];
	job->msg_len_to_cipher_in_bytes = k->base.nea == PDCP_NEA1 ? cipher * 8 : cipher;
	job->hash_start_src_offset_in_bytes = -(uint64_t)(HEADER + prefix);
	job->msg_len_to_hash_in_bytes = k->base.nia == PDCP_NIA2 ? hash : hash * 8;
	job->auth_tag_output = pdu + HEADER + bytes;
	if (k->base.nia == PDCP_NIA1)
		job->u.SNOW3G_UIA2._iv = l->iv[i];
	if (k->base.nia == PDCP_NIA3)
		job->u.ZUC_EIA3._iv = (const uint8_t *)l->iv[i];
}

struct pdcp_library *
pdcp_library_make(const struct pdcp_security_cfg *cfg, unsigned bytes)
{
	struct pdcp_security_cfg own = *cfg;
	struct pdcp_security_key *key = NULL;
	struct pdcp_library *l = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*l), 64));

	if (l == NULL)
		return NULL;
	*l = (struct pdcp_library){0};
	l->ready = calloc(PDCP_LIBRARY_MESSAGES, sizeof(*l->ready));
	l->ctr = calloc(ENGINE_CTR_RUN, sizeof(*l->ctr));
	l->data = aligned_alloc(64, (size_t)PDCP_LIBRARY_MESSAGES * BUFFER);
	own.engine = &pdcp_multi_buffer;
	if (!l->ready || !l->ctr || !l->data || pdcp_security_key_create(&own, &key, NULL) < 0) {
		pdcp_library_free(l);
		return NULL;
	}
	l->key = (struct pdcp_mb_key *)key;
	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++) {
		for (unsigned j = 0; j < BUFFER; j++)
			l->data[(size_t)i * BUFFER + j] = (uint8_t)(i + j);
		job_prepare(l, i, bytes);
	}
	for (unsigned i = 0; i < ENGINE_CTR_RUN; i++)
		l->ctr[i] = l->ready[0];
	return l;
}

/** As PDCP does it for jobs that only cipher by AES-CTR. */
static void
ctr(struct pdcp_library *l, IMB_MGR *mgr)
{
	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i += ENGINE_CTR_RUN) {
		for (unsigned j = 0; j < ENGINE_CTR_RUN; j++) {
			l->ctr[j].src = l->ready[i + j].src;
			l->ctr[j].dst = l->ready[i + j].dst;
			l->ctr[j].iv = l->ready[i + j].iv;
			l->ctr[j].enc_keys = l->ready[i + j].enc_keys;
			l->ctr[j].msg_len_to_cipher_in_bytes =
				l->ready[i + j].msg_len_to_cipher_in_bytes;
		}
		IMB_SUBMIT_CIPHER_BURST_NOCHECK(mgr, l->ctr, ENGINE_CTR_RUN, IMB_CIPHER_CNTR,
						IMB_DIR_ENCRYPT, IMB_KEY_128_BYTES);
	}
}

static void
jobs(struct pdcp_library *l, IMB_MGR *mgr)
{
	IMB_JOB *burst[IMB_MAX_BURST_SIZE];
	uint32_t n = IMB_GET_NEXT_BURST(mgr, PDCP_LIBRARY_MESSAGES, burst);
	uint32_t done;

	for (uint32_t i = 0; i < n; i++)
		*burst[i] = l->ready[i];
	done = IMB_SUBMIT_BURST_NOCHECK(mgr, n, burst);
	while (done < n)
		done += IMB_FLUSH_BURST(mgr, n - done, burst);
}

uint64_t
pdcp_library_run(struct pdcp_library *l)
{
	IMB_MGR *mgr = pdcp_mbs[rte_get_main_lcore()]->mgr;
	uint64_t start = rte_rdtsc_precise();

	if (l->key->base.nea == PDCP_NEA2 && l->key->base.nia == PDCP_NIA0)
		ctr(l, mgr);
	else
		jobs(l, mgr);
	return rte_rdtsc_precise() - start;
}

void
pdcp_library_free(struct pdcp_library *l)
{
	if (l == NULL)
		return;
	if (l->key != NULL)
		pdcp_security_key_destroy(&l->key->base);
	free(l->ready);
	free(l->ctr);
	free(l->data);
	free(l);
}
