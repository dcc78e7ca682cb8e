/* SPDX-License-Identifier: BSD-3-Clause */
/* What a upf's part of a deployment may say, and what its plan is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "core/plan.h"

/* A sound deployment; tests put other text where it says so. */
static const char *const sound =
	"name: t\n"
	"ports: [{name: n3, framing: raw}, {name: n6, framing: raw}]\n"
	"upf:\n"
	"  - name: u\n"
	"    socket: /tmp/u.sock\n"
	"    workers: 2\n"
	"    interfaces:\n"
	"      - {name: a, port: n3, addresses: [192.0.2.1/24]}\n"
	"      - {name: b, port: n3, vlan: 9, addresses: [fd00::1/64]}\n"
	"      - {name: c, port: n6, addresses: [198.51.100.1/24], "
	"gateways: [198.51.100.2], mtu: 1400}\n"
	"    routes: [{interface: c, prefix: 10.0.0.0/8, via: 198.51.100.3}]\n"
	"    neighbours: [{interface: c, address: 198.51.100.3, "
	"mac: \"02:00:00:00:00:01\"}]\n"
	"lcores: [{name: x, cpu: 0}, {name: y, cpu: 0}]\n"
	"place: [{node: \"u.*_w0\", lcore: x}, {node: \"u.*_w1\", lcore: y}]\n";

static char path[] = "/tmp/airpath_upf_XXXXXX";

/** The sound text with `from` turned to `to`. */
static struct ap_config *
load(const char *from, const char *to, struct ap_error *err)
{
	const char *at = strstr(sound, from);
	FILE *f = fopen(path, "w");

	assert_non_null(at);
	assert_non_null(f);
	fprintf(f, "%.*s%s%s", (int)(at - sound), sound, to, at + strlen(from));
	fclose(f);
	return ap_config_load(path, err);
}

static void
defaults_are_filled_in(void **state)
{
	struct ap_error err;
	struct ap_config *cfg = load("name: t", "name: t", &err);
	struct ap_plan *p;

	(void)state;
	assert_non_null(cfg);
	assert_int_equal(cfg->upf[0].sessions, 1 << 20);
	assert_int_equal(cfg->upf[0].flows, 1 << 20);
	assert_int_equal(cfg->upf[0].session_flows, 4096);
	assert_int_equal(cfg->upf[0].dpi.scans, 4096);
	assert_int_equal(cfg->upf[0].dpi.on_bad, AP_DPI_OPEN);
	assert_int_equal(cfg->upf[0].interfaces[0].mtu, 1500);
	assert_int_equal(cfg->ports[0].queues, 2);
	p = ap_plan_make(cfg, &err);
	assert_non_null(p);
	/* Steer of each worker leads to match of the other by a cut each way; nothing else is cut.
	 */
	assert_int_equal(p->nb_cuts, 2);
	assert_non_null(ap_plan_find(p, "u.tx_n6_w1"));
	assert_non_null(ap_plan_find(p, "u.steer_w0>match_w1"));
	ap_plan_free(p);
	ap_config_free(cfg);
}

static void
dispatchers_hand_to_every_worker(void **state)
{
	struct ap_error err;
	struct ap_config *cfg;

	(void)state;
	cfg = load("    workers: 2\n",
		   "    workers: 2\n    steering: software\n    dispatchers: 3\n", &err);
	assert_non_null(cfg);
	assert_int_equal(cfg->ports[1].queues, 3);
	assert_null(ap_plan_make(cfg, &err));
	assert_non_null(strstr(err.text, "is on no lcore"));
	ap_config_free(cfg);
}

/** A neighbour in one network instance has the address that is ours in another. */
static void
networks_apart_share_addresses(void **state)
{
	struct ap_error err = {0};
	struct ap_config *cfg = load("addresses: [fd00::1/64]}\n      - {name: c, port: n6, ",
				     "addresses: [198.51.100.3/24], network_instances: [ims]}\n"
				     "      - {name: c, port: n6, network_instances: [internet], ",
				     &err);

	(void)state;
	if (cfg == NULL)
		fail_msg("refused: %s", err.text);
	ap_config_free(cfg);
}

