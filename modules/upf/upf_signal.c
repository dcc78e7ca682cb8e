/* SPDX-License-Identifier: BSD-3-Clause */
/** GTP-U messages, TS 29.281 §7, over UDP as §4.4.2 has it. */
#include <string.h>

#include "codec/gtpu_msg.h"
#include "modules/upf/upf_local.h"

#define MESSAGE_MAX 128 /* of ours */

/** Where a message came from. @param at of the GTP-U header, UDP before it */
static void
ends_of(const struct rte_mbuf *m, unsigned at, struct upf_ends *e)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *), *udp = ip + at - UDP_HDR_BYTES;

	memset(e, 0, sizeof(*e));
	e->v6 = ip[0] >> 4 == 6;
	memcpy(e->src, ip + (e->v6 ? 8 : 12), e->v6 ? 16 : 4);
	memcpy(e->dst, ip + (e->v6 ? 24 : 16), e->v6 ? 16 : 4);
	e->src_port = be16_get(udp);
	e->dst_port = be16_get(udp + 2);
}

/** What goes back to where `from` came from, to `port`. */
static struct upf_ends
back(const struct upf_ends *from, uint16_t port)
{
	struct upf_ends e = {.v6 = from->v6, .src_port = GTPU_PORT, .dst_port = port};

	memcpy(e.src, from->dst, sizeof(e.src));
	memcpy(e.dst, from->src, sizeof(e.dst));
	return e;
}

/** Writes `msg` into an empty packet, with its headers. @return whether there was room. */
static bool
write_message(struct rte_mbuf *m, const struct gtpu_msg *msg, const struct upf_ends *ends,
	      uint8_t interface)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, MESSAGE_MAX);
	int n = p ? gtpu_msg_encode(p, MESSAGE_MAX, msg) : -1;

	if (n < 0)
		return false;
	rte_pktmbuf_trim(m, (uint16_t)(MESSAGE_MAX - n));
	if (!upf_packet_udp(m, ends))
		return false;
	upf_packet_leaves(m, interface);
	return true;
}

/** `*m` becomes a message of ours. @param reason the received one is lost for; -1: it is not */
static enum upf_local_verdict
answer(struct upf_local *l, struct rte_mbuf **m, const struct gtpu_msg *msg,
       const struct upf_ends *ends, int reason)
{
	const uint8_t interface = upf_arrival(*m)->interface;
	struct rte_mbuf *to = upf_packet_fresh(*m, l->net->cfg.pool);

	if (to == NULL)
		return upf_local_drop(l, UPF_LOCAL_DROP_NO_MBUF, *m);
	if (!write_message(to, msg, ends, interface))
		return upf_local_drop(l, UPF_LOCAL_DROP_NO_MBUF, to);
	if (reason >= 0) {
		l->drops[reason]++;
		(*l->made)++;
	}
	*m = to;
	return UPF_LOCAL_ANSWER;
}

static enum upf_local_verdict
done(struct upf_local *l, struct rte_mbuf *m)
{
	(*l->used)++;
	rte_pktmbuf_free(m);
	return UPF_LOCAL_GONE;
}

/** §7.2.3: what we understand, to who sent what we do not. */
static enum upf_local_verdict
notify(struct upf_local *l, struct rte_mbuf **m, const struct upf_ends *ends, uint64_t now_ns)
{
	const struct gtpu_msg msg = {
		.hdr = {.type = GTPU_SUPPORTED_EXTENSION_HEADERS},
		.ies = {.present = GTPU_HAS_EXT_HEADER_TYPES,
			.nb_ext_types = sizeof(upf_understood),
			.ext_types = upf_understood},
	};
	const struct upf_ends to = back(ends, GTPU_PORT);

	if (!upf_limit_take(&l->notifications, now_ns))
		return upf_local_drop(l, UPF_LOCAL_DROP_EXTENSION, *m);
	return answer(l, m, &msg, &to, UPF_LOCAL_DROP_EXTENSION);
}

