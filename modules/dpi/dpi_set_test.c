/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/be.h"
#include "modules/dpi/dpi_set.h"
#include "tests/support/test_eal.h"

#define NB(a) (sizeof(a) / sizeof((a)[0]))

static struct dpi_set *
built(const struct dpi_rule *rules, uint32_t nb)
{
	struct dpi_error err;
	struct dpi_set *set;

	if (dpi_set_build(rules, nb, NULL, 7, &set, &err) != 0)
		fail_msg("rule %u: %s", err.rule, err.why);
	assert_non_null(set);
	assert_string_equal(err.why, "");
	return set;
}

static uint16_t
url(const struct dpi_set *set, const char *host, const char *path)
{
	const struct dpi_name name = {.proto = path ? DPI_HTTP : DPI_TLS,
				      .host = (const uint8_t *)host,
				      .host_len = (uint16_t)strlen(host),
				      .path = (const uint8_t *)path,
				      .path_len = path ? (uint16_t)strlen(path) : 0};
	struct dpi_scratch *scratch = dpi_scratch_alloc(set);
	uint16_t app;

	assert_non_null(scratch);
	app = dpi_set_name(set, scratch, &name);
	dpi_scratch_free(scratch);
	return app;
}

static uint16_t
host(const struct dpi_set *set, const char *name)
{
	return url(set, name, NULL);
}

static void
hosts_and_domains(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_HOST, 1, 0, "WWW.Example.com.", {.flags = 0}},
		{DPI_RULE_SUFFIX, 2, 0, "example.com", {.flags = 0}},
		{DPI_RULE_SUFFIX, 3, 0, ".video.example.com", {.flags = 0}},
		{DPI_RULE_HOST, 4, 0, "[2001:DB8::1]", {.flags = 0}},
		{DPI_RULE_HOST, 5, 0, "www.example.com", {.flags = 0}},
		{DPI_RULE_SUFFIX, 6, 0, "example.com", {.flags = 0}},
		{DPI_RULE_HOST, 7, 0, "video.example.com", {.flags = 0}},
		{DPI_RULE_SUFFIX, 8, 0, "org", {.flags = 0}},
		{DPI_RULE_HOST, 9, 0, "example.com", {.flags = 0}},
	};
	struct dpi_set *set = built(rules, NB(rules));
	char longest[DPI_HOST_MAX + 2];

	(void)state;
	assert_int_equal(host(set, "www.example.com"), 1); /* the first of equal ones */
	assert_int_equal(host(set, "example.com"), 9);     /* the name over the domain */
	assert_int_equal(host(set, "a.example.com"), 2);
	assert_int_equal(host(set, "a.www.example.com"), 2);
	assert_int_equal(host(set, "notexample.com"), 0);
	assert_int_equal(host(set, "video.example.com"), 7);
	assert_int_equal(host(set, "a.b.video.example.com"), 3);
	assert_int_equal(host(set, "xvideo.example.com"), 2);
	assert_int_equal(host(set, "[2001:db8::1]"), 4);
	assert_int_equal(host(set, "org"), 8);
	assert_int_equal(host(set, "..org"), 8);
	assert_int_equal(host(set, "org."), 0);
	assert_int_equal(host(set, "example.com.net"), 0);
	assert_int_equal(host(set, "com"), 0);
	assert_int_equal(host(set, ""), 0);
	memset(longest, 'a', sizeof(longest));
	strcpy(longest + DPI_HOST_MAX - 4, ".org");
	assert_int_equal(strlen(longest), DPI_HOST_MAX);
	assert_int_equal(host(set, longest), 8);
	memset(longest, 'a', sizeof(longest));
	strcpy(longest + DPI_HOST_MAX - 3, ".org");
	assert_int_equal(host(set, longest), 0);
	memset(longest, '.', sizeof(longest));
	longest[DPI_HOST_MAX] = '\0';
	assert_int_equal(host(set, longest), 0);
	assert_true(dpi_set_has_names(set));
	assert_false(dpi_set_has_flows(set));
	assert_int_equal(dpi_set_generation(set), 7);
	dpi_set_free(set);
}

