/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/upf/upf_icmp.h"
#include "modules/upf/upf_local.h"
#include "modules/upf/upf_nd.h"

#define ICMP 1
#define ICMP6 58

const char *const upf_local_drops[UPF_LOCAL_DROPS] = {
	[UPF_LOCAL_DROP_MALFORMED] = "malformed",
	[UPF_LOCAL_DROP_CHECKSUM] = "checksum",
	[UPF_LOCAL_DROP_NOT_OURS] = "not_ours",
	[UPF_LOCAL_DROP_CONFLICT] = "address_conflict",
	[UPF_LOCAL_DROP_ROUTER] = "router_discovery",
	[UPF_LOCAL_DROP_PROTOCOL] = "protocol",
	[UPF_LOCAL_DROP_PORT] = "udp_port",
	[UPF_LOCAL_DROP_ICMP] = "icmp",
	[UPF_LOCAL_DROP_MESSAGE] = "gtpu_message",
	[UPF_LOCAL_DROP_EXTENSION] = "extension_header",
	[UPF_LOCAL_DROP_EXPIRED] = "expired",
	[UPF_LOCAL_DROP_TEID] = "unknown_teid",
	[UPF_LOCAL_DROP_FILLING] = "unknown_teid_filling",
	[UPF_LOCAL_DROP_USER] = "unknown_user",
	[UPF_LOCAL_DROP_NO_MBUF] = "no_mbuf",
	[UPF_LOCAL_DROP_EVENTS] = "events_full",
	[UPF_LOCAL_DROP_WHOLE] = "reassembled",
	[UPF_LOCAL_DROP_FRAGMENT + UPF_FRAG_MALFORMED] = "fragment_malformed",
	[UPF_LOCAL_DROP_FRAGMENT + UPF_FRAG_OVERLAP] = "fragment_overlap",
	[UPF_LOCAL_DROP_FRAGMENT + UPF_FRAG_DUPLICATE] = "fragment_duplicate",
	[UPF_LOCAL_DROP_FRAGMENT + UPF_FRAG_FULL] = "fragments_full",
	[UPF_LOCAL_DROP_FRAGMENT + UPF_FRAG_TIMEOUT] = "fragment_timeout",
};

int
upf_local_init(struct upf_local *l, struct upf_net *net)
{
	memset(l, 0, sizeof(*l));
	l->net = net;
	upf_limit_init(&l->icmp, net->cfg.icmp_per_s);
	upf_limit_init(&l->errors, net->cfg.error_indications_per_s);
	upf_limit_init(&l->notifications, net->cfg.error_indications_per_s);
	upf_limit_init(&l->received, 1000);
	return upf_reassembly_init(&l->fragments, net->cfg.reassembly_packets,
				   net->cfg.reassembly_ms * 1000000ULL);
}

void
upf_local_fini(struct upf_local *l)
{
	upf_reassembly_fini(&l->fragments);
}

/** The packet is lost; its sender is told where it may be. */
static enum upf_local_verdict
complain(struct upf_local *l, struct rte_mbuf **m, enum upf_local_drop reason,
	 enum upf_icmp_error error, uint64_t now_ns)
{
	const uint8_t interface = upf_arrival(*m)->interface;
	const uint8_t *ip = rte_pktmbuf_mtod(*m, const uint8_t *), *source;
	const bool v6 = ip[0] >> 4 == 6;
	struct rte_mbuf *e;

	source = upf_link_source(&l->net->links[interface], v6, ip + (v6 ? 8 : 12));
	if (source == NULL || !upf_icmp_may(*m) || !upf_limit_take(&l->icmp, now_ns) ||
	    (e = upf_icmp_error(*m, error, source, 0, l->net->cfg.pool)) == NULL)
		return upf_local_drop(l, reason, *m);
	l->drops[reason]++;
	(*l->made)++;
	upf_packet_leaves(e, interface);
	*m = e;
	return UPF_LOCAL_ANSWER;
}

/** ARP, or ND with its ICMPv6 header behind IPv6's. */
static enum upf_local_verdict
neighbour(struct upf_local *l, struct rte_mbuf **m, bool arp, uint64_t now_ns)
{
	const struct upf_link *link = &l->net->links[upf_arrival(*m)->interface];
	enum upf_nd_verdict v = arp ? upf_arp_take(l->net, link, m, l->net->cfg.pool, now_ns)
				    : upf_nd_take(l->net, link, m, l->net->cfg.pool, now_ns);

	switch (v) {
	case UPF_ND_REPLY:
		return UPF_LOCAL_ANSWER;
	case UPF_ND_TAKEN:
		(*l->used)++;
		rte_pktmbuf_free(*m);
		return UPF_LOCAL_GONE;
	case UPF_ND_NOT_OURS:
		return upf_local_drop(l, UPF_LOCAL_DROP_NOT_OURS, *m);
	case UPF_ND_CONFLICT:
		return upf_local_drop(l, UPF_LOCAL_DROP_CONFLICT, *m);
	case UPF_ND_ROUTER:
		return upf_local_drop(l, UPF_LOCAL_DROP_ROUTER, *m);
	case UPF_ND_NO_MBUF:
		return upf_local_drop(l, UPF_LOCAL_DROP_NO_MBUF, *m);
	default:
		return upf_local_drop(l, UPF_LOCAL_DROP_MALFORMED, *m);
	}
}

