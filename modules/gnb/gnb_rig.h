/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_RIG_H
#define AIRPATH_GNB_RIG_H

/**
 * A gNB for tests, without a deployment: interfaces n3 (port 0), f1 (port 1) and f1 in VLAN 7, two
 * UPFs, DUs over IPv4, IPv6 and VLAN, whose link addresses are known, and nodes in a row.
 * cmocka must be included first.
 */

#include <string.h>

#include <rte_malloc.h>

#include "codec/pdcp.h"
#include "codec/rlc.h"
#include "codec/sdap.h"
#include "modules/gnb/gnb_frame.h"
#include "modules/gnb/gnb_hdr.h"
#include "modules/gnb/gnb_in.h"
#include "test_eal.h"
#include "test_node.h"

#define RIG_N3 1
#define RIG_F1 2
#define RIG_F1_VLAN 3
#define RIG_FRAME 2400
#define RIG_TEID_UPF 0xA1B2C3D4U
#define RIG_TEID_DU 0x0D0E0F10U /**< of slot 0; the others follow */
#define RIG_NOW (5 * 1000000000ULL)

static const uint8_t rig_mac_n3[6] = {2, 0, 0, 0, 3, 1}, rig_mac_f1[6] = {2, 0, 0, 0, 7, 1};
static const uint8_t rig_mac_upf[6] = {2, 0, 0, 0, 3, 9}, rig_mac_du[6] = {2, 0, 0, 0, 7, 9};
static const uint8_t rig_n3_4[4] = {10, 3, 0, 2}, rig_f1_4[4] = {10, 7, 0, 1};
static const uint8_t rig_f1v_4[4] = {10, 8, 0, 1}, rig_duv_4[4] = {10, 8, 0, 9};
static const uint8_t rig_upf_4[4] = {10, 3, 0, 1}, rig_du_4[4] = {10, 7, 0, 9};
static const uint8_t rig_n3_6[16] = {0xfd, 3, [15] = 2}, rig_f1_6[16] = {0xfd, 7, [15] = 1};
static const uint8_t rig_upf_6[16] = {0xfd, 3, [15] = 1}, rig_du_6[16] = {0xfd, 7, [15] = 9};

/** Which addresses a tunnel runs between. */
enum rig_way { RIG_4, RIG_6, RIG_VLAN };

static struct {
	struct rte_mempool *pool, *ind;
	struct gnb gnb;
	struct upf_worker edge;
	struct gnb_worker worker;
	struct test_node *in, *in_f1, *drb, *tx, *rx;
	uint32_t teid;
} rig;

/** A frame being written. */
struct rig_frame {
	uint8_t b[RIG_FRAME];
	size_t at;
};

static inline void
rig_octets(struct rig_frame *f, const void *p, size_t n)
{
	memcpy(f->b + f->at, p, n);
	f->at += n;
}

static inline void
rig_u8(struct rig_frame *f, unsigned v)
{
	f->b[f->at++] = (uint8_t)v;
}

static inline void
rig_u16(struct rig_frame *f, unsigned v)
{
	be16_put(f->b + f->at, (uint16_t)v);
	f->at += 2;
}

static inline void
rig_u32(struct rig_frame *f, uint32_t v)
{
	be32_put(f->b + f->at, v);
	f->at += 4;
}

