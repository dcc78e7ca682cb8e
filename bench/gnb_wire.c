/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bench/gnb_wire.h"
#include "codec/be.h"

#define ETH 14
#define IP 20
#define UDP 8
#define GTPU 8
#define CONTAINER 8
#define MAGIC 0x41504742U /* "APGB" */
#define HEAD 12           /* of a T-PDU: magic, session, number */
#define ID 0x8000         /* in every frame sent: the mark of packets for the host, no more */

struct out {
	uint8_t *p;
};

static void
u8(struct out *o, uint8_t v)
{
	*o->p++ = v;
}

static void
u16(struct out *o, unsigned v)
{
	be16_put(o->p, (uint16_t)v);
	o->p += 2;
}

static void
u32(struct out *o, uint32_t v)
{
	be32_put(o->p, v);
	o->p += 4;
}

uint32_t
gnb_wire_peer(const struct gnb_wire_side *s, uint32_t i)
{
	return s->peers + i % GNB_WIRE_PEERS;
}

uint32_t
gnb_wire_upf_teid(uint32_t i)
{
	return 0xA0000000U + i;
}

uint32_t
gnb_wire_du_teid(uint32_t i)
{
	return 0x50000000U + i;
}

/** Ethernet, IPv4, UDP with `gtpu` octets behind; `ours`: the gNB sends it. */
static void
outer(struct out *o, const struct gnb_wire_side *s, bool ours, uint32_t peer, unsigned gtpu,
      uint16_t id)
{
	uint8_t *ip;
	uint32_t sum = 0;

	memcpy(o->p, ours ? s->next_mac : s->mac, 6);
	memcpy(o->p + 6, ours ? s->mac : s->next_mac, 6);
	o->p += 12;
	u16(o, 0x0800);
	ip = o->p;
	u16(o, 0x4500);
	u16(o, IP + UDP + gtpu);
	u16(o, id);
	u16(o, 0);
	u16(o, 64 << 8 | 17);
	u16(o, 0);
	u32(o, ours ? s->ip : peer);
	u32(o, ours ? peer : s->ip);
	for (unsigned k = 0; k < IP; k += 2)
		sum += be16_get(ip + k);
	sum = (sum & 0xFFFF) + (sum >> 16);
	be16_put(ip + 10, (uint16_t) ~(sum + (sum >> 16)));
	u16(o, 2152);
	u16(o, 2152);
	u16(o, UDP + gtpu);
	u16(o, 0);
}

/** G-PDU with a container, `up` as PDU type says. */
static void
gtpu_n3(struct out *o, uint32_t teid, unsigned tpdu, bool up)
{
	u16(o, 0x34FF);
	u16(o, CONTAINER + tpdu);
	u32(o, teid);
	u32(o, 0x85);
	u8(o, 1);
	u8(o, up ? 0x10 : 0x00);
	u8(o, GNB_WIRE_QFI);
	u8(o, 0);
}

/** G-PDU with RLC, PDCP and SDAP header of SN n. */
static void
gtpu_f1(struct out *o, const struct gnb_wire *w, uint32_t teid, uint32_t n, bool up)
{
	const unsigned headers = (w->am ? 3 : 1) + 3 + 1;

	u16(o, 0x30FF);
	u16(o, headers + w->tpdu);
	u32(o, teid);
	if (w->am) {
		u8(o, (uint8_t)(0x80 | (n >> 16 & 3)));
		u16(o, n & 0xFFFF);
	} else {
		u8(o, 0);
	}
	u8(o, (uint8_t)(0x80 | (n >> 16 & 3)));
	u16(o, n & 0xFFFF);
	u8(o, (up ? 0x80 : 0) | GNB_WIRE_QFI);
}

static void
tpdu(struct out *o, const struct gnb_wire *w, uint32_t i, uint32_t n)
{
	u32(o, MAGIC);
	u32(o, i);
	u32(o, n);
	for (unsigned k = HEAD; k < w->tpdu; k++)
		u8(o, (uint8_t)(k * 31 + 7));
}

static unsigned
on_n3(const struct gnb_wire *w, uint8_t *p, bool ours, uint32_t i, uint32_t teid, uint32_t n,
      uint16_t id)
{
	struct out o = {p};

	outer(&o, &w->n3, ours, gnb_wire_peer(&w->n3, i), GTPU + CONTAINER + w->tpdu, id);
	gtpu_n3(&o, teid, w->tpdu, ours);
	tpdu(&o, w, i, n);
	return (unsigned)(o.p - p);
}

static unsigned
on_f1(const struct gnb_wire *w, uint8_t *p, bool ours, uint32_t i, uint32_t teid, uint32_t n,
      uint16_t id)
{
	struct out o = {p};

	outer(&o, &w->f1, ours, gnb_wire_peer(&w->f1, i), GTPU + (w->am ? 7 : 5) + w->tpdu, id);
	gtpu_f1(&o, w, teid, n, !ours);
	tpdu(&o, w, i, n);
	return (unsigned)(o.p - p);
}

unsigned
gnb_wire_build(const struct gnb_wire *w, enum gnb_wire_direction d, uint8_t *p, uint32_t i,
	       uint32_t teid, uint32_t n)
{
	return d == GNB_WIRE_DOWN ? on_n3(w, p, false, i, teid, n, ID)
				  : on_f1(w, p, false, i, teid, n, ID);
}

unsigned
gnb_wire_expect(const struct gnb_wire *w, enum gnb_wire_direction d, uint8_t *p, uint32_t i,
		uint32_t n)
{
	return d == GNB_WIRE_DOWN ? on_f1(w, p, true, i, gnb_wire_du_teid(i), n, (uint16_t)n)
				  : on_n3(w, p, true, i, gnb_wire_upf_teid(i), n, 0);
}

uint32_t
gnb_wire_session(const struct gnb_wire *w, enum gnb_wire_direction d, const uint8_t *p,
		 unsigned bytes)
{
	const unsigned at =
		d == GNB_WIRE_UP ? GNB_WIRE_OUTER : GNB_WIRE_OUTER - CONTAINER + (w->am ? 7U : 5U);

	if (bytes != at + w->tpdu || be32_get(p + at) != MAGIC)
		return UINT32_MAX;
	return be32_get(p + at + 4);
}
