/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config.h"
#include "core/config_schema.h"

#define OPT CYAML_FLAG_OPTIONAL
#define ZERO (OPT | CONFIG_ZERO)
#define PTR (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define NEED CYAML_FLAG_POINTER

static const cyaml_strval_t switches[] = {
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
static const cyaml_strval_t copies[] = {
	{"none", AP_COPY_NONE}, {"cpu", AP_COPY_CPU}, {"dma", AP_COPY_DMA}};
static const cyaml_strval_t strategies[] = {
	{"scatter", AP_STRATEGY_SCATTER},
	{"gather", AP_STRATEGY_GATHER},
	{"scheme1", AP_STRATEGY_SCHEME1},
	{"scheme2", AP_STRATEGY_SCHEME2},
};
static const cyaml_strval_t rlc_modes[] = {{"um", AP_RLC_UM}, {"tm", AP_RLC_TM}, {"am", AP_RLC_AM}};
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

static const cyaml_strval_t steerings[] = {
	{"rss", AP_STEERING_RSS},
	{"teid", AP_STEERING_TEID},
	{"software", AP_STEERING_SOFTWARE},
};
static const cyaml_strval_t oversizes[] = {
	{"fragment", AP_OVERSIZE_FRAGMENT},
	{"too_big", AP_OVERSIZE_TOO_BIG},
};
static const cyaml_strval_t upf_sides[] = {
	{"access", AP_UPF_ACCESS},           {"core", AP_UPF_CORE},
	{"sgi_n6_lan", AP_UPF_SGI_N6_LAN},   {"cp_function", AP_UPF_CP_FUNCTION},
	{"li_function", AP_UPF_LI_FUNCTION},
};

static const cyaml_strval_t smartnic_marks[] = {{"share", AP_SMARTNIC_MARK_SHARE},
						{"sender", AP_SMARTNIC_MARK_SENDER}};
static const cyaml_strval_t gnb_sides[] = {{"n3", AP_GNB_N3}, {"f1", AP_GNB_F1}};
static const cyaml_strval_t gnb_splits[] = {{"rlc", AP_GNB_SPLIT_RLC}, {"pdcp", AP_GNB_SPLIT_PDCP}};

static const cyaml_schema_value_t string_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 128)};
static const cyaml_schema_value_t upf_side_value = {CYAML_VALUE_ENUM(
	CYAML_FLAG_STRICT, enum ap_cfg_upf_side, upf_sides, CYAML_ARRAY_LEN(upf_sides))};
static const cyaml_schema_value_t u8_value = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint8_t)};
static const cyaml_schema_value_t u32_value = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};

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

static const cyaml_schema_field_t qos_fields[] = {
	CYAML_FIELD_UINT("dscp", CYAML_FLAG_DEFAULT, struct ap_cfg_qos_rule, dscp),
	CYAML_FIELD_UINT("qfi", CYAML_FLAG_DEFAULT, struct ap_cfg_qos_rule, qfi), CYAML_FIELD_END};
static const cyaml_schema_value_t qos_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_qos_rule, qos_fields)};

static const cyaml_schema_field_t bearer_sdap_fields[] = {
	CYAML_FIELD_ENUM("ul_header", OPT | CYAML_FLAG_STRICT, struct ap_cfg_bearer_sdap, ul_header,
			 switches, CYAML_ARRAY_LEN(switches)),
	CYAML_FIELD_ENUM("dl_header", OPT | CYAML_FLAG_STRICT, struct ap_cfg_bearer_sdap, dl_header,
			 switches, CYAML_ARRAY_LEN(switches)),
	CYAML_FIELD_END};
static const cyaml_schema_field_t bearer_pdcp_fields[] = {
	CYAML_FIELD_UINT("sn_bits", OPT, struct ap_cfg_bearer_pdcp, sn_bits),
	CYAML_FIELD_UINT("discard_ms", ZERO, struct ap_cfg_bearer_pdcp, discard_ms),
	CYAML_FIELD_UINT("t_reordering_ms", ZERO, struct ap_cfg_bearer_pdcp, t_reordering_ms),
	CYAML_FIELD_BOOL("reorder_at_once", OPT, struct ap_cfg_bearer_pdcp, reorder_at_once),
	CYAML_FIELD_BOOL("out_of_order", OPT, struct ap_cfg_bearer_pdcp, out_of_order),
	CYAML_FIELD_BOOL("status_report", OPT, struct ap_cfg_bearer_pdcp, status_report),
	CYAML_FIELD_UINT("count_notify", OPT, struct ap_cfg_bearer_pdcp, count_notify),
	CYAML_FIELD_UINT("reorder_slots", OPT, struct ap_cfg_bearer_pdcp, reorder_slots),
	CYAML_FIELD_BOOL("integrity", OPT, struct ap_cfg_bearer_pdcp, integrity),
	CYAML_FIELD_END};
