/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What a rule set costs: to build, to keep and to look up. Seeded random rules and names:
 *     dpi_lookup [hosts [texts [expressions [flows]]]]
 *     dpi_lookup load [names]
 * Half of the hosts are domains, half of the texts are of URLs, half of the flows are of IPv6. The
 * second has the names of the load model of `airpath bench upf --dpi`, and its requests. The
 * program compiles patterns in a process of its own, as airpath does. Cycles are the best of
 * several runs; asserts nothing of time.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "bench/upf_load.h"
#include "codec/be.h"
#include "modules/dpi/dpi_set.h"

#define NAMES 4096
#define RUNS 31
#define OTHERS (4 << 20) /* octets */
#define COLD_RUNS 7
#define COLD_VECTOR 16
#define LISTED 10 /* of so many requests all but one are of a rule */
#define TEXT_MAX 64

static unsigned nb_hosts = 40000, nb_texts, nb_expressions, nb_flows = 10000;
static struct dpi_rule *rules;
static char (*texts)[TEXT_MAX];
static uint32_t nb;
static uint64_t seed = 1;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

static char *
word(char *to, unsigned len)
{
	while (len-- > 0)
		*to++ = (char)('a' + draw(26));
	*to = '\0';
	return to;
}

/* --- rules ------------------------------------------------------------------------------------ */

static void
add_host(void)
{
	static const char *const tops[] = {"com", "net", "org", "de", "co.uk", "com.br"};
	char *to = texts[nb];

	if (draw(2))
		to = stpcpy(word(to, 1 + draw(6)), ".");
	to = stpcpy(word(to, 4 + draw(12)), ".");
	strcpy(to, tops[draw(6)]);
	rules[nb] = (struct dpi_rule){.kind = nb % 2 ? DPI_RULE_SUFFIX : DPI_RULE_HOST,
				      .app = (uint16_t)(1 + draw(1000)),
				      .text = texts[nb]};
	nb++;
}

static void
add_text(bool regex)
{
	char *to = word(texts[nb], 6 + draw(8));

	if (regex)
		strcpy(word(stpcpy(to, draw(2) ? "[0-9]{1,4}\\." : ".*-"), 4), "$");
	rules[nb] = (struct dpi_rule){.kind = nb % 2 ? DPI_RULE_HOST_PATTERN : DPI_RULE_URL_PATTERN,
				      .app = (uint16_t)(1 + draw(1000)),
				      .pattern_is_regex = regex,
				      .text = texts[nb]};
	nb++;
}

/* A server's address or network, most with its port. */
static void
add_flow(void)
{
	struct dpi_net n = {.flags = DPI_NET_PROTO | (nb % 2 ? DPI_NET_IP6 : DPI_NET_IP4),
			    .proto = draw(4) ? 6 : 17};

	n.src.bits = nb % 2 ? (uint8_t)(48 + 16 * draw(6)) : (uint8_t)(16 + 8 * draw(3));
	for (unsigned i = 0; i < 16; i++)
		n.src.address[i] = (uint8_t)draw(256);
	if (nb % 2)
		memcpy(n.src.address, "\x20\x01", 2);
	if (draw(4) > 0) {
		n.flags |= DPI_NET_PORTS;
		n.src_ports[0] = n.src_ports[1] = (uint16_t)(draw(2) ? 443 : draw(65536));
		n.dst_ports[1] = UINT16_MAX;
	}
	rules[nb++] = (struct dpi_rule){
		.kind = DPI_RULE_FLOW, .app = (uint16_t)(1 + draw(1000)), .flow = n};
}

static bool
make_rules(void)
{
	uint32_t most = nb_hosts + nb_texts + nb_expressions + nb_flows;

	rules = calloc(most + 1, sizeof(*rules));
	texts = calloc(most + 1, sizeof(*texts));
	if (!rules || !texts)
		return false;
	for (unsigned i = 0; i < nb_hosts; i++)
		add_host();
	for (unsigned i = 0; i < nb_texts; i++)
		add_text(false);
	for (unsigned i = 0; i < nb_expressions; i++)
		add_text(true);
	for (unsigned i = 0; i < nb_flows; i++)
		add_flow();
	return true;
}

/* --- lookups ---------------------------------------------------------------------------------- */

struct asked {
	struct dpi_name name;
	char host[TEXT_MAX + 8], path[2 * TEXT_MAX];
};

static struct asked asked[NAMES];

