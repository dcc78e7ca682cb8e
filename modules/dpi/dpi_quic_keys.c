/* SPDX-License-Identifier: BSD-3-Clause */

/* Initial keys and packet protection, RFC 9001 §5, by multi-buffer ciphers' one-shot calls. */

#include <errno.h>
#include <string.h>

#include "modules/dpi/dpi_quic.h"
#include "modules/dpi/dpi_sha256.h"

#ifdef AIRPATH_IPSEC_MB
#include <intel-ipsec-mb.h>

#define INFO_MAX 32

/* control: rw before workers start; workers: ro. One-shot calls keep nothing in it. */
static IMB_MGR *mb;
static struct dpi_hmac salted[2]; /**< HKDF-Extract's keys: the salts of either version */

int
dpi_look_init(void)
{
	static const uint8_t salts[2][20] = {
		{0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17,
		 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a},
		{0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93,
		 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e, 0xd9},
	};

	if (mb != NULL)
		return 0;
	for (unsigned v2 = 0; v2 < 2; v2++)
		dpi_hmac_key(&salted[v2], salts[v2], sizeof(salts[v2]));
	mb = alloc_mb_mgr(0);
	if (mb == NULL)
		return -ENOMEM;
	init_mb_mgr_auto(mb, NULL);
	if (imb_get_errno(mb) != 0) {
		free_mb_mgr(mb);
		mb = NULL;
		return -ENOTSUP;
	}
	return 0;
}

/** HKDF-Expand-Label with an empty context for at most one digest, RFC 8446 §7.1. */
static void
expand(const struct dpi_hmac *secret, const char *label, uint8_t *out, uint32_t len)
{
	uint8_t info[INFO_MAX] = {
		0, (uint8_t)len, (uint8_t)(6 + strlen(label)), 't', 'l', 's', '1', '3', ' '};
	uint32_t n = 9 + (uint32_t)strlen(label);
	uint8_t digest[DPI_SHA256_DIGEST];

	memcpy(info + 9, label, n - 9);
	info[n++] = 0; /* no context */
	info[n++] = 1; /* RFC 5869 §2.3: T(1) */
	dpi_hmac(secret, info, n, digest);
	memcpy(out, digest, len);
}

int
dpi_quic_keys_make(const uint8_t *cid, uint8_t cid_len, uint32_t version,
		   struct dpi_quic_keys *keys)
{
	static const char *const labels[2][3] = {{"quic key", "quic iv", "quic hp"},
						 {"quicv2 key", "quicv2 iv", "quicv2 hp"}};
	unsigned v2 = version == DPI_QUIC_V2;
	struct dpi_hmac key;
	uint8_t secret[DPI_SHA256_DIGEST];

	if (mb == NULL)
		return -ENOTSUP;
	dpi_hmac(&salted[v2], cid, cid_len, secret);
	dpi_hmac_key(&key, secret, sizeof(secret));
	expand(&key, "client in", secret, sizeof(secret));
	dpi_hmac_key(&key, secret, sizeof(secret));
	expand(&key, labels[v2][0], keys->key, sizeof(keys->key));
	expand(&key, labels[v2][1], keys->iv, sizeof(keys->iv));
	expand(&key, labels[v2][2], keys->hp, sizeof(keys->hp));
	return 0;
}

/** The mask of header protection: the cipher of one block, which CFB adds to zeros. */
static void
mask_make(const uint8_t hp[16], const uint8_t sample[16], uint8_t mask[16])
{
	DECLARE_ALIGNED(uint32_t enc[15 * 4], 16);
	DECLARE_ALIGNED(uint32_t dec[15 * 4], 16);
	static const uint8_t zeros[16];

	IMB_AES_KEYEXP_128(mb, hp, enc, dec);
	IMB_AES128_CFB_ONE(mb, mask, zeros, sample, enc, 16);
}

int
dpi_quic_open(const struct dpi_quic_keys *keys, const uint8_t *packet, uint32_t len, uint32_t pn,
	      uint8_t payload[DPI_QUIC_INITIAL_MAX])
{
	uint8_t header[DPI_QUIC_INITIAL_MAX], mask[16], nonce[12], tag[DPI_QUIC_TAG];
	struct gcm_key_data gcm;
	struct gcm_context_data ctx;
	uint32_t pn_len, text;

	if (mb == NULL)
		return -ENOTSUP;
	mask_make(keys->hp, packet + pn + 4, mask);
	memcpy(header, packet, pn + 4);
	header[0] ^= mask[0] & 0x0f;
	pn_len = (header[0] & 3) + 1u;
	if (len - pn < pn_len + DPI_QUIC_TAG)
		return -EBADMSG;
	/* A client's Initials are its first packets: what is sent of their numbers is the number.
	 */
	memcpy(nonce, keys->iv, sizeof(nonce));
	for (uint32_t i = 0; i < pn_len; i++) {
		header[pn + i] ^= mask[1 + i];
		nonce[sizeof(nonce) - pn_len + i] ^= header[pn + i];
	}
	text = len - pn - pn_len - DPI_QUIC_TAG;
	IMB_AES128_GCM_PRE(mb, keys->key, &gcm);
	IMB_AES128_GCM_DEC(mb, &gcm, &ctx, payload, packet + pn + pn_len, text, nonce, header,
			   pn + pn_len, tag, DPI_QUIC_TAG);
	if (memcmp(tag, packet + len - DPI_QUIC_TAG, DPI_QUIC_TAG) != 0)
		return -EBADMSG;
	return (int)text;
}
#else
int
dpi_look_init(void)
{
	return -ENOTSUP;
}

int
dpi_quic_keys_make(const uint8_t *cid, uint8_t cid_len, uint32_t version,
		   struct dpi_quic_keys *keys)
{
	(void)cid, (void)cid_len, (void)version, (void)keys;
	return -ENOTSUP;
}

int
dpi_quic_open(const struct dpi_quic_keys *keys, const uint8_t *packet, uint32_t len, uint32_t pn,
	      uint8_t payload[DPI_QUIC_INITIAL_MAX])
{
	(void)keys, (void)packet, (void)len, (void)pn, (void)payload;
	return -ENOTSUP;
}
#endif