/** Link, IP and UDP header written octet by octet, independently of what is tested. */
static inline void
rig_outer(struct rig_frame *f, enum rig_way way, bool n3, bool ours, size_t gtpu, uint16_t id)
{
	const uint8_t *our_mac = n3 ? rig_mac_n3 : rig_mac_f1;
	const uint8_t *their_mac = n3 ? rig_mac_upf : rig_mac_du;
	const bool v6 = way == RIG_6;
	const uint8_t *us = v6                ? n3 ? rig_n3_6 : rig_f1_6
			    : way == RIG_VLAN ? rig_f1v_4
			    : n3              ? rig_n3_4
					      : rig_f1_4;
	const uint8_t *them = v6                ? n3 ? rig_upf_6 : rig_du_6
			      : way == RIG_VLAN ? rig_duv_4
			      : n3              ? rig_upf_4
						: rig_du_4;
	uint32_t sum = 0;
	size_t ip;

	rig_octets(f, ours ? their_mac : our_mac, 6);
	rig_octets(f, ours ? our_mac : their_mac, 6);
	if (way == RIG_VLAN) {
		rig_u16(f, 0x8100);
		rig_u16(f, 7);
	}
	rig_u16(f, v6 ? 0x86DD : 0x0800);
	ip = f->at;
	if (v6) {
		rig_u32(f, 0x60000000);
		rig_u16(f, (unsigned)(8 + gtpu));
		rig_u8(f, 17);
		rig_u8(f, 64);
	} else {
		rig_u16(f, 0x4500);
		rig_u16(f, (unsigned)(28 + gtpu));
		rig_u16(f, id);
		rig_u16(f, 0);
		rig_u8(f, 64);
		rig_u8(f, 17);
		rig_u16(f, 0);
	}
	rig_octets(f, ours ? us : them, v6 ? 16 : 4);
	rig_octets(f, ours ? them : us, v6 ? 16 : 4);
	if (!v6) {
		for (unsigned i = 0; i < 20; i += 2)
			sum += be16_get(f->b + ip + i);
		sum = (sum & 0xFFFF) + (sum >> 16);
		be16_put(f->b + ip + 10, (uint16_t) ~(sum + (sum >> 16)));
	}
	rig_u16(f, 2152);
	rig_u16(f, 2152);
	rig_u16(f, (unsigned)(8 + gtpu));
	rig_u16(f, 0);
}

/** @param qfi < 0: without container */
static inline void
rig_gtpu(struct rig_frame *f, uint32_t teid, size_t tpdu, bool down, int qfi, bool rqi)
{
	rig_u8(f, qfi < 0 ? 0x30 : 0x34);
	rig_u8(f, 255);
	rig_u16(f, (unsigned)(tpdu + (qfi < 0 ? 0 : 8)));
	rig_u32(f, teid);
	if (qfi < 0)
		return;
	rig_u32(f, 0x85);
	rig_u8(f, 1);
	rig_u8(f, down ? 0x00 : 0x10);
	rig_u8(f, (unsigned)qfi | (rqi ? 0x40U : 0));
	rig_u8(f, 0);
}

static inline void
rig_payload(struct rig_frame *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rig_u8(f, (unsigned)(i * 7 + 1));
}

/** A downlink G-PDU as a UPF sends it. */
static inline void
rig_n3_frame(struct rig_frame *f, enum rig_way way, uint32_t teid, int qfi, bool rqi, size_t n,
	     uint16_t id)
{
	f->at = 0;
	rig_outer(f, way, true, false, (qfi < 0 ? 8 : 16) + n, id);
	rig_gtpu(f, teid, n, true, qfi, rqi);
	rig_payload(f, n);
}

/** An uplink G-PDU as a DU sends it: `head` before a payload of `n`. */
static inline void
rig_f1_frame(struct rig_frame *f, enum rig_way way, uint32_t teid, const uint8_t *head, size_t nb,
	     size_t n, uint16_t id)
{
	f->at = 0;
	rig_outer(f, way, false, false, 8 + nb + n, id);
	rig_gtpu(f, teid, nb + n, false, -1, false);
	rig_octets(f, head, nb);
	rig_payload(f, n);
}

static inline struct rte_mbuf *
rig_mbuf(const struct rig_frame *f)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)f->at), f->b, f->at);
	*ap_meta(m) = (struct ap_meta){0};
	return m;
}

static inline uint64_t
rig_dropped(const struct test_node *t, const char *reason)
{
	for (unsigned i = 0; i < t->n.type->nb_drops; i++)
		if (strcmp(t->n.type->drops[i], reason) == 0)
			return t->n.drops[i];
	fail_msg("%s has no drop %s", t->n.type->name, reason);
	return 0;
}

/* --- making it -------------------------------------------------------------------------------- */

static inline struct upf_net_prefix
rig_prefix(bool v6, const uint8_t *address, uint8_t bits)
{
	struct upf_net_prefix p = {.bits = bits, .v6 = v6};

	memcpy(p.address, address, v6 ? 16 : 4);
	return p;
}

