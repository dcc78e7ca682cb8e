/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles around layer 2: ue, gnb, phy. */
#include "core/config_schema_impl.h"

static const cyaml_strval_t copies[] = {
	{"none", AP_COPY_NONE}, {"cpu", AP_COPY_CPU}, {"dma", AP_COPY_DMA}};
static const cyaml_strval_t strategies[] = {
	{"scatter", AP_STRATEGY_SCATTER},
	{"gather", AP_STRATEGY_GATHER},
	{"scheme1", AP_STRATEGY_SCHEME1},
	{"scheme2", AP_STRATEGY_SCHEME2},
};
static const cyaml_strval_t rlc_modes[] = {{"um", AP_RLC_UM}, {"tm", AP_RLC_TM}, {"am", AP_RLC_AM}};

static const cyaml_schema_field_t qos_fields[] = {
	CYAML_FIELD_UINT("dscp", CYAML_FLAG_DEFAULT, struct ap_cfg_qos_rule, dscp),
	CYAML_FIELD_UINT("qfi", CYAML_FLAG_DEFAULT, struct ap_cfg_qos_rule, qfi), CYAML_FIELD_END};
static const cyaml_schema_value_t qos_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_qos_rule, qos_fields)};

static const cyaml_schema_field_t bearer_sdap_fields[] = {
	CYAML_FIELD_ENUM("ul_header", OPT | CYAML_FLAG_STRICT, struct ap_cfg_bearer_sdap, ul_header,
			 ap_schema_switches, CYAML_ARRAY_LEN(ap_schema_switches)),
	CYAML_FIELD_ENUM("dl_header", OPT | CYAML_FLAG_STRICT, struct ap_cfg_bearer_sdap, dl_header,
			 ap_schema_switches, CYAML_ARRAY_LEN(ap_schema_switches)),
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
			     &ap_schema_u8, 0, AP_CFG_CARRIERS_MAX),
	CYAML_FIELD_SEQUENCE("scs", PTR, struct ap_cfg_bearer_mac, scs, &ap_schema_u8, 0, 5),
	CYAML_FIELD_UINT("max_pusch_us", ZERO, struct ap_cfg_bearer_mac, max_pusch_us),
	CYAML_FIELD_END};
static const cyaml_schema_field_t bearer_fields[] = {
	CYAML_FIELD_UINT("id", CYAML_FLAG_DEFAULT, struct ap_cfg_bearer, id),
	CYAML_FIELD_UINT("lcid", OPT, struct ap_cfg_bearer, lcid),
	CYAML_FIELD_BOOL("default", OPT, struct ap_cfg_bearer, is_default),
	CYAML_FIELD_SEQUENCE("qfis", PTR, struct ap_cfg_bearer, qfis, &ap_schema_u8, 0, 64),
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
	CYAML_FIELD_ENUM("report", OPT | CYAML_FLAG_STRICT, struct ap_cfg_phr, report,
			 ap_schema_switches, CYAML_ARRAY_LEN(ap_schema_switches)),
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
const cyaml_schema_value_t ap_schema_ue = {
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
	CYAML_FIELD_SEQUENCE("cqi", PTR, struct ap_cfg_phy, cqi, &ap_schema_u8, 0, 64),
	CYAML_FIELD_UINT("cqi_spread", ZERO, struct ap_cfg_phy, cqi_spread),
	CYAML_FIELD_UINT("numerology", ZERO, struct ap_cfg_phy, numerology),
	CYAML_FIELD_UINT("rnti", OPT, struct ap_cfg_phy, rnti),
	CYAML_FIELD_SEQUENCE("tb_bytes", NEED, struct ap_cfg_phy, tb_bytes, &ap_schema_u32, 1,
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
const cyaml_schema_value_t ap_schema_phy = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_phy, phy_fields)};

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
	CYAML_FIELD_SEQUENCE("tb_bytes", NEED, struct ap_cfg_gnb, tb_bytes, &ap_schema_u32, 1,
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
			     &ap_schema_gnb_interface, 0, 14),
	CYAML_FIELD_SEQUENCE("routes", PTR, struct ap_cfg_gnb, n3.routes, &ap_schema_upf_route, 0,
			     256),
	CYAML_FIELD_SEQUENCE("neighbours", PTR, struct ap_cfg_gnb, n3.neighbours,
			     &ap_schema_upf_neighbour, 0, 1024),
	CYAML_FIELD_SEQUENCE("contexts", PTR, struct ap_cfg_gnb, contexts, &gnb_context_value, 0,
			     AP_CFG_UES_MAX),
	CYAML_FIELD_END};
const cyaml_schema_value_t ap_schema_gnb = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_gnb, gnb_fields)};
