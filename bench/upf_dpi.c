/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * S2's load model on a forwarding unit: rules of layers 3, 4 and 7, policies, charging, beside
 * plain sessions that get the same flows. Both are measured in turn, so that what disturbs the one
 * disturbs the other; every rating group of every session must agree with the flows in the end.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include <rte_common.h>

#include "bench/upf_row.h"

#define SWAP_LOAD 0.5 /**< of the highest loss-free rate: building rules wants CPU, too */

static const struct upf_row_direction both = {"both", UPF_BED_UP | UPF_BED_DOWN};

/** Rows of one run. */
struct rows {
	const struct upf_row_options *o;
	struct upf_bed *b;
	struct upf_row row[UPF_BED_LOADS];
	struct upf_row_dpi dpi[UPF_BED_LOADS];
};

static void
rows_init(struct rows *s)
{
	for (unsigned k = 0; k < UPF_BED_LOADS; k++) {
		s->dpi[k] = (struct upf_row_dpi){.on = k == UPF_BED_DPI,
						 .ratio = NAN,
						 .ratio_least = NAN,
						 .ratio_live = NAN};
		s->row[k] = (struct upf_row){.direction = &both,
					     .bytes = s->o->model.flows.bytes,
					     .live = !s->o->alone && !upf_bed_shared(s->b),
					     .composed = upf_bed_shared(s->b),
					     .dpi = &s->dpi[k]};
	}
}

static int
alone_measure(struct rows *s)
{
	struct upf_bed_stage stages[UPF_BED_LOADS][UPF_BED_STAGES_MAX];
	struct upf_bed_trial t[UPF_BED_LOADS];
	const unsigned workers = upf_bed_workers(s->b);
	int rc;

	fprintf(stderr, "plain and DPI in turn, %u packets a flow\n", s->o->packets_per_flow);
	rc = upf_bed_pair(s->b, s->o->common.seconds, stages, t);
	if (rc < 0)
		return rc;
	for (unsigned k = 0; k < UPF_BED_LOADS; k++) {
		s->row[k].stages = (unsigned)rc;
		s->row[k].alone_sum = t[k];
		for (int i = 0; i < rc; i++)
			s->row[k].alone[i] = stages[k][i];
	}
	s->dpi[UPF_BED_DPI].ratio = upf_row_derived(&s->row[UPF_BED_DPI], workers) /
				    upf_row_derived(&s->row[UPF_BED_PLAIN], workers);
	s->dpi[UPF_BED_DPI].ratio_least = upf_row_cycles(&s->row[UPF_BED_PLAIN], workers, true) /
					  upf_row_cycles(&s->row[UPF_BED_DPI], workers, true);
	return 0;
}

static int
live_measure(struct rows *s)
{
	const struct upf_bed_trial *dpi = &s->row[UPF_BED_DPI].max;
	int rc = 0;

	for (unsigned k = 0; k < UPF_BED_LOADS && rc == 0 && s->row[k].live; k++) {
		fprintf(stderr, "%s at the ports\n", k == UPF_BED_DPI ? "DPI" : "plain");
		upf_bed_select(s->b, k);
		rc = upf_live_measure(s->o, s->b, &s->row[k]);
	}
	if (rc == 0 && s->row[UPF_BED_DPI].live)
		s->dpi[UPF_BED_DPI].ratio_live = dpi->mpps / s->row[UPF_BED_PLAIN].max.mpps;
	return rc;
}

/** Rules are made anew under load, by a thread that takes some CPU from whom it can. */
static int
swaps_run(struct rows *s)
{
	struct upf_row_dpi *d = &s->dpi[UPF_BED_DPI];
	const double most = s->row[UPF_BED_DPI].max.mpps * 1e6;
	int rc = 0;

	if (!s->row[UPF_BED_DPI].live)
		return 0;
	upf_bed_select(s->b, UPF_BED_DPI);
	for (; d->swaps < s->o->swaps && rc == 0; d->swaps++) {
		struct upf_bed_trial t;

		rc = upf_bed_swap(s->b, SWAP_LOAD * most, &t);
		d->swap.sent += t.sent;
		d->swap.lost += t.lost;
		d->swap.corrupted += t.corrupted;
		d->swap.duplicated += t.duplicated;
	}
	return rc;
}

/** What was counted of all there was. */
static int
sums_take(struct rows *s)
{
	struct upf_row_dpi *d = &s->dpi[UPF_BED_DPI];
	struct upf_bed_usage u;
	int rc = upf_bed_usage(s->b, &u);

	if (rc < 0)
		return rc;
	d->records = u.records - s->o->active; /* of plain sessions: one each */
	s->dpi[UPF_BED_PLAIN].records = s->o->active;
	upf_bed_unit(s->b, &d->unit);
	for (unsigned k = 0; k < UPF_BED_LOADS; k++)
		s->dpi[k].flows_per_packet = upf_bed_flows_share(s->b, k);
	if (u.octets == u.sent_octets && u.wrong == 0)
		return 0;
	fprintf(stderr, "bench upf: usage reports of %u sessions do not agree with what was sent\n",
		u.wrong);
	return -EIO;
}

int
upf_dpi_run(const struct upf_row_options *o, struct upf_bed *b, struct bench_result *res)
{
	struct rows s = {.o = o, .b = b};
	const double starved = upf_bed_starved(b);
	int rc, sums;

	rows_init(&s);
	rc = alone_measure(&s);
	rc = rc < 0 ? rc : live_measure(&s);
	rc = rc < 0 ? rc : swaps_run(&s);
	sums = sums_take(&s);
	if (rc < 0)
		return rc;
	for (unsigned k = 0; k < UPF_BED_LOADS; k++) {
		s.row[k].starved_s = upf_bed_starved(b) - starved;
		upf_row_write(res, o, b, &s.row[k]);
		rc = upf_row_check(&s.row[k]) < 0 ? -EIO : rc;
	}
	return rc < 0 ? rc : sums;
}
