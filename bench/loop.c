/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench/harness.h"
#include "bench/loop.h"
#include "core/clock.h"
#include "core/run.h"
#include "modules/gen/gen.h"
#include "modules/mac/mac_tx.h"
#include "modules/phy/phy.h"
#include "modules/port/port_node.h"
#include "modules/rlc/rlc_tx.h"
#include "modules/ue/ue.h"

#define WINDOW_MS 20
#define WARM_MS 40
#define SAMPLE_NS 20000 /* time reading the counters may take */
#define SAMPLE_TRIES 50
#define SETTLE_MS 1000
#define STILL_MS 150 /**< nothing came for so long: nothing more comes */
#define WINDOWS_MAX 4096

struct loop {
	struct ap_run *run;
	struct gen *gen;
	struct phy *phy;
	struct ue *ue;
	const struct port_tx *first_output; /**< ue.phy_tx */
	bool *dut;                          /**< [lcores] runs nodes of the device */
	unsigned nb_dut;
	bool shared; /**< lcores share CPUs: frames say nothing */
};

/** Counters at one moment. */
struct sample {
	uint64_t ns;
	struct gen_stats gen;
	uint64_t busy[AP_LCORES_MAX], idle[AP_LCORES_MAX];
};

struct window {
	double gbps, mpps, busy, cycles;
	bool clean;
};

static bool
is_dut(const struct loop *l, const struct ap_plan_node *n)
{
	size_t len = strlen(l->ue->cfg->name);

	return strncmp(n->name, l->ue->cfg->name, len) == 0 && n->name[len] == '.';
}

static int
roles_find(struct loop *l, struct ap_error *err)
{
	const struct ap_config *cfg = l->run->cfg;
	const struct ap_plan *p = l->run->plan;
	char name[AP_NAME_LEN];

	l->gen = ap_run_role(l->run, "gen", 0);
	l->phy = ap_run_role(l->run, "phy", 0);
	l->ue = ap_run_role(l->run, "ue", 0);
	l->dut = calloc(p->nb_lcores, sizeof(*l->dut));
	if (l->gen == NULL || l->phy == NULL || l->ue == NULL || l->dut == NULL)
		return ap_error_set(err, "%s: the loopback needs a ue, a phy and a gen", cfg->path);
	snprintf(name, sizeof(name), "%s.phy_tx", l->ue->cfg->name);
	l->first_output = ap_plan_find(p, name)->inst->priv;
	for (unsigned i = 0; i < p->nb_nodes; i++)
		if (is_dut(l, p->nodes[i]))
			l->dut[p->nodes[i]->lcore - p->lcores] = true;
	for (unsigned i = 0; i < p->nb_lcores; i++) {
		l->nb_dut += l->dut[i];
		l->shared |= p->lcores[i].shared;
	}
	return 0;
}

struct loop *
loop_open(const struct ap_config *cfg, struct ap_plan *plan, struct ap_error *err)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (l == NULL) {
		ap_error_set(err, "%s: out of memory", cfg->path);
		return NULL;
	}
	l->run = ap_run_create(cfg, plan, err);
	if (l->run == NULL || roles_find(l, err) < 0) {
		ap_run_destroy(l->run);
		free(l->dut);
		free(l);
		return NULL;
	}
	gen_set_rate(l->gen, (struct gen_rate){GEN_RATE_STOP, 0});
	if (ap_run_start(l->run, err) < 0) {
		ap_run_destroy(l->run);
		free(l->dut);
		free(l);
		return NULL;
	}
	return l;
}

/** Tries again when this thread lost its CPU in between: counters and time must belong together. */
static void
take_sample(const struct loop *l, struct sample *s)
{
	uint64_t before;

	for (unsigned tries = 0; tries < SAMPLE_TRIES; tries++) {
		before = ap_clock_ns();
		for (unsigned i = 0; i < l->run->plan->nb_lcores; i++) {
			s->busy[i] = l->run->workers[i].busy_cycles;
			s->idle[i] = l->run->workers[i].idle_cycles;
		}
		gen_stats_read(l->gen, &s->gen);
		s->ns = ap_clock_ns();
		if (s->ns - before <= SAMPLE_NS)
			break;
	}
}

