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

#include "core/config_rig.h"

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
test_a_gnb_and_its_ues(void **state)
{
	(void)state;
#define CELL(u, g, p)                                                                              \
	"name: x\nports:\n"                                                                        \
	"  - {name: un, preset: \"null\", framing: ip}\n"                                          \
	"  - {name: gn, preset: \"null\", framing: ip}\n"                                          \
	"  - {name: r0, preset: ring, peer: a0, framing: raw}\n"                                   \
	"  - {name: a0, preset: ring, peer: r0, framing: raw}\n"                                   \
	"  - {name: r1, preset: ring, peer: a1, framing: raw}\n"                                   \
	"  - {name: a1, preset: ring, peer: r1, framing: raw}\n"                                   \
	"ue: [{name: ue, user_port: un, phy_port: r0, bearers: [{id: 1}], " u "}]\n"               \
	"gnb: [{name: gnb, user_port: gn, phy_port: r1, bearers: [{id: 1}], " g "}]\n"             \
	"phy: [{name: phy, port: a0, port2: a1, side: gnb, tb_bytes: [9000], " p "}]\n"            \
	"lcores:\n  - {name: l, cpu: 0}\nplace:\n  - {node: \"*\", lcore: l}\n"
#define UES "count: 3, address: 10.60.0.1, sr: {prohibit_ms: 4}"
#define GNB "ues: 3, address: 10.60.0.1, tb_bytes: [9000]"
	assert_null(problem(CELL(UES, GNB, "ues: 3")));
	assert_problem(CELL("count: 3, sr: {trans_max: 4}", GNB, "ues: 3"), "ue ue", "'address'");
	assert_null(problem(CELL(UES, GNB ", harq: {max_tx: 2}", "ues: 3, soft_loss: 0.1")));
	assert_null(problem(CELL(UES ", harq: {processes: 8}", GNB ", harq: {processes: 8}",
				 "ues: 3, harq: {processes: 8}")));
	assert_problem(CELL(UES ", harq: {processes: 4}", GNB, "ues: 3"), "ue ue", "gnb gnb");
	assert_problem(CELL(UES ", harq: {processes: 4}", GNB ", harq: {processes: 5}", "ues: 3"),
		       "gnb gnb", "ue ue has 4");
	assert_problem(CELL(UES, GNB, "ues: 3, harq: {processes: 4}"), "phy phy", "gnb gnb");
	assert_problem(CELL(UES, GNB ", harq: {processes: 33}", "ues: 3"), "gnb gnb", "1..32");
	assert_problem(CELL(UES, GNB ", harq: {max_tx: 9}", "ues: 3"), "gnb gnb", "1..8");
	assert_null(problem(CELL(UES, GNB ", harq: {max_tx: 2}, dl_harq: {processes: 8}",
				 "ues: 3, dl_soft_loss: 0.1, feedback_loss: 0.1")));
	assert_null(problem(CELL(UES, GNB ", dl_harq: {max_tx: 8}", "ues: 3")));
	assert_problem(CELL(UES, GNB ", dl_harq: {processes: 17}", "ues: 3"), "gnb gnb", "1..16");
	assert_problem(CELL(UES, GNB ", dl_harq: {max_tx: 9}", "ues: 3"), "gnb gnb", "1..8");
	assert_problem(CELL(UES, GNB, "ues: 3, dl_soft_loss: 1.5"), "dl_soft_loss", "0..1");
	assert_problem(CELL(UES, GNB, "ues: 3, feedback_loss: -1"), "feedback_loss", "0..1");
	assert_problem(CELL(UES ", any_rnti: true", GNB, "ues: 3"), "ue ue", "one UE");
	assert_problem(CELL(UES ", rnti: 65518", GNB, "ues: 3"), "ue ue", "65519");
	assert_problem(CELL("count: 1025, address: 10.0.0.1", GNB, "ues: 3"), "ue ue", "1024");
	assert_problem(CELL("count: 3, address: fd00::1", GNB, "ues: 3"), "ue ue", "IPv4");
	assert_problem(CELL("count: 3, address: 255.255.255.254", GNB, "ues: 3"), "ue ue",
		       "addresses end");
	assert_problem(CELL(UES ", default_qfi: 64", GNB, "ues: 3"), "ue ue", "0..63");
	assert_problem(CELL("count: 3, address6: 10.0.0.1", GNB, "ues: 3"), "ue ue", "IPv6");
	assert_problem(CELL("count: 3, address: 10.60.0.1", GNB, "ues: 3"), "ue ue", "'sr'");
	assert_problem(CELL(UES ", loopback: true", GNB, "ues: 3"), "ue ue", "loopback");
	assert_problem(CELL(UES, GNB, "ues: 2"), "phy phy", "3 from 17921");
	assert_problem(CELL(UES, GNB, "ues: 3, rnti: 7"), "phy phy", "from rnti 7");
	assert_problem(CELL(UES, GNB, "ues: 3, ahead: 64"), "phy phy", "1..63");
	assert_problem(CELL(UES, GNB, "ues: 3, soft_loss: 1.1"), "phy phy", "soft_loss");
	assert_null(problem(CELL(UES, GNB, "ues: 3, jitter_us: 1000, delay_us: 1000000")));
	assert_problem(CELL(UES, GNB, "ues: 3, jitter_us: 1001"), "phy phy", "must be 0..1000, a");
	assert_problem(CELL(UES, GNB, "ues: 3, frame_bytes: 65536"), "phy phy", "256..65000");
	assert_problem(CELL(UES, GNB, "ues: 3, delay_us: 1000001"), "phy phy", "delay_us 1000001");
	assert_null(problem(CELL(UES, GNB, "ues: 3, cqi: [15, 3], cqi_spread: 2")));
	assert_problem(CELL(UES, GNB, "ues: 3, cqi: [16]"), "phy phy", "cqi[0] = 16");
	assert_problem(CELL(UES, GNB, "ues: 3, cqi: [0]"), "phy phy", "1..15");
	assert_problem(CELL(UES, GNB, "ues: 3, cqi: [9], cqi_spread: 15"), "phy phy", "0..14");
	assert_problem(CELL(UES, GNB, "ues: 3, cqi_spread: 1"), "phy phy", "'cqi'");
	assert_problem(CELL(UES, GNB, "ues: 3, grant_on_sr: true"), "phy phy", "not for side gnb");
	assert_problem(CELL(UES, "ues: 3, tb_bytes: [9000]", "ues: 3"), "gnb gnb", "'address'");
	assert_problem(CELL(UES, "ues: 3, address: 10.60.0.1, tb_bytes: [9001]", "ues: 3"),
		       "gnb gnb", "phy phy has 9000");
	assert_problem(CELL(UES, GNB ", ues_per_slot: 65", "ues: 3"), "gnb gnb", "1..64");
	assert_problem(CELL(UES, GNB ", ue_slot_bytes: 63", "ues: 3"), "gnb gnb", "64");
	assert_problem(CELL(UES, GNB ", scheduler: lottery", "ues: 3"), "gnb[0].scheduler",
		       "lottery");
}

