/* SPDX-License-Identifier: BSD-3-Clause */
/* Header processing: every octet of what leaves, and what becomes of what cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/gnb/gnb_rig.h"

/* Headers written octet by octet, first octet first. @return how many */
static size_t
lower(uint8_t *p, const struct gnb_drb_spec *d, uint32_t count, uint32_t rlc_sn, int sdap)
{
	size_t n = 0;

	if (!d->no_rlc && d->rlc_mode == GNB_RLC_UM)
		p[n++] = 0;
	if (!d->no_rlc && d->rlc_mode == GNB_RLC_AM) {
		const struct rlc_amd h = {.sn = rlc_sn &
						rlc_sn_mask((enum rlc_sn_len)d->rlc_sn_bits)};

		n += (size_t)rlc_amd_encode(p + n, 8, (enum rlc_sn_len)d->rlc_sn_bits, &h);
	}
	pdcp_hdr_put(d->pdcp_sn_bits == 18 ? PDCP_DRB_18 : PDCP_DRB_12, p + n, count);
	n += d->pdcp_sn_bits == 18 ? 3 : 2;
	if (sdap >= 0)
		p[n++] = (uint8_t)sdap;
	return n;
}

/* What must leave toward the DU. */
static void
f1_expected(struct rig_frame *f, enum rig_way way, const uint8_t *head, size_t nb, size_t n,
	    uint16_t id)
{
	f->at = 0;
	rig_outer(f, way, false, true, 8 + nb + n, id);
	rig_gtpu(f, RIG_TEID_DU, nb + n, false, -1, false);
	rig_octets(f, head, nb);
	rig_payload(f, n);
}

static void
n3_expected(struct rig_frame *f, enum rig_way way, int qfi, size_t n, uint16_t id)
{
	f->at = 0;
	rig_outer(f, way, true, true, 16 + n, id);
	rig_gtpu(f, RIG_TEID_UPF, n, false, qfi, false);
	rig_payload(f, n);
}

static struct gnb_drb_spec
variant(struct gnb_drb_spec d, unsigned v)
{
	d.pdcp_sn_bits = v & 1 ? 12 : 18;
	d.sdap_dl = v & 2;
	d.sdap_ul = v & 4;
	d.no_rlc = v >> 3 == 0;
	d.rlc_mode = v >> 3 <= 1 ? GNB_RLC_UM : v >> 3 == 4 ? GNB_RLC_TM : GNB_RLC_AM;
	d.rlc_sn_bits = v >> 3 == 2 ? 12 : v >> 3 == 3 ? 18 : 6;
	/* Without header a DRB has one flow. */
	d.is_default = d.sdap_ul;
	d.qfis = d.sdap_ul ? 0 : 1ULL << 9;
	return d;
}

static void
every_format_downlink(void **state)
{
	(void)state;
	for (unsigned v = 0; v < 40; v++) {
		struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
		struct rig_frame in, out;
		uint8_t head[8];
		size_t nb;

		spec.drbs[0] = variant(spec.drbs[0], v);
		spec.drbs[0].set_count = true;
		spec.drbs[0].count = 0x3FFFE; /* both SN lengths wrap on the way */
		spec.drbs[0].rlc_sn = 0x3FFFD;
		rig_set(&spec);
		for (uint32_t i = 0; i < 4; i++) {
			nb = lower(head, &spec.drbs[0], 0x3FFFE + i, 0x3FFFD + i,
				   spec.drbs[0].sdap_dl ? (int)((i & 1) << 6 | 9) : -1);
			rig_n3_frame(&in, RIG_4, rig.teid, 9, i & 1, 70 + i, 0x8123);
			rig_send(rig.in, rig_mbuf(&in));
			f1_expected(&out, RIG_4, head, nb, 70 + i, (uint16_t)(0x3FFFE + i));
			rig_expect(rig_take(rig.tx, 1), &out, 0);
		}
		assert_int_equal(rig_drb(0)->tx_next, 0x3FFFE + 4);
	}
	assert_int_equal(rig_drb(0)->dl_packets, 160);
}