static void
frame_on_worker(struct ap_worker *w, void *arg)
{
	(void)w;
	*(uint64_t *)arg = harness_frame();
}

/** Runs the frame on every lcore. @return whether all ran at clean speed. */
static bool
frame_all(struct loop *l, int *rc)
{
	bool clean = true;

	if (l->shared)
		return true;
	for (unsigned i = 0; i < l->run->plan->nb_lcores; i++) {
		uint64_t cycles = 0;

		*rc = ap_worker_run(&l->run->workers[i], frame_on_worker, &cycles);
		if (*rc < 0)
			return false;
		clean &= harness_frame_clean(cycles);
	}
	return clean;
}

static struct window
window_of(const struct loop *l, const struct sample *a, const struct sample *b)
{
	double seconds = (double)(b->ns - a->ns) / 1e9;
	double packets = (double)(b->gen.rx_good - a->gen.rx_good);
	struct window w = {
		.gbps = (double)(b->gen.rx_bytes - a->gen.rx_bytes) * 8 / seconds / 1e9,
		.mpps = packets / seconds / 1e6,
	};

	for (unsigned i = 0; i < l->run->plan->nb_lcores; i++) {
		double busy = (double)(b->busy[i] - a->busy[i]);
		double all = busy + (double)(b->idle[i] - a->idle[i]);

		if (!l->dut[i])
			continue;
		w.busy = RTE_MAX(w.busy, all > 0 ? 100 * busy / all : 0);
		w.cycles += packets > 0 ? busy / packets : 0;
	}
	return w;
}

/** Fills the trial's medians. */
static void
summarize(const struct window *w, unsigned n, struct loop_trial *t)
{
#define OVER(what) harness_over(&w->what, &w->clean, sizeof(*w), n)
	const struct harness_result gbps = OVER(gbps);

	t->windows = gbps.windows;
	t->windows_clean = gbps.windows_clean;
	t->gbps = gbps.median;
	t->gbps_min = gbps.min;
	t->gbps_max = gbps.max;
	t->mpps = OVER(mpps).median;
	t->busy_percent = OVER(busy).median;
	t->cycles_per_packet = OVER(cycles).median;
	t->gbps_derived = t->busy_percent > 0 ? t->gbps * 100 / t->busy_percent : 0;
#undef OVER
}

/** Stops sending and waits until what was sent has come back, or nothing more comes. */
static void
settle(const struct loop *l, const struct gen_stats *first, struct gen_stats *s)
{
	uint64_t end = ap_clock_ns() + SETTLE_MS * AP_NS_PER_MS, good = 0;
	uint64_t still = ap_clock_ns();

	gen_set_rate(l->gen, (struct gen_rate){GEN_RATE_STOP, 0});
	while (ap_clock_ns() < end) {
		rte_delay_us_sleep(1000);
		gen_stats_read(l->gen, s);
		if (s->rx_good != good)
			still = ap_clock_ns();
		good = s->rx_good;
		if (good - first->rx_good == s->tx_packets - first->tx_packets ||
		    ap_clock_ns() - still > STILL_MS * AP_NS_PER_MS)
			break;
	}
}

static void
count_losses(const struct gen_stats *a, const struct gen_stats *b, struct loop_trial *t)
{
	uint64_t good = b->rx_good - a->rx_good;

	t->sent = b->tx_packets - a->tx_packets;
	t->corrupted = b->rx_corrupted - a->rx_corrupted;
	t->duplicated = b->rx_duplicate - a->rx_duplicate;
	t->reordered = b->rx_reordered - a->rx_reordered;
	t->lost = t->sent > good + t->corrupted ? t->sent - good - t->corrupted : 0;
}

static void
delays(const struct ap_hist *before, struct ap_hist *after, struct loop_trial *t)
{
	ap_hist_subtract(after, before);
	t->delay_us_p50 = (double)ap_hist_percentile(after, 50) / 1e3;
	t->delay_us_p99 = (double)ap_hist_percentile(after, 99) / 1e3;
	t->delay_us_max = (double)ap_hist_percentile(after, 100) / 1e3;
}

