/* SPDX-License-Identifier: BSD-3-Clause */
/** S2's load model on the test bed of upf_bed.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench/upf_bed_impl.h"
#include "core/clock.h"
#include "modules/upf/upf_flow_totals.h"

#define SWAP_MS 50 /**< packets come before and after, at least so long */

int
upf_bed_flows_make(struct upf_bed *b, const struct upf_wire_cfg *wire, struct ap_error *err)
{
	const struct upf_bed_dpi *dpi = b->cfg.dpi;

	if (dpi == NULL)
		return 0;
	b->load = upf_load_make(dpi->names, dpi->nets, b->cfg.seed);
	if (b->load == NULL)
		return ap_error_set(err, "out of memory");
	if (dpi->flows.udp_percent * dpi->flows.quic_percent > 0) {
		b->quic = upf_quic_make(b->load, b->cfg.seed);
		if (b->quic == NULL)
			return ap_error_set(err, "QUIC wants memory for its Initials, and a build "
						 "with multi-buffer ciphers (libipsec-mb-dev)");
	}
	for (unsigned k = 0; k < UPF_BED_LOADS; k++) {
		struct upf_traffic_cfg cfg = dpi->flows;

		cfg.policies = k == UPF_BED_DPI;
		cfg.sessions = b->cfg.active;
		cfg.first = cfg.policies ? 0 : b->cfg.sessions - b->cfg.active;
		cfg.seed = b->cfg.seed;
		if (upf_traffic_init(&b->flows[k], &cfg, b->load) < 0)
			return ap_error_set(err, "flows of %u packets of %u B cannot be made",
					    cfg.packets, cfg.bytes);
		upf_traffic_wire_init(&b->flow_wire[k], wire, &b->flows[k], b->quic);
	}
	/* Of a place no two packets may be inside at once: see upf_traffic.h. */
	b->gen.window = RTE_MIN(b->gen.window, b->flows[0].nb_places / 4);
	upf_bed_select(b, UPF_BED_PLAIN);
	return 0;
}

void
upf_bed_flows_free(struct upf_bed *b)
{
	for (unsigned k = 0; k < UPF_BED_LOADS; k++)
		upf_traffic_free(&b->flows[k]);
	upf_quic_free(b->quic);
	upf_load_free(b->load);
}

const struct upf_traffic *
upf_bed_flows_of(const struct upf_bed *b, uint32_t session)
{
	for (unsigned k = 0; b->load && k < UPF_BED_LOADS; k++)
		if (session - b->flows[k].cfg.first < b->flows[k].cfg.sessions)
			return &b->flows[k];
	return NULL;
}

void
upf_bed_select(struct upf_bed *b, enum upf_bed_load load)
{
	b->gen.flow_wire = &b->flow_wire[load];
	b->gen.flows = &b->flows[load];
}

double
upf_bed_flows_share(const struct upf_bed *b, enum upf_bed_load load)
{
	const struct upf_traffic *f = &b->flows[load];

	return f->taken ? (double)f->begun / (double)f->taken : 0;
}

const struct upf_agent_done *
upf_bed_rules(const struct upf_bed *b)
{
	return &b->rules;
}

int
upf_bed_rules_send(struct upf_bed *b, struct ap_error *err)
{
	struct trial_progress progress;
	int rc;

	trial_progress_init(&progress, stderr);
	trial_progress_show(&progress, "rules: %u names, %u networks ...", b->load->nb_names,
			    b->load->nb_nets);
	rc = upf_agent_applications(b->agent, b->load, b->rules.generation + 1, &b->rules, err);
	if (rc == 0)
		trial_progress_end(&progress, "rules: %u in force, %.1f s, %.1f MB", b->rules.rules,
				   b->rules.build_ms / 1e3, (double)b->rules.memory / 1e6);
	return rc;
}

int
upf_bed_swap(struct upf_bed *b, double pps, struct upf_bed_trial *t)
{
	struct ap_error err = {0};
	int rc, settled;

	*t = (struct upf_bed_trial){.offered_pps = pps};
	upf_bed_losses(b, t, true);
	upf_bed_rates(b, UPF_BED_UP | UPF_BED_DOWN, pps);
	rte_delay_us_sleep(SWAP_MS * 1000);
	rc = upf_bed_rules_send(b, &err);
	if (rc < 0)
		fprintf(stderr, "bench upf: %s\n", err.text);
	rte_delay_us_sleep(SWAP_MS * 1000);
	settled = upf_bed_settle(b);
	upf_bed_losses(b, t, false);
	return rc < 0 ? rc : settled;
}

void
upf_bed_unit(const struct upf_bed *b, struct upf_bed_unit *u)
{
	struct upf_flow_totals t;

	upf_flow_totals(b->upf, &t);
	*u = (struct upf_bed_unit){.flows = t.flows,
				   .begun = t.made,
				   .evicted = t.evicted,
				   .crowded = t.crowded + t.capped,
				   .scans = t.scans,
				   .memory = t.bytes + t.scan_bytes};
	memcpy(u->named, t.found, sizeof(u->named));
}
