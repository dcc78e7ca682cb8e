/* SPDX-License-Identifier: BSD-3-Clause */
/* The deployment as a whole, and what is of no role: ports, pools, lcores, power; and gen. */
#include "core/config_schema_impl.h"

const cyaml_strval_t ap_schema_switches[3] = {
	{"default", AP_CFG_DEFAULT}, {"on", AP_CFG_ON}, {"off", AP_CFG_OFF}};
static const cyaml_strval_t presets[] = {
	{"null", AP_PRESET_NULL},           {"ring", AP_PRESET_RING},
	{"pcap", AP_PRESET_PCAP},           {"tap", AP_PRESET_TAP},
	{"af_packet", AP_PRESET_AF_PACKET}, {"af_xdp", AP_PRESET_AF_XDP},
	{"memif", AP_PRESET_MEMIF},         {"pci", AP_PRESET_PCI},
	{"devargs", AP_PRESET_DEVARGS},
};
static const cyaml_strval_t framings[] = {
	{"ethernet", AP_FRAMING_ETHERNET},
	{"ip", AP_FRAMING_IP},
	{"raw", AP_FRAMING_RAW},
};
static const cyaml_strval_t governors[] = {
	{"auto", AP_GOVERNOR_AUTO},
	{"busy", AP_GOVERNOR_BUSY},
	{"yield", AP_GOVERNOR_YIELD},
	{"adaptive", AP_GOVERNOR_ADAPTIVE},
	{"slot-aware", AP_GOVERNOR_SLOT_AWARE},
};
static const cyaml_strval_t pstates[] = {
	{"auto", AP_PSTATES_AUTO},
	{"none", AP_PSTATES_NONE},
	{"rte_power", AP_PSTATES_RTE_POWER},
	{"model", AP_PSTATES_MODEL},
};
static const cyaml_strval_t priorities[] = {
	{"normal", AP_PRIORITY_NORMAL},
	{"high", AP_PRIORITY_HIGH},
};

const cyaml_schema_value_t ap_schema_string = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 128)};
const cyaml_schema_value_t ap_schema_u8 = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint8_t)};
const cyaml_schema_value_t ap_schema_u32 = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};

static const cyaml_schema_field_t pool_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_pool, name, 1, 40),
	CYAML_FIELD_UINT("mbufs", CYAML_FLAG_DEFAULT, struct ap_cfg_pool, mbufs),
	CYAML_FIELD_UINT("data_room", CYAML_FLAG_DEFAULT, struct ap_cfg_pool, data_room),
	CYAML_FIELD_UINT("cache", OPT, struct ap_cfg_pool, cache), CYAML_FIELD_END};
static const cyaml_schema_value_t pool_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_pool, pool_fields)};