static void
test_a_gnb_with_n3(void **state)
{
	(void)state;
#define N3(g, i)                                                                                   \
	"name: x\nports:\n"                                                                        \
	"  - {name: n3, preset: \"null\", framing: raw}\n"                                         \
	"  - {name: r1, preset: \"null\", framing: raw}\n"                                         \
	"gnb:\n"                                                                                   \
	"  - {name: gnb, phy_port: r1, bearers: [{id: 1}], tb_bytes: [9000], ues: 2, " g "\n"      \
	"     interfaces: [{name: n3, port: n3, type: n3, addresses: [10.3.0.2/24, "               \
	"\"fd00::2/64\"]" i "}]}\n"                                                                \
	"lcores:\n  - {name: l, cpu: 0}\nplace:\n  - {node: \"*\", lcore: l}\n"
#define SOCK "socket: /tmp/g.sock,"
#define CONTEXT(c) SOCK "contexts: [{upf: 10.3.0.1, teid: 7}, {" c "}],"
	assert_null(problem(N3(SOCK, "")));
	assert_null(problem(N3(CONTEXT("ue: 1, upf: fd00::1, teid: 8"), "")));
	assert_problem(N3(CONTEXT("ue: 1, upf: 10.3.0.2, teid: 8"), ""), "contexts[1]", "our own");
	assert_problem(N3(CONTEXT("ue: 1, upf: 10.4.0.1, teid: 8"), ""), "contexts[1]",
		       "no interface, route or gateway leads there");
	assert_null(
		problem(N3(CONTEXT("ue: 1, upf: 10.4.0.1, teid: 8"), ", gateways: [10.3.0.1]")));
	assert_null(problem(
		N3(CONTEXT("ue: 1, upf: 10.4.0.1, teid: 8") "routes: [{interface: n3, prefix: "
							    "10.4.0.0/16, via: 10.3.0.1}],",
		   "")));
	assert_problem(N3(CONTEXT("ue: 1, upf: 224.0.0.1, teid: 8"), ", gateways: [10.3.0.1]"),
		       "contexts[1]", "no host's address");
	assert_problem(N3(CONTEXT("ue: 1, upf: 10.3.0.1, teid: 7"), ""), "contexts[1]",
		       "is that of contexts[0]");
	assert_problem(N3("", ""), "gnb gnb", "socket: one is needed");
	assert_problem(N3(SOCK "user_port: n3,", ""), "gnb gnb", "which say whose they are");
	assert_problem(N3(SOCK "address: 10.0.0.1,", ""), "gnb gnb", "which say whose they are");
	assert_problem(N3(SOCK, ", mac: \"02:00:00:00:00:01\""), "interface n3", "mac");
	assert_problem(N3(CONTEXT("ue: 2, upf: 10.3.0.1, teid: 8"), ""), "contexts[1]",
		       "the first of 2 UEs is 0");
	assert_problem(N3(CONTEXT("ue: 0, upf: 10.3.0.1, teid: 8"), ""), "contexts[1]",
		       "one PDU session");
	assert_problem(N3(CONTEXT("ue: 1, upf: there, teid: 8"), ""), "contexts[1]",
		       "not an address");
	assert_problem(N3(CONTEXT("ue: 1, upf: 10.3.0.1, teid: 8, pdu_session: 256"), ""),
		       "contexts[1]", "1..255");
	assert_problem("name: x\nports: [{name: p, preset: \"null\", framing: raw}]\n"
		       "gnb: [{name: gnb, phy_port: p, bearers: [{id: 1}], tb_bytes: [9000]}]\n"
		       "lcores: [{name: l, cpu: 0}]\nplace: [{node: \"*\", lcore: l}]\n",
		       "gnb gnb", "user_port");
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
	assert_problem(PORT("mac: \"00:00:00:00:00:00\""), "port user", "no unicast");
	assert_problem(PORT("mac: \"01:00:5e:00:00:01\""), "port user", "no unicast");
	assert_problem(PORT("mac: 02-00-00-00-00-01"), "port user", "no unicast");
	assert_problem(PORT("peer_mac: \"00:00:00:00:00:00\""), "port user", "peer_mac");
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
	assert_problem(JOINED("", "tb_bytes: [100], dl_soft_loss: 0.1"), "phy phy", "side gnb");
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

static void
test_zero_is_not_left_out(void **state)
{
	static const struct {
		const char *yaml, *where;
	} refused[] = {
		{"burst: 0\n", ":2: burst"},
		{"cut_size: 0\n", ":2: cut_size"},
		{"memory: {mb: 0}\n", ":2: memory.mb"},
		{"pools: [{name: user, mbufs: 8, data_room: 9, cache: 0}]\n", ":2: pools[0].cache"},
		{"gen:\n  - {name: g, port: user, seed: 0}\n", ":3: gen[0].seed"},
		{"gen:\n  - {name: g, port: user,\n     pps: 0}\n", ":4: gen[0].pps"},
		{"phy: [{name: p, port: phy, tb_bytes: [99], rnti: 0x0}]\n", ":2: phy[0].rnti"},
	};
	char text[2048];

	(void)state;
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		snprintf(text, sizeof(text), "name: x\n%s" PORTS UE LCORES PLACE, refused[i].yaml);
		assert_problem(text, refused[i].where, "0 is no value");
	}
	assert_problem(WITH("{id: 1, rlc: {mode: am, max_retx_threshold: 0}}"),
		       "ue[0].bearers[0].rlc.max_retx_threshold", "leave it out");
	assert_problem(WITH("{id: 1}, {id: 2, lcid: 0}"), "ue[0].bearers[1].lcid", "0 is no value");
	assert_problem(JOINED(", harq: {processes: 0, max_tx: 2}", "tb_bytes: [100]"),
		       "ue[0].harq.processes", "0 is no value");
	assert_problem(CELL(UES, GNB ", dl_harq: {processes: 0, max_tx: 4}", "ues: 3"),
		       "gnb[0].dl_harq.processes", "0 is no value");
	assert_problem(CELL(UES, GNB ", dl_harq: {processes: 8, max_tx: 0}", "ues: 3"),
		       "gnb[0].dl_harq.max_tx", "0 is no value");
}