static const cyaml_schema_field_t bearer_rlc_fields[] = {
	CYAML_FIELD_ENUM("mode", OPT | CYAML_FLAG_STRICT, struct ap_cfg_bearer_rlc, mode, rlc_modes,
			 CYAML_ARRAY_LEN(rlc_modes)),
	CYAML_FIELD_UINT("sn_bits", OPT, struct ap_cfg_bearer_rlc, sn_bits),
	CYAML_FIELD_UINT("t_reassembly_ms", OPT, struct ap_cfg_bearer_rlc, t_reassembly_ms),
	CYAML_FIELD_UINT("queue_sdus", OPT, struct ap_cfg_bearer_rlc, queue_sdus),
	CYAML_FIELD_UINT("t_poll_retransmit_ms", OPT, struct ap_cfg_bearer_rlc,
			 t_poll_retransmit_ms),
	CYAML_FIELD_UINT("t_status_prohibit_ms", ZERO, struct ap_cfg_bearer_rlc,
			 t_status_prohibit_ms),
	CYAML_FIELD_UINT("poll_pdu", OPT, struct ap_cfg_bearer_rlc, poll_pdu),
	CYAML_FIELD_UINT("poll_byte", OPT, struct ap_cfg_bearer_rlc, poll_byte),
	CYAML_FIELD_UINT("max_retx_threshold", OPT, struct ap_cfg_bearer_rlc, max_retx_threshold),
	CYAML_FIELD_END};
static const cyaml_schema_field_t bearer_mac_fields[] = {
	CYAML_FIELD_UINT("priority", OPT, struct ap_cfg_bearer_mac, priority),
	CYAML_FIELD_UINT("pbr_kbytes_s", ZERO, struct ap_cfg_bearer_mac, pbr_kbytes_s),
	CYAML_FIELD_UINT("bsd_ms", OPT, struct ap_cfg_bearer_mac, bsd_ms),
	CYAML_FIELD_UINT("lcg", ZERO, struct ap_cfg_bearer_mac, lcg),
	CYAML_FIELD_SEQUENCE("serving_cells", PTR, struct ap_cfg_bearer_mac, serving_cells,
			     &u8_value, 0, AP_CFG_CARRIERS_MAX),
	CYAML_FIELD_SEQUENCE("scs", PTR, struct ap_cfg_bearer_mac, scs, &u8_value, 0, 5),
	CYAML_FIELD_UINT("max_pusch_us", ZERO, struct ap_cfg_bearer_mac, max_pusch_us),
	CYAML_FIELD_END};
static const cyaml_schema_field_t bearer_fields[] = {
	CYAML_FIELD_UINT("id", CYAML_FLAG_DEFAULT, struct ap_cfg_bearer, id),
	CYAML_FIELD_UINT("lcid", OPT, struct ap_cfg_bearer, lcid),
	CYAML_FIELD_BOOL("default", OPT, struct ap_cfg_bearer, is_default),
	CYAML_FIELD_SEQUENCE("qfis", PTR, struct ap_cfg_bearer, qfis, &u8_value, 0, 64),
	CYAML_FIELD_MAPPING("sdap", OPT, struct ap_cfg_bearer, sdap, bearer_sdap_fields),
	CYAML_FIELD_MAPPING("pdcp", OPT, struct ap_cfg_bearer, pdcp, bearer_pdcp_fields),
	CYAML_FIELD_MAPPING("rlc", OPT, struct ap_cfg_bearer, rlc, bearer_rlc_fields),
	CYAML_FIELD_MAPPING("mac", OPT, struct ap_cfg_bearer, mac, bearer_mac_fields),
	CYAML_FIELD_END};
static const cyaml_schema_value_t bearer_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_bearer, bearer_fields)};

static const cyaml_strval_t engines[] = {{"multi_buffer", AP_ENGINE_MULTI_BUFFER},
					 {"cryptodev", AP_ENGINE_CRYPTODEV}};
