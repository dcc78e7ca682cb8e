/* SPDX-License-Identifier: BSD-3-Clause */
/** What a forwarding unit that runs at its ports carries, and its delay. */
#include <errno.h>
#include <stdio.h>

#include <rte_common.h>

#include "bench/trial.h"
#include "bench/upf_row.h"

#define PROBE_SECONDS 0.15
#define SEARCH_SECONDS 0.25
#define BACK_OFF 0.95
#define BACK_OFF_TRIES 16
#define DISTURBED_TRIES 3 /**< of a trial without a clean window */

struct search {
	struct upf_bed *bed;
	unsigned directions;
};

/** A trial that a neighbour let be measured, if one of a few is. */
static int
trial(const struct search *s, double rate, double seconds, struct upf_bed_trial *t)
{
	int rc = 0;

	for (unsigned i = 0; i < DISTURBED_TRIES; i++) {
		rc = upf_bed_trial(s->bed, s->directions, rate, seconds, t);
		if (rc < 0 || t->windows_clean > 0 || t->lost > 0)
			break;
	}
	return rc;
}

static int
search_trial(void *arg, double rate, double seconds, struct trial_outcome *out)
{
	struct search *s = arg;
	struct upf_bed_trial t;
	int rc = trial(s, rate, seconds, &t);

	out->sent = t.sent;
	out->lost = t.lost;
	out->corrupted = t.corrupted + t.duplicated;
	out->achieved = t.mpps * 1e6;
	/* Without a clean window it says nothing of the unit: the search ends with what passed. */
	out->generator_limited = t.generator_limited || t.windows_clean == 0;
	/* What a busy unit left no room for was not sent: a real port would have lost it. */
	if (!out->generator_limited && t.mpps * 1e6 < 0.98 * rate)
		out->lost += (uint64_t)((rate - t.mpps * 1e6) * seconds);
	return rc;
}

/** Backs off while packets are lost: a search's trials are short. */
static int
trial_lossless(const struct upf_row_options *o, const struct search *s, double *rate,
	       double seconds, struct upf_bed_trial *t)
{
	int rc = 0;

	for (unsigned i = 0; i < BACK_OFF_TRIES; i++, *rate *= BACK_OFF) {
		rc = trial(s, *rate, seconds, t);
		if (rc < 0 || t->lost == 0 || o->rate_mpps > 0)
			break;
	}
	return rc;
}

int
upf_live_measure(const struct upf_row_options *o, struct upf_bed *b, struct upf_row *r)
{
	struct search s = {b, r->direction->bits};
	struct trial_outcome best = {.offered = o->rate_mpps * 1e6};
	struct upf_bed_trial probe;
	double rate;
	int rc = 0;

	if (o->rate_mpps <= 0) {
		rc = upf_bed_trial(b, s.directions, 0, PROBE_SECONDS, &probe);
		const struct trial_cfg cfg = {
			.seconds = SEARCH_SECONDS,
			.min_rate = RTE_MAX(probe.mpps * 1e6 * 0.2, 1000.0),
			.max_rate = RTE_MAX(probe.mpps_max * 1e6 * 1.1, 2000.0),
			.resolution = 0.02,
			.repeats = 2,
			.unit = "Mpps",
			.unit_size = 1e6,
			.progress = stderr,
		};
		rc = rc < 0 ? rc : trial_search(&cfg, search_trial, &s, &best);
		if (rc == -ENOENT) {
			fprintf(stderr, "not even %.3f Mpps pass without loss\n",
				cfg.min_rate / 1e6);
			best.offered = cfg.min_rate;
			rc = 0;
		}
	}
	rate = best.generator_limited ? best.achieved : best.offered;
	if (rc == 0)
		rc = trial_lossless(o, &s, &rate, o->common.seconds, &r->max);
	rate *= UPF_ROW_LOAD;
	return rc < 0 ? rc
		      : trial_lossless(o, &s, &rate, RTE_MAX(o->common.seconds / 3, 0.2), &r->load);
}
