/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "bench/gnb_churn.h"
#include "bench/gnb_live.h"
#include "bench/upf_bed.h"
#include "core/clock.h"

#define WINDOW 1024 /**< packets of a direction inside at once */

static const struct {
	const char *name;
	unsigned bits;
} directions[] = {
	{"downlink", UPF_BED_DOWN}, {"uplink", UPF_BED_UP}, {"both", UPF_BED_DOWN | UPF_BED_UP}};

/** What a trial's contexts did. */
struct changes {
	uint32_t asked;
	double per_s;
	int64_t failed;
};

static void
row_write(struct bench_result *res, const struct gnb_live_cfg *cfg, const char *direction,
	  unsigned bytes, const struct changes *c, const struct upf_bed_trial *t)
{
	bench_row(res);
	bench_str(res, "path", "host");
	bench_str(res, "direction", direction);
	bench_int(res, "bytes", bytes);
	bench_int(res, "ues", cfg->ues);
	bench_int(res, "offload_percent", 100);
	bench_int(res, "changes_asked", c->asked);
	bench_num(res, "changes_per_s", c->per_s, 0);
	bench_int(res, "changes_failed", c->failed);
	bench_num(res, "mpps", t->mpps, 2);
	bench_num(res, "lcores", 1, 1);
	bench_num(res, "cycles_per_packet", t->cycles_per_packet, 0);
	bench_num(res, "busy_percent", t->busy_percent, 1);
	bench_num(res, "delay_us_p50", t->delay_us_p50, 1);
	bench_num(res, "delay_us_p99", t->delay_us_p99, 1);
	bench_int(res, "lost", (int64_t)t->lost);
	bench_int(res, "corrupted", (int64_t)(t->corrupted + t->duplicated));
	bench_int(res, "packets", (int64_t)t->sent);
	bench_int(res, "windows_clean", t->windows_clean);
	bench_int(res, "windows", t->windows);
	bench_bool(res, "modelled", false);
	bench_bool(res, "no_nic", true);
	bench_json_only(res, true);
	bench_bool(res, "live", true);
	bench_int(res, "smartnics", 0);
	bench_num(res, "mpps_min", t->mpps_min, 2);
	bench_num(res, "mpps_max", t->mpps_max, 2);
	bench_num(res, "offered_mpps", cfg->mpps, 3);
	bench_num(res, "generator_percent", t->generator_percent, 1);
	bench_bool(res, "generator_limited", t->generator_limited);
}

/** @param c `asked`, the rest is filled in */
static int
trial(const struct gnb_live_cfg *cfg, struct upf_bed *b, unsigned bits, struct changes *c,
      struct upf_bed_trial *t)
{
	struct ap_error err = {0};
	struct gnb_churn *churn = c->asked ? gnb_churn_start(b, c->asked, &err) : NULL;
	const uint64_t start = ap_clock_ns();
	int rc;

	if (c->asked && churn == NULL) {
		fprintf(stderr, "bench gnb: %s\n", err.text);
		return -EIO;
	}
	rc = upf_bed_trial(b, bits, cfg->mpps * 1e6, cfg->seconds, t);
	if (churn) {
		c->per_s = (double)gnb_churn_done(churn) * 1e9 / (double)(ap_clock_ns() - start);
		c->failed = gnb_churn_stop(churn);
	}
	return rc < 0 ? rc : (int)RTE_MIN(c->failed, (int64_t)0);
}

/** @return whether all packets of the sessions that did not change came out as they must */
static bool
valid(const char *direction, unsigned bytes, const struct changes *c, const struct upf_bed_trial *t)
{
	if (t->sent > 0 && t->lost == 0 && t->corrupted == 0 && t->duplicated == 0 &&
	    c->failed == 0)
		return true;
	fprintf(stderr,
		"bench gnb: %s, %u B, %u changes/s: %" PRIu64 " packets lost, %" PRIu64
		" changed, %" PRIi64 " changes of contexts failed\n",
		direction, bytes, c->asked, t->lost, t->corrupted + t->duplicated, c->failed);
	return false;
}

/** Without changes, then with them. */
static int
pair(const struct gnb_live_cfg *cfg, struct upf_bed *b, struct bench_result *res, unsigned d,
     unsigned bytes)
{
	const uint32_t asked[] = {0, cfg->changes};
	bool ok = true;

	upf_bed_size(b, (uint16_t)(bytes - GNB_WIRE_OUTER));
	for (unsigned k = 0; k < RTE_DIM(asked); k++) {
		struct changes c = {.asked = asked[k]};
		struct upf_bed_trial t;
		int rc;

		if (k > 0 && c.asked == 0)
			break;
		fprintf(stderr, "live, %s, %u B, %u UEs, %u changes/s\n", directions[d].name, bytes,
			cfg->ues, c.asked);
		rc = trial(cfg, b, directions[d].bits, &c, &t);
		if (rc < 0)
			return rc;
		row_write(res, cfg, directions[d].name, bytes, &c, &t);
		ok &= valid(directions[d].name, bytes, &c, &t);
	}
	return ok ? 0 : -EIO;
}

int
gnb_live_rows(const struct gnb_live_cfg *cfg, struct bench_result *res)
{
	const struct upf_bed_cfg bed = {.deployment = cfg->deployment,
					.sessions = cfg->ues,
					.active = cfg->ues,
					.window = WINDOW,
					.seed = cfg->seed,
					.nodes = cfg->nodes};
	struct upf_bed *b = upf_bed_open(&bed);
	bool ok = true;
	int rc = 0;

	if (b == NULL)
		return -EIO;
	bench_emulation(res, "ports: rings in process");
	for (unsigned d = 0; d < RTE_DIM(directions); d++)
		for (unsigned k = 0; k < cfg->sizes->n && (rc == 0 || rc == -EIO); k++) {
			if (cfg->direction && strcmp(cfg->direction, directions[d].name) != 0)
				continue;
			rc = pair(cfg, b, res, d, cfg->sizes->v[k]);
			ok &= rc == 0;
		}
	if (!upf_bed_close(b, cfg->nodes ? stderr : NULL))
		ok = false;
	return rc < 0 ? rc : ok ? 0 : -EIO;
}
