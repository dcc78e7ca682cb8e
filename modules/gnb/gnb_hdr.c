/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/rlc.h"
#include "modules/gnb/gnb_hdr.h"

const char *const gnb_hdr_edges[GNB_HDR_NIC + 1] = {
	"port0",
	"port1",
	"port2",
	"port3",
	"port4",
	"port5",
	"port6",
	"port7",
	"port8",
	"port9",
	"port10",
	"port11",
	"port12",
	"port13",
	[GNB_HDR_OUT] = "out",
	[GNB_HDR_LOCAL] = "local",
	[GNB_HDR_NIC] = "nic",
};

void
gnb_hdr_spread(struct ap_node *n, struct rte_mbuf **pkts, const uint8_t *port, uint16_t nb)
{
	struct rte_mbuf *some[GNB_HDR_CHUNK];
	uint32_t left = 0;

	for (uint16_t i = 0; i < nb; i++)
		left |= 1U << port[i];
	while (left) {
		const uint8_t p = (uint8_t)__builtin_ctz(left);
		uint16_t k = 0;

		for (uint16_t i = 0; i < nb; i++) {
			some[k] = pkts[i];
			k = (uint16_t)(k + (port[i] == p));
		}
		ap_next(n, p, some, k);
		left &= left - 1;
	}
}

/* --- uplink ----------------------------------------------------------------------------------- */

/** RLC's bits that are fixed in a complete data PDU: UM has SI first, AM D/C, P and then SI. */
static uint8_t
rlc_mask(const struct gnb_format *f)
{
	return f->rlc_bytes == 0 ? 0 : f->rlc_bytes == RLC_UMD_COMPLETE_LEN ? 0xC0 : 0xB0;
}

void
gnb_ul_forms_make(struct gnb_ul_form *forms)
{
	for (unsigned i = 0; i < GNB_FORMATS; i++) {
		const struct gnb_format *f = &gnb_formats[i];
		const unsigned pdcp = 8U * (f->pdcp_bytes + f->sdap_ul - 1U);
		const unsigned rlc = 8U * (f->ul_bytes - 1U);
		struct gnb_ul_form *u = &forms[i];

		*u = (struct gnb_ul_form){.mask = 0x80ULL << pdcp, .value = 0x80ULL << pdcp};
		if (f->sdap_ul) {
			u->mask |= 0x80;
			u->value |= 0x80;
		}
		u->mask |= (uint64_t)rlc_mask(f) << rlc;
		if (f->rlc_bytes > RLC_UMD_COMPLETE_LEN)
			u->value |= 0x80ULL << rlc;
	}
}

enum gnb_ul_verdict
gnb_ul_judge(const struct gnb_format *f, const uint8_t *p, uint32_t bytes)
{
	unsigned at = f->rlc_bytes;

	if (bytes == 0)
		return GNB_UL_SHORT;
	if (f->rlc_bytes > RLC_UMD_COMPLETE_LEN && rlc_am_is_control(p[0]))
		return GNB_UL_RLC_CONTROL;
	if (f->rlc_bytes && p[0] & rlc_mask(f) & ~0x80U)
		return GNB_UL_RLC_SEGMENT;
	if (f->rlc_bytes == RLC_UMD_COMPLETE_LEN && !rlc_umd_is_complete(p[0]))
		return GNB_UL_RLC_SEGMENT;
	if (bytes <= at)
		return GNB_UL_SHORT;
	if (!(p[at] & 0x80))
		return GNB_UL_PDCP_CONTROL;
	at += f->pdcp_bytes;
	if (bytes <= at)
		return GNB_UL_SHORT;
	if (f->sdap_ul && !(p[at] & 0x80))
		return bytes == at + 1 ? GNB_UL_END_MARKER : GNB_UL_SHORT;
	return bytes > at + f->sdap_ul ? GNB_UL_SDU : GNB_UL_SHORT;
}
