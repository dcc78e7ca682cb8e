/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Cycles PDCP takes for a PDU, by algorithm, direction and SDU size, beside what the
 * multi-buffer library alone takes for messages of the same length in the same windows.
 *
 * tx: from SDUs in mbufs to PDUs for RLC. rx: from PDUs in mbufs of their own to SDUs in
 * order. rx-tb: the same from indirect mbufs into TBs of 9 kB, as RLC UM delivers them. Making
 * and freeing mbufs are not timed, but where PDCP itself does so. Every SDU is compared
 * with what was sent.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "bench/bench.h"
#include "bench/harness.h"
#include "bench/pdcp_library.h"
#include "bench/result.h"
#include "core/config.h"
#include "core/meta.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"

#define WINDOW_US 200
#define ROOM 9216
#define MAC_RLC_HEADERS 5 /* B, before each PDU in a TB */

enum what { TX, RX, RX_TB, LIBRARY, WHATS };

static const char *const directions[] = {"tx", "rx", "rx-tb"};

/** Peer: srsRAN Project's pdcp_tx and pdcp_rx benchmarks, ns a PDU of 1500 B; 0: no figure. */
static const struct algorithm {
	const char *name;
	enum pdcp_nea nea;
	enum pdcp_nia nia;
	double peer_tx_ns, peer_rx_ns;
} algorithms[] = {
	{"NEA0", 0, 0, 261, 773},
	{"NEA1", 1, 0, 7900, 8500},
	{"NEA2", 2, 0, 2950, 3510},
	{"NEA3", 3, 0, 9200, 10400},
	{"NIA1", 0, 1, 0, 0},
	{"NIA2", 0, 2, 0, 0},
	{"NIA3", 0, 3, 0, 0},
	{"NEA1+NIA1", 1, 1, 0, 0},
	{"NEA2+NIA2", 2, 2, 6700, 7200},
	{"NEA3+NIA3", 3, 3, 102000, 106000},
};

struct bench {
	const struct algorithm *a;
	const struct pdcp_crypto *engine;
	const char *device; /**< of `engine`, NULL: its default */
	unsigned bytes, batch;
	struct rte_mempool *pool, *fresh, *ind, *hdr;
	struct pdcp_security_key *key;
	struct pdcp_tx tx;
	struct pdcp_rx rx;
	struct pdcp_batch secured;
	struct pdcp_library *library;
	struct rte_mbuf *sdus[PDCP_LIBRARY_MESSAGES];
	struct rte_mbuf *tbs[PDCP_LIBRARY_MESSAGES]; /**< as many as are needed */
	struct rte_mbuf *out[PDCP_CRYPTO_BATCH];
	struct rte_mbuf *delivered[PDCP_LIBRARY_MESSAGES];
	unsigned nb_delivered;
	bool wrong;
	struct harness_window windows[WHATS][HARNESS_WINDOWS_MAX];
};

static uint8_t
pattern(unsigned sdu, unsigned i)
{
	return (uint8_t)(sdu * 29 + i * 13 + i / 256);
}

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	struct bench *b = arg;

	memcpy(b->delivered + b->nb_delivered, sdus, nb * sizeof(*sdus));
	b->nb_delivered += nb;
}

/** The SDUs as they were, and both entities at COUNT 0. */
static void
reset(struct bench *b)
{
	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++) {
		struct rte_mbuf *m = b->sdus[i];

		m->data_off = RTE_PKTMBUF_HEADROOM;
		m->data_len = (uint16_t)b->bytes;
		m->pkt_len = b->bytes;
	}
	b->tx.TX_NEXT = 0;
	b->rx.RX_NEXT = b->rx.RX_DELIV = 0;
	b->nb_delivered = 0;
}

static uint64_t
tx_run(struct bench *b)
{
	struct rte_mbuf *pkts[PDCP_LIBRARY_MESSAGES];
	uint64_t drops[PDCP_TX_DROPS] = {0}, start;

	memcpy(pkts, b->sdus, sizeof(pkts));
	start = rte_rdtsc_precise();
	for (unsigned at = 0; at < PDCP_LIBRARY_MESSAGES; at += b->batch) {
		uint16_t n = pdcp_tx_pre_process(&b->tx, pkts + at, (uint16_t)b->batch, drops);

		if (b->tx.sec.crypto == NULL)
			continue;
		for (uint16_t i = 0; i < n; i++)
			pdcp_batch_add(&b->secured, pkts[at + i], &b->tx, &b->tx.sec, at + i);
		if (pdcp_tx_protect(&b->secured, b->out, drops) != b->batch)
			b->wrong = true;
	}
	return rte_rdtsc_precise() - start;
}

