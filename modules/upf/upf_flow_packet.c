/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/be.h"
#include "modules/upf/upf_flow_packet.h"
#include "modules/upf/upf_rules.h"

#define TCP_BYTES 20
#define UDP_BYTES 8

bool
upf_flow_packet_unusual(struct upf_flow_packet *p, const uint8_t *ip, uint16_t len, struct flow *f)
{
	const int upper = flow_decode(ip, len, f);
	uint32_t ports = 0;

	if (upper < 0)
		return false;
	p->upper = (uint16_t)upper;
	p->key.proto = f->proto;
	p->key.what =
		(uint8_t)((f->version == 6 ? UPF_FLOW_IP6 : 0) |
			  (f->has_ports ? UPF_FLOW_PORTS : 0) | (f->has_spi ? UPF_FLOW_SPI : 0));
	if (f->has_ports)
		ports = rte_cpu_to_be_16(f->ports[0]) | (uint32_t)rte_cpu_to_be_16(f->ports[1])
								<< 16;
	upf_flow_packet_ends(p, f->src, f->dst, f->version == 4 ? 4 : 16, ports);
	if (f->has_spi)
		memcpy(p->key.ports, &f->spi, sizeof(f->spi));
	p->tcp = f->proto == IPPROTO_TCP && f->has_ports && upper + TCP_BYTES <= len
			 ? ip[upper + 13]
			 : 0;
	return true;
}

/* Octets of the packet that are here, without what links pad it with. */
static unsigned
end_of(const uint8_t *ip, unsigned len)
{
	const unsigned total = ip[0] >> 4 == 4 ? be16_get(ip + 2) : 40U + be16_get(ip + 4);

	return RTE_MIN(len, total);
}

bool
upf_flow_packet_segment(const struct upf_flow_packet *p, const struct rte_mbuf *m, bool from_ue,
			struct dpi_segment *seg)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *), *upper = ip + p->upper;
	const unsigned end = end_of(ip, m->data_len);
	unsigned at = p->upper;

	*seg = (struct dpi_segment){.from_ue = from_ue};
	if (!(p->key.what & UPF_FLOW_PORTS))
		return false;
	if (p->key.proto == IPPROTO_TCP && end >= at + TCP_BYTES) {
		at += (unsigned)(upper[12] >> 4) * 4;
		seg->seq = be32_get(upper + 4);
		seg->syn = upper[13] & UPF_FLOW_TCP_SYN;
	} else if (p->key.proto == IPPROTO_UDP && end >= at + UDP_BYTES) {
		at += UDP_BYTES;
	} else {
		return false;
	}
	seg->data = ip + at;
	seg->len = at < end ? end - at : 0;
	return true;
}

uint16_t
upf_flow_packet_app(const struct dpi_set *set, const struct rte_mbuf *m,
		    const struct upf_session *s, unsigned group)
{
	struct flow f;

	if (set == NULL || !dpi_set_has_flows(set) ||
	    flow_decode(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &f) < 0)
		return 0;
	return dpi_set_flow(set, &f, s->rules->groups[group].uplink);
}

void
upf_flow_packet_detected(const struct upf_flow_packet *p, uint16_t app, bool from_ue,
			 struct upf_detected *d)
{
	const unsigned remote = from_ue ? !p->dir : p->dir;

	*d = (struct upf_detected){.app = app,
				   .version = p->key.what & UPF_FLOW_IP6 ? 6 : 4,
				   .proto = p->key.proto,
				   .has_ports = p->key.what & UPF_FLOW_PORTS};
	memcpy(d->src, p->key.ends[remote], sizeof(d->src));
	memcpy(d->dst, p->key.ends[!remote], sizeof(d->dst));
	if (!d->has_ports)
		return;
	d->ports[0] = rte_be_to_cpu_16(p->key.ports[remote]);
	d->ports[1] = rte_be_to_cpu_16(p->key.ports[!remote]);
}

void
upf_flow_packet_tcp(const struct upf_flow_packet *p, struct upf_flow *f)
{
	if (p->tcp & (UPF_FLOW_TCP_FIN | UPF_FLOW_TCP_RST)) {
		f->state |= UPF_FLOW_CLOSING;
	} else if (!(p->tcp & UPF_FLOW_TCP_ACK) && f->state & UPF_FLOW_FINAL) {
		/* As if its session's rules had changed. */
		f->state = 0;
		f->app = 0;
		f->stamp--;
		if (!(f->key.what & UPF_FLOW_IP6))
			f->first = 0;
	}
}
