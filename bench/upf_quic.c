/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/upf_quic.h"

#include <stdlib.h>
#include <string.h>

#include "codec/be.h"
#include "core/huge.h"
#include "modules/dpi/dpi_quic.h"

#ifdef AIRPATH_IPSEC_MB
#include <intel-ipsec-mb.h>

#define CID 8
#define HEAD 20     /**< of an Initial: to its packet number, and that */
#define PN_AT 18    /**< which is two octets */
#define ZERO_RTT 17 /**< octets of a 0-RTT packet's header */
#define INITIAL (UPF_QUIC_MADE - ZERO_RTT)
#define PAYLOAD (INITIAL - HEAD - DPI_QUIC_TAG)
#define CRYPTO 0x06
#define HELLO_MAX 512
#define LONG_INITIAL 0xC1 /**< a packet number of two octets */
#define LONG_ZERO_RTT 0xD0

struct upf_quic {
	size_t bytes;
	uint32_t names;
	uint8_t *made; /**< of all names in turn, then the second ones */
};

/** While they are made. */
struct maker {
	IMB_MGR *mb;
	uint64_t random;
};

static uint8_t *
put8(uint8_t *p, unsigned v)
{
	*p = (uint8_t)v;
	return p + 1;
}

static uint8_t *
put16(uint8_t *p, unsigned v)
{
	be16_put(p, (uint16_t)v);
	return p + 2;
}

static uint8_t *
random_put(struct maker *m, uint8_t *p, unsigned octets)
{
	for (unsigned i = 0; i < octets; i++) {
		m->random = upf_load_mix(m->random);
		p[i] = (uint8_t)m->random;
	}
	return p + octets;
}

static uint8_t *
octets_put(uint8_t *p, const void *octets, unsigned n)
{
	memcpy(p, octets, n);
	return p + n;
}

/* --- ClientHello ------------------------------------------------------------------------------ */

/** An extension's type; its length is put by ends_here(). @return where its data begins */
static uint8_t *
begins(uint8_t *p, unsigned type)
{
	return put16(put16(p, type), 0);
}

/** Writes the length of what lies between. @param data behind a length of two octets */
static uint8_t *
ends_here(uint8_t *data, uint8_t *end)
{
	be16_put(data - 2, (uint16_t)(end - data));
	return end;
}

/** RFC 6066 §3. @param cut in: of the message; out: the middle of the name there */
static uint8_t *
server_name(uint8_t *p, const char *host, unsigned len, uint8_t **cut)
{
	uint8_t *data = begins(p, 0), *list = put16(data, 0), *at;

	at = put16(put8(list, 0), len);
	*cut = at + len / 2;
	at = octets_put(at, host, len);
	return ends_here(data, ends_here(list, at));
}

/** What a browser's has, in the order it comes: RFC 8446 §4.1.2, §4.2, RFC 9001 §8.2. */
static uint8_t *
extensions(struct maker *m, uint8_t *p, const char *host, unsigned len, uint8_t **cut)
{
	static const uint8_t groups[] = {0, 4, 0, 29, 0, 23};
	static const uint8_t algorithms[] = {0, 6, 4, 3, 8, 4, 4, 1};
	static const uint8_t alpn[] = {0, 3, 2, 'h', '3'}, versions[] = {2, 3, 4};
	static const uint8_t parameters[] = {1, 4, 0x80, 0, 0x75, 0x30, 4, 4, 0x80, 0xF0, 0, 0};
	uint8_t *data;

	data = begins(p, 10); /* supported_groups */
	p = ends_here(data, octets_put(data, groups, sizeof(groups)));
	data = begins(p, 13); /* signature_algorithms */
	p = ends_here(data, octets_put(data, algorithms, sizeof(algorithms)));
	data = begins(p, 51); /* key_share: x25519 */
	p = ends_here(data, random_put(m, put16(put16(put16(data, 36), 29), 32), 32));
	p = server_name(p, host, len, cut);
	data = begins(p, 16);
	p = ends_here(data, octets_put(data, alpn, sizeof(alpn)));
	data = begins(p, 43);
	p = ends_here(data, octets_put(data, versions, sizeof(versions)));
	data = begins(p, 57); /* quic_transport_parameters */
	return ends_here(data, octets_put(data, parameters, sizeof(parameters)));
}

/** @param cut takes how many octets there are before the middle of the name. @return octets */
static unsigned
hello_make(struct maker *m, uint8_t hello[HELLO_MAX], const char *host, unsigned len, unsigned *cut)
{
	static const uint8_t suites[] = {0, 6, 0x13, 1, 0x13, 2, 0x13, 3, 1, 0};
	uint8_t *p = hello + 4, *list, *middle;

	p = put16(p, 0x0303);
	p = random_put(m, p, 32);
	p = put8(p, 0); /* legacy_session_id */
	p = octets_put(p, suites, sizeof(suites));
	list = put16(p, 0);
	p = ends_here(list, extensions(m, list, host, len, &middle));
	put16(put16(hello, 0x0100), (unsigned)(p - hello - 4)); /* client_hello; 24 bits */
	*cut = (unsigned)(middle - hello);
	return (unsigned)(p - hello);
}

/* --- packets ---------------------------------------------------------------------------------- */