static uint64_t
rx_run(struct bench *b, struct rte_mbuf **pdus)
{
	uint64_t drops[PDCP_RX_DROPS] = {0}, used = 0, start;
	struct pdcp_rx_sink sink = {.deliver = deliver, .arg = b, .drops = drops, .used = &used};
	uint32_t count;

	start = rte_rdtsc_precise();
	for (unsigned at = 0; at < PDCP_LIBRARY_MESSAGES; at += b->batch) {
		if (b->rx.sec.crypto == NULL) {
			pdcp_rx_receive(&b->rx, pdus + at, (uint16_t)b->batch, 0, &sink);
			continue;
		}
		for (unsigned i = at; i < at + b->batch; i++)
			if (pdcp_rx_pre_process(&b->rx, pdus[i], &count, &sink))
				pdcp_batch_add(&b->secured, pdus[i], &b->rx, &b->rx.sec, count);
		pdcp_rx_verify(&b->secured, 0, &sink);
	}
	return rte_rdtsc_precise() - start;
}

/** The first and last bytes of each SDU, that timing does not chase through caches. */
static void
check(struct bench *b)
{
	if (b->nb_delivered != PDCP_LIBRARY_MESSAGES) {
		b->wrong = true;
		return;
	}
	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(b->delivered[i], const uint8_t *);
		const unsigned last = b->bytes - 1;

		b->wrong |= b->delivered[i]->pkt_len != b->bytes || p[0] != pattern(i, 0) ||
			    p[last] != pattern(i, last);
	}
}

static uint64_t
rx_own(struct bench *b)
{
	struct rte_mbuf *pdus[PDCP_LIBRARY_MESSAGES];
	uint64_t cycles;

	memcpy(pdus, b->sdus, sizeof(pdus));
	cycles = rx_run(b, pdus);
	check(b);
	return cycles;
}

/** Copies the PDUs into TBs one after the other; `pdus` become indirect mbufs into them. */
static void
tbs_fill(struct bench *b, struct rte_mbuf **pdus)
{
	unsigned tb = 0, at = 0;

	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES; i++) {
		const struct rte_mbuf *from = b->sdus[i];

		at += MAC_RLC_HEADERS;
		if (at + from->data_len > ROOM) {
			at = MAC_RLC_HEADERS;
			tb++;
		}
		rte_pktmbuf_attach(pdus[i], b->tbs[tb]);
		pdus[i]->data_off = (uint16_t)(RTE_PKTMBUF_HEADROOM + at);
		pdus[i]->data_len = from->data_len;
		pdus[i]->pkt_len = from->data_len;
		*ap_meta(pdus[i]) = (struct ap_meta){0};
		memcpy(rte_pktmbuf_mtod(pdus[i], void *), rte_pktmbuf_mtod(from, const void *),
		       from->data_len);
		at += from->data_len;
	}
}

/** PDUs lie in buffers that others share. */
static uint64_t
rx_tb(struct bench *b)
{
	struct rte_mbuf *pdus[PDCP_LIBRARY_MESSAGES];
	uint64_t cycles;

	if (rte_pktmbuf_alloc_bulk(b->ind, pdus, PDCP_LIBRARY_MESSAGES) != 0) {
		b->wrong = true;
		return 0;
	}
	tbs_fill(b, pdus);
	cycles = rx_run(b, pdus);
	check(b);
	rte_pktmbuf_free_bulk(b->delivered, b->nb_delivered);
	return cycles;
}

/** All of them in turn, until the window's time is over: what disturbs one disturbs the others. */
static void
window(struct bench *b, unsigned n)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000000 * WINDOW_US;
	uint64_t sum[WHATS] = {0}, passes = 0, before = harness_frame(), after;
	long switches = harness_switches();

	do {
		reset(b);
		sum[TX] += tx_run(b);
		/* Leaves the PDUs as they are, for they are shared. */
		sum[RX_TB] += rx_tb(b);
		b->rx.RX_NEXT = b->rx.RX_DELIV = 0;
		b->nb_delivered = 0;
		sum[RX] += rx_own(b);
		if (b->library != NULL)
			sum[LIBRARY] += pdcp_library_run(b->library);
		passes++;
	} while (rte_rdtsc() < end);
	after = harness_frame();
	for (unsigned w = 0; w < WHATS; w++)
		b->windows[w][n] = (struct harness_window){
			.value = (double)sum[w] / (double)passes / PDCP_LIBRARY_MESSAGES,
			.frame_before = before,
			.frame_after = after,
			.preempted = harness_switches() != switches};
}