static uint64_t
rlc_retx(const struct loop *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->ue->l2.nb_bearers; i++) {
		const struct rlc_am_tx_counters *c = rlc_tx_am_counters(&l->ue->l2.rlc_tx[i]);

		sum += c ? c->retx : 0;
	}
	return sum;
}

/** Counters of the air, from their start, into a trial's fields. */
static void
air(const struct loop *l, struct loop_trial *t)
{
	t->tb_lost = l->phy->path[0].stats.tb_lost + l->phy->harq[0].lost;
	t->tb_soft_lost = l->phy->harq[0].soft_lost;
	t->harq_retx = l->ue->l2.mac_tx->harq_retx;
	t->rlc_retx = rlc_retx(l);
	t->slots_missed = l->ue->l2.mac_tx->slots_missed;
}

int
loop_trial(struct loop *l, double pps, double seconds, struct loop_trial *t)
{
	static struct ap_hist before, after;
	static struct window windows[WINDOWS_MAX];
	struct gen_rate rate = {pps > 0 ? GEN_RATE_PPS : GEN_RATE_MAX, pps};
	uint64_t start, end;
	struct loop_trial before_air;
	struct gen_stats first, last;
	unsigned n = 0;
	int rc = 0;

	*t = (struct loop_trial){.offered_pps = pps};
	air(l, &before_air);
	gen_stats_read(l->gen, &first);
	gen_set_rate(l->gen, rate);
	start = ap_clock_ns();
	rte_delay_us_sleep(WARM_MS * 1000);
	ap_hist_snapshot(&l->first_output->delay, &before);
	end = ap_clock_ns() + (uint64_t)(seconds * 1e9);
	while (rc == 0 && n < WINDOWS_MAX && (n == 0 || ap_clock_ns() < end)) {
		struct sample a, b;
		bool clean = frame_all(l, &rc);

		take_sample(l, &a);
		rte_delay_us_sleep(WINDOW_MS * 1000);
		take_sample(l, &b);
		windows[n] = window_of(l, &a, &b);
		windows[n++].clean = frame_all(l, &rc) && clean;
	}
	ap_hist_snapshot(&l->first_output->delay, &after);
	t->seconds = (double)(ap_clock_ns() - start) / 1e9;
	settle(l, &first, &last);
	summarize(windows, n, t);
	count_losses(&first, &last, t);
	delays(&before, &after, t);
	air(l, t);
	t->tb_lost -= before_air.tb_lost;
	t->tb_soft_lost -= before_air.tb_soft_lost;
	t->harq_retx -= before_air.harq_retx;
	t->rlc_retx -= before_air.rlc_retx;
	t->slots_missed -= before_air.slots_missed;
	if (rc < 0)
		fprintf(stderr, "an lcore did not come by for %d s: is the machine overloaded?\n",
			AP_WORKER_RUN_S);
	t->generator_limited = pps > 0 && t->mpps * 1e6 < 0.98 * pps && t->busy_percent < 95;
	return rc;
}

void
loop_set_tb(struct loop *l, uint32_t bytes)
{
	for (uint8_t c = 0; c < l->phy->cfg.carriers; c++)
		phy_set_tb(l->phy, c, bytes);
}

bool
loop_close(struct loop *l, FILE *nodes, struct ap_error *err)
{
	struct ap_account total;

	ap_run_quiesce(l->run, 1000);
	ap_run_stop(l->run);
	ap_account_total(l->run->plan, &total, err);
	if (nodes)
		ap_account_print(l->run->plan, nodes);
	ap_run_destroy(l->run);
	free(l->dut);
	free(l);
	return total.balanced;
}

unsigned
loop_lcores(const struct loop *l)
{
	return l->nb_dut;
}

const char *
loop_copier(const struct loop *l)
{
	return l->ue->copy_dl_in ? ap_copier_name(l->ue->copy_dl_in) : "none";
}