static struct ap_config *
loaded(const char *yaml)
{
	struct ap_error err;
	FILE *f = fopen(path, "w");
	struct ap_config *cfg;

	assert_non_null(f);
	fputs(yaml, f);
	fclose(f);
	cfg = ap_config_load(path, &err);
	if (cfg == NULL)
		fail_msg("%s", err.text);
	return cfg;
}

static void
test_zero_is_what_it_says(void **state)
{
	struct ap_config *cfg;

	(void)state;
	cfg = loaded(
		JOINED(", numerology: 0, default_qfi: 0, sr: {prohibit_ms: 0}", "tb_bytes: [100]"));
	assert_int_equal(cfg->ue[0].default_qfi, 0);
	assert_int_equal(cfg->ue[0].sr.trans_max, 64);
	ap_config_free(cfg);
	/* Left out it would be that of the phy. */
	assert_problem(JOINED(", numerology: 0", "tb_bytes: [100], numerology: 2"), "phy phy",
		       "has 0");
	cfg = loaded("name: x\nports: [{name: user, tx_hold: 0}, {name: r, framing: raw}]\n"
		     "ue: [{name: ue, user_port: user, phy_port: r, bearers: [{id: 1, pdcp: "
		     "{t_reordering_ms: 0, discard_ms: 0}}]}]\n"
		     "lcores: [{name: a, cpu: 0}]\nplace: [{node: \"*\", lcore: a}]\n");
	assert_int_equal(cfg->ports[0].tx_hold, 0);
	assert_int_equal(cfg->ports[1].queues, 1);
	assert_true(cfg->ue[0].bearers[0].pdcp.reorder_at_once);
	assert_int_equal(cfg->ue[0].bearers[0].pdcp.t_reordering_ms, 0);
	assert_int_equal(cfg->ue[0].bearers[0].rlc.t_reassembly_ms, 35);
	ap_config_free(cfg);
}

