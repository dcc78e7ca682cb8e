/* SPDX-License-Identifier: BSD-3-Clause */
/* A gNB and its UEs, and two UEs, of one file: what differs is told, each by its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "core/config_rig.h"

#define RADIO                                                                                      \
	"name: x\nports:\n"                                                                        \
	"  - {name: u0, preset: \"null\"}\n"                                                       \
	"  - {name: r0, preset: ring, peer: a0, framing: raw}\n"                                   \
	"  - {name: a0, preset: ring, peer: r0, framing: raw}\n"                                   \
	"  - {name: r1, preset: ring, peer: a1, framing: raw}\n"                                   \
	"  - {name: a1, preset: ring, peer: r1, framing: raw}\n"
#define KEYS                                                                                       \
	"    security:\n"                                                                          \
	"      nea: 2\n"                                                                           \
	"      nia: 2\n"                                                                           \
	"      key_enc: \"000102030405060708090a0b0c0d0e0f\"\n"                                    \
	"      key_int: \"101112131415161718191a1b1c1d1e1f\"\n"
#define BEARERS                                                                                    \
	"    bearers:\n"                                                                           \
	"      - id: 1\n"                                                                          \
	"        lcid: 4\n"                                                                        \
	"        sdap: {ul_header: on}\n"                                                          \
	"        pdcp:\n"                                                                          \
	"          integrity: true\n"                                                              \
	"          sn_bits: 18\n"                                                                  \
	"        rlc:\n"                                                                           \
	"          mode: um\n"                                                                     \
	"          sn_bits: 12\n"                                                                  \
	"      - id: 2\n"
#define REST                                                                                       \
	"lcores: [{name: l, cpu: 0}]\n"                                                            \
	"place: [{node: \"*\", lcore: l}]\n"

/* The UE comes last, so that what is spoiled is the gNB's: the messages are about that. */
static const char cell[] = RADIO "  - {name: u1, preset: \"null\"}\n"
				 "gnb:\n  - name: gnb\n    user_port: u1\n    phy_port: r1\n"
				 "    ues: 2\n    tb_bytes: [9000]\n    address: 10.60.0.1\n"
				 "    address6: \"fd60::\"\n" KEYS BEARERS
				 "ue:\n  - name: ue\n    user_port: u0\n    phy_port: r0\n"
				 "    count: 2\n    sr: {prohibit_ms: 4}\n    address: 10.60.0.1\n"
				 "    address6: \"fd60::\"\n" KEYS BEARERS
				 "phy: [{name: phy, port: a0, port2: a1, side: gnb, ues: 2, "
				 "tb_bytes: [9000]}]\n" REST;

static const char n3[] =
	RADIO "  - {name: n3, preset: \"null\", framing: raw}\n"
	      "gnb:\n  - name: gnb\n    phy_port: r1\n    socket: /tmp/g.sock\n"
	      "    ues: 2\n    tb_bytes: [9000]\n"
	      "    interfaces: [{name: n3, type: n3, port: n3, "
	      "addresses: [10.3.0.2/24]}]\n" KEYS BEARERS
	      "ue:\n  - name: ue\n    user_port: u0\n    phy_port: r0\n"
	      "    count: 2\n    sr: {prohibit_ms: 4}\n    address: 10.60.0.1\n" KEYS BEARERS
	      "phy: [{name: phy, port: a0, port2: a1, side: gnb, ues: 2, "
	      "tb_bytes: [9000]}]\n" REST;

static const char twins[] = RADIO
	"  - {name: u1, preset: \"null\"}\n"
	"ue:\n"
	"  - name: near\n    user_port: u1\n    phy_port: r1\n"
	"    loopback: true\n" KEYS BEARERS "  - name: far\n    user_port: u0\n    phy_port: r0\n"
	"    loopback: true\n" KEYS BEARERS
	"phy: [{name: phy, port: a1, port2: a0, tb_bytes: [9000]}]\n" REST;

static void
test_sound(void **state)
{
	(void)state;
	assert_null(problem(cell));
	assert_null(problem(n3));
	assert_null(problem(twins));
}

static void
test_bearers_are_the_same(void **state)
{
	static const char *const files[] = {cell, n3, twins};
	static const struct {
		const char *from, *to, *says;
	} bad[] = {
		{"lcid: 4", "lcid: 9", "bearer 1: lcid is 9, but 4 of ue "},
		{"sdap: {ul_header: on}", "sdap: {ul_header: off}",
		 "sdap.ul_header is off, but on"},
		{"sdap: {ul_header: on}", "sdap: {dl_header: off}",
		 "sdap.dl_header is off, but on"},
		{"integrity: true", "integrity: false", "pdcp.integrity is false, but true"},
		{"sn_bits: 18", "sn_bits: 12", "pdcp.sn_bits is 12, but 18"},
		{"mode: um", "mode: am", "rlc.mode is am, but um"},
		{"sn_bits: 12", "sn_bits: 6", "rlc.sn_bits is 6, but 12"},
		{"id: 2", "id: 3", "has bearer 3, ue "},
	};

	(void)state;
	for (size_t f = 0; f < 3; f++)
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			assert_spoiled(files[f], bad[i].from, bad[i].to, bad[i].says);
	/* One that the gNB lacks: the line is the UE's. */
	assert_spoiled(cell, "      - id: 2\nphy: [", "      - id: 3\nphy: [",
		       "ue ue: has bearer 3, gnb gnb (line 22) has not");
}

