/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath bench ue-loopback`: table I of the S0 paper.
 *
 * For every profile and size: the device is first driven as fast as it takes packets, TB sizes
 * are set a little above what that carried, the highest loss-free rate is searched (RFC 2544
 * §26.1), and then throughput and delay are measured at that rate and at 80 % of it.
 */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "bench/bench.h"
#include "bench/loop.h"
#include "bench/result.h"
#include "bench/trial.h"
#include "core/eal.h"
#include "modules/fapi/fapi_tx.h"

#define DEPLOYMENT "deploy/ue-loopback-fused.yaml"
#define PROBE_SECONDS 0.1
#define PROBE_GBPS_FIRST 6.0 /* TB capacity at 1024 B, less for smaller packets */
#define PROBE_STEP 1.5
#define PROBES_MAX 8
#define SEARCH_SECONDS 0.25
#define TB_HEADROOM 1.2 /* TB capacity over the rate probed */
#define SUBPDU_BYTES 8  /* SDAP 1, PDCP 3, RLC 1, MAC 3 */
#define STEP_SECONDS 0.4
#define SHARED_TRIES 12

struct profile {
	const char *name;
	enum ap_cfg_copy copy;
	enum ap_cfg_strategy strategy;
};

static const struct profile profiles[] = {
	{"paper", AP_COPY_CPU, AP_STRATEGY_GATHER},
	{"zero-copy", AP_COPY_NONE, AP_STRATEGY_SCATTER},
};

static const char *const copies[] = {"none", "cpu", "dma"};
static const char *const strategies[] = {"scatter", "gather", "scheme1", "scheme2"};

/** Table I of the paper. */
static const struct {
	uint32_t size;
	double gbps, delay_us;
} paper[] = {{128, 2.15, 424}, {256, 5.7, 344}, {512, 12.1, 514}, {1024, 24.24, 742}};

struct options {
	struct bench_common common;
	const char *deployment;
	const char *profile;
	const char *copier;
	const char *strategy;
	struct bench_uints sizes;
	unsigned tb_bytes; /* 0: from the probe */
	const char *numerology;
	double rate_mpps; /* 0: search */
	unsigned steps;   /* rows at rates rising up to the one found, as in the paper's test */
	double phy_loss;
	bool nodes;
};

struct row {
	const struct profile *profile;
	uint32_t size;
	uint32_t tb_bytes;
	unsigned load_percent; /* of the highest loss-free rate */
	unsigned lcores;
	char copier[96];
	const char *framing;
	enum ap_cfg_copy copy;
	enum ap_cfg_strategy strategy;
	struct loop_trial max, at80;
	bool balanced;
	char unbalanced[512];
};

static int
choice(const char *text, const char *const *names, unsigned n, unsigned def, const char *option)
{
	for (unsigned i = 0; text && i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return (int)i;
	if (text == NULL)
		return (int)def;
	fprintf(stderr, "bench ue-loopback: --%s: there is no '%s'\n", option, text);
	return -EINVAL;
}

/** Deployment of the row: the file, with what the options and the row say. */
static struct ap_config *
row_config(const struct options *o, const struct row *r, struct ap_error *err)
{
	struct ap_config *cfg = ap_config_load(o->deployment, err);

	if (cfg == NULL)
		return NULL;
	if (cfg->ue_count != 1 || cfg->phy_count != 1 || cfg->gen_count != 1) {
		ap_error_set(err, "%s: the loopback has one ue, one phy and one gen", cfg->path);
		ap_config_free(cfg);
		return NULL;
	}
	/* Two time stamps a node visit: only where somebody wants to see them. */
	cfg->stats = o->nodes ? AP_CFG_ON : AP_CFG_OFF;
	cfg->ue[0].copy = r->copy;
	cfg->ue[0].strategy = r->strategy;
	cfg->phy[0].tb_loss = o->phy_loss > 0 ? o->phy_loss : cfg->phy[0].tb_loss;
	if (o->numerology)
		cfg->phy[0].numerology = (uint8_t)RTE_MIN(atoi(o->numerology), 4);
	free(cfg->gen[0].sizes);
	cfg->gen[0].sizes = malloc(sizeof(uint32_t));
	if (cfg->gen[0].sizes == NULL)
		abort();
	cfg->gen[0].sizes[0] = r->size;
	cfg->gen[0].sizes_count = 1;
	return cfg;
}

/** TB bytes a carrier so that all of them carry `gbps` of IP in packets of `size`. */
static uint32_t
tb_for(const struct ap_config *cfg, uint32_t size, double gbps)
{
	double slot_s = 1e-3 / (1 << cfg->phy[0].numerology);
	double bytes = gbps * 1e9 / 8 * slot_s / cfg->phy[0].tb_bytes_count;

	bytes *= (double)(size + SUBPDU_BYTES) / size;
	return (uint32_t)RTE_MIN(bytes + 64, (double)fapi_tb_max(cfg->phy[0].frame_bytes));
}

struct device {
	struct ap_config *cfg;
	struct ap_plan *plan;
	struct loop *loop;
};

static int
device_up(struct device *d, const struct options *o, const struct row *r, struct ap_error *err)
{
	*d = (struct device){.cfg = row_config(o, r, err)};
	d->plan = d->cfg ? ap_plan_make(d->cfg, err) : NULL;
	d->loop = d->plan ? loop_open(d->cfg, d->plan, err) : NULL;
	if (d->loop)
		return 0;
	fprintf(stderr, "%s\n", err->text);
	ap_plan_free(d->plan);
	ap_config_free(d->cfg);
	return -EINVAL;
}

static bool
device_down(struct device *d, struct ap_error *err)
{
	bool balanced = loop_close(d->loop, err);

	ap_plan_free(d->plan);
	ap_config_free(d->cfg);
	return balanced;
}

/**
 * As fast as the device takes packets, in TBs that grow until they no longer help: padding costs
 * the PHY as much as data, so TBs that are much too large would slow the machine down.
 * Leaves the TB size a little above what the device carries. @return that rate through `pps`.
 */
static int
probe(const struct options *o, struct row *r, struct device *d, double *pps)
{
	double capacity = PROBE_GBPS_FIRST * r->size / 1024, best = 0;
	struct loop_trial t;
	int rc = 0;

	for (unsigned i = 0; i < PROBES_MAX && rc == 0; i++, capacity *= PROBE_STEP) {
		r->tb_bytes = o->tb_bytes ? o->tb_bytes : tb_for(d->cfg, r->size, capacity);
		loop_set_tb(d->loop, r->tb_bytes);
		rc = loop_trial(d->loop, 0, PROBE_SECONDS, &t);
		best = RTE_MAX(best, t.gbps_max);
		if (o->tb_bytes || best < capacity * 0.75)
			break;
	}
	*pps = best * 1e9 / 8 / r->size;
	r->tb_bytes = o->tb_bytes ? o->tb_bytes : tb_for(d->cfg, r->size, best * TB_HEADROOM);
	loop_set_tb(d->loop, r->tb_bytes);
	return rc;
}

struct search_arg {
	struct loop *loop;
};

static int
search_trial(void *arg, double rate, double seconds, struct trial_outcome *out)
{
	struct search_arg *s = arg;
	struct loop_trial t;
	int rc = loop_trial(s->loop, rate, seconds, &t);
	double due = rate * t.seconds;

	out->sent = t.sent;
	out->lost = t.lost;
	/* Packets a busy device left no room for were refused: a real port would have lost them. */
	if (!t.generator_limited && due > (double)t.sent * 1.02)
		out->lost += (uint64_t)due - t.sent;
	out->corrupted = t.corrupted;
	out->generator_limited = t.generator_limited;
	return rc;
}

/** The highest loss-free rate, then the measurement there; backs off 3 % while packets are lost. */
static int
measure(const struct options *o, struct row *r, struct device *d, double probed)
{
	struct trial_cfg cfg = {
		.seconds = SEARCH_SECONDS,
		.min_rate = probed * 0.2,
		.max_rate = probed * 1.1,
		.resolution = 0.02,
		.repeats = 2,
		.unit = "Mpps",
		.unit_size = 1e6,
		.progress = stderr,
	};
	struct search_arg s = {.loop = d->loop};
	struct trial_outcome best = {.offered = o->rate_mpps * 1e6};
	double rate;
	int rc = 0;

	if (o->rate_mpps <= 0)
		rc = trial_search(&cfg, search_trial, &s, &best);
	/* The probe was slowed down if its rate passes. */
	for (unsigned again = 0;
	     again < 2 && rc == 0 && best.offered >= 0.98 * cfg.max_rate && !best.generator_limited;
	     again++) {
		cfg.min_rate = cfg.max_rate;
		cfg.max_rate *= 1.5;
		rc = trial_search(&cfg, search_trial, &s, &best);
		if (rc == -ENOENT) {
			best.offered = cfg.min_rate;
			rc = 0;
		}
	}
	if (rc == -ENOENT) {
		fprintf(stderr, "not even %.3f Mpps pass without loss\n", cfg.min_rate / 1e6);
		best.offered = cfg.min_rate;
		rc = 0;
	}
	rate = best.offered;
	for (unsigned tries = 0; rc == 0 && tries < SHARED_TRIES; tries++) {
		rc = loop_trial(d->loop, rate, o->common.seconds, &r->max);
		if (r->max.lost == 0 || o->phy_loss > 0 || o->rate_mpps > 0)
			break;
		rate *= 0.97;
	}
	return rc == 0 ? loop_trial(d->loop, 0.8 * rate, RTE_MAX(o->common.seconds / 3, 0.3),
				    &r->at80)
		       : rc;
}

static void
row_write(struct bench_result *res, const struct options *o, const struct row *r)
{
	double paper_gbps = NAN, paper_delay = NAN;

	for (unsigned i = 0; i < RTE_DIM(paper); i++)
		if (paper[i].size == r->size) {
			paper_gbps = paper[i].gbps;
			paper_delay = paper[i].delay_us;
		}
	bench_emulation(res, "phy: emulator in process");
	if (r->copy == AP_COPY_DMA)
		bench_emulation(res, r->copier);
	bench_row(res);
	bench_int(res, "size", r->size);
	bench_str(res, "profile", r->profile->name);
	bench_str(res, "copier", r->copier);
	bench_int(res, "lcores", r->lcores);
	bench_num(res, "paper_gbps", paper_gbps, 2);
	bench_num(res, "gbps", r->max.gbps, 2);
	bench_num(res, "mpps", r->max.mpps, 3);
	bench_num(res, "gbps_derived", r->max.gbps_derived, 2);
	bench_num(res, "dut_busy_percent", r->max.busy_percent, 1);
	bench_num(res, "cycles_per_packet", r->max.cycles_per_packet, 0);
	bench_num(res, "paper_delay_us", paper_delay, 0);
	bench_num(res, "delay_us_p50", r->max.delay_us_p50, 0);
	bench_num(res, "delay_us_p99", r->max.delay_us_p99, 0);
	bench_num(res, "delay_us_p50_at_80", r->at80.delay_us_p50, 0);
	bench_int(res, "lost", (int64_t)(r->max.lost + r->at80.lost));
	bench_int(res, "corrupted", (int64_t)(r->max.corrupted + r->at80.corrupted));
	bench_int(res, "windows_clean", r->max.windows_clean);
	bench_int(res, "windows", r->max.windows);
	bench_str(res, "limit", r->max.busy_percent < 90 ? "generator" : "device");
	bench_json_only(res, true);
	bench_int(res, "load_percent", r->load_percent);
	bench_str(res, "strategy", strategies[r->strategy]);
	bench_str(res, "framing", r->framing);
	bench_str(res, "deployment", o->deployment);
	bench_int(res, "tb_bytes", r->tb_bytes);
	bench_num(res, "gbps_min", r->max.gbps_min, 2);
	bench_num(res, "gbps_max", r->max.gbps_max, 2);
	bench_num(res, "delay_us_max", r->max.delay_us_max, 0);
	bench_num(res, "gbps_at_80", r->at80.gbps, 2);
	bench_num(res, "delay_us_p99_at_80", r->at80.delay_us_p99, 0);
	bench_num(res, "delay_us_max_at_80", r->at80.delay_us_max, 0);
	bench_int(res, "duplicated", (int64_t)r->max.duplicated);
	bench_int(res, "reordered", (int64_t)r->max.reordered);
	bench_int(res, "tb_lost", (int64_t)r->max.tb_lost);
	bench_int(res, "slots_missed", (int64_t)r->max.slots_missed);
	bench_str(res, "phy", "emulator in process, copies every TB");
	bench_bool(res, "balanced", r->balanced);
}

/** S0's procedure: the rate rises step by step, delay is measured at each. */
static int
steps_run(const struct options *o, const struct row *top, struct device *d,
	  struct bench_result *res)
{
	int rc = 0;

	for (unsigned i = 1; i < o->steps && rc == 0; i++) {
		struct row r = *top;

		rc = loop_trial(d->loop, top->max.mpps * 1e6 * i / o->steps, STEP_SECONDS, &r.max);
		r.at80 = (struct loop_trial){0};
		r.load_percent = 100 * i / o->steps;
		if (rc == 0)
			row_write(res, o, &r);
	}
	return rc;
}

static int
row_run(const struct options *o, struct row *r, struct bench_result *res)
{
	struct ap_error err = {0};
	struct device d;
	double probed = 0;
	int rc = device_up(&d, o, r, &err);

	if (rc < 0)
		return rc;
	rc = probe(o, r, &d, &probed);
	if (rc == 0)
		rc = measure(o, r, &d, probed);
	r->lcores = loop_lcores(d.loop);
	snprintf(r->copier, sizeof(r->copier), "%s", loop_copier(d.loop));
	r->framing = ap_config_port(d.cfg, d.cfg->ue[0].user_port)->framing == AP_FRAMING_IP
			     ? "ip"
			     : "ethernet";
	if (o->nodes)
		loop_print(d.loop, stderr);
	r->balanced = true; /* of the steps: known when the device is down */
	if (rc == 0)
		rc = steps_run(o, r, &d, res);
	r->balanced = device_down(&d, &err);
	if (!r->balanced)
		fprintf(stderr, "the books do not balance: %s\n", err.text);
	return rc;
}

static bool
row_valid(const struct options *o, const struct row *r)
{
	bool lossless = r->max.lost == 0 && r->at80.lost == 0;

	return r->balanced && r->max.corrupted == 0 && r->at80.corrupted == 0 && r->max.sent > 0 &&
	       (lossless || o->phy_loss > 0);
}

static int
run_rows(const struct options *o, struct bench_result *res)
{
	bool valid = true;

	for (unsigned p = 0; p < RTE_DIM(profiles); p++) {
		struct row r = {.profile = &profiles[p]};
		int copy, strategy;

		if (o->profile && strcmp(o->profile, "both") != 0 &&
		    strcmp(o->profile, profiles[p].name) != 0)
			continue;
		copy = choice(o->copier, copies, RTE_DIM(copies), profiles[p].copy, "copier");
		strategy = choice(o->strategy, strategies, RTE_DIM(strategies),
				  profiles[p].strategy, "strategy");
		if (copy < 0 || strategy < 0)
			return -EINVAL;
		for (unsigned s = 0; s < o->sizes.n; s++) {
			r = (struct row){.profile = &profiles[p],
					 .size = o->sizes.v[s],
					 .load_percent = 100,
					 .copy = (enum ap_cfg_copy)copy,
					 .strategy = (enum ap_cfg_strategy)strategy};
			fprintf(stderr, "%s, %u B\n", r.profile->name, r.size);
			if (row_run(o, &r, res) < 0)
				return -EINVAL;
			row_write(res, o, &r);
			valid &= row_valid(o, &r);
		}
	}
	return valid ? 0 : -EIO;
}

/** The deployment named, or the default one beside the program's build folder. */
static const char *
deployment_path(const char *given)
{
	static char path[1024];
	char exe[512] = "";

	if (given)
		return given;
	if (access(DEPLOYMENT, R_OK) == 0)
		return DEPLOYMENT;
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) <= 0)
		return DEPLOYMENT;
	snprintf(path, sizeof(path), "%s/../%s", dirname(exe), DEPLOYMENT);
	return path;
}

static int
eal_up(const struct options *o)
{
	const struct row r = {.size = 1024};
	struct ap_error err = {0};
	struct ap_config *cfg = row_config(o, &r, &err);
	struct ap_plan *plan = cfg ? ap_plan_make(cfg, &err) : NULL;
	int rc = plan ? ap_eal_start(plan, &err) : -EINVAL;

	if (rc < 0)
		fprintf(stderr, "%s\n", err.text);
	ap_plan_free(plan);
	ap_config_free(cfg);
	return rc;
}

int
bench_ue_loopback(int argc, char **argv)
{
	struct options o = {.common = {.seconds = 2}, .sizes = {{128, 256, 512, 1024, 1400}, 5}};
	const struct bench_opt own[] = {
		{"deployment", BENCH_OPT_STR, &o.deployment,
		 "file [deploy/ue-loopback-fused.yaml]"},
		{"size", BENCH_OPT_UINTS, &o.sizes, "IP packet sizes, B [128,256,512,1024,1400]"},
		{"profile", BENCH_OPT_STR, &o.profile, "paper, zero-copy or both [both]"},
		{"copier", BENCH_OPT_STR, &o.copier, "none, cpu or dma [the profile's]"},
		{"strategy", BENCH_OPT_STR, &o.strategy,
		 "scatter, gather, scheme1 or scheme2 [the profile's]"},
		{"tb-bytes", BENCH_OPT_UINT, &o.tb_bytes,
		 "TB size a carrier [a little above the load]"},
		{"numerology", BENCH_OPT_STR, &o.numerology, "0..4 [the deployment's]"},
		{"rate-mpps", BENCH_OPT_NUM, &o.rate_mpps, "offer this rate instead of searching"},
		{"steps", BENCH_OPT_UINT, &o.steps,
		 "also rows at so many rates rising to the highest"},
		{"phy-loss", BENCH_OPT_NUM, &o.phy_loss, "share of TBs the PHY loses"},
		{"nodes", BENCH_OPT_FLAG, &o.nodes, "also print cycles per node"},
		{0},
	};
	struct bench_result *res;
	int rc = bench_options(argc, argv,
			       "S0: throughput and queueing delay of the UE L2, uplink looped into "
			       "downlink.",
			       &o.common, own);

	if (rc != 0)
		return rc < 0 ? 2 : 0;
	o.deployment = deployment_path(o.deployment);
	if (eal_up(&o) < 0)
		return 1;
	res = bench_result_open("ue-loopback", o.common.json);
	if (res == NULL)
		return 1;
	rc = run_rows(&o, res);
	if (bench_result_close(res) < 0)
		rc = -EIO;
	rte_eal_cleanup();
	return rc == 0 ? 0 : 1;
}
