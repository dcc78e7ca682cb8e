/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "bench/trial.h"

void
trial_progress_init(struct trial_progress *p, FILE *to)
{
	*p = (struct trial_progress){.to = to, .tty = to && isatty(fileno(to))};
}

/** Writes over what stands on the line, and blanks the rest of it. */
static void
rewrite(struct trial_progress *p, const char *fmt, va_list ap)
{
	int now;

	if (p->tty)
		fputc('\r', p->to);
	now = vfprintf(p->to, fmt, ap);
	if (p->tty && now < p->shown)
		fprintf(p->to, "%*s", p->shown - now, "");
	p->shown = now;
}

void
trial_progress_show(struct trial_progress *p, const char *fmt, ...)
{
	va_list ap;

	if (p->to == NULL || !p->tty)
		return;
	va_start(ap, fmt);
	rewrite(p, fmt, ap);
	va_end(ap);
	fflush(p->to);
}

void
trial_progress_end(struct trial_progress *p, const char *fmt, ...)
{
	va_list ap;

	if (p->to == NULL)
		return;
	va_start(ap, fmt);
	rewrite(p, fmt, ap);
	va_end(ap);
	fputc('\n', p->to);
	fflush(p->to);
	p->shown = 0;
}

bool
trial_passed(const struct trial_cfg *cfg, const struct trial_outcome *o)
{
	return o->sent > 0 && o->corrupted == 0 &&
	       (double)o->lost <= cfg->loss_tolerance * (double)o->sent;
}

/** What a run of trials needs. */
struct search {
	const struct trial_cfg *cfg;
	trial_run_fn run;
	void *arg;
	struct trial_progress progress;
	unsigned trials; /* so far */
};

static struct search
search_of(const struct trial_cfg *cfg, trial_run_fn run, void *arg)
{
	struct search s = {.cfg = cfg, .run = run, .arg = arg};

	trial_progress_init(&s.progress, cfg->progress);
	return s;
}

static double
in_units(const struct search *s, double rate)
{
	return rate / (s->cfg->unit_size > 0 ? s->cfg->unit_size : 1);
}

static int
trial(struct search *s, double rate, struct trial_outcome *o)
{
	const char *unit = s->cfg->unit ? s->cfg->unit : "";
	int rc;

	s->trials++;
	trial_progress_show(&s->progress, "trial %u: %.3f %s for %g s ...", s->trials,
			    in_units(s, rate), unit, s->cfg->seconds);
	*o = (struct trial_outcome){0};
	rc = s->run(s->arg, rate, s->cfg->seconds, o);
	o->offered = rate;
	if (o->achieved <= 0)
		o->achieved = rate;
	if (rc < 0)
		return rc;
	trial_progress_end(
		&s->progress, "trial %u: %.3f %s: %s, %lu sent, %lu lost, %lu corrupted%s",
		s->trials, in_units(s, rate), unit, trial_passed(s->cfg, o) ? "passed" : "failed",
		o->sent, o->lost, o->corrupted, o->generator_limited ? " (generator-limited)" : "");
	return 0;
}

/** Tries one rate until it passes, at most cfg->repeats times. @return 1 passed, 0 failed, < 0
 * error */
static int
rate_passes(struct search *s, double rate, struct trial_outcome *o)
{
	unsigned left = s->cfg->repeats ? s->cfg->repeats : 1;

	for (; left > 0; left--) {
		int rc = trial(s, rate, o);

		if (rc < 0)
			return rc;
		if (trial_passed(s->cfg, o))
			return 1;
		/* Corruption is no matter of the rate or of a neighbour. */
		if (o->corrupted)
			return 0;
	}
	return 0;
}

/**
 * Bisects between a rate that fails and min_rate, taken to pass.
 * @param best the highest passing trial, untouched when there is none
 * @return 0 or what the callback returned
 */
static int
bisect(struct search *s, double fails, struct trial_outcome *best)
{
	double passes = s->cfg->min_rate;

	while (fails - passes > s->cfg->resolution * fails) {
		double middle = (passes + fails) / 2;
		struct trial_outcome o;
		int rc = rate_passes(s, middle, &o);

		if (rc < 0)
			return rc;
		if (rc == 0) {
			fails = middle;
			continue;
		}
		*best = o;
		/* More cannot be sent, so more cannot be asked. */
		if (o.generator_limited)
			return 0;
		passes = middle;
	}
	return 0;
}

/** A passing trial may have been luck: the rate must pass again, or the next lower does. */
static int
confirm(struct search *s, double rate, struct trial_outcome *best)
{
	double step = s->cfg->resolution * rate;
	int rc;

	for (; rate > s->cfg->min_rate; rate -= step) {
		rc = rate_passes(s, rate, best);
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
	rc = rate_passes(s, s->cfg->min_rate, best);
	return rc < 0 ? rc : rc > 0 ? 0 : -ENOENT;
}

int
trial_search(const struct trial_cfg *cfg, trial_run_fn run, void *arg, struct trial_outcome *best)
{
	struct search s = search_of(cfg, run, arg);
	struct trial_outcome found = {0};
	int rc;

	if (cfg->min_rate <= 0 || cfg->max_rate < cfg->min_rate || cfg->resolution <= 0 ||
	    cfg->resolution >= 1 || cfg->seconds <= 0)
		return -EINVAL;
	rc = rate_passes(&s, cfg->max_rate, best);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = bisect(&s, cfg->max_rate, &found);
	if (rc < 0)
		return rc;
	if (found.sent == 0)
		found.offered = cfg->min_rate;
	return confirm(&s, found.offered, best);
}
