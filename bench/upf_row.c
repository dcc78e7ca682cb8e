/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "bench/upf_row.h"

#define BUSY_PERCENT 90 /**< from here on the unit is the limit, not the generator */

/** S2: 81.4 Mpps without DPI on 144 hyperthreads. */
#define PAPER_MPPS (81.4 / 144)

int
upf_row_check(const struct upf_row *r)
{
	const struct upf_bed_trial *t[] = {&r->alone_sum, r->live ? &r->max : NULL,
					   r->live ? &r->load : NULL,
					   r->dpi && r->dpi->swaps ? &r->dpi->swap : NULL};
	bool valid = true;

	for (unsigned i = 0; i < RTE_DIM(t); i++)
		valid &= t[i] == NULL || (t[i]->sent > 0 && t[i]->lost == 0 &&
					  t[i]->corrupted == 0 && t[i]->duplicated == 0);
	if (valid)
		return 0;
	fprintf(stderr, "bench upf: %s, %u B: packets were lost, changed or came twice\n",
		r->direction->name, r->bytes);
	return -EIO;
}

/** Dispatchers, then workers who share the packets. */
double
upf_row_derived(const struct upf_row *r, unsigned workers)
{
	const double mhz = (double)rte_get_tsc_hz() / 1e6;
	double cycles = 0, mpps;
	unsigned i = 0;

	for (; i < workers; i++)
		cycles += r->alone[r->stages - workers + i].cycles.median;
	mpps = cycles > 0 ? mhz * workers * workers / cycles : 0;
	for (i = 0; i + workers < r->stages; i++)
		mpps = RTE_MIN(mpps, mhz / r->alone[i].cycles.median);
	return mpps;
}

/** The median of clean windows, or the least. */
double
upf_row_cycles(const struct upf_row *r, unsigned workers, bool least)
{
	double cycles = 0;

	for (unsigned i = 0; i < r->stages; i++) {
		const struct harness_result *c = &r->alone[i].cycles;
		const bool worker = i + workers >= r->stages;

		cycles += (least ? c->min : c->median) / (worker ? workers : 1);
	}
	return cycles;
}

/** Columns of the unit running at its ports; empty where it cannot. */
static void
row_write_live(struct bench_result *res, const struct upf_row *r)
{
	const bool live = r->live;

	bench_num(res, "cycles_live", live ? r->max.cycles_per_packet : NAN, 0);
	bench_num(res, "busy_percent", live ? r->max.busy_percent : NAN, 1);
	bench_num(res, "delay_us_p50", live ? r->load.delay_us_p50 : NAN, 1);
	bench_num(res, "delay_us_p99", live ? r->load.delay_us_p99 : NAN, 1);
	bench_num(res, "delay_us_mean", live ? r->load.delay_us_mean : NAN, 1);
	bench_int(res, "lost",
		  (int64_t)(r->max.lost + r->load.lost + r->alone_sum.lost +
			    (r->dpi ? r->dpi->swap.lost : 0)));
	/* Of the measurement that `mpps` comes from. */
	bench_int(res, "windows_clean",
		  live ? r->max.windows_clean : r->alone[r->stages - 1].cycles.windows_clean);
	bench_int(res, "windows", live ? r->max.windows : r->alone[r->stages - 1].cycles.windows);
	bench_str(res, "limit",
		  r->composed                           ? "composed"
		  : !live                               ? "alone"
		  : r->max.windows_clean == 0           ? "disturbed"
		  : r->max.busy_percent >= BUSY_PERCENT ? "worker"
							: "generator");
	bench_bool(res, "no_nic", true);
}

/** Of the rules, and the tables. */
static void
row_write_dpi_json(struct bench_result *res, const struct upf_row_options *o,
		   const struct upf_bed *b, const struct upf_row *r)
{
	const struct upf_agent_done *rules = upf_bed_rules(b);
	const struct upf_row_dpi *d = r->dpi;

	bench_int(res, "rules_l7", o->names);
	bench_int(res, "rules_l34", o->nets);
	bench_int(res, "policies", UPF_LOAD_POLICIES);
	bench_int(res, "rules_memory", (int64_t)rules->memory);
	bench_int(res, "rules_build_ms", rules->build_ms);
	bench_int(res, "flows_per_session", o->flows_per_session);
	bench_int(res, "train", o->train);
	bench_int(res, "udp_percent", o->udp_percent);
	bench_int(res, "udp_dns_percent", o->model.flows.dns_percent);
	bench_int(res, "udp_quic_percent", o->model.flows.quic_percent);
	bench_int(res, "named_http", (int64_t)d->unit.named[DPI_HTTP]);
	bench_int(res, "named_dns", (int64_t)d->unit.named[DPI_DNS]);
	bench_int(res, "named_quic", (int64_t)d->unit.named[DPI_QUIC]);
	bench_int(res, "flows_begun", (int64_t)d->unit.begun);
	bench_int(res, "flows_evicted", (int64_t)d->unit.evicted);
	bench_int(res, "packets_without_flow", (int64_t)d->unit.crowded);
	bench_int(res, "flows_memory", (int64_t)d->unit.memory);
	bench_int(res, "swaps", d->swaps);
	bench_int(res, "swap_sent", (int64_t)d->swap.sent);
	bench_int(res, "swap_lost", (int64_t)d->swap.lost);
}