static void
precedence(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_HOST_PATTERN, 1, 0, "tube", {.flags = 0}},
		{DPI_RULE_HOST_PATTERN, 2, 1, "^v[0-9]+\\.tube\\.", {.flags = 0}},
		{DPI_RULE_SUFFIX, 3, 0, "tube.example", {.flags = 0}},
		{DPI_RULE_HOST, 4, 0, "v1.tube.example", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 5, 0, "/live/", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 6, 1, "tube\\.example/live/[a-z]+$", {.flags = 0}},
		{DPI_RULE_HOST_PATTERN, 7, 0, "TUBE.org", {.flags = 0}},
		{DPI_RULE_HOST_PATTERN, 8, 1, "[A-Z]BC\\.net$", {.flags = 0}},
	};
	struct dpi_set *set = built(rules, NB(rules));

	(void)state;
	assert_int_equal(url(set, "v1.tube.example", "/live/x"), 5);
	assert_int_equal(url(set, "v1.tube.example", "/LIVE/x"), 4);
	assert_int_equal(url(set, "v2.tube.example", "/"), 3);
	assert_int_equal(host(set, "v1.tube.example"), 4);
	assert_int_equal(host(set, "v2.tube.com"), 1); /* of patterns the first */
	assert_int_equal(host(set, "my.tube.org"), 1);
	assert_int_equal(host(set, "abc.net"), 8); /* hosts have no case */
	assert_int_equal(host(set, "abc.net.org"), 0);
	dpi_set_free(set);
	set = built(rules + 1, NB(rules) - 1);
	assert_int_equal(host(set, "v2.tube.com"), 2);
	assert_int_equal(host(set, "my.tube.org"), 7);
	dpi_set_free(set);
	set = built(rules + 5, 1);
	assert_int_equal(url(set, "tube.example", "/live/abc"), 6);
	assert_int_equal(url(set, "tube.example", "/live/ab0"), 0);
	assert_int_equal(host(set, "tube.example"), 0);
	dpi_set_free(set);
}

/* Wherever in a URL the pattern is, and whatever the filters in front looked at before. */
static void
patterns_are_found_anywhere(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_URL_PATTERN, 1, 0, "news.example/B", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 2, 1, "shop\\.example/[B-D]", {.flags = 0}},
	};
	static const char *const texts[] = {"news.example/B", "shop.example/C"};
	struct dpi_set *sets[] = {built(rules, 1), built(rules + 1, 1), built(rules, 2)};
	char path[DPI_URL_MAX];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const size_t len = strlen(texts[i]);

		for (size_t at = 1; at + len + 1 < sizeof(path); at += at < 700 ? 1 : 13) {
			memset(path, '/', sizeof(path));
			memcpy(path + at, texts[i], len);
			path[at + len + at % 2] = '\0';
			assert_int_equal(url(sets[i], "h", path), i + 1);
			assert_int_equal(url(sets[2], "h", path), i + 1);
			assert_int_equal(url(sets[!i], "h", path), 0);
		}
	}
	for (unsigned i = 0; i < 3; i++)
		dpi_set_free(sets[i]);
}

/* Names have no case, nor have patterns of them: also where one filter is for both forms. */
static void
host_patterns_have_no_case(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_HOST_PATTERN, 1, 0, "tUbEs", {.flags = 0}},
		{DPI_RULE_HOST_PATTERN, 2, 1, "[0-9]XYZ\\.NET", {.flags = 0}},
	};
	struct dpi_set *set = built(rules, NB(rules));

	(void)state;
	assert_int_equal(host(set, "1xyz.net"), 2);
	assert_int_equal(host(set, "www.9xyz.net.example"), 2);
	assert_int_equal(host(set, "mytubes.example"), 1);
	assert_int_equal(host(set, "xyz.net"), 0);
	dpi_set_free(set);
}