static void
every_format_uplink(void **state)
{
	(void)state;
	for (unsigned v = 0; v < 40; v++) {
		struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
		struct rig_frame in, out;
		uint8_t head[8];
		size_t nb;

		spec.drbs[0] = variant(spec.drbs[0], v);
		rig_set(&spec);
		for (size_t n = 1; n < 200; n += n < 20 ? 1 : 60) {
			nb = lower(head, &spec.drbs[0], 5, 6, spec.drbs[0].sdap_ul ? 0x80 | 9 : -1);
			rig_f1_frame(&in, RIG_4, gnb_teid_with_slot(rig.teid, 0), head, nb, n,
				     0x8321);
			rig_send(rig.in_f1, rig_mbuf(&in));
			n3_expected(&out, RIG_4, 9, n, 0x0321);
			rig_expect(rig_take(rig.rx, 0), &out, 0);
		}
	}
}

/* Octets of a whole frame, as scapy makes them: tests/conformance/test_gnb_header.py has the same
 * ones, and many more. */
static void
golden_downlink(void **state)
{
	static const uint8_t golden[] = {
		0x02, 0x00, 0x00, 0x00, 0x07, 0x09, 0x02, 0x00, 0x00, 0x00, 0x07, 0x01, 0x08, 0x00,
		/* IPv4, 45 octets, Identification 0x0102 */
		0x45, 0x00, 0x00, 0x2d, 0x01, 0x02, 0x00, 0x00, 0x40, 0x11, 0x65, 0xa7, 0x0a, 0x07,
		0x00, 0x01, 0x0a, 0x07, 0x00, 0x09,
		/* UDP */
		0x08, 0x68, 0x08, 0x68, 0x00, 0x19, 0x00, 0x00,
		/* GTP-U */
		0x30, 0xff, 0x00, 0x09, 0x0d, 0x0e, 0x0f, 0x10,
		/* RLC UM, PDCP SN 0x10102 of 18 bits, SDAP RQI and QFI 5 */
		0x00, 0x81, 0x01, 0x02, 0x45, 0x01, 0x08, 0x0f, 0x16};
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct rig_frame in, out = {.at = sizeof(golden)};

	(void)state;
	spec.drbs[0].count = 0x10102;
	rig_set(&spec);
	memcpy(out.b, golden, sizeof(golden));
	rig_n3_frame(&in, RIG_4, rig.teid, 5, true, 4, 0);
	rig_send(rig.in, rig_mbuf(&in));
	rig_expect(rig_take(rig.tx, 1), &out, 0);
}

static void
every_transport(void **state)
{
	static const enum rig_way up[] = {RIG_4, RIG_4, RIG_6, RIG_6, RIG_4},
				  down[] = {RIG_4, RIG_6, RIG_4, RIG_6, RIG_VLAN};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(up); i++) {
		struct gnb_session_spec spec = rig_spec(up[i], down[i]);
		struct rig_frame in, out;
		uint8_t head[8];
		size_t nb = lower(head, &spec.drbs[0], i, 0, 7);

		rig_set(&spec);
		rig_n3_frame(&in, up[i], rig.teid, 7, false, 100, 9);
		rig_send(rig.in, rig_mbuf(&in));
		f1_expected(&out, down[i], head, nb, 100, (uint16_t)i);
		rig_expect(rig_take(rig.tx, 1), &out, 0);
		head[nb - 1] |= 0x80;
		rig_f1_frame(&in, down[i], gnb_teid_with_slot(rig.teid, 0), head, nb, 100, 9);
		rig_send(rig.in_f1, rig_mbuf(&in));
		n3_expected(&out, up[i], 7, 100, down[i] == RIG_6 ? 0 : 9);
		rig_expect(rig_take(rig.rx, 0), &out, 0);
	}
}

