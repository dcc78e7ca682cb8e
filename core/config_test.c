/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "core/plan.h"

/** A sound deployment, of which every test spoils one thing. */
#define PORTS                                                                                      \
	"ports:\n"                                                                                 \
	"  - {name: gen, preset: ring, peer: user, framing: raw}\n"                                \
	"  - {name: user, preset: ring, peer: gen}\n"                                              \
	"  - {name: radio, preset: ring, peer: phy, framing: raw}\n"                               \
	"  - {name: phy, preset: ring, peer: radio, framing: raw}\n"
#define UE                                                                                         \
	"ue:\n"                                                                                    \
	"  - name: ue\n"                                                                           \
	"    user_port: user\n"                                                                    \
	"    phy_port: radio\n"                                                                    \
	"    carriers: 2\n"                                                                        \
	"    bearers: [{id: 1, default: true}]\n"
#define LCORES "lcores: [{name: a, cpu: 0}, {name: b, cpu: 0}]\n"
#define PLACE "place:\n  - {node: \"ue.*\", lcore: a}\n  - {node: ue.pdcp_tx, lcore: b}\n"

static char path[] = "/tmp/airpath_config_XXXXXX";

static const char *
problem(const char *yaml)
{
	static struct ap_error err;
	struct ap_config *cfg;
	struct ap_plan *p;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(yaml, f);
	fclose(f);
	cfg = ap_config_load(path, &err);
	if (cfg == NULL)
		return err.text;
	p = ap_plan_make(cfg, &err);
	ap_plan_free(p);
	ap_config_free(cfg);
	return p ? NULL : err.text;
}

static void
assert_problem(const char *yaml, const char *where, const char *why)
{
	const char *text = problem(yaml);

	if (text == NULL)
		fail_msg("accepted, expected '%s'", why);
	if (strncmp(text, path, strlen(path)) != 0 || !strstr(text, where) || !strstr(text, why))
		fail_msg("'%s' does not name '%s' and '%s'", text, where, why);
}

static void
test_sound(void **state)
{
	(void)state;
	assert_null(problem("name: x\n" PORTS UE LCORES PLACE));
}

static void
test_yaml_errors_name_line_and_path(void **state)
{
	(void)state;
	assert_problem("name: x\nprots: []\n", ":2:", "Unexpected key: prots");
	assert_problem("name: x\nports:\n  - {name: a, preset: rong}\n" LCORES PLACE,
		       ":3: ports[0].preset", "rong");
	assert_problem("name: x\nburst: many\n" LCORES PLACE, ":2: burst", "many");
	assert_problem("name: x\n" PORTS UE LCORES, "", "place");
	assert_problem("name: [\n", "", "");
	assert_problem("", "", "");
}

static void
test_bearers(void **state)
{
	(void)state;
#define WITH(b)                                                                                    \
	"name: x\n" PORTS "ue:\n  - {name: ue, user_port: user, phy_port: radio, bearers: [" b     \
	"]}\n" LCORES PLACE
	assert_problem(WITH("{id: 1}, {id: 1, lcid: 9}"), "bearer 1", "two owners");
	assert_problem(WITH("{id: 1, lcid: 5}, {id: 2}"), "bearer 2", "lcid 5");
	assert_problem(WITH("{id: 0}"), "bearer 0", "1..32");
	assert_problem(WITH("{id: 1, lcid: 3}"), "bearer 1", "4..32");
	assert_problem(WITH("{id: 1, default: true}, {id: 2, default: true}"), "ue ue", "default");
	assert_problem(WITH("{id: 1, pdcp: {sn_bits: 15}}"), "bearer 1", "12 or 18");
	assert_problem(WITH("{id: 1, pdcp: {sn_bits: 12, discard_ms: 9}, rlc: {queue_sdus: 2048}}"),
		       "bearer 1", "queue_sdus must be at most 1024");
	assert_problem(WITH("{id: 1, rlc: {mode: am, queue_sdus: 131072}}"), "bearer 1",
		       "queue_sdus must be at most 65536");
	assert_problem(WITH("{id: 1, rlc: {sn_bits: 18}}"), "bearer 1", "6 or 12");
	assert_problem(WITH("{id: 1, rlc: {mode: am, sn_bits: 6}}"), "bearer 1", "12 or 18");
	assert_problem(WITH("{id: 1, rlc: {mode: am, max_retx_threshold: 33}}"), "bearer 1",
		       "max_retx_threshold 33");
	assert_problem(WITH("{id: 1, rlc: {mode: am, t_poll_retransmit_ms: 10001}}"), "bearer 1",
		       "t_poll_retransmit_ms 10001");
	assert_problem(WITH("{id: 1, rlc: {mode: am, t_status_prohibit_ms: 10001}}"), "bearer 1",
		       "t_status_prohibit_ms 10001");
	assert_problem(WITH("{id: 1, rlc: {t_reassembly_ms: 10001}}"), "bearer 1",
		       "t_reassembly_ms 10001");
	assert_problem(WITH("{id: 1, rlc: {poll_pdu: 4}}"), "bearer 1", "for mode am");
	assert_problem(WITH("{id: 1, rlc: {queue_sdus: 1000}}"), "bearer 1", "power of 2");
	assert_problem(WITH("{id: 1, qfis: [64]}"), "bearer 1", "0..63");
	assert_problem(WITH("{id: 1, mac: {serving_cells: [1]}}"), "bearer 1", "carrier 1");
	assert_problem(WITH("{id: 1, mac: {scs: [5]}}"), "bearer 1", "0..4");
	assert_problem(WITH("{id: 1, mac: {max_pusch_us: 501}}"), "bearer 1", "20..500");
}