static inline struct upf_net *
rig_net(void)
{
	struct upf_net_interface itf[3] = {
		{.name = "n3", .port = 0, .nb_addresses = 2},
		{.name = "f1", .port = 1, .nb_addresses = 2},
		{.name = "f1v", .port = 1, .vlan = 7, .nb_addresses = 1},
	};
	struct upf_net_cfg cfg = {.nb_interfaces = 3,
				  .interfaces = itf,
				  .opaque = true,
				  .neighbours_max = 64,
				  .pool = rig.pool,
				  .indirect = rig.ind};
	struct ap_error err = {0};

	memcpy(itf[0].mac, rig_mac_n3, 6);
	memcpy(itf[1].mac, rig_mac_f1, 6);
	memcpy(itf[2].mac, rig_mac_f1, 6);
	itf[0].addresses[0] = rig_prefix(false, rig_n3_4, 24);
	itf[0].addresses[1] = rig_prefix(true, rig_n3_6, 64);
	itf[1].addresses[0] = rig_prefix(false, rig_f1_4, 24);
	itf[1].addresses[1] = rig_prefix(true, rig_f1_6, 64);
	itf[2].addresses[0] = rig_prefix(false, rig_f1v_4, 24);
	return upf_net_create(&cfg, &err);
}

/** @return the peer's index */
static inline uint16_t
rig_peer(uint8_t interface, bool v6, const uint8_t *address)
{
	struct upf_peer_key key = {
		.port = 2152, .octets = v6 ? 16 : 4, .interface = interface, .gtpu = true};
	int index;

	memcpy(key.ip, address, v6 ? 16 : 4);
	index = upf_peer_get(&rig.gnb.edge.peers, &key, RIG_NOW);
	assert_true(index > 0);
	return (uint16_t)index;
}

static inline void
rig_know(uint8_t interface, bool v6, const uint8_t *address, const uint8_t *mac)
{
	struct upf_neigh_key key = {.interface = interface, .v6 = v6};
	int index;

	memcpy(key.address, address, v6 ? 16 : 4);
	index = upf_neigh_get(&rig.gnb.edge.net->neighs, &key, false, RIG_NOW);
	assert_true(index >= 0);
	upf_neigh_learn(&rig.gnb.edge.net->neighs, (uint32_t)index, mac, RIG_NOW);
}

static inline uint16_t
rig_upf(enum rig_way way)
{
	return rig_peer(RIG_N3, way == RIG_6, way == RIG_6 ? rig_upf_6 : rig_upf_4);
}

static inline uint16_t
rig_du(enum rig_way way)
{
	return way == RIG_VLAN ? rig_peer(RIG_F1_VLAN, false, rig_duv_4)
			       : rig_peer(RIG_F1, way == RIG_6, way == RIG_6 ? rig_du_6 : rig_du_4);
}

/** A session of one DRB that takes every QFI. */
static inline struct gnb_session_spec
rig_spec(enum rig_way up, enum rig_way down)
{
	return (struct gnb_session_spec){
		.teid = rig.teid,
		.ul_teid = RIG_TEID_UPF,
		.upf = rig_upf(up),
		.pdu_session = 1,
		.nb_drbs = 1,
		.drbs = {{.id = 1,
			  .is_default = true,
			  .sdap_dl = true,
			  .sdap_ul = true,
			  .pdcp_sn_bits = 18,
			  .rlc_mode = GNB_RLC_UM,
			  .rlc_sn_bits = 12,
			  .du_teid = RIG_TEID_DU,
			  .du = rig_du(down)}},
	};
}

