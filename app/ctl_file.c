/* SPDX-License-Identifier: BSD-3-Clause */
/** Files of contexts for `airpath ctl … load`: YAML, and so JSON. */
#include <stdlib.h>

#include "app/ctl.h"
#include "core/yaml.h"

#define OPT CYAML_FLAG_OPTIONAL
#define PTR (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define NEED CYAML_FLAG_POINTER
#define LEN CYAML_ARRAY_LEN

static const cyaml_strval_t switches[] = {
	{"default", CTL_DEFAULT}, {"on", CTL_ON}, {"off", CTL_OFF}};
static const cyaml_strval_t rlc_modes[] = {{"um", 0}, {"tm", 1}, {"am", 2}};

static const cyaml_schema_value_t u32_value = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};

static const cyaml_schema_field_t tunnel_fields[] = {
	CYAML_FIELD_STRING_PTR("address", NEED, struct ctl_tunnel, address, 1, 64),
	CYAML_FIELD_UINT("teid", CYAML_FLAG_DEFAULT, struct ctl_tunnel, teid),
	CYAML_FIELD_UINT("interface", OPT, struct ctl_tunnel, interface), CYAML_FIELD_END};

static const cyaml_schema_field_t drb_fields[] = {
	CYAML_FIELD_UINT("id", CYAML_FLAG_DEFAULT, struct ctl_drb, id),
	CYAML_FIELD_SEQUENCE("qfis", PTR, struct ctl_drb, qfis, &u32_value, 0, 64),
	CYAML_FIELD_BOOL("default", OPT, struct ctl_drb, is_default),
	CYAML_FIELD_ENUM("sdap_ul", OPT | CYAML_FLAG_STRICT, struct ctl_drb, sdap_ul, switches,
			 LEN(switches)),
	CYAML_FIELD_ENUM("sdap_dl", OPT | CYAML_FLAG_STRICT, struct ctl_drb, sdap_dl, switches,
			 LEN(switches)),
	CYAML_FIELD_UINT("pdcp_sn_bits", OPT, struct ctl_drb, pdcp_sn_bits),
	CYAML_FIELD_ENUM("rlc", OPT | CYAML_FLAG_STRICT, struct ctl_drb, rlc, rlc_modes,
			 LEN(rlc_modes)),
	CYAML_FIELD_UINT("rlc_sn_bits", OPT, struct ctl_drb, rlc_sn_bits),
	CYAML_FIELD_MAPPING_PTR("du", PTR, struct ctl_drb, du, tunnel_fields),
	CYAML_FIELD_UINT("dl_count", OPT, struct ctl_drb, dl_count),
	CYAML_FIELD_UINT("lcid", OPT, struct ctl_drb, lcid),
	CYAML_FIELD_UINT("priority", OPT, struct ctl_drb, priority),
	CYAML_FIELD_END};
static const cyaml_schema_value_t drb_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ctl_drb, drb_fields)};

static const cyaml_schema_field_t session_fields[] = {
	CYAML_FIELD_UINT("id", CYAML_FLAG_DEFAULT, struct ctl_session, id),
	CYAML_FIELD_MAPPING_PTR("upf", NEED, struct ctl_session, upf, tunnel_fields),
	CYAML_FIELD_MAPPING_PTR("forwarding", PTR, struct ctl_session, forwarding, tunnel_fields),
	CYAML_FIELD_SEQUENCE("drbs", NEED, struct ctl_session, drbs, &drb_value, 1, 8),
	CYAML_FIELD_END};
static const cyaml_schema_value_t session_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ctl_session, session_fields)};

static const cyaml_schema_field_t security_fields[] = {
	CYAML_FIELD_UINT("nea", OPT, struct ctl_security, nea),
	CYAML_FIELD_UINT("nia", OPT, struct ctl_security, nia),
	CYAML_FIELD_STRING_PTR("key_enc", PTR, struct ctl_security, key_enc, 1, CYAML_UNLIMITED),
	CYAML_FIELD_STRING_PTR("key_int", PTR, struct ctl_security, key_int, 1, CYAML_UNLIMITED),
	CYAML_FIELD_END};

static const cyaml_schema_field_t context_fields[] = {
	CYAML_FIELD_UINT("ue", CYAML_FLAG_DEFAULT, struct ctl_context, ue),
	CYAML_FIELD_UINT("count", OPT, struct ctl_context, count),
	CYAML_FIELD_UINT("rnti", OPT, struct ctl_context, rnti),
	CYAML_FIELD_MAPPING_PTR("security", PTR, struct ctl_context, security, security_fields),
	CYAML_FIELD_SEQUENCE("sessions", NEED, struct ctl_context, sessions, &session_value, 1, 16),
	CYAML_FIELD_END};
static const cyaml_schema_value_t context_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct ctl_context, context_fields)};

static const cyaml_schema_field_t file_fields[] = {
	CYAML_FIELD_SEQUENCE("contexts", NEED, struct ctl_file, contexts, &context_value, 0,
			     CYAML_UNLIMITED),
	CYAML_FIELD_END};
static const cyaml_schema_value_t file_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct ctl_file, file_fields)};

struct ctl_file *
ctl_file_load(const char *path, struct ap_error *err)
{
	return yaml_file_load(path, &file_schema, err);
}

void
ctl_file_free(struct ctl_file *f)
{
	yaml_file_free(&file_schema, f);
}
