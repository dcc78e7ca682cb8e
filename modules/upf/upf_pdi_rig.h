/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PDI_RIG_H
#define AIRPATH_UPF_PDI_RIG_H

/** A session's packets, and what upf_pdi finds for them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#include "modules/upf/upf_filter.h"
#include "test_eal.h"
#include "test_upf.h"

#define HANDLE 0x12300101U
#define OTHER_TEID (HANDLE + 0x100)
#define UE 0x0A2D0001U
#define UE6 0x20010DB800000001ULL
#define LINK_LOCAL 0xFE80000000000000ULL

static struct test_unit u;
static struct test_message msg;
static uint64_t seed;

static inline uint32_t
rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((seed >> 33) % n);
}

static inline int
setup(void **state)
{
	(void)state;
	test_unit_open(&u);
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	test_unit_close(&u);
	return 0;
}

/** A packet by what it says; packet_bytes() makes it. */
struct packet {
	bool ip6, later, tunnel, has_qfi;
	uint32_t teid;
	unsigned interface;
	uint8_t qfi, proto, tos;
	uint64_t src[2], dst[2]; /* IPv4: [0] */
	uint16_t ports[2];
	uint32_t spi, flow_label;
};

static inline void
put64(uint8_t *p, uint64_t v)
{
	be32_put(p, (uint32_t)(v >> 32));
	be32_put(p + 4, (uint32_t)v);
}

static inline unsigned
packet_bytes(const struct packet *k, uint8_t *p)
{
	unsigned at = 20;
	uint8_t *proto = p + 9;

	memset(p, 0, 128);
	if (k->ip6) {
		be32_put(p, 6U << 28 | (uint32_t)k->tos << 20 | k->flow_label);
		proto = p + 6;
		p[7] = 64;
		put64(p + 8, k->src[0]);
		put64(p + 16, k->src[1]);
		put64(p + 24, k->dst[0]);
		put64(p + 32, k->dst[1]);
		at = 40;
		if (k->later) {
			*proto = 44;
			proto = p + at;
			be16_put(p + at + 2, 8 << 3);
			at += 8;
		}
	} else {
		p[0] = 0x45;
		p[1] = k->tos;
		be16_put(p + 6, k->later ? 100 : 0);
		be32_put(p + 12, (uint32_t)k->src[0]);
		be32_put(p + 16, (uint32_t)k->dst[0]);
	}
	*proto = k->proto;
	if (k->proto == 50) {
		be32_put(p + at, k->spi);
	} else if (k->proto == 51) {
		be32_put(p + at + 4, k->spi);
	} else {
		be16_put(p + at, k->ports[0]);
		be16_put(p + at + 2, k->ports[1]);
	}
	at += 16;
	be16_put(p + (k->ip6 ? 4 : 2), (uint16_t)(at - (k->ip6 ? 40 : 0)));
	return at;
}

static inline struct upf_arrival
arrival(const struct packet *k)
{
	return (struct upf_arrival){.teid = k->tunnel ? k->teid : 0,
				    .qfi = k->qfi,
				    .interface = (uint8_t)k->interface,
				    .rx = (uint8_t)((k->tunnel ? UPF_RX_TUNNEL : 0) |
						    (k->has_qfi ? UPF_RX_QFI : 0) |
						    (k->ip6 ? UPF_RX_INNER6 : 0))};
}

static inline int
match(const struct upf_session *s, const struct packet *k)
{
	const struct upf_arrival a = arrival(k);
	uint8_t p[128];

	return upf_match_lane(s, &a, p, packet_bytes(k, p));
}

static inline uint64_t
random_address(bool ip6, unsigned which)
{
	static const uint32_t v4[] = {UE, UE + 1, 0xC6336401, 0xC6336481, 0xCB007105, 0xAC100101};
	static const uint64_t v6[] = {UE6, UE6 + 1, 0x2001067C00000000ULL, 0x2001067C00010000ULL};

	return ip6 ? v6[which % 4] : v4[which % 6];
}

static inline Airpath__Upf__V1__Prefix *
random_prefix(bool ip6)
{
	if (ip6)
		return test_prefix(&msg, test_ip6(&msg, random_address(true, rnd(4)), rnd(3)),
				   rnd(5) * 32);
	return test_prefix(&msg, test_ip4(&msg, (uint32_t)random_address(false, rnd(6))),
			   rnd(3) ? 24 + rnd(9) : rnd(33));
}

static inline void
random_ranges(Airpath__Upf__V1__PortRange ***ranges, size_t *nb)
{
	for (unsigned i = rnd(3); i > 0; i--) {
		Airpath__Upf__V1__PortRange *r =
			TEST_ADD(&msg, *ranges, *nb, Airpath__Upf__V1__PortRange,
				 airpath__upf__v1__port_range__init);

		r->first = rnd(8);
		r->last = r->first + rnd(3);
	}
}

static inline void
random_filter(Airpath__Upf__V1__Pdr *pdr)
{
	static const uint16_t protos[] = {256, 6, 17, 50, 51, 58};
	Airpath__Upf__V1__Filter *f = test_filter(&msg, pdr);
	bool ip6 = rnd(2);

	f->protocol = protos[rnd(6)];
	if (rnd(2))
		f->source = random_prefix(ip6);
	if (rnd(2))
		f->destination = random_prefix(rnd(8) ? ip6 : !ip6);
	if (rnd(3) == 0)
		random_ranges(&f->source_ports, &f->n_source_ports);
	if (rnd(3) == 0)
		random_ranges(&f->destination_ports, &f->n_destination_ports);
	if (rnd(4) == 0) {
		f->tos = rnd(4) << 2;
		f->tos_mask = rnd(2) ? 0xFC : 0x04;
	}
	if (rnd(10) == 0) {
		f->match_spi = true;
		f->spi = rnd(2);
	}
	if (rnd(10) == 0) {
		f->match_flow_label = true;
		f->flow_label = rnd(2);
	}
}

static inline void
random_pdr(unsigned id)
{
	bool tunnel = rnd(2);
	Airpath__Upf__V1__Pdr *pdr = test_pdr(&msg, id, rnd(20), tunnel ? UPF_ACCESS : UPF_CORE,
					      tunnel ? 1 + (rnd(4) == 0) : 0, 1);

	if (rnd(3) == 0)
		pdr->interface = tunnel ? 1 : 2 + rnd(2);
	pdr->match_ue_source = tunnel && rnd(3);
	pdr->match_ue_destination = !tunnel && rnd(3);
	pdr->match_ip4 = rnd(4) != 0;
	pdr->match_ip6 = rnd(4) != 0;
	if (rnd(3) == 0)
		pdr->qfis = 1 + rnd(15);
	for (unsigned i = rnd(4) ? 0 : 1 + rnd(2); i > 0; i--) {
		TEST_ADD(&msg, pdr->framed_routes, pdr->n_framed_routes, Airpath__Upf__V1__Prefix,
			 airpath__upf__v1__prefix__init);
		pdr->framed_routes[pdr->n_framed_routes - 1] = random_prefix(rnd(2));
	}
	for (unsigned i = rnd(4); i > 0; i--)
		random_filter(pdr);
}

static inline void
random_session(unsigned pdrs)
{
	test_message(&msg, 77, HANDLE, UE);
	msg.m.ue_ip6 = test_ip6(&msg, UE6, 0);
	msg.m.ue_ip6_bits = 64;
	test_tunnel(&msg, HANDLE);
	test_tunnel(&msg, OTHER_TEID);
	test_far(&msg, 1, 0, 0);
	for (unsigned i = 0; i < pdrs; i++)
		random_pdr(i + 1);
}

#endif
