/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/gtpu.h"

#define VERSION_PT 0xF0
#define VERSION_1_GTP 0x30
#define FLAG_E 0x04
#define FLAG_S 0x02
#define FLAG_PN 0x01

int
gtpu_hdr_decode(const uint8_t *p, size_t len, struct gtpu_hdr *h)
{
	memset(h, 0, sizeof(*h));
	if (len < 1)
		return -CODEC_SHORT;
	if ((p[0] & VERSION_PT) != VERSION_1_GTP)
		return -CODEC_UNSUPPORTED;
	if (len < GTPU_HDR_BYTES)
		return -CODEC_SHORT;
	h->type = p[1];
	h->length = be16_get(p + 2);
	h->teid = be32_get(p + 4);
	h->e = p[0] & FLAG_E;
	h->s = p[0] & FLAG_S;
	h->pn = p[0] & FLAG_PN;
	if (len - GTPU_HDR_BYTES < h->length)
		return -CODEC_SHORT;
	if (!(h->e || h->s || h->pn))
		return GTPU_HDR_BYTES;
	if (h->length < GTPU_HDR_OPT_BYTES - GTPU_HDR_BYTES)
		return -CODEC_CONTRADICTION;
	/* "The receiver shall not evaluate the unused fields." §5.1 */
	h->seq = h->s ? be16_get(p + 8) : 0;
	h->npdu = h->pn ? p[10] : 0;
	h->next = h->e ? p[11] : GTPU_EXT_NONE;
	return GTPU_HDR_OPT_BYTES;
}

int
gtpu_hdr_encode(uint8_t *p, size_t room, const struct gtpu_hdr *h)
{
	int n = h->e || h->s || h->pn ? GTPU_HDR_OPT_BYTES : GTPU_HDR_BYTES;

	if (room < (size_t)n)
		return -CODEC_SHORT;
	p[0] = (uint8_t)(VERSION_1_GTP | (h->e ? FLAG_E : 0) | (h->s ? FLAG_S : 0) |
			 (h->pn ? FLAG_PN : 0));
	p[1] = h->type;
	be16_put(p + 2, h->length);
	be32_put(p + 4, h->teid);
	if (n == GTPU_HDR_BYTES)
		return n;
	be16_put(p + 8, h->s ? h->seq : 0);
	p[10] = h->pn ? h->npdu : 0;
	p[11] = h->e ? h->next : GTPU_EXT_NONE;
	return n;
}

void
gtpu_ext_open(struct gtpu_ext_iter *it, const uint8_t *p, const struct gtpu_hdr *h)
{
	it->p = p;
	it->at = h->e || h->s || h->pn ? GTPU_HDR_OPT_BYTES : GTPU_HDR_BYTES;
	it->end = GTPU_HDR_BYTES + (size_t)h->length;
	it->next = h->e ? h->next : GTPU_EXT_NONE;
}

int
gtpu_ext_next(struct gtpu_ext_iter *it, struct gtpu_ext *ext)
{
	size_t n;

	if (it->next == GTPU_EXT_NONE)
		return 0;
	if (it->at == it->end)
		return -CODEC_SHORT;
	n = (size_t)it->p[it->at] * 4;
	if (n == 0)
		return -CODEC_CONTRADICTION;
	if (it->end - it->at < n)
		return -CODEC_SHORT;
	ext->type = it->next;
	ext->bytes = (uint16_t)(n - 2);
	ext->content = it->p + it->at + 1;
	it->at += n;
	it->next = it->p[it->at - 1];
	return 1;
}

int
gtpu_ext_encode(uint8_t *p, size_t room, const struct gtpu_ext *ext, uint8_t next)
{
	size_t n = ((size_t)ext->bytes + 2 + 3) / 4 * 4;

	if (ext->bytes > GTPU_EXT_CONTENT_MAX)
		return -CODEC_CONTRADICTION;
	if (room < n)
		return -CODEC_SHORT;
	p[0] = (uint8_t)(n / 4);
	if (ext->bytes > 0)
		memcpy(p + 1, ext->content, ext->bytes);
	memset(p + 1 + ext->bytes, 0, n - 2 - ext->bytes);
	p[n - 1] = next;
	return (int)n;
}

static bool
is_unknown(uint8_t type, enum gtpu_reader reader, const uint8_t *understood, unsigned nb)
{
	return gtpu_ext_must_understand(type, reader) && (nb == 0 || !memchr(understood, type, nb));
}

int
gtpu_chain_decode(const uint8_t *p, const struct gtpu_hdr *h, enum gtpu_reader reader,
		  const uint8_t *understood, unsigned nb, struct gtpu_chain *chain)
{
	struct gtpu_ext_iter it;
	struct gtpu_ext ext;
	int more;

	memset(chain, 0, sizeof(*chain));
	gtpu_ext_open(&it, p, h);
	while ((more = gtpu_ext_next(&it, &ext)) > 0) {
		if (!chain->unknown && is_unknown(ext.type, reader, understood, nb))
			chain->unknown = ext.type;
		if (ext.type == GTPU_EXT_PDU_SESSION_CONTAINER && !chain->has_psc) {
			chain->has_psc = true;
			chain->psc = ext;
		} else if (ext.type == GTPU_EXT_UDP_PORT && !chain->has_udp_port) {
			chain->has_udp_port = true;
			chain->udp_port = be16_get(ext.content);
		}
	}
	chain->hdr_bytes = (uint32_t)it.at;
	return more < 0 ? more : (int)it.at;
}

int
gtpu_gpdu_decode_any(const uint8_t *p, size_t len, enum gtpu_reader reader,
		     const uint8_t *understood, unsigned nb, struct gtpu_gpdu *g)
{
	struct gtpu_chain chain;
	struct gtpu_hdr h;
	int n = gtpu_hdr_decode(p, len, &h);

	if (n < 0)
		return n;
	if (h.type != GTPU_G_PDU)
		return -CODEC_UNSUPPORTED;
	n = gtpu_chain_decode(p, &h, reader, understood, nb, &chain);
	if (n < 0)
		return n;
	*g = (struct gtpu_gpdu){.teid = h.teid,
				.hdr_bytes = chain.hdr_bytes,
				.tpdu_bytes =
					(uint16_t)(GTPU_HDR_BYTES + h.length - chain.hdr_bytes),
				.qfi = GTPU_NO_QFI,
				.unknown = chain.unknown};
	if (chain.has_psc && !chain.unknown) {
		struct psc f;
		int bad = psc_decode(chain.psc.content, chain.psc.bytes, &f);

		if (bad < 0)
			return bad;
		g->qfi = f.qfi;
		g->psc_type = (uint8_t)f.type;
		g->rqi = f.rqi;
	}
	return n;
}