/** §7.2.2. §8.2: "the value shall be set to 0 by the sender". */
static enum upf_local_verdict
echo(struct upf_local *l, struct rte_mbuf **m, const struct gtpu_msg *in,
     const struct upf_ends *ends)
{
	const struct gtpu_msg msg = {
		.hdr = {.type = GTPU_ECHO_RESPONSE, .seq = in->hdr.seq},
		.ies = {.present = GTPU_HAS_RECOVERY},
	};
	const struct upf_ends to = back(ends, ends->src_port);

	return answer(l, m, &msg, &to, -1);
}

/** §7.3.1: which tunnel of whom is gone. */
static enum upf_local_verdict
error_indication(struct upf_local *l, struct rte_mbuf *m, const struct gtpu_msg *in,
		 uint64_t now_ns)
{
	if (!upf_limit_take(&l->received, now_ns) ||
	    !l->error_indication(l->arg, in->ies.peer_bytes == 16, in->ies.peer, in->ies.teid))
		return upf_local_drop(l, UPF_LOCAL_DROP_EVENTS, m);
	return done(l, m);
}

/** §7.3.2: goes where the tunnel's packets go, so to who owns the TEID. Data becomes empty. */
static enum upf_local_verdict
end_marker(struct rte_mbuf *m, uint32_t teid, unsigned at)
{
	const struct upf_arrival a = *upf_arrival(m);
	const uint8_t rx = UPF_RX_TUNNEL | UPF_RX_END_MARKER |
			   (*rte_pktmbuf_mtod(m, uint8_t *) >> 4 == 6 ? UPF_RX_OUTER6 : 0);

	rte_pktmbuf_adj(m, (uint16_t)at);
	rte_pktmbuf_trim(m, m->data_len);
	upf_in_mark(m, teid, 0, rx, a.interface);
	m->vlan_tci_outer = (uint16_t)at;
	return UPF_LOCAL_ARRIVED;
}

static enum upf_local_verdict
message(struct upf_local *l, struct rte_mbuf **m, const struct gtpu_msg *in,
	const struct upf_ends *ends, unsigned at, uint64_t now_ns)
{
	switch (in->hdr.type) {
	case GTPU_ECHO_REQUEST:
		return echo(l, m, in, ends);
	case GTPU_ECHO_RESPONSE:
		if (!upf_path_answered(l->net, ends->v6, ends->src, in->hdr.seq, now_ns))
			return upf_local_drop(l, UPF_LOCAL_DROP_MESSAGE, *m);
		return done(l, *m);
	case GTPU_ERROR_INDICATION:
		return error_indication(l, *m, in, now_ns);
	case GTPU_SUPPORTED_EXTENSION_HEADERS:
		/* We send none that has to be understood but the container, which has no
		 * alternative. */
		return done(l, *m);
	case GTPU_END_MARKER:
		return end_marker(*m, in->hdr.teid, at);
	default:
		return upf_local_drop(l, UPF_LOCAL_DROP_MESSAGE, *m);
	}
}

enum upf_local_verdict
upf_signal_take(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns)
{
	const unsigned at = upf_outer_bytes(*m);
	struct upf_ends ends;
	struct gtpu_msg in;
	struct ip_hdr ip;
	const uint8_t *p;
	unsigned bytes;
	int n;

	if ((*m)->nb_segs > 1 && rte_pktmbuf_linearize(*m) < 0)
		return upf_local_drop(l, UPF_LOCAL_DROP_MALFORMED, *m);
	p = rte_pktmbuf_mtod(*m, const uint8_t *) + at;
	bytes = be16_get(p - 4); /* of UDP, which upf_in looked at */
	ends_of(*m, at, &ends);
	if (p[1] == GTPU_G_PDU)
		return notify(l, m, &ends, now_ns);
	ip = (struct ip_hdr){.version = ends.v6 ? 6 : 4, .proto = IP_PROTO_UDP};
	memcpy(ip.src, ends.src, sizeof(ip.src));
	memcpy(ip.dst, ends.dst, sizeof(ip.dst));
	/* Over IPv6 a sender of tunnels may leave it out too (RFC 6935). */
	if (be16_get(p - 2) != 0 && !udp_checksum_ok(&ip, p - UDP_HDR_BYTES, bytes))
		return upf_local_drop(l, UPF_LOCAL_DROP_CHECKSUM, *m);
	n = gtpu_msg_decode(p, bytes - UDP_HDR_BYTES, GTPU_ENDPOINT, upf_understood,
			    RTE_DIM(upf_understood), &in);
	if (n == -CODEC_UNSUPPORTED)
		return upf_local_drop(l, UPF_LOCAL_DROP_MESSAGE, *m);
	if (n < 0)
		return upf_local_drop(l, UPF_LOCAL_DROP_MALFORMED, *m);
	if (in.chain.unknown)
		return notify(l, m, &ends, now_ns);
	return message(l, m, &in, &ends, at, now_ns);
}

