/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/mac_point.h"
#include "codec/mac.h"
#include "core/meta.h"
#include "modules/mac/mac_tb.h"

#define LCID 4

static uint8_t
pattern(unsigned sdu, unsigned i)
{
	return (uint8_t)(sdu * 29 + i * 13 + 1);
}

bool
mac_point_init(struct mac_point *p, unsigned subpdus, unsigned tb_bytes, unsigned fragment_bytes)
{
	unsigned each = tb_bytes / subpdus;
	unsigned header = each > 255 + 3 ? 3 : 2;

	*p = (struct mac_point){subpdus, tb_bytes, fragment_bytes, 0};
	if (each <= header || each - header > MAC_POINT_SDU_ROOM)
		return false;
	p->sdu_bytes = each - header;
	if (header == 2 && p->sdu_bytes > 255)
		p->sdu_bytes = 255;
	return true;
}

static struct rte_mbuf *
make_mark(const struct mac_point *p, struct rte_mempool *hdr, uint8_t flag)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(hdr);
	struct mac_tb_mark *mark;

	if (m == NULL)
		return NULL;
	mark = (struct mac_tb_mark *)(void *)rte_pktmbuf_append(m, mac_tb_mark_bytes(0));
	*mark = (struct mac_tb_mark){.tb_bytes = p->tb_bytes};
	*ap_meta(m) = (struct ap_meta){.flags = flag};
	return m;
}

bool
mac_point_input(const struct mac_point *p, const struct l2_pools *pools, struct rte_mbuf **in,
		bool fill)
{
	struct rte_mbuf **pdus = in + 1;

	in[0] = make_mark(p, pools->hdr, AP_M_TB_START);
	in[p->subpdus + 1] = make_mark(p, pools->hdr, AP_M_TB_END);
	if (in[0] == NULL || in[p->subpdus + 1] == NULL ||
	    rte_pktmbuf_alloc_bulk(pools->proto, pdus, p->subpdus))
		return false;
	for (unsigned s = 0; s < p->subpdus; s++) {
		uint8_t *data = (uint8_t *)rte_pktmbuf_append(pdus[s], (uint16_t)p->sdu_bytes);

		*ap_meta(pdus[s]) = (struct ap_meta){.lcid = LCID};
		data[0] = pattern(s, 0); /* the RLC header was just written */
		for (unsigned i = 1; fill && i < p->sdu_bytes; i++)
			data[i] = pattern(s, i);
	}
	return true;
}

void
mac_point_expect(const struct mac_point *p, uint8_t *tb)
{
	uint32_t at = 0;

	for (unsigned s = 0; s < p->subpdus; s++) {
		at += mac_subheader_put(tb + at, LCID, p->sdu_bytes);
		for (unsigned i = 0; i < p->sdu_bytes; i++)
			tb[at++] = pattern(s, i);
	}
	mac_padding_put(tb + at, p->tb_bytes - at);
}
