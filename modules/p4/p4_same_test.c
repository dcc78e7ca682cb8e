/* SPDX-License-Identifier: BSD-3-Clause */
/** Host and SmartNIC program get the same packets: what the program sends is what the host's
 * nodes would have sent, octet by octet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "modules/gnb/gnb_rig.h"
#include "modules/p4/p4_nic.h"

#define SESSIONS 96U
#define PACKETS 1600000U

static struct p4_nic *nic;
static uint64_t seed = 0x5eed;

static uint32_t
any(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static uint32_t
teid_of(uint32_t i)
{
	return gnb_teid((uint8_t)(1 + i % 5), i, GNB_SLOT_N3);
}

/** Every RLC mode, every length of SNs, with SDAP and without; two DRBs in odd sessions. */
static void
session_make(uint32_t i)
{
	const enum gnb_rlc_mode mode = (enum gnb_rlc_mode)(i % 3);
	struct gnb_session_spec spec = {
		.teid = teid_of(i), .ul_teid = i, .upf = rig_upf(RIG_4), .pdu_session = 1};

	spec.nb_drbs = (uint8_t)(1 + i % 2);
	for (unsigned k = 0; k < spec.nb_drbs; k++)
		spec.drbs[k] = (struct gnb_drb_spec){
			.id = (uint8_t)(1 + k),
			.slot = (uint8_t)k,
			.qfis = k ? 1ULL << 5 | 1ULL << 63 : 1ULL << 9 | 1ULL << 40,
			.sdap_dl = i & 8,
			.sdap_ul = true,
			.no_rlc = i % 16 == 15,
			.pdcp_sn_bits = i & 4 ? 12 : 18,
			.rlc_mode = mode,
			.rlc_sn_bits = mode == GNB_RLC_UM || i & 16 ? 12 : 18,
			.du_teid = RIG_TEID_DU + i * 4 + k,
			.du = rig_du(RIG_4),
			.set_count = true,
			.count = any(1 << 20),
			.rlc_sn = any(1 << 20),
		};
	rig_set(&spec);
}

/** A packet through the program. @return enum p4_out; the caller frees it. */
static unsigned
through_nic(enum p4_side side, struct rte_mbuf **m)
{
	static struct p4_result r;

	p4_gnb_run(nic->program, side, m, 1, &r);
	assert_int_equal(r.nb, 1);
	*m = r.pkts[0];
	return r.out[0];
}

/** The program numbers the bearers from where the host is. */
static void
hand_over(uint32_t i, unsigned slot)
{
	const struct gnb_drb *d = gnb_drb_at(rig.gnb.table, teid_of(i), slot);
	struct rig_frame f = {.at = P4_SHIM_FRAME_BYTES};
	struct rte_mbuf *m;

	rig_n3_frame(&f, RIG_4, teid_of(i), slot ? 5 : 9, false, 40, 0);
	m = rig_mbuf(&f);
	assert_int_equal(through_nic(P4_SIDE_WIRE, &m), P4_OUT_VF);
	rte_pktmbuf_free(m);
	memset(&f, 0, sizeof(f));
	f.at = P4_SHIM_FRAME_BYTES;
	be16_put(f.b + 12, P4_SHIM_TYPE);
	p4_shim_put(f.b + 14,
		    &(struct p4_shim){P4_SHIM_RELEASE, gnb_teid_with_slot(teid_of(i), slot),
				      d->tx_next, d->rlc_tx_next});
	m = rig_mbuf(&f);
	assert_int_equal(through_nic(P4_SIDE_VF, &m), P4_OUT_USED);
	rte_pktmbuf_free(m);
}

static void
nic_make(void)
{
	struct p4_nic_cfg cfg = {.program = {.name = "same",
					     .sessions = rig.gnb.table->capacity,
					     .drb_shift = rig.gnb.table->drb_shift,
					     .nb_vfs = 1,
					     .nb_interfaces = 2,
					     .nb_own = 3,
					     .pool = rig.pool}};
	struct ap_error err = {0};

	cfg.program.interfaces[0].n3 = true;
	memcpy(cfg.program.interfaces[0].mac, rig_mac_n3, 6);
	memcpy(cfg.program.interfaces[1].mac, rig_mac_f1, 6);
	memcpy(&cfg.program.interfaces[0].ip4, rig_n3_4, 4);
	memcpy(&cfg.program.interfaces[1].ip4, rig_f1_4, 4);
	memcpy(&cfg.program.own[0], rig_n3_4, 4);
	memcpy(&cfg.program.own[1], rig_f1_4, 4);
	memcpy(&cfg.program.own[2], rig_f1v_4, 4);
	nic = p4_nic_create(&cfg, &err);
	if (nic == NULL)
		fail_msg("%s", err.text);
	p4_nic_peers(nic, rig.gnb.edge.net, &rig.gnb.edge.peers);
	for (uint32_t i = 0; i < SESSIONS; i++)
		assert_int_equal(p4_nic_feed(nic, rig.gnb.table, teid_of(i)), 0);
	while (p4_nic_poll(nic) > 0)
		;
	for (uint32_t i = 0; i < SESSIONS; i++)
		for (unsigned slot = 0; slot <= i % 2; slot++)
			hand_over(i, slot);
}