static void
print(const struct bench *b, const struct harness_result *r, struct bench_result *res)
{
	const double hz = (double)rte_get_tsc_hz(), library = r[LIBRARY].median;

	for (unsigned w = TX; w <= RX_TB; w++) {
		double cycles = r[w].median, ns = cycles / hz * 1e9;
		double peer = w == TX ? b->a->peer_tx_ns : w == RX ? b->a->peer_rx_ns : 0;

		if (b->bytes != 1500 || peer == 0)
			peer = NAN;
		bench_row(res);
		bench_str(res, "alg", b->a->name);
		bench_str(res, "engine", b->key ? pdcp_security_name(b->key) : "none");
		bench_str(res, "direction", directions[w]);
		bench_int(res, "bytes", b->bytes);
		bench_str(res, "mode", b->batch == 1 ? "single" : "batched");
		bench_num(res, "cycles_per_pdu", cycles, 0);
		bench_num(res, "library_cycles", b->library ? library : NAN, 0);
		bench_num(res, "over_library", b->library ? cycles / library : NAN, 2);
		bench_num(res, "gbps", b->bytes * 8 / ns, 2);
		bench_num(res, "ns", ns, 0);
		bench_num(res, "peer_ns", peer, 0);
		bench_num(res, "peer_over_ours", peer / ns, 1);
		bench_num(res, "cycles_min", r[w].min, 0);
		bench_num(res, "cycles_max", r[w].max, 0);
		bench_int(res, "windows_clean", r[w].windows_clean);
		bench_int(res, "windows", r[w].windows);
		bench_bool(res, "correct", !b->wrong);
	}
}

static void
measure(struct bench *b, double seconds, struct bench_result *res)
{
	uint64_t clean = harness_frame_least(20);
	uint64_t end = rte_rdtsc() + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	struct harness_result r[WHATS];
	unsigned n = 0;

	while (n < HARNESS_WINDOWS_MAX && (n < 6 || rte_rdtsc() < end))
		window(b, n++);
	for (unsigned w = 0; w < WHATS; w++) {
		/* The first window warmed caches and branch predictors. */
		harness_classify(b->windows[w] + 1, n - 1, clean);
		r[w] = harness_summary(b->windows[w] + 1, n - 1);
	}
	print(b, r, res);
}

static int
entities_make(struct bench *b, const struct pdcp_security_cfg *sec)
{
	const struct pdcp_crypto *crypto = b->key ? pdcp_security_crypto(b->key) : NULL;
	const struct pdcp_tx_cfg tx = {.pdcp_SN_Size = 18,
				       .integrityProtection = sec->nia != PDCP_NIA0,
				       .rb_identity = 1,
				       .crypto = crypto,
				       .keys = b->key,
				       .hdr = b->hdr};
	const struct pdcp_rx_cfg rx = {.pdcp_SN_Size = 18,
				       .integrityProtection = sec->nia != PDCP_NIA0,
				       .rb_identity = 1,
				       .t_Reordering = 40,
				       .crypto = crypto,
				       .keys = b->key};
	int rc = pdcp_tx_init(&b->tx, &tx);

	return rc < 0 ? rc : pdcp_rx_init(&b->rx, &rx);
}

/** @return 0, 1 when an SDU did not come back as it was, or -errno. */
static int
point(struct bench *b, double seconds, struct bench_result *res)
{
	struct pdcp_security_cfg sec = {.nea = b->a->nea,
					.nia = b->a->nia,
					.pool = b->fresh,
					.engine = b->engine,
					.device = b->device};
	struct ap_error err = {0};
	int rc = 0;

	for (unsigned i = 0; i < PDCP_KEY_LEN; i++)
		sec.key_enc[i] = (uint8_t)(sec.key_int[i] = (uint8_t)(i * 31));
	b->key = NULL;
	b->library = NULL;
	b->wrong = false;
	if (sec.nea || sec.nia) {
		rc = pdcp_security_key_create(&sec, &b->key, &err);
		if (rc < 0)
			fprintf(stderr, "bench pdcp: %s\n", err.text);
		if (rc == -ENOTSUP)
			return 0;
		b->library = rc == 0 ? pdcp_library_make(&sec, b->bytes) : NULL;
	}
	if (rc == 0)
		rc = entities_make(b, &sec);
	for (unsigned i = 0; i < PDCP_LIBRARY_MESSAGES && rc == 0; i++)
		for (unsigned j = 0; j < b->bytes; j++)
			((uint8_t *)b->sdus[i]->buf_addr)[RTE_PKTMBUF_HEADROOM + j] = pattern(i, j);
	if (rc == 0)
		measure(b, seconds, res);
	pdcp_rx_fini(&b->rx);
	pdcp_library_free(b->library);
	pdcp_security_key_destroy(b->key);
	if (rc == 0 && b->wrong) {
		fprintf(stderr, "bench pdcp: %s, %u B: SDUs came back changed\n", b->a->name,
			b->bytes);
		return 1;
	}
	return rc;
}

