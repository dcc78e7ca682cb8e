/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "bench/upf_traffic.h"

#define HANDSHAKE 3    /**< packets without data */
#define SPLIT_EVERY 16 /**< requests */
#define LISTED_OF 10   /**< requests, of which one is of no rule */
#define NET_EVERY 8    /**< flows with names, of which one goes to a network of a rule */
#define PORTS_FIRST 10000
#define PORTS 55000
#define PER_SESSION_MAX 64

static uint32_t
gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

/** Some golden part of the places, so that turns jump; every place has one before any has two. */
static uint32_t
step_of(uint32_t places)
{
	uint32_t step = (uint32_t)(places * 0.6180339887) | 1;

	while (gcd(step, places) != 1)
		step += 2;
	return step;
}

/** Of packets with data, that the mean of a flow is the one wanted. */
static uint16_t
segment_of(const struct upf_traffic_cfg *cfg)
{
	const uint32_t all = cfg->packets * cfg->bytes - HANDSHAKE * UPF_TRAFFIC_SHORT;
	const uint32_t rest = cfg->packets - HANDSHAKE;

	/* SPLIT_EVERY flows have one packet of UPF_TRAFFIC_CUT octets. */
	return (uint16_t)RTE_MIN((SPLIT_EVERY * all - UPF_TRAFFIC_SHORT - UPF_TRAFFIC_CUT) /
					 (SPLIT_EVERY * rest - 1),
				 (uint32_t)UPF_WIRE_BYTES_MAX);
}

/** The same of QUIC's datagrams behind Initials. */
static uint16_t
datagram_of(const struct upf_traffic_cfg *cfg)
{
	const uint32_t initials = UPF_QUIC_SPLIT_EVERY + 1;

	return (uint16_t)RTE_MIN((UPF_QUIC_SPLIT_EVERY * cfg->packets * cfg->bytes -
				  initials * UPF_TRAFFIC_INITIAL_BYTES) /
					 (UPF_QUIC_SPLIT_EVERY * cfg->packets - initials),
				 (uint32_t)UPF_WIRE_BYTES_MAX);
}

int
upf_traffic_init(struct upf_traffic *f, const struct upf_traffic_cfg *cfg,
		 const struct upf_load *load)
{
	memset(f, 0, sizeof(*f));
	if (cfg->packets < UPF_TRAFFIC_PACKETS_MIN || cfg->packets > UPF_TRAFFIC_PACKETS_MAX ||
	    cfg->bytes < UPF_TRAFFIC_BYTES_MIN || cfg->bytes > UPF_WIRE_BYTES_MAX ||
	    cfg->sessions == 0 || cfg->per_session == 0 || cfg->per_session > PER_SESSION_MAX ||
	    cfg->udp_percent > 100 || cfg->dns_percent > 100 || cfg->quic_percent > 100 ||
	    cfg->dns_percent + cfg->quic_percent > 100)
		return -EINVAL;
	f->cfg = *cfg;
	f->load = load;
	f->segment = segment_of(cfg);
	f->datagram = datagram_of(cfg);
	f->nb_places = cfg->sessions * cfg->per_session;
	f->step = step_of(f->nb_places);
	f->places = aligned_alloc(64, f->nb_places * sizeof(*f->places));
	f->usage = calloc((size_t)cfg->sessions * UPF_LOAD_RATING_GROUPS, sizeof(*f->usage));
	if (f->places == NULL || f->usage == NULL) {
		upf_traffic_free(f);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->nb_places; i++)
		f->places[i] = (struct upf_traffic_place){.flow = upf_traffic_derive(f, i, 0)};
	return 0;
}

void
upf_traffic_free(struct upf_traffic *f)
{
	free(f->places);
	free(f->usage);
	f->places = NULL;
	f->usage = NULL;
}

/** Some of `n`, by the low half of a random word. */
static inline uint32_t
some(uint64_t random, uint32_t n)
{
	return (uint32_t)((random & UINT32_MAX) * n >> 32);
}

static void
to_net(const struct upf_traffic *f, uint32_t i, uint64_t random, struct upf_traffic_flow *flow)
{
	const struct upf_load_net *net = &f->load->nets[i];
	const uint32_t hosts = (uint32_t)(0xFFFFFFFFULL >> net->bits);

	flow->server = net->address | ((uint32_t)random & hosts);
	flow->before = flow->after = (uint8_t)net->app;
}

/** Networks of UDP: any, UDP to its port, UDP. */
static void
udp_derive(const struct upf_traffic *f, uint64_t random, struct upf_traffic_flow *flow)
{
	const uint32_t nets = f->load->nb_nets / 4;
	const unsigned to = (unsigned)(random >> 60) % 8;
	unsigned policy;

	flow->server_port = UPF_LOAD_PORT_UDP;
	if (to < 4 && nets > 0) {
		static const uint8_t kind[4] = {0, 2, 3, 2};

		to_net(f, 4 * some(random, nets) + kind[to], random >> 16, flow);
	} else if (to == 4) {
		policy = UPF_LOAD_STATIC + 1 + (unsigned)(random >> 40) % UPF_LOAD_DYNAMIC;
		flow->server = upf_load_dynamic_net(policy) | (random & 0xFFFF);
		flow->before = flow->after = (uint8_t)policy;
	}
}

