/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * `airpath bench upf`: S2's forwarding on one worker, QER and URR on; with --dpi S2's load model.
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
#define PLACES_MIN 256

static const struct upf_row_direction directions[] = {
	{"uplink", UPF_BED_UP}, {"downlink", UPF_BED_DOWN}, {"both", UPF_BED_UP | UPF_BED_DOWN}};

static int
row_measure(const struct upf_row_options *o, struct upf_bed *b, struct upf_row *r)
{
	const double starved = upf_bed_starved(b);
	int rc;

	upf_bed_size(b, (uint16_t)r->bytes);
	rc = upf_bed_alone(b, r->direction->bits, RTE_MAX(o->common.seconds / 3, 0.2), r->alone,
			   &r->alone_sum);
	r->stages = rc > 0 ? (unsigned)rc : 0;
	rc = rc < 0 || !r->live ? RTE_MIN(rc, 0) : upf_live_measure(o, b, r);
	r->starved_s = upf_bed_starved(b) - starved;
	return rc;
}

/** @return 0; -EIO for a run that is not valid; or another -errno */
static int
rows_run(const struct upf_row_options *o, struct upf_bed *b, struct bench_result *res)
{
	int valid = 0;

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
			valid = upf_row_check(&r) < 0 ? -EIO : valid;
		}
	}
	return valid;
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
	rc = o->dpi ? upf_dpi_run(o, b, res) : rows_run(o, b, res);
	usage = o->dpi ? 0 : usage_check(b);
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

/**
 * Shares of UDP flows: dns=N,quic=N,other=N of any of them, percent; others are what is left.
 * @return likewise
 */
static int
udp_mix_parse(const char *text, struct upf_traffic_cfg *f)
{
	int other = -1, named;

	for (const char *p = text; p != NULL; p = strchr(p, ',')) {
		unsigned percent;
		char name[8];
		int len = 0;

		p += p != text;
		if (sscanf(p, "%7[a-z]=%3u%n", name, &percent, &len) != 2 || percent > 100 ||
		    (p[len] != '\0' && p[len] != ','))
			REFUSE("--udp-mix '%s' is not of dns=N,quic=N,other=N, each 0..100", text);
		if (strcmp(name, "dns") == 0)
			f->dns_percent = percent;
		else if (strcmp(name, "quic") == 0)
			f->quic_percent = percent;
		else if (strcmp(name, "other") == 0)
			other = (int)percent;
		else
			REFUSE("--udp-mix: '%s' is not dns, quic or other", name);
	}
	named = (int)(f->dns_percent + f->quic_percent);
	if (named > 100 || (other >= 0 && named + other != 100))
		REFUSE("--udp-mix %s: all of it must be 100", text);
	return 0;
}

/** What --new-flows-per-s comes to, where some flows are DNS' and short. */
static unsigned
packets_of_rate(const struct upf_row_options *o, const struct upf_traffic_cfg *f)
{
	const double short_ones = o->udp_percent * f->dns_percent / 1e4;
	const double mean = o->rate_mpps * 1e6 / o->new_flows;

	if (short_ones >= 1 || mean <= short_ones * UPF_TRAFFIC_DNS_PACKETS)
		return 0;
	return (unsigned)((mean - short_ones * UPF_TRAFFIC_DNS_PACKETS) / (1 - short_ones) + 0.5);
}