static void
test_a_number_is_the_whole_value(void **state)
{
	static const char *const bad[] = {"64k",  "2g",  "1e6", "1,000", "1abc", "2.9", "\"2 foo\"",
					  "1_0",  "010", "0x",  "0xg",   "-1",   "+1",  "\" 1\"",
					  "\"\"", "00",  "0o7", "true",  "1:30"};
	static const char *const bad_real[] = {"0.5x", "1_0", "nan", "0x1p-1", "1e999", "\"0.1 \""};
	char text[1024];

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "name: x\n" PORTS UE "    rnti: %s\n" LCORES PLACE,
			 bad[i]);
		assert_problem(text, ":13: ue[0].rnti", "");
		snprintf(text, sizeof(text),
			 "name: x\n" PORTS "ue:\n  - {name: ue, user_port: user, phy_port: radio, "
			 "bearers: [{id: 1, qfis: [1, %s]}]}\n" LCORES PLACE,
			 bad[i]);
		if (strchr(bad[i], ',') == NULL)
			assert_problem(text, "ue[0].bearers[0].qfis[1]", "");
	}
	for (unsigned i = 0; i < sizeof(bad_real) / sizeof(*bad_real); i++) {
		snprintf(text, sizeof(text),
			 "name: x\nphy: [{name: p, port: q, tb_bytes: [100], tb_loss: %s}]\n" LCORES
				 PLACE,
			 bad_real[i]);
		assert_problem(text,
			       "phy[0].tb_loss: ", bad_real[i][0] == '"' ? "0.1" : bad_real[i]);
	}
	assert_problem("name: x\nburst: 64k\n" LCORES PLACE, ":2: burst", "'64k' is not taken");
	assert_problem(
		"name: x\nphy: [{name: p, port: q, tb_bytes: [100], grant_on_sr: maybe}]\n" LCORES
			PLACE,
		"phy[0].grant_on_sr", "true or false");
	assert_null(problem("name: x\nburst: \"0x20\"\n" PORTS UE "    rnti: 4097\n" LCORES PLACE));
}

