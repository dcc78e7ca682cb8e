/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>

#include "bench/loop_row.h"
#include "bench/trial.h"
#include "modules/fapi/fapi_tx.h"

#define PROBE_SECONDS 0.1
#define PROBE_GBPS_FIRST 6.0 /* TB capacity at 1024 B, less for smaller packets */
#define PROBE_STEP 1.5
#define PROBES_MAX 10
#define PROBES_IDLE 3
#define SEARCH_SECONDS 0.25
#define TB_HEADROOM 1.3 /* TB capacity over the rate probed */
#define SUBPDU_BYTES 8  /* SDAP 1, PDCP 3, RLC 1, MAC 3 */
#define BACK_OFF 0.95
#define BACK_OFF_TRIES 16
#define AM_SDUS 65536U
#define AM_REORDERING_MS 3000

/** Keys that nobody else uses; what they are does not change what they cost. */
#define KEY_ENC "2bd6459f82c5b300952c49104881ff48"
#define KEY_INT "c736c6aab22bffefb3c6b96bc5a7a3a1"

static char *
key_or(char *own, const char *usual)
{
	char *key = own ? own : strdup(usual);

	if (key == NULL)
		abort();
	return key;
}

/** As many buffers for deciphered SDUs as may wait for a gap to close at a bench's rates. */
static int
pdcp_pool(struct ap_config *cfg, uint32_t size)
{
	const struct ap_cfg_pool pool = {.name = strdup("pdcp"),
					 .mbufs = AM_SDUS - 1,
					 .data_room = RTE_MAX(size + 128, 2048U)};
	struct ap_cfg_pool *pools =
		realloc(cfg->pools, (cfg->pools_count + 1) * sizeof(*cfg->pools));

	if (pool.name == NULL || pools == NULL)
		abort();
	cfg->pools = pools;
	cfg->pools[cfg->pools_count++] = pool;
	return 0;
}

static int
secure(struct ap_config *cfg, unsigned nea, unsigned nia, uint32_t size, struct ap_error *err)
{
	struct ap_cfg_security *s = &cfg->ue[0].security;

	if (nea > 3 || nia > 3)
		return ap_error_set(err, "--nea and --nia take 0..3");
	if (nea) {
		s->nea = (uint8_t)nea;
		s->key_enc = key_or(s->key_enc, KEY_ENC);
	}
	if (nia) {
		s->nia = (uint8_t)nia;
		s->key_int = key_or(s->key_int, KEY_INT);
	}
	for (unsigned i = 0; i < cfg->ue[0].bearers_count && nia; i++)
		cfg->ue[0].bearers[i].pdcp.integrity = true;
	return nea || nia ? pdcp_pool(cfg, size) : 0;
}

/**
 * RLC settings that suit the rates of a bench: queue and window hold what is under way, PDCP waits
 * until RLC has repaired a loss, and the user port takes what PDCP then delivers at once.
 */
static int
rlc_mode(struct ap_config *cfg, const char *name, struct ap_error *err)
{
	const bool am = strcmp(name, "am") == 0;

	for (unsigned i = 0; i < cfg->ue[0].bearers_count; i++) {
		struct ap_cfg_bearer_rlc *r = &cfg->ue[0].bearers[i].rlc;

		if (am)
			*r = (struct ap_cfg_bearer_rlc){.mode = AP_RLC_AM,
							.sn_bits = 18,
							.queue_sdus = AM_SDUS,
							.t_reassembly_ms = 5,
							.t_poll_retransmit_ms = 10,
							.t_status_prohibit_ms = 1,
							.poll_pdu = 256,
							.max_retx_threshold = 32};
		else if (strcmp(name, "um") == 0 || strcmp(name, "tm") == 0)
			*r = (struct ap_cfg_bearer_rlc){.mode = name[0] == 'u' ? AP_RLC_UM
									       : AP_RLC_TM,
							.sn_bits = 12,
							.queue_sdus = r->queue_sdus,
							.t_reassembly_ms = 35};
		else
			return ap_error_set(err, "--rlc takes um, am or tm, not '%s'", name);
	}
	for (unsigned i = 0; i < cfg->ue[0].bearers_count && am; i++)
		cfg->ue[0].bearers[i].pdcp.t_reordering_ms = AM_REORDERING_MS;
	for (unsigned i = 0; i < cfg->ports_count && am; i++)
		if (cfg->ports[i].framing != AP_FRAMING_RAW)
			cfg->ports[i].ring_size = RTE_MAX(cfg->ports[i].ring_size, AM_SDUS);
	return 0;
}