static void
test_placement(void **state)
{
	(void)state;
	assert_problem("name: x\n" PORTS UE LCORES "place: [{node: ue.pdcp_tx, lcore: b}]\n",
		       "node ue.", "is on no lcore");
	assert_problem("name: x\n" PORTS UE LCORES PLACE "  - {node: ue.pdcp_tx, lcore: a}\n",
		       "ue.pdcp_tx", "two owners");
	assert_problem("name: x\n" PORTS UE LCORES PLACE "  - {node: ue.nosuch, lcore: a}\n",
		       "place[2]", "ue.nosuch");
	assert_problem("name: x\n" PORTS UE LCORES PLACE "  - {node: ue.rlc_tx, lcore: c}\n",
		       "place[2]", "no lcore 'c'");
	assert_problem("name: x\n" PORTS UE
		       "lcores: [{name: a, cpu: 0}, {name: b, cpu: 0}, {name: c, cpu: 0}]\n" PLACE,
		       "lcore c", "no node");
	assert_problem("name: x\n" PORTS UE
		       "lcores: [{name: a, cpu: 0}, {name: a, cpu: 1}]\n" PLACE,
		       "lcore a", "two of this name");
}

static void
test_ports(void **state)
{
	(void)state;
#define PORT(p) "name: x\nports:\n  - {name: user, " p "}\n" UE LCORES PLACE
	assert_problem(PORT("preset: ring, peer: nobody"), "port user", "peer 'nobody'");
	assert_problem(PORT("preset: ring"), "port user", "needs 'peer'");
	assert_problem(PORT("preset: af_packet"), "port user", "needs 'iface'");
	assert_problem(PORT("preset: pci"), "port user", "needs 'address'");
	assert_problem(PORT("preset: pcap"), "port user", "rx_file");
	assert_problem("name: x\n" UE LCORES PLACE, "user_rx", "no port 'user'");
	assert_problem("name: x\n" PORTS UE "  - name: ue2\n    user_port: user\n"
		       "    phy_port: radio\n    bearers: [{id: 1}]\n" LCORES PLACE,
		       "port user", "two owners");
}

#define SECURED(security, pdcp)                                                                    \
	"name: x\n" PORTS                                                                          \
	"ue:\n  - {name: ue, user_port: user, phy_port: radio, security: {" security               \
	"}, bearers: [{id: 1, default: true, pdcp: {" pdcp "}}]}\n" LCORES PLACE
#define KEY "\"000102030405060708090a0b0c0d0e0F\""