static int
points(struct bench *b, const struct bench_uints *sizes, double seconds, struct bench_result *res)
{
	int bad = 0;

	for (unsigned a = 0; a < RTE_DIM(algorithms); a++)
		for (unsigned s = 0; s < sizes->n; s++)
			for (unsigned single = 0; single < 2; single++) {
				int rc;

				b->a = &algorithms[a];
				b->bytes = sizes->v[s];
				b->batch = single ? 1 : PDCP_LIBRARY_MESSAGES;
				if (isatty(STDERR_FILENO))
					fprintf(stderr, "\r%s, %u B     ", b->a->name, b->bytes);
				rc = point(b, seconds, res);
				if (rc < 0)
					return rc;
				bad |= rc;
			}
	return bad;
}

static int
bench_make(struct bench *b)
{
	b->pool = rte_pktmbuf_pool_create("bench_pdcp", 255, 0, 0, RTE_PKTMBUF_HEADROOM + ROOM, 0);
	b->fresh = rte_pktmbuf_pool_create("bench_pdcp_fresh", 1023, 256, 0,
					   RTE_PKTMBUF_HEADROOM + PDCP_SECURITY_ROOM, 0);
	b->ind = rte_pktmbuf_pool_create("bench_pdcp_ind", 1023, 256, 0, 0, 0);
	b->hdr = rte_pktmbuf_pool_create("bench_pdcp_hdr", 127, 0, 0, RTE_PKTMBUF_HEADROOM, 0);
	if (b->pool == NULL || b->fresh == NULL || b->ind == NULL || b->hdr == NULL)
		return -ENOMEM;
	if (rte_pktmbuf_alloc_bulk(b->pool, b->sdus, PDCP_LIBRARY_MESSAGES) != 0)
		return -ENOMEM;
	return rte_pktmbuf_alloc_bulk(b->pool, b->tbs, PDCP_LIBRARY_MESSAGES);
}

static void
bench_free(struct bench *b)
{
	if (b->sdus[0] != NULL)
		rte_pktmbuf_free_bulk(b->sdus, PDCP_LIBRARY_MESSAGES);
	if (b->tbs[0] != NULL)
		rte_pktmbuf_free_bulk(b->tbs, PDCP_LIBRARY_MESSAGES);
	rte_mempool_free(b->pool);
	rte_mempool_free(b->fresh);
	rte_mempool_free(b->ind);
	rte_mempool_free(b->hdr);
	free(b);
}

int
bench_pdcp(int argc, char **argv)
{
	struct bench_common common = {.seconds = 0.1};
	struct bench_uints sizes = {{128, 1024, 1500}, 3};
	const char *engine = NULL, *device = NULL;
	const struct bench_opt own[] = {
		{"sizes", BENCH_OPT_UINTS, &sizes, "SDU sizes, B (1..9000)"},
		{"engine", BENCH_OPT_STR, &engine,
		 "multi_buffer (default where built in) or cryptodev"},
		{"device", BENCH_OPT_STR, &device,
		 "crypto device of cryptodev (" PDCP_SECURITY_DEVICE_DEFAULT ")"},
		{NULL, 0, NULL, NULL},
	};
	struct bench_result *r;
	struct bench *b;
	int ret = bench_options(argc, argv,
				"Cycles of PDCP with NEA0..3 and NIA0..3 beside the library's own; "
				"each point measured for --seconds (0.1).",
				&common, own);

	if (ret != 0)
		return ret > 0 ? 0 : 2;
	for (unsigned i = 0; i < sizes.n; i++)
		if (sizes.v[i] < 1 || sizes.v[i] > 9000) {
			fprintf(stderr, "bench pdcp: --sizes: %u must be 1..9000\n", sizes.v[i]);
			return 2;
		}
	if (pdcp_security_engine(engine) == NULL) {
		fprintf(stderr, "bench pdcp: --engine: this build has no %s\n", engine);
		return 2;
	}
	if (device != NULL && pdcp_security_engine(engine) != &pdcp_cryptodev) {
		fprintf(stderr, "bench pdcp: --device needs --engine cryptodev\n");
		return 2;
	}
	if (ap_ext_offset < 0 && ap_meta_register() < 0)
		return 1;
	b = calloc(1, sizeof(*b));
	r = b ? bench_result_open("pdcp", common.json) : NULL;
	if (r == NULL) {
		free(b);
		return 1;
	}
	b->engine = pdcp_security_engine(engine);
	b->device = device;
	ret = bench_make(b);
	if (ret == 0)
		ret = points(b, &sizes, common.seconds, r);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%30s\r", "");
	if (ret < 0)
		fprintf(stderr, "bench pdcp: %s\n", strerror(-ret));
	bench_free(b);
	if (bench_result_close(r) < 0)
		return 1;
	return ret != 0;
}