static const cyaml_schema_field_t security_fields[] = {
	CYAML_FIELD_ENUM("engine", OPT | CYAML_FLAG_STRICT, struct ap_cfg_security, engine, engines,
			 CYAML_ARRAY_LEN(engines)),
	CYAML_FIELD_STRING_PTR("cryptodev", PTR, struct ap_cfg_security, cryptodev, 1, 40),
	CYAML_FIELD_UINT("nea", ZERO, struct ap_cfg_security, nea),
	CYAML_FIELD_UINT("nia", ZERO, struct ap_cfg_security, nia),
	CYAML_FIELD_STRING_PTR("key_enc", PTR, struct ap_cfg_security, key_enc, 0, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("key_int", PTR, struct ap_cfg_security, key_int, 0, CYAML_UNLIMITED),
	CYAML_FIELD_END};

static const cyaml_schema_field_t phr_fields[] = {
	CYAML_FIELD_ENUM("report", OPT | CYAML_FLAG_STRICT, struct ap_cfg_phr, report, switches,
			 CYAML_ARRAY_LEN(switches)),
	CYAML_FIELD_UINT("periodic_ms", ZERO, struct ap_cfg_phr, periodic_ms),
	CYAML_FIELD_UINT("prohibit_ms", ZERO, struct ap_cfg_phr, prohibit_ms),
	CYAML_FIELD_UINT("ph", ZERO, struct ap_cfg_phr, ph),
	CYAML_FIELD_UINT("pcmax", ZERO, struct ap_cfg_phr, pcmax),
	CYAML_FIELD_END};
static const cyaml_schema_field_t harq_fields[] = {
	CYAML_FIELD_UINT("processes", OPT, struct ap_cfg_harq, processes),
	CYAML_FIELD_UINT("max_tx", OPT, struct ap_cfg_harq, max_tx), CYAML_FIELD_END};
static const cyaml_schema_field_t sr_fields[] = {
	CYAML_FIELD_UINT("prohibit_ms", ZERO, struct ap_cfg_sr, prohibit_ms),
	CYAML_FIELD_UINT("trans_max", OPT, struct ap_cfg_sr, trans_max), CYAML_FIELD_END};

static const cyaml_schema_field_t ue_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_ue, name, 1, 40),
	CYAML_FIELD_STRING_PTR("user_port", NEED, struct ap_cfg_ue, user_port, 1, 40),
	CYAML_FIELD_STRING_PTR("phy_port", NEED, struct ap_cfg_ue, phy_port, 1, 40),
	CYAML_FIELD_BOOL("loopback", OPT, struct ap_cfg_ue, loopback),
	CYAML_FIELD_UINT("carriers", OPT, struct ap_cfg_ue, carriers),
	CYAML_FIELD_UINT("numerology", ZERO, struct ap_cfg_ue, numerology),
	CYAML_FIELD_ENUM("strategy", OPT | CYAML_FLAG_STRICT, struct ap_cfg_ue, strategy,
			 strategies, CYAML_ARRAY_LEN(strategies)),
	CYAML_FIELD_ENUM("copy", OPT | CYAML_FLAG_STRICT, struct ap_cfg_ue, copy, copies,
			 CYAML_ARRAY_LEN(copies)),
	CYAML_FIELD_STRING_PTR("dma_device", PTR, struct ap_cfg_ue, dma_device, 1, CYAML_UNLIMITED),
	CYAML_FIELD_UINT("frame_bytes", OPT, struct ap_cfg_ue, frame_bytes),
	CYAML_FIELD_UINT("default_qfi", ZERO, struct ap_cfg_ue, default_qfi),
	CYAML_FIELD_MAPPING("security", OPT, struct ap_cfg_ue, security, security_fields),
	CYAML_FIELD_MAPPING("harq", OPT, struct ap_cfg_ue, harq, harq_fields),
	CYAML_FIELD_MAPPING("sr", OPT, struct ap_cfg_ue, sr, sr_fields),
	CYAML_FIELD_UINT("periodic_bsr_ms", ZERO, struct ap_cfg_ue, periodic_bsr_ms),
	CYAML_FIELD_UINT("retx_bsr_ms", OPT, struct ap_cfg_ue, retx_bsr_ms),
	CYAML_FIELD_MAPPING("phr", OPT, struct ap_cfg_ue, phr, phr_fields),
	CYAML_FIELD_UINT("rnti", OPT, struct ap_cfg_ue, rnti),
	CYAML_FIELD_UINT("count", OPT, struct ap_cfg_ue, count),
	CYAML_FIELD_STRING_PTR("address", PTR, struct ap_cfg_ue, address, 1, 64),
	CYAML_FIELD_STRING_PTR("address6", PTR, struct ap_cfg_ue, address6, 1, 64),
	CYAML_FIELD_BOOL("any_rnti", OPT, struct ap_cfg_ue, any_rnti),
	CYAML_FIELD_SEQUENCE("qos", PTR, struct ap_cfg_ue, qos, &qos_value, 0, 64),
	CYAML_FIELD_SEQUENCE("bearers", NEED, struct ap_cfg_ue, bearers, &bearer_value, 1, 32),
	CYAML_FIELD_END};