static void
test_security(void **state)
{
	const char *text;

	(void)state;
	assert_null(problem(SECURED("nea: 2, key_enc: " KEY, "")));
	assert_null(problem(SECURED("nia: 2, key_int: " KEY, "integrity: true")));
	assert_problem(SECURED("nea: 4, key_enc: " KEY, ""), "ue ue", "0..3");
	assert_problem(SECURED("nea: 1", ""), "ue ue", "security.key_enc is missing");
	assert_problem(SECURED("nia: 3", ""), "ue ue", "security.key_int is missing");
	assert_problem(SECURED("nea: 1, key_enc: " KEY, "integrity: true"), "bearer 1",
		       "security.nia");
	assert_null(problem(SECURED("engine: cryptodev, cryptodev: crypto_aesni_mb", "")));
	assert_problem(SECURED("engine: fast", ""), "security.engine", "fast");
	assert_problem(SECURED("cryptodev: crypto_openssl, engine: multi_buffer", ""), "ue ue",
		       "security.");
	text = problem(SECURED("nea: 1, key_enc: \"0001secret\"", ""));
	assert_non_null(strstr(text, "32 hexadecimal digits"));
	assert_null(strstr(text, "secret"));
}

static void
test_key(void **state)
{
	uint8_t key[AP_CFG_KEY_LEN];

	(void)state;
	assert_int_equal(ap_config_key("000102030405060708090a0b0c0d0e0F", key), 0);
	for (uint8_t i = 0; i < sizeof(key); i++)
		assert_int_equal(key[i], i);
	assert_int_equal(ap_config_key("000102030405060708090a0b0c0d0e", key), -EINVAL);
	assert_int_equal(ap_config_key("000102030405060708090a0b0c0d0e0F0", key), -EINVAL);
	assert_int_equal(ap_config_key("000102030405060708090a0b0c0d0e0 ", key), -EINVAL);
	assert_int_equal(ap_config_key("0x0102030405060708090a0b0c0d0e0F", key), -EINVAL);
}

static void
test_joined_roles(void **state)
{
	(void)state;
#define JOINED(ue, phy)                                                                            \
	"name: x\nports:\n  - {name: user}\n  - {name: r, preset: ring, peer: p, framing: raw}\n"  \
	"  - {name: p, preset: ring, peer: r, framing: raw}\n"                                     \
	"ue:\n  - {name: ue, user_port: user, phy_port: r, bearers: [{id: 1}]" ue "}\n"            \
	"phy:\n  - {name: phy, port: p, " phy "}\n"                                                \
	"lcores: [{name: a, cpu: 0}]\nplace: [{node: \"*\", lcore: a}]\n"
	assert_null(problem(JOINED("", "tb_bytes: [100]")));
	assert_problem(JOINED("", "tb_bytes: [100, 100]"), "phy phy: tb_bytes", "2 carriers");
	assert_problem(JOINED(", numerology: 1", "tb_bytes: [100], numerology: 2"), "phy phy",
		       "numerology 2");
	assert_null(problem(JOINED(", harq: {max_tx: 3}", "tb_bytes: [100], soft_loss: 0.1")));
	assert_problem(JOINED("", "tb_bytes: [100], soft_loss: 0.1"), "phy phy", "harq");
	assert_problem(JOINED("", "tb_bytes: [100], harq: {processes: 4}"), "harq.processes 4",
		       "has 0");
	assert_problem(JOINED(", harq: {processes: 33}", "tb_bytes: [100]"), "ue ue", "1..32");
	assert_problem(JOINED(", harq: {max_tx: 9}", "tb_bytes: [100]"), "ue ue", "1..8");
	assert_problem(JOINED("", "tb_bytes: [100], soft_loss: 1.5"), "soft_loss", "0..1");
	assert_problem(JOINED("", "tb_bytes: [100], rnti: 5"), "phy phy", "rnti 5");
	assert_null(
		problem(JOINED(", sr: {prohibit_ms: 10}", "tb_bytes: [100], grant_on_sr: true")));
	assert_problem(JOINED("", "tb_bytes: [100], grant_on_sr: true"), "phy phy: grant_on_sr",
		       "no 'sr'");
	assert_problem(JOINED(", sr: {trans_max: 65}", "tb_bytes: [100]"), "ue ue", "1..64");
	assert_problem(JOINED(", sr: {prohibit_ms: 1001}", "tb_bytes: [100]"), "ue ue", "0..1000");
	assert_null(problem(JOINED(", any_rnti: true", "tb_bytes: [100], rnti: 5")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_yaml_errors_name_line_and_path),
		cmocka_unit_test(test_bearers),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_security),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_joined_roles),
	};
	int rc;

	close(mkstemp(path));
	rc = cmocka_run_group_tests_name("config", tests, NULL, NULL);
	unlink(path);
	return rc;
}
