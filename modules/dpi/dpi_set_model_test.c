/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Rule sets against a plain walk over their rules: random rules of few letters, so that names often
 * match several. `test_dpi_set_model [SEEDS [FIRST]]`; a failure names its seed.
 */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "modules/dpi/dpi_set.h"
#include "tests/support/test_eal.h"

#define RULES_MAX 48
#define NAMES 400
#define FLOWS 400
#define TEXT_MAX 64

static uint64_t seeds = 40, first_seed = 1, seed;

static uint32_t
draw(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

/* --- random rules and names ------------------------------------------------------------------- */

static void
random_host(char *to, unsigned labels)
{
	for (unsigned i = 0; i < labels; i++) {
		unsigned len = 1 + draw(draw(4) == 0 ? 12 : 2);

		if (i > 0)
			*to++ = '.';
		while (len-- > 0)
			*to++ = (char)('a' + draw(2));
	}
	*to = '\0';
}

static void
random_text(char *to, const char *letters, unsigned len)
{
	while (len-- > 0)
		*to++ = letters[draw((uint32_t)strlen(letters))];
	*to = '\0';
}

/* What PCRE and POSIX read alike; one letter at least must match. */
static void
random_expression(char *to)
{
	static const char *const pieces[] = {"a",    "b",   ".",     "[ab]",    "(a|bb)",
					     "a*",   "b+",  "a?",    "b{2}",    "a{1,3}",
					     "[^a]", "\\.", "(ab)+", "[a-b]{2}"};
	unsigned nb = draw(4);

	*to = '\0';
	if (draw(3) == 0)
		strcat(to, "^");
	for (unsigned i = 0; i < nb; i++)
		strcat(to, pieces[draw(sizeof(pieces) / sizeof(pieces[0]))]);
	strcat(to, draw(2) ? "a" : "b");
	if (draw(3) == 0)
		strcat(to, "$");
}

static struct dpi_net
random_net(void)
{
	struct dpi_net n = {.flags = (uint8_t)(draw(2) ? DPI_NET_IP4 : DPI_NET_IP6)};
	unsigned bytes = n.flags & DPI_NET_IP4 ? 4 : 16;

	for (unsigned i = 0; i < bytes; i++) {
		n.src.address[i] = (uint8_t)draw(2);
		n.dst.address[i] = (uint8_t)draw(2);
	}
	n.src.bits = (uint8_t)(draw(3) ? draw(12) : draw(8 * bytes + 1));
	n.dst.bits = (uint8_t)(draw(3) ? 0 : draw(8 * bytes + 1));
	if (n.src.bits == 0 && n.dst.bits == 0 && draw(2))
		n.flags = DPI_NET_IP4 | DPI_NET_IP6;
	if (draw(2)) {
		n.flags |= DPI_NET_PROTO;
		n.proto = (uint8_t)(draw(2) ? 6 : 17);
	}
	n.src_ports[1] = n.dst_ports[1] = UINT16_MAX;
	if (draw(2)) {
		n.flags |= DPI_NET_PORTS;
		n.src_ports[0] = (uint16_t)draw(8);
		n.src_ports[1] = (uint16_t)(n.src_ports[0] + draw(8));
		n.dst_ports[0] = (uint16_t)draw(2);
	}
	if (draw(4) == 0) {
		n.tos = (uint8_t)draw(4);
		n.tos_mask = (uint8_t)draw(4);
	}
	if (draw(6) == 0) {
		n.flags |= DPI_NET_SPI;
		n.spi = draw(2);
	}
	if (!(n.flags & DPI_NET_IP4) && draw(4) == 0) {
		n.flags |= DPI_NET_FLOW_LABEL;
		n.flow_label = draw(2);
	}
	return n;
}

static void
random_rule(struct dpi_rule *r, char *text)
{
	*r = (struct dpi_rule){
		.kind = (enum dpi_rule_kind)draw(5), .app = (uint16_t)(1 + draw(9)), .text = text};
	switch (r->kind) {
	case DPI_RULE_FLOW:
		r->text = NULL;
		r->flow = random_net();
		return;
	case DPI_RULE_HOST:
	case DPI_RULE_SUFFIX:
		random_host(text, 1 + draw(3));
		return;
	case DPI_RULE_HOST_PATTERN:
	case DPI_RULE_URL_PATTERN:
		r->pattern_is_regex = (uint8_t)draw(2);
		if (r->pattern_is_regex) {
			random_expression(text);
		} else if (r->kind == DPI_RULE_URL_PATTERN && draw(2)) {
			strcpy(text, "http://");
			random_host(text + 7, 1 + draw(2));
			strcat(text, "/");
			random_text(text + strlen(text), "ab/", draw(4));
		} else {
			random_text(text, r->kind == DPI_RULE_URL_PATTERN ? "ab./" : "ab.",
				    3 + draw(4));
		}
	}
}

static struct flow
random_flow(void)
{
	struct flow f = {.version = draw(2) ? 4 : 6,
			 .proto = (uint8_t)(draw(2) ? 6 : 17),
			 .tos = (uint8_t)draw(4),
			 .has_ports = draw(4) != 0,
			 .has_spi = draw(2),
			 .ports = {(uint16_t)draw(12), (uint16_t)draw(12)},
			 .spi = draw(2)};

	f.flow_label = f.version == 6 ? draw(2) : 0;
	for (unsigned i = 0; i < (f.version == 4 ? 4 : 16); i++) {
		f.src[i] = (uint8_t)draw(2);
		f.dst[i] = (uint8_t)draw(2);
	}
	return f;
}

/* --- the plain walk --------------------------------------------------------------------------- */

static bool
expression_matches(const struct dpi_rule *r, const char *text)
{
	regex_t re;
	bool yes;

	assert_int_equal(regcomp(&re, r->text, REG_EXTENDED | REG_NOSUB), 0);
	yes = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return yes;
}

static bool
pattern_matches(const struct dpi_rule *r, const char *text)
{
	if (r->pattern_is_regex)
		return expression_matches(r, text);
	if (strncmp(r->text, "http://", 7) == 0)
		return strncmp(text, r->text + 7, strlen(r->text + 7)) == 0;
	return strstr(text, r->text) != NULL;
}

static bool
is_of_domain(const char *host, const char *domain)
{
	size_t host_len = strlen(host), len = strlen(domain);

	return host_len >= len && strcmp(host + host_len - len, domain) == 0 &&
	       (host_len == len || host[host_len - len - 1] == '.');
}

static bool
name_rule_matches(const struct dpi_rule *r, enum dpi_rule_kind kind, const char *host,
		  const char *url)
{
	if (r->kind != kind)
		return false;
	switch (kind) {
	case DPI_RULE_HOST:
		return strcmp(host, r->text) == 0;
	case DPI_RULE_SUFFIX:
		return is_of_domain(host, r->text);
	case DPI_RULE_HOST_PATTERN:
		return pattern_matches(r, host);
	case DPI_RULE_URL_PATTERN:
		return url && pattern_matches(r, url);
	case DPI_RULE_FLOW:
		break;
	}
	return false;
}

static uint16_t
walk_names(const struct dpi_rule *rules, unsigned nb, const char *host, const char *url)
{
	const enum dpi_rule_kind kinds[] = {DPI_RULE_URL_PATTERN, DPI_RULE_HOST, DPI_RULE_SUFFIX,
					    DPI_RULE_HOST_PATTERN};

	for (unsigned k = 0; k < 4; k++) {
		const struct dpi_rule *best = NULL;

		for (unsigned i = 0; i < nb; i++)
			if (name_rule_matches(&rules[i], kinds[k], host, url) &&
			    (!best || (kinds[k] == DPI_RULE_SUFFIX &&
				       strlen(rules[i].text) > strlen(best->text))))
				best = &rules[i];
		if (best)
			return best->app;
	}
	return 0;
}

static bool
in_prefix(const struct dpi_prefix *p, const uint8_t *address)
{
	for (unsigned bit = 0; bit < p->bits; bit++)
		if ((p->address[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1)
			return false;
	return true;
}

static bool
net_matches(const struct dpi_net *n, const struct flow *f, bool uplink)
{
	uint16_t src_port = f->ports[uplink], dst_port = f->ports[!uplink];

	if (!(n->flags & (f->version == 4 ? DPI_NET_IP4 : DPI_NET_IP6)))
		return false;
	if (!in_prefix(&n->src, uplink ? f->dst : f->src) ||
	    !in_prefix(&n->dst, uplink ? f->src : f->dst))
		return false;
	if (n->flags & DPI_NET_PROTO && n->proto != f->proto)
		return false;
	if (n->flags & DPI_NET_PORTS &&
	    (!f->has_ports || src_port < n->src_ports[0] || src_port > n->src_ports[1] ||
	     dst_port < n->dst_ports[0] || dst_port > n->dst_ports[1]))
		return false;
	if (n->flags & DPI_NET_SPI && (!f->has_spi || f->spi != n->spi))
		return false;
	if (n->flags & DPI_NET_FLOW_LABEL && f->flow_label != n->flow_label)
		return false;
	return ((n->tos ^ f->tos) & n->tos_mask) == 0;
}

static uint16_t
walk_nets(const struct dpi_rule *rules, unsigned nb, const struct flow *f, bool uplink)
{
	for (unsigned i = 0; i < nb; i++)
		if (rules[i].kind == DPI_RULE_FLOW && net_matches(&rules[i].flow, f, uplink))
			return rules[i].app;
	return 0;
}

/* --- both ------------------------------------------------------------------------------------- */

static unsigned
compare_names(const struct dpi_set *set, const struct dpi_rule *rules, unsigned nb, uint64_t of)
{
	struct dpi_scratch *scratch = dpi_scratch_alloc(set);
	unsigned found = 0;

	assert_non_null(scratch);
	for (unsigned i = 0; i < NAMES; i++) {
		char host[TEXT_MAX], path[TEXT_MAX] = "", url[2 * TEXT_MAX];
		struct dpi_name name = {.proto = DPI_TLS};
		uint16_t is, should;

		random_host(host, 1 + draw(4));
		if (draw(2)) {
			strcpy(path, "/");
			random_text(path + 1, "ab./", draw(9));
			name.proto = DPI_HTTP;
		}
		snprintf(url, sizeof(url), "%s%s", host, path);
		name.host = (const uint8_t *)host;
		name.host_len = (uint16_t)strlen(host);
		name.path = (const uint8_t *)path;
		name.path_len = (uint16_t)strlen(path);
		is = dpi_set_name(set, scratch, &name);
		should = walk_names(rules, nb, host, path[0] ? url : NULL);
		if (is != should)
			fail_msg("seed %ju: %s%s is of %u, not %u", (uintmax_t)of, host, path, is,
				 should);
		found += is != 0;
	}
	dpi_scratch_free(scratch);
	return found;
}

static unsigned
compare_flows(const struct dpi_set *set, const struct dpi_rule *rules, unsigned nb, uint64_t of)
{
	unsigned found = 0;

	for (unsigned done = 0; done < FLOWS;) {
		struct flow f[DPI_FLOWS_MAX];
		const struct flow *flows[DPI_FLOWS_MAX];
		uint16_t apps[DPI_FLOWS_MAX];
		uint64_t uplink = (uint64_t)draw(1U << 31) << 33 | draw(1U << 31);
		unsigned n = 1 + draw(DPI_FLOWS_MAX);

		for (unsigned i = 0; i < n; i++) {
			f[i] = random_flow();
			flows[i] = &f[i];
		}
		dpi_set_flows(set, flows, uplink, n, apps);
		for (unsigned i = 0; i < n; i++, done++) {
			bool up = uplink >> i & 1;
			uint16_t should = walk_nets(rules, nb, &f[i], up);

			if (apps[i] != should || dpi_set_flow(set, &f[i], up) != should)
				fail_msg("seed %ju: flow %u of %u is of %u, not %u", (uintmax_t)of,
					 i, n, apps[i], should);
			found += should != 0;
		}
	}
	return found;
}

static void
agrees_with_a_plain_walk(void **state)
{
	uint64_t names = 0, flows = 0;

	(void)state;
	for (uint64_t n = first_seed; n < first_seed + seeds; n++) {
		struct dpi_rule rules[RULES_MAX];
		char texts[RULES_MAX][TEXT_MAX];
		struct dpi_error err;
		struct dpi_set *set;
		unsigned nb;

		seed = n * 0x9E3779B97F4A7C15ULL;
		nb = 1 + draw(RULES_MAX);
		for (unsigned i = 0; i < nb; i++)
			random_rule(&rules[i], texts[i]);
		if (dpi_set_build(rules, nb, NULL, 1, &set, &err) != 0)
			fail_msg("seed %ju: rule %u (%s): %s", (uintmax_t)n, err.rule,
				 err.rule < nb ? rules[err.rule].text : "", err.why);
		names += compare_names(set, rules, nb, n);
		flows += compare_flows(set, rules, nb, n);
		dpi_set_free(set);
	}
	/* It was worth while: a good part matched something, and a good part nothing. */
	assert_in_range(names, seeds * NAMES / 10, seeds * NAMES * 98 / 100);
	assert_in_range(flows, seeds * FLOWS / 20, seeds * FLOWS * 95 / 100);
}

/* --- patterns long enough for filters --------------------------------------------------------- */

#define LONG_TEXT 40

/* A part of a name, or an expression with one in it. */
static void
random_long_rule(struct dpi_rule *r, char *text, unsigned least)
{
	const unsigned len = least + draw(LONG_TEXT - least - 10);

	*r = (struct dpi_rule){.kind = draw(2) ? DPI_RULE_HOST_PATTERN : DPI_RULE_URL_PATTERN,
			       .app = (uint16_t)(1 + draw(60000)),
			       .text = text,
			       .pattern_is_regex = draw(4) == 0};
	if (draw(8) == 0) {
		r->kind = draw(2) ? DPI_RULE_HOST : DPI_RULE_SUFFIX;
		r->pattern_is_regex = 0;
		random_host(text, 1 + draw(4));
		return;
	}
	if (r->pattern_is_regex && draw(2))
		text = stpcpy(text, "a[ab]*");
	if (!r->pattern_is_regex && r->kind == DPI_RULE_URL_PATTERN && draw(4) == 0)
		text = stpcpy(text, "http://a/");
	random_text(text, "abcde", len);
	if (r->pattern_is_regex)
		strcat(text, draw(2) ? "[a-c]" : "+");
}

/* Some octets, and often a rule's text in front, behind or between them. */
static void
random_long_text(char *to, const struct dpi_rule *rules, unsigned nb)
{
	random_text(to, "abcde./", draw(3) ? draw(30) : 0);
	if (draw(3) > 0) {
		const char *text = rules[draw(nb)].text;

		strcat(to, strncmp(text, "http://", 7) == 0 ? text + 7 : text);
		to[strcspn(to, "[*+")] = '\0';
	}
	random_text(to + strlen(to), "abcde./", draw(3) ? draw(30) : 0);
}

static unsigned
compare_vectors(const struct dpi_set *set, const struct dpi_rule *rules, unsigned nb, uint64_t of)
{
	struct dpi_scratch *scratch = dpi_scratch_alloc(set);
	unsigned found = 0;

	assert_non_null(scratch);
	for (unsigned done = 0; done < NAMES;) {
		static char host[DPI_NAMES_MAX][4 * TEXT_MAX], path[DPI_NAMES_MAX][4 * TEXT_MAX];
		struct dpi_name names[DPI_NAMES_MAX];
		uint16_t apps[DPI_NAMES_MAX];
		const unsigned n = 1 + draw(DPI_NAMES_MAX);

		for (unsigned i = 0; i < n; i++) {
			random_long_text(host[i], rules, nb);
			strcpy(path[i], draw(3) ? "/" : "");
			if (path[i][0] != '\0')
				random_long_text(path[i] + draw(2), rules, nb);
			names[i] = (struct dpi_name){.host = (const uint8_t *)host[i],
						     .path = (const uint8_t *)path[i],
						     .host_len = (uint16_t)strlen(host[i]),
						     .path_len = (uint16_t)strlen(path[i])};
		}
		dpi_set_names(set, scratch, names, n, apps);
		for (unsigned i = 0; i < n; i++, done++) {
			char url[8 * TEXT_MAX];
			uint16_t should;

			strcat(strcpy(url, host[i]), path[i]);
			should = host[i][0] == '\0'
					 ? 0
					 : walk_names(rules, nb, host[i], path[i][0] ? url : NULL);
			if (apps[i] != should || dpi_set_name(set, scratch, &names[i]) != should)
				fail_msg("seed %ju: %s %s is of %u, not %u", (uintmax_t)of, host[i],
					 path[i], apps[i], should);
			found += should != 0;
		}
	}
	dpi_scratch_free(scratch);
	return found;
}

static void
agrees_on_long_patterns(void **state)
{
	uint64_t names = 0;

	(void)state;
	for (uint64_t n = first_seed; n < first_seed + seeds; n++) {
		struct dpi_rule rules[RULES_MAX];
		char texts[RULES_MAX][TEXT_MAX];
		struct dpi_error err;
		struct dpi_set *set;
		unsigned nb, least;

		seed = n * 0x9E3779B97F4A7C15ULL;
		nb = 1 + draw(RULES_MAX);
		least = 3 + draw(20);
		for (unsigned i = 0; i < nb; i++)
			random_long_rule(&rules[i], texts[i], least);
		if (dpi_set_build(rules, nb, NULL, 1, &set, &err) != 0)
			fail_msg("seed %ju: rule %u (%s): %s", (uintmax_t)n, err.rule,
				 err.rule < nb ? rules[err.rule].text : "", err.why);
		names += compare_vectors(set, rules, nb, n);
		dpi_set_free(set);
	}
	assert_in_range(names, seeds * NAMES / 5, seeds * NAMES * 95 / 100);
}

/* Many names in the hash, which the few letters above do not give. */
static void
many_hosts(void **state)
{
	enum { NB = 5000 };
	static struct dpi_rule rules[NB];
	static char texts[NB][TEXT_MAX];
	struct dpi_scratch *scratch;
	struct dpi_error err;
	struct dpi_set *set;

	(void)state;
	seed = first_seed;
	for (unsigned i = 0; i < NB; i++) {
		random_text(texts[i], "abcdefgh-0123", 1 + draw(20));
		sprintf(texts[i] + strlen(texts[i]), ".%u.example", draw(50));
		rules[i] = (struct dpi_rule){.kind = draw(2) ? DPI_RULE_HOST : DPI_RULE_SUFFIX,
					     .app = (uint16_t)(1 + i),
					     .text = texts[i]};
	}
	assert_int_equal(dpi_set_build(rules, NB, NULL, 1, &set, &err), 0);
	scratch = dpi_scratch_alloc(set);
	assert_non_null(scratch);
	for (unsigned i = 0; i < 1000; i++) {
		const char *of = texts[draw(NB)];
		char host[TEXT_MAX + 8];
		struct dpi_name name = {.proto = DPI_TLS, .host = (const uint8_t *)host};

		snprintf(host, sizeof(host), "%s%s", draw(2) ? "" : draw(2) ? "www." : "x", of);
		name.host_len = (uint16_t)strlen(host);
		assert_int_equal(dpi_set_name(set, scratch, &name),
				 walk_names(rules, NB, host, NULL));
	}
	dpi_scratch_free(scratch);
	dpi_set_free(set);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_plain_walk),
		cmocka_unit_test(agrees_on_long_patterns),
		cmocka_unit_test(many_hosts),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