static void
test_one_document(void **state)
{
	(void)state;
	assert_null(problem("---\nname: x\n" PORTS UE LCORES PLACE "...\n"));
	assert_problem("name: x\n" LCORES "place: [{node: none, lcore: a}]\n---\nname: y\n",
		       ":4: a second YAML document", "a file of its own");
	assert_problem("name: x\n" LCORES "place: [{node: none, lcore: a}]\n---\nname: [\n", "",
		       "behind the document");
}

static void
test_lists(void **state)
{
	(void)state;
	assert_problem("name: x\n" PORTS UE LCORES "place: []\n",
		       ": place: ", "Insufficient entries (0 of 1 min)");
	assert_problem("name: x\n" PORTS UE "lcores: []\n" PLACE, ": lcores: ", "0 of 1 min");
	assert_problem(WITH(""), ": ue[0].bearers: ", "0 of 1 min");
}

/** A key that stands in any wrong place is not repeated. */
static void
test_keys_are_not_repeated(void **state)
{
#define DIGITS "c0ffee0405060708090a0b0c0d0e0f00"
	static const char *const wrong[] = {
		SECURED("nea: " DIGITS, ""),
		SECURED("nia: \"" DIGITS "\"", ""),
		SECURED("nea: c0ffee secret, key_enc: " KEY, ""),
		SECURED("engine: " DIGITS ", nea: 2", ""),
		SECURED("cryptodev: " DIGITS DIGITS, ""),
		SECURED(DIGITS ": 1", ""),
		SECURED("key_enc: {" DIGITS ": 2}", ""),
		SECURED("", "sn_bits: " DIGITS),
		SECURED("", DIGITS ": 1"),
		"name: x\nports: [{name: a, preset: ring, peer: " DIGITS "}]\n" LCORES PLACE,
		"name: \"" DIGITS " \"\n" LCORES PLACE,
		"name: x\n" DIGITS ": 1\n" LCORES PLACE,
		"name: x\nburst: " DIGITS "\n" LCORES PLACE,
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *text = problem(wrong[i]);

		assert_non_null(text);
		if (strstr(text, "c0ffee") || strncmp(text, path, strlen(path)) != 0)
			fail_msg("%u: %s", i, text);
	}
	/* A misspelt key is told. */
	assert_problem(SECURED("key_ecn: " KEY, ""), "ue[0].security", "Unexpected key: key_ecn");
}