/** Of the load model, which goes both ways. @return likewise */
static int
dpi_check(struct upf_row_options *o)
{
	struct upf_traffic_cfg *f = &o->model.flows;
	int rc = udp_mix_parse(o->udp_mix, f);

	if (rc < 0)
		return rc;
	if (o->direction != NULL)
		REFUSE("--dpi: flows go both ways, --direction does not");
	if (o->bytes.n > 1)
		REFUSE("--dpi: --bytes is one number, the mean of packets");
	if (o->new_flows > 0 && o->rate_mpps <= 0)
		REFUSE("--new-flows-per-s needs --rate-mpps");
	if (o->new_flows > 0)
		o->packets_per_flow = packets_of_rate(o, f);
	if (o->packets_per_flow < UPF_TRAFFIC_PACKETS_MIN ||
	    o->packets_per_flow > UPF_TRAFFIC_PACKETS_MAX)
		REFUSE("--packets-per-flow %u must be %d..%d", o->packets_per_flow,
		       UPF_TRAFFIC_PACKETS_MIN, UPF_TRAFFIC_PACKETS_MAX);
	if (o->bytes.v[0] < UPF_TRAFFIC_BYTES_MIN)
		REFUSE("--dpi: --bytes %u must be at least %d: requests are as long", o->bytes.v[0],
		       UPF_TRAFFIC_BYTES_MIN);
	if (o->names > UPF_LOAD_NAMES_MAX || o->nets > UPF_LOAD_NETS_MAX)
		REFUSE("--rules %u and --flow-rules %u must be %d at most", o->names, o->nets,
		       UPF_LOAD_NAMES_MAX);
	if (o->udp_percent > 100)
		REFUSE("--udp-percent %u must be 0..100", o->udp_percent);
	if (o->train < 1 || o->train > 64)
		REFUSE("--train %u must be 1..64", o->train);
	if (o->flows_per_session < 1 || o->flows_per_session > 64)
		REFUSE("--flows-per-session %u must be 1..64", o->flows_per_session);
	if (o->active * o->flows_per_session < PLACES_MIN)
		REFUSE("--dpi: %u flows at a time are too few: %d at least",
		       o->active * o->flows_per_session, PLACES_MIN);
	f->per_session = o->flows_per_session;
	f->packets = o->packets_per_flow;
	f->bytes = o->bytes.v[0];
	f->udp_percent = o->udp_percent;
	f->train = o->train;
	o->model.names = o->names;
	o->model.nets = o->nets;
	o->bed.dpi = &o->model;
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
				    .packets_per_flow = 100,
				    .flows_per_session = 2,
				    .train = 1,
				    .names = 40000,
				    .nets = 10000,
				    .udp_percent = 15,
				    .udp_mix = "other=100"};
	const struct bench_opt own[] = {
		{"deployment", BENCH_OPT_STR, &o.bed.deployment, "file [of the steering]"},
		{"steering", BENCH_OPT_STR, &o.steering,
		 "rss, or software: a dispatcher for two workers [rss]"},
		{"sessions", BENCH_OPT_UINT, &o.sessions, "installed [6000]"},
		{"active", BENCH_OPT_UINT, &o.active, "that get packets [all]"},
		{"bytes", BENCH_OPT_UINTS, &o.bytes, "inner packet sizes [64,690; with --dpi 690]"},
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
		{"dpi", BENCH_OPT_FLAG, &o.dpi,
		 "S2's load model: flows, rules, policies, charging, beside plain sessions"},
		{"packets-per-flow", BENCH_OPT_UINT, &o.packets_per_flow, "on average [100]"},
		{"new-flows-per-s", BENCH_OPT_NUM, &o.new_flows,
		 "in place of that, with --rate-mpps"},
		{"flows-per-session", BENCH_OPT_UINT, &o.flows_per_session, "at a time [2]"},
		{"train", BENCH_OPT_UINT, &o.train,
		 "packets of a flow in a row, behind its request [1]"},
		{"udp-percent", BENCH_OPT_UINT, &o.udp_percent,
		 "of the flows, others are HTTP [15]"},
		{"udp-mix", BENCH_OPT_STR, &o.udp_mix,
		 "of UDP flows, percent: dns=N,quic=N,other=N; all published figures are of the "
		 "default [other=100]"},
		{"rules", BENCH_OPT_UINT, &o.names, "of layer 7 [40000]"},
		{"flow-rules", BENCH_OPT_UINT, &o.nets, "of layers 3 and 4 [10000]"},
		{"swap", BENCH_OPT_UINT, &o.swaps, "times the rules are made anew under load [0]"},
		{0},
	};
	struct bench_result *res;
	int rc = bench_options(argc, argv,
			       "S2: a forwarding unit with QER and URR: throughput and delay.",
			       &o.common, own);

	if (rc != 0)
		return rc < 0 ? 2 : 0;
	o.active = o.active ? o.active : o.sessions;
	if (o.bytes.n == 0)
		o.bytes =
			o.dpi ? (struct bench_uints){{690}, 1} : (struct bench_uints){{64, 690}, 2};
	if (options_check(&o) < 0 || (o.dpi && dpi_check(&o) < 0))
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
