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
#include "bench/pdcp_bed.h"
#include "bench/result.h"
#include "core/config.h"
#include "core/meta.h"

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
	struct pdcp_bed bed;
};

static void
print(const struct bench *b, const struct harness_result *r, struct bench_result *res)
{
	const double hz = (double)rte_get_tsc_hz(), library = r[PDCP_BED_LIBRARY].median;

	for (unsigned w = PDCP_BED_TX; w <= PDCP_BED_RX_TB; w++) {
		double cycles = r[w].median, ns = cycles / hz * 1e9;
		double peer = w == PDCP_BED_TX   ? b->a->peer_tx_ns
			      : w == PDCP_BED_RX ? b->a->peer_rx_ns
						 : 0;

		if (b->bed.bytes != 1500 || peer == 0)
			peer = NAN;
		bench_row(res);
		bench_str(res, "alg", b->a->name);
		bench_str(res, "engine", b->bed.key ? pdcp_security_name(b->bed.key) : "none");
		bench_str(res, "direction", directions[w]);
		bench_int(res, "bytes", b->bed.bytes);
		bench_str(res, "mode", b->bed.batch == 1 ? "single" : "batched");
		bench_num(res, "cycles_per_pdu", cycles, 0);
		bench_num(res, "library_cycles", b->bed.library ? library : NAN, 0);
		bench_num(res, "over_library", b->bed.library ? cycles / library : NAN, 2);
		bench_num(res, "gbps", b->bed.bytes * 8 / ns, 2);
		bench_num(res, "ns", ns, 0);
		bench_num(res, "peer_ns", peer, 0);
		bench_num(res, "peer_over_ours", peer / ns, 1);
		bench_num(res, "cycles_min", r[w].min, 0);
		bench_num(res, "cycles_max", r[w].max, 0);
		bench_int(res, "windows_clean", r[w].windows_clean);
		bench_int(res, "windows", r[w].windows);
		bench_bool(res, "correct", !b->bed.wrong);
	}
}

static void
measure(struct bench *b, double seconds, struct bench_result *res)
{
	uint64_t clean = harness_frame_least(20);
	uint64_t end = rte_rdtsc() + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	struct harness_result r[PDCP_BED_PARTS];
	unsigned n = 0;

	while (n < HARNESS_WINDOWS_MAX && (n < 6 || rte_rdtsc() < end))
		pdcp_bed_window(&b->bed, n++);
	for (unsigned w = 0; w < PDCP_BED_PARTS; w++) {
		/* The first window warmed caches and branch predictors. */
		harness_classify(b->bed.windows[w] + 1, n - 1, clean);
		r[w] = harness_summary(b->bed.windows[w] + 1, n - 1);
	}
	print(b, r, res);
}

/** @return 0, 1 when an SDU did not come back as it was, or -errno. */
static int
point(struct bench *b, double seconds, struct bench_result *res)
{
	struct pdcp_security_cfg sec = {.nea = b->a->nea,
					.nia = b->a->nia,
					.pool = b->bed.fresh,
					.engine = b->engine,
					.device = b->device};
	struct ap_error err = {0};
	int rc = 0;

	for (unsigned i = 0; i < PDCP_KEY_LEN; i++)
		sec.key_enc[i] = (uint8_t)(sec.key_int[i] = (uint8_t)(i * 31));
	b->bed.key = NULL;
	b->bed.library = NULL;
	b->bed.wrong = false;
	if (sec.nea || sec.nia) {
		rc = pdcp_security_key_create(&sec, &b->bed.key, &err);
		if (rc < 0)
			fprintf(stderr, "bench pdcp: %s\n", err.text);
		if (rc == -ENOTSUP)
			return 0;
		b->bed.library = rc == 0 ? pdcp_library_make(&sec, b->bed.bytes) : NULL;
	}
	if (rc == 0)
		rc = pdcp_bed_entities(&b->bed, &sec);
	if (rc == 0)
		measure(b, seconds, res);
	pdcp_rx_fini(&b->bed.rx);
	pdcp_library_free(b->bed.library);
	pdcp_security_key_destroy(b->bed.key);
	if (rc == 0 && b->bed.wrong) {
		fprintf(stderr, "bench pdcp: %s, %u B: SDUs came back changed\n", b->a->name,
			b->bed.bytes);
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
				b->bed.bytes = sizes->v[s];
				b->bed.batch = single ? 1 : PDCP_LIBRARY_MESSAGES;
				if (isatty(STDERR_FILENO))
					fprintf(stderr, "\r%s, %u B     ", b->a->name,
						b->bed.bytes);
				rc = point(b, seconds, res);
				if (rc < 0)
					return rc;
				bad |= rc;
			}
	return bad;
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
	ret = pdcp_bed_make(&b->bed);
	if (ret == 0)
		ret = points(b, &sizes, common.seconds, r);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%30s\r", "");
	if (ret < 0)
		fprintf(stderr, "bench pdcp: %s\n", strerror(-ret));
	pdcp_bed_free(&b->bed);
	free(b);
	if (bench_result_close(r) < 0)
		return 1;
	return ret != 0;
}
