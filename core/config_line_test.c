/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever is wrong with a deployment, the message names its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "core/config_rig.h"

static const char sound[] = "name: x\n"
			    "ports:\n"
			    "  - name: n3\n"
			    "    preset: \"null\"\n"
			    "    framing: raw\n"
			    "  - name: user\n"
			    "    preset: ring\n"
			    "    peer: gen\n"
			    "  - name: gen\n"
			    "    framing: raw\n"
			    "    preset: ring\n"
			    "    peer: user\n"
			    "  - name: radio\n"
			    "    framing: raw\n"
			    "upf:\n"
			    "  - name: upf\n"
			    "    socket: /tmp/u.sock\n"
			    "    interfaces:\n"
			    "      - name: n3\n"
			    "        port: n3\n"
			    "        types:\n"
			    "          - access\n"
			    "          - core\n"
			    "        addresses:\n"
			    "          - 10.3.0.1/24\n"
			    "          - fd00::1/64\n"
			    "ue:\n"
			    "  - name: ue\n"
			    "    user_port: user\n"
			    "    phy_port: radio\n"
			    "    security:\n"
			    "      nea: 2\n"
			    "      key_enc: \"000102030405060708090a0b0c0d0e0f\"\n"
			    "    bearers:\n"
			    "      - id: 1\n"
			    "        qfis: [1, 2,\n"
			    "               3]\n"
			    "        pdcp:\n"
			    "          sn_bits: 18\n"
			    "        rlc: {mode: um}\n"
			    "lcores:\n"
			    "  - name: a\n"
			    "    cpu: 0\n"
			    "    governor: busy\n"
			    "  - name: b\n"
			    "    cpu: 1\n"
			    "place:\n"
			    "  - node: upf.*\n"
			    "    lcore: a\n"
			    "  - node: ue.*\n"
			    "    lcore: b\n";

static void
test_sound(void **state)
{
	(void)state;
	assert_null(problem(sound));
}

static void
test_missing_and_unknown_keys(void **state)
{
	(void)state;
	/* A key that is missing has the line its mapping begins at. */
	assert_spoiled(sound, "name: n3\n    preset", "preset", "ports[0]: Missing key: name");
	assert_spoiled(sound, "name: upf\n    socket: /tmp/u.sock", "name: upf",
		       "upf[0]: Missing key: socket");
	assert_spoiled(sound, "name: x\n", "\n", "Missing key: name");
	assert_spoiled(sound, "name: b\n    cpu", "cpu", "lcores[1]: Missing key: name");
	assert_spoiled(sound, "types:\n", "kinds:\n", "upf[0].interfaces[0]: Unexpected key");
}

static void
test_values_say_what_would_be_right(void **state)
{
	(void)state;
	assert_spoiled(sound, "busy", "slot_aware",
		       "slot_aware: give auto, busy, yield, adaptive or slot-aware");
	assert_spoiled(
		sound, "- core\n", "- cord\n",
		"upf[0].interfaces[0].types[1]: Invalid ENUM value: cord: give access, core,");
	assert_spoiled(sound, "um}", "xm}", "xm: give um, tm or am");
	assert_spoiled(sound, "3]", "300]", "up to 255");
	assert_spoiled(sound, "cpu: 1", "cpu: [1]",
		       "cpu: One value is needed, no list and no keys: give a whole number up to");
	assert_spoiled(sound, "cpu: 1", "cpu: one", "cpu: Invalid value: 'one': give a whole");
	assert_spoiled(sound, "cpu: 1", "cpu: 99999999999999999999",
		       "Invalid value: '(hidden)': give a whole number up to 4294967295");
	assert_spoiled(sound, "cpu: 1", "cpu:", "cpu: There is no value: give a whole number");
	assert_spoiled(sound, "name: b\n", "name: \"\"\n", "There is no value: give 1 to 40 ch");
	assert_spoiled(sound, "busy", "{}", "no keys: give auto, busy, yield, adaptive or");
	assert_spoiled(sound, "[1, 2,\n               3]", "1", "A list is needed");
	assert_spoiled(sound, "{mode: um}", "um", "Keys and their values are needed");
}

static void
test_checks_name_the_value(void **state)
{
	(void)state;
	assert_spoiled(sound, "preset: ring\n    peer: gen", "preset: ring", "needs 'peer'");
	assert_spoiled(sound, "peer: gen", "peer: other", "peer 'other'");
	assert_spoiled(sound, "- fd00::1/64", "- fd00::1", "addresses[1]: 'fd00::1'");
	assert_spoiled(sound, "3]", "64]", "qfi 64");
	assert_spoiled(sound, "sn_bits: 18", "sn_bits: 15", "pdcp.sn_bits 15");
	assert_spoiled(sound, "key_enc: \"0001", "key_enc: \"01", "32 hexadecimal digits");
	assert_spoiled(sound, "port: n3\n", "port: n4\n", "there is no port 'n4'");
	assert_spoiled(sound, "name: b\n", "name: a\n", "two of this name");
	assert_spoiled(sound, "name: ue\n", "name: upf\n", "two roles are called 'upf'");
	/* What was left out is in what it would be a part of. */
	assert_spoiled(sound,
		       "security:\n      nea: 2\n      key_enc:", "security:\n      nea: 2\n#",
		       "security.key_enc is missing");
}

static void
test_plans_name_the_value(void **state)
{
	(void)state;
	assert_spoiled(sound, "user_port: user", "user_port: nowhere", "no port 'nowhere'");
	assert_spoiled(sound, "framing: raw\nupf", "framing: ip\nupf", "must be raw");
	assert_spoiled(sound, "lcore: b\n", "lcore: c\n", "there is no lcore 'c'");
	assert_spoiled(sound, "node: ue.*", "node: eu.*", "there is no node 'eu.*'");
	assert_spoiled(sound, "node: ue.*", "node: \"*\"", "two owners");
}

static void
test_no_yaml(void **state)
{
	(void)state;
	assert_spoiled(sound, "    cpu: 1\n", "    cpu: 1: 2\n", "mapping values");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_missing_and_unknown_keys),
		cmocka_unit_test(test_values_say_what_would_be_right),
		cmocka_unit_test(test_checks_name_the_value),
		cmocka_unit_test(test_plans_name_the_value),
		cmocka_unit_test(test_no_yaml),
	};
	int rc;

	close(mkstemp(path));
	rc = cmocka_run_group_tests_name("config_line", tests, NULL, NULL);
	unlink(path);
	return rc;
}