static void
mistakes_are_named(void **state)
{
	static const struct {
		const char *from, *to, *says;
	} bad[] = {
		{"workers: 2", "workers: 33", "workers 33 must be 1..32"},
		{"workers: 2", "workers: 0", ":6: upf[0].workers: 0 is no value"},
		{"workers: 2", "sessions: 0", ":6: upf[0].sessions: 0 is no value"},
		{"workers: 2", "burst_bytes: 0", "upf[0].burst_bytes: 0 is no value"},
		{"workers: 2", "dispatchers: 0", "upf[0].dispatchers: 0 is no value"},
		{"workers: 2", "error_indications_s: 0", "error_indications_s: 0 is no value"},
		{"mtu: 1400", "mtu: 0", "upf[0].interfaces[2].mtu: 0 is no value"},
		{"workers: 2", "dispatchers: 2", "dispatchers are for steering software"},
		{"workers: 2", "steering: magic", "steering"},
		{"workers: 2", "sessions: 20000000", "sessions 20000000"},
		{"workers: 2", "buffer_packets: 10", "buffer_packets"},
		{"workers: 2", "reassembly_ms: 70000", "reassembly"},
		{"workers: 2", "flows: 0", "upf[0].flows: 0 is no value"},
		{"workers: 2", "flows: 100000000", "flows must be"},
		{"workers: 2", "session_flows: 2000000", "session_flows not more"},
		{"workers: 2", "dpi: {scans: 65536}", "scans 1..65535"},
		{"workers: 2", "dpi: {on_bad: shut}", "on_bad"},
		{"framing: raw}, ", "framing: raw, queues: 1}, ", "queues 1, but each worker"},
		{"framing: raw}, ", "framing: ethernet}, ", "framing must be raw"},
		{"port: n6", "port: n9", "there is no port 'n9'"},
		{"name: b", "name: a", "two interfaces are called 'a'"},
		{"vlan: 9", "vlan: 0", "belongs to interface a already"},
		{"vlan: 9", "vlan: 4095", "vlan 4095"},
		{"[192.0.2.1/24]", "[192.0.2.1/24], lan: true",
		 "interface a: lan: it carries frames"},
		{"[192.0.2.1/24]", "[192.0.2.1/33]", "'192.0.2.1/33' is not address/bits"},
		{"[192.0.2.1/24]", "[]", "at least one is needed"},
		{"[192.0.2.1/24]", "[192.0.2.1]", "'192.0.2.1' is not address/bits"},
		{"[192.0.2.1/24]", "[192.0.2.0/24]", "192.0.2.0/24 is no host's address"},
		{"[192.0.2.1/24]", "[224.0.0.1/24]", "224.0.0.1/24 is no host's address"},
		{"[fd00::1/64]", "[\"::/0\"]", "::/0 is no host's address"},
		{"[192.0.2.1/24]", "[198.51.100.1/24]", "has an address of interface a too"},
		{"[198.51.100.2]", "[198.51.101.2]", "not another host on the link"},
		{"[198.51.100.2]", "[198.51.100.1]", "not another host on the link"},
		{"10.0.0.0/8", "10.0.0.1/8", "has bits set behind its 8"},
		{"10.0.0.0/8", "10.0.0.0", "is not address/bits"},
		{"[198.51.100.2]", "[198.51.100.2/24]", "is not an address"},
		{"[198.51.100.2]", "[198.51.100.2, 198.51.100.9]", "two of one family"},
		{"mtu: 1400", "mtu: 500", "mtu 500"},
		{"{interface: c, prefix", "{interface: z, prefix", "there is no interface 'z'"},
		{"via: 198.51.100.3", "via: fd00::3", "is not an address of the prefix's family"},
		{"via: 198.51.100.3", "via: 203.0.113.3", "via 203.0.113.3 is not another host"},
		{"via: 198.51.100.3", "via: 198.51.100.1", "via 198.51.100.1 is not another host"},
		{"02:00:00:00:00:01", "00:00:00:00:00:00", "no unicast Ethernet address"},
		{"[192.0.2.1/24]", "[192.0.2.255/24]", "192.0.2.255/24 is no host's address"},
		{"[192.0.2.1/24]", "[127.0.0.1/8]", "127.0.0.1/8 is no host's address"},
		{"[fd00::1/64]", "[\"::1/64\"]", "::1/64 is no host's address"},
		{"[192.0.2.1/24]", "[192.0.2.1/24, 192.0.2.1/28]", "192.0.2.1/28 is there twice"},
		{"address: 198.51.100.3,", "address: 192.0.2.1,",
		 "192.0.2.1 is an address of our own"},
		{"address: 198.51.100.3,",
		 "address: 198.51.100.3, mac: \"02:00:00:00:00:02\"}, {interface: c, address: "
		 "198.51.100.3,",
		 "198.51.100.3 is neighbours[0] already"},
		{"{name: n6,", "{name: n6, mac: \"02:00:00:00:00:01\",",
		 "mac 02:00:00:00:00:01 is our own on interface c"},
		{"10.0.0.0/8", "10.0.0.0/x", "is not address/bits"},
		{"02:00:00:00:00:01", "03:00:00:00:00:01", "no unicast Ethernet address"},
		{"/tmp/u.sock",
		 "/tmp/"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "at most 107 characters"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ap_error err = {0};
		struct ap_config *cfg = load(bad[i].from, bad[i].to, &err);

		if (cfg != NULL)
			fail_msg("'%s' is accepted", bad[i].to);
		if (strstr(err.text, bad[i].says) == NULL || strncmp(err.text, path, 10) != 0)
			fail_msg("'%s': says %s", bad[i].to, err.text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(dispatchers_hand_to_every_worker),
		cmocka_unit_test(networks_apart_share_addresses),
		cmocka_unit_test(mistakes_are_named),
	};
	int fd = mkstemp(path), rc;

	if (fd < 0)
		return 1;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