#define POWER(text) "power:\n  - {name: eco, " text "}\n"

static void
test_power(void **state)
{
	(void)state;
	assert_null(problem("name: x\n" PORTS UE PLACE POWER(
		"slot_us: 500") "lcores: [{name: a, cpu: 0, governor: slot-aware, power: eco}, "
				"{name: b, cpu: 0, governor: adaptive}]\n"));
	assert_problem("name: x\n" PORTS UE PLACE POWER(
			       "backend: none") "lcores: [{name: a, cpu: 0, power: echo}, {name: "
						"b, cpu: 0}]\n",
		       "lcore a", "there is no power 'echo'");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("backend: model"), "power eco",
		       "backend model needs 'table'");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("empty_polls_pause: 301"),
		       "power eco", "must not be above empty_polls_sleep 300");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("pause_us: 300"), "power eco",
		       "must be below sleep_us 300");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("count_mid: 100"), "power eco",
		       "must rise");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("trend_mid: 1000000001"),
		       "power eco", "must be 1..1000000000");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("timeout_ms: 2000"), "power eco",
		       "1..1000");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("slot_us: 1"), "power eco",
		       "50..100000");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("slot_wakeups_percent: 201"),
		       "power eco", "1..200");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("slot_nap_percent: 101"),
		       "power eco", "1..100");
	assert_problem("name: x\n" PORTS UE PLACE LCORES POWER("governor: fast"), "power[0]",
		       "Unexpected key: governor");
	assert_problem("name: x\n" PORTS UE PLACE LCORES "power: [{name: eco}, {name: eco}]\n",
		       "power eco", "there are two");
	assert_problem("name: x\n" PORTS UE PLACE
		       "lcores: [{name: a, cpu: 0, governor: lazy}, {name: b, cpu: 0}]\n",
		       "lcores[0].governor", "lazy");
}

/** What priorities of two lcores come to. */
static void
check_priorities(const char *a, const char *b, enum ap_cfg_priority want_a,
		 enum ap_cfg_priority want_b)
{
	char text[4096];
	struct ap_config *cfg;

	snprintf(text, sizeof(text),
		 "name: x\n" PORTS UE PLACE "lcores: [{name: a, cpu: 0%s}, {name: b, cpu: 0%s}]\n",
		 a, b);
	cfg = loaded(text);
	assert_int_equal(cfg->lcores[0].priority, want_a);
	assert_int_equal(cfg->lcores[1].priority, want_b);
	ap_config_free(cfg);
}

static void
test_priority(void **state)
{
	(void)state;
	check_priorities("", "", AP_PRIORITY_NONE, AP_PRIORITY_NONE);
	check_priorities("", ", priority: normal", AP_PRIORITY_NONE, AP_PRIORITY_NONE);
	check_priorities("", ", priority: high", AP_PRIORITY_NORMAL, AP_PRIORITY_HIGH);
	check_priorities(", priority: high", ", priority: normal", AP_PRIORITY_HIGH,
			 AP_PRIORITY_NORMAL);
	assert_problem("name: x\n" PORTS UE PLACE
		       "lcores: [{name: a, cpu: 0, priority: highest}, {name: b, cpu: 0}]\n",
		       "lcores[0].priority", "highest");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_yaml_errors_name_line_and_path),
		cmocka_unit_test(test_bearers),
		cmocka_unit_test(test_a_gnb_and_its_ues),
		cmocka_unit_test(test_a_gnb_with_n3),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_security),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_joined_roles),
		cmocka_unit_test(test_zero_is_not_left_out),
		cmocka_unit_test(test_zero_is_what_it_says),
		cmocka_unit_test(test_a_number_is_the_whole_value),
		cmocka_unit_test(test_one_document),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_keys_are_not_repeated),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_priority),
	};
	int rc;

	close(mkstemp(path));
	rc = cmocka_run_group_tests_name("config", tests, NULL, NULL);
	unlink(path);
	return rc;
}
