/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_TESTS_TEST_DPI_H
#define AIRPATH_TESTS_TEST_DPI_H

/** A QUIC client's side of Initials: dpi_quic_open() undoes what is done here. */

#include <stdlib.h>
#include <string.h>

#ifdef AIRPATH_IPSEC_MB
#include <intel-ipsec-mb.h>
#endif

#include "modules/dpi/dpi_quic.h"

/** A header of an Initial to `cid` with packet number `pn` of two octets. @return its octets. */
static inline uint32_t
test_initial_header(uint32_t version, const uint8_t *cid, uint8_t cid_len, uint16_t pn,
		    uint32_t payload, uint8_t *out)
{
	uint32_t n = 0, length = 2 + payload + DPI_QUIC_TAG;

	out[n++] = (version == DPI_QUIC_V2 ? 0xd0 : 0xc0) | 1;
	for (int i = 24; i >= 0; i -= 8)
		out[n++] = (uint8_t)(version >> i);
	out[n++] = cid_len;
	memcpy(out + n, cid, cid_len);
	n += cid_len;
	out[n++] = 0; /* source connection id */
	out[n++] = 0; /* token */
	out[n++] = 0x40 | (uint8_t)(length >> 8);
	out[n++] = (uint8_t)length;
	out[n++] = (uint8_t)(pn >> 8);
	out[n++] = (uint8_t)pn;
	return n;
}

#ifdef AIRPATH_IPSEC_MB
/** Protects header and payload under `keys`, RFC 9001 §5. @return octets of `out`. */
static inline uint32_t
test_initial_seal(const struct dpi_quic_keys *keys, const uint8_t *header, uint32_t header_len,
		  const uint8_t *payload, uint32_t len, uint8_t *out)
{
	static IMB_MGR *mb;
	static const uint8_t zeros[16];
	static struct gcm_key_data gcm;
	static struct gcm_context_data ctx;
	DECLARE_ALIGNED(uint32_t enc[15 * 4], 16);
	DECLARE_ALIGNED(uint32_t dec[15 * 4], 16);
	uint32_t pn_len = (header[0] & 3) + 1u, pn = header_len - pn_len;
	uint8_t nonce[12], mask[16];

	if (mb == NULL) {
		mb = alloc_mb_mgr(0);
		if (mb == NULL)
			abort();
		init_mb_mgr_auto(mb, NULL);
	}
	memcpy(nonce, keys->iv, sizeof(nonce));
	for (uint32_t i = 0; i < pn_len; i++)
		nonce[sizeof(nonce) - pn_len + i] ^= header[pn + i];
	memcpy(out, header, header_len);
	IMB_AES128_GCM_PRE(mb, keys->key, &gcm);
	IMB_AES128_GCM_ENC(mb, &gcm, &ctx, out + header_len, payload, len, nonce, header,
			   header_len, out + header_len + len, DPI_QUIC_TAG);
	IMB_AES_KEYEXP_128(mb, keys->hp, enc, dec);
	IMB_AES128_CFB_ONE(mb, mask, zeros, out + pn + 4, enc, 16);
	out[0] ^= mask[0] & 0x0f;
	for (uint32_t i = 0; i < pn_len; i++)
		out[pn + i] ^= mask[1 + i];
	return header_len + len + DPI_QUIC_TAG;
}

/** An Initial to `cid` whose keys are of `of`. @return octets of `out`. */
static inline uint32_t
test_initial(uint32_t version, const uint8_t *of, const uint8_t *cid, uint8_t cid_len, uint16_t pn,
	     const uint8_t *payload, uint32_t len, uint8_t *out)
{
	struct dpi_quic_keys keys;
	uint8_t header[64];
	uint32_t n = test_initial_header(version, cid, cid_len, pn, len, header);

	if (dpi_quic_keys_make(of, cid_len, version, &keys) != 0)
		abort();
	return test_initial_seal(&keys, header, n, payload, len, out);
}
#endif

/** A CRYPTO frame. @return its octets. */
static inline uint32_t
test_crypto_frame(uint16_t offset, const uint8_t *data, uint16_t len, uint8_t *out)
{
	out[0] = 0x06;
	out[1] = 0x40 | (uint8_t)(offset >> 8);
	out[2] = (uint8_t)offset;
	out[3] = 0x40 | (uint8_t)(len >> 8);
	out[4] = (uint8_t)len;
	memcpy(out + 5, data, len);
	return 5u + len;
}

#endif
