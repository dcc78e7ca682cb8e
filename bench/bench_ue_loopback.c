/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath bench ue-loopback`: table I of the S0 paper.
 *
 * For every profile and size: the device is first driven as fast as it takes packets, TB sizes
 * are set a little above what that carried, the highest loss-free rate is searched (RFC 2544
 * §26.1), and then throughput and delay are measured at that rate and at 80 % of it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "bench/bench.h"
#include "bench/loop_row.h"
#include "core/eal.h"
#include "modules/fapi/fapi_tx.h"

#define DEPLOYMENT "deploy/ue-loopback-fused.yaml"
#define STEP_SECONDS 0.4
#define FRAME_BYTES_MOST 9000
#define EXIT_LOST 3

static const struct loop_profile profiles[] = {
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

static void
row_write(struct bench_result *res, const struct loop_options *o, const struct loop_row *r)
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
	bench_str(res, "rlc", r->rlc == AP_RLC_AM ? "am" : r->rlc == AP_RLC_UM ? "um" : "tm");
	bench_int(res, "nea", r->nea);
	bench_int(res, "nia", r->nia);
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
	bench_int(res, "tb_lost", (int64_t)(r->max.tb_lost + r->at80.tb_lost));
	bench_int(res, "tb_soft_lost", (int64_t)(r->max.tb_soft_lost + r->at80.tb_soft_lost));
	bench_int(res, "harq_retx", (int64_t)(r->max.harq_retx + r->at80.harq_retx));
	bench_int(res, "rlc_retx", (int64_t)(r->max.rlc_retx + r->at80.rlc_retx));
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
	bench_int(res, "slots_missed", (int64_t)r->max.slots_missed);
	bench_str(res, "phy", "emulator in process, copies every TB");
	bench_bool(res, "balanced", r->balanced);
}

/** S0's procedure: the rate rises step by step, delay is measured at each. */
static int
steps_run(const struct loop_options *o, const struct loop_row *top, struct loop_device *d,
	  struct bench_result *res)
{
	int rc = 0;

	for (unsigned i = 1; i < o->steps && rc == 0; i++) {
		struct loop_row r = *top;

		rc = loop_trial(d->loop, top->max.mpps * 1e6 * i / o->steps, STEP_SECONDS, &r.max);
		r.at80 = (struct loop_trial){0};
		r.load_percent = 100 * i / o->steps;
		if (rc == 0)
			row_write(res, o, &r);
	}
	return rc;
}

static int
row_run(const struct loop_options *o, struct loop_row *r, struct bench_result *res)
{
	struct ap_error err = {0};
	struct loop_device d;
	int rc = loop_device_up(&d, o, r, &err);

	if (rc < 0)
		return rc;
	rc = loop_row_measure(o, r, &d);
	r->lcores = loop_lcores(d.loop);
	snprintf(r->copier, sizeof(r->copier), "%s", loop_copier(d.loop));
	r->rlc = d.cfg->ue[0].bearers[0].rlc.mode;
	r->nea = d.cfg->ue[0].security.nea;
	r->nia = d.cfg->ue[0].bearers[0].pdcp.integrity ? d.cfg->ue[0].security.nia : 0;
	r->framing = ap_config_port(d.cfg, d.cfg->ue[0].user_port)->framing == AP_FRAMING_IP
			     ? "ip"
			     : "ethernet";
	r->balanced = true; /* of the steps: known when the device is down */
	if (rc == 0)
		rc = steps_run(o, r, &d, res);
	r->balanced = loop_device_down(&d, o->nodes ? stderr : NULL, &err);
	if (!r->balanced)
		fprintf(stderr, "the books do not balance: %s\n", err.text);
	return rc;
}

/** @return 0; -EAGAIN: packets were lost, as on a machine that others use; -EIO: a fault of ours */
static int
row_judge(const struct loop_options *o, const struct loop_row *r)
{
	bool lossless = r->max.lost == 0 && r->at80.lost == 0;

	if (!r->balanced || r->max.corrupted != 0 || r->at80.corrupted != 0 || r->max.sent == 0)
		return -EIO;
	return lossless || (o->phy_loss > 0 && r->rlc != AP_RLC_AM) ? 0 : -EAGAIN;
}

static int
run_rows(const struct loop_options *o, struct bench_result *res)
{
	int worst = 0;

	for (unsigned p = 0; p < RTE_DIM(profiles); p++) {
		struct loop_row r = {.profile = &profiles[p]};
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
			r = (struct loop_row){.profile = &profiles[p],
					      .size = o->sizes.v[s],
					      .load_percent = 100,
					      .copy = (enum ap_cfg_copy)copy,
					      .strategy = (enum ap_cfg_strategy)strategy};
			fprintf(stderr, "%s, %u B\n", r.profile->name, r.size);
			if (row_run(o, &r, res) < 0)
				return -EINVAL;
			row_write(res, o, &r);
			if (worst != -EIO && row_judge(o, &r) != 0)
				worst = row_judge(o, &r);
		}
	}
	return worst;
}

static int
eal_up(const struct loop_options *o)
{
	const struct loop_row r = {.size = 1024};
	struct ap_error err = {0};
	struct ap_config *cfg = loop_row_config(o, &r, &err);
	struct ap_plan *plan = cfg ? ap_plan_make(cfg, &err) : NULL;
	int rc = plan ? ap_eal_start(plan, &err) : -EINVAL;

	if (rc < 0)
		fprintf(stderr, "%s\n", err.text);
	ap_plan_free(plan);
	ap_config_free(cfg);
	return rc;
}

#define REFUSE(...)                                                                                \
	do {                                                                                       \
		fprintf(stderr, "bench ue-loopback: " __VA_ARGS__);                                \
		fputc('\n', stderr);                                                               \
		return -EINVAL;                                                                    \
	} while (0)

/** What the parser cannot know. @return 0, or -EINVAL after a message. */
static int
options_check(const struct loop_options *o)
{
	bool profile = o->profile == NULL || strcmp(o->profile, "both") == 0;

	for (unsigned i = 0; i < RTE_DIM(profiles); i++)
		profile |= o->profile && strcmp(o->profile, profiles[i].name) == 0;
	if (!profile)
		REFUSE("--profile takes paper, zero-copy or both, not '%s'", o->profile);
	if (o->numerology && (strlen(o->numerology) != 1 || strspn(o->numerology, "01234") != 1))
		REFUSE("--numerology takes 0..4, not '%s'", o->numerology);
	if (o->phy_loss > 1 || o->soft_loss > 1)
		REFUSE("--phy-loss and --soft-loss are shares, 0..1");
	for (unsigned i = 0; i < o->sizes.n; i++)
		if (o->sizes.v[i] < 64 || o->sizes.v[i] > 9000)
			REFUSE("--size: %u must be 64..9000 B of IP", o->sizes.v[i]);
	if (o->tb_bytes > fapi_tb_max(FRAME_BYTES_MOST))
		REFUSE("--tb-bytes: %u is over %u, the most a message carries", o->tb_bytes,
		       fapi_tb_max(FRAME_BYTES_MOST));
	return 0;
}

int
bench_ue_loopback(int argc, char **argv)
{
	struct loop_options o = {.common = {.seconds = 2},
				 .sizes = {{128, 256, 512, 1024, 1400}, 5}};
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
		{"harq", BENCH_OPT_FLAG, &o.harq, "HARQ: 16 processes, 4 transmissions of a TB"},
		{"soft-loss", BENCH_OPT_NUM, &o.soft_loss,
		 "share of first transmissions that do not decode; with --harq"},
		{"rlc", BENCH_OPT_STR, &o.rlc, "um, am or tm [the deployment's]"},
		{"nea", BENCH_OPT_UINT, &o.nea, "ciphering, 0..3 [the deployment's]"},
		{"nia", BENCH_OPT_UINT, &o.nia, "integrity protection, 0..3 [the deployment's]"},
		{"nodes", BENCH_OPT_FLAG, &o.nodes, "also print cycles per node"},
		{0},
	};
	struct bench_result *res;
	int rc =
		bench_options(argc, argv,
			      "S0: throughput and queueing delay of the UE L2, uplink looped into "
			      "downlink. Exit status 3: only packets were lost at the lowest rate.",
			      &o.common, own);

	if (rc != 0)
		return rc < 0 ? 2 : 0;
	if (options_check(&o) < 0)
		return 2;
	o.deployment = bench_deployment(o.deployment, DEPLOYMENT);
	if (eal_up(&o) < 0)
		return 1;
	res = bench_result_open("ue-loopback", o.common.json);
	if (res == NULL)
		return 1;
	rc = run_rows(&o, res);
	if (bench_result_close(res) < 0)
		rc = -EIO;
	rte_eal_cleanup();
	return rc == 0 ? 0 : rc == -EAGAIN ? EXIT_LOST : 1;
}
