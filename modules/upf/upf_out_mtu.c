/* SPDX-License-Identifier: BSD-3-Clause */
/** upf_out: packets longer than the MTU of the way they leave by. */
#include <string.h>

#include <rte_ip_frag.h>

#include "codec/gtpu.h"
#include "core/pkt.h"
#include "modules/upf/upf_icmp.h"
#include "modules/upf/upf_out.h"

#define FRAGMENTS_MAX 128
#define IP6_MTU_MIN 1280
#define IP4_DF 0x40

/** What a tunnelled packet has before its inner packet, which is IP. */
struct tunnel {
	unsigned bytes; /* 0: there is none, or nothing we know */
	bool v6;
	bool df; /* IPv4: don't fragment */
	unsigned inner_bytes;
};

static struct tunnel
look_inside(const struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *), *inner;
	struct tunnel t = {.bytes = ip[0] >> 4 == 6 ? IP6_HDR_BYTES : IP4_HDR_BYTES};
	uint8_t gtpu[GTPU_HDR_PSC_BYTES], buf[IP6_HDR_BYTES];
	const uint8_t *p;

	/* Headers of ours: no options, GTP-U of at most a container. */
	t.bytes += UDP_HDR_BYTES;
	p = rte_pktmbuf_read(m, t.bytes, sizeof(gtpu), gtpu);
	if (p == NULL || p[0] >> 4 != 3 || p[1] != GTPU_G_PDU)
		return (struct tunnel){0};
	t.bytes += p[0] & 4 ? GTPU_HDR_OPT_BYTES + p[12] * 4U : GTPU_HDR_BYTES;
	inner = rte_pktmbuf_read(m, t.bytes, IP4_HDR_BYTES, buf);
	if (inner == NULL || (inner[0] >> 4 != 4 && inner[0] >> 4 != 6))
		return (struct tunnel){0};
	t.v6 = inner[0] >> 4 == 6;
	t.df = !t.v6 && inner[6] & IP4_DF;
	t.inner_bytes = m->pkt_len - t.bytes;
	return t;
}

/** Makes fragments of an IP packet, ours or one that may be fragmented. */
static void
fragment(struct upf_out *o, const struct upf_link *link, uint32_t neighbour, struct rte_mbuf *m,
	 uint64_t now_ns)
{
	const bool v6 = *rte_pktmbuf_mtod(m, uint8_t *) >> 4 == 6;
	const struct upf_leave l = *upf_leave(m);
	struct rte_mbuf *out[FRAGMENTS_MAX];
	struct rte_mempool *pool = o->net->cfg.pool, *indirect = o->net->cfg.indirect;
	uint32_t id = o->id++;
	int n;

	n = v6 ? rte_ipv6_fragment_packet(m, out, FRAGMENTS_MAX, link->mtu, pool, indirect)
	       : rte_ipv4_fragment_packet(m, out, FRAGMENTS_MAX, link->mtu, pool, indirect);
	if (n < 0) {
		o->drops[UPF_OUT_DROP_NO_MBUF]++;
		rte_pktmbuf_free(m);
		return;
	}
	for (int i = 0; i < n; i++) {
		uint8_t *ip = rte_pktmbuf_mtod(out[i], uint8_t *);
		uint16_t sum;

		out[i]->ol_flags &= ~RTE_MBUF_F_TX_IP_CKSUM;
		*upf_leave(out[i]) = l;
		upf_leave(out[i])->flags &= (uint8_t)~AP_M_TIMED;
		if (v6) {
			be32_put(ip + IP6_HDR_BYTES + 4, id);
		} else {
			if (l.peer || l.flags & AP_M_CONTROL)
				be16_put(ip + 4, (uint16_t)id);
			be16_put(ip + 10, 0);
			sum = ip_checksum(ip, (ip[0] & 0xFU) * 4);
			memcpy(ip + 10, &sum, 2);
		}
		upf_out_send(o, link, neighbour, out[i], now_ns);
	}
	*o->made += (uint64_t)n;
	(*o->used)++;
	rte_pktmbuf_free(m);
}

void
upf_out_too_long(struct upf_out *o, const struct upf_link *link, uint32_t neighbour,
		 struct rte_mbuf *m, uint64_t now_ns)
{
	const struct upf_leave l = *upf_leave(m);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	struct tunnel t = {0};
	uint16_t mtu;

	if (l.peer == 0 && !(l.flags & AP_M_CONTROL)) {
		/* Somebody's packet. RFC 1812 §5.2.6, RFC 8200 §5. */
		if (ip[0] >> 4 == 6 || ip[6] & IP4_DF) {
			upf_out_complain(o, m, UPF_OUT_DROP_TOO_BIG, UPF_ICMP_TOO_BIG, link->mtu,
					 now_ns);
			return;
		}
		upf_out_hop(ip);
	} else if (l.peer && l.from && o->net->cfg.mtu_mode == UPF_MTU_TOO_BIG) {
		t = look_inside(m);
	}
	if (t.bytes && (t.df || t.v6)) {
		mtu = (uint16_t)(link->mtu - t.bytes);
		/* RFC 2473 §7.1: no less than every link carries. */
		if (t.v6 && mtu < IP6_MTU_MIN)
			mtu = IP6_MTU_MIN;
		if (t.inner_bytes > mtu) {
			m = ap_pkt_strip(m, (uint16_t)t.bytes);
			upf_out_complain(o, m, UPF_OUT_DROP_TOO_BIG, UPF_ICMP_TOO_BIG, mtu, now_ns);
			return;
		}
	}
	fragment(o, link, neighbour, m, now_ns);
}