/* upf_out makes of it what the frame would have been. */
static void
without_a_neighbour(void **state)
{
	static const uint8_t stranger[4] = {10, 7, 0, 77}, upf_b[4] = {10, 3, 0, 77};
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct rig_frame in, out;
	uint8_t head[8];
	size_t nb = lower(head, &spec.drbs[0], 0, 0, 7);
	struct rte_mbuf *m;

	(void)state;
	spec.drbs[0].du = rig_peer(RIG_F1, false, stranger);
	spec.upf = rig_peer(RIG_N3, false, upf_b);
	rig_set(&spec);
	rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 50, 9);
	rig_send(rig.in, rig_mbuf(&in));
	f1_expected(&out, RIG_4, head, nb, 50, 0);
	/* The destination is another, and so the checksum. */
	out.b[14 + 19] = 77;
	be16_put(out.b + 24, (uint16_t)(be16_get(out.b + 24) - (77 - 9)));
	m = rig_take(rig.tx, GNB_HDR_OUT);
	assert_non_null(m);
	assert_int_equal(upf_leave(m)->peer, spec.drbs[0].du);
	assert_int_equal(upf_leave(m)->interface, RIG_F1);
	rig_expect(m, &out, 14);
	head[nb - 1] |= 0x80;
	rig_f1_frame(&in, RIG_4, gnb_teid_with_slot(rig.teid, 0), head, nb, 50, 9);
	rig_send(rig.in_f1, rig_mbuf(&in));
	n3_expected(&out, RIG_4, 7, 50, 9);
	out.b[14 + 19] = 77;
	be16_put(out.b + 24, (uint16_t)(be16_get(out.b + 24) - (77 - 1)));
	m = rig_take(rig.rx, GNB_HDR_OUT);
	assert_non_null(m);
	assert_int_equal(upf_leave(m)->peer, spec.upf);
	rig_expect(m, &out, 14);
}

/* A neighbour that moves is noticed within a millisecond. */
static void
a_neighbour_moves(void **state)
{
	static const uint8_t mac[6] = {2, 9, 9, 9, 9, 9};
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct rig_frame in;
	struct rte_mbuf *m;

	(void)state;
	rig_set(&spec);
	for (unsigned i = 0; i < 2; i++) {
		rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 50, 9);
		rig_send(rig.in, rig_mbuf(&in));
		m = rig_take(rig.tx, 1);
		assert_non_null(m);
		assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), i ? mac : rig_mac_du, 6);
		rte_pktmbuf_free(m);
		rig_know(RIG_F1, false, rig_du_4, mac);
		rig.tx->worker.now_ns += GNB_FRAME_NS;
	}
}

/* What is longer than the MTU is upf_out's, and so is what has no room or shares its buffer. */
static void
packets_that_need_more(void **state)
{
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct rig_frame in, out;
	uint8_t head[8];
	size_t nb;
	struct rte_mbuf *m, *first;

	(void)state;
	rig_set(&spec);
	rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 1500, 9);
	rig_send(rig.in, rig_mbuf(&in));
	nb = lower(head, &spec.drbs[0], 0, 0, 7);
	f1_expected(&out, RIG_4, head, nb, 1500, 0);
	rig_expect(rig_take(rig.tx, GNB_HDR_OUT), &out, 14);
	/* Two segments. */
	rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 900, 9);
	first = rig_mbuf(&in);
	m = rte_pktmbuf_alloc(rig.pool);
	rte_pktmbuf_trim(first, 700);
	memcpy(rte_pktmbuf_append(m, 700), in.b + in.at - 700, 700);
	assert_int_equal(rte_pktmbuf_chain(first, m), 0);
	rig_send(rig.in, first);
	nb = lower(head, &spec.drbs[0], 1, 0, 7);
	f1_expected(&out, RIG_4, head, nb, 900, 1);
	rig_expect(rig_take(rig.tx, 1), &out, 0);
	/* A shared buffer is read-only. */
	rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 900, 9);
	first = rig_mbuf(&in);
	m = rte_pktmbuf_clone(first, rig.ind);
	*ap_meta(m) = (struct ap_meta){0};
	rig_send(rig.in, m);
	nb = lower(head, &spec.drbs[0], 2, 0, 7);
	f1_expected(&out, RIG_4, head, nb, 900, 2);
	rig_expect(rig_take(rig.tx, GNB_HDR_OUT), &out, 14);
	assert_memory_equal(rte_pktmbuf_mtod(first, uint8_t *), in.b, in.at);
	rte_pktmbuf_free(first);
}