/** What is behind the headers of an IP packet to us. @return the protocol, -1 without one. */
static int
upper(const struct rte_mbuf *m, unsigned *at)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t next = ip[6];

	if (ip[0] >> 4 == 4) {
		*at = (ip[0] & 0xFU) * 4;
		return ip[9];
	}
	*at = IP6_HDR_BYTES;
	while (next == 0 || next == 43 || next == 60) {
		if (*at + 8 > m->data_len)
			return -1;
		next = ip[*at];
		*at += 8 + ip[*at + 1] * 8U;
	}
	return *at <= m->data_len ? next : -1;
}

/** IP to an address of ours, or ND to a group. */
static enum upf_local_verdict
own(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns)
{
	const uint8_t *ip = rte_pktmbuf_mtod(*m, const uint8_t *);
	const uint8_t interface = upf_arrival(*m)->interface;
	const bool v6 = ip[0] >> 4 == 6;
	unsigned at;
	int proto = upper(*m, &at);

	if (proto == (v6 ? ICMP6 : ICMP)) {
		if (v6 && at == IP6_HDR_BYTES && (*m)->data_len > at && ip[at] >= 133 &&
		    ip[at] <= 137)
			return neighbour(l, m, false, now_ns);
		switch (upf_icmp_take(*m, at)) {
		case UPF_ICMP_REPLY:
			upf_packet_leaves(*m, interface);
			return UPF_LOCAL_ANSWER;
		case UPF_ICMP_OTHER:
			return upf_local_drop(l, UPF_LOCAL_DROP_ICMP, *m);
		default:
			return upf_local_drop(l, UPF_LOCAL_DROP_CHECKSUM, *m);
		}
	}
	if (proto < 0)
		return upf_local_drop(l, UPF_LOCAL_DROP_MALFORMED, *m);
	if (proto == IP_PROTO_UDP)
		return complain(l, m, UPF_LOCAL_DROP_PORT, UPF_ICMP_PORT, now_ns);
	return complain(l, m, UPF_LOCAL_DROP_PROTOCOL, UPF_ICMP_PROTOCOL, now_ns);
}

static enum upf_local_verdict
by_reason(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns)
{
	switch (upf_arrival(*m)->qfi) {
	case UPF_LOCAL_ARP:
		return neighbour(l, m, true, now_ns);
	case UPF_LOCAL_OWN:
		return own(l, m, now_ns);
	case UPF_LOCAL_GTPU:
		return upf_signal_take(l, m, now_ns);
	case UPF_LOCAL_EXPIRED:
		return complain(l, m, UPF_LOCAL_DROP_EXPIRED, UPF_ICMP_EXPIRED, now_ns);
	default:
		return upf_local_drop(l, UPF_LOCAL_DROP_MALFORMED, *m);
	}
}

static enum upf_local_verdict
fragment(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns)
{
	const struct upf_link *link = &l->net->links[upf_arrival(*m)->interface];
	unsigned verdict;

	*m = upf_reassembly_take(&l->fragments, *m, now_ns, l->drops + UPF_LOCAL_DROP_FRAGMENT,
				 l->used);
	if (*m == NULL)
		return UPF_LOCAL_GONE;
	verdict = upf_in_ip(l->net, link, *m);
	if (verdict == UPF_IN_PASS)
		return UPF_LOCAL_ARRIVED;
	if (verdict >= UPF_IN_DROPPED)
		return upf_local_drop(l, UPF_LOCAL_DROP_WHOLE, *m);
	return by_reason(l, m, now_ns);
}

enum upf_local_verdict
upf_local_take(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns)
{
	const struct upf_arrival a = *upf_arrival(*m);

	if (a.interface == 0 || a.interface > l->net->nb_links)
		return upf_local_drop(l, UPF_LOCAL_DROP_MALFORMED, *m);
	if (!(a.rx & UPF_RX_LOCAL))
		return a.rx & UPF_RX_TUNNEL ? upf_signal_unknown(l, m, now_ns)
					    : upf_local_drop(l, UPF_LOCAL_DROP_USER, *m);
	if (a.qfi == UPF_LOCAL_FRAGMENT)
		return fragment(l, m, now_ns);
	return by_reason(l, m, now_ns);
}
