/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_TEST_H
#define AIRPATH_P4_TEST_H

/**
 * Frames for tests of the SmartNIC program, and what has to become of them: said once more, octet
 * by octet, from the specifications. cmocka comes first.
 */

#include <string.h>

#include "codec/ip.h"
#include "modules/p4/p4_gnb.h"
#include "test_eal.h"

#define P4_TEST_SESSIONS 64 /**< index i has a DRB in slot 0, and every second one in slot 1 */
#define P4_TEST_VFS 4
#define P4_TEST_PEERS 3 /**< 1..3; 4 is not there */
#define P4_TEST_IP 0x0a000001
#define P4_TEST_F1 0x0a000101
#define P4_TEST_MTU 600

struct p4_frame {
	uint16_t bytes;
	uint8_t b[1024];
};

static const uint8_t p4_test_mac[6] = {2, 0, 0, 0, 0, 1};

struct p4_bearer {
	struct p4_drb drb;
	bool there;
	uint8_t owner; /**< enum p4_owner */
	uint32_t tx_next, rlc_tx_next, sent;
};

/** What the program should know. */
struct p4_model {
	struct p4_session session[P4_TEST_SESSIONS];
	struct p4_bearer bearer[P4_TEST_SESSIONS * 2];
	struct p4_peer peer[P4_TEST_PEERS + 2];
	uint32_t share; /**< P4_SHARE_BY_MARK, 0 or P4_SHARE_ALL */
};

static inline uint32_t
p4_test_teid(uint32_t index, unsigned slot)
{
	return (1 + index % 3) << 24 | index << 4 | slot;
}

/** Makes the IPv4 header's checksum right. */
static inline void
p4_test_sum(uint8_t *ip)
{
	uint16_t sum;

	memset(ip + 10, 0, 2);
	sum = ip_checksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
}

static inline struct rte_mbuf *
p4_test_mbuf(struct rte_mempool *pool, const struct p4_frame *f)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, f->bytes), f->b, f->bytes);
	return m;
}

/** A G-PDU to session `index` with an inner packet of `inner` octets. */
static inline void
p4_test_gpdu(struct p4_frame *f, uint32_t index, uint8_t rqi_qfi, bool mark, unsigned inner,
	     bool v6)
{
	uint8_t *p = f->b;

	f->bytes = (uint16_t)(58 + inner);
	memset(p, 0, 58);
	memcpy(p, p4_test_mac, 6);
	memcpy(p + 6, (uint8_t[]){2, 0, 0, 0, 0, 0x77, 8, 0, 0x45}, 9);
	be16_put(p + 16, (uint16_t)(44 + inner));
	be16_put(p + 18, (uint16_t)(mark << 15 | (index & 0x7FFF)));
	p[22] = 64;
	p[23] = 17;
	be32_put(p + 26, 0x0a000009);
	be32_put(p + 30, P4_TEST_IP);
	be16_put(p + 34, 2152);
	be16_put(p + 36, 2152);
	be16_put(p + 38, (uint16_t)(24 + inner));
	be32_put(p + 42, 0x34FF0000U | (8 + inner));
	be32_put(p + 46, p4_test_teid(index, 15));
	p[53] = 0x85;
	p[54] = 1;
	p[56] = rqi_qfi;
	p4_test_sum(p + 14);
	p += 58;
	for (unsigned i = 0; i < inner; i++)
		p[i] = (uint8_t)(i * 7 + index);
	p[0] = v6 ? 0x6a : 0x45;
	p[1] = v6 ? 0xb7 : 0xb9;
	be16_put(p + (v6 ? 4 : 2), (uint16_t)(v6 ? inner - 40 : inner));
}

static inline void
p4_test_drb(struct p4_model *m, unsigned i, unsigned slot)
{
	static const uint8_t modes[] = {P4_RLC_NONE, P4_RLC_UM, P4_RLC_AM12, P4_RLC_AM18};
	struct p4_bearer *b = &m->bearer[i * 2 + slot];

	b->there = true;
	b->owner = P4_OWNER_HOST;
	b->drb = (struct p4_drb){.teid = p4_test_teid(i, slot),
				 .index = i * 2 + slot,
				 .du_teid = 0xAA000000U | i << 8 | slot,
				 .peer = (uint16_t)(1 + i % (P4_TEST_PEERS + 1)),
				 .vf = (uint8_t)(i % P4_TEST_VFS),
				 .rlc = modes[i / 2 % 4],
				 .pdcp_sn_bits = i & 8 ? 12 : 18,
				 .sdap = i & 16};
}