static const cyaml_schema_value_t ue_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_ue, ue_fields)};

static const cyaml_strval_t phy_sides[] = {{"ue", AP_PHY_UE}, {"gnb", AP_PHY_GNB}};
static const cyaml_schema_field_t phy_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_phy, name, 1, 40),
	CYAML_FIELD_STRING_PTR("port", NEED, struct ap_cfg_phy, port, 1, 40),
	CYAML_FIELD_STRING_PTR("port2", PTR, struct ap_cfg_phy, port2, 1, CYAML_UNLIMITED),
	CYAML_FIELD_ENUM("side", OPT | CYAML_FLAG_STRICT, struct ap_cfg_phy, side, phy_sides,
			 CYAML_ARRAY_LEN(phy_sides)),
	CYAML_FIELD_UINT("ues", OPT, struct ap_cfg_phy, ues),
	CYAML_FIELD_UINT("ahead", OPT, struct ap_cfg_phy, ahead),
	CYAML_FIELD_SEQUENCE("cqi", PTR, struct ap_cfg_phy, cqi, &u8_value, 0, 64),
	CYAML_FIELD_UINT("cqi_spread", ZERO, struct ap_cfg_phy, cqi_spread),
	CYAML_FIELD_UINT("numerology", ZERO, struct ap_cfg_phy, numerology),
	CYAML_FIELD_UINT("rnti", OPT, struct ap_cfg_phy, rnti),
	CYAML_FIELD_SEQUENCE("tb_bytes", NEED, struct ap_cfg_phy, tb_bytes, &u32_value, 1,
			     AP_CFG_CARRIERS_MAX),
	CYAML_FIELD_FLOAT("tb_loss", ZERO, struct ap_cfg_phy, tb_loss),
	CYAML_FIELD_FLOAT("soft_loss", ZERO, struct ap_cfg_phy, soft_loss),
	CYAML_FIELD_MAPPING("harq", OPT, struct ap_cfg_phy, harq, harq_fields),
	CYAML_FIELD_FLOAT("dl_soft_loss", ZERO, struct ap_cfg_phy, dl_soft_loss),
	CYAML_FIELD_FLOAT("feedback_loss", ZERO, struct ap_cfg_phy, feedback_loss),
	CYAML_FIELD_BOOL("grant_on_sr", OPT, struct ap_cfg_phy, grant_on_sr),
	CYAML_FIELD_FLOAT("frame_loss", ZERO, struct ap_cfg_phy, frame_loss),
	CYAML_FIELD_FLOAT("duplicate", ZERO, struct ap_cfg_phy, duplicate),
	CYAML_FIELD_FLOAT("reorder", ZERO, struct ap_cfg_phy, reorder),
	CYAML_FIELD_UINT("delay_us", ZERO, struct ap_cfg_phy, delay_us),
	CYAML_FIELD_UINT("jitter_us", ZERO, struct ap_cfg_phy, jitter_us),
	CYAML_FIELD_FLOAT("bit_error_rate", ZERO, struct ap_cfg_phy, bit_error_rate),
	CYAML_FIELD_UINT("seed", OPT, struct ap_cfg_phy, seed),
	CYAML_FIELD_UINT("frame_bytes", OPT, struct ap_cfg_phy, frame_bytes),
	CYAML_FIELD_UINT("slots", ZERO, struct ap_cfg_phy, slots),
	CYAML_FIELD_END};
static const cyaml_schema_value_t phy_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_phy, phy_fields)};

static const cyaml_schema_field_t gen_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_gen, name, 1, 40),
	CYAML_FIELD_STRING_PTR("port", NEED, struct ap_cfg_gen, port, 1, 40),
	CYAML_FIELD_STRING_PTR("rx_port", PTR, struct ap_cfg_gen, rx_port, 1, CYAML_UNLIMITED),
	CYAML_FIELD_SEQUENCE("sizes", PTR, struct ap_cfg_gen, sizes, &u32_value, 0, 64),
	CYAML_FIELD_BOOL("imix", OPT, struct ap_cfg_gen, imix),
	CYAML_FIELD_BOOL("ipv6", OPT, struct ap_cfg_gen, ipv6),
	CYAML_FIELD_UINT("flows", OPT, struct ap_cfg_gen, flows),
	CYAML_FIELD_SEQUENCE("dscps", PTR, struct ap_cfg_gen, dscps, &u8_value, 0, 64),
	CYAML_FIELD_STRING_PTR("replay", PTR, struct ap_cfg_gen, replay, 1, CYAML_UNLIMITED),
	CYAML_FIELD_FLOAT("pps", OPT, struct ap_cfg_gen, pps),
	CYAML_FIELD_FLOAT("gbps", OPT, struct ap_cfg_gen, gbps),
	CYAML_FIELD_UINT("packets", ZERO, struct ap_cfg_gen, packets),
	CYAML_FIELD_UINT("seed", OPT, struct ap_cfg_gen, seed),
	CYAML_FIELD_END};
