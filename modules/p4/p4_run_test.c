/* SPDX-License-Identifier: BSD-3-Clause */
/** A whole deployment: SmartNIC, two virtual functions, two workers, traffic and a share that
 * changes. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <rte_ring.h>

#include "codec/gtpu.h"
#include "codec/ip.h"
#include "core/account.h"
#include "core/clock.h"
#include "core/eal.h"
#include "core/run.h"
#include "modules/gnb/gnb.h"

#define SESSIONS 512U
#define COUNTS 4096U /**< of a bearer at most */
#define PACKETS 120000U
#define AT_ONCE 256U
#define GIVE_UP_NS (20 * AP_NS_PER_S)

static const char yaml[] =
	"name: p4-run-test\n"
	"memory: {mb: 384}\n"
	"ports:\n"
	"  - {name: wire, preset: ring, peer: far, framing: raw}\n"
	"  - {name: far, preset: ring, peer: wire, framing: raw}\n"
	"  - {name: nic0, preset: ring, peer: vf0, framing: raw}\n"
	"  - {name: vf0, preset: ring, peer: nic0, framing: raw}\n"
	"  - {name: nic1, preset: ring, peer: vf1, framing: raw}\n"
	"  - {name: vf1, preset: ring, peer: nic1, framing: raw}\n"
	"gnb_header:\n"
	"  - name: gnb\n"
	"    socket: /tmp/airpath-p4-run-test.%d.sock\n"
	"    workers: 2\n"
	"    sessions: 512\n"
	"    vfs: [vf0, vf1]\n"
	"    interfaces:\n"
	"      - {name: n3, mac: \"02:00:00:00:03:01\", type: n3, addresses: [10.3.0.2/24]}\n"
	"      - {name: f1, mac: \"02:00:00:00:07:01\", type: f1, addresses: [10.7.0.1/24]}\n"
	"    neighbours:\n"
	"      - {interface: n3, address: 10.3.0.1, mac: \"02:00:00:00:03:09\"}\n"
	"      - {interface: f1, address: 10.7.0.9, mac: \"02:00:00:00:07:09\"}\n"
	"smartnic:\n"
	"  - {name: nic, gnb: gnb, wire: wire, vfs: [nic0, nic1], offload_percent: 50}\n"
	"lcores: [{name: NIC, cpu: 0}, {name: HOST, cpu: 1}]\n"
	"place: [{node: \"nic.*\", lcore: NIC}, {node: \"gnb.*\", lcore: HOST}]\n";

static struct {
	struct ap_config *cfg;
	struct ap_plan *plan;
	struct ap_run *run;
	struct gnb *gnb;
	struct ap_port *wire;
	struct rte_mempool *pool;
	uint32_t sent[SESSIONS], seen[SESSIONS];
	uint8_t counts[SESSIONS][COUNTS];
	uint64_t out, back;
} bed;
static uint64_t seed = 0x5eed;