/** A program with P4_TEST_SESSIONS sessions, and the model of it. */
static inline struct p4_gnb *
p4_test_nic(struct rte_mempool *pool, struct p4_model *m)
{
	struct p4_cfg cfg = {.name = "test",
			     .sessions = P4_TEST_SESSIONS,
			     .drb_shift = 1,
			     .nb_vfs = P4_TEST_VFS,
			     .nb_interfaces = 2,
			     .interfaces = {{{2, 0, 0, 0, 0, 1}, true, RTE_BE32(P4_TEST_IP)},
					    {{2, 0, 0, 0, 0, 2}, false, RTE_BE32(P4_TEST_F1)}},
			     .nb_own = 2,
			     .own = {RTE_BE32(P4_TEST_IP), RTE_BE32(P4_TEST_F1)},
			     .pool = pool};
	struct ap_error err = {0};
	struct p4_gnb *g = p4_gnb_create(&cfg, &err);

	if (g == NULL)
		fail_msg("%s", err.text);
	memset(m, 0, sizeof(*m));
	for (unsigned i = 0; i < P4_TEST_SESSIONS; i++) {
		struct p4_session *s = &m->session[i];

		*s = (struct p4_session){.teid = p4_test_teid(i, 15), .index = i, .vf = i % 4};
		/* QFI 60 and up: no DRB. Odd QFIs of sessions with two: the second. */
		for (unsigned q = 0; q < 64; q++)
			s->slot_of[q / 2] |= (uint8_t)((q >= 60 ? 15
							: i % 2 ? q & 1
								: 0)
						       << (q & 1) * 4);
		assert_int_equal(p4_session_set(g, s), 0);
		for (unsigned slot = 0; slot <= i % 2; slot++) {
			p4_test_drb(m, i, slot);
			assert_int_equal(p4_drb_set(g, &m->bearer[i * 2 + slot].drb, true), 0);
		}
	}
	for (unsigned i = 1; i <= P4_TEST_PEERS; i++) {
		struct p4_peer *p = &m->peer[i];

		*p = (struct p4_peer){.index = (uint16_t)i,
				      .dst_mac = {2, 0, 0, 0, 1, (uint8_t)i},
				      .src_mac = {2, 0, 0, 0, 0, 2},
				      .mtu = P4_TEST_MTU};
		memcpy(p->ip_udp, (uint8_t[]){0x45, i == 2 ? 0x28 : 0,
					      0,    0,
					      0,    0,
					      0,    0,
					      64,   17,
					      0,    0,
					      10,   0,
					      1,    1,
					      10,   0,
					      1,    (uint8_t)i,
					      8,    0x68,
					      8,    0x68,
					      0,    0,
					      0,    0},
		       28);
		assert_int_equal(p4_peer_set(g, p), 0);
	}
	m->share = P4_SHARE_BY_MARK;
	p4_share_set(g, m->share);
	return g;
}

/* --- what has to become of a frame ------------------------------------------------------------ */

static inline void
p4_want_shim(struct p4_frame *f, const struct p4_shim *s)
{
	memmove(f->b + P4_SHIM_FRAME_BYTES, f->b, f->bytes);
	f->bytes = (uint16_t)(f->bytes + P4_SHIM_FRAME_BYTES);
	memcpy(f->b, p4_test_mac, 6);
	memcpy(f->b + 6, p4_test_mac, 6);
	be16_put(f->b + 12, 0x88B5);
	p4_shim_put(f->b + 14, s);
}

static inline bool
p4_want_mac(const uint8_t *mac)
{
	return memcmp(mac, p4_test_mac, 5) == 0 && (mac[5] == 1 || mac[5] == 2);
}