static const cyaml_schema_value_t gen_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_gen, gen_fields)};

static const cyaml_schema_field_t upf_interface_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_upf_interface, name, 1, 40),
	CYAML_FIELD_STRING_PTR("port", NEED, struct ap_cfg_upf_interface, port, 1, 40),
	CYAML_FIELD_UINT("vlan", ZERO, struct ap_cfg_upf_interface, vlan),
	CYAML_FIELD_SEQUENCE("types", PTR, struct ap_cfg_upf_interface, types, &upf_side_value, 0,
			     8),
	CYAML_FIELD_SEQUENCE("network_instances", PTR, struct ap_cfg_upf_interface,
			     network_instances, &string_value, 0, 16),
	CYAML_FIELD_SEQUENCE("addresses", PTR, struct ap_cfg_upf_interface, addresses,
			     &string_value, 0, 8),
	CYAML_FIELD_SEQUENCE("gateways", PTR, struct ap_cfg_upf_interface, gateways, &string_value,
			     0, 2),
	CYAML_FIELD_UINT("mtu", OPT, struct ap_cfg_upf_interface, mtu),
	CYAML_FIELD_BOOL("lan", OPT, struct ap_cfg_upf_interface, lan),
	CYAML_FIELD_BOOL("proxy_neigh", OPT, struct ap_cfg_upf_interface, proxy_neigh),
	CYAML_FIELD_END};
static const cyaml_schema_value_t upf_interface_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_upf_interface, upf_interface_fields)};

static const cyaml_schema_field_t upf_route_fields[] = {
	CYAML_FIELD_STRING_PTR("interface", NEED, struct ap_cfg_upf_route, interface, 1, 40),
	CYAML_FIELD_STRING_PTR("prefix", NEED, struct ap_cfg_upf_route, prefix, 1, 64),
	CYAML_FIELD_STRING_PTR("via", PTR, struct ap_cfg_upf_route, via, 1, 64), CYAML_FIELD_END};
static const cyaml_schema_value_t upf_route_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_upf_route, upf_route_fields)};

static const cyaml_schema_field_t upf_neighbour_fields[] = {
	CYAML_FIELD_STRING_PTR("interface", NEED, struct ap_cfg_upf_neighbour, interface, 1, 40),
	CYAML_FIELD_STRING_PTR("address", NEED, struct ap_cfg_upf_neighbour, address, 1, 64),
	CYAML_FIELD_STRING_PTR("mac", NEED, struct ap_cfg_upf_neighbour, mac, 1, 32),
	CYAML_FIELD_END};
static const cyaml_schema_value_t upf_neighbour_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_upf_neighbour, upf_neighbour_fields)};

static const cyaml_strval_t dpi_bads[] = {
	{"open", AP_DPI_OPEN},
	{"closed", AP_DPI_CLOSED},
};

static const cyaml_schema_field_t dpi_fields[] = {
	CYAML_FIELD_ENUM("on_bad", OPT | CYAML_FLAG_STRICT, struct ap_cfg_dpi, on_bad, dpi_bads,
			 CYAML_ARRAY_LEN(dpi_bads)),
	CYAML_FIELD_UINT("scans", OPT, struct ap_cfg_dpi, scans), CYAML_FIELD_END};