static inline void
rig_set(const struct gnb_session_spec *spec)
{
	static struct gnb_image image;
	char why[128] = "";

	if (gnb_image_make(spec, gnb_drbs_per_session(rig.gnb.table), &image, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	gnb_session_set(rig.gnb.table, &image);
}

static inline struct gnb_drb *
rig_drb(unsigned slot)
{
	return gnb_drb_at(rig.gnb.table, rig.teid, slot);
}

static inline struct test_node *
rig_node(const char *type, int port)
{
	struct test_node *t = test_node_make(type, &rig.gnb);

	t->n.arg = (void *)(intptr_t)port;
	t->worker.now_ns = RIG_NOW;
	if (t->n.type->init)
		assert_int_equal(t->n.type->init(&t->n), 0);
	return t;
}

static inline int
rig_up(void **state)
{
	static unsigned serial;

	(void)state;
	rig.gnb = (struct gnb){.side = {[RIG_F1] = AP_GNB_F1, [RIG_F1_VLAN] = AP_GNB_F1}};
	rig.gnb.edge.net = rig_net();
	rig.gnb.edge.nb_workers = 1;
	rig.gnb.edge.workers = &rig.edge;
	rig.edge.hdr_pool = rig.pool;
	rig.gnb.workers = &rig.worker;
	rig.gnb.table = gnb_table_create(1000, 4, SOCKET_ID_ANY);
	rig.gnb.ctx = gnb_ctx_workers_init(rig.gnb.table, 1, 100 + serial++);
	rig.worker.frames = rte_zmalloc("f", UPF_PEERS_MAX * sizeof(struct gnb_frame),
					_Alignof(struct gnb_frame));
	rig.teid = gnb_teid(3, 77, GNB_SLOT_N3);
	if (!rig.gnb.edge.net || upf_peers_init(&rig.gnb.edge.peers, rig.gnb.edge.net) < 0 ||
	    !rig.gnb.table || !rig.gnb.ctx || !rig.worker.frames)
		return -1;
	rig_know(RIG_N3, false, rig_upf_4, rig_mac_upf);
	rig_know(RIG_N3, true, rig_upf_6, rig_mac_upf);
	rig_know(RIG_F1, false, rig_du_4, rig_mac_du);
	rig_know(RIG_F1, true, rig_du_6, rig_mac_du);
	rig_know(RIG_F1_VLAN, false, rig_duv_4, rig_mac_du);
	rig.in = rig_node("gnb_in", 0);
	rig.in_f1 = rig_node("gnb_in", 1);
	rig.drb = rig_node("gnb_drb", 0);
	rig.tx = rig_node("gnb_hdr_tx", 0);
	rig.rx = rig_node("gnb_hdr_rx", 0);
	return 0;
}

static inline int
rig_down(void **state)
{
	struct test_node *all[] = {rig.in, rig.in_f1, rig.drb, rig.tx, rig.rx};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(all); i++) {
		test_node_balance(all[i]);
		test_node_free(all[i]);
	}
	rte_free(rig.worker.frames);
	gnb_ctx_workers_fini(rig.gnb.ctx, 1);
	gnb_table_destroy(rig.gnb.table);
	upf_peers_fini(&rig.gnb.edge.peers);
	upf_net_destroy(rig.gnb.edge.net);
	assert_pool_full(rig.pool);
	assert_pool_full(rig.ind);
	return 0;
}

/* --- using it --------------------------------------------------------------------------------- */

/** A packet from `from`'s edge to node `to`. @return whether there was one */
static inline bool
rig_pass(struct test_node *from, unsigned edge, struct test_node *to)
{
	struct rte_mbuf **out;
	uint16_t nb = test_node_take(from, edge, &out);

	if (nb > 0)
		test_node_visit(to, out, nb);
	return nb > 0;
}

/** One packet through in, drb and the header node. */
static inline void
rig_send(struct test_node *in, struct rte_mbuf *m)
{
	test_node_visit(in, &m, 1);
	if (!rig_pass(in, GNB_IN_DRB, rig.drb))
		return;
	rig_pass(rig.drb, GNB_DRB_DOWN, rig.tx);
	rig_pass(rig.drb, GNB_DRB_UP, rig.rx);
}

/** The one packet at an edge, or NULL. */
static inline struct rte_mbuf *
rig_take(struct test_node *t, unsigned edge)
{
	struct rte_mbuf **out;
	uint16_t nb = test_node_take(t, edge, &out);

	assert_true(nb <= 1);
	return nb ? out[0] : NULL;
}

/** The packet is the frame, octet by octet; then it goes. @param from of the frame */
static inline void
rig_expect(struct rte_mbuf *m, const struct rig_frame *f, size_t from)
{
	static uint8_t linear[RIG_FRAME];

	assert_non_null(m);
	assert_int_equal(m->pkt_len, f->at - from);
	assert_memory_equal(rte_pktmbuf_read(m, 0, m->pkt_len, linear), f->b + from, m->pkt_len);
	rte_pktmbuf_free(m);
}

#endif