/** What flows with names have, and whose they are. @param net kind of networks that are of their
 * protocol and port, beside those of any */
static void
name_derive(const struct upf_traffic *f, uint64_t random, uint64_t more, unsigned net,
	    struct upf_traffic_flow *flow)
{
	const struct upf_load *l = f->load;
	const uint32_t nets = l->nb_nets / 4;

	if ((random >> 48) % NET_EVERY == 0 && nets > 0)
		to_net(f, 4 * some(more, nets) + net * ((random >> 52) & 1), more >> 16, flow);
	if ((random >> 56) % LISTED_OF == 0 || l->nb_names == 0) {
		flow->name = l->nb_names + some(random, UPF_LOAD_UNLISTED);
		return;
	}
	flow->name = some(random, l->nb_names);
	if (!flow->udp || l->names[flow->name].kind != UPF_LOAD_URL_PATTERN)
		flow->after = (uint8_t)l->names[flow->name].app;
}

/** Networks of HTTP: any, TCP to its port. */
static void
http_derive(const struct upf_traffic *f, uint64_t random, uint64_t more,
	    struct upf_traffic_flow *flow)
{
	flow->server_port = UPF_LOAD_PORT_HTTP;
	flow->split = (random >> 44) % SPLIT_EVERY == 0;
	name_derive(f, random, more, 1, flow);
}

/** Networks of DNS and QUIC: any, UDP. */
static void
named_udp_derive(const struct upf_traffic *f, uint64_t random, uint64_t more,
		 struct upf_traffic_flow *flow)
{
	name_derive(f, random, more, 3, flow);
	if (flow->kind == UPF_TRAFFIC_DNS) {
		flow->server_port = UPF_LOAD_PORT_DNS;
		flow->packets = UPF_TRAFFIC_DNS_PACKETS;
		return;
	}
	flow->server_port = UPF_LOAD_PORT_QUIC;
	flow->split = upf_quic_split(flow->name);
}

/** @param random that nothing else of the flow comes of */
static enum upf_traffic_kind
kind_of(const struct upf_traffic_cfg *cfg, bool udp, uint64_t random)
{
	const uint32_t at = random % 100;

	if (!udp)
		return UPF_TRAFFIC_HTTP;
	return at < cfg->dns_percent                       ? UPF_TRAFFIC_DNS
	       : at < cfg->dns_percent + cfg->quic_percent ? UPF_TRAFFIC_QUIC
							   : UPF_TRAFFIC_OTHER;
}

struct upf_traffic_flow
upf_traffic_derive(const struct upf_traffic *f, uint32_t place, uint32_t number)
{
	const struct upf_traffic_cfg *cfg = &f->cfg;
	const uint64_t random = upf_load_mix(cfg->seed + ((uint64_t)number << 32 | place));
	const uint64_t more = upf_load_mix(random);
	const uint32_t spread = cfg->packets < 2 * UPF_TRAFFIC_PACKETS_MIN ? 0 : cfg->packets / 2;
	struct upf_traffic_flow flow = {
		.session = cfg->first + place % cfg->sessions,
		.server = UPF_LOAD_ELSEWHERE | (uint32_t)(random >> 40),
		.ue_port = (uint16_t)(PORTS_FIRST + (place / cfg->sessions +
						     (uint64_t)number * cfg->per_session) %
							    PORTS),
		.udp = more % 100 < cfg->udp_percent,
		.isn = {(uint32_t)more, (uint32_t)(more >> 32)},
	};

	flow.kind = (uint8_t)kind_of(cfg, flow.udp, upf_load_mix(more));
	/* The first ones of all places begin at once; they are not to end so. */
	flow.packets =
		(uint16_t)(number == 0 ? UPF_TRAFFIC_PACKETS_MIN + some(more >> 8, cfg->packets)
				       : cfg->packets - spread + some(more >> 8, 2 * spread + 1));
	if (flow.kind == UPF_TRAFFIC_OTHER)
		udp_derive(f, random, &flow);
	else if (flow.kind == UPF_TRAFFIC_HTTP)
		http_derive(f, random, more, &flow);
	else
		named_udp_derive(f, random, more, &flow);
	if (!cfg->policies)
		flow.before = flow.after = 0;
	flow.server = rte_cpu_to_be_32(flow.server);
	return flow;
}

/** Of the first `k` packets behind the request, those of the server: two, then every other one. */
static inline uint32_t
of_server(uint32_t k)
{
	return k == 0 ? 0 : 1 + k / 2;
}