static const cyaml_schema_field_t upf_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_upf, name, 1, 16),
	CYAML_FIELD_STRING_PTR("socket", NEED, struct ap_cfg_upf, socket, 1, CYAML_UNLIMITED),
	CYAML_FIELD_UINT("workers", OPT, struct ap_cfg_upf, workers),
	CYAML_FIELD_ENUM("steering", OPT | CYAML_FLAG_STRICT, struct ap_cfg_upf, steering,
			 steerings, CYAML_ARRAY_LEN(steerings)),
	CYAML_FIELD_UINT("dispatchers", OPT, struct ap_cfg_upf, dispatchers),
	CYAML_FIELD_UINT("sessions", OPT, struct ap_cfg_upf, sessions),
	CYAML_FIELD_UINT("burst_bytes", OPT, struct ap_cfg_upf, burst_bytes),
	CYAML_FIELD_UINT("buffer_packets", OPT, struct ap_cfg_upf, buffer_packets),
	CYAML_FIELD_UINT("buffer_session_packets", OPT, struct ap_cfg_upf, buffer_session_packets),
	CYAML_FIELD_UINT("reassembly_packets", OPT, struct ap_cfg_upf, reassembly_packets),
	CYAML_FIELD_UINT("reassembly_ms", OPT, struct ap_cfg_upf, reassembly_ms),
	CYAML_FIELD_UINT("error_indications_s", OPT, struct ap_cfg_upf, error_indications_s),
	CYAML_FIELD_ENUM("oversize", OPT | CYAML_FLAG_STRICT, struct ap_cfg_upf, oversize,
			 oversizes, CYAML_ARRAY_LEN(oversizes)),
	CYAML_FIELD_UINT("flows", OPT, struct ap_cfg_upf, flows),
	CYAML_FIELD_UINT("session_flows", OPT, struct ap_cfg_upf, session_flows),
	CYAML_FIELD_MAPPING("dpi", OPT, struct ap_cfg_upf, dpi, dpi_fields),
	CYAML_FIELD_SEQUENCE("interfaces", NEED, struct ap_cfg_upf, interfaces,
			     &upf_interface_value, 1, 16),
	CYAML_FIELD_SEQUENCE("routes", PTR, struct ap_cfg_upf, routes, &upf_route_value, 0, 256),
	CYAML_FIELD_SEQUENCE("neighbours", PTR, struct ap_cfg_upf, neighbours, &upf_neighbour_value,
			     0, 1024),
	CYAML_FIELD_END};
static const cyaml_schema_value_t upf_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_upf, upf_fields)};

static const cyaml_schema_field_t gnb_interface_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_upf_interface, name, 1, 40),
	CYAML_FIELD_STRING_PTR("port", PTR, struct ap_cfg_upf_interface, port, 1, 40),
	CYAML_FIELD_STRING_PTR("mac", PTR, struct ap_cfg_upf_interface, mac, 1, 32),
	CYAML_FIELD_ENUM("type", CYAML_FLAG_STRICT, struct ap_cfg_upf_interface, side, gnb_sides,
			 CYAML_ARRAY_LEN(gnb_sides)),
	CYAML_FIELD_UINT("vlan", ZERO, struct ap_cfg_upf_interface, vlan),
	CYAML_FIELD_SEQUENCE("addresses", PTR, struct ap_cfg_upf_interface, addresses,
			     &string_value, 0, 8),
	CYAML_FIELD_SEQUENCE("gateways", PTR, struct ap_cfg_upf_interface, gateways, &string_value,
			     0, 2),
	CYAML_FIELD_UINT("mtu", OPT, struct ap_cfg_upf_interface, mtu),
	CYAML_FIELD_END};
static const cyaml_schema_value_t gnb_interface_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_upf_interface, gnb_interface_fields)};

static const cyaml_schema_field_t gnb_header_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_gnb_header, edge.name, 1, 16),
	CYAML_FIELD_STRING_PTR("socket", NEED, struct ap_cfg_gnb_header, edge.socket, 1,
			       CYAML_UNLIMITED),
	CYAML_FIELD_ENUM("split", OPT | CYAML_FLAG_STRICT, struct ap_cfg_gnb_header, split,
			 gnb_splits, CYAML_ARRAY_LEN(gnb_splits)),
	CYAML_FIELD_UINT("workers", OPT, struct ap_cfg_gnb_header, edge.workers),
	CYAML_FIELD_UINT("sessions", OPT, struct ap_cfg_gnb_header, edge.sessions),
	CYAML_FIELD_UINT("drbs_per_session", OPT, struct ap_cfg_gnb_header, drbs_per_session),
	CYAML_FIELD_UINT("reassembly_packets", OPT, struct ap_cfg_gnb_header,
			 edge.reassembly_packets),
	CYAML_FIELD_UINT("reassembly_ms", OPT, struct ap_cfg_gnb_header, edge.reassembly_ms),
	CYAML_FIELD_UINT("error_indications_s", OPT, struct ap_cfg_gnb_header,
			 edge.error_indications_s),
	CYAML_FIELD_SEQUENCE("vfs", PTR, struct ap_cfg_gnb_header, vfs, &string_value, 0, 32),
	CYAML_FIELD_SEQUENCE("interfaces", NEED, struct ap_cfg_gnb_header, edge.interfaces,
			     &gnb_interface_value, 1, 14),
	CYAML_FIELD_SEQUENCE("routes", PTR, struct ap_cfg_gnb_header, edge.routes, &upf_route_value,
			     0, 256),
	CYAML_FIELD_SEQUENCE("neighbours", PTR, struct ap_cfg_gnb_header, edge.neighbours,
			     &upf_neighbour_value, 0, 1024),
	CYAML_FIELD_END};
