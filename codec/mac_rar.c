/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/mac_rar.h"
#include "codec/be.h"

#define E 0x80 /* another subPDU follows */
#define T 0x40 /* RAPID, else BI */
#define TAC_MAX 0xFFF

int
mac_rar_encode(uint8_t *p, size_t room, const struct mac_rar_pdu *pdu)
{
	uint8_t *last = NULL;
	size_t at = 0;

	if (pdu->nb > MAC_RAPIDS || (pdu->has_bi && pdu->bi > 15))
		return -CODEC_CONTRADICTION;
	if (pdu->has_bi) {
		if (room < 1)
			return -CODEC_SHORT;
		last = p;
		p[at++] = E | pdu->bi;
	}
	for (unsigned i = 0; i < pdu->nb; i++) {
		const struct mac_rar *r = &pdu->rar[i];

		if (r->rapid >= MAC_RAPIDS || r->tac > TAC_MAX || r->ul_grant > MAC_RAR_GRANT_MAX)
			return -CODEC_CONTRADICTION;
		if (room - at < (r->si ? 1U : 1U + MAC_RAR_BYTES))
			return -CODEC_SHORT;
		last = p + at;
		p[at++] = E | T | r->rapid;
		if (r->si)
			continue;
		p[at] = (uint8_t)(r->tac >> 5);
		be32_put(p + at + 1, (uint32_t)r->tac << 27 | r->ul_grant);
		be16_put(p + at + 5, r->tc_rnti);
		at += MAC_RAR_BYTES;
	}
	if (last)
		*last &= (uint8_t)~E;
	return (int)at;
}

int
mac_rar_decode(const uint8_t *p, size_t n, uint64_t si, struct mac_rar_pdu *pdu)
{
	size_t at = 0;
	bool more;

	pdu->has_bi = false;
	pdu->bi = 0;
	pdu->nb = 0;
	do {
		struct mac_rar *r = &pdu->rar[pdu->nb];
		uint8_t head;

		if (at == n)
			return -CODEC_SHORT;
		head = p[at++];
		more = head & E;
		if (!(head & T)) {
			if (at != 1)
				return -CODEC_CONTRADICTION;
			pdu->has_bi = true;
			pdu->bi = head & 0xF;
			continue;
		}
		if (pdu->nb == MAC_RAPIDS)
			return -CODEC_UNSUPPORTED;
		*r = (struct mac_rar){.rapid = head & 0x3F, .si = si >> (head & 0x3F) & 1};
		pdu->nb++;
		if (r->si)
			continue;
		if (n - at < MAC_RAR_BYTES)
			return -CODEC_SHORT;
		r->tac = (uint16_t)((p[at] & 0x7F) << 5 | p[at + 1] >> 3);
		r->ul_grant = be32_get(p + at + 1) & MAC_RAR_GRANT_MAX;
		r->tc_rnti = be16_get(p + at + 5);
		at += MAC_RAR_BYTES;
	} while (more);
	return (int)at;
}