static void
test_keys_are_the_same(void **state)
{
	(void)state;
	assert_spoiled(cell, "nea: 2", "nea: 1",
		       "gnb gnb: security.nea is 1, but 2 of ue ue (line 42)");
	assert_spoiled(twins, "nia: 2", "nia: 3", "security.nia is 3, but 2 of ue far");
	assert_spoiled(cell, "key_enc: \"00", "key_enc: \"01",
		       "security.key_enc is not that of ue ue");
	assert_spoiled(cell, "key_int: \"10", "key_int: \"11",
		       "security.key_int is not that of ue ue");
}

static void
test_keys_are_not_told(void **state)
{
	char text[8192];
	const char *at = strstr(cell, "key_enc: \"0001"), *says;

	(void)state;
	snprintf(text, sizeof(text), "%.*skey_enc: \"ff%s", (int)(at - cell), cell,
		 at + strlen("key_enc: \"00"));
	says = problem(text);
	assert_non_null(says);
	assert_null(strstr(says, "ff01"));
	assert_null(strstr(says, "0001"));
}

/** Contexts of a gNB with N3 may bring keys: nothing is refused, but it is said. */
static void
test_n3_keys_are_a_warning(void **state)
{
	char text[8192];
	const char *at = strstr(n3, "nea: 2");
	struct ap_error err;
	struct ap_config *cfg;
	FILE *f;

	(void)state;
	snprintf(text, sizeof(text), "%.*snea: 1%s", (int)(at - n3), n3, at + strlen("nea: 2"));
	assert_null(problem(text));
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	cfg = ap_config_load(path, &err);
	assert_non_null(cfg);
	assert_non_null(cfg->warnings);
	assert_non_null(strstr(cfg->warnings, ": warning: unless contexts bring others: gnb gnb: "
					      "security.nea is 1, but 2 of ue ue"));
	ap_config_free(cfg);
}

static void
test_addresses_are_the_same(void **state)
{
	const char *v6 = strstr(cell, "    address6: ");
	char text[8192];

	(void)state;
	assert_spoiled(cell, "address: 10.60.0.1", "address: 10.60.1.1",
		       "address is 10.60.1.1, but 10.60.0.1 of ue ue");
	assert_spoiled(cell, "address6: \"fd60::\"\n", "address6: \"fd60:1::\"\n",
		       "but fd60:: of ue");
	/* One family each: what comes for the UEs is no UE's. */
	snprintf(text, sizeof(text), "%.*s%s", (int)(v6 - cell), cell, strchr(v6, '\n') + 1);
	assert_problem(text, "gnb gnb: ", "address6 is none, but fd60:: of ue ue");
}

/** What N3 is made of is nothing to the PDU sessions in it (TS 29.281 §4.2.1, TS 23.501 §5.8.2.2).
 */
static void
test_n3_family_is_not_the_ues(void **state)
{
	const char *from = strstr(n3, "10.3.0.2/24"), *ue = strstr(n3, "    address: 10.60.0.1\n");
	const char *const families[] = {"    address: 10.60.0.1\n", "    address6: \"fd60::\"\n"};
	char text[8192];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%.*s%s%.*s%s%s", (int)(from - n3), n3,
			 i == 0 ? "\"fd03::2/64\"" : "10.3.0.2/24", (int)(ue - from - 11),
			 from + 11, families[i], ue + strlen(families[0]));
		assert_null(problem(text));
	}
}

static void
test_all_differences_are_told(void **state)
{
	char text[8192];
	const char *from = strstr(cell, "nea: 2"), *mode = strstr(cell, "mode: um"), *says;
	unsigned lines = 0;

	(void)state;
	snprintf(text, sizeof(text), "%.*snea: 3%.*smode: am%s", (int)(from - cell), cell,
		 (int)(mode - from - 6), from + 6, mode + 8);
	says = problem(text);
	assert_non_null(says);
	for (const char *c = says; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 1);
	assert_non_null(strstr(says, "security.nea is 3"));
	assert_non_null(strstr(says, "rlc.mode is am"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_bearers_are_the_same),
		cmocka_unit_test(test_keys_are_the_same),
		cmocka_unit_test(test_keys_are_not_told),
		cmocka_unit_test(test_n3_keys_are_a_warning),
		cmocka_unit_test(test_addresses_are_the_same),
		cmocka_unit_test(test_n3_family_is_not_the_ues),
		cmocka_unit_test(test_all_differences_are_told),
	};
	int rc;

	close(mkstemp(path));
	rc = cmocka_run_group_tests_name("config_pair", tests, NULL, NULL);
	unlink(path);
	return rc;
}