static const cyaml_schema_field_t port_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_port, name, 1, 40),
	CYAML_FIELD_ENUM("preset", OPT | CYAML_FLAG_STRICT, struct ap_cfg_port, preset, presets,
			 CYAML_ARRAY_LEN(presets)),
	CYAML_FIELD_STRING_PTR("peer", PTR, struct ap_cfg_port, peer, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("iface", PTR, struct ap_cfg_port, iface, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("address", PTR, struct ap_cfg_port, address, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("devargs", PTR, struct ap_cfg_port, devargs, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("rx_file", PTR, struct ap_cfg_port, rx_file, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("tx_file", PTR, struct ap_cfg_port, tx_file, 1, CYAML_UNLIMITED),
	CYAML_FIELD_BOOL("infinite", OPT, struct ap_cfg_port, infinite),
	CYAML_FIELD_BOOL("server", OPT, struct ap_cfg_port, server),
	CYAML_FIELD_BOOL("proxy_neigh", OPT, struct ap_cfg_port, proxy_neigh),
	CYAML_FIELD_ENUM("framing", OPT | CYAML_FLAG_STRICT, struct ap_cfg_port, framing, framings,
			 CYAML_ARRAY_LEN(framings)),
	CYAML_FIELD_UINT("queues", OPT, struct ap_cfg_port, queues),
	CYAML_FIELD_UINT("tx_hold", ZERO, struct ap_cfg_port, tx_hold),
	CYAML_FIELD_UINT("ring_size", OPT, struct ap_cfg_port, ring_size),
	CYAML_FIELD_UINT("mtu", OPT, struct ap_cfg_port, mtu),
	CYAML_FIELD_STRING_PTR("pool", PTR, struct ap_cfg_port, pool, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("mac", PTR, struct ap_cfg_port, mac, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("peer_mac", PTR, struct ap_cfg_port, peer_mac, 1, CYAML_UNLIMITED),
	CYAML_FIELD_END};
static const cyaml_schema_value_t port_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_port, port_fields)};

static const cyaml_schema_field_t gen_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_gen, name, 1, 40),
	CYAML_FIELD_STRING_PTR("port", NEED, struct ap_cfg_gen, port, 1, 40),
	CYAML_FIELD_STRING_PTR("rx_port", PTR, struct ap_cfg_gen, rx_port, 1, CYAML_UNLIMITED),
	CYAML_FIELD_SEQUENCE("sizes", PTR, struct ap_cfg_gen, sizes, &ap_schema_u32, 0, 64),
	CYAML_FIELD_BOOL("imix", OPT, struct ap_cfg_gen, imix),
	CYAML_FIELD_BOOL("ipv6", OPT, struct ap_cfg_gen, ipv6),
	CYAML_FIELD_UINT("flows", OPT, struct ap_cfg_gen, flows),
	CYAML_FIELD_SEQUENCE("dscps", PTR, struct ap_cfg_gen, dscps, &ap_schema_u8, 0, 64),
	CYAML_FIELD_STRING_PTR("replay", PTR, struct ap_cfg_gen, replay, 1, CYAML_UNLIMITED),
	CYAML_FIELD_FLOAT("pps", OPT, struct ap_cfg_gen, pps),
	CYAML_FIELD_FLOAT("gbps", OPT, struct ap_cfg_gen, gbps),
	CYAML_FIELD_UINT("packets", ZERO, struct ap_cfg_gen, packets),
	CYAML_FIELD_UINT("seed", OPT, struct ap_cfg_gen, seed),
	CYAML_FIELD_END};
static const cyaml_schema_value_t gen_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_gen, gen_fields)};

static const cyaml_schema_field_t power_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_power, name, 1, 40),
	CYAML_FIELD_ENUM("backend", OPT | CYAML_FLAG_STRICT, struct ap_cfg_power, backend, pstates,
			 CYAML_ARRAY_LEN(pstates)),
	CYAML_FIELD_STRING_PTR("table", PTR, struct ap_cfg_power, table, 1, CYAML_UNLIMITED),
	CYAML_FIELD_UINT("empty_polls_pause", OPT, struct ap_cfg_power, empty_polls_pause),
	CYAML_FIELD_UINT("empty_polls_sleep", OPT, struct ap_cfg_power, empty_polls_sleep),
	CYAML_FIELD_UINT("pause_us", OPT, struct ap_cfg_power, pause_us),
	CYAML_FIELD_UINT("sleep_us", OPT, struct ap_cfg_power, sleep_us),
	CYAML_FIELD_UINT("timeout_ms", OPT, struct ap_cfg_power, timeout_ms),
	CYAML_FIELD_UINT("count_low", OPT, struct ap_cfg_power, count_low),
	CYAML_FIELD_UINT("count_mid", OPT, struct ap_cfg_power, count_mid),
	CYAML_FIELD_UINT("count_high", OPT, struct ap_cfg_power, count_high),
	CYAML_FIELD_UINT("trend_low", OPT, struct ap_cfg_power, trend_low),
	CYAML_FIELD_UINT("trend_mid", OPT, struct ap_cfg_power, trend_mid),
	CYAML_FIELD_UINT("trend_step", OPT, struct ap_cfg_power, trend_step),
	CYAML_FIELD_UINT("scale_down_ms", OPT, struct ap_cfg_power, scale_down_ms),
	CYAML_FIELD_UINT("scale_down_idle_percent", OPT, struct ap_cfg_power,
			 scale_down_idle_percent),
	CYAML_FIELD_UINT("scale_down_packets", OPT, struct ap_cfg_power, scale_down_packets),
	CYAML_FIELD_UINT("slot_us", OPT, struct ap_cfg_power, slot_us),
	CYAML_FIELD_UINT("slot_wakeups_percent", OPT, struct ap_cfg_power, slot_wakeups_percent),
	CYAML_FIELD_UINT("slot_nap_percent", OPT, struct ap_cfg_power, slot_nap_percent),
	CYAML_FIELD_BOOL("slot_naps", OPT, struct ap_cfg_power, slot_naps),
	CYAML_FIELD_UINT("normal_mhz", OPT, struct ap_cfg_power, normal_mhz),
	CYAML_FIELD_END};