static void
downlink_that_cannot_pass(void **state)
{
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct rig_frame in;
	struct rte_mbuf *m;

	(void)state;
	spec.drbs[0].is_default = false;
	spec.drbs[0].qfis = 1ULL << 7 | 1ULL << 8;
	rig_set(&spec);
	/* A QFI no DRB takes. */
	rig_n3_frame(&in, RIG_4, rig.teid, 6, false, 50, 0);
	rig_send(rig.in, rig_mbuf(&in));
	assert_int_equal(rig_dropped(rig.drb, "no_drb"), 1);
	/* No container. */
	rig_n3_frame(&in, RIG_4, rig.teid, -1, false, 50, 0);
	rig_send(rig.in, rig_mbuf(&in));
	assert_int_equal(rig_dropped(rig.drb, "no_qfi"), 1);
	/* A TEID of nobody, of an earlier generation, beyond the table, or of the other side. */
	static const uint32_t strange[] = {0, 0x0304D00F, 0x020004DF, 0x03FFFFFF, 0x030004D0};

	for (unsigned i = 0; i < RTE_DIM(strange); i++) {
		rig_n3_frame(&in, RIG_4, strange[i], 7, false, 50, 0);
		rig_send(rig.in, rig_mbuf(&in));
		m = rig_take(rig.drb, GNB_DRB_LOCAL);
		assert_non_null(m);
		assert_int_equal(upf_arrival(m)->teid, strange[i]);
		rte_pktmbuf_free(m);
	}
	/* A container that is longer than it can be, and one that the packet ends in. */
	rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 50, 0);
	in.b[14 + 28 + 12] = 40;
	rig_send(rig.in, rig_mbuf(&in));
	in.b[14 + 28 + 12] = 0;
	rig_send(rig.in, rig_mbuf(&in));
	assert_int_equal(rig_dropped(rig.in, "gtpu"), 2);
	assert_int_equal(rig_drb(0)->tx_next, 0);
}

static void
uplink_that_cannot_pass(void **state)
{
	static const struct {
		const char *reason;
		uint8_t octets[8];
		size_t n;
	} bad[] = {
		{"rlc_control", {0x00, 1, 2}, 3},
		{"rlc_segment", {0x90, 1, 2, 0x80}, 4},
		{"rlc_segment", {0xB0, 1, 2, 0, 9}, 5},
		{"pdcp_control", {0x80, 0, 5, 0x10}, 4},
		{"short", {0x80, 0, 5}, 3},
		{"short", {0x80}, 1},
		{"short", {0x80, 0, 5, 0x80, 0, 1}, 6},
		{"short", {0x80, 0, 5, 0x80, 0, 1, 0x87}, 7},
		{"rlc_segment", {0xA0, 0, 5, 0x80, 1}, 5},
	};
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	uint64_t before;
	struct rig_frame in;
	struct rte_mbuf *m;

	(void)state;
	spec.drbs[0].rlc_mode = GNB_RLC_AM;
	spec.drbs[0].rlc_sn_bits = 18;
	rig_set(&spec);
	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		before = rig_dropped(rig.rx, bad[i].reason);
		rig_f1_frame(&in, RIG_4, gnb_teid_with_slot(rig.teid, 0), bad[i].octets, bad[i].n,
			     0, 0);
		rig_send(rig.in_f1, rig_mbuf(&in));
		assert_int_equal(rig_dropped(rig.rx, bad[i].reason), before + 1);
	}
	assert_int_equal(rig_drb(0)->drops, RTE_DIM(bad));
	/* An SDAP end-marker is taken (TS 37.324 §6.2.3). */
	rig_f1_frame(&in, RIG_4, gnb_teid_with_slot(rig.teid, 0),
		     (const uint8_t[]){0x80, 0, 5, 0x80, 0, 1, 0x07}, 7, 0, 0);
	rig_send(rig.in_f1, rig_mbuf(&in));
	assert_int_equal(rig.rx->n.used, 1);
	/* A slot without DRB, one there cannot be, and the session's own tunnel. */
	for (unsigned slot = 1; slot < 16; slot += slot == 1 ? 8 : 6) {
		rig_f1_frame(&in, RIG_4, gnb_teid_with_slot(rig.teid, slot), (const uint8_t[]){0},
			     1, 50, 0);
		rig_send(rig.in_f1, rig_mbuf(&in));
		m = slot == 1 ? rig_take(rig.rx, GNB_HDR_LOCAL) : rig_take(rig.drb, GNB_DRB_LOCAL);
		assert_non_null(m);
		assert_int_equal(upf_arrival(m)->teid, gnb_teid_with_slot(rig.teid, slot));
		assert_int_equal(upf_arrival(m)->rx & UPF_RX_TUNNEL, UPF_RX_TUNNEL);
		rte_pktmbuf_free(m);
	}
	/* The UPF said it has no such tunnel. */
	spec.flags = GNB_SESSION_UL_STOPPED;
	rig_set(&spec);
	rig_f1_frame(&in, RIG_4, gnb_teid_with_slot(rig.teid, 0),
		     (const uint8_t[]){0x80, 0, 5, 0x80, 0, 1, 0x87}, 7, 50, 0);
	rig_send(rig.in_f1, rig_mbuf(&in));
	assert_int_equal(rig_dropped(rig.rx, "ul_stopped"), 1);
}