/** RFC 9001 §5.3, §5.4. `p` has the header, behind it the payload in clear. */
static void
seal(struct maker *m, const struct dpi_quic_keys *keys, uint8_t p[INITIAL])
{
	DECLARE_ALIGNED(uint32_t enc[15 * 4], 16);
	DECLARE_ALIGNED(uint32_t dec[15 * 4], 16);
	static const uint8_t zeros[16];
	struct gcm_key_data gcm;
	struct gcm_context_data ctx;
	uint8_t nonce[12], mask[16];

	memcpy(nonce, keys->iv, sizeof(nonce));
	nonce[10] ^= p[PN_AT];
	nonce[11] ^= p[PN_AT + 1];
	IMB_AES128_GCM_PRE(m->mb, keys->key, &gcm);
	IMB_AES128_GCM_ENC(m->mb, &gcm, &ctx, p + HEAD, p + HEAD, PAYLOAD, nonce, p, HEAD,
			   p + HEAD + PAYLOAD, DPI_QUIC_TAG);
	IMB_AES_KEYEXP_128(m->mb, keys->hp, enc, dec);
	IMB_AES128_CFB_ONE(m->mb, mask, zeros, p + PN_AT + 4, enc, 16);
	p[0] ^= mask[0] & 0x0F;
	p[PN_AT] ^= mask[1];
	p[PN_AT + 1] ^= mask[2];
}

/** Up to Length and, of an Initial, Token and packet number: RFC 9000 §17.2.2, §17.2.3. */
static void
header_put(uint8_t *p, bool initial, const uint8_t cid[CID], unsigned number)
{
	const unsigned length = initial ? 2 + PAYLOAD + DPI_QUIC_TAG : UPF_QUIC_REST;

	p = put8(p, initial ? LONG_INITIAL : LONG_ZERO_RTT);
	be32_put(p, DPI_QUIC_V1);
	p = octets_put(put8(p + 4, CID), cid, CID);
	p = put8(p, 0); /* no source connection id */
	if (initial)
		p = put8(p, 0);
	p = put16(p, 0x4000 | length);
	if (initial)
		put16(p, number);
}

/** @param from of the ClientHello, to `to` */
static void
datagram_make(struct maker *m, uint8_t *p, const struct dpi_quic_keys *keys, const uint8_t cid[CID],
	      unsigned part, const uint8_t *hello, unsigned from, unsigned to)
{
	uint8_t *at = p + HEAD;

	memset(at, 0, PAYLOAD);
	at = put16(put16(put8(at, CRYPTO), 0x4000 | from), 0x4000 | (to - from));
	octets_put(at, hello + from, to - from);
	header_put(p, true, cid, part);
	seal(m, keys, p);
	header_put(p + INITIAL, false, cid, 0);
}

static uint8_t *
slot(const struct upf_quic *q, uint32_t name, unsigned part)
{
	const size_t i = part == 0 ? name : q->names + (size_t)name / UPF_QUIC_SPLIT_EVERY;

	return q->made + i * UPF_QUIC_MADE;
}

static int
name_make(struct maker *m, const struct upf_quic *q, const struct upf_load_name *name, uint32_t i)
{
	uint8_t hello[HELLO_MAX], cid[CID];
	struct dpi_quic_keys keys;
	unsigned cut, len;
	int rc;

	random_put(m, cid, CID);
	rc = dpi_quic_keys_make(cid, CID, DPI_QUIC_V1, &keys);
	if (rc < 0)
		return rc;
	len = hello_make(m, hello, name->host, name->host_len, &cut);
	for (unsigned part = 0; part <= upf_quic_split(i); part++)
		datagram_make(m, slot(q, i, part), &keys, cid, part, hello, part ? cut : 0,
			      upf_quic_split(i) && part == 0 ? cut : len);
	return 0;
}

static int
names_make(const struct upf_quic *q, const struct upf_load *load, uint64_t seed)
{
	struct maker m = {.mb = alloc_mb_mgr(0), .random = upf_load_mix(seed)};
	int rc = m.mb ? 0 : -1;

	if (rc == 0)
		init_mb_mgr_auto(m.mb, NULL);
	for (uint32_t i = 0; i < q->names && rc == 0; i++)
		rc = name_make(&m, q, &load->names[i], i);
	free_mb_mgr(m.mb);
	return rc;
}

struct upf_quic *
upf_quic_make(const struct upf_load *load, uint64_t seed)
{
	struct upf_quic *q = calloc(1, sizeof(*q));

	if (q == NULL)
		return NULL;
	q->names = load->nb_names + UPF_LOAD_UNLISTED;
	q->bytes = UPF_QUIC_MADE * (q->names + (size_t)q->names / UPF_QUIC_SPLIT_EVERY + 1);
	q->made = ap_huge_alloc(q->bytes);
	if (q->made == NULL || dpi_look_init() < 0 || names_make(q, load, seed) < 0) {
		upf_quic_free(q);
		return NULL;
	}
	return q;
}

const uint8_t *
upf_quic_datagram(const struct upf_quic *q, uint32_t name, unsigned part)
{
	return slot(q, name, part);
}

void
upf_quic_free(struct upf_quic *q)
{
	if (q == NULL)
		return;
	ap_huge_free(q->made, q->bytes);
	free(q);
}
#else
struct upf_quic *
upf_quic_make(const struct upf_load *load, uint64_t seed)
{
	(void)load, (void)seed;
	return NULL;
}

const uint8_t *
upf_quic_datagram(const struct upf_quic *q, uint32_t name, unsigned part)
{
	(void)q, (void)name, (void)part;
	return NULL;
}

void
upf_quic_free(struct upf_quic *q)
{
	(void)q;
}
#endif