static void
make_names(bool known, bool path)
{
	for (unsigned i = 0; i < NAMES; i++) {
		struct asked *a = &asked[i];

		if (known && nb_hosts)
			sprintf(a->host, "%s", texts[draw(nb_hosts)]);
		else
			strcpy(word(stpcpy(word(stpcpy(a->host, "www."), 3), "."), 4 + draw(12)),
			       ".com");
		a->path[0] = '\0';
		if (path)
			word(stpcpy(word(stpcpy(a->path, "/"), 10), "/"), 10 + draw(60));
		a->name = (struct dpi_name){.proto = path ? DPI_HTTP : DPI_TLS,
					    .host = (const uint8_t *)a->host,
					    .host_len = (uint16_t)strlen(a->host),
					    .path = (const uint8_t *)a->path,
					    .path_len = (uint16_t)strlen(a->path)};
	}
}

static void
names_in_vectors(const struct dpi_set *set, struct dpi_scratch *scratch, const char *what,
		 unsigned vector)
{
	static struct dpi_name list[NAMES];
	uint16_t apps[DPI_NAMES_MAX];
	uint64_t best = UINT64_MAX;
	unsigned found = 0;

	for (unsigned i = 0; i < NAMES; i++)
		list[i] = asked[i].name;
	for (unsigned run = 0; run < RUNS; run++) {
		uint64_t from = rte_rdtsc(), took;

		found = 0;
		for (unsigned i = 0; i < NAMES; i += vector) {
			dpi_set_names(set, scratch, list + i, vector, apps);
			for (unsigned k = 0; k < vector; k++)
				found += apps[k] != 0;
		}
		took = rte_rdtsc() - from;
		best = took < best ? took : best;
	}
	printf("%s in vectors of %u: %.0f cycles a name, %u of %u found\n", what, vector,
	       (double)best / NAMES, found, NAMES);
}

static void
vectors(const struct dpi_set *set, struct dpi_scratch *scratch, const char *what)
{
	for (unsigned vector = 1; vector <= DPI_NAMES_MAX; vector *= 4)
		names_in_vectors(set, scratch, what, vector);
}

static void
names(const struct dpi_set *set, const char *what, bool known, bool path)
{
	struct dpi_scratch *scratch = dpi_scratch_alloc(set);

	if (!scratch)
		exit(1);
	make_names(known, path);
	vectors(set, scratch, what);
	dpi_scratch_free(scratch);
}

static void
make_flow(struct flow *f)
{
	const struct dpi_net *n = &rules[nb - nb_flows + draw(nb_flows)].flow;

	*f = (struct flow){.version = n->flags & DPI_NET_IP6 ? 6 : 4,
			   .proto = n->proto,
			   .has_ports = true,
			   .ports = {n->src_ports[0], (uint16_t)(1024 + draw(60000))}};
	memcpy(f->src, n->src.address, f->version == 6 ? 16 : 4);
	be32_put(f->dst, 0x0A000000 + draw(600000));
	if (draw(2))
		f->src[3] ^= 0x55;
}

static void
flows(const struct dpi_set *set, unsigned vector)
{
	static struct flow f[NAMES];
	const struct flow *of[NAMES];
	uint16_t apps[DPI_FLOWS_MAX];
	uint64_t best = UINT64_MAX;
	unsigned found = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		make_flow(&f[i]);
		of[i] = &f[i];
	}
	for (unsigned run = 0; run < RUNS; run++) {
		uint64_t from = rte_rdtsc(), took;

		found = 0;
		for (unsigned i = 0; i < NAMES; i += vector) {
			dpi_set_flows(set, of + i, 0, vector, apps);
			for (unsigned k = 0; k < vector; k++)
				found += apps[k] != 0;
		}
		took = rte_rdtsc() - from;
		best = took < best ? took : best;
	}
	printf("headers in vectors of %u: %.0f cycles each, %u of %u found\n", vector,
	       (double)best / NAMES, found, NAMES);
}

/* --- the load model --------------------------------------------------------------------------- */

static void
load_rules(const struct upf_load *l)
{
	rules = calloc(l->nb_names + 1, sizeof(*rules));
	if (!rules)
		exit(1);
	for (; nb < l->nb_names; nb++)
		rules[nb] = (struct dpi_rule){.kind = (enum dpi_rule_kind)l->names[nb].kind,
					      .app = l->names[nb].app,
					      .pattern_is_regex = l->names[nb].regex,
					      .text = l->names[nb].text};
}

