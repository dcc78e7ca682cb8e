/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <rte_mbuf.h>

#include "bench/upf_gen.h"
#include "codec/gtpu.h"
#include "codec/ip.h"
#include "core/clock.h"
#include "test_eal.h"

#define SESSIONS 1000
#define PACKETS 20000

static const struct upf_wire_cfg cfg = {
	.n3_mac = {2, 0, 0, 0, 0, 3},
	.n6_mac = {2, 0, 0, 0, 0, 6},
	.gnb_mac = {2, 0, 0, 0, 1, 3},
	.net_mac = {2, 0, 0, 0, 1, 6},
	.n3_ip = RTE_BE32(0xC0A80101),
	.gnb_ip = RTE_BE32(0xAC100001),
	.server_ip = RTE_BE32(0xC6336401),
	.bytes = 64,
};

static struct upf_wire wire;
static struct upf_wire_session sessions[SESSIONS];
static struct upf_gen gen;
static struct rte_mempool *pool;
static struct rte_ring *rings[2 * UPF_WIRE_DIRECTIONS];
static uint32_t taken[SESSIONS][UPF_WIRE_DIRECTIONS]; /**< packets */
static uint64_t octets[SESSIONS][UPF_WIRE_DIRECTIONS];
static struct upf_load *load;
static struct upf_traffic flows;
static struct upf_traffic_wire flow_wire;
static struct upf_quic *quic;
static bool with_flows;

static void
ethernet(uint8_t *p, const uint8_t *to, const uint8_t *from)
{
	memcpy(p, to, 6);
	memcpy(p + 6, from, 6);
	ip_put16(p + 12, ETH_TYPE_IP4);
}

static uint32_t
session_of(uint32_t ue)
{
	return rte_be_to_cpu_32(ue) - 1;
}

/** Forwards as a UPF of all sessions, without changing the inner packet. */
static void
forward_up(struct rte_mbuf *m)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_adj(m, UPF_WIRE_OUTER);
	uint32_t ue;

	memcpy(&ue, p + ETH_HDR_BYTES + 12, sizeof(ue));
	ethernet(p, cfg.net_mac, cfg.n6_mac);
	taken[session_of(ue)][UPF_WIRE_UP]++;
	octets[session_of(ue)][UPF_WIRE_UP] += m->pkt_len - ETH_HDR_BYTES;
}

static void
forward_down(struct rte_mbuf *m)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_prepend(m, UPF_WIRE_OUTER), *ip = p + ETH_HDR_BYTES;
	uint16_t inner = (uint16_t)(m->pkt_len - ETH_HDR_BYTES - UPF_WIRE_OUTER), sum;
	uint32_t ue, i, gnb, teid;

	memcpy(&ue, ip + UPF_WIRE_OUTER + 16, sizeof(ue));
	i = session_of(ue);
	gnb = upf_wire_gnb_ip(&wire, i);
	teid = upf_wire_gnb_teid(i);
	ethernet(p, cfg.gnb_mac, cfg.n3_mac);
	memset(ip, 0, 28);
	ip[0] = 0x45;
	ip_put16(ip + 2, inner + UPF_WIRE_OUTER);
	ip[8] = 64;
	ip[9] = IP_PROTO_UDP;
	memcpy(ip + 12, &cfg.n3_ip, 4);
	memcpy(ip + 16, &gnb, 4);
	sum = ip_checksum(ip, 20);
	memcpy(ip + 10, &sum, 2);
	ip_put16(ip + 20, 2152);
	ip_put16(ip + 22, 2152);
	ip_put16(ip + 24, inner + 24);
	gtpu_gpdu_psc_put(ip + 28, rte_be_to_cpu_32(teid), inner, PSC_DL, UPF_WIRE_QFI, false);
	taken[i][UPF_WIRE_DOWN]++;
	octets[i][UPF_WIRE_DOWN] += inner;
}

/** What the unit under test does wrong, once a direction. */
enum fault { NO_FAULT, LOSE, CHANGE, TWICE, SWAP };

#define FAULT_AT 1000 /**< packets before it */