static void
row_write_json(struct bench_result *res, const struct upf_row_options *o, const struct upf_bed *b,
	       const struct upf_row *r)
{
	const struct upf_bed_install *install = upf_bed_install(b);
	const struct upf_bed_trial *t[] = {&r->max, &r->load, &r->alone_sum};
	uint64_t corrupted = 0, duplicated = 0, reordered = 0, foreign = 0;

	for (unsigned i = 0; i < RTE_DIM(t); i++) {
		corrupted += t[i]->corrupted;
		duplicated += t[i]->duplicated;
		reordered += t[i]->reordered;
		foreign += t[i]->foreign;
	}
	bench_json_only(res, true);
	bench_bool(res, "composed", r->composed);
	bench_num(res, "load_percent", 100 * UPF_ROW_LOAD, 0);
	bench_num(res, "load_mpps", r->load.mpps, 2);
	bench_num(res, "load_busy_percent", r->load.busy_percent, 1);
	bench_num(res, "mpps_min", r->max.mpps_min, 2);
	bench_num(res, "mpps_max", r->max.mpps_max, 2);
	bench_num(res, "generator_percent", r->max.generator_percent, 1);
	bench_int(res, "corrupted", (int64_t)corrupted);
	bench_int(res, "duplicated", (int64_t)duplicated);
	bench_int(res, "reordered", (int64_t)reordered);
	bench_int(res, "foreign", (int64_t)foreign);
	bench_num(res, "starved_s", r->starved_s, 1);
	bench_num(res, "install_s", install->seconds, 2);
	bench_num(res, "octets_per_session", install->octets_per_session, 0);
	bench_int(res, "checkpoint_ms", o->checkpoint_ms);
	bench_str(res, "ports", "rings in process");
	bench_bool(res, "alone_remote", o->bed.remote);
	if (r->dpi)
		row_write_dpi_json(res, o, b, r);
	for (unsigned i = 0; i < r->stages; i++) {
		char key[64];

		snprintf(key, sizeof(key), "cycles_%s", r->alone[i].lcore);
		bench_num(res, key, r->alone[i].cycles.median, 0);
		snprintf(key, sizeof(key), "cycles_%s_min", r->alone[i].lcore);
		bench_num(res, key, r->alone[i].cycles.min, 0);
		snprintf(key, sizeof(key), "windows_%s", r->alone[i].lcore);
		bench_int(res, key, r->alone[i].cycles.windows);
		snprintf(key, sizeof(key), "windows_clean_%s", r->alone[i].lcore);
		bench_int(res, key, r->alone[i].cycles.windows_clean);
	}
}

static void
row_write_dpi(struct bench_result *res, const struct upf_row_options *o, const struct upf_row *r,
	      double mpps)
{
	const struct upf_row_dpi *d = r->dpi;

	bench_int(res, "packets_per_flow", o->packets_per_flow);
	bench_num(res, "new_flows_per_s", d->flows_per_packet * mpps * 1e6, 0);
	bench_int(res, "flows", (int64_t)d->unit.flows);
	bench_int(res, "dpi_scans", (int64_t)d->unit.scans);
	bench_int(res, "records", (int64_t)d->records);
	bench_num(res, "ratio", d->ratio, 3);
	bench_num(res, "ratio_least", d->ratio_least, 3);
	bench_num(res, "ratio_live", d->ratio_live, 3);
}

void
upf_row_write(struct bench_result *res, const struct upf_row_options *o, const struct upf_bed *b,
	      const struct upf_row *r)
{
	const unsigned workers = upf_bed_workers(b);
	const double derived = upf_row_derived(r, workers);
	const double mpps = r->live ? r->max.mpps : derived;

	bench_row(res);
	bench_str(res, "direction", r->direction->name);
	bench_int(res, "bytes", r->bytes);
	bench_int(res, "sessions", o->sessions);
	bench_int(res, "active", o->active);
	bench_num(res, "paper_mpps", PAPER_MPPS, 2);
	bench_num(res, "mpps", mpps, 2);
	bench_num(res, "gbps", mpps * 8 * r->bytes / 1e3, 2);
	bench_num(res, "mpps_derived", derived, 2);
	bench_num(res, "cycles_per_packet", upf_row_cycles(r, workers, false), 0);
	bench_num(res, "cycles_min", upf_row_cycles(r, workers, true), 0);
	bench_int(res, "workers", workers);
	bench_str(res, "dpi", r->dpi && r->dpi->on ? "on" : "off");
	bench_str(res, "steering", upf_bed_steering(b));
	if (r->dpi)
		row_write_dpi(res, o, r, mpps);
	row_write_live(res, r);
	row_write_json(res, o, b, r);
}