static void
load_names(const struct upf_load *l)
{
	for (unsigned i = 0; i < NAMES; i++) {
		const struct upf_load_name *n =
			&l->names[draw(LISTED) > 0 ? draw(l->nb_names)
						   : l->nb_names + draw(UPF_LOAD_UNLISTED)];
		const char *path = strchr(n->request, '/');

		struct asked *a = &asked[i];

		snprintf(a->host, sizeof(a->host), "%s", n->host);
		snprintf(a->path, sizeof(a->path), "%.*s", (int)strcspn(path, " "), path);
		a->name = (struct dpi_name){.proto = DPI_HTTP,
					    .host = (const uint8_t *)a->host,
					    .host_len = (uint16_t)strlen(a->host),
					    .path = (const uint8_t *)a->path,
					    .path_len = (uint16_t)strlen(a->path)};
	}
}

static void
warm(struct asked *a)
{
	for (unsigned i = 0; i < sizeof(*a); i += RTE_CACHE_LINE_SIZE)
		((volatile char *)a)[i];
}

/* Caches have other things between vectors, as a UPF's packets leave them. */
static void
requests_cold(const struct dpi_set *set, struct dpi_scratch *scratch)
{
	static struct dpi_name list[NAMES];
	static uint8_t others[OTHERS];
	uint64_t best = UINT64_MAX;
	uint16_t apps[COLD_VECTOR];

	for (unsigned run = 0; run < COLD_RUNS; run++) {
		uint64_t took = 0;

		for (unsigned i = 0; i < NAMES; i += COLD_VECTOR) {
			uint64_t from;

			for (unsigned k = 0; k < OTHERS; k += RTE_CACHE_LINE_SIZE)
				others[k]++;
			for (unsigned k = 0; k < COLD_VECTOR; k++) {
				list[i + k] = asked[i + k].name;
				warm(&asked[i + k]); /* just read by a parser */
			}
			from = rte_rdtsc_precise();
			dpi_set_names(set, scratch, list + i, COLD_VECTOR, apps);
			took += rte_rdtsc_precise() - from;
		}
		best = took < best ? took : best;
	}
	printf("requests in vectors of %u: %.0f cycles a name with cold caches\n", COLD_VECTOR,
	       (double)best / NAMES);
}

static int
build(struct dpi_set **set)
{
	static char program[PATH_MAX];
	struct dpi_figures f;
	struct dpi_error err;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return -1;
	dpi_compile_with(program);
	if (dpi_set_build(rules, nb, NULL, 1, set, &err) != 0) {
		fprintf(stderr, "rule %u (%s): %s\n", err.rule,
			err.rule < nb && rules[err.rule].text ? rules[err.rule].text : "", err.why);
		return -1;
	}
	dpi_set_figures(*set, &f);
	printf("hosts and domains: %u in %u ms, %zu octets\n", f.hosts + f.suffixes, f.hosts_ms,
	       f.hosts_memory);
	printf("texts and expressions: %u + %u in %u ms, %zu octets\n", f.literals, f.expressions,
	       f.patterns_ms, f.patterns_memory);
	printf("flows: %u in %u ms, %zu octets\n", f.flows, f.flows_ms, f.flows_memory);
	return 0;
}

static int
load(unsigned count)
{
	struct upf_load *l = upf_load_make(count, 0, 1);
	struct dpi_scratch *scratch;
	struct dpi_set *set;

	if (!l)
		return 1;
	load_rules(l);
	if (build(&set) < 0)
		return 1;
	scratch = dpi_scratch_alloc(set);
	if (!scratch)
		return 1;
	load_names(l);
	vectors(set, scratch, "requests");
	requests_cold(set, scratch);
	dpi_scratch_free(scratch);
	dpi_set_free(set);
	upf_load_free(l);
	return 0;
}

int
main(int argc, char **argv)
{
	char *eal[] = {"dpi_lookup", "--no-pci", "--no-telemetry", "--in-memory", "-m", "512",
		       "-l",         "0",        "--log-level",    "error",       NULL};
	unsigned *counts[] = {&nb_hosts, &nb_texts, &nb_expressions, &nb_flows};
	struct dpi_set *set;

	if (argc == 2 && strcmp(argv[1], "dpi-compile") == 0)
		return dpi_compile_main();
	if (rte_eal_init(10, eal) < 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "load") == 0)
		return load(argc > 2 ? (unsigned)atoi(argv[2]) : 40000);
	for (int i = 1; i < argc && i <= 4; i++)
		*counts[i - 1] = (unsigned)atoi(argv[i]);
	if (!make_rules() || build(&set) < 0)
		return 1;
	names(set, "known hosts", true, false);
	names(set, "unknown hosts", false, false);
	names(set, "unknown hosts with paths", false, true);
	for (unsigned vector = 1; nb_flows && vector <= DPI_FLOWS_MAX; vector *= 4)
		flows(set, vector);
	dpi_set_free(set);
	return 0;
}