static const cyaml_schema_value_t gnb_header_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_gnb_header, gnb_header_fields)};

static const cyaml_strval_t schedulers[] = {{"round_robin", AP_SCHEDULER_ROUND_ROBIN},
					    {"proportional_fair", AP_SCHEDULER_PROPORTIONAL_FAIR}};
static const cyaml_schema_field_t gnb_context_fields[] = {
	CYAML_FIELD_UINT("ue", ZERO, struct ap_cfg_gnb_context, ue),
	CYAML_FIELD_UINT("pdu_session", OPT, struct ap_cfg_gnb_context, pdu_session),
	CYAML_FIELD_STRING_PTR("upf", NEED, struct ap_cfg_gnb_context, upf, 1, 64),
	CYAML_FIELD_UINT("teid", CYAML_FLAG_DEFAULT, struct ap_cfg_gnb_context, teid),
	CYAML_FIELD_END};
static const cyaml_schema_value_t gnb_context_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_gnb_context, gnb_context_fields)};

static const cyaml_schema_field_t gnb_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_gnb, l2.name, 1, 40),
	CYAML_FIELD_STRING_PTR("user_port", PTR, struct ap_cfg_gnb, l2.user_port, 1, 40),
	CYAML_FIELD_STRING_PTR("phy_port", NEED, struct ap_cfg_gnb, l2.phy_port, 1, 40),
	CYAML_FIELD_UINT("ues", OPT, struct ap_cfg_gnb, l2.count),
	CYAML_FIELD_UINT("rnti", OPT, struct ap_cfg_gnb, l2.rnti),
	CYAML_FIELD_STRING_PTR("address", PTR, struct ap_cfg_gnb, l2.address, 1, 64),
	CYAML_FIELD_STRING_PTR("address6", PTR, struct ap_cfg_gnb, l2.address6, 1, 64),
	CYAML_FIELD_UINT("numerology", ZERO, struct ap_cfg_gnb, l2.numerology),
	CYAML_FIELD_ENUM("strategy", OPT | CYAML_FLAG_STRICT, struct ap_cfg_gnb, l2.strategy,
			 strategies, CYAML_ARRAY_LEN(strategies)),
	CYAML_FIELD_ENUM("copy", OPT | CYAML_FLAG_STRICT, struct ap_cfg_gnb, l2.copy, copies,
			 CYAML_ARRAY_LEN(copies)),
	CYAML_FIELD_STRING_PTR("dma_device", PTR, struct ap_cfg_gnb, l2.dma_device, 1,
			       CYAML_UNLIMITED),
	CYAML_FIELD_UINT("frame_bytes", OPT, struct ap_cfg_gnb, l2.frame_bytes),
	CYAML_FIELD_UINT("default_qfi", ZERO, struct ap_cfg_gnb, l2.default_qfi),
	CYAML_FIELD_MAPPING("security", OPT, struct ap_cfg_gnb, l2.security, security_fields),
	CYAML_FIELD_SEQUENCE("qos", PTR, struct ap_cfg_gnb, l2.qos, &qos_value, 0, 64),
	CYAML_FIELD_SEQUENCE("bearers", NEED, struct ap_cfg_gnb, l2.bearers, &bearer_value, 1, 32),
	CYAML_FIELD_SEQUENCE("tb_bytes", NEED, struct ap_cfg_gnb, tb_bytes, &u32_value, 1,
			     AP_CFG_CARRIERS_MAX),
	CYAML_FIELD_ENUM("scheduler", OPT | CYAML_FLAG_STRICT, struct ap_cfg_gnb, scheduler,
			 schedulers, CYAML_ARRAY_LEN(schedulers)),
	CYAML_FIELD_UINT("ues_per_slot", OPT, struct ap_cfg_gnb, ues_per_slot),
	CYAML_FIELD_UINT("ue_slot_bytes", OPT, struct ap_cfg_gnb, ue_slot_bytes),
	CYAML_FIELD_UINT("average_ms", OPT, struct ap_cfg_gnb, average_ms),
	CYAML_FIELD_MAPPING("harq", OPT, struct ap_cfg_gnb, harq, harq_fields),
	CYAML_FIELD_MAPPING("dl_harq", OPT, struct ap_cfg_gnb, l2.harq, harq_fields),
	CYAML_FIELD_STRING_PTR("socket", PTR, struct ap_cfg_gnb, n3.socket, 1, CYAML_UNLIMITED),
	CYAML_FIELD_UINT("reassembly_packets", OPT, struct ap_cfg_gnb, n3.reassembly_packets),
	CYAML_FIELD_UINT("reassembly_ms", OPT, struct ap_cfg_gnb, n3.reassembly_ms),
	CYAML_FIELD_UINT("error_indications_s", OPT, struct ap_cfg_gnb, n3.error_indications_s),
	CYAML_FIELD_SEQUENCE("interfaces", PTR, struct ap_cfg_gnb, n3.interfaces,
			     &gnb_interface_value, 0, 14),
	CYAML_FIELD_SEQUENCE("routes", PTR, struct ap_cfg_gnb, n3.routes, &upf_route_value, 0, 256),
	CYAML_FIELD_SEQUENCE("neighbours", PTR, struct ap_cfg_gnb, n3.neighbours,
			     &upf_neighbour_value, 0, 1024),
	CYAML_FIELD_SEQUENCE("contexts", PTR, struct ap_cfg_gnb, contexts, &gnb_context_value, 0,
			     AP_CFG_UES_MAX),
	CYAML_FIELD_END};