static void
count_comes_to_its_end(void **state)
{
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct gnb_report r;
	struct rig_frame in;
	struct rte_mbuf *m;

	(void)state;
	spec.drbs[0].count = GNB_COUNT_MAX - 2;
	rig_set(&spec);
	for (unsigned i = 0; i < 4; i++) {
		rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 50, 0);
		rig_send(rig.in, rig_mbuf(&in));
		m = rig_take(rig.tx, 1);
		assert_true((m != NULL) == (i < 2));
		rte_pktmbuf_free(m);
	}
	assert_int_equal(rig_dropped(rig.tx, "count_limit"), 2);
	assert_int_equal(rig_drb(0)->tx_next, GNB_COUNT_MAX);
	assert_true(gnb_report_get(rig.gnb.ctx[0].reports, &r));
	assert_int_equal(r.kind, GNB_REPORT_COUNT_NOTIFY);
	assert_int_equal(r.teid, gnb_teid_with_slot(rig.teid, 0));
	assert_true(gnb_report_get(rig.gnb.ctx[0].reports, &r));
	assert_int_equal(r.kind, GNB_REPORT_COUNT_LIMIT);
	assert_int_equal(r.count, GNB_COUNT_MAX);
	assert_false(gnb_report_get(rig.gnb.ctx[0].reports, &r));
}

/* After a handover, TS 23.502 §4.9.1.2: what still comes goes on, end marker last. */
static void
forwarding(void **state)
{
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct rig_frame in, out = {.at = 0};
	struct rte_mbuf *m;

	(void)state;
	rig_set(&spec);
	/* Nobody to forward to: the end marker ends here. */
	rig_n3_frame(&in, RIG_4, rig.teid, 7, false, 50, 0);
	m = rig_mbuf(&in);
	*upf_arrival(m) = (struct upf_arrival){
		.teid = rig.teid, .rx = UPF_RX_TUNNEL | UPF_RX_END_MARKER, .interface = RIG_N3};
	test_node_visit(rig.drb, &m, 1);
	assert_int_equal(rig_dropped(rig.drb, "end_marker"), 1);
	spec.forward = rig_upf(RIG_4);
	spec.forward_teid = 0x77665544;
	rig_set(&spec);
	rig_n3_frame(&in, RIG_4, rig.teid, 7, true, 50, 0);
	rig_send(rig.in, rig_mbuf(&in));
	rig_outer(&out, RIG_4, true, true, 16 + 50, 0);
	rig_gtpu(&out, 0x77665544, 50, true, 7, true);
	rig_payload(&out, 50);
	m = rig_take(rig.drb, GNB_DRB_OUT);
	assert_non_null(m);
	assert_int_equal(upf_leave(m)->peer, spec.forward);
	rig_expect(m, &out, 14);
	m = rte_pktmbuf_alloc(rig.pool);
	*upf_arrival(m) = (struct upf_arrival){
		.teid = rig.teid, .rx = UPF_RX_TUNNEL | UPF_RX_END_MARKER, .interface = RIG_N3};
	test_node_visit(rig.drb, &m, 1);
	out.at = 0;
	rig_outer(&out, RIG_4, true, true, 8, 0);
	rig_gtpu(&out, 0x77665544, 0, true, -1, false);
	out.b[14 + 28 + 1] = 254;
	rig_expect(rig_take(rig.drb, GNB_DRB_OUT), &out, 14);
}

