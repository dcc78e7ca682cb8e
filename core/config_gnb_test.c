/* SPDX-License-Identifier: BSD-3-Clause */
/* What a gNB's part of a deployment may say, and what its plan is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "core/plan.h"

/* Sound deployments; tests put other text where it says so. */
static const char *const sound =
	"name: t\n"
	"ports: [{name: n3, framing: raw}, {name: f1, framing: raw}]\n"
	"gnb_header:\n"
	"  - name: g\n"
	"    socket: /tmp/g.sock\n"
	"    workers: 2\n"
	"    interfaces:\n"
	"      - {name: a, type: n3, port: n3, addresses: [192.0.2.1/24]}\n"
	"      - {name: b, type: f1, port: f1, vlan: 9, addresses: [fd00::1/64]}\n"
	"    routes: [{interface: a, prefix: 10.0.0.0/8, via: 192.0.2.3}]\n"
	"lcores: [{name: x, cpu: 0}, {name: y, cpu: 0}]\n"
	"place: [{node: \"g.*_w0\", lcore: x}, {node: \"g.*_w1\", lcore: y}]\n";
static const char *const by_vfs =
	"name: t\n"
	"ports: [{name: v0, framing: raw}, {name: v1, framing: raw}]\n"
	"gnb_header:\n"
	"  - name: g\n"
	"    socket: /tmp/g.sock\n"
	"    vfs: [v0, v1]\n"
	"    interfaces:\n"
	"      - {name: a, type: n3, mac: \"02:00:00:00:00:03\", addresses: [192.0.2.1/24]}\n"
	"      - {name: b, type: f1, mac: \"02:00:00:00:00:07\", addresses: [198.51.100.1/24]}\n"
	"lcores: [{name: x, cpu: 0}, {name: y, cpu: 0}]\n"
	"place: [{node: \"g.*_w0\", lcore: x}, {node: \"g.*_w1\", lcore: y}]\n";

static char path[] = "/tmp/airpath_gnb_XXXXXX";

/** `text` with `from` turned to `to`. */
static struct ap_config *
load(const char *text, const char *from, const char *to, struct ap_error *err)
{
	const char *at = strstr(text, from);
	FILE *f = fopen(path, "w");

	assert_non_null(at);
	assert_non_null(f);
	fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	fclose(f);
	*err = (struct ap_error){0};
	return ap_config_load(path, err);
}

static void
defaults_are_filled_in(void **state)
{
	struct ap_error err;
	struct ap_config *cfg = load(sound, "name: t", "name: t", &err);
	const struct ap_cfg_gnb_header *g;

	(void)state;
	assert_non_null(cfg);
	g = &cfg->gnb_header[0];
	assert_int_equal(g->edge.sessions, 65536);
	assert_int_equal(g->drbs_per_session, 1);
	assert_int_equal(g->split, AP_GNB_SPLIT_RLC);
	assert_int_equal(g->edge.interfaces[1].side, AP_GNB_F1);
	assert_int_equal(g->edge.interfaces[0].mtu, 1500);
	assert_int_equal(cfg->ports[0].queues, 2);
	ap_config_free(cfg);
	cfg = load(by_vfs, "name: t", "name: t", &err);
	assert_non_null(cfg);
	assert_int_equal(cfg->gnb_header[0].edge.workers, 2);
	assert_int_equal(cfg->ports[0].queues, 1);
	ap_config_free(cfg);
}

static void
what_cannot_be_is_told(void **state)
{
	static const struct {
		const char *const *text;
		const char *from, *to, *why;
	} bad[] = {
		{&sound, "workers: 2", "workers: 33", "workers 33 must be 1..32"},
		{&sound, "workers: 2", "sessions: 2000000", "sessions 2000000 must be 1..1048576"},
		{&sound, "workers: 2", "drbs_per_session: 3", "drbs_per_session 3 must be 1, 2"},
		{&sound, "type: f1", "type: n3", "one of type n3 and one of type f1"},
		{&sound, "port: n3", "port: n9", "there is no port 'n9'"},
		{&sound, "port: n3,", "", "port: one is needed"},
		{&sound, "port: n3,", "port: n3, mac: \"02:00:00:00:00:01\",", "it is for 'vfs'"},
		{&sound, "interface: a", "interface: z", "gnb_header g: routes[0]: there is no"},
		{&sound, "{name: n3,", "{name: n3, queues: 1,", "each of 2 workers needs one"},
		{&by_vfs, "[v0, v1]", "[v0, v0]", "port v0 is there twice"},
		{&by_vfs, "[v0, v1]", "[v0, v2]", "there is no port 'v2'"},
		{&by_vfs, "vfs: [v0, v1]", "workers: 3\n    vfs: [v0, v1]", "each has one worker"},
		{&by_vfs, "type: n3,", "type: n3, port: v0,", "frames come by 'vfs'"},
		{&by_vfs, "00:07", "00:03", "belongs to interface a already"},
		{&by_vfs, "02:00:00:00:00:07", "00:00:00:00:00:00", "a unicast Ethernet address"},
		{&by_vfs, "02:00:00:00:00:07", "03:00:00:00:00:07", "a unicast Ethernet address"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ap_error err;
		struct ap_config *cfg = load(*bad[i].text, bad[i].from, bad[i].to, &err);

		assert_null(cfg);
		if (strstr(err.text, bad[i].why) == NULL)
			fail_msg("'%s' says nothing of '%s'", err.text, bad[i].why);
	}
}

static struct ap_plan *
planned(const char *text, const char *from, const char *to, struct ap_config **cfg,
	struct ap_error *err)
{
	*cfg = load(text, from, to, err);
	assert_non_null(*cfg);
	return ap_plan_make(*cfg, err);
}

static void
every_worker_has_a_chain(void **state)
{
	struct ap_error err;
	struct ap_config *cfg;
	struct ap_plan *p = planned(sound, "name: t", "name: t", &cfg, &err);

	(void)state;
	assert_non_null(p);
	/* Hand-offs each way, and nothing else crosses. */
	assert_int_equal(p->nb_cuts, 2);
	assert_non_null(ap_plan_find(p, "g.steer_w1"));
	assert_non_null(ap_plan_find(p, "g.rx_f1_w1"));
	ap_plan_free(p);
	ap_config_free(cfg);
	p = planned(by_vfs, "name: t", "name: t", &cfg, &err);
	assert_non_null(p);
	assert_non_null(ap_plan_find(p, "g.rx_v1_w1"));
	assert_null(ap_plan_find(p, "g.rx_v1_w0"));
	ap_plan_free(p);
	ap_config_free(cfg);
}

static void
a_worker_belongs_to_one_lcore(void **state)
{
	struct ap_error err;
	struct ap_config *cfg;

	(void)state;
	assert_null(
		planned(sound, "place: [", "place: [{node: g.hdr_tx_w0, lcore: y}, ", &cfg, &err));
	assert_non_null(strstr(err.text, "a worker's sessions belong to one lcore"));
	ap_config_free(cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(what_cannot_be_is_told),
		cmocka_unit_test(every_worker_has_a_chain),
		cmocka_unit_test(a_worker_belongs_to_one_lcore),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