static const cyaml_schema_value_t gnb_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_gnb, gnb_fields)};

static const cyaml_schema_field_t smartnic_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_smartnic, name, 1, 16),
	CYAML_FIELD_STRING_PTR("gnb", NEED, struct ap_cfg_smartnic, gnb, 1, 16),
	CYAML_FIELD_STRING_PTR("wire", NEED, struct ap_cfg_smartnic, wire, 1, 40),
	CYAML_FIELD_SEQUENCE("vfs", NEED, struct ap_cfg_smartnic, vfs, &string_value, 1, 16),
	CYAML_FIELD_ENUM("mark", OPT | CYAML_FLAG_STRICT, struct ap_cfg_smartnic, mark,
			 smartnic_marks, CYAML_ARRAY_LEN(smartnic_marks)),
	CYAML_FIELD_UINT("offload_percent", ZERO, struct ap_cfg_smartnic, offload_percent),
	CYAML_FIELD_END};
static const cyaml_schema_value_t smartnic_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_smartnic, smartnic_fields)};

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
			 switches, CYAML_ARRAY_LEN(switches)),
	CYAML_FIELD_END};

static const cyaml_schema_field_t config_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_config, name, 1, 40),
	CYAML_FIELD_MAPPING("memory", OPT, struct ap_config, memory, memory_fields),
	CYAML_FIELD_ENUM("stats", OPT | CYAML_FLAG_STRICT, struct ap_config, stats, switches,
			 CYAML_ARRAY_LEN(switches)),
	CYAML_FIELD_UINT("burst", OPT, struct ap_config, burst),
	CYAML_FIELD_UINT("cut_size", OPT, struct ap_config, cut_size),
	CYAML_FIELD_SEQUENCE("pools", PTR, struct ap_config, pools, &pool_value, 0, 64),
	CYAML_FIELD_SEQUENCE("ports", PTR, struct ap_config, ports, &port_value, 0, 64),
	CYAML_FIELD_SEQUENCE("ue", PTR, struct ap_config, ue, &ue_value, 0, 16),
	CYAML_FIELD_SEQUENCE("gnb", PTR, struct ap_config, gnb, &gnb_value, 0, 16),
	CYAML_FIELD_SEQUENCE("phy", PTR, struct ap_config, phy, &phy_value, 0, 16),
	CYAML_FIELD_SEQUENCE("gen", PTR, struct ap_config, gen, &gen_value, 0, 16),
	CYAML_FIELD_SEQUENCE("upf", PTR, struct ap_config, upf, &upf_value, 0, 16),
	CYAML_FIELD_SEQUENCE("gnb_header", PTR, struct ap_config, gnb_header, &gnb_header_value, 0,
			     16),
	CYAML_FIELD_SEQUENCE("smartnic", PTR, struct ap_config, smartnic, &smartnic_value, 0, 16),
	CYAML_FIELD_SEQUENCE("power", PTR, struct ap_config, power, &power_value, 0, 16),
	CYAML_FIELD_SEQUENCE("lcores", NEED, struct ap_config, lcores, &lcore_value, 1, 128),
	CYAML_FIELD_SEQUENCE("place", NEED, struct ap_config, place, &place_value, 1, 512),
	CYAML_FIELD_END};
const cyaml_schema_value_t ap_config_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ap_config, config_fields)};