/* QFIs to DRBs: a map, a DRB each, numbering of their own. */
static void
several_drbs(void **state)
{
	struct gnb_session_spec spec = rig_spec(RIG_4, RIG_4);
	struct rig_frame in, out;
	uint8_t head[8];

	(void)state;
	spec.nb_drbs = 4;
	for (unsigned i = 0; i < 4; i++) {
		spec.drbs[i] = spec.drbs[0];
		spec.drbs[i].slot = (uint8_t)i;
		spec.drbs[i].id = (uint8_t)(i + 1);
		spec.drbs[i].is_default = i == 3;
		spec.drbs[i].qfis = i == 3 ? 0 : 1ULL << (10 + i);
		spec.drbs[i].du_teid = RIG_TEID_DU;
		spec.drbs[i].count = i * 100;
	}
	rig_set(&spec);
	for (unsigned qfi = 0; qfi < 64; qfi++) {
		const unsigned slot = qfi >= 10 && qfi < 13 ? qfi - 10 : 3;
		const uint32_t count = rig_drb(slot)->tx_next;
		size_t nb = lower(head, &spec.drbs[slot], count, 0, (int)qfi);

		rig_n3_frame(&in, RIG_4, rig.teid, (int)qfi, false, 60, 0);
		rig_send(rig.in, rig_mbuf(&in));
		f1_expected(&out, RIG_4, head, nb, 60, (uint16_t)count);
		rig_expect(rig_take(rig.tx, 1), &out, 0);
	}
	assert_int_equal(rig_drb(3)->tx_next, 300 + 61);
}

/* Whatever the fast path takes the general one takes the same way. */
static void
fast_and_general_agree(void **state)
{
	uint64_t random = 88172645463325252ULL, taken = 0;
	static uint8_t was[RIG_FRAME];

	(void)state;
	for (unsigned i = 0; i < 300000; i++) {
		const enum rig_way way = i % 3;
		const bool up = i & 1 || way == RIG_VLAN;
		struct gnb_in *in = up ? rig.in_f1->n.priv : rig.in->n.priv;
		struct rte_mbuf *a, *b;
		struct rig_frame f;

		if (up)
			rig_f1_frame(&f, way, rig.teid ^ 3, (const uint8_t[]){1, 2, 3}, 3, i % 90,
				     0x8111);
		else
			rig_n3_frame(&f, way, rig.teid, (int)(i % 64), i & 2, 1 + i % 90, 0x8111);
		/* One or two octets of the headers, or of the lengths, become something else. */
		for (unsigned k = 0; k < i % 3; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			f.b[(random >> 20) % 84] =
				(uint8_t)(random & 1 ? random >> 40
						     : f.b[(random >> 20) % 84] ^
							       1U << (random >> 50) % 8);
		}
		if (i % 5 == 0)
			f.at += 20; /* a padded frame */
		a = rig_mbuf(&f);
		b = rig_mbuf(&f);
		memcpy(was, rte_pktmbuf_mtod(a, uint8_t *), a->data_len);
		if (gnb_in_fast(in, a)) {
			taken++;
			assert_int_equal(gnb_in_any(in, b), UPF_IN_PASS);
			assert_memory_equal(upf_arrival(a), upf_arrival(b), 8);
			assert_int_equal(a->data_off, b->data_off);
			assert_int_equal(a->data_len, b->data_len);
			assert_int_equal(a->pkt_len, b->pkt_len);
			assert_int_equal(upf_outer_bytes(a), upf_outer_bytes(b));
		} else {
			assert_memory_equal(was, rte_pktmbuf_mtod(a, uint8_t *), a->data_len);
			assert_true(i % 3 != 0 || f.at < 88 || i % 5 == 0);
		}
		rte_pktmbuf_free(a);
		rte_pktmbuf_free(b);
	}
	assert_true(taken > 100000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_format_downlink, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(every_format_uplink, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(golden_downlink, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(every_transport, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(without_a_neighbour, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(a_neighbour_moves, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(packets_that_need_more, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(downlink_that_cannot_pass, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(uplink_that_cannot_pass, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(count_comes_to_its_end, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(forwarding, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(several_drbs, rig_up, rig_down),
		cmocka_unit_test_setup_teardown(fast_and_general_agree, rig_up, rig_down),
	};

	if (test_eal_init() < 0)
		return 1;
	rig.pool = test_pool("packets", 512, 2560);
	rig.ind = test_pool("indirect", 512, 0);
	return rig.pool && rig.ind ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