static struct unit {
	enum fault fault;
	_Atomic bool stop;
	_Atomic uint64_t turns, busy;
} unit;

/** @return packets left */
static unsigned
do_wrong(struct rte_ring *to, struct rte_mbuf **m, unsigned n)
{
	struct rte_mbuf *other;

	switch (unit.fault) {
	case LOSE:
		rte_pktmbuf_free(m[--n]);
		break;
	case CHANGE:
		rte_pktmbuf_mtod(m[0], uint8_t *)[m[0]->data_len - 1] ^= 1;
		break;
	case TWICE:
		other = rte_pktmbuf_copy(m[0], gen.pool, 0, UINT32_MAX);
		rte_ring_sp_enqueue(to, other);
		break;
	case SWAP:
		other = m[0];
		m[0] = m[1];
		m[1] = other;
		break;
	case NO_FAULT:
		break;
	}
	return n;
}

static void *
unit_main(void *arg)
{
	uint64_t n[UPF_WIRE_DIRECTIONS] = {0};
	bool done[UPF_WIRE_DIRECTIONS] = {false};
	struct rte_mbuf *m[64];

	while (!atomic_load(&unit.stop))
		for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
			struct rte_ring *to = gen.flow[d].from[0];
			unsigned k =
				rte_ring_sc_dequeue_burst(gen.flow[d].to, (void **)m, 64, NULL);

			for (unsigned i = 0; i < k; i++)
				(d == UPF_WIRE_UP ? forward_up : forward_down)(m[i]);
			n[d] += k;
			if (!done[d] && k > 1 && n[d] > FAULT_AT) {
				done[d] = true;
				k = do_wrong(to, m, k);
			}
			rte_ring_sp_enqueue_burst(to, (void **)m, k, NULL);
			atomic_fetch_add(&unit.busy, k != 0);
			atomic_fetch_add(&unit.turns, 1);
		}
	return arg;
}

/** What has not come back is lost when both threads went round, and found nothing to do. */
static void
settle(void)
{
	uint64_t unit_turns, turns, busy;

	upf_gen_quiet(&gen);
	do {
		busy = atomic_load(&gen.turns_busy) + atomic_load(&unit.busy);
		turns = atomic_load(&gen.turns);
		unit_turns = atomic_load(&unit.turns);
		while (upf_gen_inside(&gen) != 0 && (atomic_load(&unit.turns) - unit_turns < 100 ||
						     atomic_load(&gen.turns) - turns < 100))
			rte_delay_us_sleep(100);
	} while (upf_gen_inside(&gen) != 0 &&
		 atomic_load(&gen.turns_busy) + atomic_load(&unit.busy) != busy);
	if (upf_gen_inside(&gen) != 0)
		upf_gen_give_up(&gen);
}

/** Both directions for a while, until all is back or given up. */
static void
run(enum fault fault)
{
	pthread_t thread;

	memset(taken, 0, sizeof(taken));
	memset(octets, 0, sizeof(octets));
	for (unsigned i = 0; i < SESSIONS; i++)
		sessions[i] = (struct upf_wire_session){.ue = rte_cpu_to_be_32(i + 1),
							.teid = rte_cpu_to_be_32(i << 8 | 1)};
	memset(&gen, 0, sizeof(gen));
	gen.wire = &wire;
	gen.sessions = sessions;
	gen.nb_sessions = SESSIONS;
	gen.active = SESSIONS;
	gen.window = 512;
	gen.pool = pool;
	gen.queues = 1;
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		gen.flow[d].to = rings[d];
		gen.flow[d].from[0] = rings[UPF_WIRE_DIRECTIONS + d];
	}
	if (with_flows) {
		gen.flow_wire = &flow_wire;
		gen.flows = &flows;
	}
	unit = (struct unit){.fault = fault};
	assert_int_equal(upf_gen_start(&gen, 7), 0);
	assert_int_equal(pthread_create(&thread, NULL, unit_main, NULL), 0);
	upf_gen_rate(&gen, UPF_WIRE_UP, (struct gen_rate){GEN_RATE_MAX, 0});
	upf_gen_rate(&gen, UPF_WIRE_DOWN,
		     (struct gen_rate){with_flows ? GEN_RATE_STOP : GEN_RATE_PPS, 1e6});
	while (gen.flow[0].c.good < PACKETS || gen.flow[1].c.good < PACKETS)
		rte_delay_us_sleep(1000);
	settle();
	upf_gen_stop(&gen);
	atomic_store(&unit.stop, true);
	pthread_join(thread, NULL);
	assert_pool_full(pool);
}