/** HARQ as a deployment has it where it says no more than that it is on. */
static int
harq(struct ap_config *cfg, const struct loop_options *o, struct ap_error *err)
{
	if (!(o->soft_loss >= 0 && o->soft_loss <= 1))
		return ap_error_set(err, "--soft-loss must be 0..1");
	if (o->harq && cfg->ue[0].harq.processes == 0)
		cfg->ue[0].harq = (struct ap_cfg_harq){.processes = 16, .max_tx = 4};
	if (o->harq && cfg->phy[0].harq.processes == 0)
		cfg->phy[0].harq = cfg->ue[0].harq;
	if (o->soft_loss > 0 && cfg->phy[0].harq.processes == 0)
		return ap_error_set(err, "--soft-loss needs --harq");
	if (o->soft_loss > 0)
		cfg->phy[0].soft_loss = o->soft_loss;
	/* Longer than retransmissions take, even where a neighbour holds them up. */
	for (unsigned i = 0; i < cfg->ue[0].bearers_count && cfg->phy[0].soft_loss > 0; i++) {
		struct ap_cfg_bearer *b = &cfg->ue[0].bearers[i];

		if (b->rlc.mode == AP_RLC_UM)
			b->rlc.t_reassembly_ms = RTE_MAX(b->rlc.t_reassembly_ms, 300u);
		b->pdcp.t_reordering_ms = RTE_MAX(b->pdcp.t_reordering_ms, 300u);
	}
	return 0;
}

struct ap_config *
loop_row_config(const struct loop_options *o, const struct loop_row *r, struct ap_error *err)
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
	if (secure(cfg, o->nea, o->nia, r->size, err) < 0 ||
	    (o->rlc && rlc_mode(cfg, o->rlc, err) < 0) || harq(cfg, o, err) < 0) {
		ap_config_free(cfg);
		return NULL;
	}
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

int
loop_device_up(struct loop_device *d, const struct loop_options *o, const struct loop_row *r,
	       struct ap_error *err)
{
	*d = (struct loop_device){.cfg = loop_row_config(o, r, err)};
	d->plan = d->cfg ? ap_plan_make(d->cfg, err) : NULL;
	d->loop = d->plan ? loop_open(d->cfg, d->plan, err) : NULL;
	if (d->loop)
		return 0;
	fprintf(stderr, "%s\n", err->text);
	ap_plan_free(d->plan);
	ap_config_free(d->cfg);
	return -EINVAL;
}

bool
loop_device_down(struct loop_device *d, FILE *nodes, struct ap_error *err)
{
	bool balanced = loop_close(d->loop, nodes, err);

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
probe(const struct loop_options *o, struct loop_row *r, struct loop_device *d, double *pps)
{
	double capacity = PROBE_GBPS_FIRST * r->size / 1024, best = 0;
	struct loop_trial t;
	int rc = 0;

	for (unsigned i = 0, idle = 0; i < PROBES_MAX && idle < PROBES_IDLE && rc == 0; i++) {
		r->tb_bytes = o->tb_bytes ? o->tb_bytes : tb_for(d->cfg, r->size, capacity);
		loop_set_tb(d->loop, r->tb_bytes);
		rc = loop_trial(d->loop, 0, PROBE_SECONDS, &t);
		/* One that helps no more may only have had a busy neighbour. */
		idle = t.gbps_max > best * 1.05 ? 0 : idle + 1;
		best = RTE_MAX(best, t.gbps_max);
		capacity *= PROBE_STEP;
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

/**
 * A trial at `rate`, or at what is left of it after backing off while packets are lost: what the
 * search found in short trials need not hold for a long one on a machine shared with others.
 */
static int
trial_lossless(const struct loop_options *o, struct loop_device *d, double rate, double seconds,
	       struct loop_trial *t)
{
	/* What the PHY loses only AM brings back. */
	const bool lossy = o->phy_loss > 0 && d->cfg->ue[0].bearers[0].rlc.mode != AP_RLC_AM;
	int rc = 0;

	for (unsigned i = 0; i < BACK_OFF_TRIES; i++, rate *= BACK_OFF) {
		rc = loop_trial(d->loop, rate, seconds, t);
		if (rc < 0 || t->lost == 0 || lossy || o->rate_mpps > 0)
			break;
	}
	return rc;
}

/** The highest loss-free rate, then the measurement there and at 80 % of it. */
static int
measure(const struct loop_options *o, struct loop_row *r, struct loop_device *d, double probed)
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
	rc = rc < 0 ? rc : trial_lossless(o, d, best.offered, o->common.seconds, &r->max);
	rate = r->max.offered_pps;
	return rc < 0 ? rc
		      : trial_lossless(o, d, 0.8 * rate, RTE_MAX(o->common.seconds / 3, 0.3),
				       &r->at80);
}

int
loop_row_measure(const struct loop_options *o, struct loop_row *r, struct loop_device *d)
{
	double probed = 0;
	int rc = probe(o, r, d, &probed);

	return rc < 0 ? rc : measure(o, r, d, probed);
}