static const cyaml_schema_value_t power_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_power, power_fields)};

static const cyaml_schema_field_t lcore_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_lcore, name, 1, 40),
	CYAML_FIELD_UINT("cpu", CYAML_FLAG_DEFAULT, struct ap_cfg_lcore, cpu),
	CYAML_FIELD_ENUM("governor", OPT | CYAML_FLAG_STRICT, struct ap_cfg_lcore, governor,
			 governors, CYAML_ARRAY_LEN(governors)),
	CYAML_FIELD_STRING_PTR("power", PTR, struct ap_cfg_lcore, power, 1, 40),
	CYAML_FIELD_ENUM("priority", OPT | CYAML_FLAG_STRICT, struct ap_cfg_lcore, priority,
			 priorities, CYAML_ARRAY_LEN(priorities)),
	CYAML_FIELD_END};
static const cyaml_schema_value_t lcore_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_lcore, lcore_fields)};

static const cyaml_schema_field_t place_fields[] = {
	CYAML_FIELD_STRING_PTR("node", NEED, struct ap_cfg_place, node, 1, 40),
	CYAML_FIELD_STRING_PTR("lcore", NEED, struct ap_cfg_place, lcore, 1, 40), CYAML_FIELD_END};
static const cyaml_schema_value_t place_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_place, place_fields)};

static const cyaml_schema_field_t memory_fields[] = {
	CYAML_FIELD_UINT("mb", OPT, struct ap_cfg_memory, mb),
	CYAML_FIELD_ENUM("hugepages", OPT | CYAML_FLAG_STRICT, struct ap_cfg_memory, hugepages,
			 ap_schema_switches, CYAML_ARRAY_LEN(ap_schema_switches)),
	CYAML_FIELD_END};

static const cyaml_schema_field_t config_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_config, name, 1, 40),
	CYAML_FIELD_MAPPING("memory", OPT, struct ap_config, memory, memory_fields),
	CYAML_FIELD_ENUM("stats", OPT | CYAML_FLAG_STRICT, struct ap_config, stats,
			 ap_schema_switches, CYAML_ARRAY_LEN(ap_schema_switches)),
	CYAML_FIELD_UINT("burst", OPT, struct ap_config, burst),
	CYAML_FIELD_UINT("cut_size", OPT, struct ap_config, cut_size),
	CYAML_FIELD_SEQUENCE("pools", PTR, struct ap_config, pools, &pool_value, 0, 64),
	CYAML_FIELD_SEQUENCE("ports", PTR, struct ap_config, ports, &port_value, 0, 64),
	CYAML_FIELD_SEQUENCE("ue", PTR, struct ap_config, ue, &ap_schema_ue, 0, 16),
	CYAML_FIELD_SEQUENCE("gnb", PTR, struct ap_config, gnb, &ap_schema_gnb, 0, 16),
	CYAML_FIELD_SEQUENCE("phy", PTR, struct ap_config, phy, &ap_schema_phy, 0, 16),
	CYAML_FIELD_SEQUENCE("gen", PTR, struct ap_config, gen, &gen_value, 0, 16),
	CYAML_FIELD_SEQUENCE("upf", PTR, struct ap_config, upf, &ap_schema_upf, 0, 16),
	CYAML_FIELD_SEQUENCE("gnb_header", PTR, struct ap_config, gnb_header, &ap_schema_gnb_header,
			     0, 16),
	CYAML_FIELD_SEQUENCE("smartnic", PTR, struct ap_config, smartnic, &ap_schema_smartnic, 0,
			     16),
	CYAML_FIELD_SEQUENCE("power", PTR, struct ap_config, power, &power_value, 0, 16),
	CYAML_FIELD_SEQUENCE("lcores", NEED, struct ap_config, lcores, &lcore_value, 1, 128),
	CYAML_FIELD_SEQUENCE("place", NEED, struct ap_config, place, &place_value, 1, 512),
	CYAML_FIELD_END};

const cyaml_schema_value_t ap_config_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ap_config, config_fields)};