enum upf_local_verdict
upf_signal_unknown(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns)
{
	const struct upf_arrival a = *upf_arrival(*m);
	const uint16_t outer = upf_outer_bytes(*m);
	struct gtpu_msg msg = {.hdr = {.type = GTPU_ERROR_INDICATION}};
	const uint8_t *ip;
	struct upf_ends ends = {0}, to;
	unsigned udp;

	if (!atomic_load_explicit(&l->net->live.refilled, memory_order_relaxed))
		return upf_local_drop(l, UPF_LOCAL_DROP_FILLING, *m);
	/* §7.3.2: an End Marker of no tunnel is not answered. The rate is bounded: who sends
	 * into the dark sends a lot. */
	if (a.rx & UPF_RX_END_MARKER || outer < IP4_HDR_BYTES + UDP_HDR_BYTES + GTPU_HDR_BYTES ||
	    (*m)->data_off < outer || !upf_limit_take(&l->errors, now_ns))
		return upf_local_drop(l, UPF_LOCAL_DROP_TEID, *m);
	ip = rte_pktmbuf_mtod(*m, const uint8_t *) - outer;
	ends.v6 = a.rx & UPF_RX_OUTER6;
	memcpy(ends.src, ip + (ends.v6 ? 8 : 12), ends.v6 ? 16 : 4);
	memcpy(ends.dst, ip + (ends.v6 ? 24 : 16), ends.v6 ? 16 : 4);
	udp = ends.v6 ? IP6_HDR_BYTES : (ip[0] & 0xFU) * 4;
	to = back(&ends, GTPU_PORT);
	msg.ies.present = GTPU_HAS_TEID_DATA_I | GTPU_HAS_PEER_ADDRESS;
	msg.ies.teid = a.teid;
	/* §7.3.1: "the GTP-U Peer Address shall be the destination address of the G-PDU" */
	msg.ies.peer_bytes = ends.v6 ? 16 : 4;
	memcpy(msg.ies.peer, ends.dst, msg.ies.peer_bytes);
	/* §5.2.2.1; behind extension headers of IPv6 it is left out. */
	msg.chain.has_udp_port = !ends.v6 || ip[6] == IP_PROTO_UDP;
	msg.chain.udp_port = be16_get(ip + udp);
	return answer(l, m, &msg, &to, UPF_LOCAL_DROP_TEID);
}

struct rte_mbuf *
upf_local_echo_request(struct upf_local *l, const struct upf_net_path *path, uint16_t seq)
{
	const struct gtpu_msg msg = {.hdr = {.type = GTPU_ECHO_REQUEST, .seq = seq}};
	const uint8_t interface = atomic_load(&path->interface);
	struct upf_ends to = {.v6 = path->v6, .src_port = GTPU_PORT, .dst_port = GTPU_PORT};
	const uint8_t *source = upf_link_source(&l->net->links[interface], path->v6, path->address);
	struct rte_mbuf *m;

	if (interface == 0 || source == NULL)
		return NULL;
	m = rte_pktmbuf_alloc(l->net->cfg.pool);
	if (m == NULL)
		return NULL;
	*ap_meta(m) = (struct ap_meta){0};
	memcpy(to.src, source, path->v6 ? 16 : 4);
	memcpy(to.dst, path->address, path->v6 ? 16 : 4);
	if (!write_message(m, &msg, &to, interface)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	(*l->made)++;
	return m;
}
