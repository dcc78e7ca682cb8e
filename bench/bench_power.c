/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath bench power`: figures 3 and 4 of S3, power and mean frequency by load, and what saving
 * costs in delay.
 *
 * The device is a gNB's header processing, or a forwarding unit, of one worker on a CPU of its
 * own; downlink packets come in slots, as a radio network wants them, or evenly. Every load is
 * offered under each governor in turn, --tries times over, so that what disturbs the machine
 * disturbs all of them alike; the middle of each figure counts. 100 % is
 * what the device or the generator manages when the device polls busily.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/gnb_frames.h"
#include "bench/gnb_wire.h"
#include "bench/power_trial.h"
#include "bench/result.h"

#define DEPLOYMENT_GNB "deploy/power-gnb-bench.yaml"
#define DEPLOYMENT_UPF "deploy/power-bench.yaml"
#define FULL 0.97 /**< of the capacity found, so that 100 % can be carried */

static const struct {
	const char *name;
	enum ap_cfg_governor governor;
} governors[] = {{"busy", AP_GOVERNOR_BUSY},
		 {"adaptive", AP_GOVERNOR_ADAPTIVE},
		 {"slot-aware", AP_GOVERNOR_SLOT_AWARE}};
#define GOVERNORS (sizeof(governors) / sizeof(governors[0]))

struct options {
	struct bench_common common;
	struct upf_bed_cfg bed;
	unsigned sessions, slot_us, bytes, tries;
	struct bench_uints loads;
	double rate_mpps;
	const char *device, *governors;
	unsigned only; /**< bit i: of `governors` */
};

/** As the role of a radio network would: slots are no secret to it. */
static unsigned slot_told_us;
static bool slot_naps;

static int
adjust(struct ap_config *conf, struct ap_error *err)
{
	for (unsigned i = 0; i < conf->power_count; i++) {
		conf->power[i].slot_us = slot_told_us;
		conf->power[i].slot_naps = slot_naps;
	}
	for (unsigned i = 0; i < conf->lcores_count; i++)
		if (conf->lcores[i].governor != AP_GOVERNOR_SLOT_AWARE ||
		    ap_config_power(conf, &conf->lcores[i])->table == NULL)
			return ap_error_set(err,
					    "%s: lcore %s: the bench wants governor slot-aware and "
					    "a power table on every lcore; it changes the governor "
					    "itself",
					    conf->path, conf->lcores[i].name);
	return 0;
}

static void
row_write(struct bench_result *res, const struct options *o, const struct upf_bed *b,
	  const char *governor, unsigned load, double pps, const struct power_trial_result *r)
{
	bool measured = !isnan(r->package_watts);
	char idle[96], device[32];

	snprintf(device, sizeof(device), "%s, downlink", upf_bed_device(b));
	bench_row(res);
	bench_str(res, "governor", governor);
	bench_int(res, "load_percent", load);
	bench_num(res, "cpu_time_percent", r->cpu_percent, 1);
	bench_num(res, "wakeups_per_s", r->wakeups_per_s, 0);
	bench_num(res, "power_watts", measured ? r->package_watts : r->watts, 2);
	bench_str(res, "power_source", measured ? "measured" : "modelled");
	bench_num(res, "freq_mhz", r->mhz, 0);
	bench_num(res, "delay_us_p50", r->delay_us_p50, 1);
	bench_num(res, "delay_us_p99", r->delay_us_p99, 1);
	bench_num(res, "mpps", r->mpps, 3);
	bench_int(res, "lost", (int64_t)r->lost);
	bench_num(res, "disturbed_ms", r->disturbed_ms, 1);
	bench_json_only(res, true);
	bench_num(res, "modelled_watts", r->watts, 3);
	bench_num(res, "offered_mpps", pps / 1e6, 3);
	bench_int(res, "tries", o->tries);
	bench_num(res, "delay_us_p99_least", r->delay_us_p99_least, 1);
	bench_num(res, "delay_us_p99_most", r->delay_us_p99_most, 1);
	bench_int(res, "sent", (int64_t)r->sent);
	bench_int(res, "corrupted", (int64_t)r->corrupted);
	bench_num(res, "busy_percent", r->busy_percent, 1);
	bench_int(res, "slot_us", o->slot_us);
	bench_bool(res, "naps", slot_naps);
	bench_int(res, "bytes", o->bytes);
	bench_int(res, "sessions", o->sessions);
	bench_str(res, "idle",
		  strcmp(governor, "busy") == 0 ? "none" : power_trial_idle(b, idle, sizeof(idle)));
	bench_str(res, "pstates", "model");
	bench_str(res, "device", device);
	bench_bool(res, "no_nic", true);
	bench_str(res, "deployment", o->bed.deployment);
}

/** Governors take turns. @return 0, 1 when packets were changed, or -errno */
static int
load_run(const struct options *o, struct upf_bed *b, struct bench_result *res, unsigned load,
	 double pps)
{
	static struct power_trial_result r[GOVERNORS][POWER_TRIES_MAX];
	struct power_trial_result middle;
	bool valid = true;

	for (unsigned i = 0; i < o->tries; i++)
		for (unsigned g = 0; g < GOVERNORS; g++) {
			struct power_trial t = {.pps = pps,
						.slot_ns = o->slot_us * 1000ULL,
						.governor = governors[g].governor,
						.seconds = o->common.seconds};
			int rc = (o->only >> g & 1) ? power_trial_run(b, &t, &r[g][i]) : 0;

			if (rc < 0)
				return rc;
			valid &= r[g][i].corrupted == 0;
		}
	for (unsigned g = 0; g < GOVERNORS; g++) {
		if (!(o->only >> g & 1))
			continue;
		power_trial_middle(r[g], o->tries, &middle);
		row_write(res, o, b, governors[g].name, load, pps, &middle);
	}
	return valid ? 0 : 1;
}

/** @return 0, 1 when packets were changed, or -errno */
static int
rows_run(const struct options *o, struct upf_bed *b, struct bench_result *res)
{
	double capacity = o->rate_mpps > 0 ? o->rate_mpps * 1e6
					   : FULL * power_trial_capacity(b, o->common.seconds);
	int rc = 0, one;

	if (capacity < 0)
		return (int)capacity;
	fprintf(stderr, "100 %% are %.3f Mpps\n", capacity / 1e6);
	for (unsigned k = 0; k < o->loads.n; k++) {
		one = load_run(o, b, res, o->loads.v[k], capacity * o->loads.v[k] / 100);
		if (one < 0)
			return one;
		rc |= one;
	}
	return rc;
}

static int
run(const struct options *o, struct bench_result *res)
{
	struct upf_bed *b = upf_bed_open(&o->bed);
	char text[160];
	int rc;

	if (b == NULL)
		return -EIO;
	if (upf_bed_shared(b)) {
		fprintf(stderr, "bench power: the device and the generator want a CPU each\n");
		upf_bed_close(b, NULL);
		return -EINVAL;
	}
	upf_bed_size(b, (uint16_t)o->bytes);
	bench_emulation(res, "ports: rings in process");
	snprintf(text, sizeof(text), "P-states: model, pauses slow the worker down (%s)",
		 power_trial_table(b));
	bench_emulation(res, text);
	rc = rows_run(o, b, res);
	if (!upf_bed_close(b, NULL))
		rc = rc < 0 ? rc : -EIO;
	return rc;
}

/** @return false after a message */
static bool
governors_parse(struct options *o)
{
	const char *at = o->governors;

	while (at != NULL && *at != '\0') {
		size_t len = strcspn(at, ",");
		unsigned g = 0;

		while (g < GOVERNORS && (strlen(governors[g].name) != len ||
					 strncmp(governors[g].name, at, len) != 0))
			g++;
		if (g == GOVERNORS) {
			fprintf(stderr,
				"bench power: --governors: '%s' must be of busy,adaptive,"
				"slot-aware\n",
				o->governors);
			return false;
		}
		o->only |= 1U << g;
		at += len + (at[len] == ',');
	}
	if (o->only == 0)
		o->only = (1U << GOVERNORS) - 1;
	return true;
}

int
bench_power(int argc, char **argv)
{
	struct options o = {
		.common = {.seconds = 1},
		.sessions = 6000,
		.slot_us = 500,
		.bytes = 128,
		.tries = 6,
		.device = "gnb",
		.loads = {{0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 100}, 14},
	};
	const struct bench_opt own[] = {
		{"device", BENCH_OPT_STR, &o.device, "gnb or upf [gnb]"},
		{"deployment", BENCH_OPT_STR, &o.bed.deployment,
		 "in place of the device's; lcores have governor slot-aware and a power table"},
		{"loads", BENCH_OPT_UINTS, &o.loads, "percent of what it carries, 0..100"},
		{"slot-us", BENCH_OPT_UINT, &o.slot_us,
		 "packets come at the beginning of slots of so many us, 0: evenly [500]"},
		{"rate-mpps", BENCH_OPT_NUM, &o.rate_mpps, "100 % instead of what is found"},
		{"naps", BENCH_OPT_FLAG, &slot_naps,
		 "slot-aware sleeps once a slot: less CPU time, more wake-ups"},
		{"tries", BENCH_OPT_UINT, &o.tries,
		 "of each governor; the middle of each figure counts [6]"},
		{"governors", BENCH_OPT_STR, &o.governors, "of busy,adaptive,slot-aware [all]"},
		{"bytes", BENCH_OPT_UINT, &o.bytes, "IP packet size [128]"},
		{"sessions", BENCH_OPT_UINT, &o.sessions, "UEs [6000]"},
		{0},
	};
	struct bench_result *res;
	int rc = bench_options(
		argc, argv,
		"S3, figures 3 and 4: CPU time, watts, frequency, wake-ups and delay "
		"by load for governors busy, adaptive and slot-aware, --seconds each.",
		&o.common, own);

	if (rc != 0)
		return rc < 0 ? 2 : 0;
	for (unsigned i = 0; i < o.loads.n; i++)
		if (o.loads.v[i] > 100) {
			fprintf(stderr, "bench power: --loads: %u must be 0..100\n", o.loads.v[i]);
			return 2;
		}
	if (o.sessions == 0 || o.tries == 0 || o.tries > POWER_TRIES_MAX) {
		fprintf(stderr, "bench power: --sessions must be 1 or more, --tries 1..%d\n",
			POWER_TRIES_MAX);
		return 2;
	}
	if (!governors_parse(&o))
		return 2;
	if (o.slot_us != 0 && (o.slot_us < 50 || o.slot_us > 10000)) {
		fprintf(stderr, "bench power: --slot-us %u must be 0 or 50..10000\n", o.slot_us);
		return 2;
	}
	if (o.bytes < GNB_FRAMES_TPDU_MIN || o.bytes > UPF_WIRE_BYTES_MAX - GNB_WIRE_OUTER) {
		fprintf(stderr, "bench power: --bytes %u must be %d..%d\n", o.bytes,
			GNB_FRAMES_TPDU_MIN, UPF_WIRE_BYTES_MAX - GNB_WIRE_OUTER);
		return 2;
	}
	if (strcmp(o.device, "gnb") != 0 && strcmp(o.device, "upf") != 0) {
		fprintf(stderr, "bench power: --device takes gnb or upf, not '%s'\n", o.device);
		return 2;
	}
	o.bed.deployment = bench_deployment(
		o.bed.deployment, strcmp(o.device, "gnb") == 0 ? DEPLOYMENT_GNB : DEPLOYMENT_UPF);
	o.bed.sessions = o.bed.active = o.sessions;
	o.bed.window = UINT32_MAX; /* as many as the port's queue holds */
	o.bed.checkpoint_ms = 60000;
	o.bed.seed = 1;
	o.bed.adjust = adjust;
	slot_told_us = o.slot_us;
	res = bench_result_open("power", o.common.json);
	if (res == NULL)
		return 1;
	rc = run(&o, res);
	if (bench_result_close(res) < 0)
		rc = -EIO;
	return rc != 0;
}