static void
whole_urls_are_at_the_start(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_URL_PATTERN, 1, 0, "http://News.example:8080/A", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 2, 0, "HTTPS://shop.example", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 3, 0, "http://[2001:db8::1]/x", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 4, 0, "http://a/", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 5, 0, "news.example/B", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 6, 0, "http://q.example?id", {.flags = 0}},
	};
	struct dpi_set *set = built(rules, NB(rules));
	char path[DPI_URL_MAX + 100];

	(void)state;
	assert_int_equal(url(set, "news.example", "/Abc"), 1);
	assert_int_equal(url(set, "news.example", "/abc"), 0);
	assert_int_equal(url(set, "my.news.example", "/Abc"), 0);
	assert_int_equal(url(set, "my.news.example", "/Bc"), 5);
	assert_int_equal(url(set, "x.example", "/?u=http://news.example/A"), 0);
	/* Where it is at the start and again later. */
	assert_int_equal(url(set, "news.example", "/A?news.example/A"), 1);
	assert_int_equal(url(set, "shop.example", "/"), 2);
	assert_int_equal(url(set, "shop.example.org", "/"), 0);
	assert_int_equal(url(set, "[2001:db8::1]", "/x"), 3);
	assert_int_equal(url(set, "a", "/a/a/a/"), 4);
	assert_int_equal(url(set, "b", "/a/a/a/"), 0);
	assert_int_equal(url(set, "q.example", "/?id=1"), 6);
	/* What is behind the first octets is not looked at. */
	memset(path, '/', sizeof(path));
	strcpy(path + DPI_URL_MAX - 1 - 14, "news.example/B");
	assert_int_equal(url(set, "x", path), 5);
	memset(path, '/', sizeof(path));
	strcpy(path + DPI_URL_MAX - 14, "news.example/B");
	assert_int_equal(url(set, "x", path), 0);
	dpi_set_free(set);
}

static struct flow
tcp4(uint32_t src, uint16_t sport, uint32_t dst, uint16_t dport)
{
	struct flow f = {.version = 4, .proto = 6, .has_ports = true, .ports = {sport, dport}};

	be32_put(f.src, src);
	be32_put(f.dst, dst);
	return f;
}

static void
flows_of_both_directions(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_FLOW,
		 1,
		 0,
		 NULL,
		 {.flags = DPI_NET_IP4 | DPI_NET_PROTO | DPI_NET_PORTS,
		  .proto = 6,
		  .src = {{192, 0, 2, 0}, 24},
		  .src_ports = {443, 443},
		  .dst_ports = {0, 65535}}},
		{DPI_RULE_FLOW,
		 2,
		 0,
		 NULL,
		 {.flags = DPI_NET_IP4 | DPI_NET_IP6 | DPI_NET_PORTS,
		  .src_ports = {443, 443},
		  .dst_ports = {0, 65535}}},
		{DPI_RULE_FLOW,
		 3,
		 0,
		 NULL,
		 {.flags = DPI_NET_IP6 | DPI_NET_PROTO,
		  .proto = 17,
		  .src = {{0x20, 1, 0xD, 0xB8}, 32}}},
		{DPI_RULE_FLOW, 4, 0, NULL, {.flags = DPI_NET_IP4, .tos = 0xB8, .tos_mask = 0xFC}},
	};
	struct dpi_set *set = built(rules, NB(rules));
	struct flow down = tcp4(0xC0000207, 443, 0x0A000001, 5000), f;
	struct flow up = tcp4(0x0A000001, 5000, 0xC0000207, 443);
	const struct flow *both[] = {&down, &up, &f, &down};
	uint16_t apps[4];

	(void)state;
	assert_int_equal(dpi_set_flow(set, &down, false), 1);
	assert_int_equal(dpi_set_flow(set, &up, true), 1);
	assert_int_equal(dpi_set_flow(set, &up, false), 0);
	assert_int_equal(dpi_set_flow(set, &down, true), 0);
	f = tcp4(0xC0000307, 443, 0x0A000001, 5000);
	assert_int_equal(dpi_set_flow(set, &f, false), 2);
	f.has_ports = false; /* a later fragment */
	assert_int_equal(dpi_set_flow(set, &f, false), 0);
	f.tos = 0xBB;
	assert_int_equal(dpi_set_flow(set, &f, false), 4);
	f = (struct flow){.version = 6, .proto = 17, .src = {0x20, 1, 0xD, 0xB8, 9}};
	assert_int_equal(dpi_set_flow(set, &f, false), 3);
	dpi_set_flows(set, both, 1 << 1, 4, apps);
	assert_int_equal(apps[0], 1);
	assert_int_equal(apps[1], 1);
	assert_int_equal(apps[2], 3);
	assert_int_equal(apps[3], 1);
	assert_true(dpi_set_has_flows(set));
	assert_false(dpi_set_has_names(set));
	assert_int_equal(host(set, "example.com"), 0);
	dpi_set_free(set);
}

