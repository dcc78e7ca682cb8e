/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath bench gnb`: S3's header processing, packets of 128 B to 64 K UEs at random.
 *
 * Rows of path `host` are measured: one worker's nodes from port to port, every frame verified; and
 * those of path `p4`: the SmartNIC's program run by rte_swx on one lcore, once with all bearers,
 * once handing all packets to the host. Rows of path `both` are computed from these, as Fig. 2 has
 * them: SmartNICs process a share, hand the rest to as many lcores of the host as that takes.
 * With --live the host's path runs by itself, and contexts change meanwhile (gnb_live.h).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "bench/bench.h"
#include "bench/gnb_bed.h"
#include "bench/gnb_live.h"
#include "bench/result.h"

#define DEPLOYMENT "deploy/gnb-header-bench.yaml"
#define UES_MAX (1U << 20)
#define CHANGES 50000

struct options {
	struct bench_common common;
	struct gnb_bed_cfg bed;
	struct bench_uints sizes, offload, smartnics;
	const char *direction, *rlc, *path;
	unsigned ues, seed;
	bool live;
	unsigned changes; /**< of contexts, a second */
	double mpps;      /**< 0: as fast as it goes */
};

static const struct direction {
	const char *name;
	unsigned bits;
} directions[] = {
	{"downlink", GNB_BED_DOWN}, {"uplink", GNB_BED_UP}, {"both", GNB_BED_DOWN | GNB_BED_UP}};

static bool
wanted(const struct options *o, const struct direction *d)
{
	return o->direction == NULL || strcmp(o->direction, d->name) == 0;
}

static bool
path_wanted(const struct options *o, const char *path)
{
	return o->path == NULL || strcmp(o->path, path) == 0;
}

/** What every row begins with. */
static void
row_begin(struct bench_result *res, const struct options *o, const char *path,
	  const char *direction, unsigned bytes, unsigned offload_percent)
{
	bench_row(res);
	bench_str(res, "path", path);
	bench_str(res, "direction", direction);
	bench_int(res, "bytes", bytes);
	bench_int(res, "ues", o->ues);
	bench_int(res, "offload_percent", offload_percent);
}

/** @param path host or p4 */
static void
row_write(struct bench_result *res, const struct options *o, const char *path,
	  const char *direction, unsigned bytes, unsigned offload_percent,
	  const struct gnb_bed_trial *t)
{
	const double mhz = (double)rte_get_tsc_hz() / 1e6;

	row_begin(res, o, path, direction, bytes, offload_percent);
	bench_int(res, "smartnics", path[0] == 'p');
	bench_num(res, "mpps", mhz / t->cycles.median, 2);
	bench_num(res, "lcores", 1, 1);
	bench_num(res, "cycles_per_packet", t->cycles.median, 0);
	bench_num(res, "cycles_min", t->cycles.min, 0);
	bench_num(res, "mpps_best", mhz / t->cycles.min, 2);
	bench_int(res, "lost", (int64_t)t->lost);
	bench_int(res, "corrupted", (int64_t)t->corrupted);
	bench_int(res, "packets", (int64_t)t->sent);
	bench_int(res, "windows_clean", t->cycles.windows_clean);
	bench_int(res, "windows", t->cycles.windows);
	bench_bool(res, "modelled", false);
	bench_bool(res, "no_nic", true);
	bench_json_only(res, true);
	bench_str(res, "rlc", o->bed.am ? "am" : "um");
	bench_num(res, "tsc_mhz", mhz, 0);
	bench_num(res, "cycles_max", t->cycles.max, 0);
}

static bool
valid(const char *what, unsigned bytes, const struct gnb_bed_trial *t)
{
	if (t->sent > 0 && t->lost == 0 && t->corrupted == 0 && t->host_packets == t->sent)
		return true;
	fprintf(stderr, "bench gnb: %s, %u B: packets were lost, changed or counted wrongly\n",
		what, bytes);
	return false;
}

/** @return 0; -EIO for a run that is not valid; or another -errno */
static int
host_rows(const struct options *o, struct gnb_bed *b, struct bench_result *res,
	  struct gnb_bed_trial *downlink)
{
	bool ok = true;

	for (unsigned i = 0; i < RTE_DIM(directions); i++) {
		const struct direction *d = &directions[i];

		for (unsigned k = 0; wanted(o, d) && k < o->sizes.n; k++) {
			struct gnb_bed_trial t;
			int rc;

			fprintf(stderr, "host, %s, %u B, %u UEs\n", d->name, o->sizes.v[k], o->ues);
			rc = gnb_bed_trial(b, d->bits, o->sizes.v[k], o->common.seconds, &t);
			if (rc < 0)
				return rc;
			row_write(res, o, "host", d->name, o->sizes.v[k], 100, &t);
			ok &= valid(d->name, o->sizes.v[k], &t);
			if (k == 0 && d->bits == GNB_BED_DOWN)
				*downlink = t;
		}
	}
	return ok ? 0 : -EIO;
}

/** @param nic its cost of processing, then of handing to the host */
static int
nic_rows(const struct options *o, struct gnb_bed *b, struct bench_result *res,
	 struct gnb_bed_trial nic[2])
{
	bool ok = true;

	bench_emulation(res, "smartnic: rte_swx on one lcore");
	for (unsigned forward = 0; forward < 2; forward++)
		for (unsigned k = 0; k < o->sizes.n; k++) {
			struct gnb_bed_trial t;
			int rc;

			fprintf(stderr, "p4, %s, %u B, %u UEs\n",
				forward ? "all to the host" : "downlink", o->sizes.v[k], o->ues);
			rc = gnb_bed_nic(b, o->sizes.v[k], o->common.seconds, forward, &t);
			if (rc < 0)
				return rc;
			row_write(res, o, "p4", "downlink", o->sizes.v[k], forward ? 100 : 0, &t);
			ok &= valid("p4", o->sizes.v[k], &t);
			if (k == 0)
				nic[forward] = t;
		}
	return ok ? 0 : -EIO;
}

/** Fig. 2: packets/s, and lcores of the host, by share, from what each side costs. */
static void
sweep_rows(const struct options *o, struct bench_result *res, const struct gnb_bed_trial *host,
	   const struct gnb_bed_trial nic[2])
{
	const double mhz = (double)rte_get_tsc_hz() / 1e6;

	for (unsigned n = 0; n < o->smartnics.n; n++)
		for (unsigned k = 0; k < o->offload.n; k++) {
			const double share = o->offload.v[k] / 100.0;
			const double cycles =
				(1 - share) * nic[0].cycles.median + share * nic[1].cycles.median;
			const double mpps = o->smartnics.v[n] * mhz / cycles;

			row_begin(res, o, "both", "downlink", o->sizes.v[0], o->offload.v[k]);
			bench_int(res, "smartnics", o->smartnics.v[n]);
			bench_num(res, "mpps", mpps, 2);
			bench_num(res, "lcores", share * mpps * host->cycles.median / mhz, 2);
			bench_num(res, "cycles_per_packet", cycles, 0);
			bench_int(res, "lost", 0);
			bench_bool(res, "modelled", true);
			bench_bool(res, "no_nic", true);
		}
}

static int
rows_run(const struct options *o, struct gnb_bed *b, struct bench_result *res)
{
	struct gnb_bed_trial host = {0}, nic[2] = {0};
	int rc = 0, more;

	if (path_wanted(o, "host"))
		rc = host_rows(o, b, res, &host);
	if ((rc < 0 && rc != -EIO) || !path_wanted(o, "p4") || !wanted(o, &directions[0]))
		return rc;
	more = nic_rows(o, b, res, nic);
	if (more == 0 && rc == 0 && host.sent > 0)
		sweep_rows(o, res, &host, nic);
	return more < 0 ? more : rc;
}

static int
live_run(const struct options *o, struct bench_result *res)
{
	const struct gnb_live_cfg cfg = {.deployment = o->bed.deployment,
					 .direction = o->direction,
					 .sizes = &o->sizes,
					 .seconds = o->common.seconds,
					 .mpps = o->mpps,
					 .ues = o->ues,
					 .seed = o->seed,
					 .changes = o->changes,
					 .nodes = o->bed.nodes};

	return gnb_live_rows(&cfg, res);
}

static int
run(const struct options *o, struct bench_result *res)
{
	struct gnb_bed *b;
	int rc;

	if (o->live)
		return live_run(o, res);
	b = gnb_bed_open(&o->bed);
	if (b == NULL)
		return -EIO;
	bench_emulation(res, "ports: rings in process");
	rc = rows_run(o, b, res);
	if (!gnb_bed_close(b, o->bed.nodes))
		rc = -EIO;
	return rc;
}

#define REFUSE(...)                                                                                \
	do {                                                                                       \
		fprintf(stderr, "bench gnb: " __VA_ARGS__);                                        \
		fputc('\n', stderr);                                                               \
		return -EINVAL;                                                                    \
	} while (0)

/** What the parser cannot know. @return 0, or -EINVAL after a message. */
static int
options_check(const struct options *o)
{
	const unsigned least = o->live ? GNB_LIVE_FRAME_MIN : GNB_WIRE_FRAME_MIN;
	bool direction = o->direction == NULL;

	for (unsigned i = 0; i < RTE_DIM(directions); i++)
		direction |= o->direction && strcmp(o->direction, directions[i].name) == 0;
	if (!direction)
		REFUSE("--direction takes downlink, uplink or both, not '%s'", o->direction);
	if (o->rlc && strcmp(o->rlc, "um") != 0 && strcmp(o->rlc, "am") != 0)
		REFUSE("--rlc takes um or am, not '%s'", o->rlc);
	if (o->path && strcmp(o->path, "host") != 0 && strcmp(o->path, "p4") != 0)
		REFUSE("--path takes host or p4, not '%s'", o->path);
	for (unsigned i = 0; i < o->offload.n; i++)
		if (o->offload.v[i] > 100)
			REFUSE("--offload: %u must be 0..100", o->offload.v[i]);
	for (unsigned i = 0; i < o->smartnics.n; i++)
		if (o->smartnics.v[i] < 1 || o->smartnics.v[i] > 64)
			REFUSE("--smartnics: %u must be 1..64", o->smartnics.v[i]);
	if (o->ues < 1 || o->ues > UES_MAX)
		REFUSE("--ues %u must be 1..%u", o->ues, UES_MAX);
	for (unsigned i = 0; i < o->sizes.n; i++)
		if (o->sizes.v[i] < least || o->sizes.v[i] > GNB_WIRE_FRAME_MAX)
			REFUSE("--size: %u must be %u..%d, of a frame on N3 without FCS",
			       o->sizes.v[i], least, GNB_WIRE_FRAME_MAX);
	if (o->live && o->rlc && strcmp(o->rlc, "um") != 0)
		REFUSE("--live has DRBs of RLC UM only");
	if (o->live && o->path && strcmp(o->path, "host") != 0)
		REFUSE("--live has path host only");
	if (!o->live && (o->mpps > 0 || o->changes != CHANGES))
		REFUSE("--mpps and --context-changes are of --live");
	if (o->path && strcmp(o->path, "p4") == 0 && !wanted(o, &directions[0]))
		REFUSE("--path p4 has --direction downlink only");
	return 0;
}

int
bench_gnb(int argc, char **argv)
{
	struct options o = {
		.common = {.seconds = 2},
		.sizes = {{128}, 1},
		.offload = {{0, 20, 40, 60, 80, 100}, 6},
		.smartnics = {{1, 5}, 2},
		.ues = 65536,
		.seed = 1,
		.changes = CHANGES,
	};
	const struct bench_opt own[] = {
		{"deployment", BENCH_OPT_STR, &o.bed.deployment, "file [" DEPLOYMENT "]"},
		{"ues", BENCH_OPT_UINT, &o.ues, "that packets go to at random [65536]"},
		{"size", BENCH_OPT_UINTS, &o.sizes, "frames on N3, without FCS [128]"},
		{"direction", BENCH_OPT_STR, &o.direction, "downlink, uplink or both [all three]"},
		{"path", BENCH_OPT_STR, &o.path, "host or p4 [both, and what they make together]"},
		{"offload", BENCH_OPT_UINTS, &o.offload,
		 "percent to the host, of the rows computed [0,20,40,60,80,100]"},
		{"smartnics", BENCH_OPT_UINTS, &o.smartnics, "likewise, how many [1,5]"},
		{"rlc", BENCH_OPT_STR, &o.rlc, "mode of the DRBs, um or am [um]"},
		{"seed", BENCH_OPT_UINT, &o.seed, "of the order of UEs [1]"},
		{"live", BENCH_OPT_FLAG, &o.live, "worker and generator run on a CPU each"},
		{"context-changes", BENCH_OPT_UINT, &o.changes,
		 "with --live: of other UEs, a second [50000]"},
		{"mpps", BENCH_OPT_NUM, &o.mpps, "with --live: offered [as fast as it goes]"},
		{"nodes", BENCH_OPT_FLAG, &o.bed.nodes, "also print cycles per node"},
		{0},
	};
	struct bench_result *res;
	int rc = bench_options(argc, argv, "S3: a gNB's header processing on one worker.",
			       &o.common, own);

	if (rc != 0)
		return rc < 0 ? 2 : 0;
	if (options_check(&o) < 0)
		return 2;
	o.bed.deployment = bench_deployment(o.bed.deployment, DEPLOYMENT);
	o.bed.ues = o.ues;
	o.bed.seed = o.seed;
	o.bed.am = o.rlc && strcmp(o.rlc, "am") == 0;
	res = bench_result_open("gnb", o.common.json);
	if (res == NULL)
		return 1;
	rc = run(&o, res);
	if (bench_result_close(res) < 0)
		rc = -EIO;
	return rc == 0 ? 0 : 1;
}
