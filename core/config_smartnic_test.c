/* SPDX-License-Identifier: BSD-3-Clause */
/* What a SmartNIC's part of a deployment may say, and what its plan is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "core/plan.h"

static const char *const sound =
	"name: t\n"
	"ports: [{name: wire, framing: raw}, {name: v0, preset: ring, peer: n0, framing: raw},\n"
	"  {name: v1, preset: ring, peer: n1, framing: raw},\n"
	"  {name: n0, preset: ring, peer: v0, framing: raw},\n"
	"  {name: n1, preset: ring, peer: v1, framing: raw}, {name: cooked}]\n"
	"gnb_header:\n"
	"  - name: g\n"
	"    socket: /tmp/g.sock\n"
	"    vfs: [v0, v1]\n"
	"    interfaces:\n"
	"      - {name: a, type: n3, mac: \"02:00:00:00:00:03\", addresses: [192.0.2.1/24]}\n"
	"      - {name: b, type: f1, mac: \"02:00:00:00:00:07\", addresses: [198.51.100.1/24]}\n"
	"smartnic: [{name: s, gnb: g, wire: wire, vfs: [n0, n1], offload_percent: 0}]\n"
	"lcores: [{name: x, cpu: 0}, {name: y, cpu: 0}]\n"
	"place: [{node: \"g.*\", lcore: x}, {node: \"s.*\", lcore: y}]\n";

static char path[] = "/tmp/airpath_smartnic_XXXXXX";

static struct ap_plan *
plan(const char *from, const char *to, struct ap_config **cfg, struct ap_error *err)
{
	const char *at = strstr(sound, from);
	FILE *f = fopen(path, "w");

	assert_non_null(at);
	assert_non_null(f);
	fprintf(f, "%.*s%s%s", (int)(at - sound), sound, to, at + strlen(from));
	fclose(f);
	*err = (struct ap_error){0};
	*cfg = ap_config_load(path, err);
	return *cfg ? ap_plan_make(*cfg, err) : NULL;
}

static void
a_sound_one_is_planned(void **state)
{
	struct ap_config *cfg;
	struct ap_error err;
	struct ap_plan *p = plan("name: t", "name: u", &cfg, &err);

	(void)state;
	assert_string_equal(err.text, "");
	assert_non_null(p);
	assert_int_equal(cfg->smartnic[0].mark, AP_SMARTNIC_MARK_SHARE);
	assert_int_equal(cfg->smartnic[0].offload_percent, 0);
	assert_non_null(ap_plan_find(p, "s.vf1_tx"));
	assert_ptr_equal(ap_plan_find(p, "s.wire")->links[2].to, ap_plan_find(p, "s.vf1_tx"));
	assert_non_null(ap_plan_find(p, "g.vf_w1"));
	assert_ptr_equal(ap_plan_find(p, "s.host")->lcore, ap_plan_find(p, "s.wire")->lcore);
	ap_plan_free(p);
	ap_config_free(cfg);
}

static void
what_is_wrong_is_said(void **state)
{
	static const char *const bad[][3] = {
		{"gnb: g,", "gnb: h,", "there is no gnb_header 'h'"},
		{"wire: wire", "wire: wine", "there is no port 'wine'"},
		{"wire: wire", "wire: cooked", "framing must be raw"},
		{"[n0, n1]", "[n0]", "gnb_header g has 2"},
		{"[n0, n1]", "[n0, v1]", "the gNB's end"},
		{"[n0, n1]", "[n1, n0]", "vfs[0]: n1, but vfs[0] of gnb_header g is v0, whose"},
		{"[n0, n1]", "[n0, n0]", "is there twice"},
		{"offload_percent: 0", "offload_percent: 101", "must be 0..100"},
		{"offload_percent: 0", "offload_percent: 5, mark: sender", "is for mark share"},
		{"[192.0.2.1/24]", "[\"fd00::1/64\"]", "no n3 interface with an IPv4 address"},
		{"{name: s, gnb: g,", "{name: g, gnb: g,", "two roles"},
		{"{node: \"s.*\", lcore: y}", "{node: \"s.*\", lcore: y}, {node: s.host, lcore: x}",
		 "runs on one lcore"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ap_config *cfg;
		struct ap_error err;
		struct ap_plan *p = plan(bad[i][0], bad[i][1], &cfg, &err);

		assert_null(p);
		if (strstr(err.text, bad[i][2]) == NULL)
			fail_msg("%s: \"%s\"", bad[i][1], err.text);
		if (cfg)
			ap_config_free(cfg);
	}
}

static int
setup(void **state)
{
	(void)state;
	return close(mkstemp(path));
}

static int
teardown(void **state)
{
	(void)state;
	return unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_one_is_planned),
		cmocka_unit_test(what_is_wrong_is_said),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