static void
a_set_without_rules(void **state)
{
	struct flow f = tcp4(1, 2, 3, 4);
	struct dpi_set *set = built(NULL, 0);

	(void)state;
	assert_int_equal(host(set, "example.com"), 0);
	assert_int_equal(url(set, "example.com", "/"), 0);
	assert_int_equal(dpi_set_flow(set, &f, true), 0);
	assert_false(dpi_set_has_flows(set));
	assert_false(dpi_set_has_names(set));
	dpi_set_free(set);
}

/* Behind two good rules. */
static void
refused(struct dpi_rule bad, const struct dpi_limits *limits, int code, const char *why)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_HOST, 1, 0, "a.example", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 2, 1, "^b", {.flags = 0}},
		bad,
	};
	struct dpi_error err;
	struct dpi_set *set = (struct dpi_set *)&err;

	assert_int_equal(dpi_set_build(rules, NB(rules), limits, 1, &set, &err), code);
	assert_null(set);
	assert_int_equal(err.rule, 2);
	if (!strstr(err.why, why))
		fail_msg("'%s' does not say '%s'", err.why, why);
}

static void
text_refused(enum dpi_rule_kind kind, bool regex, const char *text, const char *why)
{
	refused((struct dpi_rule){kind, 1, regex, text, {.flags = 0}}, NULL, -EINVAL, why);
}

static void
malformed_rules(void **state)
{
	char label[70], name[DPI_HOST_MAX + 10];

	(void)state;
	refused((struct dpi_rule){.kind = 5, .app = 1}, NULL, -EINVAL, "kind");
	refused((struct dpi_rule){.kind = DPI_RULE_HOST, .text = "a"}, NULL, -EINVAL,
		"no application");
	text_refused(DPI_RULE_HOST, false, NULL, "no host name");
	text_refused(DPI_RULE_HOST, false, "", "no host name");
	text_refused(DPI_RULE_SUFFIX, false, ".", "empty label");
	text_refused(DPI_RULE_HOST, false, ".a", "empty label");
	text_refused(DPI_RULE_HOST, false, "a..b", "empty label");
	text_refused(DPI_RULE_SUFFIX, false, "*.example.com", "letters, digits");
	text_refused(DPI_RULE_HOST, false, "a b", "letters, digits");
	text_refused(DPI_RULE_HOST, false, "a/b", "letters, digits");
	text_refused(DPI_RULE_HOST, false, "[2001:db8::1", "letters, digits");
	text_refused(DPI_RULE_HOST, false, "m\xC3\xBCnchen.example", "xn--");
	memset(label, 'a', sizeof(label));
	label[64] = '\0';
	text_refused(DPI_RULE_HOST, false, label, "63");
	memset(name, 'a', sizeof(name));
	name[DPI_HOST_MAX + 1] = '\0';
	text_refused(DPI_RULE_HOST, false, name, "longer");
	text_refused(DPI_RULE_HOST_PATTERN, false, NULL, "empty pattern");
	text_refused(DPI_RULE_URL_PATTERN, true, "", "empty pattern");
	text_refused(DPI_RULE_URL_PATTERN, false, "a\tb", "white space");
	text_refused(DPI_RULE_URL_PATTERN, false, "a b", "white space");
	text_refused(DPI_RULE_URL_PATTERN, true, "a\x80", "ASCII");
	text_refused(DPI_RULE_URL_PATTERN, false, "http:///x", "without a host");
	text_refused(DPI_RULE_URL_PATTERN, false, "https://", "without a host");
	text_refused(DPI_RULE_URL_PATTERN, true, "(a", "'(' without ')'");
	text_refused(DPI_RULE_URL_PATTERN, true, "(a)\\1", "refer");
	text_refused(DPI_RULE_HOST_PATTERN, true, "a*", "every name");
	text_refused(DPI_RULE_HOST_PATTERN, true, "a(?=b)", "Zero-width");
}