/** Whether the octets up to GTP-U are those of a G-PDU to us. */
static inline bool
p4_want_ours(const struct p4_frame *f)
{
	const uint8_t *ip = f->b + 14, *udp = f->b + 34, *gtpu = f->b + 42;

	return f->bytes >= 64 && be16_get(f->b + 12) == 0x800 && ip[0] == 0x45 &&
	       ip_checksum(ip, 20) == 0 && be16_get(ip + 2) == f->bytes - 14 &&
	       !(be16_get(ip + 6) & 0x3FFF) && ip[9] == 17 &&
	       be32_get(ip + 16) == (f->b[5] == 1 ? P4_TEST_IP : P4_TEST_F1) && p4_want_mac(f->b) &&
	       ip[12] != 0 && ip[12] != 127 && ip[12] < 224 && be32_get(ip + 12) != P4_TEST_IP &&
	       be32_get(ip + 12) != P4_TEST_F1 && be16_get(udp + 2) == 2152 &&
	       be16_get(udp + 4) == f->bytes - 34 && gtpu[1] == 255 &&
	       be16_get(gtpu + 2) == f->bytes - 50;
}

/** Whether it came by N3 and what follows is a plain downlink container. */
static inline bool
p4_want_plain(const struct p4_frame *f)
{
	const uint8_t *g = f->b + 42;

	return f->b[5] == 1 && (g[0] & 0xF4) == 0x34 && g[11] == 0x85 && g[12] == 1 && g[13] == 0 &&
	       g[14] <= 0x7F && g[15] == 0;
}

/** The frame with radio headers to the DU. */
static inline void
p4_want_sent(const struct p4_model *m, struct p4_bearer *b, struct p4_frame *f)
{
	const struct p4_peer *peer = &m->peer[b->drb.peer];
	const uint8_t rqi_qfi = f->b[56], *in = f->b + 58;
	const unsigned inner = f->bytes - 58U;
	struct p4_frame to;
	uint8_t *p = to.b + 50;
	unsigned payload;

	if (b->drb.rlc == P4_RLC_UM) {
		*p++ = 0;
	} else if (b->drb.rlc == P4_RLC_AM12) {
		be16_put(p, (uint16_t)(0x8000 | (b->rlc_tx_next & 0xFFF)));
		p += 2;
	} else if (b->drb.rlc == P4_RLC_AM18) {
		*p = (uint8_t)(0x80 | (b->rlc_tx_next >> 16 & 3));
		be16_put(p + 1, (uint16_t)b->rlc_tx_next);
		p += 3;
	}
	if (b->drb.pdcp_sn_bits == 12) {
		be16_put(p, (uint16_t)(0x8000 | (b->tx_next & 0xFFF)));
		p += 2;
	} else {
		*p = (uint8_t)(0x80 | (b->tx_next >> 16 & 3));
		be16_put(p + 1, (uint16_t)b->tx_next);
		p += 3;
	}
	if (b->drb.sdap)
		*p++ = rqi_qfi;
	memcpy(p, in, inner);
	payload = (unsigned)(p - (to.b + 50)) + inner;
	memcpy(to.b, peer->dst_mac, 6);
	memcpy(to.b + 6, peer->src_mac, 6);
	be16_put(to.b + 12, 0x800);
	memcpy(to.b + 14, peer->ip_udp, 28);
	be16_put(to.b + 16, (uint16_t)(36 + payload));
	be16_put(to.b + 18, (uint16_t)b->tx_next);
	p4_test_sum(to.b + 14);
	be16_put(to.b + 38, (uint16_t)(16 + payload));
	be32_put(to.b + 42, 0x30FF0000U | payload);
	be32_put(to.b + 46, b->drb.du_teid);
	to.bytes = (uint16_t)(50 + payload);
	b->tx_next++;
	b->rlc_tx_next++;
	*f = to;
}

static inline unsigned
p4_want_aside(struct p4_frame *f, unsigned vf, bool handed_in)
{
	if (handed_in)
		return P4_OUT_REFUSED;
	p4_want_shim(f, &(struct p4_shim){.flags = P4_SHIM_ASIDE});
	return P4_OUT_VF + vf;
}

