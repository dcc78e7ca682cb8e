/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles with IP interfaces: upf, gnb_header, what a gnb has of theirs; and smartnic. */
#include "core/config_schema_impl.h"

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

static const cyaml_schema_value_t upf_side_value = {CYAML_VALUE_ENUM(
	CYAML_FLAG_STRICT, enum ap_cfg_upf_side, upf_sides, CYAML_ARRAY_LEN(upf_sides))};

static const cyaml_schema_field_t upf_interface_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_upf_interface, name, 1, 40),
	CYAML_FIELD_STRING_PTR("port", NEED, struct ap_cfg_upf_interface, port, 1, 40),
	CYAML_FIELD_UINT("vlan", ZERO, struct ap_cfg_upf_interface, vlan),
	CYAML_FIELD_SEQUENCE("types", PTR, struct ap_cfg_upf_interface, types, &upf_side_value, 0,
			     8),
	CYAML_FIELD_SEQUENCE("network_instances", PTR, struct ap_cfg_upf_interface,
			     network_instances, &ap_schema_string, 0, 16),
	CYAML_FIELD_SEQUENCE("addresses", PTR, struct ap_cfg_upf_interface, addresses,
			     &ap_schema_string, 0, 8),
	CYAML_FIELD_SEQUENCE("gateways", PTR, struct ap_cfg_upf_interface, gateways,
			     &ap_schema_string, 0, 2),
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
const cyaml_schema_value_t ap_schema_upf_route = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_upf_route, upf_route_fields)};

static const cyaml_schema_field_t upf_neighbour_fields[] = {
	CYAML_FIELD_STRING_PTR("interface", NEED, struct ap_cfg_upf_neighbour, interface, 1, 40),
	CYAML_FIELD_STRING_PTR("address", NEED, struct ap_cfg_upf_neighbour, address, 1, 64),
	CYAML_FIELD_STRING_PTR("mac", NEED, struct ap_cfg_upf_neighbour, mac, 1, 32),
	CYAML_FIELD_END};
const cyaml_schema_value_t ap_schema_upf_neighbour = {
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
	CYAML_FIELD_SEQUENCE("routes", PTR, struct ap_cfg_upf, routes, &ap_schema_upf_route, 0,
			     256),
	CYAML_FIELD_SEQUENCE("neighbours", PTR, struct ap_cfg_upf, neighbours,
			     &ap_schema_upf_neighbour, 0, 1024),
	CYAML_FIELD_END};
const cyaml_schema_value_t ap_schema_upf = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_upf, upf_fields)};

static const cyaml_schema_field_t gnb_interface_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_upf_interface, name, 1, 40),
	CYAML_FIELD_STRING_PTR("port", PTR, struct ap_cfg_upf_interface, port, 1, 40),
	CYAML_FIELD_STRING_PTR("mac", PTR, struct ap_cfg_upf_interface, mac, 1, 32),
	CYAML_FIELD_ENUM("type", CYAML_FLAG_STRICT, struct ap_cfg_upf_interface, side, gnb_sides,
			 CYAML_ARRAY_LEN(gnb_sides)),
	CYAML_FIELD_UINT("vlan", ZERO, struct ap_cfg_upf_interface, vlan),
	CYAML_FIELD_SEQUENCE("addresses", PTR, struct ap_cfg_upf_interface, addresses,
			     &ap_schema_string, 0, 8),
	CYAML_FIELD_SEQUENCE("gateways", PTR, struct ap_cfg_upf_interface, gateways,
			     &ap_schema_string, 0, 2),
	CYAML_FIELD_UINT("mtu", OPT, struct ap_cfg_upf_interface, mtu),
	CYAML_FIELD_END};
const cyaml_schema_value_t ap_schema_gnb_interface = {
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
	CYAML_FIELD_SEQUENCE("vfs", PTR, struct ap_cfg_gnb_header, vfs, &ap_schema_string, 0, 32),
	CYAML_FIELD_SEQUENCE("interfaces", NEED, struct ap_cfg_gnb_header, edge.interfaces,
			     &ap_schema_gnb_interface, 1, 14),
	CYAML_FIELD_SEQUENCE("routes", PTR, struct ap_cfg_gnb_header, edge.routes,
			     &ap_schema_upf_route, 0, 256),
	CYAML_FIELD_SEQUENCE("neighbours", PTR, struct ap_cfg_gnb_header, edge.neighbours,
			     &ap_schema_upf_neighbour, 0, 1024),
	CYAML_FIELD_END};
const cyaml_schema_value_t ap_schema_gnb_header = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_gnb_header, gnb_header_fields)};

static const cyaml_schema_field_t smartnic_fields[] = {
	CYAML_FIELD_STRING_PTR("name", NEED, struct ap_cfg_smartnic, name, 1, 16),
	CYAML_FIELD_STRING_PTR("gnb", NEED, struct ap_cfg_smartnic, gnb, 1, 16),
	CYAML_FIELD_STRING_PTR("wire", NEED, struct ap_cfg_smartnic, wire, 1, 40),
	CYAML_FIELD_SEQUENCE("vfs", NEED, struct ap_cfg_smartnic, vfs, &ap_schema_string, 1, 16),
	CYAML_FIELD_ENUM("mark", OPT | CYAML_FLAG_STRICT, struct ap_cfg_smartnic, mark,
			 smartnic_marks, CYAML_ARRAY_LEN(smartnic_marks)),
	CYAML_FIELD_UINT("offload_percent", ZERO, struct ap_cfg_smartnic, offload_percent),
	CYAML_FIELD_END};
const cyaml_schema_value_t ap_schema_smartnic = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ap_cfg_smartnic, smartnic_fields)};