static void
sum_make(uint8_t *ip)
{
	uint16_t sum;

	memset(ip + 10, 0, 2);
	sum = ip_checksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
}

/** Now and then something else than a good packet to a bearer. */
static void
frame_any(struct rig_frame *f)
{
	static const int qfis[] = {9, 40, 5, 63};
	const uint32_t i = any(64) ? any(SESSIONS) : any(UINT32_MAX);

	rig_n3_frame(f, any(32) ? RIG_4 : RIG_6, teid_of(i),
		     any(32) ? qfis[any(i % 2 ? 4 : 2)] : (int)any(64), any(2),
		     20 + any(any(8) ? 100 : 1400), (uint16_t)any(65536));
	switch (any(12)) {
	case 0:
		f->b[any(72)] ^= (uint8_t)(1 << any(8));
		break;
	case 1:
		f->b[14 + any(20)] = (uint8_t)any(256);
		sum_make(f->b + 14);
		break;
	case 2:
		f->at = any(2) ? any((uint32_t)f->at + 1) : f->at + any(20);
		break;
	case 3:
		f->b[42 + any(16)] = (uint8_t)any(256);
		break;
	default:
		break;
	}
}

/** Takes what lies at edges of the nodes. @return the frame for the DU, or NULL */
static struct rte_mbuf *
host_took(void)
{
	struct test_node *all[] = {rig.in, rig.drb, rig.tx, rig.rx};
	struct rte_mbuf *sent = NULL, **out;

	for (unsigned k = 0; k < RTE_DIM(all); k++)
		for (unsigned e = 0; e < all[k]->n.type->nb_edges; e++) {
			uint16_t nb = test_node_take(all[k], e, &out);

			for (uint16_t i = 0; i < nb; i++) {
				if (all[k] == rig.tx && e == 1)
					sent = out[i];
				else
					rte_pktmbuf_free(out[i]);
			}
		}
	return sent;
}

/** The frame as it was: behind a shim, or (an uplink TEID) alone. */
static void
assert_left(const struct rte_mbuf *m, const struct rig_frame *f)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const unsigned shim = be16_get(p + 12) == P4_SHIM_TYPE ? P4_SHIM_FRAME_BYTES : 0;

	if (shim)
		assert_int_equal(p[14], P4_SHIM_ASIDE);
	else
		assert_int_not_equal(gnb_teid_slot(be32_get(f->b + 46)), GNB_SLOT_N3);
	assert_int_equal(m->pkt_len, f->at + shim);
	assert_memory_equal(p + shim, f->b, f->at);
}

static void
same_octets(void **state)
{
	unsigned long same = 0, to_host = 0;
	static struct gnb_drb before[SESSIONS * 4];
	static struct rig_frame f;
	const struct gnb_drb *d;
	uint32_t teid;

	(void)state;
	memcpy(before, rig.gnb.table->drbs, sizeof(before));
	for (unsigned n = 0; n < PACKETS; n++) {
		struct rte_mbuf *m, *sent;
		unsigned out;

		frame_any(&f);
		m = rig_mbuf(&f);
		rig_send(rig.in, m);
		sent = host_took();
		m = rig_mbuf(&f);
		out = through_nic(P4_SIDE_WIRE, &m);
		if (out == P4_OUT_WIRE) {
			assert_non_null(sent);
			assert_int_equal(m->pkt_len, sent->pkt_len);
			assert_memory_equal(rte_pktmbuf_mtod(m, void *),
					    rte_pktmbuf_mtod(sent, void *), m->pkt_len);
			teid = be32_get(f.b + 46);
			d = gnb_drb_at(
				rig.gnb.table, teid,
				gnb_slot_of_qfi(gnb_session_at(rig.gnb.table, teid), f.b[56] & 63));
			before[d - rig.gnb.table->drbs] = *d;
			same++;
		} else {
			assert_int_equal(out, P4_OUT_VF);
			assert_left(m, &f);
			/* Which the program did not number. */
			memcpy(rig.gnb.table->drbs, before, sizeof(before));
			to_host++;
		}
		rte_pktmbuf_free(m);
		rte_pktmbuf_free(sent);
	}
	print_message("%lu the same, %lu for the host\n", same, to_host);
	assert_true(same > 1000000 && to_host > PACKETS / 10);
}

static int
setup(void **state)
{
	if (test_eal_init() < 0)
		return -1;
	rig.pool = test_pool("rig", 1023, RIG_FRAME);
	rig.ind = test_pool("ind", 255, 0);
	if (rig_up(state) < 0)
		return -1;
	for (uint32_t i = 0; i < SESSIONS; i++)
		session_make(i);
	nic_make();
	return 0;
}

static int
teardown(void **state)
{
	p4_nic_destroy(nic);
	return rig_down(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(same_octets)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