static void
expect(uint64_t lost, uint64_t corrupted, uint64_t duplicated, uint64_t reordered)
{
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		const struct upf_gen_counters *c = &gen.flow[d].c;

		assert_int_equal(c->given_up, lost);
		assert_int_equal(c->corrupted, corrupted);
		assert_int_equal(c->duplicated, duplicated);
		assert_int_equal(c->reordered, reordered);
		assert_int_equal(c->sent, c->good + lost + corrupted);
		if (!with_flows)
			assert_int_equal(c->sent_octets, c->sent * wire.cfg.bytes);
		assert_int_equal(upf_gen_under_way(&gen, d), 0);
	}
	assert_int_equal(gen.foreign, 0);
}

static void
test_all_come_back(void **state)
{
	(void)state;
	run(NO_FAULT);
	expect(0, 0, 0, 0);
	for (unsigned i = 0; i < SESSIONS; i++)
		for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
			assert_int_equal(sessions[i].octets[d], taken[i][d] * wire.cfg.bytes);
	assert_true(gen.flow[0].delay.count > PACKETS / 20);
}

static void
test_loss(void **state)
{
	(void)state;
	run(LOSE);
	expect(1, 0, 0, 0);
}

static void
test_change(void **state)
{
	(void)state;
	run(CHANGE);
	expect(0, 1, 0, 0);
}

static void
test_duplicate(void **state)
{
	(void)state;
	run(TWICE);
	expect(0, 0, 1, 0);
}

static void
test_reordering(void **state)
{
	(void)state;
	run(SWAP);
	expect(0, 0, 0, 1);
}

/** Every fault is told of packets of flows, too. */
static void
test_flows(void **state)
{
	const struct upf_traffic_cfg model = {.sessions = SESSIONS,
					      .per_session = 2,
					      .packets = 20,
					      .bytes = 500,
					      .udp_percent = 30,
					      .dns_percent = 30,
					      .quic_percent = quic ? 40 : 0,
					      .policies = true,
					      .seed = 5};

	(void)state;
	with_flows = true;
	for (enum fault f = NO_FAULT; f <= SWAP; f++) {
		assert_int_equal(upf_traffic_init(&flows, &model, load), 0);
		upf_traffic_wire_init(&flow_wire, &cfg, &flows, quic);
		run(f);
		expect(f == LOSE, f == CHANGE, f == TWICE, f == SWAP);
		assert_int_equal(gen.flow[0].c.sent + gen.flow[1].c.sent, flows.taken);
		for (unsigned i = 0; i < SESSIONS && f == NO_FAULT; i++)
			for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
				uint64_t charged = 0;

				for (unsigned g = 1; g <= UPF_LOAD_RATING_GROUPS; g++)
					charged += upf_traffic_used(&flows, i, g)->octets[d];
				assert_int_equal(charged, octets[i][d]);
				assert_int_equal(sessions[i].octets[d], octets[i][d]);
			}
		upf_traffic_free(&flows);
	}
	with_flows = false;
}

int
main(void)
{
	static const char *const names[] = {"to_n3", "to_n6", "from_n6", "from_n3"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_come_back), cmocka_unit_test(test_loss),
		cmocka_unit_test(test_change),        cmocka_unit_test(test_duplicate),
		cmocka_unit_test(test_reordering),    cmocka_unit_test(test_flows),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("gen", 8191, 2048);
	for (unsigned i = 0; i < RTE_DIM(rings); i++)
		rings[i] = rte_ring_create(names[i], 1024, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
	upf_wire_init(&wire, &cfg);
	load = upf_load_make(2000, 500, 7);
	quic = load ? upf_quic_make(load, 3) : NULL;
	return load ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