static inline struct p4_bearer *
p4_want_bearer(struct p4_model *m, uint32_t teid)
{
	for (unsigned i = 0; i < RTE_DIM(m->bearer); i++)
		if (m->bearer[i].there && m->bearer[i].drb.teid == teid)
			return &m->bearer[i];
	return NULL;
}

/** Offload manager. */
static inline unsigned
p4_want_bearer_packet(struct p4_model *m, struct p4_bearer *b, struct p4_frame *f)
{
	static const uint8_t rlc_bytes[] = {0, 1, 2, 3};
	const unsigned total = 36 + rlc_bytes[b->drb.rlc] + (b->drb.pdcp_sn_bits == 12 ? 2U : 3U) +
			       b->drb.sdap + (f->bytes - 58U);
	bool host = m->share == P4_SHARE_BY_MARK ? f->b[18] >> 7 : m->share == P4_SHARE_ALL;
	struct p4_shim s = {.bearer = b->drb.teid};

	host |= total > m->peer[b->drb.peer].mtu || b->tx_next >= 0xFF000000U;
	if (!host && b->owner == P4_OWNER_NIC) {
		p4_want_sent(m, b, f);
		return P4_OUT_WIRE;
	}
	if (b->owner == P4_OWNER_RETURNING) {
		b->sent++;
	} else if (host && b->owner == P4_OWNER_NIC) {
		b->owner = P4_OWNER_HOST;
		s.flags = P4_SHIM_TAKE;
		s.tx_next = b->tx_next;
		s.rlc_tx_next = b->rlc_tx_next;
		p4_want_shim(f, &s);
	} else if (!host) {
		b->owner = P4_OWNER_RETURNING;
		b->sent = 0;
		s.flags = P4_SHIM_RELEASE;
		p4_want_shim(f, &s);
	}
	return P4_OUT_VF + b->drb.vf;
}

/** From the wire, or (`handed_in`) from the host to us. @return enum p4_out; `f` is then it. */
static inline unsigned
p4_want_packet(struct p4_model *m, struct p4_frame *f, bool handed_in)
{
	const struct p4_session *s = NULL;
	struct p4_bearer *b;
	uint32_t teid;
	unsigned qfi, slot;

	if (!p4_want_ours(f))
		return p4_want_aside(f, 0, handed_in);
	teid = be32_get(f->b + 46);
	b = p4_want_bearer(m, teid);
	if (b)
		return P4_OUT_VF + b->drb.vf; /* uplink, as it is */
	for (unsigned i = 0; i < P4_TEST_SESSIONS; i++)
		if (m->session[i].teid == teid)
			s = &m->session[i];
	if (s == NULL)
		return p4_want_aside(f, 0, handed_in);
	if (!p4_want_plain(f))
		return p4_want_aside(f, s->vf, handed_in);
	qfi = f->b[56] & 63;
	slot = s->slot_of[qfi / 2] >> (qfi & 1) * 4 & 15;
	b = slot == 15 ? NULL : p4_want_bearer(m, (teid & ~15U) | slot);
	if (b == NULL)
		return p4_want_aside(f, s->vf, handed_in);
	return p4_want_bearer_packet(m, b, f);
}

/** Any frame from anywhere. */
static inline unsigned
p4_want(struct p4_model *m, enum p4_side side, struct p4_frame *f)
{
	struct p4_bearer *b;
	struct p4_shim s;

	if (side == P4_SIDE_WIRE)
		return p4_want_packet(m, f, false);
	if (f->bytes < 14)
		return P4_OUT_WIRE;
	if (be16_get(f->b + 12) != P4_SHIM_TYPE)
		return p4_want_mac(f->b) ? p4_want_packet(m, f, true) : P4_OUT_WIRE;
	if (f->bytes < P4_SHIM_FRAME_BYTES)
		return P4_OUT_SHORT;
	s = p4_shim_get(f->b + 14);
	b = p4_want_bearer(m, s.bearer);
	if (b && b->owner == P4_OWNER_RETURNING && s.flags == P4_SHIM_RELEASE) {
		b->owner = P4_OWNER_NIC;
		b->tx_next = s.tx_next + b->sent;
		b->rlc_tx_next = s.rlc_tx_next + b->sent;
	}
	return P4_OUT_USED;
}

#endif