static void
flow_refused(struct dpi_net net, const char *why)
{
	refused((struct dpi_rule){.kind = DPI_RULE_FLOW, .app = 1, .flow = net}, NULL, -EINVAL,
		why);
}

static void
malformed_flows(void **state)
{
	(void)state;
	flow_refused((struct dpi_net){.flags = DPI_NET_PROTO}, "neither");
	flow_refused((struct dpi_net){.flags = DPI_NET_IP4, .src = {.bits = 33}}, "longer");
	flow_refused((struct dpi_net){.flags = DPI_NET_IP6, .dst = {.bits = 129}}, "longer");
	flow_refused((struct dpi_net){.flags = DPI_NET_IP4 | DPI_NET_IP6, .dst = {.bits = 8}},
		     "both");
	flow_refused((struct dpi_net){.flags = DPI_NET_IP4 | DPI_NET_PORTS, .src_ports = {2, 1}},
		     "range");
	flow_refused((struct dpi_net){.flags = DPI_NET_IP4 | DPI_NET_FLOW_LABEL}, "IPv4");
	flow_refused(
		(struct dpi_net){.flags = DPI_NET_IP6 | DPI_NET_FLOW_LABEL, .flow_label = 0x100000},
		"20 bits");
}

static void
what_costs_too_much_is_refused_with_its_cost(void **state)
{
	struct dpi_limits limits = dpi_limits_default;
	struct dpi_rule rule = {DPI_RULE_URL_PATTERN, 1, 1, NULL, {.flags = 0}};
	struct dpi_error err;
	struct dpi_set *set;
	char text[1100];

	(void)state;
	rule.text = "(((a{1,60}b){1,60}c){1,60}d){1,60}";
	refused(rule, NULL, -E2BIG, "13179660 characters; 1000 are allowed");
	rule.text = "x{65535}";
	refused(rule, NULL, -E2BIG, "65535 characters");
	rule.text = ".{0,32767}z"; /* on which the compiler itself ends */
	refused(rule, NULL, -E2BIG, "32768 characters");
	memset(text, 'a', sizeof(text));
	text[1001] = '\0';
	rule.text = text;
	refused(rule, NULL, -E2BIG, "1001 octets; 1000");
	rule.text = "ab.*cd";
	limits.expressions = 1;
	refused(rule, &limits, -E2BIG, "more than the 1 expressions");
	limits = dpi_limits_default;
	limits.expression_us = 0;
	rule.text = ".*a.{100}b";
	assert_int_equal(dpi_set_build(&rule, 1, &limits, 1, &set, &err), -E2BIG);
	assert_int_equal(err.rule, 0);
	assert_non_null(strstr(err.why, "us to look through 2048 octets; 0 are allowed"));
	limits = dpi_limits_default;
	limits.scan_us = 0;
	assert_int_equal(dpi_set_build(&rule, 1, &limits, 1, &set, &err), -E2BIG);
	assert_int_equal(err.rule, DPI_NO_RULE);
	assert_non_null(strstr(err.why, "1 patterns take"));
	limits = dpi_limits_default;
	limits.expression_memory = 10;
	assert_int_equal(dpi_set_build(&rule, 1, &limits, 1, &set, &err), -E2BIG);
	assert_int_equal(err.rule, 0);
	assert_non_null(strstr(err.why, "octets compiled; 10 are allowed"));
}