enum upf_wire_direction
upf_traffic_direction(const struct upf_traffic_flow *flow, unsigned at)
{
	const unsigned data = HANDSHAKE + 1 + flow->split;

	if (flow->udp)
		return at > flow->split && (at - flow->split) & 1 ? UPF_WIRE_DOWN : UPF_WIRE_UP;
	if (at < data)
		return at == 1 ? UPF_WIRE_DOWN : UPF_WIRE_UP;
	at -= data;
	return at == 0 || at & 1 ? UPF_WIRE_DOWN : UPF_WIRE_UP;
}

static enum upf_traffic_part
part_of(const struct upf_traffic_flow *flow, unsigned at)
{
	if (flow->udp && at > flow->split)
		return UPF_TRAFFIC_DATAGRAM;
	if (flow->kind == UPF_TRAFFIC_QUIC)
		return (enum upf_traffic_part)(UPF_TRAFFIC_INITIAL + at);
	if (flow->udp)
		return flow->kind == UPF_TRAFFIC_DNS ? UPF_TRAFFIC_QUERY : UPF_TRAFFIC_DATAGRAM;
	if (at <= HANDSHAKE)
		return (enum upf_traffic_part)(UPF_TRAFFIC_SYN + at);
	return at == HANDSHAKE + 1 && flow->split ? UPF_TRAFFIC_REST : UPF_TRAFFIC_DATA;
}

/** Of UDP; a name is known with the datagram that ends it, which it is for, too. */
static struct upf_traffic_packet
udp_packet(const struct upf_traffic *f, const struct upf_traffic_flow *flow, unsigned at)
{
	struct upf_traffic_packet p = {
		.direction = upf_traffic_direction(flow, at),
		.part = part_of(flow, at),
		.policy = at >= flow->split ? flow->after : flow->before,
		.bytes = (uint16_t)f->cfg.bytes,
	};

	if (flow->kind == UPF_TRAFFIC_QUIC)
		p.bytes = at <= flow->split ? UPF_TRAFFIC_INITIAL_BYTES : f->datagram;
	return p;
}

struct upf_traffic_packet
upf_traffic_packet(const struct upf_traffic *f, const struct upf_traffic_flow *flow, unsigned at)
{
	const unsigned data = HANDSHAKE + 1 + flow->split; /* the first one that is no request's */
	const uint32_t payload = f->segment - UPF_TRAFFIC_SHORT;
	const uint32_t request = flow->split ? UPF_TRAFFIC_CUT : payload;
	struct upf_traffic_packet p = {
		.direction = upf_traffic_direction(flow, at),
		.part = part_of(flow, at),
		/* It is known with the last segment of the request, which it is for, too. */
		.policy = at + 1 >= data ? flow->after : flow->before,
		.fin = at + 1 == flow->packets,
	};
	uint32_t sent[UPF_WIRE_DIRECTIONS], behind;

	if (flow->udp)
		return udp_packet(f, flow, at);
	p.bytes = (uint16_t)(UPF_TRAFFIC_SHORT + (at < HANDSHAKE    ? 0
						  : at == HANDSHAKE ? request
								    : payload));
	behind = at > data ? at - data : 0;
	sent[UPF_WIRE_DOWN] = (at > 1) + payload * of_server(behind);
	sent[UPF_WIRE_UP] =
		(at > 0) + (at > HANDSHAKE ? request : 0) +
		payload * ((flow->split && at > HANDSHAKE + 1) + behind - of_server(behind));
	p.seq = flow->isn[p.direction] + sent[p.direction];
	p.ack = at == 0 ? 0 : flow->isn[!p.direction] + sent[!p.direction];
	return p;
}

/** @return packets of the turn that begins with packet `at` of a flow. */
static uint32_t
turn_of(const struct upf_traffic *f, const struct upf_traffic_flow *flow, unsigned at)
{
	const unsigned known = flow->split + (flow->udp ? 0 : HANDSHAKE);

	return at <= known ? 1 : RTE_MIN(RTE_MAX(f->cfg.train, 1U), flow->packets - at);
}

void
upf_traffic_take(struct upf_traffic *f, struct upf_traffic_turn *t)
{
	struct upf_traffic_place *s = &f->places[f->next];
	struct upf_traffic_usage *u;

	if (f->left == 0)
		f->left = turn_of(f, &s->flow, s->at);
	t->place = f->next;
	t->number = s->number;
	t->at = s->at;
	t->flow = s->flow;
	t->packet = upf_traffic_packet(f, &s->flow, s->at);
	u = &f->usage[(s->flow.session - f->cfg.first) * UPF_LOAD_RATING_GROUPS +
		      upf_load_rating_group(t->packet.policy) - 1];
	u->octets[t->packet.direction] += t->packet.bytes;
	u->packets[t->packet.direction]++;
	f->begun += s->at == 0;
	f->taken++;
	if (++s->at == s->flow.packets) {
		s->at = 0;
		s->flow = upf_traffic_derive(f, f->next, ++s->number);
	}
	if (--f->left > 0)
		return;
	f->next = f->next + f->step < f->nb_places ? f->next + f->step
						   : f->next + f->step - f->nb_places;
}
