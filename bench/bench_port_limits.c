/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * S1.1: what a port can do at most, nC/mQ by frame size.
 *
 *   zero-copy    frames go round a loopback of rings; what a driver does to an mbuf on
 *                receive and on send is done, the frame is not touched
 *   single-copy  the same with one copy of every frame in between
 *   null         plain DPDK forwarding between two ends of net_null: one mbuf allocated
 *                on receive and freed on send for every frame
 *   memcpy       rte_memcpy alone, between as many buffers as a queue holds
 *
 * The paper's loopback is a null driver changed to give back what was sent; frames
 * and copies are the same here, descriptors are ring slots.
 */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "bench/bench.h"
#include "bench/limit.h"
#include "bench/result.h"
#include "core/port.h"

#define FRAME_MAX 16000

static const char *const mode_names[] = {"zero-copy", "single-copy", "null", "memcpy"};

/** @return false when frames were lost or changed. */
static bool
row_write(struct bench_result *r, const struct limit *l, const struct limit_result *res)
{
	double mpps = 0, least = 0, most = 0, cycles = 0;
	unsigned windows = 0, clean = 0;

	for (unsigned i = 0; i < l->cores; i++) {
		struct harness_result rate = harness_rate(&res->cycles[i]);

		mpps += rate.median / 1e6;
		least += rate.min / 1e6;
		most += rate.max / 1e6;
		cycles += res->cycles[i].median / l->cores;
		windows += rate.windows;
		clean += rate.windows_clean;
	}
	bench_row(r);
	bench_int(r, "cores", l->cores);
	bench_int(r, "queues", l->queues);
	bench_int(r, "frame_bytes", l->frame_bytes);
	bench_str(r, "mode", mode_names[l->mode]);
	bench_num(r, "mpps", mpps, 2);
	bench_num(r, "gbps", mpps * l->frame_bytes * 8 / 1e3, 2);
	bench_num(r, "cycles_per_packet", cycles, 1);
	bench_num(r, "mpps_min", least, 2);
	bench_num(r, "mpps_max", most, 2);
	bench_int(r, "windows", windows);
	bench_int(r, "windows_clean", clean);
	bench_int(r, "lost", (int64_t)res->lost);
	bench_int(r, "corrupted", (int64_t)res->corrupted);
	/* Figures 2 and 3: per core, shortest frames. */
	bool shortest = l->frame_bytes == 64 && l->cores == 1 && l->mode <= LIMIT_SINGLE_COPY;

	bench_num(r, "paper_zynq_mpps",
		  !shortest                    ? NAN
		  : l->mode == LIMIT_ZERO_COPY ? 1.4
					       : 0.7,
		  1);
	bench_num(r, "paper_a53_mpps", !shortest ? NAN : l->mode == LIMIT_ZERO_COPY ? 3.2 : 1.8, 1);
	return res->lost == 0 && res->corrupted == 0;
}

/** All modes and frame sizes of one nC/mQ. @return 0; 1 when frames were lost or changed; -errno.
 */
static int
measure_all(unsigned cores, unsigned queues, const struct bench_uints *frames, double seconds,
	    struct bench_result *r, struct ap_error *err)
{
	struct limit_result res;
	bool valid = true;
	int ret;

	for (unsigned f = 0; f < frames->n; f++)
		for (unsigned mode = 0; mode < LIMIT_MODES; mode++) {
			struct limit l = {.mode = mode,
					  .cores = cores,
					  .queues = queues,
					  .frame_bytes = frames->v[f],
					  .seconds = seconds};

			/* Copying knows no queues. */
			if (mode == LIMIT_MEMCPY && queues != cores)
				continue;
			if (isatty(STDERR_FILENO))
				fprintf(stderr, "\r%uC/%uQ %5u B %-12s", cores, queues,
					l.frame_bytes, mode_names[mode]);
			ret = limit_measure(&l, &res, err);
			if (ret < 0)
				return ret;
			valid &= row_write(r, &l, &res);
		}
	return valid ? 0 : 1;
}

int
bench_port_limits(int argc, char **argv)
{
	struct bench_common common = {.seconds = 0.1};
	struct bench_uints frames = {{64, 128, 256, 512, 1024, 1518, 9000}, 7};
	unsigned most = 0;
	const struct bench_opt own[] = {
		{"frames", BENCH_OPT_UINTS, &frames, "frame sizes, B (64..16000)"},
		{"cores", BENCH_OPT_UINT, &most, "most cores to use, default all there are"},
		{NULL, 0, NULL, NULL},
	};
	struct ap_error err = {0};
	struct bench_result *r;
	unsigned cores;
	int ret;

	ret = bench_options(argc, argv,
			    "S1.1: limits of a port: nC/mQ x frame size x mode, each row measured "
			    "for --seconds (0.1).",
			    &common, own);
	if (ret != 0)
		return ret > 0 ? 0 : 2;
	for (unsigned i = 0; i < frames.n; i++)
		if (frames.v[i] < 60 || frames.v[i] > FRAME_MAX) {
			fprintf(stderr, "bench %s: --frames: %u must be 60..%u\n", argv[0],
				frames.v[i], FRAME_MAX);
			return 2;
		}
	r = bench_result_open("port-limits", common.json);
	if (r == NULL)
		return 1;
	cores = RTE_MIN(rte_lcore_count(), (unsigned)LIMIT_CORES_MAX);
	if (most != 0)
		cores = RTE_MIN(cores, most);
	for (unsigned c = 1; c <= cores && ret >= 0; c *= 2)
		for (unsigned q = c; q <= 2 * c && q <= AP_PORT_QUEUES_MAX && ret >= 0; q += c) {
			int one = measure_all(c, q, &frames, common.seconds, r, &err);

			ret = one < 0 ? one : ret | one;
		}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%40s\r", "");
	if (ret < 0)
		fprintf(stderr, "bench port-limits: %s\n", err.text);
	if (bench_result_close(r) < 0)
		return 1;
	return ret != 0;
}