static void
a_set_that_costs_too_much_is_refused(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_HOST, 1, 0, "a.example", {.flags = 0}},
		{DPI_RULE_FLOW, 1, 0, NULL, {.flags = DPI_NET_IP4, .src = {{1}, 32}}},
	};
	struct dpi_limits limits = dpi_limits_default;
	struct dpi_error err;
	struct dpi_set *set;

	(void)state;
	limits.rules = 1;
	assert_int_equal(dpi_set_build(rules, 2, &limits, 1, &set, &err), -E2BIG);
	assert_int_equal(err.rule, DPI_NO_RULE);
	assert_string_equal(err.why, "2 rules; 1 are allowed");
	limits.rules = 2;
	limits.memory = 100;
	assert_int_equal(dpi_set_build(rules, 1, &limits, 1, &set, &err), -E2BIG);
	assert_int_equal(err.rule, DPI_NO_RULE);
	assert_non_null(strstr(err.why, "octets; 100 are allowed"));
	assert_int_equal(dpi_set_build(rules + 1, 1, &limits, 1, &set, &err), -E2BIG);
	assert_non_null(strstr(err.why, "100 octets"));
}

static void
memory_and_figures_are_told(void **state)
{
	const struct dpi_rule rules[] = {
		{DPI_RULE_HOST, 1, 0, "a.example", {.flags = 0}},
		{DPI_RULE_SUFFIX, 1, 0, "a.example", {.flags = 0}},
		{DPI_RULE_SUFFIX, 1, 0, "b.example", {.flags = 0}},
		{DPI_RULE_URL_PATTERN, 1, 0, "abc", {.flags = 0}},
		{DPI_RULE_HOST_PATTERN, 1, 1, "a.c", {.flags = 0}},
		{DPI_RULE_HOST_PATTERN, 1, 1, "b.c", {.flags = 0}},
		{DPI_RULE_FLOW, 1, 0, NULL, {.flags = DPI_NET_IP4, .src = {{1}, 32}}},
	};
	struct dpi_set *set = built(rules, NB(rules));
	struct dpi_figures f;

	(void)state;
	dpi_set_figures(set, &f);
	assert_int_equal(f.hosts, 1);
	assert_int_equal(f.suffixes, 2);
	assert_int_equal(f.literals, 1);
	assert_int_equal(f.expressions, 2);
	assert_int_equal(f.flows, 1);
	assert_in_range(f.hosts_memory, 100, 10000);
	assert_in_range(f.patterns_memory, 1000, 100000);
	assert_in_range(f.flows_memory, 1000, 10000000);
	assert_true(dpi_set_memory(set) > f.hosts_memory + f.patterns_memory + f.flows_memory);
	dpi_set_free(set);
	dpi_set_free(NULL);
	dpi_scratch_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_and_domains),
		cmocka_unit_test(precedence),
		cmocka_unit_test(patterns_are_found_anywhere),
		cmocka_unit_test(host_patterns_have_no_case),
		cmocka_unit_test(whole_urls_are_at_the_start),
		cmocka_unit_test(flows_of_both_directions),
		cmocka_unit_test(a_set_without_rules),
		cmocka_unit_test(malformed_rules),
		cmocka_unit_test(malformed_flows),
		cmocka_unit_test(what_costs_too_much_is_refused_with_its_cost),
		cmocka_unit_test(a_set_that_costs_too_much_is_refused),
		cmocka_unit_test(memory_and_figures_are_told),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