static uint32_t
any(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static uint16_t
peer_of(uint8_t interface, uint32_t address)
{
	struct upf_peer_key key = {
		.port = GTPU_PORT, .octets = 4, .interface = interface, .gtpu = true};
	int index;

	be32_put(key.ip, address);
	index = upf_peer_get(&bed.gnb->edge.peers, &key, ap_clock_ns());
	assert_true(index > 0);
	return (uint16_t)index;
}

/** Before workers run: the test is alone with the table. */
static void
contexts_make(void)
{
	static struct gnb_image image;
	const uint16_t upf = peer_of(1, 0x0a030001), du = peer_of(2, 0x0a070009);
	char why[128];

	for (uint32_t i = 0; i < SESSIONS; i++) {
		const struct gnb_session_spec spec = {
			.teid = gnb_teid(1, i, GNB_SLOT_N3),
			.ul_teid = i,
			.upf = upf,
			.pdu_session = 1,
			.nb_drbs = 1,
			.drbs = {{.id = 1,
				  .is_default = true,
				  .sdap_dl = true,
				  .sdap_ul = true,
				  .pdcp_sn_bits = 18,
				  .rlc_mode = GNB_RLC_AM,
				  .rlc_sn_bits = 18,
				  .du_teid = i,
				  .du = du}},
		};

		if (gnb_image_make(&spec, 1, &image, why, sizeof(why)) < 0)
			fail_msg("%s", why);
		gnb_session_set(bed.gnb->table, &image);
	}
}

static int
setup(void **state)
{
	char path[] = "/tmp/airpath-p4-run-test.XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct ap_error err = {0};

	(void)state;
	assert_non_null(f);
	fprintf(f, yaml, (int)getpid());
	fclose(f);
	bed.cfg = ap_config_load(path, &err);
	unlink(path);
	bed.plan = bed.cfg ? ap_plan_make(bed.cfg, &err) : NULL;
	if (bed.plan && ap_eal_start(bed.plan, &err) == 0)
		bed.run = ap_run_create(bed.cfg, bed.plan, &err);
	if (bed.run == NULL)
		fail_msg("%s", err.text);
	bed.gnb = ap_run_role(bed.run, "gnb_header", 0);
	bed.wire = ap_run_port(bed.run, "wire");
	bed.pool = ap_run_pool(bed.run, "test", 4095, 512, &err);
	assert_non_null(bed.pool);
	contexts_make();
	if (ap_run_start(bed.run, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

/** @param odd with a sequence number and a container that says more: not the program's */
static void
offer(uint32_t session, bool odd)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(bed.pool);
	const unsigned tpdu = 60, psc = odd ? 12 : 8, gtpu = psc + tpdu,
		       all = 58 + (psc - 8) + tpdu;
	uint16_t sum;
	uint8_t *p;

	assert_non_null(m);
	*ap_meta(m) = (struct ap_meta){0};
	assert_non_null(rte_pktmbuf_append(m, (uint16_t)all));
	p = rte_pktmbuf_mtod(m, uint8_t *);
	memset(p, 0, all);
	memcpy(p, (uint8_t[]){2, 0, 0, 0, 3, 1, 2, 0, 0, 0, 3, 9, 8, 0, 0x45}, 15);
	be16_put(p + 16, (uint16_t)(all - 14));
	p[22] = 64;
	p[23] = IP_PROTO_UDP;
	be32_put(p + 26, 0x0a030001);
	be32_put(p + 30, 0x0a030002);
	sum = ip_checksum(p + 14, 20);
	memcpy(p + 24, &sum, 2);
	be16_put(p + 34, GTPU_PORT);
	be16_put(p + 36, GTPU_PORT);
	be16_put(p + 38, (uint16_t)(all - 34));
	be32_put(p + 42, 0x34FF0000U | gtpu);
	be32_put(p + 46, gnb_teid(1, session, GNB_SLOT_N3));
	p[53] = GTPU_EXT_PDU_SESSION_CONTAINER;
	p[54] = odd ? 2 : 1;
	p[56] = odd ? 0x89 : 0x09; /* paging policy: one octet more, TS 38.415 §5.5.2.1 */
	p[58 + (psc - 8)] = 0x45;
	be16_put(p + 58 + (psc - 8) + 2, (uint16_t)tpdu);
	bed.sent[session]++;
	bed.out++;
	while (rte_ring_enqueue(bed.wire->rx_rings[0], m) < 0)
		sched_yield();
}

/** Takes what came to the wire: frames to the DU, whose TEID is the session. */
static void
receive(void)
{
	struct rte_mbuf *pkts[64];
	unsigned nb = rte_ring_dequeue_burst(bed.wire->tx_rings[0], (void **)pkts, 64, NULL);

	for (unsigned i = 0; i < nb; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(pkts[i], const uint8_t *);

		if (pkts[i]->pkt_len > 57 && be16_get(p + 12) == 0x0800 &&
		    be32_get(p + 30) == 0x0a070009) {
			const uint32_t session = be32_get(p + 46);
			/* RLC AM, 18 bits, and PDCP, 18 bits: the same number */
			const uint32_t rlc = (p[50] & 3U) << 16 | be16_get(p + 51);
			const uint32_t count = (p[53] & 3U) << 16 | be16_get(p + 54);

			assert_true(session < SESSIONS && count < COUNTS);
			assert_int_equal(rlc, count);
			assert_int_equal(p[56], 0x09);
			if (bed.counts[session][count]++)
				fail_msg("session %u: COUNT %u twice", session, count);
			bed.seen[session]++;
			bed.back++;
		}
		rte_pktmbuf_free(pkts[i]);
	}
}

/** Receives until at most `left` packets are under way. */
static void
wait_for(uint64_t left)
{
	uint64_t last = bed.back, give_up = ap_clock_ns() + GIVE_UP_NS;

	while (bed.out - bed.back > left) {
		receive();
		if (bed.back != last) {
			last = bed.back;
			give_up = ap_clock_ns() + GIVE_UP_NS;
		} else if (ap_clock_ns() > give_up) {
			fail_msg("%lu of %lu packets do not come",
				 (unsigned long)(bed.out - bed.back), (unsigned long)bed.out);
		}
		sched_yield();
	}
}

static void
offload(unsigned percent)
{
	assert_int_equal(bed.gnb->offload(bed.gnb->offload_arg, percent), 0);
}

static uint64_t
sent_by(const char *node, unsigned edge)
{
	return ap_plan_find(bed.plan, node)->inst->out[edge];
}

/** The share changes under traffic: each bearer's COUNTs are those from 0 on, each once. */
static void
share_changes(void **state)
{
	uint64_t to_host;

	(void)state;
	for (uint32_t i = 0; i < PACKETS; i++) {
		const uint32_t session = any(4) ? any(SESSIONS) : any(8);

		if (bed.sent[session] < COUNTS - 64)
			offer(session, any(50) == 0);
		if (any(2000) == 0)
			offload(any(101));
		if (bed.out - bed.back >= AT_ONCE)
			wait_for(AT_ONCE / 2);
		if (any(5000) == 0)
			ap_run_poll(bed.run);
	}
	wait_for(0);
	for (uint32_t s = 0; s < SESSIONS; s++)
		for (uint32_t c = 0; c < COUNTS; c++)
			if (bed.counts[s][c] != (c < bed.sent[s]))
				fail_msg("session %u: COUNT %u of %u: %u times", s, c, bed.sent[s],
					 bed.counts[s][c]);
	to_host = sent_by("nic.wire", 1) + sent_by("nic.wire", 2);
	print_message("%lu packets, %lu to the host\n", (unsigned long)bed.out,
		      (unsigned long)to_host);
	assert_true(to_host > bed.out / 10 && to_host < bed.out);
	assert_true(sent_by("gnb.inject_w0", 0) + sent_by("gnb.inject_w1", 0) > 0);
}

/** All bearers at the host: the virtual functions have as many. */
static void
even_spread(void **state)
{
	uint64_t before[2], vf[2];

	(void)state;
	offload(100);
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned v = 0; v < 2 && round == 2; v++)
			before[v] = sent_by("nic.wire", 1 + v);
		for (uint32_t s = 0; s < SESSIONS; s++) {
			offer(s, false);
			if (bed.out - bed.back >= AT_ONCE)
				wait_for(AT_ONCE / 2);
		}
		wait_for(0);
	}
	for (unsigned v = 0; v < 2; v++)
		vf[v] = sent_by("nic.wire", 1 + v) - before[v];
	assert_int_equal(vf[0] + vf[1], 6 * SESSIONS);
	print_message("virtual functions: %lu, %lu\n", (unsigned long)vf[0], (unsigned long)vf[1]);
	assert_true(RTE_MAX(vf[0], vf[1]) * 100 <= RTE_MIN(vf[0], vf[1]) * 102);
}

static int
teardown(void **state)
{
	struct ap_account total;
	struct ap_error err = {0};

	(void)state;
	assert_true(ap_run_quiesce(bed.run, 5000));
	ap_run_stop(bed.run);
	ap_account_total(bed.plan, &total, &err);
	assert_string_equal(err.text, ""); /* the books balance */
	ap_run_destroy(bed.run);
	ap_plan_free(bed.plan);
	ap_config_free(bed.cfg);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share_changes),
		cmocka_unit_test(even_spread),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
