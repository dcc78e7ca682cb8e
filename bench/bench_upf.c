/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath bench upf`: S2's forwarding on one worker, QER and URR on, without DPI.
 *
 * Sessions go in through the unit's socket, packets through ring ports. For every direction and
 * packet size: the unit is driven as fast as it takes packets, the highest loss-free rate is
 * searched (RFC 2544 §26.1), throughput is measured there, and delay at 82 % of it. In the end the
 * unit is asked for its usage reports, which must agree with the generator to the octet.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "bench/bench.h"
#include "bench/trial.h"
#include "bench/upf_row.h"

#define DEPLOYMENT "deploy/upf-bench.yaml"
#define DEPLOYMENT_SOFTWARE "deploy/upf-bench-software.yaml"
#define SESSIONS_MAX 4000000
#define PROBE_SECONDS 0.15
#define SEARCH_SECONDS 0.25
#define BACK_OFF 0.95
#define BACK_OFF_TRIES 16
#define DISTURBED_TRIES 3 /**< of a trial without a clean window */

static const struct upf_row_direction directions[] = {
	{"uplink", UPF_BED_UP}, {"downlink", UPF_BED_DOWN}, {"both", UPF_BED_UP | UPF_BED_DOWN}};

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

/** The highest loss-free rate, and delay below it. */
static int
live_measure(const struct upf_row_options *o, struct upf_bed *b, struct upf_row *r)
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

static int
row_measure(const struct upf_row_options *o, struct upf_bed *b, struct upf_row *r)
{
	const double starved = upf_bed_starved(b);
	int rc;

	upf_bed_size(b, (uint16_t)r->bytes);
	rc = upf_bed_alone(b, r->direction->bits, RTE_MAX(o->common.seconds / 3, 0.2), r->alone,
			   &r->alone_sum);
	r->stages = rc > 0 ? (unsigned)rc : 0;
	rc = rc < 0 || !r->live ? RTE_MIN(rc, 0) : live_measure(o, b, r);
	r->starved_s = upf_bed_starved(b) - starved;
	return rc;
}

static bool
trial_valid(const struct upf_bed_trial *t)
{
	return t->sent > 0 && t->lost == 0 && t->corrupted == 0 && t->duplicated == 0;
}

static bool
row_valid(const struct upf_row *r)
{
	return trial_valid(&r->alone_sum) &&
	       (!r->live || (trial_valid(&r->max) && trial_valid(&r->load)));
}

/** @return 0; -EIO for a run that is not valid; or another -errno */
static int
rows_run(const struct upf_row_options *o, struct upf_bed *b, struct bench_result *res)
{
	bool valid = true;

	for (unsigned i = 0; i < RTE_DIM(directions); i++) {
		if (o->direction && strcmp(o->direction, directions[i].name) != 0)
			continue;
		for (unsigned k = 0; k < o->bytes.n; k++) {
			struct upf_row r = {.direction = &directions[i],
					    .bytes = o->bytes.v[k],
					    .live = !o->alone && !upf_bed_shared(b),
					    .composed = upf_bed_shared(b)};
			int rc;

			fprintf(stderr, "%s, %u B, %u sessions\n", r.direction->name, r.bytes,
				o->active);
			rc = row_measure(o, b, &r);
			if (rc < 0)
				return rc;
			upf_row_write(res, o, b, &r);
			if (!row_valid(&r)) {
				fprintf(stderr,
					"bench upf: %s, %u B: packets were lost, changed "
					"or came twice\n",
					r.direction->name, r.bytes);
				valid = false;
			}
		}
	}
	return valid ? 0 : -EIO;
}

/** The unit counted what was sent, session by session. */
static int
usage_check(struct upf_bed *b)
{
	struct upf_bed_usage u;
	int rc = upf_bed_usage(b, &u);

	if (rc < 0)
		return rc;
	if (u.octets == u.sent_octets && u.wrong == 0)
		return 0;
	fprintf(stderr, "bench upf: usage reports of %u sessions do not agree with what was sent\n",
		u.wrong);
	return -EIO;
}

static int
run(const struct upf_row_options *o, struct bench_result *res)
{
	struct upf_bed *b = upf_bed_open(&o->bed);
	int rc, usage;

	if (b == NULL)
		return -EIO;
	bench_emulation(res, "ports: rings in process");
	rc = rows_run(o, b, res);
	usage = usage_check(b);
	if (!upf_bed_close(b, o->bed.nodes ? stderr : NULL))
		rc = -EIO;
	return rc < 0 ? rc : usage;
}

#define REFUSE(...)                                                                                \
	do {                                                                                       \
		fprintf(stderr, "bench upf: " __VA_ARGS__);                                        \
		fputc('\n', stderr);                                                               \
		return -EINVAL;                                                                    \
	} while (0)

/** What the parser cannot know. @return 0, or -EINVAL after a message. */
static int
options_check(const struct upf_row_options *o)
{
	bool direction = o->direction == NULL;

	for (unsigned i = 0; i < RTE_DIM(directions); i++)
		direction |= o->direction && strcmp(o->direction, directions[i].name) == 0;
	if (!direction)
		REFUSE("--direction takes uplink, downlink or both, not '%s'", o->direction);
	if (o->steering && strcmp(o->steering, "rss") != 0 && strcmp(o->steering, "software") != 0)
		REFUSE("--steering takes rss or software, not '%s'", o->steering);
	if (o->sessions < 1 || o->sessions > SESSIONS_MAX)
		REFUSE("--sessions %u must be 1..%d", o->sessions, SESSIONS_MAX);
	if (o->active < 1 || o->active > o->sessions)
		REFUSE("--active %u must be 1..%u, the sessions", o->active, o->sessions);
	for (unsigned i = 0; i < o->bytes.n; i++)
		if (o->bytes.v[i] < UPF_WIRE_BYTES_MIN || o->bytes.v[i] > UPF_WIRE_BYTES_MAX)
			REFUSE("--bytes: %u must be %d..%d of the inner packet", o->bytes.v[i],
			       UPF_WIRE_BYTES_MIN, UPF_WIRE_BYTES_MAX);
	if (o->window < 64)
		REFUSE("--window %u must be at least 64", o->window);
	return 0;
}

int
bench_upf(int argc, char **argv)
{
	struct upf_row_options o = {.common = {.seconds = 2},
				    .bed = {.deployment = NULL},
				    .sessions = 6000,
				    .window = 2048,
				    .checkpoint_ms = 60000,
				    .seed = 1,
				    .bytes = {{64, 690}, 2}};
	const struct bench_opt own[] = {
		{"deployment", BENCH_OPT_STR, &o.bed.deployment, "file [of the steering]"},
		{"steering", BENCH_OPT_STR, &o.steering,
		 "rss, or software: a dispatcher for two workers [rss]"},
		{"sessions", BENCH_OPT_UINT, &o.sessions, "installed [6000]"},
		{"active", BENCH_OPT_UINT, &o.active, "that get packets [all]"},
		{"bytes", BENCH_OPT_UINTS, &o.bytes, "inner packet sizes [64,690]"},
		{"direction", BENCH_OPT_STR, &o.direction, "uplink, downlink or both [all three]"},
		{"rate-mpps", BENCH_OPT_NUM, &o.rate_mpps, "offer this rate instead of searching"},
		{"alone", BENCH_OPT_FLAG, &o.alone,
		 "only what lcores cost alone: no search, no delay"},
		{"remote", BENCH_OPT_FLAG, &o.bed.remote,
		 "alone: packets come out of the generator's CPU's cache"},
		{"window", BENCH_OPT_UINT, &o.window,
		 "packets of a direction inside the unit at most [2048]"},
		{"checkpoint-ms", BENCH_OPT_UINT, &o.checkpoint_ms,
		 "usage checkpoints to the agent [60000]"},
		{"seed", BENCH_OPT_UINT, &o.seed, "of the order of sessions [1]"},
		{"nodes", BENCH_OPT_FLAG, &o.bed.nodes, "also print cycles per node"},
		{0},
	};
	struct bench_result *res;
	int rc = bench_options(argc, argv,
			       "S2: a forwarding unit with QER and URR: throughput and delay.",
			       &o.common, own);

	if (rc != 0)
		return rc < 0 ? 2 : 0;
	o.active = o.active ? o.active : o.sessions;
	if (options_check(&o) < 0)
		return 2;
	o.bed.deployment =
		bench_deployment(o.bed.deployment, o.steering && strcmp(o.steering, "software") == 0
							   ? DEPLOYMENT_SOFTWARE
							   : DEPLOYMENT);
	o.bed.sessions = o.sessions;
	o.bed.active = o.active;
	o.bed.window = o.window;
	o.bed.checkpoint_ms = o.checkpoint_ms;
	o.bed.seed = o.seed;
	res = bench_result_open("upf", o.common.json);
	if (res == NULL)
		return 1;
	rc = run(&o, res);
	if (bench_result_close(res) < 0)
		rc = -EIO;
	return rc == 0 ? 0 : 1;
}
